#include "bench_meshes.h"

#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

static bool mesh_make(size_t vertex_count, size_t triangle_count, bench_mesh *out)
{
    *out = (bench_mesh){.vertices = malloc(vertex_count * 3 * sizeof(float)),
                        .indices = malloc(triangle_count * 3 * sizeof(uint32_t)),
                        .vertex_count = (uint32_t)vertex_count,
                        .triangle_count = (uint32_t)triangle_count};
    if (!out->vertices || !out->indices)
        bench_mesh_free(out);
    return out->vertices != NULL;
}

bool bench_torus(double thickness, uint32_t around, uint32_t across, bench_mesh *out)
{
    size_t count = (size_t)around * across;
    if (!mesh_make(count, 2 * count, out))
        return false;
    float *vertex = out->vertices;
    uint32_t *index = out->indices;
    for (uint32_t i = 0; i < around; i++)
        for (uint32_t k = 0; k < across; k++) {
            double u = 2 * PI * i / around, v = 2 * PI * k / across;
            double radius = 1 + thickness * cos(v);
            *vertex++ = (float)(radius * cos(u));
            *vertex++ = (float)(radius * sin(u));
            *vertex++ = (float)(thickness * sin(v));
            uint32_t i_next = (i + 1) % around, k_next = (k + 1) % across;
            uint32_t a = i * across + k, b = i_next * across + k, c = i_next * across + k_next,
                     d = i * across + k_next;
            *index++ = a, *index++ = b, *index++ = c;
            *index++ = a, *index++ = c, *index++ = d;
        }
    return true;
}

bool bench_ball(uint32_t n, bench_mesh *out)
{
    if (!mesh_make((size_t)n * (n + 1), (size_t)2 * n * n, out))
        return false;
    float *vertex = out->vertices;
    uint32_t *index = out->indices;
    for (uint32_t i = 0; i <= n; i++)
        for (uint32_t k = 0; k < n; k++) {
            double u = 2 * PI * k / n, v = PI * i / n;
            double radius = 1 + 0.02 * sin(9 * u) * sin(8 * v);
            *vertex++ = (float)(radius * sin(v) * cos(u));
            *vertex++ = (float)(radius * sin(v) * sin(u));
            *vertex++ = (float)(radius * cos(v));
        }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++) {
            uint32_t a = i * n + k, b = a + n, c = b - k + (k + 1) % n, d = c - n;
            *index++ = a, *index++ = b, *index++ = c;
            *index++ = a, *index++ = c, *index++ = d;
        }
    return true;
}

void bench_mesh_free(bench_mesh *mesh)
{
    free(mesh->vertices);
    free(mesh->indices);
    *mesh = (bench_mesh){0};
}

static double random_unit(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

void bench_rays(const bench_mesh *mesh, uint64_t count, float *origins, float *directions)
{
    double low[3], high[3], radius = 0;
    uint64_t state = 1;
    for (uint32_t k = 0; k < 3; k++) {
        low[k] = INFINITY, high[k] = -INFINITY;
        for (uint64_t i = 0; i < mesh->vertex_count; i++) {
            low[k] = fmin(low[k], (double)mesh->vertices[3 * i + k]);
            high[k] = fmax(high[k], (double)mesh->vertices[3 * i + k]);
        }
        radius += (high[k] - low[k]) * (high[k] - low[k]) / 4;
    }
    radius = sqrt(radius);
    for (uint64_t i = 0; i < count; i++) {
        double at[3], length;
        do {
            length = 0;
            for (int k = 0; k < 3; k++) {
                at[k] = 2 * random_unit(&state) - 1;
                length += at[k] * at[k];
            }
        } while (length > 1 || length < 0.01);
        for (int k = 0; k < 3; k++) {
            double from = (low[k] + high[k]) / 2 + radius * at[k] / sqrt(length);
            double to = low[k] + (high[k] - low[k]) * random_unit(&state);
            origins[3 * i + (uint64_t)k] = (float)from;
            directions[3 * i + (uint64_t)k] = (float)(to - from);
        }
    }
}

const char *bench_scene_name(bench_scene scene)
{
    static const char *const names[BENCH_SCENES] = {"linked tori", "coincident tori", "tori apart"};
    return names[scene];
}

/* Rodrigues' formula. */
void bench_pose(float pose[12], const double axis[3], double angle, const double move[3])
{
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) {
        int next = (i + 1) % 3, last = (i + 2) % 3;
        double x = axis[i] / length, y = axis[next] / length, z = axis[last] / length;
        pose[4 * i + i] = (float)(c + (1 - c) * x * x);
        pose[4 * i + next] = (float)((1 - c) * x * y - s * z);
        pose[4 * i + last] = (float)((1 - c) * x * z + s * y);
        pose[4 * i + 3] = (float)move[i];
    }
}

void bench_scene_pose(bench_scene scene, float pose[12])
{
    if (scene == BENCH_COINCIDENT)
        bench_pose(pose, (double[]){1, 2, 3}, 0.01, (double[]){0.001, 0, 0});
    else
        bench_pose(pose, (double[]){1, 0.03, 0.02}, PI / 2,
                   (double[]){scene == BENCH_LINKED ? 0.45 : 1, 0.01, 0.02});
}

void bench_ball_pose(float pose[12])
{
    bench_pose(pose, (double[]){1, 2, 3}, 0.7, (double[]){2.035, 0.04, 0.07});
}

void bench_small_pose(float pose[12])
{
    bench_pose(pose, (double[]){1, 2, 3}, 0.5, (double[]){1.3, 0.01, 0.02});
    for (int i = 0; i < 12; i++)
        pose[i] *= i % 4 < 3 ? 0.1f : 1.0f;
}
