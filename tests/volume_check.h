/* Shared by the tests of volume formats: checks of real files against another reader's results, and
 * of damaged, truncated and changed files. Include after test.h and memory_watch.h. */
#ifndef TML_TEST_VOLUME_CHECK_H
#define TML_TEST_VOLUME_CHECK_H

#include <dirent.h>

#include <trommel/volumes.h>

#include "io/volumes/volume_internal.h"

typedef struct volume_check {
    const char *path, *format;
    uint32_t frame, frames;
    uint64_t dims[3];
    tml_type type;
    uint32_t crc; /* of the little-endian samples */
    double spacing[3], origin[3];
} volume_check;

void check_volume(tml_context *tml, const char *path, const volume_check *expected);

/* Loads from a heap block of exactly size bytes, so that a sanitizer detects reads past the end. */
tml_status load_exact(tml_context *tml, const char *name, const void *data, size_t size,
                      const tml_load_desc *desc, tml_volume *out);
void expect_refusal(tml_context *tml, const char *name, const void *data, size_t size,
                    tml_status expected, const char *word);

/* Truncates a file to each length. Files of at least sure bytes that lack more than tail bytes must
 * be refused. Then changes each of the first sure bytes; such files may be refused or read. No
 * request for memory may be larger than memory. */
void cut_and_change(const char *name, const void *data, size_t size, size_t sure, size_t tail,
                    size_t memory);

/* Loads the collection's damaged files whose names begin with start. They must be refused with a
 * message that names the file, but files in readable (NULL-terminated) may be read. No request for
 * memory may be larger than memory. */
void check_damaged(const char *start, const char *const *readable, size_t memory);

#endif
