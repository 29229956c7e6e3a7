/* The models of test_random's calls. */
#include "random_model.h"

/* How many elements go in, of bound at most. */
static uint64_t model_length(const operands *o, const call *c, uint64_t available)
{
    uint64_t bound = c->count || c->options & OPTION_EXACT ? c->count : available;
    const array *device = o->at[AT_LENGTH];
    if (!device)
        return bound;
    uint64_t n = load(device->type, device->mirror, c->index).integer;
    return n < bound ? n : bound;
}

/* Where the outputs begin. */
static uint64_t model_first(const operands *o, const call *c)
{
    const array *count = o->at[AT_COUNT];
    if (!(c->options & OPTION_APPEND))
        return 0;
    uint64_t first = load(count->type, count->mirror, 0).integer, most = (uint64_t)1 << 63;
    return first < most ? first : most;
}

static double as_double(tml_type type, element x)
{
    return tml_type_is_float(type)    ? x.real
           : tml_type_is_signed(type) ? (double)(int64_t)x.integer
                                      : (double)x.integer;
}

/* Are sums of these elements, and of start, exact in single precision, in whatever order? */
static bool sums_are_exact(const array *in, uint64_t first, uint64_t last, double start)
{
    double sum = fabs(start);
    if (!(sum == floor(sum)))
        return false;
    for (uint64_t i = first; i < last; i++) {
        double x = as_double(in->type, load(in->type, in->mirror, i));
        if (!(x == floor(x)))
            return false;
        sum += fabs(x);
    }
    return sum <= 0x1p24;
}

tml_params params_of(const call *c, const array *words)
{
    uint64_t seed = c->seed;
    tml_params p = {.u = {(uint32_t)random_below(&seed, 100), 1u << random_below(&seed, 4)}};
    if (words)
        p.u[1] = (uint32_t)(words->size / 4);
    return p;
}

static void model_map(const operands *o, const call *c)
{
    const array *in = o->at[AT_IN], *other = o->at[AT_IN + 1];
    array *out = o->at[AT_OUT];
    int kernel = c->kernel % MAPS;
    tml_params p = params_of(c, kernel == 4 ? other : NULL);
    uint64_t n = model_length(o, c, in ? in->count : out->count);
    for (uint64_t i = 0; i < n; i++) {
        element x = in && tml_type_components(in->type) == 1 ? load(in->type, in->mirror, i)
                                                             : (element){0, 0};
        float v[3];
        uint32_t word;
        switch (kernel) {
        case 0:
            store_integer(out, i, x.integer * 2 + p.u[0]);
            break;
        case 1:
            store_real(out, i, 1.0f - (float)x.real);
            out->is_unknown = out->is_unknown || isnan(x.real);
            break;
        case 2:
            store_integer(out, i, x.integer & 1);
            break;
        case 3:
            store_integer(out, i, x.integer + load(other->type, other->mirror, i).integer);
            break;
        case 4:
            memcpy(&word, other->mirror + 4 * ((uint32_t)x.integer % p.u[1]), sizeof word);
            store_integer(out, i, word);
            break;
        case 5:
            store_integer(out, i, (uint32_t)i * p.u[0]);
            break;
        default:
            memcpy(v, in->mirror + i * sizeof v, sizeof v);
            for (int k = 0; k < 3; k++) {
                v[k] = v[k] + (float)(k + 1);
                out->is_unknown = out->is_unknown || isnan(v[k]);
            }
            memcpy(out->mirror + i * sizeof v, v, sizeof v);
            break;
        }
    }
}

static bool is_less(tml_type type, element a, element b)
{
    if (tml_type_is_float(type))
        return a.real < b.real;
    return tml_type_is_signed(type) ? (int64_t)a.integer < (int64_t)b.integer
                                    : a.integer < b.integer;
}

/* The largest of a type (smallest: its negation), as MIN and MAX of nothing give it. */
static void store_extreme(array *out, uint64_t j, bool largest)
{
    size_t size = tml_type_size(out->type);
    uint64_t bits =
        tml_type_is_signed(out->type) ? ((uint64_t)1 << (8 * size - 1)) - 1 : UINT64_MAX;
    if (out->type == TML_F32 || out->type == TML_F64)
        store_real(out, j, largest ? INFINITY : -INFINITY);
    else if (out->type == TML_F16)
        store_integer(out, j, largest ? 0x7c00 : 0xfc00);
    else
        store_integer(out, j, largest ? bits : ~bits);
}

