/* Trommel inside your own OpenGL ES program, or in a page with WebGL: for programs that own the
 * context or textures, or draw from the library's. docs/opengl.md has examples, what a program may
 * hold on to, and lost contexts.
 *
 *     const tml_gl_desc mine = {.lend_current = true};
 *     tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &mine}, &tml);
 *     tml_compact(tml, &cull);                       draws; nothing waits
 *     tml_gl_texture(tml, kept, &texture);           for a shader of yours, with tml_gl_glsl
 *
 * Requires: OpenGL ES 3.0 or WebGL 2 for operations with integers; OpenGL ES 2.0 or WebGL 1 for the
 * few of the float tier (tml_gl_path). Nothing is linked: EGL is opened at run time.
 *
 * A buffer is an R32UI texture whose texels, row after row, are the array's 32-bit words (8- and
 * 16-bit elements packed, lowest byte first). The library's own have rows of a power of two. A
 * stream holds at most as many words as a texture has texels. Scratch is textures of a pool, which
 * grows when first used: tml_reserve has nothing to do.
 *
 * What a program may give, and is never destroyed:
 *   nothing    tml_open makes a context through EGL, which is current during a call only
 *   a context  tml_gl_desc.lend_current: the one that is current on the calling thread at tml_open,
 *              and must be so at every call. The library restores the state that it changes, pauses
 *              transform feedback, and takes the error flags in calls that read, wait or make
 *              textures. During a call there must be no query of samples, and no extension that
 *              clips or grows what is drawn (clip distances, window rectangles, conservative
 *              rasterization)
 *   textures   tml_buffer_desc.gl; tml_image.gl (trommel/image.h)
 *
 * Counts: an output's size is the expected count. What an operation makes beyond it is not written,
 * and the count buffer has how much there would have been. tml_gl_desc.exact_counts changes that.
 * One more call waits: tml_buffer_write to part of a 32-bit word first reads that word, unless the
 * rest of it is past the buffer's end.
 *
 * Lost contexts: calls that read or wait return DEVICE_LOST if the context was lost, and so does
 * every later call. OUT_OF_DEVICE_MEMORY from them: an earlier draw found no memory.
 *
 * Limits: no doubles: sums, means and scans of f64 are UNSUPPORTED. docs/opengl.md has the float
 * tier's.
 *
 * Every call here returns UNSUPPORTED for a context on another engine. */
#ifndef TROMMEL_GL_H
#define TROMMEL_GL_H

#include <trommel/core.h>
#include <trommel/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- opening --------------------------------------------------------------------------------- */

/* How values travel through textures, best first. The device decides: at tml_open every kind of
 * texture is made, drawn to and read back, and the values are compared (tml_gl_tests). */
typedef enum tml_gl_path {
    TML_GL_PATH_AUTO,
    TML_GL_PATH_INTEGER,      /* integer textures: ES 3.0, WebGL 2 */
    TML_GL_PATH_FLOAT,        /* float textures, read back as floats */
    TML_GL_PATH_FLOAT_PACKED, /* float textures, packed into RGBA8 to be read back */
    TML_GL_PATH_PACKED,       /* RGBA8 alone: every value packed and unpacked in between */
} tml_gl_path;
/* Returns a path's name, "integer" or "float-packed"; never NULL. */
static inline const char *tml_gl_path_name(tml_gl_path path)
{
    return path == TML_GL_PATH_AUTO           ? "auto"
           : path == TML_GL_PATH_INTEGER      ? "integer"
           : path == TML_GL_PATH_FLOAT        ? "float"
           : path == TML_GL_PATH_FLOAT_PACKED ? "float-packed"
           : path == TML_GL_PATH_PACKED       ? "packed"
                                              : "unknown";
}

typedef void (*tml_gl_function)(void);

/* tml_open_desc.gl, copied by tml_open. */
typedef struct tml_gl_desc {
    bool lend_current;
    /* Finds the functions of OpenGL ES. NULL: EGL's; in a page, Emscripten's. */
    tml_gl_function (*get_proc_address)(void *user, const char *name);
    void *user;
    /* Forces a path; UNSUPPORTED if the device fails its tests. The last three draw with OpenGL ES
     * 2.0 alone, PACKED with GLSL ES 1.00, also on a device that has more. */
    tml_gl_path path;
    /* Operations whose output may be shorter than its buffer read their count and draw so many
     * outputs: one wait per call, less to draw. */
    bool exact_counts;
} tml_gl_desc;

/* Sets tml_gl_desc.exact_counts for the calls that follow. */
TML_API TML_MUST_CHECK tml_status tml_gl_exact_counts(tml_context *tml, bool exact);

/* Tells the context that its OpenGL context was lost (in a page: the event webglcontextlost),
 * before a call that waits finds out.
 * After: calls return DEVICE_LOST; close the context and open another. */
TML_API void tml_gl_lost(tml_context *tml);

