/* Parts of the package that compute nothing have no WebGL: in the place of web_gl.c and the engines
 * on it. */
#include "core/engine.h"
#include "web.h"

const tml_engine tml_gl_engine = {.kind = TML_ENGINE_GL, .part = PART_GL, .name = "OpenGL ES"};
const tml_engine tml_gl_float_engine = {
    .kind = TML_ENGINE_GL, .part = PART_GL_FLOAT, .name = "OpenGL ES"};

const tml_gl_desc *web_gl_desc(void)
{
    return NULL;
}

void web_gl_tell(tml_context *tml)
{
    (void)tml;
}
