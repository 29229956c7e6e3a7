/* The library as one C file and one header.
 *
 *   make_amalgamation FOLDER LICENCE HEADER[,HEADER]... [-I FOLDER | -D NAME | -each FILE.h |
 *   FLAG... [CONDITION:]FILE.c]...
 *
 * Writes FOLDER/trommel.h, of the public headers, and FOLDER/trommel.c, of the sources and what
 * they include:
 * - a header once, where it is first needed; without a guard, or -each, wherever it is included, as
 *   a part of the source, since it says something else each time. Kernel files (.k.h) and libraries
 *   of them need no guard;
 * - a name that is one source's own, and another's or a header's too, has its source's name in
 *   front;
 * - macros end with their source;
 * - what files share is static, but for arrays of unknown length: these are hidden, and have the
 *   library's prefix;
 * - #ifdef NAME is resolved for the macros that the build decides by: true with -D NAME, else
 *   false;
 * - FLAGs -m are the target of the source that follows, by a pragma; -f and -W are left out. (gcc
 *   inlines no function into one with other -f options.)
 * - a source with a CONDITION, of an #if, comes last, in that #if.
 *
 * It reads tokens by rules of thumb, no grammar: what a declaration declares stands before its
 * parameters, [ or =, or at its end. What this gets wrong, a compiler refuses, but for names that a
 * macro pastes of its first argument and that files share, so that argument is left as it is
 * (is_shared). */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 1024, MAX_FOLDERS = 16, MAX_NESTED = 64, MAX_LEVELS = 256, SLOTS = 1 << 18 };

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("make_amalgamation: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    exit(1);
}

static void *grown(void *memory, size_t size)
{
    memory = realloc(memory, size);
    if (!memory)
        fail("out of memory");
    return memory;
}

typedef struct text {
    char *at;
    size_t length, room;
} text;

static void append(text *t, const char *bytes, size_t length)
{
    if (t->length + length + 1 > t->room)
        t->at = grown(t->at, t->room = 2 * (t->length + length + 1));
    memcpy(t->at + t->length, bytes, length);
    t->at[t->length += length] = '\0';
}

static text read_text(const char *path)
{
    text t = {0};
    char bytes[65536];
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("%s: %s", path, strerror(errno));
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        append(&t, bytes, n);
    fclose(file);
    append(&t, "", 0);
    return t;
}

/* ---- names ---------------------------------------------------------------------------------- */

typedef enum name_kind { MACRO = 1, TAG = 2, OWN = 4, SHARED = 8 } name_kind;

/* What a file calls by a name. */
typedef struct meaning {
    unsigned file;
    unsigned kinds;
    struct meaning *next;
} meaning;

typedef struct name {
    char *spelling;
    meaning *meanings;
    bool is_public;  /* declared in a public header */
    bool is_array;   /* shared, and of unknown length */
    bool has_static; /* a macro that says static */
    bool is_macro;   /* with arguments */
    bool is_shared;  /* a macro that declares what files share, by its first argument */
    int braces;      /* that a macro opens, less those that it closes */
} name;

static name names[SLOTS];

static name *name_of(const char *spelling, size_t length)
{
    size_t hash = 5381, tries = 0;
    for (size_t i = 0; i < length; i++)
        hash = hash * 33 ^ (unsigned char)spelling[i];
    for (hash %= SLOTS; names[hash].spelling; hash = (hash + 1) % SLOTS)
        if (strlen(names[hash].spelling) == length &&
            !memcmp(names[hash].spelling, spelling, length))
            return &names[hash];
        else if (++tries == SLOTS - 1)
            fail("more than %d names", SLOTS);
    names[hash].spelling = memcpy(grown(NULL, length + 1), spelling, length);
    names[hash].spelling[length] = '\0';
    return &names[hash];
}

/* ---- files ---------------------------------------------------------------------------------- */

typedef struct file_info {
    char *path;
    const char *base; /* the file's name */
    bool is_source;
    const char *condition;   /* of a source, or NULL */
    char target[MAX_LEVELS]; /* of a source: "avx2,bmi", or "" */
} file_info;

/* Text of one file, with that of the templates in it. */
typedef struct piece {
    unsigned file;
    text text;
} piece;

static file_info files[MAX_FILES];
static unsigned file_count;
static piece *pieces;
static size_t piece_count;
static const char *folders[MAX_FOLDERS], *defined[MAX_FOLDERS], *templates[MAX_FOLDERS];
static size_t folder_count, defined_count, template_count;
static text system_headers; /* lines */

