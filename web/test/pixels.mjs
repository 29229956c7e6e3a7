// What is in a screenshot, decoded by the browser that made it.

// Takes away what lies over the stage and is not of the picture.
export async function clearMessages(page) {
    await page.evaluate(() => document.querySelectorAll(".message, .timing").forEach((one) => (one.hidden = true)));
}

// The pixels of a picture of the element, as numbers from 0 to 255: {width, height, data (RGBA)}.
export async function picture(page, selector) {
    const png = await page.locator(selector).screenshot();
    const { width, height, text } = await page.evaluate(async (base64) => {
        const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const context = canvas.getContext("2d");
        context.drawImage(bitmap, 0, 0);
        const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
        let out = "";
        for (let i = 0; i < data.length; i += 32768)
            out += String.fromCharCode(...data.subarray(i, i + 32768));
        return { width: bitmap.width, height: bitmap.height, text: btoa(out) };
    }, png.toString("base64"));
    return { width, height, data: Buffer.from(text, "base64") };
}

// The share of pixels for which is(r, g, b).
export function share({ data }, is) {
    let found = 0;
    for (let i = 0; i < data.length; i += 4)
        found += is(data[i], data[i + 1], data[i + 2]) ? 1 : 0;
    return (4 * found) / data.length;
}

// The share of pixels that differ clearly between two pictures of one size.
export function difference(a, b) {
    let found = 0;
    for (let i = 0; i < a.data.length; i += 4) {
        const way = Math.abs(a.data[i] - b.data[i]) + Math.abs(a.data[i + 1] - b.data[i + 1]) + Math.abs(a.data[i + 2] - b.data[i + 2]);
        found += way > 40 ? 1 : 0;
    }
    return (4 * found) / a.data.length;
}

// Red well above blue: clay, which nothing else on the stage is.
export const isClay = (r, g, b) => r > 60 && r > 1.35 * b;
