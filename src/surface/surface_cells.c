/* The triangle count of each cell, by the case table. Plain host loops for pictures and checks. */
#include <math.h>
#include <string.h>

#include "stream/stream_internal.h"
#include "surface/surface_topology.h"

#include "kernels/kernel.h"

#include "surface_tables.k.h"

#include "kernels/kernel_end.h"

typedef struct cell_job {
    const uint64_t *dims;
    const surface_box *region;
    tml_type type;
    double iso;
    bool trilinear;
    surface_limits limits; /* for integer types */
    const uint8_t *samples;
    const uint8_t *mask; /* NULL: no sample is masked */
} cell_job;

static double float_of(const cell_job *job, uint64_t i)
{
    uint64_t bits = surface_bits_at(job->samples, i, tml_type_size(job->type));
    double value;
    if (job->type == TML_F16)
        return (double)tml_half_to_float((uint32_t)bits);
    if (job->type == TML_F32)
        return (double)tml_bits_float((uint32_t)bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool is_inside(const cell_job *job, uint64_t i)
{
    if (tml_type_is_float(job->type))
        return float_of(job, i) >= job->iso;
    uint64_t bits = surface_bits_at(job->samples, i, tml_type_size(job->type));
    return !job->limits.is_none && surface_integer_key(job->type, bits) >= job->limits.limit;
}

static bool is_missing(const cell_job *job, uint64_t i)
{
    return (job->mask && job->mask[i] == 0) ||
           (tml_type_is_float(job->type) && isnan(float_of(job, i)));
}

static uint8_t triangles_at(const cell_job *job, const uint64_t at[3])
{
    const surface_box *region = job->region;
    topology_cell cell = {.type = job->type, .iso = job->iso};
    for (int a = 0; a < 3; a++)
        if (at[a] < region->first[a] || at[a] + 1 >= region->first[a] + region->count[a])
            return 0;
    uint32_t index = 0;
    for (uint32_t corner = 0; corner < 8; corner++) {
        uint64_t x = at[0] + (corner & 1), y = at[1] + (corner >> 1 & 1), z = at[2] + (corner >> 2);
        uint64_t i = (z * job->dims[1] + y) * job->dims[0] + x;
        if (is_missing(job, i))
            return 0;
        index |= (is_inside(job, i) ? 1u : 0u) << corner;
        if (SURFACE_HAS_TRILINEAR && job->trilinear)
            topology_set_corner(&cell, corner, job->samples + i * tml_type_size(job->type));
    }
    cell.index = index;
    if (!SURFACE_HAS_TRILINEAR || !job->trilinear || !topology_is_open(index))
        return (uint8_t)surface_case_count[index];
    topology_faces faces[TOPOLOGY_BATCH];
    topology_look_at_faces(&cell, 1, faces);
    return topology_meshes[topology_find(&cell, faces[0])].triangle_count;
}

static void count_slice(void *argument, uint32_t z)
{
    void **both = argument;
    const cell_job *job = both[0];
    uint64_t nx = job->dims[0] - 1, ny = job->dims[1] - 1;
    uint8_t *to = (uint8_t *)both[1] + z * nx * ny;
    for (uint64_t y = 0; y < ny; y++)
        for (uint64_t x = 0; x < nx; x++)
            *to++ = triangles_at(job, (const uint64_t[3]){x, y, z});
}

static tml_status count_all_cells(tml_context *tml, const tml_surface_desc *desc, uint8_t *cells)
{
    const uint64_t *dims = desc->grid.dims;
    uint64_t count;
    void *samples = NULL, *mask = NULL;
    surface_box region;
    if (desc->field)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "tml_surface_cells: desc.field is set, and this call has no fields; make the "
            "volume by tml_field, and give it as desc.volume with its grid");
    if (dims[0] < 2 || dims[1] < 2 || dims[2] < 2 || !isfinite(desc->iso))
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "tml_surface_cells: desc.grid.dims are %llu %llu %llu and desc.iso %g; needs two "
            "samples along each axis and a finite iso",
            (unsigned long long)dims[0], (unsigned long long)dims[1], (unsigned long long)dims[2],
            desc->iso);
    tml_status status = surface_check_dims(tml, "tml_surface_cells", dims, &count);
    TML_THEN(status, surface_check_choices(tml, "tml_surface_cells", desc, true));
    TML_THEN(status,
             surface_resolve_region(tml, "tml_surface_cells", &desc->region, dims, &region));
    TML_THEN(status, tml_check_buffer_anywhere(tml, "tml_surface_cells", "desc.volume",
                                               desc->volume, stream_scalar_types, count));
    if (status == TML_OK && !tml_buffer_is_none(desc->mask))
        status = tml_check_buffer_anywhere(tml, "tml_surface_cells", "desc.mask", desc->mask,
                                           stream_u8_types, count);
    TML_THEN(status, tml_buffer_map(tml, desc->volume, &samples));
    if (status != TML_OK)
        return status;
    if (!tml_buffer_is_none(desc->mask))
        status = tml_buffer_map(tml, desc->mask, &mask);
    tml_type type = tml_slot_of(tml, desc->volume)->type;
    cell_job job = {.dims = dims,
                    .region = &region,
                    .type = type,
                    .iso = desc->iso,
                    .trilinear = desc->topology == TML_TOPOLOGY_TRILINEAR,
                    .limits = surface_limits_of(type, desc->iso),
                    .samples = samples,
                    .mask = mask};
    if (status == TML_OK)
        tml_parallel_for(tml, (uint32_t)(dims[2] - 1), count_slice, (void *[2]){&job, cells});
    if (mask)
        tml_buffer_unmap(tml, desc->mask);
    tml_buffer_unmap(tml, desc->volume);
    return status;
}

tml_status tml_surface_cells(tml_context *tml, const tml_surface_desc *desc, uint8_t *cells)
{
    tml_status status = TML_ENTER(tml, desc, cells);
    return status ? status : tml_leave(tml, count_all_cells(tml, desc, cells));
}