static unsigned file_of(const char *path)
{
    for (unsigned i = 0; i < file_count; i++)
        if (!strcmp(files[i].path, path))
            return i;
    if (file_count == MAX_FILES)
        fail("more than %d files", MAX_FILES);
    const char *slash = strrchr(path, '/');
    files[file_count].path = strcpy(grown(NULL, strlen(path) + 1), path);
    files[file_count].base = files[file_count].path + (slash ? slash - path + 1 : 0);
    return file_count++;
}

static text *new_piece(unsigned file)
{
    pieces = grown(pieces, (piece_count + 1) * sizeof *pieces);
    pieces[piece_count] = (piece){.file = file};
    append(&pieces[piece_count].text, "", 0);
    return &pieces[piece_count++].text;
}

static void find(const char *base, const char *including, char path[PATH_MAX])
{
    const char *slash = including ? strrchr(including, '/') : NULL;
    char joined[PATH_MAX];
    for (size_t i = slash ? 0 : 1; i <= folder_count; i++) {
        const char *folder = i == 0 ? including : folders[i - 1];
        size_t folder_length = i == 0 && slash ? (size_t)(slash - including) : strlen(folder);
        int length = snprintf(joined, sizeof joined, "%.*s/%s", (int)folder_length, folder, base);
        if (length > 0 && (size_t)length < sizeof joined && realpath(joined, path))
            return;
    }
    fail("%s: %s is not found", including ? including : "public headers", base);
}

/* Does the line have this directive? Its first word after it, of a length, or "". */
static const char *directive(const char *line, const char *which, size_t *length)
{
    line += strspn(line, " \t");
    if (*line++ != '#')
        return NULL;
    line += strspn(line, " \t");
    size_t size = strlen(which);
    if (strncmp(line, which, size) != 0 || isalnum((unsigned char)line[size]))
        return NULL;
    line += size + strspn(line + size, " \t");
    for (*length = 0; isalnum((unsigned char)line[*length]) || line[*length] == '_';)
        ++*length;
    return line;
}

/* The macro of a header's guard, or NULL. */
static const char *guard_of(const char *at, size_t *length)
{
    size_t again;
    const char *guard = NULL, *define = NULL;
    for (; at; at = strchr(at, '\n'), at += at != NULL) {
        if (guard) {
            define = directive(at, "define", &again);
            bool is_guard = define && again == *length && !strncmp(guard, define, again) &&
                            define[again] == '\n';
            return is_guard ? guard : NULL;
        }
        if (at[strspn(at, " \t")] == '#' && !(guard = directive(at, "ifndef", length)))
            return NULL;
    }
    return NULL;
}

static bool ends_in(const char *string, const char *end)
{
    size_t length = strlen(string), least = strlen(end);
    return length >= least && !strcmp(string + length - least, end);
}

/* Of the macros that the build decides by: 1 is defined, -1 not; 0: of another. */
static int decided(const char *macro, size_t length)
{
    static const char *const all[] = {"TML_VULKAN", "TML_GL", "TML_WEB", "TML_KERNEL_EXTRACT",
                                      "TML_GLSL"};
    for (size_t i = 0; i < defined_count; i++)
        if (strlen(defined[i]) == length && !strncmp(defined[i], macro, length))
            return 1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strlen(all[i]) == length && !strncmp(all[i], macro, length))
            return -1;
    return 0;
}

static bool seen[MAX_FILES]; /* files whose text has its place */
static unsigned open_conditions;

/* Adds a file's text to out, which may become another piece. */
static text *expand(const char *path, unsigned owner, text *out, bool is_public);

