/* Declarations that the OpenGL ES engine's files share.
 *
 * A stream is a texture of 32-bit words, row by row. A pass is one draw over a range of a target's
 * texels, whose fragment shader computes each texel from other textures. A fragment cannot scatter,
 * so operations gather: for each output, they find its input. The exception is tml_scatter, which
 * draws points, since a point can be anywhere.
 *
 * An operation takes temporary textures and calls gl_draw. It reads nothing back, except as
 * documented at gl_exact. Temporary textures return to the pool when the operation ends.
 *
 * src/gl is the integer path (OpenGL ES 3.0). src/gl_float has the paths without integers: other
 * functions behind the same table. */
#ifndef TML_GL_INTERNAL_H
#define TML_GL_INTERNAL_H

#include <trommel/gl.h>

#include "core/core_internal.h"
#include "gl/device/gl_load.h"

/* ---- textures -------------------------------------------------------------------------------- */

typedef enum gl_format {
    GL_FORMAT_WORDS,   /* R32UI: a word per texel; every buffer */
    GL_FORMAT_QUADS,   /* RGBA32UI: four words per texel; for temporaries */
    GL_FORMAT_BYTES,   /* RGBA8; the float tier */
    GL_FORMAT_FLOATS,  /* RGBA32F; the float tier */
    GL_FORMAT_FLOAT,   /* R32F; for programs' parts */
    GL_FORMAT_COLOURS, /* the caller's, of any format that a sampler2D fetches floats from */
} gl_format;

/* Texels in rows: texel i is at (i % width, i / width). Rows of the library's own textures have 1
 * << gl_row_log2 texels; a texture of a single row may have fewer. */
typedef struct gl_texture {
    GLuint name,
        framebuffer; /* framebuffer: its only attachment is the texture; created at first use */
    gl_format format;
    uint32_t width, height;
    bool is_lent;
    bool in_use, is_kept;    /* temporaries */
    uint32_t idle;           /* temporaries: operations since it was last used */
    struct gl_texture *next; /* temporaries: next in the pool */
    void *mapped;            /* buffers: between map and unmap */
    unsigned char *host;     /* buffers: the caller's memory, in place of a texture */
} gl_texture;

uint32_t gl_row_log2(const tml_context *tml);
/* The most texels of a texture. */
uint64_t gl_texels_max(const tml_context *tml);
/* The number of iterations, of all loops of a fragment together, after which the driver silently
 * ends its loops; 0 if there is no limit. */
uint64_t gl_loop_limit(const tml_context *tml);

/* The texture of a buffer; NULL: there is no buffer. */
const gl_texture *gl_texture_of(const tml_context *tml, tml_buffer buffer);
const gl_texture *gl_slot_texture(const tml_slot *slot);

/* Takes a temporary texture of at least texels texels, at least one, with undefined contents; it
 * lives until the operation ends. Errors: OUT_OF_DEVICE_MEMORY, with a message. */
tml_status gl_temporary(tml_context *tml, gl_format format, uint64_t texels,
                        const gl_texture **out);
/* The same with this width and at least this height, for two-dimensional contents. */
tml_status gl_temporary_image(tml_context *tml, gl_format format, uint32_t width, uint32_t height,
                              const gl_texture **out);
/* Releases a temporary early, so that the same operation may take it again. NULL is allowed. */
void gl_release(tml_context *tml, const gl_texture *temporary);
/* Keeps the temporaries that are in use now past the operation's end, until gl_release_kept: for
 * data between stages of a program. */
void gl_keep(tml_context *tml);
/* Release the temporaries that are not kept, and those that are. */
void gl_release_others(tml_context *tml);
void gl_release_kept(tml_context *tml);

/* Can shaders fetch floats from this texture, and has it at least that width and height? *out: an
 * input of draws, for a uniform highp sampler2D. *components: of the format. Errors:
 * INVALID_ARGUMENT, UNSUPPORTED. Messages name the call's field. */
tml_status gl_colours_check(tml_context *tml, const char *call, const char *field,
                            const tml_gl_image *image, uint32_t width, uint32_t height,
                            gl_texture *out, uint32_t *components);

/* ---- shaders --------------------------------------------------------------------------------- */

/* A fragment shader's text without #version, with its includes resolved. A generated header
 * declares the shaders of a folder as gl_shader_NAME (for src/gl/shaders: gl_shaders.h). They begin
 * with
 *     #include "gl_common.glsl"
 * which includes the kernel vocabulary (kernels/kernel.h). */
typedef struct gl_shader {
    const char *name;
    const char *const *pieces; /* of the text, in order; NULL ends them. Shaders share pieces */
} gl_shader;

/* ---- draws ----------------------------------------------------------------------------------- */

enum { GL_INPUTS_MAX = 10, GL_UNIFORMS_MAX = 24, GL_TARGETS_MAX = 4 };

