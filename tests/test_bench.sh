#!/bin/sh
# test_bench.sh FOLDER SOURCE [compare]: trommel-bench, which is in FOLDER beside trommel: every row of every command on
# small inputs, what bounds a run and what ends one; and with compare, scripts/compare-outputs.
set -eu
folder=$(realpath "$1")
source=$(realpath "$2")
bench=$folder/trommel-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
TMPDIR=$work
export TMPDIR
checks=0
fail() {
    echo "FAIL $*"
    cat out err 2>/dev/null || true
    exit 1
}
# expect CODE ROWS WORD...: so many lines with a median, none without a number.
expect() {
    code=$1 rows=$2
    shift 2
    got=0
    "$bench" "$@" --threads 2 >out 2>err || got=$?
    [ $got = "$code" ] || fail "trommel-bench $*: exits with $got, needs $code"
    count=$(sed -e '/^not run/d' -e '/^\.\.\. by /d' -e '1,/ min ms\|cold ms\|integer ms/d' out | grep -cE '^[^ ].* [0-9.e+-]+( |$)' || true)
    [ "$count" = "$rows" ] || fail "trommel-bench $*: $count rows, needs $rows"
    checks=$((checks + 1))
}
# Beside the library's chain the driver's, and how far both are off.
has_chains() {
    grep -qE '^mip chain, 33 x 17 f16 .* [0-9.e-]+ +-?[0-9.e-]+ +-?[0-9.e-]+$' out || fail "the driver's mip chain"
}
expect 0 36 streams --count 10007 --repeats 1 --backend cpu
expect 0 4 streams scan reduce --keep 3 --count 10000 --repeats 1 --backend cpu partition unique
expect 0 1 streams histogram --type u8 --count 10000 --repeats 1 --backend cpu
expect 0 1 streams histogram --type u16 --count 10000 --repeats 1 --backend cpu
expect 0 4 streams histogram --bins 300,70000 --count 100000 --repeats 1 --backend cpu
expect 2 0 streams histogram --bins 0
expect 2 0 streams scan --bins 256
expect 0 1 streams sort --type f64 --count 10000 --repeats 1 --backend cpu
expect 0 2 streams top_k --type f32 --count 400000 --repeats 1 --backend cpu
expect 0 4 streams sort pairs --count 70000 --repeats 1 --backend cpu
expect 0 3 surface --side 17 --repeats 1 --backend cpu
grep -q 'central normals' out || fail "the command's default normals have no row"
expect 0 5 surface --trilinear --smooth 3 --side 17 --repeats 1 --backend cpu
expect 0 1 surface --points 900 --side 20 --repeats 1 --backend cpu
for fluid in basin river; do
    expect 0 2 surface --points 3000 --fluid $fluid --repeats 1 --backend cpu
done
expect 2 0 surface --fluid river
expect 0 2 surface --labels 30 --side 37 --repeats 1 --backend cpu
expect 0 15 surface noise sphere gyroid marschner-lobb metaballs --normals none --sweep --side 9 --repeats 1 --backend cpu --type u8
expect 0 18 image --size 33x17 --repeats 1 --backend cpu
if "$folder/trommel" devices | grep -q ' vulkan '; then
    expect 0 20 image --size 33x17 --repeats 1 --backend vulkan
    expect 0 8 image --size 1x1 --repeats 1 --backend vulkan --type f16
    grep -q 'log mean of an image' out || fail "images have no row"
    expect 0 9 image --size 33x17 --repeats 1 --backend vulkan --type f16
    has_chains
else
    echo "no Vulkan device: images of one are skipped"
fi
expect 0 29 collide --triangles 500 --rays 3000 --balls 500 --repeats 1 --backend cpu
expect 0 6 subdivide --levels 1 --repeats 1 --backend cpu
expect 0 12 files --side 24 --repeats 1 --backend cpu
expect 2 0 paths --backend cpu
expect 2 0 paths --count 17M
if "$folder/trommel" devices | grep -q 'OpenGL ES'; then
    expect 0 8 image --size 33x17 --repeats 1 --backend gl --type f16
    has_chains
    expect 0 5 paths --count 1000 --side 9 --repeats 1
    [ "$(grep -c ' -$\| - ' out)" = 0 ] || fail "paths: a path was not measured"
    expect 0 5 paths --count 1000 --side 9 --repeats 1 --gl-path packed
else
    echo "skipped: paths (no OpenGL ES device)"
fi
[ -z "$(ls -d trommel-bench-* 2>/dev/null)" ] || fail "files leaves its folder"

