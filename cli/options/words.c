/* Translates messages of the library into the words of the command line. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "options/words.h"

/* clang-format off */
const word words_table[] = {
    /* Files and memory. */
    {"desc.dims", "--dims"},
    {"desc.type", "--type"},
    {"desc.skip", "--skip"},
    {"desc.spacing", "--spacing"},
    {"desc.frame", "--frame"},
    {"desc.memory_limit", "--memory"},
    {"desc.weld", "--weld"},
    {"desc.indices64", "--indices64"},
    {"desc.mesh.indices64", "--indices64"},
    {"desc.surface.indices64", "--indices64"},
    {"desc.memory", "--memory"},
    {"slab_layers", "--slabs"},
    {"mesh.positions", "the mesh's coordinates"},
    {"mesh.indices", "the mesh's indices"},
    {"mesh.uv_count", "the number of texture coordinates"},
    {"mesh.uv_indices", "the mesh's texture triangles"},
    {"mesh.vertex_count", "the number of vertices"},
    /* Surfaces and points. */
    {"desc.volume", "the volume"},
    {"desc.surface.volume", "the volume"},
    {"desc.boundaries.volume", "the volume"},
    {"desc.mask", "--mask"},
    {"desc.surface.mask", "--mask"},
    {"desc.attribute", "--attribute"},
    {"desc.surface.attribute", "--attribute"},
    {"desc.field_values", "--attribute"},
    {"desc.index", "--index"},
    {"desc.surface.index", "--index"},
    {"desc.iso", "--iso"},
    {"desc.isovalues", "--iso"},
    {"desc.labels", "--labels"},
    {"desc.background", "--labels"},
    {"desc.face_labels", "the labels of triangles"},
    {"desc.smooth", "--smooth"},
    {"desc.boundaries", "--smooth"},
    {"desc.quads", "--quads"},
    {"desc.mesh.quads", "--quads"},
    {"desc.sharing", "--separate"},
    {"desc.iterations", "--smooth"},
    {"desc.lambda", "the step"},
    {"desc.mu", "the step back"},
    {"desc.region", "--region"},
    {"desc.normals", "--normals"},
    {"desc.topology", "--topology"},
    {"desc.components", "the number of components"},
    {"desc.collapse", "--collapse"},
    {"desc.soup", "--soup"},
    {"desc.surface.soup", "--soup"},
    {"desc.cells", "--cells"},
    {"desc.surface.cells", "--cells"},
    {"desc.triangle_cells", "--cells"},
    {"desc.field", "points"},
    {"desc.cell", "--cell"},
    {"desc.load", "--attribute"},
    {"desc.surface.field", "points"},
    {"desc.points", "the points"},
    {"desc.field.points", "the points"},
    {"desc.field.radii", "the points' radii"},
    {"desc.field.densities", "the points' densities"},
    {"desc.field.kind", "--field"},
    {"desc.field.radius", "--radius"},
    {"desc.field.shapes", "the points' shapes"},
    {"desc.shapes", "the points' shapes"},
    {"desc.radii", "the points' radii"},
    {"desc.densities", "the points' densities"},
    {"desc.radius", "--radius"},
    {"desc.kernel", "--kernel"},
    {"desc.kind", "--field"},
    {"desc.resolution", "--resolution"},
    {"desc.margin", "the margin"},
    {"desc.lower", "--bounds"},
    {"desc.grid.dims", "the field's grid"},
    {"desc.grid.origin", "the grid's origin"},
    {"desc.grid.spacing", "--cell"},
    {"desc.grid.direction", "the grid's direction"},
    {"desc.position_origin", "the volume's origin"},
    {"desc.read", "the file"},
    {"desc.map", "the file"},
    {"desc.write", "the output"},
    /* Meshes. */
    {"desc.fix", "--fix"},
    {"skip_broken", "--skip-broken"},
    {"desc.vertices", "the vertices"},
    {"desc.positions", "the vertices"},
    {"desc.indices", "the triangles"},
    {"desc.mesh.positions", "the vertices"},
    {"desc.mesh.indices", "the triangles"},
    {"desc.attributes", "the vertices' values"},
    {"desc.channels", "the texture coordinates"},
    {"desc.crease_edges", "the creases"},
    {"desc.crease_sharpness", "the creases' sharpness"},
    {"desc.corners", "the sharp vertices"},
    {"desc.corner_sharpness", "the sharp vertices' sharpness"},
    {"desc.boundary", "--boundary"},
    {"desc.max_depth", "--depth"},
    {"desc.budget", "--budget"},
    {"desc.threshold", "--edge, --pixels, --angle or --distance"},
    {"desc.camera", "--camera"},
    {"desc.camera.matrix", "--camera"},
    {"desc.camera_buffer", "--camera"},
    {"desc.poses", "--pose"},
    {"desc.pose_buffer", "--pose"},
    {"desc.pose_count", "the number of poses"},
    {"desc.classes", "--classes"},
    {"desc.rule", "--inside"},
    {"EVEN_ODD", "--inside even-odd"},
    {"SOLID_ANGLE", "--inside solid-angle"},
    {"desc.k", "the number of triangles"},
    {"desc.tree", "the mesh"},
    {"desc.segments", "--segments"},
    {"desc.band", "--band"},
    {"desc.grid", "the grid"},
    /* Pictures and streams. */
    {"desc.in", "the input"},
    {"desc.in.buffer", "the input"},
    {"desc.image", "the picture"},
    {"desc.image.buffer", "the picture"},
    {"desc.out", "the output"},
    {"desc.out.buffer", "the output"},
    {"desc.out.channels", "the output's number of channels"},
    {"desc.out.values", "what the output's values are"},
    {"desc.method", "--method"},
    {"desc.levels", "--levels"},
    {"desc.filter", "--filter"},
    {"desc.output", "--last"},
    {"desc.log_luminance", "--log"},
    {"desc.luminance.kind", "--luminance"},
    {"desc.luminance.weights", "--weights"},
    {"desc.luminance.floor", "--floor"},
    {"desc.by", "--by"},
    {"desc.clip_low", "--clip"},
    {"desc.clip_high", "--clip"},
    {"desc.percentile", "--percentile"},
    {"desc.ev100", "--ev100"},
    {"desc.ev_min", "--limits"},
    {"desc.ev_max", "--limits"},
    {"desc.bias", "--ev"},
    {"desc.key", "--key"},
    {"desc.seconds", "--fps"},
    {"desc.speed_up", "--adapt"},
    {"desc.speed_down", "--adapt"},
    {"desc.tone", "--tone"},
    {"desc.white", "--white"},
    /* The device. */
    {"desc.engine", "--backend"},
    {"desc.device", "--device"},
    {"desc.threads", "--threads"},
    {0},
};
/* Fields that the program always sets correctly; their members count as well. */
const char words_never[] =
    "index.count desc.a desc.index desc.slabs desc.allocator desc.attribute_type "
    "desc.b desc.before desc.bit_count desc.adaptive desc.bins desc.buffer desc.buffers "
    "desc.camera.nearest desc.capacity desc.cast desc.count desc.count_kernel "
    "desc.counts desc.barycentrics desc.directions desc.criterion desc.data desc.draw desc.edges "
    "desc.edit desc.emit_kernel desc.field.length desc.first desc.first_bit desc.between "
    "desc.mesh.face_labels desc.mesh.parts desc.save desc.inner_only "
    "desc.relaxation desc.bound desc.fold "
    "desc.gl desc.histogram_low desc.hits desc.limit desc.limits desc.host desc.iso_index "
    "desc.needed desc.points_a desc.points_b desc.distances desc.features desc.is_signed "
    "desc.isovalue_count desc.k desc.keep desc.keys desc.label_count desc.length desc.lengths "
    "desc.level_triangles desc.lone desc.folds desc.origins desc.out_first desc.pairs desc.parts "
    "desc.payloads desc.pose_of desc.rank desc.ratio desc.rays desc.scale desc.scratch "
    "desc.segments.count desc.segments.offsets desc.segments.starts desc.segments_out desc.sides "
    "desc.queries desc.slices desc.smoothing desc.sorted desc.sorted_length desc.source desc.start "
    "desc.starts desc.state desc.stats desc.t desc.t_max desc.surface desc.tolerance desc.total "
    "desc.triangle_count desc.triangles desc.unsure desc.unsure_count desc.upper desc.values "
    "desc.vertex_count desc.layout desc.iso_buffer desc.means "
    "desc.mesh.normals desc.mesh.values desc.vulkan desc.want desc.weights desc.what";
/* clang-format on */

static bool is_inside(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '/' || c == '-';
}

/* The words for a field's whole name; NULL: the name stays. */
static const char *find(const char *name, size_t length)
{
    for (const word *w = words_table; w->field; w++)
        if (strlen(w->field) == length && memcmp(w->field, name, length) == 0)
            return w->said;
    return NULL;
}

char *words_for_users(const char *message, char *out, size_t size)
{
    size_t used = 0;
    while (*message && used + 1 < size) {
        size_t length = 0;
        while (is_inside(message[length]))
            length++;
        size_t name = length; /* a full stop ends a sentence, not a name */
        while (name && message[name - 1] == '.')
            name--;
        const char *said = find(message, name);
        if (said) {
            used += (size_t)snprintf(out + used, size - used, "%s", said);
            used = used < size ? used : size - 1;
        } else {
            name = length ? length : 1;
            for (size_t i = 0; i < name && used + 1 < size; i++)
                out[used++] = message[i];
        }
        message += name;
    }
    out[used] = '\0';
    return out;
}
