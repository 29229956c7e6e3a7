/* Random programs: sequences of valid calls over a pool of buffers, each compared with plain C.
 *
 * A seed makes a program, a list of 50 to 150 calls and the buffers that they need.
 * Whatever a call does to a buffer, its model does to a mirror (random_model.h); on Vulkan the
 * program has command buffers that are submitted again later, with anything in between
 * (random_run.h). Programs run in child processes, so that one that ends the process is a failure
 * like others. A program that fails is made shorter by leaving out calls while it still fails,
 * after Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input. 2002, and what is
 * left is printed. */
#include <signal.h>
#ifndef _WIN32
#    include <sys/mman.h>
#    include <sys/wait.h>
#endif
#include <time.h>
#include <unistd.h>

#include "random_run.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* ---- making programs ------------------------------------------------------------------------- */

enum { USED = 32, HELD = 128, LIVE_MOST = 32, NAMED = 64 };

/* What is known of a buffer before anything runs. */
typedef struct sketch {
    bool is_live;
    uint8_t context;
    array_role role;
    tml_type type;
    uint64_t count, limit;
    bool is_binary; /* all samples are 0 or 1 */
} sketch;

typedef struct generator {
    uint64_t seed;
    bool is_vulkan;
    call *calls;
    size_t count, capacity;
    sketch *arrays;
    size_t made;
    bool is_open[SIDES];
    uint16_t used[USED]; /* by the call in the making */
    size_t used_count;
    uint16_t held[HELD]; /* by the command buffer in the making */
    size_t held_count;
    bool is_recorded[SIDES][RECORDINGS + 1];
    uint16_t named[SIDES][RECORDINGS + 1][NAMED];
} generator;

static const tml_type any_types[] = {TML_U8,         TML_U32, TML_F32, TML_U64,
                                     TML_U16,        TML_I32, TML_I64, TML_F64,
                                     TML_F16,        TML_I8,  TML_I16, TML_VEC(TML_F32, 3),
                                     TML_RECORD(20), 0};
static const tml_type scalar_types[] = {TML_U32, TML_F32, TML_U8,  TML_U64, TML_I32, TML_U16,
                                        TML_I64, TML_F64, TML_F16, TML_I8,  TML_I16, 0};
static const tml_type scan_types[] = {TML_U32, TML_U8,  TML_F32, TML_U64, TML_U16,
                                      TML_I32, TML_I64, TML_F64, 0};
static const tml_type sum_types[] = {TML_U32, TML_U64, TML_I32, TML_I64, 0};
static const tml_type count_types[] = {TML_U32, TML_U64, 0};
static const tml_type uint_types[] = {TML_U32, TML_U8, TML_U16, 0};

static uint64_t below(generator *g, uint64_t n)
{
    return random_below(&g->seed, n);
}

static bool chance(generator *g, uint64_t of_100)
{
    return below(g, 100) < of_100;
}

static void emit(generator *g, const call *c)
{
    if (g->count == g->capacity) {
        g->capacity = g->capacity ? 2 * g->capacity : 1024;
        g->calls = realloc(g->calls, g->capacity * sizeof *g->calls);
    }
    g->calls[g->count++] = *c;
}

/* Mostly one of a list's first three, so that operations find buffers to share. */
static tml_type pick_type(generator *g, const tml_type *types)
{
    uint64_t n = 0;
    while (types[n])
        n++;
    return types[below(g, n > 3 && chance(g, 70) ? 3 : n)];
}

static bool has_type(const tml_type *types, tml_type type)
{
    while (*types && *types != type)
        types++;
    return *types != 0;
}

static bool is_among(const uint16_t *list, size_t count, size_t number)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == number)
            return true;
    return false;
}

static bool is_named(const generator *g, size_t number)
{
    uint8_t context = g->arrays[number].context;
    for (uint32_t k = 1; k <= RECORDINGS; k++)
        if (g->is_recorded[context][k] && is_among(g->named[context][k], NAMED, number))
            return true;
    return false;
}

static void use(generator *g, uint16_t number)
{
    if (g->used_count < USED)
        g->used[g->used_count++] = number;
    if (g->held_count < HELD)
        g->held[g->held_count++] = number;
}

/* A live buffer of some type and at least a count that the call in the making does not use; 0:
 * none. */
static uint16_t find(generator *g, uint8_t context, const tml_type *types, uint64_t least,
                     array_role role)
{
    uint16_t found = 0;
    uint64_t seen = 0;
    for (size_t i = 1; i <= g->made; i++) {
        const sketch *a = &g->arrays[i];
        if (a->is_live && a->context == context && a->role == role && a->count >= least &&
            has_type(types, a->type) && !is_among(g->used, g->used_count, i) &&
            below(g, ++seen) == 0)
            found = (uint16_t)i;
    }
    return found;
}

/* Something that nothing needs, if there are too many; what command buffers name, rarely. */
static void make_room(generator *g, uint8_t context)
{
    size_t live = 0, victim = 0, seen = 0;
    bool also_named = chance(g, 10);
    for (size_t i = 1; i <= g->made; i++) {
        if (!g->arrays[i].is_live || g->arrays[i].context != context)
            continue;
        live++;
        if (!is_among(g->held, g->held_count, i) && (also_named || !is_named(g, i)) &&
            below(g, ++seen) == 0)
            victim = i;
    }
    if (live < LIVE_MOST || !victim)
        return;
    g->arrays[victim].is_live = false;
    emit(g, &(call){.kind = CALL_DESTROY, .context = context, .at[AT_OUT] = (uint16_t)victim});
}

static uint16_t create_array(generator *g, uint8_t context, tml_type type, uint64_t count,
                             int style, array_role role, uint64_t limit)
{
    if (g->made + 1 >= ARRAYS)
        return 0;
    make_room(g, context);
    uint16_t number = (uint16_t)++g->made;
    g->arrays[number] = (sketch){.is_live = true,
                                 .context = context,
                                 .role = role,
                                 .type = type,
                                 .count = count,
                                 .limit = limit,
                                 .is_binary = style == STYLE_BINARY};
    call c = {.kind = CALL_CREATE,
              .context = context,
              .role = role,
              .style = (uint8_t)style,
              .at[AT_OUT] = number,
              .type = type,
              .count = count,
              .index = limit,
              .seed = test_random(&g->seed)};
    if (chance(g, 25))
        c.options |= OPTION_LENT;
    else if (chance(g, 15))
        c.options |= OPTION_UNDEFINED;
    emit(g, &c);
    return number;
}

