/* Inputs of surface and info: a volume or points, distinguished by content, and the options that
 * describe a headerless file. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <trommel/points.h>
#include <trommel/volumes.h>

#include "cli.h"
#include "input_kind.h"

typedef struct input_spacing {
    double steps[3];
    char unit[16]; /* unit of the steps, as in tml_volume; empty: the file's */
} input_spacing;

typedef struct input_options {
    uint64_t dims[3];
    const char *type;
    bool big_endian;
    uint64_t skip;
    input_spacing spacing;
    uint64_t frame;
} input_options;

enum { INPUT_MAX_ATTRIBUTES = 8 };

#define INPUT_TYPES "u8|i8|u16|i16|u32|i32|u64|i64|f16|f32|f64"

/* The rows of an option table for `input`, a member of args. */
/* clang-format off */
#define INPUT_OPTIONS(args)                                                                        \
    {OPT_SECTION, .help = "Input", .applies = OPT_VOLUME},                                         \
    {OPT_CUSTOM, "dims", .argument = "X,Y,Z", .applies = OPT_RAW, .needs = "type",                 \
     .brief = "samples along x, y and z of a headerless file", .parse = input_parse_dims,          \
     .offset = offsetof(args, input.dims),                                                         \
     .help = "samples along x (fastest), y and z; also read from a name such as "                  \
             "engine_256x256x128_uint8.raw.gz"},                                                   \
    {OPT_CUSTOM, "type", .choices = INPUT_TYPES, .applies = OPT_RAW, .needs = "dims",              \
     .parse = input_parse_type, .offset = offsetof(args, input.type),                              \
     .help = "type of the samples; the names of numpy and C do, too, such as uint16 or >u2"},      \
    {OPT_FLAG, "big-endian", .applies = OPT_RAW, .offset = offsetof(args, input.big_endian),       \
     .help = "byte order of the samples (default: little-endian)"},                                \
    {OPT_COUNT, "skip", .argument = "BYTES", .applies = OPT_RAW,                                   \
     .offset = offsetof(args, input.skip), .help = "bytes before the first sample, unzipped"},     \
    {OPT_CUSTOM, "spacing", .argument = "A,B,C", .parse = input_parse_spacing,                     \
     .offset = offsetof(args, input.spacing),                                                      \
     .help = "spacing of samples along x, y and z, or one number for all three, in place of the "  \
             "file's own; with a unit, such as 0.5mm or 200um,200um,1mm, that is the volume's"},   \
    {OPT_COUNT, "frame", .argument = "N", .least = 0, .most = UINT32_MAX, .fallback = "0",         \
     .offset = offsetof(args, input.frame),                                                        \
     .help = "which volume of a 4-D file, or component of a vector file"}
/* clang-format on */

const char *input_parse_dims(const char *text, void *member);
const char *input_parse_spacing(const char *text, void *member);
/* Sets the type, a member of an input_options, and its big_endian if the text says so (">u2"). */
const char *input_parse_type(const char *text, void *member);

typedef struct input {
    const char *path;
    uint64_t file_size;
    bool is_points;
    uint64_t frame; /* which of the file's volumes */
    tml_volume volume;
    tml_type file_type; /* type in the file if samples were converted; else NONE */
    tml_points points;
} input;

/* Whether the name promises points. */
bool input_is_named_like_points(const char *path);
/* Returns which reader a file is for, by its contents, then by its name. The options may say that
 * it is a headerless volume. */
tml_file_kind input_kind_of(tml_context *tml, const char *path, const input_options *options);
/* Prints why a file is of no known kind, and returns an exit code. takes_all: the command would
 * also accept meshes and pictures. */
int input_refuse(tml_context *tml, const char *path, bool takes_all);
/* Refuses options that do not apply to what the file holds; accepts all if that is unknown.
 * known: format of an already open volume; NULL: read the file's header. */
int input_check_options(tml_context *tml, const char *path, const input_options *options,
                        const char *known);
/* Whether to read a file as points rather than as a volume. */
bool input_is_points(tml_context *tml, const char *path, const input_options *options);
/* Prints why tml_points_load failed with status, and returns an exit code. */
int input_fail_points(tml_context *tml, const char *path, const input_options *options,
                      bool takes_all, tml_status status);
enum { INPUT_WORDS = 512 };
/* Splits a list at its commas.
 * words: keeps the text. names: receives the first INPUT_MAX_ATTRIBUTES names.
 * Returns: the number of names in the list. */
uint32_t input_attributes(const char *list, char words[INPUT_WORDS],
                          const char *names[INPUT_MAX_ATTRIBUTES]);
/* Loads path as a volume, or else as points. On failure, prints why and returns an exit code. */
int input_load(tml_context *tml, const char *path, const input_options *options,
               const cli_common *common, input *out);
/* Loads a volume of the same size as `of`, for a mask or an attribute. */
int input_load_like(tml_context *tml, const char *option, const char *path, const tml_volume *of,
                    tml_volume *out);
/* Checks that both have the same size. Warns if they lie at different places. */
int input_check_like(const char *option, const char *path, const tml_volume *volume,
                     const tml_volume *of);
/* Makes an input with a path but no data. */
void input_name(const char *path, input *out);
/* Returns how to load a volume, as the options say. */
tml_load_desc input_volume_desc(const input_options *options, const cli_common *common);
/* Gives the volume --spacing's unit and converts its origin. Returns an exit code; prints
 * errors. */
int input_take_unit(const input_options *options, const char *path, tml_volume *volume);
/* Reports the input as the object "input". grid: the volume's, or that of the points' field. */
void input_tell(const input *in, const tml_grid *grid, double radius);
/* Reports a volume's unit, after its spacing. */
void input_tell_unit(const char *unit);
/* Returns a unit to print after a number: " mm"; "" for none. Valid until the next call. */
const char *input_unit(const char *unit);
void input_free(tml_context *tml, input *in);

uint64_t input_sample_count(const tml_volume *volume);

#endif
