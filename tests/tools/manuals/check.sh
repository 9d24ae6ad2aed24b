#!/usr/bin/env bash
# check.sh NAME PROGRAM TOOLS: fails if an option of PROGRAM --help is missing in NAME's man page or
# in its completion files, or if those are malformed.
set -euo pipefail

name=$1 program=$2 tools=$3
failed=0
complain() {
    echo "$*" >&2
    failed=1
}

# Both kinds of help text begin an option's line with its names: "  -p, --port N", "  -f,--file FILE".
mapfile -t options < <("$program" --help | sed -n 's/^ \{2,6\}\(-[^ ,]*\(, \?--[a-z-]*\)\?\).*/\1/p' | tr ',' '\n' | tr -d ' ')
[ ${#options[@]} -gt 15 ] || complain "only ${#options[@]} options found in --help"

manual=$(sed 's/\\-/-/g' "$tools/man/$name.1")
bash_file=$(<"$tools/completion/bash/$name")
zsh_file=$(<"$tools/completion/zsh/_$name")
fish_file=$(<"$tools/completion/fish/$name.fish")
for option in "${options[@]}"; do
    word="(^|[^a-z-])$option([^a-z-]|\$)"
    bare=${option#-}
    case $option in --*) flag="-l ${bare#-}" ;; *) flag="-s $bare" ;; esac
    grep -qE -- "$word" <<<"$manual" || complain "$option: not in man/$name.1"
    grep -qE -- "$word" <<<"$bash_file" || complain "$option: not in completion/bash/$name"
    grep -qE -- "$word" <<<"$zsh_file" || complain "$option: not in completion/zsh/_$name"
    grep -qE -- "[ ]$flag( |\$)" <<<"$fish_file" || complain "$option: not in completion/fish/$name.fish"
done

bash -n "$tools/completion/bash/$name" || complain "completion/bash/$name is no bash"
if command -v zsh >/dev/null; then zsh -n "$tools/completion/zsh/_$name" || complain "completion/zsh/_$name is no zsh"; fi
if command -v fish >/dev/null; then fish -n "$tools/completion/fish/$name.fish" || complain "completion/fish/$name.fish is no fish"; fi
if command -v man >/dev/null; then
    warnings=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$tools/man/$name.1" 2>&1 >/dev/null)
    [ -z "$warnings" ] || complain "man/$name.1: $warnings"
fi

# bash offers what begins as typed, and the values of options that have a few.
offered() { # WORD PREVIOUS
    bash -c 'source "$1"; COMPREPLY=(); "_${2//-/_}" "$2" "$3" "$4"; printf "%s " "${COMPREPLY[@]}"' \
        _ "$tools/completion/bash/$name" "$name" "$1" "$2"
}
[ "$(offered --ver "$name")" = "--version " ] || complain "bash offers \"$(offered --ver "$name")\" for --ver"
exit "$failed"
