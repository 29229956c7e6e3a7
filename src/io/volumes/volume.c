/* Loads and saves volumes by the reader or writer of their format. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "io/io_system.h"
#include "io/volumes/dicom.h"
#include "io/volumes/volume_internal.h"

/* Formats that contents alone identify come before a format that also needs the name. */
static const volume_format *const formats[] = {
    &tml_volume_nrrd,     &tml_volume_npy,   &tml_volume_nifti, &tml_volume_mrc, &tml_volume_vtk,
    &tml_volume_vti,      &tml_volume_dicom, &tml_volume_tiff, /* a DICOM file may begin as TIFF */
    &tml_volume_metaimage};

enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

/* ---- loading --------------------------------------------------------------------------------- */

static const volume_format *find_format(io_span head, const char *path)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (formats[i]->detect(head, path))
            return formats[i];
    return NULL;
}

/* Returns what to do with volumes of formats that are not read, or NULL. wrapped: head was in
 * gzip. */
static const char *other_kind(io_span head, bool wrapped)
{
    const uint32_t analyze_size = 348;
    if (wrapped && tml_io_is_gzip(head.text, head.size))
        return "is gzip of gzip; gunzip it once";
    if (tml_io_starts_with(head, "PK\3\4"))
        return "is a zip file, as NPZ is; unzip it and name one of the files in it";
    if (tml_io_starts_with(head, "\x89HDF\r\n"))
        return "is HDF5, which is not read; save one array of it with h5py and numpy.save";
    if (tml_io_starts_with(head, "CDF\1") || tml_io_starts_with(head, "CDF\2"))
        return "is NetCDF, as MINC 1 is, which is not read; save one array of it with numpy.save";
    if (head.size == analyze_size && (io_load_u32(head.text, false) == analyze_size ||
                                      io_load_u32(head.text, true) == analyze_size))
        return "is the header of ANALYZE 7.5, which does not say how the volume lies; convert it "
               "to "
               "NIfTI with nibabel";
    return NULL;
}

/* Parses the header in a file's first bytes. Samples without one are described by desc or the
 * file's name. */
static tml_status volume_parse(const io_file *file, io_span head, bool wrapped,
                               const tml_load_desc *desc, volume_header *header)
{
    const volume_format *format = find_format(head, file->path);
    const char *other;
    tml_load_desc named = *desc;
    if (format && (desc->dims[0] || desc->type))
        return tml_io_error(file, TML_ERROR_INVALID_ARGUMENT,
                            "desc.dims and desc.type are for raw files, but this is %s, which "
                            "says its own; leave them 0",
                            format->name);
    snprintf(header->volume.format, sizeof header->volume.format, "%s",
             format ? format->name : "raw"); /* the format may replace it by a variant's name */
    if (format)
        return format->parse(file, head, desc, header);
    if (desc->dims[0] || desc->type || tml_volume_raw_from_name(file->path, &named))
        return tml_volume_raw_parse(file, wrapped, &named, header);
    if ((other = other_kind(head, wrapped)))
        return tml_io_error(file, TML_ERROR_UNSUPPORTED, "%s", other);
    if (wrapped)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "is gzip of none of the volume formats known here; for headerless "
                            "samples give desc.dims and desc.type, which unzips them as it reads, "
                            "and of points or a mesh gunzip the file");
    return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                        file->size == 0
                            ? "the file is empty"
                            : "is none of the volume formats known here (NRRD, NIfTI, MetaImage, "
                              "MRC, NPY, VTK, VTI, TIFF, DICOM); for headerless samples give "
                              "desc.dims and desc.type");
}

/* Reads a file's header. *block owns the memory to which *header points. *wrapped: the whole file
 * is gzip. On failure there is nothing to free. */
