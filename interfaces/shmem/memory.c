/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenSHMEM's calls on the symmetric heap. librma's calls wait for all PEs, as the specification requires, and report
 * an error if PEs call with different arguments. */
#include "config.h"

#include "interfaces/shmem/define.h"

#define HINTS (SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE | SHMEMX_MALLOC_NO_BARRIER)

static void *forward_malloc(const char *call, size_t size) {
    rma_call_as_(call);
    return rmai_shmem_end_ptr(rma_malloc(size));
}

/* An invalid alignment or block gives a null pointer. All PEs still take part: they agree on the result, so no PE waits
 * for one that has left. */
static void *forward_aligned_alloc(const char *call, size_t alignment, size_t size) {
    void *block;
    rma_call_as_(call);
    rma_tolerate_(RMA_ERR_ARG, RMA_UNDEFINED_ALIGNMENT_);
    block = rma_aligned_alloc(alignment, size);
    rma_tolerate_(RMA_SUCCESS, RMA_UNDEFINED_ALIGNMENT_);
    return rmai_shmem_end_ptr(block);
}

static void *forward_realloc(const char *call, void *ptr, size_t size) {
    void *block;
    rma_call_as_(call);
    rma_tolerate_(RMA_ERR_BASE, RMA_UNDEFINED_REALLOC_);
    block = rma_realloc(ptr, size);
    rma_tolerate_(RMA_SUCCESS, RMA_UNDEFINED_REALLOC_);
    return rmai_shmem_end_ptr(block);
}

static void forward_free(const char *call, void *ptr) {
    rma_call_as_(call);
    rma_free(ptr);
    rma_call_as_(NULL);
}

void *pshmem_malloc(size_t size) { return forward_malloc("shmem_malloc", size); }

void *pshmem_calloc(size_t count, size_t size) {
    rma_call_as_("shmem_calloc");
    return rmai_shmem_end_ptr(rma_calloc(count, size));
}

void *pshmem_align(size_t alignment, size_t size) { return forward_aligned_alloc("shmem_align", alignment, size); }

/* The hints change nothing: words of the symmetric heap are already as close to their owner as possible, also for
 * atomics and signals; and without a barrier PEs could not agree on the arguments and on whether there is memory. */
void *pshmem_malloc_with_hints(size_t size, long hints) {
    if (hints & ~HINTS) {
        rma_tolerate_(RMA_ERR_ARG, RMA_UNDEFINED_HINTS_);
        rma_fail_(RMA_ERR_ARG, "shmem_malloc_with_hints: hints %#lx has bits that are no hint", (unsigned long)hints);
        rma_tolerate_(RMA_SUCCESS, RMA_UNDEFINED_HINTS_);
        if (rma_checks_()) return NULL;
    }
    return forward_malloc("shmem_malloc_with_hints", size);
}

void *pshmem_realloc(void *ptr, size_t size) { return forward_realloc("shmem_realloc", ptr, size); }

void pshmem_free(void *ptr) { forward_free("shmem_free", ptr); }

/* Deprecated since 1.2. */
void *pshmalloc(size_t size) { return forward_malloc("shmalloc", size); }
void *pshmemalign(size_t alignment, size_t size) { return forward_aligned_alloc("shmemalign", alignment, size); }
void *pshrealloc(void *ptr, size_t size) { return forward_realloc("shrealloc", ptr, size); }
void pshfree(void *ptr) { forward_free("shfree", ptr); }

SHMEM_MEMORY_CALLS_(ALIAS)
