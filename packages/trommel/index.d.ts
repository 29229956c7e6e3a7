/** Trommel for JavaScript: computing with streams whose length depends on their data, and isosurfaces
 * from volumes and points, on the CPU through WebAssembly or on the GPU through WebGL.
 *
 * The library is the C library Trommel compiled to WebAssembly. What is said here of shapes and units
 * is a summary; the C headers (include/trommel/) say it in full, with the papers that it follows.
 *
 * Calls are synchronous. On the CPU engine they have finished when they return; on the GL engine they
 * have enqueued their work, and only calls named read, surface, cells, examine, resolve or time wait.
 * Everything that fails throws a TrommelError, before anything is changed. */

/* ---- errors ---------------------------------------------------------------------------------- */

export type Status =
    | 'INVALID_ARGUMENT' | 'INVALID_HANDLE' | 'OUT_OF_MEMORY' | 'OUT_OF_DEVICE_MEMORY' | 'CAPACITY'
    | 'SCRATCH_TOO_SMALL' | 'UNSUPPORTED' | 'CANCELLED' | 'NO_DEVICE' | 'DEVICE_LOST' | 'STALLED'
    | 'FILE_ACCESS' | 'FILE_FORMAT' | 'INTERNAL';

/** message: which call and field, the value seen, the value accepted, and how to mend it. */
export class TrommelError extends Error {
    readonly name: 'TrommelError';
    readonly status: Status;
    constructor(status: Status, message: string);
}

/* ---- what a browser has ------------------------------------------------------------------------ */

/** The type of a global class where there is one: projects without lib "dom" have none of WebGL's. */
type Instance<Name extends string> = typeof globalThis extends { [name in Name]: { prototype: infer T } } ? T : never;
type GLTexture = Instance<'WebGLTexture'>;
type GLContext = Instance<'WebGLRenderingContext'> | Instance<'WebGL2RenderingContext'>;
type Canvas = Instance<'HTMLCanvasElement'> | Instance<'OffscreenCanvas'>;
type Address = string | Instance<'URL'>;

/* ---- element types --------------------------------------------------------------------------- */

export type Scalar = 'u8' | 'i8' | 'u16' | 'i16' | 'u32' | 'i32' | 'u64' | 'i64' | 'f16' | 'f32' | 'f64';
/** A scalar, or a tightly packed vector of one: 'f32x3'. */
export type Type = Scalar | `${Scalar}x${2 | 3 | 4}`;
/** f16 travels as Uint16Array; u64 and i64 as BigUint64Array and BigInt64Array. A Uint8ClampedArray is
 * taken as u8. */
export type TypedArray =
    | Uint8Array | Uint8ClampedArray | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array
    | BigUint64Array | BigInt64Array | Float32Array | Float64Array;

/** The array that elements of a type come as. */
export type ArrayOf<T extends Type> =
    T extends `u8${string}` ? Uint8Array : T extends `i8${string}` ? Int8Array
    : T extends `u16${string}` | `f16${string}` ? Uint16Array : T extends `i16${string}` ? Int16Array
    : T extends `u32${string}` ? Uint32Array : T extends `i32${string}` ? Int32Array
    : T extends `u64${string}` ? BigUint64Array : T extends `i64${string}` ? BigInt64Array
    : T extends `f32${string}` ? Float32Array : T extends `f64${string}` ? Float64Array : never;
/** The type of an array's elements. */
export type TypeOf<A extends TypedArray> =
    A extends Float32Array ? 'f32' : A extends Float64Array ? 'f64' : A extends Uint32Array ? 'u32'
    : A extends Int32Array ? 'i32' : A extends Uint16Array ? 'u16' : A extends Int16Array ? 'i16'
    : A extends Int8Array ? 'i8' : A extends BigUint64Array ? 'u64' : A extends BigInt64Array ? 'i64' : 'u8';

/* ---- opening --------------------------------------------------------------------------------- */

/** How values travel through textures, best first: integer textures (WebGL 2); float targets read back
 * as floats; float targets packed into bytes to be read back; bytes alone. The last three are the float
 * tier: WebGL 1, and WebGL 2 where it is forced. What the tier can do: trommel/gl.h. */
export type Path = 'integer' | 'float' | 'float-packed' | 'packed';

export interface CreateOptions {
    /** auto: GL where a canvas or context was given and has integer textures, which WebGL 2 has, otherwise the CPU:
     * the float tier does less than the CPU engine, and is there for who asks by engine, path or webgl. gl: throws
     * NO_DEVICE or UNSUPPORTED where it does not work. Default: auto. */
    engine?: 'auto' | 'cpu' | 'gl';
    /** Forces a path of the GL engine. UNSUPPORTED, with the test that failed, where the device cannot. */
    path?: Path;
    /** Workers of the CPU engine. More than one needs SharedArrayBuffer (in a page: cross-origin
     * isolation, headers COOP and COEP; Node always has it), and is 1 without. Default: 1 for GL; for the
     * CPU one for each processor, at most 8. */
    threads?: number;
    /** GL: operations whose output may be shorter than its buffer wait for their count and draw just
     * that many. Default: false: nothing is read back. Trommel.exactCounts changes it. */
    exactCounts?: boolean;
    /** Asked for when a context is made on a canvas. 1 or 2; default: 2, and with engine gl or a path 1 where 2
     * fails. */
    webgl?: 1 | 2;
    /** Given to getContext when a context is made on a canvas. */
    contextAttributes?: Record<string, unknown>;
    /** The folder whose wasm/ has the .wasm and .js files. Default: the package's; trommel/inline, and trommel in bundlers
     * that leave files behind, have what they need within, for one thread, and load these files if this or locate
     * is given. */
    base?: Address;
    /** Where one of them lies, by its name ('trommel.wasm'): for files that were renamed. undefined: as without. */
    locate?: (file: string) => Address | undefined;
    /** Gets the library's log lines. Default: none. */
    log?: (level: 'error' | 'warning' | 'info' | 'debug', message: string) => void;
}

