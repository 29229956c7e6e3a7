/* What tml_volume_to_mesh takes of tml_surface_save. */
#ifndef TML_SURFACE_SAVE_H
#define TML_SURFACE_SAVE_H

#include <trommel/io.h>

/* As tml_surface_save. attribute, if not NULL, has slope and intercept of the values in
 * desc.slabs.surface.attribute. */
TML_MUST_CHECK tml_status tml_surface_save_scaled(tml_context *tml, const char *path,
                                                  const tml_surface_save_desc *desc,
                                                  const tml_volume *attribute,
                                                  tml_surface_saved *out);
/* Makes a mask's samples bytes that are 0 or 1. type: any scalar. */
void tml_mark_samples(tml_type type, uint64_t count, const void *samples, uint8_t *out);

#endif
