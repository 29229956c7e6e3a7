/* Samples for slabs: read, mapped or evaluated, alternately into two places. See slab_samples.h. */
#include <inttypes.h>
#include <string.h>

#include "surface/slab_samples.h"
#include "surface/surface_internal.h"

static bool is_scalar(tml_type type)
{
    return type > TML_TYPE_NONE && type < TML_SCALAR_END;
}

tml_status slab_samples_resolve(slab_producer *producer, const slab_given given[SLAB_SOURCES],
                                const uint64_t dims[3])
{
    const tml_surface_slabs_desc *desc = producer->desc;
    tml_context *tml = producer->tml;
    slab_samples *samples = &producer->samples;
    samples->reads = tml_buffer_is_none(given[TML_SURFACE_VOLUME].buffer);
    if (samples->field) {
        samples->sources[TML_SURFACE_VOLUME].type = TML_F32;
        samples->sources[TML_SURFACE_VOLUME].layer = dims[0] * dims[1] * sizeof(float);
        return TML_OK;
    }
    samples->maps = samples->reads && desc->map;
    if (samples->reads && ((!desc->read && !desc->map) || !is_scalar(desc->type) ||
                           (desc->attribute_type && !is_scalar(desc->attribute_type))))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_surface_slabs: without %s needs desc.read or desc.map, and a scalar "
                         "as desc.type (and as desc.attribute_type, if any)",
                         given[TML_SURFACE_VOLUME].field);
    for (int i = 0; i < SLAB_SOURCES; i++) {
        slab_source *source = &samples->sources[i];
        bool is_given = !tml_buffer_is_none(given[i].buffer);
        if (samples->reads ? is_given : given[i].read != TML_TYPE_NONE)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "tml_surface_slabs: %s: volume, mask and attribute are either all "
                             "buffers or all read",
                             given[i].field);
        source->given = given[i].buffer;
        source->type = given[i].read;
        source->layer = source->type ? dims[0] * dims[1] * tml_type_size(source->type) : 0;
    }
    return TML_OK;
}

tml_status slab_samples_begin(slab_producer *producer)
{
    slab_samples *samples = &producer->samples;
    return samples->field ? field_plan_create(producer->tml, samples->field, &samples->field_plan)
                          : TML_OK;
}

/* ---- places ---------------------------------------------------------------------------------- */

uint64_t slab_samples_size(const slab_samples *samples, uint64_t held)
{
    uint64_t size = 0;
    for (int i = 0; i < SLAB_SOURCES; i++)
        size += 2 * held * samples->sources[i].layer;
    return size;
}

static tml_status lend_place(tml_context *tml, slab_source *source, int place, uint64_t layers,
                             const void *samples)
{
    const tml_buffer_desc desc = {.type = source->type,
                                  .count = layers * source->layer / tml_type_size(source->type),
                                  .host = (void *)(uintptr_t)samples, /* never written */
                                  .label = "slab"};
    return tml_buffer_create(tml, &desc, &source->lent[place]);
}

tml_status slab_samples_make(slab_producer *producer, uint64_t held)
{
    tml_context *tml = producer->tml;
    if (producer->samples.maps)
        return TML_OK;
    for (int i = 0; i < SLAB_SOURCES; i++) {
        slab_source *source = &producer->samples.sources[i];
        source->size = held * source->layer;
        for (int place = 0; place < 2 && source->type; place++) {
            source->places[place] = tml_alloc_array(tml, source->size, 1);
            if (!source->places[place])
                return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                                 "tml_surface_slabs: no memory for %" PRIu64 " bytes of %" PRIu64
                                 " layers; make desc.memory or slab_layers less",
                                 source->size, held);
            tml_status status = lend_place(tml, source, place, held, source->places[place]);
            if (status != TML_OK)
                return status;
        }
    }
    return TML_OK;
}

void slab_samples_free(slab_producer *producer)
{
    for (int i = 0; i < SLAB_SOURCES; i++) {
        slab_source *source = &producer->samples.sources[i];
        for (int place = 0; place < 2; place++) {
            tml_buffer_destroy(producer->tml, source->lent[place]);
            tml_free(producer->tml, source->places[place], source->size);
        }
    }
    field_plan_destroy(producer->tml, producer->samples.field_plan);
}

