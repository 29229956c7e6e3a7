// Draws a painted grid and its HistoPyramid (pyramid_model.js): cells to the left, level after level to
// the right, every sum beside the rows that it counts. The cells can be painted with mouse, touch and
// keyboard.
//
// createPyramidView(host, events) -> {element, show(pyramid, scene), cellAt(cell), focusCell(cell)}
//   events.paint(cells: number[], value)   asks for these cells to hold value
//   events.brush(value)                    the value that painting begins with on a cell of that value
//   events.strokeEnd()
// A scene is {built: tiers that are complete, building: the tier that is drawn just now or -1, path: what
// descend() gave or null, step: how many of its steps are shown, arrived: bool}.
import { setText } from "../lib/controls.js";
import { CELLS, COLUMNS, ROWS, squareCell } from "./pyramid_model.js";

const SVG = "http://www.w3.org/2000/svg";
const HUE_FIRST = 25,
    HUE_LAST = 335;

// ---- places -------------------------------------------------------------------------------------

// Tracks of the CSS grid: a header row, then rows and columns of cells with a narrow gap after every
// four; a gap; four columns for what counts a row or a word; a gap, a column; a gap, a column.
const trackOfRow = (row) => 2 + row + (row >> 2);
const trackOfColumn = (column) => 1 + column + (column >> 2);
const FINE = 21,
    MIDDLE = 26,
    COARSE = 28;

// Where a sum stands: [column, end column, first row, rows]. The last two sums of an apex of bits have
// no texels below, so they have no place. Squares lie on the cells that they count.
function placeOfSum(kind, tier, node, part) {
    if (kind === "squares") {
        const side = 2 ** tier,
            first = squareCell((4 * node + part) * side * side),
            column = first % COLUMNS;
        return tier === 0
            ? null
            : [trackOfColumn(column), trackOfColumn(column + side - 1) + 1, Math.floor(first / COLUMNS), side];
    }
    if (kind === "bits") {
        const rows = tier === 0 ? 2 : 8;
        const row = (4 * node + part) * rows;
        return row >= ROWS
            ? null
            : tier === 0
              ? [FINE, FINE + 4, row, rows]
              : [MIDDLE, COARSE + 1, row, rows];
    }
    switch (tier) {
        case 1:
            return [FINE + part, FINE + part + 1, node, 1];
        case 2:
            return [MIDDLE, MIDDLE + 1, 4 * node + part, 1];
        case 3:
            return [COARSE, COARSE + 1, 4 * part, 4];
        default:
            return null;
    }
}

function setPlace(element, [column, end, row, rows]) {
    element.style.gridColumn = `${column} / ${end}`;
    element.style.gridRow = `${trackOfRow(row)} / ${trackOfRow(row + rows - 1) + 1}`;
}

const HEADINGS = {
    counts: [
        ["Cells", 1, 20],
        ["Row", FINE, FINE + 4],
        ["Four", MIDDLE, MIDDLE + 1],
        ["Apex", COARSE, COARSE + 1],
    ],
    bits: [
        ["Cells", 1, 20],
        ["Words", FINE, FINE + 4],
        ["Apex", MIDDLE, COARSE + 1],
    ],
    squares: [["Cells", 1, 20]],
    running: [["Cells", 1, 20]],
};

export function nameOfTier(pyramid, tier) {
    if (tier === pyramid.tiers.length - 1) return "the apex";
    if (pyramid.kind === "squares") return `a square of ${2 ** (tier + 1)} × ${2 ** (tier + 1)} cells`;
    if (pyramid.kind === "bits") return "a texel of four words";
    return ["a texel of four cells", "the sums of a row", "the sums of four rows"][tier];
}

// ---- elements -----------------------------------------------------------------------------------

function make(tag, className, parent, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    parent?.append(element);
    return element;
}

export function hueOf(cell) {
    return HUE_FIRST + ((HUE_LAST - HUE_FIRST) * cell) / (CELLS - 1);
}

function makeCells(board) {
    const grid = make("div", "pyramid-cells", board);
    grid.setAttribute("role", "grid");
    grid.setAttribute("aria-label", "Cells to paint: arrow keys move, space paints");
    const cells = [];
    for (let row = 0; row < ROWS; row++) {
        const line = make("div", "pyramid-row", grid);
        line.setAttribute("role", "row");
        for (let column = 0; column < COLUMNS; column++) {
            const cell = make("div", "cell", line);
            cell.setAttribute("role", "gridcell");
            cell.style.gridColumn = trackOfColumn(column);
            cell.style.gridRow = trackOfRow(row);
            cell.style.setProperty("--hue", hueOf(cells.length).toFixed(1));
            cell.tabIndex = cells.length ? -1 : 0;
            cell.dataset.cell = cells.length;
            cells.push(cell);
        }
    }
    return { grid, cells };
}