static uint64_t new_size(generator *g)
{
    return chance(g, 1) ? 300007 + below(g, 500000) : random_size(&g->seed);
}

/* An operand of at least a count; from then on the call in the making uses it. */
static uint16_t want(generator *g, uint8_t context, const tml_type *types, uint64_t least,
                     int style)
{
    uint16_t number = chance(g, 95) ? find(g, context, types, least, ROLE_PLAIN) : 0;
    if (!number) {
        uint64_t count = chance(g, 40) ? random_size(&g->seed) : 0;
        number = create_array(g, context, pick_type(g, types), count > least ? count : least, style,
                              ROLE_PLAIN, 0);
    }
    use(g, number);
    return number;
}

/* A first input, of any count. */
static uint16_t want_any(generator *g, uint8_t context, const tml_type *types, int style)
{
    uint16_t number = chance(g, 90) ? find(g, context, types, 0, ROLE_PLAIN) : 0;
    if (!number)
        number = create_array(g, context, pick_type(g, types), new_size(g), style, ROLE_PLAIN, 0);
    use(g, number);
    return number;
}

static uint16_t want_out(generator *g, uint8_t context, tml_type type, uint64_t least)
{
    const tml_type types[] = {type, 0};
    uint16_t number = want(g, context, types, least, (int)below(g, STYLES));
    g->arrays[number].is_binary = false;
    return number;
}

static int any_style(generator *g)
{
    return (int)below(g, STYLES);
}

/* All of the elements, or less by the host's word or an element's; returns the bound. */
static uint64_t choose_length(generator *g, call *c, uint64_t available)
{
    if (chance(g, 30)) {
        c->options |= OPTION_EXACT;
        c->count = chance(g, 10) ? 0 : below(g, available + 1);
    } else if (available > 1 && chance(g, 20)) {
        c->count = 1 + below(g, available);
    }
    if (chance(g, 35)) {
        c->at[AT_LENGTH] = want(g, c->context, count_types, 1, STYLE_LENGTHS);
        uint64_t count = g->arrays[c->at[AT_LENGTH]].count;
        c->index = below(g, count < 4 ? count : 4);
    }
    return c->count || c->options & OPTION_EXACT ? c->count : available;
}

static void choose_method(generator *g, call *c)
{
    uint64_t x = below(g, 8);
    c->method = x < 3   ? TML_METHOD_AUTO
                : x < 5 ? TML_METHOD_LOOK_BACK
                : x < 6 ? TML_METHOD_REDUCE_THEN_SCAN
                        : TML_METHOD_HISTOPYRAMID;
}

static void choose_scratch(generator *g, call *c)
{
    static const tml_type bytes[] = {TML_U8, 0};
    if (!chance(g, 12))
        return;
    uint16_t number = chance(g, 80) ? find(g, c->context, bytes, 0, ROLE_SCRATCH) : 0;
    if (!number)
        number = create_array(g, c->context, TML_U8, chance(g, 20) ? below(g, 5000) : 1 << 20,
                              STYLE_BITS, ROLE_SCRATCH, 0);
    use(g, number);
    c->at[AT_SCRATCH] = number;
}

static uint16_t want_count(generator *g, uint8_t context, uint64_t count)
{
    uint16_t number = want(g, context, count_types, count, any_style(g));
    g->arrays[number].is_binary = false;
    return number;
}

static tml_type fold_type(generator *g, tml_fold fold, tml_type in)
{
    switch (fold) {
    case TML_FOLD_MIN:
    case TML_FOLD_MAX:
        return in;
    case TML_FOLD_ARGMIN:
    case TML_FOLD_ARGMAX:
        return chance(g, 50) ? TML_U32 : TML_U64;
    case TML_FOLD_SUM:
        if (!tml_type_is_float(in))
            return chance(g, 50) ? TML_U64 : TML_I64;
        return chance(g, 70) ? TML_F32 : TML_F64;
    default:
        return chance(g, 70) ? TML_F32 : TML_F64;
    }
}

static tml_type sum_type(generator *g, tml_type in)
{
    return tml_type_is_float(in) ? in : pick_type(g, sum_types);
}

static void make_map(generator *g, call *c)
{
    static const tml_type f32[] = {TML_F32, TML_F16, 0}, u64[] = {TML_U64, 0},
                          vec3[] = {TML_VEC(TML_F32, 3), 0},
                          words[] = {TML_U32, TML_U64, TML_F32, 0};
    c->kernel = (uint8_t)below(g, MAPS);
    const tml_type *types = c->kernel == 1   ? f32
                            : c->kernel == 3 ? u64
                            : c->kernel == 6 ? vec3
                                             : uint_types;
    tml_type result = map_kernel(c)->result;
    if (c->kernel == 5) { /* no inputs: out says how many */
        c->at[AT_OUT] = want_any(g, c->context, (const tml_type[]){TML_U32, 0}, any_style(g));
        choose_length(g, c, g->arrays[c->at[AT_OUT]].count);
        return;
    }
    c->at[AT_IN] = want_any(g, c->context, types, any_style(g));
    uint64_t bound = choose_length(g, c, g->arrays[c->at[AT_IN]].count);
    if (c->kernel == 3)
        c->at[AT_IN + 1] = want(g, c->context, uint_types, bound, any_style(g));
    if (c->kernel == 4)
        c->at[AT_IN + 1] = want(g, c->context, words, 1 + below(g, 9), any_style(g));
    bool in_place = g->arrays[c->at[AT_IN]].type == result && chance(g, 25);
    c->at[AT_OUT] = in_place ? c->at[AT_IN] : want_out(g, c->context, result, bound);
}

static void make_reduce(generator *g, call *c)
{
    c->fold = (uint8_t)below(g, TML_FOLD_MEAN + 1);
    c->at[AT_IN] = want_any(g, c->context, scalar_types, any_style(g));
    const sketch *in = &g->arrays[c->at[AT_IN]];
    choose_length(g, c, in->count);
    const tml_type type = in->type;
    for (uint32_t k = 0, count = chance(g, 30) ? 3 : 1; k < count; k++)
        c->at[AT_OUT + k] = want_out(g, c->context, fold_type(g, also_fold(c, k), type), 1);
    choose_scratch(g, c);
}

