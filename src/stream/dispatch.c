/* What every stream operation does before the engine: check common fields, replace zeros by
 * defaults, find scratch, call the engine's run(). See stream_internal.h. */
#include "stream/stream_internal.h"

#include <stdio.h>

const tml_type stream_count_types[] = {TML_U32, TML_U64, TML_TYPE_NONE};
const tml_type stream_f32_types[] = {TML_F32, TML_TYPE_NONE};
const tml_type stream_f32x3_types[] = {TML_VEC(TML_F32, 3), TML_TYPE_NONE};
const tml_type stream_triangle_types[] = {TML_VEC(TML_U32, 3), TML_VEC(TML_U64, 3), TML_TYPE_NONE};
const tml_type stream_u8_types[] = {TML_U8, TML_TYPE_NONE};
const tml_type stream_u32_types[] = {TML_U32, TML_TYPE_NONE};
const tml_type stream_scalar_types[] = {
#define SCALAR(name, size, ctype) TML_##name,
    TML_SCALAR_LIST(SCALAR)
#undef SCALAR
        TML_TYPE_NONE};

uint64_t stream_count_of(const tml_context *tml, tml_buffer buffer)
{
    const tml_slot *slot = tml_slot_of(tml, buffer);
    return slot ? slot->count : 0;
}

/* A temporary that has no memory yet has no address. */
static uint64_t address_of(const tml_context *tml, const tml_slot *slot)
{
    return slot->memory ? tml->engine->address(slot) : 0;
}

/* ---- checks --------------------------------------------------------------------------------- */

tml_status stream_check_length(tml_context *tml, const char *call, const char *field,
                               uint64_t available, tml_length *length)
{
    char device[40];
    if (length->count == 0 && !length->exact)
        length->count = available;
    length->exact = true;
    if (tml_buffer_is_none(length->device))
        return TML_OK;
    if (length->device_index == UINT64_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s.device_index is %llu, needs an element of %s.device", call, field,
                         (unsigned long long)length->device_index, field);
    snprintf(device, sizeof device, "%s.device", field);
    return tml_check_buffer(tml, call, device, length->device, stream_count_types,
                            length->device_index + 1);
}

tml_status stream_read_length(tml_context *tml, const tml_length *length, uint64_t *out)
{
    uint64_t wide = length->count;
    uint32_t narrow;
    const tml_slot *slot = tml_slot_of(tml, length->device);
    bool is_wide = slot && slot->type == TML_U64;
    tml_status status = TML_OK;
    if (slot)
        status = tml_buffer_read_range(tml, length->device, length->device_index, 1,
                                       is_wide ? (void *)&wide : &narrow);
    if (slot && !is_wide && status == TML_OK)
        wide = narrow;
    *out = TML_MIN_OF(wide, length->count);
    return status;
}

tml_status stream_check_range(tml_context *tml, const char *call, const char *field,
                              tml_buffer buffer, uint64_t largest)
{
    if (tml_type_scalar(tml_slot_of(tml, buffer)->type) == TML_U32 && largest > UINT32_MAX)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: %s is u32 and may have to hold %llu, needs u64; make the buffer u64 or "
            "bound the length",
            call, tml_field_named(tml, field, buffer).text, (unsigned long long)largest);
    return TML_OK;
}

/* Does a kernel parameter of type param accept elements of this type, unchanged or widened? */
static bool stream_param_takes(uint32_t param, tml_type element)
{
    switch (param) {
    case TML_F32:
        return element == TML_F32 || element == TML_F16;
    case TML_I32:
        return element == TML_I32 || element == TML_I16 || element == TML_I8;
    case TML_U32:
        return element == TML_U32 || element == TML_U16 || element == TML_U8;
    case TML_PARAM_WORDS:
        return tml_type_size(element) % 4 == 0;
    default:
        return element == param;
    }
}

