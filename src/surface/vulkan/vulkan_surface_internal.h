/* Shared by the files of the Vulkan surface. */
#ifndef TML_VULKAN_SURFACE_INTERNAL_H
#define TML_VULKAN_SURFACE_INTERNAL_H

#include "surface/surface_space.h"
#include "vulkan/vulkan_parts.h"

/* ---- vulkan_surface_layout.c: scratch and its contents --------------------------------------- */

/* Samples that a run reads. They are in device memory, or copied to scratch from the host or a
 * field: whole, or slab by slab. */
typedef enum surface_source_kind {
    SOURCE_VOLUME,
    SOURCE_MASK,
    SOURCE_ATTRIBUTE,
    SOURCES,
} surface_source_kind;
typedef struct surface_source {
    const unsigned char *host; /* NULL: not on the host */
    bool is_field;
    uint64_t slice;       /* bytes of a layer */
    uint64_t held_first;  /* first layer in host */
    vk_address copies[2]; /* in scratch: double buffer for the layers of a slab */
    uint64_t first, end;  /* layers in the current copy */
    vk_address at;        /* of sample (0, 0, 0) of the volume, which need not be in memory */
} surface_source;

/* A part's workspace in a slab: its size, and device arrays of bits, counts and active words. */
typedef struct vk_workspace {
    const surface_part *part;
    uint32_t pad;
    uint32_t size[3]; /* samples, with the pad */
    uint32_t slab;    /* SURFACE_SLAB */
    uint64_t first_z; /* the volume's layer of its first samples */
    uint32_t words;   /* per row */
    uint64_t word_count;
    uint32_t width_log2, segments; /* log2 of a row's lanes; segments of that many words per row */
    uint32_t chunk_count;
    vk_address head, bits, nan_words, present, cells, before, rows, row_segments, chunks, places,
        list;
    vk_address open_words, meshes, own, own_rows; /* for open cells */
} vk_workspace;

/* Addresses of surface_arrays. 0: not requested. With records, three arrays of vertices are one. */
typedef struct surface_outputs {
    vk_address positions, normals, values, indices, cells;
} surface_outputs;

typedef struct vk_surface_job {
    tml_context *tml;
    const surface_plan *plan;
    bool may_miss; /* samples may be missing, because of a mask or as NaN */
    /* True: scratch holds all that the parts need, and EMIT uses what COUNT left. False: layers
     * [z_first, z_end) of the volume are processed in slabs of thickness, and EMIT counts again. */
    bool is_whole;
    uint64_t z_first, z_end, thickness;
    uint64_t own_first, own_end; /* own layers of the current slab */
    surface_source sources[SOURCES];
    surface_outputs out; /* for an enqueued soup: its welded mesh in scratch */
    vk_address totals;   /* SURFACE_TOTAL_WORDS per part */
    vk_address states;   /* SURFACE_STATE_WORDS, for a recording */
    vk_address tables;   /* for open cells: SURFACE_OPEN_WORDS */
    vk_arena spaces;     /* the scratch from the workspaces on */
} vk_surface_job;

/* Bytes of scratch for the plan's stage: for the whole volume if that fits, otherwise for slabs. */
size_t surface_scratch_size(tml_context *tml, const void *desc);
surface_outputs surface_addresses_of(const surface_arrays *mesh);
/* Makes the job of a stage, in scratch of that size. Errors: UNSUPPORTED (shaders cannot number the
 * rows or words of the thinnest slab). */
tml_status surface_job_begin(tml_context *tml, const surface_plan *plan, void *scratch,
                             size_t scratch_size, vk_surface_job *out);
/* Sets the layers that a source's copy in scratch has for the current slab with its halo, and the
 * source's address. */
void surface_source_place(const vk_surface_job *job, surface_source *source, uint32_t copy);
/* Returns the workspace of a part in the current slab. */
vk_workspace surface_workspace(const vk_surface_job *job, uint32_t part);

/* ---- vulkan_surface_part.c: the shaders of a part in the current slab ------------------------ */

/* Returns the address of the part's SURFACE_TOTAL_WORDS in job->totals. */
vk_address surface_total_of(const vk_surface_job *job, uint32_t part);
/* Records the shaders up to the part's totals; records those that write its mesh to job->out. */
tml_status surface_count_part(const vk_surface_job *job, const vk_workspace *space, uint32_t part);
tml_status surface_emit_part(const vk_surface_job *job, const vk_workspace *space);

/* ---- vulkan_surface_topology.c --------------------------------------------------------------- */

/* For open cells: sets job->tables. Before COUNT, also clears the totals, since they report cells
 * that are undecided. */
tml_status surface_prepare_open(vk_surface_job *job);

#endif
