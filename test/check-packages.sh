#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-packages.sh: the files for package managers agree with the project, and at depth `long` Debian's packages can be
# built, installed and used (test/fresh-machine --package). Broken by a version that is updated only in some places, by
# an option of the Spack recipe that configure does not have, by a symbol that is missing from Debian's list, by a
# package for one MPI that has not what the other's has, by a command without an MPI in its name that takes another than
# the alternatives say, by a command in a manual page that Debian's packages do not have, and by an unknown system on
# which tools/deps installs packages anyway.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$top_srcdir"

# ---- one version ----

version=$(sed -n 's/^AC_INIT(\[librma\], \[\([0-9.]*\)\].*/\1/p' configure.ac)
before=$failures
same() { # same FILE VERSION
    [ "$2" = "$version" ] || fail "$1 has version '$2', configure.ac '$version'"
}
same include/rma.h "$(sed -n 's/^#define RMA_VERSION  *"\(.*\)"$/\1/p' include/rma.h)"
same include/shmem.h "$(sed -n 's/^#define SHMEM_VENDOR_STRING "librma \(.*\)"$/\1/p' include/shmem.h)"
# "Not released yet" may stand above it.
same CHANGELOG.md "$(sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)"
same NEWS "$(grep -x '[0-9][0-9.]*' NEWS | head -n 1)"
same debian/changelog "$(sed -n '1s/^librma (\(.*\)) .*/\1/p' debian/changelog)"
recipe=contrib/spack/package.py
same $recipe "$(sed -n 's/^    version("\([0-9.]*\)", commit=.*/\1/p' $recipe | head -n 1)"
[ $failures -gt "$before" ] || ok "version $version in all places"

# ---- the results that are published ----

# results_of VERSION DIR: prints what is wrong with the results in DIR for a release of this version.
results_of() {
    busy='^(other processes: disturbed|note: the machine is too busy)'
    for file in machine.txt osh_compare.txt coarray_compare.txt scaling.txt growth.txt; do
        measured=$(sed -n 's/^library: librma \([0-9.]*\).*/\1/p' "$2/$file" 2>/dev/null | head -n 1)
        [ "$measured" = "$1" ] || echo "docs/results/$file is of version '$measured', configure.ac '$1'"
        # For growth the machine does not matter: its time is virtual.
        [ "$file" = growth.txt ] || ! grep -qE "$busy" "$2/$file" ||
            echo "docs/results/$file was not measured on a quiet machine"
    done
    awk -F, -v version="librma $1" 'NR > 1 && $5 != version { n++ }
        END { if (n || NR < 2) print "docs/results/jobs.csv: " n + 0 " jobs are not of " version }' "$2/jobs.csv" ||
        echo "docs/results/jobs.csv cannot be read"
}

case $(sed -n 's/^## //p' CHANGELOG.md | head -n 1) in
"Not released yet") echo "skipped: the results in docs/: needs a release" ;;
*)
    wrong=$(results_of "$version" docs/results 2>&1)
    if [ -z "$wrong" ]; then
        ok "the results in docs/ are of $version"
    else
        fail "run tools/publish: $wrong"
    fi
    ;;
esac

# Good results first, then results with one error each.
results() {
    rm -rf "$dir/results"
    mkdir "$dir/results"
    for file in machine osh_compare coarray_compare scaling growth; do
        echo "library: librma 9.8.7, 1234567" >"$dir/results/$file.txt"
    done
    echo "other processes: quiet machine" >>"$dir/results/machine.txt"
    printf 'Layout,Job,PEs,Command,Version,Start\none,a,2,b,librma 9.8.7,c\n' >"$dir/results/jobs.csv"
}
results
wrong=$(results_of 9.8.7 "$dir/results")
if [ -z "$wrong" ]; then ok "good results pass"; else fail "good results: $wrong"; fi
refuses() { # refuses WORDS: the results in $dir/results, as they are now
    wrong=$(results_of 9.8.7 "$dir/results" 2>/dev/null)
    case $wrong in
    *"$1"*) ok "results are refused: $1" ;;
    *) fail "results are not refused: $1: '$wrong'" ;;
    esac
    results
}
echo "library: librma 9.8.6" >"$dir/results/growth.txt"
refuses "growth.txt is of version '9.8.6'"
rm "$dir/results/osh_compare.txt"
refuses "osh_compare.txt is of version ''"
echo "other processes: disturbed in 2 of 9 jobs" >>"$dir/results/machine.txt"
refuses "machine.txt was not measured on a quiet machine"
echo "note: the machine is too busy to measure: x" >>"$dir/results/scaling.txt"
refuses "scaling.txt was not measured on a quiet machine"
echo "one,d,2,b,librma 9.8.6,c" >>"$dir/results/jobs.csv"
refuses "jobs.csv: 1 jobs are not of librma 9.8.7"

