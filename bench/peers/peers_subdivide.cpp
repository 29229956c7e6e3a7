// Uniform subdivision, compared with OpenSubdiv's: the same torus in memory, one thread each, runs
// alternating. First topology and positions together; then only positions, of a mesh that moves.
// OpenSubdiv keeps no full topology of the last level, and neither does the library here. Its
// positions have single precision, too.
//
//     peers_subdivide [--levels N] [--repeats N]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <opensubdiv/far/primvarRefiner.h>
#include <opensubdiv/far/topologyDescriptor.h>

#include <trommel/trommel.h>

#include "bench_run.h"

using namespace OpenSubdiv;

enum { AROUND = 32, ALONG = 64 };

struct point {
    float v[3];
    void Clear(void * = nullptr)
    {
        v[0] = v[1] = v[2] = 0.0f;
    }
    void AddWithWeight(const point &from, float weight)
    {
        for (int i = 0; i < 3; i++)
            v[i] += weight * from.v[i];
    }
};

struct torus {
    std::vector<point> points;
    std::vector<int> corners;

    torus()
    {
        for (int j = 0; j < ALONG; j++)
            for (int i = 0; i < AROUND; i++) {
                double u = 6.283185307179586 * i / AROUND, v = 6.283185307179586 * j / ALONG;
                points.push_back({{(float)((3.0 + cos(u)) * cos(v)),
                                   (float)((3.0 + cos(u)) * sin(v)), (float)sin(u)}});
                int a = j * AROUND + i, b = j * AROUND + (i + 1) % AROUND;
                int c = (j + 1) % ALONG * AROUND + i,
                    d = (j + 1) % ALONG * AROUND + (i + 1) % AROUND;
                corners.insert(corners.end(), {a, c, d, a, d, b});
            }
    }
};

struct their_mesh {
    const torus &mesh;
    int levels;
    std::unique_ptr<Far::TopologyRefiner> refiner;
    std::vector<point> points;

    bool make_topology()
    {
        typedef Far::TopologyRefinerFactory<Far::TopologyDescriptor> Factory;
        std::vector<int> sizes(mesh.corners.size() / 3, 3);
        Far::TopologyDescriptor topology;
        topology.numVertices = (int)mesh.points.size();
        topology.numFaces = (int)sizes.size();
        topology.numVertsPerFace = sizes.data();
        topology.vertIndicesPerFace = mesh.corners.data();
        Sdc::Options options;
        options.SetVtxBoundaryInterpolation(Sdc::Options::VTX_BOUNDARY_EDGE_ONLY);
        refiner.reset(Factory::Create(topology, Factory::Options(Sdc::SCHEME_LOOP, options)));
        if (refiner)
            refiner->RefineUniform(Far::TopologyRefiner::UniformOptions(levels));
        return refiner != nullptr;
    }

    bool make_points()
    {
        points.resize((size_t)refiner->GetNumVerticesTotal());
        std::copy(mesh.points.begin(), mesh.points.end(), points.begin());
        Far::PrimvarRefiner primvars(*refiner);
        point *from = points.data();
        for (int l = 1; l <= levels; l++) {
            point *to = from + refiner->GetLevel(l - 1).GetNumVertices();
            primvars.Interpolate(l, from, to);
            from = to;
        }
        return true;
    }

    static bool run_all(void *user)
    {
        auto *self = static_cast<their_mesh *>(user);
        self->points = std::vector<point>();
        return self->make_topology() && self->make_points();
    }
    static bool run_points(void *user)
    {
        return static_cast<their_mesh *>(user)->make_points();
    }
};

struct our_mesh {
    tml_context *tml;
    tml_subdivider_desc desc;
    uint32_t levels;
    tml_subdivider *subdivider;
    tml_subdivide_result kept;

