/* Makes each event that can fail do so, once. */
#include "test.h"

#include "faults.h"

/* ---- events ---------------------------------------------------------------------------------- */

static const char *const fault_kind_names[FAULT_KINDS] = {
    [FAULT_MEMORY] = "memory",   [FAULT_REPORT] = "report",       [FAULT_KERNEL] = "kernel",
    [FAULT_VK_HOST] = "vk_host", [FAULT_VK_DEVICE] = "vk_device", [FAULT_VK_LOST] = "vk_lost",
    [FAULT_GL] = "gl",           [FAULT_DISK] = "disk",           [FAULT_SHORT] = "short"};

struct faults_state faults;

bool fault_event(fault_kind kind, const char *what)
{
    if (!faults.is_armed || ++faults.counts[kind] != faults.at || kind != faults.kind)
        return false;
    faults.what = what;
    return true;
}

static void *fault_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    void *memory = fault_event(FAULT_MEMORY, "alloc") ? NULL : tml_platform_alloc(size, alignment);
    if (!memory)
        return NULL;
    faults.live_bytes += (int64_t)size;
    return memory;
}

static void fault_free(void *user, void *memory, size_t size)
{
    (void)user;
    faults.live_bytes -= (int64_t)size;
    tml_platform_free(memory);
}

static bool fault_progress(void *user, const char *stage, double fraction)
{
    (void)user;
    CHECK(fraction >= 0 && fraction <= 1);
    return !fault_event(FAULT_REPORT, stage);
}

static void fault_kernel(const char *what)
{
    if (fault_event(FAULT_KERNEL, what) && faults.tml)
        tml_cancel(faults.tml);
}

/* A job system of one thread. Each task counts as a kernel. */
static void fault_parallel(void *user, uint32_t count, tml_task_fn task, void *argument)
{
    (void)user;
    for (uint32_t i = 0; i < count; i++) {
        fault_kernel("task");
        task(argument, i);
    }
}

static void fault_log(void *user, tml_log_level level, const char *message)
{
    (void)user;
    faults.has_message |= level == TML_LOG_ERROR && message[0];
}

static const fault_hooks fault_driver_hooks = {fault_event, fault_kernel};

/* Makes a config use the driver that fails; false if there is no device. */
static bool fault_device_use(fault_config *config)
{
    if (config->open.engine == TML_ENGINE_VULKAN)
        return fault_vulkan_use(&fault_driver_hooks, &config->open);
    if (config->open.engine == TML_ENGINE_GL)
        return fault_gl_use(&fault_driver_hooks, &config->open);
    return true;
}

static void fault_arm(fault_kind kind, uint64_t at)
{
    memset(faults.counts, 0, sizeof faults.counts);
    faults.kind = kind;
    faults.at = at;
    faults.what = NULL;
    faults.has_message = false;
    faults.is_armed = true;
}

/* ---- for scenarios --------------------------------------------------------------------------- */

void fault_hash(fault_run *r, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size && r->status == TML_OK; i++)
        r->hash = (r->hash ^ bytes[i]) * 0x100000001b3u;
}

tml_buffer fault_keep(fault_run *r, tml_buffer buffer)
{
    if (!tml_buffer_is_none(buffer) && r->made_count < FAULT_MADE)
        r->made[r->made_count++] = buffer;
    return buffer;
}

tml_buffer fault_buffer(fault_run *r, tml_type type, uint64_t count, const void *data)
{
    tml_buffer buffer = {0, 0};
    FAULT_DO(r, tml_buffer_create(r->tml,
                                  &(tml_buffer_desc){.type = type, .count = count, .data = data},
                                  &buffer));
    if (r->status != TML_OK)
        FAULT_CHECK(tml_buffer_is_none(buffer));
    return fault_keep(r, buffer);
}

tml_buffer fault_output_of(fault_run *r, tml_type type, uint64_t count)
{
    size_t size = (size_t)count * tml_type_size(type);
    void *pattern = malloc(size + 1);
    memset(pattern, FAULT_PATTERN, size);
    tml_buffer buffer = fault_buffer(r, type, count, pattern);
    free(pattern);
    if (r->status == TML_OK && r->output_count < FAULT_OUTPUTS)
        r->outputs[r->output_count++] = (fault_output){buffer, size, count};
    return buffer;
}

