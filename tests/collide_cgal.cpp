// Writes data/collide_pairs.txt: which triangles of the meshes in collide_meshes.h meet, and how,
// as CGAL's exact kernels see it.
//
//     collide_cgal MESHES [--check RECORD | FIRST SECOND]
//
// MESHES is the folder of the meshes. --check compares with a record instead; two numbers of files
// list the triangles of that pair.
#include <CGAL/Exact_predicates_exact_constructions_kernel.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/box_intersection_d.h>
#include <CGAL/intersections.h>
#include <CGAL/version.h>
#include <algorithm>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "collide_meshes.h"
#include <trommel/collide.h>

using fast = CGAL::Exact_predicates_inexact_constructions_kernel;
using exact = CGAL::Exact_predicates_exact_constructions_kernel;

// A triangle in one kernel: with area, or what it is without.
template <class kernel> struct shape {
    typename kernel::Point_3 at[3];
    int dimension = 2;
    typename kernel::Segment_3 segment; // of dimension 1
    explicit shape(const float *corners)
    {
        for (int i = 0; i < 3; i++)
            at[i] =
                typename kernel::Point_3(corners[3 * i], corners[3 * i + 1], corners[3 * i + 2]);
        if (!CGAL::collinear(at[0], at[1], at[2]))
            return;
        auto low = std::min({at[0], at[1], at[2]}), high = std::max({at[0], at[1], at[2]});
        dimension = low == high ? 0 : 1;
        segment = typename kernel::Segment_3(low, high);
    }
    typename kernel::Triangle_3 triangle() const
    {
        return {at[0], at[1], at[2]};
    }
};

template <class kernel> bool meet(const shape<kernel> &a, const shape<kernel> &b)
{
    if (a.dimension < b.dimension)
        return meet(b, a);
    if (a.dimension == 2)
        return b.dimension == 2   ? CGAL::do_intersect(a.triangle(), b.triangle())
               : b.dimension == 1 ? CGAL::do_intersect(a.triangle(), b.segment)
                                  : CGAL::do_intersect(a.triangle(), b.at[0]);
    if (a.dimension == 1)
        return b.dimension == 1 ? CGAL::do_intersect(a.segment, b.segment)
                                : a.segment.has_on(b.at[0]);
    return a.at[0] == b.at[0];
}

// Vertices on both sides of the plane of a triangle.
static bool is_across(const shape<exact> &a, const shape<exact> &b)
{
    bool has_positive = false, has_negative = false;
    for (const auto &p : a.at) {
        auto side = CGAL::orientation(b.at[0], b.at[1], b.at[2], p);
        has_positive |= side == CGAL::POSITIVE;
        has_negative |= side == CGAL::NEGATIVE;
    }
    return has_positive && has_negative;
}

// How two triangles meet that do; NONE if one mesh has them and they meet in nothing but what they
// share.
static tml_collide_class classify(const shape<exact> &a, const shape<exact> &b, bool is_one_mesh)
{
    std::vector<exact::Point_3> shared;
    for (const auto &p : a.at)
        for (const auto &q : b.at)
            if (p == q && std::find(shared.begin(), shared.end(), p) == shared.end())
                shared.push_back(p);
    if (!is_one_mesh || shared.size() == 3)
        shared.clear();
    if (a.dimension != 2 || b.dimension != 2) {
        if (!shared.empty()) { // none among the files has such neighbours
            fprintf(stderr, "collide_cgal: a triangle without area shares a corner\n");
            exit(1);
        }
        return TML_COLLIDE_CLASS_DEGENERATE;
    }
    auto common = CGAL::intersection(a.triangle(), b.triangle());
    if (boost::get<exact::Point_3>(&*common))
        return shared.size() == 1 ? TML_COLLIDE_CLASS_NONE : TML_COLLIDE_CLASS_TOUCHING;
    if (const auto *segment = boost::get<exact::Segment_3>(&*common)) {
        if (shared.size() == 2 && (*segment == exact::Segment_3(shared[0], shared[1]) ||
                                   *segment == exact::Segment_3(shared[1], shared[0])))
            return TML_COLLIDE_CLASS_NONE;
        return is_across(a, b) && is_across(b, a) ? TML_COLLIDE_CLASS_CROSSING : TML_COLLIDE_CLASS_TOUCHING;
    }
    return TML_COLLIDE_CLASS_COPLANAR;
}

using box = CGAL::Box_intersection_d::Box_with_handle_d<double, 3, const float *>;

