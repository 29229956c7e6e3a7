/* Textures: buffers, temporaries and their pool, transfers. */
#include "gl/device/gl_float.h"

#include <inttypes.h>
#include <string.h>

/* ---- textures -------------------------------------------------------------------------------- */

typedef struct format_info {
    GLenum internal, format, type;
    uint32_t size;
} format_info;

static const format_info formats[] = {
    [GL_FORMAT_WORDS] = {GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, 4},
    [GL_FORMAT_QUADS] = {GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16},
    [GL_FORMAT_BYTES] = {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4},
    [GL_FORMAT_FLOATS] = {GL_RGBA32F, GL_RGBA, GL_FLOAT, 16},
    [GL_FORMAT_FLOAT] = {GL_R32F, GL_RED, GL_FLOAT, 4},
};

tml_status gl_texture_create(tml_context *tml, const char *call, gl_format format, uint32_t width,
                             uint32_t height, gl_texture *out)
{
    gl_device *d = gl_device_of(tml);
    const gl_functions *fn = &d->fn;
    const format_info *info = &formats[format];
    *out = (gl_texture){.format = format, .width = width, .height = height};
    gl_errors_note(d);
    tml->counters.allocations++;
    fn->GenTextures(1, &out->name);
    fn->ActiveTexture(GL_TEXTURE0);
    fn->BindTexture(GL_TEXTURE_2D, out->name);
    if (gl_is_float(d)) /* sized formats need 3.0, which demands them for floats */
        fn->TexImage2D(GL_TEXTURE_2D, 0,
                       d->is_es3 && format == GL_FORMAT_FLOATS ? (GLint)info->internal : GL_RGBA,
                       (GLsizei)width, (GLsizei)height, 0, info->format, info->type, NULL);
    else
        fn->TexStorage2D(GL_TEXTURE_2D, 1, info->internal, (GLsizei)width, (GLsizei)height);
    fn->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    fn->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    fn->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    fn->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    GLenum error = fn->GetError();
    if (error == GL_NO_ERROR)
        return TML_OK;
    gl_texture_destroy(d, out);
    return tml_error(tml, TML_ERROR_OUT_OF_DEVICE_MEMORY,
                     "%s: the device has no texture of %" PRIu32 " x %" PRIu32 " texels of %" PRIu32
                     " bytes (%s)",
                     call, width, height, info->size, gl_error_name(error));
}

tml_status gl_texture_framebuffer(tml_context *tml, const gl_texture *texture, GLuint *out)
{
    const gl_functions *fn = &gl_device_of(tml)->fn;
    if (!texture->framebuffer) {
        GLuint name;
        fn->GenFramebuffers(1, &name);
        fn->BindFramebuffer(GL_FRAMEBUFFER, name);
        fn->FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture->name,
                                 0);
        GLenum is = fn->CheckFramebufferStatus(GL_FRAMEBUFFER);
        if (is != GL_FRAMEBUFFER_COMPLETE) {
            fn->DeleteFramebuffers(1, &name);
            return tml_error(tml, TML_ERROR_INTERNAL,
                             "a texture of %" PRIu32 " x %" PRIu32 " texels cannot be drawn to: %s",
                             texture->width, texture->height, gl_framebuffer_status_name(is));
        }
        ((gl_texture *)texture)->framebuffer = name; /* the texture itself does not change */
    }
    *out = texture->framebuffer;
    return TML_OK;
}

uint64_t gl_texels_max(const tml_context *tml)
{
    const gl_device *d = gl_device_of(tml);
    return (uint64_t)d->texture_max << d->row_log2;
}

/* The width and height of a library-owned texture with so many texels. */
static bool shape_of(const gl_device *d, uint64_t texels, uint32_t *width, uint32_t *height)
{
    uint64_t row = (uint64_t)1 << d->row_log2;
    *width = (uint32_t)TML_MAX_OF(TML_MIN_OF(texels, row), 1u);
    uint64_t rows = TML_MAX_OF(TML_CEIL_DIV(texels, row), 1u);
    *height = (uint32_t)rows;
    return rows <= d->texture_max;
}

int gl_rectangles(const gl_texture *texture, uint64_t first, uint64_t count, uint32_t out[3][4])
{
    int used = 0;
    uint64_t end = first + count;
    while (first < end) {
        uint64_t x = first % texture->width, y = first / texture->width;
        uint64_t width = TML_MIN_OF(end - first, texture->width - x), height = 1;
        if (x == 0 && width == texture->width)
            height = (end - first) / texture->width;
        const uint32_t rectangle[4] = {(uint32_t)x, (uint32_t)y, (uint32_t)width, (uint32_t)height};
        memcpy(out[used++], rectangle, sizeof rectangle);
        first += width * height;
    }
    return used;
}

