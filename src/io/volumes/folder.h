/* The files of a folder. */
#ifndef TML_FOLDER_H
#define TML_FOLDER_H

#include "io/io_internal.h"

enum { FOLDER_NAME_SIZE = 256, FOLDER_FILES_MOST = 1 << 16 };

typedef struct io_folder {
    char (*names)[FOLDER_NAME_SIZE];
    size_t count, room;
    size_t left_out; /* files that the caller has removed from the list */
} io_folder;

static inline bool io_is_folder_end(const char *path)
{
    size_t length = strlen(path);
    return length == 0 || path[length - 1] == '/';
}

/* Lists the regular files of a folder in natural order, without hidden ones. Free the list by
 * tml_folder_free, also after a failure.
 * Errors: FILE_ACCESS, OUT_OF_MEMORY (also for more than FOLDER_FILES_MOST). */
TML_MUST_CHECK tml_status tml_folder_list(tml_context *tml, const char *call, const char *path,
                                          io_folder *out);
void tml_folder_free(tml_context *tml, io_folder *folder);
/* Opens a file of the folder. */
TML_MUST_CHECK tml_status tml_folder_open(tml_context *tml, const char *call, const char *path,
                                          const char *name, io_file *out);
/* strcmp, but numbers compare by value. Leading zeros count only if the names are equal
 * otherwise. */
int tml_natural_order(const char *a, const char *b);
/* Returns the difference of two names that differ only in one number; 0 for other names. */
int64_t tml_number_step(const char *a, const char *b);

#endif
