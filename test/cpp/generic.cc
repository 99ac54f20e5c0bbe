/* SPDX-License-Identifier: BSD-3-Clause */
/* The overloads of C++ take each type of their lists, with and without a context, and do what the typed call does; and
 * the numbers of C++ are summed. The other half, the overloads of <shmem.h>, is test/shmem/osh_generic.c, compiled as
 * C++. test/check-cpp.sh compiles and runs both.
 *
 * Broken by a type or a call without an overload, by one that calls another type's function or gives its arguments in
 * another order. */
#include <complex>
#include <rma.h>

#include <cstdio>

namespace {

int me, n, next;
rma_ctx *ctx;

void check(bool holds, int line, const char *type, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "PE %d: generic.cc:%d: not so for %s: %s\n", me, line, type, what);
    rma_abort(1);
}
#define CHECK(condition) check(condition, __LINE__, name, #condition)
#define OK(call)         CHECK((call) == RMA_SUCCESS)

void meet(const char *name) { OK(rma_barrier_all()); }

/* Two symmetric words of a type, which no other PE uses but the one before this one. */
template <typename T> struct words {
    T *at;
    const char *name;
    explicit words(const char *type) : at(static_cast<T *>(rma_calloc(4, sizeof(T)))), name(type) {
        CHECK(at != nullptr);
        meet(name);
    }
    ~words() {
        OK(rma_quiet());
        OK(rma_free(at));
    }
};

template <typename T> void values(const char *name) {
    words<T> w(name);
    T *at = w.at;
    const T one = 1, two = 2;
    OK(rma_p(at, one, next));
    OK(rma_ctx_p(ctx, at + 1, two, next));
    OK(rma_p(at + 2, 3, next)); /* the address alone says the type */
    OK(rma_ctx_quiet(ctx));
    meet(name);
    CHECK(at[0] == one && at[1] == two && at[2] == static_cast<T>(3));
    const T *read = at;
    CHECK(rma_g(read, next) == one && rma_ctx_g(ctx, read + 1, next) == two);
    meet(name);
}

/* What numbers have: fetch, set, swap, add, min, max. */
template <typename T> void numbers(const char *name) {
    words<T> w(name);
    T *at = w.at, got[8];
    const T *read = at;
    OK(rma_atomic_set(at, 5, next));
    CHECK(rma_atomic_fetch(read, next) == 5);
    CHECK(rma_atomic_swap(at, 6, next) == 5);
    OK(rma_atomic_add(at, 2, next));
    CHECK(rma_atomic_fetch_add(at, 1, next) == 8);
    OK(rma_atomic_min(at, 4, next));
    CHECK(rma_atomic_fetch_min(at, 3, next) == 4);
    OK(rma_atomic_max(at, 7, next));
    CHECK(rma_atomic_fetch_max(at, 9, next) == 7);
    OK(rma_atomic_fetch_nbi(got, read, next));
    OK(rma_atomic_swap_nbi(got + 1, at, 1, next));
    OK(rma_quiet());
    OK(rma_atomic_fetch_add_nbi(got + 2, at, 4, next));
    OK(rma_quiet());
    OK(rma_atomic_fetch_min_nbi(got + 3, at, 2, next));
    OK(rma_quiet());
    OK(rma_atomic_fetch_max_nbi(got + 4, at, 6, next));
    OK(rma_quiet());
    CHECK(got[0] == 9 && got[1] == 9 && got[2] == 1 && got[3] == 5 && got[4] == 2 && rma_atomic_fetch(read, next) == 6);

    OK(rma_ctx_atomic_set(ctx, at, 5, next));
    CHECK(rma_ctx_atomic_fetch(ctx, read, next) == 5);
    CHECK(rma_ctx_atomic_swap(ctx, at, 6, next) == 5);
    OK(rma_ctx_atomic_add(ctx, at, 2, next));
    CHECK(rma_ctx_atomic_fetch_add(ctx, at, 1, next) == 8);
    OK(rma_ctx_atomic_min(ctx, at, 4, next));
    CHECK(rma_ctx_atomic_fetch_min(ctx, at, 3, next) == 4);
    OK(rma_ctx_atomic_max(ctx, at, 7, next));
    CHECK(rma_ctx_atomic_fetch_max(ctx, at, 9, next) == 7);
    OK(rma_ctx_atomic_fetch_nbi(ctx, got, read, next));
    OK(rma_ctx_atomic_swap_nbi(ctx, got + 1, at, 1, next));
    OK(rma_ctx_quiet(ctx));
    OK(rma_ctx_atomic_fetch_add_nbi(ctx, got + 2, at, 4, next));
    OK(rma_ctx_quiet(ctx));
    OK(rma_ctx_atomic_fetch_min_nbi(ctx, got + 3, at, 2, next));
    OK(rma_ctx_quiet(ctx));
    OK(rma_ctx_atomic_fetch_max_nbi(ctx, got + 4, at, 6, next));
    OK(rma_ctx_quiet(ctx));
    CHECK(got[0] == 9 && got[1] == 9 && got[2] == 1 && got[3] == 5 && got[4] == 2 && rma_atomic_fetch(read, next) == 6);
    meet(name);
}

