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

# launch ARGUMENTS...: mpirun. When all processes have ended, that of Open MPI 4.1 now and then waits for its own
# threads for ever (in PMIx_server_finalize). Then it is ended, and all is done again.
launch() {
    local out=$scratch/.launch.$BASHPID code=0 idle all try
    for try in 1 2 3; do
        mpirun "$@" >"$out" 2>"$out.error" &
        all=$!
        for ((idle = 0; idle < 600; idle++)); do
            kill -0 "$all" 2>/dev/null || break
            sleep 0.05
            all_ended "$all" || idle=0
        done
        [ "$idle" -lt 600 ] || kill -KILL "$all" 2>/dev/null
        code=0
        wait "$all" || code=$?
        [ "$idle" -eq 600 ] || break
        echo "mpirun did not end, try $try"
    done
    cat "$out"
    cat "$out.error" >&2
    return "$code"
}

# all_ended PROCESS: whether all that it has started are gone.
all_ended() {
    local child
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
        grep -q '^State:.*Z' "/proc/$child/status" 2>/dev/null || return 1
    done
}

# ranks N COMMAND...: drape-mpi on N processes.
ranks() {
    local count=$1
    shift
    launch -n "$count" "$mpi" "$@"
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

# runs_out_of_memory KB COMMAND...: two processes, of which the second may have only so much: exit code 1, and one
# message that says so.
runs_out_of_memory() {
    local most=$1 code=0 said
    shift
    [ -z "${ASAN_OPTIONS:-}" ] || skip "sanitizers bring their own malloc"
    [ -e "$scratch/limit.so" ] || cc -shared -fPIC -o "$scratch/limit.so" "$source_dir/tests/mpi/limit_memory.c"
    said=$(launch -n 1 "$mpi" "$@" : \
        -n 1 env LD_PRELOAD="$scratch/limit.so" DRAPE_TEST_MEMORY_KB="$most" "$mpi" "$@" 2>&1) || code=$?
    [ "$code" -eq 1 ] || fail "exit code $code with $most KB: $said"
    [ "$(grep -c '^drape: ' <<<"$said")" -eq 1 ] || fail "not one message with $most KB: $said"
    grep -q '^drape: .*out of memory' <<<"$said" || fail "what is it about? $said"
}
