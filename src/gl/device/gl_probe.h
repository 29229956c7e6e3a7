/* Tests the device: each kind of texture is created, drawn to and read back, and the values are
 * compared. The results decide the path. */
#ifndef TML_GL_PROBE_H
#define TML_GL_PROBE_H

#include "gl/device/gl_device.h"

/* Runs the tests. The context must be current. wanted: TML_GL_PATH_AUTO, or the path to force.
 * Errors: UNSUPPORTED, with the test that failed. */
tml_status gl_probe(tml_context *tml, tml_gl_path wanted);

#endif