/* What integers have besides: compare, count, bits, waiting. */
template <typename T> void integers(const char *name) {
    words<T> w(name);
    T *at = w.at, got[8];
    OK(rma_atomic_set(at, 5, next));
    CHECK(rma_atomic_compare_swap(at, 5, 6, next) == 5);
    CHECK(rma_ctx_atomic_compare_swap(ctx, at, 6, 7, next) == 6);
    OK(rma_atomic_compare_swap_nbi(got, at, 7, 8, next));
    OK(rma_quiet());
    OK(rma_ctx_atomic_compare_swap_nbi(ctx, got + 1, at, 8, 9, next));
    OK(rma_ctx_quiet(ctx));
    OK(rma_atomic_inc(at, next));
    OK(rma_ctx_atomic_inc(ctx, at, next));
    CHECK(rma_atomic_fetch_inc(at, next) == 11 && rma_ctx_atomic_fetch_inc(ctx, at, next) == 12);
    OK(rma_atomic_fetch_inc_nbi(got + 2, at, next));
    OK(rma_quiet());
    OK(rma_ctx_atomic_fetch_inc_nbi(ctx, got + 3, at, next));
    OK(rma_ctx_quiet(ctx));
    CHECK(got[0] == 7 && got[1] == 8 && got[2] == 13 && got[3] == 14);

    OK(rma_atomic_set(at, 0x7f, next));
    OK(rma_atomic_and(at, 0x3f, next));
    OK(rma_ctx_atomic_and(ctx, at, 0x3e, next));
    CHECK(rma_atomic_fetch_and(at, 0x3c, next) == 0x3e && rma_ctx_atomic_fetch_and(ctx, at, 0x30, next) == 0x3c);
    OK(rma_atomic_fetch_and_nbi(got, at, 0x20, next));
    OK(rma_quiet());
    OK(rma_ctx_atomic_fetch_and_nbi(ctx, got + 1, at, 0x20, next));
    OK(rma_ctx_quiet(ctx));
    OK(rma_atomic_or(at, 1, next));
    OK(rma_ctx_atomic_or(ctx, at, 2, next));
    CHECK(rma_atomic_fetch_or(at, 4, next) == 0x23 && rma_ctx_atomic_fetch_or(ctx, at, 8, next) == 0x27);
    OK(rma_atomic_fetch_or_nbi(got + 2, at, 0x10, next));
    OK(rma_quiet());
    OK(rma_ctx_atomic_fetch_or_nbi(ctx, got + 3, at, 0x40, next));
    OK(rma_ctx_quiet(ctx));
    CHECK(got[0] == 0x30 && got[1] == 0x20 && got[2] == 0x2f && got[3] == 0x3f);
    OK(rma_atomic_xor(at, 1, next));
    OK(rma_ctx_atomic_xor(ctx, at, 2, next));
    CHECK(rma_atomic_fetch_xor(at, 4, next) == 0x7c && rma_ctx_atomic_fetch_xor(ctx, at, 8, next) == 0x78);
    OK(rma_atomic_fetch_xor_nbi(got, at, 0x10, next));
    OK(rma_quiet());
    OK(rma_ctx_atomic_fetch_xor_nbi(ctx, got + 1, at, 0x20, next));
    OK(rma_ctx_quiet(ctx));
    CHECK(got[0] == 0x70 && got[1] == 0x60 && rma_g(at, next) == 0x40);
    meet(name);

    const T wanted[2] = {1, 2};
    size_t indices[2] = {9, 9};
    T *flags = at + 2;
    OK(rma_p(flags, 1, next));
    OK(rma_p(flags + 1, 2, next));
    OK(rma_wait_until(flags, RMA_CMP_EQ, 1));
    OK(rma_wait_until_all(flags, 2, nullptr, RMA_CMP_GE, 1));
    CHECK(rma_wait_until_any(flags, 2, nullptr, RMA_CMP_EQ, 2) == 1);
    CHECK(rma_wait_until_some(flags, 2, indices, nullptr, RMA_CMP_EQ, 2) == 1 && indices[0] == 1);
    OK(rma_wait_until_all_vector(flags, 2, nullptr, RMA_CMP_EQ, wanted));
    CHECK(rma_wait_until_any_vector(flags, 2, nullptr, RMA_CMP_EQ, wanted) < 2);
    CHECK(rma_wait_until_some_vector(flags, 2, indices, nullptr, RMA_CMP_EQ, wanted) == 2);
    CHECK(rma_test(flags, RMA_CMP_EQ, 1) == 1 && rma_test(flags, RMA_CMP_EQ, 2) == 0);
    CHECK(rma_test_all(flags, 2, nullptr, RMA_CMP_LE, 2) == 1 && rma_test_all(flags, 2, nullptr, RMA_CMP_EQ, 2) == 0);
    CHECK(rma_test_any(flags, 2, nullptr, RMA_CMP_EQ, 2) == 1);
    CHECK(rma_test_some(flags, 2, indices, nullptr, RMA_CMP_EQ, 1) == 1 && indices[0] == 0);
    CHECK(rma_test_all_vector(flags, 2, nullptr, RMA_CMP_EQ, wanted) == 1);
    CHECK(rma_test_any_vector(flags, 2, nullptr, RMA_CMP_NE, wanted) == SIZE_MAX);
    CHECK(rma_test_some_vector(flags, 2, indices, nullptr, RMA_CMP_EQ, wanted) == 2);
    meet(name);
}

