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

# table NAME: the names of one of the program's tables.
table() { "$program" list "$1" | awk '{ print $1 }'; }

# What is in a table is offered, wherever such a name may stand.
tables_are_offered() {
    local name command option also
    while read -r name command option also; do
        offers "$1" "$(table "$name"; echo "$also")" "$program" "$command" x "$option" ""
    done <<END
methods solve --method auto
preconditioners solve --precond auto
integrators run --integrator
integrators check --integrator
scenes scenes --show
END
    offers "$1" "$(table examples)" "$program" ode ""
    offers "$1" "$("$program" list --words)" "$program" list ""
    while read -r name option also; do
        if [ "$1" = bash ]; then offers bash "$(table "$name"; echo "$also")" "$program" run flag --set "$option" = ""; fi
        if [ "$1" = zsh ]; then offers zsh "$(table "$name"; echo "$also")" "$program" run flag --set "$option="; fi
    done <<END
fabrics cloth.flag.material
models cloth.flag.model
integrators integrator
integrators integrator.method
methods solver.method auto
preconditioners solver.precond auto
END
}

# text_of OPTION: the lines of a help text about it.
text_of() { awk -v option="$1" '/^  [^ ]/ { inside = $1 == option || $2 == option } inside'; }

# Every word that an option takes stands below it in the help, and in the manual page.
words_stand_in_help_and_manual() {
    local command option word manual count=0
    manual=$(dirname "$program")/drape.1
    [ -e "$manual" ] || skip "built without what is installed (-DDRAPE_INSTALL=ON)"
    sed 's/\\-/-/g; s/\\&//g' "$manual" >"$scratch/manual"
    while IFS= read -r command; do
        "$program" "$command" --help >"$scratch/help"
        while IFS= read -r option; do
            while IFS= read -r word; do
                text_of "$option" <"$scratch/help" | grep -qwF -- "$word" || fail "help of $command $option: no $word"
                grep -qwF -- "$word" "$scratch/manual" || fail "manual: no $word"
                count=$((count + 1))
            done < <("$program" "$command" --words "$option")
        done < <(options "$command")
    done < <(commands | grep -v bench)
    [ "$count" -gt 60 ] || fail "only $count words"
    count=0
    while IFS= read -r command; do
        while IFS= read -r word; do
            grep -qxF -- ".B $word" "$scratch/manual" || fail "manual: no line for $word of $command"
            count=$((count + 1))
        done < <(table "$command")
    done < <("$program" list --words)
    [ "$count" -gt 50 ] || fail "only $count names"
    "$program" run --help >"$scratch/help"
    while IFS= read -r word; do
        text_of --output <"$scratch/help" | grep -qF -- "$word" || fail "help of --output: no $word"
    done < <(table formats)
    sed -n '/^Names:/,/^$/p' "$scratch/help" >"$scratch/names"
    while IFS= read -r word; do grep -qwF -- "$word" "$scratch/names" || fail "help of run: no $word"; done < <(table scenes)
}

for shell in bash zsh; do
    for test in every_command_is_offered every_option_is_offered names_are_offered tables_are_offered; do
        run_test "${test}_$shell" $test $shell
    done
done
run_test words_stand_in_help_and_manual words_stand_in_help_and_manual
finish_tests
