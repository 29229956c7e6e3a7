/* Meshes of cells whose case does not determine the mesh. See surface_topology.h.
 *
 * A sign is first computed in doubles, with an error bound in units of 2^-53 and of the largest
 * factor. If that does not decide, it is computed in integers: all numbers are multiples of one
 * power of two.
 *
 * After: Nielson, Hamann: The Asymptotic Decider. 1991; Chernyaev: Marching Cubes 33. 1995;
 * Custodio, Etiene, Pesco, Silva: Practical considerations on Marching Cubes 33 topological
 * correctness. 2013; Grosso: Construction of Topologically Correct and Manifold Isosurfaces. 2016;
 * Shewchuk: Adaptive Precision Floating-Point Arithmetic. 1997 (filters). */
#include "surface/surface_topology.h"

#include <float.h>
#include <math.h>

#include "surface_topology_tables.h"

_Static_assert(TML_ARRAY_SIZE(topology_meshes_of) == TOPOLOGY_CHOICES &&
                   TML_ARRAY_SIZE(topology_meshes) == TOPOLOGY_MESHES &&
                   TML_ARRAY_SIZE(topology_corners) == 3 * TOPOLOGY_TRIANGLES + 15,
               "the tables have other sizes");

/* ---- integers -------------------------------------------------------------------------------- */

/* Four factors, times 2^6. A factor, at most 2^1024 - -2^1024 in units of 2^-1074, is 2100 bits. */
enum { LIMBS = 4 * 66 + 1 };

typedef struct integer {
    int sign;       /* 0: zero */
    uint32_t count; /* limbs in use; the highest is not 0 */
    uint32_t limbs[LIMBS];
} integer;

static void trim(integer *x)
{
    while (x->count && x->limbs[x->count - 1] == 0)
        x->count--;
    x->sign = x->count ? x->sign : 0;
}

/* Returns magnitude * 2^shift, with this sign. */
static integer integer_of(int sign, uint64_t magnitude, unsigned shift)
{
    integer out = {.sign = sign, .count = shift / 32 + 3};
    memset(out.limbs, 0, out.count * sizeof *out.limbs);
    for (unsigned i = 0, bits = shift % 32; i < 3; i++) {
        uint64_t low = i < 2 ? magnitude >> 32 * i << bits : 0;
        uint64_t below = i ? (magnitude >> 32 * (i - 1) & UINT32_MAX) << bits >> 32 : 0;
        out.limbs[shift / 32 + i] = (uint32_t)low | (uint32_t)below;
    }
    trim(&out);
    return out;
}

