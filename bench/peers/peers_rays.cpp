// Nearest hits of incoherent rays, compared with Embree (SIMD over a tree built by surface area;
// floats) and CGAL (AABB tree, exact predicates), on one thread, runs alternating, trees built
// before. Rays go from random points of a sphere around the mesh to random points of its box. CGAL
// receives every 32nd ray. Answers that differ from Embree's are of rays that pass next to an edge.
//
//     peers_rays [--mesh FILE] [--rays N] [--repeats N]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <trommel/collide.h>
#include <trommel/meshes.h>

#include "bench_meshes.h"
#include "bench_run.h"

#ifdef HAS_EMBREE
#    include <embree3/rtcore.h>
#endif
#ifdef HAS_CGAL
#    include <CGAL/AABB_traits.h>
#    include <CGAL/AABB_tree.h>
#    include <CGAL/AABB_triangle_primitive.h>
#    include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#endif

[[noreturn]] static void fail(tml_context *tml, const char *what)
{
    fprintf(stderr, "peers_rays: %s: %s\n", what, tml ? tml_last_error(tml) : "");
    exit(1);
}

struct scene {
    std::vector<float> vertices;
    std::vector<uint32_t> indices;
    std::vector<float> origins, directions;
    size_t rays() const
    {
        return origins.size() / 3;
    }
};

static void make_rays(scene &s, size_t count)
{
    bench_mesh mesh = {s.vertices.data(), s.indices.data(), uint32_t(s.vertices.size() / 3),
                       uint32_t(s.indices.size() / 3)};
    s.origins.resize(3 * count);
    s.directions.resize(3 * count);
    bench_rays(&mesh, count, s.origins.data(), s.directions.data());
}

// A way to find the nearest hits of every stride-th ray.
class caster
{
  public:
    virtual ~caster() = default;
    virtual void cast() = 0;
    size_t stride = 1;
    std::vector<uint32_t> triangles; // 2^32 - 1: none

    static bool call(void *self)
    {
        return static_cast<caster *>(self)->cast(), true;
    }
};

class trommel_caster : public caster
{
  public:
    trommel_caster(tml_context *tml, scene &s) : tml_(tml)
    {
        tml_tree_desc tree{};
        tree.vertices = host(s.vertices.data(), TML_VEC(TML_F32, 3), s.vertices.size() / 3);
        tree.indices = host(s.indices.data(), TML_VEC(TML_U32, 3), s.indices.size() / 3);
        if (tml_tree_create(tml, &tree, &desc_.tree))
            fail(tml, "tml_tree_create");
        triangles.resize(s.rays());
        t_.resize(s.rays());
        desc_.origins = host(s.origins.data(), TML_VEC(TML_F32, 3), s.rays());
        desc_.directions = host(s.directions.data(), TML_VEC(TML_F32, 3), s.rays());
        desc_.triangles = host(triangles.data(), TML_U32, s.rays());
        desc_.t = host(t_.data(), TML_F32, s.rays());
    }
    ~trommel_caster() override
    {
        tml_tree_destroy(tml_, desc_.tree);
    }
    void cast() override
    {
        if (tml_tree_cast(tml_, &desc_))
            fail(tml_, "tml_tree_cast");
    }

  private:
    tml_buffer host(void *data, tml_type type, size_t count)
    {
        tml_buffer_desc desc{};
        tml_buffer out{};
        desc.type = type;
        desc.count = count;
        desc.host = data;
        if (tml_buffer_create(tml_, &desc, &out))
            fail(tml_, "tml_buffer_create");
        return out;
    }
    tml_context *tml_;
    tml_tree_cast_desc desc_{};
    std::vector<float> t_;
};

#ifdef HAS_EMBREE
class embree_caster : public caster
{
  public:
    embree_caster(const scene &s, RTCSceneFlags flags) : scene_(s)
    {
        device_ = rtcNewDevice("threads=1");
        made_ = rtcNewScene(device_);
        RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
        memcpy(rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12,
                                       s.vertices.size() / 3),
               s.vertices.data(), s.vertices.size() * sizeof(float));
        memcpy(rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12,
                                       s.indices.size() / 3),
               s.indices.data(), s.indices.size() * sizeof(uint32_t));
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(made_, geometry);
        rtcReleaseGeometry(geometry);
        rtcSetSceneFlags(made_, flags);
        rtcSetSceneBuildQuality(made_, RTC_BUILD_QUALITY_HIGH);
        rtcCommitScene(made_);
        triangles.resize(s.rays());
    }
    ~embree_caster() override
    {
        rtcReleaseScene(made_);
        rtcReleaseDevice(device_);
    }
    void cast() override
    {
        RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        for (size_t i = 0; i < scene_.rays(); i++) {
            RTCRayHit query{};
            query.ray.org_x = scene_.origins[3 * i];
            query.ray.org_y = scene_.origins[3 * i + 1];
            query.ray.org_z = scene_.origins[3 * i + 2];
            query.ray.dir_x = scene_.directions[3 * i];
            query.ray.dir_y = scene_.directions[3 * i + 1];
            query.ray.dir_z = scene_.directions[3 * i + 2];
            query.ray.tfar = INFINITY;
            query.ray.mask = UINT32_MAX;
            query.hit.geomID = query.hit.primID = RTC_INVALID_GEOMETRY_ID;
            rtcIntersect1(made_, &context, &query);
            triangles[i] = query.hit.primID;
        }
    }

  private:
    const scene &scene_;
    RTCDevice device_;
    RTCScene made_;
};
#endif

