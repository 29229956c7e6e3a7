/* How much light comes through a stack of half-silvered panes? Each ray that meets a pane goes on
 * as two, one through it and one mirrored, until it has left the stack.
 * Shows: a tree and tml_tree_cast_enqueue, whose hits go into tml_expand; a stream of rays that
 * grows and shrinks, with its length in a buffer, so that all bounces are enqueued before anything
 * is read. */
#include <math.h>
#include <stdio.h>
#include <trommel/trommel.h>

enum { PANES = 3, RAYS = 64, ROUNDS = 22, MOST = 1 << 18 };

#include <trommel/kernel_begin.h>
TML_KERNEL(uint, rays_of, (uint triangle), { return triangle == 0xffffffffu ? 0u : 2u; })
/* The k-th ray after a hit, a little further on, so that it does not begin on the pane. */
TML_KERNEL_OUTS((vec3 origin, vec3 direction), go_on,
                (vec3 origin, vec3 direction, float t, tml_rank k), {
                    go_on_out o;
                    o.direction = direction;
                    if (k == 1u)
                        o.direction.z = -direction.z;
                    o.origin = add3(add3(origin, scale3(direction, t)), scale3(o.direction, 0.01f));
                    return o;
                })
/* What a ray brings to the far side, if it leaves there. f[0]: the light that each ray has. */
TML_KERNEL(float, light_of, (uint triangle, vec3 direction, tml_params p),
           { return triangle == 0xffffffffu && direction.z > 0.0f ? p.f[0] : 0.0f; })
#include <trommel/kernel_end.h>

static tml_buffer make(tml_context *tml, tml_type type, uint64_t count, const void *data,
                       tml_status *status)
{
    tml_buffer out = {0, 0};
    TML_THEN(*status,
             tml_buffer_create(tml, &(tml_buffer_desc){.type = type, .count = count, .data = data},
                               &out));
    return out;
}

int main(void)
{
    const tml_type vec3_type = TML_VEC(TML_F32, 3);
    float corners[18 * PANES], from[3 * RAYS], way[3 * RAYS];
    static const float square[18] = {-9, -9, 0, 9, -9, 0, 9, 9, 0, -9, -9, 0, 9, 9, 0, -9, 9, 0};
    for (int i = 0; i < 18 * PANES; i++)
        corners[i] = square[i % 18] + (i % 3 == 2 ? (float)(i / 18) : 0);
    for (int i = 0; i < RAYS; i++) {
        const float at[3] = {0.01f * (float)(i % 8), 0.01f * (float)(i / 8), -1};
        const float to[3] = {0.02f, 0.03f, 1};
        for (int k = 0; k < 3; k++) {
            from[3 * i + k] = at[k];
            way[3 * i + k] = to[k];
        }
    }
    tml_context *tml = NULL;
    tml_tree *tree = NULL;
    tml_status status = tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml);
    tml_buffer vertices = make(tml, vec3_type, (uint64_t)6 * PANES, corners, &status);
    TML_THEN(status, tml_tree_create(tml, &(tml_tree_desc){.vertices = vertices}, &tree));
    tml_buffer origins[2], directions[2];
    for (int i = 0; i < 2; i++) {
        origins[i] = make(tml, vec3_type, MOST, NULL, &status);
        directions[i] = make(tml, vec3_type, MOST, NULL, &status);
    }
    tml_buffer triangles = make(tml, TML_U32, MOST, NULL, &status);
    tml_buffer t = make(tml, TML_F32, MOST, NULL, &status);
    tml_buffer counts = make(tml, TML_U32, MOST, NULL, &status);
    tml_buffer light = make(tml, TML_F32, MOST, NULL, &status);
    tml_buffer sums[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        sums[i] = make(tml, TML_F64, 1, NULL, &status);
    tml_buffer totals[2];
    for (int i = 0; i < 2; i++)
        totals[i] = make(tml, TML_U32, 1, &(uint32_t){RAYS}, &status);
    TML_THEN(status, tml_buffer_write(tml, origins[0], 0, RAYS, from));
    TML_THEN(status, tml_buffer_write(tml, directions[0], 0, RAYS, way));

    float each = 1.0f / RAYS; /* of the light; halved at each pane */
    for (int round = 0; round < ROUNDS && status == TML_OK; round++, each /= 2) {
        const int at = round % 2;
        const tml_length length = {.count = MOST, .device = totals[at]};
        const tml_tree_cast_desc rays = {.tree = tree,
                                         .origins = origins[at],
                                         .directions = directions[at],
                                         .length = length,
                                         .triangles = triangles,
                                         .t = t};
        status = tml_tree_cast_enqueue(tml, &rays);
        TML_THEN(status, tml_map(tml, &(tml_map_desc){.kernel = TML_USE(light_of),
                                                      .params = {.f = {each}},
                                                      .in = {triangles, directions[at]},
                                                      .length = length,
                                                      .out = {light}}));
        TML_THEN(status,
                 tml_reduce(tml, &(tml_reduce_desc){.in = light,
                                                    .length = length,
                                                    .folds = {{TML_FOLD_SUM, sums[round]}}}));
        TML_THEN(status, tml_map(tml, &(tml_map_desc){.kernel = TML_USE(rays_of),
                                                      .in = {triangles},
                                                      .length = length,
                                                      .out = {counts}}));
        TML_THEN(status, tml_expand(tml, &(tml_expand_desc){.counts = counts,
                                                            .emit_kernel = TML_USE(go_on),
                                                            .in = {origins[at], directions[at], t},
                                                            .length = length,
                                                            .out = {origins[!at], directions[!at]},
                                                            .total = totals[!at]}));
    }
    double through = 0;
    for (int round = 0; round < ROUNDS && status == TML_OK; round++) {
        double here = 0;
        status = tml_buffer_read(tml, sums[round], &here);
        through += here;
    }
    uint32_t left = 0;
    TML_THEN(status, tml_buffer_read(tml, totals[ROUNDS % 2], &left));
    if (status != TML_OK)
        fprintf(stderr, "%s\n", tml ? tml_last_error(tml) : "cannot begin");
    else
        printf("%.4f of the light comes through %d panes; %u rays are still between them\n",
               through, PANES, left);
    tml_tree_destroy(tml, tree);
    tml_close(tml);
    /* A ray's way is that of one who steps forth or back at each pane with one chance in two. */
    return status == TML_OK && fabs(through - 1.0 / (PANES + 1)) < 1e-3 ? 0 : 1;
}
