/* The library names the fields of its structs, users know options: one table says which option or
 * thing a field is. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stddef.h>

typedef struct word {
    const char *field, *said;
} word;

/* Ends with {0}. */
extern const word words_table[];
/* Fields that no option and no file of the program's can make the library name, with blanks
 * between. */
extern const char words_never[];

/* Copies a message of the library, with what its user knows in place of fields, into out;
 * returns it. */
char *words_for_users(const char *message, char *out, size_t size);

#endif
