#!/bin/sh
# test_reference.sh SOURCE [LIBRARY.so ...]: makes the reference as "make docs" does. Doxygen must have nothing to say, and
# have an entry for every public symbol: each macro, type and enumerator of the headers, and what the libraries export.
# Each function, type and macro must have an example, which is shown.
set -eu
cd "$1"
shift
command -v doxygen >/dev/null || { echo "skip: no doxygen"; exit 77; }
docs=$(mktemp -d)
trap 'rm -rf "$docs"' EXIT
scripts/docs "$docs" >"$docs/log" 2>&1 || { cat "$docs/log"; exit 1; }
if [ -s "$docs/warnings.txt" ]; then
    cat "$docs/warnings.txt"
    exit 1
fi
sed -n 's,.*<name>\([^<]*\)</name>.*,\1,p' "$docs/trommel.tag" | sort -u >"$docs/entries"
{
    cat include/trommel/*.h | sed -n -e 's/^ *# *define *\(TML_[A-Za-z0-9_]*\).*/\1/p' -e 's/^} \(tml_[a-z0-9_]*\);.*/\1/p' \
        -e 's/^TML_API.*[ *]\(tml_[a-z0-9_]*\)(.*/\1/p' -e 's/.*static inline.* \(tml_[a-z0-9_]*\)(.*/\1/p' \
        -e 's/^typedef.*[ *]\(tml_[a-z0-9_]*\)[;)].*/\1/p'
    for library; do
        nm -D --defined-only "$library" | sed -n 's/.* \(tml_.*\)/\1/p'
    done
} | sort -u >"$docs/named"
cat include/trommel/*.h | sed -n 's/^    \(TML_[A-Z0-9_]*\)[ ,].*/\1/p' | sort -u - "$docs/named" >"$docs/symbols"
missing=$(comm -23 "$docs/symbols" "$docs/entries")
count=$(wc -l <"$docs/symbols")
[ -z "$missing" ] || { echo "not in the reference:"; echo "$missing"; exit 1; }
[ "$count" -gt 400 ] || { echo "only $count public symbols were found"; exit 1; }

# None have what declarations are marked with, and what kernel.h keeps for itself or a header undefines.
excepted="TML_(API|MUST_CHECK|FORMAT|K_.*)$(cat include/trommel/*.h | sed -n 's/^#undef \(TML_.*\)/|\1/p' | tr -d '\n')"
cut -d: -f3 "$docs/examples.txt" | sort -u >"$docs/shown"
lacking=$(comm -23 "$docs/named" "$docs/shown" | sort -u - "$docs/missing.txt" | grep -vxE "$excepted" || true)
[ -z "$lacking" ] || { echo "without an example in examples/reference:"; echo "$lacking"; exit 1; }
examples=$(wc -l <"$docs/shown")
shown=$(cat "$docs"/html/*_8h.html "$docs"/html/struct*.html | grep -o '<dt>Example</dt>' | wc -l)
[ "$shown" = "$examples" ] || { echo "$shown of $examples examples are shown"; exit 1; }
echo "ok $count public symbols, $examples examples of them"
