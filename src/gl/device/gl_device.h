/* State of an open device, private to this folder and the float tier. Operations use gl_internal.h
 * instead. */
#ifndef TML_GL_DEVICE_H
#define TML_GL_DEVICE_H

#include "gl/device/gl_internal.h"

enum {
    GL_UNITS = GL_INPUTS_MAX + TML_MAX_INPUTS + 1, /* texture units of a draw: at most 15 */
    GL_TESTS_MAX = 48,
    GL_IDLE_MAX = 1024, /* operations after which an unused temporary is destroyed */
};

typedef struct gl_program_uniform {
    const char *literal; /* the name as an operation last gave it: this address is compared first */
    char name[40];
    GLint location;
    int unit; /* texture unit of a sampler; -1: not a sampler */
} gl_program_uniform;

/* A program, kept until the context closes. The driver compiles and links it asynchronously.
 * Querying the result waits for the driver, so that is done when the program is first needed;
 * afterwards is_ready is set. */
typedef struct gl_program {
    struct gl_program *next;
    size_t size;
    const gl_shader *shader;
    /* Copies, stored behind head, since another kernel may later have the same address. NULL: no
     * kernel, no library. */
    const char *kernel_name, *kernel_glsl, *kernel_library;
    uint64_t hash;   /* of head */
    uint64_t key[2]; /* of the whole text (gl_cache.c) */
    GLuint name;
    /* Shaders, kept until the program is ready, for the compiler's logs. vertex: the program's own
     * vertex shader; 0: none */
    GLuint fragment, vertex;
    bool is_ready;
    bool is_lacked;       /* a call between tml_prepare_begin and tml_prepare_end needs it */
    bool targets_checked; /* framebuffer status, of several targets: its query waits in a page */
    uint32_t sampler_count, uniform_count, uniform_room;
    gl_program_uniform *uniforms; /* samplers first; an allocation of its own */
    char head[];                  /* #version and defines */
} gl_program;

/* Programs that were added by tml_cache_add (gl_cache.c). */
typedef struct gl_cache {
    struct gl_cache *next;
    size_t size;
    uint8_t bytes[];
} gl_cache;

/* State of a caller-owned context that the library changes and restores (gl_state.c). */
typedef struct gl_saved {
    GLint program, vertex_array, draw_framebuffer, read_framebuffer, active_unit, array_buffer;
    GLint viewport[4], scissor[4];
    GLint pack_buffer, unpack_buffer;
    GLint pack[4], unpack[6];
    GLint textures[GL_UNITS], samplers[GL_UNITS];
    GLboolean color_mask[4];
    GLboolean enabled[16];
    bool has_feedback; /* transform feedback was active, and is paused meanwhile */
    GLint attribute_enabled, attribute_size, attribute_type, attribute_normalized, attribute_stride,
        attribute_buffer;
    void *attribute_pointer;
} gl_saved;

typedef struct gl_device {
    tml_context *tml;
#ifndef __EMSCRIPTEN__
    egl_functions egl;
    EGLDisplay display;
    EGLContext context;
    EGLSurface surface;
    /* The context that was current when the call began. */
    EGLDisplay previous_display;
    EGLContext previous_context;
    EGLSurface previous_draw, previous_read;
    EGLenum previous_api;
#endif
    gl_functions fn;
    bool is_lent, is_lost, is_es3;
    GLenum error; /* the gravest error that was noted and not returned yet; GL_NO_ERROR: none */
    GLenum read_format, read_type; /* format in which the driver reads words; 0: not queried yet */
    bool in_batch;  /* between tml_gl_begin and tml_gl_end: the context stays current */
    uint32_t depth; /* nested calls of gl_enter */
    gl_saved saved;
    uint32_t texture_max, row_log2;
    bool exact_counts;
    tml_gl_path path;
    tml_gl_test tests[GL_TESTS_MAX];
    uint32_t test_count;

    gl_texture *temporaries;
    gl_program *programs;
    gl_cache *caches;
    uint64_t driver_hash;
    bool has_binaries;   /* of programs: the driver gives and takes them */
    gl_texture nothing;  /* one texel, for samplers to which an operation gives no texture */
    GLuint vertex_array; /* ES 3.0: without attributes */
    GLuint framebuffer;  /* for draws with several targets, and those to the caller's textures */
    /* The caller's textures that were drawn to most recently. Their framebuffers' status is not
     * queried again, since in a page that query waits. */
    GLuint targets_checked[8];
    uint32_t next_checked;
    GLuint vertex_shader;
    GLuint sampler; /* nearest texel, since a caller-owned texture may have a filter */
    GLuint timer;   /* query; 0: none yet */
    bool has_timer;
    bool has_completion; /* KHR_parallel_shader_compile */
    bool has_taken_in;   /* since tml_prepare_begin a program was made ready */
    char *glsl;          /* tml_gl_glsl; NULL: not asked for yet */
    size_t glsl_size;
    GLuint corners; /* buffer: the float tier's vertices */
} gl_device;

