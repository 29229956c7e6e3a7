/* Measures the data by which --backend auto decides (speeds.h): a few seconds for each GPU. */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H

#include "speeds.h"

/* Measures the processor and every GPU, and keeps the pipelines that are compiled for each
 * (pipeline_cache.h). software: also measures software GPUs, which auto does not choose. Must be
 * called before this process opens a driver. If measuring the processor fails, returns that status,
 * with the reason in *why; the error of a GPU is in out. */
tml_status measure_speeds(bool software, speeds *out, char why[256]);

#endif
