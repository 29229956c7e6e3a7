/* The compact command on volumes: keeps samples, or the cells that an isovalue crosses. */
#ifndef CLI_COMPACT_VOLUME_H
#define CLI_COMPACT_VOLUME_H

#include "cli.h"

#include <trommel/stream.h>

typedef struct compact_volume_args {
    const cli_common *common;
    const char *path, *output;
    const char *values; /* NULL: not requested */
    bool is_crossed;    /* keep cells that the value `crossed` crosses; false: samples */
    double crossed;
    bool nonzero;
    double lower, upper; /* bounds of kept samples */
    bool xyz, indices;
    tml_method method;
} compact_volume_args;

/* Runs the command. Returns an exit code. */
int compact_volume(tml_context *tml, const compact_volume_args *args);

#endif
