/* Users' kernels on Vulkan. Kernels built with the program are given as SPIR-V
 * (tml_vulkan_desc.kernels). libshaderc, which is opened on first use, compiles others at run time.
 * Modules live until the context closes, since pipelines are cached by module address. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "vulkan/vulkan_device.h"
#include "vulkan/vulkan_kernel_glue.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"

#include "kernels/kernel_end.h"
#include "vulkan_shaders.h"

_Static_assert((int)VK_KERNEL_FORMS == (int)TML_VULKAN_KERNEL_FORMS, "one code for each form");

/* ---- libshaderc ------------------------------------------------------------------------------ */

typedef struct shaderc_compiler shaderc_compiler;
typedef struct shaderc_options shaderc_options;
typedef struct shaderc_result shaderc_result;

/* Values from <shaderc/shaderc.h>, whose ABI is stable. */
enum {
    SHADERC_COMPUTE_SHADER = 2,
    SHADERC_OPTIMIZE_PERFORMANCE = 2,
    SHADERC_TARGET_VULKAN = 0,
    SHADERC_VULKAN_1_2 = 1 << 22 | 2 << 12,
    SHADERC_SUCCESS = 0,
};

/* X(return type, name without shaderc_, parameters) */
#define SHADERC_LIST(X)                                                                            \
    X(shaderc_compiler *, compiler_initialize, (void))                                             \
    X(void, compiler_release, (shaderc_compiler *))                                                \
    X(shaderc_options *, compile_options_initialize, (void))                                       \
    X(void, compile_options_release, (shaderc_options *))                                          \
    X(void, compile_options_set_optimization_level, (shaderc_options *, int))                      \
    X(void, compile_options_set_target_env, (shaderc_options *, int, uint32_t))                    \
    X(shaderc_result *, compile_into_spv,                                                          \
      (const shaderc_compiler *, const char *, size_t, int, const char *, const char *,            \
       const shaderc_options *))                                                                   \
    X(void, result_release, (shaderc_result *))                                                    \
    X(int, result_get_compilation_status, (const shaderc_result *))                                \
    X(size_t, result_get_length, (const shaderc_result *))                                         \
    X(const char *, result_get_bytes, (const shaderc_result *))                                    \
    X(const char *, result_get_error_message, (const shaderc_result *))

typedef struct shaderc_library {
    void *library;
    shaderc_compiler *compiler;
    shaderc_options *options;
#define SHADERC_POINTER(T, name, params) T(*name) params;
    SHADERC_LIST(SHADERC_POINTER)
#undef SHADERC_POINTER
} shaderc_library;

static void close_shaderc(shaderc_library *s)
{
    if (s->options)
        s->compile_options_release(s->options);
    if (s->compiler)
        s->compiler_release(s->compiler);
    if (s->library)
        tml_library_close(s->library);
    *s = (shaderc_library){0};
}

