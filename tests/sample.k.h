/* A kernel file that uses the whole vocabulary of kernels/kernel.h, for test_kernels.c. */
/* clang-format off */
TABLE_BEGIN(uint, sample_primes, 4)
    2u, 3u, 5u, 7u
TABLE_END

TABLE_BEGIN(float, sample_weights, 3)
    0.25f, 0.5f, 0.25f
TABLE_END

STRUCT_BEGIN(sample_sum)
    float real;
    int whole;
    uint bits;
STRUCT_END(sample_sum)

/* One member of each kind, the vec4 where std430 must pad before it. */
ARGS_BEGIN(sample_args)
    ARG_ADDRESS(bytes)
    ARG_ADDRESS(words)
    ARG_ADDRESS(floats)
    ARG_UINT(count)
    ARG_VEC4(plane)
    ARG_INT(bias)
    ARG_FLOAT(scale)
ARGS_END(sample_args)

ARGS_BEGIN(sample_other_args)
    ARG_ADDRESS(volume)
    ARG_FLOAT(iso)
ARGS_END(sample_other_args)
/* clang-format on */

/* Element i of each address read as every type that fits. */
FUNCTION(sample_sum) sample_load(sample_args args, tml_index i)
{
    sample_sum sum;
    sum.real = LOAD_F32(args.floats, i) + LOAD_F16(args.words, i);
    sum.whole = LOAD_I8(args.bytes, i) + LOAD_I16(args.words, i) + LOAD_I32(args.words, i);
    sum.bits = LOAD_U8(args.bytes, i) + LOAD_U16(args.words, i) + LOAD_U32(args.words, i);
    return sum;
}

FUNCTION(uint) sample_address_parameter(ADDRESS words, uint i)
{
    return LOAD_U32(words, N(i));
}

FUNCTION(float) sample_vectors(vec3 a, vec3 b)
{
    vec2 p = scale2(sub2(add2(VEC2(a.x, a.y), VEC2(b.x, b.y)), VEC2(1.0f, 1.0f)), 2.0f);
    vec4 q = scale4(sub4(add4(VEC4(a.x, a.y, a.z, 1.0f), VEC4(b.x, b.y, b.z, 1.0f)),
                         VEC4(1.0f, 1.0f, 1.0f, 1.0f)),
                    2.0f);
    vec3 r = scale3(sub3(add3(a, b), cross3(a, b)), 0.5f);
    return dot2(p, p) + length2(p) + dot4(q, q) + dot3(r, r) + length3(r);
}

FUNCTION(float) sample_numbers(float x)
{
    PRECISE float sum = floor(x) + ceil(x) + trunc(x) + fract(x) + sqrt(abs(x)) +
                        inversesqrt(1.0f + abs(x)) + exp2(x) + log2(1.0f + abs(x)) + exp(-abs(x)) +
                        log(1.0f + abs(x)) + sin(x) + cos(x) + tan(x) +
                        asin(clamp(x, -1.0f, 1.0f)) + acos(clamp(x, -1.0f, 1.0f)) + atan(x) +
                        pow(abs(x), 1.5f) + mod(x, 0.75f) + step(0.5f, x) + mix(x, 1.0f, 0.25f) +
                        sign(x) + min(x, 1.0f) + max(x, -1.0f);
    return sum;
}

FUNCTION(int) sample_integers(int a, uint b)
{
    int sum = abs(a) + sign(a) + min(a, 3) + max(a, -3) + clamp(a, -2, 2);
    uvec3 u = UVEC3(popcount32(b), lowest_bit32(b), clamp(b, 1u, 9u));
    ivec3 v = IVEC3(I(min(b, 4u)), I(max(b, 2u)), I(sample_primes[b % 4u]));
    for (uint i = 0u; i < 3u; i++)
        sum += I(sample_weights[i] * 4.0f);
    return sum + I(u.x + u.y + u.z) + v.x + v.y + v.z;
}

FUNCTION(bool) sample_bits(float x)
{
    return uintBitsToFloat(floatBitsToUint(x)) == x && intBitsToFloat(floatBitsToInt(x)) == x &&
           !is_nan(x) && !is_inf(x);
}
