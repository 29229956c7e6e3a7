/* What the Vulkan surface's files share. */
#ifndef TML_VULKAN_SURFACE_INTERNAL_H
#define TML_VULKAN_SURFACE_INTERNAL_H

#include "surface/surface_space.h"
#include "vulkan/vulkan_parts.h"

/* ---- vulkan_surface_layout.c: scratch, and what lies in it ----------------------------------- */

/* Samples that a run reads: already on the device, or brought into scratch from the host or from a
 * field, all at once or slab by slab. */
typedef enum surface_source_kind {
    SOURCE_VOLUME,
    SOURCE_MASK,
    SOURCE_ATTRIBUTE,
    SOURCES,
} surface_source_kind;
typedef struct surface_source {
    const unsigned char *host; /* NULL: not there */
    bool is_field;
    uint64_t slice;       /* bytes of a layer */
    uint64_t held_first;  /* the layer that host begins with */
    vk_address copies[2]; /* in scratch, for the layers of a slab; slabs take turns */
    uint64_t first, end;  /* the layers there */
    vk_address at;        /* where sample (0, 0, 0) of the volume lies, or would lie */
} surface_source;

/* The layers of a part's box that are worked off at once: bits, counts and the list of active words. */
typedef struct workspace {
    const surface_part *part;
    uint32_t pad;
    uint32_t size[3]; /* samples, with the pad */
    uint32_t slab;    /* SURFACE_SLAB */
    uint64_t first_z; /* its first layer of samples in the volume */
    uint32_t words;   /* in a row */
    uint64_t word_count;
    uint32_t width_log2, segments; /* lanes of a row; how often a row fills them */
    uint32_t chunk_count;
    vk_address head, bits, nan_words, present, cells, before, rows, row_segments, chunks, places,
        list;
} workspace;

typedef struct surface_job {
    tml_context *tml;
    const surface_plan *plan;
    bool may_miss; /* samples may be missing: mask, or NaN */
    /* All that the parts need at once, which EMIT finds as COUNT left it. If not, layers [z_first,
     * z_end) of the volume are worked off in slabs of thickness, and EMIT does COUNT's work again. */
    bool is_whole;
    uint64_t z_first, z_end, thickness;
    uint64_t own_first, own_end; /* the slab at work */
    surface_source sources[SOURCES];
    vk_address totals; /* SURFACE_TOTAL_WORDS a part */
    vk_address states; /* SURFACE_STATE_WORDS, for a recording */
    vk_arena spaces;   /* where workspaces begin */
} surface_job;

/* Bytes of scratch that the plan's stage takes: for all at once where that fits what there is, and
 * otherwise for slabs. */
size_t surface_scratch_size(tml_context *tml, const void *desc);
/* The job of a stage that runs in scratch of that size. Errors: UNSUPPORTED (a layer of the volume is
 * more than the shaders number). */
tml_status surface_job_begin(tml_context *tml, const surface_plan *plan, void *scratch,
                             size_t scratch_size, surface_job *out);
/* The layers of a source that are in scratch for the slab at work, with those that its edges and
 * gradients look at, and where they lie. */
void surface_source_place(const surface_job *job, surface_source *source, uint32_t copy);
/* The workspace of a part in the slab at work. */
workspace surface_workspace(const surface_job *job, uint32_t part);

#endif
