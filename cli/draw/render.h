/* Renders a picture of a mesh: a perspective camera that frames the whole mesh, a key light with
 * shadows, sky and ground light with ambient occlusion, smooth normals, anti-aliasing. The same
 * mesh and settings give the same picture for any number of threads. */
#ifndef CLI_RENDER_H
#define CLI_RENDER_H

#include <trommel/extend.h>
#include <trommel/surface.h>

typedef enum render_up {
    RENDER_UP_Z,
    RENDER_UP_Y,
    RENDER_UP_X,
    RENDER_UP_MINUS_Z,
    RENDER_UP_MINUS_Y,
    RENDER_UP_MINUS_X,
} render_up;

typedef enum render_background {
    RENDER_STUDIO, /* light grey, with the mesh's shadow on a floor */
    RENDER_PLAIN,  /* background_color */
    RENDER_CLEAR,  /* none: transparent */
} render_background;

/* A camera that the user gives: it looks along -z of its axes, with x to the right and y up. */
typedef struct render_camera {
    double axes[3][3]; /* orthonormal */
    double eye[3];     /* in the coordinates of mesh->positions */
    double angle;      /* radians from the picture's bottom to its top */
} render_camera;

typedef struct render_desc {
    uint32_t width, height;     /* pixels; up to RENDER_MAX_SIDE each */
    double azimuth, elevation;  /* degrees; 0, 0 looks along +y (up z), +90 elevation down */
    render_up up;               /* the world's axis that points up in the picture */
    float color[3];             /* of the surface, sRGB 0 ... 1, unless given below */
    const tml_mesh_part *parts; /* two or more: a colour for each */
    uint32_t part_count;
    bool color_by_value;            /* a scale over the range of mesh->values */
    const uint8_t *triangle_colors; /* three per triangle, sRGB, replace all these; NULL: none */
    /* Triangles, by number, that glow and show through what hides them. */
    const uint32_t *lit;
    uint64_t lit_count;
    float lit_color[3]; /* sRGB */
    float wire;         /* width of the triangles' edges in pixels; 0: none are drawn */
    /* The camera frames this box, in the coordinates of mesh->positions, from the distance at which
     * it would frame the whole mesh. lower = upper: the whole mesh. */
    double frame_lower[3], frame_upper[3];
    bool crops; /* camera, light and floor ignore all parts of the mesh outside the frame */
    /* Replaces azimuth, elevation and frame. No triangle may reach behind the eye (clip.h). NULL:
     * none */
    const render_camera *camera;
    render_background background;
    float background_color[3]; /* sRGB */
} render_desc;

enum { RENDER_MAX_SIDE = 8192 };

/* The world's direction that is up. */
void render_upwards(render_up up, double out[3]);
/* The camera of desc's picture of mesh. Returns false if the mesh has no vertex. */
bool render_find_camera(tml_context *tml, const tml_mesh *mesh, const render_desc *desc,
                        render_camera *out);

/* Draws mesh into rgba (width x height x 4 bytes, sRGB, top row first; opaque except with
 * RENDER_CLEAR). Allocates 12 bytes per vertex (24 without normals), about 6 bytes per triangle
 * that covers a sample, and about 120 bytes per pixel (190 with lit triangles). A mesh with nothing
 * to show gives the background. Errors: OUT_OF_MEMORY, UNSUPPORTED (2^32 triangles or more),
 * INVALID_ARGUMENT, CANCELLED. */
TML_MUST_CHECK tml_status render_mesh(tml_context *tml, const tml_mesh *mesh,
                                      const render_desc *desc, uint8_t *rgba);

#endif
