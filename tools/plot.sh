# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# plot.sh: figures by gnuplot, from bench.awk and bench.gp. Sourced by scripts that set here, their folder; work, a
# folder for files; and out, in which figures go to plots/.
#
# A figure has panels, a panel has series; each series is a file of "x<tab>y" and a line in $work/series: PANEL COLOUR
# DASH FILE LABEL. Series without values, and panels without series, are left out.

blue=1 black=2 orange=3 sky=4 green=5 # 6 and 7 are for other series

# can_plot: whether gnuplot is there; if not, a note says so.
can_plot() {
    ! command -v gnuplot >/dev/null 2>&1 || return 0
    echo "${0##*/}: note: nothing is drawn: gnuplot is not installed" \
        "(Debian: gnuplot-nox; tools/deps --install --bench)" >&2
    return 1
}

figure() { # figure NAME KIND X-KIND TITLE X-LABEL Y-LABEL
    f_name=$1 f_kind=$2 f_x=$3 f_title=$4 f_x_label=$5 f_y_label=$6
    n_panels=0 n_series=0 p_title="" fresh=yes
    rm -f "$work"/series* "$work"/panels
    : >"$work/series"
    : >"$work/panels"
}

panel() { p_title=$1 fresh=yes; }

add() { # add COLOUR DASH LABEL, the values from the input
    cat >"$work/values"
    [ -s "$work/values" ] || return 0
    if [ $fresh = yes ]; then
        n_panels=$((n_panels + 1))
        printf '%s\n' "$p_title" >>"$work/panels"
        fresh=no
    fi
    n_series=$((n_series + 1))
    mv "$work/values" "$work/series.$n_series"
    printf '%s\t%s\t%s\t%s\t%s\n' "$n_panels" "$1" "$2" "$work/series.$n_series" "$3" >>"$work/series"
}

# finish MACHINE: draws the figure; MACHINE stands below its title. Returns whether it could be drawn.
drawn=0
finish() {
    [ $n_panels -gt 0 ] || return 0
    awk -F '\t' -v name="$f_name" -v kind="$f_kind" -v x_kind="$f_x" -v title="$f_title" -v x_label="$f_x_label" \
        -v y_label="$f_y_label" -v machine="$1" -v dir="$out/plots" -v matrix="$work/matrix" -f "$here/bench.awk" \
        "$work/panels" "$work/series" >"$work/figure"
    if gnuplot "$work/figure" "$here/bench.gp" >"$work/err" 2>&1 &&
        [ -s "$out/plots/$f_name.svg" ] && [ -s "$out/plots/$f_name.png" ]; then
        drawn=$((drawn + 1))
        return 0
    fi
    rm -f "$out/plots/$f_name.svg" "$out/plots/$f_name.png"
    echo "${0##*/}: $f_name could not be drawn" >&2
    sed 's/^/    /' "$work/err" >&2
    return 1
}