/* Adds what an #include line includes. */
static text *include(const char *line, const char *path, unsigned owner, text *out, bool is_public)
{
    char close = *line == '"' ? '"' : '>', base[PATH_MAX], found[PATH_MAX];
    const char *end = strchr(line + 1, close);
    if (!end || end - line >= PATH_MAX)
        fail("%s: #include %.40s", path, line);
    snprintf(base, sizeof base, "%.*s", (int)(end - line - 1), line + 1);
    if (close == '>' && strncmp(base, "trommel/", 8) != 0) {
        char system[PATH_MAX];
        int length = snprintf(system, sizeof system, "#include <%.200s>\n", base);
        bool stays = open_conditions || files[owner].condition;
        text *to = stays ? out : &system_headers;
        if (stays || is_public || !system_headers.at || !strstr(system_headers.at, system))
            append(is_public ? out : to, system, (size_t)length);
        return out;
    }
    if (!is_public && !strcmp(base, "trommel/kernel_begin.h"))
        append(out, "#define TML_KERNELS_BEGIN\n#include \"trommel.h\"\n", 47);
    else if (!is_public && !strcmp(base, "trommel/kernel_end.h"))
        append(out, "#define TML_KERNELS_END\n#include \"trommel.h\"\n", 45);
    else {
        find(base, path, found);
        text content = read_text(found);
        size_t length;
        bool is_template = !guard_of(content.at, &length) && !ends_in(base, ".k.h") &&
                           !ends_in(base, "_library.h");
        for (size_t i = 0; i < template_count; i++)
            is_template = is_template || !strcmp(strrchr(found, '/') + 1, templates[i]);
        free(content.at);
        if (is_template)
            return expand(found, owner, out, is_public);
        unsigned header = file_of(found);
        if (!seen[header]) {
            if (open_conditions)
                fail("%s: %s is first included within an #if", path, base);
            seen[header] = true;
            if (is_public)
                return expand(found, owner, out, true);
            expand(found, header, new_piece(header), false);
            return new_piece(owner);
        }
    }
    return out;
}

static text *expand(const char *path, unsigned owner, text *out, bool is_public)
{
    text content = read_text(path);
    struct {
        bool is_kept, is_skipped;
    } nested[MAX_NESTED];
    size_t depth = 0, length, guard_length = 0;
    unsigned skipped = 0;
    const char *guard = guard_of(content.at, &guard_length), *macro;
    for (const char *line = content.at, *next; *line; line = next) {
        next = strchr(line, '\n');
        next = next ? next + 1 : line + strlen(line);
        bool is_positive = (macro = directive(line, "ifdef", &length)) != NULL;
        if (is_positive || (macro = directive(line, "ifndef", &length)) ||
            directive(line, "if", &length)) {
            int value = macro && !is_public ? decided(macro, length) : 0;
            if (depth == MAX_NESTED)
                fail("%s: more than %d #if in one another", path, MAX_NESTED);
            bool is_guard = guard && macro && !is_positive && depth == 0 &&
                            length == guard_length && !strncmp(macro, guard, length);
            nested[depth].is_kept = !value && !is_guard;
            nested[depth].is_skipped = value && (value > 0) != is_positive;
            skipped += nested[depth].is_skipped;
            open_conditions += nested[depth].is_kept;
            if (!nested[depth++].is_kept)
                continue;
        } else if (directive(line, "else", &length) && !nested[depth - 1].is_kept) {
            nested[depth - 1].is_skipped = !nested[depth - 1].is_skipped;
            skipped += nested[depth - 1].is_skipped ? 1u : -1u;
            continue;
        } else if (directive(line, "elif", &length) && nested[depth - 1].is_skipped) {
            nested[depth - 1].is_skipped = false;
            nested[depth - 1].is_kept = true;
            skipped--;
            open_conditions++;
            if (!skipped)
                append(out, "#if", 3);
            line = strstr(line, "elif") + 4;
        } else if (directive(line, "elif", &length) && !nested[depth - 1].is_kept) {
            fail("%s: #elif after what the build has decided is true", path);
        } else if (directive(line, "endif", &length)) {
            depth--;
            skipped -= nested[depth].is_skipped;
            open_conditions -= nested[depth].is_kept;
            if (!nested[depth].is_kept)
                continue;
        }
        if (skipped)
            continue;
        if ((macro = directive(line, "include", &length)))
            out = include(macro, path, owner, out, is_public);
        else if (!(guard && (macro = directive(line, "define", &length)) &&
                   length == guard_length && !strncmp(macro, guard, length)))
            append(out, line, (size_t)(next - line));
    }
    if (content.length && content.at[content.length - 1] != '\n')
        append(out, "\n", 1);
    return out; /* content stays: guard is in it, and a piece may be read for long */
}

/* ---- tokens --------------------------------------------------------------------------------- */

typedef struct token {
    const char *at;
    unsigned length;
    bool is_word, is_directive, begins_directive, begins_line;
    bool gets_static; /* before it, or in the place of extern */
    bool gets_hidden; /* before it */
} token;

typedef struct tokens {
    token *at;
    size_t count;
} tokens;

