/* Inputs for benchmarks: volumes and streams, generated from formulas and a fixed seed, so that
 * every run and every program measures the same bytes. */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include <trommel/extend.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bench_field {
    BENCH_MARSCHNER_LOBB, /* Marschner, Lobb: An Evaluation of Reconstruction Filters. 1994 */
    BENCH_GYROID,         /* four periods along each axis. Schoen 1970 */
    BENCH_METABALLS,      /* 64 Gaussian blobs at hashed places. Blinn 1982 */
    BENCH_NOISE,          /* a hash of each position, smoothed 1-2-1 on each axis: the worst case */
    BENCH_SPHERE,         /* distance inside a sphere of 0.4 */
    BENCH_FIELD_COUNT
} bench_field;

/* The names as an option's choices, in the enum's order, and one of them. */
#define BENCH_FIELD_CHOICES "marschner-lobb|gyroid|metaballs|noise|sphere"
const char *bench_field_name(bench_field field);

/* The isovalue of the published figures, as the type stores it. */
double bench_field_iso(bench_field field, tml_type type);

/* The least and the largest value of a field, as the type stores them. */
void bench_field_range(bench_field field, tml_type type, double *low, double *high);

/* Fills size^3 samples, x fastest. For integer types (u8 i8 u16 i16), the field's range is scaled
 * to the type's range; floats (f32 f64) hold the field's values. Returns false if out of memory, or
 * for any other type. */
bool bench_field_fill(tml_context *tml, bench_field field, tml_type type, uint64_t size, void *out);

/* Fills size^3 u32, x fastest. A sample is the number, from 1 on, of the nearest of count hashed
 * points, like the labels of a segmentation (Voronoi 1908). Returns false if out of memory. */
bool bench_labels_fill(tml_context *tml, uint32_t count, uint64_t size, uint32_t *out);

/* Particles of a fluid with rest distance 1: one particle, jittered, per lattice cell within the
 * fluid. */
typedef enum bench_fluid {
    BENCH_BASIN, /* full but for waves: four times as wide as deep */
    BENCH_RIVER, /* winds down a slope and throws drops: fills less than a thousandth of its box */
} bench_fluid;
#define BENCH_FLUID_CHOICES "basin|river"
const char *bench_fluid_name(bench_fluid fluid);
/* Fills about count particles, 3 floats each, and returns their number. out NULL: only returns the
 * number. */
uint64_t bench_fluid_fill(bench_fluid fluid, uint64_t count, float *out);

/* Fills count hashed values, uniform over all of u32. */
void bench_stream_fill(tml_context *tml, uint64_t count, uint32_t *out);
/* The threshold below which percent of the values of such a stream lie, to one part in a
 * million. */
uint32_t bench_stream_threshold(double percent);

/* A sum, which does not depend on order, of hashes of 32-bit words and their positions: equal
 * arrays have equal sums. */
uint64_t bench_checksum(const void *words, uint64_t count);

#ifdef __cplusplus
}
#endif
#endif
