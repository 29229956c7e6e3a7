// What is dropped on any panel goes to the one that shows it, by its bytes; headers and samples, archives and folders.
import { deflateRawSync, gzipSync } from "node:zlib";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { loadExr } from "../lib/exr.js";
import { drop } from "./drop.mjs";

const options = { viewport: { width: 840, height: 540 }, reducedMotion: "reduce" };
const TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
const POINTS = Array.from({ length: 60 }, (_, i) => `${Math.cos(i / 9)} ${Math.sin(i / 9)} ${i / 60}`).join("\n");
const PLY_MESH = `ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 4
property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n`;

// A cube of samples that fall off from the middle.
function samples(side) {
    return Buffer.from(Array.from({ length: side ** 3 }, (_, i) =>
        Math.max(0, 250 - (500 / side) * Math.hypot(i % side - side / 2, Math.floor(i / side) % side - side / 2, Math.floor(i / side ** 2) - side / 2))));
}
const MHD = (name, more = "") => `ObjectType = Image\nNDims = 3\nDimSize = 16 16 16\nElementType = MET_UCHAR\n${more}ElementSpacing = 1 1 2\nElementDataFile = ${name}\n`;
const NHDR = (name, more = "") => `NRRD0004\ntype: uint8\ndimension: 3\nsizes: 16 16 16\nencoding: raw\n${more}data file: ${name}\n`;

// An archive, packed or not.
function zip(files) {
    const parts = [], directory = [];
    let at = 0;
    for (const [name, content, packs] of files) {
        const plain = Buffer.from(content), data = packs ? deflateRawSync(plain) : plain, title = Buffer.from(name);
        const head = Buffer.alloc(30), entry = Buffer.alloc(46);
        head.writeUInt32LE(0x04034b50, 0);
        entry.writeUInt32LE(0x02014b50, 0);
        for (const [buffer, to] of [[head, 8], [entry, 10]]) {
            buffer.writeUInt16LE(packs ? 8 : 0, to);
            buffer.writeUInt32LE(data.length, to + 10);
            buffer.writeUInt32LE(plain.length, to + 14);
            buffer.writeUInt16LE(title.length, to + 18);
        }
        entry.writeUInt32LE(at, 42);
        parts.push(head, title, data);
        directory.push(entry, title);
        at += 30 + title.length + data.length;
    }
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(files.length, 10);
    end.writeUInt32LE(at, 16);
    return Buffer.concat([...parts, ...directory, end]);
}

