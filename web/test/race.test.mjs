// The Race panel: who takes part, what each makes, and that the page stays free meanwhile.
import { readFileSync } from "node:fs";

const rows = (page) => page.$$eval(".race li", (all) => all.map((row) => ({
    id: row.dataset.taker, time: row.querySelector("b").textContent, note: row.querySelector("small").textContent,
})));
const done = (page) => page.waitForFunction(() => document.querySelector(".race .progress").textContent === "Done.", null, { timeout: 150_000 });

export default async function (t) {
    await t.test("64³: all make the same surface; the result can be copied and saved", async ({ open, shot, assert }) => {
        const page = await open("#race", { permissions: ["clipboard-read", "clipboard-write"] });
        const requests = [];
        page.on("request", (request) => requests.push(new URL(request.url()).pathname));
        await page.getByRole("radio", { name: "64³" }).check({ force: true });
        assert.ok(!requests.includes("/race/peers.js"), "loaded by the start alone");
        await page.getByRole("button", { name: "Start the race" }).click();
        await page.locator(".race .runs").first().waitFor();
        await done(page);
        const all = await rows(page);
        assert.deepEqual(all.map(({ id }) => id), ["gpu", "threads", "cpu", "three", "nets", "cubes"]);
        for (const { id, time, note } of all) {
            assert.match(time, /^[\d.]+ (µs|ms|s)$/, id);
            const triangles = Number(/^([\d\u2009]+) triangles/.exec(note)[1].replaceAll("\u2009", ""));
            assert.ok(id === "nets" ? Math.abs(triangles - 20240) < 40 : triangles === 20240, `${id}: ${triangles}`);
        }
        assert.ok(requests.includes("/race/peers.js"));
        await shot(page, "race");
        await page.getByRole("button", { name: "Copy the result" }).click();
        await page.locator("#messages .good").waitFor();
        const text = await page.evaluate(() => navigator.clipboard.readText());
        assert.match(text, /^Isosurfaces, raced in my browser \(\d+ threads, .+\):\n64³ samples: .*three\.js MarchingCubes [\d.]+ ms \([\d.]+ times\).*\nhttp.*#race$/);
        const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as a picture" }).click()]);
        const png = readFileSync(await file.path());
        assert.equal(png.toString("latin1", 1, 4), "PNG");
        assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [1200, 630]);
    });

    await t.test("a race can be cancelled, and begun again", async ({ open, assert }) => {
        // Threads that are about to start when their worker ends say that their script did not come.
        const page = await open("#race", { viewport: { width: 390, height: 700 }, allow: /trommel-threads\.js' failed to load/ });
        const button = page.locator(".race .start");
        await button.click();
        await page.waitForFunction(() => /ms|s$/.test(document.querySelector(".race li b")?.textContent ?? "") ||
            [...document.querySelectorAll(".race li b")].some((b) => / ms$/.test(b.textContent)), null, { timeout: 60_000 });
        await button.click();
        assert.equal(await page.textContent(".race .progress"), "Cancelled.");
        const before = await rows(page);
        assert.ok(before.length >= 1 && before.some(({ time }) => / ms$/.test(time)), "what was done stays");
        assert.ok(await page.locator(".race .share").isVisible());
        await page.waitForTimeout(1500);
        assert.deepEqual(await rows(page), before, "nothing goes on");
        await page.getByRole("radio", { name: "64³" }).check({ force: true });
        await button.click();
        await done(page);
    });

    await t.test("without threads and without WebGL 2 who is left races", async ({ open, assert }) => {
        const page = await open("#race", { isolated: false });
        await page.evaluate(() => {
            const Whole = Worker; // in the race's worker, before its script
            globalThis.Worker = class extends Whole {
                constructor(url, options) {
                    super(URL.createObjectURL(new Blob([`import "data:text/javascript,delete globalThis.OffscreenCanvas"; import ${JSON.stringify(String(url))}`], { type: "text/javascript" })), options);
                }
            };
        });
        await page.getByRole("radio", { name: "64³" }).check({ force: true });
        await page.getByRole("button", { name: "Start the race" }).click();
        await done(page);
        const of = Object.fromEntries((await rows(page)).map((row) => [row.id, row]));
        assert.match(of.gpu.note, /no WebGL beside the page/);
        assert.match(of.threads.note, /COOP and COEP/);
        for (const id of ["cpu", "three", "nets", "cubes"])
            assert.match(of[id].time, /ms$/);
    });
}
