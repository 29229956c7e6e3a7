/* Names of options elsewhere: in VTK, scikit-image, meshlab, numpy and other command lines. */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "other_names.h"

/* clang-format off */
static const other_name table[] = {
    {"isovalue|isovalues|iso-value|isolevel|iso-level|isosurface|level|threshold|contour|contours|"
     "value|hu", "iso", NULL},
    {"out|outfile|out-file|output-file|outputfile|outfilename|save|save-as|write|dest|destination|"
     "target|to|export|result", "output", NULL},
    {"picture|image|render|rendering|screenshot|snapshot|preview|thumbnail", "png", NULL},
    {"decimate|decimation|reduce|reduction|ratio|target-ratio|target|target-faces|target-count|"
     "faces|triangles|max-triangles", "simplify", NULL},
    {"error|max-error|tolerance|epsilon", "simplify-error", NULL},
    {"smoothing|smooth-iterations|iterations|taubin|laplacian|relax|relaxation", "smooth", NULL},
    {"voxel-size|voxelsize|voxel|pixel-size|pixelsize|pixdim|voxel-spacing|sampling|step|"
     "resolution", "spacing", NULL},
    {"cell-size|cellsize|grid|grid-size|voxel-size|voxelsize|voxel|spacing|step|h|dx", "cell",
     NULL},
    {"shape|dim|dimensions|dimension|size|extents|nx|xyz", "dims", NULL},
    {"dtype|data-type|datatype|sample-type|scalar-type|pixel-type|bits", "type", NULL},
    {"endian|endianness|byteorder|byte-order|bigendian|be|msb|swap", "big-endian", NULL},
    {"offset|header|header-size|header-bytes|headersize|seek", "skip", NULL},
    {"component|channel|timestep|time-step|time|volume|vol", "frame", NULL},
    {"label|segments|segment|segmentation|regions|ids|id", "labels", NULL},
    {"crop|roi|box|extent|subset|bbox|subvolume|clip", "region", NULL},
    {"crop|roi|box|extent|bbox|domain", "bounds", NULL},
    {"invert|inverse|inside-out|flip-normals|reverse|reorient", "flip", NULL},
    {"cap|close|closed|watertight|fill|fill-holes", "caps", NULL},
    {"largest-component|keep-largest|biggest|largest-only|component|connected", "largest", NULL},
    {"merge|merge-vertices|unify|dedup|deduplicate|clean", "weld", NULL},
    {"jobs|job|cores|nthreads|num-threads|nproc|cpus|workers|j|t", "threads", NULL},
    {"gpu|cuda|opencl|engine|vulkan|cpu|gl|opengl", "backend", NULL},
    {"mem|max-memory|ram|memory-limit|max-mem|maxmem", "memory", NULL},
    {"silent|no-progress|batch", "quiet", NULL},
    {"colour|rgb|diffuse", "color", NULL},
    {"bg|background-color|background-colour|backdrop", "background", NULL},
    {"transform|matrix|poses|xform", "pose", NULL},
    {"move|shift|offset|translation|position", "translate", NULL},
    {"rotation|rot|turn|angle", "rotate", NULL},
    {"scaling|scale-factor|factor|resize|unit|units|to-mm|convert-units", "scale", NULL},
    {"unit|units", "spacing", NULL},
    {"reach|r|smoothing-length|particle-radius|kernel-radius|sigma", "radius", NULL},
    {"eye|look-at|lookat|viewpoint|cam", "camera", NULL},
    {"width|height|resolution|res|dimensions|picture-size|image-size|window", "size", NULL},
    {"azimuth|elevation|angles|rotate|orientation|direction", "view", NULL},
    {"fov-y|vfov|field-of-view|zoom", "fov", NULL},
    {"attributes|array|arrays|scalars|color-by|colour-by|data|fields", "attribute", NULL},
    {"normal|gradient|gradients", "normals", NULL},
    {"exclude|roi-mask|stencil", "mask", NULL},
    {"gamma|curve|tonemap|tone-map|tone-mapping|operator|filmic", "tone", NULL},
    {"depth|levels|iterations|subdivisions|level|n", "levels", NULL},
    {"sharp|crease|sharp-edges|feature-angle", "creases", NULL},
    {"closest|nearest|clearance|gap|query|mode|distance|distances|count|first|pairs|all|any",
     "find", NULL},
    {"self-intersections|self-intersection|self-collision", "self", NULL},
    {"signed|sign|sdf", "inside", NULL},
    {"narrow-band|bandwidth|band-width|width", "band", NULL},
    {"padding|pad|border", "margin", NULL},
    {"max-distance|tmax|t-max|range|length|far", "limit", NULL},
    {"min|minimum|greater|above|ge|gt|from|lower|threshold|low", "at-least", NULL},
    {"max|maximum|less|below|le|lt|upper|high", "at-most", NULL},
    {"origin|origins|points|from|ray|probes", "rays", NULL},
    {"reversed|reverse|desc", "descending", NULL},
    {"chunk|chunks|chunk-size|tiles|stream|streaming|block", "slabs", NULL},
    {"force|overwrite|yes|clobber|replace|f|y", NULL,
     "an output replaces the file that has its name, once it is complete"},
    {"verbose|debug|v|log|log-level", NULL,
     "warnings are always shown; --json prints all that is known"},
    {"format|filetype|file-type|output-format|ext|extension", NULL,
     "the ending of the output's name chooses its format, such as -o NAME.stl"},
    {"compress|gzip|gz|compression|zip", NULL,
     "outputs are not compressed; write to standard output and pipe it: "
     "-o -.ply | gzip >NAME.ply.gz"},
    {"binary|ascii|text", NULL, "PLY and STL are written in binary, OBJ as text"},
    {"output|o", NULL, "the result is printed; redirect it with >NAME"},
    {"input|in|i|infile|input-file|file|filename", NULL, "name the input without an option"},
};
/* clang-format on */

static char plain(char c)
{
    return c == '_' ? '-' : (char)tolower((unsigned char)c);
}

bool other_name_is_among(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (;; words++) {
        const size_t width = strcspn(words, "|");
        size_t same = 0;
        while (same < width && same < length && words[same] == plain(word[same]))
            same++;
        if (same == width && same == length)
            return true;
        words += width;
        if (*words == '\0')
            return false;
    }
}

const other_name *other_name_find(const other_name *after, const char *word)
{
    const other_name *end = table + sizeof table / sizeof *table;
    for (const other_name *at = after ? after + 1 : table; at < end; at++)
        if (other_name_is_among(at->words, word))
            return at;
    return NULL;
}
