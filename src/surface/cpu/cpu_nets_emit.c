/* Surface nets of labels: the faces, each with its two labels, by sample, then axis. */
#include "surface/cpu/cpu_nets.h"

/* Vertices of the cells around a group's samples: by steps back along y and z. */
typedef struct cells_around {
    nets_word active[2][2][NETS_GROUP];
    uint64_t at[2][2]; /* vertices before the word in progress */
} cells_around;

/* The samples of a row, and those at the other ends of its edges. */
typedef struct row_samples {
    nets_samples own, beyond[3];
} row_samples;

/* Writes the faces of the edges that begin at sample (x, bit of word i). Returns the next number. */
CPU_INLINE uint64_t emit_sample(const nets_plan *plan, const row_samples *rows,
                                const cells_around *cells, int i, int bit, uint64_t x,
                                const nets_word edges[3], uint64_t next)
{
    const uint64_t label = nets_label(plan, &rows->own, x);
    uint64_t rank[2][2];
    for (int y = 0; y < 2; y++)
        for (int z = 0; z < 2; z++)
            rank[y][z] = cells->at[y][z] + nets_ones(cells->active[y][z][i] & nets_below(bit));
    for (int a = 0; a < 3; a++) {
        if (!(edges[a] >> bit & 1))
            continue;
        const uint64_t other = nets_label(plan, &rows->beyond[a], x + (a == 0));
        const bool first = nets_is_first(plan, label, other);
        const bool reverse = first == plan->flip_winding;
        uint64_t corner[4];
        for (int k = 0; k < 4; k++) {
            const uint8_t *back = nets_back[a][k];
            corner[reverse ? (4 - k) % 4 : k] = rank[back[1]][back[2]] - back[0];
        }
        nets_write_face(plan, next++, corner, first ? label : other, first ? other : label);
    }
    return next;
}

CPU_INLINE void emit_row(const nets_plan *plan, uint64_t y, uint64_t z)
{
    const nets_planes *kept = &plan->kept;
    const row_samples rows = {nets_samples_of(plan, y, z),
                              {nets_samples_of(plan, y, z), nets_samples_of(plan, y + 1, z),
                               nets_samples_of(plan, y, z + 1)}};
    const nets_word *edges[3];
    uint64_t next = kept->face_first[z] + kept->face_rows[nets_row(plan, y, z)];
    cells_around cells;
    for (int a = 0; a < 3; a++)
        edges[a] = nets_edges(plan, kept, a, y, z);
    for (uint64_t k = 0; k < 4; k++)
        cells.at[k & 1][k >> 1] = nets_row_vertices(plan, kept, y - (k & 1), z - (k >> 1));
    for (uint64_t first = 0; first < plan->words; first += NETS_GROUP) {
        for (uint64_t k = 0; k < 4; k++)
            nets_active_if_any(plan, kept, y - (k & 1), z - (k >> 1), first,
                               cells.active[k & 1][k >> 1]);
        for (int i = 0; i < NETS_GROUP && first + (uint64_t)i < plan->words; i++) {
            const uint64_t w = first + (uint64_t)i;
            const nets_word here[3] = {edges[0][w], edges[1][w], edges[2][w]};
            for (nets_word rest = here[0] | here[1] | here[2]; rest; rest &= rest - 1) {
                const int bit = __builtin_ctzll(rest);
                next = emit_sample(plan, &rows, &cells, i, bit, 64 * w + (uint64_t)bit, here, next);
            }
            for (int k = 0; k < 4; k++)
                cells.at[k & 1][k >> 1] += nets_ones(cells.active[k & 1][k >> 1][i]);
        }
    }
}

CPU_INLINE void emit_layer(const nets_plan *plan, uint64_t z)
{
    for (uint64_t y = 0; y < nets_cells(plan, 1); y++)
        if (nets_has_faces(plan, &plan->kept, y, z))
            emit_row(plan, y, z);
}
CPU_INSTANTIATE(CPU_FLAT void, emit_layer_level, (const nets_plan *plan, uint64_t z),
                emit_layer(plan, z))

static void emit_task(void *argument, uint32_t index)
{
    static void (*const levels[TML_SIMD_LEVELS])(const nets_plan *, uint64_t) =
        CPU_EACH_LEVEL(emit_layer_level);
    const nets_plan *plan = argument;
    if (!tml_is_cancelled(plan->tml))
        levels[tml_simd_level()](plan, plan->first_layer + index);
}

tml_status cpu_nets_emit(nets_plan *plan)
{
    return nets_run_layers(plan, "faces", nets_cells(plan, 2), emit_task);
}
