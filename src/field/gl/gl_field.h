/* A field's samples on the OpenGL ES engine, for the operation and for the surface. */
#ifndef TML_GL_FIELD_H
#define TML_GL_FIELD_H

#include "field/field_internal.h"
#include "gl/device/gl_internal.h"

/* Enqueues the evaluation of the whole field into out, WORDS of one sample each. Errors: UNSUPPORTED
 * (a sample would look into too many bins), and gl_draw's. */
tml_status gl_field_evaluate(tml_context *tml, const field_plan *plan, const gl_texture *out);

#endif
