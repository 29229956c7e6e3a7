// The HistoPyramid of a painted grid, as the library builds it (src/gl/gl_pyramid.h), small enough to be
// shown whole, and two that came before it (bench/papers). Numbers only: pyramid_view.js draws them.
//
// Cells are a stream, row after row. Two kinds of base, both the library's own:
//   "counts"  four counts a texel: what expansion builds, and the pyramid of the textbook
//   "bits"    128 keep bits a texel, in four words: what compaction builds
// Above the base every node stands for four of the level below and holds their sums, running.
//   "squares" the pyramid of 2006: a node stands for a square of 2 x 2, so the stream is in Z order
//   "running" no pyramid: running counts in log n passes (Hillis, Steele), and a search for each output
//
// A tier is what a descent compares a key with: the four running sums of each of its nodes. Tiers are
// numbered from the lowest, and the children of node n are nodes 4 n to 4 n + 3 of the tier below.

export const COLUMNS = 16;
export const ROWS = 16;
export const CELLS = COLUMNS * ROWS;
export const COUNT_MAX = 3;

const FAN = 4;
const WORD_BITS = 32;

// Running sums of values by fours.
function runningSums(values) {
    const nodes = Math.ceil(values.length / FAN);
    const sums = new Uint32Array(FAN * nodes);
    for (let i = 0; i < sums.length; i++)
        sums[i] = (i % FAN === 0 ? 0 : sums[i - 1]) + (i < values.length ? values[i] : 0);
    return sums;
}

// The cell at a place of the Z order.
export const squareCell = (place) => {
    let x = 0,
        y = 0;
    for (let bit = 0; bit < 4; bit++) {
        x |= ((place >> (2 * bit)) & 1) << bit;
        y |= ((place >> (2 * bit + 1)) & 1) << bit;
    }
    return COLUMNS * y + x;
};

// {kind, counts, tiers: none, passes: the counts, then each pass's result, total}.
function buildRunning(counts) {
    const passes = [Uint32Array.from(counts)];
    for (let stride = 1; stride < CELLS; stride *= 2)
        passes.push(passes.at(-1).map((sum, i, all) => sum + (i < stride ? 0 : all[i - stride])));
    return { kind: "running", counts, tiers: [], passes, total: passes.at(-1)[CELLS - 1] };
}

// The first cell whose running count is above the key, by halves: {steps: [{middle, first, size, sum, key,
// isAfter}], cell, rank}. A step looks at the last cell of the first half of what is left.
function search({ passes }, key) {
    const sums = passes.at(-1),
        steps = [];
    let first = 0;
    for (let size = CELLS; size > 1; size /= 2) {
        const middle = first + size / 2 - 1,
            isAfter = sums[middle] <= key;
        steps.push({ middle, first: isAfter ? middle + 1 : first, size: size / 2, sum: sums[middle], key, isAfter });
        first = steps.at(-1).first;
    }
    return { steps, cell: first, rank: key - (first ? sums[first - 1] : 0) };
}

// What each node holds in all: its last sum.
function totals(sums) {
    return sums.filter((_, i) => i % FAN === FAN - 1);
}

function onesOfWords(counts) {
    const ones = new Uint32Array(Math.ceil(counts.length / WORD_BITS));
    counts.forEach((count, i) => (ones[Math.floor(i / WORD_BITS)] += count ? 1 : 0));
    return ones;
}

// counts: how many outputs each cell makes; with "bits" 0 or 1.
// Returns {kind, counts, leafCells, tiers: [{sums, nodes, nodeCells, isStored}], total}. leafCells: cells
// that a part of a node of the lowest tier stands for. isStored: the tier is a level of the pyramid;
// otherwise it lies in the base and is summed when a descent comes by.
export function buildPyramid(counts, kind) {
    if (kind === "running") return buildRunning(counts);
    const leafCells = kind === "bits" ? WORD_BITS : 1;
    let values = kind === "bits" ? onesOfWords(counts) : counts;
    if (kind === "squares") values = counts.map((_, place) => counts[squareCell(place)]);
    const tiers = [];
    let nodeCells = leafCells;
    do {
        const sums = runningSums(values);
        nodeCells *= FAN;
        tiers.push({ sums, nodes: sums.length / FAN, nodeCells, isStored: tiers.length > 0 });
        values = totals(sums);
    } while (values.length > 1 || tiers.length === 1);
    return { kind, counts, leafCells, tiers, total: values[0] };
}

// Levels above the base for so many cells.
export function levelsFor(cells, kind) {
    let nodes = Math.ceil(cells / (kind === "bits" ? FAN * WORD_BITS : FAN)),
        levels = 0;
    do {
        nodes = Math.ceil(nodes / FAN);
        levels++;
    } while (nodes > 1);
    return levels;
}

// Which of the four parts a key belongs to: how many of the first three sums it reaches.
export function partOf(sums, key) {
    return (key >= sums[0]) + (key >= sums[1]) + (key >= sums[2]);
}

