/* A job measured next to a copy. */
#include "bench_beside.h"

/* A copy of as many bytes as an operation must move: memcpy, or the device's copy. */
typedef struct copy_job {
    bool is_host;
    bench_copy host;
    bench_op device;
} copy_job;

static tml_status create_copy(tml_context *tml, uint64_t bytes, copy_job *out, bench_job *job)
{
    tml_device_info device;
    tml_context_describe(tml, &device);
    *out = (copy_job){.is_host = device.engine == TML_ENGINE_CPU};
    if (out->is_host) {
        *job = (bench_job){.name = "memcpy", .run = bench_copy_run, .user = &out->host};
        if (bench_copy_create(tml, bytes, &out->host))
            return TML_OK;
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for two blocks of %llu bytes",
                         (unsigned long long)bytes / 2);
    }
    *job = (bench_job){.name = "copy", .run = bench_op_run, .user = &out->device, .device = tml};
    const bench_desc desc = {
        .kind = BENCH_COPY, .type = TML_U32, .count = bytes / (2 * sizeof(uint32_t)) + 1};
    return bench_op_create(tml, &desc, &out->device);
}

static void destroy_copy(copy_job *copy)
{
    if (copy->is_host)
        bench_copy_destroy(&copy->host);
    else
        bench_op_destroy(&copy->device);
}

tml_status bench_beside_copy(const bench_session *session, bench_job job, const bench_job *peer,
                             uint64_t bytes, bench_beside *out)
{
    copy_job copy = {.is_host = false};
    bench_job jobs[3] = {job};
    tml_status status = create_copy(session->tml, bytes, &copy, &jobs[1]);
    uint32_t count = 2;
    jobs[0].device = jobs[1].device;
    if (peer && copy.is_host == !peer->device)
        jobs[count++] = *peer;
    if (!status && !bench_run(jobs, count, &session->pace))
        status = bench_stopped(session);
    *out = (bench_beside){jobs[0].time, jobs[1].time, jobs[2].time.median_s};
    destroy_copy(&copy);
    return status;
}

tml_status bench_op_beside_copy(const bench_session *session, const bench_desc *desc,
                                const char *name, bench_op *op, bench_beside *out)
{
    tml_status status = bench_op_create(session->tml, desc, op);
    if (!status)
        status = bench_op_check(op);
    if (!status)
        status =
            bench_beside_copy(session, (bench_job){.name = name, .run = bench_op_run, .user = op},
                              NULL, op->bytes, out);
    return status;
}

void bench_copy_values(const bench_beside *times, uint64_t bytes,
                       double values[BENCH_COPY_COLUMN_COUNT])
{
    const double all[BENCH_COPY_COLUMN_COUNT] = {
        times->time.min_s,
        times->time.median_s,
        times->time.runs,
        (double)bytes,
        (double)bytes / times->time.median_s,
        times->copy_time.median_s,
        times->copy_time.median_s / times->time.median_s,
    };
    for (int i = 0; i < BENCH_COPY_COLUMN_COUNT; i++)
        values[i] = all[i];
}
