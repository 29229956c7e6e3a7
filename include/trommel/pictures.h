/* Pictures from and to files: Radiance, PFM, PNG, JPEG and OpenEXR (docs/formats.md).
 *
 *     tml_picture picture;
 *     status = tml_picture_load(tml, "room.hdr", NULL, &picture);
 *     ... picture.width, picture.height, picture.data
 *     status = tml_picture_save(tml, "room.exr", &picture);
 *     tml_picture_free(tml, &picture);
 *
 * image.h computes with pictures in buffers. */
#ifndef TROMMEL_PICTURES_H
#define TROMMEL_PICTURES_H

#include <trommel/files.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A picture in host memory, in the machine's byte order: rows from the top, pixels from the left,
 * channels interleaved, no gaps.
 * data      size bytes
 * size      as a picture to save, 0: as many as the other fields say
 * type      u8, u16, f16 or f32
 * width     at least 1
 * height    at least 1
 * channels  1: grey; 2: grey and alpha; 3: red, green, blue; 4: red, green, blue, alpha
 * srgb      u8 and u16: samples are coded as sRGB; otherwise linear, the largest integer being 1
 * x, y      place of the pixels in the whole picture: OpenEXR's data window in its display window.
 *           Other formats: 0
 * full_width, full_height   size of the whole picture
 * format    "Radiance", "PFM", "PNG", "JPEG", "OpenEXR"; saving uses it if the path has no ending
 * comment   other facts for people; may be empty */
typedef struct tml_picture {
    void *data;
    size_t size;
    tml_type type;
    uint32_t width, height;
    uint32_t channels;
    bool srgb;
    int32_t x, y;
    uint32_t full_width, full_height;
    char format[16];
    char comment[96];
} tml_picture;

/* Reads a picture; the format is found by content. docs/formats.md says what each format's samples
 * mean. Values of Radiance are divided by the file's EXPOSUREs and COLORCORRs. JPEG is turned
 * upright as its Exif orientation says. PNG with another function than sRGB's or a linear one
 * becomes f32 of linear light. OpenEXR is f16 if all its channels are half, else f32.
 * desc  optional: memory_limit and strict are used
 * out   released by tml_picture_free
 * Errors: FILE_ACCESS, FILE_FORMAT (also if the file ends early), UNSUPPORTED (with the remedy),
 *         OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_picture_load(tml_context *tml, const char *path,
                                                   const tml_load_desc *desc, tml_picture *out);
/* Releases a picture that tml_picture_load made. NULL is allowed. */
TML_API void tml_picture_free(tml_context *tml, tml_picture *picture);

/* Writes a picture.
 * path     .png (u8, u16), .pfm (f16, f32 of 1 or 3 channels), .hdr (as .pfm; rounds to nearest;
 *          grey becomes colour, negative numbers and NaN become 0) or .exr (f16, f32; unchanged).
 *          Without an ending: picture->format decides
 * picture  type, width, height, channels, srgb and data are used
 * Errors: FILE_ACCESS, UNSUPPORTED (another ending, or the format does not hold the type or the
 *         channels), INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_picture_save(tml_context *tml, const char *path,
                                                   const tml_picture *picture);

#ifdef __cplusplus
}
#endif
#endif
