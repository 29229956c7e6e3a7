/* Converts pictures to linear light. A reader undoes any transfer function but sRGB's, and stores
 * floats of linear light. Functions and their numbers are those of ITU-T H.273, which PNG's cICP
 * chunk uses; PQ and HLG are those of ITU-R BT.2100. Colours keep their primaries and white; a
 * warning says so if these are not sRGB's. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "io/pictures/picture_internal.h"

/* HDR reference white (ITU-R BT.2408): its luminance in cd/m2, and its signal in HLG. */
static const double white = 203, hlg_white = 0.75;

static double undo_pq(double signal)
{
    const double m1 = 2610 / 16384.0, m2 = 2523 / 4096.0 * 128;
    const double c1 = 3424 / 4096.0, c2 = 2413 / 4096.0 * 32, c3 = 2392 / 4096.0 * 32;
    double power = pow(signal, 1 / m2), above = power - c1;
    return above <= 0 ? 0 : 10000 / white * pow(above / (c2 - c3 * power), 1 / m1);
}

static double undo_hlg(double signal)
{
    const double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * log(4 * a);
    return signal <= 0.5 ? signal * signal / 3 : (exp((signal - c) / a) + b) / 12;
}

static double undo_bt709(double signal)
{
    return signal < 0.0812428583 ? signal / 4.5
                                 : pow((signal + 0.0992968268) / 1.0992968268, 1 / 0.45);
}

static double undo_srgb(double signal)
{
    return signal <= 0.04045 ? signal / 12.92 : pow((signal + 0.055) / 1.055, 2.4);
}

bool tml_picture_transfer(uint32_t number, picture_light *out)
{
    *out = (picture_light){.function = number, .low = 0, .high = 1};
    switch (number) {
    case 1:
    case 6:
    case 14:
    case 15:
        out->name = "BT.709";
        return true;
    case 4:
        out->name = "gamma 2.2";
        out->exponent = 2.2;
        return true;
    case 5:
        out->name = "gamma 2.8";
        out->exponent = 2.8;
        return true;
    case PICTURE_LINEAR:
        out->name = "linear";
        out->exponent = 1;
        return true;
    case PICTURE_SRGB:
        out->name = "sRGB";
        return true;
    case PICTURE_PQ:
        out->name = "PQ";
        return true;
    case 17:
        out->name = "SMPTE ST 428";
        out->exponent = 2.6;
        return true;
    case PICTURE_HLG:
        out->name = "HLG";
        return true;
    default:
        return false;
    }
}

static double undo(const picture_light *light, double signal)
{
    if (light->exponent != 0)
        return pow(signal, light->exponent);
    if (light->function == PICTURE_PQ)
        return undo_pq(signal);
    if (light->function == PICTURE_HLG)
        return undo_hlg(signal) / undo_hlg(hlg_white);
    return light->function == PICTURE_SRGB ? undo_srgb(signal) : undo_bt709(signal);
}

tml_status tml_picture_undo(picture_reader *reader, const picture_light *light)
{
    const io_file *file = reader->file;
    tml_picture *p = &reader->picture;
    const uint64_t count = (uint64_t)p->width * p->height * p->channels;
    const uint32_t values = p->type == TML_U8 ? 256 : 65536;
    const bool has_alpha = p->channels % 2 == 0;
    p->srgb = false;
    if (light->function == PICTURE_LINEAR && light->low == 0 && light->high == 1)
        return TML_OK;
    if (reader->memory_limit && count > reader->memory_limit / sizeof(float))
        return tml_io_error(file, TML_ERROR_OUT_OF_MEMORY,
                            "its %" PRIu32 " x %" PRIu32 " pixels take %" PRIu64
                            " bytes as floats, the limit is %" PRIu64,
                            p->width, p->height, count * sizeof(float), reader->memory_limit);
    float *table = tml_io_alloc(file, values * sizeof *table);
    float *out = table ? tml_io_alloc(file, count * sizeof *out) : NULL;
    if (!out) {
        tml_free(file->tml, table, values * sizeof *table);
        return TML_ERROR_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < values; i++) {
        double signal = (i / (values - 1.0) - light->low) / (light->high - light->low);
        table[i] = (float)undo(light, signal < 0 ? 0 : signal > 1 ? 1 : signal);
    }
    for (uint64_t i = 0; i < count; i++) {
        uint32_t sample =
            p->type == TML_U8 ? ((const uint8_t *)p->data)[i] : ((const uint16_t *)p->data)[i];
        bool is_alpha = has_alpha && i % p->channels == p->channels - 1;
        out[i] = is_alpha ? (float)(sample / (values - 1.0)) : table[sample];
    }
    tml_free(file->tml, table, values * sizeof *table);
    tml_free(file->tml, p->data, p->size);
    p->data = out;
    p->size = (size_t)count * sizeof *out;
    p->type = TML_F32;
    reader->row_size = (size_t)p->width * p->channels * sizeof *out;
    tml_picture_note(reader, "%s undone%s", light->name,
                     light->function == PICTURE_PQ    ? ": 1 is 203 cd/m2"
                     : light->function == PICTURE_HLG ? ": 1 is reference white, 75 % signal"
                                                      : "");
    return TML_OK;
}

