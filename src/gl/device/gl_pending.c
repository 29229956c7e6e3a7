/* Reads without a wait: pixels go to a buffer of the driver, and a fence signals when they have
 * arrived. */
#include <string.h>

#include "gl/device/gl_device.h"

/* tml_reading.memory. capacity is the pixel buffer's, in bytes. */
typedef struct gl_pending {
    GLuint pixels;
    GLsync fence;
    size_t skip; /* bytes of the first word that were not requested */
    size_t
        step; /* bytes of a word among the pixels: 4, or 16 if the driver returns four components */
} gl_pending;

static bool has_functions(const gl_functions *fn)
{
    return fn->FenceSync && fn->ClientWaitSync && fn->DeleteSync && fn->Flush &&
           fn->MapBufferRange && fn->UnmapBuffer;
}

static size_t words_of(const gl_pending *pending, const tml_reading *reading)
{
    return (pending->skip + reading->size + 3) / 4;
}

static tml_status read_pixels(tml_context *tml, const tml_slot *slot, uint64_t first,
                              tml_reading *reading)
{
    gl_device *d = gl_device_of(tml);
    gl_pending *pending = reading->memory;
    const gl_texture *texture = gl_slot_texture(slot);
    GLuint framebuffer;
    tml_status status = gl_texture_framebuffer(tml, texture, &framebuffer);
    if (status != TML_OK)
        return status;
    d->fn.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    bool is_words = gl_reads_words(d);
    pending->step = is_words ? 4 : 16;
    size_t words = words_of(pending, reading);
    if (!pending->pixels)
        d->fn.GenBuffers(1, &pending->pixels);
    d->fn.BindBuffer(GL_PIXEL_PACK_BUFFER, pending->pixels);
    if (reading->capacity < words * pending->step) {
        reading->capacity = words * pending->step;
        d->fn.BufferData(GL_PIXEL_PACK_BUFFER, (GLsizeiptr)reading->capacity, NULL, GL_STREAM_READ);
    }
    uint32_t rectangles[3][4];
    int used = gl_rectangles(texture, first, words, rectangles);
    uintptr_t at = 0;
    for (int i = 0; i < used; i++) {
        const uint32_t *r = rectangles[i];
        d->fn.ReadPixels((GLint)r[0], (GLint)r[1], (GLsizei)r[2], (GLsizei)r[3],
                         is_words ? GL_RED_INTEGER : GL_RGBA_INTEGER, GL_UNSIGNED_INT, (void *)at);
        at += (uintptr_t)r[2] * r[3] * pending->step;
    }
    d->fn.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    pending->fence = d->fn.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    d->fn.Flush(); /* else the fence might never be reached */
    return TML_OK;
}

static void forget_fence(const gl_functions *fn, gl_pending *pending)
{
    if (pending->fence)
        fn->DeleteSync(pending->fence);
    pending->fence = NULL;
}

tml_status gl_read_begin(tml_context *tml, tml_slot *slot, uint64_t offset, tml_reading *reading)
{
    gl_device *d = gl_device_of(tml);
    if (!has_functions(&d->fn))
        return tml_refuse(tml, "tml_buffer_read_begin",
                          "no reads without a wait; use tml_buffer_read_range");
    if (!reading->memory && !(reading->memory = tml_alloc(tml, sizeof(gl_pending))))
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_buffer_read_begin: no memory");
    gl_pending *pending = reading->memory;
    if (reading->capacity == 0)
        *pending = (gl_pending){.pixels = 0};
    tml_status status = gl_enter(tml);
    if (status != TML_OK)
        return status;
    forget_fence(&d->fn, pending); /* of a read that was given up */
    pending->skip = offset % 4;
    status = read_pixels(tml, slot, offset / 4, reading);
    gl_leave(tml);
    return status;
}

/* Copies the requested bytes out of the mapped words. */
static void take_words(const gl_pending *pending, const unsigned char *words, size_t size,
                       unsigned char *out)
{
    if (pending->step == 4) {
        memcpy(out, words + pending->skip, size);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        size_t byte = pending->skip + i;
        out[i] = words[byte / 4 * pending->step + byte % 4];
    }
}

static tml_status take_pixels(tml_context *tml, const tml_reading *reading, void *out)
{
    gl_device *d = gl_device_of(tml);
    const gl_pending *pending = reading->memory;
    gl_errors_note(d);
    d->fn.BindBuffer(GL_PIXEL_PACK_BUFFER, pending->pixels);
    const void *words = d->fn.MapBufferRange(
        GL_PIXEL_PACK_BUFFER, 0, (GLsizeiptr)(words_of(pending, reading) * pending->step),
        GL_MAP_READ_BIT);
    if (words) {
        take_words(pending, words, reading->size, out);
        d->fn.UnmapBuffer(GL_PIXEL_PACK_BUFFER);
    }
    d->fn.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    tml_status status = gl_errors_check(tml, "reading a buffer");
    if (status == TML_OK && !words)
        return tml_error(tml, TML_ERROR_OUT_OF_DEVICE_MEMORY,
                         "tml_buffer_read_poll: the driver does not map %zu bytes of pixels",
                         reading->size);
    return status;
}

tml_status gl_read_poll(tml_context *tml, tml_reading *reading, void *out, bool *done)
{
    gl_device *d = gl_device_of(tml);
    gl_pending *pending = reading->memory;
    tml_status status = gl_enter(tml);
    if (status != TML_OK)
        return status;
    GLenum is = d->fn.ClientWaitSync(pending->fence, 0, 0);
    *done = is != GL_TIMEOUT_EXPIRED;
    if (*done) {
        forget_fence(&d->fn, pending);
        status = take_pixels(tml, reading, out); /* after GL_WAIT_FAILED it finds what is wrong */
    }
    gl_leave(tml);
    return status;
}

void gl_read_free(tml_context *tml, tml_reading *reading)
{
    gl_pending *pending = reading->memory;
    if (reading->capacity > 0 && gl_enter(tml) == TML_OK) {
        const gl_functions *fn = &gl_device_of(tml)->fn;
        forget_fence(fn, pending);
        fn->DeleteBuffers(1, &pending->pixels);
        gl_leave(tml);
    }
    tml_free(tml, pending, sizeof *pending);
}
