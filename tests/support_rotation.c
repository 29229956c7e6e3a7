/* Rotations for tests of poses. */
#include "rotation.h"

void rotation_of(const double q[4], double m[12])
{
    double unit[4], length = 0;
    for (int i = 0; i < 4; i++)
        length += q[i] * q[i];
    for (int i = 0; i < 4; i++)
        unit[i] = q[i] / sqrt(length);
    double w = unit[0], x = unit[1], y = unit[2], z = unit[3];
    const double rows[12] = {
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),     0,
        2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),     0,
        2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y), 0};
    for (int i = 0; i < 12; i++)
        m[i] = rows[i];
}