/* Opens libshaderc and loads its functions. On failure, why receives the reason. */
static bool open_shaderc(shaderc_library *s, char *why, size_t why_size)
{
    s->library = tml_library_open(TML_LIBRARY_SHADERC, why, why_size);
    if (!s->library)
        return false;
#define SHADERC_LOAD(T, name, params)                                                              \
    *(void **)&s->name = tml_library_symbol(s->library, "shaderc_" #name);                         \
    bool has_##name = s->name != NULL;
    SHADERC_LIST(SHADERC_LOAD)
#undef SHADERC_LOAD
#define SHADERC_HAS(T, name, params) &&has_##name
    bool is_whole = true SHADERC_LIST(SHADERC_HAS);
#undef SHADERC_HAS
    if (is_whole) {
        s->compiler = s->compiler_initialize();
        s->options = s->compile_options_initialize();
    }
    if (!s->compiler || !s->options) {
        snprintf(why, why_size, "%s", is_whole ? "out of memory" : "it lacks functions");
        close_shaderc(s);
        return false;
    }
    s->compile_options_set_optimization_level(s->options, SHADERC_OPTIMIZE_PERFORMANCE);
    s->compile_options_set_target_env(s->options, SHADERC_TARGET_VULKAN, SHADERC_VULKAN_1_2);
    return true;
}

/* ---- module cache ---------------------------------------------------------------------------- */

/* One allocation: the entry, the SPIR-V if it was compiled here, the kernel's name and its
 * texts. */
typedef struct kernel_entry {
    struct kernel_entry *next;
    size_t size;
    vk_kernel_form form;
    const char *glsl, *library;
    const char *own_library; /* the library of a program's own kernel, which is static; else NULL */
    vk_module module;
    uint32_t code[];
} kernel_entry;

struct vk_kernel_cache {
    kernel_entry *entries;
    bool looked_for_shaderc;
    shaderc_library shaderc;
    char why_no_shaderc[160];
};

static struct vk_kernel_cache *cache_of(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    if (!device->kernel_cache) {
        device->kernel_cache = tml_alloc(tml, sizeof *device->kernel_cache);
        if (device->kernel_cache)
            *device->kernel_cache = (struct vk_kernel_cache){0};
    }
    return device->kernel_cache;
}

/* NULL: libshaderc cannot be used. */
static const shaderc_library *shaderc_of(struct vk_kernel_cache *cache)
{
    if (!cache->looked_for_shaderc)
        open_shaderc(&cache->shaderc, cache->why_no_shaderc, sizeof cache->why_no_shaderc);
    cache->looked_for_shaderc = true;
    return cache->shaderc.library ? &cache->shaderc : NULL;
}

void vk_kernels_close(tml_context *tml)
{
    struct vk_kernel_cache *cache = vk_device_of(tml)->kernel_cache;
    if (!cache)
        return;
    while (cache->entries) {
        kernel_entry *entry = cache->entries;
        cache->entries = entry->next;
        tml_free(tml, entry, entry->size);
    }
    close_shaderc(&cache->shaderc);
    tml_free(tml, cache, sizeof *cache);
    vk_device_of(tml)->kernel_cache = NULL;
}

static const tml_vulkan_kernel *find_in(const tml_vulkan_kernel *list, const tml_kernel *kernel)
{
    while (list && list->glsl && !kernel_is_same(kernel, list->glsl, list->library))
        list++;
    return list && list->glsl ? list : NULL;
}

static const tml_vulkan_kernel *find_own(const tml_context *tml, const tml_kernel *kernel)
{
    const tml_vulkan_kernel *found = NULL;
    for (int i = 0; i < VK_OWN_KERNELS && !found; i++)
        found = find_in(vk_device_of(tml)->own_kernels[i], kernel);
    return found;
}

/* Caches a kernel's SPIR-V. The code is copied unless it was built with the program. */
static tml_status keep_module(tml_context *tml, struct vk_kernel_cache *cache,
                              const tml_kernel *kernel, vk_kernel_form form, const void *code,
                              size_t code_size, const tml_vulkan_kernel *built,
                              const vk_module **out)
{
    size_t copied = built ? 0 : code_size;
    size_t name_size = strlen(kernel->name) + 1, glsl_size = strlen(kernel->glsl) + 1;
    size_t library_size = kernel->library ? strlen(kernel->library) + 1 : 0;
    size_t size = sizeof(kernel_entry) + copied + name_size + glsl_size + library_size;
    kernel_entry *entry = tml_alloc(tml, size);
    if (!entry)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "kernel %s: no memory for %zu bytes of code",
                         kernel->name, size);
    char *name = (char *)entry->code + copied, *glsl = name + name_size;
    char *library = glsl + glsl_size;
    memcpy(entry->code, code, copied);
    memcpy(name, kernel->name, name_size);
    memcpy(glsl, kernel->glsl, glsl_size);
    if (library_size)
        memcpy(library, kernel->library, library_size);
    entry->next = cache->entries;
    entry->size = size;
    entry->form = form;
    entry->glsl = glsl;
    entry->library = library_size ? library : NULL;
    entry->own_library = built && built == find_own(tml, kernel) ? kernel->library : NULL;
    entry->module = (vk_module){name, built ? code : entry->code, code_size};
    cache->entries = entry;
    *out = &entry->module;
    return TML_OK;
}

/* The text of a program's own library is long and static, so addresses are compared first. */
static bool is_entry_of(const kernel_entry *entry, const tml_kernel *kernel)
{
    if (kernel->library && kernel->library == entry->own_library)
        return strcmp(kernel->glsl, entry->glsl) == 0;
    return kernel_is_same(kernel, entry->glsl, entry->library);
}

