/* Build tool for shaders.
 *
 *   make_shader flatten OUTPUT INPUT [-version | -plain | -pieces] [-keep NAME] [-I FOLDER]...
 *   [-depfile FILE -target T] Writes INPUT with its #include "x" lines resolved, each file once:
 *   looked up beside the including file first, then in the folders. The include of NAME stays as it
 *   is. -version puts #version 460 on top. Lines in a compiler's messages are those of the files,
 *   except with -plain, which leaves out comments, indentation and empty lines. -pieces is -plain
 *   without blanks that GLSL does not need, and with a byte PIECE_END wherever the text of another
 *   file begins or continues. -depfile writes a
 *   make rule by which T depends on the files.
 *   make_shader library OUTPUT NAME INPUT... Writes a C header that does what TML_LIBRARY(NAME,
 *   ...) of <trommel/kernel.h> does, with the joined text of the inputs. It defines no C functions:
 *   those come from the files themselves.
 *   make_shader bytes OUTPUT INPUT Writes INPUT as numbers separated by commas, and a 0 at the end:
 *   the initialiser of a char array, since C compilers need not accept long strings.
 *   make_shader pieces OUTPUT INPUT... Writes C that defines gl_shader_NAME for each INPUT, a
 *   NAME.frag flattened with -pieces, as a list of pieces. Equal pieces, which are most of the
 *   text, are stored once for all shaders.
 *   make_shader spirv OUTPUT INPUT Writes a module of SPIR-V packed (pack_spirv.h), as numbers
 *   separated by commas. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pack_spirv.h"

enum { MAX_FILES = 64, MAX_FOLDERS = 16, MAX_LINE = 4096, MAX_PIECES = 4096, PIECE_END = 1 };

typedef struct flattening {
    FILE *out;
    const char *keep;
    const char *folders[MAX_FOLDERS];
    char files[MAX_FILES][PATH_MAX]; /* resolved */
    int folder_count, file_count;
    bool has_pieces;
    bool is_plain, in_comment; /* in_comment: within a comment that began on an earlier line */
} flattening;

static bool fail(const char *path, const char *message)
{
    fprintf(stderr, "%s: %s\n", path, message);
    return false;
}

/* The path between the quotes of an #include line. */
static bool parse_include(const char *line, char name[MAX_LINE])
{
    line += strspn(line, " \t");
    if (strncmp(line, "#include", 8) != 0)
        return false;
    const char *begin = strchr(line, '"');
    const char *end = begin ? strchr(begin + 1, '"') : NULL;
    if (!end)
        return false;
    memcpy(name, begin + 1, (size_t)(end - begin - 1));
    name[end - begin - 1] = '\0';
    return true;
}

static bool try_path(const char *folder, size_t folder_length, const char *name,
                     char path[PATH_MAX])
{
    char joined[PATH_MAX];
    int length = snprintf(joined, sizeof joined, "%.*s%s%s", (int)folder_length, folder,
                          folder_length ? "/" : "", name);
    return length > 0 && (size_t)length < sizeof joined && realpath(joined, path);
}

