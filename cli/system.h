/* What the command asks of the operating system: system_posix.c and system_windows.c answer. Names
 * are UTF-8 and have slashes. What fails sets errno. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* First of all: the terminal, standard files without translated lines, names with slashes. */
void system_begin(int argc, char **argv);

bool system_shows_utf8(void); /* does the terminal? */

/* ---- the machine and the process ------------------------------------------------------------- */

uint32_t system_processors(void); /* at least 1 */
uint64_t
system_free_memory(void); /* bytes that may be taken without others being swapped out; 0: unknown */
uint64_t system_peak_memory(void);                    /* bytes, of this process; 0: unknown */
void system_set(const char *name, const char *value); /* a variable for drivers; NULL: none */

/* Who interrupts this process, or ends it, is told by a call of handler, in a signal or a thread of
 * the system's own; the second time ends it. NULL: the first time does, too. */
void system_on_interrupt(void (*handler)(void));

/* Lets work change data (size bytes) in a process of its own, which has a minute, where the system
 * has processes like that, else in this one. NULL, or why data is as it was. */
const char *system_work_apart(void (*work)(void *), void *data, size_t size);

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct system_file {
    bool is_regular;
    uint64_t size;
    uint64_t device, number; /* tell it from every other */
    int64_t changed;         /* when; later is greater */
} system_file;

/* What a name leads to, through links. */
bool system_examine(const char *path, system_file *out);
/* May files be made in a folder? */
bool system_can_write(const char *folder);
/* The name behind links, absolute, to at most size bytes. */
bool system_resolve(const char *path, char *out, size_t size);
/* Makes a file beside path, with a name that no other has, which temporary takes. is_private: for
 * this user alone. mode: "w", "wb". */
FILE *system_create_beside(const char *path, const char *mode, bool is_private, char *temporary,
                           size_t size);
bool system_rename(const char *from, const char *to); /* replaces what is there */
void system_remove(const char *path);

bool system_make_folder(const char *path); /* for this user alone; true also where it is there */
bool system_cache_folder(char *out, size_t size); /* of this user, for this program */
const char *system_temporary_folder(void);
/* Makes a folder in that one, for this process. */
bool system_make_temporary(char *out, size_t size);
void system_remove_folder(const char *path); /* with what is in it */

/* ---- standard input and output --------------------------------------------------------------- */

/* A name by which standard input can be read anywhere; what is no file is copied to one first,
 * which is gone with this process. */
bool system_name_input(char *out, size_t size);
/* From now on standard output is standard error, but for system_write_output, which copies a file
 * there. */
bool system_keep_output(void);
bool system_write_output(const char *path);

#endif
