import { Trommel } from "trommel";

const t = await Trommel.create(globalThis.document?.createElement("canvas"));
console.log(`${t.engine}: ${t.device.name}, ${t.device.threads} threads, path ${t.path}`);
// How that was decided: tests within tests, of which the passed ones count.
const tell = ({ name, passed, detail, children }, depth) => {
    console.log(`${"  ".repeat(depth)}${passed ? "yes" : "no "} ${name} ${detail}`);
    children.forEach((child) => tell(child, depth + 1));
};
t.tests.forEach((test) => tell(test, 0));
t.close();