void tml_picture_note(picture_reader *reader, const char *format, ...)
{
    char *comment = reader->picture.comment;
    size_t size = sizeof reader->picture.comment, used = strlen(comment);
    va_list arguments;
    va_start(arguments, format);
    if (used && used + 2 < size)
        used += (size_t)snprintf(comment + used, size - used, "; ");
    vsnprintf(comment + used, size - used, format, arguments);
    va_end(arguments);
}

/* ---- primaries ------------------------------------------------------------------------------- */

const float tml_picture_srgb_primaries[8] = {0.64f, 0.33f, 0.30f,   0.60f,
                                             0.15f, 0.06f, 0.3127f, 0.3290f};

tml_status tml_picture_primaries(const picture_reader *reader, const float xy[8])
{
    const float close = 0.011f; /* Radiance's differ by 0.01, and pass as equal */
    bool is_close = true;
    for (int i = 0; i < 8; i++)
        is_close =
            is_close && fabsf(xy[i] - tml_picture_srgb_primaries[i]) < (i < 6 ? close : 0.022f);
    return is_close ? TML_OK
                    : tml_io_warn(reader->file,
                                  "its primaries are (%g, %g), (%g, %g), (%g, %g), white (%g, %g), "
                                  "not those of sRGB; samples are left as they are",
                                  xy[0], xy[1], xy[2], xy[3], xy[4], xy[5], xy[6], xy[7]);
}

tml_status tml_picture_profile(const picture_reader *reader, const uint8_t *profile, size_t size)
{
    enum { HEADER = 128, TAG = 12, TAGS_MOST = 100 };
    char name[64] = "no name";
    bool is_srgb = false;
    uint32_t tags = size >= HEADER + 4 ? io_load_u32(profile + HEADER, true) : 0;
    for (uint32_t i = 0; i < tags && i < TAGS_MOST && HEADER + 4 + (i + 1) * TAG <= size; i++) {
        const uint8_t *tag = profile + HEADER + 4 + (size_t)i * TAG;
        uint64_t at = io_load_u32(tag + 4, true), length = io_load_u32(tag + 8, true);
        if (memcmp(tag, "desc", 4) != 0 || at + length > size || length < 13)
            continue;
        const uint8_t *text = profile + at;
        size_t used = 0;
        bool is_wide = memcmp(text, "mluc", 4) == 0; /* UTF-16; the first text's offset is at 24 */
        uint64_t from = is_wide ? length >= 28 ? io_load_u32(text + 24, true) : length : 12;
        for (uint64_t k = from + is_wide; k < length && used + 1 < sizeof name;
             k += is_wide ? 2 : 1) {
            if (text[k] == '\0')
                break;
            name[used++] = (char)text[k];
        }
        name[used] = '\0';
        tml_picture_printable(name);
        is_srgb = strstr(name, "sRGB") != NULL || strstr(name, "s-RGB") != NULL;
    }
    return is_srgb ? TML_OK
                   : tml_io_warn(reader->file,
                                 "has an ICC profile (%s), which is not applied; its samples are "
                                 "taken as sRGB",
                                 name);
}
