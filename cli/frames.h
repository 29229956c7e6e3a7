/* Sequences: inputs whose frames are processed one after another. */
#ifndef CLI_FRAMES_H
#define CLI_FRAMES_H

#include "cli.h"

enum { FRAMES_MOST = 1000000, FRAME_PATH = 4096 };

/* --frames FIRST-LAST, both inclusive. */
typedef struct frame_range {
    uint32_t first, last;
    bool is_given;
} frame_range;
const char *frames_parse(const char *text, void *member);

/* The row of an option table for `member`, a frame_range in args. */
#define FRAMES_OPTION(args, member)                                                                \
    {                                                                                              \
        OPT_CUSTOM, "frames", .argument = "FIRST-LAST", .parse = frames_parse,                     \
                              .offset = offsetof(args, member),                                    \
                              .help = "of an input named with %04d: these numbers, each of which " \
                                      "must be there (default: the files that are)"                \
    }

typedef struct frame {
    uint32_t number; /* number in the names of this frame's files */
    char *path;      /* path of its input */
} frame;

typedef struct frames {
    frame *list; /* ascending */
    uint32_t count;
    bool is_sequence; /* false: a single file, whose outputs need no number */
} frames;

/* Finds the frames that the operands name:
 * - one file: a frame with the number at the end of its name, or 0;
 * - several files: numbered from 0;
 * - a name with %d or %04d: the files of range, all of which must exist, or without a range all
 * existing files.
 * Prints what is wrong and returns an exit code. */
int frames_find(char **operands, uint32_t operand_count, const frame_range *range, frames *out);
void frames_free(frames *f);

/* Whether all outputs exist and are newer than every input. Outputs are complete, since they appear
 * by being renamed. NULL entries are ignored. Which options made them is unknown. */
bool frames_is_done(const char *const *inputs, uint32_t input_count, const char *const *outputs,
                    uint32_t output_count);

/* Calls work for each frame in turn. Several processes share a sequence's frames; each then works
 * alone (ranks_apart). Stops at the first frame that fails, prints its name, and returns its exit
 * code.
 * index: the frame's number in f->list. */
typedef int (*frame_fn)(void *user, const frame *f, uint32_t index);
int frames_run(const frames *f, frame_fn work, void *user);

#endif
