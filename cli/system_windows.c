/* system.h on Windows. The manifest (windows.manifest) makes file names and arguments UTF-8, so
 * that the C library accepts them. */
#include "system.h"

#include "../src/io/io_windows_error.h"

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_SIZE = 4096, PIECE = 1 << 16 };

static char input_name[NAME_SIZE]; /* the copy of standard input; deleted at the end */
static int real_output = -1;

static void remove_input(void)
{
    if (input_name[0])
        DeleteFileA(input_name);
}

static void use_slashes(char *path)
{
    for (; *path; path++)
        if (*path == '\\')
            *path = '/';
}

void system_begin(int argc, char **argv)
{
    DWORD mode;
    HANDLE terminal = GetStdHandle(STD_ERROR_HANDLE);
    SetConsoleOutputCP(CP_UTF8);
    if (GetConsoleMode(terminal, &mode))
        SetConsoleMode(terminal, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
    for (int i = 1; i < argc; i++)
        use_slashes(argv[i]);
    atexit(remove_input);
}

bool system_shows_utf8(void)
{
    return true;
}

/* ---- the machine and the process ------------------------------------------------------------- */

uint32_t system_processors(void)
{
    return GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

uint64_t system_free_memory(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? status.ullAvailPhys : 0;
}

uint64_t system_peak_memory(void)
{
    PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
    return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)
               ? counters.PeakWorkingSetSize
               : 0;
}

void system_set(const char *name, const char *value)
{
    _putenv_s(name, value ? value : "");
}

static void (*interrupt_handler)(void);

/* Handles the first event; the second ends the process, as is the system's default. */
static BOOL WINAPI interrupted(DWORD event)
{
    void (*handler)(void) = interrupt_handler;
    interrupt_handler = NULL;
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT)
        return FALSE;
    if (handler)
        handler();
    return handler != NULL;
}

void system_on_interrupt(void (*handler)(void))
{
    SetConsoleCtrlHandler(interrupted, FALSE);
    interrupt_handler = handler;
    if (handler)
        SetConsoleCtrlHandler(interrupted, TRUE);
}

const char *system_work_apart(void (*work)(void *), void *data, size_t size)
{
    (void)size;
    work(data);
    return NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

bool system_can_write(const char *folder)
{
    (void)folder; /* access lists: only an attempt would show it */
    return true;
}

bool system_examine(const char *path, system_file *out)
{
    BY_HANDLE_FILE_INFORMATION info;
    HANDLE file = CreateFileA(path, FILE_READ_ATTRIBUTES,
                              FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        errno = windows_error();
        return false;
    }
    bool is_disk = GetFileType(file) == FILE_TYPE_DISK;
    bool is_known = is_disk && GetFileInformationByHandle(file, &info);
    CloseHandle(file);
    *out = (system_file){0};
    if (!is_known)
        return true; /* NUL or a pipe */
    *out = (system_file){.is_regular = !(info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY),
                         .size = (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow,
                         .device = info.dwVolumeSerialNumber,
                         .number = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow,
                         .changed = (int64_t)info.ftLastWriteTime.dwHighDateTime << 32 |
                                    info.ftLastWriteTime.dwLowDateTime};
    return true;
}

bool system_resolve(const char *path, char *out, size_t size)
{
    system_file file;
    DWORD length = system_examine(path, &file) ? GetFullPathNameA(path, (DWORD)size, out, NULL) : 0;
    if (length == 0 || length >= size)
        return false;
    use_slashes(out);
    return true;
}

FILE *system_create_beside(const char *path, const char *mode, bool is_private, char *temporary,
                           size_t size)
{
    (void)is_private; /* rights are the folder's */
    (void)mode;       /* lines end as elsewhere */
    for (unsigned number = GetCurrentProcessId();; number += 0x9e3779b9u) {
        if ((size_t)snprintf(temporary, size, "%s.%06x", path, number & 0xffffff) >= size) {
            errno = ENAMETOOLONG;
            return NULL;
        }
        int descriptor =
            _open(temporary, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY, _S_IREAD | _S_IWRITE);
        if (descriptor >= 0)
            return _fdopen(descriptor, "wb");
        if (errno != EEXIST)
            return NULL;
    }
}

bool system_rename(const char *from, const char *to)
{
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING))
        return true;
    errno = windows_error();
    return false;
}

void system_remove(const char *path)
{
    DeleteFileA(path);
}

bool system_make_folder(const char *path)
{
    return _mkdir(path) == 0 || errno == EEXIST;
}

bool system_cache_folder(char *out, size_t size)
{
    const char *folder = getenv("LOCALAPPDATA");
    if (!folder || (size_t)snprintf(out, size, "%s/trommel", folder) >= size)
        return false;
    use_slashes(out);
    return true;
}

const char *system_temporary_folder(void)
{
    static char folder[MAX_PATH + 1];
    DWORD length = GetTempPathA(sizeof folder, folder);
    if (length == 0 || length >= sizeof folder)
        return ".";
    use_slashes(folder);
    folder[length - 1] = '\0'; /* removes its final slash */
    return folder;
}

bool system_make_temporary(char *out, size_t size)
{
    for (unsigned number = GetCurrentProcessId();; number += 0x9e3779b9u) {
        if ((size_t)snprintf(out, size, "%s/trommel-%06x", system_temporary_folder(),
                             number & 0xffffff) >= size)
            return false;
        if (_mkdir(out) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
}

void system_remove_folder(const char *path)
{
    char name[NAME_SIZE + MAX_PATH];
    WIN32_FIND_DATAA entry;
    snprintf(name, sizeof name, "%.*s/*", NAME_SIZE - 8, path);
    HANDLE found = FindFirstFileA(name, &entry);
    for (BOOL is = found != INVALID_HANDLE_VALUE; is; is = FindNextFileA(found, &entry)) {
        if (strcmp(entry.cFileName, ".") == 0 || strcmp(entry.cFileName, "..") == 0)
            continue;
        snprintf(name, sizeof name, "%.*s/%s", NAME_SIZE - 8, path, entry.cFileName);
        if (entry.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
            system_remove_folder(name);
        else
            DeleteFileA(name);
    }
    if (found != INVALID_HANDLE_VALUE)
        FindClose(found);
    RemoveDirectoryA(path);
}

/* ---- standard input and output --------------------------------------------------------------- */

static bool copy(int from, int to)
{
    static char piece[PIECE];
    for (int got; (got = _read(from, piece, sizeof piece)) != 0;)
        if (got < 0 || _write(to, piece, (unsigned)got) != got)
            return false;
    return true;
}

bool system_name_input(char *out, size_t size)
{
    char path[NAME_SIZE];
    int length = snprintf(path, sizeof path, "%s/trommel-input", system_temporary_folder());
    FILE *file = length < NAME_SIZE
                     ? system_create_beside(path, "wb", true, input_name, sizeof input_name)
                     : NULL;
    if (!file)
        return false;
    bool is_good = copy(_fileno(stdin), _fileno(file));
    is_good = fclose(file) == 0 && is_good;
    return is_good && (size_t)snprintf(out, size, "%s", input_name) < size;
}

bool system_keep_output(void)
{
    real_output = _dup(_fileno(stdout));
    return real_output >= 0 && _dup2(_fileno(stderr), _fileno(stdout)) == 0;
}

bool system_write_output(const char *path)
{
    int file = _open(path, _O_RDONLY | _O_BINARY);
    _setmode(real_output, _O_BINARY);
    bool is_good = file >= 0 && copy(file, real_output);
    if (file >= 0)
        _close(file);
    return _close(real_output) == 0 && is_good;
}
