/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of MPI's windows share. They are plain MPI programs: test/check-mpi.sh runs them on librma, and on MPI
 * alone as a check of the tests. */
#ifndef TEST_MPI_CHECK_H
#define TEST_MPI_CHECK_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, n;

#define CHECK(...)                                                                                                     \
    do {                                                                                                               \
        if (!(__VA_ARGS__)) {                                                                                          \
            fprintf(stderr, "%s:%d: process %d of %d: not true: %s\n", __FILE__, __LINE__, rank, n, #__VA_ARGS__);     \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                              \
        }                                                                                                              \
    } while (0)

/* 1 if the windows are librma's: the program runs with rma_mpi. */
static inline int on_librma(void) {
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "librma_mpi");
}

/* 1 if all processes share memory. RMA_NODE_PES simulates nodes of which MPI does not know. */
static inline int one_node(void) {
    const char *simulated = getenv("RMA_NODE_PES");
    MPI_Comm node;
    int here;
    if (simulated && atoi(simulated) < n) return 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return here == n;
}

static inline int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static inline void begin(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
}

static inline int end(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) puts("passed");
    return MPI_Finalize();
}

#endif
