"""What the C headers declare, for generate.py (Python's types) and packages/trommel/layouts.py (JavaScript's descs).

Needs a C preprocessor (cc) and pycparser.
"""
import pathlib
import subprocess
import sys
import tempfile

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


def parse(include):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SYSTEM.items():
            (pathlib.Path(folder) / name).write_text(text)
        text = "".join(f"#include <{header}>\n" for header in HEADERS)
        command = ["cc", "-E", "-P", "-nostdinc", "-U__GNUC__", "-I", folder, "-I", include, "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"headers.py: {' '.join(command)}\n{done.stderr}")
    return c_parser.CParser().parse(done.stdout)


def write(text, output):
    """To the file named output; None: to the standard output."""
    if output:
        pathlib.Path(output).write_text(text)
    else:
        sys.stdout.write(text)


class Headers:
    """Constants, enums' names, structs in an order that defines before it uses, and functions. Types are ctypes's."""

    def __init__(self, include):
        self.constants, self.enums, self.structs, self.functions, self.names = {}, {}, {}, {}, {}
        self.visit(parse(include))

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
                if isinstance(getattr(node.type, "type", None), c_ast.Enum):
                    self.enums[node.name] = [item.name for item in node.type.type.values.enumerators]
            elif isinstance(node, c_ast.Decl):
                if isinstance(node.type, c_ast.FuncDecl) and "static" not in node.storage:
                    self.functions[node.name] = self.function(node.type)
                elif isinstance(node.type, c_ast.Enum):
                    self.enum(node.type)
                elif isinstance(node.type, c_ast.Struct) and node.type.decls:
                    self.struct(node.type.name, node.type)