static void make_histogram(generator *g, call *c)
{
    static const uint16_t bins[] = {1, 4, 16, 17, 255, 256, 300, 1025, 5000};
    c->options |= chance(g, 30) ? OPTION_KERNEL : 0;
    c->dims[0] = bins[below(g, COUNT_OF(bins))];
    c->at[AT_IN] = want_any(g, c->context, uint_types, chance(g, 60) ? STYLE_SMALL : any_style(g));
    uint64_t bound = choose_length(g, c, g->arrays[c->at[AT_IN]].count);
    if (g->arrays[c->at[AT_IN]].type == TML_U32 && !(c->options & OPTION_KERNEL) && chance(g, 50))
        c->at[AT_BY] = create_array(g, c->context, TML_U32, c->dims[0] + UINT64_C(1), STYLE_BITS,
                                    ROLE_OFFSETS, 1000);
    if (c->at[AT_BY])
        use(g, c->at[AT_BY]);
    if (chance(g, 30))
        c->at[AT_IN + 1] = want(g, c->context, uint_types, bound, any_style(g));
    c->at[AT_OUT] = want_out(g, c->context, TML_U32, c->dims[0]);
    choose_scratch(g, c);
}

static void make_scan(generator *g, call *c)
{
    choose_method(g, c);
    c->options |= chance(g, 50) ? OPTION_INCLUSIVE : 0;
    c->at[AT_IN] = want_any(g, c->context, scan_types, any_style(g));
    const sketch in = g->arrays[c->at[AT_IN]];
    uint64_t bound = choose_length(g, c, in.count);
    bool is_narrow = in.type == TML_U8 || in.type == TML_U16,
         in_place = !is_narrow && chance(g, 25);
    c->fold = (uint8_t)(chance(g, 60) ? TML_FOLD_SUM : TML_FOLD_MIN + below(g, 2));
    tml_type type = in_place                  ? in.type
                    : c->fold == TML_FOLD_SUM ? sum_type(g, in.type)
                    : is_narrow               ? TML_U32
                                              : in.type;
    c->at[AT_OUT] = in_place ? c->at[AT_IN] : want_out(g, c->context, type, bound);
    if (chance(g, 30))
        c->at[AT_BY] = want(g, c->context, (const tml_type[]){type, 0}, 1, any_style(g));
    if (chance(g, 40))
        c->at[AT_COUNT] = want_out(g, c->context, type, 1);
    choose_scratch(g, c);
}

static void make_compact(generator *g, call *c)
{
    static const tml_type kernel_types[] = {TML_U32, TML_F32, TML_U8, TML_U16, TML_F16, 0};
    static const tml_type u32[] = {TML_U32, 0}, u8[] = {TML_U8, 0};
    bool is_partition = c->kind == CALL_PARTITION;
    choose_method(g, c);
    uint64_t way = below(g, 3), payloads = below(g, 20) == 0 ? 0 : 1 + below(g, 2) * below(g, 3);
    c->options |= way == 1 ? OPTION_MASK : way == 2 ? OPTION_KERNEL : 0;
    uint64_t available = 0;
    if (payloads) {
        c->at[AT_IN] = want_any(g, c->context, any_types, any_style(g));
        available = g->arrays[c->at[AT_IN]].count;
    } else {
        c->at[AT_BY] = want_any(g, c->context,
                                way == 1   ? u32
                                : way == 2 ? kernel_types
                                           : u8,
                                any_style(g));
        available = g->arrays[c->at[AT_BY]].count * (way == 1 ? 32 : 1);
    }
    uint64_t bound = choose_length(g, c, available);
    if (payloads)
        c->at[AT_BY] = want(g, c->context,
                            way == 1   ? u32
                            : way == 2 ? kernel_types
                                       : u8,
                            way == 1 ? (bound + 31) / 32 : bound, any_style(g));
    for (uint64_t p = 1; p < payloads; p++)
        c->at[AT_IN + p] = want(g, c->context, any_types, bound, any_style(g));
    uint64_t least = is_partition || chance(g, 70) ? bound : below(g, bound + 1);
    bool is_in_place = false;
    for (uint64_t p = 0; p < payloads; p++) {
        bool in_place = !is_partition && c->method <= TML_METHOD_LOOK_BACK && chance(g, 25);
        is_in_place |= in_place;
        c->at[AT_OUT + p] = in_place
                                ? c->at[AT_IN + p]
                                : want_out(g, c->context, g->arrays[c->at[AT_IN + p]].type, least);
    }
    if (!payloads || chance(g, 30))
        c->at[AT_INDICES] = want_count(g, c->context, least);
    if (chance(g, 70)) {
        bool is_length = c->at[AT_LENGTH] && c->index == 0 && chance(g, 30);
        c->at[AT_COUNT] = is_length ? c->at[AT_LENGTH] : want_count(g, c->context, 1);
        if (!is_partition && !is_in_place && chance(g, 25))
            c->options |= OPTION_APPEND;
    }
    choose_scratch(g, c);
}

static uint16_t want_offsets(generator *g, uint32_t context, uint64_t most)
{
    uint16_t offsets = find(g, context, count_types, 1, ROLE_OFFSETS);
    if (!offsets || g->arrays[offsets].limit > most || chance(g, 30))
        offsets = create_array(g, context, pick_type(g, count_types), 1 + random_size(&g->seed),
                               STYLE_BITS, ROLE_OFFSETS, most);
    use(g, offsets);
    return offsets;
}

static void make_sort(generator *g, call *c)
{
    c->options |= chance(g, 40) ? OPTION_INCLUSIVE : 0; /* descending */
    c->at[AT_BY] = want_any(g, c->context, uint_types, any_style(g));
    uint64_t bound = choose_length(g, c, g->arrays[c->at[AT_BY]].count);
    if (chance(g, 40)) /* of segments, some of which may end past the length */
        c->at[AT_IN] = want_offsets(g, c->context, g->arrays[c->at[AT_BY]].count);
    if (chance(g, 60))
        c->at[AT_OUT] = chance(g, 30)
                            ? c->at[AT_BY]
                            : want_out(g, c->context, g->arrays[c->at[AT_BY]].type, bound);
    for (uint64_t p = 1, end = 1 + below(g, 3); p < end; p++) {
        c->at[AT_IN + p] = want(g, c->context, any_types, bound, any_style(g));
        c->at[AT_OUT + p] = chance(g, 30)
                                ? c->at[AT_IN + p]
                                : want_out(g, c->context, g->arrays[c->at[AT_IN + p]].type, bound);
    }
    if (!c->at[AT_OUT] || chance(g, 40))
        c->at[AT_INDICES] = want_count(g, c->context, bound);
    choose_scratch(g, c);
}