/* uniform highp usampler2D NAME; (in C and GLSL alike) */
typedef struct gl_input {
    const char *name; /* a literal: its address is compared first */
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
    const tml_kernel *kernel; /* put into the shader at #include "kernel_glue.glsl" */
    const tml_params *params;
    const tml_buffer *in; /* TML_MAX_INPUTS */
} gl_kernel_use;

typedef struct gl_draw_info {
    const gl_shader *shader;
    const char *defines;  /* variant of the shader: "#define WIDE\n#define SIZE 4\n"; NULL: none */
    gl_kernel_use kernel; /* optional */
    const tml_length *length;                  /* optional: gives stream_length() in the shader */
    gl_input inputs[GL_INPUTS_MAX];            /* ended by a NULL name */
    gl_uniform uniforms[GL_UNIFORMS_MAX];      /* the same */
    const gl_texture *targets[GL_TARGETS_MAX]; /* layout(location = t); one width; NULL ends */
    uint64_t first, count; /* texels of the targets; others keep their contents. count 0: no draw */
    uint32_t area[4];      /* replaces first and count if it has a width: x, y, width, height */
    /* The single target is also an input (gl_texture). The draw then writes to a temporary, which
     * begins as a copy of the range and is copied back afterwards. So discarded fragments, and
     * bytes of a word that must not change, keep their values. */
    bool in_place;
    /* Draws count points instead: the shader's text is also compiled as a vertex shader, with
     * TML_VERTEX defined, which places the points over the targets. */
    bool are_points;
} gl_draw_info;

/* Enqueues a draw after the earlier ones. Compiles and links at first use; programs are cached by
 * shader, defines, kernel and types. Errors: UNSUPPORTED (with the compiler's message for a
 * kernel), OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, INTERNAL. */
tml_status gl_draw(tml_context *tml, const gl_draw_info *info);

/* Copies texels between two textures of one format. */
tml_status gl_copy(tml_context *tml, const gl_texture *out, uint64_t out_first,
                   const gl_texture *in, uint64_t in_first, uint64_t count);

/* ---- steps that operations share ------------------------------------------------------------- */

/* Does the engine support this kernel? It supports neither double nor 64-bit integers. */
bool gl_kernel_supported(tml_context *tml, const tml_kernel *kernel);

/* The draw of tml_map, by a shader that computes the output word by word, and reads bytes that must
 * not change from "old". */
tml_status gl_map_draw(tml_context *tml, const tml_map_desc *desc, const gl_shader *shader);

/* Stores a 64-bit number to a buffer of one u32 or u64, if there is one. The number is in texels
 * texel and texel + 1 of from (QUADS: x and y of texel). A u32 saturates. */
tml_status gl_store_count(tml_context *tml, tml_buffer out, const gl_texture *from, uint64_t texel);

/* Reads texels [first, first + count) of a WORDS texture. Waits. */
tml_status gl_read_words(tml_context *tml, const gl_texture *texture, uint64_t first,
                         uint64_t count, uint32_t *out);
/* Writes texels [first, first + count) of a texture, four bytes each. Not for a texture of
 * QUADS. */
void gl_write_words(tml_context *tml, const gl_texture *texture, uint64_t first, uint64_t count,
                    const void *in);

/* If the context has exact_counts, waits, and lowers *count to the 64-bit number at texel (as in
 * gl_store_count), so that fewer outputs are drawn. Otherwise does nothing. */
tml_status gl_exact(tml_context *tml, const gl_texture *from, uint64_t texel, uint64_t *count);

/* A uniform uvec3 for length_at() of gl_common.glsl. */
gl_uniform gl_length_place(const tml_context *tml, const char *name, const tml_length *length);

/* The words that hold elements [0, count) of size bytes: a target of elements is drawn word by
 * word. */
static inline uint64_t gl_words(uint64_t count, size_t size)
{
    return (count * size + 3) / 4;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* gl_enter begins an operation or another call that uses OpenGL: makes the context current, and
 * saves the state of a caller-owned context. gl_leave ends it: releases temporaries, and
 * restores. */
tml_status gl_enter(tml_context *tml);
void gl_leave(tml_context *tml);

/* Defines gl_op_NAME from supports(tml, desc) and run(tml, desc). */
#define GL_OP(NAME, DESC, supports, run)                                                           \
    static bool gl_op_##NAME##_supports(tml_context *tml, const void *desc)                        \
    {                                                                                              \
        return supports(tml, (const DESC *)desc);                                                  \
    }                                                                                              \
    static tml_status gl_op_##NAME##_run(tml_context *tml, const void *desc, void *scratch,        \
                                         size_t scratch_size)                                      \
    {                                                                                              \
        (void)scratch;                                                                             \
        (void)scratch_size;                                                                        \
        tml_status status = gl_enter(tml);                                                         \
        if (status == TML_OK) {                                                                    \
            status = run(tml, (const DESC *)desc);                                                 \
            gl_leave(tml);                                                                         \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    const tml_engine_op gl_op_##NAME = {gl_op_##NAME##_supports, NULL, gl_op_##NAME##_run};

#endif
