/* What JavaScript does not offer and a page need not load: trees that are built on the device, and
 * distances of meshes, rays, points and grids there, in the place of src/tree/tree_*_device.c,
 * tree_cast_wait.c and of src/collide/collide_distance_*.c; surfaces with the trilinear topology
 * (src/surface/surface_topology.c, surface_topology_check.c, surface_on_host.c,
 * cpu/cpu_surface_topology.c); and sums of kernels at points (src/field/field_weights.c,
 * cpu/cpu_field_weights.c). */
#include "collide/collide_distance.h"
#include "field/field_internal.h"
#include "surface/surface_internal.h"
#include "tree/tree_cast.h"
#include "tree/tree_points_device.h"

tml_status surface_check_trilinear(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                   bool on_host)
{
    (void)desc;
    (void)on_host;
    return tml_error(tml, TML_ERROR_UNSUPPORTED, "%s: desc.topology: not in this build", call);
}

tml_status tree_build_create(tml_context *tml, const tml_tree_desc *desc, tml_tree *tree)
{
    (void)desc;
    (void)tree;
    return tml_error(tml, TML_ERROR_UNSUPPORTED, "tml_tree_create: on_device: not in this build");
}

void tree_build_destroy(tml_context *tml, tml_tree *tree)
{
    (void)tml;
    (void)tree;
}

tml_status tree_fetch(tml_context *tml, const char *call, tml_tree *tree, uint32_t parts)
{
    (void)tml;
    (void)call;
    (void)tree;
    (void)parts;
    return TML_OK;
}

bool cast_runs_on_device(const tml_context *tml, const tml_tree_cast_desc *desc)
{
    (void)tml;
    (void)desc;
    return false;
}

tml_status cast_on_device(tml_context *tml, const char *call, const tml_tree_cast_desc *desc)
{
    return cast_on_host(tml, call, desc, desc->length.count, NULL, NULL);
}

tml_status cast_enqueue(tml_context *tml, const char *call, const tml_tree_cast_desc *desc)
{
    (void)desc;
    return tml_refuse(tml, call, "no rays in a frame");
}

bool points_run_on_device(const tml_context *tml, tml_tree *tree)
{
    (void)tml;
    (void)tree;
    return false;
}

tml_status points_sides_on_device(tml_context *tml, const tml_tree_nearest_desc *desc,
                                  uint64_t count)
{
    (void)count;
    (void)desc;
    return tml_error(tml, TML_ERROR_UNSUPPORTED,
                     "tml_tree_nearest: on a device: not in this build");
}

tml_status points_nearest_on_device(tml_context *tml, const tml_tree_nearest_desc *desc,
                                    uint64_t count, bool *is_told)
{
    (void)tml;
    (void)desc;
    (void)count;
    *is_told = false;
    return TML_OK;
}

tml_status grid_on_device(tml_context *tml, const tml_tree_distance_grid_desc *desc,
                          const float *const *at, bool *is_told)
{
    (void)tml;
    (void)desc;
    (void)at;
    *is_told = false;
    return TML_OK;
}

tml_status distance_on_device(distance_job *job)
{
    return tml_error(job->tml, TML_ERROR_UNSUPPORTED,
                     "tml_collide_distance: BREADTH_FIRST: not in this build");
}

tml_status cpu_field_weights(tml_context *tml, const field_plan *plan, tml_buffer out)
{
    (void)tml;
    (void)plan;
    (void)out;
    return TML_ERROR_UNSUPPORTED; /* nothing calls it */
}
