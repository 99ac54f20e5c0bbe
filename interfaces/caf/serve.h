/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that a thread of another image executes while that image's program does something else. */
#ifndef RMAI_CAF_SERVE_H
#define RMAI_CAF_SERVE_H

#include "interfaces/caf/core.h"

/* A request or a reply; data was allocated by malloc, or belongs to the caller. */
struct rmai_caf_message {
    size_t len;
    char *data;
};

/* Executes a request and returns the reply, whose data malloc has allocated. It must not call librma, except by
 * rmai_caf_ask_back. */
typedef struct rmai_caf_message rmai_caf_execute(struct rmai_caf_message request);

/* rmai_caf_serve_start starts the thread. All images call it. rmai_caf_serve_end waits until all images have called it,
 * and ends the thread, if there is one. After that no image may ask. */
void rmai_caf_serve_start(rmai_caf_execute *execute);
void rmai_caf_serve_end(void);

/* rmai_caf_serving: 1 in the thread. */
int rmai_caf_serving(void);

/* rmai_caf_ask lets the image on pe, which is not this one, execute a request, and returns the reply. If that image
 * asks back meanwhile, this one executes its request. rmai_caf_ask_back, called while the thread executes a request,
 * asks the image that has sent it. The caller frees the data of the reply. */
struct rmai_caf_message rmai_caf_ask(const char *statement, int pe, struct rmai_caf_message request);
struct rmai_caf_message rmai_caf_ask_back(struct rmai_caf_message request);

#endif