/* ---- temporaries ----------------------------------------------------------------------------- */

/* May a temporary of this height be used where "height" is required? In WebGL, unlike OpenGL ES
 * 3.0, all targets of a draw must have the same size. */
static bool may_stand_in(uint32_t of, uint32_t height)
{
#ifdef __EMSCRIPTEN__
    return of == height;
#else
    return of >= height && of / 2 <= height;
#endif
}

/* The link to the free temporary that fits most closely; NULL if there is none. So a program that
 * is repeated finds the same textures again. */
static gl_texture **find_free(gl_device *d, gl_format format, uint32_t width, uint32_t height)
{
    gl_texture **best = NULL;
    for (gl_texture **link = &d->temporaries; *link; link = &(*link)->next) {
        const gl_texture *t = *link;
        if (!t->in_use && t->format == format && t->width == width &&
            may_stand_in(t->height, height) && (!best || t->height < (*best)->height))
            best = link;
    }
    return best;
}

tml_status gl_temporary_image(tml_context *tml, gl_format format, uint32_t width, uint32_t height,
                              const gl_texture **out)
{
    gl_device *d = gl_device_of(tml);
    gl_texture **found = find_free(d, format, width, height);
    gl_texture *best = found ? *found : NULL;
    *out = NULL; /* gl_release takes NULL */
    if (!best) {
        best = tml_alloc(tml, sizeof *best);
        if (!best)
            return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a texture's record");
        tml_status status = gl_texture_create(tml, "a temporary", format, width, height, best);
        if (status == TML_ERROR_OUT_OF_DEVICE_MEMORY) {
            gl_temporaries_trim(d, 0);
            status = gl_texture_create(tml, "a temporary", format, width, height, best);
        }
        if (status != TML_OK) {
            tml_free(tml, best, sizeof *best);
            return status;
        }
        /* Moves it to the end of the pool, so that an operation that is repeated finds the same
         * textures again. */
        gl_texture **end = &d->temporaries;
        while (*end)
            end = &(*end)->next;
        best->next = NULL;
        *end = best;
    }
    best->in_use = true;
    best->idle = 0;
    *out = best;
    return TML_OK;
}

tml_status gl_temporary(tml_context *tml, gl_format format, uint64_t texels, const gl_texture **out)
{
    uint32_t width, height;
    *out = NULL;
    if (!shape_of(gl_device_of(tml), texels, &width, &height))
        return tml_error(tml, TML_ERROR_OUT_OF_DEVICE_MEMORY,
                         "%" PRIu64 " texels are more than the %" PRIu64 " that a texture has here",
                         texels, gl_texels_max(tml));
    if (height == 1)
        for (width = 16; width < texels; width *= 2) {
            /* few widths, so that small textures are found again */
        }
    return gl_temporary_image(tml, format, width, height, out);
}

void gl_release(tml_context *tml, const gl_texture *temporary)
{
    (void)tml;
    if (temporary)
        ((gl_texture *)temporary)->in_use = ((gl_texture *)temporary)->is_kept = false;
}

void gl_keep(tml_context *tml)
{
    for (gl_texture *t = gl_device_of(tml)->temporaries; t; t = t->next)
        t->is_kept = t->in_use;
}

void gl_release_others(tml_context *tml)
{
    for (gl_texture *t = gl_device_of(tml)->temporaries; t; t = t->next)
        t->in_use = t->is_kept;
}

