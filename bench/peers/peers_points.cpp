// Points and a closed mesh: the nearest point of the mesh, inside or outside, and the signed
// distances of a grid, compared with CGAL (AABB tree; Side_of_triangle_mesh with exact predicates)
// and FCL (BVH of RSS, a ball of radius 0). Trees are built before; runs alternate, timed by
// processor time. The peers are queried one point at a time. Rows:
//     near      points of the surface moved by up to 1 % of the diagonal of the mesh's box: the
//               nearest point
//     around    points of the box, 10 % larger: inside or outside, including the sorting of points
//     volume    side^3 samples around the mesh: signed distances; the peers are queried for every
//               stride-th line. Ours on two threads: half of the processor time of both.
// Differing answers of the peers are counted: distances that differ by at least 1e-6 of the
// diagonal, and sides.
//
//     peers_points [--mesh FILE] [--points N] [--side N] [--repeats N] [--stride N] [--judge N]
//
// --judge N: no times, but the sides of N points by both, half of them close to the surface, and
// how many differ.
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

#ifdef HAS_FCL
#    include <fcl/fcl.h>
#endif
#ifdef HAS_CGAL
#    include <CGAL/AABB_face_graph_triangle_primitive.h>
#    include <CGAL/AABB_traits.h>
#    include <CGAL/AABB_tree.h>
#    include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#    include <CGAL/Side_of_triangle_mesh.h>
#    include <CGAL/Surface_mesh.h>
#endif

[[noreturn]] static void fail(tml_context *tml, const char *what)
{
    fprintf(stderr, "peers_points: %s: %s\n", what, tml ? tml_last_error(tml) : "");
    exit(1);
}

static double random_unit()
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return double(state >> 11) * 0x1p-53;
}

// ---- the mesh, and points about it

struct scene {
    std::vector<float> vertices;
    std::vector<uint32_t> indices;
    float low[3], high[3];
    double diagonal = 0;

    void measure()
    {
        for (size_t k = 0; k < 3; k++) {
            low[k] = high[k] = vertices[k];
            for (size_t i = k; i < vertices.size(); i += 3) {
                low[k] = std::fmin(low[k], vertices[i]);
                high[k] = std::fmax(high[k], vertices[i]);
            }
            diagonal += std::pow(double(high[k]) - double(low[k]), 2);
        }
        diagonal = std::sqrt(diagonal);
    }
    void add_near(std::vector<float> &points, double reach) const
    {
        size_t triangle = size_t(random_unit() * double(indices.size() / 3));
        double u = random_unit(), v = random_unit() * (1 - u);
        for (size_t k = 0; k < 3; k++) {
            auto at = [&](size_t i) { return double(vertices[3 * indices[3 * triangle + i] + k]); };
            double from = at(0) + u * (at(1) - at(0)) + v * (at(2) - at(0));
            points.push_back(float(from + reach * (2 * random_unit() - 1) / std::sqrt(3.0)));
        }
    }
    void add_around(std::vector<float> &points) const
    {
        for (size_t k = 0; k < 3; k++)
            points.push_back(float(low[k] + (high[k] - low[k]) * (1.1 * random_unit() - 0.05)));
    }
};

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
    } else {
        bench_mesh mesh;
        if (!bench_torus(0.3, 500, 200, &mesh))
            fail(tml, "no memory");
        s.vertices.assign(mesh.vertices, mesh.vertices + 3 * size_t(mesh.vertex_count));
        s.indices.assign(mesh.indices, mesh.indices + 3 * size_t(mesh.triangle_count));
        bench_mesh_free(&mesh);
    }
    s.measure();
}

// ---- who answers

enum question { NEAREST, SIDES, VOLUME };

// Answers to a query of points, or of samples: distances, or 0, 1 (inside), 2 (on).
class answerer
{
  public:
    virtual ~answerer() = default;
    virtual void answer() = 0;
    std::vector<float> out;
    uint64_t asked = 0; // points
    static bool call(void *self)
    {
        return static_cast<answerer *>(self)->answer(), true;
    }
};

class trommel_answerer : public answerer
{
  public:
    trommel_answerer(tml_context *tml, tml_tree *tree, question what, const std::vector<float> &at,
                     const tml_grid &grid)
        : tml_(tml), what_(what)
    {
        out.resize(at.size() / 3);
        asked = out.size();
        sides_.resize(asked);
        nearest_.tree = volume_.tree = tree;
        volume_.grid = grid;
        volume_.is_signed = true;
        volume_.out = host(out.data(), TML_F32);
        nearest_.points = host(const_cast<float *>(at.data()), TML_VEC(TML_F32, 3));
        if (what == NEAREST)
            nearest_.distances = volume_.out;
        else
            nearest_.sides = host(sides_.data(), TML_U8);
    }
    ~trommel_answerer() override
    {
        for (tml_buffer made : made_)
            tml_buffer_destroy(tml_, made);
    }
    void answer() override
    {
        if (what_ == VOLUME ? tml_tree_distance_grid(tml_, &volume_)
                            : tml_tree_nearest(tml_, &nearest_))
            fail(tml_, "no answer");
        if (what_ == SIDES)
            out.assign(sides_.begin(), sides_.end());
    }

