/* Trommel inside your own OpenGL ES program, or in a page with WebGL.
 *
 * Needs: OpenGL ES 3.0 or WebGL 2 for every operation with integers; OpenGL ES 2.0 or WebGL 1
 * for the few of the float tier (tml_gl_path). Nothing is linked: EGL is opened at run time.
 *
 * A buffer is an R32UI texture whose texels, row after row, are the array's 32-bit words (8- and
 * 16-bit elements packed, lowest byte first). The library's own have rows of a power of two. A
 * stream holds at most as many words as a texture has texels.
 *
 * The program chooses what it lends:
 *   nothing      tml_open makes a context of its own through EGL, surfaceless or on a pbuffer of
 *                one texel. During a call it is current on the calling thread; afterwards what
 *                was current before is so again.
 *   a context    tml_gl_desc.lend_current: the context that is current on the calling thread at
 *                tml_open, which must be so at every later call. Whatever state the library
 *                changes it restores; transform feedback is paused and resumed. Not touched, so
 *                not to be on during a call: a query of samples, which would count the library's
 *                fragments too; extensions that clip or grow what is drawn (clip distances,
 *                window rectangles, conservative rasterization). The error flags are taken by
 *                calls that read, wait or make textures.
 *   textures     tml_buffer_desc.gl; and tml_image.gl, where pictures are read (trommel/image.h)
 * What was lent is never destroyed.
 *
 * Scratch: textures from a pool of the context's, which grows at first use.
 * tml_reserve has nothing to do; the same call twice allocates only once.
 *
 * Without a readback: an output's size is the expected count. What an operation makes beyond it
 * is not written, its count buffer tells how much there would have been, and the call waits for
 * nothing. tml_gl_desc.exact_counts turns this round. One more call waits: tml_buffer_write to
 * part of a 32-bit word, at either end of a range of 8- or 16-bit elements or odd records, reads
 * that word first, unless the rest of it is past the buffer's end.
 *
 * What a program may hold on to. OpenGL keeps commands in order, and the library has no
 * recordings, so nothing that a program has enqueued is ever invalidated:
 *   a buffer's texture (tml_gl_texture): the same, of the same size, until tml_buffer_destroy or
 *                tml_close; no operation, growth of the pool, tml_reserve or other buffer moves
 *                it. Draws from it see what the calls before them wrote, and what comes later
 *                does not reach them. When the buffer is destroyed, the texture is deleted or
 *                becomes another buffer's: drop the name.
 *   outputs of an expected count:
 *                keep their size, and past the count what they held. A draw of all of them that
 *                fetches the count on the device stays right as counts change.
 *   compiled programs (tml_prepare_begin):
 *                kept until tml_close, and from one run to the next by tml_gl_cache, so a call that
 *                is made again compiles nothing. Other
 *                kernels, types and options need others, and so may lent textures whose rows are
 *                not the library's, and streams of quite another length.
 *   lent textures:
 *                must not be deleted or given other storage while their tml_buffer lives; draw to
 *                them and read them as you like between calls.
 *   of a lost context
 *                nothing: its textures' names mean nothing in the next.
 *
 * Lost contexts: where the driver tells of resets (OpenGL ES 3.2, GL_KHR_robustness,
 * GL_EXT_robustness; a context of the library's own asks for it) or raises an error, every call
 * that reads or waits looks, and returns DEVICE_LOST in place of what a lost context reads as;
 * so does every call after it. A lent context tells of resets if it was created so.
 * OUT_OF_DEVICE_MEMORY from these calls means that a draw since the last of them found no
 * memory.
 *
 * Limits: no doubles: sums, means and scans of f64 are UNSUPPORTED.
 *
 * The float tier, which is the paths after TML_GL_PATH_INTEGER, has no integers on the device:
 *   operations  tml_map; tml_reduce: sum, mean, minimum, maximum of scalars of up to 4 bytes;
 *               tml_compact and tml_expand (HISTOPYRAMID); tml_surface of u8, u16 and f32 with
 *               soup, without normals and filters. Everything else is UNSUPPORTED
 *   counts      exact below 2^24, and nothing may count further: no stream has more elements, no
 *               buffer more words. tml_expand waits for its total where the counts' type and
 *               number allow more than that, and is UNSUPPORTED where they do ask for it
 *   kernels     read f16, f32, their vectors, and integers of up to 16 bits; their own whole
 *               numbers are exact within 2^24. Kernels with bit operators are UNSUPPORTED where
 *               shaders are GLSL ES 1.00
 *   bits        every buffer moves unharmed, but f32 and its vectors hold numbers: NaN is NaN,
 *               with no bits of its own; subnormals are what the device makes of them, zero on
 *               many. (Copies keep all bits on FLOAT, and on PACKED.) */
#ifndef TROMMEL_GL_H
#define TROMMEL_GL_H

