/* A DICOM file (NEMA PS3.5, PS3.10): its data set, element by element, up to the pixels. Only
 * samples that are not compressed are read: Debian's libraries that could do more are C++ with a
 * dozen libraries of their own, allocate by what files say and keep global tables, while what a
 * volume needs are twenty elements.
 *
 * Sequences are entered, not recursed into: a stack keeps where they end. What is in one counts
 * only in the functional groups of multi-frame files; an icon's rows and pixels do not. */
#include "io/volumes/dicom.h"

/* ---- how a file begins ----------------------------------------------------------------------- */

/* Is it one of the value representations of PS3.5? */
static bool is_vr(const char *at)
{
    static const char all[] =
        "AEASATCSDADSDTFDFLISLOLTOBODOFOLOVOWPNSHSLSQSSSTSVTMUCUIULUNURUSUTUV";
    for (const char *vr = all; *vr; vr += 2)
        if (at[0] == vr[0] && at[1] == vr[1])
            return true;
    return false;
}

#define VR(a, b) ((uint16_t)((a) << 8 | (b)))

static bool is_long(uint16_t vr)
{
    switch (vr) {
    case VR('O', 'B'):
    case VR('O', 'D'):
    case VR('O', 'F'):
    case VR('O', 'L'):
    case VR('O', 'V'):
    case VR('O', 'W'):
    case VR('S', 'Q'):
    case VR('S', 'V'):
    case VR('U', 'C'):
    case VR('U', 'N'):
    case VR('U', 'R'):
    case VR('U', 'T'):
    case VR('U', 'V'):
        return true;
    default:
        return false;
    }
}

static bool is_printable(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((uint8_t)text[i] < ' ' && !(text[i] == '\0' && i + 1 == size))
            return false;
    return true;
}

/* Do elements of a data set begin here, in little-endian order? Three of them must stand in
 * ascending order (two where the rest lies beyond), the first in group 2 or 8, with short values
 * that are text. */
static bool is_data_set(io_span head)
{
    uint32_t before = 0, count = 0;
    size_t at = 0, size = head.size < DICOM_HEAD_SIZE ? head.size : DICOM_HEAD_SIZE;
    const uint32_t enough = 3, longest = 1024, preamble_version = 0x00020001;
    while (count < enough && at + 12 <= size) {
        const char *element = head.text + at;
        uint32_t tag =
            (uint32_t)io_load_u16(element, false) << 16 | io_load_u16(element + 2, false);
        uint32_t group = tag >> 16, length = io_load_u32(element + 4, false);
        bool is_explicit = is_vr(element + 4);
        size_t start = 8;
        if (is_explicit && is_long(VR(element[4], element[5]))) {
            length = io_load_u32(element + 8, false);
            start = 12;
        } else if (is_explicit) {
            length = io_load_u16(element + 6, false);
        }
        bool is_first = count == 0, is_group_length = (tag & 0xffff) == 0;
        if ((is_first && group != 2 && group != 8) || (!is_first && tag <= before) ||
            group > 0x0040 || length % 2 || length > longest)
            return false;
        size_t inside = size - at - start < length ? size - at - start : length;
        bool is_text = !is_group_length && tag != preamble_version && group <= 0x0020;
        if (is_text && !is_printable(element + start, inside))
            return false;
        before = tag;
        at += start + length;
        count++;
    }
    return count >= enough || (count == enough - 1 && at + 12 > size);
}

static bool has_preamble(io_span head)
{
    return head.size >= 132 && memcmp(head.text + 128, "DICM", 4) == 0;
}

/* Some writers leave out the preamble, others the four letters as well. */
static size_t bare_start(io_span head)
{
    return tml_io_starts_with(head, "DICM") ? 4 : 0;
}

bool tml_dicom_is(io_span head)
{
    size_t start = bare_start(head);
    return has_preamble(head) ||
           (head.size && is_data_set((io_span){head.text + start, head.size - start}));
}

#ifdef TML_DICOM
#    include <inttypes.h>
#    include <math.h>
#    include <stdlib.h>

enum {
    WINDOW_SIZE = 4096,
    DEPTH_MOST = 64, /* sequences and items within each other; real files have fewer than 20 */
    VALUE_MOST = 256,
    LIST_MOST = 16 << 20, /* bytes of a list of numbers */
};
#    define UNDEFINED UINT32_MAX

