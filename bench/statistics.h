/* SPDX-License-Identifier: BSD-3-Clause */
/* statistics.h: the statistics of repeated measurements. Local; knows neither PEs nor units. */
#ifndef BENCH_STATISTICS_H
#define BENCH_STATISTICS_H

/* The summary of n values. The interval contains the true median with a probability of at least 95 %, whatever the
 * distribution; with fewer than 6 values there is none (NAN). Without values all are NAN. */
struct bench_summary {
    int n;
    double min;
    double median;
    double p99; /* the smallest value that 99 % of the values do not exceed */
    double max;
    double low, high; /* the interval */
};

/* bench_summarize: of v[0..n), which it sorts. NANs must not be among them. */
struct bench_summary bench_summarize(double *v, int n);

/* bench_median: of v[0..n), n > 0, which it sorts. */
double bench_median(double *v, int n);

#endif
