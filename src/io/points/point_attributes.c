/* The attributes of points, besides positions and radii: which columns form one, and which ones are
 * asked for. Readers list columns as they find them. Columns that belong together, such as vx, vy
 * and vz, are then joined. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/points/points_internal.h"

static bool is_any(const char *name, const char *const *names)
{
    while (*names && strcasecmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

/* Returns what scales a type's colours to 0 to 1; 0: the largest value decides. */
static double color_scale(tml_type type)
{
    return type == TML_U8 ? 1.0 / 255.0 : 0.0;
}

void tml_points_list(point_sink *sink, const char *name, uint32_t components, int32_t column,
                     tml_type type)
{
    static const char *const colors[] = {"color", "colors", "colour", "rgb", "rgba", NULL};
    static const char *const packed[] = {"rgb", "rgba", NULL};
    if (sink->attribute_count == POINT_ATTRIBUTES_MAX || !name[0])
        return;
    point_attribute *a = &sink->attributes[sink->attribute_count++];
    *a = (point_attribute){.components = components, .scale = color_scale(type), .place = -1};
    for (int c = 0; c < 4; c++)
        a->columns[c] = column;
    a->is_float = tml_type_is_float(type);
    a->is_packed = components == 1 && is_any(name, packed) &&
                   (type == TML_F32 || type == TML_U32 || type == TML_I32);
    if (a->is_packed) {
        a->components = 3;
        a->scale = 1.0 / 255.0;
    }
    a->is_color = a->components >= 3 && is_any(name, colors);
    snprintf(a->name, sizeof a->name, "%s", a->is_color ? "color" : name);
}

/* ---- columns that belong together ------------------------------------------------------------ */

static void copy_lower(char *out, const char *text)
{
    for (; *text; text++)
        *out++ = (char)(*text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text);
    *out = '\0';
}

/* Do the names differ only in their ends, x, y, z or 0, 1, 2? stem: their common part, without
 * "_". */
static bool have_axes(const point_attribute *three, char stem[32])
{
    static const char *const ends[] = {"xyz", "012"};
    char names[3][32];
    size_t length = strlen(three[0].name);
    for (int i = 0; i < 3; i++) {
        copy_lower(names[i], three[i].name);
        if (length < 2 || strlen(names[i]) != length ||
            strncmp(names[i], names[0], length - 1) != 0)
            return false;
    }
    for (size_t e = 0; e < 2; e++)
        if (names[0][length - 1] == ends[e][0] && names[1][length - 1] == ends[e][1] &&
            names[2][length - 1] == ends[e][2]) {
            length--;
            while (length > 1 && strchr("_.-:", three[0].name[length - 1]))
                length--;
            snprintf(stem, 32, "%.*s", (int)length, three[0].name);
            return true;
        }
    return false;
}

/* Names the attribute that three columns form. Returns false if they form none. */
static bool name_three(const point_attribute *three, char name[32])
{
    static const char *const colors[][3] = {{"red", "green", "blue"},
                                            {"r", "g", "b"},
                                            {"diffuse_red", "diffuse_green", "diffuse_blue"}};
    static const char *const velocities[] = {"v", "vel", NULL}, *const normals[] = {"n", NULL};
    for (int i = 0; i < 3; i++)
        if (three[i].components != 1)
            return false;
    for (size_t i = 0; i < sizeof colors / sizeof colors[0]; i++)
        if (strcasecmp(three[0].name, colors[i][0]) == 0 &&
            strcasecmp(three[1].name, colors[i][1]) == 0 &&
            strcasecmp(three[2].name, colors[i][2]) == 0) {
            snprintf(name, 32, "color");
            return true;
        }
    if (!have_axes(three, name))
        return false;
    if (is_any(name, velocities))
        snprintf(name, 32, "velocity");
    else if (is_any(name, normals))
        snprintf(name, 32, "normal");
    return true;
}