/* ---- loading --------------------------------------------------------------------------------- */

static void slabs_load(void *argument)
{
    slab_loading *job = argument;
    const tml_surface_slabs_desc *desc = job->producer->desc;
    const slab_samples *samples = &job->producer->samples;
    uint64_t from = TML_MAX_OF(job->to.held_first, job->before.held_end);
    uint64_t common = from - job->to.held_first;
    job->status = TML_OK;
    for (int i = 0; i < SLAB_SOURCES && job->status == TML_OK; i++) {
        const slab_source *source = &samples->sources[i];
        if (!source->type)
            continue;
        if (samples->maps) {
            job->status = desc->map(desc->user, (tml_surface_source)i, job->to.held_first,
                                    job->to.held_end - job->to.held_first, &job->mapped[i]);
            continue;
        }
        uint8_t *to = source->places[job->to.place];
        if (common) {
            uint64_t skipped = job->to.held_first - job->before.held_first;
            memcpy(to, (const uint8_t *)source->places[job->before.place] + skipped * source->layer,
                   common * source->layer);
        }
        if (from < job->to.held_end && samples->field_plan)
            job->status = field_slab(job->producer->tml, samples->field_plan, from,
                                     job->to.held_end - from, to + common * source->layer);
        else if (from < job->to.held_end)
            job->status = desc->read(desc->user, (tml_surface_source)i, from,
                                     job->to.held_end - from, to + common * source->layer);
    }
}

void slab_load_begin(slab_loading *job, slab_producer *producer, const slab_layers *to,
                     const slab_layers *before)
{
    *job = (slab_loading){.producer = producer,
                          .to = *to,
                          .before = *before,
                          .thread = {.run = slabs_load, .argument = job}};
    if (!producer->samples.reads || producer->samples.field)
        return;
    job->is_threaded = tml_thread_start(&job->thread);
    if (!job->is_threaded)
        slabs_load(job);
}

void slab_load_stop(slab_loading *job)
{
    if (job->is_threaded)
        tml_thread_join(&job->thread);
    job->is_threaded = false;
}

/* Replaces this place's buffer, which an earlier slab used, by one at the mapped address. */
static tml_status lend_mapped(tml_context *tml, slab_source *source, int place, uint64_t layers,
                              const void *samples)
{
    if (!samples)
        return slab_error(tml, TML_ERROR_INVALID_ARGUMENT, "desc.map set no address");
    tml_buffer_destroy(tml, source->lent[place]);
    source->lent[place] = (tml_buffer){0, 0};
    return lend_place(tml, source, place, layers, samples);
}

tml_status slab_load_end(slab_loading *job, slab_layers *at)
{
    tml_context *tml = job->producer->tml;
    slab_samples *samples = &job->producer->samples;
    const bool has_field = samples->field != NULL;
    double start = tml_seconds();
    slab_load_stop(job);
    if (has_field)
        slabs_load(job);
    surface_time(job->producer->result, has_field ? "field" : "wait for samples",
                 tml_seconds() - start);
    if (has_field && job->status != TML_OK)
        return job->status;
    if (job->status != TML_OK)
        return tml_error(tml, job->status,
                         "tml_surface_slabs: layers %" PRIu64 " to %" PRIu64
                         " could not be read: desc.%s returned %s",
                         job->to.held_first, job->to.held_end - 1, samples->maps ? "map" : "read",
                         tml_status_name(job->status));
    tml_status status = TML_OK;
    for (int i = 0; i < SLAB_SOURCES && status == TML_OK; i++) {
        slab_source *source = &samples->sources[i];
        if (samples->maps && source->type)
            status = lend_mapped(tml, source, (int)at->place, at->held_end - at->held_first,
                                 job->mapped[i]);
        at->samples[i] = samples->reads ? source->lent[at->place] : source->given;
    }
    return status;
}
