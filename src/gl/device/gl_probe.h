/* What a device can be seen to do: each kind of texture is made, drawn to and read back, and the values
 * compared. Decides the path. */
#ifndef TML_GL_PROBE_H
#define TML_GL_PROBE_H

#include "gl/device/gl_device.h"

/* With the context current. wanted: TML_GL_PATH_AUTO, or the path to force. Errors: UNSUPPORTED, with
 * what failed. */
tml_status gl_probe(tml_context *tml, tml_gl_path wanted);

#endif
