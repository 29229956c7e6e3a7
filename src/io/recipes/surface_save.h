/* Shared by the recipes that write meshes. */
#ifndef TML_SURFACE_SAVE_H
#define TML_SURFACE_SAVE_H

#include <trommel/volumes.h>

/* tml_surface_save for a surface that is made whole in memory. On failure *out may hold results. */
TML_MUST_CHECK tml_status tml_surface_save_whole(tml_context *tml, const char *path,
                                                 const tml_surface_save_desc *desc,
                                                 tml_surface_saved *out);
/* tml_surface_save, except that isovalue and stages of *out are kept. */
TML_MUST_CHECK tml_status tml_surface_save_more(tml_context *tml, const char *path,
                                                const tml_surface_save_desc *desc,
                                                tml_surface_saved *out);
/* Converts a mask's samples, of more than a byte each, to bytes that are 0 or 1. */
void tml_mark_samples(tml_type type, uint64_t count, const void *samples, uint8_t *out);

/* Returns the settings that a recipe from file to file uses; it has its own sources. */
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

/* Converts an attribute's samples to physical units. in and out may be the same array. */
static inline void save_scale(const tml_volume *info, const float *in, uint64_t count, float *out)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = (float)(info->slope * (double)in[i] + info->intercept);
}

/* Returns status. *failed becomes the side of the first failure. */
static inline tml_status save_fails(tml_side *failed, tml_side side, tml_status status)
{
    if (status != TML_OK && *failed == TML_SIDE_NONE)
        *failed = side;
    return status;
}

#endif
