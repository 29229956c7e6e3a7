// The page's shell: tabs, theme, messages, dropped files, and what all panels share: one canvas, one
// WebGL context, one Trommel instance. The last two are made when a panel first asks for them.
//
// A panel is a module panels/NAME.js:
//     export default { id, title, create(host, app) }
// create gets an empty section, and is called when the panel is first shown. It returns
//     { show(), hide(), frame?(seconds), picture?(), apply?(settings), contextLost?(), contextRestored?() }
// apply gets what an address says that was followed since. picture draws what is shown now, where frame may not.
// frame is called once for each app.requestFrame() while the panel is shown, with the seconds since
// the page began. contextLost and contextRestored come whether it is shown or not; app.gl's
// objects are gone at the first, and app.trommel is a new promise at the second.

const panels = [
    { id: "surface", title: "Surface" },
    { id: "compaction", title: "Compaction" },
    { id: "exposure", title: "Exposure" },
    { id: "collision", title: "Collision" },
    { id: "subdivision", title: "Subdivision" },
    { id: "race", title: "Race" },
    { id: "device", title: "Device" },
];

// Which panels show files of a kind (drop.js), the first where another one is shown.
const PANEL_OF = { volume: ["surface"], points: ["surface"], picture: ["exposure"], mesh: ["subdivision", "collision"] };

const element = (id) => document.getElementById(id);
let shown = null;

// ---- messages ------------------------------------------------------------------------------------

const messageSeconds = { info: 6, good: 6, error: 20 };

// Shows text for a while, and has screen readers say it: kind is "info", "good" or "error". offer: {text, onclick}, a
// button beside it, which stays as long as errors do.
function message(text, kind = "info", offer = null) {
    // What fails meanwhile fails by that, which was said.
    if (kind === "error" && (app.lost || context?.isContextLost()) && /context (was|is) lost/.test(text))
        return;
    const line = document.createElement("p");
    line.className = `message ${kind}`;
    line.textContent = text;
    const close = document.createElement("button");
    close.type = "button";
    close.ariaLabel = "Dismiss";
    close.textContent = "×";
    close.onclick = () => line.remove();
    if (offer)
        line.append(Object.assign(document.createElement("button"), {
            type: "button", className: "offer", textContent: offer.text, onclick: () => { line.remove(); offer.onclick(); },
        }));
    line.append(close);
    const region = element(kind === "error" ? "alerts" : "messages");
    while (region.childElementCount >= 3)
        region.firstElementChild.remove();
    region.append(line);
    setTimeout(() => line.remove(), 1000 * (messageSeconds[offer ? "error" : kind] ?? 6));
}

// ---- help ----------------------------------------------------------------------------------------

// Fingers do not hover: a tap on a name says what its title says.
addEventListener("click", ({ target }) => {
    if (!matchMedia("(pointer: coarse)").matches || target.closest("button, a, input, select, summary"))
        return;
    const named = target.closest("[title]");
    if (named?.title)
        message(named.title);
});

// ---- theme ---------------------------------------------------------------------------------------

const themes = ["", "light", "dark"];
const themeNames = { "": "as the system", light: "light", dark: "dark" };
const themeIcons = {
    "": '<path d="M12 4a8 8 0 0 0 0 16z" fill="currentColor"/><circle cx="12" cy="12" r="8"/>',
    light: '<circle cx="12" cy="12" r="4"/><path d="M12 3v2m0 14v2M3 12h2m14 0h2M5.6 5.6l1.5 1.5m9.8 9.8 1.5 1.5m0-12.8-1.5 1.5m-9.8 9.8-1.5 1.5"/>',
    dark: '<path d="M19 14.5A8 8 0 0 1 9.5 5a8 8 0 1 0 9.5 9.5z"/>',
};
const themeHandlers = new Set();
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
let theme = ""; // as chosen

function applyTheme(next) {
    theme = themes.includes(next) ? next : "";
    document.documentElement.dataset.theme = theme || (systemIsDark.matches ? "dark" : "light");
    try {
        localStorage.setItem("trommel-theme", theme);
    } catch {
        // Kept for this visit alone.
    }
    const button = element("theme");
    button.ariaLabel = button.title = `Colours: ${themeNames[theme]}`;
    button.innerHTML = `<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" aria-hidden="true">${themeIcons[theme]}</svg>`;
    // What has just been set is computed by the next frame.
    requestAnimationFrame(() => themeHandlers.forEach((handler) => handler()));
}

