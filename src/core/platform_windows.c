/* The platform of Windows, by MinGW-w64. */
#include "core/platform.h"

#include <malloc.h>
#include <process.h>
#include <stdio.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

_Static_assert(sizeof(SRWLOCK) == sizeof(tml_mutex) &&
                   sizeof(CONDITION_VARIABLE) == sizeof(tml_condition),
               "platform.h holds each as a pointer");

/* ---- memory, clock, process ------------------------------------------------------------------ */

void *tml_platform_alloc(size_t size, size_t alignment)
{
    return _aligned_malloc(size, alignment);
}

void tml_platform_free(void *memory)
{
    _aligned_free(memory);
}

bool tml_platform_lend(void *memory, size_t size)
{
    (void)memory;
    (void)size;
    return false;
}

uint64_t tml_platform_memory(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : 0;
}

double tml_seconds(void)
{
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&ticks);
    return (double)ticks.QuadPart / (double)frequency.QuadPart;
}

uint64_t tml_process(void)
{
    return GetCurrentProcessId();
}

/* ---- threads --------------------------------------------------------------------------------- */

uint32_t tml_processors(void)
{
    DWORD_PTR process, machine;
    if (GetActiveProcessorGroupCount() > 1) /* a mask is of one group of 64 */
        return GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &machine) || process == 0)
        return 1;
    return (uint32_t)__builtin_popcountll(process);
}

static unsigned __stdcall platform_begin(void *argument)
{
    const tml_thread *thread = argument;
    thread->run(thread->argument);
    return 0;
}

bool tml_thread_start(tml_thread *thread)
{
    thread->handle = (void *)_beginthreadex(NULL, 0, platform_begin, thread, 0, NULL);
    return thread->handle != NULL;
}

void tml_thread_join(tml_thread *thread)
{
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
}

void tml_thread_yield(void)
{
    SwitchToThread();
}

void tml_mutex_init(tml_mutex *mutex)
{
    InitializeSRWLock((SRWLOCK *)mutex);
}

void tml_mutex_destroy(tml_mutex *mutex)
{
    (void)mutex;
}

void tml_mutex_lock(tml_mutex *mutex)
{
    AcquireSRWLockExclusive((SRWLOCK *)mutex);
}

void tml_mutex_unlock(tml_mutex *mutex)
{
    ReleaseSRWLockExclusive((SRWLOCK *)mutex);
}

void tml_condition_init(tml_condition *condition)
{
    InitializeConditionVariable((CONDITION_VARIABLE *)condition);
}

void tml_condition_destroy(tml_condition *condition)
{
    (void)condition;
}

void tml_condition_wait(tml_condition *condition, tml_mutex *mutex)
{
    SleepConditionVariableSRW((CONDITION_VARIABLE *)condition, (SRWLOCK *)mutex, INFINITE, 0);
}

void tml_condition_wake_one(tml_condition *condition)
{
    WakeConditionVariable((CONDITION_VARIABLE *)condition);
}

void tml_condition_wake_all(tml_condition *condition)
{
    WakeAllConditionVariable((CONDITION_VARIABLE *)condition);
}

/* ---- libraries ------------------------------------------------------------------------------- */

static const char *const library_names[][2] = {
    [TML_LIBRARY_VULKAN] = {"vulkan-1.dll"},
    [TML_LIBRARY_EGL] = {"libEGL.dll"}, /* ANGLE's */
    [TML_LIBRARY_SHADERC] = {"shaderc_shared.dll"},
    [TML_LIBRARY_NVIDIA] = {NULL},
};

void *tml_library_open(tml_library which, char *why, size_t why_size)
{
    const char *name = library_names[which][0];
    HMODULE library = name ? LoadLibraryExA(name, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS) : NULL;
    if (!library && why)
        snprintf(why, why_size, "%s: error %lu", name ? name : "no library", GetLastError());
    return library;
}

void *tml_library_symbol(void *library, const char *name)
{
    FARPROC symbol = GetProcAddress(library, name);
    return *(void **)&symbol;
}

void tml_library_close(void *library)
{
    FreeLibrary(library);
}
