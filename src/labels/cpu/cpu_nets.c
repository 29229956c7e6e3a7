/* Surface nets on the CPU, the first step: sets a bit for each edge between unlike samples of the
 * volume, and counts the vertices and faces of each row of bits. */
#include "labels/cpu/cpu_nets.h"

/* ---- bits ------------------------------------------------------------------------------------ */

/* Packs 64 bytes, each all ones or 0, into 64 bits. */
ALWAYS_INLINE nets_word pack_64(const uint8_t *bytes)
{
    nets_word out = 0;
#if SIMD_X86
    for (int k = 0; k < 4; k++) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * k));
        out |= (nets_word)(uint32_t)_mm_movemask_epi8(part) << 16 * k;
    }
#else
    for (int k = 0; k < 64; k++)
        out |= (nets_word)(bytes[k] & 1) << k;
#endif
    return out;
}

#define COMPARE_64(T)                                                                              \
    ALWAYS_INLINE nets_word nets_compare_##T(const void *a, const void *b)                         \
    {                                                                                              \
        uint8_t bytes[64];                                                                         \
        T left[64], right[64];                                                                     \
        memcpy(left, a, sizeof left);                                                              \
        memcpy(right, b, sizeof right);                                                            \
        for (int i = 0; i < 64; i++)                                                               \
            bytes[i] = left[i] != right[i] ? 0xff : 0;                                             \
        return pack_64(bytes);                                                                     \
    }
COMPARE_64(uint8_t)
COMPARE_64(uint16_t)
COMPARE_64(uint32_t)
COMPARE_64(uint64_t)

#if SIMD_X86 /* AVX-512 compares into masks; compilers would compare into bytes */
#    define COMPARE_WIDE(T, lanes, compare)                                                        \
        SIMD_TARGET_AVX512 ALWAYS_INLINE nets_word compare_wide_##T(const void *a, const void *b)  \
        {                                                                                          \
            nets_word out = 0;                                                                     \
            for (int k = 0; k < 64 / (lanes); k++)                                                 \
                out |= (nets_word)compare(_mm512_loadu_si512((const T *)a + k * (lanes)),          \
                                          _mm512_loadu_si512((const T *)b + k * (lanes)))          \
                       << (k * (lanes)&63);                                                        \
            return out;                                                                            \
        }
COMPARE_WIDE(uint8_t, 64, _mm512_cmpneq_epi8_mask)
COMPARE_WIDE(uint16_t, 32, _mm512_cmpneq_epi16_mask)
COMPARE_WIDE(uint32_t, 16, _mm512_cmpneq_epi32_mask)
COMPARE_WIDE(uint64_t, 8, _mm512_cmpneq_epi64_mask)
#endif

/* Sets the bits of the pairs that differ. The first of count pairs has bit lead: 0 or 1. */
#define DIFFER(T, name, target, compare)                                                           \
    target static void name(const void *a, const void *b, uint64_t count, uint64_t lead,           \
                            uint64_t words, nets_word *out)                                        \
    {                                                                                              \
        const T *left = a, *right = b;                                                             \
        T part[2][64] = {{0}};                                                                     \
        if (count < 64) {                                                                          \
            memcpy(part[0], left, count * sizeof(T));                                              \
            memcpy(part[1], right, count * sizeof(T));                                             \
            left = part[0];                                                                        \
            right = part[1];                                                                       \
            count = 64;                                                                            \
        }                                                                                          \
        for (uint64_t w = 0; w < words;                                                            \
             w++) { /* a partial last word is made from the last 64 pairs */                       \
            const uint64_t first = w ? 64 * w - lead : 0, at = TML_MIN_OF(first, count - 64);      \
            if (first >= count)                                                                    \
                out[w] = 0;                                                                        \
            else                                                                                   \
                out[w] = compare(left + at, right + at) << (w ? 0 : lead) >> (first - at);         \
        }                                                                                          \
    }