enum {
    TAG_TRANSFER_SYNTAX = 0x00020010,
    TAG_INSTANCE = 0x00080018,
    TAG_DESCRIPTION = 0x0008103E,
    TAG_THICKNESS = 0x00180050,
    TAG_BETWEEN = 0x00180088,
    TAG_DETECTOR_SPACING = 0x00181164, /* ImagerPixelSpacing */
    TAG_SCANNED_SPACING = 0x00182010,
    TAG_SERIES = 0x0020000E,
    TAG_NUMBER = 0x00200013,
    TAG_POSITION = 0x00200032,
    TAG_ORIENTATION = 0x00200037,
    TAG_LOCATION = 0x00201041,
    TAG_SAMPLES = 0x00280002,
    TAG_PHOTOMETRIC = 0x00280004,
    TAG_FRAMES = 0x00280008,
    TAG_ROWS = 0x00280010,
    TAG_COLUMNS = 0x00280011,
    TAG_SPACING = 0x00280030,
    TAG_BITS_ALLOCATED = 0x00280100,
    TAG_BITS_STORED = 0x00280101,
    TAG_HIGH_BIT = 0x00280102,
    TAG_SIGN = 0x00280103,
    TAG_INTERCEPT = 0x00281052,
    TAG_SLOPE = 0x00281053,
    TAG_LUT = 0x00283000,
    TAG_FRAME_OFFSETS = 0x3004000C,
    TAG_DOSE_SCALE = 0x3004000E,
    TAG_SHARED_GROUPS = 0x52009229,
    TAG_FRAME_GROUPS = 0x52009230,
    TAG_REAL_PIXELS = 0x7FE00008,
    TAG_DOUBLE_PIXELS = 0x7FE00009,
    TAG_PIXELS = 0x7FE00010,
};
#    define TAG_ITEM         0xFFFEE000u
#    define TAG_ITEM_END     0xFFFEE00Du
#    define TAG_SEQUENCE_END 0xFFFEE0DDu

typedef struct dicom_level {
    uint64_t end; /* UINT64_MAX: a delimiter tells */
    uint32_t tag;
    bool is_implicit;
} dicom_level;

typedef struct dicom_parser {
    const io_file *file;
    dicom_image *image;
    dicom_frames *frames; /* NULL: not wanted */
    uint64_t at;
    bool is_implicit, big_endian;
    dicom_level levels[DEPTH_MOST];
    uint32_t depth;
    uint64_t window_at;
    size_t window_size;
    uint8_t window[WINDOW_SIZE];
} dicom_parser;

typedef struct dicom_element {
    uint32_t tag, length;
    uint16_t vr;
} dicom_element;

/* ---- bytes ----------------------------------------------------------------------------------- */

static tml_status read_at(dicom_parser *p, uint64_t at, void *out, size_t size)
{
    bool is_inside = at >= p->window_at && at - p->window_at <= p->window_size &&
                     size <= p->window_size - (at - p->window_at);
    if (!is_inside) {
        uint64_t left = at < p->file->size ? p->file->size - at : 0;
        if (size > left)
            return tml_io_error(p->file, TML_ERROR_FILE_FORMAT,
                                "ends in an element at byte %" PRIu64 "; it was cut short", at);
        p->window_size = left < WINDOW_SIZE ? (size_t)left : WINDOW_SIZE;
        p->window_at = at;
        tml_status status = tml_io_read(p->file, at, p->window, p->window_size);
        if (status != TML_OK) {
            p->window_size = 0;
            return status;
        }
    }
    memcpy(out, p->window + (at - p->window_at), size);
    return TML_OK;
}

static tml_status dicom_fail(const dicom_parser *p, const dicom_element *e, const char *what)
{
    return tml_io_error(p->file, TML_ERROR_FILE_FORMAT,
                        "element (%04x,%04x) at byte %" PRIu64 " %s", (unsigned)(e->tag >> 16),
                        (unsigned)(e->tag & 0xffff), p->at, what);
}

