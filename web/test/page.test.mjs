// The page's shell: tabs, colours, messages.
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { serve } from "../../scripts/web-serve.mjs";
import { picture } from "./pixels.mjs";

const PANELS = ["Surface", "Compaction", "Exposure", "Collision", "Subdivision", "Race", "Device"];

export default async function (t) {
    await t.test("tabs by mouse, by keys and by link", async ({ open, assert }) => {
        const page = await open("#collision");
        const shown = async () => {
            const selected = await page.locator('[role=tab][aria-selected="true"]').allTextContents();
            const visible = await page.locator("[role=tabpanel]:visible").evaluateAll((all) => all.map((one) => one.id));
            assert.equal(selected.length, 1);
            assert.deepEqual(visible, [`panel-${selected[0].toLowerCase()}`]);
            return selected[0];
        };
        assert.equal(await shown(), "Collision");
        for (const name of PANELS) {
            await page.getByRole("tab", { name }).click();
            assert.equal(await shown(), name);
            assert.match(await page.evaluate(() => location.hash), new RegExp(`^#${name.toLowerCase()}`));
        }
        // The last is focused: to the right the first comes next, and only the shown tab is a stop of the Tab key.
        await page.keyboard.press("ArrowRight");
        assert.equal(await shown(), "Surface");
        await page.keyboard.press("End");
        assert.equal(await shown(), "Device");
        await page.keyboard.press("ArrowLeft");
        assert.equal(await shown(), "Race");
        assert.equal(await page.locator('[role=tab][tabindex="0"]').count(), 1);
        await page.locator(".skip").focus();
        await page.keyboard.press("Enter");
        assert.equal(await page.evaluate(() => document.activeElement.id), "panels");
        assert.equal(await page.evaluate(() => location.hash), "#race");
        await page.evaluate(() => (location.hash = "#collision"));
        await page.locator("#panel-collision").waitFor();
        assert.equal(await shown(), "Collision");
    });

    await t.test("Back and Forward walk the panels; an address in an open tab is followed", async ({ open, assert }) => {
        const page = await open("", { viewport: { width: 840, height: 540 }, reducedMotion: "reduce" });
        const shown = () => page.locator('[role=tab][aria-selected="true"]').textContent();
        assert.equal(await page.evaluate(() => location.hash), "", "nothing was changed");
        for (const name of ["Subdivision", "Collision"])
            await page.getByRole("tab", { name }).click();
        await page.goBack();
        assert.equal(await shown(), "Subdivision");
        await page.goBack();
        assert.equal(await shown(), "Surface");
        await page.goForward();
        assert.equal(await shown(), "Subdivision");

        const paste = (hash) => page.evaluate((text) => (location.hash = text), hash);
        await paste("#subdivision/split=uniform&levels=2&wire=0&view=1.5,0.3,3,0,0.1,0");
        await page.waitForFunction(() => document.querySelector(".panel-subdivision [data-link=split]:checked")?.value === "uniform");
        await page.waitForFunction(() => document.querySelector(".panel-subdivision .pipeline li:last-child b").textContent === "2");
        assert.ok(!(await page.getByRole("switch", { name: "Wireframe" }).and(page.locator(":visible")).isChecked()));
        await paste("#subdivision");
        await page.waitForFunction(() => document.querySelector(".panel-subdivision [data-link=split]:checked").value === "adaptive");
        await paste("#surface/scene=swarm&grid=64&normals=central&time=5&view=2,0.1,4,0,0,0");
        await page.waitForFunction(() => document.querySelector(".panel-surface [value=swarm]")?.checked);
        assert.ok(await page.getByRole("radio", { name: "Central" }).isChecked());
        assert.equal(await page.textContent(".play button"), "Play");
        await paste("#nonsense");
        await page.waitForFunction(() => location.hash.startsWith("#surface"));
        assert.equal(await shown(), "Surface");
    });

    await t.test("the first panel asks for less than half of what there is: 178 KB by brotli", async ({ open, root, assert }) => {
        const server = await serve({ folder: join(root, "build/web/site") });
        const page = await open("test/blank.html", { serviceWorkers: "block", viewport: { width: 840, height: 540 } }), sizes = new Map();
        let instances = 0;
        page.context().on("response", async (response) => {
            const url = response.url();
            instances += url.endsWith(".wasm");
            sizes.set(url, response.body().then((body) => brotliCompressSync(body).length));
        });
        try {
            await page.goto(server.url);
            await page.waitForFunction(() => /[1-9]/.test(document.querySelector(".pipeline li:last-child b")?.textContent ?? ""));
            while (instances < 2) // the worker's, and once its picture is there the device's
                await page.waitForTimeout(100);
            await page.waitForLoadState("networkidle");
            const files = [...sizes.keys()].map((url) => url.slice(server.url.length));
            assert.ok(files.includes("trommel/wasm/trommel-surface.wasm") && !files.some((file) => /wasm\/trommel(-threads)?\.wasm/.test(file)), files.join(" "));
            const bytes = (await Promise.all(sizes.values())).reduce((sum, size) => sum + size, 0);
            assert.ok(bytes > 120_000 && bytes <= 178_000, `${bytes} bytes of ${files.length} files`);
        } finally {
            await server.close();
        }
    });

    await t.test("a built site works without a network once it was opened", async ({ open, root, assert }) => {
        const server = await serve({ folder: join(root, "build/web/site") });
        const page = await open("test/blank.html", { allow: /ERR_|Failed to load|fetch/, viewport: { width: 840, height: 540 } });
        try {
            await page.goto(server.url);
            await page.evaluate(() => navigator.serviceWorker.ready);
            await page.waitForFunction(() => navigator.serviceWorker.controller, null, { timeout: 60_000 });
        } finally {
            await server.close();
        }
        await page.reload();
        await page.waitForFunction(() => /[1-9]/.test(document.querySelector(".pipeline li:last-child b")?.textContent ?? ""), null, { timeout: 60_000 });
        for (const name of PANELS) {
            await page.getByRole("tab", { name }).click();
            await page.locator(`#panel-${name.toLowerCase()} *`).first().waitFor({ state: "attached" });
        }
        await page.locator(".device .paths").waitFor();
        assert.equal(await page.locator("#alerts .message").count(), 0);
    });

    await t.test("each panel's settings stand in its address, and come back from there", async ({ open, assert }) => {
        const options = { viewport: { width: 1000, height: 640 }, reducedMotion: "reduce" };
        for (const [panel, set, link] of [
            ["exposure", async (page) => {
                await page.selectOption("#exposure-tone", "hable");
                await page.locator("#exposure-bias").fill("1.5");
            }, "tone=hable&bias=1.5"],
            ["collision", async (page) => {
                await page.locator(".panel-collision [data-link=b][value=sphere]").check({ force: true });
                await page.locator(".panel-collision .stage").press("d");
            }, /^b=sphere&(turn=23&)?at=/],
            ["subdivision", async (page) => {
                await page.locator(".panel-subdivision [data-link=mesh][value=knot]").check({ force: true });
                await page.locator(".panel-subdivision .stage").press("ArrowLeft");
            }, /^mesh=knot&view=/],
        ]) {
            const page = await open(`#${panel}`, options);
            await page.locator(`.panel-${panel} [data-link]`).first().waitFor({ state: "attached" });
            await page.waitForTimeout(500);
            await set(page);
            await page.waitForFunction((name) => location.hash.startsWith(`#${name}/`), panel);
            await page.waitForTimeout(600);
            const hash = await page.evaluate(() => decodeURIComponent(location.hash)), text = hash.slice(panel.length + 2);
            if (typeof link === "string")
                assert.equal(text, link);
            else
                assert.match(text, link);
            const values = (one) => one.locator(`.panel-${panel} [data-link]`).evaluateAll((all) => all.map(({ value, checked }) => `${value} ${checked}`));
            const other = await open(hash, options);
            await other.locator(`.panel-${panel} [data-link]`).first().waitFor({ state: "attached" });
            await other.waitForTimeout(500);
            assert.deepEqual(await values(other), await values(page));
        }
    });

    await t.test("light and dark, as the system or as chosen", async ({ open, assert }) => {
        const page = await open("#collision", { colorScheme: "light" });
        const brightness = async () => {
            const { data } = await picture(page, "#panel-collision");
            return data[0] + data[1] + data[2];
        };
        assert.ok((await brightness()) > 600);
        await page.emulateMedia({ colorScheme: "dark" });
        assert.ok((await brightness()) < 150);
        const button = page.locator("#theme");
        await button.click();
        assert.equal(await button.getAttribute("aria-label"), "Colours: light");
        assert.ok((await brightness()) > 600);
        await page.reload();
        await page.locator("#panel-collision .stage").waitFor();
        assert.ok((await brightness()) > 600, "remembered");
        await button.click();
        assert.ok((await brightness()) < 150);
    });

    await t.test("every control has a name, and ids are unique", async ({ open, assert }) => {
        const page = await open("#surface/grid=64");
        for (const name of PANELS)
            await page.getByRole("tab", { name }).click();
        await page.getByRole("tab", { name: "Surface" }).click();
        const faults = await page.evaluate(() => {
            const all = [...document.querySelectorAll("button, input:not([hidden]), select, [role=application]")];
            const nameless = all.filter((one) => !(one.ariaLabel || one.getAttribute("aria-labelledby") || one.textContent.trim() ||
                                                   [...(one.labels ?? [])].some((label) => label.textContent.trim())));
            const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
            return [...nameless.map((one) => one.outerHTML), ...ids.filter((id, i) => ids.indexOf(id) !== i)];
        });
        assert.deepEqual(faults, []);
    });

    await t.test("dragged files are announced; messages can be dismissed", async ({ open, assert }) => {
        const page = await open("#device");
        await page.locator("#panel-device h2").first().waitFor({ state: "attached" });
        const transfer = await page.evaluateHandle(() => {
            const made = new DataTransfer();
            made.items.add(new File(["\x01\x02\x03"], "noise.bin"));
            return made;
        });
        await page.dispatchEvent("body", "dragenter", { dataTransfer: transfer });
        assert.ok(await page.locator("#drop").isVisible());
        await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
        assert.ok(await page.locator("#drop").isHidden());
        const message = page.locator("#alerts .message");
        await message.waitFor();
        assert.match(await message.textContent(), /noise\.bin cannot be opened: /);
        await message.getByRole("button", { name: "Dismiss" }).click();
        assert.equal(await message.count(), 0);
    });

    await t.test("fingers: a tap on a name says what it means, and targets are large", async ({ open, assert }) => {
        const page = await open("#subdivision", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
        await page.goto(`${page.url().split("#")[0]}#surface/grid=64&scene=protein`);
        await page.locator(".panel-surface .row .name", { hasText: "Cut across" }).tap();
        await page.locator("#messages .message", { hasText: "Only what lies before a plane is made, and closed there" }).waitFor();
        const small = await page.evaluate(() => [...document.querySelectorAll(".panel-surface :is(button, .segmented label, .switch, .scenes label, input[type=range]), header button, .message button")]
            .filter((one) => one.offsetParent && Math.min(one.getBoundingClientRect().height, 1000) < 38)
            .map((one) => `${one.className || one.tagName} ${one.textContent}: ${one.getBoundingClientRect().height}`));
        assert.deepEqual(small, []);
    });

    await t.test("nothing is wider than a phone", async ({ open, assert }) => {
        const page = await open("#surface/grid=64", { viewport: { width: 360, height: 700 } });
        for (const name of PANELS) {
            await page.getByRole("tab", { name }).click();
            await page.waitForTimeout(200);
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name);
        }
    });
}