/* Folds elements [first, last) into out's element j. */
static void model_fold(tml_fold fold, const array *in, uint64_t first, uint64_t last, array *out,
                       uint64_t j)
{
    bool is_float = tml_type_is_float(in->type), none = true;
    uint64_t sum = 0, best = 0;
    double real = 0;
    for (uint64_t i = first; i < last; i++) {
        element x = load(in->type, in->mirror, i), b = load(in->type, in->mirror, best);
        sum += x.integer;
        real += as_double(in->type, x);
        if (is_float && isnan(x.real))
            continue;
        bool better = fold == TML_FOLD_MIN || fold == TML_FOLD_ARGMIN ? is_less(in->type, x, b)
                                                                      : is_less(in->type, b, x);
        if (none || better)
            best = i;
        none = false;
    }
    uint64_t n = last - first;
    size_t size = tml_type_size(in->type);
    switch (fold) {
    case TML_FOLD_SUM:
        if (!is_float)
            store_integer(out, j, sum);
        else if (sums_are_exact(in, first, last, 0))
            store_real(out, j, real);
        else
            out->is_unknown = true;
        break;
    case TML_FOLD_MEAN: /* exact where the sum is and dividing is */
        if (n > 0 && (n & (n - 1)) == 0 && sums_are_exact(in, first, last, 0))
            store_real(out, j, real / (double)n);
        else
            out->is_unknown = true;
        break;
    case TML_FOLD_MIN:
    case TML_FOLD_MAX:
        if (n > 0 && none)
            out->is_unknown = true; /* a NaN of any bits */
        else if (none)
            store_extreme(out, j, fold == TML_FOLD_MIN);
        else
            memcpy(out->mirror + j * size, in->mirror + best * size, size);
        break;
    default:
        store_integer(out, j, none ? UINT64_MAX : best);
        break;
    }
}

/* What a scan begins with; start: NULL: nothing. */
static element model_start(tml_fold fold, const array *out, const array *start)
{
    bool is_min = fold == TML_FOLD_MIN;
    element nothing = {is_min ? INFINITY : -INFINITY, 0};
    uint64_t largest = UINT64_MAX >> (64 - 8 * tml_type_size(out->type));
    if (tml_type_is_signed(out->type))
        largest >>= 1;
    nothing.integer = is_min ? largest : tml_type_is_signed(out->type) ? ~largest : 0;
    if (fold == TML_FOLD_SUM)
        nothing = (element){0, 0};
    if (!start)
        return nothing;
    element x = load(start->type, start->mirror, 0);
    return fold != TML_FOLD_SUM && isnan(x.real) ? nothing : x;
}

/* Does b replace a, the extreme so far? A NaN does not, and -0 is less than 0. */
static bool model_takes(tml_fold fold, tml_type type, element a, element b)
{
    element low = fold == TML_FOLD_MIN ? b : a, high = fold == TML_FOLD_MIN ? a : b;
    if (tml_type_is_float(type) && low.real == 0 && high.real == 0)
        return signbit(low.real) && !signbit(high.real);
    return is_less(type, low, high);
}

static void model_scan_part(tml_fold fold, bool inclusive, const array *in, uint64_t first,
                            uint64_t last, const array *start, array *out, array *total)
{
    bool is_float = tml_type_is_float(in->type), is_sum = fold == TML_FOLD_SUM;
    element sum = model_start(fold, out, start);
    if (is_float && is_sum && !sums_are_exact(in, first, last, sum.real)) {
        out->is_unknown = true;
        if (total)
            total->is_unknown = true;
        return;
    }
    for (uint64_t i = first; i <= last; i++) {
        array *to = i < last ? out : total;
        uint64_t at = i < last ? i : 0;
        element next = sum;
        if (i < last) {
            element x = load(in->type, in->mirror, i);
            if (is_sum)
                next = (element){sum.real + x.real, sum.integer + x.integer};
            else if (model_takes(fold, in->type, sum, x))
                next = x;
        }
        const element *shown = inclusive || i == last ? &next : &sum;
        if (to && is_float)
            store_real(to, at, shown->real);
        else if (to)
            store_integer(to, at, shown->integer);
        sum = next;
    }
}

