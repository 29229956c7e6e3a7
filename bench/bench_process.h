/* Programs run by a bench, and files in the page cache or out of it. */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <trommel/extend.h>

/* Runs a program, found in PATH, without input; its output is dropped and its errors go to the file
 * "stderr.txt". Ends it when the context is cancelled. Returns its exit code, 127 where there is no
 * such program, -1 where it was ended. */
int bench_process_run(tml_context *tml, char *const *words);

/* Reads a file, so that it is in the page cache. */
bool bench_file_warm(const char *path);
/* Takes a file's pages out of the page cache; false where the system keeps them, as those of a
 * tmpfs. */
bool bench_file_cool(const char *path);

/* A new folder in one (NULL: TMPDIR, or /tmp), which becomes the current one; false: errno says
 * why. */
bool bench_folder_enter(const char *parent, char *path, size_t size);
/* Removes all files of the current folder, and itself. */
void bench_folder_leave(const char *path);

#endif