static bool is(const token *t, const char *spelling)
{
    return strlen(spelling) == t->length && !memcmp(t->at, spelling, t->length);
}

static tokens tokens_of(const text *t)
{
    tokens out = {0};
    size_t room = 0;
    bool in_directive = false, begins_line = true;
    for (const char *c = t->at, *begin; c && *c; c += c == begin) {
        begin = c;
        if (*c == '\n') {
            in_directive = in_directive && c[-1] == '\\';
            begins_line = true;
            continue;
        } else if (isspace((unsigned char)*c) || *c == '\\') {
            continue;
        } else if (!strncmp(c, "/*", 2)) {
            c = strstr(c, "*/") + 2;
            continue;
        } else if (!strncmp(c, "//", 2)) {
            c += strcspn(c, "\n");
            continue;
        }
        bool is_word = isalpha((unsigned char)*c) || *c == '_', begins_directive = false;
        if (is_word || isdigit((unsigned char)*c)) {
            while (isalnum((unsigned char)*c) || *c == '_' || (!is_word && *c == '.'))
                c++;
        } else if (*c == '"' || *c == '\'') {
            for (c++; *c != *begin; c++)
                c += *c == '\\';
            c++;
        } else {
            begins_directive = *c == '#' && begins_line && !in_directive;
            in_directive = in_directive || begins_directive;
            c += *c == '-' && c[1] == '>' ? 2 : 1;
        }
        if (out.count == room)
            out.at = grown(out.at, (room = 2 * room + 256) * sizeof *out.at);
        out.at[out.count++] = (token){.at = begin,
                                      .length = (unsigned)(c - begin),
                                      .is_word = is_word,
                                      .is_directive = in_directive,
                                      .begins_directive = begins_directive,
                                      .begins_line = begins_line};
        begins_line = false;
    }
    return out;
}

/* What is behind the bracket that closes the one at i. */
static size_t behind(const tokens *all, size_t i)
{
    size_t depth = 0;
    const bool in_directive = all->at[i].is_directive;
    for (; i < all->count; i++) {
        if (all->at[i].is_directive != in_directive || all->at[i].length != 1)
            continue;
        depth += strchr("([{", *all->at[i].at) != NULL;
        depth -= strchr(")]}", *all->at[i].at) != NULL;
        if (depth == 0)
            return i + 1;
    }
    return i;
}

static meaning *meaning_in(const name *n, unsigned file)
{
    meaning *m = n->meanings;
    while (m && m->file != file)
        m = m->next;
    return m;
}

static void forget(const token *macro, unsigned file)
{
    meaning *m = meaning_in(name_of(macro->at, macro->length), file);
    if (m)
        m->kinds &= ~(unsigned)MACRO;
}

static void mean(const token *t, unsigned file, name_kind kind)
{
    name *found = name_of(t->at, t->length);
    meaning *m = meaning_in(found, file);
    if (!m) {
        m = grown(NULL, sizeof *m);
        *m = (meaning){.file = file, .next = found->meanings};
        found->meanings = m;
    }
    m->kinds |= kind;
}

/* The macros that a piece defines. */
static void find_macros(const tokens *all, unsigned file)
{
    for (size_t i = 0; i + 2 < all->count; i++) {
        const token *t = &all->at[i];
        if (!t->begins_directive)
            continue;
        if (is(t + 1, "undef"))
            forget(t + 2, file);
        if (!is(t + 1, "define") || !strncmp(t[2].at, "TML_KERNELS_", 12))
            continue;
        name *found = name_of(t[2].at, t[2].length);
        mean(t + 2, file, MACRO);
        found->is_macro = t[2].at[t[2].length] == '(';
        bool begins_statement = true;
        token *external = NULL;
        i = found->is_macro ? behind(all, i + 3) : i + 3;
        for (; i < all->count && all->at[i].is_directive && !all->at[i].begins_directive; i++) {
            token *word = &all->at[i];
            if (begins_statement)
                external = is(word, "const") || is(word, "extern") ? word : NULL;
            if (is(word, "#") && external) /* the statement declares prefix_##name */
                external->gets_static = found->is_shared = true;
            if (is(word, "=") || is(word, "("))
                external = NULL;
            begins_statement = is(word, ";") || is(word, "}");
            const name *inner = name_of(word->at, word->length);
            found->has_static = found->has_static || is(word, "static") || inner->has_static;
            found->braces += is(word, "{") - is(word, "}") + inner->braces;
        }
        i--;
    }
}

