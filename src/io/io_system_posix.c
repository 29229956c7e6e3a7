/* io_system.h for Linux and macOS. */
#include "io/io_system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- numbers --------------------------------------------------------------------------------- */

bool tml_io_strtod(const char *text, double *out)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* static in glibc and musl */
    if (!c_locale)
        return false;
    *out = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    return true;
}

int tml_io_print_double(char *out, size_t size, int precision, double value)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale);
    int length = snprintf(out, size, "%.*g", precision, value);
    uselocale(before);
    if (c_locale)
        freelocale(c_locale);
    return length;
}

/* ---- names ----------------------------------------------------------------------------------- */

static io_kind kind_of(const struct stat *info)
{
    return S_ISREG(info->st_mode)   ? IO_KIND_FILE
           : S_ISDIR(info->st_mode) ? IO_KIND_FOLDER
                                    : IO_KIND_OTHER;
}

io_kind tml_io_path_kind(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? kind_of(&info) : IO_KIND_NONE;
}

bool tml_io_path_is_readable(const char *path)
{
    return access(path, R_OK) == 0;
}

bool tml_io_path_resolve(const char *path, char *out, size_t size)
{
    char target[PATH_MAX];
    return realpath(path, target) && (size_t)snprintf(out, size, "%s", target) < size;
}

bool tml_io_path_rename(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

void tml_io_path_remove(const char *path)
{
    unlink(path);
}

unsigned long tml_io_process_number(void)
{
    return (unsigned long)getpid();
}

double tml_io_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- files ----------------------------------------------------------------------------------- */

int tml_io_file_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int tml_io_file_open_device(const char *path)
{
    return open(path, O_WRONLY | O_CLOEXEC);
}

int tml_io_file_create(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* The name is removed at once, so nothing is left however the process ends. */
int tml_io_file_create_spool(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        unlink(path);
    return fd;
}

bool tml_io_file_close(int fd)
{
    return close(fd) == 0;
}

io_kind tml_io_file_kind(int fd, uint64_t *size)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return IO_KIND_NONE;
    *size = (uint64_t)info.st_size;
    return kind_of(&info);
}

void tml_io_file_copy_rights(int fd, const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0)
        (void)fchmod(fd, info.st_mode & 07777);
}

int64_t tml_io_file_read_at(int fd, void *out, size_t size, uint64_t offset)
{
    ssize_t got;
    do
        got = pread(fd, out, size, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got;
}

int64_t tml_io_file_write_at(int fd, const void *data, size_t size, uint64_t offset)
{
    ssize_t wrote;
    do
        wrote = pwrite(fd, data, size, (off_t)offset);
    while (wrote < 0 && errno == EINTR);
    return wrote;
}

int64_t tml_io_file_write(int fd, const void *data, size_t size)
{
    ssize_t wrote;
    do
        wrote = write(fd, data, size);
    while (wrote < 0 && errno == EINTR);
    return wrote;
}

bool tml_io_file_seek(int fd, uint64_t offset)
{
    return lseek(fd, (off_t)offset, SEEK_SET) >= 0;
}

bool tml_io_file_reserve(int fd, uint64_t size)
{
#ifdef __linux__
    return fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size) == 0 ||
           !(tml_io_is_disk_full(errno) || errno == EFBIG);
#else
    (void)fd, (void)size;
    return true;
#endif
}

bool tml_io_is_disk_full(int error)
{
    return error == ENOSPC || error == EDQUOT;
}

/* ---- maps ------------------------------------------------------------------------------------ */

size_t tml_io_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *tml_io_map(int fd, uint64_t offset, size_t size, bool is_written)
{
    void *memory = mmap(NULL, size, is_written ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd,
                        (off_t)offset);
    return memory == MAP_FAILED ? NULL : memory;
}

void tml_io_unmap(void *memory, size_t size)
{
    munmap(memory, size);
}

void tml_io_map_in_order(void *memory, size_t size)
{
    (void)madvise(memory, size, MADV_SEQUENTIAL);
}

void tml_io_map_release(void *memory, size_t size)
{
    (void)madvise(memory, size, MADV_DONTNEED);
}

bool tml_io_map_prefetch(void *memory, size_t size)
{
    (void)madvise(memory, size, MADV_WILLNEED); /* starts many disk reads at once */
#ifdef MADV_POPULATE_READ
    /* EINVAL: a kernel before 5.14, which reads each page when it is first accessed. */
    return madvise(memory, size, MADV_POPULATE_READ) == 0 || errno != EFAULT;
#else
    return true;
#endif
}

/* ---- folders --------------------------------------------------------------------------------- */

bool tml_io_folder_visit(const char *path, bool (*visit)(void *user, const char *name), void *user)
{
    DIR *directory = opendir(path);
    if (!directory)
        return false;
    struct dirent *entry;
    do
        entry = readdir(directory);
    while (entry && visit(user, entry->d_name));
    closedir(directory);
    return true;
}
