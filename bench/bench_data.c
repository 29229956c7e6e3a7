/* Benchmark inputs: each field as a function that fills one row, run over slices in parallel.
 *
 * After: Marschner, Lobb: An Evaluation of Reconstruction Filters for Volume Rendering. 1994;
 * Schoen: Infinite Periodic Minimal Surfaces without Self-Intersections. 1970; Blinn: A
 * Generalization of Algebraic Surface Drawing. 1982; the hash is Wellons: Prospecting for Hash
 * Functions. 2018. */
#include "bench_data.h"

#include <math.h>
#include <string.h>

enum { BALLS = 64, STREAM_BLOCK = 1 << 16 };

static const double pi = 3.14159265358979323846;

static uint32_t hash32(uint32_t x)
{
    x = (x ^ x >> 16) * 0x21f0aaadu;
    x = (x ^ x >> 15) * 0xd35a2d97u;
    return x ^ x >> 15;
}

static uint32_t hash64(uint64_t x)
{
    return hash32((uint32_t)x ^ hash32((uint32_t)(x >> 32)));
}

static float hash_unit(uint64_t x)
{
    return (float)(hash64(x) >> 8) * 0x1p-24f;
}

/* ---- fields --------------------------------------------------------------------------------- */

/* Values that a field's rows share: those along an axis and, for the Marschner-Lobb field, its xy
 * plane. */
typedef struct field_work {
    bench_field field;
    tml_type type;
    uint64_t size;
    float *table; /* meaning by field; table_count values */
    size_t table_count;
    void *out;
} field_work;

/* Position in [0, 1] along an axis. */
static double unit(const field_work *work, uint64_t i)
{
    return work->size > 1 ? (double)i / (double)(work->size - 1) : 0.5;
}

static void marschner_lobb_table(const field_work *work)
{
    for (uint64_t y = 0; y < work->size; y++)
        for (uint64_t x = 0; x < work->size; x++) {
            double r = hypot(2 * unit(work, x) - 1, 2 * unit(work, y) - 1);
            work->table[y * work->size + x] = (float)cos(2 * pi * 6 * cos(pi * r / 2));
        }
}

static void marschner_lobb_row(const field_work *work, uint64_t y, uint64_t z, float *row)
{
    const float alpha = 0.25f;
    const float *plane = work->table + y * work->size;
    float depth = (float)(1 - sin(pi * (2 * unit(work, z) - 1) / 2));
    for (uint64_t x = 0; x < work->size; x++)
        row[x] = (depth + alpha * (1 + plane[x])) / (2 * (1 + alpha));
}

static void gyroid_table(const field_work *work)
{
    for (uint64_t i = 0; i < work->size; i++) {
        work->table[i] = (float)sin(2 * pi * 4 * unit(work, i));
        work->table[work->size + i] = (float)cos(2 * pi * 4 * unit(work, i));
    }
}

static void gyroid_row(const field_work *work, uint64_t y, uint64_t z, float *row)
{
    const float *sines = work->table, *cosines = work->table + work->size;
    for (uint64_t x = 0; x < work->size; x++)
        row[x] = sines[x] * cosines[y] + sines[y] * cosines[z] + sines[z] * cosines[x];
}

/* A Gaussian is a product over the axes, so there is one table per ball and axis. */
static void metaballs_table(const field_work *work)
{
    for (uint32_t ball = 0; ball < BALLS; ball++)
        for (uint32_t axis = 0; axis < 3; axis++) {
            double centre = 0.15 + 0.7 * hash_unit(4 * ball + axis);
            double radius = 0.05 + 0.04 * hash_unit(4 * ball + 3);
            for (uint64_t i = 0; i < work->size; i++) {
                double distance = (unit(work, i) - centre) / radius;
                work->table[(ball * 3 + axis) * work->size + i] = (float)exp(-distance * distance);
            }
        }
}

