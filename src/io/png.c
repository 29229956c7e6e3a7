/* PNG pictures, through libspng. */
#include <inttypes.h>
#include <spng.h>

#include "io/io_internal.h"

static int write_piece(spng_ctx *png, void *user, void *data, size_t size)
{
    (void)png;
    return tml_io_write(user, data, size) ? 0 : SPNG_IO_ERROR;
}

tml_status tml_png_save(tml_context *tml, const char *path, const uint8_t *rgba, uint32_t width,
                        uint32_t height)
{
    static const char call[] = "tml_png_save";
    const uint32_t largest = 1u << 30; /* rows of four bytes a pixel stay below 4 GiB */
    if (!rgba || width == 0 || height == 0 || width >= largest || height >= largest)
        return tml_error(tml, TML_INVALID_ARGUMENT,
                         "%s: the picture is %" PRIu32 " x %" PRIu32 "%s, needs 1 to %" PRIu32
                         " pixels each way",
                         call, width, height, rgba ? "" : " without pixels", largest - 1);
    io_writer writer;
    tml_status status = tml_io_create(tml, call, path, 0, &writer);
    if (status != TML_OK)
        return status;
    struct spng_ihdr header = {.width = width,
                               .height = height,
                               .bit_depth = 8,
                               .color_type = SPNG_COLOR_TYPE_TRUECOLOR_ALPHA};
    spng_ctx *png = spng_ctx_new(SPNG_CTX_ENCODER);
    int code = png ? spng_set_png_stream(png, write_piece, &writer) : SPNG_EMEM;
    if (code == SPNG_OK)
        code = spng_set_ihdr(png, &header);
    if (code == SPNG_OK)
        code = spng_set_srgb(png, 0); /* sRGB, perceptual */
    if (code == SPNG_OK)
        code = spng_encode_image(png, rgba, (size_t)width * height * 4, SPNG_FMT_PNG,
                                 SPNG_ENCODE_FINALIZE);
    spng_ctx_free(png);
    if (code != SPNG_OK && writer.status == TML_OK)
        status = tml_error(tml, code == SPNG_EMEM ? TML_OUT_OF_MEMORY : TML_INTERNAL, "%s: %s: %s",
                           call, path, spng_strerror(code));
    return tml_io_finish(&writer, status);
}
