#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-race-mpi.sh: rma_mpicc --race finds the data race of each program of test/race/mpi, which are programs of MPI
# windows, and reports nothing for their corrected versions (check-race.sh). Those with the line /* RMA_MPI */ run with
# rma_mpi, the others with MPI's own windows.
exec sh "$(dirname "$0")/check-race.sh" --folder mpi "$@"
