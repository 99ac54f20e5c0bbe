/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's one world, in a file apart from its life cycle (runtime/life/runtime.c): files that use the world do
 * not depend on the files that open and close it. Other files reach the modules' objects by the world's pointers only.
 */
#include "config.h"

#include "runtime/world.h"
#include "heap/statics.h"
#include "runtime/attach.h"
#include "runtime/context.h"
#include "runtime/job/traffic.h"
#include "runtime/net/group.h"
#include "runtime/net/progress_thread.h"
#include "runtime/node/barrier.h"
#include "runtime/node/service.h"
#include "runtime/team.h"
#include "runtime/transport/transport_mpi.h"
#include "runtime/watch/stall.h"
#include "runtime/watch/watchdog.h"

static struct rmai_attachments attachments;
static struct rmai_barrier barrier;
static struct rmai_contexts contexts;
static struct rmai_group leaders;
static struct rmai_progress_thread progress_thread;
static struct rmai_service service;
static struct rmai_statics statics;
static struct rmai_teams teams;
static struct rmai_traffic traffic;
static struct rmai_transport_mpi mpi;
static struct rmai_watch watch;
static struct rmai_watchdog watchdog;

struct rmai_world rmai_world = {
    .attachments = &attachments,
    .barrier = &barrier,
    .contexts = &contexts,
    .leaders = &leaders,
    .mpi = &mpi,
    .progress_thread = &progress_thread,
    .service = &service,
    .statics = &statics,
    .teams = &teams,
    .traffic = &traffic,
    .watch = &watch,
    .watchdog = &watchdog,
};