/* Reads an element's head, and goes behind it. */
static tml_status read_head(dicom_parser *p, dicom_element *e)
{
    uint8_t bytes[8], more[4] = {0};
    bool big = p->big_endian;
    tml_status status = read_at(p, p->at, bytes, sizeof bytes);
    if (status != TML_OK)
        return status;
    *e = (dicom_element){.tag =
                             (uint32_t)io_load_u16(bytes, big) << 16 | io_load_u16(bytes + 2, big),
                         .length = io_load_u32(bytes + 4, big)};
    size_t size = sizeof bytes;
    if (!p->is_implicit && e->tag >> 16 != 0xFFFE) {
        e->vr = VR(bytes[4], bytes[5]);
        if (bytes[4] < 'A' || bytes[4] > 'Z' || bytes[5] < 'A' || bytes[5] > 'Z')
            return dicom_fail(p, e, "has no value representation, which is two capital letters");
        e->length = io_load_u16(bytes + 6, big);
        if (is_long(e->vr)) {
            status = read_at(p, p->at + size, more, sizeof more);
            e->length = io_load_u32(more, big);
            size += sizeof more;
        }
    }
    p->at += size;
    return status;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* A short text without blanks and zeros at its end. */
static tml_status read_text(dicom_parser *p, const dicom_element *e, char *out, size_t size)
{
    if (e->length >= size)
        return dicom_fail(p, e, "is longer than its kind may be");
    tml_status status = read_at(p, p->at, out, e->length);
    size_t length = status == TML_OK ? e->length : 0;
    while (length && (out[length - 1] == ' ' || out[length - 1] == '\0'))
        length--;
    out[length] = '\0';
    return status;
}

/* Numbers between backslashes; *count at most most. What is beyond is left out. */
static tml_status parse_numbers(const dicom_parser *p, const dicom_element *e, io_span text,
                                double *out, size_t most, size_t *count)
{
    for (*count = 0; *count < most && text.size; ++*count) {
        const char *end = memchr(text.text, '\\', text.size);
        io_span word = {text.text, end ? (size_t)(end - text.text) : text.size};
        size_t taken = word.size + (end != NULL);
        while (word.size && word.text[word.size - 1] == '\0')
            word.size--;
        word = tml_io_trim(word);
        if (word.size == 0 && *count == 0)
            return TML_OK; /* an empty value counts as none */
        if (!tml_io_parse_f64(word, &out[*count]) || !isfinite(out[*count]))
            return dicom_fail(p, e, "has a value that is no number");
        text = (io_span){text.text + taken, text.size - taken};
    }
    return TML_OK;
}

/* Exactly count numbers; false in *has where there is none. */
static tml_status read_numbers(dicom_parser *p, const dicom_element *e, double *out, size_t count,
                               bool *has)
{
    char text[VALUE_MOST];
    double numbers[8];
    size_t found = 0;
    tml_status status = read_text(p, e, text, sizeof text);
    TML_THEN(status, parse_numbers(p, e, (io_span){text, strlen(text)}, numbers, 8, &found));
    *has = status == TML_OK && found == count;
    if (*has)
        memcpy(out, numbers, count * sizeof *out);
    if (status == TML_OK && found != count && found != 0)
        return dicom_fail(p, e, "has another number of values than its kind");
    return status;
}

/* A number that the volume can do without: one that is damaged counts as none, and is told. */
static tml_status read_optional(dicom_parser *p, const dicom_element *e, double *out, bool *has)
{
    char text[VALUE_MOST];
    *has = false;
    if (e->length >= sizeof text) {
        p->image->notes |= DICOM_BAD_NUMBER;
        return TML_OK;
    }
    tml_status status = read_text(p, e, text, sizeof text);
    io_span word = tml_io_trim((io_span){text, strcspn(text, "\\")});
    *has = status == TML_OK && tml_io_parse_f64(word, out) && isfinite(*out);
    if (status == TML_OK && !*has && word.size)
        p->image->notes |= DICOM_BAD_NUMBER;
    return status;
}

static tml_status read_count(dicom_parser *p, const dicom_element *e, uint64_t *out)
{
    uint8_t bytes[2] = {0};
    if (e->length != sizeof bytes)
        return dicom_fail(p, e, "is not two bytes long");
    tml_status status = read_at(p, p->at, bytes, sizeof bytes);
    *out = io_load_u16(bytes, p->big_endian);
    return status;
}

void tml_dicom_add_position(dicom_stack *stack, const double position[3])
{
    double length = 0, error = 0;
    for (int i = 0; i < 3; i++) {
        if (stack->count == 0)
            stack->first[i] = position[i];
        if (stack->count == 1)
            stack->step[i] = position[i] - stack->last[i];
        length = hypot(length, stack->step[i]);
        error = hypot(error, position[i] - stack->last[i] - stack->step[i]);
        stack->last[i] = position[i];
    }
    const double share = 0.02, rounded = 4e-4; /* files round positions, often to four places */
    if (stack->count > 0 && !(length > 0 && error <= share * length + rounded))
        stack->is_irregular = true;
    stack->count++;
}

static tml_status take_orientation(dicom_parser *p, const dicom_element *e)
{
    dicom_image *image = p->image;
    double v[6];
    bool has;
    tml_status status = read_numbers(p, e, v, 6, &has);
    if (status != TML_OK || !has)
        return status;
    double x = hypot(hypot(v[0], v[1]), v[2]), y = hypot(hypot(v[3], v[4]), v[5]);
    double cosine = v[0] * v[3] + v[1] * v[4] + v[2] * v[5];
    if (fabs(x - 1) > 0.01 || fabs(y - 1) > 0.01 || fabs(cosine) > 0.01)
        return dicom_fail(p, e, "has no two unit vectors at a right angle");
    for (int i = 0; i < 6 && image->has_orientation; i++)
        image->is_turned |= fabs(v[i] / (i < 3 ? x : y) - image->orientation[i]) > 1e-3;
    for (int i = 0; i < 6 && !image->has_orientation; i++)
        image->orientation[i] = v[i] / (i < 3 ? x : y);
    image->has_orientation = true;
    return TML_OK;
}

/* The lengths in a text that should be two with a backslash between. Files in use have a comma
 * for the backslash or for the point, one length for both, or three. Returns how many there are;
 * *is_odd: they stood otherwise than they should, *is_wrong: one of them is no length. 0 counts
 * as none. */
static int parse_lengths(const char *text, double out[2], bool *is_odd, bool *is_wrong)
{
    char copy[DICOM_TEXT_SIZE];
    const char *separators = strchr(text, '\\') ? "\\" : strchr(text, ',') ? "," : " ";
    int count = 0, words = 0;
    *is_odd = *separators != '\\';
    *is_wrong = false;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *at = copy; at;) {
        char *end = strpbrk(at, separators), *comma;
        if (end)
            *end = '\0';
        if ((comma = strchr(at, ','))) {
            *comma = '.';
            *is_odd = true;
        }
        io_span word = tml_io_trim((io_span){at, strlen(at)});
        double length = 0;
        at = end ? end + 1 : NULL;
        if (*separators == ' ' && word.size == 0)
            continue;
        words++;
        if (word.size && (!tml_io_parse_f64(word, &length) || !(length >= 0 && length < 1e9)))
            *is_wrong = true;
        else if (length > 0 && count < 2)
            out[count++] = length;
    }
    *is_odd |= words != 2 || count != 2;
    return count;
}