/* ---- where a kernel comes from --------------------------------------------------------------- */

static const tml_vulkan_kernel *find_built(const tml_context *tml, const tml_kernel *kernel)
{
    const tml_vulkan_kernel *found = find_in(vk_device_of(tml)->kernels, kernel);
    return found ? found : find_own(tml, kernel);
}

void vk_kernels_learn(tml_context *tml, const tml_vulkan_kernel *kernels)
{
    const tml_vulkan_kernel **own = vk_device_of(tml)->own_kernels;
    int i = 0;
    while (i < VK_OWN_KERNELS - 1 && own[i] && own[i] != kernels)
        i++;
    own[i] = kernels;
}

bool vk_kernel_supported(tml_context *tml, const tml_kernel *kernel)
{
    /* A kernel that is cached has passed the following checks, which read its whole texts. */
    struct vk_kernel_cache *cache = cache_of(tml);
    for (const kernel_entry *entry = cache ? cache->entries : NULL; entry; entry = entry->next)
        if (is_entry_of(entry, kernel))
            return true;
    const vk_caps *caps = &vk_device_of(tml)->caps;
    const char *lacks = !caps->float64 && kernel_uses_float64(kernel) ? "double"
                        : !caps->int64 && kernel_uses_int64(kernel)   ? "integers of 64 bits"
                                                                      : NULL;
    if (lacks) {
        tml_error(tml, TML_ERROR_UNSUPPORTED, "kernel %s uses %s, which %s has not", kernel->name,
                  lacks, tml->device.name);
        return false;
    }
    if (find_built(tml, kernel) || (cache && shaderc_of(cache)))
        return true;
    tml_error(tml, TML_ERROR_UNSUPPORTED,
              "kernel %s was not built for Vulkan, and libshaderc, which would do that now, cannot "
              "be used (%s); call trommel_add_kernels() in CMake and pass its list in "
              "tml_vulkan_desc.kernels, or install libshaderc",
              kernel->name, cache ? cache->why_no_shaderc : "out of memory");
    return false;
}

static tml_status compile(tml_context *tml, struct vk_kernel_cache *cache, const shaderc_library *s,
                          const tml_kernel *kernel, vk_kernel_form form, const vk_module **out)
{
    char file[64];
    snprintf(file, sizeof file, "kernel %s", kernel->name);
    kernel_place place = {file, 1};
    const char *template = vk_kernel_templates[form];
    size_t size = vk_kernel_shader(kernel, place, template, NULL, 0) + 1;
    char *text = tml_alloc(tml, size);
    if (!text)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes of GLSL", file,
                         size);
    vk_kernel_shader(kernel, place, template, text, size);
    shaderc_result *result = s->compile_into_spv(s->compiler, text, size - 1,
                                                 SHADERC_COMPUTE_SHADER, file, "main", s->options);
    tml_free(tml, text, size);
    tml_status status;
    if (result && s->result_get_compilation_status(result) == SHADERC_SUCCESS)
        status = keep_module(tml, cache, kernel, form, s->result_get_bytes(result),
                             s->result_get_length(result), NULL, out);
    else
        status = tml_error(tml, TML_ERROR_UNSUPPORTED, "%s is refused by the GLSL compiler:\n%s",
                           file, result ? s->result_get_error_message(result) : "(no message)");
    if (result)
        s->result_release(result);
    return status;
}

tml_status vk_kernel_module(tml_context *tml, const tml_kernel *kernel, vk_kernel_form form,
                            const vk_module **out)
{
    struct vk_kernel_cache *cache = cache_of(tml);
    if (!cache)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "kernel %s: no memory for a list of kernels",
                         kernel->name);
    for (const kernel_entry *entry = cache->entries; entry; entry = entry->next)
        if (entry->form == form && is_entry_of(entry, kernel)) {
            *out = &entry->module;
            return TML_OK;
        }
    const tml_vulkan_kernel *built = find_built(tml, kernel);
    if (built && built->code[form])
        return keep_module(tml, cache, kernel, form, built->code[form], built->size[form], built,
                           out);
    const shaderc_library *shaderc = shaderc_of(cache);
    if (!shaderc)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "kernel %s was not built in this form for Vulkan, and libshaderc cannot "
                         "be used (%s)",
                         kernel->name, cache->why_no_shaderc);
    return compile(tml, cache, shaderc, kernel, form, out);
}