static bool find_include(const flattening *f, const char *including, const char *name,
                         char path[PATH_MAX])
{
    const char *slash = strrchr(including, '/');
    if (slash && try_path(including, (size_t)(slash - including), name, path))
        return true;
    for (int i = 0; i < f->folder_count; i++)
        if (try_path(f->folders[i], strlen(f->folders[i]), name, path))
            return true;
    return false;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Takes blanks out that separate no two words, nor two signs that would be one operator; returns
 * what length is left. Of a directive the first two stay that follow a word: NAME (x) is no
 * NAME(x). */
static size_t squeeze(char *line, size_t length)
{
    size_t used = 0;
    int blanks = line[0] == '#' ? 0 : 2;
    for (size_t i = 0; i < length; i++) {
        if (line[i] != ' ' && line[i] != '\t') {
            line[used++] = line[i];
            continue;
        }
        char last = line[used - 1], next = line[i + 1]; /* none ends a line */
        if (next == ' ' || next == '\t')
            continue;
        bool are_signs = strchr("+-", last) && strchr("+-", next);
        bool is_apart = is_word(last) || last == ')'; /* what a macro leaves may end in a word */
        if (are_signs || (is_apart && is_word(next)) || (is_word(last) && blanks < 2))
            line[used++] = ' ';
        blanks++;
    }
    return used;
}

/* Writes a line without comments and without blanks at either end, unless nothing else was in
 * it. */
static void put_plain(flattening *f, const char *line)
{
    char kept[MAX_LINE];
    size_t used = 0;
    bool has_text = false;
    for (const char *c = line; *c && *c != '\n'; c++) {
        if (f->in_comment) {
            f->in_comment = strncmp(c, "*/", 2) != 0;
            c += !f->in_comment;
        } else if (strncmp(c, "/*", 2) == 0) {
            f->in_comment = true;
            c++;
        } else {
            has_text = has_text || (*c != ' ' && *c != '\t');
            if (has_text)
                kept[used++] = *c;
        }
    }
    while (used > 0 && kept[used - 1] == ' ')
        used--;
    if (f->has_pieces)
        used = squeeze(kept, used);
    if (has_text)
        fprintf(f->out, "%.*s\n", (int)used, kept);
}

/* Marks where the next line comes from. */
static void put_place(const flattening *f, int line, const char *name)
{
    if (f->has_pieces)
        fputc(PIECE_END, f->out);
    if (!f->is_plain)
        fprintf(f->out, "#line %d \"%s\"\n", line, name);
}

/* Writes the text of a file at path, includes resolved. name: the file's name in a compiler's
 * messages. */
static bool flatten(flattening *f, const char *path, const char *name)
{
    for (int i = 0; i < f->file_count; i++)
        if (!strcmp(f->files[i], path))
            return true;
    if (f->file_count == MAX_FILES || strlen(path) >= PATH_MAX)
        return fail(path, "too many files, or too long a path");
    strcpy(f->files[f->file_count++], path);
    FILE *in = fopen(path, "r");
    if (!in)
        return fail(path, strerror(errno));
    char line[MAX_LINE], include[MAX_LINE], include_path[PATH_MAX];
    bool ok = true;
    put_place(f, 1, name);
    for (int number = 1; ok && fgets(line, sizeof line, in); number++) {
        if (!strchr(line, '\n') && !feof(in)) {
            ok = fail(path, "a line is too long");
        } else if (!parse_include(line, include) || (f->keep && !strcmp(include, f->keep))) {
            if (f->is_plain)
                put_plain(f, line);
            else
                fprintf(f->out, "%s%s", line, strchr(line, '\n') ? "" : "\n");
        } else if (!find_include(f, path, include, include_path)) {
            fprintf(stderr, "%s:%d: %s is not found\n", path, number, include);
            ok = false;
        } else {
            ok = flatten(f, include_path, include);
            put_place(f, number + 1, name);
        }
    }
    fclose(in);
    return ok;
}

static bool close_output(FILE *file, const char *path)
{
    bool is_written = !ferror(file);
    if (fclose(file) != 0 || !is_written)
        return fail(path, "cannot be written");
    return true;
}

static bool write_depfile(const flattening *f, const char *path, const char *output)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return fail(path, strerror(errno));
    fprintf(file, "%s:", output);
    for (int i = 0; i < f->file_count; i++) {
        fputc(' ', file);
        for (const char *c = f->files[i]; *c; c++)
            fprintf(file, *c == ' ' ? "\\%c" : "%c", *c);
    }
    fputc('\n', file);
    return close_output(file, path);
}

