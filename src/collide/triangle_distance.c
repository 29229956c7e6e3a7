/* Two triangles' distance: exactly 0 if they meet, else that of nearest points
 * (collide_apart.k.h). */
#include "collide/triangle_distance.h"

#include <math.h>
#include <string.h>

#include "exact/exact.h"
#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide_nearest.k.h"
/* Needs the header above. */
#include "kernels/collide_apart.k.h"

static vec3 corner_of(const float vertices[9], int corner)
{
    return VEC3(vertices[3 * corner], vertices[3 * corner + 1], vertices[3 * corner + 2]);
}

static collide_spots spots_of(const float vertices[9])
{
    return collide_spots_at(corner_of(vertices, 0), corner_of(vertices, 1), corner_of(vertices, 2));
}

/* The gap between two triangles' boxes along axis k. */
static double gap_along(const float a[9], const float b[9], int k)
{
    double low = (double)min(min(a[k], a[3 + k]), a[6 + k]);
    double high = (double)max(max(a[k], a[3 + k]), a[6 + k]);
    double other_low = (double)min(min(b[k], b[3 + k]), b[6 + k]);
    double other_high = (double)max(max(b[k], b[3 + k]), b[6 + k]);
    return fmax(0, fmax(low - other_high, other_low - high));
}

static void store_point(float out[3], collide_spot p)
{
    out[0] = (float)p.x, out[1] = (float)p.y, out[2] = (float)p.z;
}

bool collide_triangle_distance(const float a[9], const float b[9], double limit,
                               collide_nearest *out)
{
    collide_spot box = collide_spot_of(gap_along(a, b, 0), gap_along(a, b, 1), gap_along(a, b, 2));
    double box_squared = collide_spot_dot(box, box);
    if (sqrt(box_squared) > limit * (1 + 0x1p-50))
        return false;

    collide_spots s = spots_of(a), t = spots_of(b);
    if (box_squared == 0) {
        float segment[6];
        tml_collide_class kind = collide_exact(a, b, segment);
        if (kind == TML_COLLIDE_CLASS_COPLANAR) /* edges cross, or a vertex is in a face */
            store_point(segment, collide_apart_of(s, t).a);
        if (kind != TML_COLLIDE_CLASS_NONE) {
            out->distance = 0;
            memcpy(out->a, segment, sizeof out->a);
            memcpy(out->b, segment, sizeof out->b);
            return true;
        }
    }
    collide_apart best = collide_apart_of(s, t);
    double distance = collide_apart_distance(best.squared);
    if (distance > limit)
        return false;
    out->distance = distance;
    store_point(out->a, best.a);
    store_point(out->b, best.b);
    return true;
}

#include "kernels/kernel_end.h"
