/* Runs a program of test_random: makes each call on a context and its model on the mirrors, and
 * compares the two. On Vulkan it plays the host program: device, queue, command buffers and some of
 * the buffers are its own. */
#ifndef RANDOM_RUN_H
#define RANDOM_RUN_H

#include <unistd.h>

#include "core/platform.h"

#include "random_model.h"
#ifdef _WIN32
#    include "on_windows.h"
#endif
#ifdef TML_VULKAN
#    include "vulkan_host.h"
#endif

enum {
    SIDES = 2,
    RECORDINGS = 4,
    RECORDED = 16,
    IN_FLIGHT = 3,
    ARRAYS = 4096,
    GUARD = 256,
    PATTERN = 0xa5
};

typedef struct random_settings {
    tml_engine_kind engine;
    char device[16]; /* number for tml_open */
    char name[128];
    uint32_t threads; /* CPU; 0: as the program says */
    bool validate;
    unsigned patience; /* seconds for one call; one that never ends is a failure, too */
} random_settings;

/* A command buffer, or a program of streams. On Vulkan programs are enqueued into command
 * buffers. */
typedef struct recording {
    bool is_made;
    const call *calls[RECORDED];
    uint32_t count;
    tml_program *program; /* NULL: its calls are recorded into the command buffer themselves */
#ifdef TML_VULKAN
    VkCommandBuffer commands;
    VkFence fences[IN_FLIGHT]; /* of its submissions that nobody waited for */
    uint32_t pending;
#endif
} recording;

/* A context and what belongs to it. */
typedef struct side {
    tml_context *tml;
    tml_engine_kind engine;
    bool is_in_gl;
    uint32_t recording; /* that operations go to; 0: none */
    recording recordings[RECORDINGS + 1];
    uint32_t reports, cancel_at;
} side;

typedef struct random_tally {
    uint64_t programs, calls, made, recorded, submitted, unsupported, adopted, cancelled;
} random_tally;

typedef struct random_run {
    const random_settings *settings;
    side sides[SIDES];
    array *arrays; /* by number */
    tml_context *reference;
    const call *calls;
    size_t count, at;
    random_tally *tally;
    bool failed;
    char *message;
    size_t message_size;
} random_run;

TML_FORMAT(2, 3) static void fail(random_run *r, const char *format, ...)
{
    if (r->failed)
        return;
    r->failed = true;
    int used = snprintf(r->message, r->message_size, "call %zu: ", r->at);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->message + used, r->message_size - (size_t)used, format, arguments);
    va_end(arguments);
}

static void expect(random_run *r, const side *s, const char *what, tml_status status,
                   tml_status wanted)
{
    if (status != wanted)
        fail(r, "%s: %s, not %s: %s", what, tml_status_name(status), tml_status_name(wanted),
             tml_last_error(s->tml));
}

#define EXPECT_OK(r, s, call) expect(r, s, #call, call, TML_OK)

/* ---- the host program ------------------------------------------------------------------------ */

#ifdef TML_VULKAN
extern const tml_vulkan_kernel test_random_kernels[];

/* Compiling takes most of the time on software drivers, and every program opens contexts: pipelines
 * that were made once serve all contexts of the process. A layout that is defined alike is
 * compatible. */
static struct {
    PFN_vkGetDeviceProcAddr get;
    PFN_vkCreateShaderModule create_module;
    PFN_vkCreateComputePipelines create;
    struct {
        VkShaderModule handle;
        uint64_t hash;
    } modules[64];
    uint32_t next_module;
    struct {
        uint64_t hash;
        VkPipeline handle;
    } pipelines[2048];
    uint32_t count;
} kept;

/* FNV-1a, eight bytes at once. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    for (uint64_t x; size > 0; size -= size < 8 ? size : 8, p += 8) {
        x = 0;
        memcpy(&x, p, size < 8 ? size : 8);
        hash = (hash ^ x) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

static VKAPI_ATTR VkResult VKAPI_CALL keep_module(VkDevice device,
                                                  const VkShaderModuleCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkShaderModule *out)
{
    VkResult result = kept.create_module(device, info, allocator, out);
    uint32_t at = kept.next_module++ % 64;
    kept.modules[at].handle = *out;
    kept.modules[at].hash = hash_bytes(1, info->pCode, info->codeSize);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL keep_pipeline(VkDevice device, VkPipelineCache cache,
                                                    uint32_t count,
                                                    const VkComputePipelineCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkPipeline *out)
{
    const VkSpecializationInfo *constants = info->stage.pSpecializationInfo;
    uint64_t hash = info->stage.pNext != NULL;
    uint32_t newest = 64;
    for (uint32_t i = 0; i < 64; i++)
        if (kept.modules[(kept.next_module + i) % 64].handle == info->stage.module)
            newest = (kept.next_module + i) % 64;
    if (newest == 64 || count != 1 || kept.count == 2048)
        return kept.create(device, cache, count, info, allocator, out);
    hash = hash_bytes(hash, &kept.modules[newest].hash, sizeof(uint64_t));
    if (constants)
        hash = hash_bytes(hash, constants->pData, constants->dataSize);
    for (uint32_t i = 0; i < kept.count; i++)
        if (kept.pipelines[i].hash == hash) {
            *out = kept.pipelines[i].handle;
            return VK_SUCCESS;
        }
    VkResult result = kept.create(device, cache, count, info, allocator, out);
    if (result == VK_SUCCESS) {
        kept.pipelines[kept.count].hash = hash;
        kept.pipelines[kept.count++].handle = *out;
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL leave_pipeline(VkDevice device, VkPipeline pipeline,
                                                 const VkAllocationCallbacks *allocator)
{
    (void)device;
    (void)pipeline;
    (void)allocator;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name)
{
    PFN_vkVoidFunction real = kept.get(device, name);
    if (strcmp(name, "vkCreateShaderModule") == 0) {
        kept.create_module = (PFN_vkCreateShaderModule)real;
        return (PFN_vkVoidFunction)keep_module;
    }
    if (strcmp(name, "vkCreateComputePipelines") == 0) {
        kept.create = (PFN_vkCreateComputePipelines)real;
        return (PFN_vkVoidFunction)keep_pipeline;
    }
    return strcmp(name, "vkDestroyPipeline") == 0 ? (PFN_vkVoidFunction)leave_pipeline : real;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction real = host.get(instance, name);
    if (strcmp(name, "vkGetDeviceProcAddr") != 0)
        return real;
    kept.get = (PFN_vkGetDeviceProcAddr)real;
    return (PFN_vkVoidFunction)get_device;
}

/* Destroys the pipelines that are kept, and the device. */
static void random_host_close(void)
{
    for (uint32_t i = 0; i < kept.count; i++)
        VK(DestroyPipeline)(host.device, kept.pipelines[i].handle, NULL);
    host_close();
}

