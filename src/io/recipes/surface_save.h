/* What recipes that write meshes share. */
#ifndef TML_SURFACE_SAVE_H
#define TML_SURFACE_SAVE_H

#include <trommel/volumes.h>

/* tml_surface_save of a surface that is made whole. On failure *out may hold something. */
TML_MUST_CHECK tml_status tml_surface_save_whole(tml_context *tml, const char *path,
                                                 const tml_surface_save_desc *desc,
                                                 tml_surface_saved *out);
/* tml_surface_save, without emptying *out first: its isovalue and stages stay. */
TML_MUST_CHECK tml_status tml_surface_save_more(tml_context *tml, const char *path,
                                                const tml_surface_save_desc *desc,
                                                tml_surface_saved *out);
/* Makes a mask's samples bytes that are 0 or 1. type: any scalar. */
void tml_mark_samples(tml_type type, uint64_t count, const void *samples, uint8_t *out);

/* What recipes from a file to a file use of a desc: they have sources of their own. */
static inline tml_surface_save_desc save_of_recipe(const tml_surface_save_desc *given)
{
    tml_surface_save_desc save = {.slabs = {.write = given->slabs.write,
                                            .user = given->slabs.user,
                                            .memory = given->slabs.memory,
                                            .slab_layers = given->slabs.slab_layers,
                                            .components = given->slabs.components},
                                  .file = given->file,
                                  .making = given->making,
                                  .keep_empty = given->keep_empty,
                                  .copy_samples = given->copy_samples,
                                  .smooth = given->smooth};
    save.file.mesh.attributes = NULL;
    save.file.mesh.attribute_count = 0;
    return save;
}

/* Values of an attribute's samples in physical units. in and out may be one array. */
static inline void save_scale(const tml_volume *info, const float *in, uint64_t count, float *out)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = (float)(info->slope * (double)in[i] + info->intercept);
}

/* Returns status. Of failures *failed keeps the first one's side. */
static inline tml_status save_fails(tml_side *failed, tml_side side, tml_status status)
{
    if (status != TML_OK && *failed == TML_SIDE_NONE)
        *failed = side;
    return status;
}

#endif
