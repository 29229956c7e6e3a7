/* Segments of tml_reduce, tml_scan and tml_sort: their check. */
#include "stream/stream_internal.h"

tml_status stream_check_segments(tml_context *tml, const char *call, tml_segments *segments,
                                 uint64_t *most)
{
    const tml_length *count = &segments->count;
    const bool has_starts = !tml_buffer_is_none(segments->starts);
    tml_status status = TML_OK;
    *most = 0;
    if (has_starts && !tml_buffer_is_none(segments->offsets))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.segments.offsets and starts are both given, needs one of them",
                         call);
    if (!has_starts && (count->count || count->exact || !tml_buffer_is_none(count->device)))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.segments.count is given without starts, needs to stay zeroed",
                         call);
    if (has_starts) {
        status = stream_check_length(tml, call, "desc.segments.count",
                                     stream_count_of(tml, segments->starts), &segments->count);
        *most = count->count;
        TML_THEN(status, tml_check_buffer(tml, call, "desc.segments.starts", segments->starts,
                                          stream_count_types, *most));
    } else if (!tml_buffer_is_none(segments->offsets)) {
        /* n segments have n + 1 offsets, so one offset is the least. */
        status = tml_check_buffer(tml, call, "desc.segments.offsets", segments->offsets,
                                  stream_count_types, 1);
        *most = status ? 0 : stream_count_of(tml, segments->offsets) - 1;
    }
    return status;
}
