/* Constants shared by the engines' surface shaders and C. */

/* Options of the shaders. */
#define SURFACE_PAD         1u
#define SURFACE_MASK        2u
#define SURFACE_NAN         4u /* samples may be NaN */
#define SURFACE_INDEXED     8u /* the brick index is given */
#define SURFACE_LABEL       16u
#define SURFACE_FLIP        32u
#define SURFACE_WIDE        64u /* 64-bit indices */
#define SURFACE_ATTRIBUTE   128u
#define SURFACE_HELD_LIMITS 256u  /* limits and isovalue are read from the head */
#define SURFACE_CELL_OF     512u  /* each triangle's cell is written */
#define SURFACE_CELL_WIDE   1024u /* as u64 */
#define SURFACE_OCTAHEDRAL  2048u /* there are normals, by surface_octahedral */
#define SURFACE_NARROW      4096u /* 16-bit indices */
/* The number of vertices that 16-bit indices can name (SURFACE_VERTICES16). */
#define SURFACE_NARROW_VERTICES 0xffffu

/* Values of tml_normals; vulkan_surface_part.c asserts them. */
#define SURFACE_NORMALS_NONE    0u
#define SURFACE_NORMALS_FORWARD 1u
#define SURFACE_NORMALS_SOBEL   3u