template <typename T> void bitwise(const char *name) {
    const T mine[1] = {6};
    T all[1] = {0};
    OK(rma_and_reduce(RMA_TEAM_WORLD, all, mine, 1));
    CHECK(all[0] == 6);
    OK(rma_or_reduce(RMA_TEAM_WORLD, all, mine, 1));
    CHECK(all[0] == 6);
    OK(rma_xor_reduce(RMA_TEAM_WORLD, all, mine, 1));
    CHECK(all[0] == (n % 2 ? 6 : 0));
}

template <typename T> void limits(const char *name) {
    const T mine[1] = {static_cast<T>(me + 1)};
    T all[1] = {0};
    OK(rma_min_reduce(RMA_TEAM_WORLD, all, mine, 1));
    CHECK(all[0] == static_cast<T>(1));
    OK(rma_min_inscan(RMA_TEAM_WORLD, all, mine, 1));
    CHECK(all[0] == static_cast<T>(1));
    OK(rma_max_inscan(RMA_TEAM_WORLD, all, mine, 1));
    CHECK(all[0] == mine[0]);
    OK(rma_min_exscan(RMA_TEAM_WORLD, all, mine, 1));
    CHECK(me == 0 ? all[0] > static_cast<T>(100) : all[0] == static_cast<T>(1));
    OK(rma_max_exscan(RMA_TEAM_WORLD, all, mine, 1));
    CHECK(me == 0 ? !(all[0] > 0) : all[0] == static_cast<T>(me));
    OK(rma_max_reduce(RMA_TEAM_WORLD, all, mine, 1));
    CHECK(all[0] == static_cast<T>(n));
}