/* A byte for each element: is it kept? */
static uint8_t *model_keep(const operands *o, const call *c, uint64_t n, bool *is_known)
{
    const array *by = o->at[AT_BY];
    uint8_t *keep = calloc(n + 1, 1);
    tml_params p = params_of(c, NULL);
    for (uint64_t i = 0; i < n; i++) {
        if (c->options & OPTION_MASK) {
            keep[i] = get_low(by->mirror + i / 32 * 4, 4) >> i % 32 & 1;
            continue;
        }
        element x = load(by->type, by->mirror, i);
        if (!(c->options & OPTION_KERNEL))
            keep[i] = x.integer != 0;
        else if (tml_type_is_float(by->type))
            keep[i] = x.real > 0;
        else
            keep[i] = (((uint32_t)x.integer + (uint32_t)i) & p.u[1]) == 0;
        *is_known = *is_known && !isnan(x.real);
    }
    return keep;
}

static uint64_t compact_available(const operands *o, const call *c)
{
    const array *in = o->at[AT_IN], *by = o->at[AT_BY];
    return in ? in->count : c->options & OPTION_MASK ? 32 * by->count : by->count;
}

static void model_compact(const operands *o, const call *c)
{
    uint64_t n = model_length(o, c, compact_available(o, c)), kept = 0;
    uint64_t begin = model_first(o, c);
    bool is_partition = c->kind == CALL_PARTITION, is_known = true;
    uint8_t *keep = model_keep(o, c, n, &is_known);
    for (uint64_t i = 0; i < n; i++)
        kept += keep[i];
    for (int p = 0; p < 4; p++) { /* the last time for the indices */
        const array *in = o->at[AT_IN + p];
        array *out = o->at[AT_OUT + p];
        if (!out)
            continue;
        size_t size = tml_type_size(out->type);
        out->is_unknown = out->is_unknown || !is_known;
        for (int wanted = 1; wanted >= (is_partition ? 0 : 1); wanted--) {
            uint64_t j = wanted ? begin : kept;
            for (uint64_t i = 0; i < n; i++) {
                if (keep[i] != wanted)
                    continue;
                if (j < out->count && p < 3)
                    memmove(out->mirror + j * size, in->mirror + i * size, size);
                else if (j < out->count)
                    store_integer(out, j, i);
                j++;
            }
        }
    }
    store_count(o->at[AT_COUNT], 0, begin + kept);
    if (o->at[AT_COUNT] && !is_known)
        o->at[AT_COUNT]->is_unknown = true;
    free(keep);
}

/* A merge sort of places [first, end) with room for as many, which is stable. */
static void model_merge(const array *keys, bool descends, uint64_t *places, uint64_t *room,
                        uint64_t first, uint64_t end)
{
    uint64_t middle = first + (end - first) / 2, a = first, b = middle;
    if (end - first < 2)
        return;
    model_merge(keys, descends, places, room, first, middle);
    model_merge(keys, descends, places, room, middle, end);
    for (uint64_t i = first; i < end; i++) {
        uint64_t x = a < middle ? load(keys->type, keys->mirror, places[a]).integer : 0;
        uint64_t y = b < end ? load(keys->type, keys->mirror, places[b]).integer : 0;
        bool takes_b = a == middle || (b < end && (descends ? x < y : x > y));
        room[i] = places[takes_b ? b++ : a++];
    }
    memcpy(places + first, room + first, (end - first) * sizeof *places);
}

/* Takes elements from n places: the keys, payloads, indices. */
static void model_move(const operands *o, const uint64_t *places, uint64_t n)
{
    for (int p = 0; p < 4; p++) {
        const array *in = p == 3 ? NULL : o->at[p ? AT_IN + p : AT_BY];
        array *out = o->at[p == 3 ? AT_INDICES : AT_OUT + p];
        if (!out)
            continue;
        size_t size = tml_type_size(out->type);
        uint8_t *moved = malloc(n * size + 1);
        if (!moved)
            abort();
        for (uint64_t i = 0; i < n && in; i++)
            memcpy(moved + i * size, in->mirror + places[i] * size, size);
        if (in)
            memcpy(out->mirror, moved, n * size);
        for (uint64_t i = 0; i < n && !in; i++)
            store_integer(out, i, places[i]);
        free(moved);
    }
}

