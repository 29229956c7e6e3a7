/* Surfaces of volumes that do not fit a Vulkan device: in slabs, to the bit as in one piece. The
 * surfaces themselves are in test_surface. */
#include "core/testing.h"

#include "test.h"

#include "surface/surface_internal.h"
#include "vulkan/vulkan_device.h"

enum { NX = 37, NY = 22, NZ = 41, SAMPLES = NX * NY * NZ, SLICE = NX * NY, MAX_DEVICES = 8 };

/* ---- volumes --------------------------------------------------------------------------------- */

static uint32_t hash(uint32_t i)
{
    i = (i ^ (i >> 16)) * 0x7feb352du;
    i = (i ^ (i >> 15)) * 0x846ca68bu;
    return i ^ (i >> 16);
}

/* Waves with some noise, so that surfaces cross every layer and most seams are ragged; -1 ... 1. */
static double wave_at(uint32_t i)
{
    double x = i % NX, y = i / NX % NY, z = i / SLICE;
    double noise = (double)(hash(i) >> 8) * 0x1p-24 - 0.5;
    return 0.3 * (sin(0.4 * x) + sin(0.5 * y) + sin(0.45 * z)) + 0.2 * noise;
}

typedef struct volume {
    float f32[SAMPLES];
    uint8_t u8[SAMPLES], mask[SAMPLES];
    uint16_t u16[SAMPLES];
    int64_t i64[SAMPLES];
    float attribute[SAMPLES];
} volume;
static volume v;

static void *make_volume(tml_type type, double nan_share)
{
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double value = wave_at(i);
        bool is_nan = (hash(i + 77) >> 8) * 0x1p-24 < nan_share;
        v.f32[i] = is_nan ? NAN : (float)value;
        v.u8[i] = (uint8_t)(127.5 + 120 * value);
        v.u16[i] = (uint16_t)(3.0 + 1.5 * value); /* labels 1 ... 4 */
        v.i64[i] = (int64_t)(1e6 * value);
        v.mask[i] = hash(i + 5) % 29 != 0;
        v.attribute[i] = (float)(i % 1000);
    }
    return type == TML_F32   ? (void *)v.f32
           : type == TML_U8  ? (void *)v.u8
           : type == TML_U16 ? (void *)v.u16
                             : (void *)v.i64;
}

/* ---- meshes ---------------------------------------------------------------------------------- */

typedef struct mesh {
    tml_surface_result result; /* its counts and parts */
    void *arrays[4];
    size_t sizes[4];
} mesh;

static void mesh_free(tml_context *tml, mesh *m)
{
    tml_surface_free(tml, &m->result);
    for (int i = 0; i < 4; i++)
        free(m->arrays[i]);
    *m = (mesh){0};
}

static tml_status mesh_make(tml_context *tml, const tml_surface_desc *desc, mesh *m)
{
    *m = (mesh){0};
    tml_status status = tml_surface(tml, desc, &m->result);
    const tml_buffer buffers[4] = {m->result.mesh.positions, m->result.mesh.normals,
                                   m->result.mesh.values, m->result.mesh.indices};
    for (int i = 0; i < 4 && status == TML_OK; i++) {
        tml_type type;
        uint64_t count;
        if (tml_buffer_is_none(buffers[i]))
            continue;
        CHECK(tml_buffer_describe(tml, buffers[i], &type, &count));
        m->sizes[i] = (size_t)count * tml_type_size(type);
        m->arrays[i] = malloc(m->sizes[i] + 1);
        CHECK_OK(tml, tml_buffer_read(tml, buffers[i], m->arrays[i]));
    }
    return status;
}

