/* tml_gather and tml_scatter: elements from, or to, places that indices name. Checks, defaults and
 * dispatch. */
#include "stream/desc.h"
#include "stream/stream_parts.h"

STREAM_OP(gather, tml_gather_desc, "no gathers");
STREAM_OP(scatter, tml_gather_desc, "no scatters");

enum { LENGTH, INDICES, PAYLOADS, SCRATCH };
#define GATHER_ROWS(ins, outs)                                                                     \
    {                                                                                              \
        [LENGTH] = DESC_ROW(tml_gather_desc, length, DESC_LENGTHS, .like = DESC_LIKE(INDICES)),    \
        [INDICES] = DESC_ROW(tml_gather_desc, indices, DESC_IN, .types = stream_count_types,       \
                             .count = DESC_LENGTH),                                                \
        [PAYLOADS] =                                                                               \
            DESC_ROW(tml_gather_desc, payloads, DESC_PAYLOADS, .count = ins, .holds = outs),       \
        [SCRATCH] = DESC_SCRATCH(tml_gather_desc)                                                  \
    }
static const desc_row gather_rows[] = GATHER_ROWS(DESC_ANY, DESC_LENGTH),
                      scatter_rows[] = GATHER_ROWS(DESC_LENGTH, DESC_ANY);

static tml_status gather_resolve(tml_context *tml, const char *call, bool scatters,
                                 tml_gather_desc *d)
{
    desc_numbers numbers = {0};
    if (tml_buffer_is_none(d->payloads[0].in))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.payloads[0].in is no buffer, needs an array to move", call);
    return desc_check(tml, call, scatters ? &DESC_TABLE(scatter_rows) : &DESC_TABLE(gather_rows), d,
                      &numbers);
}

static tml_status gather_enter(tml_context *tml, const char *call, const stream_op *op,
                               const tml_gather_desc *desc)
{
    tml_gather_desc d = *desc;
    tml_status status = gather_resolve(tml, call, op == &stream_scatter, &d);
    return status ? status : stream_run(tml, call, op, &d, d.scratch);
}

tml_status tml_gather(tml_context *tml, const tml_gather_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, gather_enter(tml, "tml_gather", &stream_gather, desc));
}

tml_status tml_scatter(tml_context *tml, const tml_gather_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status
                  : tml_leave(tml, gather_enter(tml, "tml_scatter", &stream_scatter, desc));
}
