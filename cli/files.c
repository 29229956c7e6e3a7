/* The files that a command line names. They are compared by what paths lead to, not by name: an
 * existing file by device and inode, another by its folder's and its own name. */
#include <stdlib.h>
#include <string.h>

#include <trommel/files.h>

#include "cli.h"
#include "files.h"
#include "frames.h"
#include "paths.h"
#include "system.h"

/* The target of a path. */
typedef struct path_id {
    uint64_t device, number;
    const char *name; /* name in the folder `number`; NULL: `number` is the file */
} path_id;

typedef struct named_file {
    path_id id;
    const opt *output; /* NULL: an input */
    char *path;
} named_file;

typedef struct file_list {
    named_file *files;
    size_t count, room;
    const opt *lost; /* first output whose folder is missing or not writable */
    char folder[FRAME_PATH];
    bool is_closed;
} file_list;

static int compare_files(const void *a, const void *b)
{
    const path_id *x = &((const named_file *)a)->id, *y = &((const named_file *)b)->id;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (!x->name || !y->name)
        return (x->name != NULL) - (y->name != NULL);
    return strcmp(x->name, y->name);
}

/* Identifies what a path leads to. Returns false if that cannot be overwritten: a device, a folder,
 * or a path whose folder does not exist. */
static bool identify(const char *path, path_id *out)
{
    system_file info;
    if (system_examine(path, &info)) {
        *out = (path_id){info.device, info.number, NULL};
        return info.is_regular;
    }
    char folder[FRAME_PATH];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = (size_t)(name - path);
    if (length >= sizeof folder)
        return false;
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (!system_examine(length ? folder : ".", &info))
        return false;
    *out = (path_id){info.device, info.number, name};
    return true;
}

/* Notes the first output whose folder is missing or not writable, before any work is done. */
static void check_folder(file_list *list, const opt *output, const char *path)
{
    system_file info;
    const char *slash = strrchr(path, '/');
#ifdef _WIN32
    const char *other = strrchr(path, '\\');
    slash = !slash || (other && other > slash) ? other : slash;
#endif
    const size_t length = slash ? (size_t)(slash - path) : 0;
    if (list->lost || length >= sizeof list->folder)
        return;
    snprintf(list->folder, sizeof list->folder, "%.*s", (int)length, path);
    if (!slash)
        snprintf(list->folder, sizeof list->folder, ".");
    else if (!length)
        snprintf(list->folder, sizeof list->folder, "/");
    const bool is_there = system_examine(list->folder, &info) && !info.is_regular;
    if (is_there && (system_can_write(list->folder) || system_examine(path, &info)))
        return;
    list->lost = output;
    list->is_closed = is_there;
}

static bool add(file_list *list, const opt *output, const char *path)
{
    named_file file = {.output = output};
    if (output)
        check_folder(list, output, path);
    if (!identify(path, &file.id) || (!output && file.id.name))
        return true; /* an input that does not exist cannot be overwritten */
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        named_file *more = realloc(list->files, room * sizeof *more);
        if (!more)
            return false;
        list->files = more;
        list->room = room;
    }
    file.path = strdup(path);
    if (!file.path)
        return false;
    if (file.id.name)
        file.id.name = file.path + (file.id.name - path);
    list->files[list->count++] = file;
    return true;
}

/* Adds the files that a value names: for a numbered path in a sequence, one per frame. */
static bool add_value(file_list *list, const opt *output, const char *value, const frames *f)
{
    char path[FRAME_PATH];
    bool is_numbered = path_is_numbered(value), is_good = true;
    if (!is_numbered || f->count == 0)
        is_good = add(list, output, value);
    for (uint32_t i = 0; is_numbered && is_good && i < f->count; i++)
        if (tml_path_number(value, f->list[i].number, false, path, sizeof path))
            is_good = add(list, output, path);
    return is_good;
}

static bool add_option(file_list *list, const opt *option, const void *args, char **operands,
                       const frames *f)
{
    const char *value = *(const char *const *)(const void *)((const char *)args + option->offset);
    char path[FRAME_PATH];
    bool is_good = true;
    if (option->kind == OPT_OUTPUT && option->names)
        for (uint32_t i = 0; is_good && option->names(args, operands, i, path, sizeof path); i++)
            is_good = add(list, option, path);
    else if (value)
        is_good = add_value(list, option->kind == OPT_OUTPUT ? option : NULL, value, f);
    return is_good;
}