  private:
    tml_buffer host(void *data, tml_type type)
    {
        tml_buffer_desc desc{};
        tml_buffer made{};
        desc.type = type;
        desc.count = asked;
        desc.host = data;
        if (tml_buffer_create(tml_, &desc, &made))
            fail(tml_, "tml_buffer_create");
        made_.push_back(made);
        return made;
    }
    tml_context *tml_;
    question what_;
    tml_tree_nearest_desc nearest_{};
    tml_tree_distance_grid_desc volume_{};
    std::vector<uint8_t> sides_;
    std::vector<tml_buffer> made_;
};

// The points for which a peer is queried: every stride-th run of them.
class some_of
{
  public:
    some_of(const std::vector<float> &at, size_t run, size_t stride)
        : at_(at), run_(run), stride_(stride)
    {
    }
    template <class ask> void each(std::vector<float> &out, uint64_t &asked, ask one) const
    {
        size_t count = at_.size() / 3;
        out.assign(count, NAN);
        asked = 0;
        for (size_t first = 0; first < count; first += run_ * stride_)
            for (size_t i = first; i < first + run_ && i < count; i++, asked++)
                out[i] = float(one(&at_[3 * i]));
    }

  private:
    const std::vector<float> &at_;
    size_t run_, stride_;
};

#ifdef HAS_CGAL
template <class kernel> struct cgal_tree {
    using mesh = CGAL::Surface_mesh<typename kernel::Point_3>;
    using primitive = CGAL::AABB_face_graph_triangle_primitive<mesh>;
    using tree = CGAL::AABB_tree<CGAL::AABB_traits<kernel, primitive>>;
    mesh made;
    std::unique_ptr<tree> boxes;
    explicit cgal_tree(const scene &s)
    {
        using vertex = typename mesh::Vertex_index;
        for (size_t i = 0; i < s.vertices.size(); i += 3)
            made.add_vertex(
                typename kernel::Point_3(s.vertices[i], s.vertices[i + 1], s.vertices[i + 2]));
        for (size_t i = 0; i < s.indices.size(); i += 3)
            made.add_face(vertex(s.indices[i]), vertex(s.indices[i + 1]), vertex(s.indices[i + 2]));
        boxes = std::make_unique<tree>(faces(made).first, faces(made).second, made);
        boxes->build();
    }
};
using exact = CGAL::Exact_predicates_inexact_constructions_kernel;
// Distances are computed in doubles by either kernel; this one is the faster.
using inexact = CGAL::Simple_cartesian<double>;

class cgal_answerer : public answerer
{
  public:
    cgal_answerer(const scene &s, question what, const some_of &some)
        : what_(what), some_(some), near_(s), exact_(s), side_(*exact_.boxes)
    {
        near_.boxes->accelerate_distance_queries();
    }
    double side(const float *p) const
    {
        switch (side_(exact::Point_3(p[0], p[1], p[2]))) {
        case CGAL::ON_BOUNDED_SIDE:
            return 1;
        case CGAL::ON_BOUNDARY:
            return 2;
        default:
            return 0;
        }
    }
    void answer() override
    {
        some_.each(out, asked, [&](const float *p) {
            double at = what_ == NEAREST ? 0 : side(p);
            if (what_ == SIDES)
                return at;
            double d = std::sqrt(near_.boxes->squared_distance(inexact::Point_3(p[0], p[1], p[2])));
            return at == 1 ? -d : d;
        });
    }

  private:
    question what_;
    some_of some_;
    cgal_tree<inexact> near_;
    cgal_tree<exact> exact_;
    CGAL::Side_of_triangle_mesh<cgal_tree<exact>::mesh, exact> side_;
};
#endif

#ifdef HAS_FCL
class fcl_answerer : public answerer
{
    using model = fcl::BVHModel<fcl::RSSd>;

