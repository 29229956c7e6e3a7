#!/usr/bin/env python3
"""Measures pictures in a second way, and writes what tests/test_image_references.c compares with.

    tests/reference_images.py COLLECTION > tests/data/pictures/references.txt

COLLECTION is the folder that TML_DATA names. Files are read by code of this script's own, after
the descriptions of the formats (Ward: Real Pixels, 1991; the OpenEXR file layout; RFC 2083), and
measured in double: nothing here comes from the library. Needs numpy (Debian: python3-numpy).
"""
import os
import struct
import sys
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))

# ---- Radiance and PFM -------------------------------------------------------------------------


def read_scan_line(data, at, width):
    """One line of RGBE pixels, and where the next one begins."""
    if 8 <= width < 32768 and data[at : at + 2] == b"\2\2" and data[at + 2] < 128:
        at += 4
        line = np.zeros((4, width), np.uint8)
        for component in range(4):
            x = 0
            while x < width:
                count = data[at]
                if count > 128:
                    line[component, x : x + count - 128] = data[at + 1]
                    x, at = x + count - 128, at + 2
                else:
                    line[component, x : x + count] = np.frombuffer(data, np.uint8, count, at + 1)
                    x, at = x + count, at + 1 + count
        return line.T, at
    pixels, shift = [], 0
    while len(pixels) < width:
        pixel = data[at : at + 4]
        at += 4
        if pixel[:3] == b"\1\1\1":  # repeats the pixel before; more such in a row: higher digits
            pixels += [pixels[-1]] * (pixel[3] << shift)
            shift += 8
        else:
            pixels.append(pixel)
            shift = 0
    return np.frombuffer(b"".join(pixels), np.uint8).reshape(width, 4), at


def read_radiance(data):
    header, at = data.split(b"\n\n", 1)[0], data.index(b"\n\n") + 2
    end = data.index(b"\n", at)
    order, height, across, width = data[at:end].split()
    if order != b"-Y" or across != b"+X":
        raise ValueError("only pictures from the top left are measured")
    if b"EXPOSURE" in header or b"COLORCORR" in header:
        raise ValueError("only pictures without corrections are measured")
    at, lines = end + 1, []
    for _ in range(int(height)):
        line, at = read_scan_line(data, at, int(width))
        lines.append(line)
    codes = np.array(lines).astype(np.float64)
    scale = np.where(codes[..., 3:] > 0, np.exp2(codes[..., 3:] - 136.0), 0.0)
    return codes[..., :3] * scale


def read_pfm(data):
    kind, size, scale, rest = data.split(b"\n", 3)
    width, height = (int(word) for word in size.split())
    channels = 3 if kind == b"PF" else 1
    order = "<f4" if float(scale) < 0 else ">f4"
    values = np.frombuffer(rest, order, width * height * channels)
    return values.reshape(height, width, channels)[::-1].astype(np.float64)


# ---- PNG --------------------------------------------------------------------------------------


def paeth(left, above, corner):
    estimate = left + above - corner
    distances = abs(estimate - left), abs(estimate - above), abs(estimate - corner)
    return (left, above, corner)[distances.index(min(distances))]


def unfilter(kind, line, above, step):
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        guess = (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))[kind]
        line[i] = (line[i] + guess) & 255


def from_srgb(code):
    return np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)


def read_png(data):
    at, packed, gamma = 8, b"", 0
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + size]
        at += 12 + size
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", body)
        elif kind == b"gAMA":
            gamma = struct.unpack(">I", body)[0]
        elif kind == b"IDAT":
            packed += body
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[color]
    if interlaced or depth < 8:
        raise ValueError("only plain PNG is measured")
    step = channels * depth // 8
    raw, above, lines = bytearray(zlib.decompress(packed)), bytearray(width * step), []
    for y in range(height):
        first = y * (width * step + 1)
        line = raw[first + 1 : first + 1 + width * step]
        unfilter(raw[first], line, above, step)
        lines.append(line)
        above = line
    codes = np.frombuffer(b"".join(lines), ">u2" if depth == 16 else "u1")
    codes = codes.reshape(height, width, channels) / (65535.0 if depth == 16 else 255.0)
    return codes if gamma == 100000 else from_srgb(codes)


# ---- OpenEXR ----------------------------------------------------------------------------------

NONE, RLE, ZIPS, ZIP, PIZ, PXR24 = range(6)
LINES = {NONE: 1, RLE: 1, ZIPS: 1, ZIP: 16, PIZ: 32, PXR24: 16}


class Bits:
    """The bits of some bytes, the highest first."""

    def __init__(self, data):
        self.bits = np.unpackbits(np.frombuffer(data, np.uint8)).tolist()
        self.at = 0

    def take(self, count):
        value = 0
        for bit in self.bits[self.at : self.at + count]:
            value = value << 1 | bit
        self.at += count
        return value


