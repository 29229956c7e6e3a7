/* Label boundaries as a surface net (src/labels/surface_nets.h). For every engine: how vertices
 * move. For devices: the words of a plan, by which surface_nets_stream.k.h makes the net from a
 * volume.
 *
 * The bits of a row are in words of 32. The row's first sample has bit 0. If there is a layer of
 * background around the volume, the first sample has bit 32 instead, so that a word of bits still
 * matches whole words of samples; the background's sample then has bit 31. Arrays that are indexed
 * by word have their element at word + words * (y + size_y * z), rows of background included. The
 * volume is read as words, whatever its type.
 *
 * The plan's words, from the host: */
#define NETS_WORDS       0u  /* of a row */
#define NETS_SIZE        1u  /* 3: samples, with those of the background around them */
#define NETS_PAD         4u  /* 1: there is a layer of background */
#define NETS_COUNT       5u  /* 3: samples of the volume */
#define NETS_FIRST       8u  /* 3: the first one's place in the whole volume */
#define NETS_STRIDES     11u /* 2: samples from a row to the next, and from a layer to the next */
#define NETS_BYTES       13u /* of a sample */
#define NETS_SIGNED      14u
#define NETS_ALIGNED     15u /* 1: each word of bits begins at a multiple of 16 bytes */
#define NETS_BACKGROUND  16u /* 2: the label, widened */
#define NETS_PATTERN     18u /* 2: the background's label, repeated over two words of the volume */
#define NETS_FLIP        20u /* 1: the winding is reversed */
#define NETS_CHOOSES     21u /* 1: samples without a bit in members are background */
#define NETS_NO_BACK     22u /* 1: faces next to the background are omitted */
#define NETS_HAS_BETWEEN 23u /* 1: faces between labels other than these two are omitted */
#define NETS_BETWEEN     24u /* 4: two labels, widened */
#define NETS_ORIGIN      28u /* 3 doubles */
#define NETS_STEPS       34u /* 9 doubles: from a sample to the next along x, y, z */
#define NETS_CHOSEN      52u /* how many labels are chosen; then the labels, two words each */
#define NETS_PLAN_WORDS  53u

/* ---- places ---------------------------------------------------------------------------------- */

/* NETS_HALF units of a vertex's position are half a cell; positions count from the cell's low
 * corner. */
#define NETS_HALF 4096

/* Rounds to nearest, ties to even. */
FUNCTION(int) nets_round(float x)
{
    float low = floor(x);
    float rest = x - low;
    int whole = I(low);
    return whole + (rest > 0.5f || (rest == 0.5f && (whole & 1) != 0) ? 1 : 0);
}

/* The sum, along an axis, of the offsets of the neighbours' cells. Bits 2 axis and 2 axis + 1 of
 * code say whether there is a neighbour across the cell's lower and upper side. */
FUNCTION(int) nets_toward(uint code, uint axis)
{
    return 2 * NETS_HALF * (I(code >> (2u * axis + 1u) & 1u) - I(code >> (2u * axis) & 1u));
}

/* The position along an axis of a vertex after an iteration, which moves it towards the mean of its
 * neighbours. all: the sum of the six neighbours' positions, with the vertex's own for each missing
 * neighbour. rate: the fraction of the way, divided by the number of neighbours. */
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
/* Is a quad's diagonal from corner b to d clearly shorter than that from a to c? The margin keeps
 * rounding from deciding the case of equal diagonals, as squares have. */
FUNCTION(bool) nets_cuts_other_way(vec3 a, vec3 b, vec3 c, vec3 d)
{
    return nets_square(b, d) < rounded_product(0.999f, nets_square(a, c));
}
