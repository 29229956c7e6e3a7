/* The meshes whose colliding triangles are recorded. */
#include "collide_meshes.h"

/* Hashes words of four bytes, the lowest byte first on every machine. */
static uint64_t collide_hash(uint64_t hash, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word;
        memcpy(&word, (const char *)data + i, 4);
        for (int shift = 0; shift < 32; shift += 8)
            hash = (hash ^ (word >> shift & 255)) * 0x100000001b3u; /* FNV-1a */
    }
    return hash;
}

#define COLLIDE_HASH_START 0xcbf29ce484222325u

bool collide_mesh_load(tml_context *tml, const char *path, collide_mesh *out)
{
    tml_mesh_file file;
    if (tml_mesh_load(tml, path, NULL, &file) != TML_OK) {
        fprintf(stderr, "%s\n", tml_last_error(tml));
        return false;
    }
    out->count = (uint32_t)file.mesh.triangle_count;
    out->corners = (float *)malloc((size_t)out->count * 9 * sizeof(float) + 1);
    const uint32_t *indices = (const uint32_t *)file.mesh.indices;
    for (size_t i = 0; i < (size_t)out->count * 3; i++)
        memcpy(out->corners + 3 * i, file.mesh.positions + 3 * (size_t)indices[i], 12);
    out->hash = collide_hash(COLLIDE_HASH_START, out->corners, (size_t)out->count * 36);
    tml_mesh_file_free(tml, &file);
    return true;
}

static float collide_extent(const collide_mesh *mesh, float middle[3])
{
    float extent = 0;
    for (int c = 0; c < 3; c++) {
        float low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < (size_t)mesh->count * 3; i++) {
            float x = mesh->corners[3 * i + (size_t)c];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        middle[c] = (low + high) * 0.5f;
        extent = high - low > extent ? high - low : extent;
    }
    return extent;
}

collide_pose collide_pose_of(const collide_mesh *a, const collide_mesh *b)
{
    float middle_a[3], middle_b[3];
    float extent = collide_extent(a, middle_a);
    collide_pose pose;
    pose.scale = ldexpf(1, ilogbf(extent / collide_extent(b, middle_b)));
    for (int c = 0; c < 3; c++)
        pose.move[c] = middle_a[c] - middle_b[c] * pose.scale + extent * ldexpf(1, -3 - c);
    return pose;
}

collide_mesh collide_mesh_moved(const collide_mesh *mesh, const collide_pose *pose)
{
    collide_mesh moved = *mesh;
    moved.corners = (float *)malloc((size_t)mesh->count * 36 + 1);
    for (size_t i = 0; i < (size_t)mesh->count * 9; i++)
        moved.corners[i] = mesh->corners[i] * pose->scale + pose->move[i % 3];
    return moved;
}

static int collide_found_order(const void *left, const void *right)
{
    const collide_found *x = (const collide_found *)left, *y = (const collide_found *)right;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

/* Removes the sign of NaN, which processors choose and some C libraries print. */
static double collide_printed(float x)
{
    return (double)(isnan(x) ? NAN : x);
}

void collide_line(char line[512], int a, int b, const collide_pose *pose, const collide_mesh *first,
                  const collide_mesh *second, collide_found *found, size_t count)
{
    unsigned counts[8] = {0};
    if (count)
        qsort(found, count, sizeof *found, collide_found_order);
    uint64_t hash = COLLIDE_HASH_START;
    for (size_t i = 0; i < count; i++) {
        counts[found[i].kind & 7]++;
        hash = collide_hash(hash, &found[i], sizeof found[i]);
    }
    snprintf(line, 512, "%s %s %a %a %a %a %016llx %016llx %u %u %u %u %016llx\n", collide_files[a],
             a == b ? "-" : collide_files[b], collide_printed(pose->scale),
             collide_printed(pose->move[0]), collide_printed(pose->move[1]),
             collide_printed(pose->move[2]), (unsigned long long)first->hash,
             (unsigned long long)second->hash, counts[1], counts[2], counts[3], counts[4],
             (unsigned long long)hash);
}