static tml_status volume_describe(const io_file *file, const io_folder *slices,
                                  const tml_load_desc *desc, bool *wrapped, io_block *block,
                                  volume_header *header)
{
    for (int i = 0; i < 3; i++)
        if (!(desc->spacing[i] >= 0 && isfinite(desc->spacing[i])))
            return tml_io_error(file, TML_ERROR_INVALID_ARGUMENT,
                                "desc.spacing[%d] is %g, needs a length above 0, or 0 for the "
                                "file's own",
                                i, desc->spacing[i]);
    uint8_t magic[3] = {0};
    size_t magic_size = file->size < sizeof magic ? (size_t)file->size : sizeof magic;
    tml_status status = tml_io_read(file, 0, magic, magic_size);
    if (status == TML_OK && file->memory) /* files are checked when they are opened */
        status = tml_io_check_stand_in(file);
    if (status != TML_OK)
        return status;
    *wrapped = tml_io_is_gzip(magic, magic_size);
    status = tml_io_read_head(file, VOLUME_HEAD_SIZE, block);
    if (status != TML_OK)
        return status;

    io_span head = {(const char *)block->data, block->size};
    *header = (volume_header){
        .volume = {.slope = 1}, .file_count = 1, .axis = {0, 1, 2}, .source = VOLUME_ATTACHED};
    header->slices = slices && slices->count ? slices : NULL;
    status = volume_parse(file, head, *wrapped, desc, header);
    if (header->list.data) {
        tml_io_block_free(file, block);
        *block = header->list;
    }
    if (header->encoding == VOLUME_TEXT || header->encoding == VOLUME_TIFF ||
        header->encoding == VOLUME_DICOM) /* decoders use the machine's order */
        header->big_endian = IO_HOST_IS_BIG_ENDIAN;
    header->volume.compressed = *wrapped || header->encoding != VOLUME_RAW;
    if (status != TML_OK)
        tml_io_block_free(file, block);
    return status;
}

/* Loads an open file. */
static tml_status volume_load(const io_file *file, const io_folder *slices,
                              const tml_load_desc *desc, tml_volume *out)
{
    bool wrapped = false;
    io_block block;
    volume_header header;
    tml_status status = volume_describe(file, slices, desc, &wrapped, &block, &header);
    if (status != TML_OK)
        return status;
    status = tml_volume_read(file, wrapped, desc, &header);
    tml_io_block_free(file, &block);
    if (status == TML_OK)
        *out = header.volume;
    return status;
}

static bool is_named_like_slice(const char *name)
{
    static const char *const endings[] = {".tif", ".tiff", ".dcm", ".ima"};
    bool is = !strchr(name, '.');
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        is = is || tml_volume_name_ends(name, endings[i]);
    return is;
}

/* Counts the TIFF and DICOM files, and moves the names of the TIFF files to the front. Both kinds
 * in a folder are an error. */
static tml_status sort_out(tml_context *tml, const char *call, const char *path, io_folder *files,
                           size_t *tiffs, size_t *dicoms)
{
    const char *first[2] = {NULL, NULL};
    tml_status status = TML_OK;
    *tiffs = *dicoms = 0;
    for (size_t i = 0; i < files->count && status == TML_OK; i++) {
        io_file file;
        char head[DICOM_HEAD_SIZE];
        status = tml_folder_open(tml, call, path, files->names[i], &file);
        if (status != TML_OK)
            break;
        size_t size = file.size < sizeof head ? (size_t)file.size : sizeof head;
        status = tml_io_read(&file, 0, head, size);
        const io_span span = {head, size};
        bool is_dicom = status == TML_OK && tml_dicom_is(span);
        bool is_tiff = status == TML_OK && !is_dicom && tml_volume_tiff.detect(span, file.path);
        if (status == TML_OK && tml_io_is_pointer(span) && is_named_like_slice(files->names[i]))
            status = tml_io_check_stand_in(&file); /* otherwise a slice would be missing */
        tml_io_close(&file);
        if ((is_dicom && !(*dicoms)++) || (is_tiff && !*tiffs))
            first[is_dicom] = files->names[i];
        if (first[0] && first[1])
            return tml_error(tml, TML_ERROR_UNSUPPORTED,
                             "%s: %s: holds TIFF and DICOM, as %s and %s; put the slices of one "
                             "stack into a folder of their own",
                             call, path, first[0], first[1]);
        if (is_tiff && i != (*tiffs)++)
            memmove(files->names[*tiffs - 1], files->names[i], sizeof files->names[i]);
        if (is_tiff && *tiffs == 1)
            first[0] = files->names[0];
        if (tml_is_cancelled(tml))
            status = tml_error(tml, TML_ERROR_CANCELLED, "%s: %s: cancelled", call, path);
    }
    return status;
}

/* Opens a file of the folder's only DICOM series, or the first of its TIFF slices, whose names
 * *slices has. */
static tml_status open_folder(tml_context *tml, const char *call, const char *path,
                              io_folder *slices, io_file *out)
{
    size_t tiffs, dicoms;
    tml_status status = tml_folder_list(tml, call, path, slices);
    TML_THEN(status, sort_out(tml, call, path, slices, &tiffs, &dicoms));
    if (status != TML_OK)
        return status;
    if (!tiffs && !dicoms)
        return tml_error(tml, TML_ERROR_FILE_ACCESS,
                         "%s: %s: is a folder without TIFF or DICOM pictures; pass a regular "
                         "file, or a folder with TIFF slices or a DICOM series",
                         call, path);
    if (dicoms)
        status = tml_dicom_open_folder(tml, call, path, slices, out);
    else
        status = tml_folder_open(tml, call, path, slices->names[0], out);
    slices->left_out = slices->count - tiffs;
    slices->count = tiffs;
    return status;
}

