/* A test program's own OpenGL ES context, for the library to use, and functions between the engine
 * and the driver that count and fail on request (tml_gl_desc.get_proc_address = find_wrapped). */
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

/* Creates a context and makes it current; false if there is no EGL or no driver. */
bool own_open(own_context *own);
void own_close(own_context *own);

/* ---- a driver that counts, and fails on request ---------------------------------------------- */

extern struct gl_driver {
    const char *missing;           /* a function that find_wrapped does not find */
    uint32_t waits;                /* calls that wait for the device, since reset */
    uint32_t allocations;          /* textures, programs and the like, since reset */
    uint32_t textures;             /* created, since reset */
    uint32_t compiled;             /* shaders, since reset */
    uint32_t fail_at;              /* the texture that gets no memory, from 1; 0: none */
    bool out_of_memory;            /* the next GetError returns GL_OUT_OF_MEMORY */
    GLenum reset;                  /* GetGraphicsResetStatus returns it */
    GLenum read_error;             /* a read raises it, and reads nothing */
    bool is_lost;                  /* reads do nothing; GetError always returns CONTEXT_LOST */
    uint32_t disjoint;             /* 1: timer queries are wrong, and then GL_GPU_DISJOINT is set */
    int live;                      /* textures, framebuffers, programs and the like, not deleted */
    bool (*ask)(const char *name); /* optional: must this call, which can fail, do so? */
    void (*drawn)(void);           /* optional: called after each draw */
} gl_driver;

tml_gl_function find_wrapped(void *user, const char *name);

/* ---- a context's state ----------------------------------------------------------------------- */

enum { STATES = 64 };

/* Reads all state that the library might change. */
void state_take(int32_t out[STATES]);

/* The first message of GL_KHR_debug, if supported. Notes and performance messages do not count. */
extern char debug_message[256];

void debug_begin(void);

#endif
