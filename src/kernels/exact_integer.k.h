/* Integers of up to 384 bits in two's complement, the lowest word first. A call computes as many of
 * the lowest words as it names, and leaves the rest of its result undefined. A result that fits the
 * named words is exact. */
#define EXACT_INTEGER_WORDS 12u

/* Precedes loops: an including shader may define it to unroll them. llvmpipe, a software driver,
 * ends a thread's loops after 65535 iterations in total. */
#ifndef EXACT_INTEGER_UNROLL
#    define EXACT_INTEGER_UNROLL
#endif

STRUCT_BEGIN(exact_integer)
uint word[12];
STRUCT_END(exact_integer)

/* Sign-extends a number from its lower three words to six. */
FUNCTION(exact_integer) exact_integer_of(uvec3 x)
{
    exact_integer a;
    uint above = 0u - (x.z >> 31u);
    a.word[0] = x.x;
    a.word[1] = x.y;
    a.word[2] = x.z;
    EXACT_INTEGER_UNROLL for (uint i = 3u; i < EXACT_INTEGER_WORDS; i++) a.word[i] = above;
    return a;
}

/* Sign-extends a number from its lower six words to all words. */
FUNCTION(exact_integer) exact_integer_extended(exact_integer a)
{
    uint above = 0u - (a.word[5] >> 31u);
    EXACT_INTEGER_UNROLL for (uint i = 6u; i < EXACT_INTEGER_WORDS; i++) a.word[i] = above;
    return a;
}

/* a + b if flip is 0; a - b if flip has all bits set. */
FUNCTION(exact_integer) exact_integer_sum(exact_integer a, exact_integer b, uint flip, uint words)
{
    uint carry = flip & 1u;
    EXACT_INTEGER_UNROLL for (uint i = 0u; i < words; i++)
    {
        uint other = b.word[i] ^ flip;
        uint part = a.word[i] + carry;
        uint carries = U(part < carry);
        a.word[i] = part + other;
        carry = carries + U(a.word[i] < other);
    }
    return a;
}

FUNCTION(exact_integer) exact_integer_add(exact_integer a, exact_integer b, uint words)
{
    return exact_integer_sum(a, b, 0u, words);
}

FUNCTION(exact_integer) exact_integer_subtract(exact_integer a, exact_integer b, uint words)
{
    return exact_integer_sum(a, b, 0xffffffffu, words);
}

FUNCTION(exact_integer) exact_integer_multiply(exact_integer a, exact_integer b, uint words)
{
    exact_integer product = exact_integer_of(UVEC3(0u, 0u, 0u));
    EXACT_INTEGER_UNROLL for (uint i = 0u; i < EXACT_INTEGER_WORDS; i++)
    {
        uint carry = 0u;
        EXACT_INTEGER_UNROLL for (uint j = 0u; j < EXACT_INTEGER_WORDS; j++)
        {
            if (i + j >= words)
                continue;
            uint low = a.word[i] * b.word[j];
            uint high = tml_multiply_high(a.word[i], b.word[j]);
            low += carry;
            high += U(low < carry);
            uint sum = product.word[i + j] + low;
            carry = high + U(sum < low);
            product.word[i + j] = sum;
        }
    }
    return product;
}

/* 1, 0 or -1. */
FUNCTION(int) exact_integer_sign(exact_integer a, uint words)
{
    uint any = 0u;
    EXACT_INTEGER_UNROLL for (uint i = 0u; i < words; i++) any |= a.word[i];
    return any == 0u ? 0 : a.word[words - 1u] >> 31u != 0u ? -1 : 1;
}
