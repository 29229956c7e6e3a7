/* trommel collide: makes the poses of B. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <trommel/files.h>

#include "commands/cmd_collide.h"
#include "paths.h"
#include "transform.h"

bool collide_is_posed(const collide_args *a)
{
    bool is = a->scale != 1;
    for (int i = 0; i < 3; i++)
        is |= a->translate.values[i] != 0 || a->rotate.values[i] != 0;
    return is;
}

uint32_t collide_shown_poses(const collision *r)
{
    return r->pose_count ? r->pose_count : 1;
}

uint32_t collide_shown_pose(const collision *r)
{
    uint32_t best = 0;
    if (r->args->find != FIND_DISTANCE)
        return r->hits.count > 0 ? r->hits.pairs[0].pose : 0;
    for (uint32_t p = 1; p < collide_shown_poses(r); p++)
        best = r->distances[p].distance < r->distances[best].distance ? p : best;
    return best;
}

/* Stores a pose for the library. Meshes far from 0 have origins of their own, and the pose goes
 * from b's origin to a's. */
static void put_pose(collision *r, uint32_t index, const double m[12])
{
    const double *from = r->b.file.mesh.origin, *to = r->a.file.mesh.origin;
    for (int row = 0; row < 3; row++) {
        double shift = m[4 * row + 3] - to[row];
        for (int column = 0; column < 3; column++) {
            shift += m[4 * row + column] * from[column];
            r->poses[12 * (size_t)index + (size_t)(4 * row + column)] = (float)m[4 * row + column];
        }
        r->poses[12 * (size_t)index + (size_t)(4 * row + 3)] = (float)shift;
    }
}

static int make_room_for_poses(collision *r, uint64_t count)
{
    if (count > UINT32_MAX)
        return cli_error("%s: has %" PRIu64 " poses, needs less than 2^32", r->args->pose, count);
    r->pose_count = (uint32_t)count;
    r->poses_size = count * 12 * sizeof *r->poses;
    r->poses = tml_alloc(r->tml, r->poses_size);
    if (!r->poses && count > 0) {
        r->poses_size = 0;
        return cli_error("no memory for %" PRIu64 " poses", count);
    }
    return CLI_OK;
}

static bool is_last_row(const double row[4])
{
    return row[0] == 0 && row[1] == 0 && row[2] == 0 && row[3] == 1;
}

/* Reads (n,3,4), (n,4,4) or (n,12); the rows decide, since an array keeps only its last
 * dimension. */
static int read_npy_poses(collision *r)
{
    const char *path = r->args->pose;
    tml_array array;
    tml_status status = tml_array_load(r->tml, path, 0, UINT64_MAX, &array);
    if (status != TML_OK)
        return cli_fail(r->tml, status);
    tml_type scalar = tml_type_scalar(array.type);
    uint64_t width = tml_type_size(array.type) / tml_type_size(scalar);
    uint64_t numbers = array.count * width;
    bool is_double = scalar == TML_F64, is_float = scalar == TML_F32;
    int code = CLI_OK;
    if ((!is_double && !is_float) || (width != 4 && width != 1) || numbers == 0)
        code = cli_error("%s: holds %s, needs f32 or f64 of shape (n,3,4) or (n,4,4)", path,
                         tml_type_name(array.type));
    bool has_last_rows = width == 4 && numbers % 16 == 0;
    for (int pass = 0; pass < 2 && code == CLI_OK; pass++) {
        double m[16];
        uint64_t step = has_last_rows ? 16 : 12;
        if (numbers % step != 0)
            code = cli_error("%s: holds %" PRIu64 " numbers, needs 12 or 16 a pose", path, numbers);
        if (code == CLI_OK && pass == 1)
            code = make_room_for_poses(r, numbers / step);
        for (uint64_t i = 0; i < numbers / step && code == CLI_OK; i++) {
            for (uint64_t k = 0; k < step; k++)
                m[k] = is_double ? ((const double *)array.data)[i * step + k]
                                 : (double)((const float *)array.data)[i * step + k];
            if (pass == 0)
                has_last_rows = has_last_rows && is_last_row(m + 12);
            else
                put_pose(r, (uint32_t)i, m);
            if (pass == 0 && !has_last_rows)
                break;
        }
    }
    tml_array_free(r->tml, &array);
    return code;
}

/* Splits a line at blanks, commas, semicolons. Returns its count of numbers; -1: another word. */
static int split_line(char *line, double numbers[17])
{
    int count = 0;
    line[strcspn(line, "#\r\n")] = '\0';
    for (char *word = strtok(line, " \t,;"); word && count < 17; word = strtok(NULL, " \t,;"))
        if (!opt_number(word, &numbers[count++]))
            return -1;
    return count;
}

/* Counts the poses, and with is_wanted stores them. */
static int read_text_poses(collision *r, FILE *file, bool is_wanted, uint64_t *count)
{
    char line[2048];
    double m[17];
    *count = 0;
    for (uint64_t number = 1; fgets(line, sizeof line, file); number++) {
        if (!strchr(line, '\n') && !feof(file))
            return cli_error("%s: line %" PRIu64 " is too long", r->args->pose, number);
        int found = split_line(line, m);
        if (found == 0)
            continue;
        if ((found != 12 && found != 16) || (found == 16 && !is_last_row(m + 12)))
            return cli_error("%s: line %" PRIu64
                             " is not a pose; needs 12 numbers, three rows of four, or 16 of which "
                             "the last row is 0 0 0 1",
                             r->args->pose, number);
        if (is_wanted)
            put_pose(r, (uint32_t)*count, m);
        ++*count;
    }
    if (ferror(file) || *count == 0)
        return cli_error("%s: %s", r->args->pose,
                         ferror(file) ? "cannot be read" : "holds no pose");
    return CLI_OK;
}

int collide_make_poses(collision *r)
{
    const collide_args *a = r->args;
    const double *from = r->b.file.mesh.origin, *to = r->a.file.mesh.origin;
    bool is_identity = !a->pose && !collide_is_posed(a) && memcmp(from, to, 3 * sizeof *from) == 0;
    if (a->self || is_identity)
        return CLI_OK;
    if (!a->pose) {
        double m[12];
        const double scale[3] = {a->scale, a->scale, a->scale};
        transform_matrix(scale, a->rotate.values, a->translate.values, m);
        int code = make_room_for_poses(r, 1);
        if (code == CLI_OK)
            put_pose(r, 0, m);
        return code;
    }
    if (path_ends_with(a->pose, ".npy"))
        return read_npy_poses(r);
    FILE *file = fopen(a->pose, "r");
    uint64_t count;
    if (!file)
        return cli_error("%s: cannot be opened", a->pose);
    int code = read_text_poses(r, file, false, &count);
    CLI_THEN(code, make_room_for_poses(r, count));
    rewind(file);
    CLI_THEN(code, read_text_poses(r, file, true, &count));
    fclose(file);
    return code;
}
