// The Exposure panel, as a visitor uses it: a picture on the screen, dropped ones, and what is said of them.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { pictureOf } from "./exposure_pixels.mjs";
import { clearMessages } from "./pixels.mjs";
import { openWithoutWebGL2 } from "./without_webgl2.mjs";

async function openPanel(open, options) {
    const page = await open("#exposure", options);
    await page.waitForSelector(".figures dd");
    return page;
}

// A grey PFM, bottom row first.
function pfm(width, height, values) {
    const header = Buffer.from(`Pf\n${width} ${height}\n-1.0\n`);
    return Buffer.concat([header, Buffer.from(Float32Array.from(values).buffer)]);
}

const give = (page, name, buffer) =>
    page.setInputFiles(".exposure [type=file]", { name, mimeType: "application/octet-stream", buffer });

async function figure(page, name) {
    const all = await page.$$eval(".figures > *", (cells) => cells.map((cell) => cell.textContent));
    return all[all.indexOf(name) + 1];
}

const waitForFigure = (page, name, value) =>
    page.waitForFunction(([wantedName, wanted]) => {
        const all = [...document.querySelectorAll(".figures > *")].map((cell) => cell.textContent);
        return all[all.indexOf(wantedName) + 1] === wanted;
    }, [name, value]);

export default async function (t) {
    await t.test("a picture is exposed; bias and curves change it", async ({ open, shot, assert }) => {
        const page = await openPanel(open, { colorScheme: "dark" });
        const before = await pictureOf(page);
        assert.ok(before.colors > 200, `${before.colors} colours`);
        await shot(page, "exposure-dark");
        await page.fill("#exposure-bias", "3");
        const brighter = await pictureOf(page, (picture) => picture.mean > before.mean + 10);
        await page.fill("#exposure-bias", "0");
        await page.selectOption(".tone", "srgb");
        const clipped = await pictureOf(page, (picture) => Math.abs(picture.mean - before.mean) > 1);
        assert.ok(brighter.mean > clipped.mean);
        assert.match(await page.getAttribute(".histogram", "aria-label"), /exposed for -?[\d.]+, white at/);
    });

    await t.test("meters weigh the picture", async ({ open, assert }) => {
        const page = await openPanel(open);
        // A bright spot in the middle of the dark.
        const side = 61, values = Array.from({ length: side * side }, (_, i) =>
            Math.hypot(i % side - 30, Math.floor(i / side) - 30) < 8 ? 8 : 0.125);
        await give(page, "spot.pfm", pfm(side, side, values));
        await waitForFigure(page, "Pixels", "3,721");
        const average = Number(await figure(page, "Geometric mean"));
        await page.selectOption(".meter", "spot");
        await waitForFigure(page, "Geometric mean", "8");
        await page.selectOption(".meter", "centre");
        await page.waitForFunction(() => !/^8$/.test(document.querySelectorAll(".figures dd")[4].textContent));
        const centre = Number(await figure(page, "Geometric mean"));
        assert.ok(centre > 1.2 * average && centre < 8, `${average}, ${centre}`);
    });

    await t.test("the exposure follows out of the dark", async ({ open, assert }) => {
        const page = await openPanel(open);
        const settled = await figure(page, "Exposure");
        // All that is told on the way.
        await page.evaluate(() => {
            window.told = [];
            new MutationObserver(() => window.told.push(document.querySelector(".figures dd").textContent))
                .observe(document.querySelector(".figures"), { childList: true });
        });
        await page.click(".adapt");
        await page.waitForFunction((text) => window.told.length > 1 && window.told.at(-1) === text, settled);
        const told = await page.evaluate(() => window.told.map((text) => Number(text.slice(2))));
        assert.ok(Math.max(...told) > 4 * told.at(-1), told.join());
    });

    await t.test("a dropped picture's averages are exact", async ({ open, assert }) => {
        const page = await openPanel(open, { viewport: { width: 360, height: 780 } });
        await give(page, "steps.pfm", pfm(3, 2, [1, 2, 4, 8, 16, NaN]));
        await waitForFigure(page, "Pixels", "6");
        assert.equal(await figure(page, "Mean"), "6.2");
        assert.equal(await figure(page, "Geometric mean"), "4");
        assert.equal(await figure(page, "Smallest, largest"), "1, 16");
        assert.equal(await figure(page, "NaN, infinite"), "1, 0");
        await page.fill("#exposure-low", "0");
        await page.fill("#exposure-high", "0");
        await waitForFigure(page, "Exposure", "× 0.045"); // 0.18 / 4
        await page.check("[value=manual]", { force: true });
        await page.fill("#exposure-ev", "3");
        await waitForFigure(page, "Exposure", "× 0.18"); // EV 3 is a luminance of 1
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
    });

    await t.test("Radiance and PNG files; pictures without light", async ({ open, root, assert }) => {
        const page = await openPanel(open);
        const file = async (path) => readFile(join(root, path));
        await give(page, "image1.hdr", await file("tests/data/pictures/image1_128x85.hdr"));
        await waitForFigure(page, "Pixels", "10,880");
        assert.equal(await figure(page, "Mean"), "0.4473"); // tests/data/pictures/references.txt
        assert.equal(await figure(page, "Geometric mean"), "0.2107");
        assert.equal(await figure(page, "Smallest, largest"), "0, 1.563");
        await give(page, "grey.png", await file("tests/data/pictures/basn0g16.png"));
        await waitForFigure(page, "Pixels", "1,024"); // the browser decodes it
        await give(page, "cut.png", (await file("tests/data/pictures/basn0g16.png")).subarray(0, 60));
        await page.waitForSelector("#alerts .message");
        assert.match(await page.textContent("#alerts .message"), /^cut\.png cannot be opened: the browser cannot decode it/);
        assert.equal(await figure(page, "Pixels"), "1,024"); // still there
        for (const value of [0, NaN, -1, Infinity]) {
            await give(page, "dark.pfm", pfm(2, 2, [value, value, value, value]));
            await waitForFigure(page, "Geometric mean", "none");
            assert.equal(await figure(page, "Exposure"), "× 1");
            assert.ok(await page.isDisabled(".adapt"));
            await give(page, "light.pfm", pfm(1, 1, [4]));
            await waitForFigure(page, "Geometric mean", "4");
            assert.ok(!(await page.isDisabled(".adapt")));
        }
    });

    await t.test("without WebGL 2 the processor exposes", async ({ open, shot, assert }) => {
        const page = await openWithoutWebGL2(open, "/#exposure", { colorScheme: "dark" });
        await page.waitForSelector(".figures dd");
        await clearMessages(page);
        const before = await pictureOf(page);
        await shot(page, "exposure-webgl1");
        assert.match(await page.getAttribute(".histogram", "aria-label"), /exposed for -?[\d.]+, white at/);
        const settled = await figure(page, "Exposure");
        // The same as on the device.
        const other = await openPanel(open, { colorScheme: "dark" });
        assert.equal(await figure(other, "Exposure"), settled);
        const there = await pictureOf(other);
        assert.ok(Math.abs(there.mean - before.mean) < 1, `${there.mean} on the device, ${before.mean}`);
        await page.fill("#exposure-bias", "3");
        await pictureOf(page, (picture) => picture.mean > before.mean + 10);
        await give(page, "steps.pfm", pfm(3, 2, [1, 2, 4, 8, 16, NaN]));
        await waitForFigure(page, "Mean", "6.2");
    });

    await t.test("a corrupt picture gives a message, and the page lives on", async ({ open, assert }) => {
        const page = await openPanel(open);
        await give(page, "cut.pfm", pfm(100, 100, [1, 2, 3]));
        await page.waitForSelector("#alerts .message");
        assert.match(await page.textContent("#alerts .message"), /^cut\.pfm cannot be opened: (?!.*cut\.pfm)/);
        await give(page, "whole.pfm", pfm(2, 1, [2, 2]));
        await waitForFigure(page, "Geometric mean", "2");
    });
}
