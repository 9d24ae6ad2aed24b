#!/usr/bin/env bash
# prompt.sh PROGRAMS DATA: runs tools/demo on a pseudo-terminal, types a query and \q at its prompt,
# and fails unless the answer and the demo's last line are there.
set -euo pipefail

test -d .deps/demo-data || exit 77
printf -v command '%q ' tools/demo --programs "$1" --data "$2"
output=$(printf 'select 6 * 7 as answer;\n\\q\n' | script -qec "$command" /dev/null)
printf '%s\n' "$output"
[[ $output == *"     42"* ]]
[[ $output == *"All as it should be."* ]]
