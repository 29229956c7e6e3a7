/* Reads NIfTI-1 and NIfTI-2, single files and pairs. After Cox et al.: nifti1.h. 2004, and the
 * NIfTI-2 header of 2011. Positions are RAS: x to the right, y to the front, z up. */
#include <inttypes.h>
#include <math.h>

#include "io/volumes/volume_internal.h"

/* The fields that the headers of both versions have. */
typedef struct nifti_header {
    int64_t dim[8];
    int64_t type;
    double pixdim[8];
    double offset, slope, intercept;
    int64_t qform_code, sform_code, units;
    double quatern[3], shift[3], srow[12];
    io_span description;
} nifti_header;

enum { SIZE_1 = 348, SIZE_2 = 540, AT_MAGIC_1 = 344, AT_MAGIC_2 = 4 };

static const struct {
    int64_t code;
    tml_type type;
} types[] = {{2, TML_U8},  {256, TML_I8},   {512, TML_U16},  {4, TML_I16},  {768, TML_U32},
             {8, TML_I32}, {1280, TML_U64}, {1024, TML_I64}, {16, TML_F32}, {64, TML_F64}};

/* Returns 1 or 2, or 0 if it is neither. *single: one file has header and samples. */
static int version_of(io_span head, bool *big_endian, bool *single)
{
    if (head.size < 4)
        return 0;
    for (int big = 0; big < 2; big++) {
        uint32_t size = io_load_u32(head.text, big);
        const char *magic = head.text + (size == SIZE_1 ? AT_MAGIC_1 : AT_MAGIC_2);
        char digit = size == SIZE_1 ? '1' : '2';
        if ((size != SIZE_1 && size != SIZE_2) || head.size < size)
            continue;
        *big_endian = big;
        *single = magic[1] == '+';
        if (magic[0] == 'n' && (magic[1] == '+' || magic[1] == 'i') && magic[2] == digit)
            return digit - '0';
    }
    /* Some writers omit the header's size; its last word and the number of axes identify it,
     * too. */
    bool has_magic = head.size >= SIZE_1 && (memcmp(head.text + AT_MAGIC_1, "n+1", 4) == 0 ||
                                             memcmp(head.text + AT_MAGIC_1, "ni1", 4) == 0);
    for (int big = 0; big < 2 && has_magic && io_load_u32(head.text, false) == 0; big++) {
        uint16_t axes = io_load_u16(head.text + 40, big);
        *big_endian = big;
        *single = head.text[AT_MAGIC_1 + 1] == '+';
        if (axes >= 1 && axes <= 7)
            return 1;
    }
    return 0;
}

static bool is_nifti(io_span head, const char *path)
{
    (void)path;
    bool big_endian, single;
    return version_of(head, &big_endian, &single) != 0;
}

static void read_header_1(const char *at, bool big, nifti_header *out)
{
    for (size_t i = 0; i < 8; i++) {
        out->dim[i] = (int16_t)io_load_u16(at + 40 + 2 * i, big);
        out->pixdim[i] = (double)io_load_f32(at + 76 + 4 * i, big);
    }
    out->type = (int16_t)io_load_u16(at + 70, big);
    out->offset = (double)io_load_f32(at + 108, big);
    out->slope = (double)io_load_f32(at + 112, big);
    out->intercept = (double)io_load_f32(at + 116, big);
    out->units = (uint8_t)at[123];
    out->qform_code = (int16_t)io_load_u16(at + 252, big);
    out->sform_code = (int16_t)io_load_u16(at + 254, big);
    for (size_t i = 0; i < 3; i++) {
        out->quatern[i] = (double)io_load_f32(at + 256 + 4 * i, big);
        out->shift[i] = (double)io_load_f32(at + 268 + 4 * i, big);
    }
    for (size_t i = 0; i < 12; i++)
        out->srow[i] = (double)io_load_f32(at + 280 + 4 * i, big);
    out->description = (io_span){at + 148, strnlen(at + 148, 80)};
}

