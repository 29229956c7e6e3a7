/* Fields on Vulkan devices as the surface uses them: in slabs, and in more bricks than a list
 * holds, bit for bit; and in frames of the caller's. */
#include "field_resolved.h"
#include "test.h"

#include "contexts.h"
#include "field/field_internal.h"
#include "vulkan/vulkan_internal.h"
#include "vulkan_host.h"

enum { MAX_DEVICES = 8, POINTS = 300 };

/* Uniform in [0, 1); the same on every machine. */
static float uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)(*state >> 40) * 0x1p-24f;
}

/* Points in a box, each with a radius of its own. */
static void make_points(tml_context *tml, const uint64_t dims[3], float radius,
                        tml_field_desc *desc)
{
    static float points[3 * POINTS], radii[POINTS];
    uint64_t state = 5;
    for (int i = 0; i < POINTS; i++) {
        for (int a = 0; a < 3; a++)
            points[3 * i + a] = uniform(&state) * (float)dims[a];
        radii[i] = radius * (0.1f + uniform(&state));
    }
    memcpy(desc->grid.dims, dims, sizeof desc->grid.dims);
    desc->points = buffer_of(tml, TML_VEC(TML_F32, 3), POINTS, points);
    desc->radii = buffer_of(tml, TML_F32, POINTS, radii);
}

static void slabs_on(tml_context *tml, tml_field_kind kind)
{
    enum { SAMPLES = 37 * 21 * 45 };
    static float whole[SAMPLES], parts[SAMPLES];
    const uint64_t dims[3] = {37, 21, 45}, slice = dims[0] * dims[1];
    tml_field_desc desc = {.kind = kind}, resolved;
    make_points(tml, dims, 5.0f, &desc);
    tml_buffer out = buffer_of(tml, TML_F32, SAMPLES, NULL);
    CHECK_OK(tml, tml_field(tml, &desc, out));
    CHECK_OK(tml, tml_buffer_read(tml, out, whole));

    field_plan *plan = NULL;
    CHECK_OK(tml, resolve_field(tml, &desc, &resolved, NULL));
    CHECK_OK(tml, field_plan_create(tml, &resolved, &plan));
    static const uint64_t slabs[] = {1, 3, FIELD_BRICK, 11, 45};
    for (size_t i = 0; plan && i < TML_ARRAY_SIZE(slabs); i++) {
        memset(parts, 0x7f, sizeof parts);
        CHECK_OK(tml, tml_buffer_write(tml, out, 0, SAMPLES, parts));
        /* The last time with a list for one layer of bricks: more than it holds at once. */
        if (i + 1 == TML_ARRAY_SIZE(slabs))
            plan->device.brick_room = field_bricks_along(dims[0]) * field_bricks_along(dims[1]);
        for (uint64_t z = 0; z < dims[2]; z += slabs[i])
            CHECK_OK(tml, field_slab(tml, plan, z, TML_MIN_OF(slabs[i], dims[2] - z),
                                     (void *)(uintptr_t)(vk_address_of(tml, out) +
                                                         z * slice * sizeof(float))));
        CHECK_OK(tml, tml_buffer_read(tml, out, parts));
        CHECK(memcmp(whole, parts, sizeof whole) == 0);
    }
    field_plan_destroy(tml, plan);
    tml_buffer_destroy(tml, desc.points);
    tml_buffer_destroy(tml, desc.radii);
    tml_buffer_destroy(tml, out);
}

/* More points near each brick than a driver that ends long loops can add in one dispatch. */
static void crowd_on(tml_context *tml)
{
    enum { CROWD = 50000, SAMPLES = 12 * 9 * 10 };
    static float points[3 * CROWD], samples[SAMPLES], expected[SAMPLES];
    uint64_t state = 11;
    for (int i = 0; i < 3 * CROWD; i++)
        points[i] = uniform(&state) * 10.0f;
    tml_field_desc desc = {.radius = 3.0, .grid = {.dims = {12, 9, 10}}}, resolved;
    const tml_buffer_desc on_host = {.type = TML_VEC(TML_F32, 3), .count = CROWD, .host = points};
    desc.points = buffer_of(tml, TML_VEC(TML_F32, 3), CROWD, points);
    tml_buffer out = buffer_of(tml, TML_F32, SAMPLES, NULL);
    field_plan *plan = NULL;
    CHECK_OK(tml, tml_field(tml, &desc, out));
    CHECK_OK(tml, tml_buffer_read(tml, out, samples));
    tml_buffer_destroy(tml, desc.points);
    CHECK_OK(tml, tml_buffer_create(tml, &on_host, &desc.points));
    CHECK_OK(tml, resolve_field(tml, &desc, &resolved, NULL));
    CHECK_OK(tml, field_plan_create(tml, &resolved, &plan));
    cpu_field_slab(plan, 0, 10, expected);
    for (int i = 0; i < SAMPLES; i++)
        CHECK_NEAR((double)samples[i], (double)expected[i], 1e-4 * (double)expected[i]);
    field_plan_destroy(tml, plan);
    tml_buffer_destroy(tml, desc.points);
    tml_buffer_destroy(tml, out);
}