template <typename T> void sums(const char *name, T part) {
    const T mine[2] = {part, T(1)};
    T all[2] = {T(0), T(0)};
    OK(rma_sum_reduce(RMA_TEAM_WORLD, all, mine, 2));
    CHECK(all[0] == part * T(n) && all[1] == T(n));
    OK(rma_prod_reduce(RMA_TEAM_WORLD, all, mine + 1, 1));
    CHECK(all[0] == T(1));
    OK(rma_sum_inscan(RMA_TEAM_WORLD, all, mine, 2));
    CHECK(all[0] == part * T(me + 1) && all[1] == T(me + 1));
    OK(rma_sum_exscan(RMA_TEAM_WORLD, all, mine, 2));
    CHECK(all[0] == part * T(me) && all[1] == T(me));
}

/* bool, which has but two values. */
void truth() {
    const char *name = "bool";
    words<bool> w(name);
    const bool *read = w.at;
    OK(rma_p(w.at, true, next));
    OK(rma_ctx_p(ctx, w.at + 1, true, next));
    OK(rma_gptr_p_bool(rma_gptr(w.at + 2, next), true));
    OK(rma_ctx_quiet(ctx));
    meet(name);
    CHECK(read[0] && read[1] && read[2] && !read[3]);
    CHECK(rma_g(read, next) && rma_ctx_g(ctx, read + 1, next) && !rma_gptr_g_bool(rma_gptr(read + 3, next)));
    meet(name);
}

/* Reductions to a root; the other PEs have no dest. */
template <typename T> void rooted(const char *name, T one) {
    words<T> w(name);
    T *dest = me == 0 ? w.at + 1 : nullptr;
    w.at[0] = one;
    OK(rma_sum_reduce_root(RMA_TEAM_WORLD, dest, w.at, 1, 0));
    if (me == 0) CHECK(w.at[1] == static_cast<T>(n) * one);
    OK(rma_prod_reduce_root(RMA_TEAM_WORLD, dest, w.at, 1, 0));
    meet(name);
}

#define INTEGER(T) values<T>(#T), bitwise<T>(#T), limits<T>(#T), sums<T>(#T, 3)
#define REAL(T)    values<T>(#T), limits<T>(#T), sums<T>(#T, 3)

} // namespace

int main() {
    const char *name = "start";
    if (rma_init() != RMA_SUCCESS) return 1;
    me = rma_my_pe(), n = rma_n_pes(), next = (me + 1) % n;
    OK(rma_ctx_create(0, &ctx));
    truth();
    rooted<int>("int", 2), rooted<double>("double", 1.5), rooted("std::complex<float>", std::complex<float>(1, 2));
    INTEGER(char), INTEGER(signed char), INTEGER(unsigned char), INTEGER(short), INTEGER(unsigned short);
    INTEGER(int), INTEGER(unsigned), INTEGER(long), INTEGER(unsigned long), INTEGER(long long);
    INTEGER(unsigned long long);
    REAL(float), REAL(double), REAL(long double);
    numbers<int>("int"), numbers<unsigned>("unsigned"), numbers<long>("long"), numbers<unsigned long>("unsigned long");
    numbers<long long>("long long"), numbers<unsigned long long>("unsigned long long");
    numbers<float>("float"), numbers<double>("double");
    integers<int>("int"), integers<unsigned>("unsigned"), integers<long>("long");
    integers<unsigned long>("unsigned long"), integers<long long>("long long");
    integers<unsigned long long>("unsigned long long");
    sums("std::complex<float>", std::complex<float>(1, 2));
    sums("std::complex<double>", std::complex<double>(3, -4));
    OK(rma_ctx_destroy(ctx));
    return rma_finalize();
}
