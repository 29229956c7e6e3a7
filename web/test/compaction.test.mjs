// The Compaction panel, as a visitor uses it: painted, stepped through, picked from, measured.

const CELLS = 256;

// Outputs that each cell makes, as the page shows them.
const countsOf = (page) =>
    page.$$eval(".cell", (cells) =>
        cells.map((cell) => Number(cell.textContent || (cell.getAttribute("aria-selected") === "true" ? 1 : 0))));
// Source cells in the order of the stream, as the page shows them.
const outputsOf = (page) => page.$$eval(".output", (outputs) => outputs.map((o) => Number(o.textContent)));

// The outputs must be the cells in order, each as often as it says; the library must agree.
async function assertCompacted(page, assert) {
    const counts = await countsOf(page);
    const wanted = counts.flatMap((count, cell) => Array(count).fill(cell));
    assert.deepEqual(await outputsOf(page), wanted);
    await page.waitForSelector(".check[data-state=same]");
    const text = await page.textContent(".check");
    assert.ok(text.includes(` ${wanted.length} output`), text);
    return wanted.length;
}

async function openPanel(open, options, query = "") {
    const page = await open(`${query}#compaction`, { reducedMotion: "reduce", ...options });
    await page.waitForSelector(".check[data-state=same]");
    return page;
}

const middleOf = async (page, cell) => {
    const box = await page.locator(`.cell[data-cell="${cell}"]`).boundingBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
};

// Sums shown at a tier, node after node; unbuilt ones are "".
const sumsOf = (page, selector) => page.$$eval(selector, (sums) => sums.map((sum) => sum.textContent));