static void metaballs_row(const field_work *work, uint64_t y, uint64_t z, float *row)
{
    memset(row, 0, work->size * sizeof *row);
    for (uint32_t ball = 0; ball < BALLS; ball++) {
        const float *along_x = work->table + ball * 3 * work->size;
        float weight = along_x[work->size + y] * along_x[2 * work->size + z];
        if (weight > 1e-6f)
            for (uint64_t x = 0; x < work->size; x++)
                row[x] += weight * along_x[x];
    }
}

/* Weights 1-2-1 over the 3x3 rows around a row, then along it. Positions do not wrap at the border,
 * since the hash is defined outside the grid too. */
static void noise_row(const field_work *work, uint64_t y, uint64_t z, float *row)
{
    memset(row, 0, work->size * sizeof *row);
    for (uint64_t dz = 0; dz < 3; dz++)
        for (uint64_t dy = 0; dy < 3; dy++) {
            uint64_t start = ((z + dz) * (work->size + 2) + y + dy) * (work->size + 2);
            float weight = (dz == 1 ? 0.5f : 0.25f) * (dy == 1 ? 0.5f : 0.25f);
            float before = hash_unit(start), here = hash_unit(start + 1);
            for (uint64_t x = 0; x < work->size; x++) {
                float after = hash_unit(start + x + 2);
                row[x] += weight * (0.25f * before + 0.5f * here + 0.25f * after);
                before = here;
                here = after;
            }
        }
}

static void sphere_row(const field_work *work, uint64_t y, uint64_t z, float *row)
{
    double dy = unit(work, y) - 0.5, dz = unit(work, z) - 0.5;
    for (uint64_t x = 0; x < work->size; x++) {
        double dx = unit(work, x) - 0.5;
        row[x] = (float)(0.4 - sqrt(dx * dx + dy * dy + dz * dz));
    }
}

typedef struct field_entry {
    const char *name;
    double iso, low, high; /* the field's range, which integer types stretch */
    uint32_t table_rows;   /* rows of size floats in the table */
    bool table_is_plane;   /* the table is size rows */
    void (*make_table)(const field_work *work);
    void (*fill_row)(const field_work *work, uint64_t y, uint64_t z, float *row);
} field_entry;

static const field_entry fields[BENCH_FIELD_COUNT] = {
    [BENCH_MARSCHNER_LOBB] = {"marschner-lobb", 0.5, 0, 1, 0, true, marschner_lobb_table,
                              marschner_lobb_row},
    [BENCH_GYROID] = {"gyroid", 0.1, -1.5, 1.5, 2, false, gyroid_table, gyroid_row},
    [BENCH_METABALLS] = {"metaballs", 0.3, 0, 3, 3 * BALLS, false, metaballs_table, metaballs_row},
    [BENCH_NOISE] = {"noise", 0.5, 0, 1, 0, false, NULL, noise_row},
    [BENCH_SPHERE] = {"sphere", 0, -0.5, 0.4, 0, false, NULL, sphere_row},
};

const char *bench_field_name(bench_field field)
{
    return fields[field].name;
}

/* value as the type stores it: X(type, C type, least, largest). */
#define STRETCHED_TYPES(X)                                                                         \
    X(TML_U8, uint8_t, 0, 255)                                                                     \
    X(TML_I8, int8_t, -128, 127)                                                                   \
    X(TML_U16, uint16_t, 0, 65535)                                                                 \
    X(TML_I16, int16_t, -32768, 32767)

static double stretch(const field_entry *entry, double value, double least, double largest)
{
    double t = (value - entry->low) / (entry->high - entry->low);
    return least + fmin(fmax(t, 0), 1) * (largest - least);
}

double bench_field_iso(bench_field field, tml_type type)
{
    const field_entry *entry = &fields[field];
    switch (type) {
#define STRETCHED_ISO(type, T, least, largest)                                                     \
    case type:                                                                                     \
        return stretch(entry, entry->iso, least, largest);
        STRETCHED_TYPES(STRETCHED_ISO)
#undef STRETCHED_ISO
    default:
        return entry->iso;
    }
}

