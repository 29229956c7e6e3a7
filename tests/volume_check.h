/* What the tests of volume formats share: real files against what another reader found, damaged
 * ones, cut and changed ones. Stands after test.h and memory_watch.h. */
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

/* Loads from an exact block, so that a sanitizer sees the first byte read past it. */
tml_status load_exact(tml_context *tml, const char *name, const void *data, size_t size,
                      const tml_load_desc *desc, tml_volume *out);
void expect_refusal(tml_context *tml, const char *name, const void *data, size_t size,
                    tml_status expected, const char *word);

/* Every start of a file from sure bytes on, but for those that lack less than tail bytes, is
 * refused; with each byte of its first sure ones changed it is refused or read. No request is
 * larger than memory. */
void cut_and_change(const char *name, const void *data, size_t size, size_t sure, size_t tail,
                    size_t memory);

/* All files of the collection's damaged ones whose names start so are refused, with a message;
 * those of readable (NULL-terminated) may be read. No request for memory is larger than memory. */
void check_damaged(const char *start, const char *const *readable, size_t memory);

#endif