// The cell of a word that holds its rank-th one.
function selectBit(counts, first, rank) {
    for (let cell = first; cell < first + WORD_BITS; cell++) if (counts[cell] && rank-- === 0) return cell;
    throw new RangeError(`the word at cell ${first} has too few ones`);
}

// The way of an output from the apex down: {steps, cell, rank}. A step is
// {tier, node, sums, key, part, before, rest}: the key among the node's outputs, the part that it falls
// in, the outputs before that part, and the key among the part's outputs. rank is the output's number
// among those of its cell.
export function descend(pyramid, key) {
    if (!(key >= 0 && key < pyramid.total)) throw new RangeError(`output ${key}: there are ${pyramid.total}`);
    if (pyramid.kind === "running") return search(pyramid, key);
    const steps = [];
    let node = 0;
    for (let tier = pyramid.tiers.length - 1; tier >= 0; tier--) {
        const sums = pyramid.tiers[tier].sums.subarray(FAN * node, FAN * node + FAN);
        const part = partOf(sums, key);
        const before = part ? sums[part - 1] : 0;
        steps.push({ tier, node, sums, key, part, before, rest: key - before });
        node = FAN * node + part;
        key -= before;
    }
    if (pyramid.kind === "squares") return { steps, cell: squareCell(node), rank: key };
    if (pyramid.kind !== "bits") return { steps, cell: node, rank: key };
    return { steps, cell: selectBit(pyramid.counts, WORD_BITS * node, key), rank: 0 };
}

// The source cell of every output, by descents alone.
export function sources(pyramid) {
    return Uint32Array.from({ length: pyramid.total }, (_, key) => descend(pyramid, key).cell);
}

// ---- the story ----------------------------------------------------------------------------------

// What there is to see, in order: {phase: "paint"}, {phase: "build", tier} for every level of the
// pyramid or pass of the running counts, then for the chosen output {phase: "descend", step} for every step and {phase: "arrive"},
// and {phase: "all"}. Nothing is built or descended where nothing is kept.
export function storyOf(pyramid, key) {
    const story = [{ phase: "paint" }];
    pyramid.passes?.forEach((_, i) => i > 0 && story.push({ phase: "build", tier: i }));
    pyramid.tiers.forEach((tier, i) => tier.isStored && story.push({ phase: "build", tier: i }));
    if (key < pyramid.total) {
        const path = descend(pyramid, key);
        path.steps.forEach((step) => story.push({ phase: "descend", step, path }));
        story.push({ phase: "arrive", path });
    }
    story.push({ phase: "all" });
    return story;
}

// ---- pictures -----------------------------------------------------------------------------------

const HEART = [
    "................",
    "...###....###...",
    "..#####..#####..",
    ".##############.",
    ".##############.",
    ".##############.",
    ".##############.",
    ".##############.",
    "..############..",
    "...##########...",
    "....########....",
    ".....######.....",
    "......####......",
    ".......##.......",
    "................",
    "................",
];

function fromRows(rows) {
    return Uint8Array.from(rows.join(""), (mark) => (mark === "#" ? 1 : 0));
}

// A small generator with a seed, so that a picture can be made again. (mulberry32)
function randomOf(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let x = Math.imul(state ^ (state >>> 15), 1 | state);
        x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
        return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
    };
}

function byPlace(isKept) {
    return Uint8Array.from({ length: CELLS }, (_, i) => {
        const x = (i % COLUMNS) - (COLUMNS - 1) / 2,
            y = Math.floor(i / COLUMNS) - (ROWS - 1) / 2;
        return isKept(x, y) ? 1 : 0;
    });
}

// {name, make(seed)}: 0 or 1 for every cell.
export const PICTURES = [
    { name: "Heart", make: () => fromRows(HEART) },
    {
        name: "Drum",
        make: () =>
            byPlace((x, y) => {
                const r = Math.hypot(x, y);
                return (
                    (r > 6 && r < 7.8) || (r < 5.2 && (Math.round(x + 7.5) + Math.round(y + 7.5)) % 3 === 0)
                );
            }),
    },
    {
        name: "Spiral",
        make: () =>
            byPlace((x, y) => {
                const turns = Math.hypot(x, y) / 3.4 - Math.atan2(y, x) / (2 * Math.PI);
                return Math.hypot(x, y) < 8 && turns - Math.floor(turns) < 0.5;
            }),
    },
    {
        name: "Noise",
        make: (seed) => {
            const random = randomOf(seed);
            return Uint8Array.from({ length: CELLS }, () => (random() < 0.3 ? 1 : 0));
        },
    },
];

// ---- links --------------------------------------------------------------------------------------

// A painted grid as text for a link, two cells a hexadecimal digit, and back; null: no grid.
export function gridToText(counts) {
    let text = "";
    for (let i = 0; i < CELLS; i += 2) text += (counts[i] * 4 + counts[i + 1]).toString(16);
    return text;
}

export function gridFromText(text) {
    if (!new RegExp(`^[0-9a-f]{${CELLS / 2}}$`).test(text)) return null;
    return Uint8Array.from({ length: CELLS }, (_, i) => {
        const pair = parseInt(text[i >> 1], 16);
        return i % 2 ? pair & 3 : pair >> 2;
    });
}
