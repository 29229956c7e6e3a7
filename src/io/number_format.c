/* Converts numbers to text. A float has 24 bits and a double 53, so the shortest decimal of a float
 * is found by trial in double arithmetic: scale to 6, 7, 8 or 9 digits, round, and test whether the
 * result still lies between the midpoints to the neighbouring floats. All three steps are safe:
 *   - 10^0 ... 10^22 are exact doubles, so digits / power is the decimal, rounded once;
 *   - the midpoints of two floats are exact doubles, and rounding is monotonic, so the rounded
 *     decimal lies strictly between them only if the decimal itself does;
 *   - nine digits always suffice (Matula: In-and-Out Conversions. 1968).
 * Decimals exactly on a midpoint are not accepted; there are none below 2^24. Any decimal of six
 * digits survives the conversion to float and back. Shorter decimals therefore need no trial: they
 * are six digits with trailing zeros. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/number_format.h"

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { POWER_MAX = 22, DIGITS_MIN = 6, DIGITS_MAX = 9 };

/* Within these bounds power_of_ten has every power that tml_format_f32 needs. Meshes rarely leave
 * them. */
static const float table_lowest = 1e-13f, table_highest = 1e22f;

size_t tml_format_u64(char *out, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char digits[20];
    char *first = digits + sizeof digits;
    while (value >= 100) {
        first -= 2;
        memcpy(first, pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        first -= 2;
        memcpy(first, pairs + 2 * value, 2);
    } else {
        *--first = (char)('0' + value);
    }
    size_t count = (size_t)(digits + sizeof digits - first);
    memcpy(out, first, count);
    return count;
}

/* Formats rare values with the C library, and replaces a locale's decimal comma with a point. */
static size_t format_general(char *out, int digits, double value)
{
    char text[NUMBER_TEXT_MAX];
    int count = snprintf(text, sizeof text, "%.*g", digits, value);
    assert(count > 0 && (size_t)count < sizeof text);
    for (int i = 0; i < count; i++)
        out[i] = text[i] == ',' ? '.' : text[i];
    return (size_t)count;
}

/* Writes mantissa * 10^-decimals. The mantissa has no trailing zeros. */
static size_t format_decimal(char *out, uint64_t mantissa, int decimals)
{
    char digits[20];
    int count = (int)tml_format_u64(digits, mantissa);
    int point = count - decimals; /* digits before the point */
    char *at = out;
    if (point > 0 && decimals <= 0 && point <= DIGITS_MAX) {
        memcpy(at, digits, (size_t)count);
        memset(at + count, '0', (size_t)-decimals);
        at += point;
    } else if (point > 0 && decimals > 0) {
        memcpy(at, digits, (size_t)point);
        at[point] = '.';
        memcpy(at + point + 1, digits + point, (size_t)decimals);
        at += count + 1;
    } else if (point <= 0 && point > -5) {
        memcpy(at, "0.0000", 6);
        at += 2 - point;
        memcpy(at, digits, (size_t)count);
        at += count;
    } else {
        *at++ = digits[0];
        if (count > 1) {
            *at++ = '.';
            memcpy(at, digits + 1, (size_t)count - 1);
            at += count - 1;
        }
        *at++ = 'e';
        if (point < 1)
            *at++ = '-';
        at += tml_format_u64(at, (uint64_t)(point < 1 ? 1 - point : point - 1));
    }
    return (size_t)(at - out);
}

static float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns floor(log10(value)); value is within the bounds of the table. */
static int decimal_exponent(double value)
{
    int exponent = 0;
    if (value >= 1.0) {
        while (value >= power_of_ten[exponent + 1])
            exponent++;
        return exponent;
    }
    while (value * power_of_ten[-exponent] < 1.0)
        exponent--;
    return exponent;
}

size_t tml_format_f32(char *out, float value)
{
    if (isnan(value)) {
        memcpy(out, "nan", 3);
        return 3;
    }
    if (signbit(value)) {
        *out = '-';
        return 1 + tml_format_f32(out + 1, -value);
    }
    if (value == 0.0f) {
        *out = '0';
        return 1;
    }
    if (!(value >= table_lowest && value < table_highest))
        return format_general(out, DIGITS_MAX, (double)value);

    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    double exact = (double)value;
    double lower = (exact + (double)float_from_bits(bits - 1)) * 0.5;
    double upper = (exact + (double)float_from_bits(bits + 1)) * 0.5;
    int exponent = decimal_exponent(exact);
    uint64_t mantissa = 0;
    int decimals = 0;
    for (int digits = DIGITS_MIN; digits <= DIGITS_MAX; digits++) {
        decimals = digits - 1 - exponent;
        double power = power_of_ten[decimals < 0 ? -decimals : decimals];
        mantissa = (uint64_t)((decimals < 0 ? exact / power : exact * power) + 0.5);
        double back = decimals < 0 ? (double)mantissa * power : (double)mantissa / power;
        if (back > lower && back < upper)
            break;
    }
    while (mantissa % 10 == 0) {
        mantissa /= 10;
        decimals--;
    }
    return format_decimal(out, mantissa, decimals);
}

size_t tml_format_fixed(char *out, double value, int decimals)
{
    /* From 2^53 on, a double cannot be every integer. */
    if (decimals < 0 || decimals > POWER_MAX ||
        !(fabs(value) * power_of_ten[decimals] < 9007199254740992.0))
        return format_general(out, 17, value);
    size_t sign = signbit(value) ? 1 : 0;
    uint64_t mantissa = (uint64_t)(fabs(value) * power_of_ten[decimals] + 0.5);
    if (mantissa == 0) {
        *out = '0';
        return 1;
    }
    for (; decimals > 0 && mantissa % 10 == 0; decimals--)
        mantissa /= 10;
    *out = '-';
    return sign + format_decimal(out + sign, mantissa, decimals);
}
