/* Options of pictures of meshes, and the drawing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "draw/picture_frame.h"
#include "draw/picture_options.h"
#include "draw/png.h"

const char *picture_parse_size(const char *text, void *member)
{
    static const char expected[] = "width x height, each from 16 to 8192, such as 1200x900";
    uint32_t *size = member;
    double sides[2];
    if (opt_numbers_split(text, strchr(text, ',') ? ',' : 'x', sides, 2) != 2)
        return expected;
    for (int i = 0; i < 2; i++)
        if (!(sides[i] >= 16 && sides[i] <= RENDER_MAX_SIDE) || sides[i] != floor(sides[i]))
            return expected;
    size[0] = (uint32_t)sides[0];
    size[1] = (uint32_t)sides[1];
    return NULL;
}

const char *picture_parse_color(const char *text, void *member)
{
    static const struct {
        const char *name, *digits;
    } names[] = {
        {"white", "ffffff"},  {"black", "000000"}, {"grey", "808080"},   {"gray", "808080"},
        {"red", "cc2f27"},    {"green", "3f9142"}, {"blue", "2f5fa8"},   {"yellow", "e8c547"},
        {"orange", "e07b29"}, {"brown", "8a5a3b"}, {"purple", "7b4f9e"}, {"pink", "e39bb0"},
        {"cyan", "3aa6b0"},   {"bone", "e3d9c3"},  {"skin", "e0b599"},   {"silver", "c0c0c0"},
    };
    float *color = member;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        text = strcasecmp(text, names[i].name) == 0 ? names[i].digits : text;
    text += *text == '#';
    if (strlen(text) != 6 || strspn(text, "0123456789abcdefABCDEF") != 6)
        return "a colour of six hexadecimal digits such as #d9c7a8, or white, black, grey, red, "
               "green, blue, yellow, orange, brown, purple, pink, cyan, bone, skin or silver";
    unsigned long bits = strtoul(text, NULL, 16);
    for (int c = 0; c < 3; c++)
        color[c] = (float)(bits >> (16 - 8 * c) & 0xff) / 255;
    return NULL;
}

tml_up picture_up(uint32_t up, const char *format)
{
    bool is_y_up = strcmp(format, "OBJ") == 0 || strcmp(format, "glTF") == 0;
    return up ? (tml_up)up : is_y_up ? TML_UP_Y : TML_UP_Z;
}

/* The requested size and direction; and the frame, if desc has neither a frame nor a camera. */
static void place(tml_context *tml, const tml_mesh *mesh, render_desc *desc,
                  const picture_options *options)
{
    desc->width = options->size[0];
    desc->height = options->size[1];
    desc->azimuth = options->view.values[0];
    desc->elevation = options->view.values[1];
    desc->up = mesh->up ? (render_up)(mesh->up - TML_UP_Z) : RENDER_UP_Z;
    bool is_framed = false;
    for (int axis = 0; axis < 3; axis++)
        is_framed |= desc->frame_lower[axis] < desc->frame_upper[axis];
    if (!is_framed && !desc->camera)
        picture_frame_crop(tml, mesh, desc);
}

bool picture_find_camera(tml_context *tml, const tml_mesh *mesh, render_desc *desc,
                         const picture_options *options, render_camera *out)
{
    place(tml, mesh, desc, options);
    return render_find_camera(tml, mesh, desc, out);
}

tml_status picture_save(tml_context *tml, const tml_mesh *mesh, render_desc *desc,
                        const picture_options *options, const char *path)
{
    place(tml, mesh, desc, options);
    size_t size = (size_t)4 * desc->width * desc->height;
    uint8_t *rgba = tml_alloc(tml, size);
    if (!rgba)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "picture: no memory for %u x %u pixels",
                         desc->width, desc->height);
    tml_status status = render_mesh(tml, mesh, desc, rgba);
    TML_THEN(status, png_save(tml, path, rgba, desc->width, desc->height));
    tml_free(tml, rgba, size);
    return status;
}
