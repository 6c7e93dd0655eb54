#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""use.py CLI SOURCE_DIR: what users of the package do right and wrong. Samples of each kind come to the same bytes; what is wrong
is an error that names it; a result is saved complete or not at all, and shares no weights with others; Ctrl-C and a callback that
raises end the program, and nothing is left; a bar is drawn on a terminal."""
import contextlib
import fcntl
import gc
import glob
import os
import pty
import signal
import struct
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

CLI, SOURCE = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "oracle"))
import oracle    # noqa: E402

oracle.use_oracle_python()
sys.path.insert(0, str(SOURCE / "src" / "python"))
os.environ["VERNIER_CLI"] = CLI
import numpy as np      # noqa: E402
import onnx             # noqa: E402
import onnxruntime      # noqa: E402
import vernier          # noqa: E402

DEMO = SOURCE / "data" / "demo" / "demo.onnx"
PICTURES = dict(data=SOURCE / "data" / "demo" / "samples", preprocess="minus-one-one")
n_checked = 0
faults = []


def check(good, what):
    global n_checked
    n_checked += 1
    if not good:
        faults.append(what)
        print("not ok", what, flush=True)


def refused(what, kind, words, function, *arguments, **keywords):
    """words: that the message has; kind: an exception, or the code of a VernierError."""
    try:
        function(*arguments, **keywords)
    except Exception as error:
        check(kind == getattr(error, "code", type(error)) and words in str(error), f"{what}: {type(error).__name__} {error}")
        return error
    check(False, f"{what}: no error")
    return None


def check_samples(model, arrays):
    stack = np.concatenate(arrays)

    class Dataset:
        def __getitem__(self, i):
            return arrays[i], i

    kinds = {"generator": (a for a in arrays), "without a batch": [a[0] for a in arrays], "float64": stack.astype(np.float64),
             "lists": [a.tolist() for a in arrays], "mapping of stacks": {"image": stack}, "dataset": Dataset(),
             "mappings with labels": [{"image": a, "label": 3} for a in arrays]}
    expected = model.quantize(data=arrays).path.read_bytes()
    for name, data in kinds.items():
        check(model.quantize(data=data).path.read_bytes() == expected, f"samples: {name}")
    paths = sorted(PICTURES["data"].glob("*/*.png"))
    listed = model.quantize(data=paths, preprocess="minus-one-one").path.read_bytes()
    check(listed == model.quantize(**PICTURES).path.read_bytes(), "samples: a list of paths")
    check(model.quantize(data=arrays * 9, limit=4).report["samples"]["calibration"] == 4, "limit")


def check_mistakes(model, arrays):
    quantize = model.quantize
    empty = (a for a in arrays)
    list(empty)
    for what, kind, words, function, keywords in (
            ("no file", FileNotFoundError, "none.onnx", vernier.open, dict(model="none.onnx")),
            ("a number as a model", TypeError, "int", vernier.open, dict(model=3)),
            ("bytes as a model", TypeError, "bytes", vernier.open, dict(model=b"\x08")),
            ("a number as data", TypeError, "int", quantize, dict(data=5)),
            ("no data", "usage", "--data", quantize, {}),
            ("a generator twice", "setting", "no samples", quantize, dict(data=empty)),
            ("other shape", "missing-data", "1×3×32×64", quantize, dict(data=[a[:, :, :32] for a in arrays])),
            ("other name", "setting", "pixels", quantize, dict(data=[{"pixels": a} for a in arrays])),
            ("other numbers", "setting", "3, 6", quantize, dict(data={"image": np.concatenate(arrays), "x": np.zeros(3)})),
            ("texts", "setting", "type", quantize, dict(data=[["a", "b"]])),
            ("NaN", "numeric", "NaN", quantize, dict(data=[a * np.nan for a in arrays])),
            ("no preset", "usage", "“cpu”", quantize, dict(preset="cpuu", data=arrays)),
            ("no setting", "usage", "frob", quantize, dict(frob=1, data=arrays))):
        refused(what, kind, words, function, **keywords)

    def fail():
        yield arrays[0]
        raise KeyError("of the user")

    refused("a generator that raises", KeyError, "of the user", quantize, data=fail())
    error = refused("verdict", "verdict", "care", quantize, preset="mx6", fail_unless="good", **PICTURES)
    check(error.result.level == "care" and error.result.path.exists(), "the result of what was refused")


def check_saving(model, arrays, work):
    here = Path(work, "with space ü")
    here.mkdir()
    result = model.quantize(data=arrays)
    plain = result.path.read_bytes()
    for target in (here / "ä b.onnx", here / "ä b.onnx", here):
        check(result.save(target).read_bytes() == plain, f"save {target}")
    check(sorted(os.listdir(here)) == ["demo.q.onnx", "ä b.onnx"], f"saved: {os.listdir(here)}")
    check(result.model == onnx.load_from_string(plain) and result.size == len(plain), "ModelProto")
    refused("no folder", FileNotFoundError, "none/x.onnx", result.save, here / "none" / "x.onnx")
    check(model.quantize(data=arrays, recipe=result.recipe).path.read_bytes() == plain, "the recipe gives the same")
    check(result.save_report(here / "report.json").stat().st_size > 1000, "report")
    folder = result.path.parent
    del result
    check(not folder.exists(), "nothing is left of a result that is gone")
    # Weights beside the model: each of two has its own.
    apart = Path(work, "apart")
    apart.mkdir()
    outputs = {}
    for name, preset in (("a", "w8"), ("b", "w4")):
        one = model.quantize(preset=preset, save_as_external_data=True, all_tensors_to_one_file=True)
        outputs[name] = onnxruntime.InferenceSession(str(one.path)).run(None, {"image": arrays[0]})[0]
        one.save(apart / f"{name}.onnx")
    check(len(os.listdir(apart)) == 4 and not np.array_equal(outputs["a"], outputs["b"]), f"files: {os.listdir(apart)}")
    for name, before in outputs.items():
        after = onnxruntime.InferenceSession(str(apart / f"{name}.onnx")).run(None, {"image": arrays[0]})[0]
        check(np.array_equal(before, after), f"{name}.onnx has its own weights")


def check_measures(model, arrays):
    """The same figures by another way: of the report, and of a comparison of the files."""
    result = model.quantize(**PICTURES)
    compared = model.compare(result.model, **PICTURES)
    check(abs(compared.sqnr_db - result.sqnr_db) < 1 and compared.weak_nodes(1)[0]["sqnr_db"] < compared.sqnr_db, "compare")
    rows = result.evaluate(**PICTURES)
    check([row["top1_hits"] for row in rows] == [64, 64] and rows[1]["bytes"] == result.size, "evaluate")
    check(result.to_pandas()["sqnr_db"].min() == result.weak_nodes(1)[0]["sqnr_db"], "to_pandas")
    blind = model.quantize(preset="w8")
    check(blind.level == "not-measured" and blind.weak_nodes() == [] and "<table>" in blind._repr_html_(), "nothing was measured")
    found = []
    threads = [threading.Thread(target=lambda: found.append(model.quantize(data=arrays))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(len(found) == 2 and found[0].path.read_bytes() == found[1].path.read_bytes(), "two threads")


def check_ends(model, arrays):
    """Of work that would take long."""
    def raise_it(part, stage):
        raise ZeroDivisionError("of the user")

    for what, kind, keywords in (("Ctrl-C", KeyboardInterrupt, {}),
                                 ("a callback that raises", ZeroDivisionError, dict(progress=raise_it))):
        began = time.monotonic()
        if kind is KeyboardInterrupt:
            threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            model.quantize(data=arrays, auto=True, time=60, **keywords)
            check(False, f"{what}: no error")
        except (KeyboardInterrupt, ZeroDivisionError) as error:
            check(type(error) is kind and time.monotonic() - began < 20, f"{what}: {error!r}")


SLOW = r"""#!/bin/sh
for i in 1 2 3 4 5 6 7 8; do
  echo '{"progress": 0.'$i', "stage": "measuring"}' >&2
  sleep 0.15
