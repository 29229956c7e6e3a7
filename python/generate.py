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
import subprocess
import sys
import tempfile
import textwrap

from pycparser import c_ast, c_parser

# What the headers take from the system's.
SYSTEM = {
    "stdbool.h": "typedef _Bool bool;\n",
    "stddef.h": "typedef unsigned long size_t;\n#define NULL ((void *)0)\n",
    "stdint.h": "".join(
        f"typedef {'unsigned ' if sign else ''}{name} {'u' if sign else ''}int{bits}_t;\n"
        for bits, name in ((8, "char"), (16, "short"), (32, "int"), (64, "long"))
        for sign in (0, 1)) + "typedef unsigned long uintptr_t;\n",
    "math.h": "",
    "string.h": "",
    "limits.h": "",
}
BASIC = {
    "void": "None", "_Bool": "c_bool", "bool": "c_bool", "char": "c_char", "float": "c_float",
    "double": "c_double", "int": "c_int", "unsigned int": "c_uint", "size_t": "c_size_t", "uintptr_t": "c_size_t",
    **{f"{u}int{bits}_t": f"c_{u}int{bits}" for bits in (8, 16, 32, 64) for u in ("", "u")},
}
HEADERS = ("trommel/trommel.h", "trommel/volumes.h", "trommel/points.h", "trommel/pictures.h")
WIDTH = 118


def lines_of(begin, words, end):
    """As few lines as words fill between begin and end."""
    text = ", ".join(word.replace(" ", "\0") for word in words) + end.replace(" ", "\0")
    lines = textwrap.wrap(begin + text, WIDTH, subsequent_indent=" " * len(begin),
                          break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def parse(include):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SYSTEM.items():
            (pathlib.Path(folder) / name).write_text(text)
        text = "".join(f"#include <{header}>\n" for header in HEADERS)
        command = ["cc", "-E", "-P", "-nostdinc", "-U__GNUC__", "-I", folder, "-I", include, "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"generate.py: {' '.join(command)}\n{done.stderr}")
    return c_parser.CParser().parse(done.stdout)


class Writer:
    """Collects enums, structs in an order that defines before it uses, and functions."""

    def __init__(self):
        self.constants, self.structs, self.functions, self.names = {}, {}, {}, {}

    def value(self, node):
        if isinstance(node, c_ast.Constant):
            return int(node.value.rstrip("uUlL"), 0)
        if isinstance(node, c_ast.ID):
            return self.constants[node.name]
        if isinstance(node, c_ast.Cast):
            return self.value(node.expr)
        if isinstance(node, c_ast.UnaryOp) and node.op == "-":
            return -self.value(node.expr)
        if isinstance(node, c_ast.BinaryOp):
            left, right = self.value(node.left), self.value(node.right)
            return {"+": left + right, "-": left - right, "*": left * right,
                    "<<": left << right if right >= 0 else 0, "|": left | right}[node.op]
        raise NotImplementedError(f"a constant of {node}")

    def enum(self, node):
        last = -1
        for item in node.values.enumerators if node.values else ():
            last = self.value(item.value) if item.value else last + 1
            self.constants[item.name] = last

    def struct(self, name, node):
        fields = []
        for member in node.decls:
            fields.append((member.name, self.type(member.type, f"_{name}_{member.name}")))
        self.structs[name] = fields

    def named(self, name):
        """The type of a typedef's or a basic name."""
        if name in BASIC:
            return BASIC[name]
        target = self.names.get(name)
        if target is None:
            raise NotImplementedError(f"type {name}")
        return target

    def function(self, node):
        result = self.type(node.type)
        arguments = [self.type(p.type) for p in node.args.params
                     if not isinstance(p, c_ast.EllipsisParam)] if node.args else []
        return result, [a for a in arguments if a != "None"]

    def type(self, node, inner=None):
        if isinstance(node, c_ast.TypeDecl):
            kind = node.type
            if isinstance(kind, c_ast.Enum):
                self.enum(kind)
                return "c_int"
            if isinstance(kind, c_ast.Struct):
                if kind.decls:
                    name = kind.name or inner
                    self.struct(name, kind)
                    return name
                return kind.name if kind.name in self.structs else f"<{kind.name}>"
            return self.named(" ".join(kind.names))
        if isinstance(node, c_ast.ArrayDecl):
            return f"{self.type(node.type, inner)} * {self.value(node.dim)}"
        if isinstance(node, c_ast.PtrDecl):
            if isinstance(node.type, c_ast.FuncDecl):
                result, arguments = self.function(node.type)
                return f"CFUNCTYPE({', '.join([result] + arguments)})"
            target = self.type(node.type, inner)
            if target == "c_char":
                return "c_char_p"
            # Opaque structs, and pointers to what a caller passes by address of an array.
            return "c_void_p" if target == "None" or target.startswith("<") else f"POINTER({target})"
        if isinstance(node, c_ast.FuncDecl):
            result, arguments = self.function(node)
            return f"CFUNCTYPE({', '.join([result] + arguments)})"
        raise NotImplementedError(str(node))

    def visit(self, tree):
        for node in tree.ext:
            if isinstance(node, c_ast.Typedef) and node.name in BASIC:
                continue
            if isinstance(node, c_ast.Typedef):
                self.names[node.name] = self.type(node.type, node.name)
            elif isinstance(node, c_ast.Decl):
                if isinstance(node.type, c_ast.FuncDecl) and "static" not in node.storage:
                    self.functions[node.name] = self.function(node.type)
                elif isinstance(node.type, c_ast.Enum):
                    self.enum(node.type)
                elif isinstance(node.type, c_ast.Struct) and node.type.decls:
                    self.struct(node.type.name, node.type)

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
    writer = Writer()
    writer.visit(parse(arguments.include))
    writer.constants.update(macros_of(arguments.include))
    modules = (pathlib.Path(__file__).parent / "trommel").glob("*.py")
    writer.keep_named(set(re.findall(r"\w+", "".join(m.read_text() for m in modules if m.name != "_abi.py"))))
    text = writer.text(version_of(arguments.include))
    if arguments.output:
        pathlib.Path(arguments.output).write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
