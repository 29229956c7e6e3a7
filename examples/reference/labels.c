/* Labels: the boundaries of a segmentation as one mesh, or one each. */
#include "reference.h"

static const uint8_t row[6] = {1, 1, 1, 2, 2, 2};
static const tml_grid along_x = {.dims = {6, 1, 1}};

/* Two labels in a row, each of three samples, shared and smoothed: the faces between them are there
 * once, and point from the smaller label to the larger. */
static void shared(tml_context *tml)
{
    const tml_surface_labels_desc desc = {
        .volume = buffer_of(tml, TML_U8, 6, row), .grid = along_x, .caps = true, .smooth = 4};
    tml_surface_result result;
    MUST(tml_surface_labels(tml, &desc, &result));
    CHECK(result.vertex_count == 28 && result.triangle_count == 2 * 27);
    tml_surface_free(tml, &result);
}

/* The wall between two labels alone. */
static void wall(tml_context *tml)
{
    const uint64_t both[2] = {1, 2};
    const tml_surface_labels_desc desc = {.volume = buffer_of(tml, TML_U8, 6, row),
                                          .grid = along_x,
                                          .between = both,
                                          .caps = true,
                                          .quads = true};
    tml_surface_result result;
    uint8_t labels[2];
    MUST(tml_surface_labels(tml, &desc, &result));
    MUST(tml_buffer_read(tml, result.face_labels, labels));
    CHECK(result.vertex_count == 4 && result.triangle_count == 1);
    CHECK(labels[0] == 1 && labels[1] == 2);
    tml_surface_free(tml, &result);
}

/* Each label as a closed mesh of its own. */
static void separate(tml_context *tml)
{
    const tml_surface_labels_desc desc = {
        .volume = buffer_of(tml, TML_U8, 6, row), .grid = along_x, .sharing = TML_LABELS_SEPARATE};
    tml_surface_result result;
    MUST(tml_surface_labels(tml, &desc, &result));
    const tml_mesh_part *second = &result.parts[1];
    CHECK(result.part_count == 2 && second->label == 2 && second->vertex_count == 16);
    CHECK(second->triangle_first == result.parts[0].triangle_count && second->triangle_count == 28);
    tml_surface_free(tml, &result);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){shared, wall, separate, NULL});
}
