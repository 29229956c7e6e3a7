// A panel that waits for its program in the library: a sentence of what it will be.
export function place(id, title, sentence) {
    return {
        id,
        title,
        create(host) {
            const text = document.createElement("p");
            text.className = "place";
            text.textContent = `${sentence} The library has no such program yet.`;
            host.append(text);
            return { show() {}, hide() {} };
        },
    };
}
