// How all meshes of the page look: two lights that go with the eye, clay or other colours, and edges. For
// programs.js, in both versions of GLSL ES. Defines: SMOOTH, else triangles are flat; CELLS, MARKS and LABELS,
// what else a triangle brings along; EDGES, of which nothing else is drawn; GLASS, which is seen through.
import { CELL_COLORS } from "./cell_colors.js";
import { linearOf } from "./controls.js";

const CELLS = CELL_COLORS.map((color) => `vec3(${color.map((part) => linearOf(part).toFixed(4)).join(", ")})`);

export const MESH_FRAGMENT = `
uniform vec3 eye, right, up, clay, sky, ground;
uniform int colors;     // 0 clay, 1 normals; with CELLS 2: triangles in the cell
uniform float wire;     // opacity of the edges
VARYING_IN vec3 world, normal, corner;
#ifdef CELLS
flat in int in_cell;
vec3 cell_color(int cell) // selects: NVIDIA's compiler gets arrays of vectors wrong
{
    return ${CELLS.map((color, k) => (k < 5 ? `cell == ${k} ? ${color} : ` : color)).join("")};
}
#endif
#ifdef MARKS
uniform vec3 marked;
VARYING_IN float mark;
#endif
#ifdef LABELS
VARYING_IN float mark;
// Hues by the golden section, so that neighbours differ.
vec3 label_color(float label)
{
    return pow(0.56 + 0.36 * cos(6.2832 * (0.618034 * label + vec3(0.0, 0.33, 0.67))), vec3(2.2));
}
#endif

void main()
{
    vec3 to_eye = normalize(eye - world);
#ifdef SMOOTH
    vec3 n = normalize(normal);
    const float lean = -0.25; // so far these point away at the rim of what is seen from before
#else
    vec3 n = normalize(cross(dFdx(world), dFdy(world)));
    const float lean = 0.0;
#endif
    // Open surfaces are seen from behind too, where they are lit alike and darker.
    bool behind = dot(n, to_eye) < lean;
    n = behind ? -n : n;

    // Lights go with the eye: a warm one over the left shoulder and a cold one from behind.
    vec3 back = cross(right, up);
    vec3 key = normalize(-0.75 * right + 0.8 * up + 0.55 * back);
    vec3 rim = normalize(0.8 * right + 0.25 * up - 0.75 * back);
    float to_key = dot(n, key);
    float wrapped = max(0.0, (to_key + 0.15) / 1.15);
    float facing = max(dot(n, to_eye), 0.0);
    float grazing = pow(1.0 - facing, 4.0);

    vec3 base = colors == 1 ? pow(0.5 + 0.5 * n, vec3(2.2)) : clay;
#ifdef CELLS
    base = cell_color(in_cell);
#endif
#ifdef MARKS
    base = mix(base, marked, mark);
#endif
#ifdef LABELS
    base = colors == 1 ? base : label_color(floor(255.0 * mark + 0.5));
#endif
    vec3 light = mix(ground, sky, 0.5 + 0.5 * n.y) * (0.3 + 0.5 * facing);
    light += vec3(1.0, 0.93, 0.84) * 1.15 * wrapped * wrapped;
    light += sky * 0.7 * max(0.0, dot(n, rim));
    vec3 shine = normalize(key + to_eye);
    float gloss = max(dot(n, shine), 0.0);
    vec3 lit = base * light + vec3(1.0, 0.95, 0.9) * (0.10 * pow(gloss, 18.0) + 0.22 * pow(gloss, 90.0));
    lit += sky * grazing * 0.18;
    lit = behind ? lit * 0.45 : lit;

    vec3 width = max(fwidth(corner), 1e-6);
    vec3 edges = smoothstep(vec3(0), width * 1.4, corner);
    float edge = 1.0 - min(edges.x, min(edges.y, edges.z));
#ifdef EDGES
    if (edge < 0.5)
        discard;
    color = vec4(clay, 1);
    return;
#endif
    lit = mix(lit, lit * 0.15, edge * wire);
    // The shoulder of a curve that keeps highlights from burning out, then sRGB.
    lit = lit * (1.0 + lit * 0.12) / (1.0 + lit * 0.45);
    color = vec4(pow(lit * 1.12, vec3(1.0 / 2.2)), 1);
#ifdef GLASS
    color *= 0.16 + 0.6 * pow(1.0 - facing, 2.0);
#endif
}
`;

// The sky's and the ground's light, and how dark shadows are, by the theme of an element.
export function lightsOf(element) {
    const isDark = getComputedStyle(element).colorScheme === "dark";
    return isDark ? { sky: [0.42, 0.5, 0.62], ground: [0.1, 0.085, 0.075], shadow: 0.62 }
                  : { sky: [0.66, 0.7, 0.74], ground: [0.3, 0.25, 0.2], shadow: 0.3 };
}
