/* The checks of descs by their tables: see desc.h. */
#include "stream/desc.h"

#include <string.h>

/* A buffer of a desc. */
typedef struct desc_place {
    tml_buffer buffer;
    uint32_t row;
    int index;          /* in the row's array; -1: it is none */
    const char *member; /* of the row's struct: ".in", or "" */
} desc_place;

/* One per row, and more for payloads, folds, a kernel's inputs and outputs, and another desc. */
enum { PLACES_MOST = DESC_ROWS_MOST + 32 };
typedef struct desc_places {
    desc_place at[PLACES_MOST];
    uint32_t count;
} desc_places;

struct desc_walk {
    tml_context *tml;
    const char *call;
    const desc_row *rows;
    char *desc;
    desc_numbers *numbers;
    desc_places read, written;
};

typedef struct desc_name {
    char text[64];
} desc_name;

/* Called for arrays whose elements are all in order, so without printf. */
static desc_name name_of(const desc_walk *c, const desc_place *p)
{
    desc_name name;
    const char *parts[] = {c->rows[p->row].name, p->member};
    size_t used = 0;
    for (size_t part = 0; part < TML_ARRAY_SIZE(parts); part++) {
        for (const char *from = parts[part]; *from && used + 4 < sizeof name.text; from++)
            name.text[used++] = *from;
        if (part == 0 && p->index >= 0) {
            name.text[used++] = '[';
            name.text[used++] = (char)('0' + p->index);
            name.text[used++] = ']';
        }
    }
    name.text[used] = '\0';
    return name;
}

static void *field_of(const desc_walk *c, uint32_t row)
{
    return c->desc + c->rows[row].offset;
}

static const tml_kernel *kernel_of(const desc_walk *c, uint32_t row)
{
    return *(const tml_kernel **)field_of(c, row);
}

static uint64_t number(const desc_walk *c, unsigned which)
{
    return c->numbers->of[which == DESC_OUTS ? c->numbers->outs : which];
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add(desc_places *list, tml_buffer buffer, uint32_t row, int index, const char *member)
{
    if (!tml_buffer_is_none(buffer) && list->count < PLACES_MOST)
        list->at[list->count++] = (desc_place){buffer, row, index, member};
}

/* The type of the buffer that a row's must be like, ended by TML_TYPE_NONE; else the row's list. */
static const tml_type *types_of(const desc_walk *c, const desc_row *row, tml_type like[2])
{
    if (row->types || !row->like)
        return row->types;
    const tml_buffer *other = field_of(c, row->like - 1);
    like[0] = tml_slot_of(c->tml, *other)->type;
    like[1] = TML_TYPE_NONE;
    return like;
}

static uint64_t count_of(const desc_walk *c, const desc_row *row)
{
    if (row->count == DESC_ALIKE)
        return stream_count_of(c->tml, *(tml_buffer *)field_of(c, row->like - 1));
    if (row->count >= DESC_CONSTANTS)
        return (uint64_t)(row->count - DESC_CONSTANTS);
    return number(c, row->count);
}

static tml_status check_buffer(desc_walk *c, uint32_t index)
{
    const desc_row *row = &c->rows[index];
    const tml_buffer buffer = *(tml_buffer *)field_of(c, index);
    tml_type like[2];
    add(row->kind == DESC_OUT ? &c->written : &c->read, buffer, index, -1, "");
    if (row->is_optional && tml_buffer_is_none(buffer))
        return TML_OK;
    tml_status status = (row->is_anywhere ? tml_check_buffer_anywhere : tml_check_buffer)(
        c->tml, c->call, row->name, buffer, types_of(c, row, like), count_of(c, row));
    if (status || !row->holds)
        return status;
    return stream_check_range(c->tml, c->call, row->name, buffer, number(c, row->holds));
}

static tml_status check_payload(desc_walk *c, uint32_t row, uint32_t p, const tml_payload *payload)
{
    const desc_place in = {payload->in, row, (int)p, ".in"},
                     out = {payload->out, row, (int)p, ".out"};
    const desc_name in_name = name_of(c, &in), out_name = name_of(c, &out);
    add(&c->read, in.buffer, row, (int)p, in.member);
    add(&c->written, out.buffer, row, (int)p, out.member);
    tml_status status = tml_check_buffer(c->tml, c->call, in_name.text, payload->in, NULL,
                                         number(c, c->rows[row].count));
    TML_THEN(status, tml_check_buffer(c->tml, c->call, out_name.text, payload->out, NULL,
                                      number(c, c->rows[row].holds)));
    if (status)
        return status;
    const tml_type from = tml_slot_of(c->tml, payload->in)->type,
                   to = tml_slot_of(c->tml, payload->out)->type;
    return from == to ? TML_OK
                      : tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT,
                                  "%s: %s is %s, needs %s as %s", c->call, out_name.text,
                                  tml_type_name(to), tml_type_name(from), in_name.text);
}

