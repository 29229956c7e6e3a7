/* Makes a mesh file from a volume file: tml_volume_to_mesh.
 *
 * While the surface is made, files are read layer by layer (tml_surface_save). All files are loaded
 * into memory first if one cannot be read so (text, or an encoding of the whole), or if samples are
 * needed before: for Otsu's isovalue if the file cannot be mapped, for labels that are made from
 * the samples, and for caps if the inside is the low side. A mesh per label requires the whole
 * volume, too. */
#include <inttypes.h>

#include "io/io_internal.h"
#include "io/recipes/surface_save.h"

enum { SOURCES = 3 }; /* number of tml_surface_source */

static const char call[] = "tml_volume_to_mesh";
static const char *const source_names[SOURCES] = {"volume", "mask", "attribute"};

/* Passes on the messages of the reader's context to the caller's log. While another thread reads,
 * the first warning is kept. */
typedef struct reader_log {
    tml_context *tml;
    bool is_elsewhere;
    tml_log_level level;
    char kept[512];
} reader_log;

typedef struct mesh_source {
    const char *path;  /* NULL: not given */
    tml_volume volume; /* data NULL: not loaded */
    tml_volume_stream *stream;
} mesh_source;

typedef struct conversion {
    tml_context *tml, *reader;
    const tml_volume_mesh_desc *desc;
    const tml_surface_labels_desc *boundaries; /* as given; NULL: a surface */
    mesh_source sources[SOURCES];
    reader_log log;
    tml_surface_desc surface;
    tml_surface_labels_desc labels;
    double *isovalues; /* in samples */
    uint32_t isovalue_count;
    uint8_t *marks; /* bytes of a loaded mask */
    uint64_t samples;
    tml_buffer lent[SOURCES];
    bool is_low; /* the inside has low samples */
    bool is_in_memory;
    bool is_saving; /* errors of sources are now in the reader's context */
    tml_surface_saved *out;
} conversion;

/* Is the surface made whole? A mesh per label always is. */
static bool is_whole(const conversion *c)
{
    return c->desc->save.making == TML_MAKE_WHOLE ||
           (c->boundaries && c->boundaries->sharing != TML_LABELS_SHARED);
}

static void take_message(void *user, tml_log_level level, const char *message)
{
    reader_log *log = user;
    if (level == TML_LOG_ERROR) /* the call that fails reports it */
        return;
    if (!log->is_elsewhere) {
        tml_log(log->tml, level, "%s", message);
    } else if (!log->kept[0]) {
        log->level = level;
        snprintf(log->kept, sizeof log->kept, "%s", message);
    }
}

static tml_status refuse(const conversion *c, int source, const char *what)
{
    c->out->failed = TML_SIDE_SOURCE;
    return tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s: %s", call,
                     c->sources[source].path, what);
}

/* ---- reading --------------------------------------------------------------------------------- */

static tml_load_desc load_desc(const conversion *c, int source)
{
    static const tml_load_desc defaults;
    const tml_load_desc *load = c->desc->load ? c->desc->load : &defaults;
    return source == TML_SURFACE_VOLUME ? *load : (tml_load_desc){.strict = load->strict};
}

/* Replaces a stream with the whole volume. */
static tml_status load_source(conversion *c, int source)
{
    mesh_source *s = &c->sources[source];
    const tml_load_desc desc = load_desc(c, source);
    tml_volume_stream_close(s->stream);
    s->stream = NULL;
    c->out->failed = TML_SIDE_SOURCE;
    tml_status status = tml_volume_load(c->tml, s->path, &desc, &s->volume);
    if (status == TML_OK)
        c->out->failed = TML_SIDE_NONE;
    return status;
}

/* Opens a file for reading layer by layer. If that is unsupported, loads the file. */
static tml_status open_source(conversion *c, int source)
{
    mesh_source *s = &c->sources[source];
    const tml_load_desc desc = load_desc(c, source);
    tml_status status = tml_volume_stream_open(c->reader, s->path, &desc, &s->volume, &s->stream);
    if (status == TML_ERROR_UNSUPPORTED) { /* loading fails, too, if no reader supports the file */
        c->is_in_memory = true;
        return load_source(c, source);
    }
    if (status == TML_OK)
        return status;
    c->out->failed = TML_SIDE_SOURCE;
    return tml_error(c->tml, status, "%s", tml_last_error(c->reader));
}

static tml_status open_sources(conversion *c, const char *path)
{
    tml_status status = TML_OK;
    const char *const paths[SOURCES] = {path, c->desc->mask, c->desc->attribute};
    for (int i = 0; i < SOURCES && status == TML_OK; i++) {
        c->sources[i].path = paths[i];
        if (!paths[i])
            continue;
        status = open_source(c, i);
        if (status == TML_OK &&
            memcmp(c->sources[i].volume.grid.dims, c->sources[0].volume.grid.dims,
                   sizeof c->sources[0].volume.grid.dims) != 0) {
            char what[96];
            snprintf(what, sizeof what, "the %s needs the dims of the volume", source_names[i]);
            status = refuse(c, i, what);
        }
    }
    const uint64_t *dims = c->sources[0].volume.grid.dims;
    c->samples = dims[0] * dims[1] * dims[2];
    return status;
}

