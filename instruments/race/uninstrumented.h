/* SPDX-License-Identifier: BSD-3-Clause */
/* Included in each file that gcc compiles with --race, before its first line. gcc does not instrument the builtins for
 * stores around the caches, which functions of <immintrin.h> use. Here a macro for each builtin first tells the
 * detector what the builtin accesses; within a macro its own name is not expanded again. clang instruments nontemporal
 * stores itself. Loads and stores through the masks of AVX and AVX2 access the elements whose mask has its highest bit
 * set. The masks of AVX-512, gathers and scatters are only named (unseen.h). */
#if !defined __ASSEMBLER__ && defined __x86_64__ && defined __GNUC__ && !defined __clang__
#ifdef __cplusplus
extern "C" {
#endif
extern void rma_race_wrote(void *, unsigned long);
extern void rma_race_read(void *, unsigned long);
extern void rma_race_masked(void *, const void *, unsigned long, unsigned long, int);
/* Called for what the detector does not see, and does nothing. The compiler warns where a call remains, so in functions
 * that the program uses, and not in those of <immintrin.h> that it does not. */
extern void rma_race_unseen(void)
    __attribute__((__warning__("--race does not see this access by a gather, a scatter or a mask of AVX-512")));
#ifdef __cplusplus
}
#endif
#define race_masked_(p, m, size, write, call)                                                                          \
    __extension__({                                                                                                    \
        const __typeof__(m) race_mask_ = (m);                                                                          \
        rma_race_masked((void *)(p), &race_mask_, sizeof race_mask_, size, write);                                     \
        call;                                                                                                          \
    })
#define race_wrote_(p, n, call)                (rma_race_wrote((void *)(p), n), call)
#define race_read_(p, n, call)                 (rma_race_read((void *)(p), n), call)
#define __builtin_ia32_movnti(p, v)            race_wrote_(p, 4, __builtin_ia32_movnti(p, v))
#define __builtin_ia32_movnti64(p, v)          race_wrote_(p, 8, __builtin_ia32_movnti64(p, v))
#define __builtin_ia32_movntq(p, v)            race_wrote_(p, 8, __builtin_ia32_movntq(p, v))
#define __builtin_ia32_movntps(p, v)           race_wrote_(p, 16, __builtin_ia32_movntps(p, v))
#define __builtin_ia32_movntpd(p, v)           race_wrote_(p, 16, __builtin_ia32_movntpd(p, v))
#define __builtin_ia32_movntdq(p, v)           race_wrote_(p, 16, __builtin_ia32_movntdq(p, v))
#define __builtin_ia32_movntps256(p, v)        race_wrote_(p, 32, __builtin_ia32_movntps256(p, v))
#define __builtin_ia32_movntpd256(p, v)        race_wrote_(p, 32, __builtin_ia32_movntpd256(p, v))
#define __builtin_ia32_movntdq256(p, v)        race_wrote_(p, 32, __builtin_ia32_movntdq256(p, v))
#define __builtin_ia32_movntps512(p, v)        race_wrote_(p, 64, __builtin_ia32_movntps512(p, v))
#define __builtin_ia32_movntpd512(p, v)        race_wrote_(p, 64, __builtin_ia32_movntpd512(p, v))
#define __builtin_ia32_movntdq512(p, v)        race_wrote_(p, 64, __builtin_ia32_movntdq512(p, v))
#define __builtin_ia32_movntdqa(p)             race_read_(p, 16, __builtin_ia32_movntdqa(p))
#define __builtin_ia32_movntdqa256(p)          race_read_(p, 32, __builtin_ia32_movntdqa256(p))
#define __builtin_ia32_lddqu(p)                race_read_(p, 16, __builtin_ia32_lddqu(p))
#define __builtin_ia32_lddqu256(p)             race_read_(p, 32, __builtin_ia32_lddqu256(p))
#define __builtin_ia32_maskloadps(p, m)        race_masked_(p, m, 4, 0, __builtin_ia32_maskloadps(p, m))
#define __builtin_ia32_maskloadps256(p, m)     race_masked_(p, m, 4, 0, __builtin_ia32_maskloadps256(p, m))
#define __builtin_ia32_maskloadpd(p, m)        race_masked_(p, m, 8, 0, __builtin_ia32_maskloadpd(p, m))
#define __builtin_ia32_maskloadpd256(p, m)     race_masked_(p, m, 8, 0, __builtin_ia32_maskloadpd256(p, m))
#define __builtin_ia32_maskloadd(p, m)         race_masked_(p, m, 4, 0, __builtin_ia32_maskloadd(p, m))
#define __builtin_ia32_maskloadd256(p, m)      race_masked_(p, m, 4, 0, __builtin_ia32_maskloadd256(p, m))
#define __builtin_ia32_maskloadq(p, m)         race_masked_(p, m, 8, 0, __builtin_ia32_maskloadq(p, m))
#define __builtin_ia32_maskloadq256(p, m)      race_masked_(p, m, 8, 0, __builtin_ia32_maskloadq256(p, m))
#define __builtin_ia32_maskstoreps(p, m, v)    race_masked_(p, m, 4, 1, __builtin_ia32_maskstoreps(p, m, v))
#define __builtin_ia32_maskstoreps256(p, m, v) race_masked_(p, m, 4, 1, __builtin_ia32_maskstoreps256(p, m, v))
#define __builtin_ia32_maskstorepd(p, m, v)    race_masked_(p, m, 8, 1, __builtin_ia32_maskstorepd(p, m, v))
#define __builtin_ia32_maskstorepd256(p, m, v) race_masked_(p, m, 8, 1, __builtin_ia32_maskstorepd256(p, m, v))
#define __builtin_ia32_maskstored(p, m, v)     race_masked_(p, m, 4, 1, __builtin_ia32_maskstored(p, m, v))
#define __builtin_ia32_maskstored256(p, m, v)  race_masked_(p, m, 4, 1, __builtin_ia32_maskstored256(p, m, v))
#define __builtin_ia32_maskstoreq(p, m, v)     race_masked_(p, m, 8, 1, __builtin_ia32_maskstoreq(p, m, v))
#define __builtin_ia32_maskstoreq256(p, m, v)  race_masked_(p, m, 8, 1, __builtin_ia32_maskstoreq256(p, m, v))
#define __builtin_ia32_maskmovdqu(v, m, p)     race_masked_(p, m, 1, 1, __builtin_ia32_maskmovdqu(v, m, p))
#pragma GCC diagnostic warning "-Wattribute-warning" /* also with -Werror */
#define race_unseen_(call) (rma_race_unseen(), call)
#endif
