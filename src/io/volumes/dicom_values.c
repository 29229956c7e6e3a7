/* Stores the values of a DICOM data set in an image and its frames. */
#include "io/volumes/dicom_elements.h"

#ifdef TML_DICOM
#    include <math.h>

enum { LIST_MOST = 16 << 20 }; /* bytes of a list of numbers */

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
    tml_status status = tml_dicom_read_numbers(p, e, v, 6, &has);
    if (status != TML_OK || !has)
        return status;
    double x = hypot(hypot(v[0], v[1]), v[2]), y = hypot(hypot(v[3], v[4]), v[5]);
    double cosine = v[0] * v[3] + v[1] * v[4] + v[2] * v[5];
    if (fabs(x - 1) > 0.01 || fabs(y - 1) > 0.01 || fabs(cosine) > 0.01)
        return tml_dicom_fail(p, e, "has no two unit vectors at a right angle");
    for (int i = 0; i < 6 && image->has_orientation; i++)
        image->is_turned |= fabs(v[i] / (i < 3 ? x : y) - image->orientation[i]) > 1e-3;
    for (int i = 0; i < 6 && !image->has_orientation; i++)
        image->orientation[i] = v[i] / (i < 3 ? x : y);
    image->has_orientation = true;
    return TML_OK;
}

/* Parses a text that should be two lengths separated by a backslash. Files also have a comma in
 * place of the backslash or of the point, one length for both, or three lengths. 0 counts as
 * missing.
 * *is_odd    receives whether the text has another form
 * *is_wrong  receives whether a word is not a length
 * Returns: the number of lengths in out. */
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
    char text[DICOM_VALUE_MOST] = "";
    if (e->length >= sizeof text)
        return tml_dicom_fail(p, e, "is longer than its kind may be");
    tml_status status = tml_dicom_read_text(p, e, text, sizeof text);
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

tml_status tml_dicom_add_frame(dicom_parser *p)
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

/* Returns the frame to which the current element belongs; NULL: the element is for all frames. */
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
    tml_status status = tml_dicom_read_numbers(p, e, position, 3, &has);
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

/* Takes the offsets of a dose's frames along the normal. */
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
    TML_THEN(status,
             tml_dicom_parse_numbers(p, e, (io_span){text, e->length}, numbers, most, &count));
    const double normal[3] = {o[1] * o[5] - o[2] * o[4], o[2] * o[3] - o[0] * o[5],
                              o[0] * o[4] - o[1] * o[3]};
    for (size_t i = 0; i < count && status == TML_OK; i++) {
        double position[3];
        for (int axis = 0; axis < 3; axis++)
            position[axis] = image->stack.first[axis] + normal[axis] * (numbers[i] - numbers[0]);
        if (i > 0)
            tml_dicom_add_position(&image->stack, position);
        status = tml_dicom_add_frame(p);
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
    tml_status status = tml_dicom_read_numbers(p, e, &value, 1, &has);
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
    tml_status status = tml_dicom_read_numbers(p, e, number, 1, &has);
    if (has && !(number[0] >= 0 && number[0] <= INT32_MAX))
        return tml_dicom_fail(p, e, "needs a number of frames from 1 on");
    if (has) /* 0 counts as 1 */
        p->image->frames = number[0] < 1 ? 1 : (uint64_t)number[0];
    return status;
}

tml_status tml_dicom_take_value(dicom_parser *p, const dicom_element *e)
{
    dicom_image *image = p->image;
    uint64_t sign;
    tml_status status;
    switch (e->tag) {
    case TAG_SERIES:
        return tml_dicom_read_text(p, e, image->series, sizeof image->series);
    case TAG_PHOTOMETRIC:
        return tml_dicom_read_text(p, e, image->photometric, sizeof image->photometric);
    case TAG_INSTANCE:
        return tml_dicom_read_text(p, e, image->instance, sizeof image->instance);
    case TAG_DESCRIPTION:
        if (e->length >= sizeof image->description)
            return TML_OK;
        return tml_dicom_read_text(p, e, image->description, sizeof image->description);
    case TAG_NUMBER:
        return tml_dicom_read_optional(p, e, &image->number, &image->has_number);
    case TAG_LOCATION:
        return tml_dicom_read_optional(p, e, &image->location, &image->has_location);
    case TAG_THICKNESS:
        return tml_dicom_read_optional(p, e, &image->thickness, &image->has_thickness);
    case TAG_BETWEEN:
        return tml_dicom_read_optional(p, e, &image->between, &image->has_between);
    case TAG_POSITION:
        return take_position(p, e);
    case TAG_ORIENTATION:
        return take_orientation(p, e);
    case TAG_SAMPLES:
        return tml_dicom_read_count(p, e, &image->samples);
    case TAG_FRAMES:
        return take_frames(p, e);
    case TAG_ROWS:
        return tml_dicom_read_count(p, e, &image->rows);
    case TAG_COLUMNS:
        return tml_dicom_read_count(p, e, &image->columns);
    case TAG_SPACING:
    case TAG_DETECTOR_SPACING:
    case TAG_SCANNED_SPACING:
        return take_spacing(p, e);
    case TAG_BITS_ALLOCATED:
        return tml_dicom_read_count(p, e, &image->bits);
    case TAG_BITS_STORED:
        return tml_dicom_read_count(p, e, &image->stored);
    case TAG_HIGH_BIT:
        return tml_dicom_read_count(p, e, &image->high);
    case TAG_SIGN:
        status = tml_dicom_read_count(p, e, &sign);
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

#endif
