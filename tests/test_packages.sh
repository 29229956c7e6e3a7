#!/bin/sh
# What package managers take is made of the last commit and complete: versions, names, nothing left to fill in.
# test_packages.sh SOURCE
set -eu
cd "$1"
if ! git rev-parse --verify -q HEAD >/dev/null; then
    echo "not a checkout of git: skipped"
    exit 77
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0
fail() {
    echo "FAIL $1"
    failed=1
}
version=$(sed -n 's/^project(trommel VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

TML_HOMEPAGE=https://trommel.example/home TML_MAINTAINER="A B <a@b.example>" scripts/packages --recipes "$out" ||
    fail "scripts/packages"
scripts/release --check || fail "the files that have the version or its date are not alike"
archive=$out/trommel_$version.orig.tar.gz
[ "$(git ls-files | wc -l)" = "$(tar tf "$archive" | grep -cv '/$')" ] || git status --porcelain | grep -q . ||
    fail "the archive has other files than the checkout"
filled="$out/vcpkg/vcpkg.json $out/vcpkg/portfile.cmake $out/conan/conanfile.py $out/homebrew/trommel.rb"
if command -v dpkg-source >/dev/null; then
    filled="$filled $out/trommel-$version/debian/control $out/trommel-$version/debian/changelog"
    [ -s "$out/trommel_$version-1.dsc" ] || fail "no source package"
    dpkg-parsechangelog -l "$out/trommel-$version/debian/changelog" -S Version | grep -qx "$version-1" ||
        fail "debian/changelog"
fi
for file in $filled; do
    grep -Hn '@[A-Z0-9]*@' "$file" && fail "$file: not filled in"
    grep -q "$version\|trommel${version%.*}" "$file" || fail "$file: not of $version"
    grep -q 'trommel\.example/home\|a@b\.example' "$file" || fail "$file: has no address"
done
python3 - "$out" <<'P' || fail "vcpkg.json or conanfile.py"
import ast, json, sys
port = json.load(open(sys.argv[1] + "/vcpkg/vcpkg.json"))
assert set(port["default-features"]) <= set(port["features"])
ast.parse(open(sys.argv[1] + "/conan/conanfile.py").read())
P
sum=$(sha256sum "$archive" | cut -d' ' -f1)
grep -q "$sum" "$out/conan/conanfile.py" && grep -q "$sum" "$out/homebrew/trommel.rb" || fail "the archive's sum"
if command -v ruby >/dev/null; then
    ruby -c "$out/homebrew/trommel.rb" >/dev/null || fail "trommel.rb"
fi
# The options that recipes set are options of the build.
for option in $(grep -ho 'TML_[A-Z_]*' $filled packages/debian/rules | sort -u); do
    grep -rqw "$option" CMakeLists.txt cmake/*.cmake || fail "$option is no option"
done
[ $failed = 0 ] && echo "ok recipes of $version"
exit $failed
