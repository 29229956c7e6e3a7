/* Inserts users' kernels into shader templates (kernel_glue.h). Also compiled into build tools. */
#include "gpu/kernel_glue.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GLUE_LINE "#include \"kernel_glue.glsl\"\n"

/* A type's name in GLSL, and its layout in memory. */
typedef struct glsl_type {
    tml_type type;
    const char *name, *words;
    unsigned size;
} glsl_type;

static const glsl_type glsl_types[] = {
    {TML_F32, "float", "uint", 4},
    {TML_I32, "int", "uint", 4},
    {TML_U32, "uint", "uint", 4},
    {TML_VEC(TML_F32, 2), "vec2", "uvec2", 8},
    {TML_VEC(TML_F32, 3), "vec3", "uvec3", 12},
    {TML_VEC(TML_F32, 4), "vec4", "uvec4", 16},
    {TML_VEC(TML_U32, 2), "uvec2", "uvec2", 8},
    {TML_VEC(TML_U32, 3), "uvec3", "uvec3", 12},
    {TML_VEC(TML_U32, 4), "uvec4", "uvec4", 16},
    {TML_F64, "double", "uvec2", 8},
    {TML_I64, "int64", "uvec2", 8},
    {TML_U64, "uint64", "uvec2", 8},
    {TML_U8, "bool", "uint", 1},
};

static const glsl_type *glsl_type_of(tml_type type)
{
    size_t last = sizeof glsl_types / sizeof glsl_types[0] - 1;
    size_t i = 0;
    while (i < last && glsl_types[i].type != type)
        i++;
    return &glsl_types[i];
}

typedef struct text_out {
    char *out;
    size_t capacity, length;
} text_out;

static void put_bytes(text_out *t, const char *bytes, size_t size)
{
    if (t->length < t->capacity) {
        size_t room = t->capacity - t->length;
        memcpy(t->out + t->length, bytes, size < room ? size : room);
    }
    t->length += size;
}

static void glue_put(text_out *t, const char *format, ...) TML_FORMAT(2, 3);
static void glue_put(text_out *t, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0)
        put_bytes(t, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length) {
        bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        bool ends = !(isalnum((unsigned char)at[length]) || at[length] == '_');
        if (begins && ends)
            return true;
    }
    return false;
}

/* Does the kernel's text, or its library's, contain this word? */
static bool kernel_has_word(const tml_kernel *kernel, const char *word)
{
    return has_word(kernel->glsl, word) || (kernel->library && has_word(kernel->library, word));
}

bool kernel_uses_float64(const tml_kernel *kernel)
{
    return kernel_has_word(kernel, "double") || kernel_has_word(kernel, "DOUBLE");
}

