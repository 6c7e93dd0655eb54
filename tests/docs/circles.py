# SPDX-License-Identifier: GPL-3.0-or-later
"""circles.py SOURCE_DIR BUILD_DIR [--list]: files of a layer that call each other's functions in a circle, and folders that do.

Which file calls which is read from the object files of a build (nm): a function that one lacks and another of the same layer
defines. Data does not count: a table has its entries' descriptors, and entries use what goes with the table. A circle is a
strongly connected component of more than one file, or of more than one folder of a layer that has several ("." is the layer's
own). Each is in ALLOWED with its reason, or the test fails; so it does for a line whose circle is gone or has become smaller.
With --list all circles are shown with the functions that their files call."""
import json
import os
import pathlib
import re
import subprocess
import sys

FUNCTION = "TtWi"     # kinds of nm: text, weak, and what picks an implementation when the program starts
MISSING = "Uw"

# The layer; its files, or its folders; why they may call each other.
ALLOWED = []


class Layer:
    """The files of a folder of src: the functions they define, and what each lacks."""

    def __init__(self):
        self.defined = {}
        self.missing = {}

    def add(self, file, symbols):
        """Symbols: [(name, kind)]"""
        self.missing[file] = {name for name, kind in symbols if kind in MISSING}
        self.defined.update({name: file for name, kind in symbols if kind in FUNCTION})

    def find_edges(self):
        """{file: {file it calls: [functions]}}"""
        edges = {file: {} for file in self.missing}
        for file, names in self.missing.items():
            for name in sorted(names):
                if self.defined.get(name, file) != file:
                    edges[file].setdefault(self.defined[name], []).append(name)
        return edges


def get_folder(file):
    return str(pathlib.PurePath(file).parent)


def find_folder_edges(edges):
    folders = {get_folder(file): {} for file in edges}
    for file, needed in edges.items():
        for other, names in needed.items():
            if get_folder(other) != get_folder(file):
                folders[get_folder(file)].setdefault(get_folder(other), []).extend(names)
    return folders


def find_circles(edges):
    """Strongly connected components of more than one node, after Tarjan; one stack instead of calls."""
    index, low, path, circles = {}, {}, [], []
    for root in edges:
        work = [(root, iter(edges[root]))] if root not in index else []
        if work:
            index[root] = low[root] = len(index)
            path.append(root)
        while work:
            node, others = work[-1]
            other = next(others, None)
            if other is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = path.index(node)
                    circle, path = path[at:], path[:at]
                    circles += [frozenset(circle)] if len(circle) > 1 else []
            elif other not in index:
                index[other] = low[other] = len(index)
                path.append(other)
                work.append((other, iter(edges[other])))
            elif other in path:
                low[node] = min(low[node], index[other])
    return circles


def list_objects(source, build):
    """{(layer, file in it): object} of C files in src, as the build knows them now: other objects may be left from before."""
    objects = {}
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    for command in commands:
        file = pathlib.Path(os.path.normpath(os.path.join(command["directory"], command["file"])))
        parts = file.relative_to(source / "src").parts if file.is_relative_to(source / "src") else ()
        if len(parts) > 1 and file.suffix == ".c":
            objects[(parts[0], "/".join(parts[1:]))] = os.path.join(command["directory"], command["output"])
    return objects


def read_symbols(objects):
    """{object: [(name, kind)]}, by few calls of nm"""
    symbols = {path: [] for path in objects}
    nm = os.environ.get("NM", "nm")
    for i in range(0, len(objects), 200):
        part = objects[i:i + 200]
        lines = subprocess.run([nm, "-g", "-A", "-P", *part], check=True, capture_output=True, text=True).stdout.splitlines()
        for line in lines:
            path, name, kind = re.match(r"(.*?): (\S+) (\S)", line).groups()
            symbols[path].append((name, kind))
    return symbols


def read_layers(source, build):
    objects = list_objects(source, build)
    built = {key: path for key, path in objects.items() if os.path.exists(path)}
    symbols = read_symbols(sorted(built.values()))
    layers = {}
    for (layer, file), path in built.items():
        layers.setdefault(layer, Layer()).add(file, symbols[path])
    return layers, len(objects), len(built)


def describe(edges, circle):
    return "\n".join(f"    {file} -> {other}: {', '.join(sorted(set(names)))}" for file in sorted(circle)
                     for other, names in sorted(edges[file].items()) if other in circle)


def find_all(layers):
    """[(layer, circle, edges)], files and folders"""
    found = []
    for layer, content in sorted(layers.items()):
        files = content.find_edges()
        for edges in (files, find_folder_edges(files)):
            found += [(layer, circle, edges) for circle in find_circles(edges)]
    return found


def find_faults(found, allowed):
    """What was found must be what is allowed."""
    known = {(layer, frozenset(files.split())) for layer, files, _ in allowed}
    present = {(layer, circle) for layer, circle, _ in found}
    faults = [f"src/{layer}: {' '.join(sorted(circle))} call each other:\n{describe(edges, circle)}"
              for layer, circle, edges in found if (layer, circle) not in known]
    faults += [f"src/{layer}: {' '.join(sorted(circle))} call each other no more, or not all of them: mend the list"
               for layer, circle in known if (layer, circle) not in present]
    return faults + [f"src/{layer}: {files}: no reason given" for layer, files, reason in allowed if not reason]


def check_itself():
    edges = {"x/a": ["x/b"], "x/b": ["y/c", "x/d"], "y/c": ["x/a"], "x/d": [], "x/e": ["x/d"]}
    layer = Layer()
    for file, needed in edges.items():
        layer.add(file, [(file, "T")] + [(other, "U") for other in needed] + [("malloc", "U")])
    found = find_all({"z": layer})
    if [circle for _, circle, _ in found] != [{"x/a", "x/b", "y/c"}, {"x", "y"}]:
        sys.exit(f"the test does not find circles: {found}")
    allowed = [("z", "x/a x/b y/c", "why"), ("z", "x y", "why")]
    if find_faults(found, allowed) or len(find_faults(found, allowed[:1])) != 1 or len(find_faults(found[:1], allowed)) != 1:
        sys.exit("the test does not compare circles with its list")


def main():
    check_itself()
    source, build = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
    layers, n_files, n_built = read_layers(source, build)
    if n_files == 0:
        print("SKIP: files are not compiled one by one in this build")
        return 77
    found = find_all(layers)
    if "--list" in sys.argv:
        for layer, circle, edges in found:
            print(f"src/{layer}: {' '.join(sorted(circle))}\n{describe(edges, circle)}")
    faults = find_faults(found, [line for line in ALLOWED if line[0] in layers])     # a build may leave out the window
    print("\n".join(faults))
    print(f"{n_built} of {n_files} files in {len(layers)} layers, {len(found)} circles, {len(faults)} faults")
    if n_built < n_files or n_files < 100:
        sys.exit("the folder of the build lacks objects: build first")
    return int(bool(faults))


sys.exit(main())