// ---- painting -----------------------------------------------------------------------------------

// Cells on the line between two, so that a fast stroke has no holes.
function cellsBetween(from, to) {
    const x0 = from % COLUMNS,
        y0 = Math.floor(from / COLUMNS);
    const dx = (to % COLUMNS) - x0,
        dy = Math.floor(to / COLUMNS) - y0;
    const steps = Math.max(Math.abs(dx), Math.abs(dy), 1);
    return Array.from(
        { length: steps + 1 },
        (_, i) => Math.round(y0 + (dy * i) / steps) * COLUMNS + Math.round(x0 + (dx * i) / steps),
    );
}

function enablePainting(view, events) {
    const { board, grid, cells } = view;
    let stroke = null;
    const cellUnder = (event) => {
        const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".cell");
        return cell && grid.contains(cell) ? Number(cell.dataset.cell) : -1;
    };
    board.addEventListener("pointerdown", (event) => {
        const cell = cellUnder(event);
        if (cell < 0 || event.button !== 0) return;
        event.preventDefault();
        board.setPointerCapture(event.pointerId);
        stroke = { value: events.brush(view.counts[cell]), last: cell };
        view.focusCell(cell);
        events.paint([cell], stroke.value);
    });
    board.addEventListener("pointermove", (event) => {
        const cell = stroke ? cellUnder(event) : -1;
        if (cell < 0 || cell === stroke.last) return;
        events.paint(cellsBetween(stroke.last, cell), stroke.value);
        stroke.last = cell;
    });
    const end = () => {
        if (stroke) events.strokeEnd();
        stroke = null;
    };
    board.addEventListener("pointerup", end);
    board.addEventListener("pointercancel", end);

    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -COLUMNS, ArrowDown: COLUMNS };
    grid.addEventListener("keydown", (event) => {
        const at = cells.indexOf(document.activeElement);
        if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
        let to = at;
        if (event.key in moves) to = at + moves[event.key];
        else if (event.key === "Home") to = at - (at % COLUMNS);
        else if (event.key === "End") to = at - (at % COLUMNS) + COLUMNS - 1;
        else if (event.key === " " || event.key === "Enter")
            events.paint([at], events.brush(view.counts[at]));
        else if (/^[0-9]$/.test(event.key)) events.paint([at], Number(event.key));
        else return;
        event.preventDefault();
        if (event.key.startsWith("Arrow"))
            // no stepping over the ends of rows
            to =
                to < 0 ||
                to >= CELLS ||
                (Math.abs(moves[event.key]) === 1 && Math.floor(to / COLUMNS) !== Math.floor(at / COLUMNS))
                    ? at
                    : to;
        if (to !== at) view.focusCell(to);
        else if (!event.key.startsWith("Arrow")) events.strokeEnd();
    });
}

// ---- tiers --------------------------------------------------------------------------------------

// Makes the elements of all tiers that have a place. sums[tier][4 node + part], nodes[tier][node].
function makeTiers(view, pyramid) {
    view.levels.replaceChildren();
    view.sums = [];
    view.nodes = [];
    for (const [text, column, end] of HEADINGS[pyramid.kind]) {
        const heading = make("div", "pyramid-heading", view.levels, text);
        heading.style.gridColumn = `${column} / ${end}`;
        heading.setAttribute("aria-hidden", "true");
    }
    pyramid.tiers.forEach((tier, t) => {
        view.sums.push([]);
        view.nodes.push([]);
        for (let node = 0; node < tier.nodes && placeOfSum(pyramid.kind, t, node, 0); node++) {
            const places = [0, 1, 2, 3].map((part) => placeOfSum(pyramid.kind, t, node, part));
            const shown = places.filter((place) => place);
            const last = shown[shown.length - 1];
            const isSquare = pyramid.kind === "squares";
            const outline = make("div", `node${tier.isStored ? "" : " is-unstored"}${isSquare ? " is-square" : ""}`, view.levels);
            setPlace(outline, [shown[0][0], last[1], shown[0][2], last[2] + last[3] - shown[0][2]]);
            outline.setAttribute("role", "img");
            view.nodes[t].push(outline);
            places.forEach((place, part) => {
                if (!place) return;
                const sum = make("div", isSquare ? "sum is-square" : "sum", view.levels);
                sum.setAttribute("aria-hidden", "true");
                sum.style.setProperty("--order", place[2]);
                setPlace(sum, place);
                view.sums[t][4 * node + part] = sum;
            });
        }
    });
    view.kind = pyramid.kind;
}