/* The host's own VkBuffer for an array, with guards; NULL when there is none to be had. */
static uint8_t *host_lend(array *a, size_t size)
{
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                 VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    if (VK(CreateBuffer)(host.device, &buffer, NULL, &a->lent_buffer) != VK_SUCCESS)
        return NULL;
    VkPhysicalDeviceMemoryProperties types;
    VkMemoryRequirements needs;
    VK(GetPhysicalDeviceMemoryProperties)(host.physical, &types);
    VK(GetBufferMemoryRequirements)(host.device, a->lent_buffer, &needs);
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (type < types.memoryTypeCount &&
           (!(needs.memoryTypeBits >> type & 1) ||
            (types.memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .pNext = &flags,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = type};
    void *mapped = NULL;
    if (VK(AllocateMemory)(host.device, &memory, NULL, &a->lent_memory) != VK_SUCCESS ||
        VK(BindBufferMemory)(host.device, a->lent_buffer, a->lent_memory, 0) != VK_SUCCESS ||
        VK(MapMemory)(host.device, a->lent_memory, 0, VK_WHOLE_SIZE, 0, &mapped) != VK_SUCCESS)
        return NULL;
    return mapped;
}

static void host_take_back(array *a)
{
    VK(DestroyBuffer)(host.device, a->lent_buffer, NULL);
    VK(FreeMemory)(host.device, a->lent_memory, NULL);
    a->lent_buffer = VK_NULL_HANDLE;
    a->lent_memory = VK_NULL_HANDLE;
}
#endif

/* ---- operands and recordings ----------------------------------------------------------------- */

static bool names(const call *c, size_t number)
{
    for (int place = 0; place < AT_PLACES; place++)
        if (c->at[place] == number)
            return true;
    return false;
}

static bool recording_names(const recording *k, size_t number)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (names(k->calls[i], number))
            return true;
    return false;
}

/* Are all of a call's buffers there? */
static bool operands_of(random_run *r, const call *c, operands *out)
{
    *out = (operands){.reference = r->reference};
    for (int place = 0; place < AT_PLACES; place++) {
        array *a = c->at[place] ? &r->arrays[c->at[place]] : NULL;
        if (a && (!a->is_live || a->context != c->context))
            return false;
        out->at[place] = a;
    }
    return true;
}

static void wait_frame(random_run *r, side *s, recording *k)
{
#ifdef TML_VULKAN
    if (k->pending == 0)
        return;
    if (VK(WaitForFences)(host.device, k->pending, k->fences, VK_TRUE, UINT64_MAX) != VK_SUCCESS)
        fail(r, "vkWaitForFences");
    VK(ResetFences)(host.device, k->pending, k->fences);
    k->pending = 0;
    EXPECT_OK(r, s, tml_vulkan_check(s->tml));
#else
    (void)r;
    (void)s;
    (void)k;
#endif
}

/* Waits for the frames that use an array (0: for all), before the host looks at it. */
static void wait_for(random_run *r, side *s, size_t number)
{
    for (uint32_t k = 1; k <= RECORDINGS; k++)
        if (number == 0 || recording_names(&s->recordings[k], number))
            wait_frame(r, s, &s->recordings[k]);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void check_guards(random_run *r, const array *a)
{
    if (!a->lent)
        return;
    for (size_t i = 0; i < GUARD; i++)
        if (a->lent[-1 - (ptrdiff_t)i] != PATTERN || a->lent[a->size + i] != PATTERN) {
            fail(r, "b%zu: memory %s it was written", (size_t)(a - r->arrays),
                 a->lent[-1 - (ptrdiff_t)i] != PATTERN ? "before" : "after");
            return;
        }
}

static void compare(random_run *r, const array *a, uint64_t first, uint64_t count,
                    const uint8_t *got)
{
    size_t size = tml_type_size(a->type);
    const uint8_t *wanted = a->mirror + first * size;
    if (a->role == ROLE_SCRATCH || memcmp(got, wanted, count * size) == 0)
        return;
    uint64_t i = 0, wrong = 0;
    for (uint64_t k = count; k-- > 0;)
        if (memcmp(got + k * size, wanted + k * size, size) != 0) {
            i = k;
            wrong++;
        }
    char text[2][36];
    for (size_t b = 0; b < 16 && b < size; b++) {
        size_t at = i * size + (size < 16 ? size : 16) - 1 - b;
        snprintf(text[0] + 2 * b, 3, "%02x", got[at]);
        snprintf(text[1] + 2 * b, 3, "%02x", wanted[at]);
    }
    fail(r,
         "b%zu (%s x %" PRIu64 "): %" PRIu64 " elements are wrong, first %" PRIu64
         ": 0x%s, needs 0x%s",
         (size_t)(a - r->arrays), tml_type_name(a->type), a->count, wrong, first + i, text[0],
         text[1]);
}

static void check_range(random_run *r, array *a, uint64_t first, uint64_t count)
{
    side *s = &r->sides[a->context];
    size_t size = tml_type_size(a->type);
    wait_for(r, s, (size_t)(a - r->arrays));
    uint8_t *got = malloc(count * size + 1);
    tml_status status = count == a->count
                            ? tml_buffer_read(s->tml, a->buffer, got)
                            : tml_buffer_read_range(s->tml, a->buffer, first, count, got);
    expect(r, s, "tml_buffer_read", status, TML_OK);
    if (status == TML_OK && count > 0)
        compare(r, a, first, count, got);
    free(got);
    check_guards(r, a);
}

/* Takes over contents that the model does not know. */
static void adopt(random_run *r, array *a)
{
    side *s = &r->sides[a->context];
    a->is_unknown = false;
    r->tally->adopted++;
    wait_for(r, s, (size_t)(a - r->arrays));
    EXPECT_OK(r, s, tml_buffer_read(s->tml, a->buffer, a->mirror));
}

static void adopt_outputs(random_run *r, const operands *o)
{
    for (int place = AT_OUT; place <= AT_COUNT; place++)
        if (o->at[place] && o->at[place]->is_unknown)
            adopt(r, o->at[place]);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void create(random_run *r, const call *c, size_t number)
{
    side *s = &r->sides[c->context];
    array *a = &r->arrays[number];
    *a = (array){.type = c->type, .count = c->count, .context = c->context, .role = c->role};
    a->size = c->count * tml_type_size(c->type);
    a->mirror = malloc(a->size + 16);
    fill_array(a, c, 0, c->count);
    tml_buffer_desc desc = {.type = c->type, .count = c->count, .label = "random"};
    /* As little aligned as may be: one scalar past a round address, on Vulkan at least 4 bytes. */
    tml_type scalar = tml_type_scalar(c->type);
    size_t step = scalar ? tml_type_size(scalar) : 1, size = a->size + 2 * GUARD + 64;
    bool is_written = false;
    uint8_t *memory = NULL;
    size_t offset = GUARD;
    if (c->options & OPTION_LENT && s->engine == TML_ENGINE_CPU) {
        memory = tml_platform_alloc(size, 64);
        offset += step;
        desc.host = memory + offset;
    }
#ifdef TML_VULKAN
    tml_vulkan_memory lent;
    if (c->options & OPTION_LENT && s->engine == TML_ENGINE_VULKAN) {
        memory = host_lend(a, size);
        offset += step < 4 ? 4 : step;
        lent = (tml_vulkan_memory){a->lent_buffer, offset};
        desc.vulkan = &lent;
    }
#endif
    if (memory) {
        memset(memory, PATTERN, size);
        a->lent = memory + offset;
        memcpy(a->lent, a->mirror, a->size);
    } else if (c->options & OPTION_UNDEFINED) {
        is_written = true;
    } else {
        desc.data = a->mirror;
    }
    tml_status status = tml_buffer_create(s->tml, &desc, &a->buffer);
    expect(r, s, "tml_buffer_create", status, TML_OK);
    a->is_live = a->was_live = status == TML_OK;
    if (is_written && a->is_live)
        EXPECT_OK(r, s, tml_buffer_write(s->tml, a->buffer, 0, a->count, a->mirror));
}

static void destroy(random_run *r, array *a)
{
    if (!a->is_live)
        return;
    side *s = &r->sides[a->context];
    size_t number = (size_t)(a - r->arrays);
    wait_for(r, s, number);
    for (uint32_t k = 1; k <= RECORDINGS; k++)
        if (recording_names(&s->recordings[k], number))
            s->recordings[k].is_made = false;
    tml_buffer_destroy(s->tml, a->buffer);
    if (a->lent)
        EXPECT_OK(r, s, tml_sync(s->tml));
    check_guards(r, a);
    a->is_live = false;
    free(a->mirror);
    a->mirror = NULL;
#ifdef TML_VULKAN
    if (a->lent_buffer)
        host_take_back(a);
    else
#endif
        if (a->lent)
        tml_platform_free((void *)((uintptr_t)(a->lent - GUARD) & ~(uintptr_t)63));
    a->lent = NULL;
}

/* ---- contexts -------------------------------------------------------------------------------- */

static bool report(void *user, const char *stage, double fraction)
{
    side *s = user;
    (void)stage;
    (void)fraction;
    return s->cancel_at == 0 || ++s->reports < s->cancel_at;
}

static void side_open(random_run *r, const call *c)
{
    static const uint32_t threads[] = {1, 2, 7};
    const random_settings *settings = r->settings;
    side *s = &r->sides[c->context];
    if (s->tml)
        return;
    *s = (side){.engine = settings->engine};
    tml_open_desc desc = {.engine = settings->engine,
                          .device = settings->device,
                          .threads = settings->threads ? settings->threads : threads[c->seed % 3],
                          .progress = report,
                          .progress_user = s};
#ifdef TML_VULKAN
    tml_vulkan_desc vulkan = {.get_instance_proc_addr = get_instance,
                              .instance = host.instance,
                              .physical_device = host.physical,
                              .device = host.device,
                              .queue = host.queue,
                              .queue_family = host.family,
                              .has_size_control = host.has_size_control,
                              .kernels = test_random_kernels};
    if (settings->engine == TML_ENGINE_VULKAN) {
        desc.vulkan = &vulkan;
        desc.device = NULL;
    }
#endif
#ifdef TML_GL
    tml_gl_desc gl = {.exact_counts = c->options & OPTION_PASSES};
    desc.gl = &gl;
#endif
    const tml_testing testing = {.vulkan_staging = c->options & OPTION_STAGING,
                                 .vulkan_pass_items = c->options & OPTION_PASSES ? 1 << 16 : 0,
                                 .gl_row_log2 = c->options & OPTION_STAGING ? 10 : 0};
    tml_status status = tml_open_testing(&desc, &testing, &s->tml);
    if (status != TML_OK) {
        fail(r, "tml_open: %s", tml_status_name(status));
        return;
    }
#ifdef TML_VULKAN
    for (uint32_t k = 1; k <= RECORDINGS && s->engine == TML_ENGINE_VULKAN; k++) {
        const VkCommandBufferAllocateInfo commands = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
            .commandPool = host.pool,
            .commandBufferCount = 1};
        const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
        bool is_made = VK(AllocateCommandBuffers)(host.device, &commands,
                                                  &s->recordings[k].commands) == VK_SUCCESS;
        for (uint32_t f = 0; f < IN_FLIGHT && is_made; f++)
            is_made = VK(CreateFence)(host.device, &fence, NULL, &s->recordings[k].fences[f]) ==
                      VK_SUCCESS;
        if (!is_made)
            fail(r, "the host has no command buffer");
    }
#endif
}

static void leave_gl(side *s)
{
#ifdef TML_GL
    if (s->is_in_gl)
        tml_gl_end(s->tml);
#endif
    s->is_in_gl = false;
}

static void destroy_all(random_run *r, uint32_t context)
{
    for (size_t i = 1; i < ARRAYS; i++)
        if (r->arrays[i].is_live && r->arrays[i].context == context)
            destroy(r, &r->arrays[i]);
}

static void side_close(random_run *r, uint32_t context)
{
    side *s = &r->sides[context];
    if (!s->tml)
        return;
    leave_gl(s);
    wait_for(r, s, 0);
    destroy_all(r, context);
    for (uint32_t k = 1; k <= RECORDINGS; k++)
        tml_program_destroy(s->recordings[k].program);
    tml_close(s->tml);
#ifdef TML_VULKAN
    for (uint32_t k = 1; k <= RECORDINGS && s->engine == TML_ENGINE_VULKAN; k++) {
        VK(FreeCommandBuffers)(host.device, host.pool, 1, &s->recordings[k].commands);
        for (uint32_t f = 0; f < IN_FLIGHT; f++)
            VK(DestroyFence)(host.device, s->recordings[k].fences[f], NULL);
    }
#endif
    *s = (side){0};
}

/* ---- operations ------------------------------------------------------------------------------ */

static tml_buffer buffer_at(const operands *o, int place)
{
    return place < AT_PLACES && o->at[place] ? o->at[place]->buffer : (tml_buffer){0, 0};
}

#define RUN(name) (o->program ? (tml_program_##name(o->program, &d), TML_OK) : tml_##name(tml, &d))

/* With size, only asks for the bytes of scratch. */
static tml_status operate(tml_context *tml, const operands *o, const call *c, size_t *size)
{
    tml_length length = {c->count, buffer_at(o, AT_LENGTH), o->at[AT_LENGTH] ? c->index : 0,
                         c->options & OPTION_EXACT, 0};
    tml_buffer in[3], out[3], by = buffer_at(o, AT_BY), count = buffer_at(o, AT_COUNT),
                              scratch = buffer_at(o, o->program ? AT_PLACES : AT_SCRATCH),
                              first = c->options & OPTION_APPEND ? count : (tml_buffer){0, 0};
    for (int i = 0; i < 3; i++) {
        in[i] = buffer_at(o, AT_IN + i);
        out[i] = buffer_at(o, AT_OUT + i);
    }
    bool by_kernel = c->options & OPTION_KERNEL;
    tml_params params =
        params_of(c, c->kind == CALL_MAP_STREAM && c->kernel % MAPS == 4 ? o->at[AT_IN + 1] : NULL);
    switch (c->kind) {
    case CALL_MAP_STREAM: {
        const tml_map_desc d = {.kernel = map_kernel(c),
                                .params = params,
                                .in = {in[0], in[1]},
                                .length = length,
                                .out = out[0]};
        if (!size)
            return RUN(map);
        *size = tml_map_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_REDUCE: {
        const tml_reduce_desc d = {
            .fold = (tml_fold)c->fold,
            .in = in[0],
            .length = length,
            .out = out[0],
            .scratch = scratch,
            .also = {{also_fold(c, 1), out[1]}, {also_fold(c, 2), out[2]}},
        };
        if (!size)
            return RUN(reduce);
        *size = tml_reduce_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_HISTOGRAM: {
        const tml_histogram_desc d = {.kernel = by_kernel ? TML_USE(random_up_to_3) : NULL,
                                      .params = params,
                                      .in = {in[0]},
                                      .length = length,
                                      .bins = c->dims[0],
                                      .out = out[0],
                                      .scratch = scratch,
                                      .edges = by,
                                      .weights = in[1]};
        if (!size)
            return RUN(histogram);
        *size = tml_histogram_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_SCAN: {
        const tml_scan_desc d = {.in = in[0],
                                 .length = length,
                                 .inclusive = c->options & OPTION_INCLUSIVE,
                                 .method = (tml_method)c->method,
                                 .out = out[0],
                                 .total = count,
                                 .scratch = scratch,
                                 .fold = (tml_fold)c->fold,
                                 .start = by};
        if (!size)
            return RUN(scan);
        *size = tml_scan_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_COMPACT:
    case CALL_PARTITION: {
        tml_compact_desc d = {.length = length,
                              .method = (tml_method)c->method,
                              .indices = buffer_at(o, AT_INDICES),
                              .count = count,
                              .scratch = scratch,
                              .out_first = first};
        if (c->options & OPTION_MASK)
            d.keep.mask = by;
        else if (!by_kernel)
            d.keep.flags = by;
        else
            d.keep = (tml_keep){.kernel = tml_type_is_float(o->at[AT_BY]->type)
                                              ? TML_USE(random_positive)
                                              : TML_USE(random_by_index),
                                .params = params,
                                .in = {by}};
        for (int i = 0; i < 3; i++)
            d.payloads[i] = (tml_payload){in[i], out[i]};
        bool is_partition = c->kind == CALL_PARTITION;
        if (!size)
            return is_partition ? RUN(partition) : RUN(compact);
        *size =
            is_partition ? tml_partition_scratch_size(tml, &d) : tml_compact_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_SORT: {
        const tml_sort_desc d = {.keys = by,
                                 .length = length,
                                 .descending = c->options & OPTION_INCLUSIVE,
                                 .offsets = in[0],
                                 .sorted = out[0],
                                 .payloads = {{in[1], out[1]}, {in[2], out[2]}},
                                 .indices = buffer_at(o, AT_INDICES),
                                 .scratch = scratch};
        if (!size)
            return RUN(sort);
        *size = tml_sort_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_TOP_K: {
        const tml_top_k_desc d = {.keys = by,
                                  .length = length,
                                  .k = {c->dims[0], in[0], 0, true, 0},
                                  .smallest = c->options & OPTION_INCLUSIVE,
                                  .unsorted = c->options & OPTION_FLIP,
                                  .values = out[0],
                                  .indices = buffer_at(o, AT_INDICES),
                                  .payloads = {{in[1], out[1]}, {in[2], out[2]}},
                                  .count = count,
                                  .scratch = scratch};
        if (!size)
            return RUN(top_k);
        *size = tml_top_k_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_GATHER:
    case CALL_SCATTER: {
        const tml_gather_desc d = {.indices = by,
                                   .length = length,
                                   .payloads = {{in[0], out[0]}, {in[1], out[1]}, {in[2], out[2]}},
                                   .scratch = scratch};
        bool scatters = c->kind == CALL_SCATTER;
        if (!size)
            return scatters ? RUN(scatter) : RUN(gather);
        *size = scatters ? tml_scatter_scratch_size(tml, &d) : tml_gather_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_REDUCE_BY_KEY: {
        const tml_reduce_by_key_desc d = {.fold = (tml_fold)c->fold,
                                          .keys = by,
                                          .values = in[0],
                                          .length = length,
                                          .out_keys = out[0],
                                          .starts = buffer_at(o, AT_INDICES),
                                          .out = out[1],
                                          .count = count,
                                          .scratch = scratch};
        if (!size)
            return RUN(reduce_by_key);
        *size = tml_reduce_by_key_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_SEARCH: {
        const tml_search_desc d = {.sorted = in[0],
                                   .queries = by,
                                   .length = length,
                                   .upper = c->options & OPTION_INCLUSIVE,
                                   .out = out[0],
                                   .scratch = scratch};
        if (!size)
            return RUN(search);
        *size = tml_search_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_EXPAND: {
        const tml_expand_desc d = {.counts = by,
                                   .count_kernel = by_kernel ? TML_USE(random_up_to_3) : NULL,
                                   .emit_kernel = o->at[AT_OUT + 2] ? TML_USE(random_code) : NULL,
                                   .params = params,
                                   .in = {in[0]},
                                   .length = length,
                                   .method = (tml_method)c->method,
                                   .source = out[0],
                                   .rank = out[1],
                                   .out = out[2],
                                   .total = count,
                                   .scratch = scratch,
                                   .out_first = first};
        if (!size)
            return RUN(expand);
        *size = tml_expand_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_UNIQUE: {
        const tml_unique_desc d = {in[0], length, out[0], out[1], out[2], count, scratch};
        if (!size)
            return RUN(unique);
        *size = tml_unique_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_REDUCE_SEGMENTS: {
        const tml_reduce_segments_desc d = {.fold = (tml_fold)c->fold,
                                            .in = in[0],
                                            .offsets = by,
                                            .out = out[0],
                                            .scratch = scratch};
        if (!size)
            return RUN(reduce_segments);
        *size = tml_reduce_segments_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_SCAN_SEGMENTS: {
        const tml_scan_segments_desc d = {in[0], by, c->options & OPTION_INCLUSIVE, out[0],
                                          scratch};
        if (!size)
            return RUN(scan_segments);
        *size = tml_scan_segments_scratch_size(tml, &d);
        return TML_OK;
    }
    case CALL_SURFACE_ENQUEUE: {
        tml_surface_desc surface;
        const tml_surface_enqueue_desc d = surface_desc(o, c, buffer_at, &surface);
        if (!size)
            return tml_surface_enqueue(tml, &d);
        *size = tml_surface_enqueue_scratch_size(tml, &d);
        return TML_OK;
    }
#ifdef TML_VULKAN
    case CALL_INDIRECT:
        return size ? TML_OK
                    : tml_vulkan_indirect(
                          tml, &(tml_vulkan_indirect_desc){.kind = TML_VULKAN_INDIRECT_DRAW,
                                                           .count = in[0],
                                                           .count_index = c->index,
                                                           .group = 3,
                                                           .out = out[0]});
#endif
    default:
        return TML_ERROR_UNSUPPORTED;
    }
}

/* Scratch of the caller's that is too small is refused, and nothing is changed. */
static bool lacks_scratch(tml_context *tml, const operands *o, const call *c)
{
    size_t size = 0;
    return o->at[AT_SCRATCH] && operate(tml, o, c, &size) == TML_OK &&
           o->at[AT_SCRATCH]->size < size;
}

static void do_operation(random_run *r, const call *c)
{
    side *s = &r->sides[c->context];
    operands o;
    char problem[200] = "";
    if (!operands_of(r, c, &o) || (c->kind == CALL_INDIRECT && s->engine != TML_ENGINE_VULKAN))
        return;
    o.problem = problem;
    o.problem_size = sizeof problem;
    recording *k = s->recording ? &s->recordings[s->recording] : NULL;
    if (k && k->count == RECORDED)
        return;
    if (k && k->program) {
        if (c->kind == CALL_SURFACE_ENQUEUE || c->kind == CALL_INDIRECT)
            return;
        o.program = k->program;
        (void)operate(s->tml, &o, c, NULL);
        k->calls[k->count++] = c;
        return;
    }
    bool cancel = !k && c->options & OPTION_CANCEL;
    if (cancel)
        tml_cancel(s->tml);
    bool lacks = lacks_scratch(s->tml, &o, c);
    tml_status status = operate(s->tml, &o, c, NULL);
    if (cancel)
        tml_cancel_clear(s->tml);
    r->tally->made++;
    if (status == TML_ERROR_UNSUPPORTED) {
        r->tally->unsupported++;
    } else if (status == TML_ERROR_CANCELLED && cancel) {
        r->tally->cancelled++;
        for (int place = AT_OUT; place <= AT_COUNT; place++)
            if (o.at[place])
                o.at[place]->is_unknown = true;
        adopt_outputs(r, &o);
    } else if (status == TML_ERROR_SCRATCH_TOO_SMALL && lacks) {
        /* as it should be */
    } else if (status != TML_OK) {
        expect(r, s, call_names[c->kind], status, TML_OK);
    } else if (k) {
        k->calls[k->count++] = c;
        r->tally->recorded++;
    } else {
        model_run(&o, c);
        if (problem[0])
            fail(r, "%s: %s", call_names[c->kind], problem);
        adopt_outputs(r, &o);
        for (int place = AT_OUT; place <= AT_COUNT && c->options & OPTION_CHECK; place++)
            if (o.at[place])
                check_range(r, o.at[place], 0, o.at[place]->count);
    }
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* The command buffer of a recording: commands are recorded into it from begin to end. */
static void commands_begin(random_run *r, side *s, recording *k)
{
#ifdef TML_VULKAN
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    if (VK(BeginCommandBuffer)(k->commands, &begin) != VK_SUCCESS)
        fail(r, "vkBeginCommandBuffer");
    EXPECT_OK(r, s, tml_vulkan_record(s->tml, k->commands));
#else
    (void)r;
    (void)s;
    (void)k;
#endif
}

static void commands_end(random_run *r, side *s, recording *k)
{
#ifdef TML_VULKAN
    EXPECT_OK(r, s, tml_vulkan_record_end(s->tml));
    if (VK(EndCommandBuffer)(k->commands) != VK_SUCCESS)
        fail(r, "vkEndCommandBuffer");
#else
    (void)r;
    (void)s;
    (void)k;
#endif
}

/* Begins a recording. Calls that follow one another with the same one belong to it. Of Vulkan's each
 * second is a program. */
static void record(random_run *r, const call *c)
{
    side *s = &r->sides[c->context];
    recording *k = &s->recordings[c->recording];
    wait_frame(r, s, k);
    k->is_made = false;
    k->count = 0;
    s->recording = c->recording;
    tml_program_destroy(k->program);
    k->program = NULL;
    if (s->engine != TML_ENGINE_VULKAN || c->recording % 2 == 0) {
        EXPECT_OK(r, s, tml_program_begin(s->tml, &k->program));
        return;
    }
    size_t most = 0;
    for (size_t i = r->at;
         i < r->count && r->calls[i].recording == c->recording && r->calls[i].context == c->context;
         i++) {
        operands o;
        size_t size = 0;
        if (operands_of(r, &r->calls[i], &o) && !o.at[AT_SCRATCH] &&
            operate(s->tml, &o, &r->calls[i], &size) == TML_OK && size > most)
            most = size;
    }
    EXPECT_OK(r, s, tml_reserve(s->tml, most));
    commands_begin(r, s, k);
}

/* Not made where the engine lacks an operation. */
static void program_ends(random_run *r, side *s, recording *k)
{
    tml_status status = tml_program_end(k->program);
    if (status == TML_OK && s->engine == TML_ENGINE_VULKAN) {
        EXPECT_OK(r, s, tml_reserve(s->tml, tml_program_scratch_size(k->program)));
        commands_begin(r, s, k);
        status = tml_program_enqueue(k->program, (tml_buffer){0, 0});
        commands_end(r, s, k);
    }
    k->is_made = status == TML_OK;
    if (status == TML_ERROR_UNSUPPORTED)
        r->tally->unsupported++;
    else
        expect(r, s, "tml_program_end", status, TML_OK);
    if (k->is_made)
        r->tally->recorded += k->count;
}

static void record_end(random_run *r, side *s)
{
    recording *k = &s->recordings[s->recording];
    s->recording = 0;
    if (k->program) {
        program_ends(r, s, k);
        return;
    }
    commands_end(r, s, k);
    k->is_made = true;
}

/* Submits a recording's commands, or enqueues its program. */
static bool start(random_run *r, side *s, recording *k)
{
    if (s->engine != TML_ENGINE_VULKAN) {
        const tml_status status = tml_program_enqueue(k->program, (tml_buffer){0, 0});
        if (status == TML_ERROR_UNSUPPORTED)
            r->tally->unsupported++;
        else
            expect(r, s, "tml_program_enqueue", status, TML_OK);
        return status == TML_OK;
    }
#ifdef TML_VULKAN
    if (k->pending == IN_FLIGHT)
        wait_frame(r, s, k);
    EXPECT_OK(r, s, tml_vulkan_flush(s->tml));
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &k->commands};
    if (VK(QueueSubmit)(host.queue, 1, &info, k->fences[k->pending]) != VK_SUCCESS) {
        fail(r, "vkQueueSubmit");
        return false;
    }
    k->pending++;
#endif
    return true;
}

static void submit(random_run *r, side *s, recording *k)
{
    if (!k->is_made || !start(r, s, k))
        return;
    r->tally->submitted++;
    operands o;
    char problem[200] = "";
    for (uint32_t i = 0; i < k->count; i++) {
        if (!operands_of(r, k->calls[i], &o))
            abort(); /* destroying a buffer unmakes the recordings that name it */
        o.problem = problem;
        o.problem_size = sizeof problem;
        model_run(&o, k->calls[i]);
    }
    if (problem[0])
        fail(r, "a frame: %s", problem);
    for (uint32_t i = 0; i < k->count; i++)
        if (operands_of(r, k->calls[i], &o))
            adopt_outputs(r, &o);
}

/* ---- every other call ------------------------------------------------------------------------ */

static void do_read(random_run *r, const call *c)
{
    array *a = &r->arrays[c->at[AT_IN]];
    if (a->is_live)
        check_range(r, a, c->index, c->count);
}

static void do_write(random_run *r, const call *c)
{
    array *a = &r->arrays[c->at[AT_OUT]];
    if (!a->is_live)
        return;
    side *s = &r->sides[a->context];
    wait_for(r, s, c->at[AT_OUT]);
    uint64_t first = a->role == ROLE_OFFSETS ? 0 : c->index;
    uint64_t count = a->role == ROLE_OFFSETS ? a->count : c->count;
    if (a->role == ROLE_OFFSETS)
        fill_offsets(a->type, a->count, c->index, c->seed, a->mirror);
    else
        fill(a->type, count, c->style, c->seed, a->mirror + first * tml_type_size(a->type));
    EXPECT_OK(r, s,
              tml_buffer_write(s->tml, a->buffer, first, count,
                               a->mirror + first * tml_type_size(a->type)));
}

static void do_map(random_run *r, const call *c)
{
    array *a = &r->arrays[c->at[AT_OUT]];
    if (!a->is_live)
        return;
    side *s = &r->sides[a->context];
    wait_for(r, s, c->at[AT_OUT]);
    void *memory = NULL;
    tml_status status = tml_buffer_map(s->tml, a->buffer, &memory);
    expect(r, s, "tml_buffer_map", status, TML_OK);
    if (status != TML_OK)
        return;
    if (a->count > 0) {
        compare(r, a, 0, a->count, memory);
        fill(a->type, c->count, c->style, c->seed, a->mirror + c->index * tml_type_size(a->type));
        memcpy(memory, a->mirror, a->size);
    }
    tml_buffer_unmap(s->tml, a->buffer);
}

static void do_read_count(random_run *r, const call *c)
{
    array *a = &r->arrays[c->at[AT_IN]];
    if (!a->is_live)
        return;
    side *s = &r->sides[a->context];
    uint64_t got = 0, wanted = load(a->type, a->mirror, 0).integer;
    wait_for(r, s, c->at[AT_IN]);
    EXPECT_OK(r, s, tml_buffer_read_count(s->tml, a->buffer, &got));
    if (got != wanted)
        fail(r, "tml_buffer_read_count of b%u: %" PRIu64 ", needs %" PRIu64, c->at[AT_IN], got,
             wanted);
}

/* A handle that is stale or another context's, as an input, as an output and to be read. */
static void do_stale(random_run *r, const call *c)
{
    const array *bad = &r->arrays[c->at[AT_IN]], *good = &r->arrays[c->at[AT_OUT]];
    side *s = &r->sides[c->context];
    if (!good->is_live || good->context != c->context || !bad->was_live ||
        (bad->is_live && bad->context == c->context))
        return;
    uint8_t byte[64];
    expect(r, s, "tml_buffer_read_range of a stale handle",
           tml_buffer_read_range(s->tml, bad->buffer, 0, 1, byte), TML_ERROR_INVALID_HANDLE);
    expect(r, s, "tml_scan of a stale handle",
           tml_scan(s->tml, &(tml_scan_desc){.in = bad->buffer, .out = good->buffer}),
           TML_ERROR_INVALID_HANDLE);
    expect(r, s, "tml_unique into a stale handle",
           tml_unique(s->tml, &(tml_unique_desc){.in = good->buffer, .values = bad->buffer}),
           TML_ERROR_INVALID_HANDLE);
    tml_buffer_destroy(s->tml, bad->buffer);
}

/* The whole surface of a volume, which waits; perhaps cancelled by the progress hook. */
static void do_surface(random_run *r, const call *c)
{
    side *s = &r->sides[c->context];
    operands o;
    if (!operands_of(r, c, &o) || !surface_is_exact(&o, c))
        return;
    wait_for(r, s, c->at[AT_IN]);
    tml_surface_desc d = {.volume = o.at[AT_IN]->buffer,
                          .grid.dims = {c->dims[0], c->dims[1], c->dims[2]},
                          .iso = 0.5,
                          .caps = c->options & OPTION_CAPS,
                          .flip = c->options & OPTION_FLIP};
    tml_surface_result result = {0};
    s->reports = 0;
    s->cancel_at = c->options & OPTION_CANCEL ? 1 + (uint32_t)(c->seed % 4) : 0;
    tml_status status = tml_surface(s->tml, &d, &result);
    bool cancelled = s->cancel_at && s->reports >= s->cancel_at;
    s->cancel_at = 0;
    tml_cancel_clear(s->tml);
    r->tally->made++;
    if (cancelled && status == TML_ERROR_CANCELLED) {
        r->tally->cancelled++;
        return;
    }
    expect(r, s, "tml_surface", status, TML_OK);
    if (status != TML_OK)
        return;
    mc_mesh mesh = mc_extract(&(mc_input){.samples = o.at[AT_IN]->mirror,
                                          .type = TML_U8,
                                          .grid = d.grid,
                                          .iso = 0.5,
                                          .caps = d.caps,
                                          .flip = d.flip});
    float *positions = malloc(12 * result.vertex_count + 1);
    if (result.vertex_count)
        EXPECT_OK(r, s, tml_buffer_read(s->tml, result.vertices, positions));
    if (result.vertex_count != mesh.vertex_count || result.triangle_count != mesh.triangle_count ||
        memcmp(positions, mesh.positions, 12 * mesh.vertex_count) != 0)
        fail(r,
             "tml_surface: %" PRIu64 " vertices and %" PRIu64 " triangles, needs %" PRIu64
             " and %" PRIu64 " in the places where the cells have them",
             result.vertex_count, result.triangle_count, mesh.vertex_count, mesh.triangle_count);
    free(positions);
    mc_free(&mesh);
    tml_surface_free(s->tml, &result);
}

static void do_call(random_run *r, const call *c)
{
    side *s = &r->sides[c->context];
    for (uint32_t i = 0; i < SIDES; i++) {
        if (r->sides[i].recording && (i != c->context || r->sides[i].recording != c->recording))
            record_end(r, &r->sides[i]);
        if (i != c->context)
            leave_gl(&r->sides[i]);
    }
    if (c->kind == CALL_OPEN) {
        side_open(r, c);
        return;
    }
    if (!s->tml)
        return;
    if (c->recording && is_operation(c) && !s->recording)
        record(r, c);
    if (is_operation(c)) {
        do_operation(r, c);
        return;
    }
    switch (c->kind) {
    case CALL_CLOSE:
        side_close(r, c->context);
        break;
    case CALL_CREATE:
        create(r, c, c->at[AT_OUT]);
        break;
    case CALL_DESTROY:
        destroy(r, &r->arrays[c->at[AT_OUT]]);
        break;
    case CALL_DESTROY_ALL:
        for (size_t i = 1; i < ARRAYS; i++)
            if (r->arrays[i].is_live && r->arrays[i].context == c->context)
                check_range(r, &r->arrays[i], 0, r->arrays[i].count);
        destroy_all(r, c->context);
        break;
    case CALL_WRITE:
        do_write(r, c);
        break;
    case CALL_READ:
        do_read(r, c);
        break;
    case CALL_READ_COUNT:
        do_read_count(r, c);
        break;
    case CALL_MAP:
        do_map(r, c);
        break;
    case CALL_SYNC:
        EXPECT_OK(r, s, tml_sync(s->tml));
        break;
    case CALL_RESERVE:
        EXPECT_OK(r, s, tml_reserve(s->tml, tml_reserved(s->tml) + c->index));
        break;
    case CALL_STALE:
        do_stale(r, c);
        break;
    case CALL_SURFACE:
        do_surface(r, c);
        break;
    case CALL_SUBMIT:
        submit(r, s, &s->recordings[c->index]);
        break;
#ifdef TML_VULKAN
    case CALL_FLUSH:
        if (s->engine == TML_ENGINE_VULKAN)
            EXPECT_OK(r, s, tml_vulkan_flush(s->tml));
        break;
    case CALL_FORGET:
        wait_for(r, s, 0);
        for (uint32_t k = 1; k <= RECORDINGS; k++)
            s->recordings[k].is_made = false;
        if (s->engine == TML_ENGINE_VULKAN)
            EXPECT_OK(r, s, tml_vulkan_forget_recordings(s->tml));
        break;
    case CALL_WAIT:
        wait_frame(r, s, &s->recordings[c->index]);
        break;
#endif
#ifdef TML_GL
    case CALL_BEGIN:
        if (s->engine == TML_ENGINE_GL && !s->is_in_gl) {
            EXPECT_OK(r, s, tml_gl_begin(s->tml));
            s->is_in_gl = true;
        }
        break;
    case CALL_END:
        leave_gl(s);
        break;
#endif
    default:
        break;
    }
}

/* Runs a program on contexts of its own; false with a message when something was wrong. */
static bool run_program(const random_settings *settings, const call *calls, size_t count,
                        random_tally *tally, volatile size_t *at, char *message,
                        size_t message_size)
{
    random_run r = {.settings = settings,
                    .arrays = calloc(ARRAYS, sizeof *r.arrays),
                    .calls = calls,
                    .count = count,
                    .tally = tally,
                    .message = message,
                    .message_size = message_size};
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &r.reference) != TML_OK)
        abort();
    static const call end = {.kind = CALL_SYNC};
    for (; r.at <= count && !r.failed; r.at++) {
        *at = r.at;
        alarm(settings->patience);
        do_call(&r, r.at < count ? &calls[r.at] : &end);
        tally->calls++;
#ifdef TML_VULKAN
        if (host.message[0])
            fail(&r, "validation: %s", host.message);
        host.message[0] = '\0';
#endif
    }
    alarm(0);
    for (size_t i = 1; i < ARRAYS && !r.failed; i++)
        if (r.arrays[i].is_live)
            check_range(&r, &r.arrays[i], 0, r.arrays[i].count);
    for (uint32_t i = 0; i < SIDES; i++) {
        if (r.sides[i].recording)
            record_end(&r, &r.sides[i]);
        side_close(&r, i);
    }
    tml_close(r.reference);
    free(r.arrays);
    return !r.failed;
}

#endif
