/* The tables of open cells in the form for shaders (surface/gpu/surface_args.k.h). See
 * surface/surface_topology.h. */
#include <string.h>

#include "surface/surface_topology.h"
#include "surface/vulkan/vulkan_surface_internal.h"

#include "kernels/kernel.h"
#include "kernels/surface_open.k.h"

#include "surface/gpu/surface_args.k.h"
#include "surface/gpu/surface_options.k.h"

#include "kernels/kernel_end.h"

_Static_assert(SURFACE_OPEN_MESHES == SURFACE_OPEN_CHOICES + TOPOLOGY_CHOICES &&
                   SURFACE_OPEN_CORNERS == SURFACE_OPEN_MESHES + TOPOLOGY_MESHES &&
                   SURFACE_OPEN_WORDS == SURFACE_OPEN_CORNERS + TOPOLOGY_TRIANGLES / 2,
               "shaders have other tables");

/* Writes the corners of a case's mesh, two triangles per word. */
static void write_corners(uint32_t *out, const topology_mesh *mesh, uint32_t index)
{
    for (uint32_t i = 0; i < 3u * mesh->triangle_count; i++) {
        const uint32_t corner = topology_corners[mesh->first + i],
                       triangle = mesh->first / 3 + i / 3;
        const uint32_t code = corner < 12 ? surface_case_corner(index, corner) : corner + 4;
        out[triangle / 2] |= code << (16 * (triangle & 1) + 5 * (i % 3));
    }
}

static void write_tables(uint32_t *out)
{
    memset(out, 0, SURFACE_OPEN_WORDS * sizeof *out);
    for (uint32_t i = 0; i < TOPOLOGY_CHOICES; i++) {
        const uint16_t *meshes = topology_meshes_of[i];
        out[SURFACE_OPEN_CHOICES + i] = meshes[0] | meshes[1] << 10 | (uint32_t)meshes[2] << 20;
    }
    for (uint32_t i = 0; i < TOPOLOGY_MESHES; i++) {
        const topology_mesh *mesh = &topology_meshes[i];
        out[SURFACE_OPEN_MESHES + i] = mesh->first / 3 | (uint32_t)mesh->triangle_count << 14 |
                                       (uint32_t)mesh->around << 19 |
                                       (mesh->own_count > 1 ? 1u << 31 : 0);
    }
    for (uint32_t index = 256, end = TOPOLOGY_MESHES; index-- > 0;) {
        if (!topology_is_open(index))
            continue;
        const uint32_t choice = (uint32_t)topology_choices[index],
                       first = topology_meshes_of[choice][0];
        out[SURFACE_OPEN_CASES + index] = first | choice << 10 |
                                          (uint32_t)topology_ambiguous[index] << 20 |
                                          topology_separated_count(index) << 26;
        for (; end > first; end--)
            write_corners(out + SURFACE_OPEN_CORNERS, &topology_meshes[end - 1], index);
    }
}

tml_status surface_prepare_open(vk_surface_job *job)
{
    tml_status status = vk_table(job->tml, write_tables, SURFACE_OPEN_WORDS, &job->tables);
    if (status != TML_OK || job->plan->stage != SURFACE_COUNT)
        return status;
    return vk_fill(job->tml, job->totals, job->plan->part_count * SURFACE_TOTAL_WORDS, 0);
}