#include <trommel/core.h>
#include <trommel/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How values travel through textures, best first. Chosen by what the device is seen to do: every
 * kind of texture is made, drawn to and read back, and the values are compared (tml_gl_tests). */
typedef enum tml_gl_path {
    TML_GL_PATH_AUTO,
    TML_GL_PATH_INTEGER,      /* integer textures: ES 3.0, WebGL 2 */
    TML_GL_PATH_FLOAT,        /* float textures, read back as floats */
    TML_GL_PATH_FLOAT_PACKED, /* float textures, packed into RGBA8 to be read back */
    TML_GL_PATH_PACKED,       /* RGBA8 alone: every value packed and unpacked in between */
} tml_gl_path;
/* "integer", "float-packed" ...; never NULL. (Commands that take a name take float_packed, too.) */
TML_API const char *tml_gl_path_name(tml_gl_path path);

typedef void (*tml_gl_function)(void);

/* tml_open_desc.gl: copied by tml_open. */
typedef struct tml_gl_desc {
    bool lend_current;
    /* Where the functions of OpenGL ES are found. NULL: EGL's; in a page, Emscripten's. */
    tml_gl_function (*get_proc_address)(void *user, const char *name);
    void *user;
    /* Forces a path; UNSUPPORTED where the device failed its tests, with the first of them. The
     * last three draw with OpenGL ES 2.0 alone, and PACKED with GLSL ES 1.00, also on a device that
     * has more. (Float targets get what shaders of 1.00 call mediump; where the device has GLSL ES
     * 3.00, those of FLOAT and FLOAT_PACKED are compiled as that.) */
    tml_gl_path path;
    /* Operations whose output may be shorter than its buffer read their count and draw just that
     * many outputs: one wait a call, less to draw. tml_gl_exact_counts changes it. */
    bool exact_counts;
} tml_gl_desc;

/* Sets tml_gl_desc.exact_counts for the calls that follow, so that each call may choose. Errors:
 * UNSUPPORTED on other engines. */
TML_API TML_MUST_CHECK tml_status tml_gl_exact_counts(tml_context *tml, bool exact);

/* tml_buffer_desc.gl: your R32UI texture of width x height texels (any), a TEXTURE_2D of one level,
 * in place of one of the library's; how it is set to be filtered does not matter. Must outlive the
 * tml_buffer. Integer path only. */
typedef struct tml_gl_memory {
    uint32_t texture;
    uint32_t width, height;
} tml_gl_memory;

/* The texture behind a buffer, to fetch from it in your own shaders: word i is texel (i %
 * width, i / width). On the float tier it is RGBA8 with the word's bytes, lowest in r, or where
 * textures hold floats, of f32 and its vectors, RGBA32F with the value in r. UNSUPPORTED on
 * other engines. */
TML_API TML_MUST_CHECK tml_status tml_gl_texture(tml_context *tml, tml_buffer buffer,
                                                 tml_gl_memory *out);

/* GLSL to look up buffers in shaders of your own, to put between their "#version 300 es" with
 * precisions and the rest: tml_word(words, i), tml_float, tml_vec2 to tml_vec4, tml_uvec2 to
 * tml_uvec4, tml_count(words), with words a usampler2D of the texture that tml_gl_texture gives;
 * of lent textures below "#define TML_ANY_ROWS". On the float tier the functions take a highp
 * sampler2D, the texture's width and height as a vec2, and i as a float, below "precision highp
 * float". There is no tml_uvec, and there are tml_bytes, pack_float (a float to the four bytes of
 * its bits, each 0 to 255) and unpack_float (back). To draw a packed float into RGBA8, write
 * pack_float(x) / 255.0; of a texel fetched from RGBA8, take unpack_float(floor(255.0 * texel +
 * 0.5)). The context's until tml_close. NULL: another engine, or no memory; tml_last_error tells.
 */
TML_API const char *tml_gl_glsl(tml_context *tml);

/* A texture of yours with colours: float or normalised, as a sampler2D fetches them.
 * texture  a TEXTURE_2D whose first level is read; how it is set to be filtered does not matter
 * format   its sized internal format (GL_RGBA16F, GL_RGBA32F, GL_R11F_G11F_B10F, GL_RGB10_A2,
 *          GL_RGBA8, GL_SRGB8_ALPHA8 and their like); 0: one of these with four components
 * Named only during the call that takes it, whose draws come in the order of OpenGL's commands:
 * they see what was drawn before, and nothing of what is drawn later. */
typedef struct tml_gl_image {
    uint32_t texture;
    uint32_t format;
} tml_gl_image;

/* Between a texture of yours and a buffer: one draw, the caller's state restored, no wait, and
 * nothing allocated from the second time on. Element i of the buffer is the texel i of the texture,
 * row by row, or of a volume that is unrolled into it: slice z is tile (z % across, z / across),
 * where across is width / tile_width, and elements are in the order x, y, z. */
