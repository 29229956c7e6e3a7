/* What trommel-io asks of the operating system: io_system_posix.c, io_system_windows.c and
 * io_system_web.c answer, the last what there is to ask where no files are. Names are UTF-8.
 * What fails sets errno, unless said otherwise. */
#ifndef TML_IO_SYSTEM_H
#define TML_IO_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* strtod and "%.*g" with a decimal point, whatever the process's locale. */
bool tml_io_strtod(const char *text, double *out);
int tml_io_print_double(char *out, size_t size, int precision, double value);

typedef enum io_kind { IO_KIND_NONE, IO_KIND_FILE, IO_KIND_FOLDER, IO_KIND_OTHER } io_kind;

/* What a name leads to, through links; NONE: nothing that can be examined. */
io_kind tml_io_path_kind(const char *path);
bool tml_io_path_is_readable(const char *path);
/* The name behind links, absolute, to at most size bytes; false: there is none. */
bool tml_io_path_resolve(const char *path, char *out, size_t size);
bool tml_io_path_rename(const char *from, const char *to); /* replaces what is there */
void tml_io_path_remove(const char *path);
/* A part of a new file's name that no other process gives. */
unsigned long tml_io_process_number(void);
/* The monotonic clock, in seconds. */
double tml_io_seconds(void);

/* Each returns a descriptor, or -1. */
int tml_io_file_open(const char *path);         /* for reading; does not wait for a pipe */
int tml_io_file_open_device(const char *path);  /* a pipe or device that is there, for writing */
int tml_io_file_create(const char *path);       /* a new one, for writing; EEXIST: it is there */
int tml_io_file_create_spool(const char *path); /* likewise, read too, gone when it is closed */
bool tml_io_file_close(int fd);
/* NONE: it cannot be examined. */
io_kind tml_io_file_kind(int fd, uint64_t *size);
/* The rights of a file that it will replace, where the system lets us. */
void tml_io_file_copy_rights(int fd, const char *path);
/* Bytes read or written, at least 1; 0: the end; -1. Interrupted calls are made again. */
int64_t tml_io_file_read_at(int fd, void *out, size_t size, uint64_t offset);
int64_t tml_io_file_write_at(int fd, const void *data, size_t size, uint64_t offset);
int64_t tml_io_file_write(int fd, const void *data, size_t size);
bool tml_io_file_seek(int fd, uint64_t offset);
/* Reserves disk space for a file of that size, where the system can; false: there is not enough. */
bool tml_io_file_reserve(int fd, uint64_t size);
bool tml_io_is_disk_full(int error);

/* What offsets of maps are multiples of. */
size_t tml_io_page_size(void);
/* NULL: failed. A map that is written to is that of a spool. */
void *tml_io_map(int fd, uint64_t offset, size_t size, bool is_written);
void tml_io_unmap(void *memory, size_t size);
/* Hints, of whole pages: read from front to back; not needed for now. */
void tml_io_map_in_order(void *memory, size_t size);
void tml_io_map_release(void *memory, size_t size);
/* Reads the pages now; false: the file was shortened, or the disk failed. */
bool tml_io_map_prefetch(void *memory, size_t size);

/* Calls visit with the name of each entry of a folder, until it returns false. false: it cannot be
 * listed. */
bool tml_io_folder_visit(const char *path, bool (*visit)(void *user, const char *name), void *user);

#ifdef __EMSCRIPTEN__
/* The file that was written last; free() it. */
void *tml_io_take_written(size_t *size);
#endif

#endif