function showCells(view, pyramid) {
    view.counts = pyramid.counts;
    const isCompaction = pyramid.kind === "bits" || view.limit === 1;
    view.cells.forEach((cell, i) => {
        const count = pyramid.counts[i];
        cell.classList.toggle("is-kept", count > 0);
        setText(cell, count > 0 && !isCompaction ? count : "");
        cell.setAttribute("aria-selected", count > 0);
        const what = isCompaction ? (count ? "kept" : "dropped") : `${count} output${count === 1 ? "" : "s"}`;
        cell.setAttribute(
            "aria-label",
            `row ${Math.floor(i / COLUMNS) + 1}, column ${(i % COLUMNS) + 1}: ${what}`,
        );
    });
}

// A texel of squares holds the sum of its own alone.
function sumText(pyramid, tier, i) {
    const { sums } = pyramid.tiers[tier];
    return pyramid.kind === "squares" && i % 4 ? sums[i] - sums[i - 1] : sums[i];
}

function showTiers(view, pyramid, scene) {
    const now = scene.path ? scene.path.steps[scene.step - 1]?.tier : scene.building;
    pyramid.tiers.forEach((tier, t) => {
        const isBuilt = !tier.isStored || t < scene.built || t === scene.building;
        const isFeeding = t === scene.building - 1;
        view.nodes[t].forEach((outline, node) => {
            outline.classList.toggle("is-built", isBuilt);
            outline.hidden = pyramid.kind === "squares" && (t !== now || scene.arrived);
            outline.classList.toggle("is-building", t === scene.building);
            const sums = [...tier.sums.subarray(4 * node, 4 * node + 4)].join(", ");
            outline.setAttribute(
                "aria-label",
                isBuilt
                    ? `${nameOfTier(pyramid, t)} ${node + 1}, running sums ${sums}`
                    : `${nameOfTier(pyramid, t)} ${node + 1}, not built yet`,
            );
        });
        view.sums[t].forEach((element, i) => {
            setText(element, isBuilt ? sumText(pyramid, t, i) : "");
            element.hidden = view.nodes[t][i >> 2].hidden;
            element.classList.toggle("is-built", isBuilt);
            element.classList.toggle("is-building", t === scene.building);
            element.classList.toggle("is-feeding", isFeeding && i % 4 === 3);
            element.classList.remove("is-compared", "is-part");
        });
    });
    view.element.classList.toggle("is-feeding", scene.building === 1);
}

// ---- the descent --------------------------------------------------------------------------------

function middleOf(view, element, side) {
    const box = element.getBoundingClientRect(),
        origin = view.element.getBoundingClientRect();
    const x = side === "left" ? box.left : side === "right" ? box.right : (box.left + box.right) / 2;
    return [x - origin.left, (box.top + box.bottom) / 2 - origin.top];
}

// The elements that a descent passes, from the apex to the cell.
function stationsOf(view, scene) {
    if (view.kind === "running") {
        const cells = scene.path.steps.slice(0, scene.step).map(({ middle }) => view.cells[middle]);
        return scene.arrived ? [...cells, view.cells[scene.path.cell]] : cells;
    }
    const isCounts = view.kind === "counts";
    const stations = scene.path.steps.slice(0, scene.step).map(({ tier, node, part }) => {
        const i = 4 * node + part;
        return isCounts && tier === 0 ? view.cells[i] : view.sums[tier][i];
    });
    if (scene.arrived && !isCounts) stations.push(view.cells[scene.path.cell]);
    return stations;
}

