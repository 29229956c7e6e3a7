// Colliding triangles, compared with FCL (OBBRSS trees, all contacts) and CGAL (AABB tree, one
// query per triangle of the second mesh): two tori in the same poses, all pairs, on one thread,
// runs alternating. CGAL receives the second torus in place. Its answer is exact, as ours is, so
// both must count the same pairs. FCL's answer, in double, is not exact.
//
//     peers_collide [--around N] [--repeats N]
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include <trommel/collide.h>

#include "bench_meshes.h"
#include "bench_run.h"

#ifdef HAS_FCL
#    include <fcl/config.h>
#    include <fcl/geometry/bvh/BVH_model.h>
#    include <fcl/narrowphase/collision.h>
#endif
#ifdef HAS_CGAL
#    include <CGAL/AABB_traits.h>
#    include <CGAL/AABB_tree.h>
#    include <CGAL/AABB_triangle_primitive.h>
#    include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#    include <CGAL/version.h>
#endif

[[noreturn]] static void fail(tml_context *tml, const char *what)
{
    fprintf(stderr, "peers_collide: %s: %s\n", what, tml ? tml_last_error(tml) : "");
    exit(1);
}

// A way to find the pairs of two meshes. Both calls are timed.
class finder
{
  public:
    virtual ~finder() = default;
    virtual void build() = 0; // the first mesh's tree; the second's as well when it is first called
    virtual void find() = 0;
    uint64_t pairs = 0;

    static bool call_build(void *self)
    {
        return static_cast<finder *>(self)->build(), true;
    }
    static bool call_find(void *self)
    {
        return static_cast<finder *>(self)->find(), true;
    }
};

class trommel_finder : public finder
{
  public:
    trommel_finder(tml_context *tml, const bench_mesh &mesh, const float *pose)
        : tml_(tml), pose_(pose)
    {
        tml_buffer_desc vertices{}, indices{};
        vertices.type = TML_VEC(TML_F32, 3);
        vertices.count = mesh.vertex_count;
        vertices.host = mesh.vertices;
        indices.type = TML_VEC(TML_U32, 3);
        indices.count = mesh.triangle_count;
        indices.host = mesh.indices;
        if (tml_buffer_create(tml, &vertices, &desc_.vertices) ||
            tml_buffer_create(tml, &indices, &desc_.indices) ||
            tml_tree_create(tml, &desc_, &second_))
            fail(tml, "trommel");
        build();
    }
    ~trommel_finder() override
    {
        tml_tree_destroy(tml_, first_);
        tml_tree_destroy(tml_, second_);
        tml_buffer_destroy(tml_, desc_.vertices);
        tml_buffer_destroy(tml_, desc_.indices);
    }
    void build() override
    {
        tml_tree_destroy(tml_, first_);
        if (tml_tree_create(tml_, &desc_, &first_))
            fail(tml_, "tml_tree_create");
    }
    void find() override
    {
        tml_collide_desc desc{};
        desc.a = first_;
        desc.b = second_;
        desc.poses = pose_;
        desc.pose_count = 1;
        tml_collide_result result;
        if (tml_collide(tml_, &desc, &result))
            fail(tml_, "tml_collide");
        pairs = result.count;
        tml_collide_free(tml_, &result);
    }

  private:
    tml_context *tml_;
    const float *pose_;
    tml_tree_desc desc_{};
    tml_tree *first_ = nullptr, *second_ = nullptr;
};

#ifdef HAS_FCL
class fcl_finder : public finder
{
    using model = fcl::BVHModel<fcl::OBBRSSd>;

  public:
    fcl_finder(const bench_mesh &mesh, const float *pose)
    {
        for (uint32_t i = 0; i < mesh.vertex_count; i++) {
            const float *v = mesh.vertices + 3 * size_t(i);
            vertices_.emplace_back(v[0], v[1], v[2]);
        }
        for (uint32_t i = 0; i < mesh.triangle_count; i++) {
            const uint32_t *t = mesh.indices + 3 * size_t(i);
            triangles_.emplace_back(t[0], t[1], t[2]);
        }
        for (int i = 0; i < 12; i++)
            pose_.matrix()(i / 4, i % 4) = double(pose[i]);
        pose_.makeAffine();
        second_ = make();
        build();
    }
    void build() override
    {
        first_ = make();
    }
    void find() override
    {
        fcl::CollisionRequestd request(size_t(1) << 40, false);
        fcl::CollisionResultd result;
        fcl::collide(first_.get(), fcl::Transform3d::Identity(), second_.get(), pose_, request,
                     result);
        pairs = result.numContacts();
    }

  private:
    std::unique_ptr<model> make() const
    {
        auto made = std::make_unique<model>();
        made->beginModel(int(triangles_.size()), int(vertices_.size()));
        made->addSubModel(vertices_, triangles_);
        made->endModel();
        return made;
    }
    std::vector<fcl::Vector3d> vertices_;
    std::vector<fcl::Triangle> triangles_;
    fcl::Transform3d pose_;
    std::unique_ptr<model> first_, second_;
};
#endif

