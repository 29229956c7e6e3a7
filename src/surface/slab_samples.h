/* Layers of samples in memory, slab by slab. A slab is read while the previous one is computed. */
#ifndef SLAB_SAMPLES_H
#define SLAB_SAMPLES_H

#include "surface/slab_producer.h"

/* Sorts the points of a field; does nothing without one. Errors: as field_plan_create. */
TML_MUST_CHECK tml_status slab_samples_begin(slab_producer *producer);
/* Bytes of the memory for slabs of held layers, and its allocation. Errors: OUT_OF_MEMORY. */
uint64_t slab_samples_size(const slab_samples *samples, uint64_t held);
TML_MUST_CHECK tml_status slab_samples_make(slab_producer *producer, uint64_t held);
void slab_samples_free(slab_producer *producer);

/* The loading of a slab's samples. A thread copies the layers that the previous slab also holds,
 * and reads the others. With desc.map, it gets the address of the layers. */
typedef struct slab_loading {
    slab_producer *producer;
    slab_layers to, before; /* before.held_end is 0 for the first slab */
    tml_thread thread;
    bool is_threaded;
    const void *mapped[SLAB_SOURCES];
    tml_status status;
} slab_loading;
void slab_load_begin(slab_loading *job, slab_producer *producer, const slab_layers *to,
                     const slab_layers *before);
/* Waits for the samples, and sets at->samples. */
TML_MUST_CHECK tml_status slab_load_end(slab_loading *job, slab_layers *at);
/* Waits for the thread only, so that the memory it writes may be freed. */
void slab_load_stop(slab_loading *job);

#endif