typedef struct declaration {
    token *first, *external;
    const token *name;
    bool is_static, is_typedef, is_public, is_array, is_initialised;
} declaration;

/* The end of a declarator. last: the word before it. */
static void declare(declaration *d, const token *last, unsigned file)
{
    const token *t = d->name ? d->name : last;
    if (!t || t == d->first)
        return;
    name *found = name_of(t->at, t->length);
    bool is_shared = !d->is_static && !d->is_typedef;
    mean(t, file, is_shared ? SHARED : OWN);
    found->is_public = found->is_public || d->is_public;
    found->is_array = found->is_array || (d->is_array && d->external && !d->is_initialised);
    d->name = NULL;
    d->is_array = d->is_initialised = false;
}

/* What a piece declares at its outermost level. Called twice: the second time, every public name
 * and array is known. */
static void find_declarations(const tokens *all, unsigned file, bool is_public, bool is_last)
{
    declaration d = {0};
    const token *last = NULL;
    for (size_t i = 0; i < all->count;) {
        token *t = &all->at[i++];
        if (t->is_directive)
            continue;
        if (!d.first)
            d = (declaration){.first = t, .is_public = is_public};
        const token *next = i < all->count ? &all->at[i] : t;
        if (is(t, "static")) {
            d.is_static = true;
        } else if (is(t, "typedef")) {
            d.is_typedef = true;
        } else if (is(t, ";") && d.first == t) {
            d.first = NULL;
        } else if (is(next, "\"C\"") || is(t, "}")) { /* extern "C" { } */
            i += is(t, "}") ? 0 : 2;
            d.first = NULL;
        } else if (is(t, "extern")) {
            d.external = t;
        } else if (is(t, "TML_API")) {
            d.is_public = true;
        } else if (is(t, "__attribute__") || is(t, "_Static_assert") || is(t, "_Alignas")) {
            i = behind(all, i);
        } else if (is(t, "struct") || is(t, "union") || is(t, "enum")) {
            bool is_enum = is(t, "enum");
            i += next->is_word;
            if (i < all->count && is(&all->at[i], "{")) {
                if (next->is_word)
                    mean(next, file, TAG);
                size_t end = behind(all, i);
                for (size_t k = i + 1; is_enum && k < end; k++)
                    if (all->at[k].is_word && !all->at[k].is_directive &&
                        (is(&all->at[k - 1], "{") || is(&all->at[k - 1], ",")))
                        mean(&all->at[k], file, OWN);
                i = end;
            }
        } else if (t->is_word) {
            const name *found = name_of(t->at, t->length);
            d.is_static = d.is_static || found->has_static;
            last = t;
            bool is_call = found->is_macro && is(next, "(");
            if (is_call && found->braces > 0) { /* a struct's, or a table's */
                mean(&all->at[i + (is(&all->at[i + 2], ",") ? 3 : 1)], file, OWN);
                while (i < all->count && name_of(all->at[i].at, all->at[i].length)->braces >= 0)
                    i++;
                i = behind(all, i + 1);
                i += i < all->count && is(&all->at[i], ";");
                last = d.first = NULL;
            } else if (is_call) {
                i = behind(all, i);
                const token *after = &all->at[i];
                bool is_declarator = i + 1 < all->count && after->is_word && is(after + 1, "(") &&
                                     !name_of(after->at, after->length)->is_macro;
                /* A call that ends its line is all of a declaration. */
                if (i < all->count && after->begins_line && !is(after, "{") && !is_declarator) {
                    declare(&d, NULL, file);
                    last = d.first = NULL;
                }
            }
        } else if (is(t, "(")) {
            if (is(next, "*")) { /* of a pointer to a function or array */
                while (i < all->count && !all->at[i].is_word)
                    i++;
                if (!d.name)
                    d.name = &all->at[i];
            } else if (!d.name) {
                d.name = last;
            }
            i = behind(all, (size_t)(t - all->at));
        } else if (is(t, "[")) {
            if (!d.name)
                d.name = last;
            d.is_array = d.is_array || is(next, "]");
            i = behind(all, i - 1);
        } else if (is(t, "=")) {
            if (!d.name)
                d.name = last;
            d.is_initialised = true;
        } else if (is(t, ",")) {
            declare(&d, last, file);
        } else if (is(t, "{") && d.is_initialised) {
            i = behind(all, i - 1);
        } else if (is(t, "{") || is(t, ";")) {
            if (is(t, "{"))
                i = behind(all, i - 1);
            const token *declared = d.name ? d.name : last;
            const name *found = declared ? name_of(declared->at, declared->length) : NULL;
            if (is_last && found && declared != d.first && !d.is_static && !d.is_typedef &&
                !found->is_public) {
                token *at = d.external ? d.external : d.first;
                at->gets_static = !found->is_array;
                at->gets_hidden = found->is_array && d.external;
            }
            declare(&d, last, file);
            last = d.first = NULL;
        }
    }
}

