/* The tool behind trommel_add_kernels() (cmake/TrommelKernels.cmake).
 *
 *   trommel-kernels OUTPUT SYMBOL FOLDER GLSLC PREPROCESSED...
 *
 * The inputs are C sources as the preprocessor leaves them when TML_KERNEL_EXTRACT is defined: with
 * that, TML_KERNEL (<trommel/kernel.h>) leaves behind
 *
 *     tml_kernel_extract(name, result, params, text, file, line, library)
 *
 * where all but the line are string literals: the text is the very one that tml_kernel.glsl holds,
 * and library the name of one, or "". TML_LIBRARY leaves, before the kernels that name it,
 *
 *     tml_library_extract(name, text, file, line)
 *
 * Every kernel is put into the templates, compiled in FOLDER, packed (pack_spirv.h) and written to
 * the C file OUTPUT, which defines const tml_vulkan_kernel SYMBOL[]. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pack_spirv.h"
#include "vulkan/vulkan_kernel_glue.h"

#define MARK         "tml_kernel_extract("
#define LIBRARY_MARK "tml_library_extract("

static const char *const form_names[VK_KERNEL_FORMS] = {"map", "keep", "compact"};

/* A form's module, packed. number: the kernel's whose form of this kind was the first to have these
 * words. */
typedef struct packed_form {
    uint32_t *words;
    size_t count, number;
} packed_form;

typedef struct parsed_kernel {
    tml_kernel kernel;
    kernel_place place;
    packed_form forms[VK_KERNEL_FORMS];
    bool is_large; /* compiled without optimisation, too */
} parsed_kernel;

/* The text of a library. Two source files may give different libraries one name. */
typedef struct parsed_library {
    struct parsed_library *next;
    const char *name, *text;
    size_t number; /* in the output; 0: not written yet */
} parsed_library;
static parsed_library *libraries;

typedef struct kernel_list {
    parsed_kernel *items;
    size_t count, capacity;
} kernel_list;

static void fail(const char *what, const char *message)
{
    fprintf(stderr, "trommel-kernels: %s: %s\n", what, message);
    exit(EXIT_FAILURE);
}

/* Everything that is allocated lives to the end of the program. */
typedef union block {
    union block *next;
    max_align_t alignment;
} block;
static block *blocks;

