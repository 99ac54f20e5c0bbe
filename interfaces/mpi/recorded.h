/* SPDX-License-Identifier: BSD-3-Clause */
/* librma's calls as this folder makes them: their errors are recorded and returned, and do not reach the program's
 * error handler. rma_last_error has them. The error handler is for the program's own calls of rma.h and OpenSHMEM.
 * Errors of windows go to the handler of the window (interfaces/mpi/errors.h).
 *
 * Each call that can fail has a macro of its own name here. tools/check-layers finds one that is missing. A store of a
 * thread's variable before the call and one after it is all that this costs; the shortest paths, which access memory of
 * the node, make none of these calls. */
#ifndef RMAI_MPI_RECORDED_H
#define RMAI_MPI_RECORDED_H

#include "rma.h"
#include "runtime/interfaces.h"

static inline int rmai_recorded_code(int code) {
    rma_errors_recorded_ = 0;
    return code;
}

static inline void *rmai_recorded_address(void *address) {
    rma_errors_recorded_ = 0;
    return address;
}

static inline rma_gptr_t rmai_recorded_gptr(rma_gptr_t g) {
    rma_errors_recorded_ = 0;
    return g;
}

#define RMAI_RECORDED(RESULT, CALL) (rma_errors_recorded_ = 1, rmai_recorded_##RESULT(CALL))

#define rma_alloc_mem(...)                       RMAI_RECORDED(code, rma_alloc_mem(__VA_ARGS__))
#define rma_alloc_mem_hints(...)                 RMAI_RECORDED(code, rma_alloc_mem_hints(__VA_ARGS__))
#define rma_alloc_mem_on(...)                    RMAI_RECORDED(code, rma_alloc_mem_on(__VA_ARGS__))
#define rma_calloc(...)                          RMAI_RECORDED(address, rma_calloc(__VA_ARGS__))
#define rma_broadcast(...)                       RMAI_RECORDED(code, rma_broadcast(__VA_ARGS__))
#define rma_fail_(...)                           RMAI_RECORDED(code, rma_fail_(__VA_ARGS__))
#define rma_fcollect(...)                        RMAI_RECORDED(code, rma_fcollect(__VA_ARGS__))
#define rma_free_mem(...)                        RMAI_RECORDED(code, rma_free_mem(__VA_ARGS__))
#define rma_get(...)                             RMAI_RECORDED(code, rma_get(__VA_ARGS__))
#define rma_get_nbi(...)                         RMAI_RECORDED(code, rma_get_nbi(__VA_ARGS__))
#define rma_gptr(...)                            RMAI_RECORDED(gptr, rma_gptr(__VA_ARGS__))
#define rma_gptr_accumulate(...)                 RMAI_RECORDED(code, rma_gptr_accumulate(__VA_ARGS__))
#define rma_gptr_accumulate_blocks_nbi(...)      RMAI_RECORDED(code, rma_gptr_accumulate_blocks_nbi(__VA_ARGS__))
#define rma_gptr_accumulate_nbi(...)             RMAI_RECORDED(code, rma_gptr_accumulate_nbi(__VA_ARGS__))
#define rma_gptr_accumulate_section_nbi(...)     RMAI_RECORDED(code, rma_gptr_accumulate_section_nbi(__VA_ARGS__))
#define rma_gptr_atomic_nbi_slow_(...)           RMAI_RECORDED(code, rma_gptr_atomic_nbi_slow_(__VA_ARGS__))
#define rma_gptr_atomic_slow_(...)               RMAI_RECORDED(code, rma_gptr_atomic_slow_(__VA_ARGS__))
#define rma_gptr_free(...)                       RMAI_RECORDED(code, rma_gptr_free(__VA_ARGS__))
#define rma_gptr_get(...)                        RMAI_RECORDED(code, rma_gptr_get(__VA_ARGS__))
#define rma_gptr_get_accumulate(...)             RMAI_RECORDED(code, rma_gptr_get_accumulate(__VA_ARGS__))
#define rma_gptr_get_accumulate_blocks(...)      RMAI_RECORDED(code, rma_gptr_get_accumulate_blocks(__VA_ARGS__))
#define rma_gptr_get_accumulate_blocks_nbi(...)  RMAI_RECORDED(code, rma_gptr_get_accumulate_blocks_nbi(__VA_ARGS__))
#define rma_gptr_get_accumulate_nbi(...)         RMAI_RECORDED(code, rma_gptr_get_accumulate_nbi(__VA_ARGS__))
#define rma_gptr_get_accumulate_section_nbi(...) RMAI_RECORDED(code, rma_gptr_get_accumulate_section_nbi(__VA_ARGS__))
#define rma_gptr_get_blocks_nbi(...)             RMAI_RECORDED(code, rma_gptr_get_blocks_nbi(__VA_ARGS__))
#define rma_gptr_get_nbi(...)                    RMAI_RECORDED(code, rma_gptr_get_nbi(__VA_ARGS__))
#define rma_gptr_get_section_nbi(...)            RMAI_RECORDED(code, rma_gptr_get_section_nbi(__VA_ARGS__))
#define rma_gptr_ptr(...)                        RMAI_RECORDED(address, rma_gptr_ptr(__VA_ARGS__))
#define rma_gptr_put(...)                        RMAI_RECORDED(code, rma_gptr_put(__VA_ARGS__))
#define rma_gptr_put_blocks_nbi(...)             RMAI_RECORDED(code, rma_gptr_put_blocks_nbi(__VA_ARGS__))
#define rma_gptr_put_nbi(...)                    RMAI_RECORDED(code, rma_gptr_put_nbi(__VA_ARGS__))
#define rma_gptr_put_section_nbi(...)            RMAI_RECORDED(code, rma_gptr_put_section_nbi(__VA_ARGS__))
#define rma_progress(...)                        RMAI_RECORDED(code, rma_progress(__VA_ARGS__))
#define rma_ptr(...)                             RMAI_RECORDED(address, rma_ptr(__VA_ARGS__))
#define rma_put_gathered_(...)                   RMAI_RECORDED(code, rma_put_gathered_(__VA_ARGS__))
#define rma_quiet(...)                           RMAI_RECORDED(code, rma_quiet(__VA_ARGS__))
#define rma_reduce_(...)                         RMAI_RECORDED(code, rma_reduce_(__VA_ARGS__))
#define rma_team_drives_(...)                    RMAI_RECORDED(code, rma_team_drives_(__VA_ARGS__))
#define rma_team_split_strided(...)              RMAI_RECORDED(code, rma_team_split_strided(__VA_ARGS__))
#define rma_team_sync(...)                       RMAI_RECORDED(code, rma_team_sync(__VA_ARGS__))

#endif