void gl_release_kept(tml_context *tml)
{
    for (gl_texture *t = gl_device_of(tml)->temporaries; t; t = t->next)
        if (t->is_kept)
            gl_release(tml, t);
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* The texture of a destroyed buffer with up to so many texels goes to the pool, where the next
 * buffer of its shape finds it. Creating a texture queries errors, which waits; and a field per
 * frame would create four. */
enum { POOLED_TEXELS = 1 << 20 };

static tml_status record_make(tml_context *tml, const gl_texture *contents, gl_texture **out)
{
    *out = tml_alloc(tml, sizeof **out);
    if (!*out)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_buffer_create: no memory for a record");
    **out = *contents;
    return TML_OK;
}

/* *out: a record with a texture, from the pool if one is there. */
static tml_status buffer_texture_take(tml_context *tml, gl_format format, uint32_t width,
                                      uint32_t height, gl_texture **out)
{
    gl_device *d = gl_device_of(tml);
    gl_texture **link =
        (uint64_t)width * height <= POOLED_TEXELS ? find_free(d, format, width, height) : NULL;
    if (link) {
        *out = *link;
        *link = (*link)->next;
        return TML_OK;
    }
    tml_status status = record_make(tml, &(gl_texture){.format = format}, out);
    TML_THEN(status, gl_texture_create(tml, "tml_buffer_create", format, width, height, *out));
    if (status != TML_ERROR_OUT_OF_DEVICE_MEMORY)
        return status;
    gl_temporaries_trim(d, 0);
    return gl_texture_create(tml, "tml_buffer_create", format, width, height, *out);
}

static void buffer_texture_give(tml_context *tml, gl_texture *texture)
{
    gl_device *d = gl_device_of(tml);
    if (texture->is_lent || !texture->name ||
        (uint64_t)texture->width * texture->height > POOLED_TEXELS) {
        gl_texture_destroy(d, texture);
        tml_free(tml, texture, sizeof *texture);
        return;
    }
    texture->in_use = texture->is_kept = false;
    texture->idle = 0;
    texture->next = d->temporaries;
    d->temporaries = texture;
}

/* NULL: an array of a program that does not run yet, which has no memory. */
const gl_texture *gl_slot_texture(const tml_slot *slot)
{
    return slot->memory;
}

const gl_texture *gl_texture_of(const tml_context *tml, tml_buffer buffer)
{
    const tml_slot *slot = tml_slot_of(tml, buffer);
    return slot ? gl_slot_texture(slot) : NULL;
}

/* The caller's host memory, which has no texture. */
static tml_status lend_host(tml_context *tml, tml_slot *slot, const tml_buffer_desc *desc)
{
    if (desc->gl)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_buffer_create: desc.host and desc.gl exclude each other");
    gl_texture *record;
    tml_status status = record_make(tml, &(gl_texture){.host = desc->host}, &record);
    if (status != TML_OK)
        return status;
    slot->memory = record;
    slot->lent = slot->on_host = true;
    if (desc->data && slot->size > 0)
        memcpy(record->host, desc->data, slot->size);
    return TML_OK;
}

tml_status gl_buffer_create(tml_context *tml, tml_slot *slot, const tml_buffer_desc *desc)
{
    gl_device *d = gl_device_of(tml);
    if (desc->vulkan)
        return tml_error(
            tml, TML_ERROR_UNSUPPORTED,
            "tml_buffer_create: desc.vulkan is for another engine; OpenGL takes desc.gl");
    if (desc->host)
        return lend_host(tml, slot, desc);
    uint64_t words = (slot->size + 3) / 4;
    uint32_t width, height;
    if (desc->gl && gl_is_float(d)) {
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_buffer_create: desc.gl needs integer textures, and the path is %s",
                         tml_gl_path_name(d->path));
    } else if (desc->gl) {
        uint64_t texels = (uint64_t)desc->gl->width * desc->gl->height;
        if (!desc->gl->texture || texels < words)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "tml_buffer_create: desc.gl is texture %" PRIu32 " with %" PRIu64
                             " texels, needs one with %" PRIu64,
                             desc->gl->texture, texels, words);
        width = desc->gl->width;
        height = desc->gl->height;
    } else if (!shape_of(d, words, &width, &height)) {
        return tml_error(tml, TML_ERROR_OUT_OF_DEVICE_MEMORY,
                         "tml_buffer_create: %zu bytes are more than the %" PRIu64
                         " that a texture has here; use another engine for a stream of this size",
                         slot->size, 4 * gl_texels_max(tml));
    }
    gl_format format = gl_is_float(d) ? gl_float_format(d, slot->type) : GL_FORMAT_WORDS;
    gl_texture *texture = NULL;
    tml_status status = gl_enter(tml);
    if (status == TML_OK) {
        slot->lent = desc->gl != NULL;
        status = desc->gl ? record_make(tml,
                                        &(gl_texture){.name = desc->gl->texture,
                                                      .format = format,
                                                      .width = width,
                                                      .height = height,
                                                      .is_lent = true},
                                        &texture)
                          : buffer_texture_take(tml, format, width, height, &texture);
        slot->memory = texture;
        if (status == TML_OK && desc->data && slot->size > 0)
            status = gl_write(tml, slot, 0, slot->size, desc->data);
        if (status != TML_OK && texture)
            gl_texture_destroy(d, texture);
        gl_leave(tml);
    }
    if (status != TML_OK) {
        tml_free(tml, texture, sizeof *texture);
        slot->memory = NULL;
    }
    return status;
}

