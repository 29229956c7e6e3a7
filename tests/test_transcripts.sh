#!/bin/sh
# test_transcripts.sh SOURCE [--update] [NAME...]: sessions with the program (its path in TML_CLI), tests/cli/NAME.t. A
# line "$ COMMAND" is run by the shell, in a folder of the transcript's own that has data and seeds in it; below it stand
# what it printed and, in brackets, its exit status if that is not 0. What differs from run to run is "#", and the stages
# of a time are "...". "## " begins a comment. --update writes what is printed now; look at the difference before you
# commit it.
set -u
source=$(realpath "$1")
shift
program=$(realpath "${TML_CLI:?names no program}") || exit 1
update=
[ "${1-}" = --update ] && update=1 && shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$program" "$work/bin/trommel"
export PATH="$work/bin:$PATH" LC_ALL=C XDG_CACHE_HOME="$work/cache"

# Errors and warnings first, since what is printed comes at the end.
session() {
    grep -E '^(\$|##) ' "$1" | while IFS= read -r line; do
        printf '%s\n' "$line"
        case $line in '##'*) continue ;; esac
        (eval "${line#??}") </dev/null >"$work/printed" 2>"$work/errors"
        status=$?
        cat "$work/errors" "$work/printed"
        [ $status = 0 ] || echo "[$status]"
    done | sed -E -e "s,$work,WORK,g" \
        -e 's/^(  time +)[0-9.]+ m?s:.*/\1# s: .../' -e '/^  (speed|memory) /s/[0-9.]+ ([KMG]iB|bytes)/#/' \
        -e 's/("(seconds|surface_seconds|peak_memory_bytes|input_bytes_per_second)": )[0-9.e+-]+/\1#/' \
        -e 's/ +[0-9.]+ m?s  ([^ ]+)$/ # s  \1/'
}

failed=0
[ $# -gt 0 ] || set -- $(cd "$source/tests/cli" && ls ./*.t | sed 's,^\./\(.*\)\.t$,\1,')
for name; do
    file=$source/tests/cli/$name.t
    mkdir "$work/$name"
    ln -s "$source/tests/data" "$work/$name/data"
    ln -s "$source/fuzz/seeds" "$work/$name/seeds"
    (cd "$work/$name" && session "$file") >"$work/$name.t"
    if [ "$update" ]; then
        cat "$work/$name.t" >"$file"
    elif diff -u "$file" "$work/$name.t"; then
        echo "ok $name"
    else
        echo "FAIL $name"
        failed=1
    fi
done
exit $failed
