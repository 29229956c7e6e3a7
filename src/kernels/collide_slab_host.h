/* Slabs, each between two parallel planes, around the triangles of a leaf. Include after
 * kernels/collide.k.h. */
#ifndef TML_COLLIDE_SLAB_HOST_H
#define TML_COLLIDE_SLAB_HOST_H

/* A slab's normal: a direction scaled so that its largest component is 1 or -1. Products with it do
 * not overflow, however large the mesh is. Zeros if the direction is too short or not finite. */
static inline vec3 collide_slab_normal(const double direction[3])
{
    double x = direction[0], y = direction[1], z = direction[2];
    double largest = fmax(fmax(fabs(x), fabs(y)), fabs(z));
    if (!(largest > 1e-300 && fabs(x) < 1e300 && fabs(y) < 1e300 && fabs(z) < 1e300))
        return VEC3(0, 0, 0);
    return VEC3((float)(x / largest), (float)(y / largest), (float)(z / largest));
}

/* The slab of a leaf's eight triangles (COLLIDE_TRIANGLE_WORDS) across a normal. */
static inline collide_slab collide_slab_around(vec3 normal, const float *at)
{
    float low[COLLIDE_WIDTH], high[COLLIDE_WIDTH];
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++) {
        vec2 p[3];
        for (uint32_t corner = 0; corner < 3; corner++) {
            const float *x = at + 3 * COLLIDE_WIDTH * corner + i;
            p[corner] = collide_along(normal, VEC3(x[0], x[COLLIDE_WIDTH], x[2 * COLLIDE_WIDTH]));
        }
        low[i] = min(min(p[0].x, p[1].x), p[2].x);
        high[i] = max(max(p[0].y, p[1].y), p[2].y);
    }
    collide_slab slab = {normal, low[0], high[0]};
    for (uint32_t i = 1; i < COLLIDE_WIDTH; i++) {
        slab.low = min(slab.low, low[i]);
        slab.high = max(slab.high, high[i]);
    }
    return slab;
}

static inline void collide_slab_store(collide_slab slab, float words[COLLIDE_SLAB_WORDS])
{
    words[0] = slab.normal.x;
    words[1] = slab.normal.y;
    words[2] = slab.normal.z;
    words[3] = slab.low;
    words[4] = slab.high;
}

static inline collide_slab collide_slab_load(const float words[COLLIDE_SLAB_WORDS])
{
    return (collide_slab){VEC3(words[0], words[1], words[2]), words[3], words[4]};
}

#endif