/* Where the device has too little memory to bin points, of which most lie beyond the grid, the host
 * does. */
static void short_of_memory(tml_context *tml)
{
    enum { MANY = 1 << 20, SIDE = 9, LIMIT = 40 << 20 };
    static float points[3 * MANY], samples[SIDE * SIDE * SIDE], expected[SIDE * SIDE * SIDE];
    uint64_t state = 17;
    for (int i = 0; i < 3 * MANY; i++)
        points[i] = uniform(&state) * 50.0f;
    tml_device_info device;
    tml_context *limited = NULL;
    tml_context_describe(tml, &device);
    const tml_vulkan_desc vulkan = {.memory_limit = LIMIT};
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN,
                                             .device = device.name,
                                             .vulkan = &vulkan},
                            &limited));
    for (int turn = 0; turn < 2 && limited; turn++) {
        tml_context *here = turn ? limited : tml;
        tml_field_desc desc = {.radius = 2.0, .grid = {.dims = {SIDE, SIDE, SIDE}}};
        desc.points = buffer_of(here, TML_VEC(TML_F32, 3), MANY, points);
        tml_buffer out = buffer_of(here, TML_F32, SIDE * SIDE * SIDE, NULL);
        CHECK(!turn ||
              SCRATCH_OF(here, tml_field_enqueue(here, &desc, out)) + sizeof points > LIMIT);
        CHECK_OK(here, tml_field(here, &desc, out));
        CHECK_OK(here, tml_buffer_read(here, out, turn ? samples : expected));
        tml_buffer_destroy(here, desc.points);
        tml_buffer_destroy(here, out);
    }
    CHECK(expected[0] > 0 && memcmp(samples, expected, sizeof samples) == 0);
    tml_close(limited);
}

/* Runs a check on every Vulkan device. */
static void on_devices(void (*check)(tml_context *tml))
{
    tml_device_info infos[MAX_DEVICES];
    uint32_t found = 0, count = tml_devices(infos, MAX_DEVICES);
    for (uint32_t d = 0; d < count && d < MAX_DEVICES; d++) {
        tml_context *tml = NULL;
        char number[8];
        snprintf(number, sizeof number, "%u", d);
        if (infos[d].engine != TML_ENGINE_VULKAN)
            continue;
        found++;
        CHECK_OK(NULL, tml_open(&(tml_open_desc){.device = number}, &tml));
        if (tml)
            check(tml);
        tml_close(tml);
    }
    if (!found)
        SKIP("no Vulkan device");
}

static void slabs_of_both_kinds(tml_context *tml)
{
    slabs_on(tml, TML_FIELD_KERNEL_SUM);
    slabs_on(tml, TML_FIELD_DISTANCE);
}

TEST(slabs_are_the_whole_bit_for_bit)
{
    on_devices(slabs_of_both_kinds);
}

TEST(devices_short_of_memory_have_the_host_bin)
{
    on_devices(short_of_memory);
}

