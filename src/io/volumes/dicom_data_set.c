/* Parses a DICOM file (NEMA PS3.5, PS3.10): its data set, element by element, up to the pixels.
 * Compressed samples are unsupported. Debian's libraries that read them are C++ with a dozen
 * dependencies, allocate as much as files demand, and keep global tables; a volume needs only
 * twenty elements.
 *
 * Sequences are parsed without recursion: a stack holds their ends. Elements in a sequence are used
 * only in the functional groups of multi-frame files; an icon's rows and pixels are ignored. */
#include "io/volumes/dicom_elements.h"

#ifdef TML_DICOM
#    include <inttypes.h>
#    include <math.h>

/* ---- the data set ---------------------------------------------------------------------------- */

static tml_status push(dicom_parser *p, const dicom_element *e)
{
    if (p->depth == DICOM_DEPTH_MOST)
        return tml_dicom_fail(p, e,
                              "lies in more sequences, one in another, than any real file has");
    uint64_t end = e->length == DICOM_UNDEFINED ? UINT64_MAX : p->at + e->length;
    if (end != UINT64_MAX && end > p->file->size)
        return tml_dicom_fail(p, e, "reaches past the file's end");
    p->levels[p->depth++] = (dicom_level){end, e->tag, p->is_implicit};
    if (e->vr == DICOM_VR('U', 'N')) /* unknown contents are implicit (CP-246) */
        p->is_implicit = true;
    return TML_OK;
}

static void pop(dicom_parser *p)
{
    p->is_implicit = p->levels[--p->depth].is_implicit;
}

/* Returns whether an element is a sequence. Implicit files do not mark sequences. */
static bool is_sequence(const dicom_element *e)
{
    switch (e->tag) {
    case TAG_SHARED_GROUPS:
    case TAG_FRAME_GROUPS:
    case 0x00209113: /* plane position */
    case 0x00209116: /* plane orientation */
    case 0x00289110: /* pixel measures */
    case 0x00289145: /* pixel value transformation */
        return true;
    default:
        return e->vr == DICOM_VR('S', 'Q') || e->length == DICOM_UNDEFINED;
    }
}

static bool is_of_pixels(uint32_t tag)
{
    return tag == TAG_PIXELS || tag == TAG_REAL_PIXELS || tag == TAG_DOUBLE_PIXELS;
}

/* Parses elements up to the pixels or the end of the file. */
static tml_status walk(dicom_parser *p, bool *has_pixels)
{
    tml_status status = TML_OK;
    dicom_element e;
    while (status == TML_OK) {
        while (p->depth && p->at >= p->levels[p->depth - 1].end)
            pop(p);
        if (p->at == p->file->size)
            return TML_OK;
        status = tml_dicom_read_head(p, &e);
        if (status != TML_OK)
            return status;
        if (e.tag == TAG_ITEM_END || e.tag == TAG_SEQUENCE_END) {
            if (p->depth)
                pop(p);
            continue;
        }
        if (p->depth == 0 && is_of_pixels(e.tag)) {
            *has_pixels = true;
            p->image->is_real = e.tag != TAG_PIXELS;
            p->image->offset = p->at;
            p->image->length = e.length;
            return e.length == DICOM_UNDEFINED
                       ? tml_dicom_fail(p, &e,
                                        "has pixels of no length, though they are not compressed")
                       : TML_OK;
        }
        if (e.tag == TAG_ITEM || is_sequence(&e)) {
            if (e.tag == TAG_ITEM && p->depth == 1 && p->levels[0].tag == TAG_FRAME_GROUPS)
                status = tml_dicom_add_frame(p);
            if (e.tag == TAG_LUT && p->depth == 0 && e.length)
                p->image->notes |= DICOM_LUT;
            TML_THEN(status, push(p, &e));
            continue;
        }
        if (e.length > p->file->size - p->at)
            return tml_dicom_fail(p, &e, "reaches past the file's end");
        uint32_t outer = p->depth ? p->levels[0].tag : 0;
        if (outer == 0 || outer == TAG_SHARED_GROUPS || outer == TAG_FRAME_GROUPS)
            status = tml_dicom_take_value(p, &e);
        p->at += e.length;
    }
    return status;
}