static std::vector<box> boxes_of(const collide_mesh &mesh)
{
    std::vector<box> boxes;
    for (uint32_t i = 0; i < mesh.count; i++) {
        const float *corners = mesh.corners + 9 * size_t(i);
        CGAL::Bbox_3 bounds;
        for (int k = 0; k < 9; k += 3)
            bounds += CGAL::Bbox_3(corners[k], corners[k + 1], corners[k + 2], corners[k],
                                   corners[k + 1], corners[k + 2]);
        boxes.emplace_back(bounds, corners);
    }
    return boxes;
}

static std::vector<collide_found> find(const collide_mesh &a, const collide_mesh &b)
{
    bool is_one_mesh = a.corners == b.corners;
    std::vector<box> first = boxes_of(a), second = boxes_of(b);
    std::vector<collide_found> found;
    CGAL::box_intersection_d(
        first.begin(), first.end(), second.begin(), second.end(), [&](const box &p, const box &q) {
            uint32_t i = uint32_t((p.handle() - a.corners) / 9);
            uint32_t k = uint32_t((q.handle() - b.corners) / 9);
            if ((is_one_mesh && i >= k) || !meet(shape<fast>(p.handle()), shape<fast>(q.handle())))
                return;
            auto kind = classify(shape<exact>(p.handle()), shape<exact>(q.handle()), is_one_mesh);
            if (kind != TML_COLLIDE_CLASS_NONE)
                found.push_back({i, k, uint32_t(kind)});
        });
    return found;
}

// Both meshes of a line and what was found.
struct pair_of_files {
    char line[512];
    std::vector<collide_found> found;
};

static pair_of_files find_in_files(const std::vector<collide_mesh> &meshes, int a, int b)
{
    collide_pose pose = {1, {0, 0, 0}};
    if (a != b && b >= COLLIDE_IN_PLACE)
        pose = collide_pose_of(&meshes[a], &meshes[b]);
    collide_mesh moved = a == b ? meshes[a] : collide_mesh_moved(&meshes[b], &pose);
    pair_of_files pair;
    pair.found = find(meshes[a], moved);
    collide_line(pair.line, a, b, &pose, &meshes[a], &meshes[b], pair.found.data(),
                 pair.found.size());
    if (a != b)
        free(moved.corners);
    return pair;
}

// The record's lines that are not comments; exits where it cannot be read.
static std::vector<std::string> read_record(const char *path)
{
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        if (line[0] != '#')
            lines.push_back(line + "\n");
    if (lines.empty()) {
        fprintf(stderr, "collide_cgal: %s holds no record\n", path);
        exit(1);
    }
    return lines;
}

int main(int argc, char **argv)
{
    bool is_check = argc == 4 && strcmp(argv[2], "--check") == 0, is_list = argc == 4 && !is_check;
    if (argc != 2 && argc != 4) {
        fprintf(stderr, "collide_cgal MESHES [--check RECORD | FIRST SECOND]\n");
        return 2;
    }
    tml_open_desc desc = {};
    desc.engine = TML_ENGINE_CPU;
    tml_context *tml;
    if (tml_open(&desc, &tml) != TML_OK)
        return 1;
    std::vector<collide_mesh> meshes(COLLIDE_FILES);
    for (int i = 0; i < COLLIDE_FILES; i++) {
        std::string path = argv[1] + std::string("/") + collide_files[i];
        if (!collide_mesh_load(tml, path.c_str(), &meshes[i]))
            return is_check && access(argv[1], R_OK) != 0 ? 77 : 1; // no meshes: a test skipped
    }

    std::vector<std::string> record;
    if (is_check)
        record = read_record(argv[3]);
    else
        printf("# Which triangles of every two of the meshes in collide_meshes.h meet, by the "
               "exact kernels\n"
               "# of CGAL " CGAL_VERSION_STR
               ". Made by scripts/record-collide; test_collide_meshes reads it.\n"
               "# file file|- scale move-x move-y move-z hash hash crossing touching coplanar "
               "degenerate hash-of-pairs\n");
    size_t wrong = 0, lines = 0;
    for (int a = 0; a < COLLIDE_FILES; a++)
        for (int b = a; b < COLLIDE_FILES; b++) {
            if (is_list && (a != atoi(argv[2]) || b != atoi(argv[3])))
                continue;
            pair_of_files pair = find_in_files(meshes, a, b);
            bool is_recorded = is_check && lines < record.size() && record[lines] == pair.line;
            lines++;
            wrong += is_check && !is_recorded;
            if (!is_recorded)
                fputs(pair.line, stdout);
            for (size_t i = 0; is_list && i < pair.found.size(); i++)
                printf("%u %u %u\n", pair.found[i].a, pair.found[i].b, pair.found[i].kind);
        }
    for (auto &mesh : meshes)
        free(mesh.corners);
    tml_close(tml);
    return wrong || (is_check && lines != record.size());
}
