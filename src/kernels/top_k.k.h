/* The sample of a top k: which elements are in the sample, and which of them bounds the first k.
 * Ranks count from 0.
 *
 * After: Floyd, Rivest: Expected Time Bounds for Selection. 1975. */

/* The number of samples of n elements: one per 256 elements, up to a limit. */
#define TOP_K_SAMPLES    8192u
#define TOP_K_SAMPLED(n) ((n) / 256u < TOP_K_SAMPLES ? (n) / 256u : TOP_K_SAMPLES)
/* A stream is sampled if it has at least 65536 elements and k is at most an eighth of them;
 * otherwise sampling does not pay. */
#define TOP_K_SAMPLED_LEAST    65536u
#define TOP_K_IS_SAMPLED(k, n) ((n) >= TOP_K_SAMPLED_LEAST && (k) <= (n) / 8u)

/* The position of sample i within the i-th stretch of so many elements, jittered so that it follows
 * no period of the data. A 32-bit hash (with the constants of MurmurHash3), so a stretch is at most
 * 2^32 - 1 elements. */
FUNCTION(uint) top_k_jitter(uint i, uint stretch)
{
    uint h = (i + 0x9e3779b9u) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return (h ^ (h >> 16)) % stretch;
}

/* A rank that exceeds the expected rank by 6 standard deviations (at most, for a binomial
 * distribution) plus 8. */
FUNCTION(float) top_k_above(float expected)
{
    return expected + 6.0f * sqrt(expected) + 8.0f;
}

/* The rank of a sample, among samples of n elements, that almost surely follows at least k
 * elements. */
FUNCTION(float) top_k_rank(float k, float n, float samples)
{
    return floor(top_k_above(k * (samples / n)));
}
/* An upper bound, almost surely, of the number of elements that do not follow that sample. */
FUNCTION(float) top_k_candidates(float k, float n, float samples)
{
    return top_k_above(top_k_rank(k, n, samples)) * (n / samples);
}
