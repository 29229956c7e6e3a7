/* tml_map: one output for each element of the inputs. Checks, defaults and dispatch. */
#include "stream/desc.h"
#include "stream/stream_parts.h"

STREAM_OP_FLOAT(map, tml_map_desc, "no maps");

static const char call[] = "tml_map";

enum { LENGTH, KERNEL, IN, OUT };
#define ROW(field, ...) DESC_ROW(tml_map_desc, field, __VA_ARGS__)
static const desc_row rows[] = {
    [LENGTH] = ROW(length, DESC_LENGTHS),
    [KERNEL] = ROW(kernel, DESC_KERNELS, .like = DESC_LIKE(IN), .count = DESC_LENGTH),
    [IN] = ROW(in, DESC_INPUTS, .like = DESC_LIKE(KERNEL)),
    [OUT] =
        ROW(out, DESC_MADE, .like = DESC_LIKE(KERNEL), .count = DESC_LENGTH, .shares = 1u << IN)};

/* A kernel without arrays of elements (of the index alone) runs over out[0]'s element count. */
static uint64_t available(const tml_context *tml, const tml_map_desc *d)
{
    const tml_buffer in = d->kernel ? stream_first_elements(d->kernel, d->in) : d->in[0];
    return stream_count_of(tml, tml_buffer_is_none(in) ? d->out[0] : in);
}

static tml_status map_elements(tml_context *tml, const tml_map_desc *desc)
{
    tml_map_desc d = *desc;
    desc_numbers numbers = {.of[DESC_LENGTH] = available(tml, desc)};
    tml_status status = desc_check(tml, call, &DESC_TABLE(rows), &d, &numbers);
    return status ? status : stream_run(tml, call, &stream_map, &d, (tml_buffer){0, 0});
}

tml_status tml_map(tml_context *tml, const tml_map_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, map_elements(tml, desc));
}
