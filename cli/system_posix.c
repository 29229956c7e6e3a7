/* system.h on Linux and macOS. */
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAME_SIZE = 4096, PIECE = 1 << 16, SECONDS_MOST = 60 };

void system_begin(int argc, char **argv)
{
    (void)argc;
    (void)argv;
}

bool system_shows_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* ---- the machine and the process ------------------------------------------------------------- */

uint32_t system_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

/* Returns a figure of a /proc file, by its name, in bytes; 0 if there is none. */
static uint64_t read_proc(const char *path, const char *name)
{
    uint64_t kilobytes = 0;
    char line[128];
    FILE *file = fopen(path, "r");
    while (file && !kilobytes && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtoull(line + strlen(name), NULL, 10);
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

uint64_t system_free_memory(void)
{
    return read_proc("/proc/meminfo", "MemAvailable:");
}

/* Linux's ru_maxrss includes the program before exec, such as a large Python; VmHWM does not. */
uint64_t system_peak_memory(void)
{
    const uint64_t own = read_proc("/proc/self/status", "VmHWM:");
    if (own)
        return own;
#ifdef __APPLE__
    const uint64_t unit = 1;
#else
    const uint64_t unit = 1024;
#endif
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * unit : 0;
}

void system_set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void (*interrupt_handler)(void);

static void interrupted(int number)
{
    (void)number;
    interrupt_handler();
}

void system_on_interrupt(void (*handler)(void))
{
    struct sigaction action, hang_up;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    if (handler)
        interrupt_handler = handler;
    action.sa_handler = handler ? interrupted : SIG_DFL;
    action.sa_flags = (int)SA_RESETHAND | SA_RESTART; /* so that the second signal kills */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) /* set by nohup */
        sigaction(SIGHUP, &action, NULL);
    /* A file beyond the user's limit is an error with a message, and its remains are removed. */
    signal(SIGXFSZ, SIG_IGN);
}

const char *system_work_apart(void (*work)(void *), void *data, size_t size)
{
    int ends[2], status = 0;
    size_t got = 0;
    fflush(NULL);
    char *copy = malloc(size);
    if (!copy || pipe(ends) != 0) {
        free(copy);
        return "there is no memory or pipe for a process of its own";
    }
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS_MOST);
        work(data);
        for (ssize_t part = 1; got < size && part > 0; got += (size_t)part)
            if ((part = write(ends[1], (char *)data + got, size - got)) <= 0)
                break;
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t part = 1; child > 0 && got < size && part > 0; got += (size_t)part)
        if ((part = read(ends[0], copy + got, size - got)) <= 0)
            break;
    close(ends[0]);
    if (child > 0)
        waitpid(child, &status, 0);
    if (got == size)
        memcpy(data, copy, size);
    free(copy);
    if (got == size)
        return NULL;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
               ? "it takes more than a minute, or hangs"
               : "its driver ended the process";
}

/* ---- files ----------------------------------------------------------------------------------- */

bool system_can_write(const char *folder)
{
    return access(folder, W_OK) == 0;
}

bool system_examine(const char *path, system_file *out)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return false;
#ifdef __APPLE__
    const struct timespec changed = info.st_mtimespec;
#else
    const struct timespec changed = info.st_mtim;
#endif
    *out = (system_file){.is_regular = S_ISREG(info.st_mode),
                         .size = (uint64_t)info.st_size,
                         .device = (uint64_t)info.st_dev,
                         .number = (uint64_t)info.st_ino,
                         .changed = 1000000000 * (int64_t)changed.tv_sec + changed.tv_nsec};
    return true;
}

bool system_resolve(const char *path, char *out, size_t size)
{
    char *real = realpath(path, NULL);
    bool is_good = real && strlen(real) < size;
    if (is_good)
        memcpy(out, real, strlen(real) + 1);
    free(real);
    return is_good;
}

FILE *system_create_beside(const char *path, const char *mode, bool is_private, char *temporary,
                           size_t size)
{
    if ((size_t)snprintf(temporary, size, "%s.XXXXXX", path) >= size) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    int descriptor = mkstemp(temporary);
    if (descriptor < 0)
        return NULL;
    mode_t mask = umask(0);
    umask(mask);
    if (!is_private)
        (void)!fchmod(descriptor, 0666 & ~mask);
    FILE *file = fdopen(descriptor, mode);
    if (!file) {
        close(descriptor);
        unlink(temporary);
    }
    return file;
}

bool system_rename(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

void system_remove(const char *path)
{
    unlink(path);
}

bool system_make_folder(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

bool system_cache_folder(char *out, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        return (size_t)snprintf(out, size, "%s/trommel", cache) < size;
    return home && home[0] == '/' && (size_t)snprintf(out, size, "%s/.cache/trommel", home) < size;
}

const char *system_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

bool system_make_temporary(char *out, size_t size)
{
    return (size_t)snprintf(out, size, "%s/trommel-XXXXXX", system_temporary_folder()) < size &&
           mkdtemp(out);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

void system_remove_folder(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- standard input and output --------------------------------------------------------------- */

static bool copy(int from, int to)
{
    static char piece[PIECE];
    for (;;) {
        ssize_t got = read(from, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        for (ssize_t put = 0; put < got;) {
            ssize_t n = write(to, piece + put, (size_t)(got - put));
            if (n < 0 && errno != EINTR)
                return false;
            put += n > 0 ? n : 0;
        }
    }
}

/* Makes a file without a name, which disappears with the process. */
static int open_spool(void)
{
    char path[NAME_SIZE];
    if ((size_t)snprintf(path, sizeof path, "%s/trommel-XXXXXX", system_temporary_folder()) >=
        sizeof path)
        return -1;
    int file = mkstemp(path);
    if (file >= 0)
        unlink(path);
    return file;
}

bool system_name_input(char *out, size_t size)
{
    struct stat info;
    int file = STDIN_FILENO;
    bool is_file =
        fstat(file, &info) == 0 && S_ISREG(info.st_mode) && lseek(file, 0, SEEK_CUR) == 0;
    if (!is_file) {
        file = open_spool();
        if (file < 0 || !copy(STDIN_FILENO, file))
            return false;
    }
    return (size_t)snprintf(out, size, "/dev/fd/%d", file) < size;
}

static int real_output = -1;

bool system_keep_output(void)
{
    real_output = dup(STDOUT_FILENO);
    return real_output >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
}

bool system_write_output(const char *path)
{
    signal(SIGPIPE, SIG_IGN); /* the reader may have closed the pipe */
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool is_good = file >= 0 && copy(file, real_output);
    const int error = errno;
    if (file >= 0)
        close(file);
    is_good = close(real_output) == 0 && is_good;
    errno = error;
    return is_good;
}
