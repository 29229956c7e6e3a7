/* OpenGL's errors: their names and queries. */
#include "gl/device/gl_device.h"

/* The error of a lost context in a page. Elsewhere, a device that was reset reports
 * GL_CONTEXT_LOST_KHR. */
enum { CONTEXT_LOST_WEBGL = 0x9242 };

/* A driver has at most so many error flags; a lost context may return errors without end. */
enum { FLAGS_MAX = 8 };

const char *gl_error_name(GLenum error)
{
    switch (error) {
    case GL_NO_ERROR:
        return "no error";
    case GL_INVALID_ENUM:
        return "GL_INVALID_ENUM";
    case GL_INVALID_VALUE:
        return "GL_INVALID_VALUE";
    case GL_INVALID_OPERATION:
        return "GL_INVALID_OPERATION";
    case GL_INVALID_FRAMEBUFFER_OPERATION:
        return "GL_INVALID_FRAMEBUFFER_OPERATION";
    case GL_OUT_OF_MEMORY:
        return "GL_OUT_OF_MEMORY";
    case GL_CONTEXT_LOST_KHR:
    case CONTEXT_LOST_WEBGL:
        return "GL_CONTEXT_LOST";
    default:
        return "an unknown error";
    }
}

const char *gl_framebuffer_status_name(GLenum status)
{
    switch (status) {
    case GL_FRAMEBUFFER_COMPLETE:
        return "GL_FRAMEBUFFER_COMPLETE";
    case GL_FRAMEBUFFER_UNSUPPORTED:
        return "GL_FRAMEBUFFER_UNSUPPORTED";
    case GL_FRAMEBUFFER_INCOMPLETE_ATTACHMENT:
        return "GL_FRAMEBUFFER_INCOMPLETE_ATTACHMENT";
    case GL_FRAMEBUFFER_INCOMPLETE_DIMENSIONS:
        return "GL_FRAMEBUFFER_INCOMPLETE_DIMENSIONS";
    case GL_FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT:
        return "GL_FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT";
    case GL_FRAMEBUFFER_INCOMPLETE_MULTISAMPLE:
        return "GL_FRAMEBUFFER_INCOMPLETE_MULTISAMPLE";
    case GL_FRAMEBUFFER_UNDEFINED:
        return "GL_FRAMEBUFFER_UNDEFINED";
    default:
        return "an error in place of the framebuffer's status";
    }
}

static bool is_loss(GLenum error)
{
    return error == GL_CONTEXT_LOST_KHR || error == CONTEXT_LOST_WEBGL;
}

static int gravity(GLenum error)
{
    return is_loss(error) ? 3 : error == GL_OUT_OF_MEMORY ? 2 : error != GL_NO_ERROR;
}

static void gl_error_take(gl_device *d, int least)
{
    for (int i = 0; i < FLAGS_MAX; i++) {
        GLenum error = d->fn.GetError();
        if (error == GL_NO_ERROR)
            return;
        if (gravity(error) >= least && gravity(error) > gravity(d->error))
            d->error = error;
    }
}

void gl_errors_note(gl_device *d)
{
    gl_error_take(d, d->is_lent ? 2 : 1);
}

static tml_status lose(tml_context *tml, const char *what, const char *why)
{
    gl_device_of(tml)->is_lost = true;
    return tml_error(tml, TML_ERROR_DEVICE_LOST,
                     "%s: the OpenGL context was lost (%s); close this context and open another",
                     what, why);
}

tml_status gl_errors_check(tml_context *tml, const char *what)
{
    gl_device *d = gl_device_of(tml);
    gl_error_take(d, 1);
    GLenum error = d->error;
    d->error = GL_NO_ERROR;
    switch (d->fn.GetGraphicsResetStatus ? d->fn.GetGraphicsResetStatus() : GL_NO_ERROR) {
    case GL_NO_ERROR:
        break;
    case GL_GUILTY_CONTEXT_RESET_KHR:
        return lose(tml, what, "its own work made the driver reset the device");
    case GL_INNOCENT_CONTEXT_RESET_KHR:
        return lose(tml, what, "another program's work made the driver reset the device");
    default:
        return lose(tml, what, "the driver reset the device");
    }
    if (error == GL_NO_ERROR)
        return TML_OK;
    if (is_loss(error))
        return lose(tml, what, gl_error_name(error));
    if (error == GL_OUT_OF_MEMORY)
        return tml_error(
            tml, TML_ERROR_OUT_OF_DEVICE_MEMORY,
            "%s: the driver ran out of memory since the last reading or wait (%s), and what "
            "was computed since is not to be trusted",
            what, gl_error_name(error));
    return tml_error(tml, TML_ERROR_INTERNAL,
                     "%s: the driver refused a call since the last reading or wait (%s)", what,
                     gl_error_name(error));
}
