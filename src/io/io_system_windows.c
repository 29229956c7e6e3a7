/* io_system.h for Windows, compiled by MinGW-w64. */
#include "io/io_system.h"
#include "io/io_windows_error.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <locale.h>
#include <share.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>

enum { NAME_SIZE = 4096 + 1024, IO_MOST = 1 << 30 }; /* IO_MOST: bytes per call */

/* ---- numbers --------------------------------------------------------------------------------- */

/* MinGW's own strtod and printf are exact but follow the locale; Microsoft's variants with a locale
 * argument are not exact. In each code page of Windows the decimal point is one character. */
bool tml_io_strtod(const char *text, double *out)
{
    char copy[1024];
    size_t length = strlen(text);
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length + 1);
    char *point = strchr(copy, '.');
    if (point)
        *point = *localeconv()->decimal_point;
    *out = strtod(copy, NULL);
    return true;
}

int tml_io_print_double(char *out, size_t size, int precision, double value)
{
    int length = snprintf(out, size, "%.*g", precision, value);
    char *point = strchr(out, *localeconv()->decimal_point);
    if (point)
        *point = '.';
    return length;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool widen(const char *path, wchar_t out[NAME_SIZE])
{
    bool is_right =
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, out, NAME_SIZE) > 0;
    if (!is_right)
        errno = ENOENT;
    return is_right;
}

io_kind tml_io_path_kind(const char *path)
{
    wchar_t name[NAME_SIZE];
    DWORD attributes = widen(path, name) ? GetFileAttributesW(name) : INVALID_FILE_ATTRIBUTES;
    if (attributes == INVALID_FILE_ATTRIBUTES)
        return IO_KIND_NONE;
    return attributes & FILE_ATTRIBUTE_DIRECTORY ? IO_KIND_FOLDER
           : attributes & FILE_ATTRIBUTE_DEVICE  ? IO_KIND_OTHER
                                                 : IO_KIND_FILE;
}

bool tml_io_path_is_readable(const char *path)
{
    wchar_t name[NAME_SIZE];
    return widen(path, name) && _waccess(name, 4) == 0;
}

/* Backslashes become slashes, which Windows accepts, too. */
bool tml_io_path_resolve(const char *path, char *out, size_t size)
{
    wchar_t name[NAME_SIZE], full[NAME_SIZE];
    if (!widen(path, name) || GetFileAttributesW(name) == INVALID_FILE_ATTRIBUTES)
        return false;
    DWORD length = GetFullPathNameW(name, NAME_SIZE, full, NULL);
    if (length == 0 || length >= NAME_SIZE ||
        WideCharToMultiByte(CP_UTF8, 0, full, -1, out, (int)size, NULL, NULL) == 0)
        return false;
    for (char *c = out; *c; c++)
        if (*c == '\\')
            *c = '/';
    return true;
}

bool tml_io_path_rename(const char *from, const char *to)
{
    wchar_t source[NAME_SIZE], target[NAME_SIZE];
    if (!widen(from, source) || !widen(to, target))
        return false;
    if (MoveFileExW(source, target, MOVEFILE_REPLACE_EXISTING))
        return true;
    errno = windows_error();
    return false;
}

void tml_io_path_remove(const char *path)
{
    wchar_t name[NAME_SIZE];
    if (widen(path, name))
        DeleteFileW(name);
}

unsigned long tml_io_process_number(void)
{
    return GetCurrentProcessId();
}

double tml_io_seconds(void)
{
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&ticks);
    return (double)ticks.QuadPart / (double)frequency.QuadPart;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int open_wide(const char *path, int flags)
{
    wchar_t name[NAME_SIZE];
    return widen(path, name) ? _wopen(name, flags | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE)
                             : -1;
}

/* For a folder, errno is EACCES. */
int tml_io_file_open(const char *path)
{
    return open_wide(path, _O_RDONLY | _O_RANDOM);
}

int tml_io_file_open_device(const char *path)
{
    return open_wide(path, _O_WRONLY);
}

int tml_io_file_create(const char *path)
{
    return open_wide(path, _O_WRONLY | _O_CREAT | _O_EXCL);
}

int tml_io_file_create_spool(const char *path)
{
    return open_wide(path, _O_RDWR | _O_CREAT | _O_EXCL | _O_TEMPORARY);
}

bool tml_io_file_close(int fd)
{
    return _close(fd) == 0;
}