    static bool run_all(void *user)
    {
        auto *self = static_cast<our_mesh *>(user);
        tml_subdivide_uniform_desc uniform = {};
        uniform.levels = self->levels;
        tml_subdivider *subdivider;
        tml_subdivide_result result;
        if (tml_subdivider_create(self->tml, &self->desc, &subdivider))
            return false;
        bool is_made = tml_subdivide_uniform_enqueue(subdivider, &uniform, &result) == TML_OK;
        if (is_made)
            tml_subdivide_free(self->tml, &result);
        tml_subdivider_destroy(self->tml, subdivider);
        return is_made;
    }
    static bool run_points(void *user)
    {
        auto *self = static_cast<our_mesh *>(user);
        tml_subdivide_uniform_desc uniform = {};
        tml_subdivide_result result;
        uniform.levels = self->levels;
        uniform.buffers = self->kept.buffers;
        return tml_subdivide_uniform_enqueue(self->subdivider, &uniform, &result) == TML_OK;
    }
};

static tml_buffer buffer_of(tml_context *tml, tml_type type, uint64_t count, const void *data)
{
    tml_buffer_desc desc = {};
    tml_buffer buffer = {0, 0};
    desc.type = type;
    desc.count = count;
    desc.data = data;
    if (tml_buffer_create(tml, &desc, &buffer))
        fprintf(stderr, "peers_subdivide: %s\n", tml_last_error(tml));
    return buffer;
}

int main(int argc, char **argv)
{
    int levels = 5;
    uint32_t repeats = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--levels") == 0)
            levels = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--repeats") == 0)
            repeats = (uint32_t)atoi(argv[i + 1]);
    }
    torus mesh;
    their_mesh theirs = {mesh, levels, nullptr, {}};
    our_mesh ours = {};
    tml_open_desc open = {};
    open.engine = TML_ENGINE_CPU;
    open.threads = 1;
    if (tml_open(&open, &ours.tml))
        return 1;
    ours.levels = (uint32_t)levels;
    ours.desc.mesh.positions =
        buffer_of(ours.tml, TML_VEC(TML_F32, 3), mesh.points.size(), mesh.points.data());
    ours.desc.mesh.indices =
        buffer_of(ours.tml, TML_VEC(TML_U32, 3), mesh.corners.size() / 3, mesh.corners.data());
    tml_subdivide_uniform_desc uniform = {};
    uniform.levels = ours.levels;
    if (tml_subdivider_create(ours.tml, &ours.desc, &ours.subdivider) ||
        tml_subdivide_uniform_enqueue(ours.subdivider, &uniform, &ours.kept) ||
        !their_mesh::run_all(&theirs)) {
        fprintf(stderr, "peers_subdivide: %s\n", tml_last_error(ours.tml));
        return 1;
    }
    if (ours.kept.vertex_count != (uint64_t)theirs.refiner->GetLevel(levels).GetNumVertices()) {
        fprintf(stderr, "peers_subdivide: the meshes differ\n");
        return 1;
    }
    bench_job all[2] = {}, points[2] = {};
    all[0].run = our_mesh::run_all, all[0].user = &ours;
    all[1].run = their_mesh::run_all, all[1].user = &theirs;
    points[0].run = our_mesh::run_points, points[0].user = &ours;
    points[1].run = their_mesh::run_points, points[1].user = &theirs;
    bench_pace pace{};
    pace.repeats = repeats;
    if (!bench_run(all, 2, &pace) || !bench_run(points, 2, &pace))
        return 1;
    printf("%llu triangles, one thread     trommel  OpenSubdiv  times\n",
           (unsigned long long)ours.kept.triangle_count);
    for (bench_job *rows : {all, points})
        printf("%-30s %6.0f ms  %6.0f ms  %6.2f\n",
               rows == all ? "topology and positions" : "triangles and positions again",
               1e3 * rows[0].time.min_s, 1e3 * rows[1].time.min_s,
               rows[1].time.min_s / rows[0].time.min_s);
    for (bench_job *rows : {all, points}) /* as "trommel-bench subdivide --peers" reads them */
        printf("subdivide-%s %llu 0 %.4f\n", rows == all ? "first" : "again",
               (unsigned long long)ours.kept.triangle_count, 1e3 * rows[1].time.median_s);
    tml_subdivide_free(ours.tml, &ours.kept);
    tml_subdivider_destroy(ours.tml, ours.subdivider);
    tml_close(ours.tml);
    return 0;
}
