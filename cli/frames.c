/* Sequences: inputs whose frames are processed one after another. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/files.h>

#include "frames.h"
#include "paths.h"
#include "ranks.h"
#include "report/progress.h"
#include "system.h"

/* ---- names ----------------------------------------------------------------------------------- */

const char *frames_parse(const char *text, void *member)
{
    static const char expected[] = "the first and the last frame's number, such as 0-99";
    frame_range *range = member;
    char first[32];
    uint64_t a, b;
    size_t length = strcspn(text, "-");
    if (text[length] == '\0' || length >= sizeof first)
        return expected;
    memcpy(first, text, length);
    first[length] = '\0';
    if (!opt_count(first, &a) || !opt_count(text + length + 1, &b) || a > b || b > UINT32_MAX ||
        b - a >= FRAMES_MOST)
        return expected;
    *range = (frame_range){(uint32_t)a, (uint32_t)b, true};
    return NULL;
}

/* ---- finding them ---------------------------------------------------------------------------- */

static int add(frames *f, uint32_t *room, uint32_t number, const char *path)
{
    if (f->count == FRAMES_MOST)
        return cli_error("there are more than %d frames; give --frames", FRAMES_MOST);
    if (f->count == *room) {
        *room = *room ? 2 * *room : 64;
        frame *more = realloc(f->list, *room * sizeof *more);
        if (!more)
            return cli_error("no memory for %" PRIu32 " frames", *room);
        f->list = more;
    }
    char *copy = strdup(path);
    if (!copy)
        return cli_error("no memory for %" PRIu32 " frames", *room);
    f->list[f->count++] = (frame){number, copy};
    return CLI_OK;
}

static int compare(const void *a, const void *b)
{
    const frame *f = a, *g = b;
    return (f->number > g->number) - (f->number < g->number);
}

/* Whether name is the pattern with a number filled in. number: receives it. */
static bool match(const char *pattern, const char *name, uint32_t *number)
{
    char made[FRAME_PATH], digits[16];
    size_t before = strcspn(pattern, "%"), count;
    uint64_t value;
    if (strncmp(pattern, name, before) != 0)
        return false;
    count = strspn(name + before, "0123456789");
    if (count == 0 || count >= sizeof digits)
        return false;
    memcpy(digits, name + before, count);
    digits[count] = '\0';
    if (!opt_count(digits, &value) || value > UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    return tml_path_number(pattern, *number, false, made, sizeof made) && strcmp(made, name) == 0;
}

/* Lists the existing files that match the pattern. */
static int search(const char *pattern, uint32_t *room, frames *out)
{
    char folder[FRAME_PATH], path[2 * FRAME_PATH];
    const char *slash = strrchr(pattern, '/'), *name = slash ? slash + 1 : pattern;
    size_t length = (size_t)(name - pattern); /* including the slash */
    if (strchr(name, '%') == NULL)
        return cli_usage("%s: a number in a folder's name is not searched for; give "
                         "--frames",
                         pattern);
    if (length >= sizeof folder || strlen(name) >= FRAME_PATH)
        return cli_usage("%s: is longer than %d bytes", pattern, FRAME_PATH - 1);
    snprintf(folder, sizeof folder, "%.*s", (int)length, pattern);
    DIR *directory = opendir(length ? folder : ".");
    if (!directory)
        return cli_error("%s: cannot be searched: %s", length ? folder : ".", strerror(errno));
    int code = CLI_OK;
    uint32_t number;
    for (struct dirent *entry; code == CLI_OK && (entry = readdir(directory));)
        if (match(name, entry->d_name, &number)) {
            snprintf(path, sizeof path, "%s%s", folder, entry->d_name);
            code = add(out, room, number, path);
        }
    closedir(directory);
    if (code == CLI_OK && out->count == 0)
        code = cli_error("%s: no file has such a name", pattern);
    if (out->count) /* qsort must not get NULL */
        qsort(out->list, out->count, sizeof *out->list, compare);
    return code;
}

/* Lists a range's files. All must exist: a long sequence should not fail at its ninth frame. */
static int enumerate(const char *pattern, const frame_range *range, uint32_t *room, frames *out)
{
    char path[FRAME_PATH];
    system_file info;
    int code = CLI_OK;
    for (uint64_t number = range->first; number <= range->last && code == CLI_OK; number++) {
        if (!tml_path_number(pattern, (uint32_t)number, false, path, sizeof path))
            code = cli_usage("%s: is longer than %d bytes", pattern, FRAME_PATH - 1);
        else if (!system_examine(path, &info))
            code = cli_error("%s: cannot be opened: %s; nothing was done", path, strerror(errno));
        else
            code = add(out, room, (uint32_t)number, path);
    }
    return code;
}

/* The number at the end of a file's name, before its endings: 12 for "water_0012.nii.gz"; 0 if
 * there is none. A short number after a letter, as in "uint8", does not count. */
static uint32_t number_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *end = name + strcspn(name, "."), *at = end;
    char digits[16];
    uint64_t number;
    while (at > name && at[-1] >= '0' && at[-1] <= '9')
        at--;
    size_t length = (size_t)(end - at);
    bool is_word = at > name && isalpha((unsigned char)at[-1]) && length < 3;
    if (length == 0 || length >= sizeof digits || is_word)
        return 0;
    memcpy(digits, at, length);
    digits[length] = '\0';
    return opt_count(digits, &number) && number <= UINT32_MAX ? (uint32_t)number : 0;
}

