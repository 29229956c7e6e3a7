// What visitors give to others: texts and pictures. A race is told as {title, machine, parts: [{title, rows: [{name, ours,
// seconds}]}], link}.
import { timeText } from "./controls.js";
import { download } from "./files.js";

// Into the clipboard; where the browser gives no access, a message has the text.
export async function copyText(text, app, said = "It is in the clipboard.") {
    try {
        await navigator.clipboard.writeText(text);
        app.message(said, "good");
    } catch {
        app.message(`The browser gives no access to the clipboard. The text is ${text}`);
    }
}

export const machineText = (device) => [`${navigator.hardwareConcurrency ?? "?"} threads`, device].filter(Boolean).join(", ");
export const timesText = (ratio) => `${ratio < 10 ? ratio.toFixed(1) : Math.round(ratio)} times`;

export function raceText({ title, machine, parts, link }) {
    const lines = parts.map((part) => {
        const best = Math.min(...part.rows.filter(({ ours }) => ours).map(({ seconds }) => seconds));
        return `${part.title}: ` + part.rows.map(({ name, ours, seconds }) =>
            `${name} ${timeText(seconds)}${ours ? "" : ` (${timesText(seconds / best)})`}`).join(" · ");
    });
    return [`${title}, raced in my browser (${machine}):`, ...lines, link].join("\n");
}

// As bars on a card, in the page's colours.
export async function saveRacePicture({ title, machine, parts, link }, name) {
    const size = { width: 1200, height: 630 }, edge = 40, canvas = Object.assign(document.createElement("canvas"), size);
    const draw = canvas.getContext("2d"), look = getComputedStyle(document.documentElement);
    const color = (of) => look.getPropertyValue(`--${of}`);
    const write = (text, x, y, font, ink, align = "left") => {
        Object.assign(draw, { font: `${font} ${color("sans")}`, fillStyle: color(ink), textAlign: align });
        draw.fillText(text, x, y, size.width - 2 * edge);
        return x + draw.measureText(text).width;
    };
    draw.fillStyle = color("paper");
    draw.fillRect(0, 0, size.width, size.height);
    const after = write("Trommel", edge, 66, "700 40px", "ink");
    write(`${title}, raced in my browser`, after + 18, 66, "400 26px", "ink-2");
    write(machine, edge, 104, "400 19px", "ink-2");
    const lines = parts.reduce((sum, { rows }) => sum + rows.length + 1.15, 0);
    const step = Math.min(44, (size.height - 190) / lines), font = Math.min(21, step * 0.66);
    let y = 132;
    for (const { title: of, rows } of parts) {
        const slowest = Math.max(...rows.map(({ seconds }) => seconds));
        write(of, edge, y + step * 0.7, `600 ${font}px`, "ink");
        y += step;
        for (const { name: who, ours, seconds } of rows) {
            write(who, edge, y + step * 0.68, `400 ${font}px`, "ink");
            draw.fillStyle = color(ours ? "accent" : "line-strong");
            draw.beginPath();
            draw.roundRect(330, y + step * 0.16, Math.max(3, (660 * seconds) / slowest), step * 0.66, 4);
            draw.fill();
            write(timeText(seconds), size.width - edge, y + step * 0.68, `600 ${font}px`, "ink", "right");
            y += step;
        }
        y += step * 0.15;
    }
    write(link, edge, size.height - 26, "400 19px", "ink-2");
    download(await new Promise((resolve) => canvas.toBlob(resolve, "image/png")), `${name}.png`);
}