static void read_header_2(const char *at, bool big, nifti_header *out)
{
    for (size_t i = 0; i < 8; i++) {
        out->dim[i] = (int64_t)io_load_u64(at + 16 + 8 * i, big);
        out->pixdim[i] = io_load_f64(at + 104 + 8 * i, big);
    }
    out->type = (int16_t)io_load_u16(at + 12, big);
    out->offset = (double)(int64_t)io_load_u64(at + 168, big);
    out->slope = io_load_f64(at + 176, big);
    out->intercept = io_load_f64(at + 184, big);
    out->units = (int32_t)io_load_u32(at + 500, big);
    out->qform_code = (int32_t)io_load_u32(at + 344, big);
    out->sform_code = (int32_t)io_load_u32(at + 348, big);
    for (size_t i = 0; i < 3; i++) {
        out->quatern[i] = io_load_f64(at + 352 + 8 * i, big);
        out->shift[i] = io_load_f64(at + 376 + 8 * i, big);
    }
    for (size_t i = 0; i < 12; i++)
        out->srow[i] = io_load_f64(at + 400 + 8 * i, big);
    out->description = (io_span){at + 240, strnlen(at + 240, 80)};
}

/* Computes the rotation of the unit quaternion (a, b, c, d). The file has b, c and d; a is not
 * negative. */
static void rotation_of(const double quatern[3], double r[9])
{
    double b = quatern[0], c = quatern[1], d = quatern[2];
    double rest = 1 - (b * b + c * c + d * d);
    double a = rest > 0 ? sqrt(rest) : 0;
    if (rest < 0) { /* rounded past a half turn */
        double length = sqrt(1 - rest);
        b /= length;
        c /= length;
        d /= length;
    }
    const double rows[9] = {a * a + b * b - c * c - d * d, 2 * (b * c - a * d),
                            2 * (b * d + a * c),           2 * (b * c + a * d),
                            a * a + c * c - b * b - d * d, 2 * (c * d - a * b),
                            2 * (b * d - a * c),           2 * (c * d + a * b),
                            a * a + d * d - b * b - c * c};
    memcpy(r, rows, sizeof rows);
}

/* Can the three columns of the sform be axes: finite, and not in a plane? */
static bool is_sform_usable(const double s[12])
{
    double volume = s[0] * (s[5] * s[10] - s[6] * s[9]) - s[1] * (s[4] * s[10] - s[6] * s[8]) +
                    s[2] * (s[4] * s[9] - s[5] * s[8]);
    bool good = isfinite(volume) && volume != 0;
    for (int row = 0; row < 3; row++)
        good = good && isfinite(s[4 * row + 3]);
    return good;
}

static bool is_qform_usable(const nifti_header *nifti)
{
    bool good = true;
    for (int i = 0; i < 3; i++)
        good = good && isfinite(nifti->quatern[i]) && isfinite(nifti->shift[i]);
    return good;
}

/* Reads the spacings from pixdim. A number that is no length becomes 1 or its magnitude, with a
 * warning, unless the axis has one sample. */
static tml_status take_pixdim(const io_file *file, const nifti_header *nifti,
                              const tml_load_desc *desc, const uint64_t dims[3], double scale[3])
{
    tml_status status = TML_OK;
    for (int i = 0; i < 3 && status == TML_OK; i++) {
        double step = i < nifti->dim[0] ? nifti->pixdim[i + 1] : 1;
        bool is_length = isfinite(step) && step != 0;
        scale[i] = is_length ? fabs(step) : 1;
        if (dims[i] > 1 && desc->spacing[i] == 0 && !(is_length && step > 0))
            status = tml_io_warn(file,
                                 "pixdim[%d] is %g, which is no spacing; taken as %g (give "
                                 "desc.spacing)",
                                 i + 1, step, scale[i]);
    }
    return status;
}

/* Reads origin and axes by the first usable of nifti1.h's methods 3 (sform), 2 (qform) and 1
 * (pixdim alone). */