TEST(crowds_of_points_are_added_up)
{
    on_devices(crowd_on);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Of any radii up to the largest. */
enum { FRAME_POINTS = 4000, FRAME_ROOM = 40000, FRAME_SIDE = 40 };
enum { FRAME_SAMPLES = FRAME_SIDE * FRAME_SIDE * FRAME_SIDE };

/* What a frame reads and writes. */
typedef struct frame {
    tml_field_desc field;
    tml_surface_desc surface;
    tml_buffer samples;        /* of the field by itself */
    tml_field_mean_desc means; /* at the vertices, of the points' places and radii */
} frame;

static void frame_open(tml_context *tml, frame *f)
{
    *f = (frame){
        .field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), FRAME_POINTS, NULL),
                  .radii = buffer_of(tml, TML_F32, FRAME_POINTS, NULL),
                  .radius = 9,
                  .grid = {.dims = {FRAME_SIDE, FRAME_SIDE, FRAME_SIDE}},
                  .length.device = buffer_of(tml, TML_U32, 1, NULL)},
        .surface = {.iso = 0.6,
                    .normals = TML_NORMALS_CENTRAL,
                    .mesh = {.positions = buffer_of(tml, TML_VEC(TML_F32, 3), FRAME_ROOM, NULL),
                             .normals = buffer_of(tml, TML_VEC(TML_F32, 3), FRAME_ROOM, NULL),
                             .indices = buffer_of(tml, TML_VEC(TML_U32, 3), 2 * FRAME_ROOM, NULL)},
                    .counts = buffer_of(tml, TML_U32, 2, NULL),
                    .draw = buffer_of(tml, TML_U32, 5, NULL)},
        .samples = buffer_of(tml, TML_F32, FRAME_SAMPLES, NULL)};
    f->means.field = f->surface.field = &f->field;
    f->means.positions = f->surface.mesh.positions;
    f->means.length.device = f->surface.counts;
    f->means.values[0] = f->field.points;
    f->means.means[0] = buffer_of(tml, TML_VEC(TML_F32, 3), FRAME_ROOM, NULL);
    f->means.values[3] = f->field.radii;
    f->means.means[3] = buffer_of(tml, TML_F32, FRAME_ROOM, NULL);
}

/* Other points each turn, and fewer. */
static void frame_move(tml_context *tml, const frame *f, uint32_t turn)
{
    static float points[3 * FRAME_POINTS], radii[FRAME_POINTS];
    uint64_t state = 3 + turn;
    for (int i = 0; i < 3 * FRAME_POINTS; i++)
        points[i] = uniform(&state) * (float)FRAME_SIDE;
    for (int i = 0; i < FRAME_POINTS; i++)
        radii[i] = i % 100 == 1 ? 9.0f : 2.2f * uniform(&state);
    const uint32_t length = FRAME_POINTS - 777 * turn;
    CHECK_OK(tml, tml_buffer_write(tml, f->field.points, 0, FRAME_POINTS, points));
    CHECK_OK(tml, tml_buffer_write(tml, f->field.radii, 0, FRAME_POINTS, radii));
    CHECK_OK(tml, tml_buffer_write(tml, f->field.length.device, 0, 1, &length));
}

/* All that the frame's commands write, and the counts. */
static uint64_t frame_hash(tml_context *tml, const frame *f, uint32_t counts[2])
{
    uint32_t draw[5];
    uint64_t hash = 0;
    CHECK_OK(tml, tml_buffer_read(tml, f->surface.counts, counts));
    CHECK_OK(tml, tml_buffer_read(tml, f->surface.draw, draw));
    CHECK_EQ_U64(draw[0], 3 * counts[1]);
    CHECK(counts[0] > 1000 && counts[0] < FRAME_ROOM && counts[1] < 2 * FRAME_ROOM);
    const tml_buffer arrays[] = {f->surface.mesh.positions, f->surface.mesh.normals,
                                 f->surface.mesh.indices,   f->means.means[0],
                                 f->means.means[3],         f->samples};
    const uint64_t words[] = {3 * counts[0], 3 * counts[0], 3 * counts[1],
                              3 * counts[0], counts[0],     FRAME_SAMPLES};
    for (int a = 0; a < 6; a++) {
        uint32_t *all = fetch(tml, arrays[a], a < 4 ? words[a] / 3 : words[a]);
        for (uint64_t i = 0; i < words[a]; i++)
            hash = (hash ^ all[i]) * 0x100000001b3ull;
        free(all);
    }
    return hash;
}

static void check_refused(tml_context *tml, tml_status status, const char *word)
{
    CHECK(status != TML_OK);
    if (!strstr(tml_last_error(tml), word))
        test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", word, tml_last_error(tml));
}

/* While a command buffer is recorded, what would have to look at the points is refused, and told
 * what it lacks. */
