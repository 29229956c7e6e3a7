/* Runs a program of test_random: its calls but for operations. */
#include "random_run.h"

TML_FORMAT(2, 3) void fail(random_run *r, const char *format, ...)
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

void expect(random_run *r, const side *s, const char *what, tml_status status, tml_status wanted)
{
    if (status != wanted)
        fail(r, "%s: %s, not %s: %s", what, tml_status_name(status), tml_status_name(wanted),
             tml_last_error(s->tml));
}

#define EXPECT_OK(r, s, call) expect(r, s, #call, call, TML_OK)

#ifdef TML_VULKAN
extern const tml_vulkan_kernel test_random_kernels[];
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

bool operands_of(random_run *r, const call *c, operands *out)
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

void check_range(random_run *r, array *a, uint64_t first, uint64_t count)
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

void adopt_outputs(random_run *r, const operands *o)
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
        memory = random_host_lend(a, size);
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
        random_host_take_back(a);
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
    tml_vulkan_desc vulkan = {.get_instance_proc_addr = random_get_instance,
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

/* ---- frames ---------------------------------------------------------------------------------- */

/* The command buffer of a recording: commands are recorded into it from begin to end. */
static void commands_begin(random_run *r, side *s, recording *k)
{
#ifdef TML_VULKAN
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    if (VK(BeginCommandBuffer)(k->commands, &begin) != VK_SUCCESS)
        fail(r, "vkBeginCommandBuffer");
    EXPECT_OK(r, s, tml_vulkan_record(s->tml, k->commands, NULL, NULL));
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
        EXPECT_OK(r, s, tml_program_create(s->tml, &k->program));
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
        EXPECT_OK(r, s,
                  tml_reserve(s->tml, SCRATCH_OF(s->tml, tml_program_enqueue(k->program,
                                                                             (tml_buffer){0, 0}))));
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
        EXPECT_OK(r, s, tml_buffer_read(s->tml, result.mesh.positions, positions));
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
        EXPECT_OK(r, s, tml_reserve(s->tml, test_reserved(s->tml) + c->index));
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

bool run_program(const random_settings *settings, const call *calls, size_t count,
                 random_tally *tally, volatile size_t *at, char *message, size_t message_size)
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
