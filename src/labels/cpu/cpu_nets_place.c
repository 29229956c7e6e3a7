/* Surface nets on the CPU: smooths vertices, and computes their positions.
 *
 * An iteration moves all vertices at once towards the means of their neighbours, and then back from
 * the new means. The bound limits a vertex's distance from the middle of its cell. A neighbour is
 * in a cell across one of six sides. Neighbours along y and z are found once, for all moves: while
 * a row's vertices are visited in order, so are those of the four rows around, and a vertex's link
 * says how many vertices of each such row to pass. Layers go through all moves as a wave front:
 * each move works two layers behind the move before. A step's work therefore reads only what
 * earlier steps wrote, all of it can run in parallel, and a layer stays in cache for its moves.
 * Places are integers, so the order of additions does not matter, and all engines agree.
 * After: Gibson: Constrained Elastic Surface Nets. 1998; Taubin: A Signal Processing Approach to
 * Fair Surface Design. 1995. */
#include <inttypes.h>
#include <math.h>

#include "kernels/real64_host.h"
#include "labels/cpu/cpu_nets.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/surface_nets_position.k.h"

#include "kernels/kernel_end.h"

/* A vertex's code has bits for neighbours across the lower and upper side of each axis, then a bit
 * for each axis along which caps keep the vertex on the border. The last bit, of z, is the same for
 * a layer; the other bits are a link's low byte. Above it, a link has the vertices to pass in each
 * of four rows: below and above along y, below and above along z. If a number is too large for its
 * bits, links that only pass vertices precede it. They have no neighbours; vertices do. */
enum {
    LINK_SIDES = 63,
    LINK_FIXED = 6,
    LINK_CODE = 255,
    LINK_PASSED = 8,
    LINK_PASSED_BITS = 6,
    LINK_PASSED_MOST = (1 << LINK_PASSED_BITS) - 1,
    CODES = 512
};

/* A vertex's state is three units of 4 bytes, by which processors can scale an index. An index has
 * 32 bits, and counts the units of three layers. */
enum { STATE_UNIT = 4, STATE_UNITS = NETS_STATE / STATE_UNIT };

/* A move of the vertices with a code. The fourth lanes are not used. */
typedef struct wave_step {
    int32_t toward[4];         /* sum of the offsets from the cell to the neighbours' cells */
    float rate[4];             /* divided by the number of neighbours; 0 on fixed axes */
    int16_t least[8], most[8]; /* places that the bound allows */
} wave_step;

typedef struct wave {
    const nets_plan *plan;
    uint64_t capacity; /* room in links, for the layers in flight */
    uint64_t *first;   /* each layer's first link */
    uint32_t *links;
    wave_step *steps; /* [NETS_RATES][CODES] */
    uint64_t front;   /* the layer that is linked in this step */
    uint32_t chunks;  /* per layer */
} wave;

/* ---- state ----------------------------------------------------------------------------------- */

/* A place in a cell, from its low corner: x and y in 16 bits each, and z. A sum of six places still
 * has 16 bits per axis. No bytes beside a place are stored: another thread may write there. */
typedef struct place {
    uint32_t xy, z;
} place;

ALWAYS_INLINE place load_place(const unsigned char *at)
{
    place out;
    uint16_t z;
    memcpy(&out.xy, at, sizeof out.xy);
    memcpy(&z, at + sizeof out.xy, sizeof z);
    out.z = z;
    return out;
}

ALWAYS_INLINE void add_place(place *sum, const unsigned char *at)
{
    const place one = load_place(at);
    sum->xy += one.xy;
    sum->z += one.z;
}

ALWAYS_INLINE void store_place(unsigned char *at, place p)
{
    const uint16_t z = (uint16_t)p.z;
    memcpy(at, &p.xy, sizeof p.xy);
    memcpy(at + sizeof p.xy, &z, sizeof z);
}

/* Returns where a vertex begins, from its cell's middle: 0, or the border's place in a cell that
 * caps add. */
static inline int32_t first_offset(const nets_plan *plan, int axis, uint64_t cell)
{
    const bool low = plan->pad && cell == 0;
    const bool high = plan->pad && cell + 1 == nets_cells(plan, axis);
    return low ? NETS_HALF : high ? -NETS_HALF : 0;
}

