/* Rays on the device in a call that waits: enqueues the rays, reads which ones the device could not
 * follow, and casts these on the host. */
#include "stream/stream_internal.h"
#include "tree/tree_cast.h"

tml_status cast_left_count(tml_context *tml, const tml_tree *tree, uint32_t *count)
{
    return tml_buffer_read(tml, tree->cast->buffers[CAST_LEFT_COUNT], count);
}

/* Vulkan only: OpenGL's compilers need minutes for the doubles emulated with integers. */
bool cast_runs_on_device(const tml_context *tml, const tml_tree_cast_desc *desc)
{
    const tml_tree *tree = desc->tree;
    bool is_moderate = true;
    for (int k = 0; k < 3; k++)
        is_moderate = is_moderate && tree->lower[k] >= -0x1p30f && tree->upper[k] <= 0x1p30f;
    return tml->device.engine == TML_ENGINE_VULKAN && tree->levels > 0 && is_moderate &&
           desc->length.count >= RAYS_LEAST && cast_fits(tml, desc);
}

/* The most rays that may be left to the host. If more are left, the host casts all rays. */
static uint64_t left_room(uint64_t count)
{
    return count / 8 + RAYS_LEAST;
}

static tml_status left_make(tml_context *tml, tml_tree *tree, uint64_t count)
{
    struct tree_cast *rays = tree->cast;
    if (rays->left_room < left_room(count)) {
        tml_buffer_destroy(tml, rays->buffers[CAST_LEFT]);
        rays->buffers[CAST_LEFT] = (tml_buffer){0, 0};
    }
    tml_status status = cast_buffer_make(tml, tree, CAST_LEFT, TML_U32, left_room(count), NULL);
    rays->left_room = status == TML_OK ? TML_MAX_OF(rays->left_room, left_room(count)) : 0;
    TML_THEN(status, cast_buffer_make(tml, tree, CAST_LEFT_COUNT, TML_U32, 1, NULL));
    return status == TML_OK ? cast_buffer_make(tml, tree, CAST_TOTAL, TML_U32, 1, NULL) : status;
}

/* Casts the `count` rays that are left on the host, and writes their results into the outputs. */
static tml_status cast_left(tml_context *tml, const char *call, const tml_tree_cast_desc *d,
                            uint32_t count)
{
    tml_tree_cast_desc left = *d;
    const struct {
        tml_buffer all, *some;
        bool is_input;
    } arrays[] = {{d->origins, &left.origins, true},
                  {d->directions, &left.directions, true},
                  {d->limits, &left.limits, true},
                  {d->pose_of, &left.pose_of, true},
                  {d->hits, &left.hits, false},
                  {d->counts, &left.counts, false},
                  {d->triangles, &left.triangles, false},
                  {d->t, &left.t, false},
                  {d->barycentrics, &left.barycentrics, false}};
    enum { ARRAYS = TML_ARRAY_SIZE(arrays) };
    const tml_buffer list = d->tree->cast->buffers[CAST_LEFT];
    tml_gather_desc gather = {.indices = list, .length = tml_length_of(count)}, scatter = gather;
    uint32_t gathered = 0, scattered = 0;
    tml_buffer made[ARRAYS] = {{0, 0}};
    tml_status status = TML_OK;
    for (int i = 0; i < ARRAYS && status == TML_OK; i++) {
        tml_type type;
        if (!tml_buffer_describe(tml, arrays[i].all, &type, NULL))
            continue;
        status = tml_buffer_create(tml, &(tml_buffer_desc){.type = type, .count = count}, &made[i]);
        *arrays[i].some = made[i];
        if (arrays[i].is_input)
            gather.payloads[gathered++] = (tml_payload){arrays[i].all, made[i]};
        else
            scatter.payloads[scattered++] = (tml_payload){made[i], arrays[i].all};
    }
    TML_THEN(status, tml_gather(tml, &gather));
    left.length = tml_length_of(count);
    left.total = (tml_buffer){0, 0};
    uint64_t total = 0;
    TML_THEN(status, cast_on_host(tml, call, &left, count, NULL, &total));
    if (status == TML_OK && scattered > 0)
        status = tml_scatter(tml, &scatter);
    if (status == TML_OK && !tml_buffer_is_none(d->total))
        status = cast_add_total(tml, d->total, total);
    for (int i = 0; i < ARRAYS; i++)
        tml_buffer_destroy(tml, made[i]);
    return status;
}

tml_status cast_on_device(tml_context *tml, const char *call, const tml_tree_cast_desc *desc)
{
    tml_tree_cast_desc here = *desc;
    const uint64_t count = desc->length.count;
    uint32_t left = 0;
    uint64_t total = 0; /* little-endian: reads a u32 or a u64 */
    tree_learn(tml);
    tml_status status = cast_pack(tml, call, desc->tree);
    TML_THEN(status, left_make(tml, desc->tree, count));
    if (status == TML_OK) {
        const tml_buffer *buffers = desc->tree->cast->buffers;
        if (tml_buffer_is_none(here.total))
            here.total = buffers[CAST_TOTAL];
        here.unsure = buffers[CAST_LEFT];
        here.unsure_count = buffers[CAST_LEFT_COUNT];
        status = cast_enqueue(tml, call, &here);
    }
    if (status == TML_ERROR_OUT_OF_DEVICE_MEMORY || status == TML_ERROR_OUT_OF_MEMORY) {
        tree_cast_destroy(tml, desc->tree);
        return cast_on_host(tml, call, desc, count, NULL, NULL);
    }
    TML_THEN(status, cast_left_count(tml, desc->tree, &left));
    if (status == TML_OK && desc->want == TML_TREE_CAST_ALL)
        status = tml_buffer_read_range(tml, here.total, 0, 1, &total);
    if (status != TML_OK)
        return status;
    bool is_short = desc->want == TML_TREE_CAST_ALL && (left > 0 || total == UINT32_MAX);
    if (is_short || left > left_room(count))
        return cast_on_host(tml, call, desc, count, NULL, NULL);
    return left > 0 ? cast_left(tml, call, desc, left) : TML_OK;
}