void fault_take(fault_run *r, tml_buffer buffer, uint64_t count)
{
    tml_type type = TML_U8;
    tml_buffer_describe(r->tml, buffer, &type, NULL);
    size_t size = (size_t)count * tml_type_size(type);
    void *data = calloc(size + 1, 1);
    if (count)
        FAULT_DO(r, tml_buffer_read_range(r->tml, buffer, 0, count, data));
    fault_hash(r, data, size);
    free(data);
}

/* ---- one run --------------------------------------------------------------------------------- */

/* May a call return status after an event of a kind failed? It may also succeed, if the library
 * does without the event. */
static bool fault_fits(fault_kind kind, tml_status status)
{
    switch (kind) {
    case FAULT_MEMORY:
        return status == TML_ERROR_OUT_OF_MEMORY;
    /* DEVICE_LOST: work was not submitted, and only the next call could report that */
    case FAULT_VK_HOST:
        return status == TML_ERROR_OUT_OF_MEMORY || status == TML_ERROR_DEVICE_LOST;
    case FAULT_VK_DEVICE:
        return status == TML_ERROR_OUT_OF_DEVICE_MEMORY || status == TML_ERROR_DEVICE_LOST;
    case FAULT_VK_LOST:
        return status == TML_ERROR_DEVICE_LOST;
    case FAULT_GL: /* a texture, or a shader or framebuffer that the driver refuses */
        return status == TML_ERROR_OUT_OF_DEVICE_MEMORY || status == TML_ERROR_UNSUPPORTED ||
               status == TML_ERROR_INTERNAL;
    case FAULT_REPORT:
    case FAULT_KERNEL:
        return status == TML_ERROR_CANCELLED;
    case FAULT_DISK:
        return status == TML_ERROR_FILE_ACCESS;
    default:
        return false;
    }
}

static uint32_t fault_buffers_alive(const tml_context *tml)
{
    uint32_t alive = 0;
    for (uint32_t i = 1; i < tml->slot_count; i++)
        alive += tml_slot_at(tml, i)->generation % 2;
    return alive;
}

static tml_status fault_open(fault_run *r)
{
    tml_open_desc desc = r->config->open;
    desc.allocator = (tml_allocator){fault_alloc, fault_free, NULL};
    desc.progress = fault_progress;
    desc.log = fault_log;
    if (desc.threads == 0)
        desc.parallel = (tml_parallel){fault_parallel, 1, NULL};
    tml_status status = tml_open_testing(&desc, &r->config->testing, &r->tml);
    FAULT_CHECK((status == TML_OK) == (r->tml != NULL));
    faults.tml = r->tml;
    return status;
}

/* Checks that a failed call left its outputs unchanged, on the CPU. On a GPU, first commands of the
 * call may already be submitted when something that it needs is missing. */
static void fault_check_outputs(fault_run *r)
{
    if (r->config->open.engine != TML_ENGINE_CPU)
        return;
    for (uint32_t i = 0; i < r->output_count; i++) {
        const fault_output *output = &r->outputs[i];
        unsigned char *data = malloc(output->size + 1);
        tml_status status = tml_buffer_read_range(r->tml, output->buffer, 0, output->count, data);
        if (!CHECK_OK(r->tml, status))
            printf("  in %s\n", faults.label);
        size_t same = 0;
        while (same < output->size && data[same] == FAULT_PATTERN)
            same++;
        if (status == TML_OK && !CHECK_EQ_U64(same, output->size))
            printf("  in %s: output %u changed although %s\n", faults.label, i,
                   tml_last_error(r->tml));
        free(data);
    }
}

/* Runs the scenario in the context as it is, and destroys the buffers that it made. */
static void fault_play(fault_run *r, const fault_scenario *scenario)
{
    r->status = TML_OK;
    r->hash = 0xcbf29ce484222325u;
    r->made_count = r->output_count = 0;
    scenario->run(r);
    faults.is_armed = false;
    if (r->status != TML_OK)
        fault_check_outputs(r);
    while (r->made_count > 0)
        tml_buffer_destroy(r->tml, r->made[--r->made_count]);
    FAULT_CHECK(fault_buffers_alive(r->tml) == 0);
}

static const char *fault_what(void)
{
    return faults.what ? faults.what : "nothing";
}

