#!/usr/bin/env python3
"""Writes what JavaScript needs to fill the descs of a header's calls, as C that one file of src/ includes:

    layouts.py INCLUDE NAME [-o FILE] [--types TEMPLATE]

NAME: the header, such as stream for trommel/stream.h. A call is a function that takes the context and a desc. The file has

    web_NAME_layouts()           returns a text: a line per enumeration and struct within a desc, then a line per call, its desc
                                     method=auto look-back ...
                                     payload in out
                                     sort keys descending:bool ... payloads:payload:8 ... method:method scratch
                                 After a field's name stands its kind, unless that is buffer, and an array's length.
    web_NAME(tml, call, desc)    calls the function of a line, by the line's number from 0

JavaScript gives each field the next multiple of its alignment, which is wasm32's layout; the file has the compiler check
each size and offset that this rule gives. With --types the output is TypeScript: the template, with the calls in the
place of its line "// The calls of NAME.h." and the types of their descs in that of "// The descs of NAME.h.", with the
header's comments. Needs what python/headers.py does.
"""
import argparse
import pathlib
import re
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from headers import Headers, write  # noqa: E402

# Of a type of ctypes: what JavaScript calls it, its bytes and its alignment.
KINDS = {
    "c_bool": ("bool", 1, 1), "c_float": ("f32", 4, 4), "c_uint32": ("u32", 4, 4), "c_uint64": ("u64", 8, 8),
    "tml_buffer": ("buffer", 8, 4), "POINTER(tml_kernel)": ("kernel", 4, 4),
}
TYPES = {"bool": "boolean", "f32": "number", "u32": "number", "u64": "number", "buffer": "TrommelBuffer", "kernel": "Kernel"}
WIDTH = 120


def camel(name):
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), name.removeprefix("tml_").removesuffix("_desc"))


class Layouts(Headers):
    """The lines of the text, and the checks for the compiler."""

    def __init__(self, include):
        super().__init__(include)
        self.lines, self.checks, self.used = {}, [], {}  # used: structs' and enumerations' names by kind

    def named(self, name):
        return name if name in self.enums else super().named(name)

    def enumeration(self, name):
        """Its values' names without what they all begin with."""
        names = self.enums[name]
        if [self.constants[value] for value in names] != list(range(len(names))):
            sys.exit(f"layouts.py: {name} does not count from 0, so JavaScript cannot fill it")
        shared = next(n for n in range(len(names[0]), -1, -1) if names[0][:n].endswith("_") and
                      all(other.startswith(names[0][:n]) for other in names))
        self.used[camel(name)] = name
        self.lines[camel(name)] = " ".join(value[shared:].lower().replace("_", "-") for value in names)
        return camel(name), 4, 4

    def kind(self, name):
        if name in KINDS:
            return KINDS[name]
        if name in self.enums:
            return self.enumeration(name)
        if name in self.structs:
            return self.layout(name)
        sys.exit(f"layouts.py: a desc has a field of {name}, which JavaScript cannot fill")

    def layout(self, name):
        at, most, fields, checks, line = 0, 1, [], [], camel(name)
        for field, of in self.structs[name]:
            of, _, length = of.partition(" * ")
            kind, size, alignment = self.kind(of)
            at += -at % alignment
            fields.append(f"{camel(field)}:{kind}:{length}".replace(":buffer:", "::").rstrip(":"))
            checks.append(f"offsetof({name}, {field}) == {at}")
            at += size * int(length or 1)
            most = max(most, alignment)
        at += -at % most
        if line not in self.used:
            self.checks += [f"sizeof({name}) == {at}", *checks]
        self.used[line], self.lines[line] = name, " ".join(fields)
        return line, at, most

    def add_calls(self, calls):
        for _, desc in calls:
            self.layout(desc)
        descs = {camel(function): self.lines[camel(desc)] for function, desc in calls}
        self.lines = {kind: line for kind, line in self.lines.items() if not self.used[kind].endswith("_desc")} | descs

    def text(self, header, calls):
        out = [f"/* Made by layouts.py of trommel/{header}.h. */", "#include <stddef.h>", ""]
        out += [f'_Static_assert({check}, "layouts.py lays it out otherwise");' for check in self.checks]
        out += ["", f"EMSCRIPTEN_KEEPALIVE const char *web_{header}_layouts(void)", "{"]
        lines = [f"{kind}{'=' if self.used.get(kind) in self.enums else ' '}{line}" for kind, line in self.lines.items()]
        out += ['    return "' + '\\n"\n           "'.join(lines) + '";', "}", ""]
        out += [f"EMSCRIPTEN_KEEPALIVE int web_{header}(tml_context *tml, int call, const void *desc)", "{",
                "    switch (call) {"]
        numbers = {kind: number for number, kind in enumerate(self.lines)}
        out += [f"    case {numbers[camel(function)]}:\n        return {function}(tml, desc);" for function, _ in calls]
        return "\n".join(out + ["    }", "    return TML_ERROR_INTERNAL;", "}", ""])


