# doxygen_examples.awk HEADER.h ... EXAMPLE.c ...: an example of every public symbol, for doxygen_comments.awk: lines
# "header:line:symbol:text", the text to stand before that line, the symbol's declaration. An example is a function of a program,
# with the comment above it and the definitions of its file that it names. A symbol's is the first function that uses it:
# in the file of examples/reference whose name begins as the header's does, else in the others there, else in the rest.
# An enum is used where a constant of it is; one without a name goes by its first constant.
# -v missing=FILE: symbols without an example, a line each.
function stem(path) {
    sub(/.*\//, "", path)
    sub(/[_.].*/, "", path)
    return path
}
# The text without comments, strings and characters.
function code_of(text) {
    gsub(/"([^"\\]|\\.)*"|'([^'\\]|\\.)*'/, "\"\"", text)
    while (match(text, /\/\*([^*]|\*+[^*\/])*\*+\//))
        text = substr(text, 1, RSTART - 1) " " substr(text, RSTART + RLENGTH)
    return text
}
FNR == 1 {
    is_header = FILENAME ~ /\.h$/
    is_kernel = in_comment = 0
    comment = chunk = enum = ""
    if (!is_header)
        programs[++program_count] = substr(FILENAME, index(FILENAME, "examples/") + 9)
}

# ---- headers: the symbols -----------------------------------------------------------------------
function symbol(name, line) {
    if (name ~ /^TML_K_/ || FILENAME ~ /kernel_macros/)
        return
    if (!(name in stem_of))
        symbols[++symbol_count] = name
    stem_of[name] = stem(FILENAME)
    place_of[name] = FILENAME ":" line
    sub(/.*\//, "", place_of[name])
}
is_header && /^#undef/ && FILENAME !~ /kernel_end/ { delete place_of[$2] }
is_header && /^ *# *define/ && !/_H$/ {
    sub(/^ *# *define +/, "")
    name = $0
    sub(/[^A-Za-z0-9_].*/, "", name)
    symbol(name, FNR)
    if (FILENAME ~ /kernel_begin/) { # a word of kernels, and perhaps a use of the function behind it
        is_word[name]
        if (match($0, /tml_[a-z0-9_]+/))
            behind[name] = substr($0, RSTART, RLENGTH)
    }
}
is_header && /^(TML_API|TML_MUST_CHECK|static inline)/ && match($0, /tml_[a-z0-9_]+\(/) {
    symbol(substr($0, RSTART, RLENGTH - 1), FNR)
}
is_header && /^typedef/ && match($0, /tml_[a-z0-9_]+(;|\)\()/) {
    name = substr($0, RSTART, RLENGTH)
    sub(/[^a-z0-9_].*/, "", name)
    symbol(name, FNR)
}
is_header && /^typedef (struct|enum) tml_[a-z0-9_]+ [{]$/ { symbol($3, FNR) }
is_header && /^(typedef )?enum / {
    enum = $1 == "typedef" ? $3 : "{"
    enum_line = FNR
}
is_header && enum != "" {
    count = split(code_of($0), words, /[{},]/)
    for (i = 1; i <= count; i++)
        if (match(words[i], /^ *TML_[A-Z0-9_]+/)) {
            name = substr(words[i], 1, RLENGTH)
            sub(/^ */, "", name)
            if (enum == "{")
                symbol(enum = name, enum_line)
            if (name != enum)
                behind[name] = enum
            is_constant[name]
        }
    if (/}/)
        enum = ""
}
is_header { next }

# ---- programs: their definitions ----------------------------------------------------------------
function depth_of(text,   opened) {
    opened = gsub(/[{(]/, "", text)
    return opened - gsub(/[})]/, "", text)
}
function add_word(at, name) {
    if (name != "" && !((at, name) in has_word)) {
        has_word[at, name]
        word[at, ++word_count[at]] = name
    }
}
/^#include <trommel\/kernel_(begin|end).h>/ { is_kernel = /begin/ }
chunk == "" && (/^\/\*/ || in_comment) {
    comment = (in_comment ? comment : "") $0 "\n"
    in_comment = !/\*\//
    next
}
chunk == "" && /^(#| |$)/ { comment = ""; next }
{
    chunk = chunk $0 "\n"
    code = code_of(chunk)
    if (depth_of(code) || (code !~ /[;}]\n$/ && code !~ /^TML_.*\)\n$/))
        next
    d = ++definition_count
    definition[d] = comment chunk
    program_of[d] = program_count
    in_kernels[d] = is_kernel
    # What it defines: a macro's argument, a struct or constants, a function or variable. Members are no names.
    gsub(/(\.|->) *[A-Za-z_][A-Za-z0-9_]*/, "", code)
    if (code ~ /^TML_KERNEL_OUTS/) # the list of outputs stands where others have a type
        sub(/\([^()]*\)/, "outs", code)
    count = split(code, words, /[^A-Za-z0-9_]+/)
    if (code ~ /^TML_/)
        named[program_count, words[code ~ /^TML_LIBRARY/ ? 2 : code ~ /^TML_KERNEL(_OUTS)?_WITH/ ? 4 : 3]] = d
    else if (code ~ /^(typedef struct|enum)/) {
        for (i = 2; i <= count; i++)
            if (words[i - 1] == "struct" || (code ~ /^enum/ && words[i] ~ /^[A-Z]/))
                named[program_count, words[i]] = d
    } else if (match(code, /[A-Za-z0-9_]+ ?[[(=]/)) {
        is_function[d] = code ~ /}\n$/ && substr(code, RSTART + RLENGTH - 1, 1) == "("
        name = substr(code, RSTART, RLENGTH - 1)
        sub(/ /, "", name)
        named[program_count, name] = d
        is_main[d] = name == "main"
    }
    for (i = 1; i <= count; i++)
        add_word(d, words[i])
    count = split(comment chunk, words, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= count; i++)
        if (words[i] in is_constant) # a comment may tell of a limit
            add_word(d, words[i])
    comment = chunk = ""
}

# ---- who uses what ------------------------------------------------------------------------------
# Adds a definition to an example, and before it what it names of its program.
function add(example, at,   i, other) {
    if ((example, at) in is_part)
        return
    is_part[example, at]
    for (i = 1; i <= word_count[at]; i++) {
        other = named[program_of[at], word[at, i]]
        if (other != "" && other < at)
            add(example, other)
    }
    parts[example] = parts[example] " " at
}
function use(name, example,   program, rank) {
    program = programs[program_of[example]]
    rank = program !~ /^reference/ ? 1 : stem(program) == stem_of[name] ? 3 : 2
    if (rank > rank_of[name]) {
        rank_of[name] = rank
        example_of[name] = example
    }
    if (name in behind)
        use(behind[name], example)
}
function text_of(example,   pieces, count, i, text, in_kernel) {
    count = split(parts[example], pieces, " ")
    for (i = 1; i <= count; i++) {
        if (in_kernels[pieces[i]] != in_kernel)
            text = text (in_kernel ? "#include <trommel/kernel_end.h>\n\n" : "#include <trommel/kernel_begin.h>\n")
        else if (i > 1 && !in_kernel)
            text = text "\n"
        in_kernel = in_kernels[pieces[i]]
        text = text definition[pieces[i]]
    }
    return text
}
END {
    for (d = 1; d <= definition_count; d++) {
        if (!is_function[d] || (is_main[d] && programs[program_of[d]] ~ /^reference/))
            continue
        add(d, d)
        count = split(parts[d], pieces, " ")
        for (i = 1; i <= count; i++)
            for (k = 1; k <= word_count[pieces[i]]; k++)
                if (!(word[pieces[i], k] in is_word) || in_kernels[pieces[i]])
                    use(word[pieces[i], k], d)
    }
    for (i = 1; i <= symbol_count; i++) {
        name = symbols[i]
        if (!(name in place_of))
            continue
        if (!(name in example_of)) {
            if (missing)
                print name >missing
            continue
        }
        text = "\\par Example\n\\code{.c}\n" text_of(example_of[name]) "\\endcode\nFrom \\ref " \
            programs[program_of[example_of[name]]]
        text = text (text ~ /reference\/[a-z_]*.c$/ ? ", with \\ref reference/reference.h." : ".")
        count = split(text, lines, "\n")
        for (k = 1; k <= count; k++)
            print place_of[name] ":" name ":/// " lines[k]
    }
}
