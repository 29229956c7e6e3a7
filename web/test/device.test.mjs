// The Device panel, as a visitor uses it: tests read, every path forced, the context lost and back.

const SECONDS = 1000;

const DONE = { timeout: 120 * SECONDS }; // all shaders compile, on a software driver

// With the tests shown; where timed, also with every operation timed.
async function openPanel(open, { timed = false, ...options } = {}) {
    const page = await open("#device", options);
    await page.waitForSelector(".tests .is-choice", DONE);
    if (timed)
        await page.waitForSelector(".now[data-state=done]", DONE);
    return page;
}

// Chooses, and waits until what comes of it is known: a path with its times, or a message.
async function force(page, path, webgl) {
    await page.check(`[name=device-webgl][value="${webgl}"]`, { force: true });
    await page.check(`[name=device-path][value="${path}"]`, { force: true });
    await page.waitForSelector(".now[data-state=done], .now[data-state=failed]", DONE);
}

// The last column: names of the operations that the path lacks, and cells that say so or have a time.
const lastColumn = (page) =>
    page.$$eval(".stages tbody tr", (rows) =>
        rows.map((row) => ({
            name: row.querySelector("th").firstChild.textContent,
            text: row.lastElementChild.textContent,
        })));

export default async function (t) {
    await t.test("the tests, the chosen path and the times", async ({ open, shot, assert }) => {
        const page = await openPanel(open, { timed: true, colorScheme: "light" });
        assert.equal(await page.textContent(".tests .is-choice > .name"), "path integer");
        assert.ok((await page.locator(".tests li li").count()) >= 2, "tests beneath tests");
        const strings = await page.textContent(".strings");
        assert.match(strings, /WebGL 2\.0/);
        assert.match(strings, /path integer/);
        for (const { name, text } of await lastColumn(page))
            assert.match(text, /^[\d.]+ (ns|µs|ms|s)$/, name);
        await shot(page, "device-light");
    });

    await t.test("every path can be forced, and computes the same", async ({ open, shot, assert }) => {
        const page = await openPanel(open, { timed: true, colorScheme: "dark" });
        for (const [path, webgl] of [["integer", 2], ["float", 2], ["float-packed", 2], ["packed", 2], ["packed", 1]]) {
            await force(page, path, webgl);
            const now = await page.textContent(".now");
            assert.ok(now.includes(`path ${path}.`), now);
            const choice = await page.textContent(".tests .is-choice > .name");
            assert.equal(choice.replace(/[ _]/g, "-"), `path-${path}`);
            const column = await lastColumn(page);
            assert.ok(column.every(({ text }) => !text.includes("wrong")), JSON.stringify(column));
            const missing = column.filter(({ text }) => text.includes("not on")).map(({ name }) => name);
            assert.equal(missing.includes("Scan"), path !== "integer", `${path} lacks ${missing}`);
            for (const name of ["Map", "Maximum", "Compact", "Expand", "Surface as soup"])
                assert.ok(!missing.includes(name), `${path} lacks ${missing}`);
            assert.match(await page.textContent(".changes"), /is right/);
        }
        await shot(page, "device-packed-dark");
        await force(page, "auto", 2);
        assert.match(await page.textContent(".now"), /^Automatic: path integer/);
        assert.equal(await page.locator(".stages thead th").count(), 2);
    });

    await t.test("a path that cannot be says why", async ({ open, assert }) => {
        const page = await openPanel(open);
        await force(page, "integer", 1);
        assert.equal(await page.getAttribute(".now", "data-state"), "failed");
        assert.match(await page.textContent(".now"), /integer/);
        await force(page, "auto", 1);
        assert.match(await page.textContent(".now"), /path (float|float-packed|packed)\./);
        await force(page, "auto", 2);
        assert.match(await page.textContent(".now"), /path integer\./);
    });

    await t.test("from the keyboard, at a phone's width", async ({ open, shot, assert }) => {
        const page = await openPanel(open, { viewport: { width: 360, height: 780 } });
        await page.focus("[name=device-path]:checked");
        await page.keyboard.press("ArrowDown");
        await page.waitForFunction(() => /^Integer textures, WebGL 2: path integer\.$/
            .test(document.querySelector(".now").textContent), null, DONE);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
        await shot(page, "device-phone");
    });

    await t.test("a lost context comes back, for every panel", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        await page.click("#tab-compaction");
        await page.waitForSelector(".check[data-state=same]");
        await page.click("#tab-device");
        await page.click(".lose");
        await page.waitForFunction(() => document.querySelector(".events").textContent.includes("It computes"), null, DONE);
        const events = await page.$$eval(".events li span", (lines) => lines.map((line) => line.textContent));
        assert.equal(events.length, 5, events.join("\n"));
        assert.match(events[1], /^A call of the library says: /);
        assert.match(events[4], /^It computes: /);
        await shot(page, "device-lost");
        // The other panel works on the new context.
        await page.click("#tab-compaction");
        await page.click("text=Drum");
        const count = await page.locator(".output").count();
        assert.notEqual(count, 128); // those of the heart
        await page.getByText(`the same ${count} outputs`).waitFor();
    });
}
