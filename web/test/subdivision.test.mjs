// The Subdivision panel: finer by the sliders, files, colours.
import { drop } from "./drop.mjs";
import { difference, picture } from "./pixels.mjs";

const SECONDS = 1000;
const SMALL = { width: 840, height: 540 };
const figure = async (page, n) => Number((await page.textContent(`.panel-subdivision .pipeline li:nth-child(${n}) b`)).replaceAll(/\s/g, ""));

async function openPanel(open) {
    const page = await open("#subdivision", { viewport: SMALL, colorScheme: "dark", reducedMotion: "reduce" });
    await made(page, "n > 0");
    return page;
}
// Waits for a number of triangles.
async function made(page, is) {
    await page.waitForFunction((text) => new Function("n", `return ${text}`)(
        Number(document.querySelector(".panel-subdivision .pipeline li:nth-child(2) b")?.textContent.replaceAll(/\s/g, ""))),
                               is, { timeout: 60 * SECONDS });
    await page.waitForTimeout(500);
}
const choose = (page, group, name) => page.getByRole("group", { name: group }).getByRole("radio", { name }).check({ force: true });

export default async function (t) {
    await t.test("a click tells the triangle and the point in the file's units", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        const box = "v 100 100 100\nv 102 100 100\nv 102 102 100\nv 100 102 100\nv 100 100 102\nv 102 100 102\nv 102 102 102\nv 100 102 102\n" +
            "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
        await drop(page, ".panel-subdivision .stage", ["box.obj", box]);
        await page.getByText("box.obj: 12 triangles").waitFor({ timeout: 30 * SECONDS });
        await made(page, "n > 12");
        await page.focus(".panel-subdivision .stage");
        await page.keyboard.press("Enter");
        const told = page.locator(".panel-subdivision .pick p");
        await told.waitFor({ timeout: 30 * SECONDS });
        const text = await told.innerText();
        assert.match(text, /^Triangle [\d\u2009]+, level \d+\n\(1\d\d/);
        const at = /\((.*)\)/.exec(text)[1].split(", ").map(Number);
        assert.ok(at.every((x) => x > 99.9 && x < 102.1) && Math.hypot(...at.map((x) => x - 101)) > 0.4, text);
        await shot(page, "subdivision-pick");
        // Another surface has other triangles.
        await page.getByRole("slider", { name: "Adaptivity" }).fill("9");
        await told.waitFor({ state: "hidden", timeout: 30 * SECONDS });
    });

    await t.test("where it bends, and everywhere", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        assert.equal(await figure(page, 1), 24);
        const first = await figure(page, 2), coarse = await picture(page, ".panel-subdivision .stage-canvas");
        await shot(page, "subdivision-adaptive");
        await page.getByRole("slider", { name: "Adaptivity" }).fill("9");
        await made(page, `n > ${first}`);
        assert.ok(difference(coarse, await picture(page, ".panel-subdivision .stage-canvas")) > 0.005);
        // As seen: nearer means finer, at the same pixels.
        await choose(page, "Split", "As seen");
        await page.getByRole("slider", { name: "Edges" }).fill("24");
        await page.waitForTimeout(3000);
        const far = await figure(page, 2);
        await page.focus(".panel-subdivision .stage");
        for (let i = 0; i < 4; i++)
            await page.keyboard.press("-");
        await made(page, `n > 0 && n < ${far}`);
        await page.getByRole("slider", { name: "Edges" }).fill("6");
        await made(page, `n > ${far}`);
        await choose(page, "Split", "Everywhere");
        await made(page, `n === ${24 * 4 ** 3}`);
        const onLimit = await picture(page, ".panel-subdivision .stage-canvas");
        await page.getByRole("slider", { name: "Levels" }).fill("1");
        await made(page, "n === 96");
        const limit = await picture(page, ".panel-subdivision .stage-canvas");
        await page.getByRole("switch", { name: "Limit surface" }).click();
        await page.waitForTimeout(1500);
        assert.ok(difference(limit, await picture(page, ".panel-subdivision .stage-canvas")) > 0.002, "the limit lies elsewhere");
        assert.ok(difference(limit, onLimit) > 0.002);
        await choose(page, "Mesh", "Cage");
        await made(page, "n === 576");
        await shot(page, "subdivision-uniform");
    });

    await t.test("meshes dropped, and damaged ones told", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        // Open: a boundary, too, is a smooth curve.
        await drop(page, ".panel-subdivision .stage", ["sheet.obj", "v 0 0 0\nv 1 0 0\nv 2 0 1\nv 0 1 0\nv 1 1 1\nv 2 1 0\nf 1 2 5 4\nf 2 3 6 5\n"]);
        await page.getByText("sheet.obj: 4 triangles").waitFor({ timeout: 30 * SECONDS });
        await made(page, "n > 4");
        assert.equal(await figure(page, 1), 4);
        await shot(page, "subdivision-dropped");
        await drop(page, ".panel-subdivision .stage", ["cut.stl", "solid\nfacet"]);
        await page.locator("#alerts .message", { hasText: "cut.stl cannot be opened: " }).waitFor({ timeout: 30 * SECONDS });
    });
}
