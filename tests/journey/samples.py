# SPDX-License-Identifier: GPL-3.0-or-later
"""Journeys of models with samples other than a folder of pictures: what is exported is run in onnxruntime beside the float model,
on the same samples, and compared by numbers."""
import os
import pathlib
import subprocess

MAKE = """
import sys, wave
import numpy as np, onnx
from onnx import TensorProto, helper, numpy_helper
rng = np.random.default_rng(5)
def weight(name, *shape):
    return numpy_helper.from_array((rng.normal(0, 1, shape) / np.sqrt(shape[-2])).astype(np.float32), name)
def save(path, nodes, inputs, outputs, weights):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [info(*each) for each in inputs], [info(*each) for each in outputs], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
F, I, node = TensorProto.FLOAT, TensorProto.INT64, helper.make_node
axes = numpy_helper.from_array(np.array([2], np.int64), "axes")
save("tokens.onnx", [node("Gather", ["table", "input_ids"], ["e"]), node("Cast", ["attention_mask"], ["m"], to=F),
                     node("Unsqueeze", ["m", "axes"], ["n"]), node("Mul", ["e", "n"], ["k"]), node("MatMul", ["k", "w"], ["h"]),
                     node("Relu", ["h"], ["r"]), node("MatMul", ["r", "v"], ["y"])],
     [("input_ids", I, [1, 12]), ("attention_mask", I, [1, 12])], [("y", F, [1, 12, 8])],
     [weight("table", 200, 32), weight("w", 32, 64), weight("v", 64, 8), axes])
save("two.onnx", [node("MatMul", ["left", "w"], ["a"]), node("MatMul", ["right", "v"], ["b"]), node("Add", ["a", "b"], ["c"]),
                  node("Relu", ["c"], ["d"]), node("MatMul", ["d", "u"], ["y"])],
     [("left", F, [1, 24]), ("right", F, [1, 40])], [("y", F, [1, 8])],
     [weight("w", 24, 64), weight("v", 40, 64), weight("u", 64, 8)])
save("sound.onnx", [node("MatMul", ["waveform", "w"], ["a"]), node("Relu", ["a"], ["b"]), node("MatMul", ["b", "v"], ["y"])],
     [("waveform", F, [1, 400])], [("y", F, [1, 8])], [weight("w", 400, 48), weight("v", 48, 8)])
import os
for name in ("ids", "left", "right", "sounds"):
    os.mkdir(name)
for i in range(24):
    np.savez(f"ids/{i:02}.npz", input_ids=rng.integers(0, 200, (1, 12)))
    np.save(f"left/{i:02}.npy", rng.normal(0, 1, (1, 24)).astype(np.float32))
    np.save(f"right/{i:02}.npy", rng.normal(0, 20, (1, 40)).astype(np.float32))
for i in range(4):
    time = np.arange(8000) / 16000
    values = (0.7 * np.sin(2 * np.pi * (150 + 60 * i) * time) * 32767).astype("<i2")
    with wave.open(f"sounds/{i}.wav", "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(16000), file.writeframes(values.tobytes())
"""
# The signal to noise ratio of the outputs over all samples, in dB.
COMPARE = """
import glob, sys, wave
import numpy as np, onnxruntime
def read_sounds():
    for path in sorted(glob.glob("sounds/*.wav")):
        with wave.open(path) as file:
            values = np.frombuffer(file.readframes(8000), "<i2").astype(np.float32) / 32768
        yield from ({"waveform": values[at:at + 400][None]} for at in range(0, 8000, 400))
feeds = {
    "tokens": lambda: [{"input_ids": np.load(each)["input_ids"], "attention_mask": np.ones((1, 12), np.int64)}
                       for each in sorted(glob.glob("ids/*.npz"))],
    "two": lambda: [{"left": np.load(each), "right": np.load(each.replace("left", "right"))}
                    for each in sorted(glob.glob("left/*"))],
    "sound": lambda: list(read_sounds()),
}[sys.argv[1]]()
def run(path):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return np.stack([session.run(None, each)[0] for each in feeds])
first, other = run(sys.argv[1] + ".onnx"), run(sys.argv[1] + "-quantized.onnx")
print(len(feeds), 10 * np.log10((first ** 2).sum() / ((first - other) ** 2).sum()))
"""