#ifdef HAS_CGAL
class cgal_caster : public caster
{
    using kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
    using list = std::vector<kernel::Triangle_3>;
    using primitive = CGAL::AABB_triangle_primitive<kernel, list::const_iterator>;
    using tree = CGAL::AABB_tree<CGAL::AABB_traits<kernel, primitive>>;

  public:
    explicit cgal_caster(const scene &s) : scene_(s)
    {
        auto at = [&](size_t corner) {
            const float *v = s.vertices.data() + 3 * size_t(s.indices[corner]);
            return kernel::Point_3(v[0], v[1], v[2]);
        };
        for (size_t i = 0; i < s.indices.size(); i += 3)
            list_.emplace_back(at(i), at(i + 1), at(i + 2));
        tree_ = std::make_unique<tree>(list_.begin(), list_.end());
        tree_->build();
        stride = 32;
        triangles.resize(s.rays());
    }
    void cast() override
    {
        for (size_t i = 0; i < scene_.rays(); i += stride) {
            const float *o = &scene_.origins[3 * i], *d = &scene_.directions[3 * i];
            auto hit = tree_->first_intersected_primitive(kernel::Ray_3(
                kernel::Point_3(o[0], o[1], o[2]), kernel::Vector_3(d[0], d[1], d[2])));
            triangles[i] = hit ? uint32_t(*hit - list_.begin()) : UINT32_MAX;
        }
    }

  private:
    const scene &scene_;
    list list_;
    std::unique_ptr<tree> tree_;
};
#endif

static void load_mesh(tml_context *tml, const char *path, scene &s)
{
    if (path) {
        tml_mesh_file file;
        if (tml_mesh_load(tml, path, nullptr, &file))
            fail(tml, path);
        auto *indices = static_cast<const uint32_t *>(file.mesh.indices);
        s.vertices.assign(file.mesh.positions, file.mesh.positions + 3 * file.mesh.vertex_count);
        s.indices.assign(indices, indices + 3 * file.mesh.triangle_count);
        tml_mesh_file_free(tml, &file);
        return;
    }
    bench_mesh mesh;
    if (!bench_torus(0.3, 1370, 548, &mesh))
        fail(tml, "no memory");
    s.vertices.assign(mesh.vertices, mesh.vertices + 3 * size_t(mesh.vertex_count));
    s.indices.assign(mesh.indices, mesh.indices + 3 * size_t(mesh.triangle_count));
    bench_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    uint32_t rays = 1 << 20, repeats = 5;
    const char *path = nullptr;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--mesh") == 0)
            path = argv[i + 1];
        else if (strcmp(argv[i], "--rays") == 0)
            rays = uint32_t(strtoul(argv[i + 1], nullptr, 10));
        else if (strcmp(argv[i], "--repeats") == 0)
            repeats = uint32_t(strtoul(argv[i + 1], nullptr, 10));
    }
    tml_open_desc open_desc{};
    open_desc.engine = TML_ENGINE_CPU;
    open_desc.threads = 1;
    tml_context *tml = nullptr;
    if (tml_open(&open_desc, &tml))
        fail(tml, "cannot begin");
    scene s;
    load_mesh(tml, path, s);
    make_rays(s, rays);
    std::vector<const char *> names{"trommel"};
    std::vector<std::unique_ptr<caster>> casters;
    casters.push_back(std::make_unique<trommel_caster>(tml, s));
#ifdef HAS_EMBREE
    names.push_back("Embree");
    casters.push_back(std::make_unique<embree_caster>(s, RTC_SCENE_FLAG_NONE));
    names.push_back("Embree, robust");
    casters.push_back(std::make_unique<embree_caster>(s, RTC_SCENE_FLAG_ROBUST));
#endif
#ifdef HAS_CGAL
    names.push_back("CGAL");
    casters.push_back(std::make_unique<cgal_caster>(s));
#endif
    std::vector<bench_job> jobs;
    for (size_t k = 0; k < casters.size(); k++)
        jobs.push_back({names[k], caster::call, casters[k].get()});
    bench_pace pace{};
    pace.repeats = repeats;
    if (!bench_run(jobs.data(), uint32_t(jobs.size()), &pace))
        fail(tml, "bench_run");
    size_t hits = 0;
    for (uint32_t triangle : casters[0]->triangles)
        hits += triangle != UINT32_MAX;
    printf("nearest hits of %zu rays, of which %zu hit, %zu triangles, one thread, medians\n\n"
           "%-16s %12s %8s %10s\n",
           s.rays(), hits, s.indices.size() / 3, "", "M rays/s", "", "others");
    double ours = 0;
    for (size_t k = 0; k < casters.size(); k++) {
        size_t others = 0, step = casters[k]->stride;
        for (size_t i = 0; i < s.rays(); i += step)
            others += casters[k]->triangles[i] != casters[0]->triangles[i];
        double speed = double(s.rays() / step) / jobs[k].time.median_s * 1e-6;
        ours = k ? ours : speed;
        printf("%-16s %12.3f %7.2fx %10zu\n", names[k], speed, ours / speed, others);
    }
    casters.clear();
    tml_close(tml);
}
