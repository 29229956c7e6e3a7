/* A stream operation whose desc is resolved: it runs, or becomes a step of the program that
 * records. */
#include "stream/program.h"

tml_status stream_run(tml_context *tml, const char *call, const stream_op *op, const void *desc,
                      tml_buffer scratch)
{
    return tml->recorder
               ? program_record(tml->recorder, op, desc)
               : stream_run_op(tml, call, op->parts[tml->engine->part], op->without, desc, scratch);
}