void bench_field_range(bench_field field, tml_type type, double *low, double *high)
{
    switch (type) {
#define STRETCHED_RANGE(type, T, least, largest)                                                   \
    case type:                                                                                     \
        *low = least;                                                                              \
        *high = largest;                                                                           \
        break;
        STRETCHED_TYPES(STRETCHED_RANGE)
#undef STRETCHED_RANGE
    default:
        *low = fields[field].low;
        *high = fields[field].high;
    }
}

static void store_row(const field_work *work, const float *row, void *out)
{
    switch (work->type) {
#define STORE_STRETCHED(type, T, least, largest)                                                   \
    case type:                                                                                     \
        for (uint64_t x = 0; x < work->size; x++)                                                  \
            ((T *)out)[x] = (T)lrint(stretch(&fields[work->field], row[x], least, largest));       \
        break;
        STRETCHED_TYPES(STORE_STRETCHED)
#undef STORE_STRETCHED
    case TML_F64:
        for (uint64_t x = 0; x < work->size; x++)
            ((double *)out)[x] = row[x];
        break;
    default:
        memcpy(out, row, work->size * sizeof *row);
    }
}

/* Fills slice z, a row at a time, in memory on the stack: rows have at most 8192 samples. */
enum { MAX_SIZE = 8192 };

static void fill_slice(void *argument, uint32_t z)
{
    const field_work *work = argument;
    float row[MAX_SIZE];
    size_t row_size = work->size * tml_type_size(work->type);
    for (uint64_t y = 0; y < work->size; y++) {
        fields[work->field].fill_row(work, y, z, row);
        store_row(work, row, (char *)work->out + (z * work->size + y) * row_size);
    }
}

bool bench_field_fill(tml_context *tml, bench_field field, tml_type type, uint64_t size, void *out)
{
    const field_entry *entry = &fields[field];
    field_work work = {.field = field, .type = type, .size = size, .out = out};
    bool stores = type == TML_U8 || type == TML_I8 || type == TML_U16 || type == TML_I16 ||
                  type == TML_F32 || type == TML_F64;
    if (!stores || size > MAX_SIZE)
        return false;
    work.table_count = (entry->table_is_plane ? size : entry->table_rows) * size;
    if (work.table_count) {
        work.table = tml_alloc(tml, work.table_count * sizeof *work.table);
        if (!work.table)
            return false;
        entry->make_table(&work);
    }
    tml_parallel_for(tml, (uint32_t)size, fill_slice, &work);
    tml_free(tml, work.table, work.table_count * sizeof *work.table);
    return true;
}

/* ---- fluids --------------------------------------------------------------------------------- */

const char *bench_fluid_name(bench_fluid fluid)
{
    return fluid == BENCH_BASIN ? "basin" : "river";
}

/* The fluid above (x, y) in a box of that side: lowest and highest z. */
static void fluid_column(bench_fluid fluid, double side, double x, double y, double *low,
                         double *high)
{
    const double u = x / side, v = y / side;
    if (fluid == BENCH_BASIN) {
        *low = 0;
        *high = side / 4 * (1 + 0.15 * sin(2 * pi * 3 * u) * cos(2 * pi * 2 * v));
        return;
    }
    const double slope =
        0.45 * 4 * pi * cos(4 * pi * u); /* the width is measured across the flow */
    const double half_width = 0.0175 * sqrt(1 + slope * slope);
    const double across = (v - 0.5 - 0.45 * sin(4 * pi * u)) / half_width;
    *low = side / 4 * (1 - u) + side / 100 * sin(40 * pi * u);     /* rapids */
    *high = *low + fmax(side * 0.0053, 1) * (1 - across * across); /* thin at the banks */
}

