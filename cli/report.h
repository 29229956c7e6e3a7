/* What commands report at their end beside their subject: how long each stage took, and which files were written. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "json.h"

enum { REPORT_MAX_STAGES = 24, REPORT_MAX_OUTPUTS = 4 };

typedef struct report {
    struct {
        const char *name;
        double seconds;
    } stages[REPORT_MAX_STAGES];
    uint32_t stage_count;
    const char *outputs[REPORT_MAX_OUTPUTS]; /* paths */
    uint32_t output_count;
} report;

void report_add_stage(report *r, const char *name, double seconds);
void report_add_output(report *r, const char *path);

/* "time" with its stages; "output", one a line. */
void report_print_time(const report *r);
void report_print_outputs(const report *r);
/* The members "stages" and "outputs". */
void report_json_stages(json *j, const report *r);
void report_json_outputs(json *j, const report *r);

uint64_t report_peak_memory(void); /* bytes */
void report_set_peak_memory(
    uint64_t size); /* of the process that has most, where there are several */

#endif
