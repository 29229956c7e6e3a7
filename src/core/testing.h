/* Settings with which tests open a context: limits of the engines, made so small that a short
 * stream or a small texture reaches them. */
#ifndef TML_TESTING_H
#define TML_TESTING_H

#include <trommel/core.h>

/* Zeroed, or NULL in its place: as tml_open. */
typedef struct tml_testing {
    /* Vulkan: stages all copies, also where device memory is the host's own and could be mapped. */
    bool vulkan_staging;
    /* Vulkan: elements that one dispatch takes, a power of two from 2^16 to 2^30; longer streams
     * run in passes. 0: 2^30. */
    uint64_t vulkan_pass_items;
    /* Vulkan: every other tile of a sort, scan, compaction or short partition publishes its sums
     * late, so that others wait for it or, where workgroups are not known to make forward progress,
     * add in its stead. */
    bool vulkan_late_tiles;
    /* Vulkan: workgroups that run at the same time, as far as the library knows: a partition of as
     * many tiles of 8192 elements or fewer may take one dispatch. 0: what the driver says. */
    uint32_t vulkan_resident;
    /* OpenGL ES: texels in a row of the library's textures, as a power of two, from 4 on; 0: the
     * device's largest, at most 2^14. */
    uint32_t gl_row_log2;
} tml_testing;

/* tml_open with these; testing is copied. Errors: as tml_open; INVALID_ARGUMENT for numbers that
 * testing does not allow. */
TML_MUST_CHECK tml_status tml_open_testing(const tml_open_desc *desc, const tml_testing *testing,
                                           tml_context **out);

#endif
