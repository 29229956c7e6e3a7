// The Collision panel: pairs that follow the meshes, files, keys and the pointer.
import { drop } from "./drop.mjs";
import { difference, picture } from "./pixels.mjs";

const SECONDS = 1000;
const SMALL = { width: 840, height: 540 };
const isMark = (r, g, b) => r > 120 && r > 1.8 * g && r > 2 * b;

// Of the part of the stage that no control covers.
function marks({ width, height, data }) {
    let found = 0;
    for (let y = 0; y < height; y++)
        for (let x = 0; x < 0.6 * width; x++) {
            const at = 4 * (y * width + x);
            found += isMark(data[at], data[at + 1], data[at + 2]) ? 1 : 0;
        }
    return found;
}

const pairs = async (page) => Number((await page.textContent(".figures b")).replaceAll(/\s/g, ""));
async function openPanel(open, options = {}) {
    const page = await open("#collision", { viewport: SMALL, colorScheme: "dark", reducedMotion: "reduce", ...options });
    await page.waitForFunction(() => /\d/.test(document.querySelector(".panel-collision .figures b")?.textContent ?? ""),
                               null, { timeout: 60 * SECONDS });
    return page;
}
async function settled(page, is) {
    await page.waitForFunction((text) => new Function("n", `return ${text}`)(
        Number(document.querySelector(".figures b").textContent.replaceAll(/\s/g, ""))), is, { timeout: 30 * SECONDS });
}

export default async function (t) {
    await t.test("triangles that meet are lit, and those apart are not", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        assert.ok((await pairs(page)) > 20);
        await page.waitForTimeout(600);
        const bars = await page.$$eval(".steps li", (items) => items.map((item) => [item.title, item.getBoundingClientRect().height]));
        assert.ok(bars.length > 3 && /^Step 1 of \d+: 1 pair of boxes$/.test(bars[0][0]), bars[0][0]);
        assert.ok(bars.every(([, height]) => height > 0 && height <= 36) && bars.some(([, height]) => height > 30), "bars");
        const touching = await picture(page, ".panel-collision .stage-canvas");
        assert.ok(marks(touching) > 40, `${marks(touching)} pixels are lit`);
        await shot(page, "collision-dark");
        // The figures are the library's, for the pose that is shown.
        await page.getByRole("slider", { name: "Push it aside" }).fill("1.6");
        await page.getByRole("slider", { name: "Turn the second" }).fill("90");
        await page.keyboard.press("Tab");
        await page.focus(".panel-collision .stage");
        for (let i = 0; i < 25; i++)
            await page.keyboard.press("e");
        await settled(page, "n === 0");
        await page.waitForTimeout(600);
        const apart = await picture(page, ".panel-collision .stage-canvas");
        assert.equal(marks(apart), 0);
        for (let i = 0; i < 12; i++)
            await page.keyboard.press("q");
        await page.getByRole("slider", { name: "Push it aside" }).fill("0.3");
        await settled(page, "n > 0");
        assert.ok(difference(apart, await picture(page, ".panel-collision .stage-canvas")) > 0.01);
    });

    await t.test("the second mesh follows the pointer; elsewhere the camera does", async ({ open, assert }) => {
        const page = await openPanel(open);
        const aside = () => page.getByRole("slider", { name: "Push it aside" }).inputValue();
        const before = await aside();
        // The free part of the stage is its left; b stands a little right of its middle.
        await page.mouse.move(300, 290);
        await page.mouse.down();
        await page.mouse.move(220, 290, { steps: 4 });
        await page.mouse.up();
        assert.ok(Number(await aside()) < Number(before), `${await aside()} after ${before}`);
        const there = await aside();
        await page.mouse.move(30, 500);
        await page.mouse.down();
        await page.mouse.move(90, 500, { steps: 4 });
        await page.mouse.up();
        assert.equal(await aside(), there);
    });

    await t.test("a click tells the triangle and those that it meets, as long as they do", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        const told = page.locator(".panel-collision .pick p");
        const { width, height, data } = await picture(page, ".panel-collision .stage-canvas"), marked = [];
        const box = await page.locator(".panel-collision .stage-canvas").boundingBox();
        for (let y = 0; y < height; y++)
            for (let x = 0; x < 0.6 * width; x++)
                if (isMark(...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3)))
                    marked.push([box.x + x + 0.5, box.y + y + 0.5]);
        assert.ok(marked.length > 40);
        // The meshes stand still; of lit pixels one is not at a triangle's edge.
        let text = "";
        for (let i = 0; i < 10 && !/meets [1-9]/.test(text); i++) {
            await page.mouse.click(...marked[Math.floor((i + 0.5) * marked.length / 10)]);
            await told.waitFor({ timeout: 30 * SECONDS });
            await page.waitForTimeout(150);
            text = await told.innerText();
        }
        assert.match(text, /^Triangle [\d\u2009]+ of the (first|second) mesh\n\([-\u2212\d., e]+\)\nmeets [1-9]\d* of the (first|second): \d/);
        await shot(page, "collision-pick");
        await page.getByRole("slider", { name: "Push it aside" }).fill("1.6");
        await page.getByText(/meets none of the/).waitFor({ timeout: 30 * SECONDS });
        await page.focus(".panel-collision .stage");
        await page.keyboard.press("Escape");
        await told.waitFor({ state: "hidden" });
    });

    await t.test("meshes dropped and chosen, damaged ones told", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        const box = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n" +
            "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
        await drop(page, ".panel-collision .stage", ["box.obj", box]);
        await page.getByText("box.obj: 12 triangles").waitFor({ timeout: 30 * SECONDS });
        await settled(page, "n > 0");
        await shot(page, "collision-dropped");
        await drop(page, ".panel-collision .stage", ["cut.stl", "solid\nfacet"]);
        await page.locator("#alerts .message", { hasText: "cut.stl cannot be opened: " }).waitFor({ timeout: 30 * SECONDS });
        await drop(page, ".panel-collision .stage", ["a.txt", "x"]);
        await page.locator("#alerts .message", { hasText: "here are OBJ, STL" }).waitFor({ timeout: 30 * SECONDS });
        await page.getByRole("group", { name: "Second mesh" }).getByRole("radio", { name: "Sphere" }).check({ force: true });
        await page.waitForFunction(() => /3\d \d{3} triangles|4\d \d{3} triangles/.test(document.querySelector(".panel-collision .timing").textContent.replaceAll("\u2009", " ")),
                                   null, { timeout: 30 * SECONDS });
        assert.ok((await pairs(page)) > 0);
    });
}