/* Refuses an output that is also an input or another output. The list is sorted, so equal files are
 * neighbours. Inputs may be equal. */
static int refuse_equal(const file_list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        const named_file *a = &list->files[i - 1], *b = &list->files[i];
        if ((!a->output && !b->output) || compare_files(a, b) != 0)
            continue;
        if (a->output && b->output)
            return cli_usage("--%s and --%s are both %s; name another file for one",
                             a->output->name, b->output->name, b->path);
        const named_file *output = a->output ? a : b;
        return cli_usage("--%s: %s is an input, which would be lost; name another one",
                         output->output->name, output->path);
    }
    return CLI_OK;
}

static const frame_range *find_range(const opt *const *list, uint32_t count, const void *args)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i]->kind == OPT_CUSTOM && list[i]->parse == frames_parse)
            return (const frame_range *)(const void *)((const char *)args + list[i]->offset);
    return NULL;
}

/* Checks "%04d" in an output's name. It stands for a frame's number and is required for a sequence,
 * or for the number of each of several files that the name stands for. */
static int check_number(const opt *option, const void *args, char **operands, bool takes_frames,
                        const frames *f)
{
    char second[FRAME_PATH];
    if (option->kind != OPT_OUTPUT)
        return CLI_OK;
    const char *path = *(const char *const *)(const void *)((const char *)args + option->offset);
    if (!path)
        return CLI_OK;
    if (!takes_frames)
        return path_is_numbered(path) &&
                       !(option->names && option->names(args, operands, 1, second, sizeof second))
                   ? cli_usage("--%s: %s: a number is for the frames of a sequence; write a name",
                               option->name, path)
                   : CLI_OK;
    if (strchr(path, '%') && !path_is_numbered(path))
        return cli_usage("--%s: %s: write %%d or %%04d once for the frame's number", option->name,
                         path);
    if (f->is_sequence && !path_is_numbered(path))
        return cli_usage("--%s: %s is one name for several inputs; put %%04d where each one's "
                         "number goes",
                         option->name, path);
    return CLI_OK;
}

int files_check(const opt_command *command, const void *args, char **operands,
                uint32_t operand_count)
{
    const opt *options[OPT_MAX_OPTIONS];
    uint32_t count = opt_list(command, options);
    const frame_range *range = find_range(options, count, args);
    bool has_outputs = false, is_good = true;
    frames f = {0};
    file_list list = {0};
    for (uint32_t i = 0; i < count; i++)
        has_outputs |= options[i]->kind == OPT_OUTPUT;
    if (!has_outputs)
        return CLI_OK;
    int code = range ? frames_find(operands, operand_count, range, &f) : CLI_OK;
    if (code == CLI_OK && range)
        code = opt_check_input(OPT_NUMBER_OF, f.is_sequence ? OPT_SEQUENCE : OPT_SINGLE, NULL);
    if (code != CLI_OK) {
        frames_free(&f);
        return code;
    }
    for (uint32_t i = 0; i < f.count && is_good; i++)
        is_good = add(&list, NULL, f.list[i].path);
    for (uint32_t i = 0; i < operand_count && !range && is_good; i++)
        is_good = add(&list, NULL, operands[i]);
    for (uint32_t i = 0; i < count && is_good; i++)
        if (options[i]->kind == OPT_INPUT || options[i]->kind == OPT_OUTPUT)
            is_good = add_option(&list, options[i], args, operands, &f);
    if (!is_good)
        code = cli_error("no memory for the names of %zu files", list.count);
    if (list.count)
        qsort(list.files, list.count, sizeof *list.files, compare_files);
    CLI_THEN(code, refuse_equal(&list));
    if (code == CLI_OK && list.lost)
        code = list.is_closed
                   ? cli_error("--%s: the folder %s cannot be written to; name another one",
                               list.lost->name, list.folder)
                   : cli_error("--%s: there is no folder %s; make it first (mkdir -p %s), or name "
                               "another one",
                               list.lost->name, list.folder, list.folder);
    for (uint32_t i = 0; i < count && code == CLI_OK; i++)
        code = check_number(options[i], args, operands, range, &f);
    for (size_t i = 0; i < list.count; i++)
        free(list.files[i].path);
    free(list.files);
    frames_free(&f);
    return code;
}
