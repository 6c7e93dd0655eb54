#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""how-to-add.py SOURCE_DIR: prints how to add to each table, from the lines “To add WHAT: ...” in the heads of the files that
have them. Fails where a table (.def) has no such line, where a path that is named does not exist, and where src/meson.build does
not say what a layer holds."""
import itertools
import pathlib
import re
import sys

FIXED = {"src/tensor/vn-dtypes.def"}   # the types of the ONNX standard: nobody adds to it
PATH = re.compile(r"(?:src|ui|po|tests|data)/\S+|README\.md")
ENTRY = re.compile(r"^[ *#]*To add ([^:]+): ", re.MULTILINE)


def expand(path):
    """src/{a,b}/c.h: both."""
    parts = [part.strip("{}").split(",") if part.startswith("{") else [part] for part in re.split(r"({[^}]*})", path)]
    return ["".join(choice) for choice in itertools.product(*parts)]


def find_entries(text):
    """Of each entry: what is added, and how, on one line; it ends with its comment or where the next begins."""
    for found in ENTRY.finditer(text):
        lines = re.split(r"\*/|\n[ *#]*To add |\n[ *#]*\n|\n(?![ *#])", text[found.end():], maxsplit=1)[0]
        yield found[1], " ".join(re.sub(r"(?m)^[ *#]+", "", lines).split())


def find_faults(root, entries):
    for path in root.glob("src/**/*.def"):
        name = path.relative_to(root).as_posix()
        if name not in FIXED and not any(entry[0] == name for entry in entries):
            yield f"{name}: its head does not say how to add to it"
    for name, what, how in entries:
        for path in (path for span in re.findall(r"`([^`]+)`", how) if PATH.fullmatch(span) for path in expand(span)):
            if not any(root.glob(path)):
                yield f"{name}, {what}: there is no {path}"
    build = (root / "src/meson.build").read_text(encoding="utf-8")
    built = re.findall(r"'([a-z]+)'", re.search(r"layer_names = \[(.*?)\]", build, re.DOTALL)[1])
    described = re.findall(r"^#   ([a-z]+): ", build, re.MULTILINE)
    if built != described:
        yield f"src/meson.build: has the layers {built}, describes {described}"


def main(root):
    files = sorted([*root.glob("src/**/*.def"), *root.glob("src/**/*.[ch]"), *root.glob("tests/**/*.def"), root / "po/LINGUAS",
                    root / "data/help/meson.build"])
    entries = [(path.relative_to(root).as_posix(), *entry) for path in files
               for entry in find_entries(path.read_text(encoding="utf-8"))]
    for name, what, how in entries:
        print(f"{what}\n    {name}: {how}")
    faults = list(find_faults(root, entries))
    print(*faults, f"{len(entries)} entries, {len(faults)} faults", sep="\n")
    return int(faults != [] or len(entries) < 40)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
