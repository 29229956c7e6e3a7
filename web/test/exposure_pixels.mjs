// What the page's canvas shows: taken from screenshots, since a canvas that is drawn keeps no pixels.

// {mean, colors}: of the canvas, in a small form; waits until isAsWanted(picture), if given.
export async function pictureOf(page, isAsWanted = (picture) => picture.colors > 200) {
    const end = Date.now() + 60_000;
    for (;;) {
        const png = await page.locator(".exposure .stage-canvas").screenshot();
        const picture = await page.evaluate(async (bytes) => {
            const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))]));
            const canvas = new OffscreenCanvas(bitmap.width, bitmap.height), context = canvas.getContext("2d");
            context.drawImage(bitmap, 0, 0);
            const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
            let sum = 0;
            for (let i = 0; i < data.length; i += 4) sum += data[i] + data[i + 1] + data[i + 2];
            return { mean: sum / (data.length * 0.75), colors: new Set(new Uint32Array(data.buffer)).size };
        }, png.toString("base64"));
        if (isAsWanted(picture)) return picture;
        if (Date.now() > end) throw new Error(`the picture stays as ${JSON.stringify(picture)}`);
        await page.waitForTimeout(100);
    }
}
