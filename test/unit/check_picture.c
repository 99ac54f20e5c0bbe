/* SPDX-License-Identifier: BSD-3-Clause */
/* Message sequence pictures (test/sim/picture) of invented events, which test/check-sim.sh cannot get from a simulated
 * run.
 *
 * Broken by an arrival that is not matched with its sending, an event that is lost or kept too long, a PE that died
 * before the first kept event and is drawn as running, a text that breaks the XML, and by a drawing outside the
 * picture. */
#include "config.h"

#include "test/sim/picture.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static char *svg;

static int count(const char *what) {
    int n = 0;
    for (const char *at = svg; (at = strstr(at, what)) != NULL; at += strlen(what)) n++;
    return n;
}

/* Check takes no message as long as a picture. */
static void expect(int n, const char *what) {
    if (count(what) != n) fputs(svg, stderr);
    ck_assert_msg(count(what) == n, "%d times %s, not %d", count(what), what, n);
}

static long number_after(const char *what) {
    const char *at = strstr(svg, what);
    ck_assert_msg(at != NULL, "there is no %s", what);
    return strtol(at + strlen(what), NULL, 10);
}

/* Of the coordinates that stand as attributes, and of the first point of each path. */
static void expect_inside(const char *before, long most) {
    for (const char *at = svg; (at = strstr(at, before)) != NULL;) {
        const long value = strtol(at += strlen(before), NULL, 10);
        ck_assert_msg(value >= 0 && value <= most, "%s%ld, and %ld is the most", before, value, most);
    }
}

static void draw(const struct sim_trace *event, int n, int most, struct sim_picture_facts facts) {
    struct sim_picture *p = sim_picture_open(most, 200);
    size_t size = 0;
    FILE *f;
    free(svg);
    f = open_memstream(&svg, &size);
    ck_assert(p && f);
    /* Of a run before, which must not be seen. */
    sim_picture_add(p, &(struct sim_trace){.kind = SIM_SAYS, .text = "dies"});
    for (int i = 0; i < most; i++) sim_picture_add(p, &(struct sim_trace){.kind = SIM_SAYS, .text = "of before"});
    sim_picture_clear(p);
    for (int i = 0; i < n; i++) sim_picture_add(p, &event[i]);
    ck_assert_int_eq(sim_picture_write(p, &facts, f), 0);
    fclose(f);
    sim_picture_close(p);
    expect(0, "of before");
    expect(1, "</svg>");
    expect_inside(" x=\"", number_after(" width=\""));
    expect_inside(" cx=\"", number_after(" width=\""));
    expect_inside(" d=\"M", number_after(" width=\""));
    expect_inside(" y=\"", number_after(" height=\""));
}

#define SENDS(at, from, to, number, bytes, tagged)                                                                     \
    { .time = at, .pe = from, .kind = SIM_SENDS, .other = to, .message = number, .len = bytes, .tag = tagged }
#define ENDS(at, how, to, from, number)                                                                                \
    { .time = at, .pe = to, .kind = how, .other = from, .message = number }
#define SAYS(at, who, words)                                                                                           \
    { .time = at, .pe = who, .kind = SIM_SAYS, .text = words }

START_TEST(a_message_is_an_arrow_to_its_fate) {
    static const struct sim_trace event[] = {ENDS(5, SIM_ARRIVES, 0, 2, 3),  SENDS(10, 0, 1, 7, 112, 0),
                                             SENDS(20, 0, 2, 8, 5000, 13),   SENDS(30, 2, 1, 9, 0, 20000),
                                             SENDS(35, 1, 1, 10, 16, 30000), ENDS(40, SIM_LOST, 2, 0, 8),
                                             ENDS(50, SIM_ARRIVES, 1, 0, 7), ENDS(52, SIM_ARRIVES, 1, 1, 10)};
    draw(event, sizeof event / sizeof *event, 80, (struct sim_picture_facts){.title = "A run", .n_pes = 3});
    expect(3, "<g class=\"pe\"");
    expect(5, "<g class=\"message");
    expect(1, "message 7: 112 bytes, tag 0, PE 0 to PE 1; sent at 10 ns, arrived at 50 ns, after 40 ns<");
    expect(1, ">112 B, tag 0<");
    expect(1, "message 8: 5000 bytes, tag 13, PE 0 to PE 2; sent at 20 ns, lost at 40 ns");
    expect(2, "class=\"cross\""); /* and in the legend */
    expect(1, "message 9: 0 bytes, tag 20000, PE 2 to PE 1; sent at 30 ns, not arrived by the end<");
    expect(1, "message group pending\"");
    expect(1, "message 3, PE 2 to PE 0; sent before the first event of the picture, arrived at 5 ns<");
    expect(1, "message stub\"");
    expect(1, "message agreement\"");
    expect(1, "the last 8 of 8 events");
    expect(0, "class=\"node\"");
    expect(0, "class=\"pause\"");
}
END_TEST

