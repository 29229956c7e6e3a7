// A plot with logarithmic axes as SVG, and the same numbers as a table.
//
// drawPlot(svg, {series, x, y, label}): series [{name, className, points: [[x, y], ...]}]; x and y are
// {title, range: [low, high], ticks: [{at, text}]}. Values must be positive. The look is the style
// sheet's: .plot-line, .plot-mark and .plot-name get the series' className.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 720,
    HEIGHT = 400;
const MARGIN = { left: 66, right: 150, top: 14, bottom: 52 };
const NAME_HEIGHT = 17;

function add(parent, tag, attributes, text) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
}

function logScale([low, high], from, to) {
    const a = Math.log(low),
        b = Math.log(high);
    return (value) => from + ((to - from) * (Math.log(value) - a)) / (b - a);
}

// One, two and five times powers of ten within a range; only the powers where that is many.
export function decadeTicks([low, high], textOf) {
    const ticks = [];
    const isWide = Math.log10(high / low) > 3;
    for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade++)
        for (const step of isWide ? [1] : [1, 2, 5]) {
            const at = step * 10 ** decade;
            if (at >= low * 0.999 && at <= high * 1.001) ticks.push({ at, text: textOf(at) });
        }
    return ticks;
}

// A mark of its own for each series, so that colour is not all that tells them apart.
const MARKS = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
    "M-4-4H4V4H-4Z",
    "M0-5L5 4H-5Z",
    "M0-5.5L5.5 0L0 5.5L-5.5 0Z",
    "M0 5L5-4H-5Z",
    "M-5-1.5H-1.5V-5H1.5V-1.5H5V1.5H1.5V5H-1.5V1.5H-5Z",
];

function drawAxes(svg, x, y, toX, toY) {
    const axes = add(svg, "g", { class: "plot-axes" });
    for (const tick of y.ticks) {
        const at = toY(tick.at);
        add(axes, "path", { class: "plot-grid", d: `M${MARGIN.left} ${at}H${WIDTH - MARGIN.right}` });
        add(axes, "text", { x: MARGIN.left - 8, y: at + 4, "text-anchor": "end" }, tick.text);
    }
    for (const tick of x.ticks) {
        const at = toX(tick.at);
        add(axes, "path", { class: "plot-grid", d: `M${at} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}` });
        add(axes, "text", { x: at, y: HEIGHT - MARGIN.bottom + 18, "text-anchor": "middle" }, tick.text);
    }
    add(
        axes,
        "text",
        {
            class: "plot-title",
            x: (MARGIN.left + WIDTH - MARGIN.right) / 2,
            y: HEIGHT - 8,
            "text-anchor": "middle",
        },
        x.title,
    );
    const middle = (MARGIN.top + HEIGHT - MARGIN.bottom) / 2;
    add(
        axes,
        "text",
        {
            class: "plot-title",
            x: 0,
            y: 0,
            "text-anchor": "middle",
            transform: `translate(15 ${middle}) rotate(-90)`,
        },
        y.title,
    );
}

// Names beside the last points, moved apart where they would overlap.
function drawNames(svg, named) {
    named.sort((a, b) => a.y - b.y);
    for (let i = 1; i < named.length; i++) named[i].at = Math.max(named[i].at, named[i - 1].at + NAME_HEIGHT);
    const over = named.length ? named[named.length - 1].at - (HEIGHT - MARGIN.bottom) : 0;
    for (let i = named.length - 1, limit = HEIGHT - MARGIN.bottom; over > 0 && i >= 0; i--) {
        named[i].at = Math.min(named[i].at, limit);
        limit = named[i].at - NAME_HEIGHT;
    }
    for (const name of named)
        add(svg, "text", { class: `plot-name ${name.className}`, x: name.x + 10, y: name.at + 4 }, name.text);
}

export function drawPlot(svg, { series, x, y, label }) {
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
    const toX = logScale(x.range, MARGIN.left + 12, WIDTH - MARGIN.right - 6);
    const toY = logScale(y.range, HEIGHT - MARGIN.bottom - 6, MARGIN.top + 6);
    drawAxes(svg, x, y, toX, toY);
    const named = [];
    series.forEach((one, i) => {
        if (one.points.length === 0) return;
        const places = one.points.map(([a, b]) => [toX(a), toY(b)]);
        add(svg, "path", {
            class: `plot-line ${one.className}`,
            d: `M${places.map((p) => p.join(" ")).join("L")}`,
        });
        places.forEach(([px, py], j) => {
            const mark = add(svg, "path", {
                class: `plot-mark ${one.className}`,
                d: MARKS[i % MARKS.length],
                transform: `translate(${px} ${py})`,
            });
            add(mark, "title", {}, one.points[j][2] ?? `${one.name}: ${one.points[j].join(", ")}`);
        });
        const [px, py] = places[places.length - 1];
        named.push({ text: one.name, className: one.className, x: px, y: py, at: py });
    });
    drawNames(svg, named);
}

// rows: [[heading, cell, ...], ...]; a cell is a text or {text, title}.
export function fillTable(table, caption, columns, rows) {
    table.replaceChildren();
    table.createCaption().textContent = caption;
    const head = table.createTHead().insertRow();
    for (const name of columns) {
        const cell = document.createElement("th");
        cell.scope = "col";
        cell.className = "figure";
        cell.textContent = name;
        head.append(cell);
    }
    const body = table.createTBody();
    for (const [name, ...cells] of rows) {
        const row = body.insertRow();
        const heading = document.createElement("th");
        heading.scope = "row";
        heading.textContent = name;
        row.append(heading);
        for (const text of cells) {
            const cell = row.insertCell();
            cell.className = "figure";
            cell.textContent = text;
        }
    }
}
