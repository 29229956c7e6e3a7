/* The operating system's functions that trommel-io uses, in io_system_posix.c, io_system_windows.c
 * and io_system_web.c. There are no files on the web: there, functions that need files fail or do
 * not exist. Names are UTF-8. Functions that fail set errno, unless their comment says
 * otherwise. */
#ifndef TML_IO_SYSTEM_H
#define TML_IO_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* strtod and "%.*g" with a decimal point in every locale of the process. */
bool tml_io_strtod(const char *text, double *out);
int tml_io_print_double(char *out, size_t size, int precision, double value);

typedef enum io_kind { IO_KIND_NONE, IO_KIND_FILE, IO_KIND_FOLDER, IO_KIND_OTHER } io_kind;

/* The kind of file that a name leads to, through links. NONE: nothing that can be examined. */
io_kind tml_io_path_kind(const char *path);
bool tml_io_path_is_readable(const char *path);
/* Writes the absolute path behind links to out, at most size bytes. Returns false if there is
 * none. */
bool tml_io_path_resolve(const char *path, char *out, size_t size);
bool tml_io_path_rename(const char *from, const char *to); /* replaces an existing file */
void tml_io_path_remove(const char *path);
/* A number for the names of new files that no other running process uses. */
unsigned long tml_io_process_number(void);
/* The monotonic clock, in seconds. */
double tml_io_seconds(void);

/* Each returns a descriptor, or -1. */
int tml_io_file_open(const char *path);         /* for reading; does not block on a pipe */
int tml_io_file_open_device(const char *path);  /* an existing pipe or device, for writing */
int tml_io_file_create(const char *path);       /* a new file, for writing; EEXIST: it exists */
int tml_io_file_create_spool(const char *path); /* the same, also for reading; deleted on close */
bool tml_io_file_close(int fd);
/* NONE: the file cannot be examined. */
io_kind tml_io_file_kind(int fd, uint64_t *size);
/* Gives the file the access rights of the file that it will replace, where the system allows it. */
void tml_io_file_copy_rights(int fd, const char *path);
/* Return the number of bytes read or written, at least 1; 0 at the end of the file; -1 on failure.
 * Interrupted system calls are repeated. */
int64_t tml_io_file_read_at(int fd, void *out, size_t size, uint64_t offset);
int64_t tml_io_file_write_at(int fd, const void *data, size_t size, uint64_t offset);
int64_t tml_io_file_write(int fd, const void *data, size_t size);
bool tml_io_file_seek(int fd, uint64_t offset);
/* Reserves disk space for a file of that size, where the system can. Returns false if the space
 * does not suffice. */
bool tml_io_file_reserve(int fd, uint64_t size);
bool tml_io_is_disk_full(int error);

/* Offsets of maps are multiples of this size. */
size_t tml_io_page_size(void);
/* Maps bytes [offset, offset + size) of a file. is_written is for spools only. Returns NULL on
 * failure. */
void *tml_io_map(int fd, uint64_t offset, size_t size, bool is_written);
void tml_io_unmap(void *memory, size_t size);
/* Hints for whole pages: they are read from front to back; they are not needed for now. */
void tml_io_map_in_order(void *memory, size_t size);
void tml_io_map_release(void *memory, size_t size);
/* Reads the pages now. Returns false if the file was shortened or the disk failed. */
bool tml_io_map_prefetch(void *memory, size_t size);

/* Calls visit with the name of each entry of a folder until visit returns false. Returns false if
 * the folder cannot be listed. */
bool tml_io_folder_visit(const char *path, bool (*visit)(void *user, const char *name), void *user);

#ifdef __EMSCRIPTEN__
/* The contents of the file that was written last. The caller frees them by free(). */
void *tml_io_take_written(size_t *size);
#endif

#endif
