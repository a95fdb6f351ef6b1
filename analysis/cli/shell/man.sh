#!/bin/sh
# The manual page, from what the program says of itself: man.sh HELP2MAN PROGRAM OUTPUT.
help2man=$1 program=$2 output=$3
include=$(mktemp) || exit 1
trap 'rm -f "$include"' EXIT
for command in $("$program" --help | sed -n 's/^  \([a-z]\{2,\}\)  .*/\1/p'); do
    printf '[DMUSIM %s]\n.nf\n' "$(echo "$command" | tr '[:lower:]' '[:upper:]')"
    # A line that begins with a dot or a quote is text, a backslash too.
    "$program" "$command" --help | sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e 's/^\([.'"'"']\)/\\\&\1/'
    printf '.fi\n\n'
done > "$include"
"$help2man" --no-info --section=1 --name='deterministic simulator of the OpenZFS DMU' --include="$include" --output="$output" "$program"
