/* Shared by the files of the surface on the OpenGL ES engine. */
#ifndef TML_GL_SURFACE_INTERNAL_H
#define TML_GL_SURFACE_INTERNAL_H

#include "gl/gl_parts.h"
#include "surface/surface_space.h"

/* Words of a part's totals (surface_totals.frag). */
enum { SURFACE_VERTICES, SURFACE_TRIANGLES, SURFACE_CELLS, SURFACE_TOTALS = 4 };

/* COUNT's results for a part, which EMIT reads. */
typedef struct gl_workspace {
    const surface_part *part;
    uint32_t pad;
    uint32_t size[3]; /* samples, with the pad */
    uint32_t quads;   /* per row; a quad has the bits of 128 columns */
    uint64_t quad_count;
    const gl_texture *bits;
    const gl_texture *missing_any, *whole_cells; /* if samples may be missing */
    gl_pyramid edges;                            /* over crossed edges, in the order of vertices */
    gl_pyramid triangles;                        /* over the triangles of every 32 cells */
    const gl_texture *firsts;                    /* first vertex of each quad of edges */
} gl_workspace;

/* A mesh's arrays, as WORDS. NULL: not requested. */
typedef struct surface_textures {
    const gl_texture *positions, *normals, *values, *indices, *cells;
} surface_textures;

typedef struct gl_surface_job {
    tml_context *tml;
    const surface_plan *plan;
    const gl_texture *volume; /* WORDS */
    const gl_texture *head;   /* limits of an isovalue on the device (surface_iso.frag) */
    const gl_texture *totals; /* WORDS, SURFACE_TOTALS per part */
    surface_textures out;     /* for an enqueued soup: its welded mesh */
    uint32_t options;         /* SURFACE_... of surface/gpu/surface_options.k.h, for all shaders */
    bool may_miss;            /* samples may be missing, because of a mask or as NaN */
} gl_surface_job;

/* Defines for the shaders of a job: TYPE, OPTIONS, MISSING, then more. */
typedef struct surface_defines {
    char text[256];
} surface_defines;
surface_defines surface_defines_of(const gl_surface_job *job, uint32_t options, const char *more);

/* The uniforms of gl_surface.glsl. */
#define SPACE_UNIFORMS(space)                                                                      \
    GL_UINT3("size", (space)->size[0], (space)->size[1], (space)->size[2]),                        \
        gl_divisor("quads", (space)->quads), gl_divisor("size_y", (space)->size[1])

/* A part's places in the outputs. */
typedef struct surface_places {
    uint64_t vertex_first, vertex_count; /* if is_bounded, the counts are upper bounds */
    uint64_t triangle_first, triangle_count;
    bool is_bounded;   /* the device's totals may be less than the counts */
    uint32_t total_at; /* the part's first word of totals */
} surface_places;

/* An output array and its elements. */
typedef struct surface_array {
    const gl_texture *to;    /* NULL: not requested */
    const gl_texture *quads; /* the elements, one quad each */
    uint32_t components,
        skip;     /* components of a quad to copy, and to skip before; words of a record */
    bool is_wide; /* words of 64 bits */
    const surface_layout *record; /* for vertices in records, whose quads lack the normals */
    const gl_texture *normals;    /* for records: the normals, one quad each; NULL: none */
} surface_array;

/* Converts triangles' 32-bit indices to 16 bits. is_bounded: only of those in job->totals. */
tml_status gl_surface_narrow(const gl_surface_job *job, const gl_texture *indices,
                             uint64_t triangle_count, bool is_bounded);

/* Writes a part's vertices and triangles. gl_surface_emit.c */
tml_status gl_surface_emit(const gl_surface_job *job, const gl_workspace *space,
                           const surface_places *places);

surface_textures gl_surface_textures(const surface_arrays *mesh);

/* Gathers the plan's outputs from a welded mesh of triangle_count triangles. is_bounded: only the
 * triangles in job->totals, and only vertices below vertex_room exist. */
tml_status gl_surface_soup(const gl_surface_job *job, const surface_textures *welded,
                           uint64_t triangle_count, bool is_bounded, uint64_t vertex_room);

#endif
