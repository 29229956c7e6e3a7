/* Files that are kept from one run to the next, in $XDG_CACHE_HOME/trommel or ~/.cache/trommel.
 * Each has a name, and belongs to one version of the program. Other processes may read or write a
 * file at any time, so it is written beside its target and renamed. A damaged file counts as
 * missing; if the folder cannot be written, nothing is kept. */
#ifndef CLI_CACHE_FILE_H
#define CLI_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a file's contents, for free(); NULL if the file is missing or damaged. */
void *cache_file_read(const char *name, size_t *size);
bool cache_file_write(const char *name, const void *data, size_t size);
bool cache_file_exists(const char *name);

/* FNV-1a: returns hash, continued over the data. The first hash is CACHE_FILE_HASH. */
#define CACHE_FILE_HASH 0xcbf29ce484222325u
uint64_t cache_file_hash(uint64_t hash, const void *data, size_t size);

#endif