export interface DeviceInfo {
    engine: 'cpu' | 'gl';
    /** The driver's own words for the renderer where the browser tells them; of the CPU engine the threads. */
    name: string;
    features: string;
    /** Of the CPU engine, as create() was asked. */
    threads: number;
    isSoftware: boolean;
}

/** A test that decided the path, with the tests beneath it. */
export interface DeviceTest {
    name: string;
    passed: boolean;
    /** This line is the path that was chosen. */
    isChoice: boolean;
    /** What was seen where it failed, or a figure. */
    detail: string;
    children: DeviceTest[];
}

/* ---- buffers --------------------------------------------------------------------------------- */

/** The texture behind a buffer, to fetch from it in shaders of yours. Integer path: R32UI; word i of the
 * array is texel (i % width, i / width), 8- and 16-bit elements packed lowest byte first. Rows are
 * `width` texels. Sample it with texelFetch and a usampler2D; set no filtering. On the float tier:
 * RGBA8 or RGBA32F (trommel/gl.h). */
export interface BufferTexture {
    readonly texture: GLTexture;
    readonly width: number;
    readonly height: number;
}

export interface BufferOptions<T extends Type = Type> {
    type: T;
    /** Elements. */
    count: number;
    /** Initial contents: count elements; copied. Default: undefined contents. */
    data?: TypedArray | ArrayBuffer;
    /** GL, integer path: your own R32UI texture of one level, used in place and never deleted. It must
     * belong to the same context and outlive the buffer. */
    texture?: BufferTexture;
    /** Where the elements lie. 'host': in the library's memory and never on the device: for points and
     * radii of field(), which are binned on the host: no readback, no upload of the whole. Default:
     * 'device'. On the CPU engine both are the same. */
    place?: 'device' | 'host';
    /** Named in messages. */
    label?: string;
}

