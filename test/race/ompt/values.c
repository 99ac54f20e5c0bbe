/* SPDX-License-Identifier: BSD-3-Clause */
/* instruments/race/ompt.h says what omp-tools.h says: each number, and each callback's arguments. Compiled, not run, by
 * test/check-ompt.sh, which includes instruments/race/ompt.h before this file. */
#include <omp-tools.h>

#define SAME(OURS, THEIRS) _Static_assert((int)(OURS) == (int)(THEIRS), #OURS " is " #THEIRS)

SAME(RACE_OMPT_PARALLEL_BEGIN, ompt_callback_parallel_begin);
SAME(RACE_OMPT_PARALLEL_END, ompt_callback_parallel_end);
SAME(RACE_OMPT_TASK_CREATE, ompt_callback_task_create);
SAME(RACE_OMPT_TASK_SCHEDULE, ompt_callback_task_schedule);
SAME(RACE_OMPT_IMPLICIT_TASK, ompt_callback_implicit_task);
SAME(RACE_OMPT_SYNC_REGION_WAIT, ompt_callback_sync_region_wait);
SAME(RACE_OMPT_MUTEX_RELEASED, ompt_callback_mutex_released);
SAME(RACE_OMPT_DEPENDENCES, ompt_callback_dependences);
SAME(RACE_OMPT_SYNC_REGION, ompt_callback_sync_region);
SAME(RACE_OMPT_LOCK_DESTROY, ompt_callback_lock_destroy);
SAME(RACE_OMPT_MUTEX_ACQUIRED, ompt_callback_mutex_acquired);
SAME(RACE_OMPT_FLUSH, ompt_callback_flush);
SAME(RACE_OMPT_REDUCTION, ompt_callback_reduction);
SAME(RACE_OMPT_BEGIN, ompt_scope_begin);
SAME(RACE_OMPT_END, ompt_scope_end);
SAME(RACE_OMPT_TASKWAIT, ompt_sync_region_taskwait);
SAME(RACE_OMPT_TASKGROUP, ompt_sync_region_taskgroup);
SAME(RACE_OMPT_SYNC_REDUCTION, ompt_sync_region_reduction);
SAME(RACE_OMPT_COMPLETE, ompt_task_complete);
SAME(RACE_OMPT_CANCEL, ompt_task_cancel);
SAME(RACE_OMPT_DETACH, ompt_task_detach);
SAME(RACE_OMPT_EARLY_FULFILL, ompt_task_early_fulfill);
SAME(RACE_OMPT_LATE_FULFILL, ompt_task_late_fulfill);
SAME(RACE_OMPT_TASKWAIT_COMPLETE, ompt_taskwait_complete);
SAME(RACE_OMPT_EXPLICIT, ompt_task_explicit);
SAME(RACE_OMPT_TARGET, ompt_task_target);
SAME(RACE_OMPT_TASKWAIT_TASK, ompt_task_taskwait);
SAME(RACE_OMPT_IN, ompt_dependence_type_in);
SAME(RACE_OMPT_SOURCE, ompt_dependence_type_source);
SAME(RACE_OMPT_SINK, ompt_dependence_type_sink);
SAME(RACE_OMPT_INOUTSET, ompt_dependence_type_inoutset);

SAME(sizeof(struct race_ompt_start), sizeof(ompt_start_tool_result_t));
SAME(offsetof(struct race_ompt_start, finalize), offsetof(ompt_start_tool_result_t, finalize));
SAME(offsetof(struct race_ompt_start, tool), offsetof(ompt_start_tool_result_t, tool_data));
SAME(sizeof(race_ompt_data), sizeof(ompt_data_t));
SAME(sizeof(struct race_ompt_dependence), sizeof(ompt_dependence_t));
SAME(offsetof(struct race_ompt_dependence, type), offsetof(ompt_dependence_t, dependence_type));

/* A function of our type takes what a function of theirs takes: a call compiles, and each argument is as long. */
#define AS_LONG(A, B) _Static_assert(sizeof(A) == sizeof(B), "arguments of the same length")
AS_LONG(ompt_scope_endpoint_t, int);
AS_LONG(ompt_sync_region_t, int);
AS_LONG(ompt_task_status_t, int);
AS_LONG(ompt_mutex_t, int);
AS_LONG(ompt_wait_id_t, uint64_t);
AS_LONG(ompt_callbacks_t, int);
AS_LONG(ompt_set_result_t, int);

/* compare_... are never called. */
extern ompt_data_t *data;
extern const ompt_dependence_t *list;
void compare_theirs(ompt_callback_parallel_begin_t a, ompt_callback_parallel_end_t b, ompt_callback_implicit_task_t c,
                    ompt_callback_task_create_t d, ompt_callback_task_schedule_t e, ompt_callback_dependences_t f,
                    ompt_callback_sync_region_t g, ompt_callback_mutex_t h, ompt_callback_flush_t i,
                    ompt_set_callback_t j, ompt_get_task_memory_t k);
void compare_theirs(ompt_callback_parallel_begin_t a, ompt_callback_parallel_end_t b, ompt_callback_implicit_task_t c,
                    ompt_callback_task_create_t d, ompt_callback_task_schedule_t e, ompt_callback_dependences_t f,
                    ompt_callback_sync_region_t g, ompt_callback_mutex_t h, ompt_callback_flush_t i,
                    ompt_set_callback_t j, ompt_get_task_memory_t k) {
    void *address;
    size_t size;
    a(data, NULL, data, 1u, 0, NULL);
    b(data, data, 0, NULL);
    c(ompt_scope_begin, data, data, 1u, 1u, 0);
    d(data, NULL, data, 0, 0, NULL);
    e(data, ompt_task_complete, data);
    f(data, list, 1);
    g(ompt_sync_region_taskwait, ompt_scope_begin, data, data, NULL);
    h(ompt_mutex_lock, (ompt_wait_id_t)0, NULL);
    i(data, NULL);
    (void)(int)j(ompt_callback_flush, NULL);
    (void)k(&address, &size, 0);
}

extern race_ompt_data *our_data;
extern const struct race_ompt_dependence *our_list;
void compare_ours(race_ompt_parallel_begin *a, race_ompt_parallel_end *b, race_ompt_implicit_task *c,
                  race_ompt_task_create *d, race_ompt_task_schedule *e, race_ompt_dependences *f,
                  race_ompt_sync_region *g, race_ompt_mutex *h, race_ompt_flush *i, race_ompt_set_callback *j,
                  race_ompt_get_task_memory *k);
void compare_ours(race_ompt_parallel_begin *a, race_ompt_parallel_end *b, race_ompt_implicit_task *c,
                  race_ompt_task_create *d, race_ompt_task_schedule *e, race_ompt_dependences *f,
                  race_ompt_sync_region *g, race_ompt_mutex *h, race_ompt_flush *i, race_ompt_set_callback *j,
                  race_ompt_get_task_memory *k) {
    void *address;
    size_t size;
    a(our_data, NULL, our_data, 1u, 0, NULL);
    b(our_data, our_data, 0, NULL);
    c(RACE_OMPT_BEGIN, our_data, our_data, 1u, 1u, 0);
    d(our_data, NULL, our_data, 0, 0, NULL);
    e(our_data, RACE_OMPT_COMPLETE, our_data);
    f(our_data, our_list, 1);
    g(RACE_OMPT_TASKWAIT, RACE_OMPT_BEGIN, our_data, our_data, NULL);
    h(1, (uint64_t)0, NULL);
    i(our_data, NULL);
    (void)j(RACE_OMPT_FLUSH, NULL);
    (void)k(&address, &size, 0);
}
