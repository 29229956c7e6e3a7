/* Reads JPEG pictures through libjpeg's interface (libjpeg-turbo). */
#include "io/pictures/picture_internal.h"

static bool jpeg_detect(io_span head)
{
    return head.size >= 3 && memcmp(head.text, "\xff\xd8\xff", 3) == 0;
}

#ifndef TML_JPEG

static tml_status read_jpeg(picture_reader *reader)
{
    return tml_io_error(reader->file, TML_ERROR_UNSUPPORTED,
                        "is a JPEG picture, and this library was built without libjpeg (TML_JPEG); "
                        "convert it to PNG");
}

#else

#    include <inttypes.h>
#    include <setjmp.h>

#    include <jpeglib.h>

#    include <jerror.h>

enum {
    EXIF_MARKER = JPEG_APP0 + 1,
    ICC_MARKER = JPEG_APP0 + 2,
    MARKER_MOST = 65533,    /* bytes of a marker's contents */
    PIXELS_A_BYTE = 8 * 64, /* pixels per byte at most: a block of 8 x 8 has at least a bit */
    SCANS_MOST = 500,       /* encoders write about ten */
};

/* libjpeg's error handler. error_exit must not return, so it jumps to decode_or_leave. */
typedef struct jpeg_fault {
    struct jpeg_error_mgr manager; /* first: a pointer to it is a pointer to jpeg_fault */
    jmp_buf leave;
    struct jpeg_progress_mgr progress;
    const io_file *file;
    tml_status status;
} jpeg_fault;

static void leave_with(j_common_ptr jpeg, tml_status status, const char *text)
{
    jpeg_fault *fault = (jpeg_fault *)(void *)jpeg->err;
    fault->status = status;
    if (status == TML_ERROR_CANCELLED)
        tml_io_error(fault->file, status, "%s", text);
    else
        tml_io_error(fault->file, status, "is no valid JPEG: %s", text);
    longjmp(fault->leave, 1);
}

static void on_error(j_common_ptr jpeg)
{
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    leave_with(jpeg,
               jpeg->err->msg_code == JERR_OUT_OF_MEMORY ? TML_ERROR_OUT_OF_MEMORY
                                                         : TML_ERROR_FILE_FORMAT,
               text);
}

/* Warnings (level -1) report damaged or missing data, which libjpeg would fill with grey. */
static void on_message(j_common_ptr jpeg, int level)
{
    if (level < 0)
        on_error(jpeg);
}

/* Limits the scans of a progressive picture, since each scan visits all pixels. */
static void on_progress(j_common_ptr jpeg)
{
    const jpeg_fault *fault = (const jpeg_fault *)(const void *)jpeg->err;
    if (((j_decompress_ptr)jpeg)->input_scan_number > SCANS_MOST)
        leave_with(jpeg, TML_ERROR_FILE_FORMAT, "it has more scans than any encoder makes");
    if (tml_is_cancelled(fault->file->tml))
        leave_with(jpeg, TML_ERROR_CANCELLED, "cancelled");
}

static void say_nothing(j_common_ptr jpeg)
{
    (void)jpeg;
}

/* ---- Exif's orientation (CIPA DC-008, tag 0x0112) -------------------------------------------- */

static picture_orientation orientation_of(uint32_t number)
{
    static const picture_orientation table[] = {
        {false, false, false}, {false, true, false}, {false, true, true}, {false, false, true},
        {true, false, false},  {true, true, false},  {true, true, true},  {true, false, true}};
    return number >= 1 && number <= 8 ? table[number - 1] : table[0];
}

/* Returns the orientation in the first image directory of a TIFF structure; 1 if it is missing or
 * out of bounds. */
static uint32_t find_orientation(const uint8_t *tiff, size_t size)
{
    enum { HEADER = 8, ENTRY = 12, TAG = 0x0112, SHORT = 3 };
    if (size < HEADER || (memcmp(tiff, "II*\0", 4) != 0 && memcmp(tiff, "MM\0*", 4) != 0))
        return 1;
    bool is_big = tiff[0] == 'M';
    uint64_t at = io_load_u32(tiff + 4, is_big);
    if (at + 2 > size)
        return 1;
    uint32_t count = io_load_u16(tiff + at, is_big);
    for (at += 2; count > 0 && at + ENTRY <= size; count--, at += ENTRY)
        if (io_load_u16(tiff + at, is_big) == TAG && io_load_u16(tiff + at + 2, is_big) == SHORT)
            return io_load_u16(tiff + at + 8, is_big);
    return 1;
}

