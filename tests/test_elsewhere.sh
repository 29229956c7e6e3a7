#!/bin/sh
# test_elsewhere.sh COMMAND DATA PROGRAM...: the command of another machine, run by PROGRAM..., does what COMMAND, this
# machine's, does: the same files, the same exit codes, the same errors.
set -eu
here=$1
data=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/here" "$work/there" "$work/cache"
export XDG_CACHE_HOME="$work/cache" LC_ALL=C.UTF-8
passed=0
failed=0

fail() { echo "FAIL $*"; failed=$((failed + 1)); }

# ours ARGUMENT..., theirs ARGUMENT...: in their own folders; exit codes and errors in files.
ours() { (cd "$work/here" && code=0 && "$here" "$@" >stdout 2>stderr || code=$?; echo ${code:-0} >code); }
theirs() {
    (cd "$work/there" && code=0 && run "$@" >stdout 2>stderr || code=$?; echo ${code:-0} >code)
}
run() { eval "$program \"\$@\""; }
program=$(printf "'%s' " "$@")

# What differs for good reasons: times, memory, and characters that a machine without locales does not show.
normal() { sed -E -e 's/^wine:.*//; s/\r//' -e '/^  (time|speed|memory|histogram|steps)  /d; /^ *"(seconds|[a-z_]*memory[a-z_]*)"/d' -e '/^$/d' "$1"; }

# same FILE FILE: byte by byte; where a machine writes numbers in its own order, as this machine reads them.
same() {
    cmp -s "$1" "$2" && return 0
    case $1 in
    *.nrrd | *.pfm)
        "$here" info --json "$1" | normal - | grep -v file_bytes >"$work/a"
        "$here" info --json "$2" | normal - | sed "s|$2|$1|" | grep -v file_bytes >"$work/b" ;;
    *.npy)
        "$here" sort --backend cpu "$1" -o "$work/a.npy" >/dev/null
        "$here" sort --backend cpu "$2" -o "$work/b.npy" >/dev/null
        cmp "$work/a.npy" "$work/b.npy"
        return ;;
    *) cmp "$1" "$2"; return ;;
    esac
    diff "$work/a" "$work/b"
}

# alike CODE ARGUMENT...: both; their files, their exit codes, their messages.
alike() {
    expected=$1
    shift
    ours "$@"
    theirs "$@"
    before=$failed
    [ "$(cat "$work/here/code")" = $expected ] || fail "$*: $(cat "$work/here/stderr")"
    for file in "$work"/here/*; do
        name=${file##*/}
        case $name in
        stdout | stderr | code)
            normal "$file" >"$work/a"
            normal "$work/there/$name" >"$work/b"
            diff "$work/a" "$work/b" || fail "$*: $name" ;;
        *) same "$file" "$work/there/$name" || fail "$*: $name" ;;
        esac
    done
    [ "$(ls "$work/here")" = "$(ls "$work/there")" ] || fail "$*: other files: $(ls "$work/here" "$work/there")"
    [ $failed -gt $before ] || passed=$((passed + 1))
}

cp "$data/engine_256x256x128_uint8.raw.gz" "$data/dam_break_4732.vtk" "$data/points/bunny397.pcd" \
    "$data/pictures/image1_128x85.hdr" "$data/volumes/ct_lung_small.mha" "$work/here"
gzip -dc "$work/here/engine_256x256x128_uint8.raw.gz" >"$work/here/plain_256x256x128_uint8.raw"
cp "$work"/here/* "$work/there"
engine=engine_256x256x128_uint8.raw.gz

alike 0 --version
alike 0 help
alike 0 surface --help all
alike 0 info $engine
alike 0 info dam_break_4732.vtk
alike 0 surface $engine --backend cpu --iso 100 -o whole.ply
alike 0 surface $engine --backend cpu --iso 60,100 --caps --normals sobel -o caps.vtp
alike 0 surface plain_256x256x128_uint8.raw --backend cpu --iso 100 -o replaced.stl
alike 0 surface plain_256x256x128_uint8.raw --backend cpu --iso 60 -o replaced.stl
alike 0 surface $engine --slabs 20 --iso 100 --largest -o slabs.glb
alike 0 surface dam_break_4732.vtk --backend cpu --resolution 48 -o points.obj
alike 0 surface bunny397.pcd --backend cpu -o "Häuser Ωλ.ply"
alike 0 info "Häuser Ωλ.ply"
alike 0 convert ct_lung_small.mha -o lung.nrrd
alike 0 convert ct_lung_small.mha -o lung.raw
alike 0 index plain_256x256x128_uint8.raw -o plain.tmx
alike 0 surface plain_256x256x128_uint8.raw --index plain.tmx --iso 100 -o indexed.ply
alike 0 exposure image1_128x85.hdr --backend cpu -o exposed.pfm
alike 0 mips image1_128x85.hdr --backend cpu -o mips.hdr

alike 0 subdivide points.obj --levels 1 --backend cpu -o fine.ply
alike 0 collide fine.ply points.obj --backend cpu
alike 0 compact plain_256x256x128_uint8.raw --crossed 200 --backend cpu -o cells.npy
alike 0 sort cells.npy --descending --backend cpu -o sorted.npy
alike 1 surface nowhere.nrrd -o none.ply
alike 1 surface $engine --iso 900 --backend cpu -o none.ply
alike 1 surface $engine --iso 100 -o nowhere/none.ply
alike 2 surface $engine --iso 100 -o $engine
alike 2 surface dam_break_4732.vtk --radius

# Standard input and output, in bytes.
for how in "<ct_lung_small.mha" "<dam_break_4732.vtk"; do
    (cd "$work/here" && eval "\"\$here\" info - --json $how >stdout 2>stderr") || fail "info - here"
    (cd "$work/there" && eval "run info - --json $how >stdout 2>stderr") || fail "info - there"
    diff "$work/here/stdout" "$work/there/stdout" && passed=$((passed + 1)) || fail "info - $how"
done
(cd "$work/here" && gzip -dc $engine | "$here" surface $engine --backend cpu --iso 100 -o -.ply >whole.ply 2>/dev/null)
(cd "$work/there" && run surface $engine --backend cpu --iso 100 -o -.ply >whole.ply 2>/dev/null)
cmp "$work/here/whole.ply" "$work/there/whole.ply" && passed=$((passed + 1)) || fail "surface -o -.ply"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
