/* Devices whose calls fail on request: vulkan_driver.h and gl_driver.h as faults.h uses them. */
#ifndef SUPPORT_FAULTS_H
#define SUPPORT_FAULTS_H

#include <trommel/core.h>

typedef enum fault_kind {
    FAULT_MEMORY, /* the allocator returns NULL */
    FAULT_REPORT, /* the progress hook cancels */
    FAULT_KERNEL, /* tml_cancel is called before a task, or after a dispatch or draw was enqueued */
    FAULT_VK_HOST,   /* a Vulkan call returns VK_ERROR_OUT_OF_HOST_MEMORY */
    FAULT_VK_DEVICE, /* a call that takes memory returns VK_ERROR_OUT_OF_DEVICE_MEMORY */
    FAULT_VK_LOST,   /* from here on, all calls that can return VK_ERROR_DEVICE_LOST do */
    FAULT_GL,        /* OpenGL has no memory for a texture, or refuses a framebuffer or a shader */
    FAULT_DISK,      /* the system refuses to open, read, write, rename ... */
    FAULT_SHORT,     /* the system reads or writes less than requested, which is no failure */
    FAULT_KINDS
} fault_kind;

/* Called by the drivers. event: must this event fail? kernel: a dispatch or draw was enqueued. */
typedef struct fault_hooks {
    bool (*event)(fault_kind kind, const char *what);
    void (*kernel)(const char *what);
} fault_hooks;

/* Makes desc use the driver that fails; false if there is no device. */
bool fault_vulkan_use(const fault_hooks *hooks, tml_open_desc *desc);
bool fault_gl_use(const fault_hooks *hooks, tml_open_desc *desc);

/* Resets the count of objects; the device is no longer lost. */
void fault_vulkan_begin(void);
void fault_gl_begin(void);
bool fault_vulkan_is_lost(void);
/* Return the objects that were created and not destroyed since. */
int fault_vulkan_live(void);
int fault_gl_live(void);
/* Returns a texture of the program, GL_RGBA32F, 8 x 4 texels, made by the real driver. */
uint32_t fault_gl_texture(void);
/* Returns the real driver's function, which neither counts nor fails. device: a VkDevice. */
void (*fault_vulkan_function(void *device, const char *name))(void);

#endif
