# SPDX-License-Identifier: BSD-3-Clause
# bench.awk: computes for tools/bench the gnuplot variables of bench.gp: labels, ranges and tics from the values.
#
# Reads a file of panel titles, one for each line, and a file of series, "PANEL<tab>COLOUR<tab>DASH<tab>FILE<tab>LABEL",
# whose files have lines "X<tab>Y". For bars, of one panel, it writes a matrix: a line for each X, a column for each
# series.
#
# Steps of ten are too coarse for a range of a factor of 30, and gnuplot's own binary tics vary from figure to figure.
# So ranges end at 1, 2 or 5 times a power of ten, and sizes are written as in the programs' options.

function floor(x) { return int(x) - (x < int(x)) }
function log10(x) { return log(x) / log(10) }
function text(s) { gsub(/["\\]/, "", s); return "\"" s "\"" }

# The largest of 1, 2, 5 times a power of ten that is not above v; up: the smallest that is not below.
function step(v, up,    power, i, found) {
    power = 10 ^ (floor(log10(v)) - 1)
    for (i = 0; i < 9; i++) {
        found = power * substr("125", i % 3 + 1, 1) * 10 ^ int(i / 3)
        if (up && found >= v * 0.999999) return found
        if (!up && found * (i % 3 == 1 ? 2.5 : 2) > v * 1.000001) return found
    }
    return found
}

function named(v) {
    if (v >= 1e6) return sprintf("%g M", v / 1e6)
    if (v >= 1e4) return sprintf("%g k", v / 1e3)
    return sprintf("%g", v)
}

function sized(v) {
    if (v >= 2 ^ 30) return v / 2 ^ 30 "G"
    if (v >= 2 ^ 20) return v / 2 ^ 20 "M"
    if (v >= 2 ^ 10) return v / 2 ^ 10 "k"
    return v ""
}

# tics FROM TO: the tics of a logarithmic y axis. Over few decades 2 and 5 are also labelled, over many only every other
# decade.
function tics(from, to,    decades, d, v, i, list, every) {
    decades = log10(to / from)
    every = decades > 8 ? 2 : 1
    for (d = floor(log10(from)); d <= log10(to) + 1e-6; d++)
        for (i = 1; i <= 3; i++) {
            v = 10 ^ d * substr("125", i, 1)
            if (v < from * 0.999999 || v > to * 1.000001) continue
            if (i > 1 && decades > 2.5) continue
            list = list sprintf("%s%s %.9g", list == "" ? "" : ", ", text(d % every ? "" : named(v)), v)
        }
    return "(" list ")"
}

# over FROM TO: tics of an x axis whose values double.
function over(from, to,    v, n, every, list) {
    n = log(to / from) / log(2)
    every = x_kind == "pes" ? (n > 10 ? 2 : 1) : n <= 8 ? 1 : n <= 13 ? 2 : 3
    if (n_panels > 1 && every < 4 && n > 8) every = n > 14 ? 5 : every + 1
    n = 0
    for (v = 1; v <= to * 1.000001; v *= 2)
        if (v >= from && n++ % every == 0)
            list = list sprintf("%s%s %.9g", list == "" ? "" : ", ", text(x_kind == "pes" ? v "" : sized(v)), v)
    return "(" list ")"
}

function put(kind, of, n,    i, list) {
    for (i = 1; i <= n; i++) list = list (i > 1 ? ", " : "") of[i]
    printf "array %s[%d] = [%s]\n", kind, n, list
}

BEGIN { FS = "\t" }

FILENAME == ARGV[1] { panel[++n_panels] = text($0); next }

{
    n++
    p = $1
    if (!(p in first)) first[p] = n
    last[p] = n
    colour[n] = $2; dash[n] = $3; file[n] = text($4); label[n] = text($5)
    # Each entry of the legend appears once.
    if (!(($5, $2, $3) in known)) {
        known[$5, $2, $3] = 1
        k++
        key_label[k] = label[n]; key_colour[k] = $2; key_dash[k] = $3
    }
    if (length($5) > key_width) key_width = length($5)
    source = $4
    while ((getline values <source) > 0) {
        split(values, v, "\t")
        x = kind == "bars" ? 1 : v[1] + 0; y = v[2] + 0
        if (!(v[1] in place)) { place[v[1]] = ++n_rows; row[n_rows] = v[1] }
        cell[place[v[1]], n] = v[2]
        if (y <= 0) continue
        if (!x_from || x < x_from) x_from = x
        if (x > x_to) x_to = x
        if (!((p in y_from)) || y < y_from[p]) y_from[p] = y
        if (!((p in y_to)) || y > y_to[p]) y_to[p] = y
    }
    close(source)
}

END {
    # Lines between two values are bars, if their colours tell the series apart.
    if (kind == "lines" && n_rows <= 2 && n_panels == 1) {
        for (i = 1; i <= n; i++) alike += used[colour[i]]++ > 0
        if (!alike) kind = "bars"
    }
    if (x_to == x_from) { x_from /= 2; x_to *= 2 }
    print "name = " text(dir "/" name)
    print "kind = " text(kind)
    print "title = " text(title)
    print "machine = " text(machine)
    print "x_label = " text(x_label)
    print "y_label = " text(y_label)
    print "n_panels = " n_panels
    print "n_series = " n
    print "n_key = " k
    print "key_width = " key_width
    printf "x_from = %.9g\nx_to = %.9g\n", x_from, x_to
    put("colour", colour, n); put("dash", dash, n); put("file", file, n)
    put("key_label", key_label, k); put("key_colour", key_colour, k); put("key_dash", key_dash, k)
    for (i = 1; i <= n_panels; i++) {
        first_of[i] = first[i]; last_of[i] = last[i]
        if (!(i in y_from)) { y_from[i] = 1; y_to[i] = 10 }
        from[i] = step(y_from[i] / 1.1, 0)
        to[i] = step(y_to[i], 1)
        if (kind == "bars") {
            # The smallest bar must be visible, and the largest needs room for the vertical number above it.
            from[i] = step(from[i] / 1.5, 0)
            to[i] = step(y_to[i] * (y_to[i] / from[i]) ^ 0.2, 1)
        }
        if (to[i] <= from[i] * 1.000001) to[i] = from[i] * 10
    }
    put("panel", panel, n_panels); put("first", first_of, n_panels); put("last", last_of, n_panels)
    put("y_from", from, n_panels); put("y_to", to, n_panels)
    # In single quotes, within which gnuplot does not interpret double quotes.
    for (i = 1; i <= n_panels; i++) tics_of[i] = "'" tics(from[i], to[i]) "'"
    put("y_tics", tics_of, n_panels)
    if (kind == "bars") {
        list = ""
        for (i = 1; i <= n_rows; i++) {
            list = list (i > 1 ? ", " : "") text(row[i]) " " i
            line = i
            for (j = 1; j <= n; j++) line = line "\t" ((i, j) in cell ? cell[i, j] : "NaN")
            print line >matrix
        }
        close(matrix)
        print "matrix = " text(matrix)
        print "n_rows = " n_rows
        print "x_tics = '(" list ")'"
    } else {
        print "x_tics = '" over(x_from, x_to) "'"
    }
}
