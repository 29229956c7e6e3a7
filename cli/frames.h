/* Sequences: inputs that are frames, worked through one after another. */
#ifndef CLI_FRAMES_H
#define CLI_FRAMES_H

#include "cli.h"

enum { FRAMES_MOST = 1000000, FRAME_PATH = 4096 };

/* --frames FIRST-LAST, both of them included. */
typedef struct frame_range {
    uint32_t first, last;
    bool is_given;
} frame_range;
const char *frames_parse(const char *text, void *member);

/* The row of an option table for the member of args that is a frame_range. */
#define FRAMES_OPTION(args, member)                                                                \
    {                                                                                              \
        OPT_CUSTOM, "frames", .argument = "FIRST-LAST", .parse = frames_parse,                     \
                              .offset = offsetof(args, member),                                    \
                              .help = "of an input named with %04d: these numbers, each of which " \
                                      "must be there (default: the files that are)"                \
    }

typedef struct frame {
    uint32_t number; /* in the names of this frame's files */
    char *path;      /* of its input */
} frame;

typedef struct frames {
    frame *list; /* ascending */
    uint32_t count;
    bool is_sequence; /* false: one file, whose outputs need no number */
} frames;

/* What the operands stand for: one file, with the number at the end of its name, or 0; several,
 * numbered from 0; or a name with %d or %04d, which stands for the files of range, or those that
 * are there. Prints what is wrong and returns an exit code. */
int frames_find(char **operands, uint32_t operand_count, const frame_range *range, frames *out);
void frames_free(frames *f);

/* Are all outputs there, whole (they appear by being renamed) and newer than every input? NULL
 * entries do not count. What the options were at the time is not known. */
bool frames_is_done(const char *const *inputs, uint32_t input_count, const char *const *outputs,
                    uint32_t output_count);

/* Does the frames one after another; of a sequence, several processes take turns, each by itself
 * from then on (ranks_apart). Stops at the first that fails, naming it, and returns its exit code.
 * index: of the frame, among all. */
typedef int (*frame_fn)(void *user, const frame *f, uint32_t index);
int frames_run(const frames *f, frame_fn work, void *user);

#endif