/** An array on the device. Destroy it when done; close() destroys those that are left. */
export interface TrommelBuffer<T extends Type = Type> {
    readonly type: T;
    readonly count: number;
    /** Bytes: count times the element's size. */
    readonly byteLength: number;
    readonly label: string;
    /** GL, not for 'host' buffers; null otherwise. */
    readonly texture: BufferTexture | null;
    readonly isDestroyed: boolean;
    /** Elements [first, first + count) as a typed array of the scalar type (a vector is consecutive
     * elements of it). Waits. */
    read(first?: number, count?: number): ArrayOf<T>;
    /** The same without blocking the page: a fence and a copy once the device has passed it. On WebGL 1, which has
     * neither, it waits. */
    readAsync(first?: number, count?: number): Promise<ArrayOf<T>>;
    /** The one element of a count buffer, as a number. Waits. */
    readCount(index?: number): number;
    /** Writes elements from `first` on; may be reused on return. data.length must be whole elements. */
    write(data: TypedArray | ArrayBuffer, first?: number): void;
    destroy(): void;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/** A kernel of yours, made by Trommel.kernel(). */
export interface Kernel {
    readonly name: string;
    readonly source: string;
    readonly result: string;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* C's names in camelCase. Where there is a list, one element of it does, too. A number as a length is exact: 0 is none;
 * and so is a length with a count. GL has the methods 'histopyramid', the CPU 'look-back', 'reduce-then-scan' and
 * 'histopyramid'; docs/ops.md tells what else an engine lacks. */

// The descs of stream.h.

/* ---- grids, volumes, fields ------------------------------------------------------------------ */

export interface Grid {
    /** Samples along x (fastest), y, z. */
    dims: [number, number, number];
    /** Length of one step; default 1 1 1. */
    spacing?: [number, number, number];
    /** Position of sample (0, 0, 0); default 0 0 0. */
    origin?: [number, number, number];
    /** Row-major 3x3 whose columns are the axes' directions; default the identity. */
    direction?: number[];
}
export interface ResolvedGrid extends Required<Grid> {}

export interface FieldOptions {
    /** x y z of each point, as an array (kept on the host: nothing is read back or uploaded whole), or
     * an f32x3 buffer (on GL a 'host' one avoids the readback too), or what loadPoints returns, whose origin counts:
     * grids are then where the points are. */
    points: Float32Array | TrommelBuffer | LoadedPoints;
    /** One a point: the kernel's support or the sphere's radius. Default: those of a whole points object. */
    radii?: Float32Array | TrommelBuffer;
    /** Of all points, 0: from their spacing. With radii the largest that counts, 0: the largest there is. */
    radius?: number;
    /** sum: kernel sum, background 0; distance: signed distance to the union of spheres, inside is
     * positive. Default: sum. */
    kind?: 'sum' | 'distance';
    kernel?: 'wendland' | 'poly6' | 'metaball';
    margin?: number;
    /** Default: chosen to cover all points; its origin is then ignored. */
    grid?: Partial<Grid>;
    /** In place of grid. */
    dims?: [number, number, number];
    spacing?: [number, number, number];
    origin?: [number, number, number];
    direction?: Grid['direction'];
    /** Of field(), in place of its second argument. */
    out?: TrommelBuffer;
    /** Samples along an automatic grid's longest side. */
    resolution?: number;
}
/** FieldOptions with every zero resolved, and the suggested isovalue. points and radii are those that
 * were given. */
export interface ResolvedField extends FieldOptions {
    radius: number;
    margin: number;
    grid: ResolvedGrid;
    iso: number;
}

/** A volume to extract from: samples (an array or a buffer of any scalar type) on a grid. An array's
 * type follows from its class; halves need type: 'f16'. */
export interface VolumeInput extends Grid {
    data: TypedArray | TrommelBuffer;
    type?: Scalar;
    /** Physical value = slope * sample + intercept; isovalues and labels are physical. Default: 1 and 0. */
    slope?: number;
    intercept?: number;
}

/* ---- surface --------------------------------------------------------------------------------- */

export interface SurfaceOptions {
    /** One isovalue: inside is value >= iso, in physical values where the volume has slope and intercept. Default 0. */
    iso?: number;
    /** Instead: several isovalues in one read. */
    isovalues?: number[];
    /** Instead, for integer volumes: one part for each label, ascending. Beyond 2^53 as BigInt. */
    labels?: (number | bigint)[];
    allLabels?: boolean;
    normals?: 'none' | 'forward' | 'central' | 'sobel';
    /** Three vertices a triangle, no indices. */
    soup?: boolean;
    /** Also the cell of each triangle. */
    cells?: boolean;
    /** Close the surface where it leaves the region. */
    caps?: boolean;
    /** Inside is low. */
    flip?: boolean;
    dropDegenerate?: boolean;
    largestComponent?: boolean;
    region?: { first: [number, number, number]; count: [number, number, number] };
    /** u8, one a sample; 0 is missing. */
    mask?: Uint8Array | TrommelBuffer;
    /** Scalar volume of the same dims, interpolated onto the vertices. */
    attribute?: TypedArray | TrommelBuffer;
    /** From surfaceIndex() of this volume. */
    index?: TrommelBuffer;
    /** Subtracted from positions in double, before they are rounded; becomes the mesh's origin. Default: 0, or where floats
     * would lose the samples' distances the grid's origin; of whole points theirs. */
    positionOrigin?: [number, number, number];
}

export interface SurfacePart {
    /** The isovalue, physical, or the number nearest to the label. */
    value: number;
    /** Of labels but 0: with all digits. */
    label?: bigint;
    vertexFirst: number;
    vertexCount: number;
    triangleFirst: number;
    triangleCount: number;
}

/** A mesh in ordinary arrays. */
export interface Mesh {
    /** x y z of each vertex, from origin. */
    positions: Float32Array;
    /** Where the positions begin: 0 but for what lies far from it. saveMesh, examine, tree and subdivider take it along. */
    origin: [number, number, number];
    normals: Float32Array | null;
    values: Float32Array | null;
    /** Three a triangle; null for soup. */
    indices: Uint32Array | null;
    /** With cells: of each triangle the number of its cell's lowest sample, x + nx * (y + ny * z). */
    cells: Uint32Array | null;
    vertexCount: number;
    triangleCount: number;
    parts: SurfacePart[];
    activeCells: number;
    /** Seconds by the host's clock (CPU engine; on GL what the call itself took to enqueue and wait). */
    stages: { name: string; seconds: number }[];
}

/** The same, left on the device. Destroy it when done. */
export interface DeviceMesh {
    vertices: TrommelBuffer | null;
    vertexNormals: TrommelBuffer | null;
    vertexValues: TrommelBuffer | null;
    indices: TrommelBuffer | null;
    triangleCells: TrommelBuffer | null;
    /** As Mesh's. */
    origin: [number, number, number];
    vertexCount: number;
    triangleCount: number;
    parts: SurfacePart[];
    activeCells: number;
    stages: { name: string; seconds: number }[];
    destroy(): void;
}

/** A surface for a frame: nothing comes back to the host. One isovalue; no labels or filters. */
export interface SurfaceEnqueueOptions extends Partial<Grid> {
    /** A buffer, whose grid stands beside or in grid; or a volume whose data are a buffer. */
    volume: TrommelBuffer | (VolumeInput & { data: TrommelBuffer });
    /** In place of dims, spacing, origin and direction. */
    grid?: Grid;
    /** Physical where the volume has slope and intercept; isoBuffer holds stored values. */
    iso?: number;
    /** f32: element isoIndex stands for iso. */
    isoBuffer?: TrommelBuffer;
    isoIndex?: number;
    normals?: 'none' | 'forward' | 'central' | 'sobel';
    /** Three vertices a triangle, no indices. */
    soup?: boolean;
    caps?: boolean;
    flip?: boolean;
    region?: { first: [number, number, number]; count: [number, number, number] };
    mask?: TrommelBuffer;
    attribute?: TrommelBuffer;
    index?: TrommelBuffer;
    /** Outputs: their sizes are the capacities; what is past them is not written. */
    vertices: TrommelBuffer;
    vertexNormals?: TrommelBuffer;
    vertexValues?: TrommelBuffer;
    /** u32x3, unless soup. */
    indices?: TrommelBuffer;
    /** u32, one a triangle: its cell. */
    triangleCells?: TrommelBuffer;
    /** u32, 2: vertices and triangles that the surface has, which may be more than there is room for. */
    counts?: TrommelBuffer;
}

export interface MeshStats {
    components: number;
    boundaryEdges: number;
    nonmanifoldEdges: number;
    euler: number;
    area: number;
    /** Enclosed, signed; NaN where the mesh encloses nothing, since it is open or not wound alike. */
    volume: number;
    lower: [number, number, number];
    upper: [number, number, number];
}

/* ---- files ----------------------------------------------------------------------------------- */

/** A volume file's contents, in the file's own type and the machine's byte order. It may be given to
 * surface() and surfaceIndex() as it is. */
export interface LoadedVolume extends ResolvedGrid {
    data: TypedArray;
    type: Scalar;
    /** Physical value = slope * sample + intercept: what surface(), cells() and suggestIso() speak of. */
    slope: number;
    intercept: number;
    format: string;
    space: string;
    /** Unit of spacing and origin, such as 'mm' or 'µm'; '' where the file states none. */
    unit: string;
    comment: string;
}
/** Positions are relative to origin. */
export interface LoadedPoints {
    positions: Float32Array;
    radii: Float32Array | null;
    values: Float32Array | null;
    valueName: string;
    count: number;
    origin: [number, number, number];
    format: string;
    /** Points left out because a coordinate is NaN or infinite. */
    dropped: number;
}
export interface VolumeFileOptions {
    /** Raw files, whose name does not tell (as in engine_256x256x128_uint8.raw). */
    dims?: [number, number, number];
    type?: Scalar;
    bigEndian?: boolean;
    skip?: number;
    spacing?: [number, number, number];
    /** Which volume of a 4-D file, or component of a vector file. */
    frame?: number;
    /** Refuse volumes larger than this many bytes. Default: 1 GiB. */
    memoryLimit?: number;
}

/* ---- pictures -------------------------------------------------------------------------------- */

/** Pixels in a buffer of u8, u16, f16 or f32 (scalar or vector), row by row, colours interleaved: 1 luminance, 2 and
 * alpha, 3 red, green, blue, 4 and alpha. srgb: integers coded as sRGB; otherwise linear. values: what floats are;
 * logarithms, as a pass leaves them that meters by log luminance, are made linear as they are read. */
export interface Picture {
    buffer: TrommelBuffer;
    width: number;
    height: number;
    channels: 1 | 2 | 3 | 4;
    srgb?: boolean;
    values?: PictureValues;
}
/** A logarithm v stands for the linear value 2^v, e^v or 10^v. */
export type PictureValues = 'linear' | 'log2' | 'ln' | 'log10';
/** A texture of the page's with float or normalised colours (RGBA16F, R11F_G11F_B10F, SRGB8_ALPHA8, ...), read in
 * place as texelFetch gives it. format: its sized internal format, such as gl.RGBA16F; default: any of four components. */
export interface TexturePicture {
    texture: GLTexture;
    width: number;
    height: number;
    format?: number;
    /** Default: 3, red, green, blue. */
    channels?: 1 | 2 | 3 | 4;
    values?: PictureValues;
}
/** Between a texture of the page's (R32F, RGBA32F, RGBA16F, RGBA8, ...) and a buffer of u8 (normalised), f16 or f32: row
 * by row, or as a volume whose slices are tiles of the texture. One draw; waits for nothing. */
export interface TextureTransfer {
    texture: GLTexture;
    width: number;
    height: number;
    /** Its sized internal format. Default: any of four components. */
    format?: number;
    /** Width and height of a slice. Default: no tiles. */
    tiles?: [number, number];
    /** Default: all tiles. */
    slices?: number;
    /** Scalars of an element. Default: the format's. */
    channels?: 1 | 2 | 3 | 4;
    buffer: TrommelBuffer;
    /** Scalar of the buffer with which the first element begins. */
    first?: number;
}
/** What was measured of a picture; luminances are linear, logarithms in stops. */
export interface PictureStats {
    pixels: number;
    positive: number;
    zero: number;
    negative: number;
    nan: number;
    infinite: number;
    weight: number;
    min: number;
    max: number;
    mean: number;
    deviation: number;
    log2Mean: number;
    geometricMean: number;
    /** log2 luminance where the first bin begins. */
    histogramLow: number;
    /** Stops. */
    binWidth: number;
    /** 256 sums of weights; the first bin takes everything below too, the last everything above. */
    histogram: Float64Array;
}
export type Tone = 'srgb' | 'reinhard' | 'reinhard-extended' | 'hable' | 'aces-fit' | 'agx' | 'neutral';
/** A picture file's contents, rows from the top. */
export interface LoadedPicture {
    data: TypedArray;
    type: Scalar;
    width: number;
    height: number;
    channels: 1 | 2 | 3 | 4;
    srgb: boolean;
    format: string;
    comment: string;
}

/* ---- collide --------------------------------------------------------------------------------- */

export type Luminance = 'rec709' | 'rec2020' | 'acescg' | 'max-rgb' | 'custom';

/** What inside means: that a ray crosses the mesh an odd number of times; that the mesh winds about the point (so where
 * two solids overlap, too); or, of a mesh that may be open, that it covers half of all directions or more. The first two
 * want a closed mesh. */
export type TreeRule = 'even-odd' | 'winding' | 'solid-angle';
/** For each point its k nearest triangles, the nearest first. Where there is none: Infinity, NaN, 2^32 - 1. */
export interface NearestTriangles {
    distances: Float32Array;
    /** Three a triangle: its point that is nearest; doubles of a tree with an origin. */
    positions: Float32Array | Float64Array;
    triangles: Uint32Array;
    /** Where on the triangle that lies: 0 its face, 1 to 3 its edges, 4 to 6 its corners. */
    features: Uint8Array;
}
/** The nearest hit of each ray, of several at one t that of the least triangle. Where there is none: Infinity, 2^32 - 1,
 * NaN. */
export interface NearestHits {
    /** In lengths of the direction. */
    t: Float32Array;
    triangles: Uint32Array;
    /** Two a ray: weights of the triangle's second and third corner. */
    barycentrics: Float32Array;
}
/** Every hit, by ray, then t, then triangle. */
export interface AllHits {
    rays: Uint32Array;
    triangles: Uint32Array;
    t: Float32Array;
}

/** Points, three numbers each: where they are, or from the origin of what loadPoints or loadMesh returns. */
export type Places = Float32Array | Float64Array | { positions: Float32Array; origin?: [number, number, number] };

/** A mesh with a tree of boxes over its triangles: Trommel.tree(). Destroy it when done. Points, origins and directions
 * are three numbers each. All calls wait, and compute on the processor, whatever the engine: a Trommel without a canvas is the one
 * for trees alone. */
export interface TrommelTree {
    readonly triangleCount: number;
    /** Triangles left out by skipBroken. */
    readonly brokenCount: number;
    readonly depth: number;
    /** The mesh's. Points that are asked for lie where they are, and so does what is returned. */
    readonly origin: [number, number, number];
    readonly lower: [number, number, number];
    readonly upper: [number, number, number];
    /** What of the mesh is nearest each point. k: how many triangles, 1 to 256; default: 1. */
    nearest(points: Places, options?: { k?: number }): NearestTriangles;
    /** Distances of points to the mesh, negative inside by the rule (default: 'even-odd'). */
    signedDistance(points: Places, options?: { rule?: TreeRule }): Float32Array;
    /** 1 for each point inside, else 0: exactly, for every finite point. border: points on a triangle count; default:
     * true. rule as above. */
    inside(points: Places, options?: { rule?: TreeRule; border?: boolean }): Uint8Array;
    /** What rays hit, exactly: of triangles that share an edge or a corner one is hit, and none is missed. Rays go from
     * each origin along its direction, of any length but 0, up to t = tMax (1 makes segments of them; default: Infinity).
     * want: the nearest hit (the default); 'any': 1 for each ray that hits something, else 0; 'count': how many each
     * hits; 'all' of them. */
    cast(origins: Places, directions: Float32Array, options?: { want?: 'nearest'; tMax?: number }): NearestHits;
    cast(origins: Places, directions: Float32Array, options: { want: 'any'; tMax?: number }): Uint8Array;
    cast(origins: Places, directions: Float32Array, options: { want: 'count'; tMax?: number }): Uint32Array;
    cast(origins: Places, directions: Float32Array, options: { want: 'all'; tMax?: number }): AllHits;
    /** Gives the mesh new positions, as many as before: of a mesh that moves. In a fifth of a build's time; rebuild: sorts
     * the triangles anew, for a mesh whose shape has changed much. */
    update(positions: Float32Array | { positions: Float32Array; origin?: [number, number, number] },
        options?: { rebuild?: boolean }): void;
    /** The tree as bytes, without its origin, for loadTree here or the C library's tml_tree_load. */
    save(): Uint8Array;
    destroy(): void;
}
/** Two points nearest each other, on triangle a of the first mesh and b of the second, in the first's frame. */
export interface MeshDistance {
    distance: number; pointA: [number, number, number]; pointB: [number, number, number]; a: number; b: number;
}
export type CollideClass = 'crossing' | 'touching' | 'coplanar' | 'degenerate';
export interface CollideOptions {
    /** Matrices of 3 x 4, row by row, 12 numbers each, that take b into a's frame. Default: b as it is. */
    poses?: Float32Array | Float64Array;
    /** 'count': no list; 'first': one pair a pose, at most. Default: 'all'. */
    want?: 'all' | 'count' | 'first';
    /** Which pairs count. Default: all. */
    classes?: CollideClass[];
    /** Also where the pairs meet. */
    segments?: boolean;
    method?: 'auto' | 'depth-first' | 'breadth-first';
    memoryLimit?: number;
}
export interface Collision {
    count: number;
    /** Four a pair: a's triangle, b's, the pose, and the class (1 crossing, 2 touching, 3 coplanar, 4 degenerate). */
    pairs: Uint32Array;
    /** Two ends of x y z a pair, in a's frame; NaN for areas. */
    segments: Float32Array | Float64Array | null;
    /** Pairs before each pose, and all of them. */
    first: number[];
    classCounts: Record<CollideClass, number>;
    /** How much work it was: pairs of boxes, of triangles, and of those that were settled exactly. */
    nodePairs: number;
    /** Of the pairs of boxes, how many came to each step of the descent, from the roots to the leaves. */
    stepPairs: number[];
    /** Pairs of triangles that came to the float test; the same on every engine, but for `first`. */
    tested: number;
    unsure: number;
}
/** A mesh file's contents, as triangles. Positions are relative to origin. */
export interface LoadedMesh {
    positions: Float32Array;
    indices: Uint32Array;
    vertexCount: number;
    triangleCount: number;
    origin: [number, number, number];
    format: string;
    comment: string;
}

/* ---- subdivide ------------------------------------------------------------------------------- */

export interface SubdividedMesh {
    /** From origin, which is the mesh's. */
    positions: Float32Array;
    origin: [number, number, number];
    /** Of the limit surface, if asked for. */
    normals: Float32Array | null;
    indices: Uint32Array;
    vertexCount: number;
    triangleCount: number;
}
export interface AdaptiveMesh extends SubdividedMesh {
    /** If asked for, two a triangle: the one of the input from which it comes, and its level. */
    origins: Uint32Array | null;
    /** Levels of the finest triangle. */
    depth: number;
    /** What the criterion says of the worst edge that was left, as a multiple of the threshold. */
    error: number;
    isWithinBudget: boolean;
    /** False: some edges ask for more than maxDepth levels. */
    isWithinDepth: boolean;
}
/** The same, left on the device. Destroy it when done. */
export interface DeviceSubdividedMesh {
    /** f32x3, and of triangles u32x3. */
    vertices: TrommelBuffer;
    vertexNormals: TrommelBuffer | null;
    indices: TrommelBuffer;
    vertexCount: number;
    triangleCount: number;
    destroy(): void;
}
export interface DeviceAdaptiveMesh extends DeviceSubdividedMesh, Omit<AdaptiveMesh, keyof SubdividedMesh | 'origins'> {
    /** u32x2. */
    origins: TrommelBuffer | null;
}
export interface UniformOptions {
    levels: number;
    /** Move the vertices to where infinitely many levels would. */
    limit?: boolean;
    normals?: boolean;
}
export interface AdaptiveOptions {
    criterion?: 'length' | 'pixels' | 'angle' | 'distance';
    threshold: number;
    maxDepth?: number;
    /** Triangles at most. */
    budget?: number;
    /** Close T-junctions by thin triangles, which have an area: the vertex lies on the surface. Default: by green ones. */
    slivers?: boolean;
    normals?: boolean;
    origins?: boolean;
    /** Of 'pixels'. matrix: world to clip space, row by row (three.js and WebGL have columns). nearest: what is
     * closer (smaller w) counts as so far away. measureOutside: edges outside the picture are measured,
     * too. */
    camera?: { matrix: ArrayLike<number>; width: number; height: number; nearest?: number; measureOutside?: boolean };
}
export interface AdaptiveEnqueueOptions {
    criterion?: 'length' | 'pixels' | 'angle' | 'distance';
    threshold: number;
    /** Give it: each level takes its time, also where it is empty. */
    maxDepth?: number;
    slivers?: boolean;
    /** Of 'pixels': f32, 20: the matrix, row by row; width and height; nearest, positive; measureOutside, 0 or 1. */
    camera?: TrommelBuffer;
    /** Triangles that a level may have. Default: as many as indices has room for. */
    levelTriangles?: number;
    /** Outputs: their sizes are the capacities; what is past them is not written. f32x3 and, of triangles, u32x3. */
    vertices: TrommelBuffer;
    vertexNormals?: TrommelBuffer;
    indices: TrommelBuffer;
    /** u32x2, one a triangle: the one of the input from which it comes, and its level. */
    origins?: TrommelBuffer;
    /** u32, 3: vertices and triangles that the mesh has, which may be more than there is room for; what was too small, 0
     * where nothing was: 1 the vertices' buffers, 2 the triangles', 4 levelTriangles, whose mesh is whole, but coarser. */
    counts?: TrommelBuffer;
    /** u32, 5: of the triangles that are in indices, as an indirect draw takes it. */
    draw?: TrommelBuffer;
}
/** A mesh prepared for Loop subdivision: Trommel.subdivider(). Destroy it when done. Its calls wait, but for adaptiveEnqueue. */
export interface TrommelSubdivider {
    readonly vertexCount: number;
    readonly edgeCount: number;
    readonly triangleCount: number;
    readonly boundaryEdgeCount: number;
    /** Creases without the boundary. */
    readonly sharpEdgeCount: number;
    /** Each triangle in 4^levels. */
    uniform(options: UniformOptions): SubdividedMesh;
    uniformOnDevice(options: UniformOptions): DeviceSubdividedMesh;
    /** Splits edges that exceed the threshold: by length, by pixels on the camera's picture, by angle (radians) or
     * distance to the surface. Without cracks; on the limit surface. */
    adaptive(options: AdaptiveOptions): AdaptiveMesh;
    adaptiveOnDevice(options: AdaptiveOptions): DeviceAdaptiveMesh;
    /** The same for a frame, into buffers of yours: waits for nothing, and nothing comes back. Of an edge that is too
     * long at maxDepth nothing is told. */
    adaptiveEnqueue(options: AdaptiveEnqueueOptions): void;
    destroy(): void;
}

/* ---- the library ----------------------------------------------------------------------------- */

export class Trommel {
    /** Opens the library. target: a canvas (a context is made on it, or the one there is used), your own
     * WebGL context (lent: whatever state the library changes it restores; it is never lost or deleted
     * by it), or nothing (the CPU engine). Until close(), viewport, scissor, colorMask, pixelStorei and
     * begin-, pause-, resume- and endTransformFeedback of the context object are functions of the library's, which
     * note what is set (asking would wait): call them on the object, not through the prototype. All extensions are
     * enabled. */
    static create(
        target?: Canvas | GLContext | null,
        options?: CreateOptions
    ): Promise<Trommel>;
    /** Can this browser run the library at all (WebAssembly with SIMD)? */
    static readonly isSupported: boolean;
    /** Could the CPU engine have more than one thread here? */
    static readonly hasThreads: boolean;
    static readonly version: string;