static tml_status nifti_parse_grid(const io_file *file, const nifti_header *nifti,
                                   const tml_load_desc *desc, volume_header *out)
{
    tml_grid *grid = &out->volume.grid;
    tml_status status = TML_OK;
    double columns[9], scale[3] = {1, 1, 1};
    bool has_sform = nifti->sform_code > 0, has_qform = nifti->qform_code > 0;
    bool is_sform = has_sform && is_sform_usable(nifti->srow);
    bool is_qform = !is_sform && has_qform && is_qform_usable(nifti);
    memcpy(columns, tml_volume_identity, sizeof columns);
    if (is_sform) {
        for (int row = 0; row < 3; row++) {
            for (int axis = 0; axis < 3; axis++)
                columns[3 * row + axis] = nifti->srow[4 * row + axis];
            grid->origin[row] = nifti->srow[4 * row + 3];
        }
    } else {
        if (has_sform)
            status =
                tml_io_warn(file,
                            "its sform has no three axes (srow_x is %g %g %g); taken from %s in "
                            "its place",
                            nifti->srow[0], nifti->srow[1], nifti->srow[2],
                            is_qform ? "the qform" : "pixdim alone");
        if (status == TML_OK && has_qform && !is_qform)
            status =
                tml_io_warn(file, "its qform has numbers that are not finite; taken from pixdim "
                                  "alone");
        TML_THEN(status, take_pixdim(file, nifti, desc, grid->dims, scale));
        if (is_qform) {
            rotation_of(nifti->quatern, columns);
            memcpy(grid->origin, nifti->shift, sizeof grid->origin);
            for (int row = 0; row < 3 && nifti->pixdim[0] < 0; row++)
                columns[3 * row + 2] = -columns[3 * row + 2];
        }
    }
    if (is_sform || is_qform)
        snprintf(out->volume.space, sizeof out->volume.space, "right-anterior-superior");
    static const char *const units[] = {"", "m", "mm", "\u00b5m"};
    int64_t unit = nifti->units & 7;
    snprintf(out->volume.unit, sizeof out->volume.unit, "%s", unit < 4 ? units[unit] : "");
    return status == TML_OK ? tml_volume_axes(file, columns, scale, desc, out) : status;
}

/* Reads slope and intercept. No scale is stored if the slope is 0 or neither number is finite. */
static tml_status take_scale(const io_file *file, const nifti_header *nifti, tml_volume *volume)
{
    if (nifti->slope == 0 || (!isfinite(nifti->slope) && !isfinite(nifti->intercept)))
        return TML_OK;
    if (!isfinite(nifti->slope))
        return tml_io_warn(file, "scl_slope is %g and scl_inter %g; the values are taken as stored",
                           nifti->slope, nifti->intercept);
    volume->slope = nifti->slope;
    volume->intercept = isfinite(nifti->intercept) ? nifti->intercept : 0;
    return isfinite(nifti->intercept)
               ? TML_OK
               : tml_io_warn(file, "scl_inter is %g; taken as 0", nifti->intercept);
}

/* Replaces the ending of a pair's name, before .gz: brain.hdr.gz, ".hdr", ".img" give brain.img.gz.
 * Returns false if the name ends otherwise. */
static bool swap_ending(const char *path, const char *from, const char *to, bool compressed,
                        char out[VOLUME_NAME_SIZE])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (!tml_volume_name_ends(name, from))
        return false;
    length -= length > 3 && name[length - 3] == '.' ? 3 : 0;
    int made = snprintf(out, VOLUME_NAME_SIZE, "%.*s%s%s", (int)(length - strlen(from)), name, to,
                        compressed ? ".gz" : "");
    return made > 0 && made < VOLUME_NAME_SIZE;
}

bool tml_nifti_header_beside(const io_file *image, char out[VOLUME_NAME_SIZE])
{
    for (int compressed = 0; compressed < 2 && !image->memory; compressed++)
        if (swap_ending(image->path, ".img", ".hdr", compressed, out) &&
            tml_io_has_beside(image, out))
            return true;
    return false;
}

/* Finds a pair's samples: .img or .img.gz beside .hdr or .hdr.gz. */
static tml_status find_samples(const io_file *file, volume_header *out)
{
    for (int compressed = 0; compressed < 2; compressed++)
        if (swap_ending(file->path, ".hdr", ".img", compressed, out->made_name) &&
            tml_io_has_beside(file, out->made_name)) {
            out->source = VOLUME_FILE;
            out->names = (io_span){out->made_name, strlen(out->made_name)};
            out->encoding = compressed ? VOLUME_DEFLATE : VOLUME_RAW;
            return TML_OK;
        }
    return tml_io_error(file, TML_ERROR_FILE_ACCESS,
                        "is the header of a pair, but there is no readable .img or .img.gz of the "
                        "same name beside it");
}

