/* Trommel: streams whose length depends on their data, and the programs that need them.
 *
 * The headers are the manual:
 *   core.h    status, types, context, buffers
 *   kernel.h  your own kernels, written once for every engine
 *   stream.h  map, reduce, histogram, scan, compact, sort, gather, search, expand, unique
 *   program.h those, recorded once and run often: temporaries, loops
 *   field.h   points to volume
 *   image.h   averages, exposure, tone curves and mip chains of pictures
 *   mesh.h    a triangle mesh, and what is done to it
 *   surface.h volume (or points) to mesh
 *   labels.h  the boundaries of labels to mesh
 *   subdivide.h triangle mesh to smooth surface, uniformly or adaptively
 *   tree.h    what rays hit of a mesh, nearest points, inside, distances on a grid
 *   collide.h which triangles of two meshes meet, and how far they are apart
 *   extend.h  errors, memory and tasks for authors of libraries built on this one (not included
 *             here; nor are vulkan.h and gl.h, for programs with a device of their own)
 * trommel-io, a second library, has volumes.h, points.h, meshes.h, pictures.h and files.h; they are
 * not included here. */
#ifndef TROMMEL_H
#define TROMMEL_H

#include <trommel/collide.h>
#include <trommel/core.h>
#include <trommel/field.h>
#include <trommel/image.h>
#include <trommel/kernel.h>
#include <trommel/labels.h>
#include <trommel/mesh.h>
#include <trommel/program.h>
#include <trommel/stream.h>
#include <trommel/subdivide.h>
#include <trommel/surface.h>
#include <trommel/tree.h>

#endif
