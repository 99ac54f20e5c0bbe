/* SPDX-License-Identifier: BSD-3-Clause */
/* statistics.c: order statistics.
 *
 * Times of a shared machine have a floor and a long tail, so nothing here assumes a distribution. The interval of the
 * median is between two of the values: each value lies below the true median with probability one half, so the number
 * of such values is binomial (Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems, SC15, section
 * 3.1.3). */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>

#define OUTSIDE 0.025 /* the chance that the median lies below the interval, and that it lies above */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest number of values that can be left out at each end: the largest k for which fewer than k of n values lie
 * below the true median with a probability of at most OUTSIDE. 0: not even all n are enough. */
static int left_out(int n) {
    double chance = 0;
    for (int k = 0; k < n; k++) {
        chance += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2)); /* exactly k do */
        if (chance > OUTSIDE) return k;
    }
    return 0;
}

double bench_median(double *v, int n) { return bench_summarize(v, n).median; }

struct bench_summary bench_summarize(double *v, int n) {
    struct bench_summary s = {n, NAN, NAN, NAN, NAN, NAN, NAN};
    if (n < 1) return s;
    qsort(v, (size_t)n, sizeof *v, compare);
    s.min = v[0];
    s.median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
    s.p99 = v[(99L * n + 99) / 100 - 1];
    s.max = v[n - 1];
    int k = left_out(n);
    if (k > 0) {
        s.low = v[k - 1];
        s.high = v[n - k];
    }
    return s;
}
