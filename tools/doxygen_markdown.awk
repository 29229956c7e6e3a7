# The documents for Doxygen: headings get an anchor "page-heading", so links to headings of this and other pages
# do, and those to headers are references. Of links to what the site does not have, the text stays.
function slug(text) {
    text = tolower(text)
    gsub(/[^a-z0-9_ -]/, "", text)
    gsub(/ /, "-", text)
    return text
}
function page_of(path) {
    sub(/.*\//, "", path)
    sub(/\.md$/, "", path)
    return tolower(path)
}
function resolve(text, target,   parts) {
    if (target ~ /^(https?:|images\/|docs\/images\/)/ || target ~ /^[^#]*\.png$/)
        return "[" text "](" target ")"
    if (target ~ /include\/trommel\/[a-z_]+\.h$/) {
        sub(/.*\//, "", target)
        return "[" text "](@ref " target ")"
    }
    if (target ~ /^packages|\/packages|LICENSE|CITATION/ || target !~ /^(.*\.md)?(#.*)?$/)
        return text
    split(target, parts, "#")
    return "[" text "](@ref " (parts[1] == "" ? page_of(FILENAME) : page_of(parts[1])) \
           (parts[2] == "" ? "" : "-" parts[2]) ")"
}
/^ *```/ { is_code = !is_code }
is_code || /^    / { print; next }
/^# / { $0 = $0 " {#" page_of(FILENAME) "}" }
/^##+ / {
    heading = $0
    sub(/^#+ /, "", heading)
    $0 = $0 " {#" page_of(FILENAME) "-" slug(heading) "}"
}
{
    rest = $0
    line = ""
    while (match(rest, /!?\[[^]]*\]\([^)]*\)/)) {
        found = substr(rest, RSTART, RLENGTH)
        line = line substr(rest, 1, RSTART - 1)
        rest = substr(rest, RSTART + RLENGTH)
        middle = index(found, "](")
        if (found ~ /^!/)
            line = line found
        else
            line = line resolve(substr(found, 2, middle - 2), substr(found, middle + 2, length(found) - middle - 2))
    }
    print line rest
}
