/* The operating system's services that the core uses. platform_posix.c (Linux, macOS, Emscripten)
 * and platform_windows.c implement them; no other file of the core depends on the system. */
#ifndef TML_PLATFORM_H
#define TML_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef _WIN32
#    include <pthread.h>
#endif

/* ---- memory, clock, process ------------------------------------------------------------------ */

/* alignment: a power of two. Returns NULL if out of memory. */
void *tml_platform_alloc(size_t size, size_t alignment);
void tml_platform_free(void *memory);
/* Allows the system to reclaim the pages of a large block until they are next written to; their
 * contents are then undefined. Pages that the system does not reclaim cause no page fault. Returns
 * false if the system cannot do that; nothing is changed then. */
bool tml_platform_lend(void *memory, size_t size);
/* Bytes of memory of the machine; 0: unknown. */
uint64_t tml_platform_memory(void);
/* The monotonic clock, in seconds. */
double tml_seconds(void);
/* Identifies this process: after fork() the child's differs. */
uint64_t tml_process(void);

/* ---- threads --------------------------------------------------------------------------------- */

#ifdef _WIN32 /* a pointer each: SRWLOCK, CONDITION_VARIABLE, HANDLE */
typedef struct tml_mutex {
    void *lock;
} tml_mutex;
typedef struct tml_condition {
    void *variable;
} tml_condition;
typedef void *tml_thread_handle;
#else
typedef pthread_mutex_t tml_mutex;
typedef pthread_cond_t tml_condition;
typedef pthread_t tml_thread_handle;
#endif

typedef struct tml_thread {
    void (*run)(void *argument);
    void *argument;
    tml_thread_handle handle;
} tml_thread;

/* Processors that this process may run on; at least 1. */
uint32_t tml_processors(void);
/* Starts a thread that calls run with argument, and sets handle. thread must not move until
 * tml_thread_join. Returns false if no thread was started. */
bool tml_thread_start(tml_thread *thread);
void tml_thread_join(tml_thread *thread);
/* Lets another thread run on this processor. */
void tml_thread_yield(void);
void tml_mutex_init(tml_mutex *mutex);
void tml_mutex_destroy(tml_mutex *mutex);
void tml_mutex_lock(tml_mutex *mutex);
void tml_mutex_unlock(tml_mutex *mutex);
void tml_condition_init(tml_condition *condition);
void tml_condition_destroy(tml_condition *condition);
void tml_condition_wait(tml_condition *condition, tml_mutex *mutex);
void tml_condition_wake_one(tml_condition *condition);
void tml_condition_wake_all(tml_condition *condition);

/* ---- libraries that are looked for at run time ----------------------------------------------- */

typedef enum tml_library {
    TML_LIBRARY_VULKAN, /* the loader, or a driver that replaces it */
    TML_LIBRARY_EGL,
    TML_LIBRARY_SHADERC,
    TML_LIBRARY_NVIDIA, /* NVIDIA's driver, which must never be unloaded: vulkan_load.c says why */
} tml_library;

/* Opens the first of the library's names on this system that can be opened. Returns NULL if there
 * is none; why, if given, then receives the system's reason. */
void *tml_library_open(tml_library which, char *why, size_t why_size);
/* A function or variable by name; NULL: none. */
void *tml_library_symbol(void *library, const char *name);
void tml_library_close(void *library);

#endif
