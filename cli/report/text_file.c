/* Text files that commands write: next to the target, and renamed when complete. */
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "report/text_file.h"
#include "system.h"

bool text_file_create(const char *path, text_file *out)
{
    system_file info;
    *out = (text_file){.path = path};
    /* A link stays a link: what it points to is replaced. */
    if (!system_resolve(path, out->target, sizeof out->target))
        snprintf(out->target, sizeof out->target, "%s", path);
    if (system_examine(path, &info) && !info.is_regular) /* a device: there is nothing to keep */
        out->stream = fopen(path, "w");
    else
        out->stream =
            system_create_beside(out->target, "w", false, out->temporary, sizeof out->temporary);
    if (!out->stream)
        cli_error("%s: cannot be written: %s", path, strerror(errno));
    return out->stream != NULL;
}

bool text_file_finish(text_file *file, bool is_wanted)
{
    bool is_good = !ferror(file->stream);
    is_good = fclose(file->stream) == 0 && is_good;
    if (is_good && is_wanted && file->temporary[0])
        is_good = system_rename(file->temporary, file->target);
    if (!is_good)
        cli_error("%s: cannot be written: %s", file->path, strerror(errno));
    if ((!is_good || !is_wanted) && file->temporary[0])
        system_remove(file->temporary);
    file->stream = NULL;
    return is_good;
}