static tml_status take_spacing(dicom_parser *p, const dicom_element *e)
{
    dicom_image *image = p->image;
    double spacing[2];
    bool is_odd, is_wrong, is_own = e->tag == TAG_SPACING;
    char text[VALUE_MOST] = "";
    if (e->length >= sizeof text)
        return dicom_fail(p, e, "is longer than its kind may be");
    tml_status status = read_text(p, e, text, sizeof text);
    if (status != TML_OK || (!is_own && image->has_spacing))
        return status;
    io_span trimmed = tml_io_trim((io_span){text, strlen(text)});
    if (is_own)
        tml_io_copy(image->spacing_text, sizeof image->spacing_text, trimmed);
    if (trimmed.size == 0)
        return TML_OK;
    char word[DICOM_TEXT_SIZE];
    tml_io_copy(word, sizeof word, trimmed);
    int count = parse_lengths(word, spacing, &is_odd, &is_wrong);
    const unsigned own = DICOM_SPACING_ODD | DICOM_SPACING_WRONG | DICOM_SPACING_OTHER;
    if (is_own && is_wrong)
        image->notes = (image->notes & ~own) | DICOM_SPACING_WRONG;
    if (is_wrong || count == 0)
        return TML_OK;
    if (count == 1)
        spacing[1] = spacing[0];
    memcpy(image->spacing, spacing, sizeof spacing);
    image->has_spacing = true;
    image->notes &= ~own;
    image->notes |= !is_own ? DICOM_SPACING_OTHER : is_odd ? DICOM_SPACING_ODD : 0;
    return TML_OK;
}

