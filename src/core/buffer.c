/* Buffers: handles, slots, and copies between host and device. Both create and destroy increment a
 * slot's generation, which is odd while the slot holds a buffer. A handle consists of slot and
 * generation, so it matches only its own buffer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/call.h"

tml_slot *tml_slot_of(const tml_context *tml, tml_buffer buffer)
{
    const uint32_t array = buffer.slot - TML_ARRAY_FIRST;
    const tml_slot *slot = NULL;
    if (buffer.slot == 0)
        return NULL;
    if (buffer.slot < tml->slot_count)
        slot = tml_slot_at(tml, buffer.slot);
    else if (array < tml->array_count)
        slot = &tml->arrays[array / TML_ARRAY_PAGE][array % TML_ARRAY_PAGE].slot;
    return slot && slot->generation == buffer.generation && (slot->generation & 1)
               ? (tml_slot *)slot
               : NULL;
}

/* First generation of a slot: even, and unlikely to equal that of another context, so that a
 * foreign handle is recognised. It is a multiplicative (Fibonacci) hash of the context's address
 * and the time; the time distinguishes it from a closed context at the same address. */
static uint32_t first_generation(const tml_context *tml)
{
    uint64_t nanoseconds = (uint64_t)(1e9 * tml_seconds());
    return (uint32_t)((uintptr_t)tml / TML_ALIGNMENT + nanoseconds) * 0x9e3779b1u & ~1u;
}

static bool page_add(tml_context *tml)
{
    if (tml->page_count == tml->page_capacity) {
        uint32_t capacity = tml->page_capacity ? 2 * tml->page_capacity : 16;
        tml_slot **pages = tml_alloc_array(tml, capacity, sizeof *pages);
        if (!pages)
            return false;
        if (tml->pages)
            memcpy(pages, tml->pages, tml->page_count * sizeof *pages);
        tml_free(tml, tml->pages, tml->page_capacity * sizeof *pages);
        tml->pages = pages;
        tml->page_capacity = capacity;
    }
    tml_slot *page = tml_alloc_array(tml, TML_SLOT_PAGE, sizeof *page);
    if (!page)
        return false;
    memset(page, 0, TML_SLOT_PAGE * sizeof *page);
    const uint32_t generation = first_generation(tml);
    for (uint32_t i = 0; i < TML_SLOT_PAGE; i++)
        page[i].generation = generation;
    tml->pages[tml->page_count++] = page;
    return true;
}

/* Index of a free slot; 0 if out of memory. */
static uint32_t slot_take(tml_context *tml)
{
    for (uint32_t i = TML_MAX_OF(tml->free_slot, 1u); i < tml->slot_count; i++)
        if (!(tml_slot_at(tml, i)->generation & 1)) {
            tml->free_slot = i + 1;
            return i;
        }
    uint32_t number = TML_MAX_OF(tml->slot_count, 1u);
    if (number / TML_SLOT_PAGE == tml->page_count && !page_add(tml))
        return 0;
    tml->slot_count = tml->free_slot = number + 1;
    return number;
}

static tml_status buffer_create(tml_context *tml, const tml_buffer_desc *desc, tml_buffer *out)
{
    size_t element_size = tml_type_size(desc->type);
    if (element_size == 0)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "tml_buffer_create: desc.type is 0x%x, which is no element type; use TML_F32, "
            "TML_VEC(TML_F32, 3), TML_RECORD(16) and the like",
            desc->type);
    uint64_t size;
    if (!tml_mul(desc->count, element_size, &size) || size > PTRDIFF_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_buffer_create: desc.count is %" PRIu64
                         ", times %zu bytes is more than an address space holds",
                         desc->count, element_size);
    size_t scalar_size =
        tml_type_scalar(desc->type) ? tml_type_size(tml_type_scalar(desc->type)) : 1;
    if (desc->host && desc->data)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_buffer_create: desc.host and desc.data are both given, needs one: "
                         "memory used in place holds its contents already");
    if ((uintptr_t)desc->host % scalar_size != 0)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "tml_buffer_create: desc.host is not aligned to its scalar (%s, %zu bytes)",
            tml_type_name(tml_type_scalar(desc->type)), scalar_size);
    if (desc->data) {
        const tml_status status =
            tml_refuse_recording(tml, "tml_buffer_create with desc.data", NULL);
        if (status != TML_OK)
            return status;
    }
    uint32_t number = slot_take(tml);
    if (!number)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_buffer_create: no memory for a handle");
    tml_slot *slot = tml_slot_at(tml, number);
    uint32_t generation = slot->generation;
    *slot = (tml_slot){.generation = generation,
                       .type = desc->type,
                       .count = desc->count,
                       .element_size = element_size,
                       .size = (size_t)size};
    if (desc->label) /* or it is zeroed; most are */
        snprintf(slot->label, sizeof slot->label, "%s", desc->label);
    tml_status status = tml->engine->buffer_create(tml, slot, desc);
    if (status != TML_OK) {
        tml->free_slot = TML_MIN_OF(tml->free_slot, number);
        return status;
    }
    slot->generation++;
    *out = (tml_buffer){number, slot->generation};
    return TML_OK;
}

