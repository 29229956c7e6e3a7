// The methods of compaction that a page races, and the sizes at which it does.

export const SIZES = Array.from({ length: 9 }, (_, i) => 2 ** (12 + i));
export const SAMPLES = 5;

// run(data) enqueues or does one compaction of data (dataOn below); order: whether its outputs come in the
// order of their sources.
export const METHODS = [
    {
        name: "HistoPyramid",
        isOurs: true,
        className: "series-1",
        engine: "gl",
        order: true,
        run: (d) => d.trommel.compact({ ...d.compaction, method: "histopyramid" }),
    },
    {
        name: "HistoPyramid of 2006",
        className: "series-2",
        engine: "gl",
        order: false,
        run: (d) => d.filter(d.trommel, "three-fetches", d),
    },
    {
        name: "... one fetch a level",
        className: "series-7",
        engine: "gl",
        order: false,
        run: (d) => d.filter(d.trommel, "one-fetch", d),
    },
    {
        name: "Scan and search",
        className: "series-3",
        engine: "gl",
        order: true,
        run: (d) => d.filter(d.trommel, "scan-search", d),
    },
    {
        name: "Bitonic sort",
        className: "series-4",
        engine: "gl",
        order: true,
        run: (d) => d.filter(d.trommel, "bitonic", d),
    },
    {
        name: "WebAssembly, 1 core",
        isOurs: true,
        className: "series-5",
        engine: "cpu",
        order: true,
        run: (d) =>
            d.trommel.compact({ keep: { flags: d.flags }, payloads: [{ in: d.in, out: d.out }], count: d.count }),
    },
    { name: "JavaScript loop", className: "series-6", engine: "js", order: true, run: (d) => loop(d) },
];

export function loop(data) {
    const { values, kept, limit } = data;
    let count = 0;
    for (let i = 0; i < values.length; i++) if (values[i] < limit) kept[count++] = values[i];
    return count;
}