void gl_buffer_destroy(tml_context *tml, tml_slot *slot)
{
    gl_texture *texture = slot->memory;
    tml_free(tml, texture->mapped, slot->size);
    texture->mapped = NULL;
    if (!texture->host && gl_enter(tml) == TML_OK) {
        buffer_texture_give(tml, texture);
        gl_leave(tml);
    } else {
        tml_free(tml, texture, sizeof *texture);
    }
    slot->memory = NULL;
}

/* ---- transfers ------------------------------------------------------------------------------- */

enum { QUAD_ROWS = 16 };

/* Reads a rectangle when the driver only returns four components, one of which is the word. */
static tml_status read_quads(tml_context *tml, const uint32_t r[4], uint32_t *out)
{
    const gl_functions *fn = &gl_device_of(tml)->fn;
    size_t size = (size_t)16 * r[2] * QUAD_ROWS;
    uint32_t *quads = tml_alloc(tml, size);
    if (!quads)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_buffer_read: no memory for %zu bytes",
                         size);
    for (uint32_t y = 0; y < r[3]; y += QUAD_ROWS) {
        uint32_t rows = TML_MIN_OF(r[3] - y, (uint32_t)QUAD_ROWS);
        fn->ReadPixels((GLint)r[0], (GLint)(r[1] + y), (GLsizei)r[2], (GLsizei)rows,
                       GL_RGBA_INTEGER, GL_UNSIGNED_INT, quads);
        for (size_t i = 0; i < (size_t)r[2] * rows; i++)
            *out++ = quads[4 * i];
    }
    tml_free(tml, quads, size);
    return TML_OK;
}

bool gl_reads_words(gl_device *d)
{
    if (!d->read_format) { /* the same for all textures of words */
        GLint format = 0, type = 0;
        d->fn.GetIntegerv(GL_IMPLEMENTATION_COLOR_READ_FORMAT, &format);
        d->fn.GetIntegerv(GL_IMPLEMENTATION_COLOR_READ_TYPE, &type);
        d->read_format = (GLenum)format;
        d->read_type = (GLenum)type;
    }
    return d->read_format == GL_RED_INTEGER && d->read_type == GL_UNSIGNED_INT;
}

tml_status gl_read_words(tml_context *tml, const gl_texture *texture, uint64_t first,
                         uint64_t count, uint32_t *out)
{
    if (texture->format != GL_FORMAT_WORDS)
        return gl_float_read_words(tml, texture, first, count, out);
    if (tml->is_preparing) { /* of an operation that reads its count */
        memset(out, 0, count * sizeof *out);
        return TML_OK;
    }
    gl_device *d = gl_device_of(tml);
    const gl_functions *fn = &d->fn;
    GLuint framebuffer;
    tml_status status = gl_texture_framebuffer(tml, texture, &framebuffer);
    if (status != TML_OK)
        return status;
    tml->counters.waits++;
    fn->BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    bool is_words = gl_reads_words(d);
    gl_errors_note(d);
    uint32_t rectangles[3][4];
    int used = gl_rectangles(texture, first, count, rectangles);
    for (int i = 0; i < used && status == TML_OK; i++) {
        const uint32_t *r = rectangles[i];
        if (is_words)
            fn->ReadPixels((GLint)r[0], (GLint)r[1], (GLsizei)r[2], (GLsizei)r[3], GL_RED_INTEGER,
                           GL_UNSIGNED_INT, out);
        else
            status = read_quads(tml, r, out);
        out += (size_t)r[2] * r[3];
    }
    return status == TML_OK ? gl_errors_check(tml, "reading a buffer") : status;
}

/* Reads bytes [offset, offset + size): whole words directly to out, partial words at the ends one
 * word at a time. */
static tml_status gl_memory_read_bytes(tml_context *tml, const gl_texture *texture, uint64_t offset,
                                       size_t size, uint8_t *out)
{
    tml_status status = TML_OK;
    while (size > 0 && status == TML_OK) {
        size_t skip = offset % 4, part = TML_MIN_OF(size, 4 - skip);
        if (skip == 0 && size >= 4 && (uintptr_t)out % 4 == 0) {
            part = size / 4 * 4;
            status = gl_read_words(tml, texture, offset / 4, part / 4, (uint32_t *)(void *)out);
        } else if (skip == 0 && size >= 4) {
            part = TML_MIN_OF(size / 4 * 4, 4096u);
            uint32_t words[1024];
            status = gl_read_words(tml, texture, offset / 4, part / 4, words);
            memcpy(out, words, part);
        } else {
            uint32_t word = 0;
            status = gl_read_words(tml, texture, offset / 4, 1, &word);
            memcpy(out, (const uint8_t *)&word + skip, part);
        }
        offset += part;
        out += part;
        size -= part;
    }
    return status;
}

