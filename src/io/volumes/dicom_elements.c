/* The elements of a DICOM file (NEMA PS3.5, PS3.10): finds the first element, and reads the heads
 * and values of elements. */
#include "io/volumes/dicom_elements.h"

/* ---- how a file begins ----------------------------------------------------------------------- */

bool tml_dicom_is_vr(const char *at)
{
    static const char all[] =
        "AEASATCSDADSDTFDFLISLOLTOBODOFOLOVOWPNSHSLSQSSSTSVTMUCUIULUNURUSUTUV";
    for (const char *vr = all; *vr; vr += 2)
        if (at[0] == vr[0] && at[1] == vr[1])
            return true;
    return false;
}

static bool is_long(uint16_t vr)
{
    switch (vr) {
    case DICOM_VR('O', 'B'):
    case DICOM_VR('O', 'D'):
    case DICOM_VR('O', 'F'):
    case DICOM_VR('O', 'L'):
    case DICOM_VR('O', 'V'):
    case DICOM_VR('O', 'W'):
    case DICOM_VR('S', 'Q'):
    case DICOM_VR('S', 'V'):
    case DICOM_VR('U', 'C'):
    case DICOM_VR('U', 'N'):
    case DICOM_VR('U', 'R'):
    case DICOM_VR('U', 'T'):
    case DICOM_VR('U', 'V'):
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

/* Returns whether a data set begins here, in little-endian order. There must be three elements in
 * ascending order (two if the rest is beyond head), the first in group 2 or 8, with short text
 * values. */
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
        bool is_explicit = tml_dicom_is_vr(element + 4);
        size_t start = 8;
        if (is_explicit && is_long(DICOM_VR(element[4], element[5]))) {
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

/* Returns the start of a file without preamble: some writers omit only the preamble, others the
 * four letters, too. */
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

/* ---- bytes ----------------------------------------------------------------------------------- */

tml_status tml_dicom_read_at(dicom_parser *p, uint64_t at, void *out, size_t size)
{
    bool is_inside = at >= p->window_at && at - p->window_at <= p->window_size &&
                     size <= p->window_size - (at - p->window_at);
    if (!is_inside) {
        uint64_t left = at < p->file->size ? p->file->size - at : 0;
        if (size > left)
            return tml_io_error(p->file, TML_ERROR_FILE_FORMAT,
                                "ends in an element at byte %" PRIu64 "; it was cut short", at);
        p->window_size = left < DICOM_WINDOW_SIZE ? (size_t)left : DICOM_WINDOW_SIZE;
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

tml_status tml_dicom_fail(const dicom_parser *p, const dicom_element *e, const char *what)
{
    return tml_io_error(p->file, TML_ERROR_FILE_FORMAT,
                        "element (%04x,%04x) at byte %" PRIu64 " %s", (unsigned)(e->tag >> 16),
                        (unsigned)(e->tag & 0xffff), p->at, what);
}

tml_status tml_dicom_read_head(dicom_parser *p, dicom_element *e)
{
    uint8_t bytes[8], more[4] = {0};
    bool big = p->big_endian;
    tml_status status = tml_dicom_read_at(p, p->at, bytes, sizeof bytes);
    if (status != TML_OK)
        return status;
    *e = (dicom_element){.tag =
                             (uint32_t)io_load_u16(bytes, big) << 16 | io_load_u16(bytes + 2, big),
                         .length = io_load_u32(bytes + 4, big)};
    size_t size = sizeof bytes;
    if (!p->is_implicit && e->tag >> 16 != 0xFFFE) {
        e->vr = DICOM_VR(bytes[4], bytes[5]);
        if (bytes[4] < 'A' || bytes[4] > 'Z' || bytes[5] < 'A' || bytes[5] > 'Z')
            return tml_dicom_fail(p, e,
                                  "has no value representation, which is two capital letters");
        e->length = io_load_u16(bytes + 6, big);
        if (is_long(e->vr)) {
            status = tml_dicom_read_at(p, p->at + size, more, sizeof more);
            e->length = io_load_u32(more, big);
            size += sizeof more;
        }
    }
    p->at += size;
    return status;
}

/* ---- values ---------------------------------------------------------------------------------- */

tml_status tml_dicom_read_text(dicom_parser *p, const dicom_element *e, char *out, size_t size)
{
    if (e->length >= size)
        return tml_dicom_fail(p, e, "is longer than its kind may be");
    tml_status status = tml_dicom_read_at(p, p->at, out, e->length);
    size_t length = status == TML_OK ? e->length : 0;
    while (length && (out[length - 1] == ' ' || out[length - 1] == '\0'))
        length--;
    out[length] = '\0';
    return status;
}

tml_status tml_dicom_parse_numbers(const dicom_parser *p, const dicom_element *e, io_span text,
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
            return TML_OK; /* an empty value counts as missing */
        if (!tml_io_parse_f64(word, &out[*count]) || !isfinite(out[*count]))
            return tml_dicom_fail(p, e, "has a value that is no number");
        text = (io_span){text.text + taken, text.size - taken};
    }
    return TML_OK;
}

tml_status tml_dicom_read_numbers(dicom_parser *p, const dicom_element *e, double *out,
                                  size_t count, bool *has)
{
    char text[DICOM_VALUE_MOST];
    double numbers[8];
    size_t found = 0;
    tml_status status = tml_dicom_read_text(p, e, text, sizeof text);
    TML_THEN(status,
             tml_dicom_parse_numbers(p, e, (io_span){text, strlen(text)}, numbers, 8, &found));
    *has = status == TML_OK && found == count;
    if (*has)
        memcpy(out, numbers, count * sizeof *out);
    if (status == TML_OK && found != count && found != 0)
        return tml_dicom_fail(p, e, "has another number of values than its kind");
    return status;
}

tml_status tml_dicom_read_optional(dicom_parser *p, const dicom_element *e, double *out, bool *has)
{
    char text[DICOM_VALUE_MOST];
    *has = false;
    if (e->length >= sizeof text) {
        p->image->notes |= DICOM_BAD_NUMBER;
        return TML_OK;
    }
    tml_status status = tml_dicom_read_text(p, e, text, sizeof text);
    io_span word = tml_io_trim((io_span){text, strcspn(text, "\\")});
    *has = status == TML_OK && tml_io_parse_f64(word, out) && isfinite(*out);
    if (status == TML_OK && !*has && word.size)
        p->image->notes |= DICOM_BAD_NUMBER;
    return status;
}

tml_status tml_dicom_read_count(dicom_parser *p, const dicom_element *e, uint64_t *out)
{
    uint8_t bytes[2] = {0};
    if (e->length != sizeof bytes)
        return tml_dicom_fail(p, e, "is not two bytes long");
    tml_status status = tml_dicom_read_at(p, p->at, bytes, sizeof bytes);
    *out = io_load_u16(bytes, p->big_endian);
    return status;
}

tml_status tml_dicom_find_start(dicom_parser *p)
{
    char head[132];
    size_t size = p->file->size < sizeof head ? (size_t)p->file->size : sizeof head;
    tml_status status = tml_dicom_read_at(p, 0, head, size);
    const io_span span = {head, status == TML_OK ? size : 0};
    p->at = has_preamble(span) ? sizeof head : bare_start(span);
    return status;
}

#endif