static void rows_of(const wave *w, uint32_t index, uint64_t *first, uint64_t *end)
{
    const uint64_t rows = nets_cells(w->plan, 1);
    *first = rows * index / w->chunks;
    *end = rows * (index + 1) / w->chunks;
}

/* ---- links ----------------------------------------------------------------------------------- */

/* Rows around a row of cells: below and above along y, below and above along z, the row itself. */
enum { ROWS_AROUND = 5, OWN_ROW = 4 };

/* Finds the vertices of the net before each row around row y. y may be the end of the layer. */
ALWAYS_INLINE void rows_around(const nets_plan *plan, uint64_t y, uint64_t z,
                               uint64_t at[ROWS_AROUND])
{
    const uint64_t y_end = nets_cells(plan, 1), z_end = nets_cells(plan, 2);
    const uint64_t rows[ROWS_AROUND][2] = {
        {y ? y - 1 : 0, z}, {TML_MIN_OF(y + 1, y_end), z}, {y, z - 1}, {y, z + 1}, {y, z}};
    for (int r = 0; r < ROWS_AROUND; r++)
        at[r] = rows[r][1] < z_end
                    ? plan->net.vertex_first[rows[r][1]] +
                          plan->net.vertex_rows[nets_row(plan, rows[r][0], rows[r][1])]
                    : 0;
}

/* Returns the room for the links of a layer's rows before y: one per vertex, and those that only
 * pass vertices. */
ALWAYS_INLINE uint64_t links_before(const nets_plan *plan, uint64_t y, uint64_t z)
{
    uint64_t first[ROWS_AROUND], at[ROWS_AROUND], passed = 0;
    rows_around(plan, 0, z, first);
    rows_around(plan, y, z, at);
    for (int r = 0; r < OWN_ROW; r++)
        passed += at[r] - first[r];
    return at[OWN_ROW] - first[OWN_ROW] + passed / LINK_PASSED_MOST;
}

/* Appends a vertex's link, after as many other links as are needed to pass steps[r] vertices of
 * each row r around. */
ALWAYS_INLINE void push_link(uint32_t **link, uint32_t code, uint64_t steps[OWN_ROW])
{
    uint64_t left = 0;
    for (int r = 0; r < OWN_ROW; r++)
        left = TML_MAX_OF(left, steps[r]);
    for (;; left -= LINK_PASSED_MOST) {
        const bool is_last = left <= LINK_PASSED_MOST;
        uint32_t bits = is_last ? code : 0;
        for (int r = 0; r < OWN_ROW; r++) {
            const uint64_t some = TML_MIN_OF(steps[r], LINK_PASSED_MOST);
            bits |= (uint32_t)some << (LINK_PASSED + LINK_PASSED_BITS * r);
            steps[r] -= some;
        }
        *(*link)++ = bits;
        if (is_last)
            return;
    }
}

/* Appends the links of a row to *link, and stores the first places of its vertices.
 * passed  vertices passed so far in each row around */