def huffman_codes(bits, least, most):
    """(length, code) of each symbol, of which only the lengths are stored."""
    lengths, symbol = {}, least
    while symbol <= most:
        length = bits.take(6)
        if length == 63:
            symbol += 6 + bits.take(8)
        elif length >= 59:
            symbol += length - 57
        else:
            if length:
                lengths[symbol] = length
            symbol += 1
    counts, code, firsts = [0] * 59, 0, [0] * 59
    for length in lengths.values():
        counts[length] += 1
    for length in range(58, 0, -1):
        firsts[length] = code
        code = (code + counts[length]) >> 1
    symbols = {}
    for symbol in sorted(lengths):
        length = lengths[symbol]
        symbols[length, firsts[length]] = symbol
        firsts[length] += 1
    return symbols


def huffman(data, count):
    least, most, _, bit_count, _ = struct.unpack_from("<5I", data)
    table = Bits(data[20:])
    symbols = huffman_codes(table, least, most)
    bits = Bits(data[20 + (table.at + 7) // 8 :])
    out = []
    while bits.at < bit_count:
        length, code = 0, 0
        while (length, code) not in symbols:
            length, code = length + 1, code << 1 | bits.take(1)
        symbol = symbols[length, code]
        out += out[-1:] * bits.take(8) if symbol == most else [symbol]
    if len(out) != count:
        raise ValueError("PIZ: %d values, not %d" % (len(out), count))
    return np.array(out, np.int64)


def pair_14(low, high):
    low, high = ((v + 0x8000 & 0xFFFF) - 0x8000 for v in (low, high))
    first = low + (high & 1) + (high >> 1)
    return first & 0xFFFF, first - high & 0xFFFF


def pair_16(low, high):
    second = low - (high >> 1) & 0xFFFF
    return high + second - 0x8000 & 0xFFFF, second


def unwavelet(plane, most):
    """The Haar wavelet of PIZ, undone in place."""
    pair = pair_14 if most < 1 << 14 else pair_16
    height, width = plane.shape
    whole = 1
    while whole * 2 <= min(width, height):
        whole *= 2
    while whole > 1:
        half = whole // 2
        rows = slice(0, height // whole * whole, whole)
        columns = slice(0, width // whole * whole, whole)
        lower = slice(half, height // whole * whole, whole)
        right = slice(half, width // whole * whole, whole)
        a, c = pair(plane[rows, columns], plane[lower, columns])
        b, d = pair(plane[rows, right], plane[lower, right])
        plane[rows, columns], plane[rows, right] = pair(a, b)
        plane[lower, columns], plane[lower, right] = pair(c, d)
        if width & half:
            x = width // whole * whole
            plane[rows, x], plane[lower, x] = pair(plane[rows, x], plane[lower, x])
        if height & half:
            y = height // whole * whole
            plane[y, columns], plane[y, right] = pair(plane[y, columns], plane[y, right])
        whole = half


def unpack_piz(data, channels, width, lines):
    least, most = struct.unpack_from("<HH", data)
    at, used = 4, np.zeros(65536, bool)
    if least <= most:
        bitmap = np.frombuffer(data, np.uint8, most - least + 1, 4)
        used[8 * least : 8 * (most + 1)] = np.unpackbits(bitmap, bitorder="little")
        at += most - least + 1
    used[0] = True
    values = np.flatnonzero(used)
    words = [size // 2 for _, size in channels]
    decoded = huffman(data[at + 4 :], sum(words) * width * lines)
    planes, first = [], 0
    for count in words:
        size = count * width * lines
        part = decoded[first : first + size].reshape(lines, width, count)
        first += size
        for word in range(count):
            unwavelet(part[..., word], len(values) - 1)
        planes.append(values[part].astype("<u2"))
    return b"".join(p[y].tobytes() for y in range(lines) for p in planes)


def unpack_pxr24(data, channels, width, lines):
    packed, at, out = zlib.decompress(data), 0, []
    for _ in range(lines):
        for _, size in channels:
            shifts = (8, 0) if size == 2 else (24, 16, 8)
            steps = np.zeros(width, np.uint64)
            for shift in shifts:
                part = np.frombuffer(packed, np.uint8, width, at).astype(np.uint64)
                steps |= part << np.uint64(shift)
                at += width
            out.append(np.cumsum(steps).astype("<u2" if size == 2 else "<u4").tobytes())
    return b"".join(out)


def unpack_runs(data):
    out, at = b"", 0
    while at < len(data):
        count = struct.unpack_from("b", data, at)[0]
        if count < 0:
            out += data[at + 1 : at + 1 - count]
            at += 1 - count
        else:
            out += data[at + 1 : at + 2] * (count + 1)
            at += 2
    return out


def unpack_block(data, compression, channels, width, lines):
    size = width * lines * sum(size for _, size in channels)
    if compression == NONE or len(data) == size:
        return data
    if compression == PIZ:
        return unpack_piz(data, channels, width, lines)
    if compression == PXR24:
        return unpack_pxr24(data, channels, width, lines)
    steps = unpack_runs(data) if compression == RLE else zlib.decompress(data)
    steps = np.frombuffer(steps, np.uint8).astype(np.int64)
    steps[1:] -= 128
    halves = np.cumsum(steps).astype(np.uint8)
    out, middle = np.empty(size, np.uint8), (size + 1) // 2
    out[0::2], out[1::2] = halves[:middle], halves[middle:]
    return out.tobytes()


def read_name(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def read_exr(data):
    at, attributes = 8, {}
    while data[at]:
        name, at = read_name(data, at)
        _, at = read_name(data, at)
        size = struct.unpack_from("<I", data, at)[0]
        attributes[name] = data[at + 4 : at + 4 + size]
        at += 4 + size
    at += 1
    channels, place = [], 0
    while attributes["channels"][place]:
        name, place = read_name(attributes["channels"], place)
        kind = struct.unpack_from("<I", attributes["channels"], place)[0]
        channels.append((name, {1: 2, 2: 4}[kind]))  # half and float
        place += 16
    left, top, right, bottom = struct.unpack("<4i", attributes["dataWindow"])
    width, height = right - left + 1, bottom - top + 1
    compression = attributes["compression"][0]
    count = LINES[compression]
    blocks = (height + count - 1) // count
    rows = {name: np.zeros((height, width)) for name, _ in channels}
    for offset in struct.unpack_from("<%dQ" % blocks, data, at):
        y, size = struct.unpack_from("<iI", data, offset)
        y -= top
        lines = min(count, height - y)
        raw = unpack_block(data[offset + 8 : offset + 8 + size], compression, channels, width, lines)
        place = 0
        for line in range(lines):
            for name, size in channels:
                kind = "<f2" if size == 2 else "<f4"
                rows[name][y + line] = np.frombuffer(raw, kind, width, place)
                place += width * size
    names = ["R", "G", "B"] if "R" in rows else ["Y"] if "Y" in rows else [channels[0][0]]
    return np.stack([rows[name] for name in names], axis=-1)


# ---- measuring --------------------------------------------------------------------------------

READERS = {".hdr": read_radiance, ".pfm": read_pfm, ".png": read_png, ".exr": read_exr}
LUMINANCES = ("rec709", "max-rgb")
PERCENTS = (1, 5, 50, 95, 99)
TINY = 2.0**-100
LARGEST = float(np.finfo(np.float32).max)


def luminance_of(colors, how):
    colors = np.where(np.abs(colors) < TINY, 0.0, colors)
    if colors.shape[-1] < 3:
        return colors[..., 0]
    red, green, blue = (colors[..., c] for c in range(3))
    if how == "max-rgb":
        return np.maximum(red, np.maximum(green, blue))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return np.where(np.abs(luminance) < TINY, 0.0, luminance)


def measure(picture, how):
    """The columns of the output."""
    colors = picture[..., :3].reshape(-1, picture.shape[-1] if picture.shape[-1] < 3 else 3)
    if colors.shape[1] == 2:
        colors = colors[:, :1]
    with np.errstate(invalid="ignore"):
        luminance = luminance_of(colors, how)
        is_nan = np.isnan(colors).any(axis=1)
        is_infinite = ~is_nan & (np.isinf(colors).any(axis=1) | (np.abs(luminance) > LARGEST))
    is_finite = ~is_nan & ~is_infinite
    finite = luminance[is_finite]
    largest = np.abs(colors[is_finite]).max(axis=1)
    positive = finite[finite > 0]
    logs = np.sort(np.log2(positive))
    counts = [len(colors), len(positive), np.sum(finite == 0), np.sum(finite < 0), np.sum(is_nan),
              np.sum(is_infinite)]
    values = [finite.min(), largest[finite.argmin()], finite.max(), largest[finite.argmax()],
              finite.mean(), largest.mean(), finite.std(), np.sqrt(np.mean(largest**2)),
              logs.mean()]
    # The smallest logarithm that at least so many percent are not above.
    values += [logs[max(int(np.ceil(p / 100 * len(logs))) - 1, 0)] for p in PERCENTS]
    return " ".join(["%d" % c for c in counts] + ["%.17g" % v for v in values])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    print("# By tests/reference_images.py. file luminance pixels positive zero negative nan infinite")
    print("# then, each with what its error is relative to, from a pixel's largest color: least most")
    print("# mean deviation; log2_mean; log2 of percentiles " + " ".join(str(p) for p in PERCENTS))
    for root, name in (("fuzz/seeds/picture", HERE + "/../fuzz/seeds/picture"),
                       ("hdr", sys.argv[1] + "/hdr")):
        for folder, folders, files in os.walk(name):
            folders.sort()
            for file in sorted(files):
                path = os.path.join(folder, file)
                if root != "hdr" and not file.endswith(".pfm"):
                    continue
                with open(path, "rb") as stream:
                    picture = READERS[os.path.splitext(file)[1]](stream.read())
                for how in LUMINANCES:
                    print(root + path[len(name) :], how, measure(picture, how))


main()
