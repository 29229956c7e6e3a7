// "See the code": the lines that do what a panel does (code/PANEL.js, which the tests run as they are), to be copied, or
// opened in an editor on the net, which gets them by a form when one asks for it.
import { NAME, PUBLIC, VERSION } from "./addresses.js";
import { make } from "./controls.js";
import { copyText } from "./share.js";

const EDITOR = "https://stackblitz.com/run"; // developer.stackblitz.com/platform/api/post-api

// What the editor gets: files by name, to be run by Node.
export function projectOf(title, code) {
    return {
        title: `Trommel: ${title}`, description: `What Trommel's ${title} panel does, in a few lines`, template: "node",
        files: {
            "index.js": code,
            "package.json": JSON.stringify({ name: `${NAME}-${title.toLowerCase()}`, private: true, type: "module", scripts: { start: "node index.js" },
                                             dependencies: { [NAME]: `^${VERSION}` } }, null, 2),
        },
    };
}

function formOf({ title, description, template, files }) {
    const form = make("form", { method: "post", action: EDITOR, target: "_blank", rel: "noopener" });
    const fields = { title, description, template, ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`files][${name}`, text])) };
    for (const [name, value] of Object.entries(fields))
        form.append(make("input", { type: "hidden", name: `project[${name}]`, value }));
    form.append(make("button", { className: "button", textContent: "Open in StackBlitz" }));
    return form;
}

// Shows it for the panel {id, title}.
export async function showCode({ id, title }, app) {
    const answer = await fetch(new URL(`../code/${id}.js`, import.meta.url));
    if (!answer.ok)
        throw new Error(`The code of ${title} cannot be read: ${answer.status} ${answer.statusText}`);
    const code = await answer.text();
    const copy = make("button", { type: "button", className: "button primary", textContent: "Copy", onclick: () => copyText(code, app) });
    const close = make("button", { type: "button", className: "icon-button", ariaLabel: "Close", textContent: "×", onclick: () => dialog.close() });
    const dialog = make("dialog", { className: "code card", onclose: () => dialog.remove() },
        make("header", {}, make("h2", { textContent: `${title}, in code` }), close),
        make("pre", { tabIndex: 0, role: "region", "aria-label": "Code" }, make("code", { textContent: code })),
        make("footer", { className: "buttons" }, copy, formOf(projectOf(title, code)),
            make("small", { className: "muted" }, "JavaScript with ", make("code", { textContent: `npm install ${NAME}` }), ", in Node and in browsers.",
                PUBLIC ? "" : " The package is not on npm yet: until then the editor shows the lines and does not find it; here it lies beside the page.")));
    dialog.ariaLabel = `${title}, in code`;
    // A click beside it closes it.
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    document.body.append(dialog);
    dialog.showModal();
    copy.focus();
}