static void free_blocks(void)
{
    while (blocks) {
        block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

/* Allocates zeroed memory. */
static void *allocate(size_t size)
{
    block *memory = calloc(1, sizeof *memory + size);
    if (!memory)
        fail("memory", strerror(errno));
    memory->next = blocks;
    blocks = memory;
    return memory + 1;
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail(path, strerror(errno));
    long length = ftell(file);
    if (length < 0)
        fail(path, strerror(errno));
    rewind(file);
    char *text = allocate((size_t)length + 1);
    *size = fread(text, 1, (size_t)length, file);
    if (*size != (size_t)length)
        fail(path, "cannot be read");
    fclose(file);
    return text;
}

/* ---- parsing --------------------------------------------------------------------------------- */

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* Parses adjacent string literals as one string. The preprocessor escapes only quotes and
 * backslashes, make_shader also line ends. */
static char *parse_string(const char **at, const char *what)
{
    const char *c = skip_space(*at);
    char *text = allocate(strlen(c) + 1), *end = text;
    if (*c != '"')
        fail(what, "a kernel is not what TML_KERNEL makes of it");
    for (; *c == '"'; c = skip_space(c + 1)) {
        for (c++; *c && *c != '"'; c++) {
            if (*c == '\\' && c[1])
                *end++ = *++c == 'n' ? '\n' : *c;
            else
                *end++ = *c;
        }
        if (!*c)
            fail(what, "a string does not end");
    }
    *at = *c == ',' ? c + 1 : c;
    return text;
}

static uint32_t parse_type(const char *word, size_t length, const char *kernel)
{
    static const struct {
        const char *name;
        uint32_t type;
    } types[] = {
        {"bool", TML_U8},
        {"_Bool", TML_U8},
        {"float", TML_F32},
        {"double", TML_F64},
        {"int", TML_I32},
        {"int32_t", TML_I32},
        {"uint", TML_U32},
        {"uint32_t", TML_U32},
        {"int64", TML_I64},
        {"int64_t", TML_I64},
        {"uint64", TML_U64},
        {"uint64_t", TML_U64},
        {"vec2", TML_VEC(TML_F32, 2)},
        {"tml_vec2", TML_VEC(TML_F32, 2)},
        {"vec3", TML_VEC(TML_F32, 3)},
        {"tml_vec3", TML_VEC(TML_F32, 3)},
        {"vec4", TML_VEC(TML_F32, 4)},
        {"tml_vec4", TML_VEC(TML_F32, 4)},
        {"uvec2", TML_VEC(TML_U32, 2)},
        {"tml_uvec2", TML_VEC(TML_U32, 2)},
        {"uvec3", TML_VEC(TML_U32, 3)},
        {"tml_uvec3", TML_VEC(TML_U32, 3)},
        {"uvec4", TML_VEC(TML_U32, 4)},
        {"tml_uvec4", TML_VEC(TML_U32, 4)},
        {"tml_words", TML_PARAM_WORDS},
        {"tml_index", TML_PARAM_INDEX},
        {"tml_rank", TML_PARAM_RANK},
        {"tml_params", TML_PARAM_PARAMS},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == length && !memcmp(types[i].name, word, length))
            return types[i].type;
    fail(kernel, "a parameter or the result has a type that kernels may not have");
    return TML_TYPE_NONE;
}

/* The types in "(float x, tml_params p)"; returns their number. */
static uint32_t parse_list(const char *text, uint32_t *types, uint32_t most, const char *kernel,
                           const char *too_many)
{
    uint32_t count = 0;
    const char *at = skip_space(text + strspn(text, "("));
    while (*at && *at != ')') {
        size_t length = strcspn(at, " \t,)");
        if (count == most)
            fail(kernel, too_many);
        types[count++] = parse_type(at, length, kernel);
        at += strcspn(at, ",)");
        at = skip_space(*at == ',' ? at + 1 : at);
    }
    return count;
}

/* "float", or "(vec3 position, vec3 velocity)" */
static void parse_result(const char *text, tml_kernel *kernel)
{
    if (*text == '(')
        kernel->out_count = parse_list(text, kernel->outs, TML_MAX_OUTS, kernel->name,
                                       "has more than four outputs");
    else
        kernel->result = parse_type(text, strlen(text), kernel->name);
}

static void parse_params(const char *text, tml_kernel *kernel)
{
    kernel->param_count = parse_list(text, kernel->params, TML_MAX_PARAMS, kernel->name,
                                     "has more than six parameters");
    int arrays = 0;
    for (uint32_t p = 0; p < kernel->param_count; p++)
        arrays += tml_param_is_array(kernel->params[p]);
    if (arrays > TML_MAX_INPUTS)
        fail(kernel->name, "takes more than four arrays");
}

/* A kernel in a header that several sources include counts once. */
static bool is_known(const kernel_list *list, const tml_kernel *kernel)
{
    for (size_t i = 0; i < list->count; i++)
        if (kernel_is_same(kernel, list->items[i].kernel.glsl, list->items[i].kernel.library))
            return true;
    return false;
}

/* ---- libraries ------------------------------------------------------------------------------- */

/* Adds the libraries that a source defines by TML_LIBRARY. */
static void parse_libraries(const char *path, const char *text)
{
    for (const char *at = text; (at = strstr(at, LIBRARY_MARK));) {
        at += strlen(LIBRARY_MARK);
        parsed_library *library = allocate(sizeof *library);
        library->name = parse_string(&at, path);
        library->text = parse_string(&at, path);
        library->next = libraries;
        libraries = library;
    }
}

/* The text of the library that this source calls name; NULL for "". */
static const char *library_text(const char *name, const char *kernel)
{
    const parsed_library *found = libraries;
    if (!*name)
        return NULL;
    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    if (!found)
        fail(kernel, "names a library that stands nowhere before it");
    return found->text;
}

/* The number of a library's text in the output; writes the text at its first use. */
static size_t library_number(FILE *out, const char *text)
{
    static size_t count;
    parsed_library *found = NULL;
    for (parsed_library *l = libraries; l; l = l->next)
        if (!strcmp(l->text, text) && (!found || l->number > found->number))
            found = l;
    assert(found); /* the text is a library's */
    if (found->number == 0) {
        found->number = ++count;
        fprintf(out, "static const char library_%zu[] = {", count);
        for (const char *c = text; *c; c++)
            fprintf(out, "%s%d,", (c - text) % 24 == 0 ? "\n" : "", *c);
        fputs("0};\n", out);
    }
    return found->number;
}

static void parse_source(const char *path, kernel_list *list)
{
    size_t size;
    const char *text = read_file(path, &size);
    parse_libraries(path, text);
    for (const char *at = text; (at = strstr(at, MARK));) {
        at += strlen(MARK);
        parsed_kernel parsed = {.kernel.name = parse_string(&at, path)};
        const char *result = parse_string(&at, path);
        const char *params = parse_string(&at, path);
        parsed.kernel.glsl = parse_string(&at, path);
        parsed.place.file = parse_string(&at, path);
        char *end;
        parsed.place.line = (unsigned)strtoul(at, &end, 10);
        at = end + strspn(end, " \t\n,");
        parsed.kernel.library = library_text(parse_string(&at, path), parsed.kernel.name);
        parse_result(result, &parsed.kernel);
        parse_params(params, &parsed.kernel);
        if (is_known(list, &parsed.kernel))
            continue;
        if (list->count == list->capacity) {
            parsed_kernel *old = list->items;
            list->capacity = 2 * list->capacity + 16;
            list->items = allocate(list->capacity * sizeof *list->items);
            if (list->count)
                memcpy(list->items, old, list->count * sizeof *old);
        }
        list->items[list->count++] = parsed;
    }
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* The name of a form's shader or module in the folder of the work, where the tool stands by
 * then. */
static char *name_of(const char *symbol, size_t number, int form, const char *suffix)
{
    size_t size = strlen(symbol) + strlen(form_names[form]) + strlen(suffix) + 32;
    char *name = allocate(size);
    snprintf(name, size, "%s_%zu_%s%s", symbol, number, form_names[form], suffix);
    return name;
}

/* Shaders to be compiled at one level of optimisation; the compiler puts a module beside each,
 * name.spv. */
typedef struct work {
    const char *level;
    const char **names;
    size_t count, taken;
} work;

/* Many shaders a process: the compiler's own start takes as long as a small shader. */
enum { SHADERS_A_PROCESS = 8 };

static bool start_compiler(const char *glslc, work *w)
{
    extern char **environ;
    const char *arguments[6 + SHADERS_A_PROCESS] = {glslc, "-fshader-stage=compute",
                                                    "--target-env=vulkan1.2", w->level, "-c"};
    pid_t child;
    size_t count = w->count - w->taken;
    count = count < SHADERS_A_PROCESS ? count : SHADERS_A_PROCESS;
    if (count == 0)
        return false;
    memcpy(arguments + 5, w->names + w->taken, count * sizeof *w->names);
    w->taken += count;
    int error = posix_spawnp(&child, glslc, NULL, NULL, (char *const *)arguments, environ);
    if (error)
        fail(glslc, strerror(error));
    return true;
}

static void await_compiler(void)
{
    int status = 0;
    while (wait(&status) < 0)
        if (errno != EINTR)
            fail("the compiler", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        exit(EXIT_FAILURE); /* it has printed why */
}

/* On all processors. */
static void run_compilers(const char *glslc, work *w)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN), running = 0;
    while (start_compiler(glslc, w))
        if (++running >= processors)
            await_compiler(), running--;
    for (; running; running--)
        await_compiler();
}

static void write_shader(const parsed_kernel *parsed, int form, const char *name)
{
    const char *text = vk_kernel_templates[form];
    size_t size = vk_kernel_shader(&parsed->kernel, parsed->place, text, NULL, 0) + 1;
    char *shader = allocate(size);
    vk_kernel_shader(&parsed->kernel, parsed->place, text, shader, size);
    FILE *file = fopen(name, "w");
    if (!file || fputs(shader, file) < 0 || fclose(file) != 0)
        fail(name, "cannot be written");
}

/* Form 0, map, is for all kernels; form 1, keep, for those that return bool; form 2, compact in one
 * pass, for those of them without tml_words parameters. */
static bool has_form(const tml_kernel *kernel, int form)
{
    return form == 0 || (kernel->result == TML_U8 && (form == 1 || !kernel_uses_words(kernel)));
}

/* Larger optimised maps are compiled without optimisation, too, in the hope of a smaller module: of
 * a large function that is called in several places the optimiser makes copies, and drivers make
 * their own. */
enum { LARGE_MAP = 64 * 1024 };

static void compile(kernel_list *list, const char *symbol, const char *glslc)
{
    size_t most = list->count * VK_KERNEL_FORMS;
    work optimised = {.level = "-O", .names = allocate((most + 1) * sizeof(char *))};
    work plain = {.level = "-O0", .names = allocate((most + 1) * sizeof(char *))};
    for (size_t i = 0; i < list->count; i++)
        for (int form = 0; form < VK_KERNEL_FORMS; form++)
            if (has_form(&list->items[i].kernel, form)) {
                const char *name = name_of(symbol, i, form, ".comp");
                write_shader(&list->items[i], form, name);
                optimised.names[optimised.count++] = name;
            }
    run_compilers(glslc, &optimised);
    for (size_t i = 0; i < list->count; i++) {
        struct stat module;
        const char *path = name_of(symbol, i, 0, ".comp.spv");
        if (stat(path, &module) != 0)
            fail(path, strerror(errno));
        list->items[i].is_large = module.st_size > LARGE_MAP;
        if (list->items[i].is_large) {
            const char *name = name_of(symbol, i, 0, ".plain.comp");
            write_shader(&list->items[i], 0, name);
            plain.names[plain.count++] = name;
        }
    }
    run_compilers(glslc, &plain);
}

/* Packs one form's module. */
static packed_form pack_form(const kernel_list *list, size_t number, int form, const char *symbol)
{
    size_t size, plain_size;
    void *code = read_file(name_of(symbol, number, form, ".comp.spv"), &size);
    if (form == 0 && list->items[number].is_large) {
        void *plain = read_file(name_of(symbol, number, form, ".plain.comp.spv"), &plain_size);
        if (size > 2 * plain_size) {
            code = plain;
            size = plain_size;
        }
    }
    size_t count = size / sizeof(uint32_t);
    packed_form packed = {allocate(PACK_SPIRV_MOST(count) * sizeof(uint32_t)), 0, number};
    packed.count = pack_spirv(code, count, packed.words);
    return packed;
}

/* Writes one form's words as an array, unless an earlier kernel has the same. */
static void write_form(FILE *out, const kernel_list *list, size_t number, int form)
{
    packed_form *own = &list->items[number].forms[form];
    for (size_t i = 0; i < number; i++) {
        const packed_form *other = &list->items[i].forms[form];
        if (other->count == own->count &&
            !memcmp(other->words, own->words, own->count * sizeof *own->words)) {
            own->number = other->number;
            return;
        }
    }
    fprintf(out, "static const uint32_t code_%zu_%s[] = {", number, form_names[form]);
    write_words(out, own->words, own->count);
    fputs("};\n", out);
}

static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (isprint((unsigned char)*text) && *text != '?')
            fputc(*text, out);
        else
            fprintf(out, "\\%03o", (unsigned)(unsigned char)*text);
    }
    fputc('"', out);
}

