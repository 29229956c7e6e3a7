/* The base of a HistoPyramid over the cells' triangle counts; with ACTIVE, over active cells. */
#include "float_common.glsl"
#include "float_cells.glsl"

float count_of(float item)
{
    float triangles =
        load_byte(table, table_shape, 16.0 * case_of(samples_of(cell_of(item))) + 15.0);
#ifdef ACTIVE
    return step(1.0, triangles);
#else
    return triangles;
#endif
}
#include "float_base.glsl"
