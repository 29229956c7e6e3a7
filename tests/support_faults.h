/* Devices whose calls fail on request: what faults.h knows of vulkan_driver.h and gl_driver.h. */
#ifndef SUPPORT_FAULTS_H
#define SUPPORT_FAULTS_H

#include <trommel/core.h>

typedef enum fault_kind {
    FAULT_MEMORY, /* the allocator has none */
    FAULT_REPORT, /* the progress hook says stop */
    FAULT_KERNEL, /* tml_cancel is called before a task, or after a dispatch or draw was enqueued */
    FAULT_VK_HOST,   /* a Vulkan call returns VK_ERROR_OUT_OF_HOST_MEMORY, */
    FAULT_VK_DEVICE, /* one that takes memory VK_ERROR_OUT_OF_DEVICE_MEMORY, */
    FAULT_VK_LOST,   /* all that may do so, from here on, VK_ERROR_DEVICE_LOST */
    FAULT_GL,        /* OpenGL has no memory for a texture, or refuses a framebuffer or a shader */
    FAULT_DISK,      /* the system refuses to open, read, write, rename ... */
    FAULT_SHORT,     /* it reads or writes less than was asked for, which is no failure */
    FAULT_KINDS
} fault_kind;

/* What the drivers ask: does this event fail? And tell: something was enqueued. */
typedef struct fault_hooks {
    bool (*event)(fault_kind kind, const char *what);
    void (*kernel)(const char *what);
} fault_hooks;

/* Makes desc use the driver that fails; false where there is none. */
bool fault_vulkan_use(const fault_hooks *hooks, tml_open_desc *desc);
bool fault_gl_use(const fault_hooks *hooks, tml_open_desc *desc);

/* Counts objects anew; the device is well again. */
void fault_vulkan_begin(void);
void fault_gl_begin(void);
bool fault_vulkan_is_lost(void);
/* Objects that were made and not destroyed since. */
int fault_vulkan_live(void);
int fault_gl_live(void);
/* A texture of the program's: GL_RGBA32F, 8 x 4 texels, made by the driver that does not fail. */
uint32_t fault_gl_texture(void);
/* The driver's own function, which neither counts nor fails. device: a VkDevice. */
void (*fault_vulkan_function(void *device, const char *name))(void);

#endif