ALWAYS_INLINE void link_row(const wave *w, uint64_t y, uint64_t z, uint32_t **link,
                            uint64_t passed[OWN_ROW])
{
    const nets_plan *plan = w->plan;
    const nets_planes *net = &plan->net;
    const uint64_t rows[OWN_ROW][2] = {{y - 1, z}, {y + 1, z}, {y, z - 1}, {y, z + 1}};
    const int32_t row_offset[2] = {first_offset(plan, 1, y), first_offset(plan, 2, z)};
    uint64_t at[ROWS_AROUND];
    rows_around(plan, y, z, at);
    for (uint64_t first = 0; first < plan->words; first += NETS_GROUP) {
        nets_word active[ROWS_AROUND][NETS_GROUP], sides[6][NETS_GROUP + 1];
        nets_around a;
        nets_load_around(plan, net, y, z, first, &a);
        nets_active_of(plan, &a, first, active[OWN_ROW]);
        for (int r = 0; r < OWN_ROW; r++)
            nets_active_if_any(plan, net, rows[r][0], rows[r][1], first, active[r]);
        for (int i = 0; i <= NETS_GROUP; i++)
            sides[0][i] = a.y[0].words[i] | a.y[1].words[i] | a.z[0].words[i] | a.z[1].words[i];
        for (int i = 0; i < NETS_GROUP; i++) {
            sides[1][i] = sides[0][i] >> 1 | sides[0][i + 1] << 63;
            sides[2][i] = a.x[0][0].words[i] | a.x[0][1].words[i] | nets_both(&a.z[0], i);
            sides[3][i] = a.x[1][0].words[i] | a.x[1][1].words[i] | nets_both(&a.z[1], i);
            sides[4][i] = a.x[0][0].words[i] | a.x[1][0].words[i] | nets_both(&a.y[0], i);
            sides[5][i] = a.x[0][1].words[i] | a.x[1][1].words[i] | nets_both(&a.y[1], i);
        }
        for (int i = 0; i < NETS_GROUP; i++) {
            for (nets_word rest = active[OWN_ROW][i]; rest; rest &= rest - 1) {
                const int bit = __builtin_ctzll(rest);
                const uint64_t x = 64 * (first + (uint64_t)i) + (uint64_t)bit;
                const int32_t x_offset = first_offset(plan, 0, x);
                const uint32_t fixed = (uint32_t)(x_offset != 0) << LINK_FIXED |
                                       (uint32_t)(row_offset[0] != 0) << (LINK_FIXED + 1);
                uint32_t code = 0;
                uint64_t steps[OWN_ROW];
                for (int s = 0; s < 6; s++)
                    code |= (uint32_t)(sides[s][i] >> bit & 1) << s;
                for (int r = 0; r < OWN_ROW; r++) {
                    const uint64_t now = at[r] + nets_ones(active[r][i] & nets_below(bit));
                    steps[r] = now - passed[r];
                    passed[r] = now;
                }
                push_link(link, code | fixed, steps);
                store_place(plan->state + at[OWN_ROW]++ * NETS_STATE,
                            (place){(uint32_t)(x_offset + NETS_HALF) |
                                        (uint32_t)(row_offset[0] + NETS_HALF) << 16,
                                    (uint32_t)(row_offset[1] + NETS_HALF)});
            }
            for (int r = 0; r < OWN_ROW; r++)
                at[r] += nets_ones(active[r][i]);
        }
    }
}

ALWAYS_INLINE void link_rows(const wave *w, uint64_t z, uint64_t first, uint64_t end)
{
    uint32_t *link = w->links + w->first[z] + links_before(w->plan, first, z);
    uint64_t passed[ROWS_AROUND];
    rows_around(w->plan, first, z, passed);
    for (uint64_t y = first; y < end; y++)
        if (nets_has_vertices(w->plan, &w->plan->net, y, z))
            link_row(w, y, z, &link, passed);
}
SIMD_INSTANTIATE(SIMD_FLAT void, link_rows_level,
                 (const wave *w, uint64_t z, uint64_t first, uint64_t end),
                 link_rows(w, z, first, end))

/* ---- moves ---------------------------------------------------------------------------------- */

/* Returns a vertex's place after a move.
 * sum  of the six neighbours' places, with the vertex's own for each missing neighbour */
