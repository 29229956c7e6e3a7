/* Programs of streams (program.h).
 *
 * Recording. program_map and its like (program_operations.c) make their program the context's
 * recorder and call tml_map. The call checks and resolves its desc as ever; stream_run then hands
 * the resolved desc to program_record, which copies it. So every check, default and message of a
 * public call is there once, and a call that consists of others records these.
 *
 * Lifetimes. A step has the arrays whose handles its desc contains. Handles are found by looking at
 * each word of the desc: a number that looks like one by accident makes an array live longer than
 * it must, and nothing else.
 *
 * Placement. Steps in order; each array goes to the first gap that is wide enough between the
 * arrays that live, and an operation's own scratch likewise. An array is never placed above the sum
 * of the sizes so far, so the whole is at most the arrays' sizes and the largest operation's
 * scratch. */
#include "stream/program.h"

#include <string.h>

enum { ARRAY_ALIGNMENT = 256 };
#define PROGRAM_NONE UINT32_MAX
#define SIZE_MOST    (SIZE_MAX / 4) /* more is out of memory */

typedef enum program_step_kind {
    STEP_OPERATION,
    STEP_PUT,
    STEP_HOST,
    STEP_READ,
    STEP_LOOP,
    STEP_LOOP_END
} program_step_kind;

typedef struct program_step {
    program_step_kind kind;
    uint32_t first_array; /* of those that begin to live here, in a list; or PROGRAM_NONE */
    size_t desc;          /* where its desc begins among the program's */
    const void *lent;     /* the desc of a program's part */
    const tml_engine_op *op;
    const char *without;
    size_t scratch, scratch_size; /* the operation's own */
} program_step;

/* The descs of steps that are no operations. */
typedef struct program_put_step {
    tml_buffer to;
    size_t size; /* bytes, which follow */
} program_put_step;
typedef struct program_read_step {
    tml_buffer from;
    void *out;
} program_read_step;
typedef struct program_loop {
    uint32_t most, end; /* rounds; the step that ends it */
    uint32_t round;     /* while it runs */
    tml_buffer count;   /* or none */
    const char *stage;  /* or NULL */
} program_loop;
typedef struct program_loop_end_step {
    uint32_t begin;
} program_loop_end_step;

/* An array's life. */
typedef struct array_life {
    uint32_t first, last; /* steps; PROGRAM_NONE: no step has it */
    uint32_t next;        /* of those that begin at the same step, or that are placed above it */
    size_t at, size;      /* bytes of scratch */
} array_life;

/* ---- memory ---------------------------------------------------------------------------------- */

/* Room for size more bytes; NULL: there is none. */
static void *grow_memory(program *p, tml_growing *g, size_t size)
{
    void *bytes = tml_grow(p->tml, g, size);
    if (!bytes)
        p->status = tml_error(p->tml, TML_ERROR_OUT_OF_MEMORY,
                              "%s: no memory for the steps of a program", p->call);
    return bytes;
}

static uint32_t steps_of(const program *p)
{
    return p->memory ? (uint32_t)(p->memory->steps.size / sizeof(program_step)) : 0;
}

static program_step *step_at(const program *p, uint32_t number)
{
    return (program_step *)p->memory->steps.memory + number;
}

static const void *desc_of(const program *p, const program_step *s)
{
    return s->lent ? s->lent : (const unsigned char *)p->memory->descs.memory + s->desc;
}

static program_loop *loop_at(const program *p, uint32_t number)
{
    return (program_loop *)desc_of(p, step_at(p, number));
}

static uint32_t lives_of(const program *p)
{
    return p->memory ? (uint32_t)(p->memory->lives.size / sizeof(array_life)) : 0;
}

static array_life *life_at(const program *p, uint32_t number)
{
    return (array_life *)p->memory->lives.memory + number;
}

static tml_slot *slot_at(const program *p, uint32_t number)
{
    const uint32_t array = p->first_array + number;
    return &p->tml->arrays[array / TML_ARRAY_PAGE][array % TML_ARRAY_PAGE].slot;
}

program program_begin(tml_context *tml, const char *call)
{
    program *outer = tml->recorder;
    if (outer) {
        program part = *outer;
        part.outer = outer;
        return part;
    }
    program p = {.tml = tml, .call = call, .first_array = tml->array_count, .loop = PROGRAM_NONE};
    p.memory = tml->programs;
    if (p.memory) {
        tml->programs = p.memory->next;
    } else {
        p.memory = tml_alloc(tml, sizeof *p.memory);
        if (!p.memory) {
            p.status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for a program", call);
            return p;
        }
        *p.memory = (tml_program_memory){0};
    }
    p.memory->steps.size = p.memory->descs.size = p.memory->lives.size = 0;
    p.memory->buffers.size = 0;
    tml->array_generation = (tml->array_generation + 2) | 1;
    return p;
}