typedef struct tml_gl_transfer_desc {
    tml_gl_image
        image; /* export: of a format that the context can draw to; its other texels stay */
    uint32_t width, height;           /* texels, from the texture's first on */
    uint32_t tile_width, tile_height; /* both 0: no tiles; else width and height are multiples */
    uint32_t slices;                  /* tiles that have elements; 0: all */
    uint32_t channels;                /* scalars of an element, 1 to 4; 0: the format's */
    /* u8 (0 to 255 being 0.0 to 1.0), f16 or f32, scalars or vectors. On the float tier f32, or u8
     * with four channels. */
    tml_buffer buffer;
    uint64_t
        first; /* its scalar with which the first element begins; a multiple of those of a word */
} tml_gl_transfer_desc;

/* Import: numbers of a texture to a buffer; floats keep their bits in f32 where the device hands
 * them through. Export: the other way; components that the buffer has not are 0, alpha 1. Enqueue
 * only. A transfer has no length on the device: of a buffer that a call has filled in part, such
 * as the out of tml_compact, export writes the texels past the count, too, with what the buffer
 * held there. Clear the buffer before the call (tml_buffer_write, tml_map), or have your shader
 * stop at the count (tml_count of tml_gl_glsl). On the float tier the texture must be set to
 * GL_NEAREST and, for floats, WebGL 1 must have OES_texture_float. Errors: INVALID_ARGUMENT,
 * INVALID_HANDLE, UNSUPPORTED (other engines; a texture that cannot be drawn to), OUT_OF_MEMORY,
 * DEVICE_LOST. */
TML_API TML_MUST_CHECK tml_status tml_gl_import(tml_context *tml, const tml_gl_transfer_desc *desc);
TML_API TML_MUST_CHECK tml_status tml_gl_export(tml_context *tml, const tml_gl_transfer_desc *desc);

/* Makes one call of those up to tml_gl_end, as far as OpenGL is concerned: the context is made
 * current once, and a lent one's state saved once and given back at the end. For many small calls
 * in a row, above all in a page, where asking for state costs most. In between nothing else may use
 * the OpenGL context. Not nested. Errors: UNSUPPORTED on other engines, INVALID_ARGUMENT,
 * DEVICE_LOST. */
TML_API TML_MUST_CHECK tml_status tml_gl_begin(tml_context *tml);
TML_API void tml_gl_end(tml_context *tml);

/* The programs that the context has compiled, and those that it was given, to give to another
 * context or process; without a wait. Where the driver gives and takes binaries of programs (most
 * of OpenGL ES 3.0; not in a page, whose browser keeps them itself): elsewhere the header alone.
 * *size is the room in data (NULL: asks for the size) and becomes the bytes written: in less room
 * than all need, the header, their first 16 bytes, and what fits behind it, each where it fits.
 * Errors: UNSUPPORTED on other engines, DEVICE_LOST. */
TML_API TML_MUST_CHECK tml_status tml_gl_cache(tml_context *tml, void *data, size_t *size);
/* Adds what tml_gl_cache once gave, so that programs in it need no compiling. Programs are known by
 * the text of their shader and kernel. The first 16 bytes name the driver by its vendor, renderer
 * and version; data of others, or without them, is ignored, and so are damaged programs and what
 * follows them. What the driver refuses is compiled. Copied. Errors: UNSUPPORTED on other engines,
 * OUT_OF_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_gl_cache_add(tml_context *tml, const void *data, size_t size);

/* Tells the context that its OpenGL context was lost (in a page: the event webglcontextlost),
 * before a call that reads or waits finds out. From then on calls return DEVICE_LOST; close it and
 * open another. */
TML_API void tml_gl_lost(tml_context *tml);

/* Seconds of device time between begin and end for what was enqueued in between: by
 * EXT_disjoint_timer_query, or where there is none or the device says that its clock was disturbed
 * meanwhile (GL_GPU_DISJOINT), by the host's clock between two waits. Both wait. In between a lent
 * context must have no query of time of its own. UNSUPPORTED on other engines. */
TML_API TML_MUST_CHECK tml_status tml_gl_time_begin(tml_context *tml);
TML_API TML_MUST_CHECK tml_status tml_gl_time_end(tml_context *tml, double *seconds);

/* One of the tests that decided the path, as a line of a tree. */
typedef struct tml_gl_test {
    uint32_t depth; /* in the tree */
    bool passed;
    bool is_choice;  /* this line is the path that was chosen */
    char name[64];   /* "R32UI: draw and read back 256 words" */
    char detail[96]; /* what was seen where it failed, or a figure */
} tml_gl_test;
/* Writes at most capacity entries and returns how many there are; 0 on other engines. The tests of
 * the float tier are made only where one of its paths is forced, or AUTO finds that the integer
 * path fails. */
TML_API uint32_t tml_gl_tests(tml_context *tml, tml_gl_test *out, uint32_t capacity);

#ifdef __cplusplus
}
#endif
#endif
