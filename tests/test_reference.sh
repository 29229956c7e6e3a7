#!/bin/sh
# test_reference.sh SOURCE [LIBRARY.so ...]: makes the reference as "make docs" does. Doxygen must have nothing to say, and
# have an entry for every public symbol: each macro, type and enumerator of the headers, and what the libraries export.
set -eu
cd "$1"
shift
command -v doxygen >/dev/null || { echo "skip: no doxygen"; exit 77; }
TML_DOCS=$(mktemp -d)
export TML_DOCS
trap 'rm -rf "$TML_DOCS"' EXIT
doxygen docs/Doxyfile >"$TML_DOCS/log" 2>&1 || { cat "$TML_DOCS/log"; exit 1; }
if [ -s "$TML_DOCS/warnings.txt" ]; then
    cat "$TML_DOCS/warnings.txt"
    exit 1
fi
sed -n 's,.*<name>\([^<]*\)</name>.*,\1,p' "$TML_DOCS/trommel.tag" | sort -u >"$TML_DOCS/entries"
{
    cat include/trommel/*.h | sed -n -e 's/^ *# *define *\(TML_[A-Za-z0-9_]*\).*/\1/p' \
        -e 's/^    \(TML_[A-Z0-9_]*\)[ ,].*/\1/p' -e 's/^} \(tml_[a-z0-9_]*\);.*/\1/p' \
        -e 's/^TML_API.*[ *]\(tml_[a-z0-9_]*\)(.*/\1/p' -e 's/.*static inline.* \(tml_[a-z0-9_]*\)(.*/\1/p'
    for library; do
        nm -D --defined-only "$library" | sed -n 's/.* \(tml_.*\)/\1/p'
    done
} | sort -u >"$TML_DOCS/symbols"
missing=$(comm -23 "$TML_DOCS/symbols" "$TML_DOCS/entries")
count=$(wc -l <"$TML_DOCS/symbols")
[ -z "$missing" ] || { echo "not in the reference:"; echo "$missing"; exit 1; }
[ "$count" -gt 400 ] || { echo "only $count public symbols were found"; exit 1; }
echo "ok $count public symbols"
