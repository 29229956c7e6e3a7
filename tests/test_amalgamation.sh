#!/bin/sh
# test_amalgamation.sh BUILD EXAMPLES: the library as one C file and one header, with the CPU engine alone and with the
# build's others. A stranger compiles it without flags, and with all warnings; it gives programs the shared library's
# names, and the examples that are each function's tests the same output as the static library.
set -eu
build=$1
examples=$2
CC=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAIL $*"; exit 1; }
quietly() {
    "$@" >"$work/log" 2>&1 || { tail -40 "$work/log"; fail "$*"; }
}

quietly cmake --build "$build" --target trommel-amalgamation
nm -D --defined-only "$build/libtrommel.so" | awk '{ print $3 }' | sort >exported
[ "$(wc -l <exported)" -gt 50 ] || fail "the shared library has no names"

cp "$examples"/hello_compact.c "$examples"/user_kernel.c "$examples"/own_job_system.c "$examples"/reference/*.c .
rm io_*.c vulkan.c gl.c # of other libraries
programs=$(ls ./*.c)
cp "$examples/reference/reference.h" .
for source in $programs; do
    quietly "$CC" -O1 -I "$examples/../include" "$source" "$build/libtrommel.a" -lm -pthread -o "${source%.c}"
    "${source%.c}" >"${source%.c}.expected" 2>&1 || fail "$source, with the library"
done
[ -s hello_compact.expected ] || fail "the examples print nothing"
sed -i -e 's|#include <trommel/kernel_begin.h>|#define TML_KERNELS_BEGIN\n#include "trommel.h"|' \
    -e 's|#include <trommel/kernel_end.h>|#define TML_KERNELS_END\n#include "trommel.h"|' \
    -e 's|#include <trommel/trommel.h>|#include "trommel.h"|' -e 's|#include <trommel/extend.h>|#include "trommel.h"|' ./*.c reference.h
! grep '<trommel/' ./*.c reference.h || fail "a header that is not in trommel.h"

# check NAME FOLDER COMPILER LEVEL LACKING: the pattern of the names that it does not have
check() {
    quietly "$3" "$4" -Wall -Wextra -Werror -c "$2/trommel.c" -o one.o
    ! nm -g --defined-only one.o | awk 'NF == 3 { print $3 }' | grep -v '^tml_' || fail "$1 defines names of its own"
    readelf -Ws one.o | awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" { print $8 }' | sort >names
    grep -Ev "$5" exported | diff - names || fail "$1 has other names than the library"
    for source in $programs; do
        quietly "$3" -O1 -I "$2" "$source" one.o -lm -lpthread -o program
        ./program >output 2>&1 || { cat output; fail "$source, with $1"; }
        diff "${source%.c}.expected" output || fail "$source prints something else with $1"
    done
    echo "ok $1 by $3 $4"
}
one=$build/amalgamation
alone='^tml_(gl|vulkan)_'
check "the CPU engine" "$one" "$CC" "${TML_LEVEL:--O0}" "$alone" # at -O2 gcc takes 90 seconds
if command -v clang >/dev/null; then
    check "the CPU engine" "$one" clang -O0 "$alone"
else
    echo "skip clang: not installed"
fi
[ ! -d "$one/gpu" ] || check "every engine" "$one/gpu" "$CC" -O0 '^$'