#if SIMD_X86
#    define DIFFER_LEVELS(T)                                                                       \
        DIFFER(T, differ_##T##_base, , nets_compare_##T)                                           \
        DIFFER(T, differ_##T##_avx2, SIMD_TARGET_AVX2, nets_compare_##T)                           \
        DIFFER(T, differ_##T##_avx512, SIMD_TARGET_AVX512, compare_wide_##T)
#else
#    define DIFFER_LEVELS(T) DIFFER(T, differ_##T##_base, , nets_compare_##T)
#endif
DIFFER_LEVELS(uint8_t)
DIFFER_LEVELS(uint16_t)
DIFFER_LEVELS(uint32_t)
DIFFER_LEVELS(uint64_t)

typedef void (*differ_fn)(const void *a, const void *b, uint64_t count, uint64_t lead,
                          uint64_t words, nets_word *out);
static differ_fn differ_of(const nets_plan *plan)
{
    static const differ_fn levels[][TML_SIMD_LEVELS] = {
        SIMD_EACH_LEVEL(differ_uint8_t), SIMD_EACH_LEVEL(differ_uint16_t),
        SIMD_EACH_LEVEL(differ_uint32_t), SIMD_EACH_LEVEL(differ_uint64_t)};
    const size_t size = plan->sample_size;
    return levels[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3][tml_simd_level()];
}

static void set_bit(nets_word *row, uint64_t bit, bool value)
{
    row[bit / 64] = (row[bit / 64] & ~((nets_word)1 << bit % 64)) | (nets_word)value << bit % 64;
}

/* ---- chosen labels --------------------------------------------------------------------------- */

static bool is_chosen(const nets_plan *plan, uint64_t label)
{
    uint64_t low = 0, high = plan->chosen_count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (surface_label_less(plan->type, plan->chosen[middle], label))
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->chosen_count && plan->chosen[low] == label && label != plan->background;
}

/* Finds the samples with a chosen label. Looks up each run of equal labels once; runs are long. */
static void members_task(void *argument, uint32_t index)
{
    const nets_plan *plan = argument;
    const uint64_t z = plan->first_layer + index, count = plan->box.count[0];
    const size_t size = plan->sample_size;
    if (tml_is_cancelled(plan->tml))
        return;
    for (uint64_t y = 0; y < plan->size[1]; y++) {
        nets_word *out = plan->members + nets_row(plan, y, z) * plan->words;
        memset(out, 0, plan->words * sizeof *out);
        const void *row = nets_samples_of(plan, y, z).samples;
        for (uint64_t x = 0, next; row && x < count; x = next) {
            uint64_t bits = surface_bits_at(row, x, size);
            for (next = x + 1; next < count && surface_bits_at(row, next, size) == bits;)
                next++;
            if (!is_chosen(plan, surface_label(plan->type, bits)))
                continue;
            for (uint64_t k = x + plan->pad; k < next + plan->pad; k++)
                out[k / 64] |= (nets_word)1 << k % 64;
        }
    }
}

/* Clears the edges between samples of which neither is a member: both count as background. */
static void drop_alike(const nets_plan *plan, const nets_word *a, const nets_word *b,
                       nets_word *edges)
{
    for (uint64_t i = 0; i < plan->words && plan->members; i++)
        edges[i] &= a[i] | b[i];
}

/* ---- edges ----------------------------------------------------------------------------------- */

static const void *row_of(const nets_plan *plan, uint64_t y, uint64_t z)
{
    const void *row = nets_samples_of(plan, y, z).samples;
    return row ? row : plan->background_row;
}

/* Finds the edges from row a to row b, without the first and last, which are on the border. */
static void cross_rows(const nets_plan *plan, differ_fn differ, const uint64_t a[2],
                       const uint64_t b[2], nets_word *out)
{
    const nets_word *members = plan->members;
    differ(row_of(plan, a[0], a[1]), row_of(plan, b[0], b[1]), plan->box.count[0], plan->pad,
           plan->words, out);
    if (members)
        drop_alike(plan, members + nets_row(plan, a[0], a[1]) * plan->words,
                   members + nets_row(plan, b[0], b[1]) * plan->words, out);
    set_bit(out, 0, false);
    set_bit(out, plan->size[0] - 1, false);
}

static void cross_columns(const nets_plan *plan, differ_fn differ, uint64_t y, uint64_t z,
                          nets_word *out)
{
    const uint64_t count = plan->box.count[0], words = plan->words;
    const nets_samples samples = nets_samples_of(plan, y, z);
    if (!samples.samples) {
        memset(out, 0, words * sizeof *out);
        return;
    }
    differ(samples.samples, (const unsigned char *)samples.samples + plan->sample_size, count - 1,
           plan->pad, words, out);
    if (plan->pad) {
        set_bit(out, 0, nets_label(plan, &samples, 1) != plan->background);
        set_bit(out, count, nets_label(plan, &samples, count) != plan->background);
    }
    for (uint64_t i = 0; i < words && samples.members; i++)
        out[i] &= samples.members[i] | samples.members[i] >> 1 |
                  (i + 1 < words ? samples.members[i + 1] << 63 : 0);
}

static void edges_task(void *argument, uint32_t index)
{
    const nets_plan *plan = argument;
    const uint64_t z = plan->first_layer + index, rows = plan->size[1];
    const bool z_inside = z > 0 && z + 1 < plan->size[2];
    const differ_fn differ = differ_of(plan);
    if (tml_is_cancelled(plan->tml))
        return;
    for (uint64_t y = 0; y < rows; y++) {
        const bool y_inside = y > 0 && y + 1 < rows;
        const uint64_t here[2] = {y, z}, next_y[2] = {y + 1, z}, next_z[2] = {y, z + 1};
        const bool crosses[3] = {y_inside && z_inside, z_inside && y + 1 < rows,
                                 y_inside && z + 1 < plan->size[2]};
        for (int a = 0; a < 3; a++) {
            nets_word *out = nets_edges_at(plan, &plan->net, a, y, z);
            if (!crosses[a])
                memset(out, 0, plan->words * sizeof *out);
            else if (a == 0)
                cross_columns(plan, differ, y, z, out);
            else
                cross_rows(plan, differ, here, a == 1 ? next_y : next_z, out);
        }
    }
}

/* Finds the net's edges whose faces are written. */
static void keep_task(void *argument, uint32_t index)
{
    const nets_plan *plan = argument;
    const uint64_t z = plan->first_layer + index;
    if (tml_is_cancelled(plan->tml))
        return;
    for (uint64_t y = 0; y < plan->size[1]; y++)
        for (uint64_t a = 0; a < 3; a++) {
            const nets_word *in = nets_edges(plan, &plan->net, (int)a, y, z);
            nets_word *out = nets_edges_at(plan, &plan->kept, (int)a, y, z);
            const nets_samples row = nets_samples_of(plan, y, z);
            const nets_samples next = nets_samples_of(plan, y + (a == 1), z + (a == 2));
            for (uint64_t w = 0; w < plan->words; w++) {
                out[w] = in[w];
                for (nets_word rest = in[w]; rest; rest &= rest - 1) {
                    const uint64_t x = 64 * w + (uint64_t)__builtin_ctzll(rest);
                    if (!nets_keeps(plan, nets_label(plan, &row, x),
                                    nets_label(plan, &next, x + (a == 0))))
                        out[w] &= ~(rest & -rest);
                }
            }
        }
}

/* ---- counts ---------------------------------------------------------------------------------- */

ALWAYS_INLINE void count_layer(const nets_plan *plan, const nets_planes *planes, uint64_t z)
{
    uint64_t vertices = 0, faces = 0;
    for (uint64_t y = 0; y < plan->size[1]; y++) {
        planes->vertex_rows[nets_row(plan, y, z)] = (uint32_t)vertices;
        planes->face_rows[nets_row(plan, y, z)] = (uint32_t)faces;
        for (int a = 0; a < 3; a++) {
            const nets_word *edges = nets_edges(plan, planes, a, y, z);
            for (uint64_t w = 0; w < plan->words; w++)
                faces += nets_ones(edges[w]);
        }
        for (uint64_t w = 0; w < plan->words && y < nets_cells(plan, 1) && z < nets_cells(plan, 2);
             w += NETS_GROUP) {
            nets_word active[NETS_GROUP];
            nets_active(plan, planes, y, z, w, active);
            for (int i = 0; i < NETS_GROUP; i++)
                vertices += nets_ones(active[i]);
        }
    }
    planes->vertex_first[z] = vertices;
    planes->face_first[z] = faces;
}
SIMD_INSTANTIATE(SIMD_FLAT void, count_layer_level,
                 (const nets_plan *plan, const nets_planes *planes, uint64_t z),
                 count_layer(plan, planes, z))

static void count_task(void *argument, uint32_t index)
{
    static void (*const levels[TML_SIMD_LEVELS])(const nets_plan *, const nets_planes *, uint64_t) =
        SIMD_EACH_LEVEL(count_layer_level);
    const nets_plan *plan = argument;
    if (tml_is_cancelled(plan->tml))
        return;
    levels[tml_simd_level()](plan, &plan->net, plan->first_layer + index);
    if (plan->kept.edges != plan->net.edges)
        levels[tml_simd_level()](plan, &plan->kept, plan->first_layer + index);
}

/* Turns the counts per layer into the counts of all layers before. */
static void sum_layers(const nets_plan *plan, const nets_planes *planes)
{
    uint64_t vertices = 0, faces = 0;
    for (uint64_t z = 0; z <= plan->size[2]; z++) {
        uint64_t here[2] = {0, 0};
        if (z < plan->size[2]) {
            here[0] = planes->vertex_first[z];
            here[1] = planes->face_first[z];
        }
        planes->vertex_first[z] = vertices;
        planes->face_first[z] = faces;
        vertices += here[0];
        faces += here[1];
    }
}

/* ---- the step -------------------------------------------------------------------------------- */

static uint64_t plane_words(const nets_plan *plan)
{
    return plan->words * plan->size[1] * plan->size[2];
}

/* The last group of words of the last row reaches past the row. */
static uint64_t edge_words(const nets_plan *plan)
{
    return 3 * plane_words(plan) + NETS_GROUP + 1;
}

static bool make_planes(nets_plan *plan, nets_planes *planes)
{
    const uint64_t rows = plan->size[1] * plan->size[2], layers = plan->size[2] + 1;
    planes->edges = nets_alloc(plan, edge_words(plan), sizeof *planes->edges);
    planes->vertex_rows = nets_alloc(plan, rows, sizeof *planes->vertex_rows);
    planes->face_rows = nets_alloc(plan, rows, sizeof *planes->face_rows);
    planes->vertex_first = nets_alloc(plan, layers, sizeof *planes->vertex_first);
    planes->face_first = nets_alloc(plan, layers, sizeof *planes->face_first);
    if (planes->edges)
        memset(planes->edges + 3 * plane_words(plan), 0, (NETS_GROUP + 1) * sizeof *planes->edges);
    return planes->edges && planes->vertex_rows && planes->face_rows && planes->vertex_first &&
           planes->face_first;
}

static void free_planes(nets_plan *plan, nets_planes *planes)
{
    const uint64_t rows = plan->size[1] * plan->size[2], layers = plan->size[2] + 1;
    nets_free(plan, planes->edges, edge_words(plan), sizeof *planes->edges);
    nets_free(plan, planes->vertex_rows, rows, sizeof *planes->vertex_rows);
    nets_free(plan, planes->face_rows, rows, sizeof *planes->face_rows);
    nets_free(plan, planes->vertex_first, layers, sizeof *planes->vertex_first);
    nets_free(plan, planes->face_first, layers, sizeof *planes->face_first);
    *planes = (nets_planes){0};
}

static void fill_background(const nets_plan *plan)
{
    const size_t size = plan->sample_size;
    for (uint64_t x = 0; x < plan->box.count[0]; x++)
        nets_store(plan->background_row, x, size, plan->background);
}

static tml_status count(nets_plan *plan)
{
    const bool selects = plan->between || plan->inner_only;
    plan->background_row = nets_alloc(plan, plan->box.count[0], plan->sample_size);
    if (plan->chosen)
        plan->members = nets_alloc(plan, plane_words(plan), sizeof *plan->members);
    if (!plan->background_row || (plan->chosen && !plan->members) ||
        !make_planes(plan, &plan->net) || (selects && !make_planes(plan, &plan->kept)))
        return TML_ERROR_OUT_OF_MEMORY;
    if (!selects)
        plan->kept = plan->net;
    fill_background(plan);
    const uint64_t layers = plan->size[2];
    const uint32_t parts = 2 + (plan->chosen != NULL) + selects;
    uint32_t part = 0;
    tml_status status = TML_OK;
    if (plan->chosen)
        status = nets_run_layers(plan, "labels", part++, parts, layers, members_task);
    TML_THEN(status, nets_run_layers(plan, "edges", part++, parts, layers, edges_task));
    if (status == TML_OK && selects)
        status = nets_run_layers(plan, "edges", part++, parts, layers, keep_task);
    TML_THEN(status, nets_run_layers(plan, "counts", part++, parts, layers, count_task));
    if (status != TML_OK)
        return status;
    sum_layers(plan, &plan->net);
    if (selects)
        sum_layers(plan, &plan->kept);
    return TML_OK;
}

static void cpu_nets_release(nets_plan *plan)
{
    cpu_nets_parts_free(plan);
    nets_free(plan, plan->background_row, plan->box.count[0], plan->sample_size);
    nets_free(plan, plan->members, plane_words(plan), sizeof *plan->members);
    if (plan->kept.edges != plan->net.edges)
        free_planes(plan, &plan->kept);
    free_planes(plan, &plan->net);
}

extern const nets_steps cpu_nets_steps;
const nets_steps cpu_nets_steps = {.count = count,
                                   .place = cpu_nets_place,
                                   .emit = cpu_nets_emit,
                                   .count_parts = cpu_nets_count_parts,
                                   .emit_parts = cpu_nets_emit_parts,
                                   .release = cpu_nets_release};
