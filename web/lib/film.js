// A film of what is shown, turned once about: for who sends more than a picture.
import { download } from "./files.js";

const SECONDS = 5, FRAMES = 30, WIDEST = 1280;
const TYPES = ["video/mp4;codecs=avc1.42E01F", "video/webm;codecs=vp9", "video/webm"];

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

// draw() draws a picture into canvas at once; camera: an OrbitCamera; tell(seconds that are left).
export async function filmTurn({ canvas, camera, draw, background, name, tell }) {
    const type = globalThis.MediaRecorder && TYPES.find((one) => MediaRecorder.isTypeSupported(one));
    if (!type || !canvas.captureStream)
        throw new Error("This browser records no films of pages.");
    const scale = Math.min(1, WIDEST / canvas.width), even = (length) => 2 * Math.round((length * scale) / 2);
    // With what lies behind the transparent canvas.
    const copy = Object.assign(document.createElement("canvas"), { width: even(canvas.width), height: even(canvas.height) });
    const picture = copy.getContext("2d", { alpha: false });
    const recorder = new MediaRecorder(copy.captureStream(FRAMES), { mimeType: type, videoBitsPerSecond: 8_000_000 }), parts = [];
    recorder.ondataavailable = ({ data }) => parts.push(data);
    const ended = new Promise((resolve, reject) => Object.assign(recorder, { onstop: resolve, onerror: ({ error }) => reject(error) }));
    const { turns } = camera, yaw = camera.wanted.yaw;
    camera.turns = false;
    try {
        recorder.start();
        const start = performance.now();
        for (let passed = 0; passed < SECONDS; passed = (performance.now() - start) / 1000) {
            camera.yaw = camera.wanted.yaw = yaw + (2 * Math.PI * passed) / SECONDS;
            draw();
            picture.fillStyle = background;
            picture.fillRect(0, 0, copy.width, copy.height);
            picture.drawImage(canvas, 0, 0, copy.width, copy.height);
            tell(Math.ceil(SECONDS - passed));
            await nextFrame();
        }
    } finally {
        camera.yaw = camera.wanted.yaw = yaw;
        camera.turns = turns;
        if (recorder.state !== "inactive")
            recorder.stop();
    }
    await ended;
    download(new Blob(parts, { type }), `${name}.${type.includes("mp4") ? "mp4" : "webm"}`);
}