/* Parses group 2 and gets the transfer syntax of the data set. */
static tml_status read_meta(dicom_parser *p, char *syntax, size_t size)
{
    dicom_element e = {0};
    uint8_t group[2];
    tml_status status = TML_OK;
    syntax[0] = '\0';
    while (status == TML_OK && p->at < p->file->size) {
        status = tml_dicom_read_at(p, p->at, group, sizeof group);
        if (status != TML_OK || io_load_u16(group, false) != 2)
            return status;
        status = tml_dicom_read_head(p, &e);
        if (status == TML_OK && e.length > p->file->size - p->at)
            status = tml_dicom_fail(p, &e, "reaches past the file's end");
        if (status == TML_OK && e.tag == TAG_TRANSFER_SYNTAX)
            status = tml_dicom_read_text(p, &e, syntax, size);
        p->at += e.length;
    }
    return status;
}

/* Finds the coding of the data set by its first element. Some files state no transfer syntax. In
 * others, elements have value representations although the stated syntax has none, or the reverse.
 * *is_sure   receives whether the element's length confirms the coding */
static tml_status see_coding(dicom_parser *p, bool *is_implicit, bool *is_sure)
{
    char bytes[8];
    *is_sure = false;
    if (p->file->size - p->at < sizeof bytes)
        return TML_OK;
    tml_status status = tml_dicom_read_at(p, p->at, bytes, sizeof bytes);
    if (status != TML_OK || p->big_endian)
        return status;
    uint32_t length = io_load_u32(bytes + 4, false);
    bool has_vr = tml_dicom_is_vr(bytes + 4), fits = length <= p->file->size - p->at - sizeof bytes;
    *is_implicit = !has_vr;
    *is_sure = has_vr ? !fits : fits && length % 2 == 0;
    return TML_OK;
}

/* Sets the coding of the data set.
 * has_meta      the file has elements of group 2, so it should state its transfer syntax
 * *compression  receives the name of the pixels' compression; NULL: none */
static tml_status choose_syntax(dicom_parser *p, const char *syntax, bool has_meta,
                                const char **compression)
{
    static const struct {
        const char *uid, *name;
    } names[] = {{"1.2.840.10008.1.2.1.99", "deflate"},
                 {"1.2.840.10008.1.2.4.50", "JPEG (baseline)"},
                 {"1.2.840.10008.1.2.4.51", "JPEG (extended)"},
                 {"1.2.840.10008.1.2.4.57", "JPEG lossless"},
                 {"1.2.840.10008.1.2.4.70", "JPEG lossless"},
                 {"1.2.840.10008.1.2.4.80", "JPEG-LS"},
                 {"1.2.840.10008.1.2.4.81", "JPEG-LS"},
                 {"1.2.840.10008.1.2.4.90", "JPEG 2000"},
                 {"1.2.840.10008.1.2.4.91", "JPEG 2000"},
                 {"1.2.840.10008.1.2.5", "RLE"}};
    const char *name = NULL;
    if (strcmp(syntax, "1.2.840.10008.1.2") == 0)
        p->is_implicit = true;
    else if (strcmp(syntax, "1.2.840.10008.1.2.2") == 0)
        p->big_endian = true;
    else if (strcmp(syntax, "1.2.840.10008.1.2.1") != 0 && *syntax)
        name = "something newer";
    for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(syntax, names[i].uid) == 0)
            name = names[i].name;
    *compression = name;
    if (name)
        return TML_OK;
    p->image->big_endian = p->big_endian;
    bool is_implicit, is_sure;
    tml_status status = see_coding(p, &is_implicit, &is_sure);
    if (status == TML_OK && !*syntax && !is_sure)
        return tml_io_error(
            p->file, TML_ERROR_FILE_FORMAT,
            "does not say its transfer syntax (0002,0010), and its first element does "
            "not show it");
    if (status == TML_OK && is_sure && (!*syntax || is_implicit != p->is_implicit)) {
        if (has_meta)
            p->image->notes |= *syntax ? DICOM_OTHER_SYNTAX : DICOM_NO_SYNTAX;
        p->is_implicit = is_implicit;
    }
    return status;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static tml_status choose_type(const io_file *file, dicom_image *image)
{
    static const tml_type types[2][3] = {{TML_U8, TML_U16, TML_U32}, {TML_I8, TML_I16, TML_I32}};
    int size = image->bits == 8 ? 0 : image->bits == 16 ? 1 : image->bits == 32 ? 2 : -1;
    if (image->is_real && (image->bits == 32 || image->bits == 64)) {
        image->type = image->bits == 32 ? TML_F32 : TML_F64;
        return TML_OK;
    }
    if (image->bits == 1)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "has samples of one bit (a segmentation), needs 8, 16 or 32; convert "
                            "it, for example in 3D Slicer");
    if (size < 0)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "has %" PRIu64 " bits a sample, needs 8, 16 or 32", image->bits);
    image->type = types[image->is_signed][size];
    if (image->stored == DICOM_UNSAID)
        image->stored = image->bits;
    if (image->high == DICOM_UNSAID)
        image->high = image->stored - 1;
    if (image->stored == 0 || image->stored > image->bits || image->high >= image->bits ||
        image->high + 1 < image->stored)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "says that %" PRIu64 " bits up to bit %" PRIu64 " are used of %" PRIu64,
                            image->stored, image->high, image->bits);
    return TML_OK;
}