uint64_t bench_fluid_fill(bench_fluid fluid, uint64_t count, float *out)
{
    const double side = cbrt((double)count * (fluid == BENCH_BASIN ? 4 : 2200));
    uint64_t made = 0;
    for (double y = 0; y < side; y++)
        for (double x = 0; x < side; x++) {
            double low, high;
            fluid_column(fluid, side, x, y, &low, &high);
            for (double z = ceil(low); z < high; z++, made++) {
                const double at[3] = {x, y, z};
                for (uint64_t a = 0; out && a < 3; a++)
                    out[3 * made + a] = (float)(at[a] + 0.5 * (double)hash_unit(3 * made + a));
                if (out && fluid == BENCH_RIVER && hash64(~made) % 256 == 0)
                    out[3 * made + 2] += (float)(side / 8) * hash_unit(made << 32);
            }
        }
    return made;
}

/* ---- streams -------------------------------------------------------------------------------- */

typedef struct stream_work {
    uint64_t count;
    uint32_t *out;
} stream_work;

static void fill_block(void *argument, uint32_t block)
{
    const stream_work *work = argument;
    uint64_t first = (uint64_t)block * STREAM_BLOCK;
    uint64_t last = first + STREAM_BLOCK < work->count ? first + STREAM_BLOCK : work->count;
    for (uint64_t i = first; i < last; i++)
        work->out[i] = hash64(i);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* For a block of samples: visits the points in the bins around the block, ring by ring, up to the
 * distance of the point nearest to the block's centre; then also the points that may be the nearest
 * to some sample of the block. */
enum { LABEL_BLOCK = 8, NO_POINT = -1 };

typedef struct labels_work {
    uint32_t *out;
    const float *points;
    const int32_t *first, *next; /* of each bin; after each point */
    int64_t size, bins;          /* samples and bins along each side */
    float bin;                   /* of which a side has so many samples */
} labels_work;

static float distance2(const float *a, float x, float y, float z)
{
    return (a[0] - x) * (a[0] - x) + (a[1] - y) * (a[1] - y) + (a[2] - z) * (a[2] - z);
}

/* Calls a function for each point in the bins of one ring around the block's bin, with the nearest
 * point and the block's labels so far. */
static void look_at_ring(const labels_work *w, const int64_t low[3], const int64_t at[3],
                         int64_t ring, float *nearest, float *best)
{
    const float half = 0.5f * (LABEL_BLOCK - 1);
    const float middle[3] = {(float)low[0] + half, (float)low[1] + half, (float)low[2] + half};
    for (int64_t b = 0; b < (2 * ring + 1) * (2 * ring + 1) * (2 * ring + 1); b++) {
        const int64_t side = 2 * ring + 1;
        const int64_t d[3] = {b % side - ring, b / side % side - ring, b / side / side - ring};
        const int64_t bin[3] = {at[0] + d[0], at[1] + d[1], at[2] + d[2]};
        bool is_in_ring = false, is_there = true;
        for (int a = 0; a < 3; a++) {
            is_in_ring = is_in_ring || d[a] == ring || d[a] == -ring;
            is_there = is_there && bin[a] >= 0 && bin[a] < w->bins;
        }
        if (!is_in_ring || !is_there)
            continue;
        for (int32_t p = w->first[bin[0] + w->bins * (bin[1] + w->bins * bin[2])]; p != NO_POINT;
             p = w->next[p]) {
            const float *point = w->points + 3 * (size_t)p;
            const float distance = sqrtf(distance2(point, middle[0], middle[1], middle[2]));
            *nearest = fminf(*nearest, distance);
            if (distance > *nearest + 2 * half * 1.7320509f) /* than the nearest is to any sample */
                continue;
            for (int64_t i = 0; i < LABEL_BLOCK * LABEL_BLOCK * LABEL_BLOCK; i++) {
                const int64_t s[3] = {low[0] + i % LABEL_BLOCK,
                                      low[1] + i / LABEL_BLOCK % LABEL_BLOCK,
                                      low[2] + i / LABEL_BLOCK / LABEL_BLOCK};
                const float d2 = distance2(point, (float)s[0], (float)s[1], (float)s[2]);
                if (s[0] >= w->size || s[1] >= w->size || s[2] >= w->size)
                    continue;
                uint32_t *label = &w->out[s[0] + w->size * (s[1] + w->size * s[2])];
                if (d2 < best[i] || (d2 == best[i] && (uint32_t)p + 1 < *label)) {
                    best[i] = d2;
                    *label = (uint32_t)p + 1;
                }
            }
        }
    }
}

static void labels_task(void *argument, uint32_t task)
{
    const labels_work *w = argument;
    const float reach = 0.5f * (LABEL_BLOCK - 1) * 1.7320509f; /* from the middle to a corner */
    const int64_t z = (int64_t)task * LABEL_BLOCK;
    for (int64_t y = 0; y < w->size; y += LABEL_BLOCK)
        for (int64_t x = 0; x < w->size; x += LABEL_BLOCK) {
            const int64_t low[3] = {x, y, z};
            int64_t at[3];
            float nearest = INFINITY, best[LABEL_BLOCK * LABEL_BLOCK * LABEL_BLOCK];
            for (int a = 0; a < 3; a++) {
                at[a] = (int64_t)(((float)low[a] + reach / 1.7320509f) / w->bin);
                at[a] = at[a] < w->bins ? at[a] : w->bins - 1;
            }
            for (size_t i = 0; i < sizeof best / sizeof best[0]; i++)
                best[i] = INFINITY;
            for (int64_t ring = 0; ring <= w->bins; ring++) {
                if ((float)(ring - 1) * w->bin > nearest + 2 * reach)
                    break;
                look_at_ring(w, low, at, ring, &nearest, best);
            }
        }
}

bool bench_labels_fill(tml_context *tml, uint32_t count, uint64_t size, uint32_t *out)
{
    labels_work w = {.out = out, .size = (int64_t)size};
    w.bins = (int64_t)cbrt(count / 2.0) + 1;
    w.bin = (float)size / (float)w.bins;
    const uint64_t bins = (uint64_t)(w.bins * w.bins * w.bins);
    float *points = tml_alloc_array(tml, count, 3 * sizeof *points);
    int32_t *first = tml_alloc_array(tml, bins, sizeof *first);
    int32_t *next = tml_alloc_array(tml, count, sizeof *next);
    if (points && first && next) {
        for (uint64_t b = 0; b < bins; b++)
            first[b] = NO_POINT;
        for (uint32_t p = 0; p < count; p++) {
            uint64_t bin = 0;
            for (uint32_t a = 3; a-- > 0;) {
                points[3 * (size_t)p + a] = hash_unit(3 * (uint64_t)p + a) * (float)size;
                int64_t at = (int64_t)(points[3 * (size_t)p + a] / w.bin);
                bin = bin * (uint64_t)w.bins + (uint64_t)(at < w.bins ? at : w.bins - 1);
            }
            next[p] = first[bin];
            first[bin] = (int32_t)p;
        }
        w.points = points;
        w.first = first;
        w.next = next;
        tml_parallel_for(tml, (uint32_t)((size + LABEL_BLOCK - 1) / LABEL_BLOCK), labels_task, &w);
    }
    const bool is_done = points && first && next;
    tml_free(tml, points, count * 3 * sizeof *points);
    tml_free(tml, first, bins * sizeof *first);
    tml_free(tml, next, count * sizeof *next);
    return is_done;
}

void bench_stream_fill(tml_context *tml, uint64_t count, uint32_t *out)
{
    stream_work work = {count, out};
    tml_parallel_for(tml, (uint32_t)((count + STREAM_BLOCK - 1) / STREAM_BLOCK), fill_block, &work);
}

uint32_t bench_stream_threshold(double percent)
{
    double threshold = percent / 100 * 4294967296.0;
    return threshold >= 4294967295.0 ? UINT32_MAX : (uint32_t)threshold;
}

uint64_t bench_checksum(const void *words, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, (const char *)words + 4 * i, sizeof word);
        sum += hash64((uint64_t)word << 32 ^ (i * 0x9e3779b97f4a7c15u));
    }
    return sum;
}
