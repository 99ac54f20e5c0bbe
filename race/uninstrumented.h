/* SPDX-License-Identifier: BSD-3-Clause */
/* Included in each file that gcc compiles with --race, before its first line. gcc's instrumentation leaves out the
 * builtins by which programs store around the caches, of which functions of <immintrin.h> are made. Here each of them
 * first tells the detector what it accesses: a macro's own name is not expanded again. clang instruments nontemporal
 * stores itself. Not covered are accesses through masks, gathers and scatters, whose bytes depend on their operands. */
#if !defined __ASSEMBLER__ && defined __x86_64__ && defined __GNUC__ && !defined __clang__
#ifdef __cplusplus
extern "C" {
#endif
extern void rma_race_wrote(void *, unsigned long);
extern void rma_race_read(void *, unsigned long);
#ifdef __cplusplus
}
#endif
#define race_wrote_(p, n, call)         (rma_race_wrote((void *)(p), n), call)
#define race_read_(p, n, call)          (rma_race_read((void *)(p), n), call)
#define __builtin_ia32_movnti(p, v)     race_wrote_(p, 4, __builtin_ia32_movnti(p, v))
#define __builtin_ia32_movnti64(p, v)   race_wrote_(p, 8, __builtin_ia32_movnti64(p, v))
#define __builtin_ia32_movntq(p, v)     race_wrote_(p, 8, __builtin_ia32_movntq(p, v))
#define __builtin_ia32_movntps(p, v)    race_wrote_(p, 16, __builtin_ia32_movntps(p, v))
#define __builtin_ia32_movntpd(p, v)    race_wrote_(p, 16, __builtin_ia32_movntpd(p, v))
#define __builtin_ia32_movntdq(p, v)    race_wrote_(p, 16, __builtin_ia32_movntdq(p, v))
#define __builtin_ia32_movntps256(p, v) race_wrote_(p, 32, __builtin_ia32_movntps256(p, v))
#define __builtin_ia32_movntpd256(p, v) race_wrote_(p, 32, __builtin_ia32_movntpd256(p, v))
#define __builtin_ia32_movntdq256(p, v) race_wrote_(p, 32, __builtin_ia32_movntdq256(p, v))
#define __builtin_ia32_movntps512(p, v) race_wrote_(p, 64, __builtin_ia32_movntps512(p, v))
#define __builtin_ia32_movntpd512(p, v) race_wrote_(p, 64, __builtin_ia32_movntpd512(p, v))
#define __builtin_ia32_movntdq512(p, v) race_wrote_(p, 64, __builtin_ia32_movntdq512(p, v))
#define __builtin_ia32_movntdqa(p)      race_read_(p, 16, __builtin_ia32_movntdqa(p))
#define __builtin_ia32_movntdqa256(p)   race_read_(p, 32, __builtin_ia32_movntdqa256(p))
#define __builtin_ia32_lddqu(p)         race_read_(p, 16, __builtin_ia32_lddqu(p))
#define __builtin_ia32_lddqu256(p)      race_read_(p, 32, __builtin_ia32_lddqu256(p))
#endif
