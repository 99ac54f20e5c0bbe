/* SPDX-License-Identifier: BSD-3-Clause */
/* Constructors with large counts (MPI_Type_vector_c) put their arguments into other arrays than those with counts of
 * type int do (MPI-4.0, section 5.1.13, has both). Here all are in the places that the older ones have. */
#include "config.h"

#include "interfaces/mpi/contents.h"

#include <stdlib.h>
#include <string.h>

/* The arrays of MPI_Type_get_contents_c. */
struct raw {
    MPI_Count n_ints, n_addresses, n_counts, n_types;
    int combiner;
    int *ints;
    MPI_Aint *addresses;
    MPI_Count *counts;
};

static int read_envelope(MPI_Datatype type, struct raw *r) {
#if MPI_VERSION >= 4
    return PMPI_Type_get_envelope_c(type, &r->n_ints, &r->n_addresses, &r->n_counts, &r->n_types, &r->combiner);
#else
    int n_i, n_a, n_d;
    const int code = PMPI_Type_get_envelope(type, &n_i, &n_a, &n_d, &r->combiner);
    r->n_ints = n_i;
    r->n_addresses = n_a;
    r->n_counts = 0;
    r->n_types = n_d;
    return code;
#endif
}

static int read_raw(MPI_Datatype type, struct raw *r, MPI_Datatype *types) {
#if MPI_VERSION >= 4
    return PMPI_Type_get_contents_c(type, r->n_ints, r->n_addresses, r->n_counts, r->n_types, r->ints, r->addresses,
                                    r->counts, types);
#else
    return PMPI_Type_get_contents(type, (int)r->n_ints, (int)r->n_addresses, (int)r->n_types, r->ints, r->addresses,
                                  types);
#endif
}

/* How many of the large counts come before those that are addresses in the older constructor. */
static MPI_Count numbers_of_counts(const struct raw *r) {
    if (r->n_counts == 0) return 0;
    switch (r->combiner) {
        case MPI_COMBINER_HVECTOR:
        case MPI_COMBINER_HINDEXED_BLOCK: return 2;
        case MPI_COMBINER_HINDEXED:
        case MPI_COMBINER_STRUCT: return 1 + r->counts[0];
        case MPI_COMBINER_RESIZED: return 0;
        default: return r->n_counts;
    }
}

/* Arrays of a SUBARRAY or DARRAY stand between its integers: after so many of these. */
static MPI_Count counts_at(const struct raw *r) {
    switch (r->combiner) {
        case MPI_COMBINER_SUBARRAY: return 1;
        case MPI_COMBINER_DARRAY: return 3;
        default: return r->n_ints;
    }
}

static void arrange(const struct raw *r, struct rmai_contents *c) {
    const MPI_Count first = counts_at(r), numbers = numbers_of_counts(r);
    MPI_Count n = 0, a = 0;
    for (MPI_Count k = 0; k < first; k++) c->numbers[n++] = r->ints[k];
    for (MPI_Count k = 0; k < numbers; k++) c->numbers[n++] = r->counts[k];
    for (MPI_Count k = first; k < r->n_ints; k++) c->numbers[n++] = r->ints[k];
    for (MPI_Count k = 0; k < r->n_addresses; k++) c->addresses[a++] = r->addresses[k];
    for (MPI_Count k = numbers; k < r->n_counts; k++) c->addresses[a++] = r->counts[k];
}

static void *array_of(MPI_Count n, size_t size) { return calloc((size_t)n + 1, size); }

int rmai_contents_read(MPI_Datatype type, struct rmai_contents *c) {
    struct raw r = {0};
    int ok;
    memset(c, 0, sizeof *c);
    if (read_envelope(type, &r) != MPI_SUCCESS) return 0;
    c->combiner = r.combiner;
    if (rmai_is_predefined(r.combiner)) return 1;
    r.ints = array_of(r.n_ints, sizeof *r.ints);
    r.addresses = array_of(r.n_addresses, sizeof *r.addresses);
    r.counts = array_of(r.n_counts, sizeof *r.counts);
    c->numbers = array_of(r.n_ints + r.n_counts, sizeof *c->numbers);
    c->addresses = array_of(r.n_addresses + r.n_counts, sizeof *c->addresses);
    c->types = array_of(r.n_types, sizeof(MPI_Datatype));
    ok = r.ints && r.addresses && r.counts && c->numbers && c->addresses && c->types &&
         read_raw(type, &r, c->types) == MPI_SUCCESS;
    if (ok) {
        c->n_types = (int)r.n_types;
        arrange(&r, c);
    }
    free(r.ints);
    free(r.addresses);
    free(r.counts);
    if (!ok) rmai_contents_free(c);
    return ok;
}

/* MPI hands out references to the types that are not predefined. */
void rmai_contents_free(struct rmai_contents *c) {
    for (int k = 0; k < c->n_types; k++) {
        struct raw r = {0};
        if (read_envelope(c->types[k], &r) == MPI_SUCCESS && !rmai_is_predefined(r.combiner))
            PMPI_Type_free(&c->types[k]);
    }
    free(c->numbers);
    free(c->addresses);
    free(c->types);
}