def python(code, *words):
    run = subprocess.run([os.environ["VN_ORACLE_PYTHON"], "-c", code, *map(str, words)], capture_output=True, text=True,
                         cwd=pathlib.Path.home(), env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert run.returncode == 0, run.stderr
    return run.stdout


def begin(desk, vernier, drop_source, name, dropped):
    """The model is open at its samples, and there is something to drag to it."""
    home = pathlib.Path.home()
    app = desk.Program([vernier, home / (name + ".onnx")])
    app.resize(1280, 860)
    app.find("push button", "Quantize…")
    app.key("ctrl+r")
    app.find("label", "Samples", "Data")
    source = desk.Program([drop_source, *[home / each for each in dropped]])
    desk.run("xdotool", "windowmove", "--sync", source.window, 1500, 100)
    source.wait(lambda: int(source.geometry()["X"]) > 1400, "what is dragged from does not move aside")
    return app, source


def export(app, name):
    written = pathlib.Path.home() / (name + "-quantized.onnx")
    app.click("push button", "Export…", "Quantize")
    app.click("push button", "Export", "Quantize")
    app.wait(written.is_file, "no exported model")
    n, db = python(COMPARE, name).split()
    return int(n), float(db), written


def drop(desk, at=0):
    desk.drag((1580, 120 + 40 * at), (700, 500))


def read_tokens(desk, vernier, drop_source):
    """A target without samples is used, which the page offers with what it wins; samples have no mask, which is filled."""
    app, source = begin(desk, vernier, drop_source, "tokens", ["ids"])
    app.click("push button", "Use Dynamic, 8-bit", "Data")
    app.wait(lambda: any("needs no samples" in text for text in app.labels("Data")), "the target still needs samples")
    told = app.wait(lambda: [text for text in app.labels("Data") if "times smaller" in text], "no size is told")
    drop(desk)
    app.wait(lambda: any("Filled with ones" in text for text in app.labels("Data")), "the mask is not filled")
    app.click("push button", "Calibrate Now", "Quantize")
    app.find("push button", "Lower the Error", "Review")
    n, db, written = export(app, "tokens")
    before = (pathlib.Path.home() / "tokens.onnx").stat().st_size
    size = f"{before / written.stat().st_size:.1f} times smaller"
    assert any(size in text for text in told), f"{size}, but told is {told}"
    assert n == 24 and db > 25, f"{db} dB on {n} samples"
    print("tokens:", size, f"as told; {db:.1f} dB in ONNX Runtime")
    return app, source


def read_two(desk, vernier, drop_source):
    """Each input has a folder of its own, chosen in its row."""
    app, source = begin(desk, vernier, drop_source, "two", ["left"])
    for row, folder in enumerate(("left", "right")):
        def is_chosen():
            return sum("Needs samples" in text for text in app.labels("Data")) == 1 - row

        # after those of the inputs comes that of the labels
        buttons = app.wait(lambda: [node for part in app.parts("Data") for node in desk.walk(part) if node.role == "push button"
                                    and node.name == "Choose…" and app.is_shown(node)][-3:], "no buttons to choose samples")
        app.press(buttons[row])
        app.answer_with_file(pathlib.Path.home() / folder)
        app.wait(is_chosen, f"the samples of {folder} are not chosen")
    app.click("push button", "Calibrate Now", "Quantize")
    app.find("push button", "Lower the Error", "Review")
    n, db, _ = export(app, "two")
    assert n == 24 and db > 20, f"{db} dB on {n} samples"
    print(f"two inputs: {db:.1f} dB in ONNX Runtime")
    return app, source


def hear_sounds(desk, vernier, drop_source):
    """Whole files are cut into what the model takes, and the page says so; a file alone is taken, too."""
    app, source = begin(desk, vernier, drop_source, "sound", ["sounds", "sounds/0.wav"])
    drop(desk, 1)
    app.wait(lambda: any("in parts of 400 values" in text for text in app.labels("Data")), "it is not told how sounds are cut")
    app.wait(lambda: any("8 samples" in text for text in app.labels("Data")), "a file alone is not 8 samples")
    drop(desk)
    app.wait(lambda: any("32 samples" in text for text in app.labels("Data")), "4 files are not 32 samples")
    app.click("push button", "Calibrate Now", "Quantize")
    app.find("push button", "Lower the Error", "Review")
    n, db, _ = export(app, "sound")
    assert n == 80 and db > 15, f"{db} dB on {n} samples"   # 19 where kernels of ONNX Runtime saturate
    print(f"sounds: {db:.1f} dB in ONNX Runtime")
    return app, source


def meet_samples(desk, vernier, drop_source):
    python(MAKE)
    for each in (read_tokens, read_two, hear_sounds):
        for program in each(desk, vernier, drop_source):
            program.kill()
