/* The capability tests; see the header. */
#include "gl/gl_probe.h"

tml_status gl_probe(tml_context *tml, tml_gl_path wanted)
{
    gl_device *d = gl_device_of(tml);
    if (wanted > TML_GL_INTEGER || !d->is_es3)
        return tml_error(tml, TML_UNSUPPORTED, "tml_open: path %s is not supported",
                         tml_gl_path_name(wanted));
    d->path = TML_GL_INTEGER;
    return TML_OK;
}
