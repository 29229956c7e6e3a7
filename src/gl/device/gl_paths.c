/* What the float tier draws with: the versions of GLSL, and a triangle. */
#include <string.h>

#include "gl/device/gl_float.h"

static const char version_100[] = "#version 100\n";
static const char version_300[] = "#version 300 es\n#define TML_ES300\n#define attribute in\n";

const char *gl_float_version(const gl_device *d, tml_gl_path path)
{
    return d->is_es3 && path != TML_GL_PATH_PACKED ? version_300 : version_100;
}

bool gl_float_is_version(const char *text)
{
    return strncmp(text, version_100, strlen(version_100)) == 0 ||
           strncmp(text, version_300, strlen(version_300)) == 0;
}

static void set_attribute(const gl_functions *fn)
{
    fn->EnableVertexAttribArray(0);
    fn->VertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
}

GLuint gl_float_corners(gl_device *d)
{
    static const GLfloat corners[] = {-1, -1, 3, -1, -1, 3};
    GLuint name;
    d->fn.GenBuffers(1, &name);
    d->fn.BindBuffer(GL_ARRAY_BUFFER, name);
    d->fn.BufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    set_attribute(&d->fn);
    return name;
}

void gl_float_attributes(gl_device *d)
{
    if (!d->corners)
        return;
    d->fn.BindBuffer(GL_ARRAY_BUFFER, d->corners);
    set_attribute(&d->fn);
}