/* ---- frames ---------------------------------------------------------------------------------- */

void tml_dicom_frames_free(const io_file *file, dicom_frames *frames)
{
    if (frames->room)
        tml_free(file->tml, frames->frames, frames->room * sizeof *frames->frames);
    *frames = (dicom_frames){0};
}

/* A further frame, of which nothing is known yet. */
static tml_status add_frame(dicom_parser *p)
{
    dicom_frames *all = p->frames;
    if (!all)
        return TML_OK;
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 16;
        dicom_frame *frames = tml_io_alloc(p->file, room * sizeof *frames);
        if (!frames)
            return TML_ERROR_OUT_OF_MEMORY;
        if (all->count)
            memcpy(frames, all->frames, all->count * sizeof *frames);
        dicom_frames grown = {frames, all->count, room};
        tml_dicom_frames_free(p->file, all);
        *all = grown;
    }
    all->frames[all->count] = (dicom_frame){.number = all->count};
    all->count++;
    return TML_OK;
}

/* The frame that the values at work are said of; NULL: all of them. */
static dicom_frame *current_frame(const dicom_parser *p)
{
    bool has_several = p->frames && p->image->frames > 1;
    bool is_of_one = has_several && p->depth > 1 && p->levels[0].tag == TAG_FRAME_GROUPS;
    return is_of_one && p->frames->count ? &p->frames->frames[p->frames->count - 1] : NULL;
}

static tml_status take_position(dicom_parser *p, const dicom_element *e)
{
    double position[3];
    bool has;
    tml_status status = read_numbers(p, e, position, 3, &has);
    if (status != TML_OK || !has)
        return status;
    dicom_frame *frame = current_frame(p);
    if (frame) {
        memcpy(frame->position, position, sizeof position);
        frame->has_position = true;
    }
    tml_dicom_add_position(&p->image->stack, position);
    return TML_OK;
}

/* Of a dose: where its frames lie along the normal. */
static tml_status take_offsets(dicom_parser *p, const dicom_element *e)
{
    dicom_image *image = p->image;
    const double *o = image->orientation;
    if (e->length > LIST_MOST || e->length > p->file->size || !image->has_orientation ||
        image->stack.count != 1 || (p->frames && p->frames->count))
        return TML_OK;
    size_t most = e->length / 2 + 1, count = 0;
    char *text = tml_io_alloc(p->file, e->length);
    double *numbers = tml_io_alloc(p->file, most * sizeof *numbers);
    tml_status status = (text || e->length == 0) && numbers
                            ? tml_io_read(p->file, p->at, text, e->length)
                            : TML_ERROR_OUT_OF_MEMORY;
    TML_THEN(status, parse_numbers(p, e, (io_span){text, e->length}, numbers, most, &count));
    const double normal[3] = {o[1] * o[5] - o[2] * o[4], o[2] * o[3] - o[0] * o[5],
                              o[0] * o[4] - o[1] * o[3]};
    for (size_t i = 0; i < count && status == TML_OK; i++) {
        double position[3];
        for (int axis = 0; axis < 3; axis++)
            position[axis] = image->stack.first[axis] + normal[axis] * (numbers[i] - numbers[0]);
        if (i > 0)
            tml_dicom_add_position(&image->stack, position);
        status = add_frame(p);
        if (status == TML_OK && p->frames) {
            memcpy(p->frames->frames[i].position, position, sizeof position);
            p->frames->frames[i].has_position = true;
        }
    }
    tml_free(p->file->tml, text, e->length);
    tml_free(p->file->tml, numbers, most * sizeof *numbers);
    return status;
}