tml_status stream_check_kernel(tml_context *tml, const char *call, const char *field,
                               const tml_kernel *kernel, tml_type result, bool rank,
                               const char *in_field, const tml_buffer in[TML_MAX_INPUTS],
                               uint64_t count)
{
    if (!kernel->run || kernel->param_count > TML_ARRAY_SIZE(kernel->params) ||
        kernel->out_count > TML_ARRAY_SIZE(kernel->outs))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s is not a whole kernel, needs one made by TML_KERNEL", call, field);
    if (kernel->out_count > 0 && result != TML_TYPE_NONE)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s (%s) makes several outputs, which only tml_map and an emit kernel "
                         "of tml_expand may",
                         call, field, kernel->name);
    if (result != TML_TYPE_NONE && kernel->result != result)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s (%s) returns %s, needs %s", call,
                         field, kernel->name, tml_type_name(kernel->result),
                         result == TML_U8 ? "bool" : tml_type_name(result));

    uint32_t next = 0;
    for (uint32_t p = 0; p < kernel->param_count; p++) {
        uint32_t param = kernel->params[p];
        if (param == TML_PARAM_RANK) {
            if (!rank)
                return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                                 "%s: %s (%s) has a tml_rank parameter, which only expand's emit "
                                 "kernel may have",
                                 call, field, kernel->name);
            continue;
        }
        if (!tml_param_is_array(param))
            continue;
        if (next == TML_MAX_INPUTS)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: %s (%s) takes more arrays than %d; join some in one", call, field,
                             kernel->name, TML_MAX_INPUTS);
        bool is_words = param == TML_PARAM_WORDS;
        char name[48];
        snprintf(name, sizeof(name), "%s[%u]", in_field, next);
        tml_status status = tml_check_buffer(tml, call, name, in[next], NULL, is_words ? 0 : count);
        if (status)
            return status;
        tml_type element = tml_slot_of(tml, in[next])->type;
        if (!stream_param_takes(param, element))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: %s is %s, needs what parameter %u of %s takes: %s", call, name,
                             tml_type_name(element), p, kernel->name,
                             is_words ? "elements of a multiple of 4 bytes" : tml_type_name(param));
        if (is_words && address_of(tml, tml_slot_of(tml, in[next])) % sizeof(uint32_t) != 0)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: %s begins at an address that is no multiple of 4, needs one for "
                             "parameter %u of %s, which takes words",
                             call, name, p, kernel->name);
        next++;
    }
    if (next < TML_MAX_INPUTS && !tml_buffer_is_none(in[next]))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s[%u] is given, but %s takes only %u arrays; leave it zeroed", call,
                         in_field, next, kernel->name, next);
    return TML_OK;
}

tml_buffer stream_first_elements(const tml_kernel *kernel, const tml_buffer *in)
{
    uint32_t next = 0;
    for (uint32_t p = 0; p < kernel->param_count && next < TML_MAX_INPUTS; p++) {
        if (tml_param_is_elements(kernel->params[p]))
            return in[next];
        next += tml_param_is_array(kernel->params[p]);
    }
    return (tml_buffer){0, 0};
}

bool stream_is_words(const tml_kernel *kernel, uint32_t input)
{
    uint32_t next = 0;
    for (uint32_t p = 0; p < kernel->param_count; p++)
        if (tml_param_is_array(kernel->params[p]) && next++ == input)
            return kernel->params[p] == TML_PARAM_WORDS;
    return false;
}

/* Is it an array of a program, which overlaps itself alone? Its address is not known yet. */
static bool is_array(tml_buffer buffer)
{
    return buffer.slot - TML_ARRAY_FIRST < TML_ARRAY_PAGE * TML_ARRAY_PAGES;
}

bool stream_same(const tml_context *tml, tml_buffer a, tml_buffer b)
{
    const tml_slot *x = tml_slot_of(tml, a);
    const tml_slot *y = tml_slot_of(tml, b);
    if (!x || !y || x == y || is_array(a) || is_array(b))
        return x && x == y;
    return tml->engine->address(x) == tml->engine->address(y);
}

bool stream_is_apart(const tml_context *tml, tml_buffer a, tml_buffer b, bool in_place)
{
    const tml_slot *x = tml_slot_of(tml, a);
    const tml_slot *y = tml_slot_of(tml, b);
    if (!x || !y || x->size == 0 || y->size == 0 || x->on_host || y->on_host)
        return true;
    if (x == y || is_array(a) || is_array(b))
        return x != y || in_place;
    uint64_t first = tml->engine->address(x), second = tml->engine->address(y);
    return first >= second + y->size || second >= first + x->size || (in_place && first == second);
}

