/* What the OpenGL ES engine's files share.
 *
 * A stream is a texture of 32-bit words in rows; a pass is one draw over a stretch of a target's
 * texels, whose fragment shader computes each texel from other textures. A shader cannot write
 * elsewhere than to its own texel, so every operation gathers: an output asks which input it is
 * made of.
 *
 * An operation is C that takes temporary textures and calls gl_draw. No operation reads anything back
 * but where gl_exact says so. Temporary textures go back to the pool when the operation ends.
 *
 * src/gl is the integer path (ES 3.0), src/gl_float the paths without integers, with functions of their
 * own behind the same table. */
#ifndef TML_GL_INTERNAL_H
#define TML_GL_INTERNAL_H

#include <trommel/gl.h>

#include "core/core_internal.h"
#include "gl/device/gl_load.h"

/* ---- textures -------------------------------------------------------------------------------- */

typedef enum gl_format {
    GL_FORMAT_WORDS,  /* R32UI: a word a texel; every buffer */
    GL_FORMAT_QUADS,  /* RGBA32UI: four words a texel; for temporaries */
    GL_FORMAT_BYTES,  /* RGBA8; the float tier */
    GL_FORMAT_FLOATS, /* RGBA32F; the float tier */
    GL_FORMAT_FLOAT,  /* R32F; for programs' parts */
} gl_format;

/* Texels in rows: number i lies at (i % width, i / width). Rows of the library's own textures are
 * 1 << gl_row_log2 texels, or fewer when there is but one row. */
typedef struct gl_texture {
    GLuint name,
        framebuffer; /* framebuffer: with the texture as its one attachment, made at first use */
    gl_format format;
    uint32_t width, height;
    bool is_lent;
    bool in_use, is_kept;    /* temporaries */
    uint32_t idle;           /* temporaries: operations since it was last taken */
    struct gl_texture *next; /* temporaries: the pool */
} gl_texture;

uint32_t gl_row_log2(const tml_context *tml);
/* Texels that a texture can have. */
uint64_t gl_texels_max(const tml_context *tml);

/* The texture of a buffer; NULL for no buffer. */
const gl_texture *gl_texture_of(const tml_context *tml, tml_buffer buffer);
const gl_texture *gl_slot_texture(const tml_slot *slot);

/* A temporary texture of at least texels texels (at least one), contents undefined, until the end of
 * the operation. Errors: OUT_OF_DEVICE_MEMORY with a message. */
tml_status gl_temporary(tml_context *tml, gl_format format, uint64_t texels,
                        const gl_texture **out);
/* One of this width and at least this height, for what has two dimensions. */
tml_status gl_temporary_image(tml_context *tml, gl_format format, uint32_t width, uint32_t height,
                              const gl_texture **out);
/* Gives one back early, so that the same operation may take it again. NULL is allowed. */
void gl_release(tml_context *tml, const gl_texture *temporary);
/* Keeps the temporaries that are taken now past the operation's end, until gl_release_kept: for what one
 * stage of a program leaves to the next. */
void gl_keep(tml_context *tml);
/* Gives back those that are not kept, and those that are. */
void gl_release_others(tml_context *tml);
void gl_release_kept(tml_context *tml);

/* ---- shaders --------------------------------------------------------------------------------- */

/* A fragment shader's text, its includes resolved, without #version. Those of a shaders folder
 * are declared, as gl_shader_NAME, in a generated header (src/gl/shaders: gl_shaders.h). They begin with
 *     #include "gl_common.glsl"
 * which brings the kernel vocabulary (kernels/kernel.h) and what it says itself. */
typedef struct gl_shader {
    const char *name;
    const char *const *pieces; /* of its text, in order; NULL ends them. Shaders share pieces */
} gl_shader;

/* ---- draws ----------------------------------------------------------------------------------- */

enum { GL_INPUTS_MAX = 10, GL_UNIFORMS_MAX = 24, GL_TARGETS_MAX = 4 };

/* uniform highp usampler2D NAME; (in C and GLSL alike) */
typedef struct gl_input {
    const char *name; /* a literal: compared by its address first */
    const gl_texture *texture;
} gl_input;

/* A uniform of one to four components: uint, uvec2 ... uvec4, int, float ... vec4. */
typedef struct gl_uniform {
    const char *name; /* a literal */
    char kind;        /* 'u', 'i' or 'f' */
    uint8_t components;
    union {
        uint32_t u[4];
        int32_t i[4];
        float f[4];
    };
} gl_uniform;
#define GL_UINT(n, x)                                                                              \
    {                                                                                              \
        .name = (n), .kind = 'u', .components = 1, .u = {(x) }                                     \
    }
#define GL_UINT2(n, x, y)                                                                          \
    {                                                                                              \
        .name = (n), .kind = 'u', .components = 2, .u = {(x), (y) }                                \
    }
#define GL_UINT3(n, x, y, z)                                                                       \
    {                                                                                              \
        .name = (n), .kind = 'u', .components = 3, .u = {(x), (y), (z) }                           \
    }
#define GL_UINT4(n, x, y, z, w)                                                                    \
    {                                                                                              \
        .name = (n), .kind = 'u', .components = 4, .u = {(x), (y), (z), (w) }                      \
    }
#define GL_INT1(n, x)                                                                              \
    {                                                                                              \
        .name = (n), .kind = 'i', .components = 1, .i = {(x) }                                     \
    }
