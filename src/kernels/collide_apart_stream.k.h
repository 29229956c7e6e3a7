/* Distances of a stream's pairs of triangles (collide_distance.k.h), computed on the device. Uses
 * collide_distance.k.h and collide_apart.k.h. */
#define COLLIDE_APART_NONE 0xffffffffu

/* In place of the distance, for triangles that are not certainly apart. */
FUNCTION(double) collide_apart_code(uint answer)
{
    return answer == COLLIDE_CROSSING ? -2.0 : -1.0;
}

/* The nearest points of the triangles in two slots. squared: the square of their distance, or a
 * code of collide_apart_code. */
FUNCTION(collide_apart)
collide_apart_posed(uint a_slot, uint b_slot, uint pose, tml_words a_triangles,
                    tml_words b_triangles, tml_words view)
{
    triangle_corners s = collide_near_triangle(a_triangles, a_slot);
    triangle_corners t = collide_near_posed(collide_near_rows(view, pose), b_triangles, b_slot);
    uint answer = COLLIDE_NO;
    if (collide_near_squared(collide_near_box_of(s), collide_near_box_of(t)) == 0.0f)
        answer = collide_triangles(s.a, s.b, s.c, t.a, t.b, t.c);
    collide_apart best =
        collide_apart_of(collide_spots_at(s.a, s.b, s.c), collide_spots_at(t.a, t.b, t.c));
    best.squared =
        answer == COLLIDE_NO ? collide_apart_distance(best.squared) : collide_apart_code(answer);
    return best;
}