/* Opens a volume's file. If path names either file of a pair, opens the header. If path is a
 * folder, see open_folder. */
static tml_status open_volume(tml_context *tml, const char *call, const char *path,
                              io_folder *slices, io_file *out)
{
    char header_name[VOLUME_NAME_SIZE];
    io_file header;
    *slices = (io_folder){0};
    bool is_folder = path && tml_io_path_kind(path) == IO_KIND_FOLDER;
    tml_status status =
        is_folder ? open_folder(tml, call, path, slices, out) : tml_io_open(tml, call, path, out);
    if (status != TML_OK)
        tml_folder_free(tml, slices);
    if (status != TML_OK || !tml_nifti_header_beside(out, header_name))
        return status;
    status = tml_io_open_beside(out, header_name, &header);
    tml_io_close(out);
    if (status == TML_OK)
        *out = header;
    return status;
}

/* A gzip file has the format of its contents. */
const char *tml_volume_format_of(tml_context *tml, const char *path)
{
    io_file file;
    io_folder slices;
    io_block head = {0};
    uint8_t magic[3];
    const char *name = NULL;
    tml_load_desc named = {.type = TML_TYPE_NONE};
    if (open_volume(tml, "tml_file_format", path, &slices, &file) != TML_OK)
        return NULL;
    tml_folder_free(tml, &slices);
    if (tml_io_read_head(&file, VOLUME_HEAD_SIZE, &head) == TML_OK) {
        const volume_format *format =
            find_format((io_span){(const char *)head.data, head.size}, file.path);
        name = format ? format->name : tml_volume_raw_from_name(file.path, &named) ? "raw" : NULL;
    } else if (file.size >= sizeof magic && tml_io_read(&file, 0, magic, sizeof magic) == TML_OK &&
               tml_io_is_gzip(magic, sizeof magic)) {
        name = "gzip";
    }
    tml_io_block_free(&file, &head);
    tml_io_close(&file);
    return name;
}

static const char load_call[] = "tml_volume_load";

tml_status tml_volume_load(tml_context *tml, const char *path, const tml_load_desc *desc,
                           tml_volume *out)
{
    static const tml_load_desc defaults;
    memset(out, 0, sizeof *out);
    io_file file;
    io_folder slices;
    tml_status status = open_volume(tml, load_call, path, &slices, &file);
    if (status != TML_OK)
        return status;
    file.strict = desc && desc->strict;
    status = volume_load(&file, &slices, desc ? desc : &defaults, out);
    tml_folder_free(tml, &slices);
    tml_io_close(&file);
    return status;
}

tml_status tml_volume_stream_open(tml_context *tml, const char *path, const tml_load_desc *desc,
                                  tml_volume *info, tml_volume_stream **out)
{
    static const tml_load_desc defaults;
    memset(info, 0, sizeof *info);
    *out = NULL;
    io_file file;
    io_folder slices;
    bool wrapped = false;
    io_block block;
    volume_header header;
    tml_status status = open_volume(tml, "tml_volume_stream_open", path, &slices, &file);
    if (status != TML_OK)
        return status;
    file.strict = desc && desc->strict;
    status = volume_describe(&file, &slices, desc ? desc : &defaults, &wrapped, &block, &header);
    tml_folder_free(tml, &slices);
    header.slices = NULL;
    if (status != TML_OK) {
        tml_io_close(&file);
        return status;
    }
    status = tml_volume_stream_begin(&file, wrapped, &block, &header, out);
    if (status == TML_OK) {
        *info = header.volume;
        return TML_OK;
    }
    tml_io_block_free(&file, &block);
    tml_io_close(&file);
    return status;
}

tml_status tml_volume_load_memory(tml_context *tml, const char *name, const void *data, size_t size,
                                  const tml_load_desc *desc, tml_volume *out)
{
    static const tml_load_desc defaults;
    memset(out, 0, sizeof *out);
    io_file file;
    tml_io_open_memory(tml, load_call, name, data, size, &file);
    file.strict = desc && desc->strict;
    return volume_load(&file, NULL, desc ? desc : &defaults, out);
}

void tml_volume_free(tml_context *tml, tml_volume *volume)
{
    if (!volume)
        return;
    tml_free(tml, volume->data, volume->size);
    memset(volume, 0, sizeof *volume);
}

