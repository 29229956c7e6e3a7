/* Programs of a user (trommel/program.h): a program that is recorded by several calls and runs
 * often.
 *
 * The arrays of a program have numbers of the context (core_internal.h) from its beginning until it
 * is destroyed. So that they have consecutive numbers, one program is recorded at a time, and other
 * programs begin above the numbers in use. Outside of the program's own steps and runs the handles
 * of its arrays are invalid, so that no other call can use memory that an array does not have
 * then. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <trommel/program.h>

#include "core/call.h"
#include "stream/program.h"

enum { WRITE_MOST = 256 }; /* bytes */

struct tml_program {
    tml_context *tml;
    struct tml_program *next; /* of the context's recordings */
    program steps;
    bool is_ended;
    atomic_bool has_missed;  /* a call was refused before it could record its step */
    char error[TML_MESSAGE]; /* of the first failure */
};

/* The gate (core/call.h) with the public name of a program. */
#define ENTER(p)            ENTER_NAMED(p, "program", p)
#define ENTER_WITH(p, also) ENTER_NAMED(p, "program, " #also, p, also)
#define ENTER_NAMED(p, names, ...)                                                                 \
    tml_enter((p) ? (p)->tml : NULL, __func__, names, (const void *const[]){__VA_ARGS__},          \
              TML_ARRAY_SIZE(((const void *const[]){__VA_ARGS__})))

/* ---- recording ------------------------------------------------------------------------------- */

/* Keeps the message of the first failure. */
static void keep_error(tml_program *p)
{
    if (p->steps.status && p->error[0] == '\0')
        snprintf(p->error, sizeof p->error, "%s", p->tml->error);
}

/* Begins a call that adds to a program. */
static bool may_add(tml_program *p, tml_status entered)
{
    if (entered) {
        if (p)
            atomic_store_explicit(&p->has_missed, true, memory_order_relaxed);
        return false;
    }
    if (p->is_ended && !p->steps.status)
        p->steps.status = tml_error(p->tml, TML_ERROR_INVALID_ARGUMENT,
                                    "tml_program: a step after tml_program_end; record a new "
                                    "program");
    program_show_arrays(&p->steps, true);
    p->tml->named = p->steps.memory ? &p->steps.memory->buffers : NULL;
    return true;
}

static void leave_added(tml_program *p)
{
    program_show_arrays(&p->steps, false);
    p->tml->named = NULL;
    keep_error(p);
    (void)tml_leave(p->tml, p->steps.status);
}

static tml_status begin_recording(tml_context *tml, tml_program **out)
{
    if (tml->recordings && !tml->recordings->is_ended)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_program_create: another program is being recorded; call "
                         "tml_program_end for it first");
    tml_program *p = tml_alloc(tml, sizeof *p);
    if (!p)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_program_create: no memory for a program");
    memset(p, 0, sizeof *p);
    p->tml = tml;
    p->steps = program_begin(tml, "tml_program");
    if (p->steps.status) {
        tml_free(tml, p, sizeof *p);
        return tml->error_status;
    }
    p->next = tml->recordings;
    tml->recordings = p;
    *out = p;
    return TML_OK;
}

tml_status tml_program_create(tml_context *tml, tml_program **out)
{
    if (out)
        *out = NULL;
    tml_status status = TML_ENTER(tml, out);
    return status ? status : tml_leave(tml, begin_recording(tml, out));
}

tml_buffer tml_program_array(tml_program *p, tml_type type, uint64_t count)
{
    tml_buffer array = {0, 0};
    if (!may_add(p, ENTER(p)))
        return array;
    if (!p->steps.status && (tml_type_size(type) == 0 || count == 0))
        p->steps.status = tml_error(
            p->tml, TML_ERROR_INVALID_ARGUMENT,
            tml_type_size(type) == 0
                ? "tml_program_array: type is 0x%x, which is no element type; use TML_F32, "
                  "TML_VEC(TML_F32, 3), TML_RECORD(16) and the like"
                : "tml_program_array: of type 0x%x has a count of 0, needs at least 1",
            (unsigned)type);
    if (!p->steps.status)
        array = program_array(&p->steps, type, count);
    leave_added(p);
    return p->steps.status ? (tml_buffer){0, 0} : array;
}

static tml_status check_write(tml_program *p, tml_buffer to, size_t size)
{
    const tml_status status = tml_check_buffer(p->tml, "tml_program_write", "to", to, NULL, 0);
    if (!status &&
        (size % sizeof(uint32_t) != 0 || size > WRITE_MOST || size > tml_slot_of(p->tml, to)->size))
        return tml_error(p->tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_program_write: size is %zu bytes, needs a multiple of 4, at most %d "
                         "and at most the buffer's %zu",
                         size, WRITE_MOST, tml_slot_of(p->tml, to)->size);
    return status;
}

