/* SPDX-License-Identifier: BSD-3-Clause */
/* By default a caller's mistake ends the whole job, with a text that names call, value and range.
 *
 * Broken by an error handler that only returns or only ends its own process, by a default other than aborting, and by a
 * text without the numbers. test/job/plan has the text that this job must end with. */
#include "job.h"

int main(void) {
    job_start();
    long *block = rma_malloc(sizeof *block);
    CHECK(block != NULL, "%s", rma_last_error());

    /* The exact numbers while errors still return, then the same for real. */
    EXPECT("rma_put", rma_put(block, block, sizeof *block, job.n), RMA_ERR_PE,
           job_text("PE %d is outside 0..%d", job.n, job.n - 1));
    OK(rma_barrier_all());
    CHECK(rma_set_errhandler(rma_errors_abort) == job_handler, "the handler was another one");
    if (job.me == job.n - 1) {
        rma_put(block, block, sizeof *block, job.n);
        printf("PE %d: rma_put has returned\n", job.me);
        return 0;
    }

    /* The others have done nothing wrong, and are ended all the same. */
    for (int i = 0; i < 200; i++) job_sleep(50000);
    printf("PE %d: still here\n", job.me);
    return 0;
}