static void model_sort(const operands *o, const call *c)
{
    const array *keys = o->at[AT_BY];
    uint64_t n = model_length(o, c, keys->count);
    uint64_t *places = malloc(n * sizeof *places + 1), *room = malloc(n * sizeof *room + 1);
    if (!places || !room)
        abort();
    for (uint64_t i = 0; i < n; i++)
        places[i] = i;
    const array *offsets = o->at[AT_IN];
    bool descends = c->options & OPTION_INCLUSIVE;
    for (uint64_t s = 0; offsets && s + 1 < offsets->count; s++) {
        uint64_t end = load(offsets->type, offsets->mirror, s + 1).integer;
        if (end <= n)
            model_merge(keys, descends, places, room,
                        load(offsets->type, offsets->mirror, s).integer, end);
    }
    if (!offsets)
        model_merge(keys, descends, places, room, 0, n);
    model_move(o, places, n);
    free(room);
    free(places);
}

/* The sort's first k. Unsorted: those before the last one's key, then those that equal it, by
 * source. */
static void model_top_k(const operands *o, const call *c)
{
    const array *keys = o->at[AT_BY], *device = o->at[AT_IN];
    uint64_t n = model_length(o, c, keys->count), k = c->dims[0];
    uint64_t *places = malloc(n * sizeof *places + 1), *room = malloc(n * sizeof *room + 1);
    if (!places || !room)
        abort();
    if (device && load(device->type, device->mirror, 0).integer < k)
        k = load(device->type, device->mirror, 0).integer;
    k = k < n ? k : n;
    for (uint64_t i = 0; i < n; i++)
        places[i] = i;
    model_merge(keys, !(c->options & OPTION_INCLUSIVE), places, room, 0, n);
    if (c->options & OPTION_FLIP && k > 0) {
        uint64_t last = load(keys->type, keys->mirror, places[k - 1]).integer, sooner = k;
        while (sooner > 0 && load(keys->type, keys->mirror, places[sooner - 1]).integer == last)
            sooner--;
        qsort(places, sooner, sizeof *places, compare_u64);
    }
    model_move(o, places, k);
    store_count(o->at[AT_COUNT], 0, k);
    free(room);
    free(places);
}

static void model_gather(const operands *o, const call *c)
{
    const array *indices = o->at[AT_BY];
    bool scatters = c->kind == CALL_SCATTER;
    uint64_t n = model_length(o, c, indices->count);
    for (int p = 0; p < 3; p++) {
        const array *in = o->at[AT_IN + p];
        array *out = o->at[AT_OUT + p];
        if (!out)
            continue;
        size_t size = tml_type_size(out->type);
        uint64_t range = scatters ? out->count : in->count;
        uint8_t *written = calloc(out->count + 1, 1);
        if (!written)
            abort();
        for (uint64_t i = 0; i < n; i++) {
            uint64_t place = load(indices->type, indices->mirror, i).integer;
            if (place >= range)
                continue;
            uint64_t from = scatters ? i : place, to = scatters ? place : i;
            out->is_unknown = out->is_unknown || written[to]++; /* named twice */
            memcpy(out->mirror + to * size, in->mirror + from * size, size);
        }
        free(written);
    }
}

static void model_search(const operands *o, const call *c)
{
    const array *sorted = o->at[AT_IN], *queries = o->at[AT_BY];
    array *out = o->at[AT_OUT];
    bool upper = c->options & OPTION_INCLUSIVE;
    for (uint64_t i = 1; i < sorted->count; i++)
        if (load(sorted->type, sorted->mirror, i - 1).integer >
            load(sorted->type, sorted->mirror, i).integer)
            out->is_unknown = true;
    for (uint64_t i = 0, n = model_length(o, c, queries->count); i < n; i++) {
        uint64_t query = load(queries->type, queries->mirror, i).integer, place = 0;
        for (uint64_t k = 0; k < sorted->count; k++) {
            uint64_t here = load(sorted->type, sorted->mirror, k).integer;
            place += here < query || (upper && here == query);
        }
        store_integer(out, i, place);
    }
}