bool kernel_uses_int64(const tml_kernel *kernel)
{
    static const char *const words[] = {"int64",    "uint64", "int64_t",
                                        "uint64_t", "INT64",  "UINT64"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (kernel_has_word(kernel, words[i]))
            return true;
    return false;
}

bool kernel_uses_words(const tml_kernel *kernel)
{
    for (uint32_t p = 0; p < kernel->param_count; p++)
        if (kernel->params[p] == TML_PARAM_WORDS)
            return true;
    return false;
}

static bool has_member_m(const char *text)
{
    for (; (text = strchr(text, '.')); text++) {
        const char *name = text + 1 + strspn(text + 1, " \t\n");
        if (name[0] == 'm' && !isalnum((unsigned char)name[1]) && name[1] != '_')
            return true;
    }
    return false;
}

bool kernel_uses_matrix(const tml_kernel *kernel)
{
    for (uint32_t p = 0; p < kernel->param_count; p++)
        if (kernel->params[p] == TML_PARAM_PARAMS)
            return has_member_m(kernel->glsl) ||
                   (kernel->library && has_word(kernel->library, "tml_params") &&
                    has_member_m(kernel->library));
    return false;
}

static bool is_uvec(uint32_t param)
{
    return param == TML_VEC(TML_U32, 2) || param == TML_VEC(TML_U32, 3) ||
           param == TML_VEC(TML_U32, 4);
}

bool kernel_uses_uvec(const tml_kernel *kernel)
{
    for (uint32_t p = 0; p < kernel->param_count; p++)
        if (is_uvec(kernel->params[p]))
            return true;
    return is_uvec(kernel->result);
}

bool kernel_is_same(const tml_kernel *kernel, const char *glsl, const char *library)
{
    if (!kernel->library != !library || strcmp(kernel->glsl, glsl) != 0)
        return false;
    return kernel->library == library || strcmp(kernel->library, library) == 0;
}

/* Writes kernel_at or, by_word, kernel_of_word, which templates call. */
static void put_call(text_out *t, const tml_kernel *kernel, const char *names, const char *result,
                     bool by_word)
{
    glue_put(t, "%s %s(%suint i, uint index, uint rank)\n{\n    return %s(", result,
             by_word ? "kernel_of_word" : "kernel_at", by_word ? "uint word, " : "", kernel->name);
    unsigned array = 0;
    for (uint32_t p = 0; p < kernel->param_count; p++) {
        const char *comma = p > 0 ? ", " : "";
        const char *type = glsl_type_of(kernel->params[p])->name;
        if (kernel->params[p] == TML_PARAM_INDEX)
            glue_put(t, "%sindex", comma);
        else if (kernel->params[p] == TML_PARAM_RANK)
            glue_put(t, "%srank", comma);
        else if (kernel->params[p] == TML_PARAM_PARAMS)
            glue_put(t, "%skernel_params()", comma);
        else if (kernel->params[p] == TML_PARAM_WORDS)
            glue_put(t, "%sKERNEL_ARRAY_%u", comma, array++);
        else if (by_word && array++ == 0)
            glue_put(t, "%skernel_%s_of(word)", comma, type);
        else if (by_word)
            glue_put(t, "%skernel_load_%s(KERNEL_TYPE_%u, %s%u, i)", comma, type, array - 1, names,
                     array - 1);
        else
            glue_put(t, "%skernel_load_%s(KERNEL_TYPE_%u, %s%u, i)", comma, type, array, names,
                     array),
                array++;
    }
    glue_put(t, ");\n}\n");
}

/* For a kernel with several outputs: writes the struct of its result, and a name for each member.
 * Returns the text after the list of outputs. */
static const char *put_outs(text_out *t, const tml_kernel *kernel)
{
    const char *at = kernel->glsl;
    glue_put(t, "struct %s_out ", kernel->name);
    for (; *at && *at != ')'; at++)
        put_bytes(t, *at == '(' ? "{" : *at == ',' ? ";" : at, 1);
    glue_put(t, "; };\n");
    const char *end = at;
    for (uint32_t k = kernel->out_count; k-- > 0;) { /* the last word before each comma */
        while (end > kernel->glsl && isspace((unsigned char)end[-1]))
            end--;
        const char *name = end;
        while (name > kernel->glsl && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
            name--;
        glue_put(t, "#define KERNEL_OUT_%u(r) (r).%.*s\n", k, (int)(end - name), name);
        for (end = name; end > kernel->glsl && *end != ',';)
            end--;
    }
    return *at ? at + 1 : at;
}

static bool first_array_is_words(const tml_kernel *kernel)
{
    for (uint32_t p = 0; p < kernel->param_count; p++)
        if (tml_param_is_array(kernel->params[p]))
            return tml_param_is_elements(kernel->params[p]) &&
                   glsl_type_of(kernel->params[p])->size == 4;
    return false;
}

size_t kernel_glue(const tml_kernel *kernel, const char *head, const char *array,
                   kernel_place place, const char *text, char *out, size_t capacity)
{
    text_out t = {out, capacity > 0 ? capacity - 1 : 0, 0};
    bool is_one = kernel->out_count == 0;
    const glsl_type *result = glsl_type_of(is_one ? kernel->result : kernel->outs[0]);
    char result_name[128];
    snprintf(result_name, sizeof result_name, "%s%s", is_one ? result->name : kernel->name,
             is_one ? "" : "_out");
    const char *cut = strstr(text, GLUE_LINE);
    if (!cut)
        cut = text + strlen(text);

    put_bytes(&t, head, strlen(head));
    put_bytes(&t, text, (size_t)(cut - text));

    /* If a user's macro generated the kernel, types have their C names. The kernel's name may be
     * reserved in GLSL, or used by the template. */
    glue_put(&t, "#define _Bool bool\n#define int32_t int\n#define uint32_t uint\n"
                 "#define tml_vec2 vec2\n#define tml_vec3 vec3\n#define tml_vec4 vec4\n"
                 "#define tml_uvec2 uvec2\n#define tml_uvec3 uvec3\n#define tml_uvec4 uvec4\n");
    if (kernel->library) {
        if (place.file)
            glue_put(&t, "#line 1 \"library of %s\"\n", kernel->name);
        put_bytes(&t, kernel->library, strlen(kernel->library));
        glue_put(&t, "\n");
    }
    const char *function = is_one ? kernel->glsl : put_outs(&t, kernel);
    if (!strstr(kernel->name, "__"))
        glue_put(&t, "#define %s tml_kernel_%s\n", kernel->name, kernel->name);
    glue_put(&t, "#define KERNEL_RESULT %s\n#define KERNEL_SIZE %u\n#define KERNEL_WORDS %s\n",
             result_name, result->size, result->words);
    if (is_one)
        glue_put(&t, "#define KERNEL_OUT_0(r) r\n");
    glue_put(&t, "#define KERNEL_OUTS %u\n", is_one ? 1 : kernel->out_count);
    if (place.file)
        glue_put(&t, "#line %u \"%s\"\n", place.line, place.file);
    glue_put(&t, "%s", is_one ? "" : result_name);
    put_bytes(&t, function, strlen(function));
    glue_put(&t, "%s", place.file ? "\n#line 1 \"kernel_glue.glsl\"\n" : "\n");
    put_call(&t, kernel, array, result_name, false);
    if (first_array_is_words(kernel)) {
        put_call(&t, kernel, array, result_name, true);
        glue_put(&t, "const bool KERNEL_BY_WORD = kernel_is_word(KERNEL_TYPE_0);\n");
    } else {
        glue_put(&t, "#define kernel_of_word(word, i, index, rank) kernel_at(i, index, rank)\n"
                     "const bool KERNEL_BY_WORD = false;\n");
    }
    if (*cut)
        put_bytes(&t, cut + strlen(GLUE_LINE), strlen(cut) - strlen(GLUE_LINE));
    if (capacity > 0)
        out[t.length < t.capacity ? t.length : t.capacity] = '\0';
    return t.length;
}
