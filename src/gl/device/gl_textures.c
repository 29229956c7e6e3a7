/* Textures that are no longer needed: destroys them, or keeps them as temporaries for the next
 * operations. */
#include "gl/device/gl_device.h"

void gl_texture_destroy(gl_device *d, gl_texture *texture)
{
    if (texture->framebuffer)
        d->fn.DeleteFramebuffers(1, &texture->framebuffer);
    if (texture->name && !texture->is_lent) {
        d->fn.DeleteTextures(1, &texture->name);
        gl_state_forget_texture(d, texture->name);
    }
    texture->framebuffer = texture->name = 0;
}

static void temporary_destroy(gl_device *d, gl_texture **link)
{
    gl_texture *texture = *link;
    *link = texture->next;
    gl_texture_destroy(d, texture);
    tml_free(d->tml, texture, sizeof *texture);
}

void gl_temporaries_trim(gl_device *d, uint32_t idle)
{
    for (gl_texture **link = &d->temporaries; *link;) {
        if (!(*link)->in_use && (*link)->idle >= idle)
            temporary_destroy(d, link);
        else
            link = &(*link)->next;
    }
}

void gl_temporaries_end(gl_device *d)
{
    for (gl_texture *t = d->temporaries; t; t = t->next) {
        t->idle += !t->in_use;
        t->in_use = t->is_kept;
    }
    gl_temporaries_trim(d, GL_IDLE_MAX);
}

void gl_temporaries_close(gl_device *d)
{
    while (d->temporaries)
        temporary_destroy(d, &d->temporaries);
}

uint32_t gl_row_log2(const tml_context *tml)
{
    return gl_device_of(tml)->row_log2;
}