/* Loads all sources if one of them must be in memory. */
static tml_status load_sources(conversion *c)
{
    tml_status status = TML_OK;
    for (int i = 0; i < SOURCES && c->is_in_memory && status == TML_OK; i++)
        if (c->sources[i].stream)
            status = load_source(c, i);
    return status;
}

static tml_status mark_mask(conversion *c)
{
    const tml_volume *mask = &c->sources[TML_SURFACE_MASK].volume;
    if (!mask->data || tml_type_size(mask->type) == 1)
        return TML_OK;
    c->marks = tml_alloc_array(c->tml, c->samples, 1);
    if (!c->marks)
        return tml_error(c->tml, TML_ERROR_OUT_OF_MEMORY,
                         "%s: no memory for a mask of %" PRIu64 " bytes", call, c->samples);
    tml_mark_samples(mask->type, c->samples, mask->data, c->marks);
    return TML_OK;
}

/* Creates buffers over the sources in memory. */
static tml_status lend_sources(conversion *c)
{
    tml_status status = mark_mask(c);
    for (int i = 0; i < SOURCES && status == TML_OK; i++) {
        const tml_volume *v = &c->sources[i].volume;
        const bool is_marks = i == TML_SURFACE_MASK && v->data;
        if (v->data)
            status = tml_buffer_create(
                c->tml,
                &(tml_buffer_desc){.type = is_marks ? TML_U8 : v->type,
                                   .count = c->samples,
                                   .host = is_marks && c->marks ? c->marks : v->data,
                                   .label = source_names[i]},
                &c->lent[i]);
    }
    c->surface.volume = c->labels.volume = c->lent[TML_SURFACE_VOLUME];
    c->surface.mask = c->lent[TML_SURFACE_MASK];
    c->surface.attribute = c->lent[TML_SURFACE_ATTRIBUTE];
    return status;
}

/* ---- the surface ----------------------------------------------------------------------------- */

/* Caps close the high side of the samples. This makes the inside that side: physical values,
 * negated if the inside is below the isovalue. */
static tml_status raise_inside(conversion *c)
{
    tml_volume *v = &c->sources[0].volume;
    const double sign = c->surface.flip ? -1 : 1;
    v->slope *= sign;
    v->intercept *= sign;
    tml_status status = tml_volume_convert(c->tml, v, TML_VALUES_PHYSICAL, v);
    v->slope = sign;
    c->is_low = false;
    return status;
}

/* Chooses the isovalue by Otsu's method, in samples. */
static tml_status choose_isovalue(conversion *c, double *out)
{
    mesh_source *s = &c->sources[0];
    const void *data = s->volume.data;
    tml_value_histogram histogram;
    tml_status status = TML_OK;
    if (!data && tml_volume_stream_map(s->stream, &data) != TML_OK) {
        c->is_in_memory = true;
        status = load_source(c, 0);
        data = s->volume.data;
    }
    TML_THEN(status,
             tml_value_histogram_make(c->tml, data, s->volume.type, c->samples, &histogram));
    if (status != TML_OK)
        return status;
    const bool is_empty = histogram.lower > histogram.upper;
    *out = histogram.otsu;
    tml_value_histogram_free(c->tml, &histogram);
    return is_empty ? refuse(c, 0, "no sample is a finite number, so there is no surface") : TML_OK;
}

