/* Processes and files of a benchmark. */
#include "bench_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { READ_SIZE = 1 << 17 }; /* as cat reads */

/* Waits for the end of a process, or for a signal. wait continues after a signal; poll does not. */
static void wait_or_cancel(tml_context *tml, pid_t pid)
{
#ifdef SYS_pidfd_open
    struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    if (ended.fd < 0)
        return;
    while (poll(&ended, 1, -1) < 0 && errno == EINTR)
        if (tml_is_cancelled(tml))
            kill(pid, SIGTERM);
    close(ended.fd);
#else
    (void)tml, (void)pid;
#endif
}

int bench_process_run(tml_context *tml, char *const *words)
{
    posix_spawn_file_actions_t files;
    pid_t pid;
    int state = 0;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "stderr.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    int failure = posix_spawnp(&pid, words[0], &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    if (failure)
        return 127;
    wait_or_cancel(tml, pid);
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

bool bench_file_warm(const char *path)
{
    static char block[READ_SIZE];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : 1;
    while (got > 0)
        got = read(file, block, sizeof block);
    if (file >= 0)
        close(file);
    return got == 0;
}

/* Are none of a file's pages in the page cache? */
static bool is_cool(int file, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), count = (size + page - 1) / page, kept = 0;
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    unsigned char *is_in = malloc(count);
    bool is_known = map != MAP_FAILED && is_in && mincore(map, size, is_in) == 0;
    for (size_t i = 0; is_known && i < count; i++)
        kept += is_in[i] & 1;
    free(is_in);
    if (map != MAP_FAILED)
        munmap(map, size);
    return is_known && kept == 0;
}

bool bench_file_cool(const char *path)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool is_done = file >= 0 && fstat(file, &info) == 0 && info.st_size > 0 && fsync(file) == 0 &&
                   posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0 &&
                   is_cool(file, (size_t)info.st_size);
    if (file >= 0)
        close(file);
    return is_done;
}

bool bench_folder_enter(const char *parent, char *path, size_t size)
{
    const char *usual = getenv("TMPDIR");
    if (!parent)
        parent = usual && *usual ? usual : "/tmp";
    int length = snprintf(path, size, "%s/trommel-bench-XXXXXX", parent);
    if (length < 0 || (size_t)length >= size) {
        errno = ENAMETOOLONG;
        return false;
    }
    return mkdtemp(path) && chdir(path) == 0;
}

void bench_folder_leave(const char *path)
{
    DIR *folder = opendir(".");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlink(entry->d_name);
    if (folder)
        closedir(folder);
    if (chdir("/") == 0)
        rmdir(path);
}
