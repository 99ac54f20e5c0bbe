/* SPDX-License-Identifier: BSD-3-Clause */
/* A class keeps its halo in the symmetric heap: one PE's method puts into it, the other's reads it. Mended by a
 * barrier. */
#include <shmem.h>
#include <stdio.h>

class Field {
  public:
    Field() : halo(static_cast<double *>(shmem_calloc(4, sizeof(double)))) {
        if (!halo) shmem_global_exit(1);
    }
    ~Field() { shmem_free(halo); }
    Field(const Field &) = delete;
    Field &operator=(const Field &) = delete;
    void give(int pe) {
        const double edge[4] = {1, 2, 3, 4};
        shmem_put(halo, edge, 4, pe); /* RACE: first */
    }
    double take() const {
        double sum = 0;
        for (int i = 0; i < 4; i++) sum += halo[i]; /* RACE: second */
        return sum;
    }

  private:
    double *halo;
};

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    {
        Field field;
        if (me == 0) field.give(1);
#ifndef RACY
        shmem_barrier_all();
#endif
        if (me == 1) printf("%g\n", field.take());
    }
    shmem_finalize();
    return 0;
}
