/* Each engine's support for surfaces. */
#include "surface/surface_internal.h"

extern const tml_engine_op cpu_op_surface, vk_op_surface, gl_op_surface, gl_op_float_surface;

const surface_parts surface_parts_of[PART_COUNT] = {
    [PART_CPU] = {.op = &cpu_op_surface,
                  .takes_slabs = true,
                  .numbers_slabs = true,
                  .emits_cells = true,
                  .emits_layouts = SURFACE_LAYOUTS,
                  .trilinear = SURFACE_TRILINEAR_ALWAYS},
#ifdef TML_VULKAN
    [PART_VULKAN] = {.op = &vk_op_surface,
                     .reads_host_volumes = true,
                     .takes_slabs = true,
                     .emits_cells = true,
                     .emits_layouts = SURFACE_LAYOUTS,
                     .trilinear = SURFACE_TRILINEAR_VOLUMES},
#endif
#ifdef TML_GL
    [PART_GL] = {.op = &gl_op_surface,
                 .emits_cells = true,
                 .emits_layouts = SURFACE_LAYOUTS,
                 .trilinear = SURFACE_TRILINEAR_ON_HOST},
    [PART_GL_FLOAT] = {.op = &gl_op_float_surface, .emits_soups = true},
#endif
};