static void make_top_k(generator *g, call *c)
{
    c->options |= chance(g, 50) ? OPTION_INCLUSIVE : 0; /* smallest */
    c->options |= chance(g, 40) ? OPTION_FLIP : 0;      /* unsorted */
    c->at[AT_BY] = want_any(g, c->context, uint_types, any_style(g));
    uint64_t bound = choose_length(g, c, g->arrays[c->at[AT_BY]].count);
    c->dims[0] = (uint16_t)below(g, chance(g, 50) || bound > UINT16_MAX - 2 ? 40 : bound + 2);
    if (chance(g, 30))
        c->at[AT_IN] = want(g, c->context, count_types, 1, STYLE_LENGTHS);
    uint64_t room = c->dims[0] < bound ? c->dims[0] : bound;
    if (chance(g, 60))
        c->at[AT_OUT] = want_out(g, c->context, g->arrays[c->at[AT_BY]].type, room);
    for (uint64_t p = 1, end = 1 + below(g, 3); p < end; p++) {
        c->at[AT_IN + p] = want(g, c->context, any_types, bound, any_style(g));
        c->at[AT_OUT + p] = want_out(g, c->context, g->arrays[c->at[AT_IN + p]].type, room);
    }
    if (!c->at[AT_OUT] || chance(g, 40))
        c->at[AT_INDICES] = want_count(g, c->context, room);
    if (chance(g, 50))
        c->at[AT_COUNT] = want_count(g, c->context, 1);
    choose_scratch(g, c);
}

static void make_gather(generator *g, call *c)
{
    bool scatters = c->kind == CALL_SCATTER;
    c->at[AT_BY] = want_any(g, c->context, count_types, chance(g, 80) ? STYLE_SMALL : any_style(g));
    uint64_t bound = choose_length(g, c, g->arrays[c->at[AT_BY]].count);
    for (uint64_t p = 0, end = 1 + below(g, 3); p < end; p++) {
        uint64_t range = chance(g, 50) ? bound : below(g, 2 * bound + 1);
        c->at[AT_IN + p] = want(g, c->context, any_types, scatters ? bound : range, any_style(g));
        c->at[AT_OUT + p] =
            want_out(g, c->context, g->arrays[c->at[AT_IN + p]].type, scatters ? range : bound);
    }
    choose_scratch(g, c);
}

static void make_search(generator *g, call *c)
{
    c->options |= chance(g, 50) ? OPTION_INCLUSIVE : 0; /* upper */
    c->at[AT_BY] = want_any(g, c->context, count_types, any_style(g));
    uint64_t bound = choose_length(g, c, g->arrays[c->at[AT_BY]].count);
    const tml_type types[] = {g->arrays[c->at[AT_BY]].type, 0};
    c->at[AT_IN] =
        create_array(g, c->context, types[0], below(g, 60), STYLE_BITS, ROLE_OFFSETS, 1000);
    c->at[AT_OUT] = want_count(g, c->context, bound);
    choose_scratch(g, c);
}

static void make_expand(generator *g, call *c)
{
    choose_method(g, c);
    bool by_kernel = chance(g, 30), emits = chance(g, 40);
    c->options |= by_kernel ? OPTION_KERNEL : 0;
    uint16_t counts =
        want_any(g, c->context, uint_types, chance(g, 80) ? STYLE_SMALL : STYLE_SPARSE);
    c->at[by_kernel ? AT_IN : AT_BY] = counts;
    uint64_t bound = choose_length(g, c, g->arrays[counts].count);
    if (!by_kernel && emits)
        c->at[AT_IN] = want(g, c->context, uint_types, bound, any_style(g));
    uint64_t room = below(g, 4) == 0 ? below(g, bound + 2) : 2 * bound;
    if (chance(g, 60))
        c->at[AT_OUT] = want_count(g, c->context, room);
    if (chance(g, 40))
        c->at[AT_OUT + 1] = want_out(g, c->context, TML_U32, room);
    if (emits)
        c->at[AT_OUT + 2] = want_out(g, c->context, TML_U32, room);
    if (chance(g, 70) || !(c->at[AT_OUT] || c->at[AT_OUT + 1] || emits))
        c->at[AT_COUNT] = want_count(g, c->context, 1);
    if (c->at[AT_COUNT] && chance(g, 25))
        c->options |= OPTION_APPEND;
    choose_scratch(g, c);
}

static void make_unique(generator *g, call *c)
{
    c->at[AT_IN] = want_any(g, c->context, any_types, chance(g, 60) ? STYLE_RUNS : any_style(g));
    const sketch in = g->arrays[c->at[AT_IN]];
    uint64_t bound = choose_length(g, c, in.count);
    uint64_t room = chance(g, 60) ? bound : below(g, bound + 1);
    if (chance(g, 70))
        c->at[AT_OUT] = chance(g, 25) ? c->at[AT_IN] : want_out(g, c->context, in.type, room);
    if (chance(g, 40))
        c->at[AT_OUT + 1] = want_count(g, c->context, room);
    if (chance(g, 40))
        c->at[AT_OUT + 2] = want_count(g, c->context, room);
    c->at[AT_COUNT] = want_count(g, c->context, 1);
    choose_scratch(g, c);
}

static void make_by_key(generator *g, call *c)
{
    c->fold = (uint8_t)below(g, TML_FOLD_MEAN + 1);
    c->at[AT_BY] = want_any(g, c->context, any_types, chance(g, 60) ? STYLE_RUNS : any_style(g));
    const tml_type key = g->arrays[c->at[AT_BY]].type;
    uint64_t bound = choose_length(g, c, g->arrays[c->at[AT_BY]].count);
    c->at[AT_IN] = want(g, c->context, scalar_types, bound, any_style(g));
    const tml_type type = g->arrays[c->at[AT_IN]].type;
    if (chance(g, 70))
        c->at[AT_OUT] = want_out(g, c->context, key, chance(g, 60) ? bound : below(g, bound + 1));
    c->at[AT_OUT + 1] = want_out(g, c->context, fold_type(g, (tml_fold)c->fold, type), bound);
    c->at[AT_INDICES] = want_count(g, c->context, bound);
    c->at[AT_COUNT] = want_count(g, c->context, 1);
    choose_scratch(g, c);
}

