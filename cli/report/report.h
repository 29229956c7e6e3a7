/* The part of a command's final report that does not depend on its subject: how long each stage
 * took, and which files were written. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdint.h>

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

/* The times of stages with the same name are added. */
void report_add_stage(report *r, const char *name, double seconds);
void report_add_output(report *r, const char *path);
double report_seconds(const report *r); /* of all stages */

/* Reports stages, memory and outputs. bytes: bytes that the operation read in that many seconds; 0:
 * no speed is reported. */
void report_tell(const report *r, double bytes, double seconds);

uint64_t report_peak_memory(void); /* bytes */
/* Of the process that uses most, if there are several. */
void report_set_peak_memory(uint64_t size);

#endif
