/* The sample of a top k: which elements are in it, and which of them bounds the k first. Ranks
 * count from 0.
 *
 * After: Floyd, Rivest: Expected Time Bounds for Selection. 1975. */

/* Samples of n elements, of which one is worth 256. */
#define TOP_K_SAMPLES    8192u
#define TOP_K_SAMPLED(n) ((n) / 256u < TOP_K_SAMPLES ? (n) / 256u : TOP_K_SAMPLES)
/* Streams that are sampled: of shorter ones, and where k elements are more than an eighth, that
 * does not pay. */
#define TOP_K_SAMPLED_LEAST    65536u
#define TOP_K_IS_SAMPLED(k, n) ((n) >= TOP_K_SAMPLED_LEAST && (k) <= (n) / 8u)

/* Sample i, in the i-th stretch of so many elements, at a place that no period of the data follows.
 * A hash (its constants are those of MurmurHash3) of 32 bits, so the stretch is at most 2^32 -
 * 1. */
FUNCTION(uint) top_k_jitter(uint i, uint stretch)
{
    uint h = (i + 0x9e3779b9u) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return (h ^ (h >> 16)) % stretch;
}

/* A rank that is above an expected rank by 6 standard deviations (of a binomial distribution, at
 * most) and 8. */
FUNCTION(float) top_k_above(float expected)
{
    return expected + 6.0f * sqrt(expected) + 8.0f;
}

/* Of samples of n elements: the rank of one that k elements at least are almost surely not
 * after. */
FUNCTION(float) top_k_rank(float k, float n, float samples)
{
    return floor(top_k_above(k * (samples / n)));
}
/* How many elements are almost surely the most that are not after it. */
FUNCTION(float) top_k_candidates(float k, float n, float samples)
{
    return top_k_above(top_k_rank(k, n, samples)) * (n / samples);
}
