/* Clips a mesh to the half spaces that a camera sees. */
#ifndef CLI_CLIP_H
#define CLI_CLIP_H

#include <trommel/extend.h>
#include <trommel/mesh.h>

typedef struct clip_mesh {
    tml_mesh
        mesh; /* the clipped mesh; if nothing was cut, the given mesh, whose arrays it shares */
    void *memory;
    size_t size;
} clip_mesh;

/* A half space: a x + b y + c z + d >= 0. */
typedef double clip_plane[4];

enum { CLIP_PLANES = 5 };

/* Keeps the part of mesh that lies inside all planes. Triangles that cross a plane are clipped;
 * normals and values at their new corners are interpolated. Clipped triangles come last, in order.
 * The caller releases *out by clip_free, also on failure. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status clip_make(tml_context *tml, const tml_mesh *mesh,
                                    clip_plane planes[CLIP_PLANES], clip_mesh *out);
void clip_free(tml_context *tml, clip_mesh *clipped);

#endif
