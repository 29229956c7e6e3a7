// "See the code": the lines that each panel shows run as they are, in Node and in the browser, and say the same.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { projectOf } from "../lib/code_dialog.js";

// What each must say, and no longer line.
export const SAID = {
    surface: /^\d{4} vertices, \d{5} triangles\n\d+ bytes of GLB for any viewer$/,
    compaction: /^100 kept, in order: 0, 28, 56, 84, 3, \.\.\.$/,
    exposure: /^sun 255, sky \d+, ground \d+ of 255$/,
    collision: /^\d+ pairs of triangles meet\n20\.\d\d apart, further off; 0 within one$/,
    subdivision: /^8192 triangles, or \d{4} that are as good to 0\.002\n\d+ bytes of PLY$/,
    race: /^82556 triangles in \d+ ms$/,
    device: /^(cpu|gl): .+, \d threads, path/,
};

export default async function (t) {
    for (const [id, said] of Object.entries(SAID)) {
        await t.test(`the code of ${id} runs in Node and in the browser`, async ({ open, assert, root, folder }) => {
            const code = readFileSync(join(root, `web/code/${id}.js`), "utf8");
            const lines = code.trimEnd().split("\n");
            assert.ok(lines.length <= 14 && lines.every((line) => line.length <= 100), `${lines.length} lines`);

            // As an editor on the net does it with the project that it gets.
            const place = join(folder, `code-${id}`);
            rmSync(place, { recursive: true, force: true });
            mkdirSync(join(place, "node_modules"), { recursive: true });
            symlinkSync(join(root, "build/web/package"), join(place, "node_modules/trommel"));
            for (const [name, text] of Object.entries(projectOf(id, code).files))
                writeFileSync(join(place, name), text);
            const [program, ...rest] = JSON.parse(readFileSync(join(place, "package.json"), "utf8")).scripts.start.split(" ");
            assert.equal(program, "node");
            const { stdout } = await promisify(execFile)(process.execPath, rest, { cwd: place });
            assert.match(stdout.trim(), said);

            const page = await open("test/blank.html");
            const printed = await page.evaluate(async (name) => {
                const map = Object.assign(document.createElement("script"), { type: "importmap" });
                map.textContent = JSON.stringify({ imports: { trommel: "/trommel/index.js" } });
                document.head.append(map);
                const texts = [], log = console.log;
                console.log = (text) => texts.push(text);
                await import(`/code/${name}.js`);
                console.log = log;
                return texts.join("\n");
            }, id);
            assert.match(printed, said);
            if (!["device", "exposure", "race"].includes(id))
                assert.equal(printed, stdout.trim());
        });
    }

    await t.test("each panel shows its code, which can be copied and sent to an editor", async ({ open, shot, assert, root }) => {
        const page = await open("#compaction", { permissions: ["clipboard-read", "clipboard-write"] });
        for (const id of Object.keys(SAID)) {
            await page.getByRole("tab", { name: id }).click();
            await page.getByRole("button", { name: "Code" }).click();
            const dialog = page.getByRole("dialog"), code = readFileSync(join(root, `web/code/${id}.js`), "utf8");
            await dialog.waitFor();
            assert.equal(await dialog.locator("pre").textContent(), code);
            await dialog.getByRole("button", { name: "Copy" }).click();
            await page.locator("#messages .good").last().waitFor();
            assert.equal(await page.evaluate(() => navigator.clipboard.readText()), code);
            const fields = await dialog.locator("form").evaluate((form) => Object.fromEntries(new FormData(form)));
            assert.equal(fields["project[files][index.js]"].replaceAll("\r\n", "\n"), code);
            assert.equal(fields["project[template]"], "node");
            if (id === "subdivision")
                await shot(page, "code-dialog");
            await page.keyboard.press("Escape");
            await dialog.waitFor({ state: "detached" });
        }
    });
}