static inline gl_device *gl_device_of(const tml_context *tml)
{
    return tml->engine_state;
}

uint32_t gl_devices(const tml_open_desc *desc, tml_device_info *out, uint32_t capacity);
bool gl_is_lent(const tml_open_desc *desc);
tml_status gl_open(tml_context *tml, const tml_open_desc *desc);
void gl_close(tml_context *tml);
tml_status gl_sync(tml_context *tml);

/* Save and restore the state that the library changes; set the state that its draws need. */
void gl_state_save(gl_device *device);
void gl_state_restore(gl_device *device);
void gl_state_set(gl_device *device);
/* Call after a texture of the library is deleted: if the caller had bound it, the saved binding
 * becomes 0. */
void gl_state_forget_texture(gl_device *device, GLuint name);

/* gl_error.c. Errors are queried wherever the host waits for the device anyway, at each read and
 * each wait. So data of a lost context, or of a driver out of memory, is never returned as a
 * result. */
const char *gl_error_name(GLenum error);               /* "GL_OUT_OF_MEMORY"; never NULL */
const char *gl_framebuffer_status_name(GLenum status); /* likewise */
/* Clears pending errors before a read: in a caller-owned context, invalid calls are the caller's
 * own. */
void gl_errors_note(gl_device *device);
/* Returns, after a read or a wait, the errors and resets since the last check: DEVICE_LOST, which
 * every later call returns as well; OUT_OF_DEVICE_MEMORY; INTERNAL. what: names the read or
 * wait. */
tml_status gl_errors_check(tml_context *tml, const char *what);

/* gl_memory.c */
tml_status gl_texture_create(tml_context *tml, const char *call, gl_format format, uint32_t width,
                             uint32_t height, gl_texture *out);
void gl_texture_destroy(gl_device *device, gl_texture *texture);
/* Destroys temporaries that are not in use and have been idle for so many operations. */
void gl_temporaries_trim(gl_device *device, uint32_t idle);
/* The texture's framebuffer, created at first use. Errors: INTERNAL (incomplete). */
tml_status gl_texture_framebuffer(tml_context *tml, const gl_texture *texture, GLuint *out);
void gl_temporaries_end(gl_device *device);   /* releases those of the operation */
void gl_temporaries_close(gl_device *device); /* destroys all */
tml_status gl_buffer_create(tml_context *tml, tml_slot *slot, const tml_buffer_desc *desc);
void gl_buffer_destroy(tml_context *tml, tml_slot *slot);
tml_status gl_read(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size, void *out);
tml_status gl_write(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size, const void *in);
/* Does the driver return a word as one number, rather than as one of four components? A framebuffer
 * of words must be bound. */