static bool mesh_equals(const mesh *a, const mesh *b)
{
    static const char *const names[] = {"vertices", "normals", "values", "indices"};
    bool same = CHECK_EQ_U64(a->result.vertex_count, b->result.vertex_count) &&
                CHECK_EQ_U64(a->result.triangle_count, b->result.triangle_count) &&
                CHECK_EQ_U64(a->result.active_cells, b->result.active_cells) &&
                CHECK_EQ_U64(a->result.part_count, b->result.part_count) &&
                CHECK(memcmp(a->result.parts, b->result.parts,
                             a->result.part_count * sizeof *a->result.parts) == 0);
    for (int i = 0; i < 4 && same; i++)
        if (a->sizes[i] != b->sizes[i] ||
            (a->sizes[i] && memcmp(a->arrays[i], b->arrays[i], a->sizes[i]) != 0))
            same = test_fail(__FILE__, __LINE__, "the %s differ", names[i]);
    return same;
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Calls of the progress hook while counting: one a slab, or one a part. */
static uint32_t slabs_counted;

static bool count_slabs(void *user, const char *stage, double fraction)
{
    (void)user;
    (void)fraction;
    slabs_counted += strcmp(stage, "counts") == 0;
    return true;
}

/* Room for everything here, and so little that no piece of memory is more than was asked for. */
enum { AMPLE_ROOM = 24 << 20 };

/* What the context may take beside what it has taken. The arena is not kept. */
static void set_room(tml_context *tml, uint64_t room)
{
    vk_memory *memory = &vk_device_of(tml)->memory;
    tml_scratch_release(tml);
    memory->limit = memory->used + room;
}

/* Buffers for the expected mesh, so that what room is left is scratch's. */
static void make_outputs(tml_context *tml, const mesh *expected, tml_surface_desc *desc)
{
    tml_buffer *const outputs[4] = {&desc->mesh.positions, &desc->mesh.normals, &desc->mesh.values,
                                    &desc->mesh.indices};
    const tml_type types[4] = {desc->layout.stride ? TML_RECORD(desc->layout.stride)
                                                   : TML_VEC(TML_F32, 3),
                               TML_VEC(TML_F32, 3), TML_F32,
                               TML_VEC(desc->indices64          ? TML_U64
                                       : desc->layout.indices16 ? TML_U16
                                                                : TML_U32,
                                       3)};
    for (int i = 0; i < 4; i++)
        if (expected->sizes[i]) {
            const tml_buffer_desc buffer = {.type = types[i],
                                            .count = expected->sizes[i] / tml_type_size(types[i])};
            CHECK_OK(tml, tml_buffer_create(tml, &buffer, outputs[i]));
        }
}

/* Ever less room, until even a slab of one layer finds none: the mesh must stay what expected
 * is. */
static void check_rooms(tml_context *tml, const char *what, const tml_surface_desc *desc,
                        const mesh *expected, uint64_t room, uint32_t fewest_slabs)
{
    uint32_t most = 0, runs = 0;
    for (;; room -= room / 5) {
        mesh m;
        tml_surface_desc with_outputs = *desc;
        set_room(tml, AMPLE_ROOM);
        make_outputs(tml, expected, &with_outputs);
        set_room(tml, room);
        slabs_counted = 0;
        tml_status status = mesh_make(tml, &with_outputs, &m);
        bool same = status != TML_OK || mesh_equals(expected, &m);
        mesh_free(tml, &m);
        tml_buffer_destroy(tml, with_outputs.mesh.positions);
        tml_buffer_destroy(tml, with_outputs.mesh.normals);
        tml_buffer_destroy(tml, with_outputs.mesh.values);
        tml_buffer_destroy(tml, with_outputs.mesh.indices);
        if (status == TML_ERROR_OUT_OF_DEVICE_MEMORY) {
            CHECK(strstr(tml_last_error(tml), "bytes") != NULL);
            break;
        }
        if (!CHECK_OK(tml, status) || !same) {
            test_fail(__FILE__, __LINE__, "%s in %" PRIu64 " bytes, %" PRIu32 " slabs", what, room,
                      slabs_counted);
            break;
        }
        most = slabs_counted > most ? slabs_counted : most;
        runs++;
    }
    set_room(tml, AMPLE_ROOM);
    if (most < fewest_slabs || runs < 4)
        test_fail(__FILE__, __LINE__, "%s: at most %" PRIu32 " slabs in %" PRIu32 " runs", what,
                  most, runs);
}

static tml_buffer lend_host(tml_context *tml, tml_type type, const void *memory)
{
    tml_buffer buffer;
    const tml_buffer_desc desc = {
        .type = type, .count = SAMPLES, .host = (void *)(uintptr_t)memory};
    CHECK_OK(tml, tml_buffer_create(tml, &desc, &buffer));
    return buffer;
}

static tml_buffer copy_of(tml_context *tml, tml_type type, const void *memory)
{
    tml_buffer buffer;
    const tml_buffer_desc desc = {.type = type, .count = SAMPLES, .data = memory};
    CHECK_OK(tml, tml_buffer_create(tml, &desc, &buffer));
    return buffer;
}

/* The volume, its mask and its attribute on the device, and then on the host. */
static void check_volume(tml_context *tml, const char *what, tml_surface_desc desc, tml_type type,
                         double nan_share, bool masked, bool attributed, uint32_t fewest_slabs)
{
    void *samples = make_volume(type, nan_share);
    tml_surface_desc device = desc, host = desc;
    const uint64_t dims[3] = {NX, NY, NZ};
    memcpy(device.grid.dims, dims, sizeof dims);
    memcpy(host.grid.dims, dims, sizeof dims);
    device.volume = copy_of(tml, type, samples);
    host.volume = lend_host(tml, type, samples);
    if (masked) {
        device.mask = copy_of(tml, TML_U8, v.mask);
        host.mask = lend_host(tml, TML_U8, v.mask);
    }
    if (attributed) {
        device.attribute = copy_of(tml, TML_F32, v.attribute);
        host.attribute = lend_host(tml, TML_F32, v.attribute);
    }
    mesh expected;
    CHECK_OK(tml, mesh_make(tml, &device, &expected));
    CHECK(expected.result.triangle_count > 1000);
    size_t whole = expected.result.scratch_size + SAMPLES * tml_type_size(type);
    uint64_t room = 2 * whole;
    check_rooms(tml, what, &host, &expected, room, fewest_slabs);
    check_rooms(tml, what, &device, &expected, room, 1);
    mesh_free(tml, &expected);
    tml_buffer_destroy(tml, device.volume);
    tml_buffer_destroy(tml, device.mask);
    tml_buffer_destroy(tml, device.attribute);
    tml_buffer_destroy(tml, host.volume);
    tml_buffer_destroy(tml, host.mask);
    tml_buffer_destroy(tml, host.attribute);
}

static void check_field(tml_context *tml)
{
    enum { POINTS = 200 };
    static float points[3 * POINTS];
    for (uint32_t i = 0; i < 3 * POINTS; i++)
        points[i] = (float)((hash(i) >> 8) * 0x1p-24 * (i % 3 == 0 ? NX : i % 3 == 1 ? NY : NZ));
    tml_buffer buffer;
    CHECK_OK(tml,
             tml_buffer_create(
                 tml,
                 &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3), .count = POINTS, .host = points},
                 &buffer));
    const tml_field_desc field = {
        .points = buffer, .radius = 5, .grid = {.dims = {NX, NY, NZ}, .spacing = {1, 1, 1}}};
    const tml_surface_desc desc = {
        .field = &field, .iso = 0.3, .normals = TML_NORMALS_CENTRAL, .caps = true};
    mesh expected;
    CHECK_OK(tml, mesh_make(tml, &desc, &expected));
    check_rooms(tml, "field", &desc, &expected, 2 * expected.result.scratch_size + (1 << 20), 5);
    mesh_free(tml, &expected);
    tml_buffer_destroy(tml, buffer);
}