  public:
    fcl_answerer(const scene &s, const some_of &some)
        : some_(some), mesh_(std::make_shared<model>()), ball_(std::make_shared<fcl::Sphered>(0))
    {
        std::vector<fcl::Vector3d> vertices;
        std::vector<fcl::Triangle> triangles;
        for (size_t i = 0; i < s.vertices.size(); i += 3)
            vertices.emplace_back(s.vertices[i], s.vertices[i + 1], s.vertices[i + 2]);
        for (size_t i = 0; i < s.indices.size(); i += 3)
            triangles.emplace_back(s.indices[i], s.indices[i + 1], s.indices[i + 2]);
        mesh_->beginModel();
        mesh_->addSubModel(vertices, triangles);
        mesh_->endModel();
    }
    void answer() override
    {
        some_.each(out, asked, [&](const float *p) {
            fcl::DistanceRequestd request;
            fcl::DistanceResultd result;
            fcl::Transform3d at = fcl::Transform3d::Identity();
            at.translation() = fcl::Vector3d(p[0], p[1], p[2]);
            return fcl::distance(mesh_.get(), fcl::Transform3d::Identity(), ball_.get(), at,
                                 request, result);
        });
    }

  private:
    some_of some_;
    std::shared_ptr<model> mesh_;
    std::shared_ptr<fcl::Sphered> ball_;
};
#endif

// ---- rows

struct options {
    uint32_t points = 1000000, side = 256, repeats = 5, stride = 64;
    uint64_t judge = 0;
    const char *mesh = nullptr;
};

// Of the points for which b was queried.
static size_t differences(question what, double diagonal, const answerer &a, const answerer &b)
{
    size_t count = 0;
    for (size_t i = 0; i < b.out.size(); i++)
        count += !std::isnan(b.out[i]) &&
                 !(std::fabs(a.out[i] - b.out[i]) <= (what == SIDES ? 0 : 1e-6 * diagonal));
    return count;
}

// A tree of ours, on some threads.
class our_tree
{
  public:
    tml_context *tml = nullptr;
    tml_tree *tree = nullptr;
    our_tree(const scene &s, uint32_t threads)
    {
        tml_open_desc open_desc{};
        open_desc.engine = TML_ENGINE_CPU;
        open_desc.threads = threads;
        if (tml_open(&open_desc, &tml))
            fail(tml, "cannot begin");
        tml_buffer_desc host{};
        tml_tree_desc desc{};
        host.type = TML_VEC(TML_F32, 3);
        host.count = s.vertices.size() / 3;
        host.host = const_cast<float *>(s.vertices.data());
        if (tml_buffer_create(tml, &host, &desc.vertices))
            fail(tml, "tml_buffer_create");
        host.type = TML_VEC(TML_U32, 3);
        host.count = s.indices.size() / 3;
        host.host = const_cast<uint32_t *>(s.indices.data());
        if (tml_buffer_create(tml, &host, &desc.indices) || tml_tree_create(tml, &desc, &tree))
            fail(tml, "tml_tree_create");
        tml_buffer_destroy(tml, desc.vertices);
        tml_buffer_destroy(tml, desc.indices);
    }
    our_tree(const our_tree &) = delete;
    ~our_tree()
    {
        tml_tree_destroy(tml, tree);
        tml_close(tml);
    }
};

static tml_grid grid_about(const scene &s, uint32_t side)
{
    tml_grid grid{};
    for (int k = 0; k < 3; k++) {
        double size = double(s.high[k]) - double(s.low[k]);
        grid.dims[k] = side;
        grid.spacing[k] = 1.1 * size / (side - 1);
        grid.origin[k] = double(s.low[k]) - 0.05 * size;
    }
    return grid;
}

static std::vector<float> points_of(const options &o, const scene &s, question what)
{
    std::vector<float> at;
    tml_grid grid = grid_about(s, o.side);
    uint64_t side = o.side, count = what == VOLUME ? side * side * side : o.points;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number[] = {i % side, i / side % side, i / side / side};
        if (what == NEAREST)
            s.add_near(at, 0.01 * s.diagonal);
        else if (what == SIDES)
            s.add_around(at);
        for (int k = 0; k < 3 && what == VOLUME; k++)
            at.push_back(float(grid.origin[k] + grid.spacing[k] * double(number[k])));
    }
    return at;
}

static void run_row(const options &o, const scene &s, question what)
{
    static const char *const names[] = {"near", "around", "volume"};
    uint32_t threads = what == VOLUME ? 2 : 1;
    our_tree tree(s, threads);
    std::vector<float> at = points_of(o, s, what);
    some_of some(at, o.side, what == VOLUME ? o.stride : 1);
    std::vector<const char *> who{"trommel"};
    std::vector<std::unique_ptr<answerer>> answerers;
    answerers.push_back(
        std::make_unique<trommel_answerer>(tree.tml, tree.tree, what, at, grid_about(s, o.side)));
#ifdef HAS_CGAL
    who.push_back("CGAL");
    answerers.push_back(std::make_unique<cgal_answerer>(s, what, some));
#endif
#ifdef HAS_FCL
    if (what == NEAREST) {
        who.push_back("FCL");
        answerers.push_back(std::make_unique<fcl_answerer>(s, some));
    }
#endif
    std::vector<bench_job> jobs;
    for (size_t k = 0; k < answerers.size(); k++)
        jobs.push_back({who[k], answerer::call, answerers[k].get()});
    bench_pace pace{};
    pace.repeats = o.repeats;
    pace.by_processor = true;
    if (!bench_run(jobs.data(), uint32_t(jobs.size()), &pace))
        fail(tree.tml, "bench_run");
    double ours = 0;
    for (size_t k = 0; k < answerers.size(); k++) {
        uint32_t shares = k ? 1 : threads;
        double asked = double(answerers[k]->asked);
        double speed = asked / jobs[k].time.median_s * 1e-6 * shares;
        ours = k ? ours : speed;
        printf("%-8s %-8s %8u %10.0f %12.4f %7.2fx %10zu\n", names[what], who[k], shares, asked,
               speed, ours / speed, differences(what, s.diagonal, *answerers[0], *answerers[k]));
    }
}