io_kind tml_io_file_kind(int fd, uint64_t *size)
{
    struct _stat64 info;
    if (_fstat64(fd, &info) != 0)
        return IO_KIND_NONE;
    *size = (uint64_t)info.st_size;
    return (info.st_mode & _S_IFMT) == _S_IFREG   ? IO_KIND_FILE
           : (info.st_mode & _S_IFMT) == _S_IFDIR ? IO_KIND_FOLDER
                                                  : IO_KIND_OTHER;
}

/* Does nothing: a new file inherits the rights of its folder, as the old one did. */
void tml_io_file_copy_rights(int fd, const char *path)
{
    (void)fd;
    (void)path;
}

int64_t tml_io_file_read_at(int fd, void *out, size_t size, uint64_t offset)
{
    OVERLAPPED at = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
    DWORD got = 0;
    if (ReadFile((HANDLE)_get_osfhandle(fd), out, (DWORD)(size < IO_MOST ? size : IO_MOST), &got,
                 &at))
        return got;
    if (GetLastError() == ERROR_HANDLE_EOF)
        return 0;
    errno = windows_error();
    return -1;
}

int64_t tml_io_file_write_at(int fd, const void *data, size_t size, uint64_t offset)
{
    OVERLAPPED at = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
    DWORD wrote = 0;
    if (WriteFile((HANDLE)_get_osfhandle(fd), data, (DWORD)(size < IO_MOST ? size : IO_MOST),
                  &wrote, &at))
        return wrote;
    errno = windows_error();
    return -1;
}

int64_t tml_io_file_write(int fd, const void *data, size_t size)
{
    return _write(fd, data, (unsigned)(size < IO_MOST ? size : IO_MOST));
}

bool tml_io_file_seek(int fd, uint64_t offset)
{
    return _lseeki64(fd, (int64_t)offset, SEEK_SET) >= 0;
}

bool tml_io_file_reserve(int fd, uint64_t size)
{
    FILE_ALLOCATION_INFO info = {.AllocationSize.QuadPart = (LONGLONG)size};
    if (SetFileInformationByHandle((HANDLE)_get_osfhandle(fd), FileAllocationInfo, &info,
                                   sizeof info))
        return true;
    errno = windows_error();
    return errno != ENOSPC;
}

bool tml_io_is_disk_full(int error)
{
    return error == ENOSPC;
}

/* ---- maps ------------------------------------------------------------------------------------ */

size_t tml_io_page_size(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwAllocationGranularity;
}

void *tml_io_map(int fd, uint64_t offset, size_t size, bool is_written)
{
    HANDLE mapping = CreateFileMappingW((HANDLE)_get_osfhandle(fd), NULL,
                                        is_written ? PAGE_READWRITE : PAGE_READONLY, 0, 0, NULL);
    void *memory = mapping ? MapViewOfFile(mapping, is_written ? FILE_MAP_WRITE : FILE_MAP_READ,
                                           (DWORD)(offset >> 32), (DWORD)offset, size)
                           : NULL;
    if (!memory)
        errno = windows_error();
    if (mapping)
        CloseHandle(mapping); /* the view keeps the mapping alive */
    return memory;
}

void tml_io_unmap(void *memory, size_t size)
{
    (void)size;
    UnmapViewOfFile(memory);
}

void tml_io_map_in_order(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

/* Unlocking pages that are not locked removes them from the working set. */
void tml_io_map_release(void *memory, size_t size)
{
    VirtualUnlock(memory, size);
}

bool tml_io_map_prefetch(void *memory, size_t size)
{
    (void)memory; /* the system reads each page when it is first accessed */
    (void)size;
    return true;
}

/* ---- folders --------------------------------------------------------------------------------- */

bool tml_io_folder_visit(const char *path, bool (*visit)(void *user, const char *name), void *user)
{
    wchar_t pattern[NAME_SIZE];
    char name[NAME_SIZE];
    if (strlen(path) + 3 > sizeof name || !widen(path, pattern))
        return false;
    wcscat(pattern, L"/*");
    WIN32_FIND_DATAW entry;
    HANDLE found = FindFirstFileW(pattern, &entry);
    if (found == INVALID_HANDLE_VALUE) {
        errno = windows_error();
        return false;
    }
    bool goes_on = true;
    do
        if (WideCharToMultiByte(CP_UTF8, 0, entry.cFileName, -1, name, sizeof name, NULL, NULL))
            goes_on = visit(user, name);
    while (goes_on && FindNextFileW(found, &entry));
    FindClose(found);
    return true;
}