bool gl_reads_words(gl_device *device);
/* gl_pending.c */
tml_status gl_read_begin(tml_context *tml, tml_slot *slot, uint64_t offset, tml_reading *reading);
tml_status gl_read_poll(tml_context *tml, tml_reading *reading, void *out, bool *done);
void gl_read_free(tml_context *tml, tml_reading *reading);
/* gl_memory.c again */
tml_status gl_map(tml_context *tml, tml_slot *slot, void **out);
void gl_unmap(tml_context *tml, tml_slot *slot);
tml_status gl_scratch_resize(tml_context *tml, const char *call, size_t size, void **out);
uint64_t gl_slot_address(const tml_slot *slot);

/* gl_cache.c and gl_calls.c: the engine's entries of these names (core/engine.h). */
tml_status gl_cache_get(tml_context *tml, void *data, size_t *size);
tml_status gl_cache_add(tml_context *tml, const void *data, size_t size);
tml_status gl_time_begin(tml_context *tml);
tml_status gl_time_end(tml_context *tml, double *seconds);

/* Entries that the tables of both tiers share. The float tier has no function of its own for
 * devices and open. */
#define GL_ENGINE                                                                                  \
    .kind = TML_ENGINE_GL, .name = "gl", .close = gl_close, .buffer_create = gl_buffer_create,     \
    .buffer_destroy = gl_buffer_destroy, .read = gl_read, .write = gl_write, .map = gl_map,        \
    .unmap = gl_unmap, .sync = gl_sync, .scratch_resize = gl_scratch_resize,                       \
    .address = gl_slot_address, .cache_get = gl_cache_get, .cache_add = gl_cache_add,              \
    .time_begin = gl_time_begin, .time_end = gl_time_end

/* gl_program.c. any_rows: a texture of the draw has rows of any width. */
tml_status gl_program_find(tml_context *tml, const gl_draw_info *info, bool any_rows,
                           gl_program **out);
/* Between tml_prepare_begin and tml_prepare_end: starts the program's compilation, or
 * completes it if the program is the next in order. *out is NULL unless the program is ready. */
tml_status gl_program_prepare(tml_context *tml, const gl_draw_info *info, bool any_rows,
                              gl_program **out);
void gl_prepare_begin(tml_context *tml);
uint32_t gl_prepare_end(tml_context *tml);
void gl_programs_close(gl_device *device);
/* The uniform of this name; NULL: the program has none. */
gl_program_uniform *gl_program_uniform_of(gl_program *program, const char *name, bool is_sampler);
/* The shader's complete text, *size bytes, to be released by tml_free. NULL, with a message, if out
 * of memory. */
char *gl_shader_text(tml_context *tml, const gl_shader *shader, size_t *size);
/* Copies a shader without features that GLSL ES 1.00 lacks: suffixes of numbers (1.0f, 1u) and line
 * continuations. Returns the end. */
char *gl_copy_plain(const char *text, char *out);
/* Compiles a shader; the compiler's log goes into the error message. */
tml_status gl_compile(tml_context *tml, GLenum stage, const char *name, const char *const *texts,
                      int count, GLuint *out);

/* gl_cache.c. The context is current in all but close. */
#define GL_CACHE_HASH                                                                              \
    {                                                                                              \
        0xcbf29ce484222325u, 0x9e3779b97f4a7c15u                                                   \
    } /* of no bytes */
void gl_cache_hash(uint64_t hash[2], const void *data, size_t size);
void gl_cache_open(gl_device *device);
void gl_cache_close(gl_device *device);
/* Turns program into the one with this key, from its binary. Returns false if there is no such
 * binary or if the driver refuses it. */
bool gl_cache_link(gl_device *device, const uint64_t key[2], GLuint program);

/* Splits a range of texels into at most three rectangles x, y, width, height. Returns their
 * number. */
int gl_rectangles(const gl_texture *texture, uint64_t first, uint64_t count, uint32_t out[3][4]);

#ifndef __EMSCRIPTEN__
/* Makes the device's own context current, and what was before. */
bool gl_make_current(gl_device *d);
void gl_make_previous_current(gl_device *d);
#endif

#endif
