# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# mutate.sh: one function of test/mutations and test/sim/mutations.

# mutate FILE: prints FILE with its only occurrence of $old replaced by $new. Fails where $old is not there once.
mutate() {
    # shellcheck disable=SC2154 # the caller sets both
    OLD=$old NEW=$new awk '
        { text = text $0 "\n" }
        END {
            old = ENVIRON["OLD"]
            at = index(text, old)
            if (old == "" || !at || index(substr(text, at + 1), old)) exit 1
            printf "%s", substr(text, 1, at - 1) ENVIRON["NEW"] substr(text, at + length(old))
        }' "$1"
}