void program_discard(program *p)
{
    if (!p->memory)
        return;
    for (uint32_t i = 0; i < lives_of(p); i++)
        *slot_at(p, i) = (tml_slot){0};
    p->memory->next = p->tml->programs;
    p->tml->programs = p->memory;
    p->memory = NULL;
}

/* Ends a program: its arrays are no buffers any more. */
static tml_status end_program(program *p)
{
    if (p->memory)
        p->tml->array_count = p->first_array;
    program_discard(p);
    return p->status;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static tml_slot *take_slot(program *p, tml_buffer *out)
{
    tml_context *tml = p->tml;
    const uint32_t number = tml->array_count, page = number / TML_ARRAY_PAGE;
    if (p->status)
        return NULL;
    if (page < TML_ARRAY_PAGES && !tml->arrays[page]) {
        const size_t size = TML_ARRAY_PAGE * sizeof *tml->arrays[page];
        tml->arrays[page] = tml_alloc(tml, size);
        if (tml->arrays[page])
            memset(tml->arrays[page], 0, size);
    }
    if (page >= TML_ARRAY_PAGES || !tml->arrays[page]) {
        p->status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for array %u", p->call,
                              number - p->first_array);
        return NULL;
    }
    array_life *l = grow_memory(p, &p->memory->lives, sizeof *l);
    if (!l)
        return NULL;
    *l = (array_life){.first = PROGRAM_NONE, .last = PROGRAM_NONE, .next = PROGRAM_NONE};
    tml->array_count++;
    *out = (tml_buffer){TML_ARRAY_FIRST + number, tml->array_generation};
    return slot_at(p, number - p->first_array);
}

tml_buffer program_array(program *p, tml_type type, uint64_t count)
{
    tml_buffer array = {0, 0};
    tml_slot *slot = take_slot(p, &array);
    if (!slot)
        return array;
    const size_t size = tml_type_size(type);
    if (count > SIZE_MOST / size)
        p->status = tml_error(p->tml,
                              p->tml->engine->is_host ? TML_ERROR_OUT_OF_MEMORY
                                                      : TML_ERROR_OUT_OF_DEVICE_MEMORY,
                              "%s: no memory for an array of %llu elements of %zu bytes", p->call,
                              (unsigned long long)count, size);
    *slot = (tml_slot){.generation = array.generation,
                       .type = type,
                       .count = count,
                       .element_size = size,
                       .size = p->status ? 0 : (size_t)count * size};
    /* An address that is none, and no other array's: scratch sizes may depend on its alignment, and
     * on whether two arrays of an operation are the same. */
    const uintptr_t number = array.slot - TML_ARRAY_FIRST;
    if (p->tml->engine->lay)
        p->tml->engine->lay(p->tml, slot, (void *)((number + 1) * ARRAY_ALIGNMENT));
    return array;
}

void program_keep(program *p, tml_type type, uint64_t count, const char *label, tml_buffer *out)
{
    *out = (tml_buffer){0, 0};
    if (!p->status)
        p->status = tml_buffer_make(p->tml, type, count, NULL, label, out);
}

tml_buffer program_view(program *p, tml_buffer of, tml_type type)
{
    tml_buffer view = {0, 0};
    tml_slot *slot = take_slot(p, &view);
    if (!slot)
        return view;
    const size_t size = tml_type_size(type);
    *slot = *tml_slot_of(p->tml, of);
    slot->generation = view.generation;
    slot->type = type;
    slot->element_size = size;
    slot->count = TML_CEIL_DIV(slot->size, size);
    slot->size = (size_t)slot->count * size;
    slot->lent = true;
    return view;
}

void program_use(program *p, tml_buffer array)
{
    const uint32_t number = array.slot - TML_ARRAY_FIRST - p->first_array;
    if (p->status || steps_of(p) == 0 || number >= lives_of(p) ||
        array.generation != slot_at(p, number)->generation || slot_at(p, number)->lent)
        return;
    array_life *l = life_at(p, number);
    l->last = steps_of(p) - 1;
    l->first = TML_MIN_OF(l->first, l->last);
}

uint32_t program_arrays_end(const program *p)
{
    return p->first_array + lives_of(p);
}

