# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# layout.sh: sourced by scripts that start jobs: layouts, which place PEs on simulated nodes of this machine.
#
# MPICH has its own switches for simulated nodes: MPI then reports that PEs of two nodes share no memory, and the
# library must reach them like another host. Other MPIs have no such switches: there, and in the layout `own`, the
# library's RMA_NODE_PES divides the machine into nodes. $mpi, which launcher.sh sets, names the MPI; only
# layout_switches and layout_left_out need it.

# shellcheck disable=SC2034,SC2154

# layout_all: every layout, in the order in which results are shown. layout_names: the same for messages.
layout_all="one nolocal cliques2 cliques3 cliques4 cliques5 cliques6 cliques7 cliques8 cliques9"
layout_all="$layout_all blocks2 blocks3 blocks4 blocks5 blocks6 blocks7 blocks8 blocks9 own"
layout_names="one nolocal cliquesK blocksK own"

# layout_usage: print a line about each layout, for --help.
layout_usage() {
    cat <<'END'
  one         all PEs on one node
  nolocal     each PE on a node of its own
  cliquesK    K nodes, 2 to 9, PEs dealt out in turn (K=2: 0 2 4 | 1 3); by MPICH only
  blocksK     K nodes at most, 2 to 9, PEs in blocks of one size (K=2: 0 1 2 | 3 4)
  own         nodes of 2 PEs, by RMA_NODE_PES: 0 1 | 2 3 | 4
END
}

# layout_known LAYOUT: whether there is a layout of this name.
layout_known() {
    case "$1" in one | nolocal | cliques[2-9] | blocks[2-9] | own) ;; *) return 1 ;; esac
}

# layout_words LAYOUT: print the layout in words, for titles and legends.
layout_words() {
    case "$1" in
    one) echo "one node" ;;
    nolocal) echo "a node for each PE" ;;
    cliques*) echo "${1#cliques} nodes" ;;
    blocks*) echo "${1#blocks} nodes, in blocks" ;;
    own) echo "nodes of 2 PEs" ;;
    esac
}

# layout_left_out LAYOUT: print why $mpi cannot make the layout; print nothing if it can.
layout_left_out() {
    case "$mpi.$1" in
    mpich.*) ;;
    openmpi.cliques*) echo "Open MPI has no switch that deals PEs out to nodes in turn" ;;
    *.cliques*) echo "only MPICH's launcher is known to deal PEs out to nodes in turn" ;;
    esac
}

# layout_switches LAYOUT N: print the environment settings that give a job of N PEs this layout; none for `one`, whose
# jobs are those of a user without settings. Returns 1 if $mpi does not support the layout, or it does not exist.
layout_switches() {
    layout_known "$1" || return 1
    case "$mpi.$1" in
    *.one) ;;
    *.own) echo RMA_NODE_PES=2 ;;
    mpich.nolocal) echo MPIR_CVAR_NOLOCAL=1 ;;
    mpich.cliques*) echo "MPIR_CVAR_NUM_CLIQUES=${1#cliques}" ;;
    mpich.blocks*) echo "MPIR_CVAR_NUM_CLIQUES=${1#blocks} MPIR_CVAR_CLIQUES_BY_BLOCK=1" ;;
    *.nolocal) echo RMA_NODE_PES=1 ;;
    *.blocks*) echo "RMA_NODE_PES=$((($2 + ${1#blocks} - 1) / ${1#blocks}))" ;;
    *) return 1 ;;
    esac
}

# layout_simplest LAYOUT N: print the first of one, nolocal and LAYOUT that puts N PEs on the same nodes as LAYOUT does.
layout_simplest() {
    case "$1" in
    one) echo one ;;
    own) if [ "$2" -le 2 ]; then echo one; else echo own; fi ;;
    nolocal) if [ "$2" -eq 1 ]; then echo one; else echo nolocal; fi ;;
    *)
        if [ "$2" -eq 1 ]; then
            echo one
        elif [ "$2" -le "${1#"${1%?}"}" ]; then
            echo nolocal
        else
            echo "$1"
        fi
        ;;
    esac
}
