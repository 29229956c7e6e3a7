/* compact's volumes: their samples, or the cells that an isovalue crosses. */
#ifndef CLI_COMPACT_VOLUME_H
#define CLI_COMPACT_VOLUME_H

#include "cli.h"

#include <trommel/stream.h>

typedef struct compact_volume_args {
    const cli_common *common;
    const char *path, *output;
    const char *values; /* NULL: not asked for */
    bool is_crossed; /* cells that the physical value crosses; else samples that a kernel keeps */
    double crossed;
    bool nonzero;
    double lower, upper; /* bounds of samples */
    bool xyz, indices;
    tml_method method;
} compact_volume_args;

/* Runs the command, and returns an exit code. */
int compact_volume(tml_context *tml, const compact_volume_args *args);

#endif
