/* Chooses the part of a mesh that a picture frames. */
#ifndef CLI_PICTURE_FRAME_H
#define CLI_PICTURE_FRAME_H

#include "draw/render.h"

/* If the whole mesh is more than 1.5 times as large as the box of 95 % of its area, sets desc's
 * frame to that box with a margin, so that distant fragments do not make the rest small. Otherwise,
 * and if no area can be determined, leaves desc unchanged. */
void picture_frame_crop(tml_context *tml, const tml_mesh *mesh, render_desc *desc);

#endif
