// A plot with logarithmic axes as SVG, and the same numbers as a table.
//
// drawPlot(svg, {series, x, y, label}): series [{name, className, points: [[x, y, title], ...]}]; x and y
// are {title, range: [low, high], ticks: [{at, text}]}. Values must be positive. As wide as the svg's
// parent. The look is the style sheet's: .plot-line, .plot-mark and .plot-name get the className.

const SVG = "http://www.w3.org/2000/svg";
const NARROW = 560; // pixels: below, names stand above the plot instead of beside it
const NAME_HEIGHT = 18;
const WIDEST = 960,
    HEIGHT = 420;

// Places in pixels, so that text has one size at every width.
function layOut(width, seriesCount) {
    const isNarrow = width < NARROW;
    const names = isNarrow ? NAME_HEIGHT * Math.ceil(seriesCount / 2) : 0;
    const height = isNarrow ? 320 + names : HEIGHT;
    return {
        width,
        height,
        isNarrow,
        left: 70,
        right: width - (isNarrow ? 14 : 190),
        top: 12 + names,
        bottom: height - 52,
    };
}

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

function drawAxes(svg, place, x, y, toX, toY) {
    const { left, right, top, bottom } = place;
    const axes = add(svg, "g", { class: "plot-axes" });
    for (const tick of y.ticks) {
        const at = toY(tick.at);
        add(axes, "path", { class: "plot-grid", d: `M${left} ${at}H${right}` });
        add(axes, "text", { x: left - 8, y: at + 4, "text-anchor": "end" }, tick.text);
    }
    for (const tick of x.ticks) {
        const at = toX(tick.at);
        add(axes, "path", { class: "plot-grid", d: `M${at} ${top}V${bottom}` });
        add(axes, "text", { x: at, y: bottom + 18, "text-anchor": "middle" }, tick.text);
    }
    const title = { class: "plot-title", "text-anchor": "middle" };
    add(axes, "text", { ...title, x: (left + right) / 2, y: place.height - 8 }, x.title);
    const turned = `translate(13 ${(top + bottom) / 2}) rotate(-90)`;
    add(axes, "text", { ...title, transform: turned }, y.title);
}

// Names to the right, as high as the last points, moved apart where they would overlap.
function drawNamesBeside(svg, place, named) {
    named.sort((a, b) => a.y - b.y);
    named.forEach((name, i) => (name.at = i ? Math.max(name.y, named[i - 1].at + NAME_HEIGHT) : name.y));
    let limit = place.bottom;
    for (const name of [...named].reverse()) {
        name.at = Math.min(name.at, limit);
        limit = name.at - NAME_HEIGHT;
    }
    for (const { text, className, mark, at } of named) {
        const transform = `translate(${place.right + 14} ${at})`;
        add(svg, "path", { class: `plot-mark ${className}`, d: mark, transform });
        add(svg, "text", { class: `plot-name ${className}`, x: place.right + 26, y: at + 4 }, text);
    }
}

// Names above the plot, two a row, each behind its mark.
function drawNamesAbove(svg, place, named) {
    named.forEach(({ text, className, mark }, i) => {
        const x = (i % 2) * (place.width / 2) + 8,
            y = Math.floor(i / 2) * NAME_HEIGHT + 10;
        add(svg, "path", { class: `plot-mark ${className}`, d: mark, transform: `translate(${x} ${y})` });
        add(svg, "text", { class: "plot-key", x: x + 10, y: y + 4 }, text);
    });
}

export function drawPlot(svg, { series, x, y, label }) {
    const place = layOut(Math.min(svg.parentNode.clientWidth || WIDEST, WIDEST), series.length);
    svg.replaceChildren();
    svg.setAttribute("width", place.width);
    svg.setAttribute("height", place.height);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
    const toX = logScale(x.range, place.left + 10, place.right - 6);
    const toY = logScale(y.range, place.bottom - 6, place.top + 6);
    drawAxes(svg, place, x, y, toX, toY);
    const named = [];
    series.forEach(({ name, className, points }, i) => {
        if (points.length === 0) return;
        const mark = MARKS[i % MARKS.length];
        const places = points.map(([a, b]) => [toX(a), toY(b)]);
        const line = `M${places.map((p) => p.join(" ")).join("L")}`;
        add(svg, "path", { class: `plot-line ${className}`, d: line });
        places.forEach(([px, py], j) => {
            const transform = `translate(${px} ${py})`;
            const point = add(svg, "path", { class: `plot-mark ${className}`, d: mark, transform });
            add(point, "title", {}, points[j][2]);
        });
        named.push({ text: name, className, mark, y: places[places.length - 1][1] });
    });
    (place.isNarrow ? drawNamesAbove : drawNamesBeside)(svg, place, named);
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