/* ---- saving ---------------------------------------------------------------------------------- */

/* Writes the samples in little-endian order on a big-endian machine. */
static void write_little_endian(io_writer *writer, const tml_volume *volume)
{
    const size_t size = tml_type_size(volume->type);
    uint64_t block[512];
    for (size_t at = 0, count; at < volume->size; at += count) {
        count = volume->size - at < sizeof block ? volume->size - at : sizeof block;
        memcpy(block, (const uint8_t *)volume->data + at, count);
        tml_io_to_host(block, size, count / size, false); /* a swap either way */
        tml_io_write(writer, block, count);
    }
}

/* Warns of properties of a volume that the format cannot store. */
static void tell_loss(tml_context *tml, const char *path, const tml_volume *volume, bool has_all,
                      bool has_place)
{
    const tml_grid *grid = &volume->grid;
    bool is_scaled = volume->slope != 0 && (volume->slope != 1 || volume->intercept != 0);
    bool is_placed = false;
    for (int i = 0; i < 3; i++)
        is_placed |= grid->origin[i] != 0 || (grid->spacing[i] != 0 && grid->spacing[i] != 1);
    for (int i = 0; i < 9; i++)
        is_placed |= grid->direction[i] != 0 && grid->direction[i] != tml_volume_identity[i];
    if (has_all)
        return;
    if (is_scaled)
        tml_log(tml, TML_LOG_WARNING,
                "tml_volume_save: %s: holds the samples as they are, but not that values are %g x "
                "sample %+g; .nrrd does",
                path, volume->slope, volume->intercept);
    if (volume->unit[0] && !(has_place && tml_metaimage_unit(volume->unit)))
        tml_log(tml, TML_LOG_WARNING,
                "tml_volume_save: %s: does not hold the unit of lengths, %s; .nrrd does", path,
                volume->unit);
    if (is_placed && !has_place)
        tml_log(tml, TML_LOG_WARNING,
                "tml_volume_save: %s: does not hold spacing, origin and directions; .nrrd and .mha "
                "do",
                path);
}

tml_status tml_volume_save(tml_context *tml, const char *path, const tml_volume *volume)
{
    static const char call[] = "tml_volume_save";
    const uint64_t *dims = volume->grid.dims;
    uint64_t size = tml_type_size(volume->type);
    bool fits = tml_type_components(volume->type) == 1;
    for (int i = 0; i < 3; i++)
        fits = fits && !__builtin_mul_overflow(size, dims[i], &size);
    if (!fits || size != volume->size || (size && !volume->data))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: volume has %zu bytes, needs %" PRIu64 " x %" PRIu64 " x %" PRIu64
                         " samples of a scalar type (%s)",
                         call, volume->size, dims[0], dims[1], dims[2],
                         tml_type_name(volume->type));
    bool is_nrrd = path && tml_volume_name_ends(path, ".nrrd");
    bool is_npy = path && tml_volume_name_ends(path, ".npy");
    bool is_mha = path && tml_volume_name_ends(path, ".mha");
    bool is_gz = path && strlen(path) > 3 && strcasecmp(path + strlen(path) - 3, ".gz") == 0;
    if (is_gz || !path || (!is_nrrd && !is_npy && !is_mha && !tml_volume_name_ends(path, ".raw")))
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s: the name's ending is not one that can be written (expected "
                         ".nrrd, .mha, .npy or .raw)",
                         call, path ? path : "NULL");
    if ((is_nrrd || is_mha) && volume->type == TML_F16)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s: %s has no 16-bit float; write .npy or .raw", call, path,
                         is_nrrd ? "NRRD" : "MetaImage");

    tell_loss(tml, path, volume, is_nrrd, is_mha);
    io_writer writer;
    const uint64_t header_most = 1024; /* of NRRD and NPY; for a message if the disk is full */
    tml_status status = tml_io_create(tml, call, path, size + header_most, &writer);
    if (status != TML_OK)
        return status;
    if (is_nrrd)
        tml_nrrd_write_header(&writer, volume);
    else if (is_mha)
        tml_metaimage_write_header(&writer, volume);
    else if (is_npy)
        tml_npy_write_header(&writer, volume->type, (uint64_t[]){dims[2], dims[1], dims[0]}, 3);
    if (IO_HOST_IS_BIG_ENDIAN && !is_nrrd && !is_mha && !is_npy)
        write_little_endian(&writer, volume);
    else
        tml_io_write(&writer, volume->data, volume->size);
    return tml_io_finish(&writer, TML_OK);
}