    readonly device: DeviceInfo;
    readonly engine: 'cpu' | 'gl';
    /** The chosen path; null on the CPU engine. */
    readonly path: Path | null;
    /** The context drawn with; null on the CPU engine. */
    readonly gl: GLContext | null;
    /** The capability tree; empty on the CPU engine. */
    readonly tests: DeviceTest[];
    /** The OpenGL context was lost (the library listens for webglcontextlost itself): every call throws
     * DEVICE_LOST. After webglcontextrestored, create another Trommel on the same canvas. */
    readonly isLost: boolean;
    readonly isClosed: boolean;

    buffer<A extends TypedArray>(data: A): TrommelBuffer<TypeOf<A>>;
    buffer<T extends Type>(options: BufferOptions<T>): TrommelBuffer<T>;

    /** A kernel from its source in the common subset of C and GLSL ES 3.00 (trommel/kernel.h):
     * 'bool is_positive(float x) { return x > 0.0f; }'. On GL the source is compiled at first use, and a
     * mistake throws UNSUPPORTED with the compiler's words then. The CPU engine cannot compile it and
     * calls `js` for each element instead: it gets the parameters in order (a vector as an array, which
     * is reused; tml_index and tml_rank as numbers; tml_params as {f, u, m}) and returns the result (a
     * vector as an array); without it UNSUPPORTED, and always with more than one thread. tml_words is a
     * Uint32Array that begins with the buffer and does not end with it; its buffer and byteOffset serve a
     * Float32Array. Up to six parameters, four arrays among them. library: functions that the source calls,
     * one after another, in the subset too. */
    kernel(source: string, js?: (...args: any[]) => any, library?: string): Kernel;

