/* An OpenGL ES context of the program's own to lend, and functions between the engine and the
 * driver that count and fail on request (tml_gl_desc.get_proc_address = find_wrapped). */
#ifndef GL_DRIVER_H
#define GL_DRIVER_H

#include <stdio.h>
#include <string.h>

#include <trommel/gl.h>

#include "gl/device/gl_load.h"

/* ---- a context of the program's own ---------------------------------------------------------- */

extern egl_functions egl;
extern gl_functions gl;

typedef struct own_context {
    EGLDisplay display;
    EGLContext context;
} own_context;

/* Makes one current; false where there is no EGL or no driver. */
bool own_open(own_context *own);
void own_close(own_context *own);

/* ---- a driver that counts, and fails on request ---------------------------------------------- */

extern struct gl_driver {
    const char *missing;           /* a function that is not there */
    uint32_t waits;                /* calls that wait for the device, since reset */
    uint32_t allocations;          /* textures, programs and the like, since reset */
    uint32_t textures;             /* made, since reset */
    uint32_t compiled;             /* shaders, since reset */
    uint32_t fail_at;              /* the texture that finds no memory, from 1; 0: none */
    bool out_of_memory;            /* that is to be reported */
    GLenum reset;                  /* what GetGraphicsResetStatus says */
    GLenum read_error;             /* what reading raises instead of reading */
    bool is_lost;                  /* reads do nothing, and GetError says so each time */
    uint32_t disjoint;             /* timer queries are nonsense, and GL_GPU_DISJOINT says so */
    int live;                      /* textures, framebuffers, programs and the like, not deleted */
    bool (*ask)(const char *name); /* optional: does this call, which can fail, fail? */
    void (*drawn)(void);           /* optional: called after each draw */
} gl_driver;

tml_gl_function find_wrapped(void *user, const char *name);

/* ---- a context's state ----------------------------------------------------------------------- */

enum { STATES = 64 };

/* All that the library might change, as numbers. */
void state_take(int32_t out[STATES]);

/* What GL_KHR_debug says, if there is one: the first message that is no note. */
extern char debug_message[256];

void debug_begin(void);

#endif
