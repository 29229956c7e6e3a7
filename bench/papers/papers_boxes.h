/* The table of oriented_boxes.c. */
#ifndef PAPERS_BOXES_H
#define PAPERS_BOXES_H

#include <trommel/trommel.h>

/* Prints times and counts of collisions with each bounding volume: of tori of about so many
 * triangles; and if folder is not NULL, of its meshes/spot.obj, suzanne.obj and fandisk.obj,
 * subdivided. */
TML_MUST_CHECK tml_status boxes_print(tml_context *tml, uint64_t triangles, const char *folder,
                                      uint32_t repeats);

#endif
