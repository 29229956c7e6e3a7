/* Cameras from files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "camera.h"
#include "cli.h"

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

/* Columns of m are the camera's axes, of any one length, and its place. */
static int find_camera(const char *path, const double m[16], const double origin[3],
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
        for (int b = 0; b <= a; b++) {
            double dot = 0;
            for (int i = 0; i < 3; i++)
                dot += out->axes[a][i] * out->axes[b][i];
            is_rigid = is_rigid && fabs(dot - (a == b)) < 1e-3;
        }
    double(*x)[3] = out->axes;
    double volume = x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) -
                    x[0][1] * (x[1][0] * x[2][2] - x[1][2] * x[2][0]) +
                    x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0]);
    if (is_rigid && volume > 0)
        return CLI_OK;
    return cli_error(
        "%s: is not the matrix of a camera; the first three columns need to be right-handed axes "
        "at right angles and of one length, the fourth the camera's place, and the "
        "last row 0 0 0 1",
        path);
}

int camera_load(const char *path, const double origin[3], render_camera *out)
{
    double m[16];
    int code = read_matrix(path, m);
    return code == CLI_OK ? find_camera(path, m, origin, out) : code;
}
