/* Lists the files of a folder, in the order in which a person would number them. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "io/io_system.h"
#include "io/volumes/folder.h"

/* ---- order ----------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return isdigit((unsigned char)c) != 0;
}

/* Returns the digits at the beginning, without leading zeros. */
static io_span digits_of(const char *text)
{
    text += strspn(text, "0");
    return (io_span){text, strspn(text, "0123456789")};
}

int tml_natural_order(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        if (!is_digit(*x) || !is_digit(*y)) {
            if (*x != *y)
                return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
            x++;
            y++;
            continue;
        }
        io_span m = digits_of(x), n = digits_of(y);
        int order = m.size != n.size ? (m.size < n.size ? -1 : 1) : memcmp(m.text, n.text, m.size);
        if (order)
            return order;
        x = m.text + m.size;
        y = n.text + n.size;
    }
    return *x ? 1 : *y ? -1 : strcmp(a, b);
}

int64_t tml_number_step(const char *a, const char *b)
{
    enum { MOST = 18 }; /* digits that fit in 63 bits */
    size_t at = 0;
    while (a[at] && a[at] == b[at])
        at++;
    while (at && is_digit(a[at - 1]))
        at--;
    io_span m = digits_of(a + at), n = digits_of(b + at);
    bool is_number = is_digit(a[at]) && is_digit(b[at]) && m.size <= MOST && n.size <= MOST;
    if (!is_number || strcmp(m.text + m.size, n.text + n.size) != 0)
        return 0;
    return strtoll(b + at, NULL, 10) - strtoll(a + at, NULL, 10);
}

static int compare_names(const void *a, const void *b)
{
    return tml_natural_order(a, b);
}

/* ---- files ----------------------------------------------------------------------------------- */

static tml_status add_name(tml_context *tml, const char *call, const char *path, const char *name,
                           io_folder *folder)
{
    if (folder->count == folder->room) {
        size_t room = folder->room ? 2 * folder->room : 64;
        char(*names)[FOLDER_NAME_SIZE] =
            folder->count < FOLDER_FILES_MOST ? tml_alloc(tml, room * sizeof *names) : NULL;
        if (!names)
            return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: %s: has %zu files or more", call,
                             path, folder->count);
        if (folder->count)
            memcpy(names, folder->names, folder->count * sizeof *names);
        tml_free(tml, folder->names, folder->room * sizeof *names);
        folder->names = names;
        folder->room = room;
    }
    snprintf(folder->names[folder->count++], FOLDER_NAME_SIZE, "%s", name);
    return TML_OK;
}

typedef struct listing {
    tml_context *tml;
    const char *call, *path;
    io_folder *out;
    tml_status status;
} listing;

static bool visit(void *user, const char *name)
{
    listing *l = user;
    char inside[IO_PATH_SIZE + FOLDER_NAME_SIZE];
    if (*name == '.' || strlen(name) >= FOLDER_NAME_SIZE)
        return true;
    snprintf(inside, sizeof inside, "%s/%s", l->path, name);
    if (tml_io_path_kind(inside) == IO_KIND_FILE)
        l->status = add_name(l->tml, l->call, l->path, name, l->out);
    return l->status == TML_OK;
}

tml_status tml_folder_list(tml_context *tml, const char *call, const char *path, io_folder *out)
{
    *out = (io_folder){0};
    listing l = {tml, call, path, out, TML_OK};
    if (!tml_io_folder_visit(path, visit, &l))
        return tml_error(tml, TML_ERROR_FILE_ACCESS, "%s: %s: cannot be opened: %s", call, path,
                         strerror(errno));
    if (out->count)
        qsort(out->names, out->count, sizeof *out->names, compare_names);
    return l.status;
}

void tml_folder_free(tml_context *tml, io_folder *folder)
{
    tml_free(tml, folder->names, folder->room * sizeof *folder->names);
    *folder = (io_folder){0};
}

tml_status tml_folder_open(tml_context *tml, const char *call, const char *path, const char *name,
                           io_file *out)
{
    char inside[IO_PATH_SIZE + FOLDER_NAME_SIZE];
    snprintf(inside, sizeof inside, "%s%s%s", path, io_is_folder_end(path) ? "" : "/", name);
    return tml_io_open_any(tml, call, inside, out);
}
