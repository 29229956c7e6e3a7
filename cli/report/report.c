/* The part of a command's final report that does not depend on its subject. */
#include <math.h>
#include <string.h>

#include "cli.h"
#include "report/fields.h"
#include "report/report.h"
#include "report/text.h"
#include "system.h"

void report_add_stage(report *r, const char *name, double seconds)
{
    for (uint32_t i = 0; i < r->stage_count; i++)
        if (strcmp(r->stages[i].name, name) == 0) {
            r->stages[i].seconds += seconds;
            return;
        }
    if (r->stage_count == REPORT_MAX_STAGES)
        return;
    r->stages[r->stage_count].name = name;
    r->stages[r->stage_count++].seconds = seconds;
}

void report_add_output(report *r, const char *path)
{
    if (r->output_count < REPORT_MAX_OUTPUTS)
        r->outputs[r->output_count++] = path;
}

static uint64_t most_memory;

void report_set_peak_memory(uint64_t size)
{
    most_memory = size;
}

uint64_t report_peak_memory(void)
{
    return most_memory ? most_memory : system_peak_memory();
}

double report_seconds(const report *r)
{
    double total = 0;
    for (uint32_t i = 0; i < r->stage_count; i++)
        total += r->stages[i].seconds;
    return total;
}

void report_tell(const report *r, double bytes, double seconds)
{
    char text[TEXT_SIZE];
    double rate = seconds > 0 ? bytes / seconds : 0;
    field_line("time", "%s:", text_seconds(text, report_seconds(r)));
    field_open("stages", '[');
    for (uint32_t i = 0; i < r->stage_count; i++) {
        field_open(NULL, '{');
        field_text("name", NULL, i ? ", %s" : " %s", r->stages[i].name);
        field_number("seconds", NULL, NULL, round(1e6 * r->stages[i].seconds) / 1e6);
        field_line(NULL, " %s", text_seconds(text, r->stages[i].seconds));
        field_close('{');
    }
    field_close('[');
    if (bytes > 0) {
        field_line("speed", "%s/s in", text_bytes(text, (uint64_t)rate));
        field_number("input_bytes_per_second", NULL, NULL, round(rate));
    }
    field_bytes("peak_memory_bytes", "memory", "peak %s", report_peak_memory());
    field_open("outputs", '[');
    for (uint32_t i = 0; i < r->output_count; i++) {
        field_open(NULL, '{');
        field_text("file", "output", "%s", r->outputs[i]);
        field_bytes("bytes", NULL, ", %s", (uint64_t)cli_file_size(r->outputs[i]));
        field_close('{');
    }
    field_close('[');
}
