/* Reads without a wait. A context has a fixed number of them. The engine keeps the resources of a
 * read (staging memory, a pixel buffer) for later reads, so that a frame allocates nothing. */
#include <inttypes.h>

#include "core/call.h"

static tml_status read_begin(tml_context *tml, tml_buffer buffer, uint64_t first, uint64_t count,
                             tml_read *out)
{
    static const char call[] = "tml_buffer_read_begin";
    tml_status status = tml_check_buffer(tml, call, "buffer", buffer, NULL, 0);
    TML_THEN(status, tml_refuse_recording(tml, call, NULL));
    if (status != TML_OK)
        return status;
    tml_slot *slot = tml_slot_of(tml, buffer);
    if (first > slot->count || count > slot->count - first)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: elements [%" PRIu64 ", +%" PRIu64 ") are outside %s's %" PRIu64, call,
                         first, count, tml_field_named(tml, "buffer", buffer).text, slot->count);
    if (!tml->engine->read_begin)
        return tml_refuse(tml, call, "no reads without a wait; use tml_buffer_read_range");
    uint32_t number = 0;
    while (number < TML_MAX_READS && tml->reads[number].generation & 1)
        number++;
    if (number == TML_MAX_READS)
        return tml_error(tml, TML_ERROR_CAPACITY,
                         "%s: %d reads are under way, as many as a context has; take one by "
                         "tml_buffer_read_poll first",
                         call, TML_MAX_READS);
    tml_reading *reading = &tml->reads[number];
    reading->size = (size_t)count * slot->element_size;
    if (count > 0)
        status = tml->engine->read_begin(tml, slot, first * slot->element_size, reading);
    if (status == TML_OK)
        *out = (tml_read){number + 1, ++reading->generation};
    return status;
}

tml_status tml_buffer_read_begin(tml_context *tml, tml_buffer buffer, uint64_t first,
                                 uint64_t count, tml_read *out)
{
    if (out)
        *out = (tml_read){0, 0};
    tml_status status = TML_ENTER(tml, out);
    return status ? status : tml_leave(tml, read_begin(tml, buffer, first, count, out));
}

static tml_status read_poll(tml_context *tml, tml_read read, void *out, bool *done)
{
    tml_reading *reading =
        read.slot - 1 < (uint32_t)TML_MAX_READS ? &tml->reads[read.slot - 1] : NULL;
    if (!reading || !(read.generation & 1) || reading->generation != read.generation)
        return tml_error(
            tml, TML_ERROR_INVALID_HANDLE,
            "tml_buffer_read_poll: read is %s; pass one that tml_buffer_read_begin gave "
            "and that is not over",
            read.slot == 0 ? "zeroed" : "over, or of another context");
    tml_status status = TML_OK;
    bool has_arrived = reading->size == 0 || !out;
    if (!has_arrived)
        status = tml->engine->read_poll(tml, reading, out, &has_arrived);
    if (status != TML_OK || has_arrived)
        reading->generation++;
    *done = status == TML_OK && has_arrived;
    return status;
}

tml_status tml_buffer_read_poll(tml_context *tml, tml_read read, void *out, bool *done)
{
    if (done)
        *done = false;
    tml_status status = TML_ENTER(tml, done);
    return status ? status : tml_leave(tml, read_poll(tml, read, out, done));
}

void tml_reads_close(tml_context *tml)
{
    for (uint32_t i = 0; i < TML_MAX_READS; i++)
        if (tml->reads[i].memory)
            tml->engine->read_free(tml, &tml->reads[i]);
}