function storedTheme() {
    try {
        return localStorage.getItem("trommel-theme");
    } catch {
        return "";
    }
}

element("code").onclick = () => {
    import("./lib/code_dialog.js").then(({ showCode }) => showCode(shown, app)).catch(tellFailure);
};

element("theme").onclick = () => applyTheme(themes[(themes.indexOf(theme) + 1) % themes.length]);
systemIsDark.addEventListener("change", () => applyTheme(theme));

// ---- the canvas, its context and Trommel ----------------------------------------------------------

const canvas = document.createElement("canvas");
canvas.className = "stage-canvas";

const resized = new ResizeObserver(([entry]) => {
    const scale = Math.min(devicePixelRatio, 2);
    const width = Math.max(1, Math.round(entry.contentRect.width * scale));
    const height = Math.max(1, Math.round(entry.contentRect.height * scale));
    if (width === canvas.width && height === canvas.height)
        return;
    canvas.width = width;
    canvas.height = height;
    app.requestFrame();
});
resized.observe(canvas);

let context; // WebGL 2, or 1, or null
const opened = new Map(); // promises of instances by the package's module: index, or surface, which is the smaller

function contextOf() {
    if (context !== undefined)
        return context;
    const attributes = { alpha: true, premultipliedAlpha: true, antialias: true, powerPreference: "high-performance" };
    context = canvas.getContext("webgl2", attributes) ?? canvas.getContext("webgl", attributes);
    if (!context)
        message("This browser offers no WebGL; the panels that draw with it stay empty.", "error");
    else if (!("bindSampler" in context))
        message("This browser offers no WebGL 2: the processor computes what the device would.");
    return context;
}

function openTrommel(module, before = Promise.resolve()) {
    const promise = before.then(() => import(`./trommel/${module}.js`)).then(({ Trommel }) => Trommel.create(contextOf()));
    opened.set(module, promise);
    promise.catch(tellFailure);
    return promise;
}

canvas.addEventListener("webglcontextlost", (event) => {
    // Without this the browser would not restore it.
    event.preventDefault();
    app.lost = true;
    for (const one of opened.values())
        one.then((trommel) => trommel.lost(), () => {});
    for (const panel of panels)
        panel.instance?.contextLost?.();
    message("The graphics context was lost. It comes back by itself as soon as the browser can.");
});
canvas.addEventListener("webglcontextrestored", () => {
    app.lost = false;
    // Panels wait for these promises, so none sees the old instance or half of the new one.
    const again = [...opened].map(([module, one]) => openTrommel(module, one.then((trommel) => trommel.close()).catch(() => {})));
    Promise.all(again).then(() => message("The graphics context is back.", "good"), () => {});
    for (const panel of panels)
        panel.instance?.contextRestored?.();
    app.requestFrame();
});

function tellFailure(error) {
    message(error.message, "error");
}

// ---- frames --------------------------------------------------------------------------------------

let framePending = false;

function frame(milliseconds) {
    framePending = false;
    if (app.lost || context?.isContextLost())
        return;
    try {
        shown?.instance?.frame?.(milliseconds / 1000);
    } catch (error) {
        // The context may be lost before its event has come, which tells it.
        if (context?.isContextLost())
            return;
        // Not asked for again: a panel that fails does so once, not sixty times a second.
        console.error(error);
        tellFailure(error);
    }
}

// ---- what panels get -----------------------------------------------------------------------------