tml_status stream_check_apart(tml_context *tml, const char *call, const char *out_field,
                              tml_buffer out, const char *other_field, tml_buffer other,
                              bool in_place)
{
    if (stream_is_apart(tml, out, other, in_place))
        return TML_OK;
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                     "%s: %s overlaps %s, needs %s; give it a buffer of its own", call,
                     tml_field_named(tml, out_field, out).text,
                     tml_field_named(tml, other_field, other).text,
                     in_place ? "the very same buffer or another" : "memory apart");
}

/* ---- method, scratch, run ------------------------------------------------------------------- */

bool stream_supports_op(tml_context *tml, const tml_engine_op *op, const void *desc)
{
    return op && (!op->supports || op->supports(tml, desc));
}

static const tml_engine_op *part_of(const tml_context *tml, const stream_op *op)
{
    return op->parts[tml->engine->part];
}

static bool avoids(const tml_context *tml, tml_method method)
{
    return tml->engine->avoids && tml->engine->avoids(tml, method);
}

tml_status stream_choose_method(tml_context *tml, const char *call, const stream_op *op,
                                const void *desc, tml_method *method, const tml_method *preference)
{
    const tml_engine_op *part = part_of(tml, op);
    if ((unsigned)*method > TML_METHOD_HISTOPYRAMID)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.method is %d, needs one of tml_method; zero is the fastest",
                         call, (int)*method);
    for (; *method == TML_METHOD_AUTO && *preference != TML_METHOD_AUTO; preference++) {
        *method = *preference;
        bool is_last = preference[1] == TML_METHOD_AUTO;
        if (!is_last && (!stream_supports_op(tml, part, desc) || avoids(tml, *method)))
            *method = TML_METHOD_AUTO;
    }
    return TML_OK;
}

tml_status stream_take_scratch(tml_context *tml, const char *call, tml_buffer scratch, size_t need,
                               void **memory, size_t *size)
{
    const bool is_given = !tml_buffer_is_none(scratch);
    *memory = NULL;
    *size = need;
    tml_status status =
        is_given ? tml_check_buffer(tml, call, "desc.scratch", scratch, stream_u8_types, 0)
                 : TML_OK;
    if (status)
        return status;
    if (!is_given || tml->is_preparing)
        return need ? tml_scratch(tml, call, need, memory) : TML_OK;
    const tml_slot *slot = tml_slot_of(tml, scratch);
    uint64_t address = tml->engine->address(slot);
    size_t skip = need ? (size_t)(-address % TML_ALIGNMENT) : 0;
    if (slot->size < skip || slot->size - skip < need)
        return tml_error(tml, TML_ERROR_SCRATCH_TOO_SMALL,
                         "%s: desc.scratch is %zu bytes, needs %zu; tml_prepare_end reports it",
                         call, slot->size, need + TML_ALIGNMENT);
    *memory = (void *)(uintptr_t)(address + skip);
    *size = slot->size - skip;
    return TML_OK;
}

tml_status stream_begin_op(tml_context *tml, const char *call, const tml_engine_op *op,
                           const char *what, const void *desc)
{
    if (tml_is_cancelled(tml))
        return tml_error(tml, TML_ERROR_CANCELLED, "%s: cancelled before it began%s", call,
                         atomic_load_explicit(&tml->cancelled, memory_order_relaxed)
                             ? "; see tml_cancel_clear"
                             : ", by the progress hook");
    tml->error[0] = '\0';
    if (stream_supports_op(tml, op, desc))
        return TML_OK;
    if (tml->error[0]) /* the reason that supports() recorded, such as a lack of memory */
        return tml->error_status;
    return tml_refuse(tml, call, op ? "no such operation for this method, kernel or type" : what);
}

tml_status stream_run_op(tml_context *tml, const char *call, const tml_engine_op *op,
                         const char *what, const void *desc, tml_buffer scratch)
{
    void *memory;
    tml_status status = stream_begin_op(tml, call, op, what, desc);
    size_t size = !status && op->scratch_size ? op->scratch_size(tml, desc) : 0;
    if (!status)
        status = stream_take_scratch(tml, call, scratch, size, &memory, &size);
    return status || tml_only_measures(tml) ? status : op->run(tml, desc, memory, size);
}
