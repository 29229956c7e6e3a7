// What the examples draw: particles on their way, of which some are kept, and an isosurface that moves. All of it is
// made on the device; so are the counts, which nobody reads back.
const SIDE = 40; // samples of the volume
export const PARTICLES = 4096;

const place = `vec3 particle_place(vec2 start, tml_params p)
{
    float angle = start.x + p.f[0];
    return VEC3(start.y * cos(angle), 0.35f * sin(5.0f * start.y - p.f[0]), start.y * sin(angle));
}`;
const keep = 'bool is_raised(vec3 at) { return at.y > 0.0f; }';
const blob = `float blob(vec3 at, tml_params p)
{
    return 12.0f + 2.0f * sin(0.5f * at.x + p.f[0]) + 2.0f * sin(0.5f * at.y) -
           sqrt(at.x * at.x + at.y * at.y + at.z * at.z);
}`;

// t: a Trommel on the context that draws. without the surface: for WebGL 1.
export function makeScene(t, { hasSurface = true } = {}) {
    const placing = t.kernel(place), keeping = t.kernel(keep), blobbing = hasSurface && t.kernel(blob);
    // Angle and radius of each particle; where each sample lies.
    const starts = t.buffer({ type: 'f32x2', count: PARTICLES, data: Float32Array.from({ length: 2 * PARTICLES },
        (_, i) => (i % 2 ? Math.sqrt(i / 2 / PARTICLES) : 1.2 * i)) });
    const samples = hasSurface && t.buffer({ type: 'f32x3', count: SIDE ** 3, data: Float32Array.from({ length: 3 * SIDE ** 3 },
        (_, i) => Math.floor(i / 3 / SIDE ** (i % 3)) % SIDE - (SIDE - 1) / 2) });
    const all = t.buffer({ type: 'f32x3', count: PARTICLES });
    const particles = t.buffer({ type: 'f32x3', count: PARTICLES }), count = t.buffer({ type: 'u32', count: 1 });
    const room = 3 * 12000; // vertices of the surface: three a triangle
    const make = (type, length) => hasSurface && t.buffer({ type, count: length });
    const volume = make('f32', SIDE ** 3), vertices = make('f32x3', room), normals = make('f32x3', room);
    const counts = make('u32', 2);
    return {
        particles, count, vertices, normals, counts, room,
        step(seconds) {
            const params = { f: [seconds] };
            t.batch(() => {
                t.map({ kernel: placing, params, in: [starts], out: all });
                t.compact({ keep: { kernel: keeping, in: [all] }, payloads: [{ in: all, out: particles }], count });
                if (!hasSurface)
                    return;
                t.map({ kernel: blobbing, params, in: [samples], out: volume });
                t.surfaceEnqueue({
                    dims: [SIDE, SIDE, SIDE], spacing: [0.06, 0.06, 0.06], origin: [-1.17, -1.17, -1.17], volume, iso: 5,
                    normals: 'central', soup: true, vertices, vertexNormals: normals, counts,
                });
            });
        },
    };
}