# ---- Debian's list of symbols ----

sh debian/symbols mpich >"$dir/symbols"
sh debian/symbols openmpi | sed 's/openmpi/mpich/' >"$dir/symbols-openmpi"
before=$failures
cmp -s "$dir/symbols" "$dir/symbols-openmpi" || fail "debian/symbols differs for MPICH and Open MPI"
sed -n 's/^ \(.*\)@Base [0-9.]*$/\1/p' "$dir/symbols" | LC_ALL=C sort >"$dir/listed"
cat include/rma.symbols include/shmem.symbols include/caf.symbols | sed 's/ .*//' | LC_ALL=C sort >"$dir/names"
cmp -s "$dir/listed" "$dir/names" || fail "debian/symbols prints other symbols than include/*.symbols have"
name='[A-Za-z_0-9]+@Base|\(regex[|]optional\)"(\^ucp_[.][*])?@Base[$]"'
library="librma(_shmem|_caf|_race|_race_mpi|_trace)?[.]so[.][0-9]+"
line="^ ($name) [0-9]+[.][0-9]+[.][0-9]+\$|^$library librma-mpich[0-9]+ #MINVER#\$|^[*] "
grep -vqE "$line" \
    "$dir/symbols" && fail "debian/symbols prints a line that is none of dpkg's"
number=$(($(sed -n 's/^VERSION_INFO=\([0-9]*\):[0-9]*:\([0-9]*\)$/\1 - \2/p' configure.ac)))
sonames=
for name in librma librma_shmem librma_caf librma_race librma_race_mpi librma_trace; do
    sonames="$sonames$name.so.$number "
done
[ "$(sed -n 's/ .*#MINVER#$//p' "$dir/symbols" | tr '\n' ' ')" = "$sonames" ] ||
    fail "debian/symbols has other sonames than VERSION_INFO of configure.ac"
for flavour in mpich openmpi; do
    grep -q "^Package: librma-$flavour$number\$" debian/control ||
        fail "debian/control has no package librma-$flavour$number"
    [ -e "debian/librma-$flavour$number.install" ] || fail "there is no debian/librma-$flavour$number.install"
done
[ $failures -gt "$before" ] || ok "$(wc -l <"$dir/names") symbols for dpkg-gensymbols"

# ---- Debian's packages for MPICH and for Open MPI ----

before=$failures
# Alike but for the name and the priority. Each command of the packages for one MPI has a page, and a form without the
# MPI in its name, which is one of debian/rules.
for file in debian/librma-mpich*; do
    other=$(echo "$file" | sed 's/mpich/openmpi/')
    sed -e 's/openmpi/mpich/g' -e 's/rma.pc 50 /rma.pc 40 /' "$other" 2>"$dir/log" | cmp -s "$file" - ||
        fail "$file and $other differ in more than the name of the MPI"
done
sed -n 's|^[^ ]* usr/bin/||p' debian/librma-mpich-*.links | LC_ALL=C sort >"$dir/commands"
sed -n 's|^[^ ]* usr/share/man/man1/\(.*\)[.]1[.]gz$|\1|p' debian/librma-mpich-*.links | LC_ALL=C sort |
    cmp -s "$dir/commands" - || fail "debian/librma-mpich-*.links: not each command has a page"
sed 's/[.-]mpich$//' "$dir/commands" | LC_ALL=C sort >"$dir/plain"
sed -n 's/^commands = //p' debian/rules | tr ' ' '\n' | LC_ALL=C sort | cmp -s "$dir/plain" - ||
    fail "debian/rules: 'commands' are not those of debian/librma-mpich-*.links"
