/* Indexed triangles in streams, and the smoothing of their vertices. */

/* Is a coordinate, given by its bits, finite and within 2^100? */
FUNCTION(bool) mesh_bits_are_usable(uint bits)
{
    return (bits & 0x7fffffffu) <= 0x71800000u;
}

/* Index number at of an array of indices of 1 or 2 words each; with words 0, at itself. An index
 * that does not fit 32 bits becomes 2^32 - 1. */
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
 * The ring of a vertex lists, for each triangle corner at the vertex, in the order of the
 * triangles, the triangle's next and its previous vertex. Arrays of words:
 *   firsts    1 per vertex, and 1 more: where the vertex's ring begins; the next entry is its end
 *   rings     2 per corner
 *   positions 3 per vertex */

FUNCTION(uint) mesh_mixed(uint x)
{
    x *= 0x9e3779b1u;
    x ^= x >> 15u;
    return x * 0x85ebca77u;
}

/* Is the vertex inside the mesh: does each edge that leaves it in one triangle return to it in
 * another one? Compares the sums of both ends' numbers, and the sums of the mixed numbers. The
 * answer is certain if the vertex is inside, or if exactly one ring is open. With several open
 * rings the differences may cancel, with a probability of 2^-64. */
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

/* The share of each smoothing step that a vertex takes: its weight, clamped to 0 ... 1; 0 on a
 * boundary that is kept. */
FUNCTION(float)
mesh_share(tml_words firsts, tml_words rings, uint vertex, float weight, bool is_free)
{
    float share = weight > 0.0f ? min(weight, 1.0f) : 0.0f;
    if (share > 0.0f && !is_free && !mesh_is_inner(firsts, rings, vertex))
        share = 0.0f;
    return share;
}

/* A vertex, moved by a share of the way to the mean of its ring. A closed ring contains each
 * neighbour twice. */
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

/* The vertex normal: the sum of the triangles' normals, weighted by area, scaled to length 1; 0 if
 * there is none. */
FUNCTION(vec3) mesh_normal(tml_words firsts, tml_words rings, tml_words positions, uint vertex)
{
    vec3 at = tml_word_vec3(positions, vertex);
    vec3 sum = VEC3(0.0f, 0.0f, 0.0f);
    uint end = tml_word(firsts, vertex + 1u);
    for (uint i = tml_word(firsts, vertex); i < end; i++)
        sum = add3(sum, cross3(sub3(tml_word_vec3(positions, tml_word(rings, 2u * i)), at),
                               sub3(tml_word_vec3(positions, tml_word(rings, 2u * i + 1u)), at)));
    /* Squares of large or small components would overflow or underflow. */
    float most = max(max(abs(sum.x), abs(sum.y)), abs(sum.z));
    if (!(most > 0.0f && most < 3e38f))
        return VEC3(0.0f, 0.0f, 0.0f);
    sum = scale3(sum, 1.0f / most);
    return scale3(sum, 1.0f / length3(sum));
}
