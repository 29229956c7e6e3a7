// Makes meshes beside the page by the library's CPU engine (host_surface.js): {volume or field, surface} as
// Trommel.surface takes them, of a soup, whose corners go to the page as they are drawn. A volume is sent
// once, and stands for the later ones that have none. Answers {positions, normals, counts} or {error}.
import { Trommel } from "../trommel/index.js";

// One thread: its files are those that the page loads anyway, and the first mesh is what counts.
const trommel = Trommel.create(null, { engine: "cpu", threads: 1 });
let volume = null;

onmessage = async ({ data }) => {
    try {
        const t = await trommel;
        volume = data.volume ?? (data.field ? null : volume);
        const { positions, normals, vertexCount, triangleCount } =
            t.surface(data.field ? { field: data.field } : volume, { ...data.surface, soup: true });
        postMessage({ positions, normals, vertexCount, triangleCount },
                    [positions.buffer, ...(normals ? [normals.buffer] : [])]);
    } catch (error) {
        postMessage({ error: error.message });
    }
};
