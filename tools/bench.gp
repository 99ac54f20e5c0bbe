# SPDX-License-Identifier: BSD-3-Clause
# bench.gp: draw one figure of tools/bench, as SVG and as PNG, from the variables that bench.awk has written.
#
# The colour says what is measured (librma, the limit, MPI); dash and point say where (on one node, on several). The
# colours are those of Okabe and Ito, which colour-blind people can tell apart; the background is white on dark pages,
# too. The legend is below, once for all panels, in a separate panel without axes.

array rgb[7] = ["#0072b2", "#222222", "#d55e00", "#56b4e9", "#009e73", "#cc79a7", "#e69f00"]
array point[3] = [7, 6, 4]

wide = n_panels > 1 || kind eq "bars" ? 800.0 : 640.0 # narrower, so that text is large enough on a narrow page
across = n_panels > 1 ? 2 : 1
down = (n_panels + across - 1) / across
each = n_panels > 1 ? 250 : 420
key_across = key_width > 34 ? 1 : n_key == 4 || key_width > 22 ? 2 : 3
key_down = (n_key + key_across - 1) / key_across
top = 58.0
bottom = 30 + 21 * key_down
high = top + down * each + bottom

middle(k) = (k - (n_series + 1) / 2.0) * thick
said(v) = v >= 999500 ? sprintf("%.3g M", v / 1e6) : v >= 9995 ? sprintf("%.3g k", v / 1e3) : \
    v >= 99.5 ? sprintf("%.0f", v) : sprintf("%.3g", v)

do for [format in "svg png"] {
    reset
    set encoding utf8
    set datafile separator tab
    svg = format eq "svg"
    if (svg) {
        set terminal svg size wide, high font "sans-serif,13" background "#ffffff" noenhanced
    } else {
        set terminal pngcairo size wide, high font "sans,10" background "#ffffff" noenhanced
    }
    set output name . "." . format
    set linetype 11 dashtype solid
    set linetype 12 dashtype (10, 5)
    set linetype 13 dashtype (2, 4)
    set multiplot

    set border 3 linecolor rgb "#444444"
    set tics nomirror out scale 0.6
    set grid linecolor rgb "#dddddd" linetype 1 linewidth 1
    unset key
    set logscale y
    do for [i = 1:n_panels] {
        left = (i - 1) % across
        row = (i - 1) / across
        set lmargin at screen (left * (wide - 6) / across + 76) / wide
        set rmargin at screen ((left + 1) * (wide - 6) / across - 18) / wide
        set tmargin at screen 1 - (top + row * each + (n_panels > 1 ? 24 : 6)) / high
        set bmargin at screen 1 - (top + (row + 1) * each - 52) / high
        if (i == 1) {
            larger = strlen(title) > wide / 11 ? 0.8 : 1
            set label 1 title at screen 0.5, 1 - 18 / high center \
                font sprintf(svg ? "sans-serif,%g" : "sans,%g", larger * (svg ? 17 : 13))
            set label 2 machine at screen 0.5, 1 - 40 / high center font (svg ? "sans-serif,11" : "sans,8") \
                textcolor rgb "#555555"
        } else {
            unset label
        }
        set title panel[i] offset 0, -0.7
        # Not gnuplot's own label, which would be left of the widest tic, outside the picture.
        if (left == 0) {
            set label 3 y_label at screen 14 / wide, 1 - (top + row * each + (each - 28) / 2.0) / high \
                center rotate by 90
        }
        set yrange [y_from[i]:y_to[i]]
        eval "set ytics " . y_tics[i]
        eval "set xtics " . x_tics
        if (kind eq "lines") {
            set xlabel (i + across > n_panels ? x_label : "")
            set logscale x 2
            set xrange [x_from / 1.1:x_to * 1.1]
            plot for [k = first[i]:last[i]] file[k] using 1:2 with linespoints linetype 10 + dash[k] linewidth 1.8 \
                linecolor rgb rgb[colour[k]] pointtype point[dash[k]] pointsize 0.6
        } else {
            set xlabel x_label
            set xrange [0.5:n_rows + 0.5]
            thick = 0.84 / n_series
            set boxwidth thick * 0.92
            set grid noxtics
            smaller = svg ? "sans-serif,11" : "sans,8.5"
            if (n_rows > 8) { set xtics font smaller rotate by 35 right }
            # Numbers are vertical, each as wide as a line is high; over thinner bars they would overlap.
            n_said = thick * (wide - 100) / n_rows > 11 ? n_series : 0
            plot for [k = 1:n_series] matrix using ($1 + middle(k)):(column(k + 1)) \
                    with boxes fillstyle solid 1 noborder linecolor rgb rgb[colour[k]], \
                for [k = 1:n_said] matrix using ($1 + middle(k)):(column(k + 1)):(said(column(k + 1))) \
                    with labels rotate left offset 0, 0.4 font (svg ? "sans-serif,10" : "sans,7.5")
        }
    }

    unset label; unset title; unset xlabel; unset tics; unset border; unset grid; unset logscale
    set lmargin at screen 0.02
    set rmargin at screen 0.98
    set tmargin at screen (bottom - 18) / high
    set bmargin at screen 4 / high
    set xrange [0:1]
    set yrange [0:1]
    set key at graph 0.5, 0.5 center center horizontal Left reverse maxcols key_across samplen 3 width 2
    if (kind eq "lines") {
        plot for [k = 1:n_key] NaN with linespoints linetype 10 + key_dash[k] linewidth 1.8 \
            linecolor rgb rgb[key_colour[k]] pointtype point[key_dash[k]] pointsize 0.6 title key_label[k]
    } else {
        plot for [k = 1:n_key] NaN with boxes fillstyle solid 1 noborder linecolor rgb rgb[key_colour[k]] \
            title key_label[k]
    }
    unset multiplot
    unset output
}