ALWAYS_INLINE place move_place(place old, place sum, const wave_step *step)
{
#if SIMD_X86
    const __m128i zero = _mm_setzero_si128();
    const __m128i from =
        _mm_unpacklo_epi16(_mm_insert_epi16(_mm_cvtsi32_si128((int)old.xy), (int)old.z, 2), zero);
    const __m128i all =
        _mm_unpacklo_epi16(_mm_insert_epi16(_mm_cvtsi32_si128((int)sum.xy), (int)sum.z, 2), zero);
    const __m128i six = _mm_add_epi32(_mm_slli_epi32(from, 2), _mm_slli_epi32(from, 1));
    const __m128i way = _mm_add_epi32(_mm_sub_epi32(all, six),
                                      _mm_loadu_si128((const __m128i *)(const void *)step->toward));
    const __m128i by = _mm_cvtps_epi32(_mm_mul_ps(_mm_cvtepi32_ps(way), _mm_loadu_ps(step->rate)));
    __m128i to = _mm_packs_epi32(_mm_add_epi32(from, by), zero);
    to = _mm_max_epi16(to, _mm_loadu_si128((const __m128i *)(const void *)step->least));
    to = _mm_min_epi16(to, _mm_loadu_si128((const __m128i *)(const void *)step->most));
    return (place){(uint32_t)_mm_cvtsi128_si32(to), (uint32_t)_mm_extract_epi16(to, 2)};
#else
    const uint32_t from[3] = {old.xy & 0xffff, old.xy >> 16, old.z};
    const uint32_t all[3] = {sum.xy & 0xffff, sum.xy >> 16, sum.z};
    uint32_t to[3];
    for (int a = 0; a < 3; a++)
        to[a] =
            nets_moved(from[a], all[a], step->toward[a], step->rate[a], step->most[a] - NETS_HALF);
    return (place){to[0] | to[1] << 16, to[2]};
#endif
}

typedef SIMD_VECTOR(uint32_t, 4) u32_rows; /* a lane per row around */

/* Does move t, from 1 on, of the vertices of a layer's rows [first, end). */
ALWAYS_INLINE void move_rows(const wave *w, uint64_t z, uint32_t t, uint64_t first, uint64_t end)
{
    const nets_plan *plan = w->plan;
    const u32_rows fields = {LINK_PASSED, LINK_PASSED + LINK_PASSED_BITS,
                             LINK_PASSED + 2 * LINK_PASSED_BITS,
                             LINK_PASSED + 3 * LINK_PASSED_BITS};
    const u32_rows sides = {1 << 2, 1 << 3, 1 << 4, 1 << 5};
    const uint32_t *link = w->links + w->first[z] + links_before(plan, first, z);
    const wave_step *steps =
        w->steps + (t - 1) % NETS_RATES * CODES + (first_offset(plan, 2, z) ? LINK_CODE + 1 : 0);
    const uint64_t base = z > 0 ? plan->net.vertex_first[z - 1] : 0;
    const size_t half = NETS_STATE / 2;
    const unsigned char *in = plan->state + base * NETS_STATE + (t & 1 ? 0 : half);
    unsigned char *out = plan->state + base * NETS_STATE + (t & 1 ? half : 0);
    uint64_t at[ROWS_AROUND], last[ROWS_AROUND];
    u32_rows passed;
    rows_around(plan, first, z, at);
    rows_around(plan, end, z, last);
    for (int r = 0; r < OWN_ROW; r++)
        passed[r] = (uint32_t)(at[r] - base);
    for (uint64_t v = at[OWN_ROW]; v < last[OWN_ROW]; link++) {
        const uint32_t bits = *link, own = (uint32_t)(v - base);
        const u32_rows all = {bits, bits, bits, bits}, self = {own, own, own, own};
        passed += all >> fields & LINK_PASSED_MOST;
        if (!(bits & LINK_SIDES))
            continue;
        /* Each neighbour's index, or the vertex's own, in units. Branches would be mispredicted. */
        const u32_rows is_there = (u32_rows)((all & sides) == sides);
        const u32_rows near = STATE_UNITS * ((passed & is_there) | (self & ~is_there));
        const size_t here = STATE_UNITS * (size_t)own;
        const place old = load_place(in + STATE_UNIT * here);
        place sum = load_place(in + STATE_UNIT * (here - STATE_UNITS * (size_t)(bits & 1)));
        add_place(&sum, in + STATE_UNIT * (here + STATE_UNITS * (size_t)(bits >> 1 & 1)));
        for (int r = 0; r < OWN_ROW; r++)
            add_place(&sum, in + STATE_UNIT * (size_t)near[r]);
        store_place(out + STATE_UNIT * here, move_place(old, sum, &steps[bits & LINK_CODE]));
        v++;
    }
}
SIMD_INSTANTIATE(SIMD_FLAT void, move_rows_level,
                 (const wave *w, uint64_t z, uint32_t t, uint64_t first, uint64_t end),
                 move_rows(w, z, t, first, end))

/* ---- positions ------------------------------------------------------------------------------- */

