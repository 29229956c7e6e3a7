/* The inverse of a 3x3 matrix, once for all grids and poses. */
#ifndef TML_MATRIX_H
#define TML_MATRIX_H

/* Inverts m, row-major, by cofactors, and returns its determinant, by which out is divided: where that
 * is 0 or not finite there is no inverse, and out is of no use. */
static inline double tml_invert3(const double m[9], double out[9])
{
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            int a = (column + 1) % 3, b = (column + 2) % 3, c = (row + 1) % 3, d = (row + 2) % 3;
            out[3 * row + column] = m[3 * a + c] * m[3 * b + d] - m[3 * a + d] * m[3 * b + c];
        }
    double determinant = m[0] * out[0] + m[1] * out[3] + m[2] * out[6];
    for (int i = 0; i < 9; i++)
        out[i] /= determinant;
    return determinant;
}

#endif
