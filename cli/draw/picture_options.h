/* Options of the pictures that commands draw of the meshes they make, and the drawing. */
#ifndef CLI_PICTURE_OPTIONS_H
#define CLI_PICTURE_OPTIONS_H

#include "draw/render.h"
#include "options/options.h"

typedef struct picture_options {
    uint32_t size[2];
    opt_numbers view;
    uint32_t up; /* tml_up; 0: by the input's format */
} picture_options;

#define PICTURE_UPS "auto|z|y|x|-z|-y|-x" /* tml_up */

/* The rows of an option table for the member picture of args. PICTURE_ROWS also takes the condition
 * of --up (needs) and further members of each row. */
/* clang-format off */
#define PICTURE_OPTIONS(args)                                                                      \
    {OPT_SECTION, .help = "Picture", .needs = "png|pixels"},                                       \
    PICTURE_ROWS(args, "png|pixels|output=*.glb", .brief = NULL)
#define PICTURE_ROWS(args, up_needs, ...)                                                          \
    {OPT_CUSTOM, "size", .argument = "WxH", .parse = picture_parse_size, .fallback = "1200x900",   \
     .offset = offsetof(args, picture.size), .help = "in pixels", __VA_ARGS__},                    \
    {OPT_NUMBERS, "view", .argument = "AZ,EL", .least = -360, .most = 360, .fallback = "30,20",    \
     .count_least = 2, .count_most = 2, .offset = offsetof(args, picture.view),                    \
     .help = "turn about the vertical and elevation, in degrees", __VA_ARGS__},                    \
    {OPT_CHOICE, "up", .choices = PICTURE_UPS, .fallback = "auto", .needs = up_needs,              \
     .offset = offsetof(args, picture.up), __VA_ARGS__,                                            \
     .help = "the axis that points up; auto: y for OBJ and glTF, z for all others. A GLB, which "  \
             "is y-up, is turned by it"}
/* clang-format on */

const char *picture_parse_size(const char *text, void *member);
/* Parses "#rrggbb", with or without the "#", as three floats. */
const char *picture_parse_color(const char *text, void *member);

/* The axis that points up in an input of a format: as an option with PICTURE_UPS says; for auto, as
 * is usual for the format. */
tml_up picture_up(uint32_t up, const char *format);

/* The camera that the picture of a mesh will have, with desc's size, direction and frame. Returns
 * false if the mesh has nothing to show. */
bool picture_find_camera(tml_context *tml, const tml_mesh *mesh, render_desc *desc,
                         const picture_options *options, render_camera *out);

/* Draws mesh as desc and options say, into a PNG at path. options give desc's size and direction;
 * mesh.up gives its up axis. If desc has neither frame nor camera, distant fragments may be outside
 * the picture (picture_frame.h). */
TML_MUST_CHECK tml_status picture_save(tml_context *tml, const tml_mesh *mesh, render_desc *desc,
                                       const picture_options *options, const char *path);

#endif