static tml_status take_scale(dicom_parser *p, const dicom_element *e)
{
    bool has, is_slope = e->tag != TAG_INTERCEPT;
    double value;
    tml_status status = read_numbers(p, e, &value, 1, &has);
    if (status != TML_OK || !has)
        return status;
    dicom_frame *frame = current_frame(p);
    if (frame && is_slope) {
        frame->slope = value;
        frame->has_slope = true;
    } else if (frame) {
        frame->intercept = value;
        frame->has_intercept = true;
    } else if (is_slope) {
        p->image->slope = value;
    } else {
        p->image->intercept = value;
    }
    return TML_OK;
}

static tml_status take_frames(dicom_parser *p, const dicom_element *e)
{
    double number[1];
    bool has;
    tml_status status = read_numbers(p, e, number, 1, &has);
    if (has && !(number[0] >= 0 && number[0] <= INT32_MAX))
        return dicom_fail(p, e, "needs a number of frames from 1 on");
    if (has) /* 0 means that there is nothing to count */
        p->image->frames = number[0] < 1 ? 1 : (uint64_t)number[0];
    return status;
}

static tml_status take_value(dicom_parser *p, const dicom_element *e)
{
    dicom_image *image = p->image;
    uint64_t sign;
    tml_status status;
    switch (e->tag) {
    case TAG_SERIES:
        return read_text(p, e, image->series, sizeof image->series);
    case TAG_PHOTOMETRIC:
        return read_text(p, e, image->photometric, sizeof image->photometric);
    case TAG_INSTANCE:
        return read_text(p, e, image->instance, sizeof image->instance);
    case TAG_DESCRIPTION:
        if (e->length >= sizeof image->description)
            return TML_OK;
        return read_text(p, e, image->description, sizeof image->description);
    case TAG_NUMBER:
        return read_optional(p, e, &image->number, &image->has_number);
    case TAG_LOCATION:
        return read_optional(p, e, &image->location, &image->has_location);
    case TAG_THICKNESS:
        return read_optional(p, e, &image->thickness, &image->has_thickness);
    case TAG_BETWEEN:
        return read_optional(p, e, &image->between, &image->has_between);
    case TAG_POSITION:
        return take_position(p, e);
    case TAG_ORIENTATION:
        return take_orientation(p, e);
    case TAG_SAMPLES:
        return read_count(p, e, &image->samples);
    case TAG_FRAMES:
        return take_frames(p, e);
    case TAG_ROWS:
        return read_count(p, e, &image->rows);
    case TAG_COLUMNS:
        return read_count(p, e, &image->columns);
    case TAG_SPACING:
    case TAG_DETECTOR_SPACING:
    case TAG_SCANNED_SPACING:
        return take_spacing(p, e);
    case TAG_BITS_ALLOCATED:
        return read_count(p, e, &image->bits);
    case TAG_BITS_STORED:
        return read_count(p, e, &image->stored);
    case TAG_HIGH_BIT:
        return read_count(p, e, &image->high);
    case TAG_SIGN:
        status = read_count(p, e, &sign);
        image->is_signed = status == TML_OK && sign != 0;
        return status;
    case TAG_INTERCEPT:
    case TAG_SLOPE:
    case TAG_DOSE_SCALE:
        return take_scale(p, e);
    case TAG_FRAME_OFFSETS:
        return take_offsets(p, e);
    default:
        return TML_OK;
    }
}

/* ---- the data set ---------------------------------------------------------------------------- */

static tml_status push(dicom_parser *p, const dicom_element *e)
{
    if (p->depth == DEPTH_MOST)
        return dicom_fail(p, e, "lies in more sequences, one in another, than any real file has");
    uint64_t end = e->length == UNDEFINED ? UINT64_MAX : p->at + e->length;
    if (end != UINT64_MAX && end > p->file->size)
        return dicom_fail(p, e, "reaches past the file's end");
    p->levels[p->depth++] = (dicom_level){end, e->tag, p->is_implicit};
    if (e->vr == VR('U', 'N')) /* of unknown contents, which are implicit (CP-246) */
        p->is_implicit = true;
    return TML_OK;
}

static void pop(dicom_parser *p)
{
    p->is_implicit = p->levels[--p->depth].is_implicit;
}

/* Implicit files do not say which elements are sequences. */
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
        return e->vr == VR('S', 'Q') || e->length == UNDEFINED;
    }
}

