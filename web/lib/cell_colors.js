// Colours of cells by their number of triangles, 0 to 5: those of the command's --debug-cells (cli/draw/cells.c).
export const CELL_COLORS = [
    [0, 0, 0],
    [40, 80, 220],
    [40, 190, 70],
    [250, 220, 50],
    [245, 140, 30],
    [220, 40, 40],
];

// How many cells have 0 to 5 triangles, by the cell of each triangle, in order. Those with none are not seen.
export function countCells(triangleCells) {
    const found = [0, 0, 0, 0, 0, 0];
    for (let i = 0, end; i < triangleCells.length; i = end) {
        for (end = i + 1; triangleCells[end] === triangleCells[i]; )
            end++;
        found[end - i]++;
    }
    return found;
}

// Percent, with one digit, of the cells with 1 to 5 triangles.
export function cellShares(counts) {
    const crossed = counts.slice(1).reduce((sum, count) => sum + count, 0);
    return counts.slice(1).map((count) => ((100 * count) / Math.max(crossed, 1)).toFixed(1));
}
