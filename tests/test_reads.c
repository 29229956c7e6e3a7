/* Reads that wait for nothing (tml_buffer_read_begin), on every device that there is. */
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "contexts.h"

#include <trommel/gl.h>
#include <trommel/trommel.h>

static uint64_t allocations;

static void on_every_device(void (*test)(tml_context *tml))
{
    enum { DEVICES = 16 };
    tml_device_info infos[DEVICES];
    uint32_t count = tml_devices(infos, DEVICES);
    for (uint32_t d = 0; d < count && d < DEVICES; d++) {
        tml_context *tml;
        char device[16];
        snprintf(device, sizeof device, "%u", d);
        if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = infos[d].engine,
                                                      .device = device,
                                                      .allocator = {counted_alloc, counted_free,
                                                                    &allocations}},
                                     &tml)))
            continue;
        test(tml);
        tml_close(tml);
    }
}

/* Polls until the read is over. */
static void finish(tml_context *tml, tml_read read, void *out)
{
    bool done = false;
    for (uint64_t polls = 0; !done; polls++)
        if (!CHECK_OK(tml, tml_buffer_read_poll(tml, read, out, &done)) ||
            !CHECK(polls < 4000000000u))
            return;
}

enum { COUNT = 70001 };

/* What was there when the read began, whatever is enqueued after it; ranges of bytes; several
 * reads, taken in another order; buffers that are destroyed meanwhile; reads of nothing. */
static void read_what_was(tml_context *tml)
{
    static uint32_t in[COUNT], sums[COUNT], got[COUNT];
    static uint8_t bytes[COUNT], part[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        in[i] = i * 2654435761u, bytes[i] = (uint8_t)(in[i] >> 13);
    tml_buffer a = buffer_of(tml, TML_U32, COUNT, in), b = buffer_of(tml, TML_U32, COUNT, NULL);
    tml_buffer c = buffer_of(tml, TML_U8, COUNT, bytes);
    tml_read first, second, third, none;
    CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){.in = a, .inclusive = true, .out = b}));
    CHECK_OK(tml, tml_buffer_read_begin(tml, b, 0, COUNT, &first));
    CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){.in = b, .out = b}));
    CHECK_OK(tml, tml_buffer_read_begin(tml, b, 1025, 40000, &second));
    CHECK_OK(tml, tml_buffer_read_begin(tml, c, 3, 33333, &third));
    CHECK_OK(tml, tml_buffer_read_begin(tml, c, COUNT, 0, &none));
    tml_buffer_destroy(tml, b);
    tml_buffer_destroy(tml, c);
    tml_buffer other = buffer_of(tml, TML_U32, COUNT, in);

    uint32_t sum = 0, outer = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        sums[i] = sum += in[i];
    finish(tml, third, part);
    CHECK(!memcmp(part, bytes + 3, 33333));
    finish(tml, first, got);
    CHECK(!memcmp(got, sums, sizeof got));
    finish(tml, none, got);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t here = sums[i];
        sums[i] = outer;
        outer += here;
    }
    CHECK_OK(tml, tml_sync(tml)); /* then it is there at once */
    bool done = false;
    CHECK_OK(tml, tml_buffer_read_poll(tml, second, got, &done));
    CHECK(done && !memcmp(got, sums + 1025, 40000 * sizeof *got));
    CHECK_OK(tml, tml_buffer_read(tml, other, got));
    CHECK(!memcmp(got, in, sizeof got));
}

/* A count of the frame before, each frame: nothing is allocated from the second one on. */
static void read_each_frame(tml_context *tml)
{
    enum { FRAMES = 40 };
    static uint8_t flags[4096];
    tml_buffer keep = buffer_of(tml, TML_U8, 4096, flags), count = buffer_of(tml, TML_U32, 1, NULL);
    tml_read read = {0, 0};
    uint64_t before = 0;
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        uint32_t kept = 0;
        memset(flags, 0, sizeof flags);
        memset(flags, 1, 10 * frame);
        if (frame == 2)
            before = allocations;
        CHECK_OK(tml, tml_buffer_write(tml, keep, 0, 4096, flags));
        CHECK_OK(tml, tml_compact(tml, &(tml_compact_desc){.keep.flags = keep, .count = count}));
        if (frame > 0)
            finish(tml, read, &kept);
        CHECK_EQ_U64(kept, frame > 0 ? 10 * (frame - 1) : 0);
        CHECK_OK(tml, tml_buffer_read_begin(tml, count, 0, 1, &read));
    }
    CHECK_EQ_U64(allocations, before);
}

/* As many as a context has, some given up, one left for tml_close. */
static void read_too_many(tml_context *tml)
{
    uint32_t in[64], got[64];
    bool done = false;
    tml_read reads[TML_MAX_READS], more;
    for (uint32_t i = 0; i < 64; i++)
        in[i] = 3 * i;
    tml_buffer a = buffer_of(tml, TML_U32, 64, in);
    for (uint32_t i = 0; i < TML_MAX_READS; i++)
        CHECK_OK(tml, tml_buffer_read_begin(tml, a, i, 2, &reads[i]));
    CHECK_STATUS(tml_buffer_read_begin(tml, a, 0, 1, &more), TML_ERROR_CAPACITY);
    CHECK(more.slot == 0 && strstr(tml_last_error(tml), "16 reads are under way"));
    CHECK_OK(tml, tml_buffer_read_poll(tml, reads[5], NULL, &done));
    CHECK(done);
    CHECK_STATUS(tml_buffer_read_poll(tml, reads[5], got, &done), TML_ERROR_INVALID_HANDLE);
    CHECK(!done);
    CHECK_OK(tml, tml_buffer_read_begin(tml, a, 0, 64, &more)); /* more than the one given up */
    CHECK_STATUS(tml_buffer_read_poll(tml, reads[5], got, &done), TML_ERROR_INVALID_HANDLE);
    finish(tml, more, got);
    CHECK(!memcmp(got, in, sizeof got));
    for (uint32_t i = 1; i < TML_MAX_READS; i++)
        if (i != 5) {
            finish(tml, reads[i], got);
            CHECK(got[0] == 3 * i && got[1] == 3 * i + 3);
        }
    const tml_read wrong[] = {{0, 0}, {TML_MAX_READS + 1, 1}, {1, reads[0].generation + 2}, {2, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_STATUS(tml_buffer_read_poll(tml, wrong[i], got, &done), TML_ERROR_INVALID_HANDLE);
    CHECK_STATUS(tml_buffer_read_begin(tml, a, 60, 5, &more), TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(tml_buffer_read_begin(tml, (tml_buffer){0, 0}, 0, 0, &more),
                 TML_ERROR_INVALID_HANDLE);
}

TEST(reads_bring_what_was_there)
{
    on_every_device(read_what_was);
}

TEST(a_count_of_the_frame_before)
{
    on_every_device(read_each_frame);
}

TEST(reads_under_way_are_limited)
{
    on_every_device(read_too_many);
}

TEST(reads_in_the_float_tier_are_refused)
{
    tml_context *tml;
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL,
                                  .gl = &(tml_gl_desc){.path = TML_GL_PATH_FLOAT}},
                 &tml))
        SKIP("no OpenGL ES device with float textures");
    tml_read read;
    CHECK_STATUS(tml_buffer_read_begin(tml, buffer_of(tml, TML_F32, 4, NULL), 0, 4, &read),
                 TML_ERROR_UNSUPPORTED);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
