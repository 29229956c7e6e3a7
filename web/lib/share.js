// What visitors give to others.

// Into the clipboard; where the browser gives no access, a message has the text.
export async function copyText(text, app, said = "It is in the clipboard.") {
    try {
        await navigator.clipboard.writeText(text);
        app.message(said, "good");
    } catch {
        app.message(`The browser gives no access to the clipboard. The text is ${text}`);
    }
}
