/* tml_search: the places of queries in a sorted stream. Checks, defaults and dispatch. */
#include "stream/desc.h"
#include "stream/stream_parts.h"

STREAM_OP(search, tml_search_resolved, "no searches");

static const char call[] = "tml_search";

enum { SORTED_LENGTH, SORTED, LENGTH, QUERIES, OUT, SCRATCH };
#define ROW(field, ...) DESC_ROW(tml_search_desc, field, __VA_ARGS__)
static const desc_row rows[] = {
    [SORTED_LENGTH] =
        ROW(sorted_length, DESC_LENGTHS, .like = DESC_LIKE(SORTED), .count = DESC_SECOND),
    [SORTED] = ROW(sorted, DESC_IN, .types = stream_scalar_types, .count = DESC_SECOND),
    [LENGTH] = ROW(length, DESC_LENGTHS, .like = DESC_LIKE(QUERIES)),
    [QUERIES] = ROW(queries, DESC_IN, .like = DESC_LIKE(SORTED), .count = DESC_LENGTH),
    [OUT] =
        ROW(out, DESC_OUT, .types = stream_count_types, .count = DESC_LENGTH, .holds = DESC_SECOND),
    [SCRATCH] = DESC_SCRATCH(tml_search_desc)};

static tml_status search(tml_context *tml, const tml_search_desc *desc)
{
    tml_search_resolved resolved = {.desc = *desc};
    desc_numbers numbers = {0};
    tml_status status = desc_check(tml, call, &DESC_TABLE(rows), &resolved.desc, &numbers);
    if (!status)
        stream_sort_flips(tml_slot_of(tml, desc->sorted), desc->descending, &resolved.flip,
                          &resolved.real_flip);
    return status ? status : stream_run(tml, call, &stream_search, &resolved, desc->scratch);
}

tml_status tml_search(tml_context *tml, const tml_search_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, search(tml, desc));
}