static void model_expand(const operands *o, const call *c)
{
    const array *counts = c->options & OPTION_KERNEL ? o->at[AT_IN] : o->at[AT_BY];
    const array *in = o->at[AT_IN];
    array *source = o->at[AT_OUT], *rank = o->at[AT_OUT + 1], *out = o->at[AT_OUT + 2];
    uint64_t n = model_length(o, c, counts->count), total = model_first(o, c);
    uint64_t capacity = UINT64_MAX;
    for (int i = 0; i < 3; i++)
        if (o->at[AT_OUT + i] && o->at[AT_OUT + i]->count < capacity)
            capacity = o->at[AT_OUT + i]->count;
    for (uint64_t s = 0; s < n; s++) {
        uint64_t copies = load(counts->type, counts->mirror, s).integer;
        if (c->options & OPTION_KERNEL)
            copies &= 3;
        for (uint64_t k = 0; k < copies && capacity != UINT64_MAX && total + k < capacity; k++) {
            if (source)
                store_integer(source, total + k, s);
            if (rank)
                store_integer(rank, total + k, k);
            if (out)
                store_integer(out, total + k,
                              load(in->type, in->mirror, s).integer * 4096 + s * 16 + k);
        }
        total += copies;
    }
    store_count(o->at[AT_COUNT], 0, total);
}

static void model_unique(const operands *o, const call *c)
{
    const array *in = o->at[AT_IN];
    array *values = o->at[AT_OUT], *starts = o->at[AT_OUT + 1], *lengths = o->at[AT_OUT + 2];
    uint64_t n = model_length(o, c, in->count), runs = 0;
    size_t size = tml_type_size(in->type);
    uint8_t first[64]; /* of the run; values may be written in place */
    for (uint64_t i = 0, next; i < n; i = next, runs++) {
        memcpy(first, in->mirror + i * size, size);
        next = i + 1;
        while (next < n && memcmp(in->mirror + next * size, first, size) == 0)
            next++;
        if (values && runs < values->count)
            memcpy(values->mirror + runs * size, first, size);
        if (starts && runs < starts->count)
            store_integer(starts, runs, i);
        if (lengths && runs < lengths->count)
            store_integer(lengths, runs, next - i);
    }
    store_count(o->at[AT_COUNT], 0, runs);
}

static void model_segments(const operands *o, const call *c)
{
    const array *in = o->at[AT_IN], *offsets = o->at[AT_BY];
    for (uint64_t s = 0; s + 1 < offsets->count; s++) {
        uint64_t first = load(offsets->type, offsets->mirror, s).integer;
        uint64_t last = load(offsets->type, offsets->mirror, s + 1).integer;
        if (c->kind == CALL_REDUCE_SEGMENTS)
            model_fold((tml_fold)c->fold, in, first, last, o->at[AT_OUT], s);
        else
            model_scan_part(TML_FOLD_SUM, c->options & OPTION_INCLUSIVE, in, first, last, NULL,
                            o->at[AT_OUT], NULL);
    }
}

static void model_indirect(const operands *o, const call *c)
{
    const array *in = o->at[AT_IN];
    array *out = o->at[AT_OUT];
    uint64_t vertices = 3 * load(in->type, in->mirror, c->index).integer;
    const uint32_t words[4] = {(uint32_t)vertices, 1, 0, 0};
    if (in->type == TML_U64 || vertices > UINT32_MAX)
        out->is_unknown = true; /* what arguments do not hold is clamped */
    else
        memcpy(out->mirror, words, sizeof words);
}

tml_surface_desc surface_desc(const operands *o, const call *c,
                              tml_buffer (*make)(const operands *, int))
{
    return (tml_surface_desc){
        .volume = make(o, AT_IN),
        .grid.dims = {c->dims[0], c->dims[1], c->dims[2]},
        .mask = make(o, AT_IN + 1),
        .iso = 0.5,
        .iso_buffer = make(o, AT_IN + 2),
        .iso_index = c->index,
        .caps = c->options & OPTION_CAPS,
        .flip = c->options & OPTION_FLIP,
        .soup = c->options & OPTION_SOUP,
        .mesh = {.positions = make(o, AT_OUT), .indices = make(o, AT_OUT + 1)},
        .counts = make(o, AT_COUNT),
        .draw = make(o, AT_OUT + 2)};
}

