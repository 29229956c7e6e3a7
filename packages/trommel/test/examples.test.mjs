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

// The examples' clocks stand still at a moment, so that all draw the same.
const hold = () => {
    globalThis.moment = 4000; // milliseconds
    const later = requestAnimationFrame;
    globalThis.requestAnimationFrame = draw => later(() => draw(globalThis.moment));
};
const drawn = before => Number(document.body.dataset.frames) >= before + 3;

async function litAfter(page, frames) {
    await page.waitForFunction(drawn, frames, { timeout: 150_000 });
    return page.evaluate(lit);
}

export default async function (t) {
    let plain = null;
    // Surfaces need integer textures. regl's particles draw on every path of WebGL 1, of which a device takes one by itself:
    // the others are forced.
    const forced = ['float', 'float-packed', 'packed'].map(path => ['regl', path]);
    for (const [name, path] of [['plain'], ['three'], ['babylon'], ['regl'], ...forced])
        await t.test(`${name}.html draws what the library leaves on the device${path ? `, path ${path}` : ''}`, async ({ open, shot, assert }) => {
            const page = await open('test/blank.html');
            if (path)
                await page.route(`**/examples/${name}.js`, async route => {
                    const text = await (await route.fetch()).text(), create = "{ engine: 'gl' }";
                    assert.ok(text.includes(create));
                    await route.fulfill({ contentType: 'text/javascript', body: text.replace(create, `{ engine: 'gl', path: '${path}' }`) });
                });
            await page.addInitScript(hold);
            await page.goto(new URL(`/examples/${name}.html`, page.url()).href);
            const { orange, blue } = await litAfter(page, 0);
            await shot(page, `example-${name}${path ? `-${path}` : ''}`);
            assert.ok(orange > 1500 && orange < 60_000, `${orange} pixels of particles`);
            if (name === 'regl')
                assert.equal(blue, 0);
            else
                assert.ok(blue > 5000 && blue < 90_000, `${blue} pixels of the surface`);
            plain ??= { orange, blue };
            if (name === 'three' || name === 'babylon')
                assert.deepEqual({ orange, blue }, plain, 'as many pixels as plain.html');
            const frames = await page.evaluate(() => {
                globalThis.moment += 1500;
                return Number(document.body.dataset.frames);
            });
            const later = await litAfter(page, frames);
            assert.ok(later.orange > 500 && later.orange !== orange, `${later.orange} pixels of particles, then ${orange}`);
        });
}
