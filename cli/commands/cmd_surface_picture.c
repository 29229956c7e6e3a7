/* trommel surface: draws the mesh. */
#include <math.h>
#include <string.h>

#include "commands/cmd_surface.h"
#include "draw/color.h"
#include "draw/picture_buffer.h"

/* Writes a number per vertex: a vector's length, or the attribute's number. */
static void fill_sizes(const tml_mesh_attribute *a, uint64_t count, float *out)
{
    for (uint64_t i = 0; i < count; i++) {
        double squares = 0;
        for (uint32_t c = 0; c < a->components; c++)
            squares += pow((double)a->data[i * a->components + c], 2);
        out[i] = a->components == 1 ? a->data[i] : (float)sqrt(squares);
    }
}

/* Writes a colour per triangle: the mean of its corners. */
static void fill_colors(const tml_mesh *mesh, const tml_mesh_attribute *a, uint8_t *out)
{
    const uint32_t *narrow = mesh->indices;
    const uint64_t *wide = mesh->indices;
    for (uint64_t t = 0; t < mesh->triangle_count; t++)
        for (uint64_t c = 0; c < 3; c++) {
            float sum = 0;
            for (uint64_t k = 3 * t; k < 3 * t + 3; k++) {
                uint64_t v = !mesh->indices ? k : mesh->indices64 ? wide[k] : narrow[k];
                sum += a->data[v * a->components + c];
            }
            out[3 * t + c] = (uint8_t)(fminf(fmaxf(sum / 3, 0), 1) * 255 + 0.5f);
        }
}

/* Draws a mesh with attributes: in its colours, or else by the size of the first attribute. */
static tml_status draw_attributes(const surface_run *r, tml_mesh mesh, render_desc *desc)
{
    const surface_args *a = r->args;
    const tml_mesh_attribute *shown = &mesh.attributes[0];
    bool is_color = false;
    for (uint32_t i = 0; i < mesh.attribute_count && !is_color; i++) {
        const tml_mesh_attribute *at = &mesh.attributes[i];
        is_color = strcmp(at->name, "color") == 0 && at->components >= 3;
        shown = is_color ? at : shown;
    }
    size_t size = is_color ? 3 * mesh.triangle_count : mesh.vertex_count * sizeof(float);
    void *memory = tml_alloc(r->tml, size + 1);
    if (!memory)
        return tml_error(r->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", size);
    if (is_color)
        fill_colors(&mesh, shown, memory);
    else
        fill_sizes(shown, mesh.vertex_count, memory);
    desc->triangle_colors = is_color ? memory : NULL;
    mesh.values = is_color ? NULL : memory;
    desc->color_by_value = !is_color;
    tml_status status = picture_save(r->tml, &mesh, desc, &a->picture, a->png);
    tml_free(r->tml, memory, size + 1);
    return status;
}

/* Draws triangles in their first label's colour. */
static tml_status draw_labels(const surface_run *r, const tml_mesh *mesh, render_desc *desc)
{
    const size_t size = 3 * mesh->triangle_count, label_size = tml_type_size(mesh->face_label_type);
    const uint8_t *labels = mesh->face_labels;
    uint8_t *colors = tml_alloc(r->tml, size + 1);
    if (!colors)
        return tml_error(r->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", size);
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        uint64_t label = 0;
        memcpy(&label, labels + 2 * t * label_size, label_size);
        const tml_vec3 color = color_of_part((uint32_t)((label - 1) % 4096)); /* keeps hues apart */
        const float linear[3] = {color.x, color.y, color.z};
        for (int c = 0; c < 3; c++)
            colors[3 * t + (uint64_t)c] = (uint8_t)(color_to_srgb(linear[c]) * 255 + 0.5f);
    }
    desc->triangle_colors = colors;
    tml_status status = picture_save(r->tml, mesh, desc, &r->args->picture, r->args->png);
    tml_free(r->tml, colors, size + 1);
    return status;
}

tml_status surface_draw_picture(surface_run *r, const tml_mesh *mesh)
{
    const surface_args *a = r->args;
    const double start = cli_now();
    render_desc desc = {.parts = r->made.surface.parts,
                        .part_count = r->made.surface.part_count,
                        .color_by_value = mesh->values != NULL};
    memcpy(desc.color, a->color, sizeof desc.color);
    tml_status status = mesh->attribute_count ? draw_attributes(r, *mesh, &desc)
                        : mesh->face_labels
                            ? draw_labels(r, mesh, &desc)
                            : picture_save(r->tml, mesh, &desc, &a->picture, a->png);
    report_add_stage(&r->summary.report, "picture", cli_now() - start);
    return status;
}