static tml_buffer mirror_as_buffer(const operands *o, int place)
{
    const array *a = o->at[place];
    tml_buffer buffer = {0, 0};
    if (a &&
        tml_buffer_create(o->reference,
                          &(tml_buffer_desc){.type = a->type, .count = a->count, .host = a->mirror},
                          &buffer) != TML_OK)
        abort();
    return buffer;
}

bool surface_is_exact(const operands *o, const call *c)
{
    const array *volume = o->at[AT_IN], *iso = o->at[AT_IN + 2];
    for (uint64_t i = 0; i < (uint64_t)c->dims[0] * c->dims[1] * c->dims[2]; i++)
        if (volume->mirror[i] > 1)
            return false;
    double value = iso ? mc_sample(iso->mirror, iso->type, c->index) : 0.5;
    return value == floor(value) || !iso;
}

static void surface_problem(const operands *o, const char *what, uint64_t a, uint64_t b)
{
    snprintf(o->problem, o->problem_size,
             "%s: %" PRIu64 " by the CPU engine, %" PRIu64 " by cells one after the other", what, a,
             b);
}

/* Counts and vertices of a second marching cubes; the CPU engine on one thread for the
 * triangles. */
static void model_surface(const operands *o, const call *c)
{
    if (!surface_is_exact(o, c)) {
        for (int place = AT_OUT; place <= AT_COUNT; place++)
            if (o->at[place])
                o->at[place]->is_unknown = true;
        return;
    }
    const array *iso = o->at[AT_IN + 2], *vertices = o->at[AT_OUT];
    mc_mesh mesh =
        mc_extract(&(mc_input){.samples = o->at[AT_IN]->mirror,
                               .type = TML_U8,
                               .grid = {.dims = {c->dims[0], c->dims[1], c->dims[2]}},
                               .mask = o->at[AT_IN + 1] ? o->at[AT_IN + 1]->mirror : NULL,
                               .iso = iso ? mc_sample(iso->mirror, iso->type, c->index) : 0.5,
                               .caps = c->options & OPTION_CAPS,
                               .flip = c->options & OPTION_FLIP});
    tml_surface_desc desc = surface_desc(o, c, mirror_as_buffer);
    uint64_t counts[2] = {0, 0};
    tml_buffer count = {0, 0};
    if (tml_buffer_create(o->reference,
                          &(tml_buffer_desc){.type = TML_U64, .count = 2, .host = counts},
                          &count) != TML_OK)
        abort();
    tml_buffer given = desc.counts;
    desc.counts = count;
    /* What stays on the host goes by tml_surface on other engines alone: here it is a buffer. */
    if (tml_surface_enqueue(o->reference, &desc) != TML_OK)
        snprintf(o->problem, o->problem_size, "the model: %s", tml_last_error(o->reference));
    if (o->at[AT_COUNT]) {
        store_count(o->at[AT_COUNT], 0, counts[0]);
        store_count(o->at[AT_COUNT], 1, counts[1]);
    }
    const bool is_soup = desc.soup;
    const uint64_t expected = is_soup ? 3 * mesh.triangle_count : mesh.vertex_count;
    if (counts[0] != expected)
        surface_problem(o, "vertices", counts[0], expected);
    else if (counts[1] != mesh.triangle_count)
        surface_problem(o, "triangles", counts[1], mesh.triangle_count);
    uint64_t n = counts[0] < vertices->count ? counts[0] : vertices->count;
    if (!is_soup && memcmp(vertices->mirror, mesh.positions, n * 3 * sizeof(float)) != 0)
        surface_problem(o, "positions differ; vertices", counts[0], mesh.vertex_count);
    mc_free(&mesh);
    const tml_buffer made[] = {
        desc.volume, desc.mask, desc.mesh.positions, desc.mesh.indices, desc.iso_buffer, given,
        count,       desc.draw};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        tml_buffer_destroy(o->reference, made[i]);
}

/* The bin of x; the last one has its upper edge. */
static uint64_t model_bin(const array *edges, uint64_t bins, uint64_t x)
{
    uint64_t bin = 0;
    while (bin <= bins && load(edges->type, edges->mirror, bin).integer <= x)
        bin++;
    if (bin == bins + 1 && load(edges->type, edges->mirror, bins).integer == x)
        bin--;
    return bin - 1;
}