// ---- the judge of sides

#ifdef HAS_CGAL
// Points of every kind: around the mesh; near it; within rounding of it; on rays through corners;
// at corners and just next to them.
static void fill_judged(const scene &s, std::vector<float> &at, size_t count)
{
    at.clear();
    while (at.size() < 3 * count) {
        size_t kind = at.size() / 3 % 8;
        if (kind < 2) {
            s.add_around(at);
        } else if (kind < 6) {
            s.add_near(at, (kind < 4 ? 1e-2 : 1e-7) * s.diagonal);
        } else {
            size_t corner = size_t(random_unit() * double(s.indices.size()));
            size_t axis = size_t(random_unit() * 3);
            float beside = float(random_unit() < 0.5 ? -INFINITY : INFINITY);
            s.add_around(at);
            for (size_t k = 0; k < 3; k++)
                if (kind == 7 || k != axis)
                    at[at.size() - 3 + k] = s.vertices[3 * s.indices[corner] + k];
            float *moved = &at[at.size() - 3 + axis];
            if (kind == 7 && random_unit() < 0.75)
                *moved = std::nextafter(*moved, beside);
        }
    }
}

static bool judge(const options &o, const scene &s)
{
    const size_t round = o.judge < 1000000 ? o.judge : 1000000;
    our_tree tree(s, 1);
    std::vector<float> at;
    fill_judged(s, at, round);
    trommel_answerer ours(tree.tml, tree.tree, SIDES, at, tml_grid{});
    cgal_answerer theirs(s, SIDES, some_of(at, round, 1));
    uint64_t judged = 0, wrong = 0, sides[3] = {0};
    for (; judged < o.judge; judged += round) {
        if (judged)
            fill_judged(s, at, round);
        ours.answer();
        theirs.answer();
        wrong += differences(SIDES, s.diagonal, ours, theirs);
        for (float side : theirs.out)
            sides[size_t(side)]++;
    }
    printf("of %llu points %llu outside, %llu inside, %llu on the surface; %llu differ\n",
           static_cast<unsigned long long>(judged), static_cast<unsigned long long>(sides[0]),
           static_cast<unsigned long long>(sides[1]), static_cast<unsigned long long>(sides[2]),
           static_cast<unsigned long long>(wrong));
    return wrong == 0;
}
#else
static bool judge(const options &, const scene &)
{
    fail(nullptr, "--judge needs CGAL");
}
#endif

int main(int argc, char **argv)
{
    options o;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--mesh") == 0)
            o.mesh = argv[i + 1];
        else if (strcmp(argv[i], "--points") == 0)
            o.points = uint32_t(strtoul(argv[i + 1], nullptr, 10));
        else if (strcmp(argv[i], "--side") == 0)
            o.side = uint32_t(strtoul(argv[i + 1], nullptr, 10));
        else if (strcmp(argv[i], "--repeats") == 0)
            o.repeats = uint32_t(strtoul(argv[i + 1], nullptr, 10));
        else if (strcmp(argv[i], "--stride") == 0)
            o.stride = uint32_t(strtoul(argv[i + 1], nullptr, 10));
        else if (strcmp(argv[i], "--judge") == 0)
            o.judge = strtoull(argv[i + 1], nullptr, 10);
    }
    tml_context *tml = nullptr;
    if (tml_open(nullptr, &tml))
        fail(tml, "cannot begin");
    scene s;
    load_mesh(tml, o.mesh, s);
    tml_close(tml);
    if (o.judge)
        return judge(o, s) ? 0 : 1;
    printf("points beside %zu triangles, by processor time, medians\n\n%-8s %-8s %8s %10s %12s %8s "
           "%10s\n",
           s.indices.size() / 3, "", "", "threads", "asked", "M points/s", "", "others");
    for (question what : {NEAREST, SIDES, VOLUME})
        run_row(o, s, what);
}