    /** Makes one call of those that `calls` makes: the context's state is saved and given back once. Nothing
     * else may use the context meanwhile. For a frame's calls in a row. Returns what `calls` returns. */
    batch<T>(calls: () => T): T;

    // The calls of stream.h.

    /** Every zero resolved. Reads the points (waits, unless they lie on the host). */
    resolveField(options: FieldOptions): ResolvedField;
    /** Evaluates the field on its grid into out (f32, one a sample); without out into a new buffer. With
     * grid and radius (of radii the largest) given, GL waits for nothing, and bins points on the device there. */
    field(options: FieldOptions, out?: TrommelBuffer): TrommelBuffer;

    /** Extracts into ordinary arrays. Waits. */
    surface(volume: VolumeInput | LoadedVolume, options?: SurfaceOptions): Mesh;
    /** The same from points, through a field that is evaluated slab by slab. */
    surface(points: { field: FieldOptions }, options?: SurfaceOptions): Mesh;
    /** Extracts and leaves the mesh on the device. Waits for its size. */
    surfaceOnDevice(volume: VolumeInput | { field: FieldOptions }, options?: SurfaceOptions): DeviceMesh;
    /** Enqueues an extraction into buffers of yours. Waits for nothing. */
    surfaceEnqueue(options: SurfaceEnqueueOptions, out?: Partial<SurfaceEnqueueOptions>): void;
    /** Minimum and maximum of bricks, so that the next isovalue looks only into bricks that it crosses. */
    surfaceIndex(volume: Grid & { data: TrommelBuffer }): TrommelBuffer;
    /** Triangles of each cell, 0 to 5; dims - 1 a side, x fastest. On the host; waits. */
    cells(volume: VolumeInput, options?: Pick<SurfaceOptions, 'iso' | 'mask' | 'region'>): Uint8Array;
    /** Counts over a welded mesh. */
    examine(mesh: { positions: Float32Array; indices: Uint32Array; origin?: [number, number, number] }, componentsOnly?: boolean): MeshStats;

