#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""notebook.py CLI SOURCE_DIR [FOLDER]: the notebooks of data/examples are kept without outputs, and run from first to last cell.
In what the cells of the tutorial give, each repair is better than none, files have the size that is told, and ONNX Runtime counts
the hits that Vernier counts. FOLDER keeps what was run."""
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CLI, SOURCE = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "oracle"))
import oracle    # noqa: E402

oracle.use_oracle_python()
try:
    import ipykernel    # noqa: F401
    import nbconvert    # noqa: F401
    import nbformat
except ImportError as error:
    oracle.skip(str(error))

n_checked = 0
faults = []


def check(good, what):
    global n_checked
    n_checked += 1
    if not good:
        faults.append(what)
        print("not ok", what, flush=True)


def run_notebook(path, folder):
    """The outputs of each cell by the cell's id: {"first": {"text/plain": "('care', 15.7, 125002)"}}; what it prints is
    "text"."""
    environment = dict(os.environ, VERNIER_CLI=CLI, PYTHONPATH=str(SOURCE / "src" / "python"), HOME=folder, IPYTHONDIR=folder,
                       JUPYTER_CONFIG_DIR=folder, JUPYTER_RUNTIME_DIR=folder, JUPYTER_DATA_DIR=folder, TMPDIR=folder,
                       PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", folder, str(path)],
                          cwd=folder, env=environment, capture_output=True, text=True)
    check(done.returncode == 0, f"{path.name} runs: {done.stderr[-2000:]}")
    if done.returncode != 0:
        return {}
    cells = json.loads((Path(folder) / path.name).read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: {kind: "".join(text) for output in cell["outputs"]
                         for kind, text in output.get("data", {"text": output.get("text", "")}).items()}
            for cell in cells if cell["cell_type"] == "code"}


def read_tries(text):
    """A line for each: name, level, dB, kB."""
    rows = re.findall(r"^(.*?) {2,}([a-z-]+) +([\d.]+) dB +([\d.]+) kB$", text, re.MULTILINE)
    return {name: (level, float(db), float(size)) for name, level, db, size in rows}


def check_tutorial(outputs):
    values = {}
    for name in ("open", "samples", "first", "origins", "export", "check", "evaluate"):
        values[name] = ast.literal_eval(outputs[name]["text/plain"])
    level, first_db, first_size = values["first"]
    check(level != "good" and first_db > 5, f"the first verdict leaves something to do: {level}, {first_db} dB")
    check(values["open"] == {"image": "float32[1,3,64,64]"} and len(values["samples"]) == 8, "inputs and classes")
    shares = [share for _, _, share in values["origins"]]
    check(shares == sorted(shares, reverse=True) and 0 < shares[-1] <= shares[0] < 1, f"shares of the error: {shares}")
    repairs = read_tries(outputs["repair"]["text"])
    check(repairs.pop("weights of 4 bits") == (level, round(first_db, 1), round(first_size / 1e3, 1)), "the first try")
    for name, (_, db, size) in repairs.items():
        check(db > first_db + 1 and size >= round(first_size / 1e3, 1), f"{name}: {db} dB after {first_db} dB, {size} kB")
    best_level, best_db, best_size = repairs["both"]
    check(best_level == "good" and best_db == max(db for _, db, _ in repairs.values()) and len(repairs) == 3,
          f"both repairs: {best_level}, {best_db} dB")
    saved = dict(values["export"])["shapes.onnx"]
    check(round(saved / 1e3, 1) == best_size and len(values["export"]) == 3, f"files: {values['export']}")
    (float_hits, n), (hits, n_too) = values["check"]
    check(n == n_too == 64 and float_hits == 64 and hits >= 62, f"hits in ONNX Runtime: {values['check']}")
    rows = values["evaluate"]
    check([size for size, _ in rows][1:] == [first_size, saved], f"sizes: {rows}")
    check(rows[0][1] == float_hits / n and abs(rows[2][1] - hits / n) < 1.5 / n, f"hits: {rows}, {values['check']}")
    check(outputs["layers"]["text/html"].count("/Clip</td>") == 15 and outputs["layers"]["text/html"].count("/Add</td>") == 4,
          "a row for each node that gives a quantized tensor")
    check("srcdoc=" in outputs["choose"]["text/html"] and len(outputs["choose"]["text/html"]) > 50000, "the report in a frame")
    check(outputs["quantize"]["text/html"].count("<tr>") > 10, "verdict, figures and weak nodes")


def main():
    notebooks = sorted((SOURCE / "data" / "examples").glob("*.ipynb"))
    for path in notebooks:
        kept = json.loads(path.read_text(encoding="utf-8"))
        nbformat.validate(nbformat.from_dict(kept))
        check(all(not c["outputs"] and c["execution_count"] is None for c in kept["cells"] if c["cell_type"] == "code"),
              f"{path.name} is kept without outputs")
        with tempfile.TemporaryDirectory() as work:
            outputs = run_notebook(path, sys.argv[3] if len(sys.argv) > 3 else work)
            if path.stem == "tutorial" and outputs:
                check_tutorial(outputs)
    print(f"{len(notebooks)} notebooks, {n_checked} checks, {len(faults)} failed")
    sys.exit(bool(faults) or n_checked < 10)


main()
