/* Tests on the names of files. */
#include "paths.h"

#include <string.h>
#include <strings.h>

#include <trommel/files.h>

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

bool path_is_numbered(const char *path)
{
    return tml_path_number(path, 0, false, NULL, 0);
}
