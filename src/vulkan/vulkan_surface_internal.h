/* What the Vulkan surface's files share. */
#ifndef TML_VULKAN_SURFACE_INTERNAL_H
#define TML_VULKAN_SURFACE_INTERNAL_H

#include "surface/surface_internal.h"
#include "vulkan/vulkan_internal.h"

/* How the shaders tell inside from outside, and where an isovalue lies between samples. A sample's key
 * is a number in the order of the samples' values (surface.glsl); inside are keys from limit to
 * limit + range, or none. */
typedef struct surface_limits {
    uint64_t limit, range;
    bool is_none;
    float index_iso;       /* the least float that is not below the isovalue; 0 as -0 */
    uint32_t iso_words[3]; /* surface_emit_args */
} surface_limits;
surface_limits surface_limits_of(tml_type type, double iso);
surface_limits surface_limits_of_label(tml_type type, uint64_t label);

#endif
