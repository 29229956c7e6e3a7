/* The platform of Linux, Android, macOS and Emscripten. */
#include "core/platform.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- memory, clock, process ------------------------------------------------------------------ */

/* Blocks of HUGE_FROM bytes or more request huge pages. The page fault at the first touch of 4 KiB
 * takes about 2 us; in a 2 MiB page, a seventh of that per 4 KiB. For outputs of hundreds of MB,
 * these faults are most of the run time. */
enum { HUGE_PAGE = 2 << 20, HUGE_FROM = 4 << 20 };

static size_t huge_size(size_t size)
{
    return (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

void *tml_platform_alloc(size_t size, size_t alignment)
{
    void *memory = NULL;
    if (size < HUGE_FROM)
        return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
    size_t rounded = huge_size(size);
    if (rounded < size || posix_memalign(&memory, HUGE_PAGE, rounded) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, rounded, MADV_HUGEPAGE); /* a hint: its failure only costs time */
#endif
    return memory;
}

void tml_platform_free(void *memory)
{
    free(memory);
}

bool tml_platform_lend(void *memory, size_t size)
{
#if defined(MADV_FREE) && !defined(__EMSCRIPTEN__)
    return size >= HUGE_FROM && madvise(memory, huge_size(size), MADV_FREE) == 0;
#else
    (void)memory;
    (void)size;
    return false;
#endif
}

uint64_t tml_platform_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

double tml_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

uint64_t tml_process(void)
{
    return (uint64_t)getpid();
}

/* ---- threads --------------------------------------------------------------------------------- */

uint32_t tml_processors(void)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set) > 0 ? (uint32_t)CPU_COUNT(&set) : 1;
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

static void *platform_begin(void *argument)
{
    const tml_thread *thread = argument;
    thread->run(thread->argument);
    return NULL;
}

bool tml_thread_start(tml_thread *thread)
{
    return pthread_create(&thread->handle, NULL, platform_begin, thread) == 0;
}

void tml_thread_join(tml_thread *thread)
{
    pthread_join(thread->handle, NULL);
}

void tml_thread_yield(void)
{
    sched_yield();
}

void tml_mutex_init(tml_mutex *mutex)
{
    pthread_mutex_init(mutex, NULL);
}

void tml_mutex_destroy(tml_mutex *mutex)
{
    pthread_mutex_destroy(mutex);
}

void tml_mutex_lock(tml_mutex *mutex)
{
    pthread_mutex_lock(mutex);
}

void tml_mutex_unlock(tml_mutex *mutex)
{
    pthread_mutex_unlock(mutex);
}

void tml_condition_init(tml_condition *condition)
{
    pthread_cond_init(condition, NULL);
}

void tml_condition_destroy(tml_condition *condition)
{
    pthread_cond_destroy(condition);
}

void tml_condition_wait(tml_condition *condition, tml_mutex *mutex)
{
    pthread_cond_wait(condition, mutex);
}

void tml_condition_wake_one(tml_condition *condition)
{
    pthread_cond_signal(condition);
}

void tml_condition_wake_all(tml_condition *condition)
{
    pthread_cond_broadcast(condition);
}

/* ---- libraries ------------------------------------------------------------------------------- */

#ifdef __EMSCRIPTEN__ /* a page links what it uses */
void *tml_library_open(tml_library which, char *why, size_t why_size)
{
    (void)which;
    if (why)
        snprintf(why, why_size, "a page opens no libraries");
    return NULL;
}

void *tml_library_symbol(void *library, const char *name)
{
    (void)library;
    (void)name;
    return NULL;
}

void tml_library_close(void *library)
{
    (void)library;
}
#else
#    include <dlfcn.h>

static const char *const library_names[][4] = {
#    ifdef __APPLE__
    [TML_LIBRARY_VULKAN] = {"libvulkan.1.dylib", "libvulkan.dylib", "libMoltenVK.dylib"},
    [TML_LIBRARY_EGL] = {"libEGL.dylib"},
    [TML_LIBRARY_SHADERC] = {"libshaderc_shared.1.dylib", "libshaderc_shared.dylib"},
    [TML_LIBRARY_NVIDIA] = {NULL},
#    elif defined(__ANDROID__)
    [TML_LIBRARY_VULKAN] = {"libvulkan.so"},
    [TML_LIBRARY_EGL] = {"libEGL.so"},
    [TML_LIBRARY_SHADERC] = {"libshaderc_shared.so"},
    [TML_LIBRARY_NVIDIA] = {NULL},
#    else
    [TML_LIBRARY_VULKAN] = {"libvulkan.so.1"},
    [TML_LIBRARY_EGL] = {"libEGL.so.1"},
    [TML_LIBRARY_SHADERC] = {"libshaderc_shared.so.1", "libshaderc.so.1"},
    [TML_LIBRARY_NVIDIA] = {"libGLX_nvidia.so.0"},
#    endif
};

void *tml_library_open(tml_library which, char *why, size_t why_size)
{
    void *library = NULL;
    for (const char *const *name = library_names[which]; *name && !library; name++)
        library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
    const char *error = library || !why ? NULL : dlerror();
    if (!library && why)
        snprintf(why, why_size, "%s", error ? error : "this system has no such library");
    return library;
}

void *tml_library_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

void tml_library_close(void *library)
{
    dlclose(library);
}
#endif