[ $failures -gt "$before" ] || ok "Debian's packages for MPICH and Open MPI are alike"

# by_alternative COMMAND [VARIABLE=VALUE]...: runs Debian's command without an MPI in its name, with the folders below
# $dir; prints what the command of one MPI says.
mkdir -p "$dir/etc" "$dir/commands-in"
sed -e "s|@FOLDER@|$dir/librma|" -e "s|/etc/alternatives|$dir/etc|g" debian/by-alternative >"$dir/by-alternative"
for command in rmacc oshcc.librma oshrun.librma rma_info; do
    cp "$dir/by-alternative" "$dir/commands-in/$command"
    chmod +x "$dir/commands-in/$command"
    for flavour in mpich openmpi; do
        mkdir -p "$dir/librma/$flavour/bin"
        printf '#!/bin/sh\necho "%s $*"\n' $flavour >"$dir/librma/$flavour/bin/${command%.librma}"
        chmod +x "$dir/librma/$flavour/bin/${command%.librma}"
    done
done
unset PMI_SIZE OMPI_COMM_WORLD_SIZE
by_alternative() { # by_alternative TITLE CODE PATTERN COMMAND [ARGUMENT]...
    title=$1 code=$2 pattern=$3 command=$4
    shift 4
    run "$dir/commands-in/$command" "$@"
    if [ "$status" -eq "$code" ] && cat "$dir/out" "$dir/err" | grep -q "$pattern"; then
        ok "commands by alternative: $title"
    else
        fail "commands by alternative: $title: exit $status, not $code"
    fi
}
by_alternative "no alternative" 0 '^openmpi -c x$' rmacc -c x
ln -s /usr/bin/mpicc.mpich "$dir/etc/mpi"
ln -s /usr/bin/mpirun.openmpi "$dir/etc/mpirun"
by_alternative "compiling" 0 '^mpich -c x$' rmacc -c x
by_alternative "compiling OpenSHMEM" 0 '^mpich x$' oshcc.librma x
by_alternative "starting" 0 '^openmpi -n 2 x$' oshrun.librma -n 2 x
PMI_SIZE=1 by_alternative "a launcher that is not the alternative's" 0 '^mpich x$' rma_info x
OMPI_COMM_WORLD_SIZE=1 by_alternative "a launcher, compiling" 0 '^mpich x$' rmacc x
by_alternative "information" 0 '^openmpi $' rma_info
OSHCC="$dir/commands-in/oshcc.librma -O2" by_alternative "a variable that names the command" 0 \
    'OSHCC=.* names this command itself' oshcc.librma x
rm -r "$dir/librma/mpich"
by_alternative "its MPI is not installed" 127 'apt-get install librma-mpich-dev$' rmacc x
by_alternative "the other one's name" 127 'is called oshcc.librma-openmpi;' oshcc.librma x
ln -sf /usr/bin/mpicc.lam "$dir/etc/mpi"
by_alternative "an MPI that librma has no package for" 0 '^openmpi x$' rmacc x
rm -r "$dir/librma/openmpi"
by_alternative "nothing is installed" 127 'apt-get install librma-openmpi-dev$' rmacc x

# ---- the manual, with the names of Debian's commands ----

