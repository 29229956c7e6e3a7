/* The meshes of cells whose case leaves them open. See surface_topology.h.
 *
 * A sign is first looked for in doubles, with a bound of the error in units of 2^-53 and of the
 * largest factor; where that does not tell, in integers: all numbers are multiples of one power of
 * two. After: Nielson, Hamann: The Asymptotic Decider. 1991; Chernyaev: Marching Cubes 33. 1995;
 * Custodio, Etiene, Pesco, Silva: Practical considerations on Marching Cubes 33 topological
 * correctness. 2013; Grosso: Construction of Topologically Correct and Manifold Isosurfaces. 2016;
 * Shewchuk: Adaptive Precision Floating-Point Arithmetic. 1997 (filters). */
#include "surface/surface_topology.h"

#include <float.h>
#include <math.h>

#include "kernels/kernel.h"

#include "kernels/kernel_end.h"

#include "surface_topology_tables.h"

/* ---- integers -------------------------------------------------------------------------------- */

/* A factor is at most 2^1024 - -2^1024 in units of 2^-1074: 2100 bits. Four of them, times 2^6. */
enum { LIMBS = 4 * 66 + 1 };

typedef struct integer {
    int sign;       /* 0: zero */
    uint32_t count; /* limbs in use; the last is not 0 */
    uint32_t limbs[LIMBS];
} integer;

static void trim(integer *x)
{
    while (x->count && x->limbs[x->count - 1] == 0)
        x->count--;
    x->sign = x->count ? x->sign : 0;
}

/* magnitude * 2^shift */
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

