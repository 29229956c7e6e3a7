/* Finds which points lie inside a mesh. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <trommel/files.h>

#include "cli.h"
#include "inside.h"
#include "paths.h"
#include "report/fields.h"
#include "report/text.h"
#include "report/text_file.h"

static const char *const side_names[] = {"outside", "inside", "on"};

static tml_status find(tml_context *tml, const tml_tree_nearest_desc *desc, inside *out)
{
    tml_status status = tml_tree_nearest(tml, desc);
    TML_THEN(status, tml_buffer_read(tml, desc->sides, out->sides));
    for (uint64_t i = 0; i < out->count && status == TML_OK; i++)
        out->side_counts[out->sides[i]]++;
    return status;
}

int inside_find(tml_context *tml, tml_tree *tree, const char *name, tml_tree_rule rule,
                const float *points, uint64_t count, const float *pose, report *times, inside *out)
{
    double start = cli_now();
    size_t size = count * 3 * sizeof(float);
    float *moved = tml_alloc_array(tml, count, 3 * sizeof *moved);
    *out = (inside){.count = count, .sides = tml_alloc_array(tml, count, 1)};
    if (count > 0 && (!moved || !out->sides)) {
        tml_free(tml, moved, size);
        return cli_error("no memory for %" PRIu64 " points", count);
    }
    for (uint64_t i = 0; i < 3 * count; i++) {
        const float *p = points + i / 3 * 3, *m = pose ? pose + i % 3 * 4 : NULL;
        moved[i] = m ? ((m[0] * p[0] + m[1] * p[1]) + m[2] * p[2]) + m[3] : points[i];
    }
    tml_buffer at = {0, 0}, sides = {0, 0};
    tml_status status = cli_make_buffer(tml, TML_VEC(TML_F32, 3), count, moved, NULL, &at);
    tml_free(tml, moved, size);
    TML_THEN(status, cli_make_buffer(tml, TML_U8, count, NULL, NULL, &sides));
    bool is_made = status == TML_OK;
    if (is_made)
        status = find(
            tml, &(tml_tree_nearest_desc){.tree = tree, .points = at, .rule = rule, .sides = sides},
            out);
    tml_buffer_destroy(tml, at);
    tml_buffer_destroy(tml, sides);
    report_add_stage(times, "inside", cli_now() - start);
    if (is_made && status == TML_ERROR_INVALID_ARGUMENT)
        return cli_error("%s: %s", name, cli_last_error(tml));
    return cli_fail(tml, status);
}

void inside_free(tml_context *tml, inside *in)
{
    tml_free(tml, in->sides, in->count);
    *in = (inside){0};
}

int inside_save(tml_context *tml, const char *path, const inside *in)
{
    text_file file;
    if (path_ends_with(path, ".npy")) {
        tml_array array = {
            .type = TML_U8, .count = in->count, .data = in->sides, .size = in->count};
        return cli_fail(tml, tml_array_save(tml, path, &array));
    }
    if (!text_file_create(path, &file))
        return CLI_FAILED;
    if (path_ends_with(path, ".json")) {
        json j = {.out = file.stream};
        json_open(&j, NULL, '{');
        json_open(&j, "sides", '[');
        for (uint64_t i = 0; i < in->count; i++)
            json_text(&j, NULL, side_names[in->sides[i]]);
        json_close(&j, '[');
        json_close(&j, '{');
    } else {
        fputs("point,side\n", file.stream);
        for (uint64_t i = 0; i < in->count; i++)
            fprintf(file.stream, "%" PRIu64 ",%s\n", i, side_names[in->sides[i]]);
    }
    return text_file_finish(&file, true) ? CLI_OK : CLI_FAILED;
}

void inside_tell(const inside *in)
{
    field_count("inside", "points", "%s inside", in->side_counts[TML_TREE_INSIDE]);
    field_count("on", NULL, ", %s on the surface", in->side_counts[TML_TREE_ON]);
    field_count("outside", NULL, ", %s outside", in->side_counts[TML_TREE_OUTSIDE]);
}