mkdir -p "$dir/man/man1" "$dir/man/man7"
cp man/*.1 "$dir/man/man1"
cp man/*.7 "$dir/man/man7"
while read -r name page; do
    case $page in
    *.1) echo ".so man1/$page" >"$dir/man/man1/$name.1" ;;
    esac
done <man/aliases
if sh debian/pages "$dir/man" >"$dir/log" 2>&1 && grep -q 'oshcc[.]librma' "$dir/man/man1/oshcc.librma.1"; then
    ok "the manual has the names of Debian's commands"
else
    fail "debian/pages: $(head -n 1 "$dir/log")"
fi

# ---- the Spack recipe, with a fake Spack that only records its calls ----

if command -v python3 >/dev/null 2>&1; then
    mkdir -p "$dir/spack"
    : >"$dir/spack/__init__.py"
    cat >"$dir/spack/package.py" <<'END'
import os
import types

told = []

def directive(name):
    return lambda *words, **options: told.append((name, words, options))

for name in "conflicts depends_on license provides variant version".split():
    globals()[name] = directive(name)
join_path = os.path.join
ran = []

def Executable(command):
    return lambda: ran.append(command)

class Prefix(str):
    bin = "/mpi/bin"

class AutotoolsPackage:
    prefix = "/prefix"
    spec = {"mpi": types.SimpleNamespace(mpicc="/mpi/bin/mpicc", mpicxx="/mpi/bin/mpicxx", prefix=Prefix("/mpi"))}

    def enable_or_disable(self, name):
        assert name in [words[0] for directive, words, options in told if directive == "variant"], name
        return ["--disable-" + name]
END
    cat >"$dir/try.py" <<'END'
import os
import runpy
import sys

import spack.package as spack

top = sys.argv[1]
recipe = runpy.run_path(os.path.join(top, "contrib/spack/package.py"))["Librma"]()
assert recipe.git == "file://" + os.path.realpath(top), recipe.git
needs = [words[0].split("@")[0] for directive, words, options in spack.told if directive == "depends_on"]
assert sorted(needs) == sorted("c cxx autoconf automake libtool pkgconfig mpi hwloc elfutils".split()), needs
recipe.autoreconf(None, None)
assert spack.ran == ["./autogen.sh"] and os.access(os.path.join(top, spack.ran[0]), os.X_OK), spack.ran
print("\n".join(recipe.configure_args()))
END
    if PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$dir python3 "$dir/try.py" "$top_srcdir" >"$dir/args" 2>"$dir/err"; then
        before=$failures
        sh ./configure --help >"$dir/help"
        while read -r arg; do
            case $arg in
            --enable-* | --disable-*) wanted=--enable-${arg#--*able-} ;;
            *) wanted=${arg%%=*} ;;
            esac
            grep -qE "^ *$wanted([^A-Za-z]|\$)" "$dir/help" || fail "the Spack recipe: configure does not know $arg"
        done <"$dir/args"
        [ "$(wc -l <"$dir/args")" -eq 4 ] || fail "the Spack recipe has $(wc -l <"$dir/args") arguments, not 4"
        [ $failures -gt "$before" ] || ok "the Spack recipe: $(tr '\n' ' ' <"$dir/args")"
    else
        fail "the Spack recipe: $(tail -n 1 "$dir/err")"
    fi
else
    echo "skipped: the Spack recipe: needs python3 (Debian package python3)"
fi

# ---- a system that tools/deps does not know ----

refused() { # refused TEXT: tools/deps --install with the os-release on standard input, and an apt-get that must not run
    cat >"$dir/os-release"
    code=0
    PATH=$dir/bin:$PATH OS_RELEASE=$dir/os-release sh tools/deps --install >"$dir/log" 2>&1 || code=$?
    if [ $code -eq 2 ] && grep -qF "deps: this system is $1: " "$dir/log" && grep -q ' libhwloc-dev ' "$dir/log" &&
        [ ! -e "$dir/installed" ]; then
        ok "tools/deps: $1"
    else
        fail "tools/deps: $1: exit $code"
    fi
}
mkdir "$dir/bin"
for command in apt-get dpkg-query; do
    printf '#!/bin/sh\n: >%s/installed\n' "$dir" >"$dir/bin/$command"
    chmod +x "$dir/bin/$command"
done
refused "Fedora Linux 40 (Workstation Edition)" <<'END'
NAME="Fedora Linux"
ID=fedora
PRETTY_NAME="Fedora Linux 40 (Workstation Edition)"
END
refused "ALT Linux 10.2" <<'END'
ID=altlinux
PRETTY_NAME="ALT Linux 10.2"
END
refused "none that $dir/os-release names" </dev/null

# ---- the packages themselves, built in one fresh system, and tried in another ----

if deep && [ -e .git ]; then
    status=0
    timeout -k 5 "$(seconds 3600)" bash test/fresh-machine --package >"$dir/out" 2>&1 </dev/null || status=$?
    case $status in
    77) echo "skipped: Debian's packages: needs root, debootstrap and a network: $(tail -n 1 "$dir/out")" ;;
    0) ok "Debian's packages, built, installed and tried" ;;
    *) fail "Debian's packages: test/fresh-machine --package: exit $status" ;;
    esac
fi

verdict
