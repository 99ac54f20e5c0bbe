/* SPDX-License-Identifier: BSD-3-Clause */
/* A get into a structure leaves its gaps alone. Racy: the program also reads a member that the get writes. */
/* RMA_MPI */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

int main(void) {
    int me, *box;
    MPI_Win win;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
    for (int i = 0; i < 8; i++) box[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    struct parts {
        char kind;
        double weight;
        int count;
    } p = {.kind = 0};
    const int lengths[] = {1, 1};
    const MPI_Aint displacements[] = {offsetof(struct parts, kind), offsetof(struct parts, count)};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_INT};
    double seen;
    MPI_Datatype type;
    MPI_Type_create_struct(2, lengths, displacements, types, &type);
    MPI_Type_commit(&type);
    MPI_Win_fence(0, win);
    MPI_Get(&p, 1, type, 1 - me, 0, 1, type, win); /* RACE: first */
#ifdef RACY
    seen = p.count; /* RACE: second */
#else
    seen = p.weight;
#endif
    MPI_Win_fence(0, win);
    MPI_Type_free(&type);
    printf("%d %f %c\n", me, seen, 'a' + p.kind);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
