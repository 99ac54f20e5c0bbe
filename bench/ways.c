/* SPDX-License-Identifier: BSD-3-Clause */
/* ways.c: librma started for each way between nodes by its settings, and MPI's own dynamic window. */
#include "ways.h"
#include "bench.h"

#include <stdlib.h>

/* The value of RMA_WINDOW. */
static const char *const window[BENCH_WAYS] = {[BENCH_WAY_MESSAGES] = "none", [BENCH_WAY_DYNAMIC] = "dynamic"};

static enum bench_way current_way; /* the way for which librma has been started */

const struct bench_ratio bench_way_ratios[] = {
    {"MPI/messages", BENCH_WAY_MPI, {0, -1}},
    {"MPI/dynamic", BENCH_WAY_MPI, {1, -1}},
    {0},
};

void bench_way_start(enum bench_way way) {
    if (window[way] && setenv("RMA_WINDOW", window[way], 1) != 0) bench_fail("setenv", MPI_ERR_NO_MEM);
    BENCH_RMA(rma_init());
    current_way = way;
}

bool bench_way_switch(enum bench_way way, void (*close)(void), void (*open)(void)) {
    if (way == BENCH_WAY_ANY || way == current_way) return false;
    close();
    BENCH_RMA(rma_finalize());
    bench_way_start(way);
    open();
    return true;
}

bool bench_way_taken(void) {
    struct rma_stats stats;
    if (current_way == BENCH_WAY_ANY || current_way == BENCH_WAY_MESSAGES) return true;
    BENCH_RMA(rma_stats(&stats));
    return bench_agree(stats.path[RMA_PATH_WINDOW].puts > 0 || stats.path[RMA_PATH_WINDOW].gets > 0) != 0;
}

/* Open MPI 4.1.4 cannot create a dynamic window over TCP, nor for one process. */
bool bench_dynamic_window(MPI_Win *win) {
    MPI_Errhandler handler;
    *win = MPI_WIN_NULL;
    BENCH_MPI(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
    BENCH_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    bool made = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win) == MPI_SUCCESS;
    BENCH_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    BENCH_MPI(MPI_Errhandler_free(&handler));
    if (bench_agree(!made)) {
        if (made) BENCH_MPI(MPI_Win_free(win));
        *win = MPI_WIN_NULL;
        return false;
    }
    BENCH_MPI(MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN));
    BENCH_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, *win));
    return true;
}

void bench_dynamic_window_free(MPI_Win *win) {
    if (*win == MPI_WIN_NULL) return;
    BENCH_MPI(MPI_Win_unlock_all(*win));
    BENCH_MPI(MPI_Win_free(win));
}
