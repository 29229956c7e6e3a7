/* The OpenGL ES driver that fails, for faults.h. */
#include "support_faults.h"

#ifdef TML_GL
#    include <stdlib.h>

#    include "gl_driver.h"

static fault_hooks hooks;

static bool ask(const char *name)
{
    return hooks.event(FAULT_GL, name);
}

static void drawn(void)
{
    hooks.kernel("draw");
}

static own_context own; /* all runs use it */
static void close_own(void)
{
    own_close(&own);
}

bool fault_gl_use(const fault_hooks *use, tml_open_desc *desc)
{
    static tml_gl_desc copies[4];
    static size_t used;
    hooks = *use;
    gl_driver.ask = ask;
    gl_driver.drawn = drawn;
    if (used == sizeof copies / sizeof *copies || (used == 0 && !own_open(&own)))
        return false;
    if (used == 0)
        atexit(close_own);
    copies[used] = *desc->gl;
    copies[used].lend_current = true;
    copies[used].get_proc_address = find_wrapped;
    desc->gl = &copies[used++];
    return true;
}

void fault_gl_begin(void)
{
    gl_driver.live = 0;
    gl_driver.out_of_memory = false;
}

int fault_gl_live(void)
{
    return gl_driver.live;
}

uint32_t fault_gl_texture(void)
{
    static GLuint name;
    float texels[4 * 8 * 4];
    for (int i = 0; i < 4 * 8 * 4; i++)
        texels[i] = (float)i;
    if (!name)
        gl.GenTextures(1, &name);
    gl.BindTexture(GL_TEXTURE_2D, name);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, 8, 4, 0, GL_RGBA, GL_FLOAT, texels);
    gl.BindTexture(GL_TEXTURE_2D, 0);
    return name;
}
#else
bool fault_gl_use(const fault_hooks *use, tml_open_desc *desc)
{
    (void)use, (void)desc;
    return false;
}
void fault_gl_begin(void)
{
}
int fault_gl_live(void)
{
    return 0;
}
uint32_t fault_gl_texture(void)
{
    return 0;
}
#endif
