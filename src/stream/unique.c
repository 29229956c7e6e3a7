/* tml_unique: one element of each run of equal neighbours. Checks, defaults and dispatch. */
#include "stream/desc.h"
#include "stream/stream_parts.h"

STREAM_OP(unique, tml_unique_desc, "no runs of equal elements");

static const char call[] = "tml_unique";

enum { LENGTH, IN, VALUES, STARTS, LENGTHS, COUNT, SCRATCH };
#define ROW(field, ...) DESC_ROW(tml_unique_desc, field, __VA_ARGS__)
#define OUT(field, ...) ROW(field, DESC_OUT, .is_optional = true, __VA_ARGS__)
static const desc_row rows[] = {
    [LENGTH] = ROW(length, DESC_LENGTHS, .like = DESC_LIKE(IN)),
    [IN] = ROW(in, DESC_IN, .count = DESC_LENGTH),
    [VALUES] = OUT(values, .like = DESC_LIKE(IN), .shares = 1u << IN),
    [STARTS] = OUT(starts, .types = stream_count_types, .holds = DESC_LAST),
    [LENGTHS] = OUT(lengths, .types = stream_count_types, .holds = DESC_LENGTH),
    [COUNT] = OUT(count, .types = stream_count_types, .count = DESC_ONE, .holds = DESC_LENGTH),
    [SCRATCH] = DESC_SCRATCH(tml_unique_desc)};

static tml_status unique(tml_context *tml, const tml_unique_desc *desc)
{
    tml_unique_desc d = *desc;
    desc_numbers numbers = {0};
    tml_status status = desc_check(tml, call, &DESC_TABLE(rows), &d, &numbers);
    return status ? status : stream_run(tml, call, &stream_unique, &d, d.scratch);
}

tml_status tml_unique(tml_context *tml, const tml_unique_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, unique(tml, desc));
}
