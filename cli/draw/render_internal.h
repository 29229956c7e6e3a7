/* Shared by the renderer's files: the camera, and the geometry of each pixel. */
#ifndef CLI_RENDER_INTERNAL_H
#define CLI_RENDER_INTERNAL_H

#include <trommel/kernel_begin.h>
#include <trommel/kernel_end.h>

#include "draw/raster.h"
#include "draw/render.h"

/* A viewpoint: three orthonormal axes and a projection. In camera coordinates, x points to the
 * right, y up, and z towards the viewer. */
typedef struct view {
    double axes[3][3];
    double offset[3];  /* camera coordinates of the picture's centre, or of the eye */
    double scale;      /* samples a unit length; in perspective at distance 1 */
    double depth_unit; /* what depth is measured in */
    bool perspective;
    uint32_t width, height; /* samples */
} view;

/* Samples along the side of a pixel, and of the shadow map; tiles along the shadow map. */
enum {
    RENDER_SAMPLES = 3,
    RENDER_SHADOW_SIDE = 2048,
    RENDER_SHADOW_TILES = 128,
    RENDER_ROWS_A_TASK = 8,
    RENDER_LEVEL_STEPS = 4096,
    RENDER_BACKGROUND_STEPS = 256,
    BLUR_LINES = 16, /* rows or columns that are blurred side by side */
};

/* The surface visible in one pixel, for the screen-space passes. depth: the distance along the view
 * axis; 0 for background. Normals are in camera coordinates and face the viewer. */
typedef struct pixel {
    float depth;
    tml_vec3 normal;
    bool is_inner; /* the surface is seen from its inside */
} pixel;

/* Lightness of one pixel: 1 is open to the sky, and lit. */
typedef struct visibility {
    float ambient;
    float key;
} visibility;

/* All data of one picture while it is rendered. */
typedef struct scene {
    tml_context *tml;
    const tml_mesh *mesh;
    const render_desc *desc;
    const float *normals; /* the mesh's, or sums; NULL: flat triangles */
    float *sums;          /* normals computed here */
    view camera;          /* on the grid of samples */
    view light;
    double extent; /* of the mesh, in world units */
    double detail; /* of what the picture shows of it */
    double floor;  /* lowest height */
    tml_vec3 up;   /* the world's up and the key light's direction, in camera coordinates */
    tml_vec3 key;
    raster_vertex *vertices;
    raster_target target;
    raster_target shadow;
    float shadow_tiles[RENDER_SHADOW_TILES * RENDER_SHADOW_TILES]; /* the nearest depth of each */
    float to_light[3][4]; /* a matrix: from the camera's coordinates to the shadow map's */
    raster_target glow;   /* only the lit triangles, as the camera sees them; depths NULL: none */
    uint64_t *lit_indices;
    pixel *pixels;
    float *depths; /* of pixels, a copy: occlusion reads only depths, over a wide range */
    visibility *visible;
    visibility *unsmoothed;
    float *blur;        /* scratch: room for a picture whose sides are BLUR_LINES longer */
    float *floor_light; /* per pixel: how much light the floor receives; 1 if there is no floor */
    float value_lower, value_upper;
    tml_vec3 color, background_color; /* linear */
    float level_from[257];            /* the least linear light of each byte */
    uint8_t level_near[RENDER_LEVEL_STEPS +
                       1]; /* a byte that is not above that of a light in 0 ... 1 */
    float background_light[RENDER_BACKGROUND_STEPS +
                           2]; /* from the picture's centre to its corners */
    uint8_t *rgba;
} scene;

/* The point at sample position x, y with that depth, in camera coordinates relative to the eye. */
tml_vec3 render_point(const view *camera, float x, float y, float depth);
/* One pass over the picture's rows, in bands that run in parallel. */
typedef void (*render_pass)(scene *s, uint32_t first, uint32_t last);

/* Runs a pass over the rows, and reports its progress from one fraction of the picture to another.
 * Returns false if cancelled. */
bool render_rows(scene *s, render_pass pass, const char *stage, double from, double to);

/* Fills s->pixels and s->depths: in the screen-space passes, the nearest sample of a pixel
 * represents the pixel. */
void render_pixels(scene *s, uint32_t first, uint32_t last);
/* The colour of each pixel: fills s->rgba. */
void render_colors(scene *s, uint32_t first, uint32_t last);
/* Fills what does not change from pixel to pixel. */
void render_make_tables(scene *s);

/* Computes the ambient occlusion, key light and floor shadow of each pixel, smoothed: fills
 * s->visible and s->floor_light from s->pixels and s->shadow. Progress and result as in
 * render_rows. */
bool render_visibility(scene *s, double from, double to);

#endif
