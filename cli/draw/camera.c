/* Cameras that the user gives: by numbers, or by a file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "draw/camera.h"
#include "vectors.h"

/* Parses X,Y,Z,TX,TY,TZ[,FOV] and returns how many numbers there are. 0: the text is a file's name,
 * or empty. */
static uint32_t numbers_of(const camera_options *options, double out[7])
{
    return options->text && strchr(options->text, ',')
               ? opt_numbers_split(options->text, ',', out, 7)
               : 0;
}

int camera_check(const camera_options *options)
{
    double numbers[7];
    if (!options->text || !strchr(options->text, ',') || numbers_of(options, numbers) >= 6)
        return CLI_OK;
    return cli_usage("--camera: \"%s\" is not accepted; give 6 or 7 numbers "
                     "X,Y,Z,TX,TY,TZ[,FOV], or the name of a file of 16",
                     options->text);
}

/* Reads 16 numbers with blanks, commas or brackets between them. */
static int read_matrix(const char *path, double m[16])
{
    char text[4096];
    FILE *file = fopen(path, "r");
    if (!file)
        return cli_error("%s: cannot be read; --camera needs a text of 16 numbers", path);
    size_t size = fread(text, 1, sizeof text - 1, file);
    bool is_whole = feof(file) && !ferror(file) && memchr(text, 0, size) == NULL;
    fclose(file);
    text[size] = 0;
    uint32_t count = 0;
    const char *at = text;
    static const char between[] = " \t\r\n,;[]()";
    for (at += strspn(at, between); *at && is_whole; at += strspn(at, between)) {
        char *end;
        double number = strtod(at, &end);
        if (end == at || !isfinite(number))
            return cli_error("%s: '%.16s' is not a number; needs 16 numbers", path, at);
        if (count < 16)
            m[count] = number;
        count++;
        at = end;
    }
    if (!is_whole || count != 16)
        return cli_error("%s: has %u numbers, needs 16: a matrix of 4 x 4, row by row", path,
                         count);
    return CLI_OK;
}

/* The columns of m are the camera's axes, all of the same arbitrary length, and its position. */
static int take_matrix(const char *path, const double m[16], const double origin[3],
                       render_camera *out)
{
    double length = 0;
    for (int row = 0; row < 3; row++)
        length += m[4 * row] * m[4 * row];
    length = sqrt(length);
    for (int axis = 0; axis < 3; axis++) {
        for (int row = 0; row < 3; row++)
            out->axes[axis][row] = m[4 * row + axis] / length;
        out->eye[axis] = m[4 * axis + 3] - origin[axis];
    }
    bool is_rigid = length > 0 && m[12] == 0 && m[13] == 0 && m[14] == 0 && m[15] == 1;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b <= a; b++)
            is_rigid = is_rigid && fabs(dot(out->axes[a], out->axes[b]) - (a == b)) < 1e-3;
    double(*x)[3] = out->axes, z[3];
    cross(x[0], x[1], z);
    if (is_rigid && dot(z, x[2]) > 0)
        return CLI_OK;
    return cli_error(
        "%s: is not the matrix of a camera; the first three columns need to be right-handed axes "
        "at right angles and of one length, the fourth the camera's place, and the "
        "last row 0 0 0 1",
        path);
}

static int place_camera(const double numbers[6], tml_up up, const double origin[3],
                        render_camera *out)
{
    double forward[3], upwards[3];
    render_upwards((render_up)(up - TML_UP_Z), upwards);
    for (int i = 0; i < 3; i++) {
        forward[i] = numbers[3 + i] - numbers[i];
        out->eye[i] = numbers[i] - origin[i];
    }
    cross(forward, upwards, out->axes[0]);
    if (!normalize(forward) || !normalize(out->axes[0]))
        return cli_usage("--camera looks nowhere, or straight along --up");
    cross(out->axes[0], forward, out->axes[1]);
    for (int i = 0; i < 3; i++)
        out->axes[2][i] = -forward[i];
    return CLI_OK;
}

int camera_find(const camera_options *options, tml_up up, const double origin[3],
                render_camera *out)
{
    double m[16], numbers[7];
    uint32_t count = numbers_of(options, numbers);
    double fov = count > 6 ? numbers[6] : options->fov;
    if (!(fov > 0 && fov < 180))
        return cli_usage("--camera: %g degrees from bottom to top; needs 0 to 180", fov);
    out->angle = fov * degree;
    if (count)
        return place_camera(numbers, up, origin, out);
    int code = read_matrix(options->text, m);
    return code == CLI_OK ? take_matrix(options->text, m, origin, out) : code;
}
