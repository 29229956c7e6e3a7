// Drops files on a part of the page, as if from the desktop: [name, contents as string or bytes] each.
export async function drop(page, where, ...list) {
    const transfer = await page.evaluateHandle((all) => {
        const made = new DataTransfer();
        for (const [name, base64] of all)
            made.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
        return made;
    }, list.map(([name, content]) => [name, Buffer.from(content).toString("base64")]));
    for (const type of ["dragenter", "dragover", "drop"])
        await page.dispatchEvent(where, type, { dataTransfer: transfer });
}