/* ---- arguments ------------------------------------------------------------------------------- */

void vk_kernel_specs(const tml_context *tml, const tml_kernel *kernel,
                     const tml_buffer in[TML_MAX_INPUTS], uint32_t specs[VK_KERNEL_SPECS])
{
    const uint32_t aligned = 1u << 31; /* KERNEL_ALIGNED, shaders/kernel_loads.glsl */
    uint32_t array = 0;
    memset(specs, 0, VK_KERNEL_SPECS * sizeof *specs);
    for (uint32_t p = 0; p < kernel->param_count; p++) {
        if (!tml_param_is_array(kernel->params[p]))
            continue;
        const tml_slot *slot = tml_slot_of(tml, in[array]);
        size_t size = slot->element_size;
        bool is_words = kernel->params[p] == TML_PARAM_WORDS; /* one pipeline for all types */
        specs[array] = is_words ? TML_U32 : slot->type;
        if (!is_words && (size == 8 || size == 16) && vk_slot_address(slot) % size == 0)
            specs[array] |= aligned;
        array++;
    }
}

vk_address vk_params_take(const tml_kernel *kernel, vk_arena *arena)
{
    return kernel && kernel_uses_matrix(kernel)
               ? vk_take(arena, PARAMS_WORDS + OUTS_WORDS, sizeof(uint32_t))
               : 0;
}

static tml_status store_words(tml_context *tml, const store_params_args *args, uint32_t count,
                              bool unordered)
{
    return vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_store_params,
                                                .spec_count = 1,
                                                .specs = {count},
                                                .args = args,
                                                .args_size = sizeof *args,
                                                .groups = 1,
                                                .unordered = unordered});
}

tml_status vk_params_store(tml_context *tml, const tml_params *params, const vk_address *outs,
                           vk_address stored)
{
    _Static_assert(sizeof(tml_params) == PARAMS_WORDS * sizeof(uint32_t), "all of it");
    if (!stored)
        return TML_OK;
    store_params_args args = {.to = stored, .params = *params};
    if (outs)
        memcpy(args.outs, outs, sizeof args.outs);
    return store_words(tml, &args, PARAMS_WORDS + OUTS_WORDS, false);
}

tml_status vk_put(tml_context *tml, tml_slot *slot, size_t size, const void *in)
{
    const uint32_t *words = in;
    const uint32_t count = (uint32_t)(size / sizeof *words), most = PARAMS_WORDS + OUTS_WORDS;
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < count && status == TML_OK; i += most) {
        const uint32_t part = TML_MIN_OF(count - i, most);
        store_params_args args = {.to = vk_slot_address(slot) + i * sizeof *words};
        memcpy((char *)&args + offsetof(store_params_args, params), words + i,
               part * sizeof *words);
        status = store_words(tml, &args, part, i > 0);
    }
    return status;
}

void vk_kernel_args(const tml_context *tml, const vk_kernel_use *use, uint64_t first,
                    vk_address addresses[TML_MAX_INPUTS], struct kernel_values *values,
                    uint32_t word_counts[TML_MAX_INPUTS])
{
    const tml_kernel *kernel = use->kernel;
    uint32_t array = 0;
    for (uint32_t p = 0; p < kernel->param_count; p++) {
        if (!tml_param_is_array(kernel->params[p]))
            continue;
        const tml_slot *slot = tml_slot_of(tml, use->in[array]);
        bool is_words = kernel->params[p] == TML_PARAM_WORDS;
        addresses[array] = vk_slot_address(slot) + (is_words ? 0 : first * slot->element_size);
        if (word_counts)
            word_counts[array] = (uint32_t)TML_MIN_OF(slot->size / 4, (uint64_t)UINT32_MAX);
        array++;
    }
    memcpy(values->f, use->params->f, sizeof values->f);
    memcpy(values->u, use->params->u, sizeof values->u);
    if (use->stored) {
        values->u[0] = (uint32_t)use->stored;
        values->u[1] = (uint32_t)(use->stored >> 32);
    }
    values->first_index = (uint32_t)first;
}
