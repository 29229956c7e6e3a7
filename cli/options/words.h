/* The library's messages name the fields of its structs, but users know options. One table says to
 * which option or thing a field corresponds. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stddef.h>

typedef struct word {
    const char *field, *said;
} word;

/* Ends with {0}. */
extern const word words_table[];
/* Fields, separated by blanks, that no option and no file can cause the library to name. */
extern const char words_never[];

/* Copies a message of the library to out, with fields replaced by the words that users know.
 * Returns out. */
char *words_for_users(const char *message, char *out, size_t size);

#endif