tml_status desc_check_payloads(desc_walk *c, uint32_t row)
{
    const tml_payload *payloads = field_of(c, row);
    bool has_ended = false;
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !status; p++) {
        const bool is_none =
            tml_buffer_is_none(payloads[p].in) && tml_buffer_is_none(payloads[p].out);
        if (!is_none && has_ended)
            return tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: %s[%u] follows an unused one, needs them without gaps", c->call,
                             c->rows[row].name, p);
        has_ended = is_none;
        if (!is_none)
            status = check_payload(c, row, p, &payloads[p]);
    }
    return status;
}

static tml_status check_length(desc_walk *c, uint32_t index)
{
    const desc_row *row = &c->rows[index];
    const uint8_t sets = row->count ? row->count : DESC_LENGTH;
    uint64_t *of = c->numbers->of;
    tml_length *length = field_of(c, index);
    add(&c->read, length->device, index, -1, ".device");
    if (row->like)
        of[sets] = stream_count_of(c->tml, *(tml_buffer *)field_of(c, row->like - 1));
    tml_status status = stream_check_length(c->tml, c->call, row->name, of[sets], length);
    if (row->holds)
        length->count = TML_MIN_OF(length->count, number(c, row->holds));
    of[sets] = length->count;
    if (sets == DESC_LENGTH) {
        const uint32_t times = c->numbers->times;
        of[DESC_LAST] = length->count ? length->count - 1 : 0;
        of[DESC_TIMES] =
            times && length->count > UINT64_MAX / times ? UINT64_MAX : length->count * times;
        of[DESC_WORDS] = length->count / 32 + (length->count % 32 != 0);
    }
    return status;
}

tml_status desc_check_segments(desc_walk *c, uint32_t row)
{
    tml_segments *segments = field_of(c, row);
    add(&c->read, segments->offsets, row, -1, ".offsets");
    add(&c->read, segments->starts, row, -1, ".starts");
    add(&c->read, segments->count.device, row, -1, ".count.device");
    return stream_check_segments(c->tml, c->call, segments, &c->numbers->of[DESC_SEGMENTS]);
}

/* The arrays that a kernel, which may be unchecked, takes; at most TML_MAX_INPUTS. */
static uint32_t kernel_inputs(const tml_kernel *kernel)
{
    uint32_t arrays = 0;
    for (uint32_t p = 0; p < TML_MIN_OF(kernel->param_count, (uint32_t)TML_MAX_PARAMS); p++)
        arrays += tml_param_is_array(kernel->params[p]);
    return TML_MIN_OF(arrays, (uint32_t)TML_MAX_INPUTS);
}

tml_status desc_check_kernel(desc_walk *c, uint32_t index)
{
    const desc_row *row = &c->rows[index];
    const tml_kernel *kernel = kernel_of(c, index);
    tml_buffer in[TML_MAX_INPUTS];
    if (!kernel)
        return row->is_optional
                   ? TML_OK
                   : tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT,
                               "%s: %s is NULL, needs one made by TML_KERNEL", c->call, row->name);
    memcpy(in, field_of(c, row->like - 1), sizeof in);
    for (uint32_t i = kernel_inputs(kernel); row->shares_inputs && i < TML_MAX_INPUTS; i++)
        in[i] = (tml_buffer){0, 0};
    return stream_check_kernel(c->tml, c->call, row->name, kernel,
                               row->types ? row->types[0] : TML_TYPE_NONE, row->has_rank,
                               c->rows[row->like - 1].name, in, number(c, row->count));
}