/* Messages overtake each other, and PEs are ahead of the others: neither comes in the order of its time. */
START_TEST(rows_are_in_the_order_of_their_times) {
    static const struct sim_trace event[] = {SAYS(30, 0, "third"), SENDS(10, 1, 0, 1, 1, 0), SENDS(10, 1, 0, 0, 2, 0),
                                             ENDS(40, SIM_ARRIVES, 0, 1, 0), ENDS(50, SIM_ARRIVES, 0, 1, 1)};
    draw(event, 5, 80, (struct sim_picture_facts){.title = "Order", .n_pes = 2});
    expect(1, "message 0: 2 bytes, tag 0, PE 1 to PE 0; sent at 10 ns, arrived at 40 ns");
    expect(1, "message 1: 1 bytes, tag 0, PE 1 to PE 0; sent at 10 ns, arrived at 50 ns");
    ck_assert(strstr(svg, "1 B, tag 0") < strstr(svg, "2 B, tag 0"));
    ck_assert(strstr(svg, "2 B, tag 0") < strstr(svg, "PE 0 at 30 ns: third"));
    expect(1, "class=\"same-time\"");
}
END_TEST

START_TEST(texts_are_escaped_cut_and_red_if_they_tell_faults) {
    static const char text[] =
        "<b> & \"\x01\xe4 01234567890123456789012345678901234567890123456789012345678901234567890123456789 end";
    const struct sim_trace event[] = {SAYS(1, 0, text), SAYS(2, 1, "FAILURE x"), SAYS(3, 1, "is well"),
                                      SAYS(4, 2, "ends the job: y")};
    draw(event, 4, 80,
         (struct sim_picture_facts){.title = "<t>", .end = "PE 1 & all that it has waited for", .n_pes = 3});
    expect(1, ">&lt;t&gt;<");
    expect(1, ">PE 1 &amp; all that it has waited for<");
    expect(2, "&lt;b&gt; &amp; &quot;?? 01");
    expect(1, "0123456789 end</title>");
    expect(1, "...</text>");
    expect(2, "\"says fault\"");
    expect(2, "\"says\"");
}
END_TEST

START_TEST(the_last_events_are_kept_and_who_has_died_before) {
    static const struct sim_trace event[] = {SAYS(1, 2, "dies"), SAYS(2, 1, "stops"), SENDS(3, 0, 1, 0, 8, 0),
                                             SAYS(4, 0, "one"),  SAYS(5, 0, "two"),   SAYS(6, 1, "goes on"),
                                             SAYS(7, 0, "dies")};
    draw(event, 7, 3, (struct sim_picture_facts){.title = "Ring", .n_pes = 4, .node_pes = 3});
    expect(1, "the last 3 of 7 events");
    expect(1, ">two<");
    expect(0, ">one<");
    expect(0, "<g class=\"message");
    expect(2, ">PE 2, dead<");
    expect(1, ">PE 1, stopped<");
    expect(1, ">PE 1<");
    expect(1, ">PE 0, dead<");
    expect(2, ">PE 3<");
    expect(1, "class=\"stopped\"");
    expect(2, "class=\"dead\"");
    expect(2, "class=\"node\"");
    expect(1, ">node 1<");
    draw(event, 7, 1, (struct sim_picture_facts){.title = "Ring", .n_pes = 4});
    expect(1, "the last 1 of 7 events");
    draw(event, 0, 1, (struct sim_picture_facts){.title = "Nothing", .n_pes = 4});
    expect(4, "<g class=\"pe\"");
}
END_TEST

START_TEST(long_pauses_are_marked) {
    struct sim_trace event[12];
    for (int i = 0; i < 12; i++) event[i] = (struct sim_trace)SAYS(100 + (uint64_t)i * 10, 0, "works");
    event[11].time = 1000000 + event[10].time;
    draw(event, 12, 80, (struct sim_picture_facts){.title = "Pauses", .n_pes = 2});
    expect(1, "class=\"pause\"");
    expect(1, ">+ 1 000 000<");
    expect(1, ">1 000 200<");
    event[11].time = 100 + event[10].time; /* 10 times the median */
    draw(event, 12, 80, (struct sim_picture_facts){.title = "No pause", .n_pes = 2});
    expect(0, "class=\"pause\"");
}
END_TEST

START_TEST(of_many_pes_those_with_events_are_drawn) {
    static const struct sim_trace event[] = {SENDS(1, 3, 150, 0, 8, 0), SAYS(2, 199, "here")};
    static const struct sim_trace alone = SAYS(1, 63, "alone");
    draw(&alone, 1, 80, (struct sim_picture_facts){.title = "All", .n_pes = 64});
    expect(64, "<g class=\"pe\"");
    draw(event, 2, 80, (struct sim_picture_facts){.title = "Some", .n_pes = 200, .node_pes = 4});
    expect(3, "<g class=\"pe\"");
    expect(1, "200 PEs, 4 on a node (3 have an event here)");
    expect(1, ">node 49<");
}
END_TEST

int main(void) {
    Suite *s = suite_create("picture");
    TCase *c = tcase_create("picture");
    SRunner *r;
    int failed;
    tcase_add_test(c, a_message_is_an_arrow_to_its_fate);
    tcase_add_test(c, rows_are_in_the_order_of_their_times);
    tcase_add_test(c, texts_are_escaped_cut_and_red_if_they_tell_faults);
    tcase_add_test(c, the_last_events_are_kept_and_who_has_died_before);
    tcase_add_test(c, long_pauses_are_marked);
    tcase_add_test(c, of_many_pes_those_with_events_are_drawn);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
