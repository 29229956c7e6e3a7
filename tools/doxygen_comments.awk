# The headers' plain comments for Doxygen: one that stands on lines of its own belongs to what follows, one
# behind a declaration to that, the first to the file. Lines are kept as they are where some are indented, since these
# are tables and code. Headings between dashes are left out. Before a declaration comes its example, which
# doxygen_examples.awk has found: in the file examples.txt of the folder TML_DOCS.
BEGIN {
    while ((getline line <(ENVIRON["TML_DOCS"] "/examples.txt")) > 0)
        if (split(line, field, ":") > 3) {
            place = field[1] ":" field[2]
            example[place] = example[place] substr(line, length(place field[3]) + 3) "\n"
        }
}
function escape(text) {
    gsub(/</, "\\&lt;", text)
    gsub(/[#@]/, "\\\\&", text)
    return text
}
# The comment from start on, up to its end, which the lines that follow may hold; in own lines or behind code.
function comment(start, is_behind,   lines, count, i, has_table, line) {
    lines[count = 1] = start
    while (lines[count] !~ /\*\// && (getline line) > 0)
        lines[++count] = line
    for (i = 1; i <= count; i++) {
        sub(/ *\*\/ *\\?$/, "", lines[i])
        sub("^ */?\\* ?", "", lines[i])
        lines[i] = escape(lines[i])
        if (lines[i] ~ /^ +[^ ]/ && !is_behind)
            has_table = 1
    }
    printf "%s", is_behind ? "/**< " : is_first++ ? "/** " : "/** \\file\n"
    for (i = 1; i <= count; i++) {
        if (has_table && i == 1)
            printf "<pre>"
        printf "%s%s", lines[i], i < count ? "\n" : ""
    }
    print has_table ? "</pre> */" : " */"
}
# What has no comment, and is another name of something, or a function right after something with one: it is said there.
function declared(line) {
    if (match(line, /tml_[a-z0-9_]+( [{]$|\(|;)/))
        line = substr(line, RSTART, RLENGTH)
    sub(/[^a-z0-9_].*/, "", line)
    return line
}
/^(TML_API|typedef)/ {
    is_alias = /^typedef tml_/ && after != "comment"
    if (is_alias)
        said_at = $2
    else if (after == "comment" || /^typedef/)
        said_at = declared($0)
    if (is_alias || (after == "declaration" && !/^typedef|\/\*/))
        print "/// \\brief See \\ref " said_at ".\n///"
}
{
    place = FILENAME ":" FNR
    sub(/.*\//, "", place)
    printf "%s", example[place]
}
{ after = /^ *\/\*/ ? "comment" : /;$/ ? "declaration" : "" }
/^ *\/\* -+ .*-+ \*\/$/ { next }
/^ *\/\*/ { comment($0, 0); next }
/^#/ || !/\/\* / { print; next } # what the preprocessor reads stays
{
    at = index($0, "/* ")
    printf "%s", substr($0, 1, at - 1)
    comment(substr($0, at), 1)
}