#define GL_FLOAT1(n, x)                                                                            \
    {                                                                                              \
        .name = (n), .kind = 'f', .components = 1, .f = {(x) }                                     \
    }
#define GL_FLOAT2(n, x, y)                                                                         \
    {                                                                                              \
        .name = (n), .kind = 'f', .components = 2, .f = {(x), (y) }                                \
    }
#define GL_FLOAT3(n, x, y, z)                                                                      \
    {                                                                                              \
        .name = (n), .kind = 'f', .components = 3, .f = {(x), (y), (z) }                           \
    }
#define GL_FLOAT4(n, x, y, z, w)                                                                   \
    {                                                                                              \
        .name = (n), .kind = 'f', .components = 4, .f = {(x), (y), (z), (w) }                      \
    }

typedef struct gl_kernel_use {
    const tml_kernel *kernel; /* joined to the shader where it has #include "kernel_glue.glsl" */
    const tml_params *params;
    const tml_buffer *in; /* TML_MAX_INPUTS */
} gl_kernel_use;

typedef struct gl_draw_info {
    const gl_shader *shader;
    const char *defines;  /* "#define WIDE\n#define SIZE 4\n": variants of the shader; NULL: none */
    gl_kernel_use kernel; /* optional */
    const tml_length *length;             /* optional: what stream_length() in the shader returns */
    gl_input inputs[GL_INPUTS_MAX];       /* ended by a NULL name */
    gl_uniform uniforms[GL_UNIFORMS_MAX]; /* likewise */
    const gl_texture *targets[GL_TARGETS_MAX]; /* layout(location = t); same width; ended by NULL */
    uint64_t first, count; /* texels of the targets; others keep their contents. count 0: nothing */
    uint32_t area[4];      /* instead, if it has a width: x, y, width, height */
    /* The one target may also be among the inputs (by gl_texture): the draw goes to a temporary that
     * begins as a copy of the stretch, and is copied back. Fragments that are discarded, and words made
     * of an old value, then come out right. */
    bool in_place;
} gl_draw_info;

/* Enqueues a draw after the ones before. Compiles and links at first use, keyed by shader, defines,
 * kernel and types. Errors: UNSUPPORTED (a kernel's compiler message), OUT_OF_MEMORY,
 * OUT_OF_DEVICE_MEMORY, INTERNAL. */
tml_status gl_draw(tml_context *tml, const gl_draw_info *info);

/* Copies texels between textures of one format. Not within one texture. */
tml_status gl_copy(tml_context *tml, const gl_texture *out, uint64_t out_first,
                   const gl_texture *in, uint64_t in_first, uint64_t count);

/* ---- steps that operations share --------------------------------------------------------------- */

/* Can this kernel run here? Says no to double and 64-bit integers. */
bool gl_kernel_supported(tml_context *tml, const tml_kernel *kernel);

/* tml_map's draw, by a shader that makes word after word of the output and takes the words there
 * were from "old". */
tml_status gl_map_draw(tml_context *tml, const tml_map_desc *desc, const gl_shader *shader);

/* Stores a 64-bit number whose words are texel and texel + 1 (or, QUADS, x and y of texel) of from into
 * a one-element u32 or u64 buffer; none: nothing. A u32 stays at its largest value. */
tml_status gl_store_count(tml_context *tml, tml_buffer out, const gl_texture *from, uint64_t texel);

/* Reads texels [first, first + count) of a WORDS texture. Waits. */
tml_status gl_read_words(tml_context *tml, const gl_texture *texture, uint64_t first,
                         uint64_t count, uint32_t *out);

/* Where the context has exact_counts: waits, and lowers *count to the 64-bit number that lies as in
 * gl_store_count, so that fewer outputs are drawn. Otherwise does nothing. */
tml_status gl_exact(tml_context *tml, const gl_texture *from, uint64_t texel, uint64_t *count);

/* Elements to words. A target of elements of size bytes is drawn word by word: words that hold
 * elements [0, count). */
static inline uint64_t gl_words(uint64_t count, size_t size)
{
    return (count * size + 3) / 4;
}

/* ---- operations -------------------------------------------------------------------------------- */

/* Begins and ends an operation or another call that uses OpenGL: makes the context current and saves
 * the lent one's state; gives back temporaries and restores. */
tml_status gl_enter(tml_context *tml);
void gl_leave(tml_context *tml);

/* Defines gl_op_NAME from NAME_supports and NAME_run(tml, desc). */
#define GL_OP(NAME, DESC)                                                                          \
    static bool NAME##_supports_desc(tml_context *tml, const void *desc)                           \
    {                                                                                              \
        return NAME##_supports(tml, (const DESC *)desc);                                           \
    }                                                                                              \
    static tml_status NAME##_run_desc(tml_context *tml, const void *desc, void *scratch,           \
                                      size_t scratch_size)                                         \
    {                                                                                              \
        (void)scratch;                                                                             \
        (void)scratch_size;                                                                        \
        tml_status status = gl_enter(tml);                                                         \
        if (status == TML_OK) {                                                                    \
            status = NAME##_run(tml, (const DESC *)desc);                                          \
            gl_leave(tml);                                                                         \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    const tml_engine_op gl_op_##NAME = {NAME##_supports_desc, NULL, NAME##_run_desc};

#endif
