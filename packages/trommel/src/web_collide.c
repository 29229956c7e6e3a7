/* Trees and collision for JavaScript. */
#include <trommel/collide.h>

#include "web.h"

_Static_assert(TML_COLLIDE_CLASS_COUNT == 5, "class_count0 to 4");

static void tell_tree(tml_tree *tree)
{
    tml_tree_info info;
    tml_tree_describe(tree, &info);
    reply.tree = address(tree);
    reply.vertex_count = (double)info.vertex_count;
    reply.triangle_count = (double)info.triangle_count;
    reply.broken_count = (double)info.broken_count;
    reply.depth = info.depth;
    double *lower = &reply.lower0, *upper = &reply.upper0;
    for (int a = 0; a < 3; a++) {
        lower[a] = info.lower[a];
        upper[a] = info.upper[a];
    }
}

EMSCRIPTEN_KEEPALIVE int web_tree_create(tml_context *tml)
{
    const web_request *r = &request;
    tml_tree_desc desc = {.vertices = buffer_of(r->vertices),
                          .indices = buffer_of(r->indices),
                          .skip_broken = r->skip_broken != 0.0};
    tml_tree *tree;
    tml_status status = tml_tree_create(tml, &desc, &tree);
    if (status == TML_OK)
        tell_tree(tree);
    return status;
}
EMSCRIPTEN_KEEPALIVE void web_tree_destroy(tml_context *tml, tml_tree *tree)
{
    tml_tree_destroy(tml, tree);
}

EMSCRIPTEN_KEEPALIVE int web_tree_update(tml_context *tml)
{
    tml_tree *tree = pointer(request.tree);
    tml_status status =
        tml_tree_update(tml, tree, buffer_of(request.vertices), (tml_tree_method)request.method);
    if (status == TML_OK)
        tell_tree(tree);
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_tree_size(tml_context *tml)
{
    size_t size = 0;
    tml_status status = tml_tree_save(tml, pointer(request.tree), NULL, &size);
    reply.size = (double)size;
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_tree_save(tml_context *tml)
{
    const web_request *r = &request;
    size_t size = (size_t)r->size;
    return tml_tree_save(tml, pointer(r->tree), pointer(r->data), &size);
}

EMSCRIPTEN_KEEPALIVE int web_tree_load(tml_context *tml)
{
    tml_tree *tree;
    tml_status status = tml_tree_load(tml, pointer(request.data), (size_t)request.size, &tree);
    if (status == TML_OK)
        tell_tree(tree);
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_tree_nearest(tml_context *tml)
{
    const web_request *r = &request;
    return tml_tree_nearest(tml, &(tml_tree_nearest_desc){.tree = pointer(r->tree),
                                                          .points = buffer_of(r->points),
                                                          .k = (uint32_t)r->k,
                                                          .rule = (tml_tree_rule)r->rule,
                                                          .is_signed = r->is_signed != 0.0,
                                                          .sides = buffer_of(r->sides),
                                                          .distances = buffer_of(r->distances),
                                                          .positions = buffer_of(r->positions),
                                                          .triangles = buffer_of(r->triangles),
                                                          .features = buffer_of(r->features)});
}

EMSCRIPTEN_KEEPALIVE int web_tree_cast(tml_context *tml)
{
    const web_request *r = &request;
    return tml_tree_cast(tml, &(tml_tree_cast_desc){.tree = pointer(r->tree),
                                                    .origins = buffer_of(r->origins),
                                                    .directions = buffer_of(r->directions),
                                                    .t_max = (float)r->t_max,
                                                    .want = (tml_tree_cast_want)r->what,
                                                    .hits = buffer_of(r->hits),
                                                    .counts = buffer_of(r->counts),
                                                    .triangles = buffer_of(r->triangles),
                                                    .t = buffer_of(r->t),
                                                    .barycentrics = buffer_of(r->barycentrics),
                                                    .rays = buffer_of(r->rays)});
}

/* data: a double, six floats and two words a pose, as in tml_collide_distance_result. */
_Static_assert(sizeof(tml_collide_distance_result) == 40, "read so by index.js");
EMSCRIPTEN_KEEPALIVE int web_collide_distance(tml_context *tml)
{
    const web_request *r = &request;
    return tml_collide_distance(tml,
                                &(tml_collide_distance_desc){.a = pointer(r->tree),
                                                             .b = pointer(r->other_tree),
                                                             .poses = pointer(r->poses),
                                                             .pose_count = (uint32_t)r->pose_count},
                                pointer(r->data));
}

static tml_collide_result hits;

/* What it finds stays until web_collide_free. */
EMSCRIPTEN_KEEPALIVE int web_collide(tml_context *tml)
{
    const web_request *r = &request;
    tml_collide_desc desc = {.a = pointer(r->tree),
                             .b = pointer(r->other_tree),
                             .poses = pointer(r->poses),
                             .pose_count = (uint32_t)r->pose_count,
                             .want = (tml_collide_want)r->what,
                             .classes = (uint32_t)r->classes,
                             .segments = r->segments != 0.0,
                             .method = (tml_collide_method)r->method,
                             .memory_limit = (size_t)r->memory_limit};
    tml_status status = tml_collide(tml, &desc, &hits);
    if (status != TML_OK)
        return status;
    reply.pairs = address(hits.pairs);
    reply.segments = address(hits.segments);
    reply.first = address(hits.first);
    reply.count = (double)hits.count;
    reply.node_pairs = (double)hits.node_pairs;
    reply.step_pairs = address(hits.step_pairs);
    reply.step_count = hits.step_count;
    reply.tested = (double)hits.tested;
    reply.unsure = (double)hits.unsure;
    double *counts = &reply.class_count0;
    for (int kind = 0; kind < TML_COLLIDE_CLASS_COUNT; kind++)
        counts[kind] = (double)hits.class_counts[kind];
    return TML_OK;
}
EMSCRIPTEN_KEEPALIVE void web_collide_free(tml_context *tml)
{
    tml_collide_free(tml, &hits);
}