static void join_columns(point_sink *sink)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sink->attribute_count; i++, count++) {
        point_attribute *to = &sink->attributes[count];
        const point_attribute *three = &sink->attributes[i];
        char name[32];
        bool is_one = i + 2 < sink->attribute_count && name_three(three, name);
        const int32_t columns[4] = {three[0].columns[0], is_one ? three[1].columns[0] : 0,
                                    is_one ? three[2].columns[0] : 0, 0};
        memmove(to, three, sizeof *to);
        if (!is_one)
            continue;
        to->components = 3;
        to->is_color = strcmp(name, "color") == 0;
        memcpy(to->columns, columns, sizeof columns);
        memcpy(to->name, name, sizeof name);
        i += 2;
    }
    sink->attribute_count = count;
}

/* ---- attributes that are asked for ----------------------------------------------------------- */

static tml_status refuse_name(const point_sink *sink, const char *name)
{
    char list[512] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < sink->attribute_count && used < sizeof list - 40; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 sink->attributes[i].name);
    return tml_io_error(sink->file, TML_ERROR_INVALID_ARGUMENT,
                        "the points have no attribute \"%.40s\"; they have %s", name,
                        used ? list : "none");
}

/* Assigns an attribute its place among a point's floats. Returns false if there is no room. */
static bool take_attribute(point_sink *sink, point_attribute *a)
{
    if (a->place >= 0)
        return true;
    if (sink->float_count + a->components > POINT_FLOATS_MAX)
        return false;
    a->place = (int32_t)sink->float_count;
    sink->float_count += a->components;
    return true;
}

/* Takes all that there is room for. A warning names the rest. */
static tml_status choose_all(point_sink *sink)
{
    char list[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < sink->attribute_count; i++)
        if (!take_attribute(sink, &sink->attributes[i]) && used < sizeof list - 40)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                     sink->attributes[i].name);
    return used ? tml_io_warn(sink->file,
                              "attributes are left out, since there is room for %d numbers a "
                              "point: %s; name those that are needed",
                              POINT_FLOATS_MAX, list)
                : TML_OK;
}

tml_status tml_points_choose(point_sink *sink)
{
    join_columns(sink);
    tml_status status = TML_OK;
    for (uint32_t w = 0; w < sink->wanted_count && status == TML_OK; w++) {
        uint32_t i = 0;
        if (strcmp(sink->wanted[w], "*") == 0) {
            status = choose_all(sink);
            continue;
        }
        while (i < sink->attribute_count &&
               strcasecmp(sink->attributes[i].name, sink->wanted[w]) != 0)
            i++;
        if (i == sink->attribute_count)
            return refuse_name(sink, sink->wanted[w]);
        if (!take_attribute(sink, &sink->attributes[i]))
            return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED,
                                "the attributes asked for have more than %d numbers a point",
                                POINT_FLOATS_MAX);
    }
    return status;
}

void tml_points_set(point_sink *sink, const point_attribute *a, const double *numbers)
{
    float *to = sink->floats + a->place;
    double scale = a->is_color && a->scale > 0.0 ? a->scale : 1.0;
    for (uint32_t c = 0; c < a->components && !a->is_packed; c++)
        to[c] = (float)(scale * numbers[c]);
    if (!a->is_packed)
        return;
    /* Bytes 0, red, green, blue: of the number, or of a float's bits. */
    uint32_t bits = 0;
    float value = (float)numbers[0];
    if (a->is_float)
        memcpy(&bits, &value, sizeof bits);
    else if (numbers[0] >= -2147483648.0 && numbers[0] <= 4294967295.0)
        bits = (uint32_t)(int64_t)numbers[0];
    for (int c = 0; c < 3; c++)
        to[c] = (float)(scale * (double)(bits >> (16 - 8 * c) & 255));
}

void tml_points_scale_colors(const point_attribute *a, float *values, uint64_t count)
{
    float largest = 0.0f;
    for (uint64_t i = 0; i < count * a->components; i++)
        largest = values[i] > largest ? values[i] : largest;
    float scale = largest > 255.0f ? 65535.0f : largest > 1.0f ? 255.0f : 1.0f;
    for (uint64_t i = 0; i < count * a->components; i++)
        values[i] /= scale;
}
