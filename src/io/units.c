/* Units of length in files: maps spellings to names, and computes ratios. */
#include "io/units.h"

#include <string.h>

/* The first spelling of a length is its name in volumes. */
static const struct {
    const char *text, *name;
    double metres;
} units[] = {
    {"m", "m", 1},
    {"meter", "m", 1},
    {"metre", "m", 1},
    {"meters", "m", 1},
    {"metres", "m", 1},
    {"dm", "dm", 0.1},
    {"cm", "cm", 0.01},
    {"centimeter", "cm", 0.01},
    {"centimetre", "cm", 0.01},
    {"centimeters", "cm", 0.01},
    {"mm", "mm", 1e-3},
    {"millimeter", "mm", 1e-3},
    {"millimetre", "mm", 1e-3},
    {"millimeters", "mm", 1e-3},
    {"millimetres", "mm", 1e-3},
    {"\u00b5m", "\u00b5m", 1e-6},
    {"\u03bcm", "\u00b5m", 1e-6},
    {"um", "\u00b5m", 1e-6},
    {"micron", "\u00b5m", 1e-6},
    {"microns", "\u00b5m", 1e-6},
    {"micrometer", "\u00b5m", 1e-6},
    {"micrometre", "\u00b5m", 1e-6},
    {"micrometers", "\u00b5m", 1e-6},
    {"\xb5m", "\u00b5m", 1e-6},    /* Latin-1 */
    {"\\u00B5m", "\u00b5m", 1e-6}, /* ImageJ's escape */
    {"nm", "nm", 1e-9},
    {"nanometer", "nm", 1e-9},
    {"nanometre", "nm", 1e-9},
    {"nanometers", "nm", 1e-9},
    {"pm", "pm", 1e-12},
    {"\u00c5", "\u00c5", 1e-10},
    {"\u212b", "\u00c5", 1e-10},
    {"A", "\u00c5", 1e-10},
    {"angstrom", "\u00c5", 1e-10},
    {"angstroms", "\u00c5", 1e-10},
    {"in", "in", 0.0254},
    {"inch", "in", 0.0254},
    {"inches", "in", 0.0254},
    {"ft", "ft", 0.3048},
    {"km", "km", 1000},
    {"pt", "pt", 0.0254 / 72},
};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

/* Case matters in symbols of one or two letters (Mm, mm), but not in words. */
static int unit_find(io_span text)
{
    for (int i = 0; i < UNIT_COUNT; i++)
        if (tml_io_is(text, units[i].text) ||
            (strlen(units[i].text) > 3 && tml_io_is_any_case(text, units[i].text)))
            return i;
    return -1;
}

void tml_io_unit(io_span text, char *out, size_t size)
{
    text = tml_io_trim(text);
    int at = unit_find(text);
    if (at >= 0)
        text = (io_span){units[at].name, strlen(units[at].name)};
    tml_io_copy(out, size, text);
}

double tml_io_unit_ratio(const char *from, const char *to)
{
    int a = unit_find((io_span){from, strlen(from)}), b = unit_find((io_span){to, strlen(to)});
    return a >= 0 && b >= 0 ? units[a].metres / units[b].metres : 0;
}