static picture_orientation read_orientation(const struct jpeg_decompress_struct *jpeg)
{
    static const char name[] = "Exif\0"; /* 6 bytes with the string's own NUL */
    for (jpeg_saved_marker_ptr marker = jpeg->marker_list; marker; marker = marker->next)
        if (marker->marker == EXIF_MARKER && marker->data_length > sizeof name &&
            memcmp(marker->data, name, sizeof name) == 0)
            return orientation_of(
                find_orientation(marker->data + sizeof name, marker->data_length - sizeof name));
    return orientation_of(1);
}

/* Warns if the profile is not sRGB's. The profile's first part has its description. */
static tml_status read_profile(const picture_reader *reader,
                               const struct jpeg_decompress_struct *jpeg)
{
    static const char name[] = "ICC_PROFILE"; /* NUL, the part's number and their count follow */
    enum { HEAD = sizeof name + 2 };
    for (jpeg_saved_marker_ptr marker = jpeg->marker_list; marker; marker = marker->next)
        if (marker->marker == ICC_MARKER && marker->data_length > HEAD &&
            memcmp(marker->data, name, sizeof name) == 0 && marker->data[sizeof name] == 1)
            return tml_picture_profile(reader, marker->data + HEAD, marker->data_length - HEAD);
    return TML_OK;
}

/* ---- pixels ---------------------------------------------------------------------------------- */

static tml_status decode(picture_reader *reader, struct jpeg_decompress_struct *jpeg)
{
    const io_file *file = reader->file;
    jpeg_mem_src(jpeg, (const unsigned char *)reader->bytes.text,
                 (unsigned long)reader->bytes.size);
    jpeg_save_markers(jpeg, EXIF_MARKER, MARKER_MOST);
    jpeg_save_markers(jpeg, ICC_MARKER, MARKER_MOST);
    (void)jpeg_read_header(jpeg, TRUE);
    bool is_grey = jpeg->jpeg_color_space == JCS_GRAYSCALE;
    if (!is_grey && jpeg->jpeg_color_space != JCS_YCbCr && jpeg->jpeg_color_space != JCS_RGB)
        return tml_io_error(
            file, TML_ERROR_UNSUPPORTED,
            "has %d channels that are neither grey nor red, green and blue (CMYK, say); "
            "convert it to sRGB",
            jpeg->num_components);
    /* libjpeg allocates all of a progressive picture before it reads further. */
    uint64_t pixels = (uint64_t)jpeg->image_width * jpeg->image_height;
    if (pixels / PIXELS_A_BYTE > reader->bytes.size)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT, "its %zu bytes cannot hold %u x %u pixels",
                            reader->bytes.size, jpeg->image_width, jpeg->image_height);
    jpeg->out_color_space = is_grey ? JCS_GRAYSCALE : JCS_RGB;
    tml_status status = read_profile(reader, jpeg);
    if (status != TML_OK)
        return status;
    status = tml_picture_begin(reader, TML_U8, is_grey ? 1 : 3, jpeg->image_width,
                               jpeg->image_height, reader->bytes.size);
    if (status != TML_OK)
        return status;
    (void)jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = tml_picture_rows(reader, jpeg->output_scanline, 1);
        if (!row)
            return tml_is_cancelled(file->tml) ? TML_ERROR_CANCELLED : TML_ERROR_OUT_OF_MEMORY;
        (void)jpeg_read_scanlines(jpeg, &row, 1);
    }
    picture_orientation orientation = read_orientation(jpeg);
    (void)jpeg_finish_decompress(jpeg);
    reader->picture.srgb = true;
    return tml_picture_orient(reader, orientation);
}

/* The target of the jump. Variables that change between setjmp and the jump must not be local to
 * this function. */
static tml_status decode_or_leave(picture_reader *reader, struct jpeg_decompress_struct *jpeg,
                                  jpeg_fault *fault)
{
    if (setjmp(fault->leave))
        return fault->status;
    jpeg_create_decompress(jpeg);
    jpeg->progress = &fault->progress;
    return decode(reader, jpeg);
}

static tml_status read_jpeg(picture_reader *reader)
{
    struct jpeg_decompress_struct jpeg;
    jpeg_fault fault = {.file = reader->file, .progress = {.progress_monitor = on_progress}};
    memset(&jpeg, 0, sizeof jpeg);
    jpeg.err = jpeg_std_error(&fault.manager);
    fault.manager.error_exit = on_error;
    fault.manager.emit_message = on_message;
    fault.manager.output_message = say_nothing;
    tml_status status = decode_or_leave(reader, &jpeg, &fault);
    jpeg_destroy_decompress(&jpeg);
    return status;
}

#endif

const picture_format tml_picture_jpeg = {"JPEG", jpeg_detect, read_jpeg};
