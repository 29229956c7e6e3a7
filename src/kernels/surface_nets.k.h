/* Label boundaries as a surface net (src/labels/surface_nets.h): where vertices are, on every
 * engine; and, for devices, the net from its volume on.
 *
 * Bits of a row stand in words of 32. Its first sample is bit 0 or, behind a layer of background,
 * bit 32, so that words of bits are words of samples; the background's sample is then bit 31. What
 * is numbered by row is at word + words * (y + size_y
 * * z), with rows of background counted. The volume is seen as words, whatever its type.
 *
 * Words of a plan, from the host. */
#define NETS_WORDS       0u  /* of a row */
#define NETS_SIZE        1u  /* 3: samples, with those of the background around them */
#define NETS_PAD         4u  /* 1: there is a layer of background */
#define NETS_COUNT       5u  /* 3: samples of the volume */
#define NETS_FIRST       8u  /* 3: the first one's place in the whole volume */
#define NETS_STRIDES     11u /* 2: samples from a row, and from a layer, to the next */
#define NETS_BYTES       13u /* of a sample */
#define NETS_SIGNED      14u
#define NETS_ALIGNED     15u /* 1: each word of bits begins at a multiple of 16 bytes */
#define NETS_BACKGROUND  16u /* 2: the label, widened */
#define NETS_PATTERN     18u /* 2: words of the volume that are background */
#define NETS_FLIP        20u /* 1: the winding is reversed */
#define NETS_CHOOSES     21u /* 1: labels of no bit in members are background */
#define NETS_NO_BACK     22u /* 1: faces beside the background are left out */
#define NETS_HAS_BETWEEN 23u /* 1: faces of other pairs are */
#define NETS_BETWEEN     24u /* 4: two labels, widened */
#define NETS_ORIGIN      28u /* 3 doubles */
#define NETS_STEPS       34u /* 9 doubles: from a sample to the next along x, y, z */
#define NETS_CHOSEN      52u /* how many labels are chosen; then these, two words each */
#define NETS_PLAN_WORDS  53u

/* ---- places ---------------------------------------------------------------------------------- */

/* A place in a cell is that many halves from its low corner, along each axis. */
#define NETS_HALF 4096

/* Half to even. */
FUNCTION(int) nets_round(float x)
{
    float low = floor(x);
    float rest = x - low;
    int whole = I(low);
    return whole + (rest > 0.5f || (rest == 0.5f && (whole & 1) != 0) ? 1 : 0);
}

/* Neighbours across the lower and the upper side of each axis are bits of a code: how much farther
 * their cells are, in sum. */
FUNCTION(int) nets_toward(uint code, uint axis)
{
    return 2 * NETS_HALF * (I(code >> (2u * axis + 1u) & 1u) - I(code >> (2u * axis) & 1u));
}

/* Where an iteration moves a vertex along an axis: towards the mean of its neighbours, of whose
 * places all is the sum, its own in place of the six that lack. rate: how much of the way for each
 * of them. */
FUNCTION(uint) nets_moved(uint from, uint all, int toward, float rate, int bound)
{
    float way = rounded_product(F(I(all) - 6 * I(from) + toward), rate);
    return U(clamp(I(from) + nets_round(way), NETS_HALF - bound, NETS_HALF + bound));
}

FUNCTION(float) nets_square(vec3 a, vec3 b)
{
    PRECISE float x = a.x - b.x;
    PRECISE float y = a.y - b.y;
    PRECISE float z = a.z - b.z;
    PRECISE float xy = rounded_product(x, x) + rounded_product(y, y);
    PRECISE float xyz = xy + rounded_product(z, z);
    return xyz;
}
/* Is a quad's diagonal from corner b to d clearly shorter than that from a to c? Rounding decides
 * nothing between squares'. */
FUNCTION(bool) nets_cuts_other_way(vec3 a, vec3 b, vec3 c, vec3 d)
{
    return nets_square(b, d) < rounded_product(0.999f, nets_square(a, c));
}
