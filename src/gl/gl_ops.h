/* Shared by operations of the OpenGL ES engine. */
#ifndef TML_GL_OPS_H
#define TML_GL_OPS_H

#include "gl/device/gl_internal.h"

#include "core/engine.h"

/* The draw of tml_search, or of the search for the bins of a histogram's edges. It writes words, or
 * if wide, pairs of words. */
tml_status gl_search_draw(tml_context *tml, const tml_search_resolved *resolved,
                          const gl_texture *out, bool is_wide);

#endif