tml_status tml_buffer_create(tml_context *tml, const tml_buffer_desc *desc, tml_buffer *out)
{
    if (out)
        *out = (tml_buffer){0, 0};
    tml_status status = TML_ENTER(tml, desc, out);
    return status ? status : tml_leave(tml, buffer_create(tml, desc, out));
}

tml_status tml_buffer_make(tml_context *tml, tml_type type, uint64_t count, const void *data,
                           const char *label, tml_buffer *out)
{
    return tml_buffer_create(
        tml, &(tml_buffer_desc){.type = type, .count = count, .data = data, .label = label}, out);
}

void tml_buffer_destroy(tml_context *tml, tml_buffer buffer)
{
    if (TML_ENTER(tml) != TML_OK)
        return;
    tml_slot *slot = tml_slot_of(tml, buffer);
    if (slot) {
        tml->engine->buffer_destroy(tml, slot);
        slot->generation++;
        tml->free_slot = TML_MIN_OF(tml->free_slot, buffer.slot);
    }
    (void)tml_leave(tml, TML_OK);
}

bool tml_buffer_describe(const tml_context *tml, tml_buffer buffer, tml_type *type, uint64_t *count)
{
    const tml_slot *slot = tml ? tml_slot_of(tml, buffer) : NULL;
    if (!slot)
        return false;
    if (type)
        *type = slot->type;
    if (count)
        *count = slot->count;
    return true;
}

tml_field_text tml_field_named(const tml_context *tml, const char *field, tml_buffer buffer)
{
    const tml_slot *slot = tml_slot_of(tml, buffer);
    tml_field_text out;
    bool is_named = slot && slot->label[0];
    snprintf(out.text, sizeof out.text, is_named ? "%s \"%s\"" : "%s", field,
             is_named ? slot->label : "");
    return out;
}

static tml_status bad_handle(tml_context *tml, const char *call, const char *field,
                             tml_buffer buffer)
{
    return tml_error(
        tml, TML_ERROR_INVALID_HANDLE, "%s: %s is %s; pass a live buffer of this context", call,
        field, tml_buffer_is_none(buffer) ? "no buffer (zeroed)" : "a stale or foreign handle");
}

tml_status tml_check_buffer(tml_context *tml, const char *call, const char *field,
                            tml_buffer buffer, const tml_type *types, uint64_t count)
{
    tml_status status = tml_check_buffer_anywhere(tml, call, field, buffer, types, count);
    if (status == TML_OK && tml_slot_of(tml, buffer)->on_host)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s lies on the host (tml_buffer_desc.host says what for), and is not "
                         "read there on the %s engine; create it with data",
                         call, tml_field_named(tml, field, buffer).text, tml->engine->name);
    return status;
}

/* Adds a buffer to the list of those that are named, unless it is an array of a program. */
static tml_status name_buffer(tml_context *tml, const char *call, tml_buffer buffer)
{
    if (buffer.slot - TML_ARRAY_FIRST < TML_ARRAY_PAGE * TML_ARRAY_PAGES)
        return TML_OK;
    tml_buffer *name = tml_grow(tml, tml->named, sizeof *name);
    if (!name)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for a program's buffers",
                         call);
    *name = buffer;
    return TML_OK;
}

static bool is_one_of(tml_type type, const tml_type *types)
{
    while (*types && *types != type)
        types++;
    return *types != TML_TYPE_NONE;
}

tml_status tml_check_buffer_anywhere(tml_context *tml, const char *call, const char *field,
                                     tml_buffer buffer, const tml_type *types, uint64_t count)
{
    const tml_slot *slot = tml_slot_of(tml, buffer);
    if (!slot)
        return bad_handle(tml, call, field, buffer);
    if (types && !is_one_of(slot->type, types)) {
        char wanted[128] = "";
        size_t used = 0;
        for (const tml_type *type = types; *type; type++) {
            int wrote = snprintf(wanted + used, sizeof wanted - used, "%s%s", used ? ", " : "",
                                 tml_type_name(*type));
            used = TML_MIN_OF(used + (size_t)wrote, sizeof wanted - 1);
        }
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s has elements of %s, needs %s",
                         call, tml_field_named(tml, field, buffer).text, tml_type_name(slot->type),
                         wanted);
    }
    if (slot->count < count)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s has %" PRIu64 " elements, needs %" PRIu64, call,
                         tml_field_named(tml, field, buffer).text, slot->count, count);
    return tml->named ? name_buffer(tml, call, buffer) : TML_OK;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Checks a copy of elements [first, first + count) to or from memory. *slot receives the buffer's
 * slot. */