static bool is_of_pixels(uint32_t tag)
{
    return tag == TAG_PIXELS || tag == TAG_REAL_PIXELS || tag == TAG_DOUBLE_PIXELS;
}

/* Goes on to the pixels, or to the end. */
static tml_status walk(dicom_parser *p, bool *has_pixels)
{
    tml_status status = TML_OK;
    dicom_element e;
    while (status == TML_OK) {
        while (p->depth && p->at >= p->levels[p->depth - 1].end)
            pop(p);
        if (p->at == p->file->size)
            return TML_OK;
        status = read_head(p, &e);
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
            return e.length == UNDEFINED
                       ? dicom_fail(p, &e,
                                    "has pixels of no length, though they are not compressed")
                       : TML_OK;
        }
        if (e.tag == TAG_ITEM || is_sequence(&e)) {
            if (e.tag == TAG_ITEM && p->depth == 1 && p->levels[0].tag == TAG_FRAME_GROUPS)
                status = add_frame(p);
            if (e.tag == TAG_LUT && p->depth == 0 && e.length)
                p->image->notes |= DICOM_LUT;
            TML_THEN(status, push(p, &e));
            continue;
        }
        if (e.length > p->file->size - p->at)
            return dicom_fail(p, &e, "reaches past the file's end");
        uint32_t outer = p->depth ? p->levels[0].tag : 0;
        if (outer == 0 || outer == TAG_SHARED_GROUPS || outer == TAG_FRAME_GROUPS)
            status = take_value(p, &e);
        p->at += e.length;
    }
    return status;
}

/* Reads group 2, which says how the rest is coded. */
static tml_status read_meta(dicom_parser *p, char *syntax, size_t size)
{
    dicom_element e = {0};
    uint8_t group[2];
    tml_status status = TML_OK;
    syntax[0] = '\0';
    while (status == TML_OK && p->at < p->file->size) {
        status = read_at(p, p->at, group, sizeof group);
        if (status != TML_OK || io_load_u16(group, false) != 2)
            return status;
        status = read_head(p, &e);
        if (status == TML_OK && e.length > p->file->size - p->at)
            status = dicom_fail(p, &e, "reaches past the file's end");
        if (status == TML_OK && e.tag == TAG_TRANSFER_SYNTAX)
            status = read_text(p, &e, syntax, size);
        p->at += e.length;
    }
    return status;
}

/* Goes to the first element: behind the preamble, if there is one. */
static tml_status find_start(dicom_parser *p)
{
    char head[132];
    size_t size = p->file->size < sizeof head ? (size_t)p->file->size : sizeof head;
    tml_status status = read_at(p, 0, head, size);
    const io_span span = {head, status == TML_OK ? size : 0};
    p->at = has_preamble(span) ? sizeof head : bare_start(span);
    return status;
}

/* Sees by the first element of the data set how it is coded. Files are around that state no
 * transfer syntax, and some whose elements have value representations though they state that
 * they have none, or the reverse. */
static tml_status see_coding(dicom_parser *p, bool *is_implicit, bool *is_sure)
{
    char bytes[8];
    *is_sure = false;
    if (p->file->size - p->at < sizeof bytes)
        return TML_OK;
    tml_status status = read_at(p, p->at, bytes, sizeof bytes);
    if (status != TML_OK || p->big_endian)
        return status;
    uint32_t length = io_load_u32(bytes + 4, false);
    bool has_vr = is_vr(bytes + 4), fits = length <= p->file->size - p->at - sizeof bytes;
    *is_implicit = !has_vr;
    *is_sure = has_vr ? !fits : fits && length % 2 == 0;
    return TML_OK;
}

/* has_meta: the file has elements of group 2, so it should say it. *compression: of the pixels;
 * NULL: none. */
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
    /* 2^16 x 2^16 x 2^31 x 2^3: below 2^66, so frames are compared by division. */
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
    tml_status status = find_start(p);
    uint64_t start = p->at;
    TML_THEN(status, read_meta(p, syntax, sizeof syntax));
    TML_THEN(status, choose_syntax(p, syntax, p->at > start || start == 132, &compression));
    TML_THEN(status, walk(p, has_pixels));
    if (compression) { /* its series has been read, unless that is compressed, too */
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
