/* The picture of a compaction's HistoPyramid (trommel/gl.h). */
#include <trommel/gl.h>
#include <trommel/trommel.h>

#include "test.h"

#include <trommel/kernel_begin.h>

TML_KERNEL(bool, is_below, (tml_index i, tml_params p), { return U(i) < p.u[0]; })

#include <trommel/kernel_end.h>

static const uint32_t none = 0xff180808, all = 0xffa4fffc, white = 0xffffffff;

static uint32_t pixel_at(const uint8_t *rgba, uint64_t i)
{
    const uint8_t *p = rgba + 4 * i;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Paints the first kept of count elements as kept. Returns the pixels; NULL: failed. */
static uint8_t *paint(tml_context *tml, uint32_t count, uint32_t kept, uint32_t *width,
                      uint32_t *height)
{
    tml_buffer total;
    tml_gl_pyramid_picture_size(count, width, height);
    uint8_t *rgba = malloc((size_t)*width * *height * 4);
    if (!rgba || !CHECK_OK(tml, tml_buffer_create(
                                    tml, &(tml_buffer_desc){.type = TML_U32, .count = 1}, &total)))
        return NULL;
    uint32_t counted = 0;
    CHECK_OK(tml, tml_gl_pyramid_picture(
                      tml,
                      &(tml_compact_desc){.keep = {.kernel = TML_USE(is_below), .params.u = {kept}},
                                          .length.count = count,
                                          .count = total},
                      rgba));
    CHECK_OK(tml, tml_buffer_read(tml, total, &counted));
    CHECK_EQ_U64(counted, kept);
    tml_buffer_destroy(tml, total);
    return rgba;
}

TEST(colours_say_how_much_is_kept)
{
    tml_context *tml;
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL}, &tml))
        SKIP("no OpenGL ES device");
    static const uint32_t counts[] = {1, 1000, 300007};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (uint32_t keeps = 0; keeps < 2; keeps++) {
            uint32_t width, height;
            uint8_t *rgba = paint(tml, counts[c], keeps * counts[c], &width, &height);
            uint64_t painted = 0;
            for (uint64_t i = 0; rgba && i < (uint64_t)width * height; i++) {
                uint32_t pixel = pixel_at(rgba, i);
                painted += pixel != white;
                if (pixel != white && !CHECK_EQ_U64(pixel, keeps ? all : none))
                    break;
            }
            CHECK(painted > width);
            free(rgba);
        }
    tml_close(tml);
}

/* Of two quarters of the stream, light and dark, the base shows light before dark, and the apex is in
 * between. */
TEST(the_stream_runs_from_left_to_right)
{
    tml_context *tml;
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL}, &tml))
        SKIP("no OpenGL ES device");
    uint32_t width, height;
    uint8_t *rgba = paint(tml, 1 << 14, 1 << 13, &width, &height);
    if (rgba) {
        uint32_t first = 0, last = height - 1;
        while (pixel_at(rgba, (uint64_t)first * width + width / 2) == white)
            first++;
        while (pixel_at(rgba, (uint64_t)last * width) == white)
            last--;
        uint32_t apex = pixel_at(rgba, (uint64_t)first * width + width / 4);
        CHECK(apex != all && apex != none);
        CHECK_EQ_U64(pixel_at(rgba, (uint64_t)last * width + 1), all);
        CHECK_EQ_U64(pixel_at(rgba, (uint64_t)last * width + width - 3), none);
    }
    free(rgba);
    tml_close(tml);
}

TEST(other_engines_have_no_picture)
{
    tml_context *tml;
    uint8_t rgba[4];
    if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml)))
        return;
    CHECK_STATUS(tml_gl_pyramid_picture(tml, &(tml_compact_desc){.length.count = 1}, rgba),
                 TML_ERROR_UNSUPPORTED);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
