/* SPDX-License-Identifier: BSD-3-Clause */
/* The part that ompt.c uses of OMPT, the interface by which OpenMP's runtime tells a tool what it does. It is declared
 * here, so that a build does not need LLVM's OpenMP. Numbers and arguments are those of the OpenMP specification 5.1,
 * chapter 4: 4.2.1 ompt_start_tool, 4.4.3 initialize and finalize, 4.4.3.4 data, 4.4.3.1 the numbers of callbacks,
 * 4.4.3.4.x their kinds, 4.5.2 the callbacks, 4.6.1 the functions that lookup finds. test/check-ompt.sh compares these
 * declarations with omp-tools.h. */
#ifndef RACE_OMPT_H
#define RACE_OMPT_H

#include <stddef.h>
#include <stdint.h>

/* race_ompt_open: called when detection starts. Warns if LLVM's runtime is present but does not report its events. */
void race_ompt_open(void);

/* race_ompt_end: called before _exit. Makes LLVM's runtime remove its file in /dev/shm, as its destructor would. */
void race_ompt_end(void);

#define RACE_OMP_PAUSE_HARD 2 /* omp_pause_hard */

/* A word for the tool, which the runtime keeps with a thread, a region or a task. */
union race_ompt_data {
    uint64_t value;
    void *ptr;
};
typedef union race_ompt_data race_ompt_data;

/* What ompt_start_tool returns. initialize returns 0 if the tool wants no events. */
typedef void (*race_ompt_function)(void);
typedef race_ompt_function race_ompt_lookup(const char *name);
struct race_ompt_start {
    int (*initialize)(race_ompt_lookup *lookup, int device, race_ompt_data *tool);
    void (*finalize)(race_ompt_data *tool);
    race_ompt_data tool;
};

/* Functions that lookup finds: ompt_set_callback; and ompt_get_task_memory, which gives the address of block `block` of
 * the calling thread's task, and returns 1 if there are more blocks. */
typedef int race_ompt_set_callback(int event, race_ompt_function callback);
typedef int race_ompt_get_task_memory(void **address, size_t *size, int block);

enum race_ompt_event {
    RACE_OMPT_PARALLEL_BEGIN = 3,
    RACE_OMPT_PARALLEL_END = 4,
    RACE_OMPT_TASK_CREATE = 5,
    RACE_OMPT_TASK_SCHEDULE = 6,
    RACE_OMPT_IMPLICIT_TASK = 7,
    RACE_OMPT_SYNC_REGION_WAIT = 16,
    RACE_OMPT_MUTEX_RELEASED = 17,
    RACE_OMPT_DEPENDENCES = 18,
    RACE_OMPT_SYNC_REGION = 23,
    RACE_OMPT_LOCK_DESTROY = 25,
    RACE_OMPT_MUTEX_ACQUIRED = 27,
    RACE_OMPT_FLUSH = 29,
    RACE_OMPT_REDUCTION = 31
};

enum race_ompt_endpoint { RACE_OMPT_BEGIN = 1, RACE_OMPT_END = 2 };

enum race_ompt_sync { /* the others are barriers */
                      RACE_OMPT_TASKWAIT = 5,
                      RACE_OMPT_TASKGROUP = 6,
                      RACE_OMPT_SYNC_REDUCTION = 7
};

enum race_ompt_status { /* with the other values the task continues later */
                        RACE_OMPT_COMPLETE = 1,
                        RACE_OMPT_CANCEL = 3,
                        RACE_OMPT_DETACH = 4,
                        RACE_OMPT_EARLY_FULFILL = 5,
                        RACE_OMPT_LATE_FULFILL = 6,
                        RACE_OMPT_TASKWAIT_COMPLETE = 8
};

enum race_ompt_task_flag { RACE_OMPT_EXPLICIT = 4, RACE_OMPT_TARGET = 8, RACE_OMPT_TASKWAIT_TASK = 16 };

enum race_ompt_dependence_type { /* the others are out, inout and mutexinoutset */
                                 RACE_OMPT_IN = 1,
                                 RACE_OMPT_SOURCE = 5,
                                 RACE_OMPT_SINK = 6,
                                 RACE_OMPT_INOUTSET = 7,
                                 RACE_OMPT_OUT_ALL = 34, /* of all memory: OpenMP 5.2 */
                                 RACE_OMPT_INOUT_ALL = 35
};
struct race_ompt_dependence {
    race_ompt_data variable;
    int type;
};

/* The callbacks. Frames and code addresses are pointers that nothing here reads. */
typedef void race_ompt_parallel_begin(race_ompt_data *task, const void *frame, race_ompt_data *parallel,
                                      unsigned threads, int flags, const void *code);
typedef void race_ompt_parallel_end(race_ompt_data *parallel, race_ompt_data *task, int flags, const void *code);
typedef void race_ompt_implicit_task(int endpoint, race_ompt_data *parallel, race_ompt_data *task, unsigned threads,
                                     unsigned index, int flags);
typedef void race_ompt_task_create(race_ompt_data *parent, const void *frame, race_ompt_data *task, int flags,
                                   int has_dependences, const void *code);
typedef void race_ompt_task_schedule(race_ompt_data *prior, int status, race_ompt_data *next);
typedef void race_ompt_dependences(race_ompt_data *task, const struct race_ompt_dependence *list, int n);
typedef void race_ompt_sync_region(int kind, int endpoint, race_ompt_data *parallel, race_ompt_data *task,
                                   const void *code);
typedef void race_ompt_mutex(int kind, uint64_t mutex, const void *code);
typedef void race_ompt_flush(race_ompt_data *thread, const void *code);

#endif