static bool run_flatten(int argc, char **argv)
{
    static flattening f;
    const char *output = argv[2], *depfile = NULL, *target = output;
    char path[PATH_MAX];
    bool has_version = false;
    for (int i = 4; i < argc; i++) {
        if (!strcmp(argv[i], "-version"))
            has_version = true;
        else if (!strcmp(argv[i], "-plain"))
            f.is_plain = true;
        else if (!strcmp(argv[i], "-pieces"))
            f.is_plain = f.has_pieces = true;
        else if (i + 1 == argc)
            return fail(argv[i], "not an option, or its value is missing");
        else if (!strcmp(argv[i], "-depfile"))
            depfile = argv[++i];
        else if (!strcmp(argv[i], "-target"))
            target = argv[++i];
        else if (!strcmp(argv[i], "-keep"))
            f.keep = argv[++i];
        else if (!strcmp(argv[i], "-I") && f.folder_count < MAX_FOLDERS)
            f.folders[f.folder_count++] = argv[++i];
        else
            return fail(argv[i], "not an option, or too many folders");
    }
    if (!realpath(argv[3], path))
        return fail(argv[3], strerror(errno));
    f.out = fopen(output, "w");
    if (!f.out)
        return fail(output, strerror(errno));
    const char *slash = strrchr(path, '/');
    if (has_version)
        fputs("#version 460\n", f.out);
    if (!f.is_plain)
        fputs("#extension GL_GOOGLE_cpp_style_line_directive : require\n", f.out);
    bool ok = flatten(&f, path, slash ? slash + 1 : path);
    ok = close_output(f.out, output) && ok;
    return ok && (!depfile || write_depfile(&f, depfile, target));
}