/* ---- the two files -------------------------------------------------------------------------- */

/* Is the name that a source gives to something, or to a type's tag or a macro, another's too? */
static bool is_taken(const name *n, const meaning *mine)
{
    for (const meaning *m = n->meanings; m; m = m->next) {
        bool is_header = !files[m->file].is_source;
        if (m->file != mine->file &&
            ((mine->kinds & OWN && m->kinds & (OWN | SHARED)) ||
             (mine->kinds & TAG && m->kinds & TAG) || (m->kinds & MACRO && is_header)))
            return true;
    }
    return false;
}

static bool is_renamed(const name *n, unsigned file)
{
    const meaning *m = meaning_in(n, file);
    return m && files[file].is_source && !(m->kinds & SHARED) && is_taken(n, m);
}

static void write_piece(FILE *out, const piece *p, const tokens *all)
{
    const char *written = p->text.at;
    const char *stem = files[p->file].base;
    bool bodies[MAX_NESTED]; /* is a brace a struct's? */
    size_t depth = 0;
    for (size_t i = 0; i < all->count; i++) {
        const token *t = &all->at[i], *before = i ? t - 1 : t,
                    *next = i + 1 < all->count ? t + 1 : t;
        if (is(t, "{") && depth < MAX_NESTED)
            bodies[depth++] = i > 1 && (is(before, "struct") || is(before, "union") ||
                                        is(before - 1, "struct") || is(before - 1, "union"));
        depth -= is(t, "}") && depth > 0;
        if (t->gets_static || t->gets_hidden) {
            fprintf(out, "%.*s%s ", (int)(t->at - written), written,
                    t->gets_static ? "static" : "TML_HIDDEN");
            written = t->at + (t->gets_static && is(t, "extern") ? strlen("extern ") : 0);
        }
        if (!t->is_word || is(before, "->") || (is(before, ".") && !(i > 1 && is(before - 1, "."))))
            continue;
        bool is_first =
            i > 1 && is(before, "(") && name_of(before[-1].at, before[-1].length)->is_shared;
        bool is_pasted = is_first || is(before, "#") || (is(next, "#") && !next->begins_directive);
        bool is_member = depth && bodies[depth - 1] && next->length == 1 &&
                         strchr(";,[:)", *next->at) && !is(before, "[");
        const name *n = name_of(t->at, t->length);
        if (is_renamed(n, p->file) && !is_member && !is_pasted) {
            fprintf(out, "%.*s%.*s__", (int)(t->at - written), written, (int)strcspn(stem, "."),
                    stem);
            written = t->at;
        } else if (n->is_array && !n->is_public && strncmp(n->spelling, "tml_", 4) != 0) {
            fprintf(out, "%.*stml_", (int)(t->at - written), written);
            written = t->at;
        }
    }
    fputs(written, out);
}

static void write_macros_end(FILE *out, unsigned file)
{
    for (size_t i = 0; i < SLOTS; i++)
        for (const meaning *m = names[i].meanings; m; m = m->next)
            if (m->file == file && m->kinds & MACRO && !is_renamed(&names[i], file))
                fprintf(out, "#undef %s\n", names[i].spelling);
}

static FILE *create(const char *folder, const char *base, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s.new", folder, base);
    FILE *out = fopen(path, "w");
    if (!out)
        fail("%s: %s", path, strerror(errno));
    return out;
}

static void finish(FILE *out, const char *path)
{
    char final[PATH_MAX];
    snprintf(final, sizeof final, "%.*s", (int)(strlen(path) - strlen(".new")), path);
    bool is_written = !ferror(out);
    if (fclose(out) != 0 || !is_written || rename(path, final) != 0)
        fail("%s cannot be written", final);
}

