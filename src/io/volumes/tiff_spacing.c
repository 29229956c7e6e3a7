/* Finds spacing, origin and unit of a TIFF stack: from its text, from the resolution tags, or by
 * default. */
#include <inttypes.h>
#include <math.h>

#include "io/units.h"
#include "io/volumes/tiff_internal.h"

#ifdef TML_TIFF

/* Is it dots per inch of a screen or printer? Programs write these without meaning the contents;
 * and one dot per inch or centimetre for lack of another. */
static bool is_for_print(double dots)
{
    static const double usual[] = {1,   2.54, 72,  75,  90,  96,  100, 120, 144, 150,  180, 200,
                                   220, 240,  300, 350, 360, 400, 600, 720, 800, 1200, 2400};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (fabs(dots - usual[i]) < 0.02)
            return true;
    return false;
}

bool tml_tiff_resolution(const tiff_reader *reader, tiff_text *text, volume_header *out)
{
    float resolution[2] = {0, 0};
    uint16_t unit = RESUNIT_INCH;
    TIFFGetField(reader->tiff, TIFFTAG_XRESOLUTION, &resolution[0]);
    TIFFGetField(reader->tiff, TIFFTAG_YRESOLUTION, &resolution[1]);
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
    if (text->kind == TIFF_OME || !(resolution[0] > 0 && isfinite(resolution[0])) ||
        !(resolution[1] > 0 && isfinite(resolution[1])))
        return false;
    const double step[2] = {1 / (double)resolution[0], 1 / (double)resolution[1]};
    const double inch = unit == RESUNIT_CENTIMETER ? 2.54 : 1;
    bool has_unit = *text->unit != '\0';
    if (text->kind == TIFF_PLAIN && unit == RESUNIT_NONE) { /* gives only the pixels' shape */
        if (step[0] != step[1]) {
            text->spacing[0] = text->spacing[2] = 1;
            text->spacing[1] = step[1] / step[0];
        }
        return false;
    }
    if (!has_unit && unit != RESUNIT_NONE && is_for_print(resolution[0] * inch)) {
        snprintf(out->volume.comment, sizeof out->volume.comment,
                 "%.4g dots an inch are taken for those of a print, not for a spacing",
                 resolution[0] * inch);
        return false;
    }
    for (int axis = 0; axis < 2; axis++) /* SCIFIO's text may give it */
        text->spacing[axis] = text->spacing[axis] != 0 ? text->spacing[axis] : step[axis];
    if (!has_unit && unit != RESUNIT_NONE)
        snprintf(text->unit, sizeof text->unit, "%s", unit == RESUNIT_INCH ? "in" : "cm");
    return text->kind == TIFF_PLAIN;
}

tml_status tml_tiff_spacing(const io_file *file, const tml_load_desc *desc, bool is_alone,
                            const tiff_text *text, volume_header *out)
{
    const double said[3] = {text->spacing[0] * text->ratio[0], text->spacing[1] * text->ratio[1],
                            text->spacing[2] * text->ratio[2]};
    double micron =
        text->kind == TIFF_OME && *text->unit ? tml_io_unit_ratio("\u00b5m", text->unit) : 1;
    double s[3] = {said[0] != 0 ? said[0] : said[1] != 0 ? said[1] : 1, 0, 0};
    s[1] = said[1] != 0 ? said[1] : s[0];
    s[2] = said[2] != 0 ? said[2] : is_alone ? s[0] : micron > 0 ? micron : 1;
    tml_status status = TML_OK;
    /* NaN: given, but no length. A pixel's own size, 1 without a unit, is no length. */
    int first = said[0] != 0 ? 0 : said[1] != 0 ? 1 : 2;
    bool says_some =
        said[first] != 0 && (*text->unit || text->kind == TIFF_OME || said[0] != 1 || said[1] != 1);
    for (int axis = 0; axis < 3 && status == TML_OK; axis++) {
        bool is_needed =
            axis == 2 ? out->volume.grid.dims[2] > 1 : *text->unit || text->kind == TIFF_OME;
        if (says_some && said[axis] == 0 && is_needed && desc->spacing[axis] == 0)
            status = tml_io_warn(file,
                                 "does not say the spacing along %c, but %g%s%s along %c; %g is "
                                 "taken; give desc.spacing",
                                 'x' + axis, said[first], *text->unit ? " " : "", text->unit,
                                 'x' + first, s[axis]);
    }
    if (status != TML_OK)
        return status;
    /* A caller who gives another spacing means another unit. */
    if (says_some &&
        (desc->spacing[0] == 0 || said[0] == 0 || fabs(desc->spacing[0] / said[0] - 1) < 0.01))
        snprintf(out->volume.unit, sizeof out->volume.unit, "%s", text->unit);
    status = volume_spacings(file, s, desc, out);
    for (int axis = 0; axis < 3; axis++)
        if (isfinite(text->origin[axis]) && text->origin[axis] != 0)
            out->volume.grid.origin[axis] = -text->origin[axis] * out->volume.grid.spacing[axis];
    return status;
}

#endif