    /** Compiles ahead the shaders that calls() needs, without blocking: calls() is called again and again, and
     * does nothing but that. For calls that wait for nothing (field with radius and grid, surfaceEnqueue,
     * streams); what they write stays as it is. step() resolves when the next shader's turn has come; default:
     * soon. On the CPU engine, and where the path is not 'integer', nothing is to be done. */
    prepare(calls: () => void, step?: () => Promise<void>): Promise<void>;
    /** Runs enqueue() and tells the seconds of device time that its operations took: by
     * EXT_disjoint_timer_query_webgl2 where there is one, else by the host's clock: between two fences, which does not
     * block, on WebGL 2; between two waits for the device on WebGL 1, which has no fences ('clock'), as on the CPU
     * engine. One at a time. */
    time(enqueue: () => void): Promise<{ seconds: number; by: 'timer-query' | 'fence' | 'clock' }>;
    /** Resolves when the device has done everything enqueued so far. Does not block, except on WebGL 1, which
     * has no fences. */
    finished(): Promise<void>;

    /** GL: CreateOptions.exactCounts for the calls that follow, so that each call may choose. Default: true.
     * UNSUPPORTED on the CPU engine. */
    exactCounts(exact?: boolean): void;

    /** GL: a texture of the page's into a buffer, and back (the texture must be of a format that can be drawn to). */
    importTexture(options: TextureTransfer): void;
    exportTexture(options: TextureTransfer): void;
    /** GL: GLSL to look up buffers in shaders of yours, to put below their #version and precisions: tml_word(words, i),
     * tml_float, tml_vec2 to tml_vec4, tml_uvec2 to tml_uvec4, tml_count(words), with words a usampler2D of a buffer's
     * texture (trommel/gl.h has what the float tier's take). Null on the CPU engine. */
    readonly glsl: string | null;