static void write_licence(FILE *out, const char *line)
{
    fputs("/* Trommel in one file, made from its sources.\n *\n", out);
    for (const char *end; (end = strchr(line, '\n')); line = end + 1)
        fprintf(out, end == line ? " *\n" : " * %.*s\n", (int)(end - line), line);
}

static void write_header(const char *folder, const text *licence, const text *header,
                         const text *begin, const text *end)
{
    char path[PATH_MAX];
    FILE *out = create(folder, "trommel.h", path);
    write_licence(out, licence->at);
    fprintf(
        out,
        " *\n * The comments' <trommel/...> are this header. Kernels stand between "
        "<trommel/kernel_begin.h> and\n"
        " * <trommel/kernel_end.h>, which are\n *\n"
        " *     #define TML_KERNELS_BEGIN\n *     #include \"trommel.h\"\n *     TML_KERNEL(...)\n"
        " *     #define TML_KERNELS_END\n *     #include \"trommel.h\" */\n"
        "#ifndef TROMMEL_H\n#define TROMMEL_H\n%s#endif\n"
        "#ifdef TML_KERNELS_BEGIN\n#undef TML_KERNELS_BEGIN\n%s#endif\n"
        "#ifdef TML_KERNELS_END\n#undef TML_KERNELS_END\n%s#endif\n",
        header->at, begin->at, end->at);
    finish(out, path);
}

static const char top[] =
    " *\n"
    " *     cc -O2 program.c trommel.c -lm -lpthread\n"
    " *\n"
    " * No flags are needed: this file tells gcc and clang what the library's own build does. */\n"
    "#ifndef _GNU_SOURCE\n"
    "#define _GNU_SOURCE\n"
    "#endif\n"
    "#if defined(__GNUC__) && !defined(_WIN32)\n"
    "#define TML_HIDDEN __attribute__((visibility(\"hidden\")))\n"
    "#else\n"
    "#define TML_HIDDEN\n"
    "#endif\n"
    "#ifdef __clang__\n"
    "#pragma clang fp contract(off)\n"
    "#pragma clang diagnostic ignored \"-Wunused-function\"\n"
    "#pragma clang diagnostic ignored \"-Wunused-const-variable\"\n"
    "#pragma clang diagnostic ignored \"-Wpass-failed\"\n"
    "#elif defined(__GNUC__)\n"
    "#pragma GCC optimize(\"fp-contract=off\", \"no-math-errno\", \"no-trapping-math\")\n"
    "#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)\n"
    "#pragma GCC optimize(\"O3\")\n"
    "#endif\n"
    "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-const-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n" /* across files, where a status says so */
    "#endif\n"
    "#include <math.h>\n"
    "#ifdef __GNUC__ /* roots that set no errno, as -fno-math-errno has them: no pragma says so "
    "*/\n"
    "extern float sqrtf(float) __attribute__((const));\n"
    "extern double sqrt(double) __attribute__((const));\n"
    "#endif\n";

static void write_source(const char *folder, const text *licence, const tokens *all)
{
    char path[PATH_MAX];
    FILE *out = create(folder, "trommel.c", path);
    write_licence(out, licence->at);
    fprintf(out, "%s%s#include \"trommel.h\"\n", top, system_headers.at);
    unsigned current = MAX_FILES;
    for (size_t i = 0; i < piece_count; i++) {
        const file_info *f = &files[pieces[i].file];
        if (pieces[i].file != current || !f->is_source)
            fprintf(out, "/* ==== %s */\n", f->base);
        if (f->is_source && pieces[i].file != current) {
            current = pieces[i].file;
            if (f->condition)
                fprintf(out, "#if %s\n", f->condition);
            if (f->target[0]) {
                fprintf(out,
                        "#ifdef __x86_64__\n#ifdef __clang__\n#pragma clang attribute "
                        "push(__attribute__((target(\"%s\"))), "
                        "apply_to = function)\n#else\n#pragma GCC push_options\n#pragma GCC "
                        "target(\"%s\")\n",
                        f->target, f->target);
                fputs("#endif\n#endif\n", out);
            }
        }
        write_piece(out, &pieces[i], &all[i]);
        bool is_end = f->is_source;
        for (size_t k = i + 1; is_end && k < piece_count; k++)
            is_end = pieces[k].file != pieces[i].file;
        if (!is_end)
            continue;
        write_macros_end(out, pieces[i].file);
        if (f->target[0])
            fputs("#ifdef __x86_64__\n#ifdef __clang__\n#pragma clang attribute "
                  "pop\n#else\n#pragma GCC "
                  "pop_options\n#endif\n#endif\n",
                  out);
        if (f->condition)
            fputs("#endif\n", out);
    }
    finish(out, path);
}