static void make_segments(generator *g, call *c)
{
    bool is_scan = c->kind == CALL_SCAN_SEGMENTS;
    c->fold = (uint8_t)below(g, TML_FOLD_MEAN + 1);
    c->options |= chance(g, 50) ? OPTION_INCLUSIVE : 0;
    c->at[AT_IN] = want_any(g, c->context, is_scan ? scan_types : scalar_types, any_style(g));
    const sketch in = g->arrays[c->at[AT_IN]];
    uint16_t offsets = want_offsets(g, c->context, in.count);
    c->at[AT_BY] = offsets;
    bool in_place = is_scan && in.type != TML_U8 && in.type != TML_U16 && chance(g, 25);
    c->at[AT_OUT] = in_place  ? c->at[AT_IN]
                    : is_scan ? want_out(g, c->context, sum_type(g, in.type), in.count)
                              : want_out(g, c->context, fold_type(g, (tml_fold)c->fold, in.type),
                                         g->arrays[offsets].count - 1);
    choose_scratch(g, c);
}

/* A volume of zeros and ones. */
static bool choose_volume(generator *g, call *c)
{
    static const uint8_t sides[] = {2, 3, 4, 5, 7, 8, 9, 17, 33, 65};
    uint64_t count = 1;
    for (int a = 0; a < 3; a++) {
        c->dims[a] = sides[below(g, a == 0 ? 10 : 7)];
        count *= c->dims[a];
    }
    for (size_t i = 1; i <= g->made; i++)
        if (g->arrays[i].is_live && g->arrays[i].context == c->context && g->arrays[i].is_binary &&
            g->arrays[i].type == TML_U8 && g->arrays[i].count >= count && chance(g, 50))
            c->at[AT_IN] = (uint16_t)i;
    if (!c->at[AT_IN])
        c->at[AT_IN] =
            create_array(g, c->context, TML_U8, count + below(g, 2), STYLE_BINARY, ROLE_PLAIN, 0);
    use(g, c->at[AT_IN]);
    c->options |= chance(g, 30) ? OPTION_CAPS : 0;
    c->options |= chance(g, 30) ? OPTION_FLIP : 0;
    /* the volume is as large as its buffer says at least */
    return c->at[AT_IN] != 0;
}

static void make_surface_enqueue(generator *g, call *c)
{
    static const tml_type f32[] = {TML_F32, 0}, u8[] = {TML_U8, 0};
    choose_volume(g, c);
    uint64_t count = (uint64_t)c->dims[0] * c->dims[1] * c->dims[2];
    if (chance(g, 25))
        c->at[AT_IN + 1] = want(g, c->context, u8, count, STYLE_FULL);
    if (chance(g, 25)) {
        c->at[AT_IN + 2] = want(g, c->context, f32, 1, STYLE_BINARY);
        uint64_t isos = g->arrays[c->at[AT_IN + 2]].count;
        c->index = below(g, isos < 5 ? isos : 5);
    }
    uint64_t room = chance(g, 60) ? 3 * count : below(g, count + 1);
    c->options |= chance(g, 35) ? OPTION_SOUP : 0;
    c->at[AT_OUT] = want_out(g, c->context, TML_VEC(TML_F32, 3),
                             c->options & OPTION_SOUP && chance(g, 60) ? 15 * count : room);
    if (!(c->options & OPTION_SOUP))
        c->at[AT_OUT + 1] =
            want_out(g, c->context, TML_VEC(TML_U32, 3), chance(g, 60) ? 5 * count : room);
    if (chance(g, 60))
        c->at[AT_OUT + 2] = want_out(g, c->context, TML_U32, 5);
    if (chance(g, 80))
        c->at[AT_COUNT] = want_count(g, c->context, 2);
}

static void make_indirect(generator *g, call *c)
{
    c->at[AT_IN] = want(g, c->context, (const tml_type[]){TML_U32, 0}, 1, STYLE_SMALL);
    uint64_t count = g->arrays[c->at[AT_IN]].count;
    c->index = below(g, count < 5 ? count : 5);
    c->at[AT_OUT] = want_out(g, c->context, TML_U32, 4);
}

static call make_operation(generator *g, uint8_t context)
{
    static const struct {
        uint8_t kind, weight;
        void (*make)(generator *g, call *c);
    } operations[] = {
        {CALL_MAP_STREAM, 8, make_map},
        {CALL_REDUCE, 10, make_reduce},
        {CALL_HISTOGRAM, 6, make_histogram},
        {CALL_SCAN, 18, make_scan},
        {CALL_COMPACT, 20, make_compact},
        {CALL_PARTITION, 10, make_compact},
        {CALL_SORT, 8, make_sort},
        {CALL_TOP_K, 8, make_top_k},
        {CALL_GATHER, 6, make_gather},
        {CALL_SCATTER, 6, make_gather},
        {CALL_SEARCH, 5, make_search},
        {CALL_EXPAND, 10, make_expand},
        {CALL_UNIQUE, 10, make_unique},
        {CALL_REDUCE_BY_KEY, 5, make_by_key},
        {CALL_REDUCE_SEGMENTS, 5, make_segments},
        {CALL_SCAN_SEGMENTS, 5, make_segments},
        {CALL_SURFACE_ENQUEUE, 4, make_surface_enqueue},
        {CALL_INDIRECT, 2, make_indirect},
    };
    uint64_t total = 0, x;
    for (size_t i = 0; i < COUNT_OF(operations); i++)
        total += operations[i].weight;
    x = below(g, total);
    size_t k = 0;
    for (; x >= operations[k].weight; k++)
        x -= operations[k].weight;
    call c = {.kind = operations[k].kind, .context = context, .seed = test_random(&g->seed)};
    c.options |= chance(g, 30) ? OPTION_CHECK : 0;
    c.options |= chance(g, 3) ? OPTION_CANCEL : 0;
    g->used_count = 0;
    operations[k].make(g, &c);
    return c;
}

/* A command buffer or program of one to five operations, in the place of another one. */
static void make_recording(generator *g, uint8_t context)
{
    call group[5];
    uint8_t number = (uint8_t)(1 + below(g, RECORDINGS));
    uint64_t count = 1 + below(g, COUNT_OF(group));
    g->is_recorded[context][number] = false;
    for (uint64_t i = 0; i < count; i++) {
        group[i] = make_operation(g, context);
        group[i].recording = number;
    }
    size_t named = 0;
    memset(g->named[context][number], 0, sizeof g->named[context][number]);
    for (uint64_t i = 0; i < count; i++) {
        emit(g, &group[i]);
        for (int place = 0; place < AT_PLACES && named < NAMED; place++)
            g->named[context][number][named++] = group[i].at[place];
    }
    g->is_recorded[context][number] = true;
    emit(g, &(call){.kind = CALL_SUBMIT, .context = context, .index = number});
}

static void make_side_open(generator *g, uint8_t context)
{
    call c = {.kind = CALL_OPEN, .context = context, .seed = test_random(&g->seed)};
    c.options |= chance(g, 25) ? OPTION_STAGING : 0;
    c.options |= chance(g, 25) ? OPTION_PASSES : 0;
    emit(g, &c);
    g->is_open[context] = true;
}

