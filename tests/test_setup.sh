#!/bin/sh
# test_setup.sh SOURCE: scripts/setup and the Makefile over it, on machines that lack things: what they say, and what they
# give to apt-get. All that they could call stands in a folder, as programs that only take notes.
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/tree/build"
cp -r "$source/Makefile" "$source/CMakePresets.json" "$source/scripts" "$work/tree"
cd "$work/tree"

fail() { echo "FAIL $*"; cat "$work/out" "$work/notes" 2>/dev/null; exit 1; }

for tool in awk basename cat chmod cp date env expr gzip grep head mkdir mktemp rm sed sh sort tail tar tr; do
    ln -s "$(command -v $tool)" "$work/bin/$tool"
done
for tool in apt-config git make; do
    ! path=$(command -v $tool) || ln -s "$path" "$work/bin/$tool"
done
# stub NAME: a program of the lines on stdin.
stub() {
    { echo "#!$(command -v sh)"; cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
stub ninja </dev/null
stub cc </dev/null
stub id <<'END'
echo 0
END
stub cmake <<'END'
case $1 in
--version) echo "cmake version ${CMAKE_IS:-3.25.1}" ;;
--preset) echo "-- Trommel: no JPEG pictures (Debian: libjpeg62-turbo-dev)"
          mkdir -p build/$2 && touch build/$2/build.ninja build/$2/CMakeCache.txt ;;
esac
END
ln -s "$(command -v touch)" "$work/bin/touch"
stub pkg-config <<'END'
[ "$2" != "${LACKS:-}" ]
END
stub dpkg-query <<'END'
case " ${LACKS:-} " in
*" $4 "*) exit 1 ;;
*) echo "install ok installed" ;;
esac
END
stub apt-cache <<'END'
[ "$3" = "${UNKNOWN:-}" ] || echo "Package: $3"
END
stub apt-get <<END
echo "apt-get \$*" >>$work/notes
for argument; do
    [ "\$argument" = source ] || continue
    cat ./parts/* >$work/sources
    mkdir zlib-1 && echo >zlib-1/inflate.c && tar -czf zlib_1.orig.tar.gz zlib-1
    touch zlib_1.orig.tar.gz.asc
done
END

# runs STATUS PATTERN COMMAND...: it ends with that status, and says something like that.
runs() {
    status=$1
    pattern=$2
    shift 2
    rm -f "$work/notes"
    touch "$work/notes"
    got=0
    env PATH="$work/bin" CC=cc "$@" >"$work/out" 2>&1 || got=$?
    [ "$got" = "$status" ] || fail "$*: ended with $got, expected $status"
    [ -z "$pattern" ] || grep -q -- "$pattern" "$work/out" || fail "$*: does not say \"$pattern\""
}
silent() {
    runs 0 '' "$@"
    [ ! -s "$work/out" ] || fail "$*: says something"
}
installs() { grep -q -- "^apt-get install .*recommends $1\$" "$work/notes" || fail "does not install $1 alone"; }
installs_nothing() { [ ! -s "$work/notes" ] || fail "calls apt-get"; }

# --check: what a build needs, by commands and modules, whatever packages they came in.
silent scripts/setup --check
silent LACKS="libjsmn-dev chromium" scripts/setup --check
runs 1 ': zlib1g-dev$' LACKS=zlib scripts/setup --check
grep -q '"make setup" installs it' "$work/out" || fail "does not say how to install"
mv "$work/bin/ninja" "$work/ninja"
runs 1 ': ninja-build$' scripts/setup --check
mv "$work/ninja" "$work/bin/ninja"
runs 1 'CMake is 3.22.1, needs 3.25' CMAKE_IS=3.22.1 scripts/setup --check
silent CMAKE_IS=4.0.0 scripts/setup --check
runs 2 'unknown option --chec ' scripts/setup --chec
installs_nothing
echo "ok check"

# The lists.
mkdir -p build/zlib
touch build/zlib/inflate.c
silent scripts/setup --build --test --web --docs --lint --peers --cgal
installs_nothing
runs 0 '^Installing libjsmn-dev$' LACKS="libjsmn-dev doxygen chromium" scripts/setup --build
installs libjsmn-dev
runs 0 'libjsmn-dev is not in this machine' LACKS="libjsmn-dev libtiff-dev" UNKNOWN=libjsmn-dev \
    scripts/setup --build
installs libtiff-dev
runs 0 '' LACKS="libjsmn-dev doxygen chromium" scripts/setup --test
installs doxygen
runs 0 '' LACKS="libjsmn-dev doxygen chromium" scripts/setup --web
installs chromium
echo "ok lists"

# make build says what it goes without, and installs nothing; the commands that do everything install.
for script in demo test; do
    echo true >scripts/$script
done
if [ -e "$work/bin/make" ]; then
    runs 0 '^  no JPEG pictures (Debian: libjpeg62-turbo-dev)$' LACKS=libjpeg62-turbo-dev make build
    installs_nothing
    runs 2 ': zlib1g-dev$' LACKS=zlib make build
    installs_nothing
    runs 0 '^Installing libjpeg62-turbo-dev$' LACKS=libjpeg62-turbo-dev make setup
    [ ! -e build/release/CMakeCache.txt ] || fail "what was not found before stays so"
    runs 0 '^Configuring release$' LACKS=libjpeg62-turbo-dev make demo
    installs libjpeg62-turbo-dev
    runs 0 '' LACKS="clang chromium" make test
    installs clang
    runs 0 '' LACKS="clang chromium" make setup
    installs_nothing
    echo "ok make"
fi

# Source packages come from where the machine's packages come from.
if [ -e "$work/bin/apt-config" ]; then
    mkdir -p "$work/apt/parts"
    echo "Dir::Etc::sourcelist \"$work/apt/list.list\"; Dir::Etc::sourceparts \"$work/apt/parts\";" >"$work/apt/conf"
    printf '# deb mirror:/commented main\n  deb [arch=amd64 signed-by=/k.gpg] file:/one stable main extra\n' \
        >"$work/apt/list.list"
    printf 'Types: deb deb-src\nURIs: file:/two\nSuites: a b\nComponents: main\nSigned-By: /k.gpg\n' \
        >"$work/apt/parts/two.sources"
    echo 'deb file:/three stable main' >"$work/apt/parts/three.disabled"
    rm -rf build/zlib
    runs 0 "Fetching zlib's source" APT_CONFIG="$work/apt/conf" scripts/setup --web
    sort >"$work/expected" <<'END'
deb-src [arch=amd64 signed-by=/k.gpg] file:/one stable main extra
Types: deb-src
URIs: file:/two
Suites: a b
Components: main
Signed-By: /k.gpg
END
    sort "$work/sources" | cmp -s - "$work/expected" || { cat "$work/sources"; fail "other sources"; }
    [ -e build/zlib/inflate.c ] && [ ! -e build/sources ] || fail "no source of zlib"
    silent scripts/setup --web
    echo "ok sources"
fi
if grep -n '[a-z]://[a-z]' "$source"/Makefile "$source"/scripts/setup "$source"/cmake/*; then
    fail "a host's name stands in the tree"
fi
