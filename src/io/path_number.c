/* Numbers in file names: "organ_%d.stl". */
#include <inttypes.h>

#include "io/io_internal.h"

/* Returns the length of "%d" or "%04d" (up to nine digits), or 0. */
static size_t conversion_length(const char *at)
{
    const size_t digits = strspn(at + 1, "0123456789");
    const bool is_padded = digits == 0 || (digits == 2 && at[1] == '0' && at[2] != '0');
    return is_padded && at[1 + digits] == 'd' ? digits + 2 : 0;
}

bool tml_path_number(const char *pattern, uint64_t number, bool is_signed, char *out, size_t size)
{
    const char *at = strchr(pattern, '%');
    const size_t conversion = at ? conversion_length(at) : 0;
    const bool is_numbered = conversion && !strchr(at + 1, '%');
    const int width = conversion == 4 ? at[2] - '0' : 0, before = at ? (int)(at - pattern) : 0;
    int length;
    if (!out)
        return is_numbered;
    if (!at)
        length = snprintf(out, size, "%s", pattern);
    else if (!is_numbered)
        return false;
    else if (is_signed)
        length = snprintf(out, size, "%.*s%0*" PRId64 "%s", before, pattern, width, (int64_t)number,
                          at + conversion);
    else
        length = snprintf(out, size, "%.*s%0*" PRIu64 "%s", before, pattern, width, number,
                          at + conversion);
    return length >= 0 && (size_t)length < size;
}
