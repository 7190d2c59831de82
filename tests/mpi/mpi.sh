# shellcheck shell=bash
# mpi.sh: what the tests of drape-mpi share: bash FILE SOURCE_DIR DRAPE DRAPE_MPI.
# shellcheck source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
drape=$2
mpi=$3

# Processes may be more than processors, in containers whose only user is root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMP_NUM_THREADS=1

# ranks N COMMAND...: drape-mpi on N processes.
ranks() {
    local count=$1
    shift
    mpirun -n "$count" "$mpi" "$@"
}

# number KEY: of the JSON on the standard input.
number() { sed -n "s/^ *\"$1\": \([^,]*\),\{0,1\}$/\1/p"; }

# at_most A B: numbers.
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }' || fail "$1 is more than $2"; }

# system FILE ARGUMENTS...: the linear system of the fifth linearised step of a scene.
system() {
    local file=$1
    shift
    "$drape" run "$@" --integrator linearised-euler --frames 1 --no-output --quiet --export-system "5:$file"
}

# differences FILE FILE: the largest difference of two files of raw doubles.
differences() { paste <(od -An -v -w8 -tf8 "$1") <(od -An -v -w8 -tf8 "$2") | awk '
    { d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d } END { print most + 0 }'; }

# rejects CODE TEXT N COMMAND...: exit code, and one message of one process that holds the text.
rejects() {
    local code=$1 text=$2 count=$3 got=0 said
    shift 3
    said=$(ranks "$count" "$@" 2>&1) || got=$?
    [ "$got" -eq "$code" ] || fail "exit code $got, not $code: $* said: $said"
    grep -qF -- "$text" <<<"$said" || fail "should have said '$text': $* said: $said"
    [ "$(grep -c '^drape: ' <<<"$said")" -eq 1 ] || fail "more than one message: $said"
}
