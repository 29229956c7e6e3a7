/* The sort's loops for one kind of record. Included with RECORD, its type; BITS(r), the integer that it is
 * sorted by; and NAME(x), which gives the functions and the table of them names of their own. */

CPU_INLINE void NAME(count)(const void *records, size_t count, sort_digit digit, uint64_t *counts)
{
    const RECORD *in = records;
    for (size_t i = 0; i < count; i++)
        counts[(size_t)(BITS(in[i]) >> digit.shift & digit.mask)]++;
}

/* A complete line is written at once, but for what before it belongs to others. */
static void NAME(write_line)(sort_heads *heads, size_t bin, RECORD *out)
{
    enum { PER_LINE = SORT_LINE / sizeof(RECORD) };
    uint64_t end = heads->next[bin], start = (end - 1) / PER_LINE * PER_LINE;
    const RECORD *line = (const RECORD *)(const void *)heads->lines[bin];
    if (start >= heads->first[bin] && end - start == PER_LINE)
        cpu_copy_out(out + start, line, SORT_LINE, true);
    else
        for (uint64_t i = TML_MAX_OF(start, heads->first[bin]); i < end; i++)
            out[i] = line[i - start];
}

CPU_INLINE void NAME(scatter)(const void *records, size_t count, sort_digit digit,
                              sort_heads *heads, void *out_records, bool stream)
{
    enum { PER_LINE = SORT_LINE / sizeof(RECORD) };
    const RECORD *in = records;
    RECORD *out = out_records;
    for (size_t i = 0; i < count && !stream; i++)
        out[heads->next[(size_t)(BITS(in[i]) >> digit.shift & digit.mask)]++] = in[i];
    for (size_t i = 0; i < count && stream; i++) {
        size_t bin = (size_t)(BITS(in[i]) >> digit.shift & digit.mask);
        uint64_t at = heads->next[bin]++;
        ((RECORD *)(void *)heads->lines[bin])[at % PER_LINE] = in[i];
        if (at % PER_LINE == PER_LINE - 1)
            NAME(write_line)(heads, bin, out);
    }
}

static void NAME(flush)(sort_heads *heads, void *out_records)
{
    enum { PER_LINE = SORT_LINE / sizeof(RECORD) };
    for (size_t bin = 0; bin < SORT_BINS; bin++)
        if (heads->next[bin] > heads->first[bin] && heads->next[bin] % PER_LINE != 0)
            NAME(write_line)(heads, bin, out_records);
    cpu_stream_fence();
}

static void NAME(insert)(RECORD *x, size_t count, unsigned low, uint64_t mask)
{
    for (size_t i = 1; i < count; i++) {
        RECORD moved = x[i];
        uint64_t bits = BITS(moved) >> low & mask;
        size_t at = i;
        for (; at > 0 && (BITS(x[at - 1]) >> low & mask) > bits; at--)
            x[at] = x[at - 1];
        x[at] = moved;
    }
}

/* Counts the digits of some passes; their number is a constant after inlining. */
CPU_INLINE void NAME(count_digits)(const RECORD *x, size_t count, const sort_digit *digits,
                                   unsigned passes, uint32_t counts[][SORT_BINS])
{
    for (size_t i = 0; i < count; i++)
        for (unsigned p = 0; p < passes; p++)
            counts[p][(size_t)(BITS(x[i]) >> digits[p].shift & digits[p].mask)]++;
}

/* One pass from x to y, to places from next on. */
CPU_INLINE void NAME(move)(const RECORD *x, RECORD *y, size_t count, sort_digit digit,
                           uint32_t *next)
{
    uint32_t place = 0;
    for (size_t bin = 0; bin <= digit.mask; bin++) {
        uint32_t here = next[bin];
        next[bin] = place;
        place += here;
    }
    for (size_t i = 0; i < count; i++)
        y[next[(size_t)(BITS(x[i]) >> digit.shift & digit.mask)]++] = x[i];
}

/* From the lowest digit to the highest; one that all records share is passed over. */
CPU_INLINE void *NAME(sort)(void *x_records, void *y_records, size_t count, unsigned low,
                            unsigned high)
{
    enum { INSERTION = 24, AT_ONCE = 4 };
    RECORD *x = x_records, *y = y_records;
    if (count <= INSERTION) {
        NAME(insert)
        (x, count, low, high - low < 64 ? ((uint64_t)1 << (high - low)) - 1 : UINT64_MAX);
        return x;
    }
    unsigned passes = TML_CEIL_DIV(high - low, (unsigned)SORT_DIGIT);
    unsigned width = passes ? TML_CEIL_DIV(high - low, passes) : 0;
    while (low < high) {
        uint32_t counts[AT_ONCE][SORT_BINS] = {{0}};
        sort_digit digits[AT_ONCE];
        for (passes = 0; passes < AT_ONCE && low < high; passes++) {
            unsigned here = TML_MIN_OF(width, high - low);
            digits[passes] = (sort_digit){low, ((uint64_t)1 << here) - 1};
            low += here;
        }
        if (passes == 1)
            NAME(count_digits)(x, count, digits, 1, counts);
        else if (passes == 2)
            NAME(count_digits)(x, count, digits, 2, counts);
        else if (passes == 3)
            NAME(count_digits)(x, count, digits, 3, counts);
        else
            NAME(count_digits)(x, count, digits, AT_ONCE, counts);
        for (unsigned p = 0; p < passes; p++) {
            size_t bin = (size_t)(BITS(x[0]) >> digits[p].shift & digits[p].mask);
            if (counts[p][bin] == count)
                continue;
            NAME(move)(x, y, count, digits[p], counts[p]);
            RECORD *sorted = y;
            y = x;
            x = sorted;
        }
    }
    return x;
}

#undef RECORD
#undef BITS
#undef NAME
