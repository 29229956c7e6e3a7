/* The C library's strstr has tables for long texts, 600 bytes of a download; the library looks for
 * words in a driver's name. */
#include <string.h>

char *strstr(const char *text, const char *word)
{
    const size_t length = strlen(word);
    while (strncmp(text, word, length) != 0)
        if (!*text++)
            return NULL;
    return (char *)text;
}
