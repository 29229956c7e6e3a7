/* The triangles that meet, of every two meshes of the collection that TML_DATA names, beside what
 * CGAL found (data/collide_pairs.txt, written by collide_cgal.cpp). */
#include "test.h"

#include <trommel/collide.h>

#include "collide_meshes.h"
#include "exact/exact.h"

static int find_file(const char *name)
{
    for (int i = 0; i < COLLIDE_FILES; i++)
        if (strcmp(collide_files[i], name) == 0)
            return i;
    return -1;
}

/* ---- every pair whose boxes overlap, one by one ---------------------------------------------- */

typedef struct slab {
    float low[3], high[3];
    uint32_t triangle;
} slab;

static int slab_order(const void *left, const void *right)
{
    float x = ((const slab *)left)->low[0], y = ((const slab *)right)->low[0];
    return x < y ? -1 : x > y;
}

static slab *slabs_of(const collide_mesh *mesh)
{
    slab *slabs = malloc(mesh->count * sizeof *slabs + 1);
    for (uint32_t i = 0; i < mesh->count; i++) {
        const float *x = mesh->corners + 9 * (size_t)i;
        for (int c = 0; c < 3; c++) {
            slabs[i].low[c] = fminf(x[c], fminf(x[3 + c], x[6 + c]));
            slabs[i].high[c] = fmaxf(x[c], fmaxf(x[3 + c], x[6 + c]));
        }
        slabs[i].triangle = i;
    }
    qsort(slabs, mesh->count, sizeof *slabs, slab_order);
    return slabs;
}

typedef struct finding {
    collide_found *found;
    size_t count, capacity;
} finding;

static void try_pair(finding *all, const collide_mesh *a, const slab *s, const collide_mesh *b,
                     const slab *t, bool is_one_mesh)
{
    for (int c = 0; c < 3; c++)
        if (s->high[c] < t->low[c] || t->high[c] < s->low[c])
            return;
    uint32_t i = s->triangle, k = t->triangle;
    if (is_one_mesh && i >= k)
        return;
    const float *x = a->corners + 9 * (size_t)i, *y = b->corners + 9 * (size_t)k;
    tml_collide_class kind =
        is_one_mesh ? collide_exact_neighbours(x, y, NULL) : collide_exact(x, y, NULL);
    if (kind == TML_COLLIDE_CLASS_NONE)
        return;
    if (all->count == all->capacity) {
        all->capacity = 2 * all->capacity + 1000;
        all->found = realloc(all->found, all->capacity * sizeof *all->found);
    }
    all->found[all->count++] = (collide_found){i, k, kind};
}

/* A sweep along x: each slab meets those that begin within it. */
static finding find_by_sweep(const collide_mesh *a, const collide_mesh *b)
{
    bool is_one_mesh = a->corners == b->corners;
    slab *s = slabs_of(a), *t = slabs_of(b);
    finding all = {0};
    for (uint32_t i = 0, k = 0; i < a->count && k < b->count;) {
        if (s[i].low[0] <= t[k].low[0]) {
            for (uint32_t l = k; l < b->count && t[l].low[0] <= s[i].high[0]; l++)
                try_pair(&all, a, &s[i], b, &t[l], is_one_mesh);
            i++;
        } else {
            for (uint32_t l = i; l < a->count && s[l].low[0] <= t[k].high[0]; l++)
                try_pair(&all, a, &s[l], b, &t[k], is_one_mesh);
            k++;
        }
    }
    free(s);
    free(t);
    return all;
}

/* ---- by trees -------------------------------------------------------------------------------- */

/* NULL for a mesh that goes beyond 2^100: trees refuse it. */
static tml_tree *tree_of(tml_context *tml, const collide_mesh *mesh)
{
    tml_buffer corners;
    tml_tree *tree = NULL;
    bool is_beyond = false;
    for (size_t i = 0; i < (size_t)mesh->count * 9; i++)
        is_beyond |= fabsf(mesh->corners[i]) > 0x1p100f;
    tml_buffer_desc desc = {
        .type = TML_VEC(TML_F32, 3), .count = 3 * (uint64_t)mesh->count, .host = mesh->corners};
    if (CHECK_OK(tml, tml_buffer_create(tml, &desc, &corners))) {
        (void)test_status(__FILE__, __LINE__, "tml_tree_create", tml,
                          tml_tree_create(tml, &(tml_tree_desc){.vertices = corners}, &tree),
                          is_beyond ? TML_ERROR_INVALID_ARGUMENT : TML_OK);
        tml_buffer_destroy(tml, corners);
    }
    return tree;
}

