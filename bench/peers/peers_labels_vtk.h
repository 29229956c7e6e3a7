// Members of newer base classes that VTK 9.3's surface nets call, for an older VTK.
#include <cmath>

// Is the end in the box around the middle? If not, moves it to where the segment between them
// leaves the box.
inline bool contains_line(const double middle[3], const double size[3], const double end[3],
                          double &t, double leaves[3], int &plane)
{
    t = 1;
    for (int a = 0; a < 3; a++) {
        const double step = end[a] - middle[a];
        const double at = std::fabs(step) > size[a] / 2 ? size[a] / 2 / std::fabs(step) : 1;
        if (at < t) {
            t = at;
            plane = 2 * a + (step > 0);
        }
    }
    for (int a = 0; a < 3; a++)
        leaves[a] = middle[a] + t * (end[a] - middle[a]);
    return t >= 1;
}
