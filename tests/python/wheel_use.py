#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""wheel_use.py models DEMO PHOTOGRAPHS OUT | rest DEMO | openblas DEMO: what tests/wheel.sh tries with the wheel.

models: the demo network, quantized with the samples that came along, with photographs in JPEG, and with arrays: OUT/*.onnx.
rest: how long vernier-cli takes to start, its German, man pages, reports, and what it says where something is not in the wheel.
openblas: rounding of second order, with OpenBLAS as pip installs it.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import vernier
from vernier._program import find_program

MOST_MS = 60
SETTINGS = {"preprocess": "minus-one-one", "verify": False}
demo = Path(sys.argv[2])
samples = str(demo / "samples")


def run(*arguments, **environment):
    return subprocess.run([find_program(), *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", **environment})


def make_arrays(n, shape):
    """Numbers from -1 to 1 that no version of numpy makes otherwise."""
    count = n * int(np.prod(shape))
    return (np.arange(count, dtype=np.int64) * 1103515245 % 65536 / 32768 - 1).astype(np.float32).reshape(n, *shape)


def quantize_models(photographs, out):
    model = vernier.open(str(demo / "demo.onnx"))
    os.makedirs(out, exist_ok=True)
    model.quantize(data=samples, **SETTINGS).save(os.path.join(out, "samples.onnx"))
    model.quantize(data=photographs, **SETTINGS).save(os.path.join(out, "photographs.onnx"))
    model.quantize(data=make_arrays(16, (3, 64, 64)), verify=False).save(os.path.join(out, "arrays.onnx"))
    model.quantize(data=samples, method="entropy", **SETTINGS).save(os.path.join(out, "entropy.onnx"))


def measure_start():
    times = []
    for _ in range(21):
        start = time.perf_counter()
        assert run("--version").returncode == 0
        times.append(1000 * (time.perf_counter() - start))
    median = statistics.median(times[1:])
    print(f"vernier-cli starts in {median:.1f} ms")
    assert median <= MOST_MS, median


def try_rest():
    program = Path(find_program())
    prefix = program.parents[1]
    assert program == Path(sys.prefix, "bin", "vernier-cli"), program
    measure_start()
    german = run("--help", LC_ALL="de_DE.UTF-8").stdout
    assert "Aufruf" in german or "Befehle" in german, german
    pages = sorted((prefix / "share" / "man" / "man1").glob("vernier-cli*.1*"))
    assert len(pages) > 10, pages
    model = demo / "demo.onnx"
    with tempfile.TemporaryDirectory() as folder:
        usual = ["quantize", model, "-o", f"{folder}/q.onnx", "--data", samples, "--preprocess", "minus-one-one", "--no-verify"]
        done = run(*usual, "--report", f"{folder}/report")
        written = sorted(os.listdir(f"{folder}/report"))
        assert done.returncode == 0 and written == ["report.html", "report.json", "report.md"], (done.stderr, written)
        assert "<svg" in Path(folder, "report", "report.html").read_text(encoding="utf-8")
        os.remove(f"{folder}/q.onnx")
        done = run(*usual, "--report", f"{folder}/report.pdf")
        assert done.returncode != 0 and ".html" in done.stderr and not os.path.exists(f"{folder}/q.onnx"), done.stderr
        done = run(*usual, "--rounding=second-order")
        assert done.returncode != 0 and "scipy-openblas32" in done.stderr, done.stderr
    print(f"{len(pages)} man pages, German, {', '.join(written)}; no PDF, no OpenBLAS: said")


def try_openblas():
    model = vernier.open(str(demo / "demo.onnx"))
    nearest = model.quantize(data=samples, **SETTINGS)
    result = model.quantize(data=samples, rounding="second-order", **SETTINGS)
    print(f"rounding to nearest: {nearest.sqnr_db:.1f} dB, of second order: {result.sqnr_db:.1f} dB")
    assert result.sqnr_db > nearest.sqnr_db


if sys.argv[1] == "models":
    quantize_models(*sys.argv[3:])
elif sys.argv[1] == "rest":
    try_rest()
else:
    try_openblas()