tml_status gl_read(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size, void *out)
{
    const gl_texture *texture = slot->memory;
    if (texture->host) {
        memcpy(out, texture->host + offset, size);
        return TML_OK;
    }
    tml_status status = gl_enter(tml);
    if (status == TML_OK) {
        status = gl_memory_read_bytes(tml, texture, offset, size, out);
        gl_leave(tml);
    }
    return status;
}

void gl_write_words(tml_context *tml, const gl_texture *texture, uint64_t first, uint64_t count,
                    const void *in)
{
    const gl_functions *fn = &gl_device_of(tml)->fn;
    const uint8_t *bytes = in;
    uint32_t rectangles[3][4];
    int used = gl_rectangles(texture, first, count, rectangles);
    fn->ActiveTexture(GL_TEXTURE0);
    fn->BindTexture(GL_TEXTURE_2D, texture->name);
    for (int i = 0; i < used; i++) {
        const uint32_t *r = rectangles[i];
        if (texture->format == GL_FORMAT_WORDS)
            fn->TexSubImage2D(GL_TEXTURE_2D, 0, (GLint)r[0], (GLint)r[1], (GLsizei)r[2],
                              (GLsizei)r[3], GL_RED_INTEGER, GL_UNSIGNED_INT, bytes);
        else
            gl_float_write_rectangle(fn, texture, r, bytes);
        bytes += (size_t)4 * r[2] * r[3];
    }
}

/* Writes a part of a word. Reads the rest of the word first, unless the buffer ends there. */
static tml_status write_ragged(tml_context *tml, const tml_slot *slot, uint64_t offset, size_t size,
                               const uint8_t *in)
{
    const gl_texture *texture = gl_slot_texture(slot);
    uint32_t word = 0;
    tml_status status = TML_OK;
    if (offset % 4 != 0 || offset + size < slot->size)
        status = gl_read_words(tml, texture, offset / 4, 1, &word);
    memcpy((uint8_t *)&word + offset % 4, in, size);
    if (status == TML_OK)
        gl_write_words(tml, texture, offset / 4, 1, &word);
    return status;
}

tml_status gl_write(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size, const void *in)
{
    const uint8_t *bytes = in;
    const gl_texture *texture = slot->memory;
    if (texture->host) {
        memcpy(texture->host + offset, in, size);
        return TML_OK;
    }
    tml_status status = gl_enter(tml);
    if (status != TML_OK)
        return status;
    while (size > 0 && status == TML_OK) {
        size_t skip = offset % 4, part = TML_MIN_OF(size, 4 - skip);
        if (skip == 0 && size >= 4) {
            part = size / 4 * 4;
            gl_write_words(tml, texture, offset / 4, part / 4, bytes);
        } else {
            status = write_ragged(tml, slot, offset, part, bytes);
        }
        offset += part;
        bytes += part;
        size -= part;
    }
    gl_leave(tml);
    return status;
}

tml_status gl_map(tml_context *tml, tml_slot *slot, void **out)
{
    gl_texture *texture = slot->memory;
    *out = texture->host ? texture->host : texture->mapped;
    if (*out || slot->size == 0)
        return TML_OK;
    void *memory = tml_alloc(tml, slot->size);
    if (!memory)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_buffer_map: no memory for %zu bytes",
                         slot->size);
    tml_status status = gl_read(tml, slot, 0, slot->size, memory);
    if (status != TML_OK) {
        tml_free(tml, memory, slot->size);
        return status;
    }
    *out = texture->mapped = memory;
    return TML_OK;
}

void gl_unmap(tml_context *tml, tml_slot *slot)
{
    gl_texture *texture = slot->memory;
    if (!texture->mapped)
        return;
    if (gl_write(tml, slot, 0, slot->size, texture->mapped) != TML_OK)
        tml_log(tml, TML_LOG_ERROR, "tml_buffer_unmap: %s", tml_last_error(tml));
    tml_free(tml, texture->mapped, slot->size);
    texture->mapped = NULL;
}

/* A texture has at most 2^34 bytes, and its texels belong to only one buffer. */
uint64_t gl_slot_address(const tml_slot *slot)
{
    return (uint64_t)gl_slot_texture(slot)->name << 34;
}

/* Temporary textures replace scratch, since a draw cannot read and write the same arena. */
tml_status gl_scratch_resize(tml_context *tml, const char *call, size_t size, void **out)
{
    (void)tml;
    (void)call;
    (void)size;
    *out = NULL;
    return TML_OK;
}