const app = {
    // WebGL 2, or where there is none WebGL 1, or null.
    get gl() {
        return contextOf();
    },
    lost: false,
    // Promise of the shared instance, on gl where that is WebGL 2 and works, otherwise on the CPU engine; another
    // one after a lost context.
    get trommel() {
        return opened.get("index") ?? openTrommel("index");
    },
    // The same for surfaces and fields alone, where nothing more was asked for.
    get surfaces() {
        return opened.get("surface") ?? opened.get("index") ?? openTrommel("surface");
    },

    // Moves the canvas into host, which it fills. Ask for it in show(): one panel has it at a time.
    // Its background is transparent.
    canvas(host) {
        if (canvas.parentNode !== host)
            host.append(canvas);
        return canvas;
    },
    // The shown panel's frame is called once, at the browser's next.
    requestFrame() {
        if (framePending)
            return;
        framePending = true;
        requestAnimationFrame(frame);
    },
    message,
    // handler(file, kind) gets what is dropped on the page or opened, and is of a kind that the panel shows (PANEL_OF), or null.
    onFiles(handler) {
        creating.onFiles = handler;
    },
    // Opens what was dropped or chosen, or a promise of it, in the panel of that id, or the one that shows such files; lists
    // of files as drop.js has it.
    async openFiles(files, wanted = null) {
        const { chosen } = await import("./lib/drop.js");
        const { file, kind, others } = await chosen(await files);
        const shows = !wanted && (PANEL_OF[kind]?.includes(shown.id) || (!kind && shown.onFiles));
        const panel = shows ? shown : panels.find(({ id }) => id === (wanted ?? (PANEL_OF[kind] ?? ["surface"])[0]));
        if (panel !== shown) {
            history.pushState(null, "", addressOf(panel));
            await select(panel);
        }
        if (others)
            message(`${file.name} was opened, of ${others + 1} files.`);
        await panel.onFiles?.(file, kind);
    },
    // What a link to this page says after #PANEL/, as URLSearchParams: for the panel being created.
    settings() {
        return new URLSearchParams(creating.settings ?? "");
    },
    // Puts the shown panel's settings into the page's address, so that it can be sent to others.
    keepSettings(settings) {
        shown.settings = new URLSearchParams(settings).toString();
        if (location.hash || shown.settings)
            history.replaceState(null, "", addressOf(shown));
    },
    // The picture that is shown, at twice its size, as a PNG file.
    async savePicture(name) {
        const { width, height } = canvas, { instance } = shown;
        Object.assign(canvas, { width: 2 * width, height: 2 * height });
        (instance.picture ?? (() => instance.frame(performance.now() / 1000))).call(instance);
        const blob = new Promise((resolve) => canvas.toBlob(resolve, "image/png")); // of this moment
        Object.assign(canvas, { width, height });
        app.requestFrame();
        const { download } = await import("./lib/files.js");
        download(await blob, `${name}.png`);
    },
    // Five seconds of it, turned once about by the camera, as a film. button: tells how long that takes.
    async saveFilm(name, camera, button) {
        const { instance } = shown, { textContent } = button;
        button.disabled = true;
        try {
            const { filmTurn } = await import("./lib/film.js");
            const draw = () => {
                app.requestFrame();
                (instance.picture ?? (() => instance.frame(performance.now() / 1000))).call(instance);
            };
            const background = getComputedStyle(document.documentElement).getPropertyValue("--film");
            await filmTurn({ canvas, camera, draw, background, name, tell: (left) => (button.textContent = `${left} s`) });
        } catch (error) {
            tellFailure(error);
        } finally {
            Object.assign(button, { disabled: false, textContent });
        }
    },
    // handler() is called after colours have changed; read them from computed styles.
    onTheme(handler) {
        themeHandlers.add(handler);
    },
    reducedMotion: matchMedia("(prefers-reduced-motion: reduce)"),
};

// ---- tabs ----------------------------------------------------------------------------------------

let creating = null;

for (const panel of panels) {
    panel.tab = document.createElement("button");
    panel.tab.id = `tab-${panel.id}`;
    panel.tab.type = "button";
    panel.tab.role = "tab";
    panel.tab.textContent = panel.title;
    panel.tab.setAttribute("aria-controls", `panel-${panel.id}`);
    panel.tab.onclick = () => go(panel);
    element("tabs").append(panel.tab);

    panel.host = document.createElement("section");
    panel.host.id = `panel-${panel.id}`;
    panel.host.className = `panel panel-${panel.id}`;
    panel.host.role = "tabpanel";
    panel.host.setAttribute("aria-labelledby", panel.tab.id);
    panel.host.hidden = true;
    element("panels").append(panel.host);
}

