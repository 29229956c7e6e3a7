#version 450
#extension GL_GOOGLE_include_directive : require
#define CARRIED /* the velocity */
#include "surface_view.glsl"
