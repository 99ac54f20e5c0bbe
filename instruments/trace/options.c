/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/trace/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT_LEAST 1     /* MiB */
#define LIMIT_MOST  65536 /* MiB */

static int ends_in(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

static int read_option(struct trace_options *o, const char *word, char *why, size_t room) {
    char *end;
    unsigned long n;
    if (!strcmp(word, "keep")) {
        o->keep = 1;
        return 1;
    }
    if (!strncmp(word, "limit=", 6)) {
        errno = 0;
        n = strtoul(word + 6, &end, 10);
        if (word[6] >= '0' && word[6] <= '9' && !*end && !errno && n >= LIMIT_LEAST && n <= LIMIT_MOST) {
            o->limit = (uint64_t)n << 20;
            return 1;
        }
    }
    snprintf(why, room, "\"%s\" is not keep or limit=%d..%d (MiB)", word, LIMIT_LEAST, LIMIT_MOST);
    return -1;
}

int trace_options_read(struct trace_options *o, const char *text, char *why, size_t room) {
    char copy[2048], *word, *rest, folder[1700] = "";
    memset(o, 0, sizeof *o);
    o->limit = (uint64_t)64 << 20;
    if (!text || !*text || !strcmp(text, "no")) return 0;
    if (strlen(text) >= sizeof copy) {
        snprintf(why, room, "the name is longer than %zu bytes", sizeof copy - 1);
        return -1;
    }
    strcpy(copy, text);
    word = strtok_r(copy, ",", &rest);
    if (!word || word[strlen(word) - 1] == '/') {
        snprintf(why, room, "\"%s\" begins with no file's name", text);
        return -1;
    }
    /* The program may change its folder meanwhile. */
    if (word[0] != '/' && !getcwd(folder, sizeof folder)) {
        snprintf(why, room, "the current folder: %s", strerror(errno));
        return -1;
    }
    snprintf(o->file, sizeof o->file, "%s%s%s", folder, folder[0] ? "/" : "", word);
    if (ends_in(o->file, ".json") || ends_in(o->file, ".html")) o->file[strlen(o->file) - 5] = '\0';
    while ((word = strtok_r(NULL, ",", &rest)))
        if (read_option(o, word, why, room) < 0) return -1;
    return 1;
}

void trace_part_name(const char *file, int pe, char *name, size_t room) {
    if (pe < 0)
        snprintf(name, room, "%s.parts", file);
    else
        snprintf(name, room, "%s.parts/pe.%d", file, pe);
}

int trace_options_try(const struct trace_options *o, char *why, size_t room) {
    static const char *const ends[] = {".json", ".html"};
    char name[4096];
    struct stat st;
    trace_part_name(o->file, -1, name, sizeof name);
    if (mkdir(name, 0777) && errno != EEXIST) {
        snprintf(why, room, "cannot create the folder %s: %s", name, strerror(errno));
        return -1;
    }
    if (access(name, W_OK | X_OK)) {
        snprintf(why, room, "cannot write in %s: %s", name, strerror(errno));
        return -1;
    }
    for (size_t i = 0; i < 2; i++) {
        int fd, is_new;
        snprintf(name, sizeof name, "%s%s", o->file, ends[i]);
        is_new = stat(name, &st) != 0;
        fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) {
            snprintf(why, room, "cannot write %s: %s", name, strerror(errno));
            return -1;
        }
        close(fd);
        if (is_new) unlink(name);
    }
    return 0;
}