class Types:
    """TypeScript for what Layouts has collected, with the comments of a header's text."""

    def __init__(self, layouts, text):
        self.layouts, self.text = layouts, text
        fields = {field for struct in layouts.structs.values() for field, _ in struct if "_" in field}
        self.fields = re.compile(rf"\b({'|'.join(fields)})\b")
        words = [(value, word) for kind, name in layouts.used.items() if name in layouts.enums
                 for value, word in zip(layouts.enums[name], layouts.lines[kind].split())]
        self.values = {**dict(words), **{word.upper().replace("-", "_"): word for _, word in words}}

    def plain(self, text):
        """C's names as JavaScript has them."""
        text = re.sub(r"\b[A-Z_]+\b",
                      lambda name: f"'{self.values[name[0]]}'" if name[0] in self.values else name[0], text)
        text = re.sub(r"\btml_\w+",
                      lambda name: camel(name[0]) if camel(name[0]) in self.layouts.lines else name[0], text)
        return self.fields.sub(lambda name: camel(name[0]), text)

    def comment(self, name):
        """What a struct's comment says of it, and of each field."""
        kind = "struct" if name in self.layouts.structs else "enum"
        found = re.search(rf"(?:/\*((?:(?!\*/).)*)\*/\n)?typedef {kind} {name} \{{\n(.*?)\n\}} {name};", self.text,
                          re.DOTALL)
        fields = {field: "" for field, _ in self.layouts.structs.get(name, ())}
        about, entry, column = [""], None, 0
        if not found:
            return "", fields
        for line in (found[1] or "").splitlines():
            line = re.sub(r"^ \* ?", "", line).rstrip()
            start = re.match(r" {0,4}(\w+:?(?:, \w+)*|\w+\[0\] alone)  +(\S.*)", line)
            if start and all(word in fields for word in start[1].split(", ")):
                entry, column = start[1].split(", "), start.start(1)
                for word in entry:
                    fields[word] += (" " if fields[word] else "") + start[2].strip()
            elif start:
                entry = None
                about += [f"{start[1].rstrip(':')}: {start[2]}"]
            elif entry and line.startswith(" " * (column + 1)):
                for word in entry:
                    fields[word] += " " + line.strip()
            elif entry or not line.startswith(" ") and len(about) > 1:
                entry = None
                about += [line.strip()]
            else:
                about[-1] += " " + line.strip()
        for field, words in re.findall(r"(\w+)(?:\[\w+\])?; +/\* ((?:(?!\*/).)*?) *\*/", found[2], re.DOTALL):
            fields[field] = re.sub(r"\s*\n\s*\* ", " ", words)
        return "\n".join(about).strip(), fields

    def written(self, text, indent):
        lines = [line for part in self.plain(text).splitlines() for line in
                 textwrap.wrap(part, WIDTH - len(indent) - 8, break_long_words=False, break_on_hyphens=False)]
        return [f"{indent}/** " + f"\n{indent} * ".join(lines) + " */"] if lines else []

    def name(self, kind):
        name = self.layouts.used[kind]
        return kind[0].upper() + kind[1:] + ("Options" if name.endswith("_desc") else "")

    def type_of(self, kind, length):
        kind = TYPES.get(kind) or self.name(kind)
        return kind if not length else "ArrayLike<number>" if kind == "number" else f"{kind} | {kind}[]"

    def declared(self, kind):
        about, fields = self.comment(self.layouts.used[kind])
        line = self.layouts.lines[kind]
        if not fields:
            return self.written(about, "") + [f"export type {self.name(kind)} = {' | '.join(map(repr, line.split()))};"]
        out = [] if self.name(kind).endswith("Options") else self.written(about, "")
        out += ["export type Length = number | {" if kind == "length" else f"export interface {self.name(kind)} {{"]
        for field, words in zip(line.split(), fields.values()):
            field, of, length = (field + "::").split(":")[:3]
            of = of or "buffer"
            # Buffers that the header does not call optional, nor one of several, are required.
            needed = of == "buffer" and not length and words and not re.match("optional|zeroed", words) and \
                not re.search(r"\bone of\b|in its place", f"{about} {words}", re.IGNORECASE)
            out += self.written(re.sub(r"^optional[:.,] ", "", words), "    ")
            out += [f"    {field}{'' if needed else '?'}: {self.type_of(of, length)};"]
        return out + ["};" if kind == "length" else "}"]

    def fill(self, template, header, calls):
        marks = [f"// The {part} of {header}.h." for part in ("calls", "descs")]
        methods = []
        for function, desc in calls:
            methods += self.written(self.comment(desc)[0], "    ")
            methods += [f"    {camel(function)}(options: {self.name(camel(desc))}): void;"]
        descs = [line for kind in self.layouts.used for line in self.declared(kind) + [""]]
        for mark, lines in zip(marks, (methods, descs[:-1])):
            if len(re.findall(rf"^ *{mark}$", template, re.MULTILINE)) != 1:
                sys.exit(f'layouts.py: the template has not one line "{mark}"')
            template = re.sub(rf"^ *{mark}$", lambda _: "\n".join(lines), template, flags=re.MULTILINE)
        return template


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("include", help="the folder that holds trommel/core.h")
    parser.add_argument("name", help="the header's name, such as stream")
    parser.add_argument("-o", "--output", help="the file to write (default: standard output)")
    parser.add_argument("--types", metavar="TEMPLATE", help="write TypeScript in place of C")
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.include) / "trommel"
    header = (folder / f"{arguments.name}.h").read_text()
    calls = re.findall(r"tml_status\s+(tml_\w+)\(tml_context \*tml,\s*const (tml_\w+_desc) \*desc\);", header)
    layouts = Layouts(arguments.include)
    layouts.add_calls(calls)
    if arguments.types:
        types = Types(layouts, "".join(it.read_text() for it in folder.glob("*.h")))
        text = types.fill(pathlib.Path(arguments.types).read_text(), arguments.name, calls)
    else:
        text = layouts.text(arguments.name, calls)
    write(text, arguments.output)


if __name__ == "__main__":
    main()
