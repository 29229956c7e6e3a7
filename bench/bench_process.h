/* Programs that a benchmark runs, and files in the page cache or out of it. */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <trommel/extend.h>

/* Runs a program, found in PATH, without input. Its output is discarded, and its errors go to the
 * file "stderr.txt". Ends the program when the context is cancelled. Returns the program's exit
 * code, 127 if there is no such program, -1 if it was ended. */
int bench_process_run(tml_context *tml, char *const *words);

/* Reads a file, so that it is in the page cache. */
bool bench_file_warm(const char *path);
/* Evicts a file's pages from the page cache. Returns false if the system keeps them, as for a
 * tmpfs. */
bool bench_file_cool(const char *path);

/* Creates a new folder inside the given one (NULL: TMPDIR, or /tmp), and makes it the current
 * folder. Returns false on failure, with the reason in errno. */
bool bench_folder_enter(const char *parent, char *path, size_t size);
/* Removes all files of the current folder, and itself. */
void bench_folder_leave(const char *path);

#endif
