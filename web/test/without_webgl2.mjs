// A page of a browser that has WebGL 1 alone.
export async function openWithoutWebGL2(open, hash, options) {
    const page = await open("test/blank.html", options);
    await page.addInitScript(() => {
        const { getContext } = HTMLCanvasElement.prototype;
        HTMLCanvasElement.prototype.getContext = function (name, ...rest) {
            return name === "webgl2" ? null : getContext.call(this, name, ...rest);
        };
    });
    await page.goto(new URL(hash, page.url()).href);
    return page;
}