/* Runs a check on every Vulkan device; staged: without the short way into mapped memory. */
static void on_devices(void (*check)(tml_context *tml), bool staged)
{
    tml_device_info devices[MAX_DEVICES];
    uint32_t count = tml_devices(devices, MAX_DEVICES), used = 0;
    for (uint32_t d = 0; d < count && d < MAX_DEVICES; d++) {
        if (devices[d].engine != TML_ENGINE_VULKAN)
            continue;
        char number[12];
        snprintf(number, sizeof number, "%" PRIu32, d);
        tml_context *tml = NULL;
        const tml_vulkan_desc vulkan = {.memory_limit = AMPLE_ROOM};
        const tml_testing testing = {.vulkan_staging = staged};
        const tml_open_desc desc = {.engine = TML_ENGINE_VULKAN,
                                    .device = number,
                                    .vulkan = &vulkan,
                                    .progress = count_slabs};
        if (!CHECK_OK(NULL, tml_open_testing(&desc, &testing, &tml)))
            continue;
        check(tml);
        tml_close(tml);
        used++;
    }
    if (!used)
        SKIP("there is no Vulkan device");
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void normals_of_all_kinds(tml_context *tml)
{
    static const tml_normals kinds[] = {TML_NORMALS_NONE, TML_NORMALS_FORWARD, TML_NORMALS_CENTRAL,
                                        TML_NORMALS_SOBEL};
    for (size_t i = 0; i < TML_ARRAY_SIZE(kinds); i++)
        check_volume(tml, "normals", (tml_surface_desc){.normals = kinds[i]}, TML_F32, 0, false,
                     false, 10);
}

TEST(slabs_keep_normals)
{
    on_devices(normals_of_all_kinds, false);
}

static void caps_masks_and_missing_samples(tml_context *tml)
{
    const tml_surface_desc capped = {.caps = true, .normals = TML_NORMALS_CENTRAL};
    const tml_surface_desc region = {
        .caps = true, .region = {.first = {3, 1, 5}, .count = {30, 17, 29}}, .flip = true};
    check_volume(tml, "caps", capped, TML_F32, 0, false, false, 10);
    check_volume(tml, "caps of a region, masked", region, TML_F32, 0.01, true, false, 5);
    check_volume(tml, "missing", (tml_surface_desc){.normals = TML_NORMALS_SOBEL}, TML_F32, 0.02,
                 false, true, 5);
    check_volume(tml, "mask", (tml_surface_desc){.iso = 120, .indices64 = true}, TML_U8, 0, true,
                 true, 5);
    check_volume(tml, "records",
                 (tml_surface_desc){.normals = TML_NORMALS_CENTRAL,
                                    .layout = {.stride = 20,
                                               .position_offset = 4,
                                               .value_offset = 16,
                                               .octahedral_normals = true,
                                               .indices16 = true}},
                 TML_F32, 0.02, false, true, 5);
}

static void topology(tml_context *tml)
{
    const tml_surface_desc trilinear = {.topology = TML_TOPOLOGY_TRILINEAR,
                                        .normals = TML_NORMALS_CENTRAL};
    tml_surface_desc capped = trilinear;
    capped.caps = true;
    capped.iso = 0.3;
    check_volume(tml, "topology", trilinear, TML_F32, 0, false, true, 5);
    check_volume(tml, "topology, capped and masked", capped, TML_F32, 0.02, true, false, 5);
}

TEST(slabs_keep_topology)
{
    on_devices(topology, false);
}

TEST(slabs_keep_caps_masks_and_missing_samples)
{
    on_devices(caps_masks_and_missing_samples, false);
}

static void isovalues_and_labels(tml_context *tml)
{
    static const double isovalues[] = {0.2, -0.3, 5, 0};
    static const uint64_t labels[] = {2, 3};
    check_volume(tml, "isovalues", (tml_surface_desc){.isovalues = isovalues, .isovalue_count = 4},
                 TML_F32, 0, false, false, 10);
    check_volume(tml, "whole numbers", (tml_surface_desc){.iso = 1234.5}, TML_I64, 0, false, false,
                 10);
    check_volume(
        tml, "labels",
        (tml_surface_desc){
            .labels = labels, .label_count = 2, .normals = TML_NORMALS_CENTRAL, .caps = true},
        TML_U16, 0, false, false, 5);
    check_volume(tml, "all labels", (tml_surface_desc){.all_labels = true}, TML_U16, 0, false,
                 false, 5);
}

TEST(slabs_keep_isovalues_and_labels)
{
    on_devices(isovalues_and_labels, false);
}

TEST(slabs_of_a_field)
{
    on_devices(check_field, false);
}

static void through_staging(tml_context *tml)
{
    check_volume(tml, "odd bytes", (tml_surface_desc){.iso = 120}, TML_U8, 0, false, false, 5);
}

TEST(slabs_through_staging)
{
    on_devices(through_staging, true);
}

/* The call's own outputs come after counting: scratch makes way for them, and emitting does with
 * what they leave. Where they do not fit at all, the call says how large they are. */
static void outputs_before_scratch(tml_context *tml)
{
    const tml_surface_desc desc = {.volume = lend_host(tml, TML_F32, make_volume(TML_F32, 0)),
                                   .grid = {.dims = {NX, NY, NZ}},
                                   .normals = TML_NORMALS_CENTRAL};
    mesh expected, m;
    CHECK_OK(tml, mesh_make(tml, &desc, &expected));
    uint64_t size = 0;
    for (int i = 0; i < 4; i++)
        size += expected.sizes[i];
    CHECK(size > 2 * expected.result.scratch_size);
    set_room(tml, size + 2 * expected.result.scratch_size / 3);
    CHECK_OK(tml, mesh_make(tml, &desc, &m));
    CHECK_EQ_U64(m.result.scratch_size, expected.result.scratch_size);
    CHECK(test_reserved(tml) < expected.result.scratch_size);
    mesh_equals(&expected, &m);
    mesh_free(tml, &m);
    set_room(tml, size / 2);
    CHECK_STATUS(mesh_make(tml, &desc, &m), TML_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(strstr(tml_last_error(tml), "the mesh is") != NULL);
    set_room(tml, AMPLE_ROOM);
    mesh_free(tml, &expected);
    tml_buffer_destroy(tml, desc.volume);
}

TEST(outputs_come_before_scratch)
{
    on_devices(outputs_before_scratch, false);
}

/* Boundaries of labels where the device has room for them, where it has not, and the host makes
 * them, and in between. */
static void boundaries_in_rooms(tml_context *tml)
{
    const tml_surface_labels_desc desc = {.volume =
                                              lend_host(tml, TML_U16, make_volume(TML_U16, 0)),
                                          .grid = {.dims = {NX, NY, NZ}},
                                          .smooth = 3};
    static const uint64_t rooms[] = {AMPLE_ROOM, 1 << 20, 1 << 21, 1 << 22, AMPLE_ROOM};
    void *expected = NULL;
    for (size_t i = 0; i < TML_ARRAY_SIZE(rooms); i++) {
        tml_surface_result net;
        set_room(tml, rooms[i]);
        tml_status status = tml_surface_labels(tml, &desc, &net);
        if (status != TML_OK) { /* no room for the mesh either */
            CHECK(status == TML_ERROR_OUT_OF_DEVICE_MEMORY && i > 0 && rooms[i] < AMPLE_ROOM);
            continue;
        }
        const size_t size = 12 * net.vertex_count;
        void *positions = malloc(size);
        CHECK_OK(tml, tml_buffer_read(tml, net.mesh.positions, positions));
        CHECK(size > 0 && (!expected || memcmp(positions, expected, size) == 0));
        free(expected);
        expected = positions;
        tml_surface_free(tml, &net);
    }
    free(expected);
    tml_buffer_destroy(tml, desc.volume);
}

TEST(boundaries_of_labels_in_any_room)
{
    on_devices(boundaries_in_rooms, false);
}

static void host_buffers(tml_context *tml)
{
    static uint32_t memory[1000], back[1000];
    for (uint32_t i = 0; i < 1000; i++)
        memory[i] = i;
    tml_buffer buffer, out;
    CHECK_OK(tml,
             tml_buffer_create(
                 tml, &(tml_buffer_desc){.type = TML_U32, .count = 1000, .host = memory}, &buffer));
    CHECK_OK(tml, tml_buffer_read(tml, buffer, back));
    CHECK(memcmp(memory, back, sizeof memory) == 0);
    const uint32_t seven = 7;
    CHECK_OK(tml, tml_buffer_write(tml, buffer, 3, 1, &seven));
    CHECK_EQ_U64(memory[3], 7);
    void *mapped = NULL;
    CHECK_OK(tml, tml_buffer_map(tml, buffer, &mapped));
    CHECK(mapped == memory);
    tml_buffer_unmap(tml, buffer);
    CHECK_OK(tml, tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 1000}, &out));
    CHECK_STATUS(tml_scan(tml, &(tml_scan_desc){.in = buffer, .out = out}), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "lies on the host") != NULL);
    const tml_surface_desc enqueue = {
        .volume = buffer, .grid = {.dims = {10, 10, 10}}, .mesh.positions = out};
    CHECK_STATUS(tml_surface_enqueue(tml, &enqueue), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "lies on the host") != NULL);
    tml_buffer_destroy(tml, buffer);
    tml_buffer_destroy(tml, out);
    CHECK_EQ_U64(memory[999], 999);
}

TEST(buffers_may_stay_on_the_host)
{
    on_devices(host_buffers, false);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
