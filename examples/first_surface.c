/* Makes the isosurface of a torus that is sampled on a 48 x 48 x 48 grid, with normals, and prints
 * how many vertices and triangles it has and the box that its positions lie in. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <trommel/trommel.h>

enum { N = 48 };
static float samples[N * N * N];

/* Says which step failed and why, and ends the program. */
static void check(tml_context *tml, tml_status status, const char *step)
{
    if (status) {
        fprintf(stderr, "%s failed: %s\n", step, tml_last_error(tml));
        tml_close(tml);
        exit(1);
    }
}

int main(void)
{
    /* The distance to a ring of radius 14 around z, taken from 6: positive within the torus. */
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                const float c = (N - 1) / 2.0f;
                const float ring = hypotf((float)x - c, (float)y - c) - 14;
                samples[x + N * (y + N * z)] = 6 - hypotf(ring, (float)z - c);
            }

    tml_context *tml = NULL;
    check(tml, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml), "Opening Trommel");
    tml_buffer volume;
    const tml_buffer_desc buffer = {.type = TML_F32, .count = N * N * N, .data = samples};
    check(tml, tml_buffer_create(tml, &buffer, &volume), "Making the volume");
    tml_surface_result made;
    const tml_surface_desc desc = {
        .volume = volume, .grid = {.dims = {N, N, N}}, .iso = 0, .normals = TML_NORMALS_CENTRAL};
    check(tml, tml_surface(tml, &desc, &made), "Making the surface");

    /* Three floats per vertex, three indices per triangle. */
    float(*positions)[3] = malloc(made.vertex_count * sizeof *positions);
    uint32_t(*indices)[3] = malloc(made.triangle_count * sizeof *indices);
    if (!positions || !indices || !made.vertex_count) {
        fprintf(stderr, "The mesh is empty, or there is no memory to read it back.\n");
        exit(1);
    }
    check(tml, tml_buffer_read(tml, made.mesh.positions, positions), "Reading the positions");
    check(tml, tml_buffer_read(tml, made.mesh.indices, indices), "Reading the indices");

    printf("%llu vertices, %llu triangles\n", (unsigned long long)made.vertex_count,
           (unsigned long long)made.triangle_count);
    for (int axis = 0; axis < 3; axis++) {
        float low = positions[0][axis], high = low;
        for (uint64_t i = 1; i < made.vertex_count; i++) {
            low = fminf(low, positions[i][axis]);
            high = fmaxf(high, positions[i][axis]);
        }
        printf("%c from %g to %g\n", "xyz"[axis], (double)low, (double)high);
    }
    free(indices);
    free(positions);
    tml_surface_free(tml, &made);
    tml_close(tml); /* and with it the volume */
    return 0;
}