/* a + b, or a - b where sign is -1 */
static integer add(const integer *a, const integer *b, int sign)
{
    bool adds = a->sign * b->sign * sign >= 0;
    int order = compare_magnitudes(a, b);
    const integer *large = order < 0 ? b : a, *small = order < 0 ? a : b;
    integer out = {.sign = order < 0 ? sign * b->sign : a->sign, .count = large->count + 1};
    if (!a->sign) /* b's; of equal magnitudes it is 0 */
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

/* Corners less the isovalue, in one unit. */
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

/* Polynomials in the corners less the isovalue, along an axis. Where a plane sweeps along it, t from 0
 * to 1, the determinant of its four columns is LOW (1 - t)^2 + MIXED (1 - t) t + HIGH t^2, and their
 * alternating sum is LOW_SUM (1 - t) + HIGH_SUM t. */
typedef enum polynomial {
    LOW,
    HIGH,
    MIXED,
    LOW_SUM,
    HIGH_SUM,
    BOTH_SUMS,    /* LOW_SUM + HIGH_SUM */
    DISCRIMINANT, /* MIXED^2 - 4 LOW HIGH: Cayley's hyperdeterminant, the same along each axis */
    EXTREMUM,     /* LOW_SUM (2 HIGH - MIXED) + HIGH_SUM (2 LOW - MIXED): where LOW and HIGH have a
                   * sign and MIXED has not, that sign times the alternating sum's where the
                   * determinant has its extremum */
} polynomial;

static integer exact_determinant(const integer corners[8], const uint8_t a[4], const uint8_t b[4])
{
    integer diagonal = multiply(&corners[a[0]], &corners[b[1]]);
    integer other = multiply(&corners[a[2]], &corners[b[3]]);
    return add(&diagonal, &other, -1);
}

static integer exact_sum(const integer corners[8], const uint8_t a[4])
{
    integer diagonal = add(&corners[a[0]], &corners[a[1]], 1);
    integer other = add(&corners[a[2]], &corners[a[3]], 1);
    return add(&diagonal, &other, -1);
}

static integer twice_less(const integer *x, const integer *y)
{
    integer twice = add(x, x, 1);
    return add(&twice, y, -1);
}

static __attribute__((noinline)) int exact_sign(const topology_cell *cell, polynomial what,
                                                int axis)
{
    const uint8_t(*faces)[4] = topology_corners_of[axis];
    integer corners[8];
    exact_corners(cell, corners);
    if (what == LOW || what == HIGH)
        return exact_determinant(corners, faces[what == HIGH], faces[what == HIGH]).sign;
    integer sums[2] = {exact_sum(corners, faces[0]), exact_sum(corners, faces[1])};
    if (what == LOW_SUM || what == HIGH_SUM)
        return sums[what == HIGH_SUM].sign;
    if (what == BOTH_SUMS)
        return add(&sums[0], &sums[1], 1).sign;
    integer mixed = exact_determinant(corners, faces[0], faces[1]);
    integer other = exact_determinant(corners, faces[1], faces[0]);
    mixed = add(&mixed, &other, 1);
    if (what == MIXED)
        return mixed.sign;
    integer low = exact_determinant(corners, faces[0], faces[0]);
    integer high = exact_determinant(corners, faces[1], faces[1]);
    if (what == DISCRIMINANT) {
        low = multiply(&low, &high);
        low = add(&low, &low, 1);
        low = add(&low, &low, 1);
        high = multiply(&mixed, &mixed);
        return add(&high, &low, -1).sign;
    }
    high = twice_less(&high, &mixed);
    low = twice_less(&low, &mixed);
    high = multiply(&sums[0], &high);
    low = multiply(&sums[1], &low);
    return add(&high, &low, 1).sign;
}

typedef struct rounded_cell {
    const topology_cell *cell;
    double corners[8]; /* less the isovalue; none is in a pad */
    double largest;    /* magnitude of these */
    double error;      /* of each, at most, times 2^53 */
    bool is_rough;     /* no sign can be told */
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
    /* 64-bit integers are rounded before, to 2^-53 of what may be a sample or the isovalue more. */
    out->error =
        out->largest + (topology_is_rounded(cell->type) ? out->largest + fabs(cell->iso) : 0);
    /* So that products of four neither overflow nor lose more than the error to underflow. */
    out->is_rough = !(out->largest > 0x1p-200 && out->error < 0x1p200);
}

static inline double determinant(const double corners[8], const uint8_t a[4], const uint8_t b[4])
{
    return corners[a[0]] * corners[b[1]] - corners[a[2]] * corners[b[3]];
}

static inline double alternating_sum(const double corners[8], const uint8_t a[4])
{
    return (corners[a[0]] + corners[a[1]]) - (corners[a[2]] + corners[a[3]]);
}

/* The errors: with m the largest corner, e times 2^-53 its error, and m <= e, a determinant is off by
 * at most 2^-53 (4 m e + 4 m^2), MIXED by twice that and its sum's rounding: 24 m e; DISCRIMINANT by
 * 8 m^2 of MIXED's and 16 m^2 of a determinant's, 320 m^3 e, and its own three roundings, 96 m^4;
 * EXTREMUM by 8 m of (16 + 24 + 8) m e, 16 m^2 of a sum's 8 e and 128 m^3: less than 640 m^2 e. The
 * bounds are twice these and more. */
static inline __attribute__((always_inline)) int sign_of(const rounded_cell *rounded,
                                                         polynomial what, int axis)
{
    const uint8_t(*faces)[4] = topology_corners_of[axis];
    double value = 0, bound = rounded->error;
    const double m = rounded->largest, *corners = rounded->corners;
    const double mixed =
        determinant(corners, faces[0], faces[1]) + determinant(corners, faces[1], faces[0]);
    const double low = determinant(corners, faces[0], faces[0]);
    const double high = determinant(corners, faces[1], faces[1]);
    const double low_sum = alternating_sum(corners, faces[0]);
    const double high_sum = alternating_sum(corners, faces[1]);
    if (what == DISCRIMINANT) {
        value = mixed * mixed - 4 * low * high;
        bound *= 0x1p-43 * m * m * m;
    } else {
        value = low_sum * (2 * high - mixed) + high_sum * (2 * low - mixed);
        bound *= 0x1p-42 * m * m;
    }
    if (!rounded->is_rough && fabs(value) > bound)
        return value < 0 ? -1 : 1;
    return exact_sign(rounded->cell, what, axis);
}

/* The sign of LOW, HIGH or MIXED, as the faces tell it. */
static int face_sign(const topology_cell *cell, topology_faces known, polynomial what, int axis)
{
    const int bit = 2 * axis + (what == MIXED ? 6 : what == HIGH);
    if (known.unsure >> bit & 1)
        return exact_sign(cell, what, axis);
    return known.positive >> bit & 1 ? 1 : -1;
}

/* The sign just below the isovalue, where all corners are a little more: if the polynomial is 0, that
 * of its slope, which is the sum's. */
static int sign_below(const topology_cell *cell, topology_faces known, polynomial what,
                      polynomial sum, int axis)
{
    int sign = face_sign(cell, known, what, axis);
    return sign ? sign : exact_sign(cell, sum, axis);
}

/* ---- decisions ------------------------------------------------------------------------------- */

tml_status surface_check_topology(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                  bool on_host)
{
    if (desc->topology == TML_TOPOLOGY_SEPARATED)
        return TML_OK;
    if ((uint32_t)desc->topology > TML_TOPOLOGY_TRILINEAR)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.topology is none of TML_TOPOLOGY_...", call);
    if (desc->label_count || desc->all_labels)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.topology is TRILINEAR, which labels do not have: nothing is "
                         "interpolated between them",
                         call);
    if (!on_host && !surface_engine(tml)->has_trilinear)
        return tml_error(
            tml, TML_ERROR_UNSUPPORTED,
            "%s: desc.topology is TRILINEAR, which the %s engine %s; open the CPU engine", call,
            tml->engine->name,
            surface_engine(tml)->trilinear_on_host ? "makes by tml_surface alone, of volumes"
                                                   : "does not make on this path");
    return TML_OK;
}