function drawPath(view) {
    view.overlay.replaceChildren();
    if (!view.scene?.path || view.kind === "squares") return;
    const stations = stationsOf(view, view.scene);
    for (let i = 1; i < stations.length; i++) {
        const isCell = stations[i].classList.contains("cell");
        const isFromCell = stations[i - 1].classList.contains("cell");
        const [x0, y0] = middleOf(view, stations[i - 1], isFromCell ? "middle" : "left");
        const [x1, y1] = middleOf(view, stations[i], isCell ? "middle" : "right");
        const bend = (x0 - x1) * 0.5;
        const line = document.createElementNS(SVG, "path");
        line.setAttribute("d", `M${x0} ${y0} C${x0 - bend} ${y0} ${x1 + bend} ${y1} ${x1} ${y1}`);
        line.setAttribute("class", i === stations.length - 1 ? "is-newest" : "");
        line.setAttribute("pathLength", "1");
        view.overlay.append(line);
    }
}

// Running counts stand in their cells; a search halves the range in which the output's cell lies.
function showRunning(view, pyramid, scene) {
    const pass = scene.building > 0 ? scene.building : scene.built > 0 ? pyramid.passes.length - 1 : 0;
    const step = scene.path?.steps[scene.step - 1];
    view.element.classList.toggle("is-searched", Boolean(step));
    view.cells.forEach((cell, i) => {
        if (pass > 0 && !scene.arrived) cell.dataset.sum = pyramid.passes[pass][i];
        if (!step || scene.arrived) return;
        cell.classList.toggle("is-in-range", i >= step.first && i < step.first + step.size);
        cell.classList.toggle("is-part", i === step.middle);
    });
    if (scene.arrived) view.cells[scene.path.cell].classList.add("is-source");
}

function showPath(view, pyramid, scene) {
    for (const cell of view.cells) {
        cell.classList.remove("is-in-range", "is-compared", "is-part", "is-source");
        delete cell.dataset.sum;
    }
    view.element.classList.remove("is-searched");
    if (pyramid.kind === "running") showRunning(view, pyramid, scene);
    if (pyramid.kind === "running" || !scene.path || scene.step === 0) return;
    const step = scene.path.steps[scene.step - 1];
    for (let part = 0; part < 4; part++) {
        const sum = view.sums[step.tier][4 * step.node + part];
        sum?.classList.add(part === step.part ? "is-part" : "is-compared");
    }
    const cellOf = pyramid.kind === "squares" ? squareCell : (place) => place;
    scene.path.steps
        .slice(0, scene.step - 1)
        .forEach((past) => view.sums[past.tier][4 * past.node + past.part]?.classList.add("is-part"));
    if (scene.arrived) {
        view.cells[scene.path.cell].classList.add("is-source");
        return;
    }
    // The cells that the output may still come from; of a texel of four counts the sums are seen.
    const size = pyramid.tiers[step.tier].nodeCells / 4;
    const first = (4 * step.node + step.part) * size;
    for (let place = first; place < Math.min(first + size, CELLS); place++)
        view.cells[cellOf(place)].classList.add("is-in-range");
    if (step.tier === 0 && pyramid.kind !== "bits")
        for (let part = 0; part < 4; part++) {
            const cell = view.cells[cellOf(4 * step.node + part)];
            cell.dataset.sum = step.sums[part];
            cell.classList.add(part === step.part ? "is-part" : "is-compared");
        }
}

// ---- the view -----------------------------------------------------------------------------------

export function createPyramidView(host, events) {
    const element = make("div", "pyramid", host);
    const board = make("div", "pyramid-board", element);
    const view = { element, board, kind: null, limit: 1, counts: new Uint8Array(CELLS), scene: null };
    Object.assign(view, makeCells(board));
    view.levels = make("div", "pyramid-levels", board);
    view.levels.setAttribute("role", "group");
    view.levels.setAttribute("aria-label", "Levels of the pyramid");
    view.overlay = document.createElementNS(SVG, "svg");
    view.overlay.setAttribute("class", "pyramid-overlay");
    view.overlay.setAttribute("aria-hidden", "true");
    element.append(view.overlay);

    view.focusCell = (cell) => {
        view.cells.forEach((other, i) => (other.tabIndex = i === cell ? 0 : -1));
        view.cells[cell].focus({ preventScroll: true });
    };
    view.cellAt = (cell) => view.cells[cell];
    // limit: outputs that a cell may make.
    view.show = (pyramid, scene, limit) => {
        view.limit = limit;
        view.scene = scene;
        if (view.kind !== pyramid.kind) makeTiers(view, pyramid);
        showCells(view, pyramid);
        showTiers(view, pyramid, scene);
        showPath(view, pyramid, scene);
        drawPath(view);
    };
    new ResizeObserver(() => drawPath(view)).observe(element);
    enablePainting(view, events);
    return view;
}
