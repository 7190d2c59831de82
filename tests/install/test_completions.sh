#!/usr/bin/env bash
# The completions of bash and zsh offer every command, option and name that the program has, and no value that it has not.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
program=$2

# offered_by_bash WORD...: a line for each word that is offered in place of the last.
offered_by_bash() {
    (
        # shellcheck source=completions/drape
        source "$source_dir/completions/drape"
        compopt() { :; } # works while completing only
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _drape
        printf '%s\n' "${COMPREPLY[@]}"
    )
}

# The same of zsh, which leaves it to compadd what begins with the word.
offered_by_zsh() {
    command -v zsh >/dev/null || skip "there is no zsh"
    zsh -fc '
        compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- "$@" }
        _files() { : }
        file=$1; shift
        words=("$@"); CURRENT=$#
        source $file' zsh "$source_dir/completions/_drape" "$@"
}

# offers SHELL EXPECTED WORD...: exactly these words, in any order.
offers() {
    local shell=$1 expected=$2
    shift 2
    diff <(grep . <<<"$expected" | sort) <("offered_by_$shell" "$@" | grep . | sort) || fail "wanted on the left: $*"
}

commands() { "$program" --help | awk '/^commands:/ { inside = 1; next } /^$/ { inside = 0 } inside { print $1 }'; }

# Those that --help prints, found in another way than the completions do.
options() { "$program" "$1" --help | grep -oE '^ +(-[a-z], )?--?[a-z-]+' | tr -d ' ' | tr , '\n'; }

every_command_is_offered() {
    [ "$(commands | wc -l)" -gt 5 ]
    offers "$1" "$(commands; printf '%s\n' --help --version)" "$program" ""
}

every_option_is_offered() {
    local command
    while IFS= read -r command; do
        [ "$command" = bench ] || [ -z "$(options "$command")" ] || {
            options "$command" | grep '^--' >"$scratch/long"
            "offered_by_$1" "$program" "$command" -- | grep '^--' | sort >"$scratch/offered"
            diff <(sort "$scratch/long" | grep -v '^--help$') <(grep -v '^--help$' "$scratch/offered") || fail "$command"
        }
    done < <(commands)
}

names_are_offered() {
    local scenes fabrics
    scenes=$("$program" scenes | awk '{ print $1 }')
    fabrics=$("$program" fabrics | awk 'NR > 1 { print $1 }')
    [ "$(wc -l <<<"$scenes")" -gt 5 ]
    offers "$1" "$scenes" "$program" run ""
    offers "$1" "$scenes" "$program" check --irregular ""
    offers "$1" "$scenes" "$program" scenes --show ""
    if [ "$1" = bash ]; then offers bash "$fabrics" "$program" run flag --set cloth.flag.material = ""; fi
    if [ "$1" = zsh ]; then offers zsh "$fabrics" "$program" run flag --set cloth.flag.material=; fi
    "offered_by_$1" "$program" solve x --precond "" | grep -qx block_diagonal
    "offered_by_$1" "$program" solve x --method "" | grep -qx mpcg
    "offered_by_$1" "$program" ode 1b --method "" | grep -qx bdf2
    "offered_by_$1" "$program" run flag --integrator "" | grep -qx linearised-euler
    "offered_by_$1" "$program" check flag --integrator "" | grep -qx bdf2
    "offered_by_$1" "$program" ode "" | grep -qx oscillator
    offers "$1" "" "$program" run flag --frames ""
    offers "$1" "" "$program" run flag --output ""
}

# Values that the completions know by heart stand in the help.
values_stand_in_the_help() {
    local command option value
    while read -r command option; do
        "offered_by_$1" "$program" "$command" x "$option" "" >"$scratch/values"
        [ "$(wc -l <"$scratch/values")" -gt 1 ] || fail "$command $option: nothing is offered"
        while IFS= read -r value; do
            "$program" "$command" --help | grep -E -- "^ +$option " | grep -qw -- "$value" || fail "$command $option $value"
        done <"$scratch/values"
    done <<END
solve --stop
solve --amg-smoother
solve --amg-cycle
solve --amg-reuse
ode --newton
END
}

for shell in bash zsh; do
    for test in every_command_is_offered every_option_is_offered names_are_offered values_stand_in_the_help; do
        run_test "${test}_$shell" $test $shell
    done
done
finish_tests
