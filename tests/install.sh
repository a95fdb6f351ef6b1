#!/bin/sh
# What `meson install` puts in place works from there: install.sh BUILD-FOLDER. The place is one that the program was not
# built for, so nothing of the source or the build tree can help by accident. It lies in the build folder, where programs may be
# run: the folder for temporary files is mounted without that on some machines. All that is installed has to be built.
set -eu
place=$(mktemp -d "$1/installed.XXXXXX")
trap 'rm -rf "$place"' EXIT
DESTDIR=$place meson install -C "$1" --no-rebuild --quiet > "$place/log" 2>&1 || { cat "$place/log"; exit 1; }
program=$(find "$place" -type f -name dmusim -path '*/bin/*')
root=${program%/bin/dmusim}
fail() { echo "FAILED: $1"; exit 1; }
cd /
"$program" list scenarios | grep -q '^create-one-directory' || fail "the built-in scenarios are found"
"$program" run alloc-one-txg --set params.objects=64 --json | grep -q '"complete":true' || fail "a built-in scenario runs"
[ -s "$root/share/dmusim/scenario.schema.json" ] || fail "the schema is installed"
mkdir "$place/away" && mv "$root/share/dmusim/library/alloc-one-txg.json" "$place/away/"
"$program" list scenarios | grep -q '^alloc-one-txg' && fail "the library beside the program is the one that is used"
bash -n "$root/share/bash-completion/completions/dmusim" || fail "the bash completion parses"
mkdir "$place/list" && touch "$place/list/my-file" # which is no topic
offered=$(PATH="${program%/dmusim}:$PATH" bash -c '
    . "$1"
    COMP_WORDS=(dmusim sw) COMP_CWORD=1; _dmusim; echo "${COMPREPLY[@]}"
    COMP_WORDS=(dmusim run create-one) COMP_CWORD=2; _dmusim; echo "${COMPREPLY[@]}"
    COMP_WORDS=(dmusim sweep --se) COMP_CWORD=2; _dmusim; echo "${COMPREPLY[@]}"
    COMP_WORDS=(dmusim export x --as fold) COMP_CWORD=4; _dmusim; echo "${COMPREPLY[@]}"
    COMP_WORDS=(dmusim export x --as -) COMP_CWORD=4; _dmusim; echo "${COMPREPLY[@]}"
    cd "$2"; COMP_WORDS=(dmusim list m) COMP_CWORD=2; _dmusim; echo "${COMPREPLY[@]}"' \
    bash "$root/share/bash-completion/completions/dmusim" "$place/list" | tr '\n' '|')
[ "$offered" = "sweep|create-one-directory|--seed --seeds --set|folded folded-wait||machines metrics|" ] || fail "completion offers $offered"
if command -v zsh > /dev/null; then
    zsh -n "$root/share/zsh/site-functions/_dmusim" || fail "the zsh completion parses"
else
    echo "not tested: zsh is not here"
fi
page=$(find "$place" -name 'dmusim.1*')
if [ -n "$page" ]; then
    grep -q 'DMUSIM SWEEP' "$page" || fail "the manual page has every command"
    if command -v man > /dev/null; then
        text=$(MANWIDTH=100 man --warnings -l "$page" 2> "$place/warnings" | col -b)
        [ ! -s "$place/warnings" ] || { head -5 "$place/warnings"; fail "the manual page has no warnings"; }
        echo "$text" | grep -q 'Examples:' || fail "the manual page reads as text"
    fi
else
    echo "not tested: built without help2man, so there is no manual page"
fi
echo "installed, found, run"