ALWAYS_INLINE void place_vertex(const nets_plan *plan, const uint64_t cell[3], uint64_t v,
                                float out[3])
{
    uint32_t at[3];
    for (int a = 0; a < 3; a++)
        at[a] = (uint32_t)(NETS_HALF + first_offset(plan, a, cell[a]));
    if (plan->moves) {
        const place p =
            load_place(plan->state + v * NETS_STATE + (plan->moves & 1 ? NETS_STATE / 2 : 0));
        at[0] = p.xy & 0xffff;
        at[1] = p.xy >> 16;
        at[2] = p.z;
    }
    const tml_vec3 position = nets_position(
        plan->constants, (tml_uvec3){(uint32_t)cell[0], (uint32_t)cell[1], (uint32_t)cell[2]},
        (tml_uvec3){at[0], at[1], at[2]});
    memcpy(out, &position, sizeof position);
}

ALWAYS_INLINE void place_rows(const nets_plan *plan, uint64_t z, uint64_t first_row,
                              uint64_t end_row)
{
    for (uint64_t y = first_row; y < end_row; y++) {
        if (!nets_has_vertices(plan, &plan->kept, y, z))
            continue;
        uint64_t v = nets_row_vertices(plan, &plan->net, y, z);
        uint64_t out = nets_row_vertices(plan, &plan->kept, y, z);
        for (uint64_t first = 0; first < plan->words; first += NETS_GROUP) {
            nets_word all[NETS_GROUP], kept[NETS_GROUP];
            nets_active(plan, &plan->kept, y, z, first, kept);
            if (plan->kept.edges == plan->net.edges)
                memcpy(all, kept, sizeof all);
            else
                nets_active(plan, &plan->net, y, z, first, all);
            for (int i = 0; i < NETS_GROUP; i++) {
                for (nets_word rest = kept[i]; rest; rest &= rest - 1) {
                    const int bit = __builtin_ctzll(rest);
                    const uint64_t cell[3] = {64 * (first + (uint64_t)i) + (uint64_t)bit, y, z};
                    place_vertex(plan, cell, v + nets_ones(all[i] & nets_below(bit)),
                                 plan->places + 3 * out++);
                }
                v += nets_ones(all[i]);
            }
        }
    }
}
SIMD_INSTANTIATE(SIMD_FLAT void, place_rows_level,
                 (const nets_plan *plan, uint64_t z, uint64_t first, uint64_t end),
                 place_rows(plan, z, first, end))

/* ---- the step -------------------------------------------------------------------------------- */

/* Does a chunk of a step's work for one stage: stage 0 makes links, stages 1 to plan->moves move
 * vertices, and the last stage computes positions. Without moves there is only the last. */
static void wave_task(void *argument, uint32_t index)
{
    static void (*const link_levels[])(const wave *, uint64_t, uint64_t, uint64_t) =
        SIMD_EACH_LEVEL(link_rows_level);
    static void (*const move_levels[])(const wave *, uint64_t, uint32_t, uint64_t, uint64_t) =
        SIMD_EACH_LEVEL(move_rows_level);
    static void (*const place_levels[])(const nets_plan *, uint64_t, uint64_t, uint64_t) =
        SIMD_EACH_LEVEL(place_rows_level);
    const wave *w = argument;
    const uint32_t stage = index / w->chunks, chunk = index % w->chunks;
    const uint64_t z = w->front - 2 * (uint64_t)stage;
    const tml_simd level = tml_simd_level();
    uint64_t first, end;
    if (z >= nets_cells(w->plan, 2)) /* before the first layer, or past the last */
        return;
    rows_of(w, chunk, &first, &end);
    if (stage > 0 && stage <= w->plan->moves)
        move_levels[level](w, z, stage, first, end);
    if (stage == 0 && w->plan->moves)
        link_levels[level](w, z, first, end);
    if (stage == (w->plan->moves ? w->plan->moves + 1 : 0))
        place_levels[level](w->plan, z, first, end);
}

