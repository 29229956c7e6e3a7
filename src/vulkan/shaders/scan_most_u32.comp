/* tml_scan for the smallest or the largest, by codes of type u32. */
#define SUM_U32
#define SUM_MOST
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "vulkan/vulkan_stream.k.h"
#include "common.glsl"
#include "scan_body.glsl"
