/* tml_partition: the kept elements, then the rejected ones, each in order. */
#include "stream/stream_parts.h"

STREAM_OP(partition, tml_partition_desc, "no partitions");

static tml_status partition(tml_context *tml, const tml_partition_desc *desc)
{
    tml_partition_desc resolved = *desc;
    tml_status status = stream_resolve_compact(tml, "tml_partition", &stream_partition, &resolved);
    return status
               ? status
               : stream_run(tml, "tml_partition", &stream_partition, &resolved, resolved.scratch);
}

tml_status tml_partition(tml_context *tml, const tml_partition_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, partition(tml, desc));
}