bool topology_is_open(unsigned index)
{
    return topology_choices[index] >= 0;
}

unsigned topology_separated_count(unsigned index)
{
    return topology_meshes[topology_meshes_of[topology_choices[index]][0]].triangle_count;
}

/* Bits of those among the ambiguous faces whose inside corners are joined. */
static unsigned find_joined(const topology_cell *cell, topology_faces known, unsigned faces)
{
    const unsigned index = cell->index;
    unsigned joined = 0;
    _Pragma("GCC unroll 6") for (unsigned face = 0; face < 6; face++) joined |=
        (~index >> topology_corners_of[face / 2][face % 2][0] & 1) << face;
    joined ^= known.positive;
    for (unsigned unsure = known.unsure & faces; unsure; unsure &= unsure - 1) {
        const int face = __builtin_ctz(unsure);
        const int sign = face_sign(cell, known, face % 2 ? HIGH : LOW, face / 2);
        const bool is_diagonal = index >> topology_corners_of[face / 2][face % 2][0] & 1;
        joined &= ~(1u << face);
        joined |= (unsigned)(is_diagonal ? sign >= 0 : sign <= 0) << face;
    }
    return joined & faces;
}

/* The mesh of a choice. *has_tunnel: it is the first of two. */
static unsigned find_mesh(const topology_cell *cell, topology_faces known, const uint16_t choice[3],
                          bool *has_tunnel)
{
    const unsigned low = known.positive, high = low >> 1, mixed = low >> 6;
    rounded_cell rounded;
    *has_tunnel = false;
    if ((!choice[1] && !choice[2]) || cell->pads)
        return choice[0];
    /* A tunnel needs, on each axis, faces of one sign and a mixed part of the other. */
    if (!known.unsure && (~(low ^ high) & (low ^ mixed) & 0x15) != 0x15)
        return choice[0];
    for (int axis = 2; axis >= 0; axis--) {
        int sign = sign_below(cell, known, LOW, LOW_SUM, axis);
        if (!sign || sign_below(cell, known, HIGH, HIGH_SUM, axis) != sign ||
            sign_below(cell, known, MIXED, BOTH_SUMS, axis) != -sign)
            return choice[0];
    }
    round_cell(cell, &rounded);
    int sign = sign_of(&rounded, DISCRIMINANT, 2);
    bool is_inside = choice[1] && (!choice[2] || sign_of(&rounded, EXTREMUM, 2) < 0);
    if (sign < 0 || (sign == 0 && !is_inside))
        return choice[0];
    *has_tunnel = true;
    return choice[is_inside ? 1 : 2];
}

/* ---- places ---------------------------------------------------------------------------------- */

static double in_cell(double t)
{
    return t >= 0 ? TML_MIN_OF(t, 1.0) : t < 0 ? 0 : 0.5; /* NaN: rounding left nothing */
}

/* Corners less the isovalue, times a power of two: the largest is about 1. */
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

/* The hexagon on the surface: at z0 and z1 in a sweep along z, where the determinant is 0, the
 * interpolant is 0 on two lines that cross at x0, y0 and x1, y1. Returns whether x1 > x0. */
static bool place_ring(const topology_cell *cell, double out[TOPOLOGY_OWN_MOST][3])
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
    const double sum = -half + (half < 0 ? root : -root); /* of the sign of low and high */
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
    for (int i = 0; i < TOPOLOGY_OWN_MOST; i++)
        for (int a = 0; a < 3; a++)
            out[i][a] = lines[places[i][a]][a];
    return lines[1][0] > lines[0][0];
}

/* The mean of the vertices on edges. */
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
    bool has_tunnel;
    double places[TOPOLOGY_OWN_MOST][3];
    const unsigned faces = topology_ambiguous[cell->index],
                   joined = find_joined(cell, known, faces);
    unsigned choice = (unsigned)topology_choices[cell->index];
    _Pragma("GCC unroll 6") for (unsigned face = 0, place = 0; face < 6; face++)
    {
        choice += (joined >> face & 1) << place;
        place += faces >> face & 1;
    }
    unsigned mesh = find_mesh(cell, known, topology_meshes_of[choice], &has_tunnel);
    return (uint16_t)(has_tunnel && place_ring(cell, places) ? mesh + 1 : mesh);
}

void topology_place(const topology_cell *cell, uint16_t number, double out[TOPOLOGY_OWN_MOST][3])
{
    const topology_mesh *mesh = &topology_meshes[number];
    if (mesh->around)
        place_middle(cell, mesh->around, out[0]);
    else if (mesh->own_count)
        place_ring(cell, out);
}

/* From one face of the cell to the other along an axis. */
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