static tml_status check_range(tml_context *tml, const char *call, tml_buffer buffer, uint64_t first,
                              uint64_t count, const char *field, const void *memory,
                              tml_slot **slot)
{
    *slot = tml_slot_of(tml, buffer);
    if (!*slot)
        return bad_handle(tml, call, "buffer", buffer);
    if (first > (*slot)->count || count > (*slot)->count - first)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: elements [%" PRIu64 ", +%" PRIu64 ") are outside %s's %" PRIu64, call,
                         first, count, tml_field_named(tml, "buffer", buffer).text, (*slot)->count);
    if (!memory && count > 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s is NULL, needs %" PRIu64 " elements", call, field, count);
    return TML_OK;
}

static tml_status read_range(tml_context *tml, const char *call, tml_buffer buffer, uint64_t first,
                             uint64_t count, void *out)
{
    tml_slot *slot;
    tml_status status = check_range(tml, call, buffer, first, count, "out", out, &slot);
    TML_THEN(status, tml_refuse_recording(tml, NULL, NULL));
    if (status != TML_OK || count == 0)
        return status;
    tml->counters.reads++;
    return tml->engine->read(tml, slot, first * slot->element_size, count * slot->element_size,
                             out);
}

tml_status tml_buffer_read_range(tml_context *tml, tml_buffer buffer, uint64_t first,
                                 uint64_t count, void *out)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, read_range(tml, __func__, buffer, first, count, out));
}

tml_status tml_buffer_read(tml_context *tml, tml_buffer buffer, void *out)
{
    tml_status status = TML_ENTER(tml);
    if (status != TML_OK)
        return status;
    const tml_slot *slot = tml_slot_of(tml, buffer);
    return tml_leave(tml, read_range(tml, __func__, buffer, 0, slot ? slot->count : 0, out));
}

static tml_status read_count(tml_context *tml, tml_buffer buffer, uint64_t *out)
{
    static const char call[] = "tml_buffer_read_count";
    static const tml_type count_types[] = {TML_U32, TML_U64, TML_TYPE_NONE};
    tml_status status = tml_check_buffer(tml, call, "buffer", buffer, count_types, 1);
    if (status != TML_OK)
        return status;
    union {
        uint32_t narrow;
        uint64_t wide;
    } value = {.wide = 0};
    status = read_range(tml, call, buffer, 0, 1, &value);
    if (status == TML_OK)
        *out = tml_slot_of(tml, buffer)->type == TML_U32 ? value.narrow : value.wide;
    return status;
}

tml_status tml_buffer_read_count(tml_context *tml, tml_buffer buffer, uint64_t *out)
{
    tml_status status = TML_ENTER(tml, out);
    return status ? status : tml_leave(tml, read_count(tml, buffer, out));
}

static tml_status write_range(tml_context *tml, tml_buffer buffer, uint64_t first, uint64_t count,
                              const void *in)
{
    tml_slot *slot;
    tml_status status = check_range(tml, "tml_buffer_write", buffer, first, count, "in", in, &slot);
    TML_THEN(status, tml_refuse_recording(tml, NULL, NULL));
    if (status != TML_OK || count == 0)
        return status;
    return tml->engine->write(tml, slot, first * slot->element_size, count * slot->element_size,
                              in);
}

tml_status tml_buffer_write(tml_context *tml, tml_buffer buffer, uint64_t first, uint64_t count,
                            const void *in)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, write_range(tml, buffer, first, count, in));
}

tml_status tml_buffer_map(tml_context *tml, tml_buffer buffer, void **out)
{
    if (out)
        *out = NULL;
    tml_status status = TML_ENTER(tml, out);
    if (status != TML_OK)
        return status;
    tml_slot *slot = tml_slot_of(tml, buffer);
    status = tml_refuse_recording(tml, NULL, NULL);
    tml->counters.reads++;
    if (status == TML_OK)
        status =
            slot ? tml->engine->map(tml, slot, out) : bad_handle(tml, __func__, "buffer", buffer);
    return tml_leave(tml, status);
}

void tml_buffer_unmap(tml_context *tml, tml_buffer buffer)
{
    if (TML_ENTER(tml) != TML_OK)
        return;
    tml_slot *slot = tml_slot_of(tml, buffer);
    if (slot)
        tml->engine->unmap(tml, slot);
    (void)tml_leave(tml, TML_OK);
}

tml_status tml_sync(tml_context *tml)
{
    tml_status status = TML_ENTER(tml);
    if (status != TML_OK)
        return status;
    status = tml_refuse_recording(tml, NULL, NULL);
    return tml_leave(tml, status ? status : tml->engine->sync(tml));
}

tml_status tml_copy_to_device(tml_context *tml, tml_buffer from, const char *label, tml_buffer *out)
{
    tml_buffer_desc desc = {.label = label};
    void *memory = NULL;
    tml_buffer_describe(tml, from, &desc.type, &desc.count);
    tml_status status = tml_buffer_map(tml, from, &memory);
    desc.data = memory;
    TML_THEN(status, tml_buffer_create(tml, &desc, out));
    if (memory)
        tml_buffer_unmap(tml, from);
    return status;
}