    /** How many elements the buffers of the next calls have at least. */
    imageSizes(): { stats: number; state: number };
    /** Measures a picture's luminance into stats, a u32 buffer. Waits for nothing. */
    imageMeasure(options: {
        image: Picture | TexturePicture; luminance?: Luminance;
        /** Of 'custom': red's, green's and blue's share, scaled to a sum of 1. */
        weights?: [number, number, number];
        /** Default: the whole picture; without width or height: to its end. */
        region?: { x: number; y: number; width?: number; height?: number };
        /** Default: all. */
        what?: ('log' | 'mean' | 'histogram')[];
        floor?: number;
        /** Bins of 2^-binLog2 stops, the first at log2 luminance histogramLow. Default: 1/8 of a stop from -16 to 16. */
        histogramLow?: number; binLog2?: number;
        /** u8: maskWidth x maskHeight weights laid over the region, such as meterWeights gives. */
        mask?: TrommelBuffer; maskWidth?: number; maskHeight?: number;
        stats: TrommelBuffer;
    }): void;
    /** A metering pattern for pictures of width x height, as maskWidth x maskHeight weights: 5 x 5 for 'matrix', at most
     * 128 x 128 otherwise; neither side longer than the picture's. */
    meterWeights(
        meter: 'average' | 'centre' | 'spot' | 'matrix',
        sizes: { width: number; height: number; maskWidth: number; maskHeight: number }
    ): Uint8Array;
    /** Sizes of a picture's mip chain and each level's first pixel in a chain, which holds levels 1, 2, ... one after
     * the other; level 0, the picture, is not in it. */
    mipLevels(width: number, height: number): { width: number; height: number; first: number }[];
    /** The mip chain, or with output 'last' its last level alone, into out: u8, u16, f16 or f32 with the picture's
     * channels. Averages are of linear light. logLuminance: of log2 luminance, one channel of f16 or f32. Waits for
     * nothing. */
    imageMips(options: {
        in: Picture | TexturePicture; out: TrommelBuffer; filter?: 'area' | 'kaiser';
        /** How many, the picture counted. Default: all. */
        levels?: number; output?: 'chain' | 'last'; logLuminance?: boolean;
        luminance?: Luminance; weights?: [number, number, number]; floor?: number;
    }): void;
    /** Reads what was measured. Waits. */
    imageStats(stats: TrommelBuffer): PictureStats;
    /** log2 luminance below which that percentage of the weight lies, of the stats read last. */
    imagePercentile(percent: number): number;
    /** From measured to exposure, following it in time. state, an f32 buffer: what to multiply by; log2
     * average, adapted, and measured; EV100; log2 luminance of the clip's two ends; 1, or 0 if no pixel counted. Waits for
     * nothing. */
    imageExpose(options: {
        stats: TrommelBuffer; state: TrommelBuffer; by?: 'mean' | 'median' | 'percentile' | 'manual';
        /** Percentages of the weight. */
        clip?: [number, number];
        percentile?: number; ev100?: number; key?: number; bias?: number; evMin?: number; evMax?: number;
        speedUp?: number; speedDown?: number; seconds?: number; reset?: boolean;
    }): void;
    /** Exposes (by state, times scale) and tone-maps. out has in's size. Waits for nothing. */
    imageTonemap(options: {
        in: Picture; out: Picture; state?: TrommelBuffer; scale?: number; tone?: Tone; white?: number;
    }): void;
    /** A picture's pixels in RGBA for the screen, sRGB: measured, exposed and tone-mapped, as the calls above do it.
     * picture: of loadPicture, or {data, width, height, channels, values}. Warns on the console where no pixel is
     * positive, so that none counts. Waits. */
    expose(picture: Pick<LoadedPicture, 'data' | 'width' | 'height'> & Partial<LoadedPicture> & { values?: PictureValues }, options?: {
        tone?: Tone; white?: number; by?: 'mean' | 'median' | 'percentile' | 'manual'; clip?: [number, number];
        percentile?: number; ev100?: number; key?: number; bias?: number; evMin?: number; evMax?: number;
    }): Uint8ClampedArray;

