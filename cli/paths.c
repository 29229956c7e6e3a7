/* Names of files: their endings, and numbers in them. */
#include "paths.h"

#include <inttypes.h>
#include <stdio.h>
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

/* "%d" or "%04d" with up to nine digits: its length, or 0. */
static size_t conversion_length(const char *at)
{
    size_t digits = strspn(at + 1, "0123456789");
    bool is_padded = digits == 0 || (digits == 2 && at[1] == '0' && at[2] != '0');
    return is_padded && at[1 + digits] == 'd' ? digits + 2 : 0;
}

bool path_is_numbered(const char *pattern)
{
    const char *at = strchr(pattern, '%');
    return at && conversion_length(at) && !strchr(at + 1, '%');
}

bool path_label(const char *pattern, uint64_t label, bool is_signed, char *out, size_t size)
{
    const char *at = strchr(pattern, '%');
    int length;
    if (!at) {
        length = snprintf(out, size, "%s", pattern);
    } else if (!path_is_numbered(pattern)) {
        return false;
    } else {
        size_t conversion = conversion_length(at);
        int width = conversion == 4 ? at[2] - '0' : 0;
        length = is_signed ? snprintf(out, size, "%.*s%0*" PRId64 "%s", (int)(at - pattern),
                                      pattern, width, (int64_t)label, at + conversion)
                           : snprintf(out, size, "%.*s%0*" PRIu64 "%s", (int)(at - pattern),
                                      pattern, width, label, at + conversion);
    }
    return length >= 0 && (size_t)length < size;
}

bool path_number(const char *pattern, uint32_t number, char *out, size_t size)
{
    return path_label(pattern, number, false, out, size);
}
