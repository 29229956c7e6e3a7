// The examples, each in a browser: what they draw is there, moves, and is the same picture through each engine.

// Pixels that are lit: orange ones are particles, blue ones the surface.
const lit = () => {
    const canvas = document.querySelector('canvas');
    const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height });
    const context = copy.getContext('2d');
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let orange = 0, blue = 0;
    for (let i = 0; i < data.length; i += 4) {
        orange += data[i] > 150 && data[i + 2] < 100;
        blue += data[i + 2] > 40 && data[i] < data[i + 2];
    }
    return { orange, blue };
};

export default async function (t) {
    const seen = {};
    for (const name of ['plain', 'three', 'regl'])
        await t.test(`${name}.html draws what the library leaves on the device`, async ({ open, shot, assert }) => {
            const page = await open(`examples/${name}.html`);
            await page.waitForFunction(() => Number(document.body.dataset.frames) >= 3, null, { timeout: 150_000 });
            seen[name] = await page.evaluate(lit);
            await shot(page, `example-${name}`);
            const { orange, blue } = seen[name];
            assert.ok(orange > 1500 && orange < 60_000, `${orange} pixels of particles`);
            // The surface hides the particles behind it; its outline hardly depends on the moment.
            if (name === 'regl')
                assert.equal(blue, 0);
            else
                assert.ok(blue > 8000 && blue < 90_000, `${blue} pixels of the surface`);
            if (name === 'three')
                assert.ok(Math.abs(blue - seen.plain.blue) < 0.15 * seen.plain.blue, `${blue} against ${seen.plain.blue}`);
            const frames = await page.evaluate(() => Number(document.body.dataset.frames));
            await page.waitForFunction(before => Number(document.body.dataset.frames) > before, frames, { timeout: 60_000 });
        });
}