/* Finds where samples begin: behind header and extensions, or in the other file. */
static tml_status parse_offset(const io_file *file, const nifti_header *nifti, double least,
                               volume_header *out)
{
    const double most = 9007199254740992.0; /* 2^53: exact in a double */
    double offset = nifti->offset;
    if (offset == 0) /* some writers omit it, in single files too */
        offset = least;
    if (!(offset >= least && offset <= most && offset == floor(offset)))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "vox_offset is %g, needs a whole number from %g", nifti->offset, least);
    uint64_t skip = (uint64_t)offset;
    if (out->encoding == VOLUME_DEFLATE)
        out->byte_skip = skip;
    else
        out->offset = skip;
    return TML_OK;
}

/* Reads the sizes of three axes, and the product of the others. */
static tml_status take_sizes(const io_file *file, nifti_header *nifti, uint64_t dims[3],
                             uint64_t *volumes)
{
    bool fits = true;
    if (nifti->dim[0] < 1 || nifti->dim[0] > 7)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT, "dim[0] is %" PRId64 ", needs 1 to 7",
                            nifti->dim[0]);
    for (int i = 0; i < 3; i++)
        dims[i] = 1;
    for (int64_t i = 1; i <= nifti->dim[0]; i++) {
        if (i >= 3 && nifti->dim[i] == 0) { /* some writers use 0 for an unused axis */
            nifti->dim[i] = 1;
            tml_status told = i > 3 ? TML_OK : tml_io_warn(file, "dim[3] is 0; taken as 1");
            if (told != TML_OK)
                return told;
        }
        if (nifti->dim[i] < 1)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "dim[%" PRId64 "] is %" PRId64 ", needs 1 or more", i,
                                nifti->dim[i]);
        if (i <= 3)
            dims[i - 1] = (uint64_t)nifti->dim[i];
        else
            fits = fits && !__builtin_mul_overflow(*volumes, (uint64_t)nifti->dim[i], volumes);
    }
    return fits ? TML_OK
                : tml_io_error(file, TML_ERROR_FILE_FORMAT,
                               "dim[4] to dim[7] multiply to more than 2^64");
}

static tml_status nifti_parse(const io_file *file, io_span head, const tml_load_desc *desc,
                              volume_header *out)
{
    bool single = false;
    nifti_header nifti = {0};
    tml_volume *volume = &out->volume;
    int version = version_of(head, &out->big_endian, &single);
    if (version == 1)
        read_header_1(head.text, out->big_endian, &nifti);
    else
        read_header_2(head.text, out->big_endian, &nifti);
    snprintf(volume->format, sizeof volume->format, "NIfTI-%d", version);
    tml_io_copy(volume->comment, sizeof volume->comment, tml_io_trim(nifti.description));

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].code == nifti.type)
            volume->type = types[i].type;
    if (volume->type == TML_TYPE_NONE)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "its datatype is %" PRId64 " (expected integers of 8 to 64 bits, "
                            "float32 or float64; not colour, complex or float128); convert it, for "
                            "one component, with nibabel or fslmaths",
                            nifti.type);
    uint64_t volumes = 1;
    tml_status status = take_sizes(file, &nifti, volume->grid.dims, &volumes);
    TML_THEN(status, take_scale(file, &nifti, volume));
    if (status == TML_OK && !single && tml_volume_name_ends(file->path, ".nii")) {
        single = true;
        status =
            tml_io_warn(file, "says that it is the header of a pair, but is named .nii; taken as a "
                              "file that has both");
    }
    if (status == TML_OK && !single)
        status = find_samples(file, out);
    TML_THEN(status, parse_offset(file, &nifti,
                                  !single        ? 0
                                  : version == 1 ? SIZE_1 + 4
                                                 : SIZE_2 + 4,
                                  out));
    TML_THEN(status, tml_volume_layout(file, 1, 1, volumes, desc->frame, out));
    return status == TML_OK ? nifti_parse_grid(file, &nifti, desc, out) : status;
}

const volume_format tml_volume_nifti = {"NIfTI", is_nifti, nifti_parse};
