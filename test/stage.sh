# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# stage.sh: sourced by scripts that compile programs with the compiler commands: a staged installation of the build
# folder in a temporary folder, as packagers make it.
#
# It does not change the build folder. libtool would link some libraries again before it installs them, and meanwhile
# move those in the build folder aside: another test's program that starts at that moment would find no library, or half
# of one. The libraries of a stage are copies: the environment, not a path inside them, says where they are.

# stage FOLDER: installs $top_builddir below FOLDER, whose name has no blank. $stage_prefix is the prefix there, and
# FOLDER/bin has the compiler commands with that prefix. Returns 0, or 1 with make's output.
stage() {
    mkdir -p "$1/libtool" "$1/bin" && ln -s "$(cd "$top_builddir" && pwd)/.libs" "$1/libtool/.libs" || return 1
    # Replaces libtool for make install: its files NAME.la say that there is nothing to link.
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
    for stage_command in oshcc oshc++ rmacc rmac++ rmafc rma_mpicc; do
        [ -f "$stage_prefix/bin/$stage_command" ] || continue
        sed "s|^prefix='.*'\$|prefix='$stage_prefix'|" "$stage_prefix/bin/$stage_command" >"$1/bin/$stage_command"
        chmod +x "$1/bin/$stage_command"
    done
}