int frames_find(char **operands, uint32_t operand_count, const frame_range *range, frames *out)
{
    uint32_t room = 0;
    system_file info;
    *out = (frames){.is_sequence = operand_count > 1};
    bool is_pattern = false;
    int code = CLI_OK;
    for (uint32_t i = 0; i < operand_count; i++) /* a file may have that very name */
        is_pattern |= path_is_numbered(operands[i]) && !system_examine(operands[i], &info);
    if (is_pattern && operand_count > 1)
        return cli_usage("give one name with a number, or the files themselves");
    if (range->is_given && !is_pattern)
        return cli_usage("--frames is for one input with %%d or %%04d in its name");
    if (is_pattern) {
        out->is_sequence = true;
        code = range->is_given ? enumerate(operands[0], range, &room, out)
                               : search(operands[0], &room, out);
    }
    for (uint32_t i = 0; i < operand_count && !is_pattern && code == CLI_OK; i++)
        code = add(out, &room, out->is_sequence ? i : number_of(operands[i]), operands[i]);
    if (code != CLI_OK)
        frames_free(out);
    return code;
}

void frames_free(frames *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        free(f->list[i].path);
    free(f->list);
    *f = (frames){0};
}

/* ---- the work -------------------------------------------------------------------------------- */

bool frames_is_done(const char *const *inputs, uint32_t input_count, const char *const *outputs,
                    uint32_t output_count)
{
    bool is_any = false;
    for (uint32_t o = 0; o < output_count; o++) {
        system_file output, input;
        if (!outputs[o])
            continue;
        if (!system_examine(outputs[o], &output) || !output.is_regular)
            return false;
        for (uint32_t i = 0; i < input_count; i++)
            if (inputs[i] &&
                (!system_examine(inputs[i], &input) || output.changed <= input.changed))
                return false;
        is_any = true;
    }
    return is_any;
}

int frames_run(const frames *f, frame_fn work, void *user)
{
    uint32_t first = 0, step = 1;
    int code = CLI_OK;
    if (f->is_sequence) {
        first = ranks_mine();
        step = ranks_count();
        ranks_apart();
    }
    for (uint32_t i = first; i < f->count && code == CLI_OK; i += step) {
        progress_frame(i, f->is_sequence ? f->count : 0);
        code = work(user, &f->list[i], i);
        progress_clear();
        if (code != CLI_OK && f->is_sequence)
            cli_error("frame %" PRIu32 " (%s) was not finished", f->list[i].number,
                      f->list[i].path);
    }
    progress_frame(0, 0);
    return code;
}