static tml_status check_pixels(const io_file *file, dicom_image *image)
{
    if (image->samples != 1 || strcmp(image->photometric, "PALETTE COLOR") == 0)
        return tml_io_error(file, image->samples ? TML_ERROR_UNSUPPORTED : TML_ERROR_FILE_FORMAT,
                            "has %" PRIu64 " samples a pixel (%s), needs one that is grey",
                            image->samples, image->photometric);
    if (image->rows == 0 || image->columns == 0)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "has %" PRIu64 " rows of %" PRIu64 " pixels", image->rows,
                            image->columns);
    tml_status status = choose_type(file, image);
    if (status != TML_OK)
        return status;
    /* 2^16 x 2^16 x 2^31 x 2^3 could reach 2^66, so frames are checked by a division. */
    uint64_t frame = image->rows * image->columns * tml_type_size(image->type);
    if (image->length > file->size - image->offset || image->frames > image->length / frame)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "has %" PRIu64 " bytes of pixels in a file with %" PRIu64
                            " left, needs %" PRIu64 " frames of %" PRIu64
                            "; it was cut short or its header is wrong",
                            image->length, file->size - image->offset, image->frames, frame);
    if (!(isfinite(image->slope) && image->slope != 0))
        image->slope = 1;
    return TML_OK;
}

tml_status tml_dicom_parse(const io_file *file, dicom_image *out, dicom_frames *frames,
                           bool *has_pixels)
{
    *out = (dicom_image){.frames = 1,
                         .slope = 1,
                         .spacing = {1, 1},
                         .samples = 1,
                         .stored = DICOM_UNSAID,
                         .high = DICOM_UNSAID};
    if (frames)
        *frames = (dicom_frames){0};
    *has_pixels = false;
    char syntax[DICOM_TEXT_SIZE];
    const char *compression = NULL;
    dicom_parser *p = tml_io_alloc(file, sizeof *p);
    if (!p)
        return TML_ERROR_OUT_OF_MEMORY;
    *p = (dicom_parser){.file = file, .image = out, .frames = frames};
    tml_status status = tml_dicom_find_start(p);
    uint64_t start = p->at;
    TML_THEN(status, read_meta(p, syntax, sizeof syntax));
    TML_THEN(status, choose_syntax(p, syntax, p->at > start || start == 132, &compression));
    TML_THEN(status, walk(p, has_pixels));
    if (compression) { /* walk has read the series, unless it is compressed, too */
        *has_pixels = false;
        status = tml_io_error(file, TML_ERROR_UNSUPPORTED,
                              "is compressed by %s (transfer syntax %s); unpack it: gdcmconv --raw "
                              "in.dcm out.dcm",
                              compression, syntax);
    }
    tml_free(file->tml, p, sizeof *p);
    return status == TML_OK && *has_pixels ? check_pixels(file, out) : status;
}

#endif
