/* The sort's loops for one kind of record. The including file defines
 *   RECORD   the type of a record
 *   BITS(r)  the integer by which a record is sorted
 *   BARE     whether a record is that integer alone, and has 32 bits
 *   NAME(x)  makes the functions' names unique */

ALWAYS_INLINE uint64_t NAME(differ)(const void *records, size_t count, const void *base)
{
    const RECORD *in = records, *first = base;
    uint64_t differ = 0;
    for (size_t i = 0; i < count; i++)
        differ |= BITS(in[i]) ^ BITS(*first);
    return differ;
}

ALWAYS_INLINE void NAME(count)(const void *records, size_t count, sort_digit digit,
                               uint32_t (*tables)[SORT_BINS])
{
    const RECORD *in = records;
    size_t i = 0;
    for (; i + SORT_TABLES <= count; i += SORT_TABLES)
        for (size_t t = 0; t < SORT_TABLES; t++)
            tables[t][(size_t)(BITS(in[i + t]) >> digit.shift & digit.mask)]++;
    for (; i < count; i++)
        tables[0][(size_t)(BITS(in[i]) >> digit.shift & digit.mask)]++;
}

/* Writes a complete line at once, except for elements before it that belong to other workers. */
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

ALWAYS_INLINE void NAME(scatter)(const void *records, size_t count, sort_digit digit,
                                 sort_heads *heads, void *out_records)
{
    enum { PER_LINE = SORT_LINE / sizeof(RECORD) };
    const RECORD *in = records;
    RECORD *out = out_records;
    for (size_t i = 0; i < count; i++) {
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

/* Inserts x[sorted, count) into x[0, sorted). */
ALWAYS_INLINE void NAME(insert)(RECORD *x, size_t sorted, size_t count, unsigned low, uint64_t mask)
{
    for (size_t i = sorted; i < count; i++) {
        RECORD moved = x[i];
        uint64_t bits = BITS(moved) >> low & mask;
        size_t at = i;
        for (; at > 0 && (BITS(x[at - 1]) >> low & mask) > bits; at--)
            x[at] = x[at - 1];
        x[at] = moved;
    }
}

/* ---- by digits from the lowest to the highest ------------------------------------------------ */

/* Counts the digits of several passes; the number of passes is constant after inlining. */
ALWAYS_INLINE void NAME(count_digits)(const RECORD *x, size_t count, const sort_digit *digits,
                                      unsigned passes, uint32_t counts[][LSD_BINS])
{
    for (size_t i = 0; i < count; i++)
        for (unsigned p = 0; p < passes; p++)
            counts[p][(size_t)(BITS(x[i]) >> digits[p].shift & digits[p].mask)]++;
}

/* One pass, which moves x to y, to the positions in next. */
ALWAYS_INLINE void NAME(move)(const RECORD *x, RECORD *y, size_t count, sort_digit digit,
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

/* Sorts x by bits [low, high), with room in y. Returns x or y, whichever holds the result. Skips a
 * digit that all records share. */
ALWAYS_INLINE RECORD *NAME(by_digits)(RECORD *x, RECORD *y, size_t count, unsigned low,
                                      unsigned high)
{
    enum { AT_ONCE = 4 };
    unsigned passes = TML_CEIL_DIV(high - low, (unsigned)LSD_DIGIT);
    unsigned width = passes ? TML_CEIL_DIV(high - low, passes) : 0;
    while (low < high) {
        uint32_t counts[AT_ONCE][LSD_BINS] = {{0}};
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

/* ---- by rows --------------------------------------------------------------------------------- */

/* Fills the rows. Returns the number of surplus records; limit + 1 if there are more than limit. */
ALWAYS_INLINE size_t NAME(fill_rows)(const RECORD *x, size_t count, sort_digit digit, size_t limit,
                                     sort_rows *rows)
{
    uint32_t *fills = rows->fills;
    RECORD(*to)[SORT_ROW] = BARE ? (void *)rows->codes : (void *)rows->records;
    RECORD *surplus = (RECORD *)(void *)rows->surplus;
    uint16_t row_of[SORT_LEAF]; /* by vectors, so that much less is left for the scalar loop */
    size_t more = 0;
    for (size_t i = 0; i < count; i++)
        row_of[i] = (uint16_t)(BITS(x[i]) >> digit.shift & digit.mask);
    memset(fills, 0, (size_t)(digit.mask + 1) * sizeof *fills);
    for (size_t i = 0; i < count; i++) {
        size_t row = row_of[i];
        uint32_t place = fills[row]++;
        if (place < SORT_ROW)
            to[row][place] = x[i];
        else if (more == limit)
            return limit + 1;
        else
            surplus[more++] = x[i];
    }
    return more;
}

/* Makes codes of the records of a group of rows, from the bits `rest`. */
ALWAYS_INLINE void NAME(code_rows)(const sort_rows *rows, size_t row, sort_digit rest)
{
    const RECORD *records = (const RECORD *)(const void *)rows->records + row * SORT_ROW;
    uint32_t *codes = rows->codes[row];
    for (size_t i = 0; i < SORT_GROUP * SORT_ROW; i++)
        codes[i] = (uint32_t)(BITS(records[i]) >> rest.shift & rest.mask) * SORT_ROW |
                   (uint32_t)(i % SORT_ROW);
}

/* Writes SORT_ROW records to out; those of the row come first. */
ALWAYS_INLINE void NAME(write_row)(const sort_rows *rows, size_t row, void *out)
{
    const uint32_t *codes = rows->codes[row];
    const RECORD *records = (const RECORD *)(const void *)rows->records + row * SORT_ROW;
    if (BARE)
        memcpy(out, codes, SORT_ROW * sizeof *records);
    else
        for (size_t i = 0; i < SORT_ROW; i++)
            ((RECORD *)out)[i] = records[codes[i] % SORT_ROW];
}

/* Sorts x by bits [low, high) to out: by one digit, then by rows. Returns false if too many records
 * share a digit. */
ALWAYS_INLINE bool NAME(by_rows)(const RECORD *x, RECORD *out, size_t count, unsigned low,
                                 unsigned high, sort_group_fn network, sort_write_fn write,
                                 sort_rows *rows)
{
    unsigned width = 4; /* of SORT_GROUP rows */
    while (((size_t)SORT_ROW_MEAN << width) < count)
        width++;
    if (width > high - low)
        return false;
    sort_digit digit = {high - width, ((uint64_t)1 << width) - 1};
    unsigned below = digit.shift - low, used = BARE ? below : TML_MIN_OF(below, 28u);
    sort_digit rest = {digit.shift - used, MASK_OF(used)};
    size_t limit = count / SORT_ROW;
    size_t more = NAME(fill_rows)(x, count, digit, limit, rows);
    if (more > limit)
        return false;
    RECORD *surplus = (RECORD *)(void *)rows->surplus, *first = out;
    uint64_t mask = MASK_OF(high - low);
    if (more <= INSERTION)
        NAME(insert)(surplus, 1, more, low, mask);
    else
        surplus = NAME(by_digits)(surplus, surplus + limit, more, low, high);
    for (size_t row = 0; row <= digit.mask; row++) {
        if (row % SORT_GROUP == 0 && !BARE)
            NAME(code_rows)(rows, row, rest);
        if (row % SORT_GROUP == 0)
            network(rows->codes + row, rows->fills + row);
        /* The records behind these are the next leaf's; hardware does not prefetch across pages. */
        __builtin_prefetch(x + count + row * SORT_ROW_MEAN);
        size_t here = rows->fills[row];
        RECORD whole[SORT_ROW];
        if (first + count - out >= SORT_ROW) {
            write(rows, row, out);
        } else {
            write(rows, row, whole);
            memcpy(out, whole, TML_MIN_OF(here, (size_t)SORT_ROW) * sizeof *out);
        }
        if (here > SORT_ROW) {
            memcpy(out + SORT_ROW, surplus, (here - SORT_ROW) * sizeof *out);
            surplus += here - SORT_ROW;
            NAME(insert)(out, SORT_ROW, here, low, mask);
        }
        out += here;
    }
    if (used < below)
        NAME(insert)(first, 1, count, low, mask);
    return true;
}

/* Sorts segments of at most SORT_ROW records, one row each. Segment s is [bounds[s], bounds[s + 1])
 * of x and out. The last segments are copied exactly; other segments together with the records
 * behind them, which later segments overwrite. */
ALWAYS_INLINE void NAME(short_ones)(const RECORD *x, RECORD *out, const uint32_t *bounds,
                                    size_t count, unsigned low, unsigned high,
                                    sort_group_fn network, const sort_rows *rows)
{
    unsigned width = high - low, used = TML_MIN_OF(width, 28u);
    sort_digit rest = {high - used, MASK_OF(used)};
    uint32_t end = bounds[count];
    for (size_t s = 0; s < count; s += SORT_GROUP) {
        size_t group = TML_MIN_OF(count - s, (size_t)SORT_GROUP);
        for (size_t r = 0; r < SORT_GROUP; r++)
            rows->fills[r] = r < group ? bounds[s + r + 1] - bounds[s + r] : 0;
        for (size_t r = 0; r < group; r++) {
            const RECORD *from = x + bounds[s + r];
            uint32_t *codes = rows->codes[r];
            size_t here = end - bounds[s + r] < SORT_ROW ? rows->fills[r] : (size_t)SORT_ROW;
            if (BARE)
                memcpy(codes, from, here * sizeof *from);
            else if (here == SORT_ROW)
                for (size_t i = 0; i < SORT_ROW; i++)
                    codes[i] = (uint32_t)(BITS(from[i]) >> rest.shift & rest.mask) * SORT_ROW |
                               (uint32_t)i;
            else
                for (size_t i = 0; i < here; i++)
                    codes[i] = (uint32_t)(BITS(from[i]) >> rest.shift & rest.mask) * SORT_ROW |
                               (uint32_t)i;
        }
        network(rows->codes, rows->fills);
        for (size_t r = 0; r < group; r++) {
            const RECORD *from = x + bounds[s + r];
            RECORD *to = out + bounds[s + r];
            const uint32_t *codes = rows->codes[r];
            size_t here = rows->fills[r];
            if (BARE && end - bounds[s + r] >= SORT_ROW)
                memcpy(to, codes, SORT_ROW * sizeof *to);
            else if (BARE)
                memcpy(to, codes, here * sizeof *to);
            else
                for (size_t i = 0; i < here; i++)
                    to[i] = from[codes[i] % SORT_ROW];
            if (!BARE && used < width)
                NAME(insert)(to, 1, here, low, MASK_OF(width));
        }
    }
}

/* ---- by halves ------------------------------------------------------------------------------- */

ALWAYS_INLINE uint64_t NAME(word)(const void *records, unsigned bit)
{
    const RECORD *x = records;
    uint64_t word = 0;
    for (size_t i = 0; i < 64; i++)
        word |= (BITS(x[i]) >> bit & 1) << i;
    return word;
}

/* vectors: for most of the records, or NULL. */
ALWAYS_INLINE size_t NAME(halve)(const void *records, size_t count, unsigned bit,
                                 sort_word_fn word_of, sort_halve_fn vectors, void *zero_records,
                                 void *one_records)
{
    unsigned char *zeros = zero_records, *ones = one_records;
    size_t done = vectors ? vectors(records, count, bit, &zeros, &ones) : 0;
    const RECORD *x = (const RECORD *)records + done;
    cpu_compress_fn pack = cpu_compress_for(sizeof *x);
    for (size_t here; done < count; done += here, x += here) {
        uint64_t set[CPU_BLOCK / 64], clear[CPU_BLOCK / 64];
        here = TML_MIN_OF(count - done, (size_t)CPU_BLOCK);
        size_t whole = here / 64;
        for (size_t w = 0; w < whole; w++)
            clear[w] = ~(set[w] = word_of(x + 64 * w, bit));
        if (here % 64) {
            RECORD last[64] = {0};
            memcpy(last, x + 64 * whole, here % 64 * sizeof *x);
            set[whole] = NAME(word)(last, bit);
            clear[whole] = ~set[whole] & (((uint64_t)1 << here % 64) - 1);
        }
        zeros += pack(x, clear, here, sizeof *x, zeros) * sizeof *x;
        ones += pack(x, set, here, sizeof *x, ones) * sizeof *x;
    }
    return (size_t)(zeros - (unsigned char *)zero_records) / sizeof *x;
}

/* network: NULL if the level has none. */
ALWAYS_INLINE void NAME(leaf)(void *x_records, void *out_records, size_t count, unsigned low,
                              unsigned high, bool is_whole, sort_group_fn network,
                              sort_write_fn write, sort_rows *rows)
{
    RECORD *x = x_records, *out = out_records;
    bool has_rows = network && (is_whole || !BARE);
    if (count <= INSERTION) {
        memcpy(out, x, count * sizeof *x);
        NAME(insert)(out, 1, count, low, MASK_OF(high - low));
        return;
    }
    if (has_rows && NAME(by_rows)(x, out, count, low, high, network, write, rows))
        return;
    unsigned top = high;
    sort_narrow(NAME(differ)(x, count, x), &low, &high);
    if (has_rows && high < top && NAME(by_rows)(x, out, count, low, high, network, write, rows))
        return;
    if (NAME(by_digits)(x, out, count, low, high) == x)
        memcpy(out, x, count * sizeof *x);
}

#undef RECORD
#undef BITS
#undef BARE
#undef NAME