static void write_entry(FILE *out, const parsed_kernel *parsed)
{
    const tml_kernel *kernel = &parsed->kernel;
    fputs("    {", out);
    write_string(out, kernel->glsl);
    fputs(",\n     {", out);
    for (int form = 0; form < VK_KERNEL_FORMS; form++)
        if (has_form(kernel, form))
            fprintf(out, "code_%zu_%s, ", parsed->forms[form].number, form_names[form]);
    fputs("},\n     {", out);
    for (int form = 0; form < VK_KERNEL_FORMS; form++)
        if (has_form(kernel, form))
            fprintf(out, "sizeof code_%zu_%s, ", parsed->forms[form].number, form_names[form]);
    if (kernel->library)
        fprintf(out, "},\n     library_%zu},\n", library_number(out, kernel->library));
    else
        fputs("},\n     NULL},\n", out);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: %s OUTPUT SYMBOL FOLDER GLSLC PREPROCESSED...\n", argv[0]);
        return EXIT_FAILURE;
    }
    atexit(free_blocks);
    const char *output = argv[1], *symbol = argv[2], *folder = argv[3], *glslc = argv[4];
    kernel_list list = {0};
    for (int i = 5; i < argc; i++)
        parse_source(argv[i], &list);
    FILE *out = fopen(output, "w");
    if (!out)
        fail(output, strerror(errno));
    fputs("/* Generated by trommel_add_kernels(); do not edit. */\n#include <trommel/vulkan.h>\n\n",
          out);
    char *compiler = strchr(glslc, '/') ? realpath(glslc, NULL) : NULL;
    if (chdir(folder) != 0)
        fail(folder, strerror(errno));
    compile(&list, symbol, compiler ? compiler : glslc);
    free(compiler);
    for (size_t i = 0; i < list.count; i++)
        for (int form = 0; form < VK_KERNEL_FORMS; form++)
            if (has_form(&list.items[i].kernel, form)) {
                list.items[i].forms[form] = pack_form(&list, i, form, symbol);
                write_form(out, &list, i, form);
            }
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].kernel.library)
            library_number(out, list.items[i].kernel.library);
    fprintf(out, "\nextern const tml_vulkan_kernel %s[];\nconst tml_vulkan_kernel %s[] = {\n",
            symbol, symbol);
    for (size_t i = 0; i < list.count; i++)
        write_entry(out, &list.items[i]);
    fputs("    {0, {0}, {0}, 0},\n};\n", out);
    bool is_written = !ferror(out);
    if (fclose(out) != 0 || !is_written)
        fail(output, "cannot be written");
    return EXIT_SUCCESS;
}