/* The text of a public header without a guard. */
static text read_macros(const char *base, unsigned file)
{
    char path[PATH_MAX];
    text t = {0};
    find(base, NULL, path);
    expand(path, file, &t, true);
    tokens all = tokens_of(&t);
    find_macros(&all, file);
    return t;
}

int main(int argc, char **argv)
{
    unsigned sources[MAX_FILES], source_count = 0;
    file_info flags = {0};
    if (argc < 5)
        fail("usage: make_amalgamation FOLDER LICENCE HEADER[,HEADER]... [-I FOLDER | -D NAME | "
             "FLAG... "
             "[CONDITION:]FILE.c]...");
    for (int i = 4; i < argc; i++) {
        if (!strcmp(argv[i], "-I") && i + 1 < argc && folder_count < MAX_FOLDERS) {
            folders[folder_count++] = argv[++i];
        } else if (!strcmp(argv[i], "-D") && i + 1 < argc && defined_count < MAX_FOLDERS) {
            defined[defined_count++] = argv[++i];
        } else if (!strcmp(argv[i], "-each") && i + 1 < argc && template_count < MAX_FOLDERS) {
            templates[template_count++] = argv[++i];
        } else if (!strncmp(argv[i], "-m", 2)) {
            size_t used = strlen(flags.target);
            int more = snprintf(flags.target + used, MAX_LEVELS - used, "%s%s", used ? "," : "",
                                argv[i] + 2);
            if (more < 0 || (size_t)more >= MAX_LEVELS - used)
                fail("%s: too many flags", argv[i]);
        } else if (argv[i][0] == '-') {
            if (strncmp(argv[i], "-W", 2) != 0 && strncmp(argv[i], "-f", 2) != 0)
                fail("%s: not an option, or its value is missing, or there are too many", argv[i]);
        } else {
            char path[PATH_MAX], *colon = argv[i][0] == '/' ? NULL : strchr(argv[i], ':');
            if (colon) {
                *colon = '\0';
                flags.condition = argv[i];
            }
            if (!realpath(colon ? colon + 1 : argv[i], path))
                fail("%s: %s", argv[i], strerror(errno));
            unsigned source = file_of(path);
            flags.path = files[source].path;
            flags.base = files[source].base;
            flags.is_source = true;
            files[source] = flags;
            flags = (file_info){0};
            sources[source_count++] = source;
        }
    }

    const text licence = read_text(argv[2]);
    text header = {0};
    char found[PATH_MAX];
    for (char *base = strtok(argv[3], ","); base; base = strtok(NULL, ",")) {
        find(base, NULL, found);
        unsigned file = file_of(found);
        if (!seen[file]) {
            seen[file] = true;
            expand(found, file, &header, true);
        }
    }
    const unsigned public_file = file_of(found);
    text begin = read_macros("trommel/kernel_begin.h", public_file);
    text end = read_macros("trommel/kernel_end.h", public_file);
    /* What one level's loops share with the others comes before these. */
    for (int pass = 0; pass < 3; pass++)
        for (unsigned i = 0; i < source_count; i++) {
            const file_info *f = &files[sources[i]];
            if (pass == (f->condition ? 2 : f->target[0] ? 1 : 0))
                expand(f->path, sources[i], new_piece(sources[i]), false);
        }

    tokens *all = grown(NULL, (piece_count + 1) * sizeof *all);
    tokens public = tokens_of(&header);
    find_macros(&public, public_file);
    for (size_t i = 0; i < piece_count; i++) {
        all[i] = tokens_of(&pieces[i].text);
        find_macros(&all[i], pieces[i].file);
    }
    /* <windows.h> has these. */
    static const char *const types[] = {"LONG", "SHORT", "POINTS"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        mean(&(token){.at = types[i], .length = (unsigned)strlen(types[i])}, public_file, OWN);
    for (int pass = 0; pass < 2; pass++) {
        find_declarations(&public, public_file, true, false);
        for (size_t i = 0; i < piece_count; i++)
            find_declarations(&all[i], pieces[i].file, false, pass == 1);
    }
    write_header(argv[1], &licence, &header, &begin, &end);
    write_source(argv[1], &licence, all);
    return 0;
}
