#!/usr/bin/env bash
# drape-mpi solve: the same solution on any number of processes, iterations that hardly grow with them, bad input.
# shellcheck source=tests/mpi/mpi.sh
source "$1/tests/mpi/mpi.sh"
cd "$scratch" || exit

solutions_are_those_of_one_machine() {
    local n
    "$drape" solve sheet.sys --tol 1e-12 -o one.bin >/dev/null
    for n in 1 2 3; do
        ranks "$n" solve sheet.sys --tol 1e-12 -o many.bin >/dev/null
        at_most "$(differences one.bin many.bin)" 1e-8
        rm many.bin
    done
}

# Measured: 19 on 1, 2, 3, 4 and 16 processes; GAMG takes twice as many.
iterations_hardly_grow() {
    local alone n many gamg
    alone=$("$drape" solve sheet.sys --tol 1e-8 --method ppcg --precond amg --json | number iterations)
    for n in 1 2 4; do
        many=$(ranks "$n" solve sheet.sys --tol 1e-8 --json | number iterations)
        at_most "$many" $((alone + alone / 5 + 1))
    done
    gamg=$(ranks 2 solve sheet.sys --tol 1e-8 --json -pc_type gamg | number iterations)
    at_most "$many" "$(awk "BEGIN { print 0.7 * $gamg }")"
}

# A division that called MPI from several threads crashed here, or never ended.
subdomains_may_be_many() {
    local one many
    one=$(ranks 1 solve sheet.sys --tol 1e-8 --json | number iterations)
    many=$(ranks 16 solve sheet.sys --tol 1e-8 --json | number iterations)
    [ -n "$many" ] || fail "16 processes did not solve it"
    at_most "$many" "$(awk "BEGIN { print 1.25 * $one + 1 }")"
}

no_process_holds_the_system() {
    local bytes all
    all=$(stat -c %s sheet.sys)
    bytes=$(ranks 4 solve sheet.sys --json | number part_bytes)
    at_most "$bytes" $((all * 2 / 5))
}

solutions_repeat_to_the_bit() {
    local n i
    for n in 3 7; do
        for i in 1 2; do ranks "$n" solve sheet.sys --tol 1e-8 -o "again$i.bin" --json | number iterations >"count$i"; done
        [ -s count1 ]
        cmp count1 count2
        cmp again1.bin again2.bin
    done
}

# Shares are as even as whole numbers allow: 1681 = 7 * 240 + 1.
shares_are_even() { [ "$(ranks 7 solve sheet.sys --json | number part_own)" -eq 241 ]; }

# Rest positions that are all the same say nothing; then rows are divided in their order.
systems_without_positions_are_divided() {
    local n=1681 bytes
    bytes=$(stat -c %s sheet.sys)
    cp sheet.sys flat.sys
    dd if=/dev/zero of=flat.sys bs=24 count=$n seek=$((bytes - 48 * n)) oflag=seek_bytes conv=notrunc status=none
    ranks 3 solve flat.sys --tol 1e-12 -o flat.bin >/dev/null
    "$drape" solve sheet.sys --tol 1e-12 -o one.bin >/dev/null
    at_most "$(differences one.bin flat.bin)" 1e-8
}

history_ends_where_it_stopped() {
    ranks 2 solve sheet.sys --tol 1e-6 --history norms.csv >/dev/null
    [ "$(head -n 1 norms.csv)" = iteration,preconditioned,residual,energy ]
    at_most "$(tail -n 1 norms.csv | cut -d , -f 2)" 1e-6
    at_most 1e-6 "$(tail -n 2 norms.csv | head -n 1 | cut -d , -f 2)"
}

what_does_not_converge_says_so() {
    rejects 1 'iteration limit' 2 solve sheet.sys --tol 1e-10 --max-iterations 2
}

bad_input_is_refused() {
    head -c 20000 sheet.sys >cut.sys
    head -c 30 sheet.sys >short.sys
    rejects 2 'cannot open it' 2 solve missing.sys -o x.bin
    rejects 2 'but' 2 solve cut.sys -o x.bin
    rejects 2 'less than a header' 3 solve short.sys -o x.bin
    rejects 2 'no file given' 2 solve
    rejects 2 'unknown option --bogus' 2 solve sheet.sys --bogus
    rejects 2 'between 0 and 1' 2 solve sheet.sys --tol 2
    DRAPE_SIMD=bogus rejects 2 'DRAPE_SIMD=bogus' 2 solve sheet.sys
    rejects 2 '-pc_typo' 2 solve sheet.sys -o x.bin -pc_typo gamg
    rejects 2 'cannot write' 2 solve sheet.sys -o no/such/folder/x.bin
    [ ! -e x.bin ]
    ! ls x.bin.* 2>/dev/null || fail "a temporary file was left"
}

damaged_numbers_are_named() {
    cp sheet.sys nan.sys
    # The last number is the z of the last vertex' position.
    printf '\0\0\0\0\0\0\370\177' | dd of=nan.sys bs=1 seek=$(($(stat -c %s nan.sys) - 8)) conv=notrunc status=none
    rejects 2 'cur of vertex 1680 is not finite' 3 solve nan.sys
}

more_processes_than_vertices_are_refused() {
    system tiny.sys drooping --resolution 2 --set 'cloth.0.pins.0.where=[top-left]'
    rejects 2 'processes for 4 vertices' 6 solve tiny.sys
}

folders_must_be_shared() {
    local said code=0
    mkdir -p here there
    cp sheet.sys here
    said=$(launch -n 1 --wdir "$PWD/here" "$mpi" solve sheet.sys : -n 1 --wdir "$PWD/there" "$mpi" solve sheet.sys 2>&1) ||
        code=$?
    [ "$code" -eq 2 ] || fail "exit code $code: $said"
    grep -q 'must see the same folder' <<<"$said"
}

# The file is all holes: its head alone is read.
indices_beyond_32_bits_are_refused() {
    local n=715827883
    { printf DRAPESY1 && head -c 24 /dev/zero && printf '\0\0\0\0\0\0\360\077'; } >large.sys
    printf '\253\252\252\052' | dd of=large.sys bs=1 seek=8 conv=notrunc status=none
    truncate -s $((40 + 8 * (n + 1) + 168 * n)) large.sys
    rejects 2 '715827883 vertices have more unknowns than the 32-bit indices' 3 solve large.sys -o x.bin
    rm large.sys
    [ ! -e x.bin ]
}

# The second of two processes runs out of memory.
a_process_without_memory_ends_all() {
    local most
    system big.sys drooping --resolution 151
    rm -f x.bin
    for most in 20 100 500 4000 12000 20000 28000; do
        runs_out_of_memory "$most" solve big.sys -o x.bin
        ! ls x.bin* 2>/dev/null || fail "something was left behind"
    done
}

system sheet.sys drooping --resolution 41
for test in solutions_are_those_of_one_machine iterations_hardly_grow subdomains_may_be_many no_process_holds_the_system \
    solutions_repeat_to_the_bit shares_are_even systems_without_positions_are_divided history_ends_where_it_stopped what_does_not_converge_says_so bad_input_is_refused \
    damaged_numbers_are_named more_processes_than_vertices_are_refused folders_must_be_shared \
    indices_beyond_32_bits_are_refused a_process_without_memory_ends_all; do
    run_test $test $test
done
finish_tests
