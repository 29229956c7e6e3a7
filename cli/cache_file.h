/* What is kept from one run to the next, in $XDG_CACHE_HOME/trommel or ~/.cache/trommel: files by
 * name, each of one version of the program. They are written beside their targets and renamed, for
 * other processes may read or write them now. Damaged ones are as though they were not there;
 * without a place to write to, nothing is kept. */
#ifndef CLI_CACHE_FILE_H
#define CLI_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a file held, for free(); NULL: nothing that is whole. */
void *cache_file_read(const char *name, size_t *size);
bool cache_file_write(const char *name, const void *data, size_t size);
bool cache_file_exists(const char *name);

/* FNV-1a of more bytes; the first hash is CACHE_FILE_HASH. */
#define CACHE_FILE_HASH 0xcbf29ce484222325u
uint64_t cache_file_hash(uint64_t hash, const void *data, size_t size);

#endif
