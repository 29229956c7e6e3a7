/* Windows error codes as errno, for trommel-io and the command. */
#ifndef TML_IO_WINDOWS_ERROR_H
#define TML_IO_WINDOWS_ERROR_H

#include <errno.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Converts GetLastError() to an errno. */
static inline int windows_error(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
        return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
        return EACCES;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
        return EEXIST;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
        return ENOSPC;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_COMMITMENT_LIMIT:
        return ENOMEM;
    default:
        return EIO;
    }
}

#endif
