/* The last step of a scan: the sums of elements from the carry-in of their block. Included after
 * gl_scan.glsl. LEVELS: 0 if there is no whole block. START: a number is added before the first
 * element. */
uniform highp usampler2D elements;
uniform highp usampler2D carries;
uniform highp usampler2D carries_high;
#ifdef START
uniform highp usampler2D start;
#endif

/* Running sums of a block's four elements: inclusive or exclusive. */
sums scan_block(uint first, uint block, bool inclusive)
{
    SUM before = sum_zero();
#if LEVELS > 0
    uint begin = (first + 3u) >> 2;
    SUM carry = load_sum(carries, carries_high, begin + max(block, 1u) - 1u);
    before = block > 0u ? carry : before;
#endif
#ifdef SUM_MOST
    before = sum_add(sum_of_bits(LEAST.x, LEAST.y), before);
#endif
#if defined(START) && !defined(SUM_FLOAT) && SUM_BITS == 64
    before = sum_add(sum_of_number(tml_load_word(start, 0u), tml_load_word(start, 1u)), before);
#elif defined(START)
    before = sum_add(sum_of_number(tml_load_word(start, 0u), 0u), before);
#endif
    sums running = sums_running(before, load_elements(elements, first + (block << 2)));
    if (inclusive) /* no ?: for structures: WebGL refuses it */
        return running;
    return sums(before, running.x, running.y, running.z);
}
