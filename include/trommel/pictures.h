/* trommel-io: pictures from and to files. */
#ifndef TROMMEL_PICTURES_H
#define TROMMEL_PICTURES_H

#include <trommel/files.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pictures ------------------------------------------------------------------------------- */

/* A picture in host memory: rows from the top, pixels from the left, colours interleaved, no gaps,
 * in the machine's byte order. What tml_image (trommel/image.h) describes in a buffer. */
typedef struct tml_picture {
    void *data;
    size_t size;            /* bytes in data */
    tml_type type;          /* u8, u16, f16 or f32 */
    uint32_t width, height; /* at least 1 */
    uint32_t channels;      /* 1: grey, 2: grey and alpha, 3: red, green, blue, 4: and alpha */
    bool srgb; /* u8 and u16: coded as sRGB; false: linear, the largest integer being 1 */
    /* Where the pixels lie in the picture as it is meant to be shown, which is full_width x
     * full_height: an OpenEXR file's data window in its display window. Elsewhere 0, 0 and the
     * picture's own size. */
    int32_t x, y;
    uint32_t full_width, full_height;
    char format[16];  /* "Radiance", "PFM", "PNG", "JPEG", "OpenEXR" */
    char comment[96]; /* what else a person would like to know; may be empty */
} tml_picture;

/* Reads, by content:
 *   Radiance  .hdr .pic: RGBE flat and in both run-length forms, all eight orientations; f32, 3
 *             channels. A mantissa m and exponent e are m * 2^(e - 136), divided by the header's
 *             EXPOSUREs and COLORCORRs, so that values are radiances again. XYZE: UNSUPPORTED
 *   PFM       colour and grey, both byte orders; f32. The scale's size is told in comment, not
 *             applied
 *   PNG       u8 (1 to 8 bits, palettes) or u16. srgb unless the file says otherwise, by cICP,
 *             iCCP, sRGB or gAMA, in this order; linear ones are not srgb; of another function (PQ,
 *             HLG, BT.709, a gamma) f32 of linear light. PQ: 1 is 203 cd/m2. HLG: light of the
 *             scene, 1 being that of a signal of 75 %. Primaries stay; where they are not sRGB's,
 *             the log says so as a warning, as of ICC profiles, which are not applied
 *   JPEG      u8, grey or colour, turned upright as its Exif orientation says. CMYK: UNSUPPORTED
 *   OpenEXR   one part of scan lines or tiles (the finest level), with channels R, G, B and
 *             perhaps A, or Y and perhaps A, or a single one of any name: f16 if all are half,
 *             else f32. Other channels are
 *             left out and named in comment. Compression none, RLE, ZIPS, ZIP, PIZ, PXR24.
 *             Several parts, deep pixels, subsampled channels, B44 and DWA: UNSUPPORTED, with
 *             how to convert.
 * JPEG and OpenEXR are there where the build found their libraries (TML_JPEG, TML_EXR).
 * memory_limit refuses pictures of more bytes than that; 0: no limit beyond malloc. The
 * libraries for PNG, JPEG and OpenEXR take their own working memory from malloc. Release with
 * tml_picture_free. Errors: FILE_ACCESS, FILE_FORMAT (also where a file ends early: no part of a
 * picture is returned), UNSUPPORTED, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_picture_load(tml_context *tml, const char *path,
                                                   const tml_load_desc *desc,
                                                   tml_picture *out);
TML_API void tml_picture_free(tml_context *tml, tml_picture *picture);
/* Writes PNG (u8 and u16), PFM (f16 and f32 of 1 or 3 channels), Radiance .hdr (the same; grey
 * becomes three equal colours; to nearest, negative and NaN become 0), or OpenEXR (f16 and f32, as
 * they are, scan lines in ZIP; where the build found its library) by the name's ending. Of the
 * picture type, size, channels, srgb and data are used.
 * Errors: FILE_ACCESS, UNSUPPORTED (ending unknown, or a type or number of channels that the format
 * cannot hold), INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_picture_save(tml_context *tml, const char *path,
                                                   const tml_picture *picture);

#ifdef __cplusplus
}
#endif
#endif
