#!/bin/sh
# test_install.sh BUILD EXAMPLES [all]: installs BUILD into a folder of its own and builds and runs some
# examples, or all, against it as strangers would: by find_package, static and shared, and by
# pkg-config. The headers must also be readable as C++.
set -eu
build=$1
examples=$2
all=${3:-}
CC=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cd "$work"

fail() { echo "FAIL $*"; exit 1; }

# Runs a command quietly; shows what it said if it fails.
quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; }
}

quietly cmake --install "$build" --prefix "$prefix"

# The two components: what runs, and what programs are made with. Nothing is in both, or in neither.
for component in runtime dev; do
    quietly cmake --install "$build" --prefix "$work/$component" --component $component
done
files() { (cd "$1" && find . ! -type d | sort); }
files runtime >runtime.txt
files dev >dev.txt
files prefix | cmp -s - runtime.txt && fail "there is no component dev"
sort runtime.txt dev.txt | uniq -d | grep . && fail "these are in both components"
sort runtime.txt dev.txt >both.txt
files prefix | diff - both.txt || fail "the components are not the whole"
grep -E '\.(h|a|so|cmake|pc)$' runtime.txt && fail "these run nothing"
grep -E '\.so\.|/man/|bin/trommel$' dev.txt && fail "these are for running"
quietly runtime/bin/trommel --version
rm -r runtime dev
echo "ok components runtime and dev"

# A static library shares its names with its user, who may have a gl_draw too.
for archive in $(find "$prefix" -name 'libtrommel*.a'); do
    names=$(nm -g --defined-only "$archive" 2>/dev/null | awk 'NF == 3 { print $3 }')
    [ "$(echo "$names" | wc -l)" -gt 50 ] || fail "$archive defines nothing"
    ! echo "$names" | grep -v '^tml_' || fail "$archive defines these, without the library's prefix"
done
echo "ok static libraries define tml_ names alone"

library=$(dirname "$(find "$prefix" -name trommel.pc)")/..
PKG_CONFIG_PATH=$library/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH

# All examples, if so asked, against static libraries; some of them against shared ones.
some="hello_compact user_kernel own_job_system volume_to_mesh"
for shared in OFF ON; do
    quietly cmake -S "$examples" -B "$work/package-$shared" -DCMAKE_PREFIX_PATH="$prefix" \
        -DBUILD_SHARED_LIBS=$shared -DCMAKE_C_COMPILER="$CC"
    if [ $shared = OFF ] && [ "$all" ]; then
        quietly cmake --build "$work/package-$shared"
        quietly ctest --test-dir "$work/package-$shared" --output-on-failure
    else
        # shellcheck disable=SC2086  # names are words
        quietly cmake --build "$work/package-$shared" --target $some
        quietly ctest --test-dir "$work/package-$shared" --output-on-failure -R "example_($(echo $some | tr ' ' '|'))\$"
        grep -q 'tests passed, 0 tests failed out of 4' "$work/log" || fail "examples with shared libraries"
    fi
    echo "ok find_package, BUILD_SHARED_LIBS=$shared"
done

# The core asks for nothing of io's, and io says what it has not found.
mkdir core
cat >core/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(core LANGUAGES C)
foreach(package ZLIB PNG JPEG BZip2 TIFF EXPAT PkgConfig)
    set(CMAKE_DISABLE_FIND_PACKAGE_${package} ON)
endforeach()
find_package(Trommel REQUIRED COMPONENTS ${components} OPTIONAL_COMPONENTS ${optional})
if(TARGET Trommel::io)
    message(FATAL_ERROR "io is there without its libraries")
endif()
add_executable(core ${source})
target_link_libraries(core PRIVATE Trommel::trommel)
END
# package LOG COMPONENTS OPTIONAL: configures that project.
package() {
    rm -rf core/build
    cmake -S core -B core/build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" \
        -Dsource="$examples/hello_compact.c" -Dcomponents="$2" -Doptional="$3" >"$1" 2>&1
}
if package refusal "core;io" "" || package refusal "" ""; then
    fail "io is found without its libraries"
fi
grep -q 'component io needs what was not found: ZLIB' refusal || { cat refusal; fail "io does not say why"; }
rm -rf core/build
if cmake -S core -B core/build -DTrommel_DIR="$(realpath "$build")" -Dcomponents=core >refusal 2>&1; then
    fail "a build's folder is taken for an installation"
fi
tr -s '\n ' ' ' <refusal | grep -q "is the folder of a build: install it (cmake --install" ||
    { cat refusal; fail "a build's folder does not say what to do"; }
quietly package log core ""
quietly package log core io
quietly cmake --build core/build
quietly core/build/core
echo "ok find_package, core alone"

if readelf -d "$work/package-OFF/hello_compact" | grep -q libtrommel; then
    fail "the static package links the shared library"
fi
readelf -d "$work/package-ON/hello_compact" | grep -q 'libtrommel\.so\.[0-9.]*\]' ||
    fail "the shared package links no versioned library"

# Those with <trommel/vulkan.h> or <trommel/gl.h> need more than a compiler.
for source in "$examples"/*.c; do
    grep -Eq "trommel/(vulkan|gl).h" "$source" && continue
    name=$(basename "$source" .c)
    case "$all $some " in " "*" $name "* | all*) ;; *) continue ;; esac
    # shellcheck disable=SC2046  # flags are words
    quietly "$CC" -std=c17 "$source" $(pkg-config --cflags --libs trommel-io) -pthread -o "$name"
    quietly env LD_LIBRARY_PATH="$library" "./$name"
    # shellcheck disable=SC2046
    quietly "$CC" -std=c17 "$source" -o "$name" $(pkg-config --static --cflags --libs trommel-io |
        sed 's/-l\(trommel[-a-z]*\)/-l:lib\1.a/g')
    quietly "./$name"
done
echo "ok pkg-config, shared and static"

# Nothing but the public interface leaves the shared libraries.
for so in "$library"/libtrommel*.so; do
    if nm -D --defined-only "$so" | grep -v ' tml_'; then
        fail "$so exports names of its own"
    fi
done
echo "ok exported names"

if command -v c++ >/dev/null; then
    cat >header.cpp <<'END'
#include <trommel/trommel.h>
#include <trommel/pictures.h>
#include <trommel/points.h>
#include <trommel/volumes.h>

#include <trommel/kernel_begin.h>
TML_KERNEL(bool, in_range, (float x, int i), { return abs(x) < 1.0f && min(i, 3) > 0; })
#include <trommel/kernel_end.h>

int main()
{
    const tml_kernel *kernel = TML_USE(in_range);
    return kernel->param_count == 2 ? 0 : 1;
}
END
    # shellcheck disable=SC2046
    quietly c++ -std=c++11 -Wall -Wextra -Werror -Wno-unused-function $(pkg-config --cflags trommel) \
        header.cpp -o header
    quietly ./header
    echo "ok C++"
else
    echo "skip C++: no compiler"
fi

"$prefix/bin/trommel" --version >/dev/null || fail "the installed command does not run"
[ -s "$prefix/share/man/man1/trommel.1" ] || fail "no man page"
for command in $("$prefix/bin/trommel" help | sed -n '/^Commands:/,$s/^  \([a-z]*\) .*/\1/p'); do
    page=$prefix/share/man/man1/trommel-$command.1
    [ -s "$page" ] || fail "no man page of $command"
    "$prefix/bin/trommel" --man "$command" | cmp - "$page" || fail "$page is not what --man prints"
    if command -v man >/dev/null; then
        quietly man --warnings -l "$page"
    fi
done
echo "ok command"
