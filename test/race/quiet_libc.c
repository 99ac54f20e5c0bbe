/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrapped functions of the C library do what they always do. The program ends with 1 if one of them does not. */
#define _GNU_SOURCE
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wchar.h>

static char text[64];
static int wrong;
static volatile int zero; /* unknown to the compiler */

static void is(int right, const char *what) {
    if (right) return;
    printf("%s is wrong\n", what);
    wrong = 1;
}
#define IS(EXPRESSION) is(EXPRESSION, #EXPRESSION)
static char *fresh(const char *from) { return strcpy(text, from + zero); }
static int descending(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

static void texts(void) {
    char *rest, *end;
    IS(strlen(fresh("letters")) == 7 && strnlen(text, 3) == 3 && strnlen(text, 30) == 7);
    IS(strchr(text, 't') == text + 2 && strrchr(text, 't') == text + 3 && !strchr(text, 'x') && !strrchr(text, 'x'));
    IS(strchr(text, 0) == text + 7 && strchrnul(text, 'x') == text + 7 && strchrnul(text, 'r') == text + 5);
    IS(strstr(text, "ter") == text + 3 && !strstr(text, "tar") && strpbrk(text, "rs") == text + 5);
    IS(strspn(text, "elt") == 5 && strcspn(text, "r") == 5);
    IS(!strcmp(text, "letters") && strcmp(text, "lettera") > 0 && !strncmp(text, "letxx", 3) && !strncmp(text, "x", 0));
    IS(!strcasecmp(text, "LETTERS") && strcasecmp(text, "LETTERZ") < 0 && !strncasecmp(text, "LETxx", 3));
    IS(!strcmp(strcat(text, " more"), "letters more") && !strcmp(strncat(text, "and more", 3), "letters moreand"));
    IS(stpcpy(text, "abc") == text + 3 && !strcmp(strncpy(text, "xyz", 2), "xyc"));
    end = strdup(text), rest = strndup("abcdef", 2);
    IS(end && rest && !strcmp(end, "xyc") && !strcmp(rest, "ab"));
    free(end);
    free(rest);
    rest = fresh("a,,b");
    IS(!strcmp(strsep(&rest, ","), "a") && !strcmp(strsep(&rest, ","), "") && !strcmp(strsep(&rest, ","), "b") &&
       !rest && !strsep(&rest, ","));
    IS(!strcmp(strtok_r(fresh(",a,,b,"), ",", &rest), "a") && !strcmp(strtok_r(NULL, ",", &rest), "b") &&
       !strtok_r(NULL, ",", &rest));
    IS(atoi(fresh(" -12x")) == -12 && atol(text) == -12 && atoll(text) == -12 && atof(fresh("2.5e1")) == 25);
    IS(strtol(fresh("ffz"), &end, 16) == 255 && end == text + 2 && strtoul(text, NULL, 16) == 255);
    IS(strtoll(text, NULL, 16) == 255 && strtoull(text, NULL, 16) == 255 && strtod(fresh("1.5y"), &end) == 1.5);
    IS(*end == 'y' && strtof(text, NULL) == 1.5f && wcslen(L"wide") == 4);
}

static void bytes(void) {
    char other[64] = "";
    wchar_t wide[3] = L"ab";
    fresh("0123456789");
    IS(memcpy(other, text, 11) == other && !memcmp(other, text, 11) && memcmp("b", text, 1) > 0);
    IS(memmove(text + 1, text, 5) == text + 1 && !strcmp(text, "0012346789") && mempcpy(other, "ab", 2) == other + 2);
    IS(memccpy(other, "xyz", 'y', 3) == other + 2 && !memccpy(other, "xyz", 'q', 3));
    IS(memchr(text, '2', 10) == text + 3 && !memchr(text, '2', 3) && memrchr(text, '0', 10) == text + 1);
    IS(memmem(text, 10, "346", 3) == text + 4 && !memmem(text, 10, "347", 3));
    bzero(other, 2);
    bcopy(text, other, 1);
    IS(other[0] == '0' && other[1] == 0 && other[2] == 'z' && bcmp(other, text, 1) == 0);
    IS(wmemcpy(wide, L"c", 1) == wide && wide[0] == 'c' && wide[1] == 'b' && memset(other, 1, 3) == other);
}

static void formats(void) {
    char short_text[6];
    int n = 0;
    IS(snprintf(text, sizeof text, "%d %5.2f|%-4s|%.*s|%*d|%c%%%n", 7, 2.5, "ab", 2, "abcd", 3, 9, 'z', &n) == 22);
    IS(!strcmp(text, "7  2.50|ab  |ab|  9|z%") && n == 22);
    IS(snprintf(short_text, sizeof short_text, "%s", "long text") == 9 && !strcmp(short_text, "long "));
    IS(snprintf(NULL, 0, "%ls", L"wide") == 4);
    IS(sprintf(text, "%2$s %1$s", "b", "a") == 3 && !strcmp(text, "a b"));
    IS(sprintf(text, "%hhd %ld %lld %zu %jd %Lg %a %p", 1, 2L, 3LL, (size_t)4, (intmax_t)5, 6.0L, 0.0, NULL) > 12);
    IS(printf("%s", "") == 0 && fprintf(stdout, "%.0s", "abc") == 0);
}

static void files(void) {
    int numbers[4] = {1, 4, 2, 3}, again[4] = {0};
    FILE *file = tmpfile();
    IS(file != NULL);
    if (!file) return;
    IS(fwrite(numbers, sizeof numbers[0], 4, file) == 4 && fputs("text\n", file) >= 0);
    rewind(file);
    IS(fread(again, sizeof again[0], 4, file) == 4 && again[3] == 3 && fgets(text, sizeof text, file) == text);
    IS(!strcmp(text, "text\n") && !fgets(text, sizeof text, file) && pread(fileno(file), again, 4, 4) == 4);
    IS(again[0] == 4 && pwrite(fileno(file), numbers, 4, 0) == 4 && lseek(fileno(file), 0, SEEK_SET) == 0);
    IS(read(fileno(file), again, sizeof again) == sizeof again && write(fileno(file), again, 4) == 4);
    fclose(file);
    qsort(numbers, 4, sizeof numbers[0], descending);
    IS(numbers[0] == 4 && numbers[3] == 1);
}

int main(void) {
    shmem_init();
    texts();
    bytes();
    formats();
    files();
    if (wrong) shmem_global_exit(1);
    puts("all right");
    shmem_finalize();
    return 0;
}
