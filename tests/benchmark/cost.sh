#!/bin/sh
# What one operation costs the host: nanoseconds of CPU time, and instructions where valgrind is installed.
#
#   cost.sh VALGRIND MANY SMALL LARGE COMMAND...    each @ in the command stands for a number of operations
#
# Time is that of a run of MANY operations, start-up included. Instructions are the difference between runs of LARGE and
# of SMALL operations, divided by the difference, so starting up does not count. VALGRIND may be empty: no instructions.
set -eu
valgrind=$1 many=$2 small=$3 large=$4
shift 4

# The command with this many operations.
with() {
    operations=$1
    shift
    line=
    for word; do
        case $word in *@*) word=${word%%@*}$operations${word#*@} ;; esac
        line="$line '$word'"
    done
    echo "$line"
}

instructions() {
    eval "\"$valgrind\" --tool=callgrind --callgrind-out-file=/dev/null $(with "$@")" 2>&1 >/dev/null |
        sed -n 's/.*Collected : //p'
}

output=$(mktemp)
trap 'rm -f "$output" "$output.times"' EXIT
eval "$(with "$many" "$@") >'$output'"
times >"$output.times" # of this shell, then of what it ran, as 0m0.00s
# The kernel's benchmark says what it measured itself; of others the times are all there is.
grep 'an operation' "$output" || true
awk -v many="$many" 'NR == 2 {
    split($1, user, /[ms]/)
    split($2, sys, /[ms]/)
    seconds = user[1] * 60 + user[2] + sys[1] * 60 + sys[2]
    printf "%.2f s of CPU, %.1f ns an operation\n", seconds, seconds * 1e9 / many
}' "$output.times"
if [ -n "$valgrind" ]; then
    less=$(instructions "$small" "$@")
    more=$(instructions "$large" "$@")
    echo "$(((more - less) / (large - small))) instructions an operation"
fi