/* A character of a string in C's spelling. */
static void write_character(FILE *out, int c)
{
    if (c == '\n')
        fputs("\\n\"\n    \"", out);
    else
        fprintf(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
}

static bool write_inputs(FILE *out, char **inputs, int count, bool as_string)
{
    int column = 0;
    for (int i = 0; i < count; i++) {
        FILE *in = fopen(inputs[i], "rb");
        if (!in)
            return fail(inputs[i], strerror(errno));
        for (int c; (c = fgetc(in)) != EOF; column++) {
            if (as_string)
                write_character(out, c);
            else
                fprintf(out, column % 24 == 23 ? "%d,\n" : "%d,", c);
        }
        fclose(in);
    }
    return true;
}

/* make_kernels reads the text as a string; C compilers, which need not accept long ones, get a char
 * array. */
static bool run_library(const char *output, const char *name, char **inputs, int count)
{
    FILE *out = fopen(output, "w");
    if (!out)
        return fail(output, strerror(errno));
    fprintf(out,
            "/* Generated by make_shader. */\n#ifdef TML_KERNEL_EXTRACT\n"
            "tml_library_extract(\"%s\",\n    \"",
            name);
    bool ok = write_inputs(out, inputs, count, true);
    fprintf(out, "\", \"%s.k.h\", 1)\n#else\nstatic const char %s_library[] = {\n", name, name);
    ok = write_inputs(out, inputs, count, false) && ok;
    fputs("0};\n#endif\n", out);
    return close_output(out, output) && ok;
}

static bool run_bytes(const char *output, char *input)
{
    FILE *out = fopen(output, "w");
    if (!out)
        return fail(output, strerror(errno));
    bool ok = write_inputs(out, &input, 1, false);
    fputs("0\n", out);
    return close_output(out, output) && ok;
}

static void write_bytes(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        fprintf(out, i % 24 == 23 ? "%d,\n" : "%d,", text[i]);
    fputs("0\n", out);
}

/* The whole of a file and a zero behind it; NULL where it cannot be read. */
static char *read_file(const char *path, size_t *size_out)
{
    FILE *in = fopen(path, "rb");
    char *text = NULL;
    long size = in && fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
    if (size >= 0 && fseek(in, 0, SEEK_SET) == 0)
        text = malloc((size_t)size + 1);
    if (text && fread(text, 1, (size_t)size, in) == (size_t)size) {
        text[size] = '\0';
        *size_out = (size_t)size;
    } else {
        free(text);
        text = NULL;
    }
    if (in)
        fclose(in);
    return text;
}

/* Returns the number of a piece, or -1 if there are too many; writes the piece if it is new. */
static int number_of(FILE *out, char **pieces, int *count, char *piece)
{
    for (int i = 0; i < *count; i++)
        if (!strcmp(pieces[i], piece))
            return i;
    if (*count == MAX_PIECES)
        return -1;
    pieces[*count] = piece;
    fprintf(out, "static const char piece_%d[] = {\n", *count);
    write_bytes(out, piece, strlen(piece));
    fputs("};\n", out);
    return (*count)++;
}

static bool write_pieces(FILE *out, char **inputs, int input_count)
{
    static char *pieces[MAX_PIECES]; /* pointers into texts, which are never freed */
    int count = 0;
    fputs("/* Generated by make_shader. */\n#include \"gl/device/gl_internal.h\"\n", out);
    for (int i = 0; i < input_count; i++) {
        size_t size;
        char *text = read_file(inputs[i], &size);
        if (!text)
            return fail(inputs[i], strerror(errno));
        const char *slash = strrchr(inputs[i], '/'), *base = slash ? slash + 1 : inputs[i];
        int length = (int)strcspn(base, "."), used = 0, list[MAX_FILES * 4];
        const char separators[] = {PIECE_END, '\0'};
        for (char *piece = strtok(text, separators); piece; piece = strtok(NULL, separators)) {
            int number = number_of(out, pieces, &count, piece);
            if (number < 0 || used == MAX_FILES * 4)
                return fail(inputs[i], "too many pieces");
            list[used++] = number;
        }
        fprintf(out, "static const char *const %.*s_pieces[] = {", length, base);
        for (int k = 0; k < used; k++)
            fprintf(out, "piece_%d, ", list[k]);
        fprintf(out, "0};\nconst gl_shader gl_shader_%.*s = {\"%.*s\", %.*s_pieces};\n", length,
                base, length, base, length, base);
    }
    return true;
}

static bool run_pieces(const char *output, char **inputs, int input_count)
{
    FILE *out = fopen(output, "w");
    if (!out)
        return fail(output, strerror(errno));
    bool ok = write_pieces(out, inputs, input_count);
    return close_output(out, output) && ok;
}

static bool run_spirv(const char *output, const char *input)
{
    size_t size;
    void *code = read_file(input, &size);
    uint32_t *packed = code ? malloc(PACK_SPIRV_MOST(size / 4) * sizeof *packed) : NULL;
    FILE *out = packed ? fopen(output, "w") : NULL;
    bool ok = out || fail(packed ? output : input, strerror(errno));
    if (out) {
        write_words(out, packed, pack_spirv(code, size / 4, packed));
        ok = close_output(out, output);
    }
    free(code);
    free(packed);
    return ok;
}

int main(int argc, char **argv)
{
    bool ok = false;
    if (argc >= 4 && !strcmp(argv[1], "flatten"))
        ok = run_flatten(argc, argv);
    else if (argc == 4 && !strcmp(argv[1], "bytes"))
        ok = run_bytes(argv[2], argv[3]);
    else if (argc >= 5 && !strcmp(argv[1], "library"))
        ok = run_library(argv[2], argv[3], argv + 4, argc - 4);
    else if (argc >= 4 && !strcmp(argv[1], "pieces"))
        ok = run_pieces(argv[2], argv + 3, argc - 3);
    else if (argc == 4 && !strcmp(argv[1], "spirv"))
        ok = run_spirv(argv[2], argv[3]);
    else
        fprintf(stderr, "usage: %s flatten|bytes|library|pieces|spirv OUTPUT INPUT [options]\n",
                argv[0]);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