void program_show_arrays(program *p, bool are_valid)
{
    for (uint32_t i = 0; p->memory && i < lives_of(p); i++) {
        tml_slot *slot = slot_at(p, i);
        slot->generation = are_valid ? slot->generation | 1 : slot->generation & ~1u;
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

bool program_has_buffers(const program *p)
{
    const tml_buffer *buffers = p->memory->buffers.memory;
    for (size_t i = 0; i < p->memory->buffers.size / sizeof *buffers; i++)
        if (!tml_slot_of(p->tml, buffers[i]))
            return false;
    return true;
}

/* The latest step has the arrays whose handles stand in a desc. */
static void use_all(program *p, const unsigned char *desc, size_t size)
{
    const uint32_t first = TML_ARRAY_FIRST + p->first_array, count = lives_of(p);
    if (count == 0)
        return;
    for (size_t at = 0; at + sizeof(tml_buffer) <= size; at += sizeof(uint32_t)) {
        tml_buffer buffer;
        memcpy(&buffer, desc + at, sizeof buffer);
        if (buffer.slot - first < count)
            program_use(p, buffer);
    }
}

/* Records a step with a copy of its desc, and finds the arrays that it has. extra: bytes after the
 * desc. NULL: failed. */
static void *record_step(program *p, const program_step *made, const void *desc, size_t size,
                         size_t extra)
{
    if (p->status)
        return NULL;
    program_step *s = grow_memory(p, &p->memory->steps, sizeof *s);
    if (!s)
        return NULL;
    *s = *made;
    s->desc = p->memory->descs.size;
    unsigned char *copy = NULL;
    if (!s->lent) {
        copy = grow_memory(p, &p->memory->descs, TML_ALIGN_UP(size + extra, (size_t)16));
        if (!copy)
            return NULL;
        memcpy(copy, desc, size);
    }
    use_all(p, desc, size);
    return copy;
}

tml_status program_record(program *p, const stream_op *op, const void *desc)
{
    const program_step s = {
        .kind = STEP_OPERATION, .op = op->parts[p->tml->engine->part], .without = op->without};
    (void)record_step(p, &s, desc, op->desc_size, 0);
    return p->status;
}

void program_put(program *p, tml_buffer to, const void *words, size_t size)
{
    const program_put_step desc = {to, size};
    unsigned char *copy =
        record_step(p, &(program_step){.kind = STEP_PUT}, &desc, sizeof desc, size);
    if (copy)
        memcpy(copy + sizeof desc, words, size);
}

void program_part(program *p, const tml_engine_op *op, const char *without, const void *desc,
                  size_t size)
{
    const program_step s = {
        .kind = STEP_OPERATION, .lent = size > 0 ? NULL : desc, .op = op, .without = without};
    (void)record_step(p, &s, desc, size, 0);
}

void program_host(program *p, const program_host_desc *desc)
{
    p->waits = true;
    (void)record_step(p, &(program_step){.kind = STEP_HOST}, desc, sizeof *desc, 0);
}

void program_read(program *p, tml_buffer from, void *out)
{
    const program_read_step desc = {from, out};
    p->waits = true;
    (void)record_step(p, &(program_step){.kind = STEP_READ}, &desc, sizeof desc, 0);
}

void program_stop(program *p)
{
    p->is_stopped = true;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void begin_loop(program *p, const program_loop *desc)
{
    assert(p->loop == PROGRAM_NONE);
    p->loop = steps_of(p);
    (void)record_step(p, &(program_step){.kind = STEP_LOOP}, desc, sizeof *desc, 0);
}

void program_loop_begin(program *p, uint32_t most, tml_buffer count, const char *stage)
{
    if (!p->status && !tml_buffer_is_none(count))
        p->status = tml_check_buffer(p->tml, p->call, "count", count, stream_count_types, 1);
    begin_loop(p, &(program_loop){.most = most, .count = count, .stage = stage});
}

void program_loop_end(program *p)
{
    const uint32_t begin = p->loop, last = steps_of(p);
    p->loop = PROGRAM_NONE;
    if (!record_step(p, &(program_step){.kind = STEP_LOOP_END}, &(program_loop_end_step){begin},
                     sizeof(program_loop_end_step), 0))
        return;
    loop_at(p, begin)->end = last;
    for (uint32_t i = 0; i < lives_of(p); i++) {
        array_life *l = life_at(p, i);
        if (l->first == PROGRAM_NONE || l->last < begin)
            continue;
        l->first = TML_MIN_OF(l->first, begin);
        l->last = last;
    }
}

/* ---- placement ------------------------------------------------------------------------------- */

static void list_arrays(program *p)
{
    for (uint32_t number = 0; number < steps_of(p); number++)
        step_at(p, number)->first_array = PROGRAM_NONE;
    for (uint32_t i = lives_of(p); i-- > 0;) {
        array_life *l = life_at(p, i);
        if (l->first == PROGRAM_NONE)
            continue;
        l->next = step_at(p, l->first)->first_array;
        step_at(p, l->first)->first_array = i;
    }
}

/* The first gap of size bytes among the arrays that live at a step, which *live lists by place.
 * Takes the others off the list. *link: where an array in the gap goes. */
static size_t find_gap(const program *p, uint32_t number, size_t size, uint32_t *live,
                       uint32_t **link)
{
    size_t at = 0;
    *link = live;
    for (uint32_t i = *live; i != PROGRAM_NONE; i = **link) {
        array_life *l = life_at(p, i);
        if (l->last < number) {
            **link = l->next;
            continue;
        }
        if (l->at - at >= size)
            break;
        at = l->at + l->size;
        *link = &l->next;
    }
    return at;
}

/* Places arrays and the operations' own scratch, and returns the bytes of all. */
static size_t place_all(program *p)
{
    const bool is_in_scratch = p->tml->engine->lay != NULL;
    uint32_t live = PROGRAM_NONE, *link;
    size_t size = 0;
    for (uint32_t number = 0; number < steps_of(p); number++) {
        program_step *s = step_at(p, number);
        for (uint32_t i = s->first_array, next; i != PROGRAM_NONE && is_in_scratch; i = next) {
            array_life *l = life_at(p, i);
            next = l->next;
            l->size =
                TML_ALIGN_UP(TML_MAX_OF(slot_at(p, i)->size, (size_t)1), (size_t)ARRAY_ALIGNMENT);
            l->at = find_gap(p, number, l->size, &live, &link);
            l->next = *link;
            *link = i;
            size = TML_MAX_OF(size, TML_MIN_OF(l->at, SIZE_MOST) + l->size);
        }
        if (s->kind != STEP_OPERATION)
            continue;
        s->scratch_size = stream_supports_op(p->tml, s->op, desc_of(p, s)) && s->op->scratch_size
                              ? s->op->scratch_size(p->tml, desc_of(p, s))
                              : 0;
        s->scratch_size = TML_MIN_OF(s->scratch_size, SIZE_MOST);
        s->scratch = find_gap(p, number, s->scratch_size, &live, &link);
        s->scratch = TML_ALIGN_UP(s->scratch, (size_t)ARRAY_ALIGNMENT);
        size = TML_MAX_OF(size, TML_MIN_OF(s->scratch, SIZE_MOST) + s->scratch_size);
    }
    return size;
}

/* ---- running --------------------------------------------------------------------------------- */

static tml_status run_put(program *p, const program_put_step *desc)
{
    tml_slot *to = tml_slot_of(p->tml, desc->to);
    const void *words = desc + 1;
    if (p->tml->is_preparing && !p->tml->engine->put)
        return TML_OK;
    return p->tml->engine->put ? p->tml->engine->put(p->tml, to, desc->size, words)
                               : p->tml->engine->write(p->tml, to, 0, desc->size, words);
}

/* Does a loop's stream have no elements, as far as that is known without a wait? */
static bool is_loop_empty(const program *p, const program_loop *loop)
{
    uint64_t count = 1;
    if (p->tml->engine->is_host && !tml_buffer_is_none(loop->count) &&
        tml_buffer_read_count(p->tml, loop->count, &count) != TML_OK)
        return false;
    return count == 0;
}

/* Begins a round of the loop at step begin, or leaves the loop. Returns the step that was taken. */
static uint32_t begin_round(const program *p, uint32_t begin)
{
    program_loop *loop = loop_at(p, begin);
    return loop->round++ < loop->most && !is_loop_empty(p, loop) ? begin : loop->end;
}

static uint32_t end_round(program *p, uint32_t begin)
{
    const program_loop *loop = loop_at(p, begin);
    if (loop->stage && !tml_progress(p->tml, loop->stage, (double)loop->round / loop->most)) {
        p->status = tml_error(p->tml, TML_ERROR_CANCELLED, "%s: cancelled", p->call);
        return loop->end;
    }
    return begin_round(p, begin);
}

/* Takes a step and returns it or, at a loop's ends, the one after which the program goes on. */
static uint32_t run_step(program *p, uint32_t number, unsigned char *memory)
{
    tml_context *tml = p->tml;
    const program_step *s = step_at(p, number);
    const void *desc = desc_of(p, s);
    const program_host_desc *host = desc;
    const program_read_step *read = desc;
    switch (s->kind) {
    case STEP_OPERATION:
        p->status =
            s->op->run(tml, desc, s->scratch_size ? memory + s->scratch : NULL, s->scratch_size);
        break;
    case STEP_PUT:
        p->status = run_put(p, desc);
        break;
    case STEP_HOST:
        p->status = host->run(p, host->user);
        break;
    case STEP_READ:
        p->status = tml_buffer_read(tml, read->from, read->out);
        break;
    case STEP_LOOP:
        loop_at(p, number)->round = 0;
        return begin_round(p, number);
    case STEP_LOOP_END:
        return end_round(p, ((const program_loop_end_step *)desc)->begin);
    }
    return number;
}

/* Where scratch is no memory, arrays are buffers from their first step to their last one. */
static tml_status create_arrays(program *p, uint32_t number)
{
    tml_status status = TML_OK;
    for (uint32_t i = step_at(p, number)->first_array; i != PROGRAM_NONE && !status;
         i = life_at(p, i)->next) {
        tml_slot *slot = slot_at(p, i);
        const tml_buffer_desc desc = {.type = slot->type, .count = slot->count};
        if (!slot->memory)
            status = p->tml->engine->buffer_create(p->tml, slot, &desc);
    }
    return status;
}

/* The last first: a pool, where the latest is found first, gives each its own again. */
static void destroy_arrays(program *p, uint32_t number)
{
    for (uint32_t i = lives_of(p); i-- > 0;)
        if (life_at(p, i)->last <= number && slot_at(p, i)->memory && !slot_at(p, i)->lent)
            p->tml->engine->buffer_destroy(p->tml, slot_at(p, i));
}

static void run_steps(program *p, unsigned char *memory)
{
    const bool is_in_scratch = p->tml->engine->lay != NULL;
    for (uint32_t i = 0; i < lives_of(p) && is_in_scratch; i++)
        if (life_at(p, i)->first != PROGRAM_NONE)
            p->tml->engine->lay(p->tml, slot_at(p, i), memory + life_at(p, i)->at);
    for (uint32_t number = 0; number < steps_of(p) && !p->status && !p->is_stopped; number++) {
        if (!is_in_scratch)
            p->status = create_arrays(p, number);
        if (!p->status)
            number = run_step(p, number, memory);
        if (!is_in_scratch)
            destroy_arrays(p, number);
    }
    if (!is_in_scratch)
        destroy_arrays(p, PROGRAM_NONE - 1);
}

static void run_program(program *p, tml_buffer scratch)
{
    tml_context *tml = p->tml;
    void *memory = NULL;
    size_t size = 0;
    const size_t arena = tml->scratch_size;
    if (p->waits && !p->status)
        p->status = tml_refuse_recording(tml, p->call, NULL);
    for (uint32_t i = 0; i < steps_of(p) && !p->status; i++) {
        const program_step *s = step_at(p, i);
        if (s->kind == STEP_OPERATION)
            p->status = stream_begin_op(tml, p->call, s->op, s->without, desc_of(p, s));
    }
    if (!p->status) {
        list_arrays(p);
        size = place_all(p);
        p->status = stream_take_scratch(tml, p->call, scratch, size, &memory, &size);
    }
    if (p->status || tml_only_measures(tml))
        return;
    const bool was_held = tml->scratch_held, takes_arena = tml_buffer_is_none(scratch) && size > 0;
    tml->scratch_held |= takes_arena;
    run_steps(p, memory);
    tml->scratch_held = was_held;
    /* A call that waits does not leave much memory behind, unless it was there before. */
    if (p->waits && takes_arena && tml->engine->is_host && arena < tml->scratch_size &&
        tml->scratch_size > TML_KEPT_SIZE)
        tml_scratch_release(tml);
}

tml_status program_run(program p, tml_buffer scratch)
{
    if (p.outer) {
        p.outer->waits |= p.waits;
        return p.status;
    }
    run_program(&p, scratch);
    return end_program(&p);
}

tml_status program_enqueue(program p, tml_buffer scratch)
{
    if (p.waits && !p.status)
        p.status =
            tml_error(p.tml, TML_ERROR_INVALID_ARGUMENT,
                      "%s: has a step on the host, which waits, so it cannot be enqueued", p.call);
    return program_run(p, scratch);
}

tml_status program_run_once(program *p, tml_buffer scratch)
{
    run_program(p, scratch);
    const tml_status status = p->status;
    p->status = TML_OK;
    return status;
}

size_t program_measure(program *p)
{
    size_t size = 0;
    if (!p->status) {
        list_arrays(p);
        size = place_all(p);
    }
    return size > 0 ? size + TML_ALIGNMENT : 0; /* room to align a caller's buffer */
}

size_t program_scratch_size(program p)
{
    const size_t size = program_measure(&p);
    (void)end_program(&p);
    return size;
}
