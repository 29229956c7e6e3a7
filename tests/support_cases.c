/* The driver behind cases.h: names, the covering sample, contexts, guarded arrays, reports.
 *
 * After: Cohen, Dalal, Fredman, Patton: The AETG System, an approach to testing based on
 * combinatorial design. 1997 (the greedy cover of pairs); Steele, Lea, Flood: Fast splittable
 * pseudorandom number generators. 2014 (splitmix64). */
#include "cases.h"
#include "seed.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/testing.h"

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif
#ifdef TML_GL
#    include <trommel/gl.h>
#endif

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

enum { GUARD = 64, PATTERN = CASE_PATTERN, MAX_DEVICES = 8, MAX_CONTEXTS = 32, NAME_SIZE = 512 };

static const double PERF_SECONDS = 0.5;

/* ---- random numbers and time ----------------------------------------------------------------- */

uint64_t case_random(case_run *c)
{
    return test_random(&c->seed);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- axes and names -------------------------------------------------------------------------- */

static int axis_find(const case_op *op, const char *name)
{
    for (int a = 0; a < CASE_MAX_AXES && op->axes[a].name; a++)
        if (strcmp(op->axes[a].name, name) == 0)
            return a;
    return -1;
}

const char *case_text(const case_run *c, const char *axis)
{
    int a = axis_find(c->op, axis);
    return a < 0 ? "" : c->values[a];
}

uint64_t case_number(const case_run *c, const char *axis)
{
    return strtoull(case_text(c, axis), NULL, 10);
}

bool case_is(const case_run *c, const char *axis, const char *value)
{
    return strcmp(case_text(c, axis), value) == 0;
}

/* Copies value number v of an axis; false past the last. */
static bool axis_value(const case_axis *axis, int v, char out[CASE_TEXT])
{
    const char *p = axis->values;
    for (; v > 0 && *p; v--) {
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    size_t length = strcspn(p, " ");
    if (length == 0 || length >= CASE_TEXT)
        return false;
    memcpy(out, p, length);
    out[length] = '\0';
    return true;
}

static int axis_size(const case_axis *axis)
{
    char value[CASE_TEXT];
    int n = 0;
    while (axis_value(axis, n, value))
        n++;
    return n;
}

static int axes_count(const case_op *op)
{
    int n = 0;
    while (n < CASE_MAX_AXES && op->axes[n].name)
        n++;
    return n;
}

static void case_name(const case_run *c, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "%s(", c->op->name);
    for (int a = 0; a < axes_count(c->op) && used < size; a++)
        used += (size_t)snprintf(out + used, size - used, "%s%s=%s", a ? "," : "",
                                 c->op->axes[a].name, c->values[a]);
    if (used < size)
        snprintf(out + used, size - used, ")");
}

static void case_default(case_run *c, const case_op *op)
{
    memset(c, 0, sizeof *c);
    c->op = op;
    for (int a = 0; a < axes_count(op); a++)
        axis_value(&op->axes[a], 0, c->values[a]);
}

static bool axis_accepts(const case_axis *axis, const char *value)
{
    char known[CASE_TEXT];
    for (int v = 0; axis_value(axis, v, known); v++)
        if (strcmp(known, value) == 0)
            return true;
    return axis->is_number && value[0] && value[strspn(value, "0123456789")] == '\0';
}

/* Rebuilds a case from its name; false, with a message, if the name fits no operation. */
static bool case_parse(case_run *c, const case_op *const *ops, const char *name)
{
    size_t length = strcspn(name, "(");
    for (; *ops; ops++)
        if (strlen((*ops)->name) == length && memcmp((*ops)->name, name, length) == 0)
            break;
    if (!*ops) {
        fprintf(stderr, "no operation in '%s'\n", name);
        return false;
    }
    case_default(c, *ops);
    char copy[NAME_SIZE];
    snprintf(copy, sizeof copy, "%s", name + length);
    for (char *rest = copy, *part; (part = strtok_r(rest, "(,)", &rest));) {
        char *equals = strchr(part, '=');
        if (equals)
            *equals = '\0';
        int a = axis_find(c->op, part);
        if (!equals || a < 0 || !axis_accepts(&c->op->axes[a], equals + 1)) {
            fprintf(stderr, "%s has no %s=%s\n", c->op->name, part, equals ? equals + 1 : "");
            return false;
        }
        snprintf(c->values[a], CASE_TEXT, "%s", equals + 1);
    }
    return true;
}

static void case_choose(case_run *c, const case_op *op, const int *choice)
{
    case_default(c, op);
    for (int a = 0; a < axes_count(op); a++)
        axis_value(&op->axes[a], choice[a], c->values[a]);
}

static bool is_sensible(const case_op *op, const int *choice)
{
    case_run c;
    case_choose(&c, op, choice);
    return !op->is_sensible || op->is_sensible(&c);
}

/* ---- choosing cases -------------------------------------------------------------------------- */

typedef struct case_list {
    int (*rows)[CASE_MAX_AXES];
    size_t count, capacity;
} case_list;

static void list_add(case_list *list, const int *choice)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 256;
        list->rows = realloc(list->rows, list->capacity * sizeof *list->rows);
        if (!list->rows)
            abort();
    }
    memcpy(list->rows[list->count++], choice, sizeof *list->rows);
}