static void forget_side(generator *g, uint8_t context)
{
    for (size_t i = 1; i <= g->made; i++)
        if (g->arrays[i].context == context)
            g->arrays[i].is_live = false;
    memset(g->is_recorded[context], 0, sizeof g->is_recorded[context]);
}

/* A range of a live buffer of whatever use. */
static bool choose_range(generator *g, call *c, int place)
{
    g->used_count = 0;
    uint16_t number = find(g, c->context, any_types, 0, ROLE_PLAIN);
    if (!number)
        return false;
    uint64_t count = g->arrays[number].count;
    c->at[place] = number;
    c->index = chance(g, 50) ? 0 : below(g, count + 1);
    c->count = chance(g, 50) ? count - c->index : below(g, count - c->index + 1);
    return true;
}

static void make_write(generator *g, call *c)
{
    c->style = (uint8_t)any_style(g);
    c->seed = test_random(&g->seed);
    if (c->kind == CALL_WRITE && chance(g, 10)) {
        g->used_count = 0;
        c->at[AT_OUT] = find(g, c->context, count_types, 0, ROLE_OFFSETS);
        c->index = g->arrays[c->at[AT_OUT]].limit;
        if (c->at[AT_OUT])
            emit(g, c);
    } else if (choose_range(g, c, AT_OUT)) {
        g->arrays[c->at[AT_OUT]].is_binary =
            g->arrays[c->at[AT_OUT]].is_binary && c->style == STYLE_BINARY;
        emit(g, c);
    }
}

static void make_stale(generator *g, uint8_t context)
{
    call c = {.kind = CALL_STALE, .context = context};
    g->used_count = 0;
    c.at[AT_OUT] = find(g, context, any_types, 0, ROLE_PLAIN);
    c.at[AT_IN] = (uint16_t)(g->made ? 1 + below(g, g->made) : 0);
    const sketch *bad = &g->arrays[c.at[AT_IN]];
    if (c.at[AT_OUT] && c.at[AT_IN] && (!bad->is_live || bad->context != context))
        emit(g, &c);
}

static void make_submit(generator *g, uint8_t context)
{
    uint64_t number = 1 + below(g, RECORDINGS);
    for (uint32_t tries = 0; tries < RECORDINGS && !g->is_recorded[context][number]; tries++)
        number = 1 + number % RECORDINGS;
    if (g->is_recorded[context][number])
        emit(g, &(call){.kind = CALL_SUBMIT, .context = context, .index = number});
}

/* Opens the second context, or ends one: all of its buffers, or the context, and the first anew. */
static void make_reopening(generator *g)
{
    if (!g->is_open[1]) {
        make_side_open(g, 1);
        return;
    }
    uint8_t context = (uint8_t)below(g, SIDES);
    bool close = chance(g, 50);
    emit(g, &(call){.kind = close ? CALL_CLOSE : CALL_DESTROY_ALL, .context = context});
    forget_side(g, context);
    if (close && context == 0)
        make_side_open(g, 0);
    else if (close)
        g->is_open[1] = false;
}

static void make_call(generator *g)
{
    uint8_t context = g->is_open[1] && chance(g, 30);
    uint64_t x = below(g, 1000);
    call c = {.context = context};
    g->held_count = 0;
    if (x < 60) {
        make_recording(g, context);
    } else if (x < 180) {
        make_submit(g, context);
    } else if (x < 220) {
        c.kind = CALL_WAIT;
        c.index = 1 + below(g, RECORDINGS);
        if (g->is_vulkan)
            emit(g, &c);
    } else if (x < 270) {
        c.kind = CALL_READ;
        if (choose_range(g, &c, AT_IN))
            emit(g, &c);
    } else if (x < 340) {
        c.kind = CALL_WRITE;
        make_write(g, &c);
    } else if (x < 360) {
        c.kind = CALL_MAP;
        make_write(g, &c);
    } else if (x < 380) {
        c.kind = CALL_READ_COUNT;
        g->used_count = 0;
        c.at[AT_IN] = find(g, context, count_types, 1, ROLE_PLAIN);
        if (c.at[AT_IN])
            emit(g, &c);
    } else if (x < 400) {
        emit(g, &(call){.kind = chance(g, 50) ? CALL_SYNC : CALL_FLUSH, .context = context});
    } else if (x < 420) {
        emit(g, &(call){.kind = CALL_RESERVE,
                        .context = context,
                        .index = (uint64_t)1 << below(g, 19)});
    } else if (x < 440) {
        make_stale(g, context);
    } else if (x < 455) {
        c.kind = CALL_SURFACE;
        c.seed = test_random(&g->seed);
        c.options |= chance(g, 30) ? OPTION_CANCEL : 0;
        g->used_count = 0;
        choose_volume(g, &c);
        emit(g, &c);
    } else if (x < 490) {
        g->used_count = 0;
        create_array(g, context, pick_type(g, any_types), new_size(g), any_style(g), ROLE_PLAIN, 0);
    } else if (x < 500) {
        make_reopening(g);
    } else if (x < 520) {
        emit(g, &(call){.kind = chance(g, 50) ? CALL_BEGIN : CALL_END, .context = context});
    } else if (x < 525) {
        c.kind = CALL_FORGET;
        emit(g, &c);
        memset(g->is_recorded[context], 0, sizeof g->is_recorded[context]);
    } else {
        c = make_operation(g, context);
        emit(g, &c);
    }
}

/* The program of a seed, of 50 to 150 calls or just so many; to be freed. */
static call *make_program(uint64_t seed, uint64_t length, bool is_vulkan, size_t *count)
{
    generator g = {.seed = seed * 0x2545f4914f6cdd1du, .is_vulkan = is_vulkan};
    g.arrays = calloc(ARRAYS, sizeof *g.arrays);
    make_side_open(&g, 0);
    uint64_t left = 50 + below(&g, 101);
    for (left = length ? length : left; left > 0 && g.made < ARRAYS - 100; left--)
        make_call(&g);
    free(g.arrays);
    *count = g.count;
    return g.calls;
}

/* ---- programs to read ------------------------------------------------------------------------ */