/* Checks a first run: nothing failed, or the status fits, or the result is right all the same. */
static void fault_check_status(const fault_run *r, const fault_scenario *scenario,
                               tml_status status, uint64_t expected)
{
    const char *message = r->tml ? tml_last_error(r->tml) : "";
    bool fits = faults.what && (fault_fits(faults.kind, status) ||
                                (scenario->opens && status == TML_ERROR_NO_DEVICE));
    if (status == TML_OK) {
        if (faults.at && r->hash != expected)
            test_fail(__FILE__, __LINE__, "%s: %s failed, nobody said so, and the result is wrong",
                      faults.label, fault_what());
        return;
    }
    if (!fits)
        test_fail(__FILE__, __LINE__, "%s: %s failed, and the status is %s: %s", faults.label,
                  fault_what(), tml_status_name(status), message);
    if (r->tml ? !message[0] : !faults.has_message)
        test_fail(__FILE__, __LINE__, "%s: %s failed, %s has no message", faults.label,
                  fault_what(), tml_status_name(status));
}

/* Runs the scenario again, and checks that it succeeds when nothing fails. */
static void fault_check_again(fault_run *r, const fault_scenario *scenario, tml_status before,
                              uint64_t expected)
{
    tml_cancel_clear(r->tml);
    fault_play(r, scenario);
    /* If enqueued work could not be submitted or waited for, the context is lost. If that was the
     * copy of tml_buffer_unmap, this run is the first that can report it. */
    bool is_submit = faults.kind == FAULT_VK_HOST || faults.kind == FAULT_VK_DEVICE;
    bool is_gone = (before != TML_OK || is_submit) && r->status == TML_ERROR_DEVICE_LOST &&
                   strstr(tml_last_error(r->tml), "was lost by an earlier call");
    tml_status status = fault_vulkan_is_lost() || is_gone ? TML_ERROR_DEVICE_LOST : TML_OK;
    if (r->status != status)
        test_fail(__FILE__, __LINE__, "%s: after %s (%s) the same again is %s, not %s: %s",
                  faults.label, fault_what(), tml_status_name(before), tml_status_name(r->status),
                  tml_status_name(status), tml_last_error(r->tml));
    else if (status == TML_OK && r->hash != expected)
        test_fail(__FILE__, __LINE__, "%s: after %s (%s) the same again gives another result",
                  faults.label, fault_what(), tml_status_name(before));
}

/* Runs a scenario in a fresh context. Event at of a kind fails; 0: none. Returns the hash of the
 * results. */
static uint64_t fault_once(const fault_config *config, const fault_scenario *scenario,
                           fault_kind kind, uint64_t at, uint64_t expected)
{
    fault_run r = {.config = config};
    snprintf(faults.label, sizeof faults.label, "%s/%s/%s/%" PRIu64, config->name, scenario->name,
             at ? fault_kind_names[kind] : "none", at);
    faults.runs++;
    faults.live_bytes = 0;
    fault_vulkan_begin();
    fault_gl_begin();
    alarm(600);
    fault_arm(kind, at);
    faults.is_armed = scenario->opens;
    tml_status status = fault_open(&r);
    faults.is_armed = true;
    if (status == TML_OK) {
        fault_play(&r, scenario);
        status = r.status;
    }
    faults.is_armed = false;
    uint64_t hash = r.hash;
    fault_check_status(&r, scenario, status, expected);
    if (!r.tml && at) {
        CHECK_EQ_I64(fault_vulkan_live(), 0);
        /* a device that was lost while it was opened is gone; the next one works */
        fault_vulkan_begin();
        CHECK_OK(NULL, fault_open(&r));
    }
    if (r.tml)
        fault_check_again(&r, scenario, status, at ? expected : hash);
    tml_close(r.tml);
    faults.tml = NULL;
    int objects = fault_vulkan_live() + fault_gl_live();
    if (faults.live_bytes != 0 || objects != 0)
        test_fail(__FILE__, __LINE__, "%s: %" PRId64 " bytes and %d objects are left after %s",
                  faults.label, faults.live_bytes, objects, fault_what());
    return hash;
}

/* ---- all runs -------------------------------------------------------------------------------- */

/* Prints the label of the run that crashed. */
static void fault_tell(void)
{
    static const char in[] = "\nin ";
    ssize_t ignored = write(STDERR_FILENO, in, sizeof in - 1);
    ignored = write(STDERR_FILENO, faults.label, strlen(faults.label));
    ignored = write(STDERR_FILENO, "\n", 1);
    (void)ignored;
}

static void fault_signal(int number)
{
    fault_tell();
    signal(number, SIG_DFL);
    raise(number);
}