export default async function (t) {
    await t.test("the picture, its stream and the device agree", async ({ open, shot, assert }) => {
        const page = await openPanel(open, { colorScheme: "light" });
        assert.equal(await assertCompacted(page, assert), 128);
        for (const picture of ["Drum", "Spiral", "Noise", "Invert", "Clear"]) {
            await page.click(`.pictures >> text=${picture}`);
            await assertCompacted(page, assert);
        }
        assert.equal((await outputsOf(page)).length, 0);
        await page.click("text=Heart");
        await page.fill("#compaction-scrub", "6");
        await page.waitForTimeout(800);
        await shot(page, "compaction-light");
    });

    await t.test("painted with the mouse", async ({ open, assert }) => {
        const page = await openPanel(open);
        await page.click("text=Clear");
        await page.mouse.move(...(await middleOf(page, 16)));
        await page.mouse.down();
        await page.mouse.move(...(await middleOf(page, 31)), { steps: 3 });
        await page.mouse.up();
        assert.equal(await assertCompacted(page, assert), 16, "a fast stroke has no holes");
        await page.mouse.click(...(await middleOf(page, 20)));
        assert.equal(await assertCompacted(page, assert), 15);
    });

    await t.test("painted with a finger on a phone", async ({ open, shot, assert }) => {
        const page = await openPanel(open, {
            viewport: { width: 360, height: 780 }, hasTouch: true, colorScheme: "dark",
        });
        await page.click("text=Clear");
        await page.touchscreen.tap(...(await middleOf(page, 100)));
        await page.touchscreen.tap(...(await middleOf(page, 103)));
        assert.equal(await assertCompacted(page, assert), 2);
        assert.deepEqual(await outputsOf(page), [100, 103]);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
        await page.click("text=Heart");
        await page.fill("#compaction-scrub", "6");
        await page.waitForTimeout(800);
        await shot(page, "compaction-phone-dark");
    });

    await t.test("painted and picked from the keyboard alone", async ({ open, assert }) => {
        const page = await openPanel(open);
        const press = async (...keys) => {
            for (const key of keys)
                await page.keyboard.press(key);
        };
        await page.focus("text=Clear");
        await press("Enter", "Tab", "Tab"); // over "Copy link", into the grid
        await press("ArrowRight", "ArrowDown", " ", "End", " ", "ArrowRight", "Home", "Enter", "ArrowUp", "ArrowUp");
        assert.equal(await assertCompacted(page, assert), 3);
        assert.deepEqual(await outputsOf(page), [16, 17, 31]);
        const label = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
        assert.equal(label, "row 1, column 1: dropped");
        // On to the stream: one stop of the tab key, arrows within.
        await page.focus(".output[tabindex='0']");
        await press("Home", "ArrowRight", "Enter");
        await page.waitForSelector(".cell.is-source");
        assert.equal(await page.getAttribute(".cell.is-source", "data-cell"), "17");
    });

    await t.test("levels build, one a step", async ({ open, assert }) => {
        const page = await openPanel(open);
        const counts = await countsOf(page);
        const running = (values) =>
            values.map((_, i) => values.slice(i - (i % 4), i + 1).reduce((a, b) => a + b, 0));
        const quads = running(counts).filter((_, i) => i % 4 === 3);
        const rows = running(quads);
        const fours = running(rows.filter((_, i) => i % 4 === 3));
        const apex = running(fours.filter((_, i) => i % 4 === 3));
        const wanted = [...rows, ...fours, ...apex];
        for (const built of [0, rows.length, rows.length + fours.length, wanted.length]) {
            const shown = await sumsOf(page, ".sum");
            assert.deepEqual(shown, wanted.map((sum, i) => (i < built ? String(sum) : "")));
            await page.click(".step");
        }
        await page.click(".back");
        assert.match(await page.textContent(".caption h3"), /Level 3 of 3/);
        await page.click(".restart");
        assert.equal(await page.textContent(".scrub-value"), "0 of 9");
    });

    await t.test("a picked output arrives at its cell", async ({ open, assert }) => {
        const page = await openPanel(open);
        await page.fill("#compaction-speed", "100");
        for (const kind of ["counts", "bits"]) {
            await page.check(`input[value=${kind}]`, { force: true });
            const outputs = await outputsOf(page);
            for (const key of [0, 1, 40, 77, outputs.length - 1]) {
                await page.locator(".output").nth(key).click();
                await page.waitForSelector(`.cell.is-source[data-cell="${outputs[key]}"]`);
                const selected = await page.$$eval(".output", (all) =>
                    all.findIndex((o) => o.getAttribute("aria-selected") === "true"));
                assert.equal(selected, key);
            }
        }
    });

    await t.test("running counts and a search; the squares of 2006", async ({ open, shot, assert }) => {
        const page = await openPanel(open, { reducedMotion: "reduce" });
        await page.fill("#compaction-speed", "100");
        const counts = await countsOf(page), row = await outputsOf(page);
        const texts = (selector) => page.$$eval(selector, (all) => all.map((one) => Number(one.textContent)));
        await page.check("input[value=running]", { force: true });
        const shown = () => page.$$eval(".cell", (cells) => cells.map((cell) => Number(cell.dataset.sum)));
        for (let stride = 1; stride < CELLS; stride *= 2) { // each pass has the sums of twice as many
            await page.click(".step");
            const sums = counts.map((_, i) => counts.slice(Math.max(0, i - 2 * stride + 1), i + 1).reduce((a, b) => a + b));
            assert.deepEqual(await shown(), sums);
        }
        assert.match(await page.textContent(".caption h3"), /^Pass 8 of 8/);
        await page.click(".step");
        await shot(page, "compaction-running");
        assert.deepEqual(await outputsOf(page), row);
        for (const key of [0, 60, 122]) {
            await page.locator(".output").nth(key).click();
            await page.waitForSelector(`.cell.is-source[data-cell="${row[key]}"]`);
        }
        await page.check("input[value=squares]", { force: true });
        await page.click(".restart");
        for (const side of [2, 4, 8]) {
            await page.click(".step");
            const sums = await texts(".sum:not([hidden])");
            assert.equal(sums.length, CELLS / side ** 2);
            assert.equal(sums.reduce((a, b) => a + b), row.length);
            // The first, second and third of the Z order: at the left, beside it, and below.
            const inSquare = (left, top) => counts.filter((_, i) => Math.floor((i % 16) / side) === left && Math.floor(i / 16 / side) === top)
                .reduce((a, b) => a + b);
            assert.deepEqual(sums.slice(0, 3), [inSquare(0, 0), inSquare(1, 0), inSquare(0, 1)]);
            if (side === 4)
                await shot(page, "compaction-squares");
        }
        const outputs = await outputsOf(page);
        assert.deepEqual(outputs.toSorted((a, b) => a - b), row);
        assert.notDeepEqual(outputs, row);
        const interleaved = (cell) => [0, 1, 2, 3].reduce((z, bit) => z | ((cell >> bit) & 1) << (2 * bit) | ((cell >> (4 + bit)) & 1) << (2 * bit + 1), 0);
        assert.deepEqual(outputs.toSorted((a, b) => interleaved(a) - interleaved(b)), outputs);
        for (const key of [0, 60, 122]) {
            await page.locator(".output").nth(key).click();
            await page.waitForSelector(`.cell.is-source[data-cell="${outputs[key]}"]`);
        }
        await page.waitForSelector(".check[data-state=same]");
    });

    await t.test("at first sight it plays by itself, once", async ({ open, assert }) => {
        const page = await openPanel(open, { reducedMotion: "no-preference" });
        await page.waitForFunction(() => document.querySelectorAll(".output.is-out").length === 128 && document.querySelector(".play").textContent === "Play",
                                   null, { timeout: 90_000 });
        await page.getByRole("tab", { name: "Device" }).click();
        await page.getByRole("tab", { name: "Compaction" }).click();
        await page.waitForTimeout(500);
        assert.equal(await page.textContent(".play"), "Play");
    });

    await t.test("play goes to the end, and can be paused", async ({ open, assert }) => {
        const page = await openPanel(open, { reducedMotion: "reduce" });
        await page.click(".play");
        assert.equal(await page.textContent(".play"), "Pause");
        await page.click(".play");
        const at = await page.inputValue("#compaction-scrub");
        await page.waitForTimeout(1500);
        assert.equal(await page.inputValue("#compaction-scrub"), at, "paused");
        await page.fill("#compaction-speed", "100");
        await page.click(".play");
        await page.waitForFunction(() => document.querySelector(".play").textContent === "Play");
        assert.equal(await page.textContent(".scrub-value"), "9 of 9");
        assert.equal(await page.locator(".output.is-out").count(), 128);
    });

    await t.test("expansion: cells with up to three outputs", async ({ open, shot, assert }) => {
        const page = await openPanel(open, { colorScheme: "dark" });
        await page.check("input[value=expand]", { force: true });
        assert.ok(await page.isDisabled("input[value=bits]"));
        await page.click("text=Clear");
        for (let i = 0; i < 3; i++)
            await page.mouse.click(...(await middleOf(page, 37)));
        await page.mouse.click(...(await middleOf(page, 200)));
        assert.equal(await assertCompacted(page, assert), 4);
        assert.deepEqual(await outputsOf(page), [37, 37, 37, 200]);
        await page.click("text=Spiral");
        await assertCompacted(page, assert);
        await page.fill("#compaction-scrub", "9");
        await page.waitForTimeout(1200);
        await shot(page, "compaction-expand-dark");
        await page.check("input[value=compact]", { force: true });
        assert.ok((await countsOf(page)).every((count) => count <= 1));
        await assertCompacted(page, assert);
    });

    await t.test("a link carries the picture", async ({ open, assert }) => {
        // Two cells a digit: 1, 0, then 0, 3, and an end of 1.
        const page = await openPanel(open, {}, `?grid=43${"0".repeat(CELLS / 2 - 3)}1`);
        assert.deepEqual(await outputsOf(page), [0, 3, 3, 3, 255]);
        await page.click(".pictures >> text=Clear");
        await page.mouse.click(...(await middleOf(page, 5)));
        await page.click("text=Copy link");
        assert.equal(new URL(page.url()).searchParams.get("grid"), `001${"0".repeat(CELLS / 2 - 3)}`);
    });

    await t.test("the library's own picture of the pyramid", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        await page.click(".library-picture .draw");
        await page.waitForSelector(".library-picture canvas:not([hidden])");
        const colours = await page.$eval(".library-picture canvas", (canvas) => {
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return new Set(new Uint32Array(data.buffer)).size;
        });
        assert.ok(colours > 10, `${colours} colours`);
        await page.locator(".library-picture").scrollIntoViewIfNeeded();
        await shot(page, "compaction-library-picture");
    });

    await t.test("methods are measured, and measuring can be stopped", async ({ open, shot, assert }) => {
        const page = await openPanel(open, { permissions: ["clipboard-read", "clipboard-write"] });
        const row = (n) => page.$$eval(`.method-times tbody tr:nth-child(${n}) td`, (cells) =>
            cells.map((cell) => cell.textContent));
        await page.fill("#method-share", "10");
        await page.click(".measure");
        await page.waitForFunction(() =>
            document.querySelectorAll(".method-times tbody tr:nth-child(2) td:not(:empty)").length === 7);
        await page.click(".measure");
        await page.waitForFunction(() => document.querySelector(".progress").textContent === "Stopped.");
        for (const n of [1, 2])
            assert.ok((await row(n)).every((text) => /^[\d.]+ (ns|µs|ms|s)$/.test(text)), (await row(n)).join());
        assert.match(await page.textContent(".method-times caption"), /10 % kept/);
        assert.equal(await page.locator(".plot .plot-line").count(), 7);
        const ms = await page.textContent(".method-times caption");
        await page.selectOption(".quantity", "element");
        assert.notEqual(await page.textContent(".method-times caption"), ms);
        await page.locator(".plot").scrollIntoViewIfNeeded();
        await shot(page, "compaction-methods");
        assert.equal(await page.textContent(".measure"), "Measure");
        await page.click(".method-times .text");
        await page.waitForFunction(async () => /^Stream compaction, raced in my browser .*\n8,192 numbers, 10 % kept: HistoPyramid [\d.]+ .*#compaction$/s.test(await navigator.clipboard.readText()));
        const [file] = await Promise.all([page.waitForEvent("download"), page.click(".method-times .picture")]);
        assert.equal(file.suggestedFilename(), "trommel-compaction-race.png");
    });
}