tml_status desc_check_made(desc_walk *c, uint32_t index)
{
    const desc_row *row = &c->rows[index];
    const tml_kernel *kernel = kernel_of(c, row->like - 1);
    const tml_buffer *out = field_of(c, index);
    const uint32_t count = kernel ? tml_kernel_outs(kernel) : 0;
    tml_status status = TML_OK;
    for (uint32_t k = 0; k < TML_MAX_OUTS && !status; k++) {
        const desc_place place = {out[k], index, (int)k, ""};
        if (k < count) {
            const tml_type types[] = {tml_kernel_out_type(kernel, k), TML_TYPE_NONE};
            add(&c->written, out[k], index, (int)k, "");
            status = tml_check_buffer(c->tml, c->call, name_of(c, &place).text, out[k], types,
                                      number(c, row->count));
        } else if (!tml_buffer_is_none(out[k])) {
            status =
                tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT,
                          "%s: %s is given, but %s makes only %u outputs; leave it zeroed", c->call,
                          name_of(c, &place).text, kernel ? kernel->name : "no kernel", count);
        }
    }
    return status;
}

static tml_status check_fold(desc_walk *c, uint32_t row, uint32_t f, const tml_reduce_result *fold)
{
    const tml_buffer in = *(tml_buffer *)field_of(c, c->rows[row].like - 1);
    const desc_place place = {fold->out, row, (int)f, ".out"};
    add(&c->written, fold->out, row, (int)f, ".out");
    return stream_check_fold(c->tml, c->call, fold->fold, in, number(c, DESC_LENGTH),
                             name_of(c, &place).text, fold->out, number(c, c->rows[row].count));
}

tml_status desc_check_folds(desc_walk *c, uint32_t row)
{
    const tml_reduce_result *folds = field_of(c, row);
    uint32_t count = 0;
    tml_status status = TML_OK;
    for (uint32_t f = 0; f < TML_MAX_FOLDS && !status; f++)
        if (!tml_buffer_is_none(folds[f].out)) {
            status = check_fold(c, row, f, &folds[f]);
            count++;
        }
    return count ? status : check_fold(c, row, 0, &folds[0]);
}

static tml_status check_enum(const desc_walk *c, uint32_t index)
{
    const desc_row *row = &c->rows[index];
    int value; /* an enumeration is as large */
    memcpy(&value, field_of(c, index), sizeof value);
    return value >= 0 && value <= row->most
               ? TML_OK
               : tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s is %d, needs one of %s",
                           c->call, row->name, value, row->of);
}

static tml_status check_range(const desc_walk *c, uint32_t index)
{
    const desc_row *row = &c->rows[index];
    const void *field = field_of(c, index);
    const double value = row->kind == DESC_U32   ? (double)*(const uint32_t *)field
                         : row->kind == DESC_F32 ? (double)*(const float *)field
                                                 : *(const double *)field;
    const bool is_default = row->is_optional && value == 0;
    return is_default || (value >= row->range->low && value <= row->range->high)
               ? TML_OK
               : tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s is %.*g, needs %s", c->call,
                           row->name, row->kind == DESC_U32 ? 10 : 6, value, row->range->needs);
}

static tml_status check_pointer(const desc_walk *c, uint32_t index)
{
    const desc_row *row = &c->rows[index];
    const void *pointer;
    memcpy(&pointer, field_of(c, index), sizeof pointer);
    return pointer ? TML_OK
                   : tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s is NULL, needs %s",
                               c->call, row->name, row->of);
}

/* Their checks are the other desc's. Their names continue this row's. */
static void add_within(desc_walk *c, uint32_t index)
{
    const desc_table *within = c->rows[index].within;
    const char *desc;
    memcpy(&desc, field_of(c, index), sizeof desc);
    for (uint32_t r = 0; desc && r < within->count; r++)
        if (within->rows[r].kind == DESC_IN)
            add(&c->read, *(const tml_buffer *)(desc + within->rows[r].offset), index, -1,
                within->rows[r].name + strlen("desc"));
}

static tml_status check_row(desc_walk *c, uint32_t row)
{
    if (c->rows[row].check)
        return c->rows[row].check(c, row);
    switch ((desc_kind)c->rows[row].kind) {
    case DESC_IN:
    case DESC_OUT:
        return check_buffer(c, row);
    case DESC_LENGTHS:
        return check_length(c, row);
    case DESC_ENUM:
        return check_enum(c, row);
    case DESC_U32:
    case DESC_F32:
    case DESC_F64:
        return check_range(c, row);
    case DESC_POINTER:
        return check_pointer(c, row);
    case DESC_WITHIN:
        add_within(c, row);
        break;
    case DESC_INPUTS:
        for (int i = 0; i < TML_MAX_INPUTS; i++)
            add(&c->read, ((const tml_buffer *)field_of(c, row))[i], row, i, "");
        break;
    case DESC_PAYLOAD:
    case DESC_OTHER:
        break;
    }
    return TML_OK;
}