void tml_program_write(tml_program *p, tml_buffer to, const void *bytes, size_t size)
{
    if (!may_add(p, ENTER_WITH(p, bytes)))
        return;
    if (!p->steps.status)
        p->steps.status = check_write(p, to, size);
    program_put(&p->steps, to, bytes, size);
    leave_added(p);
}

void tml_program_step(tml_program *p, tml_operation operation, const void *desc)
{
    if (!may_add(p, ENTER_WITH(p, desc)))
        return;
    switch (operation) {
#define STEP(name, NAME)                                                                           \
    case TML_OPERATION_##NAME:                                                                     \
        program_##name(&p->steps, desc);                                                           \
        break;
        STEP(map, MAP)
        STEP(reduce, REDUCE)
        STEP(histogram, HISTOGRAM)
        STEP(scan, SCAN)
        STEP(compact, COMPACT)
        STEP(sort, SORT)
        STEP(top_k, TOP_K)
        STEP(gather, GATHER)
        STEP(scatter, SCATTER)
        STEP(search, SEARCH)
        STEP(expand, EXPAND)
        STEP(unique, UNIQUE)
#undef STEP
    default:
        if (!p->steps.status)
            p->steps.status = tml_error(
                p->tml, TML_ERROR_INVALID_ARGUMENT,
                "tml_program_step: operation is %d, needs one of tml_operation", (int)operation);
    }
    leave_added(p);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static bool may_loop(tml_program *p, const char *call, bool is_end)
{
    const bool is_open = p->steps.loop != UINT32_MAX;
    if (!p->steps.status && is_open != is_end)
        p->steps.status = tml_error(p->tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s", call,
                                    is_end ? "no loop is open"
                                           : "a loop is open, and loops do not "
                                             "nest; call tml_program_loop_end");
    return !p->steps.status;
}

void tml_program_loop_begin(tml_program *p, uint32_t most, tml_buffer count)
{
    if (!may_add(p, ENTER(p)))
        return;
    if (may_loop(p, __func__, false))
        program_loop_begin(&p->steps, most, count, NULL);
    leave_added(p);
}

void tml_program_loop_end(tml_program *p)
{
    if (!may_add(p, ENTER(p)))
        return;
    if (may_loop(p, __func__, true))
        program_loop_end(&p->steps);
    leave_added(p);
}

/* ---- the end, and running -------------------------------------------------------------------- */

static tml_status end_recording(tml_program *p)
{
    p->is_ended = true;
    if (!p->steps.status && atomic_load_explicit(&p->has_missed, memory_order_relaxed))
        p->steps.status =
            tml_error(p->tml, TML_ERROR_INVALID_ARGUMENT,
                      "tml_program_end: a step is missing, because its call was refused");
    if (!p->steps.status && p->steps.loop != UINT32_MAX)
        p->steps.status = tml_error(p->tml, TML_ERROR_INVALID_ARGUMENT,
                                    "tml_program_end: a loop is open; call tml_program_loop_end");
    keep_error(p);
    return p->steps.status ? tml_error(p->tml, p->steps.status, "%s", p->error) : TML_OK;
}

tml_status tml_program_end(tml_program *p)
{
    tml_status status = ENTER(p);
    return status ? status : tml_leave(p->tml, end_recording(p));
}

static tml_status enqueue(tml_program *p, tml_buffer scratch)
{
    if (!p->is_ended)
        return tml_error(p->tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_program_enqueue: the program is still being recorded; call "
                         "tml_program_end first");
    if (p->steps.status)
        return tml_error(p->tml, p->steps.status, "%s", p->error);
    if (!program_has_buffers(&p->steps))
        return tml_error(p->tml, TML_ERROR_INVALID_HANDLE,
                         "tml_program_enqueue: a buffer that the program names was destroyed; "
                         "record a new program");
    program_show_arrays(&p->steps, true);
    const tml_status status = program_run_once(&p->steps, scratch);
    program_show_arrays(&p->steps, false);
    return status;
}

tml_status tml_program_enqueue(tml_program *p, tml_buffer scratch)
{
    tml_status status = ENTER(p);
    return status ? status : tml_leave(p->tml, enqueue(p, scratch));
}

void tml_program_destroy(tml_program *p)
{
    if (!p || ENTER(p))
        return;
    tml_context *tml = p->tml;
    struct tml_program **link = &tml->recordings;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    program_discard(&p->steps);
    tml_free(tml, p, sizeof *p);
    /* Numbers above those of the programs that remain are free again. */
    tml->array_count = tml->recordings ? program_arrays_end(&tml->recordings->steps) : 0;
    (void)tml_leave(tml, TML_OK);
}
