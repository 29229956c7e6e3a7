/* A mesh cut off where a camera does not look. */
#ifndef CLI_CLIP_H
#define CLI_CLIP_H

#include <trommel/extend.h>
#include <trommel/mesh.h>

typedef struct clip_mesh {
    tml_mesh
        mesh; /* what is left, or all of the mesh that was given, whose arrays it shares then */
    void *memory;
    size_t size;
} clip_mesh;

/* A half space: a x + b y + c z + d >= 0. */
typedef double clip_plane[4];

enum { CLIP_PLANES = 5 };

/* Leaves of mesh what lies in all planes; triangles that cross one are cut, and normals and
 * values of their new corners are interpolated. Cut triangles come last, in order. Released by
 * clip_free, also on failure. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status clip_make(tml_context *tml, const tml_mesh *mesh,
                                    clip_plane planes[CLIP_PLANES], clip_mesh *out);
void clip_free(tml_context *tml, clip_mesh *clipped);

#endif
