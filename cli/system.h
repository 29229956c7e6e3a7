/* The operating system's services, implemented in system_posix.c and system_windows.c. Names are
 * UTF-8 and have slashes. A call that fails sets errno. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Call it first: sets up the terminal, binary standard files, and slashes in names. */
void system_begin(int argc, char **argv);

bool system_shows_utf8(void); /* whether the terminal does */

/* ---- the machine and the process ------------------------------------------------------------- */

uint32_t system_processors(void); /* at least 1 */
uint64_t
system_free_memory(void); /* bytes that are available without swapping anything out; 0: unknown */
uint64_t system_peak_memory(void);                    /* bytes of this process; 0: unknown */
void system_set(const char *name, const char *value); /* for drivers; NULL: unset */

/* Sets a handler for interruption and termination of this process. It is called in a signal handler
 * or in a thread of the system. The second time ends the process; with NULL, the first does. */
void system_on_interrupt(void (*handler)(void));

/* Lets work change data (size bytes) in a separate process for at most a minute; in this process if
 * the system has no fork. Returns NULL, or why it failed; data is then unchanged. */
const char *system_work_apart(void (*work)(void *), void *data, size_t size);

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct system_file {
    bool is_regular;
    uint64_t size;
    uint64_t device, number; /* together unique to the file */
    int64_t changed;         /* time of the last change; later is greater */
} system_file;

/* Examines what a path leads to, through links. */
bool system_examine(const char *path, system_file *out);
/* Whether files can be made in a folder. */
bool system_can_write(const char *folder);
/* Returns the absolute path without links, in at most size bytes. */
bool system_resolve(const char *path, char *out, size_t size);
/* Makes a file with a unique name beside path.
 * mode: "w" or "wb". is_private: only this user can read it.
 * temporary: receives the name. */
FILE *system_create_beside(const char *path, const char *mode, bool is_private, char *temporary,
                           size_t size);
bool system_rename(const char *from, const char *to); /* replaces an existing file */
void system_remove(const char *path);

bool system_make_folder(const char *path);        /* for this user only; true if it exists */
bool system_cache_folder(char *out, size_t size); /* this user's, for this program */
const char *system_temporary_folder(void);
/* Makes a folder for this process in the temporary folder. */
bool system_make_temporary(char *out, size_t size);
void system_remove_folder(const char *path); /* with its contents */

/* ---- standard input and output --------------------------------------------------------------- */

/* Returns a name under which standard input can be read. Input that is not a file is first copied
 * to a file, which disappears with this process. */
bool system_name_input(char *out, size_t size);
/* system_keep_output redirects standard output to standard error. system_write_output copies a file
 * to the real standard output. */
bool system_keep_output(void);
bool system_write_output(const char *path);

#endif
