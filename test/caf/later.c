/* SPDX-License-Identifier: BSD-3-Clause */
/* later: what a program of gfortran 15 calls first. */
void _gfortran_caf_register_accessor(int hash, void (*accessor)(void));

static void accessor(void) {}

__attribute__((constructor)) static void register_all(void) { _gfortran_caf_register_accessor(1, accessor); }

int main(void) { return 0; }
