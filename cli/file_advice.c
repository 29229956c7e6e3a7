/* Advice for a user who names a file where another kind of file, or a command, belongs: what the
 * file is, and which command reads it. */
#include <trommel/points.h>
#include <trommel/volumes.h>

#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "file_advice.h"
#include "input_kind.h"
#include "report/text.h"
#include "system.h"

/* indexed by input_kind */
static const char *const names[] = {
    [TML_FILE_NONE] = "an array (NPY)", [TML_FILE_VOLUME] = "a volume",
    [TML_FILE_POINTS] = "points",       [TML_FILE_MESH] = "a mesh",
    [TML_FILE_PICTURE] = "a picture",   [TML_FILE_INDEX] = "an index of a volume",
};

/* Returns what a file holds. Any text counts as XYZ, so XYZ must also load. */
static tml_file_kind find_kind(tml_context *tml, const char *path)
{
    const tml_file_kind kind = input_kind_of_file(tml, path);
    tml_points points = {0};
    const char *format =
        kind == TML_FILE_POINTS ? tml_file_format(tml, path, TML_FILE_POINTS, NULL) : NULL;
    if (!format || strcmp(format, "XYZ") != 0)
        return kind;
    const bool is_good = tml_points_load(tml, path, NULL, &points) == TML_OK;
    tml_points_free(tml, &points);
    return is_good ? kind : TML_FILE_NONE;
}

/* Writes "'trommel surface a.nrrd -o a.ply' makes a mesh of it", for the current folder. */
static void describe_use(tml_file_kind kind, tml_file_kind wanted, const char *path, char *out,
                         size_t size)
{
    const char *name = text_file_name(path), *dot = strrchr(name, '.');
    const int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    switch (kind) {
    case TML_FILE_VOLUME:
        if (wanted == TML_FILE_NONE)
            snprintf(out, size, "'%s convert %s -o %.*s.npy' makes one of it", CLI_PROGRAM, path,
                     length, name);
        else
            snprintf(out, size, "'%s surface %s -o %.*s.ply' makes a mesh of it", CLI_PROGRAM, path,
                     length, name);
        return;
    case TML_FILE_POINTS:
        snprintf(out, size, "'%s surface %s -o %.*s.ply' makes a mesh of them", CLI_PROGRAM, path,
                 length, name);
        return;
    case TML_FILE_MESH:
        if (wanted == TML_FILE_NONE)
            snprintf(out, size,
                     "'%s convert %s --simplify 10%% -o %.*s.glb' leaves a tenth of its triangles",
                     CLI_PROGRAM, path, length, name);
        else if (wanted == TML_FILE_VOLUME)
            snprintf(out, size, "'%s distance %s -o %.*s.nrrd' makes a volume of it", CLI_PROGRAM,
                     path, length, name);
        else
            snprintf(out, size, "'%s draw %s -o %.*s.png' makes a picture of it", CLI_PROGRAM, path,
                     length, name);
        return;
    case TML_FILE_PICTURE:
        snprintf(out, size, "'%s exposure %s -o %.*s_exposed.png' exposes it", CLI_PROGRAM, path,
                 length, name);
        return;
    case TML_FILE_INDEX:
        snprintf(out, size,
                 "'%s surface VOLUME --iso V --index %s -o %.*s.ply' makes a mesh of its volume",
                 CLI_PROGRAM, path, length, name);
        return;
    case TML_FILE_NONE:
        break;
    }
    snprintf(out, size, "%s", "");
}

int advice_fail(tml_context *tml, tml_status status, const char *path, tml_file_kind wanted)
{
    char message[2048], use[1024];
    if (status != TML_ERROR_FILE_FORMAT && status != TML_ERROR_UNSUPPORTED)
        return cli_fail(tml, status);
    snprintf(message, sizeof message, "%s", cli_last_error(tml));
    const char *mesh =
        wanted == TML_FILE_MESH ? tml_file_format(tml, path, TML_FILE_MESH, NULL) : NULL;
    const tml_file_kind kind = mesh ? TML_FILE_MESH : find_kind(tml, path);
    const char *volume =
        kind == TML_FILE_VOLUME ? tml_file_format(tml, path, TML_FILE_VOLUME, NULL) : NULL;
    const bool is_gzip = volume && strcmp(volume, "gzip") == 0;
    const bool is_array = wanted == TML_FILE_NONE && volume && strcmp(volume, "NPY") == 0;
    if (kind == TML_FILE_NONE || kind == wanted || is_array || is_gzip)
        return cli_error("%s", message);
    describe_use(kind, wanted, path, use, sizeof use);
    return cli_error("%s is %s, and not %s; %s", path, names[kind], names[wanted], use);
}

bool advice_of_file(const char *path, char *out, size_t size)
{
    system_file info;
    tml_context *tml;
    const tml_open_desc desc = {.engine = TML_ENGINE_CPU, .threads = 1};
    char use[1024];
    if (!system_examine(path, &info) || tml_open(&desc, &tml) != TML_OK)
        return false;
    const tml_file_kind kind = find_kind(tml, path);
    tml_close(tml);
    describe_use(kind, TML_FILE_PICTURE, path, use, sizeof use);
    if (kind == TML_FILE_NONE && !info.is_regular)
        snprintf(out, size,
                 "a folder; a folder of TIFF or DICOM slices is a volume, and a command "
                 "goes before it, such as '" CLI_PROGRAM " info %s'",
                 path);
    else if (kind == TML_FILE_NONE)
        snprintf(out, size,
                 "a file, and a command goes before it: '" CLI_PROGRAM
                 " info %s' says what is in it",
                 path);
    else
        snprintf(out, size,
                 "%s, and a command goes before it: '" CLI_PROGRAM " info %s' tells what is in it, "
                 "%s",
                 names[kind], path, use);
    return true;
}