done
echo '{}'
"""


def check_bar(work):
    program = Path(work, "slow")
    program.write_text(SLOW, encoding="utf-8")
    program.chmod(0o755)
    for terminal in (True, False):
        drawn = draw_bar(program, terminal)
        check(("measuring" in drawn and "80 %" in drawn) == terminal, f"bar, terminal {terminal}: {drawn!r}")


def draw_bar(program, terminal):
    """What is written to standard error while the package runs that program."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    if terminal:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    pid = os.fork()
    if pid == 0:
        os.dup2(theirs, 2)
        os.environ["VERNIER_CLI"] = str(program)
        vernier.run(["inspect"])
        os._exit(0)
    os.close(theirs)
    drawn = b""
    with contextlib.suppress(OSError):    # how a terminal ends
        while part := os.read(ours, 4096):
            drawn += part
    os.waitpid(pid, 0)
    os.close(ours)
    return drawn.decode("utf-8", "replace")


def main():
    with tempfile.TemporaryDirectory() as work:
        tempfile.tempdir = os.environ["TMPDIR"] = os.path.join(work, "tmp")
        os.mkdir(tempfile.tempdir)
        os.chdir(work)
        random = np.random.default_rng(1)
        arrays = [random.uniform(-1, 1, (1, 3, 64, 64)).astype(np.float32) for _ in range(6)]
        model = vernier.open(onnx.load(DEMO))
        check_samples(vernier.open(DEMO), arrays)
        check_mistakes(model, arrays)
        check_saving(vernier.open(DEMO), arrays, work)
        check_measures(model, arrays)
        check_ends(model, arrays)
        check_bar(work)
        del model
        gc.collect()
        left = glob.glob(os.path.join(tempfile.tempdir, "*"))
        check(left == [], f"left: {left}")
        os.chdir("/")
    print(f"{n_checked} checks, {len(faults)} failed")
    sys.exit(bool(faults) or n_checked < 40)


main()
