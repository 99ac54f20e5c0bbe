/* SPDX-License-Identifier: BSD-3-Clause */
/* json <FILE: exits with 0 if the input is one value of JSON (RFC 8259), else tells where it is not. Prints the sums of
 * "bytes" of calls that move data, and how many calls and arrows there are. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t at, len;

static void fail(const char *why) {
    printf("byte %zu: %s: %.40s\n", at, why, text + at);
    exit(1);
}

static void blanks(void) {
    while (at < len && strchr(" \t\r\n", text[at])) at++;
}

static void expect(char c) {
    if (text[at] != c) fail("unexpected");
    at++;
}

static void string(void) {
    expect('"');
    for (; text[at] != '"'; at++) {
        if ((unsigned char)text[at] < 0x20) fail("a control character in a string");
        if (text[at] != '\\') continue;
        at++;
        if (text[at] == 'u')
            for (int i = 0; i < 4; i++)
                if (!isxdigit((unsigned char)text[++at])) fail("a bad escape");
        if (!strchr("\"\\/bfnrtu", text[at]) && !isxdigit((unsigned char)text[at])) fail("a bad escape");
    }
    at++;
}

static void number(void) {
    if (text[at] == '-') at++;
    if (!isdigit((unsigned char)text[at])) fail("no number");
    if (text[at] == '0' && isdigit((unsigned char)text[at + 1])) fail("a leading zero");
    while (isdigit((unsigned char)text[at])) at++;
    if (text[at] == '.')
        for (at++; isdigit((unsigned char)text[at]);) at++;
}

static void value(int depth) {
    char close = text[at] == '{' ? '}' : ']';
    blanks();
    if (depth > 20) fail("too deep");
    if (text[at] == '"') {
        string();
    } else if (text[at] == '{' || text[at] == '[') {
        close = text[at++] == '{' ? '}' : ']';
        blanks();
        if (text[at] == close) {
            at++;
            return;
        }
        for (;;) {
            blanks();
            if (close == '}') {
                string();
                blanks();
                expect(':');
            }
            value(depth + 1);
            blanks();
            if (text[at] != ',') break;
            at++;
        }
        expect(close);
    } else
        number();
}

static long after(const char *event, const char *end, const char *name) {
    const char *found = strstr(event, name);
    return found && found < end ? atol(found + strlen(name)) : 0;
}

int main(void) {
    size_t room = 1 << 20, got;
    long bytes = 0, calls = 0, arrows = 0;
    text = malloc(room);
    while (text && (got = fread(text + len, 1, room - len - 1, stdin)) > 0) {
        len += got;
        if (len + 1 == room) text = realloc(text, room *= 2);
    }
    if (!text) return 2;
    text[len] = '\0';
    value(0);
    blanks();
    if (at != len) fail("more than one value");
    for (const char *e = text, *end; (end = strchr(e, '\n')); e = end + 1) {
        if (!strncmp(e, "{\"ph\":\"f\"", 9)) arrows++;
        if (strncmp(e, "{\"ph\":\"X\"", 9)) continue;
        calls += after(e, end, "\"calls\":") ? after(e, end, "\"calls\":") : 1;
        if (strstr(e, "\"cat\":\"moving\"") && strstr(e, "\"cat\":\"moving\"") < end)
            bytes += after(e, end, "\"bytes\":");
    }
    printf("bytes %ld calls %ld arrows %ld\n", bytes, calls, arrows);
    return 0;
}
