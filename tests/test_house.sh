#!/bin/sh
# test_house.sh SOURCE [ARCHIVE]: who may know whom in src. Read from the #include lines of C and GLSL and,
# since a table offends without an include, from what the objects of the static library refer to.
#
#   core        itself; context.c alone names the engines
#   stream      core; of an engine its parts by name (STREAM_OP)
#   kernels     itself: formulas
#   exact       kernels
#   gpu         kernels
#   an engine   (cpu, vulkan, gl, gl_float) core, kernels, gpu; no other engine and no program.
#               gl and gl_float stand on gl/device, which knows neither. It has one toolkit for programs
#   a program   core, stream, kernels; of another program, one of those that it may use (uses), a header that that
#               publishes; its parts by its table alone (image_parts.c)
#   its part    (image/vulkan) the program, its gpu folder, core, kernels, gpu; of the engine the toolkit
#               (vulkan/vulkan_parts.h), in shaders what the engine's shaders include
#   io          kernels; its folders io, and what reads the same files (uses); recipes all of them
#   cli         its folders as in uses; commands know all of them, and nobody knows a command
#
# No static function's name is defined in more than four files of src: a trace, a grep and a profile tell them apart.
#
# Each call that promises never to wait is counted by test_waits: the operations of stream.h and image.h, and *_enqueue.
#
# Also the option tables: their conditions name options that there are. And the documents: every relative link in a *.md leads to a file, and to a heading of it; docs/json.md has every
# field that the commands print, and the README's lines of C compile; its program is an example.
set -eu
source=$(realpath "$1")
archive=${2:+$(realpath "$2")}
cd "$source"
offences=0
for call in $({
    sed -n 's/^TML_API TML_MUST_CHECK tml_status \(tml_[a-z_]*\)(tml_context \*tml, *const tml_[a-z_]*_desc \*desc.*/\1/p' \
        include/trommel/stream.h
    cat include/trommel/*.h | tr '\n' ' ' | grep -oE 'tml_status +tml_(image_(measure|expose|tonemap|mips)|[a-z_]*_enqueue)\(' |
        sed 's/.*\(tml_[a-z_]*\)(/\1/'
} | sort -u); do
    grep -q "\"$call\"" tests/test_waits.c || { echo "FAIL $call is not in test_waits"; offences=1; }
done
# The documents' links, as "file target", and their headings, as "file#anchor" by GitHub's rule.
links=$(mktemp)
trap 'rm -f "$links"' EXIT
find . -name '*.md' -not -path './build/*' -not -path '*/node_modules/*' | while read -r file; do
    awk -v file="$file" '
    /^ *```/ { is_code = !is_code }
    is_code || /^    [^ *-]/ { next }
    /^#+ / {
        anchor = tolower($0)
        sub(/^#+ /, "", anchor)
        gsub(/[^a-z0-9_ -]/, "", anchor)
        gsub(/ /, "-", anchor)
        print "heading " file "#" anchor
    }
    {
        gsub(/`[^`]*`/, "")
        while (match($0, /\]\([^)]*\)/)) {
            print "link " file " " substr($0, RSTART + 2, RLENGTH - 3)
            $0 = substr($0, RSTART + RLENGTH)
        }
    }' "$file"
done >"$links"
[ "$(grep -c '^link ' "$links")" -gt 50 ] || { echo "FAIL the documents' links were not found"; exit 1; }
while read -r kind file target; do
    case $kind:$target in heading:* | link:http*) continue ;; esac
    path=${target%%#*}
    anchor=${target#"$path"}
    path=${path:+$(dirname "$file")/$path}
    path=$(realpath -m --relative-to=. "${path:-$file}")
    [ -e "$path" ] && { [ -z "$anchor" ] || grep -Fqx "heading ./$path$anchor" "$links"; } ||
        { echo "FAIL $file links to $target, which is not there"; offences=1; }
done <"$links"
# A function of JavaScript has a name that no C function has: the linker takes one for the other without a word.
js_functions=$(grep -rhoE '^EM_JS\([^,]+, [a-z_0-9]+' src packages/trommel/src | sed 's/.* //')
[ -n "$js_functions" ] || { echo "FAIL no functions of JavaScript were found"; exit 1; }
for name in $js_functions; do
    if grep -rnE "^[a-z].*[ *]$name\(" --include='*.[ch]' src packages/trommel/src; then
        echo "FAIL $name() is a function of C, and of JavaScript by EM_JS"
        offences=1
    fi
done
# Cells have the same colours in the command and on the page.
palette() { grep -oE "$1[0-9]+, [0-9]+, [0-9]+" "$2" | head -6 | tr -dc '0-9,\n'; }
[ "$(palette '\{' cli/draw/cells.c | sort -u | wc -l)" = 6 ] && [ "$(palette '\{' cli/draw/cells.c)" = "$(palette '\[' web/lib/cell_colors.js)" ] ||
    { echo "FAIL the colours of cli/draw/cells.c and web/lib/cell_colors.js differ"; offences=1; }
# "make help" shows each target that says what it is for.
targets=$(grep -c '^[^	#][^:=]*:[^=].*## ' Makefile)
[ "$(make -s help | grep -c '^  make ')" = "$targets" ] ||
    { echo "FAIL make help does not show all $targets targets"; offences=1; }
fields=$({
    grep -hoE 'json_[a-z]+\([^"]*, "[a-z_0-9]+"|(field_[a-z]+|tell_share)\("[a-z_0-9]+"' cli/*.c cli/*/*.c bench/*.c |
        grep -vE 'field_(line|heading)'
    grep -hoE '(BENCH_COLUMN\(|\.key = )"[a-z_0-9]+"' bench/*.[ch]
} | sed 's/.*"\(.*\)"/\1/' | sort -u)
[ "$(echo "$fields" | wc -l)" -gt 100 ] || { echo "FAIL the JSON's fields were not found"; exit 1; }
for field in $fields; do
    grep -qE "([\`.{\"]|^)$field([\`.[\"]|$)" docs/json.md ||
        { echo "FAIL docs/json.md does not have $field"; offences=1; }
done
# The conditions of an option table name options of the same file, of a header's macro, or of all commands: what a
# command lacks says nothing, and so would a misspelt name. Prints "terms N", and what is wrong.
check_terms() {
    for file; do
        tr '\n' ' ' <"$file" | sed "s,^,$file ,"
        echo
    done | awk '
    function shared(file) { return file ~ /\.h$|\/shared_options\.c$/ }
    {
        file = $1
        text = $0
        while (match(text, /\{ *OPT_[A-Z]+, *"[a-z0-9-]+"|FOLD_OPTION\([A-Z_]+, *"[a-z]+"/)) {
            name = substr(text, RSTART, RLENGTH - 1)
            sub(/.*"/, "", name)
            known[shared(file) ? "" : file, name] = anywhere[name] = 1
            text = substr(text, RSTART + RLENGTH)
        }
        while (match($0, /(\.(needs|excludes) = |define ADAPTIVE +)"[^"]*"/)) {
            terms[++count] = substr($0, RSTART, RLENGTH - 1)
            sub(/.*"/, "", terms[count])
            places[count] = file
            $0 = substr($0, RSTART + RLENGTH)
        }
    }
    END {
        for (i = 1; i <= count; i++) {
            n = split(terms[i], parts, /[| ]/)
            for (k = 1; k <= n; k++) {
                sub(/=.*/, "", parts[k])
                if (!(((places[i], parts[k]) in known) || (("", parts[k]) in known) ||
                      (shared(places[i]) && parts[k] in anywhere)))
                    print "FAIL " places[i] " has a condition on --" parts[k] ", which is no option"
            }
        }
        print "terms " count
    }'
}
printf '{OPT_FLAG, "png"}, {OPT_FLAG, "view", .needs = "png|pgn", .excludes = "view=*,*"}' >"$links"
check_terms "$links" | grep -q 'FAIL .* --pgn,' || { echo "FAIL a misspelt condition is not found"; offences=1; }
conditions=$(check_terms cli/*.[ch] cli/*/*.[ch] bench/*.[ch])
case $conditions in *FAIL*) offences=1 && echo "$conditions" ;; esac
[ "${conditions##*terms }" -gt 50 ] || { echo "FAIL the conditions of options were not found: $conditions"; offences=1; }
block() { awk -v n="$1" '/^```c$/ { is_code = ++count == n; next } /^```/ { is_code = 0 } is_code' README.md; }
{
    for header in include/trommel/*.h; do
        case $header in *kernel_* | *testing* | *vulkan*) ;; *) echo "#include <${header#include/}>" ;; esac
    done
    printf '#include <stdio.h>\nvoid first(void)\n{\n'
    block 1
    echo '}'
} | ${CC:-cc} -std=c17 -fsyntax-only -Wall -Wextra -Werror -Iinclude -x c - ||
    { echo "FAIL the README's first lines of C do not compile"; offences=1; }
block 2 >"$links"
sed -e '1,/\*\/$/d' -e 's/return count == .*;/return 0;/' examples/hello_compact.c | diff "$links" - ||
    { echo "FAIL the README's first program is not examples/hello_compact.c"; offences=1; }
# The picture of the flow is what its script draws.
! command -v python3 >/dev/null || python3 scripts/draw_flow.py | cmp - docs/images/flow.svg ||
    { echo "FAIL docs/images/flow.svg is not what scripts/draw_flow.py draws"; offences=1; }
cd src
published='exact/exact.h exact/exact_signs.h field/field_slabs.h labels/labels_slabs.h mesh/mesh_arrays.h
    surface/slab_producer.h surface/surface_calls.h tree/tree_nodes.h'
{
    find . -type f | sed 's,^\./,file ,'
    (cd .. && find cli -name '*.[ch]') | sed 's,^,cli_file ,'
    grep -rE '^[[:space:]]*#[[:space:]]*include "' . |
        sed 's,^\./\([^:]*\):.*include "\([^"]*\)".*,include \1 \2,'
    (cd .. && grep -rE '^[[:space:]]*#[[:space:]]*include "' cli) |
        sed 's,^\([^:]*\):.*include "\([^"]*\)".*,cli_include \1 \2,'
    # shellcheck disable=SC2086  # names are words
    grep -oE '[a-z]+_[a-z_0-9]+\(' $published | sed 's,\(.*\):\(.*\)(,published \1 \2,'
    grep -rE '^static .*\(' --include='*.[ch]' . | grep -vE ';$|^[^(]*=|__attribute__' |
        sed -nE 's,^\./([^:]*):static [^(]*[ *]([A-Za-z_0-9]+)\(.*,static \2 \1,p' | sort -u
    if [ -n "$archive" ] && command -v nm >/dev/null; then
        nm -A "$archive" 2>/dev/null | sed -n 's,^[^:]*:\([^:]*\)\.o:.* \([A-Z]\) \([A-Za-z_0-9]*\)$,symbol \1 \2 \3,p'
    fi
} | awk '
BEGIN {
    # Which program may use which, of folders of io and the command which may use which.
    n = split("collide>tree collide>exact tree>exact surface>field surface>mesh surface>labels labels>surface " \
              "io/points>io/vtk io/meshes>io/vtk io/meshes>io/points io/volumes>io/vtk io/recipes>io/meshes " \
              "io/recipes>io/points io/recipes>io/volumes io/points>io io/vtk>io io/meshes>io io/volumes>io " \
              "io/pictures>io io/recipes>io " \
              "cli>cli/options cli>cli/report cli/options>cli cli/report>cli cli/draw>cli cli/draw>cli/options " \
              "cli/draw>cli/report cli/mpi>cli cli/commands>cli cli/commands>cli/draw cli/commands>cli/report " \
              "cli/commands>cli/options", all, " ")
    for (i = 1; i <= n; i++) uses[all[i]] = 1
}
function room_of(path) {
    sub(/\/?[^\/]*$/, "", path)
    sub(/\/shaders$/, "", path)
    return path
}
function base(path) { sub(/.*\//, "", path); return path }
function top(room) { sub(/\/.*/, "", room); return room }
function is_engine(room) { return room ~ /^(cpu|vulkan|gl|gl\/device|gl_float)$/ }
function is_program(room) { return top(room) ~ /^(surface|labels|mesh|field|image|tree|collide|subdivide)$/ }
# May a file of the room know what is in the other room?
function may(from, to,   engine) {
    if (from == to) return 1
    if (is_engine(from))
        return to ~ /^(core|kernels|gpu)$/ || (from ~ /^gl/ && to == "gl/device" )
    if (!is_program(from)) {
        if (top(from) == "io") return to == "kernels" || (from ">" to) in uses
        if (from == "gpu" || from == "exact") return to == "kernels"
        return from == "stream" && to == "core"
    }
    if (to ~ /^(core|stream|kernels)$/) return 1
    if (from !~ /\//) return 0
    engine = base(from)
    if (to == top(from) || to == top(from) "/gpu" || to == "gpu") return 1
    return to == engine || (engine ~ /^gl/ && to == "gl/device")
}
# What another program, or exact, publishes.
function may_use(from, to) { return (top(from) ">" top(to)) in uses }
function is_other(from, to) { return is_program(from) && (is_program(to) || to == "exact") && top(to) != top(from) }
function offends(file, what) { print "FAIL " file " knows " what; bad++ }
# The room of what the build makes, or "".
function generated(name,   room) {
    if (name == "surface_tables.k.h" || name == "surface_topology_tables.h" || name == "kernel_glue.glsl") return "kernels"
    if (name ~ /_(library|own_kernels)(\.[hc])?$/) { sub(/_.*/, "", name); return name }
    for (room in shader_rooms) {
        header = room "_shaders.h"
        gsub(/\//, "_", header)
        if (header == name) return room
    }
    return ""
}
$1 == "file" {
    if (base($2) in path) offends($2, "the name of " path[base($2)])
    path[base($2)] = $2
    if ($2 ~ /\/shaders\//) shader_rooms[room_of($2)] = 1
    if (is_engine(room_of($2)) && $2 ~ /_parts\.h$/ && toolkits[room_of($2)]++)
        offends($2, "another toolkit of the engine: a program includes one header of it")
}
$1 == "cli_file" { in_cli[$2] = 1 }
$1 == "cli_include" {
    from = room_of($2)
    to = room_of("cli/" $3)
    if (("cli/" $3) in in_cli && from != to && !((from ">" to) in uses)) offends($2, "\"" $3 "\"")
    if ($3 !~ /^\.\.\/src\// && !(("cli/" $3) in in_cli)) offends($2, "\"" $3 "\", which is not in cli")
    cli_count++
}
$1 == "include" { includes[++include_count] = $2 " " $3 }
$1 == "published" { published[$3] = publishes[$2] = 1; published_count++ }
$1 == "static" { definers[$2] = definers[$2] " " $3; definer_count[$2]++; static_count++ }
$1 == "symbol" {
    if ($3 == "U") needs[++use_count] = $2 " " $4
    else if (!($4 in definer)) definer[$4] = $2
}
END {
    for (i = 1; i <= include_count; i++) {
        split(includes[i], pair, " ")
        from = room_of(pair[1])
        name = base(pair[2])
        to = name in path ? room_of(path[name]) : generated(name)
        if (to == "") offends(pair[1], "\"" pair[2] "\", which is in no room")
        else if (from == to) continue
        else if (is_other(from, to)) {
            if (!may_use(from, to) || !(path[name] in publishes) || name == "exact_signs.h")
                offends(pair[1], "\"" pair[2] "\"")
        } else if (!may(from, to)) offends(pair[1], "\"" pair[2] "\"")
        else if (is_program(from) && is_engine(to) && pair[1] ~ /\.[ch]$/ && name !~ /_parts\.h$/)
            offends(pair[1], "more of the engine than its toolkit: " pair[2])
    }
    for (i = 1; i <= use_count; i++) {
        split(needs[i], pair, " ")
        if (!(pair[1] in path) || !(pair[2] in definer)) continue
        file = path[pair[1]]
        from = room_of(file)
        name = definer[pair[2]]
        if (pair[2] ~ /^vk_shader_/) name = substr(pair[2], 11) ".comp"
        if (pair[2] ~ /^gl_shader_/) name = substr(pair[2], 11) ".frag"
        to = name in path ? room_of(path[name]) : generated(name)
        if (to == "" || (file == "core/context.c" && is_engine(to))) continue
        if (from == "stream" && is_engine(to) && pair[2] ~ /_op_/) continue
        if (is_other(from, to)) {
            if (pair[2] !~ /^tml_/ && !(may_use(from, to) && pair[2] in published)) offends(file, pair[2] " of " name)
        } else if (!may(from, to) && !(file ~ /_parts\.c$/ && top(to) == from))
            offends(file, pair[2] " of " name)
    }
    for (name in definer_count)
        if (definer_count[name] > 4) {
            print "FAIL static " name "() is defined in more than four files:" definers[name]
            bad++
        }
    if (include_count < 1000 || cli_count < 100 || static_count < 1000 || published_count < 50)
        offends("test_house.sh", "too little: " include_count ", " cli_count ", " static_count ", " published_count)
    print include_count " includes, " cli_count " of the command, " static_count " static functions, " \
          use_count + 0 " symbols: " bad + 0 " offend"
    exit bad > 0
}' && exit $offences
