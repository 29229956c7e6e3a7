/* The inverse of a 3x3 matrix, for grids and poses. */
#ifndef TML_MATRIX_H
#define TML_MATRIX_H

/* out = the inverse of m, both row-major, as the adjugate divided by the determinant. Returns the
 * determinant. If it is 0 or not finite, m has no inverse and out is meaningless. */
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
