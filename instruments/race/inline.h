/* SPDX-License-Identifier: BSD-3-Clause */
/* Included in each file that gcc compiles with --race: puts the most common path of the hooks (access.c) where they are
 * called. gcc instruments a function after it has inlined others, so it cannot inline a hook. But with -fno-plt it
 * writes each call of a hook as a line for the assembler,
 *
 *     call *__tsan_read8@GOTPCREL(%rip)
 *
 * and here is a macro of the assembler whose name is `call`. For the most frequent hooks it does nothing but note the
 * address if the access continues a run (runs.h). Otherwise it finds the cell, compares its epoch with the thread's,
 * and calls no function if they are the same, or if the memory is not watched. Every other call stays as it is: the
 * macro removes itself, writes the call, and defines itself again. The code changes only registers that the called
 * function may change, and the hook's return address stays in the line of the access.
 *
 * Where gcc writes the call in another way (-masm=intel, -mcmodel=large, -fplt), or -flto assembles functions without
 * this file, the program calls the hooks as before.
 *
 * The offsets are those of struct race_window (shadow.h). Programs that are already compiled have them. */
#if !defined __ASSEMBLER__ && defined __x86_64__ && defined __LP64__ && defined __GNUC__ && !defined __clang__
#pragma GCC system_header /* an assembler's text is longer than what -Woverlength-strings allows */
/* The hook's argument is in %rdi. After rma_race_begin %rax is the window, %rsi the offset in the heap or in the global
 * variables, %rcx the cells of these, %rdx the thread's epoch. These are the arguments of \first, too, with the site in
 * %r8. */
