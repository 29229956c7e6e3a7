/* Indexed triangles as streams see them, and the smoothing of their vertices. */

/* Of a coordinate's bits: is it finite and within 2^100? */
FUNCTION(bool) mesh_bits_are_usable(uint bits)
{
    return (bits & 0x7fffffffu) <= 0x71800000u;
}

/* Index number at of indices of 1 word or 2 each; of 0: at itself. What 32 bits do not hold is 2^32
 * - 1. */
FUNCTION(uint) mesh_index_at(tml_words indices, uint at, uint words)
{
    uint index = at;
    if (words == 1u)
        index = tml_word(indices, at);
    if (words == 2u)
        index = tml_word(indices, 2u * at + 1u - TML_LOW_WORD) != 0u
                    ? 0xffffffffu
                    : tml_word(indices, 2u * at + TML_LOW_WORD);
    return index;
}

FUNCTION(bool) mesh_vertex_is_usable(tml_words vertices, uint vertex, uint count)
{
    bool is_usable = vertex < count;
    if (is_usable)
        is_usable = mesh_bits_are_usable(tml_word(vertices, 3u * vertex)) &&
                    mesh_bits_are_usable(tml_word(vertices, 3u * vertex + 1u)) &&
                    mesh_bits_are_usable(tml_word(vertices, 3u * vertex + 2u));
    return is_usable;
}

/* ---- rings ------------------------------------------------------------------------------------
 * A vertex has a ring: for each corner there, in the order of the triangles, the triangle's next
 * and its previous corner. Arrays of words:
 *   firsts    1 a vertex, and 1 more: the ring's first corner; it ends where the next one begins
 *   rings     2 a corner
 *   positions 3 a vertex */

FUNCTION(uint) mesh_mixed(uint x)
{
    x *= 0x9e3779b1u;
    x ^= x >> 15u;
    return x * 0x85ebca77u;
}

/* Does each edge that leaves the vertex in one triangle come back in another one? Sums of the
 * neighbours' numbers, and of these mixed, tell: for certain where it is so, and where one ring is
 * open. Of several open ones the differences may cancel, by a chance of 2^-64. */
FUNCTION(bool) mesh_is_inner(tml_words firsts, tml_words rings, uint vertex)
{
    uint sum = 0u;
    uint mixed = 0u;
    uint end = tml_word(firsts, vertex + 1u);
    for (uint i = tml_word(firsts, vertex); i < end; i++) {
        uint next = tml_word(rings, 2u * i);
        uint previous = tml_word(rings, 2u * i + 1u);
        sum += next - previous;
        mixed += mesh_mixed(next) - mesh_mixed(previous);
    }
    return sum == 0u && mixed == 0u;
}

/* What of each step a vertex takes part in: its weight, 0 to 1, and 0 on a boundary that is
 * kept. */
FUNCTION(float)
mesh_share(tml_words firsts, tml_words rings, uint vertex, float weight, bool is_free)
{
    float share = weight > 0.0f ? min(weight, 1.0f) : 0.0f;
    if (share > 0.0f && !is_free && !mesh_is_inner(firsts, rings, vertex))
        share = 0.0f;
    return share;
}

/* A vertex, moved by a share of the way to the mean of its ring. In a closed ring each neighbour is
 * there twice. */
FUNCTION(vec3)
mesh_moved(tml_words firsts, tml_words rings, tml_words positions, uint vertex, float share)
{
    vec3 at = tml_word_vec3(positions, vertex);
    vec3 sum = VEC3(0.0f, 0.0f, 0.0f);
    uint first = tml_word(firsts, vertex);
    uint end = tml_word(firsts, vertex + 1u);
    if (share == 0.0f || first == end)
        return at;
    for (uint i = first; i < end; i++) {
        sum = add3(sum, sub3(tml_word_vec3(positions, tml_word(rings, 2u * i)), at));
        sum = add3(sum, sub3(tml_word_vec3(positions, tml_word(rings, 2u * i + 1u)), at));
    }
    return add3(at, scale3(sum, share / (2.0f * F(end - first))));
}

/* The sum of the triangles' normals by their areas, of length 1; 0 where there is none. */
FUNCTION(vec3) mesh_normal(tml_words firsts, tml_words rings, tml_words positions, uint vertex)
{
    vec3 at = tml_word_vec3(positions, vertex);
    vec3 sum = VEC3(0.0f, 0.0f, 0.0f);
    uint end = tml_word(firsts, vertex + 1u);
    for (uint i = tml_word(firsts, vertex); i < end; i++)
        sum = add3(sum, cross3(sub3(tml_word_vec3(positions, tml_word(rings, 2u * i)), at),
                               sub3(tml_word_vec3(positions, tml_word(rings, 2u * i + 1u)), at)));
    /* Squares of large or small components would not be floats. */
    float most = max(max(abs(sum.x), abs(sum.y)), abs(sum.z));
    if (!(most > 0.0f && most < 3e38f))
        return VEC3(0.0f, 0.0f, 0.0f);
    sum = scale3(sum, 1.0f / most);
    return scale3(sum, 1.0f / length3(sum));
}