static void model_histogram(const operands *o, const call *c)
{
    const array *in = o->at[AT_IN], *edges = o->at[AT_BY], *weights = o->at[AT_IN + 1];
    array *out = o->at[AT_OUT];
    uint32_t bins = c->dims[0], *counts = (uint32_t *)(void *)out->mirror;
    memset(counts, 0, bins * sizeof *counts);
    for (uint64_t i = 0, n = model_length(o, c, in->count); i < n; i++) {
        uint64_t bin = load(in->type, in->mirror, i).integer;
        if (c->options & OPTION_KERNEL)
            bin = random_up_to_3((uint32_t)bin);
        if (edges)
            bin = model_bin(edges, bins, bin);
        if (bin < bins)
            counts[bin] += weights ? (uint32_t)load(weights->type, weights->mirror, i).integer : 1;
    }
}

static void model_by_key(const operands *o, const call *c)
{
    const array *keys = o->at[AT_BY], *in = o->at[AT_IN];
    array *out_keys = o->at[AT_OUT], *out = o->at[AT_OUT + 1], *starts = o->at[AT_INDICES];
    size_t size = tml_type_size(keys->type);
    uint64_t n = model_length(o, c, keys->count), runs = 0;
    for (uint64_t first = 0, end; first < n; first = end, runs++) {
        for (end = first + 1;
             end < n && memcmp(keys->mirror + end * size, keys->mirror + first * size, size) == 0;)
            end++;
        if (out_keys && runs < out_keys->count)
            memcpy(out_keys->mirror + runs * size, keys->mirror + first * size, size);
        store_integer(starts, runs, first);
        model_fold((tml_fold)c->fold, in, first, end, out, runs);
    }
    store_count(o->at[AT_COUNT], 0, runs);
}

void model_run(const operands *o, const call *c)
{
    bool is_unknown = false;
    for (int place = 0; place < AT_PLACES; place++)
        is_unknown = is_unknown ||
                     (o->at[place] && place != AT_SCRATCH && o->at[place]->is_unknown &&
                      (!is_output(place) || (place == AT_COUNT && c->options & OPTION_APPEND)));
    for (int place = AT_OUT; place <= AT_COUNT && is_unknown; place++)
        if (o->at[place])
            o->at[place]->is_unknown = true;
    if (is_unknown)
        return;
    const array *in = o->at[AT_IN];
    switch (c->kind) {
    case CALL_MAP_STREAM:
        model_map(o, c);
        break;
    case CALL_REDUCE:
        for (uint32_t k = 0; k < 3; k++)
            if (o->at[AT_OUT + k])
                model_fold(also_fold(c, k), in, 0, model_length(o, c, in->count), o->at[AT_OUT + k],
                           0);
        break;
    case CALL_HISTOGRAM:
        model_histogram(o, c);
        break;
    case CALL_SCAN:
        model_scan_part((tml_fold)c->fold, c->options & OPTION_INCLUSIVE, in, 0,
                        model_length(o, c, in->count), o->at[AT_BY], o->at[AT_OUT],
                        o->at[AT_COUNT]);
        break;
    case CALL_COMPACT:
    case CALL_PARTITION:
        model_compact(o, c);
        break;
    case CALL_SORT:
        model_sort(o, c);
        break;
    case CALL_TOP_K:
        model_top_k(o, c);
        break;
    case CALL_GATHER:
    case CALL_SCATTER:
        model_gather(o, c);
        break;
    case CALL_SEARCH:
        model_search(o, c);
        break;
    case CALL_EXPAND:
        model_expand(o, c);
        break;
    case CALL_UNIQUE:
        model_unique(o, c);
        break;
    case CALL_REDUCE_BY_KEY:
        model_by_key(o, c);
        break;
    case CALL_REDUCE_SEGMENTS:
    case CALL_SCAN_SEGMENTS:
        model_segments(o, c);
        break;
    case CALL_SURFACE_ENQUEUE:
        model_surface(o, c);
        break;
    case CALL_INDIRECT:
        model_indirect(o, c);
        break;
    default:
        break;
    }
}
