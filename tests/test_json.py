#!/usr/bin/env python3
"""docs/json.md is what the command prints of its JSON's fields, and the JSON in the transcripts (tests/cli) has those
fields, of those types. test_json.py SOURCE, with the command in TML_CLI; --update writes docs/json.md."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

source = Path(sys.argv[1])
page = subprocess.run([os.environ["TML_CLI"], "--json-fields"], capture_output=True, check=True, text=True).stdout
document = source / "docs/json.md"
if "--update" in sys.argv:
    document.write_text(page)
failures = [] if document.read_text() == page else ["docs/json.md is not what --json-fields prints: --update"]


def rows_of(text):
    """{section: {field: type}}; ".name" continues the path of the field before it."""
    sections = {}
    for line in text.splitlines():
        if line.startswith("## "):
            fields = sections.setdefault(line[3:], {})
        elif line.startswith("| `"):
            cells = re.split(r" \| ", line[2:-2])
            names, types = re.findall("`([^`]+)`", cells[0]), cells[1].replace(", optional", "").split(", ")
            for i, name in enumerate(names):
                path = name
                if name.startswith("."):
                    path = names[0][:names[0].rindex(".")] + name
                fields[path] = types[i if len(types) == len(names) else 0]
    return sections


SECTIONS = rows_of(page)
EVERY, INPUT, END = (SECTIONS[f"Fields {of}"] for of in ("of every command", "of an input", "at the end"))


def fields_of(command):
    own = next(fields for title, fields in SECTIONS.items() if command in title.split(", "))
    inputs = {key + path: kind for key in ("", "input.", "a.", "b.") for path, kind in INPUT.items()}
    return inputs | END | EVERY | own


def fits(value, kind):
    if value is None:
        return "?" in kind or "number" in kind
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, str):
        return kind.startswith("text")
    if isinstance(value, list):
        return bool(re.match(r"[0-9]+ (counts|numbers)|array|counts|texts", kind))
    if isinstance(value, dict):
        return kind == "object"
    is_whole = isinstance(value, int)
    return (kind.startswith("number") or is_whole and kind.startswith("whole number") or
            is_whole and value >= 0 and kind == "count")


def check(where, fields, path, value):
    """Objects and arrays need no row of their own if there are rows below them."""
    is_named = path in fields
    if is_named and not fits(value, fields[path]) and not fits(value, EVERY.get(path, "")):
        failures.append(f"{where}: {path} is {json.dumps(value)[:40]}, and docs/json.md has {fields[path]}")
    if isinstance(value, dict):
        for name, member in value.items():
            check(where, fields, f"{path}.{name}" if path else name, member)
    elif isinstance(value, list) and any(isinstance(member, dict) for member in value):
        for member in value:
            check(where, fields, "" if path == "frames" else path + "[]", member)
    elif not is_named and not (value == [] and any(name.startswith(path + "[]") for name in fields)):
        failures.append(f"{where}: docs/json.md does not have {path}")


def sessions(text):
    """(command line, what it printed) of a transcript."""
    for session in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, printed = session.partition("\n")
        yield command, printed


objects = 0
for transcript in sorted((source / "tests/cli").glob("*.t")):
    for line, printed in sessions(transcript.read_text()):
        start, end = printed.find("{\n"), printed.find("\n}\n") + 2
        if "--json" not in line or "|" in line or start < 0 or end < start:
            continue
        said = json.loads(re.sub(r'(": )#', r"\g<1>0", printed[start:end]))
        objects += 1
        if said["command"]:
            check(f"{transcript.name}: {line}", fields_of(said["command"]), "", said)
if objects < 20:
    failures.append(f"only {objects} objects were found in the transcripts")
for failure in failures:
    print("FAIL", failure)
print(f"{objects} objects, {sum(map(len, SECTIONS.values()))} fields: {len(failures)} failures")
sys.exit(bool(failures))