    /** Picture files: Radiance .hdr and PFM. (What the browser decodes by itself, it decodes faster.) */
    loadPicture(file: ArrayBuffer | Uint8Array, name?: string, options?: { memoryLimit?: number }): LoadedPicture;
    /** Volume files: NRRD, NIfTI-1/2, MetaImage, MRC/CCP4, NPY, VTK (.vtk), raw; gzip anywhere but VTK. Found by content, then
     * by name. FILE_ACCESS for a header whose samples lie in another file, such as .mhd and .nhdr: give one that
     * has both. */
    loadVolume(file: ArrayBuffer | Uint8Array, name?: string, options?: VolumeFileOptions): LoadedVolume;

    /** An isovalue for samples of which nothing is known: that which best divides them into low and high ones
     * (Otsu: A Threshold Selection Method from Gray-Level Histograms. 1979), in physical values; lower
     * where all are alike. lower, upper: of the finite samples; lower > upper where there are none. Counts all
     * samples, on the CPU. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY. */
    suggestIso(volume: { data: TypedArray; type?: Scalar; slope?: number; intercept?: number }): { iso: number; lower: number; upper: number };
    /** Point files: PLY, XYZ/TXT/CSV, PCD, LAS, legacy VTK. */
    loadPoints(file: ArrayBuffer | Uint8Array, name?: string): LoadedPoints;
    /** A tree over a mesh's triangles, which is copied; without indices each three vertices are one. */
    tree(mesh: { positions: Float32Array; indices?: Uint32Array | null; origin?: [number, number, number] }, options?: { skipBroken?: boolean }): TrommelTree;
    /** The pairs of triangles that meet, exactly: of a and b, or without b those of a with itself, without
     * the neighbours that only share a corner. Waits. */
    collide(a: TrommelTree, b?: TrommelTree | null, options?: CollideOptions): Collision;
    /** A tree that save() made, here or by tml_tree_save. Damaged bytes are FILE_FORMAT. */
    loadTree(bytes: ArrayBuffer | Uint8Array, options?: { origin?: [number, number, number] }): TrommelTree;
    /** The smallest distance between two meshes, one a pose (one without poses); 0 where they meet. Computed on the
     * processor, whatever the engine. Waits. */
    distance(a: TrommelTree, b: TrommelTree, options?: { poses?: Float32Array | Float64Array }): MeshDistance[];

    /** Prepares a mesh to be subdivided; it is copied. fix: mend what is no manifold, instead of refusing it. */
    subdivider(mesh: { positions: Float32Array; indices: Uint32Array; origin?: [number, number, number] }, options?: {
        fix?: boolean;
        /** Pairs of vertices, each an edge; and how sharp each is (levels; from 10 on, and by default, for ever). */
        creases?: Uint32Array; creaseSharpness?: Float32Array;
        /** Vertices that stay sharp. */
        corners?: Uint32Array; cornerSharpness?: Float32Array;
        boundary?: 'edge-only' | 'edge-and-corner' | 'pinned'; weights?: 'loop' | 'warren';
    }): TrommelSubdivider;

    /** Mesh files to be read: OBJ, PLY, STL, OFF, glTF and GLB. */
    loadMesh(file: ArrayBuffer | Uint8Array, name?: string, options?: { memoryLimit?: number }): LoadedMesh;
    /** Mesh files: PLY, STL, GLB, OBJ, VTP. */
    saveMesh(
        mesh: Pick<Mesh, 'positions' | 'normals' | 'values' | 'indices'> & { origin?: [number, number, number] },
        format: 'ply' | 'stl' | 'glb' | 'obj' | 'vtp'
    ): Uint8Array;

    /** Tells the library that its context was lost, for contexts that send no events. */
    lost(): void;
    /** Destroys every buffer and program, and frees the memory. A lent context stays as it was. */
    close(): void;
}

export default Trommel;
