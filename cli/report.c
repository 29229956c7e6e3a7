/* What commands report at their end beside their subject. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "report.h"
#include "text.h"

void report_add_stage(report *r, const char *name, double seconds)
{
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
    struct rusage usage;
    if (most_memory)
        return most_memory;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static uint64_t size_of_file(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 ? (uint64_t)file.st_size : 0;
}

void report_print_time(const report *r)
{
    char text[TEXT_SIZE];
    double total = 0;
    for (uint32_t i = 0; i < r->stage_count; i++)
        total += r->stages[i].seconds;
    text_label("time");
    printf("%s:", text_seconds(text, total));
    for (uint32_t i = 0; i < r->stage_count; i++)
        printf("%s %s %s", i ? "," : "", r->stages[i].name,
               text_seconds(text, r->stages[i].seconds));
    putchar('\n');
}

void report_print_outputs(const report *r)
{
    char text[TEXT_SIZE];
    for (uint32_t i = 0; i < r->output_count; i++) {
        text_label("output");
        printf("%s, %s\n", r->outputs[i], text_bytes(text, size_of_file(r->outputs[i])));
    }
}

void report_json_stages(json *j, const report *r)
{
    json_open(j, "stages", '[');
    for (uint32_t i = 0; i < r->stage_count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", r->stages[i].name);
        json_number(j, "seconds", r->stages[i].seconds);
        json_close(j, '{');
    }
    json_close(j, '[');
}

void report_json_outputs(json *j, const report *r)
{
    json_open(j, "outputs", '[');
    for (uint32_t i = 0; i < r->output_count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "file", r->outputs[i]);
        json_count(j, "bytes", size_of_file(r->outputs[i]));
        json_close(j, '{');
    }
    json_close(j, '[');
}