export default async function (t) {
    const shown = (page) => page.locator('[role=tab][aria-selected="true"]').textContent();
    const said = (page, text) => page.locator(".messages .message", { hasText: text }).last().waitFor({ timeout: 60_000 });

    await t.test("each file goes to the panel that shows it, from every panel", async ({ open, root, assert }) => {
        const page = await open("#device", options);
        const hdr = await readFile(join(root, "tests/data/pictures/image1_128x85.hdr")), png = await readFile(join(root, "tests/data/pictures/basn0g16.png"));
        for (const [from, name, content, to, text] of [
            ["Device", "solid.obj", TETRAHEDRON, "Subdivision", "solid.obj: 4 triangles"],
            ["Surface", "faces.ply", PLY_MESH, "Subdivision", "faces.ply: 4 triangles"],
            ["Collision", "other.obj", TETRAHEDRON, "Collision", "other.obj: 4 triangles"],
            ["Exposure", "a.xyz", POINTS, "Surface", "a.xyz: 60 points"],
            ["Subdivision", "named-wrongly.obj", Buffer.concat([Buffer.from("NRRD0004\ntype: uint8\ndimension: 3\nsizes: 16 16 16\nencoding: raw\n\n"), samples(16)]), "Surface", "named-wrongly.obj: 16 × 16 × 16 samples of u8"],
            ["Race", "light.hdr", hdr, "Exposure", null],
            ["Compaction", "grey.png", png, "Exposure", null],
        ]) {
            await page.getByRole("tab", { name: from }).click();
            await page.locator(`#panel-${from.toLowerCase()} > *`).first().waitFor({ state: "attached" });
            await drop(page, `#panel-${from.toLowerCase()}`, [name, content]);
            await page.waitForFunction((wanted) => document.querySelector('[role=tab][aria-selected="true"]').textContent === wanted, to, { timeout: 60_000 });
            if (text)
                await said(page, text);
            else
                await page.waitForFunction((wanted) => document.querySelector(".picture-name")?.textContent.startsWith(wanted), name, { timeout: 60_000 });
            if (from !== to) {
                await page.goBack();
                assert.equal(await shown(page), from, "Back leads back");
            }
        }
        assert.equal(await page.locator("#alerts .message").count(), 0);
    });

    await t.test("a header and its samples become one file; alone it says what it lacks", async ({ open, root, assert }) => {
        const page = await open("#surface/grid=64", options);
        await page.locator(".stage").first().waitFor();
        const content = samples(16), skipped = Buffer.concat([Buffer.from("seven!!"), content]);
        const counts = [];
        for (const [name, header, bytes] of [["one.mhd", MHD("one.raw"), content], ["two.nhdr", NHDR("./two.raw"), content],
                                             ["three.mhd", MHD("three.raw", "HeaderSize = 7\n"), skipped], ["four.nhdr", NHDR("four.raw", "byte skip: 7\n"), skipped]]) {
            const raw = `${name.split(".")[0]}.raw`;
            await drop(page, ".stage", [raw, bytes], [name, header]);
            await said(page, `${name.replace("mhd", "mha").replace("nhdr", "nrrd")}: 16 × 16 × 16 samples of u8`);
            await page.waitForFunction(() => /[1-9]/.test(document.querySelector(".pipeline li:last-child b").textContent));
            counts.push(await page.textContent(".pipeline li:last-child b"));
        }
        assert.equal(new Set(counts).size, 1, counts.join());
        for (const [name, header] of [["one.mhd", MHD("one.raw")], ["two.nhdr", NHDR("two.raw")]]) {
            await drop(page, ".stage", [name, header]);
            await said(page, `${name} cannot be opened: its samples lie in ${name.split(".")[0]}.raw; drop both together.`);
        }
        // NIfTI pairs, whose headers are those of one file but for a word and where the samples begin.
        const whole = await readFile(join(root, "tests/data/volumes/anatomical_be_int16.nii")), header = Buffer.from(whole.subarray(0, 348));
        header.write("ni1", 344);
        header.writeFloatBE(7, 108);
        const image = Buffer.concat([Buffer.from("seven!!"), whole.subarray(352)]), found = [];
        for (const [name, ...list] of [["whole.nii", ["whole.nii", whole]], ["pair.nii", ["pair.hdr", header], ["pair.img", image]],
                                       ["packed.nii", ["packed.img.gz", gzipSync(image)], ["packed.hdr.gz", gzipSync(header)]]]) {
            await drop(page, ".stage", ...list);
            await said(page, `${name}: 33 × 41 × 25 samples of i16`);
            await page.waitForFunction(() => /[1-9]/.test(document.querySelector(".pipeline li:last-child b").textContent));
            found.push(await page.textContent(".pipeline li:last-child b"));
        }
        assert.equal(new Set(found).size, 1, found.join());
        await drop(page, ".stage", ["pair.hdr", header]);
        await said(page, "pair.hdr cannot be opened: its samples lie in pair.img; drop both together.");
    });

    await t.test("archives and folders", async ({ open, assert }) => {
        const page = await open("#exposure", options);
        await page.locator(".stage").first().waitFor();
        await drop(page, "#panel-exposure", ["all.zip", zip([["README.txt", "1 2 3\n4 5 6\n", true], ["data/one.mhd", MHD("one.raw"), true], ["data/one.raw", samples(16), true]])]);
        await said(page, "one.mha: 16 × 16 × 16 samples of u8");
        await drop(page, "#panel-surface", ["plain.zip", zip([["solid.obj", TETRAHEDRON, false]])]);
        await said(page, "solid.obj: 4 triangles");
        assert.equal(await shown(page), "Subdivision");
        await drop(page, "#panel-subdivision", ["cut.zip", zip([["solid.obj", TETRAHEDRON, true]]).subarray(0, 60)]);
        await said(page, "cut.zip cannot be opened: it is no zip archive, or cut short");
        // A folder, as browsers give one.
        await page.evaluate(([header, points]) => {
            const fileEntry = (file) => ({ isFile: true, file: (done) => done(file) });
            const inner = [fileEntry(new File([points], "cloud.xyz"))];
            const folderOf = (entries) => ({ isDirectory: true, createReader: () => ({ readEntries: (done) => done(entries.splice(0, 1)) }) });
            DataTransferItem.prototype.webkitGetAsEntry = () => folderOf([folderOf(inner), fileEntry(new File([header], "LICENSE"))]);
        }, ["free", POINTS]);
        await drop(page, "#panel-subdivision", ["folder", ""]);
        await said(page, "cloud.xyz: 60 points");
        await said(page, "cloud.xyz was opened, of 2 files.");
        assert.equal(await shown(page), "Surface");
    });

    await t.test("what the page does not read is named", async ({ open }) => {
        const page = await open("#surface/grid=64", options);
        await page.locator(".stage").first().waitFor();
        for (const [name, content, text] of [["a.dcm", Buffer.concat([Buffer.alloc(128), Buffer.from("DICM\0\0")]), "it is DICOM"],
                                             ["a.tif", Buffer.from("II*\0\x08\0\0\0"), "it is TIFF"], ["a.vti", '<?xml version="1.0"?>\n<VTKFile type="ImageData">', "it is XML of VTK"]]) {
            await drop(page, ".stage", [name, content]);
            await said(page, `${name} cannot be opened: ${text}`);
        }
    });

    await t.test("OpenEXR: one picture in every form that the page reads, and cut short", async ({ assert }) => {
        const fileOf = async (name) => new Uint8Array(await readFile(new URL(`../../fuzz/seeds/picture/${name}.exr`, import.meta.url)));
        const load = async (name) => loadExr(await fileOf(name));
        const half = await load("half_none"), whole = await load("float_zip");
        for (const name of ["half_rle", "half_zips", "half_zip", "half_piz", "half_pxr24", "tiled"])
            assert.deepEqual((await load(name)).data, half.data, name);
        const far = (a, b) => a.data.reduce((most, value, i) => Math.max(most, Math.abs(value - b.data[i])), 0);
        assert.ok(far(half, whole) < 2 ** -12 && far(await load("float_pxr24"), whole) < 2 ** -16);
        assert.equal(far(await load("depth"), whole), 0);
        const steps = await load("uint_piz"); // 2^32 / 85 from pixel to pixel
        assert.ok(steps.channels === 1 && Math.abs(steps.data[3] / (3 * 0x03030303) - 1) < 1e-6);
        for (const name of ["half_piz", "uint_piz", "half_pxr24", "tiled"]) {
            const file = await fileOf(name);
            for (let size = 4; size < file.length; size++)
                await assert.rejects(loadExr(file.subarray(0, size)), Error, `${name}, ${size} bytes`);
        }
        const data = process.env.TML_DATA; // real ones of several blocks and long codes
        const real = async (name) => (await loadExr(new Uint8Array(await readFile(join(data, "hdr/exr", `${name}.exr`))))).data;
        for (const [name, plain] of data ? [["f16_piz", "f16_zip"], ["tiled_mipmap_piz", "f16_zip"], ["f32_piz", "f32_zip"]] : [])
            assert.deepEqual(await real(name), await real(plain), name);
    });

    await t.test("OpenEXR: what it holds is what the same picture holds elsewhere", async ({ open, assert }) => {
        const page = await open("#exposure", options);
        await page.locator(".figures dd").first().waitFor();
        // Half floats of one line each, and without compression: 3 x 2 pixels of R, G, B.
        const values = [[1, 2, 4], [8, 0.5, 0.25]], attribute = (name, type, bytes) => Buffer.concat([Buffer.from(`${name}\0${type}\0`), Buffer.from(Uint32Array.of(bytes.length).buffer), bytes]);
        const ints = (...list) => Buffer.from(Int32Array.from(list).buffer);
        const channels = Buffer.concat([...["B", "G", "R"].map((name) => Buffer.concat([Buffer.from(`${name}\0`), ints(2, 0, 1, 1)])), Buffer.from([0])]);
        const header = Buffer.concat([ints(20000630, 2), attribute("channels", "chlist", channels), attribute("compression", "compression", Buffer.from([0])),
            attribute("dataWindow", "box2i", ints(5, 5, 7, 6)), Buffer.from([0])]);
        const lines = values.map((line, y) => {
            const pixels = Buffer.from(Float32Array.from([0, 0, 0, 0, 0, 0, ...line]).buffer);
            return Buffer.concat([ints(5 + y, pixels.length), pixels]);
        });
        const offsets = Buffer.alloc(16);
        lines.forEach((_, y) => offsets.writeBigUInt64LE(BigInt(header.length + 16 + y * lines[0].length), 8 * y));
        const exr = Buffer.concat([header, offsets, ...lines]);
        await drop(page, "#panel-exposure", ["six.exr", exr]);
        await page.waitForFunction(() => document.querySelector(".picture-name").textContent === "six.exr: 3 × 2, OpenEXR, none");
        await page.waitForFunction(() => [...document.querySelectorAll(".figures dd")].some((cell) => cell.textContent === "6"));
        const all = await page.$$eval(".figures > *", (cells) => cells.map((cell) => cell.textContent));
        const mean = Number(all[all.indexOf("Mean") + 1]); // of luminance: red's share of it
        assert.ok(Math.abs(mean - (0.2126 * 15.75) / 6) < 1e-3, String(mean));
        await drop(page, "#panel-exposure", ["cut.exr", exr.subarray(0, exr.length - 5)]);
        await said(page, "cut.exr cannot be opened: it is cut short or damaged");
        await page.getByRole("radio", { name: "A square in Dresden" }).check({ force: true });
        await page.waitForFunction(() => /^A square in Dresden: 512 × 256/.test(document.querySelector(".picture-name").textContent));
        const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as PNG" }).click()]);
        assert.equal(file.suggestedFilename(), "a-square-in-dresden-exposed.png");
        const png = await readFile(await file.path());
        assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [512, 256]);
    });
}