static void print_call(const call *c)
{
    static const struct {
        uint16_t bit;
        const char *name;
    } options[] = {{OPTION_INCLUSIVE, "inclusive"},
                   {OPTION_CHECK, "check"},
                   {OPTION_CANCEL, "cancel"},
                   {OPTION_MASK, "mask"},
                   {OPTION_KERNEL, "kernel"},
                   {OPTION_CAPS, "caps"},
                   {OPTION_FLIP, "flip"},
                   {OPTION_SOUP, "soup"},
                   {OPTION_LENT, "lent"},
                   {OPTION_UNDEFINED, "then_written"},
                   {OPTION_STAGING, "staging_or_short_rows"},
                   {OPTION_EXACT, "exact"},
                   {OPTION_PASSES, "passes_or_exact_counts"},
                   {OPTION_APPEND, "append"}};
    static const char *const folds[] = {"sum", "min", "max", "argmin", "argmax", "mean"};
    static const char *const styles[STYLES] = {"bits", "small", "sparse",  "zero",
                                               "runs", "full",  "lengths", "binary"};
    printf("  context %u", c->context);
    if (c->recording)
        printf(", commands %u", c->recording);
    printf(": %s", call_names[c->kind]);
    if (c->kind >= CALL_SCAN && c->kind <= CALL_EXPAND && c->method)
        printf(" %s", tml_method_name((tml_method)c->method));
    if (c->kind == CALL_REDUCE || c->kind == CALL_REDUCE_SEGMENTS || c->kind == CALL_SCAN)
        printf(" %s", folds[c->fold]);
    if (c->kind == CALL_MAP_STREAM)
        printf(" %s", map_kernel(c)->name);
    if (c->type)
        printf(" %s", c->role == ROLE_OFFSETS   ? "offsets"
                      : c->role == ROLE_SCRATCH ? "scratch"
                                                : "");
    if (c->type)
        printf(" %s", tml_type_name(c->type));
    for (int place = 0; place < AT_PLACES; place++)
        if (c->at[place])
            printf(" %s=b%u", place_names[place], c->at[place]);
    if (c->dims[0])
        printf(" dims=%ux%ux%u", c->dims[0], c->dims[1], c->dims[2]);
    if (c->count)
        printf(" count=%" PRIu64, c->count);
    if (c->index)
        printf(" index=%" PRIu64, c->index);
    if (c->kind == CALL_CREATE || c->kind == CALL_WRITE || c->kind == CALL_MAP)
        printf(" %s", styles[c->style]);
    for (size_t i = 0; i < COUNT_OF(options); i++)
        if (c->options & options[i].bit)
            printf(" %s", options[i].name);
    putchar('\n');
}

/* ---- children -------------------------------------------------------------------------------- */

/* What a child says, in memory that it shares. */
typedef struct outcome {
    bool failed;
    uint64_t seed; /* of the program that runs */
    size_t at;     /* its call */
    random_tally tally;
    tml_device_info devices[16];
    uint32_t device_count;
    char message[1000];
} outcome;

typedef struct work {
    const random_settings *settings;
    const call *calls; /* one program; NULL: those of the seeds */
    size_t count;
    uint64_t seed, programs;
    double seconds;
    uint64_t length; /* calls of a program; 0: as its seed says */
} work;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void list_devices(const work *w, outcome *out)
{
    (void)w;
    out->device_count = tml_devices(out->devices, COUNT_OF(out->devices));
}

static void run_programs(const work *w, outcome *out)
{
    double end = now() + w->seconds;
#ifdef TML_VULKAN
    if (w->settings->engine == TML_ENGINE_VULKAN &&
        !host_open(w->settings->name, w->settings->validate)) {
        out->failed = true;
        snprintf(out->message, sizeof out->message, "no device for the host program");
        return;
    }
#endif
    for (uint64_t i = 0; i < w->programs && !out->failed && (i == 0 || now() < end); i++) {
        size_t count = w->count;
        call *made = w->calls ? NULL
                              : make_program(w->seed + i, w->length,
                                             w->settings->engine == TML_ENGINE_VULKAN, &count);
        out->seed = w->seed + i;
        out->failed = !run_program(w->settings, w->calls ? w->calls : made, count, &out->tally,
                                   &out->at, out->message, sizeof out->message);
        out->tally.programs++;
        free(made);
    }
#ifdef TML_VULKAN
    random_host_close();
#endif
}

