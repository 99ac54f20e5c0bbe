/* SPDX-License-Identifier: BSD-3-Clause */
/* A record on PE 0 belongs to whoever holds the lock: PE 0 reads and writes it in place, the others by get and put. */
/* PES: 3 */
#include <shmem.h>

struct account {
    long balance;
    int changes;
};
static long lock;
static struct account account;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    for (int round = 0; round < 4; round++) {
        shmem_set_lock(&lock);
        if (me == 0) {
            account.balance += 1;
            account.changes++;
        } else {
            struct account copy;
            shmem_getmem(&copy, &account, sizeof copy, 0);
            copy.balance += 10 * me;
            copy.changes++;
            shmem_putmem(&account, &copy, sizeof copy, 0);
        }
        shmem_clear_lock(&lock);
    }
    shmem_set_lock(&lock);
    const int some = me == 0 && (account.changes < 4 || account.balance < 4);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    const int wrong = me == 0 && (account.changes != 12 || account.balance != 4 * 31);
    shmem_finalize();
    return some || wrong;
}
