// What the page has with it to look at, and ways to look: glass, labels, cuts and caps. Counts are the package's in Node.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { GALLERY } from "../lib/gallery.js";
import { picture, share } from "./pixels.mjs";

const options = { viewport: { width: 1000, height: 640 }, colorScheme: "dark", reducedMotion: "reduce" };

// Waits until so many triangles are told.
const told = (page, count) => page.waitForFunction((wanted) =>
    Number(document.querySelector(".pipeline li:last-child b")?.textContent.replaceAll(/\s/g, "")) === wanted, count, { timeout: 60_000 });

export default async function (t) {
    const load = async (root, id) => {
        const { Trommel } = await import(new URL("../../build/web/package/node.js", import.meta.url));
        const trommel = await Trommel.create(null, { threads: 1 }), { file } = GALLERY.find((piece) => piece.id === id);
        const bytes = await readFile(join(root, id === "engine" ? `tests/${file}` : `web/${file}`));
        const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
        return { trommel, volume: trommel.loadVolume(isPacked ? gunzipSync(bytes) : bytes, file.split("/").pop().replace(/\.gz$/, "")) };
    };

    await t.test("every piece of the gallery names its file and whom it is from", async ({ root, assert }) => {
        const readme = await readFile(join(root, "web/data/README.md"), "utf8");
        for (const { id, file, credit } of GALLERY) {
            assert.ok(credit.length > 10 && readme.includes(file.replace("data/", "")), file);
            const { trommel, volume } = await load(root, id);
            assert.ok(volume.data.length > 200_000);
            trommel.close();
        }
    });

    await t.test("the head behind glass, and cut", async ({ open, root, shot, assert }) => {
        const { trommel, volume } = await load(root, "head");
        const count = (what) => trommel.surface(volume, { caps: true, ...what }).triangleCount;
        const page = await open("#surface/scene=head", options);
        await told(page, count({ isovalues: [1150, 520] }));
        await page.waitForTimeout(800);
        const { data, ...size } = await picture(page, ".stage-canvas");
        assert.ok(share({ data, ...size }, (r, g, b) => r > 90 && r > 1.3 * b) > 0.02, "bone");
        assert.ok(share({ data, ...size }, (r, g, b) => b > 60 && b > 1.15 * r) > 0.02, "glass");
        await shot(page, "surface-head");
        await page.getByRole("switch", { name: "Glass" }).click();
        await told(page, count({ iso: 1150 }));
        await page.locator(".panel-surface .segmented").getByRole("radio", { name: "x", exact: true }).check({ force: true });
        await told(page, count({ iso: 1150, region: { first: [0, 0, 0], count: [32, 64, 93] } }));
        await page.getByRole("slider", { name: "Up to" }).fill("75");
        await told(page, count({ iso: 1150, region: { first: [0, 0, 0], count: [48, 64, 93] } }));
        // The slice at the cut: what lies inside has the surface's colour.
        let inside = 0;
        for (let i = 47; i < volume.data.length; i += 64)
            inside += volume.data[i] >= 1150;
        const tinted = await page.$eval(".slice", (canvas) => {
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let i = 0; i < data.length; i += 4)
                count += data[i] !== data[i + 2];
            return [canvas.width, canvas.height, count];
        });
        assert.deepEqual(tinted, [64, 93, inside]);
        await page.waitForFunction(() => /glass=none/.test(location.hash) && /cut=x/.test(location.hash) && /at=75/.test(location.hash));
        // And all of it comes back from the address, on the device too.
        const other = await open(await page.evaluate(() => location.hash), options);
        await other.waitForFunction(() => /for the surface/.test(document.querySelector(".timing")?.textContent), null, { timeout: 120_000 });
        await told(other, count({ iso: 1150, region: { first: [0, 0, 0], count: [48, 64, 93] } }));
        trommel.close();
    });

    await t.test("the atlas: each label has a colour of its own", async ({ open, root, shot, assert }) => {
        const { trommel, volume } = await load(root, "brain");
        const mesh = trommel.surface(volume, { allLabels: true });
        assert.equal(mesh.parts.length, 22);
        const page = await open("#surface/scene=brain", options);
        await told(page, mesh.triangleCount);
        await page.waitForTimeout(800);
        await shot(page, "surface-brain");
        const { data } = await picture(page, ".stage-canvas"), hues = new Map();
        for (let i = 0; i < data.length; i += 4) {
            const [r, g, b] = data.subarray(i, i + 3), most = Math.max(r, g, b), least = Math.min(r, g, b);
            if (most < 90 || most - least < 0.4 * most)
                continue;
            const hue = most === r ? ((g - b) / (most - least) + 6) % 6 : most === g ? (b - r) / (most - least) + 2 : (r - g) / (most - least) + 4;
            hues.set(Math.floor(2 * hue), (hues.get(Math.floor(2 * hue)) ?? 0) + 1);
        }
        const many = [...hues.values()].filter((count) => count > 400).length;
        assert.ok(many >= 6, `${many} hues of 12`);
        // What is shown fills the stage, not its box.
        assert.ok(share({ data }, (r, g, b) => Math.max(r, g, b) > 90) > 0.1);
        // Without labels the same samples are values.
        await page.getByRole("switch", { name: "Labels" }).click();
        await told(page, trommel.surface(volume, { iso: Number(await page.getByRole("slider", { name: "Isovalue" }).inputValue()) }).triangleCount);
        trommel.close();
    });

    await t.test("points are cut, too, on the processor and on the device", async ({ open, assert }) => {
        const counts = [];
        for (const cut of ["", "&cut=y&at=50"]) {
            const page = await open(`#surface/grid=64&scene=swarm&time=4${cut}`, options);
            await page.waitForFunction(() => /for field/.test(document.querySelector(".timing")?.textContent), null, { timeout: 120_000 });
            await page.waitForTimeout(1500);
            counts.push(Number((await page.textContent(".pipeline li:last-child b")).replaceAll(/\s/g, "")));
        }
        assert.ok(counts[1] > 0.2 * counts[0] && counts[1] < 0.85 * counts[0], counts.join());
    });
}
