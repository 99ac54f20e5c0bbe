# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# stage.sh: for scripts that compile programs with the compiler commands to source: an installation of the build folder
# below a temporary one, as packagers make it.
#
# It leaves the build folder as it is. libtool links some libraries again before it installs them, and moves the ones in
# the build folder aside meanwhile: another test's program that started at that moment found no library, or half of one.
# The libraries of a stage are copies: the environment says where they are, not a path inside them.

# stage FOLDER: installs $top_builddir below FOLDER, whose name has no blank. $stage_prefix is the prefix there, and
# FOLDER/bin has the compiler commands with that prefix. 0, or 1 with what make said.
stage() {
    mkdir -p "$1/libtool" "$1/bin" && ln -s "$(cd "$top_builddir" && pwd)/.libs" "$1/libtool/.libs" || return 1
    # In the place of libtool, for make install: the files NAME.la that it is given say that there is nothing to link.
    cat >"$1/libtool/install" <<END
#!/bin/sh
case " \$* " in
*" --mode=install "*) ;;
*) exec "$(cd "$top_builddir" && pwd)/libtool" "\$@" ;;
esac
n=\$#
while [ \$n -gt 0 ]; do
    case \$1 in
    *.la)
        sed 's/^relink_command=.*/relink_command=/' "\$1" >"$1/libtool/\${1##*/}"
        set -- "\$@" "$1/libtool/\${1##*/}"
        ;;
    *) set -- "\$@" "\$1" ;;
    esac
    shift
    n=\$((n - 1))
done
exec "$(cd "$top_builddir" && pwd)/libtool" "\$@"
END
    if ! (unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES && cd "$top_builddir" &&
        ${MAKE:-make} install DESTDIR="$1" LIBTOOL="sh $1/libtool/install") >"$1/log" 2>&1 </dev/null; then
        echo "FAIL make install DESTDIR=$1"
        tail -n 20 "$1/log" | sed 's/^/    /'
        return 1
    fi
    stage_prefix=$1$(sed -n "s/^prefix='\(.*\)'\$/\1/p" "$top_builddir/tools/rmacc")
    for stage_command in oshcc oshc++ rmacc rmac++; do
        [ -f "$stage_prefix/bin/$stage_command" ] || continue
        sed "s|^prefix='.*'\$|prefix='$stage_prefix'|" "$stage_prefix/bin/$stage_command" >"$1/bin/$stage_command"
        chmod +x "$1/bin/$stage_command"
    done
}