#ifdef HAS_CGAL
class cgal_finder : public finder
{
    using kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
    using list = std::vector<kernel::Triangle_3>;
    using primitive = CGAL::AABB_triangle_primitive<kernel, list::const_iterator>;
    using tree = CGAL::AABB_tree<CGAL::AABB_traits<kernel, primitive>>;

  public:
    cgal_finder(const bench_mesh &mesh, const float *pose)
    {
        static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        first_ = triangles_of(mesh, identity);
        second_ = triangles_of(mesh, pose);
        build();
    }
    void build() override
    {
        tree_ = std::make_unique<tree>(first_.begin(), first_.end());
        tree_->build();
    }
    void find() override
    {
        found_.clear();
        for (const auto &triangle : second_)
            tree_->all_intersected_primitives(triangle, std::back_inserter(found_));
        pairs = found_.size();
    }

  private:
    static list triangles_of(const bench_mesh &mesh, const float *m)
    {
        list triangles;
        std::vector<kernel::Point_3> points;
        for (uint32_t i = 0; i < mesh.vertex_count; i++) {
            const float *v = mesh.vertices + 3 * size_t(i);
            float p[3]; // as tml_collide rounds
            for (int c = 0; c < 3; c++)
                p[c] =
                    ((m[4 * c] * v[0] + m[4 * c + 1] * v[1]) + m[4 * c + 2] * v[2]) + m[4 * c + 3];
            points.emplace_back(p[0], p[1], p[2]);
        }
        for (uint32_t i = 0; i < mesh.triangle_count; i++) {
            const uint32_t *t = mesh.indices + 3 * size_t(i);
            triangles.emplace_back(points[t[0]], points[t[1]], points[t[2]]);
        }
        return triangles;
    }
    list first_, second_;
    std::unique_ptr<tree> tree_;
    std::vector<tree::Primitive_id> found_;
};
#endif

int main(int argc, char **argv)
{
    uint32_t around = 500, repeats = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--around") == 0)
            around = uint32_t(strtoul(argv[i + 1], nullptr, 10));
        else if (strcmp(argv[i], "--repeats") == 0)
            repeats = uint32_t(strtoul(argv[i + 1], nullptr, 10));
    }
    tml_open_desc open_desc{};
    open_desc.engine = TML_ENGINE_CPU;
    open_desc.threads = 1;
    tml_context *tml = nullptr;
    bench_mesh mesh;
    if (tml_open(&open_desc, &tml) || !bench_torus(0.3, around, around * 2 / 5, &mesh))
        fail(tml, "cannot begin");
    printf("all colliding pairs of two meshes of %u triangles, one thread, medians in ms\n\n"
           "%-16s %-8s %10s %10s %10s\n",
           mesh.triangle_count, "", "", "build", "find", "pairs");
    bool is_equal = true;
    for (int i = 0; i < BENCH_SCENES; i++) {
        auto scene = bench_scene(i);
        float pose[12];
        bench_scene_pose(scene, pose);
        std::vector<std::unique_ptr<finder>> finders;
        std::vector<const char *> names{"trommel"};
        finders.push_back(std::make_unique<trommel_finder>(tml, mesh, pose));
#ifdef HAS_FCL
        names.push_back("FCL");
        finders.push_back(std::make_unique<fcl_finder>(mesh, pose));
#endif
#ifdef HAS_CGAL
        names.push_back("CGAL");
        finders.push_back(std::make_unique<cgal_finder>(mesh, pose));
#endif
        std::vector<bench_job> builds, finds;
        for (size_t k = 0; k < finders.size(); k++) {
            builds.push_back({names[k], finder::call_build, finders[k].get()});
            finds.push_back({names[k], finder::call_find, finders[k].get()});
        }
        auto count = uint32_t(finders.size());
        bench_pace builds_pace{}, pace{};
        builds_pace.repeats = repeats ? repeats : 5;
        pace.repeats = repeats;
        if (!bench_run(builds.data(), count, &builds_pace) ||
            !bench_run(finds.data(), count, &pace))
            fail(tml, "bench_run");
        for (size_t k = 0; k < finders.size(); k++) {
            printf("%-16s %-8s %10.2f %10.3f %10llu", k ? "" : bench_scene_name(scene), names[k],
                   builds[k].time.median_s * 1e3, finds[k].time.median_s * 1e3,
                   static_cast<unsigned long long>(finders[k]->pairs));
            if (k)
                printf("  %5.1fx build, %5.1fx find",
                       builds[k].time.median_s / builds[0].time.median_s,
                       finds[k].time.median_s / finds[0].time.median_s);
            printf("\n");
            is_equal &= strcmp(names[k], "CGAL") != 0 || finders[k]->pairs == finders[0]->pairs;
        }
        fflush(stdout);
    }
    bench_mesh_free(&mesh);
    tml_close(tml);
    if (!is_equal)
        fprintf(stderr, "peers_collide: CGAL finds other pairs\n");
    return !is_equal;
}
