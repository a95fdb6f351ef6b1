#!/bin/sh
# Builds the program with g++ and clang++, at -O0 and -O3, and with ASan and UBSan, and compares the bytes of every
# built-in scenario's result at small size. Exit status 77: skipped, because a compiler is missing.
# Leaks are not asked for: a run that is stopped, or ends badly, leaves its threads where they are, with what they hold.
# Usage: compilers.sh SOURCE_ROOT
set -u
root=$1
for compiler in g++ clang++; do
    command -v "$compiler" > /dev/null || { echo "skipped: no $compiler"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # NAME COMPILER MESON_OPTION...
    name=$1 compiler=$2
    shift 2
    CXX=$compiler meson setup "$work/$name" "$root" -Dbuildtype=plain "$@" > "$work/$name.log" 2>&1 &&
        ninja -C "$work/$name" tests/cli/print_small_runs >> "$work/$name.log" 2>&1 &&
        ASAN_OPTIONS=detect_leaks=0 "$work/$name/tests/cli/print_small_runs" > "$work/$name.out" 2> "$work/$name.err" || {
        echo "$name: could not be built or run"
        tail -n 20 "$work/$name.log" "$work/$name.err"
        exit 1
    }
    echo "$name: $(wc -c < "$work/$name.out") bytes, $(cksum < "$work/$name.out")"
    if ! cmp -s "$work/g++-O3.out" "$work/$name.out"; then
        echo "$name differs from g++-O3:"
        cmp "$work/g++-O3.out" "$work/$name.out"
        exit 1
    fi
    rm -rf "${work:?}/$name"
}

build g++-O3 g++ -Doptimization=3
build g++-O0 g++ -Doptimization=0
build clang-O3 clang++ -Doptimization=3
build clang-O0 clang++ -Doptimization=0
build g++-sanitized g++ -Doptimization=1 -Db_sanitize=address,undefined
echo "all equal"
