/* A file of its own, for the headers of the library's inside. */
#include "bench_classic.h"

#ifdef TML_GL
#    include "gl/gl_classic.h"

tml_status bench_classic_surface(tml_context *tml, tml_buffer volume, const uint64_t dims[3],
                                 double iso, uint64_t room, tml_buffer count)
{
    return gl_classic_surface(tml, &(gl_classic_surface_desc){.volume = volume,
                                                              .dims = {dims[0], dims[1], dims[2]},
                                                              .iso = (float)iso,
                                                              .room = room,
                                                              .count = count});
}

#else

tml_status bench_classic_surface(tml_context *tml, tml_buffer volume, const uint64_t dims[3],
                                 double iso, uint64_t room, tml_buffer count)
{
    (void)volume;
    (void)dims;
    (void)iso;
    (void)room;
    (void)count;
    return tml_error(tml, TML_ERROR_UNSUPPORTED, "this build has no OpenGL ES");
}

#endif