// By a link of its own the address would lose the panel and its settings.
document.querySelector(".skip").onclick = (event) => {
    event.preventDefault();
    element("panels").focus();
};

element("tabs").onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (!step)
        return;
    event.preventDefault();
    const at = panels.indexOf(shown);
    const next = Number.isFinite(step) ? (at + step + panels.length) % panels.length
                                       : step < 0 ? 0 : panels.length - 1;
    panels[next].tab.focus();
    go(panels[next]);
};

async function select(panel) {
    if (panel === shown)
        return;
    shown?.instance?.hide();
    shown = panel;
    for (const other of panels) {
        other.host.hidden = other !== panel;
        other.tab.ariaSelected = String(other === panel);
        other.tab.tabIndex = other === panel ? 0 : -1;
    }
    panel.tab.scrollIntoView({ block: "nearest", inline: "center" });
    document.title = panel.id === "surface" ? "Trommel" : `${panel.title}: Trommel`;
    try {
        panel.module ??= import(`./panels/${panel.id}.js`);
        const { default: made } = await panel.module;
        if (!panel.instance) {
            creating = panel;
            panel.instance = made.create(panel.host, app);
        }
        if (panel === shown) {
            panel.instance.show();
            app.requestFrame();
        }
    } catch (error) {
        panel.module = null; // another visit tries again
        console.error(error);
        tellFailure(error);
    }
}

function fromHash() {
    const id = location.hash.slice(1).split("/")[0];
    return panels.find((panel) => panel.id === id);
}
const addressOf = ({ id, settings }) => `#${id}${settings ? `/${settings}` : ""}`;

// As a step of the visitor's, from which Back leads back.
function go(panel) {
    if (panel === shown)
        return;
    history.pushState(null, "", addressOf(panel));
    select(panel);
}

// To what the address says: at the start, by Back and Forward, or pasted into it.
function follow() {
    const panel = fromHash() ?? panels[0];
    panel.settings = location.hash.split("/").slice(1).join("/");
    if (location.hash && !fromHash())
        history.replaceState(null, "", addressOf(panel));
    panel.instance?.apply?.(new URLSearchParams(panel.settings));
    select(panel);
}
addEventListener("popstate", follow);

// ---- dropped files -------------------------------------------------------------------------------

const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
let dragDepth = 0; // dragenter and dragleave come for each element that is crossed

const FILES_MOST = 2000; // of a folder
async function filesOfEntry(entry, list) {
    if (list.length >= FILES_MOST)
        throw new Error(`The folder has more than ${FILES_MOST} files.`);
    if (entry.isFile) {
        list.push(await new Promise((resolve, reject) => entry.file(resolve, reject)));
        return;
    }
    const reader = entry.createReader();
    for (let some; (some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))).length;)
        for (const one of some)
            await filesOfEntry(one, list);
}

// All files of a drop, those in folders, too. For the event itself: what is dropped is gone after it.
function droppedFiles(transfer) {
    const plain = [...transfer.files], entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.some(({ isDirectory }) => isDirectory))
        return Promise.resolve(plain);
    return (async () => {
        const list = [];
        for (const entry of entries)
            await filesOfEntry(entry, list);
        return list;
    })();
}

addEventListener("dragenter", (event) => {
    if (!carriesFiles(event))
        return;
    dragDepth++;
    element("drop").hidden = false;
});
addEventListener("dragleave", (event) => {
    if (carriesFiles(event) && --dragDepth <= 0)
        element("drop").hidden = true;
});
addEventListener("dragover", (event) => {
    if (carriesFiles(event))
        event.preventDefault();
});
addEventListener("drop", (event) => {
    if (!carriesFiles(event))
        return;
    event.preventDefault();
    dragDepth = 0;
    element("drop").hidden = true;
    // Now: what is dropped is gone after the event.
    app.openFiles(droppedFiles(event.dataTransfer)).catch(tellFailure);
});

// ---- start ---------------------------------------------------------------------------------------

// Built sites have a list of their files, and work without a network (offline.js).
if (document.documentElement.dataset.offline !== undefined)
    navigator.serviceWorker?.register("offline.js").catch(() => {}); // not everywhere: it works with one, then

applyTheme(storedTheme());
follow();
