#!/bin/sh
# test_gl_indices.sh SOURCE GENERATED: no shader of OpenGL ES indexes a vector, a matrix or an array of these by a variable.
#
# NVIDIA's compiler for OpenGL ES gives wrong values for four[digit >> 2][digit & 3u], where four is a local array of vectors (driver 580, H200:
# top_k was wrong in 45 of 45 cases, and right with selects). Software drivers get it right, so the text is read here: every shader as the
# engine assembles it, of every library of kernels, and each kernel of the library's, the command's, the benchmark's, the examples' and the
# page's own sources.
#
# Allowed, since compilers turn these into plain registers or memory, and measured right on NVIDIA (sort, fold, surface):
#   v[2], four[3].x                      an index of numbers and of names in capitals, which are constants
#   for (int k = 0; k < 4; k++) v[k]     the index of a loop from constant to constant, and expressions of it and of constants
#   words[i], TABLE[i], params.m[i]      arrays of scalars by any index: local, in structs, constant tables, uniforms
# Refused: every other index of a name that is declared anywhere in the same text as a vector, a matrix or an array of these; of a
# function's result, f(x)[i]; of components, v.xyz[i]; and of a macro's parameter within the macro.
# In place of v[i]: tml_component (gl_common.glsl), or selects.
set -eu
source=$(realpath "$1")
generated=$(realpath "$2")
program=$(mktemp)
texts=$(mktemp -d)
trap 'rm -rf "$program" "$texts"' EXIT
cat >"$program" <<'AWK'
# Prints "LABEL: INDEXED[INDEX]" for each index that is refused in the text of standard input.
function is_name(t) { return t ~ /^[A-Za-z_]/ }
function is_type(t) { return t ~ /^(tml_)?[iub]?vec[234]$/ || t ~ /^mat[234](x[234])?$/ || t in alias }
# The token after the bracket that opens at token i.
function past(i, depth) {
    do {
        if (token[i] ~ /^[(\[{]$/) depth++
        if (token[i] ~ /^[)\]}]$/) depth--
        i++
    } while (depth > 0 && i <= count)
    return i
}
# The token after the statement that begins at i.
function past_statement(i) {
    if (token[i] == "for" || token[i] == "if" || token[i] == "while") return past_statement(past(i + 1))
    if (token[i] == "{") return past(i)
    while (i <= count && token[i] != ";") i = token[i] ~ /^[(\[{]$/ ? past(i) : i + 1
    return i + 1
}
# Are tokens [i, end) made of constants, and of loops' indices where these may be?
function is_constant(i, end, at) {
    for (; i < end; i++)
        if (is_name(token[i]) && token[i] !~ /^[A-Z][A-Z0-9_]*$/ && token[i] !~ /^u?int$/ && !(at && loop_end[token[i]] > at))
            return 0
    return 1
}
# The names that a declaration declares whose type is token i.
function declare(i) {
    i++
    if (token[i] == "[") i = past(i)
    while (is_name(token[i])) {
        if (token[i + 1] == "(" || token[i + 1] == "::") return # a function's result, or a constructor
        vector[token[i]] = 1
        i++
        while (i <= count && token[i] !~ /^[,;)}]$/) i = token[i] ~ /^[(\[{]$/ ? past(i) : i + 1
        # a comma leads to another name of the declaration, or to the next parameter
        if (token[i] != "," || !is_name(token[i + 1]) || is_name(token[i + 2])) return
        i++
    }
}
function offend(i, end, text, k) {
    for (k = i; k < end; k++) text = text token[k]
    k = text
    if (!(k in seen)) print label ": " text
    seen[k] = 1
}
{ text = text $0 "\n" }
END {
    gsub(/\001/, "", text)
    gsub(/\\\n/, " ", text)
    for (; (start = index(text, "/*")) > 0; text = substr(text, 1, start - 1) " " substr(text, start + 2 + length_of))
        length_of = index(substr(text, start + 2), "*/") + 1
    gsub(/\/\/[^\n]*/, "", text)
    # Macros: a type's other names; parameters that the body indexes. Other directives are no code.
    lines = split(text, line, "\n")
    text = ""
    for (n = 1; n <= lines; n++) {
        if (line[n] !~ /^[ \t]*#/) { text = text line[n] "\n"; continue }
        if (line[n] !~ /^[ \t]*#[ \t]*define/) continue
        sub(/^[ \t]*#[ \t]*define[ \t]+/, "", line[n])
        if (line[n] ~ /^[A-Za-z_0-9]+[ \t]+[a-z0-9_]+[ \t]*$/) {
            split(line[n], word, /[ \t]+/)
            if (is_type(word[2])) alias[word[1]] = 1
        }
        if (match(line[n], /^[A-Za-z_0-9]+\([^)]*\)/)) {
            parameters = substr(line[n], 1, RLENGTH)
            sub(/^[^(]*\(/, "", parameters)
            sub(/\)$/, "", parameters)
            body = substr(line[n], match(line[n], /\)/) + 1)
            many = split(parameters, parameter, /[ ,]+/)
            for (p = 1; p <= many; p++)
                if (match(" " body, "[^A-Za-z_0-9. \t][ \t]*" parameter[p] "\\[[^\\]]*[a-z][^\\]]*\\]([^(]|$)"))
                    print label ": a macro's " substr(" " body, RSTART + 1, RLENGTH - 1)
            text = text body "\n;\n"
        } else
            text = text substr(line[n], match(line[n], /[ \t]/) > 0 ? RSTART : 999999) "\n;\n"
    }
    count = 0
    while (text != "") {
        if (match(text, /^[ \t\n\r]+/)) { text = substr(text, RLENGTH + 1); continue }
        if (!match(text, /^[A-Za-z_][A-Za-z_0-9]*/) && !match(text, /^[0-9][A-Za-z_0-9.]*/)) RLENGTH = 1
        token[++count] = substr(text, 1, RLENGTH)
        text = substr(text, RLENGTH + 1)
        # long texts: the rest in pieces, since each cut copies it
        if (length(text) > 4000 && rest == "") {
            cut = index(substr(text, 3000), "\n")
            if (cut > 0) { rest = substr(text, 3000 + cut); text = substr(text, 1, 2999 + cut) }
        }
        if (text == "" && rest != "") {
            cut = index(substr(rest, 3000), "\n")
            text = cut > 0 ? substr(rest, 1, 2999 + cut) : rest
            rest = cut > 0 ? substr(rest, 3000 + cut) : ""
        }
    }
    for (i = 1; i <= count; i++)
        if (is_type(token[i])) declare(i)
    for (i = 1; i <= count; i++) {
        if (token[i] == "for" && token[i + 1] == "(") {
            # for (TYPE NAME = CONSTANT; NAME < CONSTANT; NAME++)
            for (a = i + 2; token[a] != ";" && a < i + 40; a++) ;
            for (b = a + 1; token[b] != ";" && b < a + 40; b++) ;
            if (token[i + 4] == "=" && is_constant(i + 5, a, 0) && token[a + 1] == token[i + 3] && is_constant(a + 2, b, 0))
                loop_end[token[i + 3]] = past_statement(past(i + 1))
        }
        if (token[i] != "[") continue
        # what is indexed: a name, components, a function's result, or another index
        before = token[i - 1]
        is_vector = before == "]" || before == ")" || (before in vector) ||
            (token[i - 2] == "." && before ~ /^[xyzwrgba]+$/ && length(before) <= 4)
        if (before == "]") { # another index, of what was a vector's array; TYPE[2](...) and NAME[2] = are none
            is_vector = last_vector
        }
        last_vector = is_vector
        is_declared = is_name(before) && (is_name(token[i - 2]) || is_type(before)) && token[i - 2] != "return"
        if (is_declared || !is_vector) continue
        end = past(i)
        if (end == i + 2 || is_constant(i + 1, end - 1, i)) continue
        offend(i - (before == ")" ? 1 : 1), end)
    }
}
AWK
check() { awk -v label="$1" -f "$program"; }

# What is refused, and what is allowed.
refused='four[3]: uvec4 four[4]; void f(uint i) { x = four[i >> 2].x; }
two: uvec4 a, b = g(1, 2), c; void f(uint i) { x = c[i]; }
column: mat4 m; void f(int i) { x = m[0][i]; }
result: void f(int i) { x = texelFetch(s, p, 0)[i]; }
parts: void f(int i) { vec4 v; x = v.xyz[i]; }
alias: #define real64 uvec2~real64 parts[3]; void f(uint i) { x = parts[i]; }
member: struct s { vec3 rows[3]; }; void f(s a, uint i) { x = a.rows[i]; }
parameter: void f(vec4 v, uint i) { x = v[i]; }
longer: vec4 v; void f(uint n) { for (uint k = 0u; k < n; k++) x += v[k]; }
after: vec4 v; void f(int i) { for (int k = 0; k < 4; k++) x += v[k]; int k = i; x = v[k]; }
macro: #define AT(v, i) (v[i])~
uniform: uniform vec4 planes[6]; void f(int i) { x = planes[i].x; }'
allowed='constant: uvec4 four[4]; void f() { x = four[3][2] + four[LAST - 1].x; }
loop: vec4 v, w[8]; void f() { for (int k = 0; k < 4; k++) { x += v[k]; y += w[2 * k + 1]; } }
scalars: uint a[8]; void f(uint i) { uvec4 v = g(a[i]); x = a[i + 1u] + v.x; }
table: #define TABLE_BEGIN(T, name, n) const T name[n] = T[n](~
declared: void f() { vec4 list[COUNT]; float m[16]; x = m[i]; }
member: struct s { float m[16]; vec4 v; }; void f(s p, uint i) { x = p.m[i]; }'
failures=0
echo "$refused" | while IFS=: read -r name text; do
    [ -n "$(echo "$text" | tr '~' '\n' | check "$name")" ] || { echo "FAIL not refused: $name: $text"; exit 1; }
done || failures=1
echo "$allowed" | while IFS=: read -r name text; do
    found=$(echo "$text" | tr '~' '\n' | check "$name")
    [ -z "$found" ] || { echo "FAIL not allowed: $found"; exit 1; }
done || failures=1

# Shaders, assembled.
for shader in "$generated"/gl/*.frag; do
    cp "$shader" "$texts/$(basename "$shader")"
done
[ "$(ls "$texts" | wc -l)" -gt 80 ] || { echo "FAIL the shaders were not found in $generated/gl"; failures=1; }
# Libraries of kernels: the files of one as one text.
for header in "$generated"/*_library.h; do
    cat "${header%.h}".*.k.h >"$texts/$(basename "$header" .h)"
done
# Kernels in C: what TML_KERNEL and its like have between their brackets; in JavaScript, whole files.
cd "$source"
for file in $(grep -rlE 'TML_[A-Z_]*KERNEL\(' src cli bench examples python --include='*.[ch]'); do
    awk '/^TML_[A-Z_]*KERNEL/ { is_kernel = 1 }
        is_kernel { print; depth += gsub(/[({]/, "&") - gsub(/[)}]/, "&"); is_kernel = depth > 0 }' "$file" \
        >"$texts/$(echo "$file" | tr / _)"
done
for file in $(grep -rlE '(vec[234]|mat[234]) ' web packages examples --include='*.js' --include='*.html' --include='*.glsl' |
    grep -v node_modules); do
    cp "$file" "$texts/$(echo "$file" | tr / _)"
done
for text in "$texts"/*; do
    check "$(basename "$text")" <"$text"
done >"$program.found"
sed 's/^/FAIL indexed by a variable: /' "$program.found"
[ ! -s "$program.found" ] || failures=1
rm -f "$program.found"
echo "$(ls "$texts" | wc -l) texts read"
exit $failures
