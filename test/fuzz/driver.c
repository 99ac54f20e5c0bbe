/* SPDX-License-Identifier: BSD-3-Clause */
/* driver: runs a fuzz target without libFuzzer: the same options, but purely random inputs. Input i of a seed is the
 * same on every machine, whatever came before it.
 *
 *     fuzz_NAME [-runs=N] [-max_total_time=SECONDS] [-max_len=N] [-seed=N] [-artifact_prefix=PATH] [FILE or FOLDER]...
 *
 * If files are given, only they are run, unchanged; folders (libFuzzer's corpora) are ignored. An input that makes the
 * target fail is written to PATHcrash-SEED-NUMBER. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static uint8_t *input;
static size_t input_size;
static char crash_name[4096];
static const char *prefix = "";
static int written;

/* Only what a signal handler may call. */
static void keep_input(void) {
    if (written++ || !*crash_name) return;
    int fd = open(crash_name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, input, input_size) != (ssize_t)input_size) return;
    static const char text[] = "driver: the input is in ";
    if (write(2, text, sizeof text - 1) < 0 || write(2, crash_name, strlen(crash_name)) < 0) return;
    if (write(2, "\n", 1) < 0) return;
}

static void on_signal(int number) {
    keep_input();
    signal(number, SIG_DFL);
    raise(number);
}

/* splitmix64: G. Steele, D. Lea, C. Flood, OOPSLA 2014. */
static uint64_t next_of(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t number_of(const char *option, const char *text) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (!*text || *end || errno || *text == '-') {
        fprintf(stderr, "driver: %s'%s' is not a number\n", option, text);
        exit(2);
    }
    return n;
}

/* Runs a file; 0 if it is a folder. */
static int run_file(const char *name) {
    struct stat info;
    FILE *f;
    if (stat(name, &info) != 0 || (!S_ISDIR(info.st_mode) && !(f = fopen(name, "rb")))) {
        fprintf(stderr, "driver: %s: %s\n", name, strerror(errno));
        exit(2);
    }
    if (S_ISDIR(info.st_mode)) return 0;
    input = malloc((size_t)info.st_size + 1);
    if (!input) exit(2);
    input_size = fread(input, 1, (size_t)info.st_size, f);
    fclose(f);
    LLVMFuzzerTestOneInput(input, input_size);
    free(input);
    printf("driver: %s: %zu bytes\n", name, input_size);
    return 1;
}

int main(int argc, char **argv) {
    uint64_t runs = UINT64_MAX, seconds = 0, max_len = 4096, seed = 1, i;
    int files = 0;
    for (int a = 1; a < argc; a++) {
        const char *value = strchr(argv[a], '=');
        if (!strncmp(argv[a], "-runs=", 6))
            runs = number_of("-runs=", value + 1);
        else if (!strncmp(argv[a], "-max_total_time=", 16))
            seconds = number_of("-max_total_time=", value + 1);
        else if (!strncmp(argv[a], "-max_len=", 9))
            max_len = number_of("-max_len=", value + 1);
        else if (!strncmp(argv[a], "-seed=", 6))
            seed = number_of("-seed=", value + 1);
        else if (!strncmp(argv[a], "-artifact_prefix=", 17))
            prefix = value + 1;
        else if (*argv[a] == '-') {
            fprintf(stderr, "driver: unknown option '%s'\n", argv[a]);
            return 2;
        }
    }
    for (int a = 1; a < argc; a++)
        if (*argv[a] != '-') files += run_file(argv[a]);
    if (files) return 0;
    if (runs == UINT64_MAX && !seconds) {
        fprintf(stderr, "driver: -runs or -max_total_time, or files to run\n");
        return 2;
    }

    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(keep_input);
    signal(SIGABRT, on_signal);
    signal(SIGSEGV, on_signal);
    signal(SIGFPE, on_signal);
    time_t end = time(NULL) + (time_t)seconds;
    for (i = 0; i < runs && (!seconds || time(NULL) < end); i++) {
        uint64_t state = seed * 0x9e3779b97f4a7c15u ^ i * 0xd1b54a32d192ed03u, left;
        /* Of the input's own size, so that a sanitizer sees a read past its end. Lengths of all magnitudes. */
        input_size = (size_t)(next_of(&state) % ((max_len >> next_of(&state) % 6) + 1));
        input = malloc(input_size ? input_size : 1);
        if (!input) return 2;
        for (size_t k = 0; k < input_size; k++, left >>= 8) {
            if (k % 8 == 0) left = next_of(&state);
            input[k] = (uint8_t)left;
        }
        snprintf(crash_name, sizeof crash_name, "%scrash-%llu-%llu", prefix, (unsigned long long)seed,
                 (unsigned long long)i);
        LLVMFuzzerTestOneInput(input, input_size);
        free(input);
    }
    printf("driver: %llu runs, seed %llu\n", (unsigned long long)i, (unsigned long long)seed);
    return 0;
}