__asm__(".ifndef rma_race_inline\n"
        ".set rma_race_inline, 1\n"
        /* A site (runs.h). An access that continues its run is done. */
        ".macro rma_race_run n, size\n"
        "    .pushsection .bss.rma_race,\"aw\",@nobits\n"
        "    .balign 16\n"
        ".Lrma_race_site\\n:\n"
        "    .zero 48\n"
        "    .popsection\n"
        "    leaq -\\size(%rdi), %rax\n"
        "    cmpq %rax, .Lrma_race_site\\n(%rip)\n"
        "    jne .Lrma_race_no_run\\n\n"
        "    movq %rdi, .Lrma_race_site\\n(%rip)\n"
        "    jmp .Lrma_race_done\\n\n"
        ".Lrma_race_no_run\\n:\n"
        ".endm\n"
        ".macro rma_race_begin n, align\n"
        "    movq rma_race_window@GOTPCREL(%rip), %rax\n"
        "    movq %rdi, %rsi\n"
        "    subq (%rax), %rsi\n"
        "    cmpq 8(%rax), %rsi\n"
        "    jae .Lrma_race_not_heap\\n\n"
        "    movq 16(%rax), %rcx\n"
        ".Lrma_race_cell\\n:\n"
        "    movq rma_race_same@GOTTPOFF(%rip), %rdx\n"
        "    movq %fs:(%rdx), %rdx\n"
        ".if \\align\n"
        "    testb $\\align, %dil\n"
        "    jne .Lrma_race_call\\n\n"
        ".endif\n"
        ".endm\n"
        /* Not the heap: the global variables, or else memory that may be watched in another way. */
        ".macro rma_race_end n, hook\n"
        "    jmp .Lrma_race_done\\n\n"
        ".Lrma_race_not_heap\\n:\n"
        "    movq %rdi, %rsi\n"
        "    subq 24(%rax), %rsi\n"
        "    movq 40(%rax), %rcx\n"
        "    cmpq 32(%rax), %rsi\n"
        "    jb .Lrma_race_cell\\n\n"
        "    movq %rdi, %rsi\n"
        "    subq 48(%rax), %rsi\n"
        "    cmpq 56(%rax), %rsi\n"
        "    jae .Lrma_race_done\\n\n"
        ".Lrma_race_call\\n:\n"
        "    callq *\\hook@GOTPCREL(%rip)\n"
        ".Lrma_race_done\\n:\n"
        ".endm\n"
        /* All 8 bytes of a cell. \\first is called for the thread's first access with this epoch. */
        ".macro rma_race_whole n, word, hook, first\n"
        "    rma_race_run \\n, 8\n"
        "    rma_race_begin \\n, 7\n"
        "    cmpq %rdx, \\word(%rcx,%rsi,4)\n"
        "    je .Lrma_race_done\\n\n"
        "    leaq .Lrma_race_site\\n(%rip), %r8\n"
        "    callq *\\first@GOTPCREL(%rip)\n"
        "    rma_race_end \\n, \\hook\n"
        ".endm\n"
        /* Bytes of a cell: the window has for each offset which bits of the epochs have to be the same. */
        ".macro rma_race_part n, size, align, word, hook, first, offsets, scale, bits\n"
        "    rma_race_run \\n, \\size\n"
        "    rma_race_begin \\n, \\align\n"
        "    movl %esi, %r8d\n"
        "    andl $\\offsets, %r8d\n"
        "    andq $-8, %rsi\n"
        "    xorq \\word(%rcx,%rsi,4), %rdx\n"
        "    testq %rdx, \\bits(%rax,%r8,\\scale)\n"
        "    je .Lrma_race_done\\n\n"
        "    leaq .Lrma_race_site\\n(%rip), %r8\n"
        "    callq *\\first@GOTPCREL(%rip)\n"
        "    rma_race_end \\n, \\hook\n"
        ".endm\n"
        ".macro rma_race_try to:vararg\n"
        ".ifc \\to,*__tsan_read8@GOTPCREL(%rip)\n"
        "    rma_race_whole \\@, 8, __tsan_read8, rma_race_at_read8\n"
        ".else\n"
        ".ifc \\to,*__tsan_write8@GOTPCREL(%rip)\n"
        "    rma_race_whole \\@, 0, __tsan_write8, rma_race_at_write8\n"
        ".else\n"
        ".ifc \\to,*__tsan_read4@GOTPCREL(%rip)\n"
        "    rma_race_part \\@, 4, 3, 8, __tsan_read4, rma_race_at_read4, 4, 2, 64\n"
        ".else\n"
        ".ifc \\to,*__tsan_write4@GOTPCREL(%rip)\n"
        "    rma_race_part \\@, 4, 3, 0, __tsan_write4, rma_race_at_write4, 4, 2, 64\n"
        ".else\n"
        ".ifc \\to,*__tsan_read2@GOTPCREL(%rip)\n"
        "    rma_race_part \\@, 2, 1, 8, __tsan_read2, rma_race_at_read2, 6, 4, 160\n"
        ".else\n"
        ".ifc \\to,*__tsan_read1@GOTPCREL(%rip)\n"
        "    rma_race_part \\@, 1, 0, 8, __tsan_read1, rma_race_at_read1, 7, 8, 80\n"
        ".else\n"
        ".ifc \\to,*__tsan_write2@GOTPCREL(%rip)\n"
        "    rma_race_part \\@, 2, 1, 0, __tsan_write2, rma_race_at_write2, 6, 4, 160\n"
        ".else\n"
        ".ifc \\to,*__tsan_write1@GOTPCREL(%rip)\n"
        "    rma_race_part \\@, 1, 0, 0, __tsan_write1, rma_race_at_write1, 7, 8, 80\n"
        ".else\n"
        "    .purgem call\n"
        "    call \\to\n"
        "    rma_race_take_calls\n"
        ".endif\n.endif\n.endif\n.endif\n.endif\n.endif\n.endif\n.endif\n"
        ".endm\n"
        ".macro rma_race_take_calls\n"
        ".macro call to:vararg\n"
        "    rma_race_try \\to\n"
        ".endm\n"
        ".endm\n"
        "rma_race_take_calls\n"
        ".endif\n");
#endif
