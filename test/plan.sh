# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# plan.sh: reads the table test/job/plan, for the scripts that run job tests. They source this file.

# plan_rows FILE: prints the table with each line that ends in a backslash joined to the next one, by one space.
plan_rows() { sed -e ':join' -e '/\\$/{' -e N -e 's/ *\\\n */ /' -e 'b join' -e '}' "$1"; }
