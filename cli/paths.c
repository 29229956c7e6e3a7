/* Names of files: their endings. */
#include "paths.h"

#include <string.h>
#include <strings.h>

bool path_ends_with(const char *path, const char *endings)
{
    size_t length = strlen(path);
    for (; *endings; endings += *endings == ' ') {
        size_t size = strcspn(endings, " ");
        if (length >= size && strncasecmp(path + length - size, endings, size) == 0)
            return true;
        endings += size;
    }
    return false;
}