static finding find_by_trees(tml_context *tml, tml_tree *a, tml_tree *b, const collide_pose *pose)
{
    const float *move = pose->move;
    float matrix[12] = {pose->scale, 0,       0, move[0], 0,           pose->scale,
                        0,           move[1], 0, 0,       pose->scale, move[2]};
    tml_collide_desc desc = {.a = a, .b = b, .poses = b ? matrix : NULL, .pose_count = b ? 1 : 0};
    tml_collide_result result;
    finding all = {0};
    if (!CHECK_OK(tml, tml_collide(tml, &desc, &result)))
        return all;
    all.found = malloc(result.count * sizeof *all.found + 1);
    for (; all.count < result.count; all.count++) {
        const tml_collide_pair *pair = &result.pairs[all.count];
        all.found[all.count] = (collide_found){pair->a, pair->b, pair->kind};
    }
    tml_collide_free(tml, &result);
    return all;
}

/* ---- the record ------------------------------------------------------------------------------ */

static void check_found(const char *expected, const char *how, finding all, int a, int b,
                        const collide_pose *pose, const collide_mesh *meshes)
{
    char line[512];
    collide_line(line, a, b, pose, &meshes[a], &meshes[b], all.found, all.count);
    if (strcmp(line, expected) != 0)
        test_fail(__FILE__, __LINE__, "%s    %s  recorded %s", how, line, expected);
    free(all.found);
}

static void check_line(const char *expected, tml_context *tml, const collide_mesh *meshes,
                       tml_tree *const *trees)
{
    char first[64], second[64];
    collide_pose pose;
    if (sscanf(expected, "%63s %63s %a %a %a %a", first, second, &pose.scale, &pose.move[0],
               &pose.move[1], &pose.move[2]) != 6) {
        test_fail(__FILE__, __LINE__, "a line that is none: %s", expected);
        return;
    }
    int a = find_file(first), b = strcmp(second, "-") == 0 ? a : find_file(second);
    if (!CHECK(a >= 0 && b >= 0))
        return;
    collide_mesh moved = a == b ? meshes[a] : collide_mesh_moved(&meshes[b], &pose);
    check_found(expected, "by sweep", find_by_sweep(&meshes[a], &moved), a, b, &pose, meshes);
    if (trees[a] && trees[b])
        check_found(expected, "by trees",
                    find_by_trees(tml, trees[a], a == b ? NULL : trees[b], &pose), a, b, &pose,
                    meshes);
    if (a != b)
        free(moved.corners);
}

TEST(all_pairs_of_meshes_as_recorded)
{
    if (!test_full_data("meshes"))
        SKIP("TML_DATA names no folder with meshes");
    tml_context *tml;
    if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml)))
        return;
    collide_mesh meshes[COLLIDE_FILES] = {0};
    tml_tree *trees[COLLIDE_FILES] = {0};
    bool is_loaded = true;
    for (int i = 0; i < COLLIDE_FILES; i++) {
        char name[128];
        snprintf(name, sizeof name, "meshes/%s", collide_files[i]);
        const char *path = test_full_data(name);
        is_loaded &= CHECK(path) && CHECK(collide_mesh_load(tml, path, &meshes[i]));
        trees[i] = is_loaded ? tree_of(tml, &meshes[i]) : NULL;
    }
    FILE *record = fopen(test_data("collide_pairs.txt"), "r");
    int lines = 0;
    if (is_loaded && CHECK(record)) {
        char line[512];
        while (fgets(line, sizeof line, record))
            if (line[0] != '#') {
                check_line(line, tml, meshes, trees);
                lines++;
            }
        CHECK_EQ_U64(lines, COLLIDE_FILES * (COLLIDE_FILES + 1) / 2);
    }
    if (record)
        fclose(record);
    for (int i = 0; i < COLLIDE_FILES; i++) {
        tml_tree_destroy(tml, trees[i]);
        free(meshes[i].corners);
    }
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