/* One of the tests that decided the path, as a line of a tree. */
typedef struct tml_gl_test {
    uint32_t depth; /* in the tree */
    bool passed;
    bool is_choice;  /* this line is the path that was chosen */
    char name[64];   /* "R32UI: draw and read back 256 words" */
    char detail[96]; /* what was seen if it failed, or a figure */
} tml_gl_test;
/* Writes at most capacity tests to out. The float tier is tested only if one of its paths is
 * forced, or AUTO finds that the integer path fails.
 * Returns: how many there are; 0 on other engines. */
TML_API uint32_t tml_gl_tests(tml_context *tml, tml_gl_test *out, uint32_t capacity);

/* ---- textures -------------------------------------------------------------------------------- */

/* tml_buffer_desc.gl: a texture of the program's in place of the library's: R32UI, a TEXTURE_2D of
 * one level, of any width and height; its filter does not matter. It must outlive the tml_buffer
 * and keep its storage; the program may draw to it and read it between calls. Integer path only. */
typedef struct tml_gl_memory {
    uint32_t texture;
    uint32_t width, height;
} tml_gl_memory;

/* Writes the texture behind a buffer, to fetch from it in a shader of the program's: word i is
 * texel (i % width, i / width). Float tier: RGBA8 with the word's bytes, lowest in r; if textures
 * hold floats, of f32 and its vectors RGBA32F with the value in r.
 * After: the texture stays the same, of the same size, until tml_buffer_destroy or tml_close. */
TML_API TML_MUST_CHECK tml_status tml_gl_texture(tml_context *tml, tml_buffer buffer,
                                                 tml_gl_memory *out);

/* Returns GLSL that looks up buffers, for shaders of the program's, to stand after their "#version
 * 300 es" and precisions: tml_word(words, i), tml_float, tml_vec2 to tml_vec4, tml_uvec2 to
 * tml_uvec4, tml_count(words). words is a usampler2D of the texture that tml_gl_texture writes; of
 * a texture of the program's after "#define TML_ANY_ROWS". docs/opengl.md has the float tier's.
 * Returns: the context's text, until tml_close; NULL: another engine, or no memory. */
TML_API const char *tml_gl_glsl(tml_context *tml);

/* A texture of the program's with colours, float or normalised, fetched by a sampler2D. It is named
 * during the call alone, whose draws see what was drawn before and nothing that is drawn later.
 * texture  a TEXTURE_2D whose first level is read; its filter does not matter
 * format   its sized internal format (GL_RGBA16F, GL_RGBA32F, GL_R11F_G11F_B10F, GL_RGB10_A2,
 *          GL_RGBA8, GL_SRGB8_ALPHA8 and their like); 0: one of these with four components */
typedef struct tml_gl_image {
    uint32_t texture;
    uint32_t format;
} tml_gl_image;

/* A transfer between a texture of the program's and a buffer. Element i is texel i, row by row; or,
 * of a volume unrolled into tiles, slice z is tile (z % across, z / across), where across is width
 * / tile_width, and elements are in the order x, y, z. */
typedef struct tml_gl_transfer_desc {
    tml_gl_image image; /* export: of a format that can be drawn to; its other texels stay */
    /* u8 (0 to 255 are 0.0 to 1.0), f16 or f32, scalars or vectors. Float tier: f32, or u8 with
     * four channels. */
    tml_buffer buffer;
    uint64_t first; /* scalar at which the first element begins; a multiple of those in a word */
    uint32_t width, height;           /* texels, from the texture's first on */
    uint32_t tile_width, tile_height; /* both 0: no tiles; else width and height are multiples */
    uint32_t slices;                  /* tiles that have elements; 0: all */
    uint32_t channels;                /* scalars per element, 1 to 4; 0: the format's */
} tml_gl_transfer_desc;

/* Enqueues a draw that copies a texture's numbers to a buffer. Floats keep their bits in f32 if the
 * device passes them through. Float tier: the texture is set to GL_NEAREST; WebGL 1 requires
 * OES_texture_float for floats.
 * Memory: nothing from the second time on.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, UNSUPPORTED, OUT_OF_MEMORY, DEVICE_LOST. */
TML_API TML_MUST_CHECK tml_status tml_gl_import(tml_context *tml, const tml_gl_transfer_desc *desc);
/* Enqueues the other way. Components that the buffer lacks are 0, alpha 1. Texels past a count on
 * the device get what the buffer holds there. Errors: as tml_gl_import; UNSUPPORTED also for a
 * texture that cannot be drawn to. */
TML_API TML_MUST_CHECK tml_status tml_gl_export(tml_context *tml, const tml_gl_transfer_desc *desc);

/* ---- many calls ------------------------------------------------------------------------------ */

/* Makes the calls up to tml_gl_end one for OpenGL: the context is made current once, and the state
 * of the program's saved and restored once. For many small calls, above all in a page, where asking
 * for state costs most. Nothing else may use the OpenGL context between. Not nested.
 * Errors: INVALID_ARGUMENT, DEVICE_LOST. */
TML_API TML_MUST_CHECK tml_status tml_gl_begin(tml_context *tml);
TML_API void tml_gl_end(tml_context *tml);

#ifdef __cplusplus
}
#endif
#endif
