// Films of a turn, and what links to the panels are shown with.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { serve } from "../../scripts/web-serve.mjs";

export default async function (t) {
    await t.test("five seconds of a turn are a film that plays", async ({ open, assert }) => {
        const page = await open("#subdivision", { viewport: { width: 840, height: 540 }, reducedMotion: "reduce" });
        await page.waitForFunction(() => /[1-9]/.test(document.querySelector(".panel-subdivision .pipeline li:last-child b")?.textContent));
        const button = page.getByRole("button", { name: "Film" }), view = () => page.evaluate(() => location.hash);
        const before = await view();
        const [file] = await Promise.all([page.waitForEvent("download", { timeout: 90_000 }), button.click()]);
        assert.match(file.suggestedFilename(), /^subdivision\.(webm|mp4)$/);
        const film = readFileSync(await file.path());
        assert.ok(film.length > 20_000, `${film.length} bytes`);
        assert.ok(await button.isEnabled() && (await button.textContent()) === "Film");
        assert.equal(await view(), before, "the camera is where it was");
        // Its frames differ, and have the page's background behind them.
        const frames = await page.evaluate(async ([base64, type]) => {
            const video = document.createElement("video");
            video.muted = true;
            video.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], { type }));
            await new Promise((resolve, reject) => Object.assign(video, { onloadeddata: resolve, onerror: () => reject(new Error("no film")) }));
            const canvas = Object.assign(document.createElement("canvas"), { width: video.videoWidth, height: video.videoHeight }), draw = canvas.getContext("2d");
            const taken = [];
            await video.play();
            for (let k = 0; k < 2; k++) {
                await new Promise((resolve) => setTimeout(resolve, 700));
                draw.drawImage(video, 0, 0);
                taken.push([...draw.getImageData(0, 0, canvas.width, canvas.height).data]);
            }
            const changed = taken[0].reduce((count, value, i) => count + (Math.abs(value - taken[1][i]) > 24), 0) / taken[0].length;
            return { width: video.videoWidth, height: video.videoHeight, changed, corner: taken[0].slice(0, 3) };
        }, [film.toString("base64"), file.suggestedFilename().endsWith("mp4") ? "video/mp4" : "video/webm"]);
        assert.ok(frames.width >= 800 && frames.height >= 400, `${frames.width} x ${frames.height}`);
        assert.ok(frames.changed > 0.005, `${frames.changed} of the picture changed`);
        assert.ok(frames.corner.every((part) => part > 200), `the light theme behind it: ${frames.corner}`);
    });

    await t.test("a built site has a page with a picture for each panel, which leads to it", async ({ open, root, assert }) => {
        const site = join(root, "build/web/site"), server = await serve({ folder: site });
        try {
            const page = await open("test/blank.html", { allow: /./, viewport: { width: 840, height: 540 }, serviceWorkers: "block" });
            for (const id of ["surface", "compaction", "exposure", "collision", "subdivision", "race", "device"]) {
                const html = readFileSync(join(site, `${id}.html`), "utf8");
                const picture = /property="og:image" content="([^"]+)"/.exec(html)[1];
                assert.equal(picture.split("/").pop(), `page_${id}.jpg`);
                assert.ok(existsSync(join(site, "pictures", `page_${id}.jpg`)), picture);
                assert.match(html, /property="og:title" content="Trommel: \w+"/);
                if (id !== "compaction" && id !== "device")
                    continue;
                await page.goto(`${server.url}${id}.html`);
                await page.waitForFunction((name) => location.hash.startsWith(`#${name}`) && document.querySelector('[role=tab][aria-selected="true"]')?.id === `tab-${name}`, id);
            }
        } finally {
            await server.close();
        }
    });
}
