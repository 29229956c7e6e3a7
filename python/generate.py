#!/usr/bin/env python3
"""Writes trommel/_abi.py: the constants of the C headers, and the types and functions that the package's modules name,
for ctypes.

    generate.py INCLUDE [-o FILE]

Needs a C preprocessor (cc) and pycparser. The file is kept in the tree, so that installing the package needs
neither; a test makes it again and compares.
"""
import argparse
import pathlib
import re
import textwrap

from headers import Headers, write

WIDTH = 118


def lines_of(begin, words, end):
    """As few lines as words fill between begin and end."""
    text = ", ".join(word.replace(" ", "\0") for word in words) + end.replace(" ", "\0")
    lines = textwrap.wrap(begin + text, WIDTH, subsequent_indent=" " * len(begin),
                          break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


class Writer(Headers):
    """Writes what the package names."""

    def keep_named(self, words):
        """Leaves out functions that the words do not name, with or without their prefix, and structs that neither the
        words nor what is kept name."""
        self.functions = {name: it for name, it in self.functions.items() if name in words or name[4:] in words}
        named, structs = words | set(re.findall(r"\w+", str(self.functions))), {}
        for name, fields in reversed(self.structs.items()):  # each is defined before those that use it
            if name in named:
                structs[name] = fields
                named |= set(re.findall(r"\w+", str(fields)))
        self.structs = dict(reversed(structs.items()))

    def text(self, version):
        out = ['"""The C library\'s types and functions. Made by generate.py from its headers."""',
               "from ctypes import *  # noqa: F403", "",
               f"TML_VERSION = {version}"]
        runs = []  # of names whose values follow each other
        for name, value in self.constants.items():
            if runs and value == runs[-1][1] + len(runs[-1][0]):
                runs[-1][0].append(name)
            else:
                runs.append(([name], value))
        for names, first in runs:
            out += (lines_of("(", names, f") = range({first}, {first + len(names)})") if len(names) > 1
                    else [f"{names[0]} = {first}"])
        for name, fields in self.structs.items():
            out += ["", "", f"class {name}(Structure):"]
            out += lines_of("    _fields_ = [", [f"({field!r}, {kind})" for field, kind in fields], "]")
        out += ["", "", "# Name: result and arguments.", "FUNCTIONS = {"]
        for name, (result, arguments) in sorted(self.functions.items()):
            out += [f"    {name!r}: ({result}, [{', '.join(arguments)}]),"]
        return "\n".join(out + ["}", ""])


def version_of(include):
    numbers = {}
    for line in (pathlib.Path(include) / "trommel/core.h").read_text().splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "#define" and words[1].startswith("TML_VERSION_"):
            numbers[words[1]] = int(words[2])
    return (numbers["TML_VERSION_MAJOR"] << 20 | numbers["TML_VERSION_MINOR"] << 10 |
            numbers["TML_VERSION_PATCH"])


def macros_of(include):
    """Numbers that are macros, as enumerators are neither fractions nor texts of an option."""
    out = {}
    for header in sorted(pathlib.Path(include).glob("trommel/*.h")):
        for line in header.read_text().splitlines():
            words = line.split()
            if len(words) == 3 and words[0] == "#define" and words[1].startswith(("TML_FIELD_", "TML_POINTS_")):
                out[words[1]] = int(words[2]) if words[2].isdigit() else float(words[2])
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("include", help="the folder that holds trommel/core.h")
    parser.add_argument("-o", "--output", help="the file to write (default: standard output)")
    arguments = parser.parse_args()
    writer = Writer(arguments.include)
    writer.constants.update(macros_of(arguments.include))
    modules = (pathlib.Path(__file__).parent / "trommel").glob("*.py")
    writer.keep_named(set(re.findall(r"\w+", "".join(m.read_text() for m in modules if m.name != "_abi.py"))))
    text = writer.text(version_of(arguments.include))
    write(text, arguments.output)


if __name__ == "__main__":
    main()