/* Converts physical isovalues to samples, or chooses one. */
static tml_status choose_isovalues(conversion *c)
{
    const double *given = c->surface.isovalues;
    const uint32_t count = c->surface.isovalue_count;
    const tml_volume *v = &c->sources[0].volume;
    tml_status status = TML_OK;
    if (given) {
        c->isovalues = tml_alloc_array(c->tml, count, sizeof *c->isovalues);
        if (!c->isovalues && count)
            return tml_error(c->tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for isovalues", call);
        for (uint32_t i = 0; i < count; i++)
            c->isovalues[i] = (given[i] - v->intercept) / v->slope;
        c->surface.isovalues = c->isovalues;
        c->isovalue_count = count;
        c->out->isovalue = count ? given[0] : 0;
    } else {
        c->surface.isovalue_count = 0;
        status = choose_isovalue(c, &c->surface.iso);
        c->out->isovalue = v->slope * c->surface.iso + v->intercept;
    }
    return status;
}

/* Describes the surface, from the desc and what the file says. */
static tml_status volume_to_mesh_describe(conversion *c)
{
    mesh_source *s = &c->sources[0];
    if (c->desc->save.slabs.surface)
        c->surface = *c->desc->save.slabs.surface;
    c->surface.field = NULL;
    c->surface.labels = NULL;
    c->surface.index = (tml_buffer){0, 0};
    c->is_low = c->surface.flip != (s->volume.slope < 0);
    if (!(s->volume.slope != 0))
        return refuse(c, 0, "its values have slope 0; there is no surface");
    const bool makes_labels = c->boundaries && !tml_volume_has_labels(&s->volume);
    const bool raises = !c->boundaries && c->surface.caps && c->is_low;
    tml_status status = TML_OK;
    if ((makes_labels || raises) && s->stream) {
        c->is_in_memory = true;
        status = load_source(c, 0);
    }
    if (status == TML_OK && makes_labels)
        status = tml_volume_convert(c->tml, &s->volume, TML_VALUES_LABELS, &s->volume);
    if (status == TML_OK && raises)
        status = raise_inside(c);
    if (status == TML_OK && c->boundaries)
        c->labels = *c->boundaries;
    else if (status == TML_OK)
        status = choose_isovalues(c);
    c->surface.flip = c->is_low;
    c->surface.grid = c->labels.grid = s->volume.grid;
    tml_grid_position_origin(&s->volume.grid, c->surface.position_origin);
    memcpy(c->labels.position_origin, c->surface.position_origin, sizeof c->labels.position_origin);
    return status;
}

static tml_status save(conversion *c, const char *path)
{
    const mesh_source *s = c->sources;
    const uint64_t bytes = c->samples * tml_type_size(s[0].volume.type);
    tml_surface_save_desc save = save_of_recipe(&c->desc->save);
    const uint64_t memory = save.slabs.memory ? save.slabs.memory : (uint64_t)1 << 30;
    const void *samples;
    save.making = is_whole(c) ? TML_MAKE_WHOLE : TML_MAKE_SLABS;
    save.slabs.surface = c->boundaries ? NULL : &c->surface;
    save.slabs.boundaries = c->boundaries ? &c->labels : NULL;
    save.volume = s[TML_SURFACE_VOLUME].stream;
    save.mask = s[TML_SURFACE_MASK].stream;
    save.attribute = s[TML_SURFACE_ATTRIBUTE].stream;
    save.values =
        tml_buffer_is_none(c->surface.attribute) ? NULL : &s[TML_SURFACE_ATTRIBUTE].volume;
    save.count_first = bytes <= memory;
    memcpy(save.file.mesh.origin, c->surface.position_origin, sizeof save.file.mesh.origin);
    c->out->is_mapped = s[0].stream && !save.copy_samples;
    for (int i = 0; i < SOURCES; i++)
        c->out->is_mapped =
            c->out->is_mapped &&
            (!s[i].stream || tml_volume_stream_map(s[i].stream, &samples) == TML_OK);
    c->is_saving = c->log.is_elsewhere = true;
    tml_status status = tml_surface_save_more(c->tml, path, &save, c->out);
    c->log.is_elsewhere = false;
    if (c->log.kept[0])
        tml_log(c->tml, c->log.level, "%s", c->log.kept);
    return status;
}

static void volume_to_mesh_release(conversion *c)
{
    for (int i = 0; i < SOURCES; i++) {
        tml_buffer_destroy(c->tml, c->lent[i]);
        tml_volume_stream_close(c->sources[i].stream);
        tml_volume_free(c->tml, &c->sources[i].volume);
    }
    tml_free(c->tml, c->marks, c->samples);
    tml_free(c->tml, c->isovalues, c->isovalue_count * sizeof *c->isovalues);
    tml_close(c->reader);
}

tml_status tml_volume_to_mesh(tml_context *tml, const char *path, const char *mesh_path,
                              const tml_volume_mesh_desc *desc, tml_volume *volume,
                              tml_surface_saved *out)
{
    static const tml_volume_mesh_desc defaults;
    memset(out, 0, sizeof *out);
    conversion c = {.tml = tml, .desc = desc ? desc : &defaults, .log = {.tml = tml}, .out = out};
    c.boundaries = c.desc->save.slabs.boundaries;
    const tml_open_desc open = {
        .engine = TML_ENGINE_CPU, .threads = 1, .log = take_message, .log_user = &c.log};
    tml_status status = tml_open(&open, &c.reader);
    if (status != TML_OK)
        return tml_error(tml, status, "%s: %s", call, tml_last_error(NULL));
    status = open_sources(&c, path);
    TML_THEN(status, volume_to_mesh_describe(&c));
    c.is_in_memory = c.is_in_memory || is_whole(&c);
    TML_THEN(status, load_sources(&c));
    TML_THEN(status, lend_sources(&c));
    TML_THEN(status, save(&c, mesh_path));
    if (status != TML_OK && out->failed == TML_SIDE_SOURCE && c.is_saving)
        status = tml_error(tml, status, "%s", tml_last_error(c.reader));
    status = save_fails(&out->failed, TML_SIDE_SURFACE, status);
    if (volume) {
        *volume = c.sources[0].volume;
        volume->data = NULL;
        volume->size = 0;
    }
    volume_to_mesh_release(&c);
    return status;
}