static int compare_magnitudes(const integer *a, const integer *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (uint32_t i = a->count; i-- > 0;)
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

/* Returns a + b; a - b if sign is -1. */
static integer add(const integer *a, const integer *b, int sign)
{
    bool adds = a->sign * b->sign * sign >= 0;
    int order = compare_magnitudes(a, b);
    const integer *large = order < 0 ? b : a, *small = order < 0 ? a : b;
    integer out = {.sign = order < 0 ? sign * b->sign : a->sign, .count = large->count + 1};
    if (!a->sign) /* a is 0: the sign is b's; if both are 0, trim makes it 0 */
        out.sign = sign * b->sign;
    int64_t carry = 0;
    for (uint32_t i = 0; i < out.count; i++) {
        int64_t other = i < small->count ? (int64_t)small->limbs[i] : 0;
        carry += i < large->count ? (int64_t)large->limbs[i] : 0;
        carry += adds ? other : -other;
        out.limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    trim(&out);
    return out;
}

static integer multiply(const integer *a, const integer *b)
{
    integer out = {.sign = a->sign * b->sign, .count = a->count + b->count};
    memset(out.limbs, 0, out.count * sizeof *out.limbs);
    for (uint32_t i = 0; i < a->count; i++) {
        uint64_t carry = 0;
        for (uint32_t j = 0; j < b->count; j++) {
            carry += (uint64_t)a->limbs[i] * b->limbs[j] + out.limbs[i + j];
            out.limbs[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        out.limbs[i + b->count] = (uint32_t)carry;
    }
    trim(&out);
    return out;
}

/* A number as sign * magnitude * 2^exponent. */
typedef struct scaled {
    int sign, exponent;
    uint64_t magnitude;
} scaled;

static double clamped(double x)
{
    return fmin(fmax(x, -DBL_MAX), DBL_MAX);
}

static scaled scaled_of(double x)
{
    int exponent;
    double fraction = frexp(fabs(clamped(x)), &exponent);
    scaled out = {(x > 0) - (x < 0), exponent - 53, (uint64_t)ldexp(fraction, 53)};
    if (!out.magnitude)
        return out;
    int zeros = __builtin_ctzll(out.magnitude);
    out.magnitude >>= zeros;
    out.exponent += zeros;
    return out;
}

static scaled scaled_sample(const topology_cell *cell, unsigned c)
{
    uint64_t bits = cell->bits[c];
    if (!topology_is_rounded(cell->type))
        return scaled_of(cell->values[c]);
    bool is_negative = tml_type_is_signed(cell->type) && bits >> 63;
    return (scaled){is_negative ? -1 : bits > 0, 0, is_negative ? 0 - bits : bits};
}

/* Computes the corners minus the isovalue, as integers in one common unit. */
static void exact_corners(const topology_cell *cell, integer out[8])
{
    scaled samples[9];
    int least = INT32_MAX;
    for (unsigned c = 0; c < 9; c++) {
        samples[c] = c < 8 ? scaled_sample(cell, c) : scaled_of(cell->iso);
        if (cell->pads >> c & 1)
            samples[c].magnitude = 0;
        if (samples[c].magnitude)
            least = TML_MIN_OF(least, samples[c].exponent);
    }
    for (unsigned c = 0; c < 9; c++)
        samples[c].exponent = samples[c].magnitude ? samples[c].exponent - least : 0;
    integer iso = integer_of(samples[8].sign, samples[8].magnitude, (unsigned)samples[8].exponent);
    for (unsigned c = 0; c < 8; c++) {
        integer sample =
            integer_of(samples[c].sign, samples[c].magnitude, (unsigned)samples[c].exponent);
        out[c] = add(&sample, &iso, -1);
    }
}

/* ---- signs ----------------------------------------------------------------------------------- */

/* Maps the calls of the kernel file to these integers. */
#define exact_integer                       integer
#define exact_integer_add(a, b, words)      integer_add(a, b)
#define exact_integer_subtract(a, b, words) integer_subtract(a, b)
#define exact_integer_multiply(a, b, words) integer_multiply(a, b)
#define exact_integer_extended(a)           (a)
#define exact_integer_sign(a, words)        ((a).sign)

static inline integer integer_add(integer a, integer b)
{
    return add(&a, &b, 1);
}
static inline integer integer_subtract(integer a, integer b)
{
    return add(&a, &b, -1);
}
static inline integer integer_multiply(integer a, integer b)
{
    return multiply(&a, &b);
}

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/surface.k.h"
#include "kernels/surface_open.k.h"
#include "kernels/surface_topology.k.h"

#include "kernels/kernel_end.h"

static inline double determinant(const double corners[8], const uint8_t a[4], const uint8_t b[4])
{
    return corners[a[0]] * corners[b[1]] - corners[a[2]] * corners[b[3]];
}

static inline double alternating_sum(const double corners[8], const uint8_t a[4])
{
    return (corners[a[0]] + corners[a[1]]) - (corners[a[2]] + corners[a[3]]);
}

/* Returns, in doubles, the value whose sign topology_sign returns. */
ALWAYS_INLINE double value_of(const double corners[8], uint32_t what, int axis)
{
    const uint8_t *low_face = topology_corners_of[axis][0],
                  *high_face = topology_corners_of[axis][1];
    const double low = determinant(corners, low_face, low_face);
    const double high = determinant(corners, high_face, high_face);
    const double mixed =
        determinant(corners, low_face, high_face) + determinant(corners, high_face, low_face);
    const double low_sum = alternating_sum(corners, low_face);
    const double high_sum = alternating_sum(corners, high_face);
    switch (what) {
    case TOPOLOGY_LOW:
        return low;
    case TOPOLOGY_HIGH:
        return high;
    case TOPOLOGY_MIXED:
        return mixed;
    case TOPOLOGY_LOW_SUM:
        return low_sum;
    case TOPOLOGY_HIGH_SUM:
        return high_sum;
    case TOPOLOGY_BOTH_SUMS:
        return low_sum + high_sum;
    case TOPOLOGY_DISCRIMINANT:
        return mixed * mixed - 4 * low * high;
    case TOPOLOGY_EXTREMUM:
        return low_sum * (2 * high - mixed) + high_sum * (2 * low - mixed);
    case TOPOLOGY_TURN:
        return (corners[high_face[0]] - corners[high_face[3]]) * low_sum -
               (corners[low_face[0]] - corners[low_face[3]]) * high_sum;
    default: /* SIDES */
        return low * (high_sum * high_sum) - mixed * (low_sum * high_sum) +
               high * (low_sum * low_sum);
    }
}

/* Returns whether x is a multiple of 1/16 with few bits. */
static bool is_short(double x)
{
    return fabs(x) < 0x1p40 && (double)(int64_t)(16 * x) == 16 * x;
}

/* Computes the corners minus the isovalue. Returns whether all are multiples of 1/16 below 2^7, for
 * which value_of is exact. */
static bool short_corners(const topology_cell *cell, double out[8])
{
    bool all = is_short(cell->iso);
    for (unsigned c = 0; c < 8; c++) {
        out[c] = cell->pads >> c & 1 ? 0 : cell->values[c] - cell->iso;
        all = all && fabs(out[c]) < 128 && (cell->pads >> c & 1 || is_short(cell->values[c]));
    }
    return all;
}

__attribute__((noinline)) static int exact_sign(const topology_cell *cell, uint32_t what, int axis)
{
    double few[8];
    integer corners[8];
    topology_columns columns;
    if (short_corners(cell, few)) {
        const double value = value_of(few, what, axis);
        return (value > 0) - (value < 0);
    }
    exact_corners(cell, corners);
    for (int i = 0; i < 4; i++) {
        columns.low[i] = corners[topology_corners_of[axis][0][i]];
        columns.high[i] = corners[topology_corners_of[axis][1][i]];
    }
    return topology_sign(columns, what);
}

typedef struct rounded_cell {
    const topology_cell *cell;
    double corners[8]; /* minus the isovalue; none is in a pad */
    double largest;    /* the largest magnitude of a corner */
    double error;      /* a corner's largest error, times 2^53 */
    bool is_rough;     /* doubles decide no sign */
} rounded_cell;

static void round_cell(const topology_cell *cell, rounded_cell *out)
{
    double most[8];
    out->cell = cell;
    for (unsigned c = 0; c < 8; c++)
        out->corners[c] = cell->values[c] - cell->iso;
    for (unsigned c = 0; c < 8; c++)
        most[c] = fabs(out->corners[c]);
    for (unsigned half = 4; half; half /= 2)
        for (unsigned c = 0; c < half; c++)
            most[c] = TML_MAX_OF(most[c], most[c + half]);
    out->largest = most[0];
    /* 64-bit integers were rounded: by 2^-53 of a sample, which is at most largest + |iso|. */
    out->error =
        out->largest + (topology_is_rounded(cell->type) ? out->largest + fabs(cell->iso) : 0);
    /* Products of four factors must neither overflow nor lose more than the error to underflow. */
    out->is_rough = !(out->largest > 0x1p-200 && out->error < 0x1p200);
}

/* Error bounds in units of 2^-53. m: the largest corner; e: its error, m <= e.
 * determinant   4 m e + 4 m^2
 * MIXED         24 m e: twice a determinant's error, plus the rounding of the sum
 * DISCRIMINANT  320 m^3 e: 8 m^2 times MIXED's error and 16 m^2 times a determinant's; and 96 m^4
 *               for its own three roundings
 * EXTREMUM      less than 640 m^2 e: 8 m times (16 + 24 + 8) m e; 16 m^2 times a sum's 8 e; 128 m^3
 * a sum         less than 16 e, for the next two:
 * TURN          less than 128 m e: 2 (2 m 16 e + 4 m 4 e + 8 m^2) + 16 m^2
 * SIDES         less than 2560 m^3 e: 2 (2 m^2 144 m e + 16 m^2 8 m e) for the ends; 4 m^2 144 m e
 *               + 16 m^2 24 m e for the middle; 512 m^4 for roundings
 * The factors below are more than twice these. */
ALWAYS_INLINE int sign_of(const rounded_cell *rounded, uint32_t what, int axis)
{
    const double m = rounded->largest;
    const double factor = what == TOPOLOGY_DISCRIMINANT ? 0x1p-43 * m * m * m
                          : what == TOPOLOGY_EXTREMUM   ? 0x1p-42 * m * m
                          : what == TOPOLOGY_TURN       ? 0x1p-44 * m
                                                        : 0x1p-40 * m * m * m;
    const double value = value_of(rounded->corners, what, axis);
    if (!rounded->is_rough && fabs(value) > factor * rounded->error)
        return value < 0 ? -1 : 1;
    return exact_sign(rounded->cell, what, axis);
}

/* Returns the sign of LOW, HIGH or MIXED: the known one, or the exact one if that is unsure. */
static int face_sign(const topology_cell *cell, topology_faces known, uint32_t what, int axis)
{
    const int bit = 2 * axis + (what == TOPOLOGY_MIXED ? 6 : what == TOPOLOGY_HIGH);
    if (known.unsure >> bit & 1)
        return exact_sign(cell, what, axis);
    return known.positive >> bit & 1 ? 1 : -1;
}

/* Returns the sign just below the isovalue, where all corners are slightly larger. If the
 * polynomial is 0, its slope decides, which has the sign of the sum. */
static int sign_below(const topology_cell *cell, topology_faces known, uint32_t what, uint32_t sum,
                      int axis)
{
    int sign = face_sign(cell, known, what, axis);
    return sign ? sign : exact_sign(cell, sum, axis);
}

/* ---- decisions ------------------------------------------------------------------------------- */

bool topology_is_open(unsigned index)
{
    return topology_choices[index] >= 0;
}

unsigned topology_separated_count(unsigned index)
{
    return topology_meshes[topology_meshes_of[topology_choices[index]][0]].triangle_count;
}

/* Returns the ambiguous faces whose inside corners are joined, as bits. */
static unsigned find_joined(const topology_cell *cell, topology_faces known, unsigned faces)
{
    const unsigned index = cell->index;
    unsigned joined = 0;
    _Pragma("GCC unroll 6") for (unsigned face = 0; face < 6; face++) joined |=
        (~index >> topology_corners_of[face / 2][face % 2][0] & 1) << face;
    joined ^= known.positive;
    for (unsigned unsure = known.unsure & faces; unsure; unsure &= unsure - 1) {
        const int face = __builtin_ctz(unsure);
        const int sign = face_sign(cell, known, face % 2 ? TOPOLOGY_HIGH : TOPOLOGY_LOW, face / 2);
        const bool is_diagonal = index >> topology_corners_of[face / 2][face % 2][0] & 1;
        joined &= ~(1u << face);
        joined |= (unsigned)(is_diagonal ? sign >= 0 : sign <= 0) << face;
    }
    return joined & faces;
}

/* Returns the mesh of a choice. */
static unsigned find_mesh(const topology_cell *cell, topology_faces known, const uint16_t choice[3])
{
    rounded_cell rounded;
    int sign = 0;
    if ((!choice[1] && !choice[2]) || cell->pads)
        return choice[0];
    if (!known.unsure && !topology_may_tunnel(known.positive))
        return choice[0];
    for (int axis = 0; axis < 3; axis++) {
        sign = sign_below(cell, known, TOPOLOGY_LOW, TOPOLOGY_LOW_SUM, axis);
        if (!sign || sign_below(cell, known, TOPOLOGY_HIGH, TOPOLOGY_HIGH_SUM, axis) != sign ||
            sign_below(cell, known, TOPOLOGY_MIXED, TOPOLOGY_BOTH_SUMS, axis) != -sign)
            return choice[0];
    }
    round_cell(cell, &rounded);
    const unsigned tunnel =
        topology_tunnel(choice[1], choice[2], sign, sign_of(&rounded, TOPOLOGY_DISCRIMINANT, 2),
                        choice[1] && choice[2] ? sign_of(&rounded, TOPOLOGY_EXTREMUM, 2) : 0,
                        sign_of(&rounded, TOPOLOGY_TURN, 2), sign_of(&rounded, TOPOLOGY_SIDES, 2));
    return tunnel ? tunnel : choice[0];
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Keeps a cell's own vertex as far from the cell's sides as vertices on edges are from corners. */
static double in_cell(double t)
{
    const double least = (double)SURFACE_CLEARANCE, most = 1 - least;
    return t >= least  ? TML_MIN_OF(t, most)
           : t < least ? least
                       : 0.5; /* NaN: no digit survived rounding */
}

/* Moves the ring's two lines apart along an axis if they are closer than the clearance, as a tunnel
 * that closes just there is a point. sign: their order if rounding errors hide it. */
static void keep_apart(double *first, double *second, double sign)
{
    const double least = (double)SURFACE_CLEARANCE, gap = *second - *first;
    if (fabs(gap) >= least)
        return;
    sign = fabs(gap) > 1.0 / 65536 ? copysign(1, gap) : sign;
    const double middle =
        TML_MAX_OF(TML_MIN_OF((*first + *second) / 2, 1 - 1.5 * least), 1.5 * least);
    *first = middle - sign * least / 2;
    *second = middle + sign * least / 2;
}

/* Computes the corners minus the isovalue, times a power of two that makes the largest about 1. */
static void scale_corners(const topology_cell *cell, double out[8])
{
    double largest = fabs(cell->iso);
    int exponent;
    for (unsigned c = 0; c < 8; c++)
        largest = TML_MAX_OF(largest, fabs(clamped(cell->values[c])));
    frexp(largest, &exponent);
    largest = 0;
    for (unsigned c = 0; c < 8; c++) {
        out[c] = cell->pads >> c & 1
                     ? 0
                     : ldexp(clamped(cell->values[c]), -exponent) - ldexp(cell->iso, -exponent);
        largest = TML_MAX_OF(largest, fabs(out[c]));
    }
    frexp(largest, &exponent);
    for (unsigned c = 0; c < 8; c++)
        out[c] = ldexp(out[c], -exponent);
}

/* Places the hexagon on the surface. In a sweep along z, the determinant is 0 at z0 and z1. There
 * the interpolant is 0 on two lines, which cross at (x0, y0) and (x1, y1), respectively. */
static void place_ring(const topology_cell *cell, double out[TOPOLOGY_OWN_MOST][3])
{
    static const uint8_t places[TOPOLOGY_OWN_MOST][3] = {{0, 0, 0}, {1, 0, 0}, {1, 0, 1},
                                                         {1, 1, 1}, {0, 1, 1}, {0, 1, 0}};
    const uint8_t(*faces)[4] = topology_corners_of[2];
    double corners[8], lines[2][3];
    scale_corners(cell, corners);
    const double low = determinant(corners, faces[0], faces[0]);
    const double high = determinant(corners, faces[1], faces[1]);
    const double half =
        (determinant(corners, faces[0], faces[1]) + determinant(corners, faces[1], faces[0])) / 2;
    const double root = sqrt(fmax(half * half - low * high, 0));
    const double sum = -half + (half < 0 ? root : -root); /* has the sign of low and high */
    const double z[2] = {low / (low + sum), sum / (sum + high)};
    for (int i = 0; i < 2; i++) {
        double t = in_cell(z[i]), columns[4];
        for (int k = 0; k < 4; k++)
            columns[k] = corners[faces[0][k]] * (1 - t) + corners[faces[1][k]] * t;
        const double all = columns[0] + columns[1] - columns[2] - columns[3];
        lines[i][0] = in_cell((columns[0] - columns[3]) / all);
        lines[i][1] = in_cell((columns[0] - columns[2]) / all);
        lines[i][2] = t;
    }
    for (int a = 0; a < 3; a++)
        keep_apart(&lines[0][a], &lines[1][a], a == 0 ? -1 : 1);
    for (int i = 0; i < TOPOLOGY_OWN_MOST; i++)
        for (int a = 0; a < 3; a++)
            out[i][a] = lines[places[i][a]][a];
}

/* Computes the mean of the vertices on these edges. */
static void place_middle(const topology_cell *cell, unsigned edges, double out[3])
{
    double corners[8];
    int count = 0;
    scale_corners(cell, corners);
    out[0] = out[1] = out[2] = 0;
    for (; edges; edges &= edges - 1, count++) {
        unsigned edge = (unsigned)__builtin_ctz(edges), axis = edge / 4;
        unsigned low = axis == 0   ? edge << 1 & 6
                       : axis == 1 ? (edge & 1) | (edge << 1 & 4)
                                   : edge & 3;
        double a = corners[low], b = corners[low | 1u << axis];
        for (unsigned k = 0; k < 3; k++)
            out[k] += k == axis ? in_cell(a / (a - b)) : low >> k & 1;
    }
    for (int k = 0; k < 3; k++)
        out[k] /= count;
}

/* ---- cells ----------------------------------------------------------------------------------- */

#define HALF_VALUE(v)  (double)tml_half_to_float(v)
#define PLAIN_VALUE(v) (double)(v)
#define LOAD_CASE(name, ctype, VALUE)                                                              \
    case TML_##name:                                                                               \
        for (unsigned c = 0; c < 8; c++)                                                           \
            cell->values[c] = VALUE(((const ctype *)rows[c >> 1])[x + (c & 1)]);                   \
        break;

void topology_set_corners(topology_cell *cell, const unsigned char *const rows[4], uint64_t x)
{
    switch (cell->type) {
        LOAD_CASE(U8, uint8_t, PLAIN_VALUE)
        LOAD_CASE(I8, int8_t, PLAIN_VALUE)
        LOAD_CASE(U16, uint16_t, PLAIN_VALUE)
        LOAD_CASE(I16, int16_t, PLAIN_VALUE)
        LOAD_CASE(U32, uint32_t, PLAIN_VALUE)
        LOAD_CASE(I32, int32_t, PLAIN_VALUE)
        LOAD_CASE(F16, uint16_t, HALF_VALUE)
        LOAD_CASE(F32, float, PLAIN_VALUE)
        LOAD_CASE(F64, double, PLAIN_VALUE)
    default:
        for (unsigned c = 0; c < 8; c++)
            topology_set_corner(cell, c, rows[c >> 1] + 8 * (x + (c & 1)));
    }
}

void topology_set_corner(topology_cell *cell, unsigned c, const void *sample)
{
    uint64_t bits = surface_bits_at(sample, 0, tml_type_size(cell->type));
    double wide;
    switch (cell->type) {
    case TML_F16:
        cell->values[c] = (double)tml_half_to_float((uint32_t)bits);
        return;
    case TML_F32:
        cell->values[c] = (double)tml_bits_float((uint32_t)bits);
        return;
    case TML_F64:
        memcpy(&wide, &bits, sizeof wide);
        cell->values[c] = wide;
        return;
    default:
        bits = cell->bits[c] = surface_label(cell->type, bits);
        cell->values[c] = tml_type_is_signed(cell->type) ? (double)(int64_t)bits : (double)bits;
    }
}

uint16_t topology_find(const topology_cell *cell, topology_faces known)
{
    const unsigned faces = topology_ambiguous[cell->index],
                   joined = find_joined(cell, known, faces);
    unsigned choice = (unsigned)topology_choices[cell->index];
    _Pragma("GCC unroll 6") for (unsigned face = 0, place = 0; face < 6; face++)
    {
        choice += (joined >> face & 1) << place;
        place += faces >> face & 1;
    }
    return (uint16_t)find_mesh(cell, known, topology_meshes_of[choice]);
}

void topology_place(const topology_cell *cell, uint16_t number, double out[TOPOLOGY_OWN_MOST][3])
{
    const topology_mesh *mesh = &topology_meshes[number];
    if (mesh->around)
        place_middle(cell, mesh->around, out[0]);
    else if (mesh->own_count)
        place_ring(cell, out);
}

/* Interpolates between opposite faces of the cell. */
static double mix(double low, double high, double t)
{
    return low + t * (high - low);
}

double topology_mix(const double corners[8], const double at[3])
{
    double faces[2];
    for (int z = 0; z < 2; z++) {
        const double *c = corners + 4 * z;
        faces[z] = mix(mix(c[0], c[1], at[0]), mix(c[2], c[3], at[0]), at[1]);
    }
    return mix(faces[0], faces[1], at[2]);
}

void topology_gradient(const topology_cell *cell, const double at[3], double out[3])
{
    double corners[8], ends[2][8];
    scale_corners(cell, corners);
    for (unsigned axis = 0; axis < 3; axis++) {
        for (unsigned c = 0; c < 8; c++)
            for (unsigned end = 0; end < 2; end++)
                ends[end][c] = corners[(c & ~(1u << axis)) | end << axis];
        out[axis] = topology_mix(ends[1], at) - topology_mix(ends[0], at);
    }
}

/* ---- shaders --------------------------------------------------------------------------------- */

void topology_split(double number, uint32_t out[4])
{
    const scaled parts = scaled_of(number);
    out[0] = (uint32_t)parts.magnitude;
    out[1] = (uint32_t)(parts.magnitude >> 32);
    out[2] = (uint32_t)parts.exponent;
    out[3] = parts.sign < 0;
}