/* What a child writes and its parent reads. */
static outcome *shared_outcome(void)
{
#ifdef _WIN32
    return calloc(1, sizeof(outcome));
#else
    void *out =
        mmap(NULL, sizeof(outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return out == MAP_FAILED ? NULL : out;
#endif
}

/* Does work in a child; what it could no longer say is said for it. On Windows, where nothing
 * forks, in this process. */
static void in_child(void (*run)(const work *, outcome *), const work *w, outcome *out, bool quiet)
{
    memset(out, 0, sizeof *out);
    fflush(stdout);
#ifdef _WIN32
    (void)quiet;
    run(w, out);
#else
    pid_t child = fork();
    if (child == 0) {
        if (quiet && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)))
            abort();
        run(w, out);
        exit(0); /* leaks are looked for here */
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        out->failed = true;
        snprintf(out->message, sizeof out->message, "no child process");
    } else if (WIFSIGNALED(status)) {
        out->failed = true;
        snprintf(out->message, sizeof out->message, "call %zu: ended by signal %d (%s)", out->at,
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0 && !out->failed) {
        out->failed = true;
        snprintf(out->message, sizeof out->message, "after call %zu: exit status %d", out->at,
                 WEXITSTATUS(status));
    }
#endif
}

/* ---- shrinking ------------------------------------------------------------------------------- */

/* Leaves out what comes after the call that fails, then calls before it, half of them at once, then
 * fewer, while the program still fails. */
static size_t shrink(const work *w, call *calls, size_t count, outcome *out, double seconds)
{
    double end = now() + seconds;
    call *shorter = malloc(count * sizeof *shorter);
    char message[sizeof out->message];
    snprintf(message, sizeof message, "%s", out->message);
    count = out->at < count ? out->at + 1 : count;
    for (size_t chunk = (count + 1) / 2; chunk > 0 && now() < end;) {
        bool removed = false;
        for (size_t first = 0; first < count && now() < end;) {
            size_t last = first + chunk < count ? first + chunk : count;
            memcpy(shorter, calls, first * sizeof *calls);
            memcpy(shorter + first, calls + last, (count - last) * sizeof *calls);
            work attempt = *w;
            attempt.calls = shorter;
            attempt.count = count - (last - first);
            attempt.programs = 1;
            in_child(run_programs, &attempt, out, true);
            if (out->failed) {
                count = out->at < attempt.count ? out->at + 1 : attempt.count;
                memcpy(calls, shorter, count * sizeof *calls);
                snprintf(message, sizeof message, "%s", out->message);
                removed = true;
            } else {
                first = last;
            }
        }
        if (chunk == 1 && !removed)
            break;
        chunk = chunk > 1 ? chunk / 2 : 1;
    }
    snprintf(out->message, sizeof out->message, "%s", message);
    free(shorter);
    return count;
}

static void report_failure(const work *w, outcome *out, const char *device, double shrink_seconds)
{
    const random_settings *s = w->settings;
    uint64_t seed = out->seed;
    printf("FAIL %s: program of seed %" PRIu64 ": %s\n", s->name, seed, out->message);
    printf("  again: test_random%s%s --seed %" PRIu64 " --programs 1%s", device[0] ? " -d " : "",
           device, seed, s->validate ? " --validate" : "");
    if (w->length)
        printf(" --calls %" PRIu64, w->length);
    if (s->threads)
        printf(" --threads %u", s->threads);
    putchar('\n');
    size_t count;
    call *calls = make_program(seed, w->length, s->engine == TML_ENGINE_VULKAN, &count);
    work one = *w;
    one.calls = calls;
    one.count = count;
    one.programs = 1;
    random_settings hasty = *s;
    hasty.patience = 100;
    one.settings = &hasty;
    in_child(run_programs, &one, out, true);
    if (!out->failed) {
        printf("  it went well when it ran a second time\n");
    } else {
        size_t before = count;
        double start = now();
        count = shrink(&one, calls, count, out, shrink_seconds);
        printf("  %zu of its %zu calls are enough (%.0f s): %s\n", count, before, now() - start,
               out->message);
        for (size_t i = 0; i < count; i++)
            print_call(&calls[i]);
    }
    free(calls);
    out->failed = true;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [-d N] [--engine E] [--threads N] [--seed N] [--programs N] [--seconds S] "
            "[--endless]\n"
            "          [--calls N] [--validate] [--shrink S] [--list]\n"
            "  -d N          only on device N of those that the library lists\n"
            "  --engine E    only on cpu, vulkan or gl\n"
            "  --threads N   CPU engine's workers; otherwise 1, 2 or 7, as a program says\n"
            "  --seed N      of the first program, also TML_SEED; program i has seed N + i\n"
            "  --programs N  on each device\n"
            "  --seconds S   on each device: no program begins later\n"
            "  --endless     until a difference is found\n"
            "  --calls N     of a program, beside the making of buffers; otherwise 50 to 150\n"
            "  --validate    on Vulkan: with VK_LAYER_KHRONOS_validation, also of synchronisation\n"
            "  --shrink S    seconds for making a program that fails shorter\n"
            "  --list        print the first program\n",
            program);
    return 2;
}

static const char *engine_name(tml_engine_kind kind)
{
    static const char *const engines[] = {"auto", "cpu", "vulkan", "gl"};
    return (size_t)kind < COUNT_OF(engines) ? engines[kind] : "unknown";
}

int main(int argc, char **argv)
{
    const char *engine = NULL, *device = NULL, *seed = getenv("TML_SEED");
    random_settings s = {.patience = 300};
    work w = {.settings = &s, .programs = 4, .seconds = 1e9};
    double shrink_seconds = 300;
    bool only_list = false;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool takes = true;
        if (strcmp(arg, "--endless") == 0 || strcmp(arg, "--validate") == 0 ||
            strcmp(arg, "--list") == 0) {
            takes = false;
            w.programs = arg[2] == 'e' ? UINT64_MAX : w.programs;
            s.validate = s.validate || arg[2] == 'v';
            only_list = only_list || arg[2] == 'l';
        } else if (!value) {
            return usage(argv[0]);
        } else if (strcmp(arg, "-d") == 0) {
            device = value;
        } else if (strcmp(arg, "--engine") == 0) {
            engine = value;
        } else if (strcmp(arg, "--threads") == 0) {
            s.threads = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(arg, "--seed") == 0) {
            seed = value;
        } else if (strcmp(arg, "--programs") == 0) {
            w.programs = strtoull(value, NULL, 10);
        } else if (strcmp(arg, "--seconds") == 0) {
            w.seconds = strtod(value, NULL);
            w.programs = UINT64_MAX;
        } else if (strcmp(arg, "--calls") == 0) {
            w.length = strtoull(value, NULL, 10);
        } else if (strcmp(arg, "--shrink") == 0) {
            shrink_seconds = strtod(value, NULL);
        } else {
            return usage(argv[0]);
        }
        i += takes;
    }
    w.seed = seed && *seed ? strtoull(seed, NULL, 10) : 1;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (only_list) {
        size_t count;
        call *calls =
            make_program(w.seed, w.length, !engine || strcmp(engine, "vulkan") == 0, &count);
        for (size_t i = 0; i < count; i++)
            print_call(&calls[i]);
        free(calls);
        return 0;
    }

    outcome *out = shared_outcome();
    if (!out)
        return 1;
    in_child(list_devices, &w, out, false);
    uint32_t count =
        out->device_count < COUNT_OF(out->devices) ? out->device_count : COUNT_OF(out->devices);
    tml_device_info devices[COUNT_OF(out->devices)];
    memcpy(devices, out->devices, sizeof devices);
    int failed = 0, ran = 0;
    for (uint32_t d = 0; d < count; d++) {
        char number[16];
        snprintf(number, sizeof number, "%u", d);
        if ((engine && strcmp(engine, engine_name(devices[d].engine)) != 0) ||
            (device && strcmp(device, number) != 0))
            continue;
        s.engine = devices[d].engine;
        snprintf(s.device, sizeof s.device, "%s", number);
        snprintf(s.name, sizeof s.name, "%s", devices[d].name);
        double start = now();
        in_child(run_programs, &w, out, false);
        const random_tally *t = &out->tally;
        printf("%s, %s: seeds from %" PRIu64 ", %" PRIu64 " programs, %" PRIu64 " calls, %" PRIu64
               " operations (%" PRIu64 " recorded, %" PRIu64 " unsupported, %" PRIu64
               " cancelled), %" PRIu64 " frames, %" PRIu64 " results taken over, %.1f s\n",
               engine_name(s.engine), s.name, w.seed, t->programs, t->calls, t->made, t->recorded,
               t->unsupported, t->cancelled, t->submitted, t->adopted, now() - start);
        ran++;
        failed += out->failed;
        if (out->failed)
            report_failure(&w, out, number, shrink_seconds);
    }
    if (!ran)
        printf("no such device\n");
    return failed ? 1 : ran ? 0 : 77;
}