static void refuse_to_wait(tml_context *tml, const frame *f)
{
    static float on_host[FRAME_POINTS];
    for (int what = 0; what < 3; what++) {
        tml_field_desc field = f->field;
        tml_field_mean_desc means = f->means;
        means.field = &field;
        if (what == 0)
            field.radius = 0;
        else if (what == 1)
            memset(field.grid.dims, 0, sizeof field.grid.dims);
        else
            CHECK_OK(tml,
                     tml_buffer_create(tml,
                                       &(tml_buffer_desc){
                                           .type = TML_F32, .count = FRAME_POINTS, .host = on_host},
                                       &field.radii));
        const char *word = what < 2 ? "needs radius (of radii the largest) and grid.dims"
                                    : "radii or densities lie on the host";
        check_refused(tml, tml_field_enqueue(tml, &field, f->samples), word);
        check_refused(tml, tml_field_mean_enqueue(tml, &means), word);
        means = f->means;
        means.values[3] = field.radii;
        if (what == 2) {
            check_refused(tml, tml_field_mean_enqueue(tml, &means),
                          "desc.values[3] lies on the host");
            tml_buffer_destroy(tml, field.radii);
        }
    }
}

/* Recorded once and submitted again and again, with other points in between, it makes what calls
 * make; it allocates nothing, and says so where scratch is missing. */
TEST(a_frame_makes_a_surface_of_moving_points)
{
    uint64_t allocations = 0;
    tml_context *tml = host_lend((tml_allocator){counted_alloc, counted_free, &allocations});
    if (!tml)
        SKIP("no Vulkan device");
    frame f;
    frame_open(tml, &f);
    VkCommandBuffer commands = host_commands();
    host_begin(commands);
    CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
    CHECK_STATUS(tml_field_enqueue(tml, &f.field, f.samples), TML_ERROR_SCRATCH_TOO_SMALL);
    check_refused(tml, tml_field(tml, &f.field, f.samples), "record tml_field_enqueue");
    check_refused(tml, tml_field_mean(tml, &f.means), "record tml_field_mean_enqueue");
    CHECK_STATUS(tml_surface_enqueue(tml, &f.surface), TML_ERROR_SCRATCH_TOO_SMALL);
    CHECK_STATUS(tml_field_mean_enqueue(tml, &f.means), TML_ERROR_SCRATCH_TOO_SMALL);
    refuse_to_wait(tml, &f);
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);

    size_t size = SCRATCH_OF(tml, tml_surface_enqueue(tml, &f.surface));
    CHECK(size > SCRATCH_OF(tml, tml_field_enqueue(tml, &f.field, f.samples)) &&
          SCRATCH_OF(tml, tml_field_enqueue(tml, &f.field, f.samples)));
    CHECK(SCRATCH_OF(tml, tml_field_mean_enqueue(tml, &f.means)) >
          56 * FRAME_POINTS + 16 * FRAME_ROOM);
    size = TML_MAX_OF(size, SCRATCH_OF(tml, tml_field_mean_enqueue(tml, &f.means)));
    CHECK_OK(tml, tml_reserve(tml, size));
    frame_move(tml, &f, 0); /* and the pipelines */
    CHECK_OK(tml, tml_field_enqueue(tml, &f.field, f.samples));
    CHECK_OK(tml, tml_surface_enqueue(tml, &f.surface));
    CHECK_OK(tml, tml_field_mean_enqueue(tml, &f.means));
    CHECK_OK(tml, tml_sync(tml));
    CHECK_EQ_U64(test_reserved(tml), size);

    uint64_t before = allocations;
    host_begin(commands);
    CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
    CHECK_OK(tml, tml_field_enqueue(tml, &f.field, f.samples));
    CHECK_OK(tml, tml_surface_enqueue(tml, &f.surface));
    CHECK_OK(tml, tml_field_mean_enqueue(tml, &f.means));
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
    CHECK_EQ_U64(allocations, before);
    for (uint32_t turn = 0; turn < 4; turn++) {
        uint32_t counts[2], expected[2];
        frame_move(tml, &f, turn);
        CHECK_OK(tml, tml_sync(tml));
        host_submit(commands);
        uint64_t recorded = frame_hash(tml, &f, counts);
        frame_move(tml, &f, turn + 9);
        CHECK_OK(tml, tml_surface_enqueue(tml, &f.surface));
        CHECK_OK(tml, tml_field_mean_enqueue(tml, &f.means));
        frame_move(tml, &f, turn);
        CHECK_OK(tml, tml_field_enqueue(tml, &f.field, f.samples));
        CHECK_OK(tml, tml_surface_enqueue(tml, &f.surface));
        CHECK_OK(tml, tml_field_mean_enqueue(tml, &f.means));
        CHECK_EQ_U64(frame_hash(tml, &f, expected), recorded);
    }
    VK(FreeCommandBuffers)(host.device, host.pool, 1, &commands);
    CHECK_OK(tml, tml_vulkan_forget_recordings(tml));
    host_take_back(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