# Usage: an option that does not apply, and what is no operation or field.
expect 2 0 streams merge
expect 2 0 streams pairs --type f32
expect 2 0 streams scan --keep 10
expect 2 0 streams compact --type f32
expect 2 0 surface cube
expect 2 0 surface --input volume.nrrd
expect 2 0 bench
expect 1 0 files --command "$work/nothing"

# Rows that are not run are named; JSON is whole.
expect 0 0 streams --count 1000 --seconds 0.000001 --backend cpu
grep -q '^not run (the seconds were over): copy; .*; histogram; sort; pairs; segment_sort, 8; .*; expand$' out || fail "rows that were not run"
"$bench" collide --seconds 0.000001 --json --backend cpu >out 2>err || fail "a run whose seconds were over"
tr -d ' \n' <out | grep -q '"rows":\[\],"not_run":\["buildatree",.*"distances,400posesinall"\]}$' || fail "JSON"

# An interrupted run keeps its rows. They appear as they are made.
for command in "streams --count 100000 --repeats 1000" "files --side 24 --repeats 5"; do
    "$bench" $command --backend cpu --threads 1 >out 2>err &
    pid=$!
    tries=0
    until grep -qE '^(copy|surface, f32 to PLY) ' out; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { kill $pid; fail "no row of $command appears"; }
        sleep 0.1
    done
    # A shell's child in the background ignores SIGINT until it asks for it, as trommel-bench does.
    kill -INT $pid
    got=0
    wait $pid || got=$?
    [ $got = 130 ] || fail "$command interrupted: exits with $got, needs 130"
    grep -q '^not run (interrupted): ' out || fail "$command interrupted: rows that were not run"
    [ -z "$(ls -d trommel-bench-* 2>/dev/null)" ] || fail "files leaves its folder"
    checks=$((checks + 1))
done

# A peer's times stand beside.
printf 'scan 10000 0 5.5\nunknown line\nsubdivide-first 16384 0 2\n' >peers.txt
expect 0 1 streams scan --count 10000 --repeats 1 --backend cpu --peers peers.txt
grep -q '^scan .* 5\.5 ' out || fail "a peer's time"
printf 'histogram 10000 16 5.5\nhistogram 10000 -16 7.5\n' >bins.txt
expect 0 2 streams histogram --bins 16 --count 10000 --repeats 1 --backend cpu --peers bins.txt
grep -q '^histogram, 16 bins .* 5\.5 ' out && grep -q '^histogram, one of 16 bins .* 7\.5 ' out || fail "a peer's times of bins"
expect 0 6 subdivide --levels 1 --repeats 1 --backend cpu --peers peers.txt
grep -q '^topology and positions .* 2  ' out || fail "a peer's time"

# The command says where it went.
got=0
"$folder/trommel" bench surface >out 2>err || got=$?
[ $got = 2 ] && grep -q 'trommel-bench' err || fail "trommel bench"

# The same program twice writes the same; one that spoils a file, or fails, is found.
if [ "${3:-}" = compare ]; then
    unset TML_DATA
    "$source/scripts/compare-outputs" "$folder/trommel" "$folder/trommel" >out 2>err || fail "compare-outputs"
    tail -n 1 out | grep -qE '^[45][0-9][0-9] passed, 0 failed$' || fail "compare-outputs counts too few"
    cat >spoils <<END
#!/bin/sh
"$folder/trommel" "\$@" || exit \$?
case " \$* " in
*" --flip "*) [ ! -e out.glb ] || echo >>out.glb ;;
*u2.npy*" --sum "*) exit 3 ;;
*i2.npy*" --sum "*) echo '  "sum": 0' ;;
esac
END
    cat >prints <<END
#!/bin/sh
case " \$* " in *" --sum "*) "$folder/trommel" "\$@" | sed 's/"max": /&1/' ;; *) "$folder/trommel" "\$@" ;; esac
END
    chmod +x spoils prints
    for case in "spoils:--flip:1:old/out.glb and new/out.glb differ" "spoils:--sum:2:exits with 3, was 0" \
        'prints:--sum:9:< max: '; do
        IFS=: read -r program only count text <<END
$case
END
        if TML_COMPARE_ONLY=$only "$source/scripts/compare-outputs" "$folder/trommel" ./$program >out 2>err; then
            fail "compare-outputs does not find what $program does"
        fi
        grep -q "$text" out || fail "compare-outputs does not say: $text"
        tail -n 1 out | grep -q " passed, $count failed$" || fail "compare-outputs finds not $count"
        checks=$((checks + 3))
    done
fi
echo "$checks checks"
