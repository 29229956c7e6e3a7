/* What a picture of a mesh is to take in. */
#ifndef CLI_PICTURE_FRAME_H
#define CLI_PICTURE_FRAME_H

#include "draw/render.h"

/* Sets desc's frame to the box of what holds 95 % of the mesh's area, and a margin, where the whole
 * is more than half as large again: crumbs far away do not make the rest small. Otherwise, and
 * where no area can be told, leaves desc as it is. */
void picture_frame_crop(tml_context *tml, const tml_mesh *mesh, render_desc *desc);

#endif
