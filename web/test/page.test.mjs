// The page's shell: tabs, colours, messages.
import { picture } from "./pixels.mjs";

const PANELS = ["Surface", "Compaction", "Exposure", "Collision", "Subdivision", "Device"];

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
        assert.equal(await shown(), "Subdivision");
        assert.equal(await page.locator('[role=tab][tabindex="0"]').count(), 1);
        await page.locator(".skip").focus();
        await page.keyboard.press("Enter");
        assert.equal(await page.evaluate(() => document.activeElement.id), "panels");
        assert.equal(await page.evaluate(() => location.hash), "#subdivision");
        await page.evaluate(() => (location.hash = "#collision"));
        await page.locator("#panel-collision").waitFor();
        assert.equal(await shown(), "Collision");
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

    await t.test("a file dropped where none is opened gets a message, which can be dismissed", async ({ open, assert }) => {
        const page = await open("#device");
        await page.locator("#panel-device h2").first().waitFor({ state: "attached" });
        const transfer = await page.evaluateHandle(() => {
            const made = new DataTransfer();
            made.items.add(new File(["0 0 0"], "a.xyz"));
            return made;
        });
        await page.dispatchEvent("body", "dragenter", { dataTransfer: transfer });
        assert.ok(await page.locator("#drop").isVisible());
        await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
        assert.ok(await page.locator("#drop").isHidden());
        const message = page.locator("#alerts .message");
        await message.waitFor();
        assert.match(await message.textContent(), /Device panel opens no files/);
        await message.getByRole("button", { name: "Dismiss" }).click();
        assert.equal(await message.count(), 0);
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
