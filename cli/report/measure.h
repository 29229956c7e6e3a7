/* Measures what --backend auto decides by (speeds.h): a few seconds for each GPU. */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H

#include "speeds.h"

/* Measures the processor and every GPU (software: those in software, too, which auto does not
 * take), and keeps the pipelines that are compiled for it (pipeline_cache.h). Before this process
 * has opened a driver. The processor's status, with *why, if that failed; a GPU has its error in
 * out. */
tml_status measure_speeds(bool software, speeds *out, char why[256]);

#endif
