/* Pictures for the commands exposure, mips and info: from a file into a buffer of the device, and
 * back to the host. */
#ifndef CLI_PICTURE_BUFFER_H
#define CLI_PICTURE_BUFFER_H

#include <trommel/extend.h>
#include <trommel/image.h>
#include <trommel/pictures.h>
#include <trommel/volumes.h>

#include "cli.h"

typedef struct picture_buffer {
    tml_picture picture; /* in memory, until picture_buffer_free */
    tml_image image;     /* the same, as a caller-owned buffer of the context */
} picture_buffer;

/* Loads path. is_linear: integers are linear, whatever the file says. On failure prints the reason,
 * and there is nothing to free. Returns an exit code. */
int picture_buffer_load(tml_context *tml, const char *path, const cli_common *common,
                        bool is_linear, picture_buffer *out);
/* Refuses options that are not for such a picture. */
int picture_check_options(const char *path, const tml_picture *picture);
void picture_buffer_free(tml_context *tml, picture_buffer *buffer);

/* Reads pixels [first, first + width * height) of image's buffer, with image's channels, into *out,
 * whose data the caller releases by tml_picture_free. */
tml_status picture_read(tml_context *tml, const tml_image *image, tml_picture *out);

/* Removes the alpha channel from a picture of floats, in place. Sets *has_alpha if any alpha is not
 * 1. */
void picture_drop_alpha(tml_picture *picture, bool *has_alpha);

/* The counts of a picture's statistics, as a histogram of log2 luminance. The bins belong to the
 * statistics: do not free them. */
tml_value_histogram picture_histogram(const tml_image_stats *stats);

/* Reports a picture, with the other properties in its file. */
void picture_tell(const char *path, const tml_picture *picture);

/* Writes "1024 x 512, 3 x f32, Radiance" to text (TEXT_SIZE bytes), and returns it. */
char *picture_describe(const tml_picture *picture, char *text);

#endif