/* Called by the address sanitizer. */
void __asan_on_error(void);

void __asan_on_error(void)
{
    fault_tell();
}

/* Mixes the bits of a number. */
static uint64_t fault_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t fault_random(const char *config, const char *scenario, uint64_t number)
{
    uint64_t hash = fault_mix(faults.seed + 0x9e3779b97f4a7c15u * (number + 1));
    for (const char *c = config; *c; c++)
        hash = fault_mix(hash ^ (uint64_t)*c);
    for (const char *c = scenario; *c; c++)
        hash = fault_mix(hash ^ (uint64_t)*c << 8);
    return hash;
}

/* Does name begin with one of the requested names? or_part: a requested name may also begin with
 * name. Without requested names, all are wanted. */
static bool fault_is_wanted(const char *name, bool or_part, int count, char **names)
{
    for (int i = 0; i < count; i++) {
        size_t length = strlen(names[i]), here = strlen(name);
        if (strncmp(name, names[i], length) == 0 &&
            (name[length] == '\0' || name[length] == '/' || names[i][length - 1] == '/'))
            return true;
        if (or_part && here < length && strncmp(name, names[i], here) == 0 && names[i][here] == '/')
            return true;
    }
    return count == 0;
}

static void fault_scenario_runs(const fault_config *config, const fault_scenario *scenario,
                                bool all, int name_count, char **names)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", config->name, scenario->name);
    if (!fault_is_wanted(name, true, name_count, names) ||
        (!all && name_count == 0 &&
         fault_random(config->name, scenario->name, 0) % config->one_of != 0))
        return;
    int failures = test_failures;
    test_failures = 0;
    uint64_t counts[FAULT_KINDS], runs = faults.runs;
    clock_t begin = clock();
    uint64_t expected = fault_once(config, scenario, FAULT_MEMORY, 0, 0);
    memcpy(counts, faults.counts, sizeof counts);
    for (int kind = 0; kind < FAULT_KINDS && test_failures == 0; kind++) {
        if (!(config->kinds & 1u << kind))
            continue;
        uint64_t tries =
            all || name_count ? counts[kind] : TML_MIN_OF(config->events, counts[kind]);
        for (uint64_t i = 1; i <= tries; i++) {
            uint64_t at = i;
            if (tries < counts[kind])
                at = 1 + fault_random(config->name, scenario->name, (uint64_t)kind << 32 | i) %
                             counts[kind];
            char label[160];
            snprintf(label, sizeof label, "%s/%s/%" PRIu64, name, fault_kind_names[kind], at);
            if (fault_is_wanted(label, false, name_count, names))
                fault_once(config, scenario, (fault_kind)kind, at, expected);
        }
    }
    printf("%s %s: %" PRIu64 " runs in %.2f s;", test_failures ? "FAIL" : "ok", name,
           faults.runs - runs, (double)(clock() - begin) / CLOCKS_PER_SEC);
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        if (counts[kind] && config->kinds & 1u << kind)
            printf(" %s %" PRIu64, fault_kind_names[kind], counts[kind]);
    puts("");
    test_failures += failures;
}

int fault_main(int argc, char **argv, fault_config *configs, const fault_scenario *scenarios)
{
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    faults.seed = test_seed();
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    static const int deadly[] = {SIGSEGV, SIGFPE, SIGILL, SIGABRT,
#ifndef _WIN32
                                 SIGBUS,  SIGALRM
#endif
    };
    for (size_t i = 0; i < TML_ARRAY_SIZE(deadly); i++)
        signal(deadly[i], fault_signal);
    if (!all)
        printf("TML_SEED=%" PRIu64 "\n", faults.seed);
    for (fault_config *config = configs; config->name; config++) {
        if (!fault_is_wanted(config->name, true, argc - 1 - all, argv + 1 + all))
            continue;
        if (!fault_device_use(config)) {
            printf("skip %s: there is no such device\n", config->name);
            continue;
        }
        for (const fault_scenario *scenario = scenarios; scenario->name; scenario++)
            if (scenario->configs & config->bit)
                fault_scenario_runs(config, scenario, all, argc - 1 - all, argv + 1 + all);
    }
    printf("%" PRIu64 " runs, %d failures\n", faults.runs, test_failures);
    return test_failures ? 1 : faults.runs ? 0 : TEST_EXIT_SKIPPED;
}