/* ---- overlaps -------------------------------------------------------------------------------- */

/* Does the kernel read this input element by element, and are the elements as large as out's? */
static bool is_read_in_step(const desc_walk *c, const desc_place *out, const desc_place *in)
{
    const desc_row *row = &c->rows[in->row];
    const tml_kernel *kernel = kernel_of(c, row->like - 1);
    const tml_slot *a = tml_slot_of(c->tml, in->buffer), *b = tml_slot_of(c->tml, out->buffer);
    return a && b && a->element_size == b->element_size && kernel &&
           !stream_is_words(kernel, (uint32_t)in->index);
}

static bool may_share(const desc_walk *c, const desc_place *out, const desc_place *in)
{
    if (!(c->rows[out->row].shares >> in->row & 1) || c->numbers->apart >> out->row & 1)
        return false;
    if (in->row == out->row)
        return in->index == out->index;
    if (c->rows[in->row].kind != DESC_INPUTS)
        return true;
    if (c->rows[out->row].kind == DESC_PAYLOAD) {
        const tml_payload *payloads = field_of(c, out->row);
        if (!stream_same(c->tml, payloads[out->index].in, out->buffer))
            return false;
    }
    return is_read_in_step(c, out, in);
}

static tml_status check_apart(const desc_walk *c, const desc_place *out, const desc_place *other,
                              bool in_place)
{
    if (stream_is_apart(c->tml, out->buffer, other->buffer, in_place))
        return TML_OK;
    return stream_check_apart(c->tml, c->call, name_of(c, out).text, out->buffer,
                              name_of(c, other).text, other->buffer, in_place);
}

static tml_status check_overlaps(const desc_walk *c)
{
    tml_status status = TML_OK;
    for (uint32_t o = 0; o < c->written.count && !status; o++) {
        const desc_place *out = &c->written.at[o];
        for (uint32_t i = 0; i < o && !status; i++)
            status = check_apart(c, out, &c->written.at[i], false);
        for (uint32_t i = 0; i < c->read.count && !status; i++)
            status = check_apart(c, out, &c->read.at[i], may_share(c, out, &c->read.at[i]));
    }
    return status;
}

tml_status desc_check(tml_context *tml, const char *call, const desc_table *table, void *desc,
                      desc_numbers *numbers)
{
    desc_walk c = {.tml = tml, .call = call, .rows = table->rows, .desc = desc, .numbers = numbers};
    tml_status status = TML_OK;
    numbers->of[DESC_ANY] = 0;
    numbers->of[DESC_ONE] = 1;
    for (uint32_t row = 0; row < table->count && !status; row++)
        status = check_row(&c, row);
    return status ? status : check_overlaps(&c);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* No buffer, if the row has none. */
static tml_buffer buffer_of(const desc_row *row, const void *desc)
{
    tml_buffer buffer = {0, 0};
    if (row->kind == DESC_IN || row->kind == DESC_OUT)
        memcpy(&buffer, (const char *)desc + row->offset, sizeof buffer);
    return buffer;
}

uint32_t desc_given(const desc_table *table, const void *desc)
{
    uint32_t given = 0;
    for (uint32_t row = 0; row < table->count; row++)
        given |= (uint32_t)!tml_buffer_is_none(buffer_of(&table->rows[row], desc)) << row;
    return given;
}

tml_status desc_map_buffers(tml_context *tml, const desc_table *table, const void *desc,
                            void *const *to)
{
    tml_status status = TML_OK;
    for (uint32_t row = 0; row < table->count && !status; row++) {
        const tml_buffer buffer = buffer_of(&table->rows[row], desc);
        void *memory;
        if (!to[row] || tml_buffer_is_none(buffer))
            continue;
        status = tml_buffer_map(tml, buffer, &memory);
        memcpy(to[row], &memory, sizeof memory);
    }
    return status;
}

void desc_unmap_buffers(tml_context *tml, const desc_table *table, const void *desc,
                        void *const *to)
{
    for (uint32_t row = 0; row < table->count; row++) {
        void *memory = NULL;
        if (to[row])
            memcpy(&memory, to[row], sizeof memory);
        if (memory)
            tml_buffer_unmap(tml, buffer_of(&table->rows[row], desc));
    }
}