static void make_steps(const nets_plan *plan, wave_step *steps)
{
    for (int i = 0; i < NETS_RATES * CODES; i++) {
        const int code = i % CODES;
        wave_step *step = &steps[i];
        int32_t count = 0;
        *step = (wave_step){.toward = {0}};
        for (int s = 0; s < 6; s++)
            count += code >> s & 1;
        for (int a = 0; a < 3; a++) {
            step->toward[a] = nets_toward((uint32_t)code, (uint32_t)a);
            const bool fixed = code >> (LINK_FIXED + a) & 1;
            const int16_t limit = fixed ? NETS_HALF : plan->bound;
            step->rate[a] = fixed || !count ? 0 : plan->rates[i / CODES] / (float)count;
            step->least[a] = (int16_t)(NETS_HALF - limit);
            step->most[a] = (int16_t)(NETS_HALF + limit);
        }
    }
}

static tml_status run_wave(nets_plan *plan, wave *w)
{
    const uint64_t layers = nets_cells(plan, 2);
    const uint32_t stages = plan->moves ? plan->moves + 2 : 1;
    const double start = tml_seconds();
    w->chunks = TML_CEIL_DIV(4 * tml_concurrency(plan->tml), stages);
    if (tml_concurrency(plan->tml) == 1)
        w->chunks = 1;
    for (w->front = 0; w->front < layers + 2 * (uint64_t)(stages - 1); w->front++) {
        if (!nets_report(plan, "positions",
                         (double)w->front / (double)(layers + 2 * (uint64_t)stages)))
            return TML_ERROR_CANCELLED;
        tml_parallel_for(plan->tml, stages * w->chunks, wave_task, w);
    }
    nets_time(plan, "positions", tml_seconds() - start);
    return TML_OK;
}

/* Allocates links and steps. A layer's links are kept from its first step to its last. Links are a
 * ring with room for the layers in flight; a layer's links never wrap around the ring's end. */
static tml_status make_links(nets_plan *plan, wave *w)
{
    const uint64_t *vertices = plan->net.vertex_first, layers = nets_cells(plan, 2);
    const uint64_t span = 2 * (uint64_t)plan->moves + 1;
    uint64_t held = 0, most = 0, largest = 0, at = 0;
    w->first = nets_alloc(plan, layers, sizeof *w->first);
    if (!w->first)
        return TML_ERROR_OUT_OF_MEMORY;
    for (uint64_t z = 0; z < layers; z++) {
        const uint64_t count = links_before(plan, nets_cells(plan, 1), z);
        const uint64_t three = vertices[TML_MIN_OF(z + 2, layers)] - vertices[z ? z - 1 : 0];
        if (three > UINT32_MAX / STATE_UNITS)
            return tml_error(plan->tml, TML_ERROR_UNSUPPORTED,
                             "tml_surface_labels: %" PRIu64
                             " vertices in three layers are too many to smooth; give a smaller "
                             "region",
                             three);
        w->first[z] = count;
        held += count - (z < span ? 0 : w->first[z - span]);
        most = TML_MAX_OF(most, held);
        largest = TML_MAX_OF(largest, count);
    }
    w->capacity = most + (layers > span ? largest : 0);
    for (uint64_t z = 0; z < layers; z++) {
        const uint64_t count = w->first[z];
        if (at + count > w->capacity)
            at = 0;
        w->first[z] = at;
        at += count;
    }
    w->links = nets_alloc(plan, w->capacity, sizeof *w->links);
    w->steps = nets_alloc(plan, (size_t)NETS_RATES * CODES, sizeof *w->steps);
    return w->links && w->steps ? TML_OK : TML_ERROR_OUT_OF_MEMORY;
}

tml_status cpu_nets_place(nets_plan *plan)
{
    wave w = {.plan = plan};
    tml_status status = plan->moves ? make_links(plan, &w) : TML_OK;
    if (status == TML_OK && plan->moves)
        make_steps(plan, w.steps);
    TML_THEN(status, run_wave(plan, &w));
    nets_free(plan, w.steps, (size_t)NETS_RATES * CODES, sizeof *w.steps);
    nets_free(plan, w.links, w.capacity, sizeof *w.links);
    nets_free(plan, w.first, nets_cells(plan, 2), sizeof *w.first);
    return status;
}
