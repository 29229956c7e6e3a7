/* Weight, mean and sum of squared deviations of pixel luminances. Combining two such triples with
 * equal means keeps the mean unchanged. IMAGE_REAL is the type of the arithmetic: float, unless the
 * including file defines it (CPU engine: double).
 *
 * After: Chan, Golub, LeVeque: Updating Formulae and a Pairwise Algorithm for Computing Sample
 * Variances. 1979. */
#ifndef IMAGE_REAL
#    define IMAGE_REAL float
#endif

STRUCT_BEGIN(image_moments)
IMAGE_REAL weight;
IMAGE_REAL mean;
IMAGE_REAL square;
STRUCT_END(image_moments)

FUNCTION(image_moments) image_moments_join(image_moments a, image_moments b)
{
    image_moments sum;
    IMAGE_REAL weight = a.weight + b.weight;
    IMAGE_REAL share = weight > 0.0f ? b.weight / weight : 0.0f;
    IMAGE_REAL distance = b.mean - a.mean;
    sum.weight = weight;
    sum.mean = a.weight > 0.0f ? a.mean + distance * share : b.mean;
    sum.square = a.square + b.square;
    sum.square += a.weight > 0.0f ? distance * distance * (a.weight * share) : 0.0f;
    return sum;
}