/* The axes of the product, separated by commas; NULL: all. Other axes keep their first values. */
static const char *wanted_axes;

static bool is_wanted_axis(const char *name)
{
    size_t length = strlen(name);
    for (const char *at = wanted_axes; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return !wanted_axes;
}

/* Advances choice to the next of the full product, as an odometer does; false after the last. */
static bool next_choice(const case_op *op, int *choice)
{
    for (int a = axes_count(op) - 1; a >= 0; a--) {
        if (is_wanted_axis(op->axes[a].name) && ++choice[a] < axis_size(&op->axes[a]))
            return true;
        choice[a] = 0;
    }
    return false;
}

/* Pairs of (axis, value) that no case contains yet. Values are numbered across all axes. */
typedef struct pair_cover {
    int axes, sizes[CASE_MAX_AXES], first[CASE_MAX_AXES], values;
    uint8_t *open; /* values x values */
} pair_cover;

static uint8_t *pair_at(const pair_cover *cover, int a, int va, int b, int vb)
{
    return &cover->open[(cover->first[a] + va) * cover->values + cover->first[b] + vb];
}

static void pair_close(pair_cover *cover, int a, int va, int b, int vb)
{
    *pair_at(cover, a, va, b, vb) = *pair_at(cover, b, vb, a, va) = 0;
}

/* Completes a case around one pair: each other axis, in random order, gets the value that closes
 * most open pairs with the values chosen so far. */
static void pair_grow(const pair_cover *cover, uint64_t *seed, int a, int b, int *choice)
{
    int order[CASE_MAX_AXES], chosen[CASE_MAX_AXES] = {a, b}, chosen_count = 2;
    for (int i = 0; i < cover->axes; i++) {
        int j = (int)(test_random(seed) % (unsigned)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < cover->axes; i++) {
        int axis = order[i];
        if (axis == a || axis == b)
            continue;
        int best = -1, start = (int)(test_random(seed) % (unsigned)cover->sizes[axis]);
        for (int step = 0; step < cover->sizes[axis]; step++) {
            int value = (start + step) % cover->sizes[axis], gain = 0;
            for (int k = 0; k < chosen_count; k++)
                gain += *pair_at(cover, axis, value, chosen[k], choice[chosen[k]]);
            if (gain > best) {
                best = gain;
                choice[axis] = value;
            }
        }
        chosen[chosen_count++] = axis;
    }
}

/* Returns a small set of sensible cases that contains each possible pair of values. */
static case_list list_pairs(const case_op *op)
{
    enum { ATTEMPTS = 60 };
    pair_cover cover = {.axes = axes_count(op)};
    for (int a = 0; a < cover.axes; a++) {
        cover.first[a] = cover.values;
        cover.values += cover.sizes[a] = axis_size(&op->axes[a]);
    }
    cover.open = malloc((size_t)cover.values * (size_t)cover.values);
    if (!cover.open)
        abort();
    memset(cover.open, 1, (size_t)cover.values * (size_t)cover.values);

    case_list list = {0};
    uint64_t seed = 1;
    for (int a = 0; a < cover.axes; a++)
        for (int b = a + 1; b < cover.axes; b++)
            for (int va = 0; va < cover.sizes[a]; va++)
                for (int vb = 0; vb < cover.sizes[b]; vb++) {
                    if (!*pair_at(&cover, a, va, b, vb))
                        continue;
                    int choice[CASE_MAX_AXES] = {0};
                    bool found = false;
                    for (int attempt = 0; attempt < ATTEMPTS && !found; attempt++) {
                        choice[a] = va;
                        choice[b] = vb;
                        if (attempt < ATTEMPTS / 2) {
                            pair_grow(&cover, &seed, a, b, choice);
                        } else {
                            /* Greedy choices are not sensible: choose at random. */
                            for (int i = 0; i < cover.axes; i++)
                                if (i != a && i != b)
                                    choice[i] =
                                        (int)(test_random(&seed) % (unsigned)cover.sizes[i]);
                        }
                        found = is_sensible(op, choice);
                    }
                    pair_close(&cover, a, va, b, vb);
                    if (!found)
                        continue; /* the pair is not possible */
                    for (int i = 0; i < cover.axes; i++)
                        for (int j = i + 1; j < cover.axes; j++)
                            pair_close(&cover, i, choice[i], j, choice[j]);
                    list_add(&list, choice);
                }
    free(cover.open);
    return list;
}

/* ---- contexts -------------------------------------------------------------------------------- */

static tml_device_info devices[MAX_DEVICES];
static uint32_t device_count;
static struct {
    uint32_t device, threads;
    tml_context *tml;
} contexts[MAX_CONTEXTS];
static int context_count;
static const struct tml_vulkan_kernel *built_kernels;

void case_use_kernels(const struct tml_vulkan_kernel *kernels)
{
    built_kernels = kernels;
}

static const char *engine_name(tml_engine_kind kind)
{
    static const char *const names[] = {"auto", "cpu", "vulkan", "gl"};
    return (size_t)kind < COUNT_OF(names) ? names[kind] : "unknown";
}

/* NULL: every engine. */
static const char *wanted_engine;
static bool is_wanted_device(uint32_t device)
{
    return !wanted_engine || strcmp(wanted_engine, engine_name(devices[device].engine)) == 0;
}

/* On GPUs there are no threads to vary. On OpenGL ES the axis varies other settings that must not
 * matter: with 1, textures have short rows, so that streams have many; with 7, counts are read
 * before outputs are drawn. */
#ifdef TML_GL
static tml_gl_path gl_path; /* --gl-path */
static tml_gl_desc gl_of(uint32_t threads)
{
    return (tml_gl_desc){.exact_counts = threads == 7, .path = gl_path};
}

static bool set_gl_path(const char *name)
{
    if (strcmp(name, "float_packed") == 0)
        name = "float-packed";
    gl_path = TML_GL_PATH_PACKED;
    while (gl_path > TML_GL_PATH_AUTO && strcmp(tml_gl_path_name(gl_path), name) != 0)
        gl_path--;
    return strcmp(tml_gl_path_name(gl_path), name) == 0;
}
#else
static bool set_gl_path(const char *name)
{
    (void)name;
    return false;
}
#endif

/* tml_testing.vulkan_pass_items; 0: the default. */
static uint64_t pass_items;

/* Returns the context for a device and a number of threads. Contexts are kept, so that one case
 * after another uses the same arena. */
static tml_context *context_get(uint32_t device, uint32_t threads)
{
    for (int i = 0; i < context_count; i++)
        if (contexts[i].device == device && contexts[i].threads == threads)
            return contexts[i].tml;
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, device);
    tml_context *tml = NULL;
    tml_open_desc desc = {.device = number, .threads = threads};
#ifdef TML_VULKAN
    desc.vulkan = &(tml_vulkan_desc){.kernels = built_kernels};
#endif
#ifdef TML_GL
    tml_gl_desc gl = gl_of(threads);
    desc.gl = &gl;
#endif
    const tml_testing testing = {.vulkan_pass_items = pass_items,
                                 .vulkan_resident = 16,
                                 .gl_row_log2 = threads == 1 ? 10 : 0};
    if (context_count == MAX_CONTEXTS || tml_open_testing(&desc, &testing, &tml) != TML_OK)
        return NULL;
    contexts[context_count].device = device;
    contexts[context_count].threads = threads;
    contexts[context_count++].tml = tml;
    return tml;
}

static void contexts_close(void)
{
    for (int i = 0; i < context_count; i++)
        tml_close(contexts[i].tml);
    context_count = 0;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

bool case_fail(case_run *c, const char *format, ...)
{
    if (c->result != CASE_FAILED) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(c->message, sizeof c->message, format, arguments);
        va_end(arguments);
        c->result = CASE_FAILED;
    }
    return false;
}

bool case_call(case_run *c, tml_status status)
{
    if (status == TML_OK)
        return true;
    if (status == TML_ERROR_UNSUPPORTED || status == TML_ERROR_OUT_OF_MEMORY) {
        if (c->result != CASE_FAILED) {
            c->result = status == TML_ERROR_UNSUPPORTED ? CASE_SKIPPED : CASE_NO_MEMORY;
            snprintf(c->message, sizeof c->message, "%s", tml_last_error(c->tml));
        }
        return false;
    }
    return case_fail(c, "%s: %s", tml_status_name(status), tml_last_error(c->tml));
}

case_array *case_array_new(case_run *c, tml_type type, uint64_t count)
{
    if (c->array_count == CASE_MAX_ARRAYS)
        abort();
    case_array *array = &c->arrays[c->array_count++];
    array->size = (size_t)count * tml_type_size(type);
    array->block = malloc(array->size + 4 * GUARD);
    if (!array->block)
        abort();
    memset(array->block, PATTERN, array->size + 4 * GUARD);
    tml_type scalar = tml_type_scalar(type);
    uintptr_t line = ((uintptr_t)array->block + 2 * GUARD) / GUARD * GUARD;
    array->data = array->block + (line - (uintptr_t)array->block);
    array->data += scalar ? tml_type_size(scalar) : 1;
    return array;
}

tml_buffer case_input(case_run *c, case_array *array, tml_type type, uint64_t count)
{
    tml_buffer_desc desc = {.type = type, .count = count, .label = "case"};
    array->is_lent = c->engine == TML_ENGINE_CPU;
    if (array->is_lent)
        desc.host = array->data;
    else
        desc.data = array->data;
    tml_status status = tml_buffer_create(c->tml, &desc, &array->buffer);
    (void)case_call(c, status);
    return array->buffer;
}

case_array *case_output(case_run *c, tml_type type, uint64_t count)
{
    case_array *array = case_array_new(c, type, count);
    case_input(c, array, type, count);
    return array;
}

bool case_fetch(case_run *c, case_array *array)
{
    return array->is_lent || case_call(c, tml_buffer_read(c->tml, array->buffer, array->data));
}

static bool is_pattern(const uint8_t *bytes, size_t size)
{
    return size == 0 || (bytes[0] == PATTERN && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static void arrays_free(case_run *c)
{
    for (int i = 0; i < c->array_count; i++) {
        case_array *array = &c->arrays[i];
        size_t before = (size_t)(array->data - array->block);
        if (!is_pattern(array->block, before))
            case_fail(c, "array %d: the guard before it was written", i);
        if (!is_pattern(array->data + array->size, 4 * GUARD - before))
            case_fail(c, "array %d: the guard after it was written", i);
        if (c->tml)
            tml_buffer_destroy(c->tml, array->buffer);
        free(array->block);
    }
    c->array_count = 0;
}

bool case_check_rest(case_run *c, const char *what, const case_array *array, size_t size)
{
    return is_pattern(array->data + size, array->size - size) ||
           case_fail(c, "%s: something was written past the result (byte %zu of %zu)", what, size,
                     array->size);
}

bool case_check(case_run *c, const char *what, case_array *array, const void *expected,
                size_t expected_size)
{
    if (c->result != CASE_PASSED || !case_fetch(c, array))
        return false;
    const uint8_t *wanted = expected;
    size_t i = 0;
    if (expected_size > array->size)
        return case_fail(c, "%s: %zu bytes expected of an array of %zu", what, expected_size,
                         array->size);
    while (i < expected_size && array->data[i] == wanted[i])
        i++;
    if (i < expected_size) {
        uint64_t a = 0, b = 0;
        size_t word = i & ~(size_t)7, size = expected_size - word < 8 ? expected_size - word : 8;
        memcpy(&a, array->data + word, size);
        memcpy(&b, wanted + word, size);
        return case_fail(c, "%s: byte %zu of %zu: 0x%" PRIx64 " where 0x%" PRIx64 " is expected",
                         what, i, expected_size, a, b);
    }
    return case_check_rest(c, what, array, expected_size);
}

/* ---- running --------------------------------------------------------------------------------- */

void case_start(case_run *c)
{
    c->repeats = 1;
    c->repeat = 0;
    c->best = 1e30;
    c->total = 0;
}

bool case_again(case_run *c)
{
    double now = seconds();
    if (c->repeat > 0) {
        double took = now - c->started;
        /* The first repetition warms caches and arena. */
        if (c->repeat > 1 || !c->is_timed)
            c->best = took < c->best ? took : c->best;
        c->total += took;
    }
    bool again = c->repeat == 0 || (c->is_timed && (c->repeat < 5 || c->total < PERF_SECONDS));
    c->repeat++;
    c->started = seconds();
    return again && c->result == CASE_PASSED;
}

static case_result case_execute(case_run *c, tml_context *tml)
{
    char name[NAME_SIZE];
    case_name(c, name, sizeof name);
    c->seed = 0xcbf29ce484222325u; /* FNV-1a of the name */
    for (const char *p = name; *p; p++)
        c->seed = (c->seed ^ (uint8_t)*p) * 0x100000001b3u;
    tml_device_info info;
    tml_context_describe(tml, &info);
    c->tml = tml;
    c->engine = info.engine;
    c->result = CASE_PASSED;
    c->op->run(c);
    arrays_free(c);
    return c->result;
}

static case_result case_execute_on(case_run *c, uint32_t device)
{
    uint64_t threads = case_number(c, "threads");
    tml_context *tml = context_get(device, (uint32_t)threads);
    if (tml)
        return case_execute(c, tml);
    snprintf(c->message, sizeof c->message, "no context for %s", devices[device].name);
    return c->result = CASE_FAILED;
}

case_result case_run_default(const case_op *op, tml_context *tml, const char *axis,
                             const char *value, char *message, size_t size)
{
    case_run c;
    case_default(&c, op);
    int a = axis ? axis_find(op, axis) : -1;
    if (a >= 0)
        snprintf(c.values[a], CASE_TEXT, "%s", value);
    case_execute(&c, tml);
    snprintf(message, size, "%s", c.message);
    return c.result;
}

/* ---- the matrix of operations, engines and methods ------------------------------------------- */

/* 1: a case of this operation, engine and method passed. REFUSED: the engine lacks it. */
enum { MAX_OPS = 32, METHODS = 8, ENGINES = 4, REFUSED = -1 };
static int reached[MAX_OPS][ENGINES][METHODS];

static int method_of(const case_run *c)
{
    int a = axis_find(c->op, "method");
    char value[CASE_TEXT];
    for (int v = 0; a >= 0 && axis_value(&c->op->axes[a], v, value); v++)
        if (strcmp(value, c->values[a]) == 0)
            return v;
    return 0;
}

/* filters: parts of names, NULL-ended; without filters, all operations are wanted. */
static bool is_wanted(const case_op *op, const char *const *filters)
{
    for (const char *const *filter = filters; *filter; filter++)
        if (strstr(op->name, *filter))
            return true;
    return !*filters;
}

/* Probes each cell with the operation's default case. */
static void matrix_probe(const case_op *const *ops)
{
    for (int o = 0; ops[o]; o++) {
        if (o == MAX_OPS)
            abort();
        int a = axis_find(ops[o], "method");
        for (uint32_t d = 0; d < device_count; d++)
            for (int m = 0; m < (a < 0 ? 1 : axis_size(&ops[o]->axes[a])); m++) {
                case_run c;
                case_default(&c, ops[o]);
                if (a >= 0)
                    axis_value(&ops[o]->axes[a], m, c.values[a]);
                if (case_execute_on(&c, d) == CASE_SKIPPED)
                    reached[o][devices[d].engine][m] = REFUSED;
            }
    }
}

/* A column of the matrix: an engine's results. The float tier of OpenGL ES has its own column. */
typedef struct support_column {
    const char *name;
    int (*cells)[ENGINES][METHODS];
    tml_engine_kind engine;
} support_column;

/* Prints the methods of an operation that an engine runs: "look_back, histopyramid". */
static void print_support_cell(const case_op *op, const int cells[METHODS])
{
    int a = axis_find(op, "method"), count = 0;
    char value[CASE_TEXT];
    for (int v = 0; axis_value(&op->axes[a], v, value); v++)
        if (strcmp(value, "auto") != 0 && cells[v] != REFUSED)
            printf("%s%s", count++ ? ", " : " ", value);
    printf("%s |", count ? "" : " unsupported");
}

/* Prints "**gl, float tier** does not run histogram, scan.", if a column lacks operations. */
static void print_support_lacks(const case_op *const *ops, const support_column *column)
{
    int count = 0;
    for (int o = 0; ops[o]; o++)
        if (column->cells[o][column->engine][0] == REFUSED) {
            if (count++ == 0)
                printf("\n**%s** does not run", column->name);
            printf("%s %s", count > 1 ? "," : "", ops[o]->name);
        }
    if (count > 0)
        puts(".");
}

static void print_support(const case_op *const *ops)
{
    static int whole[MAX_OPS][ENGINES][METHODS];
    support_column columns[2 * ENGINES];
    int count = 0;
    matrix_probe(ops);
    memcpy(whole, reached, sizeof whole);
    if (set_gl_path("packed")) {
        contexts_close();
        memset(reached, 0, sizeof reached);
        matrix_probe(ops);
    }
    for (uint32_t d = 0; d < device_count; d++) {
        tml_engine_kind engine = devices[d].engine;
        columns[count++] = (support_column){engine_name(engine), whole, engine};
        if (engine == TML_ENGINE_GL)
            columns[count++] = (support_column){"gl, float tier", reached, engine};
    }
    puts("# Operations, engines and methods\n\n"
         "Every engine runs every stream operation, and everything that this page does not name. "
         "What an engine\nlacks returns `TML_ERROR_UNSUPPORTED`. This section is what `test_stream "
         "support` prints.");
    for (int k = 0; k < count; k++)
        print_support_lacks(ops, &columns[k]);
    printf("\nThe methods of operations that have a choice:\n\n| operation |");
    for (int k = 0; k < count; k++)
        printf(" %s |", columns[k].name);
    printf("\n|---|");
    for (int k = 0; k < count; k++)
        printf("---|");
    putchar('\n');
    for (int o = 0; ops[o]; o++) {
        if (axis_find(ops[o], "method") < 0)
            continue;
        printf("| %s |", ops[o]->name);
        for (int k = 0; k < count; k++)
            print_support_cell(ops[o], columns[k].cells[o][columns[k].engine]);
        putchar('\n');
    }
}

/* Prints every cell that an engine offers and no case passed. Returns how many. */
static int coverage_report(const case_op *const *ops, const char *const *filters)
{
    int missing = 0;
    matrix_probe(ops);
    for (int o = 0; ops[o]; o++)
        for (uint32_t d = 0; d < device_count && is_wanted(ops[o], filters); d++) {
            int a = axis_find(ops[o], "method");
            for (int m = 0; m < (a < 0 ? 1 : axis_size(&ops[o]->axes[a])); m++) {
                if (reached[o][devices[d].engine][m] != 0)
                    continue;
                char value[CASE_TEXT] = "";
                if (a >= 0)
                    axis_value(&ops[o]->axes[a], m, value);
                printf("not reached: %s %s %s\n", ops[o]->name, engine_name(devices[d].engine),
                       value);
                missing++;
            }
        }
    return missing;
}

/* ---- the program ----------------------------------------------------------------------------- */

typedef struct totals {
    int passed, failed, skipped;
} totals;

static void count_result(totals *sum, case_result result, const char *engine, const char *name,
                         const char *message)
{
    if (result == CASE_PASSED) {
        sum->passed++;
        return;
    }
    if (result == CASE_SKIPPED)
        sum->skipped++;
    else
        sum->failed++;
    printf("%s %s '%s'\n     %s\n", result == CASE_SKIPPED ? "skip" : "FAIL", engine, name,
           message);
}

/* Software drivers run one case of the sample in software_step: a case takes a hundred times as
 * long there, much of it to compile. The device and the seed decide which cases run. */
static uint32_t software_step = 1;
/* The same for all other devices, under sanitizers. */
static uint32_t sample_step = 1;

static void run_case(totals *sum, case_run *c, const case_op *const *ops, int op)
{
    static uint32_t number;
    char name[NAME_SIZE];
    case_name(c, name, sizeof name);
    number++;
    for (uint32_t d = 0; d < device_count; d++) {
        if ((number + d + test_seed()) % (devices[d].is_software ? software_step : sample_step) !=
                0 ||
            !is_wanted_device(d))
            continue;
        case_run run = *c;
        case_result result = case_execute_on(&run, d);
        count_result(sum, result, engine_name(devices[d].engine), name, run.message);
        if (op >= 0 && ops[op] && result == CASE_PASSED && axis_find(ops[op], "method") >= 0)
            reached[op][devices[d].engine][method_of(&run)] = 1;
        else if (op >= 0 && result == CASE_PASSED)
            reached[op][devices[d].engine][0] = 1;
    }
}

/* Returns the seconds per byte of the fastest of some copies of at least size bytes. */
static double copy_seconds(size_t size)
{
    size = size < (64u << 20) ? 64u << 20 : size;
    uint8_t *a = malloc(size), *b = malloc(size);
    double best = 1e30;
    if (a && b) {
        memset(a, 1, size);
        for (int i = 0; i < 6; i++) {
            double start = seconds();
            memcpy(b, a, size);
            double took = seconds() - start;
            best = took < best ? took : best;
        }
        if (b[size / 2] != 1)
            abort();
    }
    free(a);
    free(b);
    return best / (double)size;
}

static void run_perf_case(totals *sum, const case_op *const *ops, const char *name)
{
    for (uint32_t d = 0; d < device_count; d++) {
        if (!is_wanted_device(d))
            continue;
        case_run c;
        if (!case_parse(&c, ops, name)) {
            sum->failed++;
            continue;
        }
        c.is_timed = true;
        case_result result = case_execute_on(&c, d);
        count_result(sum, result, engine_name(devices[d].engine), name, c.message);
        if (result != CASE_PASSED)
            continue;
        /* A copy of n bytes moves 2n. */
        double copy = copy_seconds((size_t)c.bytes / 2) * (double)c.bytes / 2;
        printf("%-92s %9.2f %7.2f %.0f %%\n", name, c.best * 1e3, (double)c.bytes / c.best * 1e-9,
               100 * copy / c.best);
    }
}

static void run_perf(totals *sum, const case_op *const *ops, const char *const *filters,
                     const char *one)
{
    printf("%-92s %9s %7s %s\n", "case", "best ms", "GB/s", "share of one memcpy's speed");
    if (one) {
        run_perf_case(sum, ops, one);
        return;
    }
    for (const case_op *const *op = ops; *op; op++)
        for (const char *const *name = (*op)->perf; name && *name; name++)
            if (is_wanted(*op, filters))
                run_perf_case(sum, ops, *name);
}

static void run_choice(totals *sum, const case_op *const *ops, int op, const int *choice,
                       bool list_only)
{
    case_run c;
    case_choose(&c, ops[op], choice);
    if (list_only) {
        char name[NAME_SIZE];
        case_name(&c, name, sizeof name);
        puts(name);
    } else {
        run_case(sum, &c, ops, op);
    }
}

static void run_all(totals *sum, const case_op *const *ops, bool full, bool list_only,
                    const char *const *filters)
{
    for (int o = 0; ops[o]; o++) {
        if (!is_wanted(ops[o], filters))
            continue;
        double start = seconds();
        uint64_t count = 0;
        if (full) {
            int choice[CASE_MAX_AXES] = {0};
            do {
                if (!is_sensible(ops[o], choice))
                    continue;
                run_choice(sum, ops, o, choice, list_only);
                count++;
            } while (next_choice(ops[o], choice));
        } else {
            case_list list = list_pairs(ops[o]);
            for (size_t i = 0; i < list.count; i++)
                run_choice(sum, ops, o, list.rows[i], list_only);
            count = list.count;
            free(list.rows);
        }
        if (!list_only)
            printf("%s: %" PRIu64 " cases, %.1f s\n", ops[o]->name, count, seconds() - start);
    }
}

static int usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [test|list|support|perf] [--all] [--axes A,B] [--coverage] "
            "[--software N] [--sample N] [--engine E] [--gl-path P] [--pass-items N] [OP]\n"
            "       %s -o 'CASE'\n"
            "  test        a covering sample of the cases (the default); --all: the full product;\n"
            "              --axes count,method: the product of these alone\n"
            "  list        their names\n"
            "  support     which engine runs what, as markdown\n"
            "  perf        times\n"
            "  --coverage  fail when a method that an engine offers is reached by no case\n"
            "  --software N  only every Nth case on software drivers\n"
            "  --engine E  only on cpu, vulkan or gl\n"
            "  --gl-path P  on OpenGL ES, force a path: integer, float, float-packed or packed\n"
            "  --pass-items N  on Vulkan, elements of a pass\n"
            "  OP          only operations whose name contains it; may be given several times\n"
            "  -o 'CASE'   one case, by its name; may be given several times\n",
            program, program);
    return 2;
}

int case_main(int argc, char **argv, const case_op *const *ops, const case_check_fn *checks)
{
    enum { ONES = 32 };
    const char *mode = "test", *filters[ONES + 1] = {NULL}, *ones[ONES + 1] = {NULL};
    uint32_t one_count = 0, filter_count = 0;
    bool full = false, coverage = false;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "-o") == 0 && i + 1 < argc && one_count < ONES)
            ones[one_count++] = argv[++i];
        else if (strcmp(arg, "--software") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0)
            software_step = (uint32_t)atoi(argv[++i]);
        else if (strcmp(arg, "--sample") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0)
            sample_step = (uint32_t)atoi(argv[++i]);
        else if (strcmp(arg, "--engine") == 0 && i + 1 < argc)
            wanted_engine = argv[++i];
        else if (strcmp(arg, "--gl-path") == 0 && i + 1 < argc && set_gl_path(argv[i + 1]))
            i++;
        else if (strcmp(arg, "--pass-items") == 0 && i + 1 < argc)
            pass_items = strtoull(argv[++i], NULL, 10);
        else if (strcmp(arg, "--all") == 0)
            full = true;
        else if (strcmp(arg, "--axes") == 0 && i + 1 < argc) {
            wanted_axes = argv[++i];
            full = true;
        } else if (strcmp(arg, "--coverage") == 0)
            coverage = true;
        else if (strcmp(arg, "test") == 0 || strcmp(arg, "list") == 0 ||
                 strcmp(arg, "support") == 0 || strcmp(arg, "perf") == 0)
            mode = arg;
        else if (arg[0] != '-' && filter_count < ONES)
            filters[filter_count++] = arg;
        else
            return usage(argv[0]);
    }
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    device_count = tml_devices(devices, MAX_DEVICES);
    device_count = device_count < MAX_DEVICES ? device_count : MAX_DEVICES;

    if (software_step > 1 || sample_step > 1)
        printf("TML_SEED=%" PRIu64 "\n", test_seed());
    totals sum = {0};
    bool is_report = strcmp(mode, "list") == 0 || strcmp(mode, "support") == 0;
    if (strcmp(mode, "perf") == 0) {
        run_perf(&sum, ops, filters, ones[0]);
    } else if (one_count) {
        for (uint32_t i = 0; i < one_count; i++) {
            case_run c;
            if (!case_parse(&c, ops, ones[i]))
                return usage(argv[0]);
            run_case(&sum, &c, ops, -1);
        }
    } else if (strcmp(mode, "support") == 0) {
        print_support(ops);
    } else {
        run_all(&sum, ops, full, is_report, filters);
        /* Checks use contexts of the CPU engine. */
        bool has_checks =
            !is_report && !filter_count && (!wanted_engine || strcmp(wanted_engine, "cpu") == 0);
        for (; has_checks && checks && checks->name; checks++) {
            char message[1024] = "";
            case_result result = checks->run(message, sizeof message);
            count_result(&sum, result, "cpu", checks->name, message);
        }
        if (coverage)
            sum.failed += coverage_report(ops, filters);
    }
    contexts_close();
    if (!is_report)
        printf("%d passed, %d failed, %d skipped\n", sum.passed, sum.failed, sum.skipped);
    return sum.failed                ? 1
           : is_report || sum.passed ? 0
                                     : 77; /* nothing ran: CTest shows it as skipped */
}
