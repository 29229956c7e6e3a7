/* Text files that commands write: beside the target, and renamed when complete. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "text_file.h"

bool text_file_create(const char *path, text_file *out)
{
    struct stat info;
    *out = (text_file){.path = path};
    /* A link stays a link: what it points to is replaced. */
    if (!realpath(path, out->target))
        snprintf(out->target, sizeof out->target, "%s", path);
    int descriptor = -1;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) { /* a device: there is nothing to keep */
        out->stream = fopen(path, "w");
    } else if ((size_t)snprintf(out->temporary, sizeof out->temporary, "%s.XXXXXX", out->target) <
               sizeof out->temporary) {
        descriptor = mkstemp(out->temporary);
        out->stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
        mode_t mask = umask(0);
        umask(mask);
        if (descriptor >= 0)
            (void)!fchmod(descriptor, 0666 & ~mask);
    }
    if (!out->stream)
        cli_error("%s: cannot be written: %s", path, strerror(errno));
    return out->stream != NULL;
}

bool text_file_finish(text_file *file, bool is_wanted)
{
    bool is_good = !ferror(file->stream);
    is_good = fclose(file->stream) == 0 && is_good;
    if (is_good && is_wanted && file->temporary[0])
        is_good = rename(file->temporary, file->target) == 0;
    if (!is_good)
        cli_error("%s: cannot be written: %s", file->path, strerror(errno));
    if ((!is_good || !is_wanted) && file->temporary[0])
        unlink(file->temporary);
    file->stream = NULL;
    return is_good;
}
