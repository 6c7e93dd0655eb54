# SPDX-License-Identifier: GPL-3.0-or-later
"""journey.py VERNIER DROP_SOURCE [JOURNEY]: from an empty window to an exported model, by dropping files, clicking and typing, as
a person does it: "export" in as few clicks as there need be; "repair": 16 bit for a region of the graph, undo, a crash, comparing
runs, "improve": the same after improving, "others": a network that reads tokens, one that is quantized already, one with a node
that nobody knows, "edit": searching in the demo, folding, changing what was found, undoing, "detector": a detector of which the
presets leave more or less, and which is exported by what its file says, "samples": tokens, sounds, and two inputs with samples
of their own.

Needs a display with nothing on it, a session bus, a window manager, xdotool and AT-SPI; real networks and photographs;
onnxruntime in $VN_ORACLE_PYTHON judges what was exported. $VN_SCREENSHOTS: a folder for pictures on the way."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

MISSING = 77
PHOTOGRAPHS = 12      # enough not to be called few
JUDGE = """
import sys, numpy, onnx, onnxruntime
onnx.checker.check_model(onnx.load(sys.argv[1]), full_check=True)
session = onnxruntime.InferenceSession(sys.argv[1])
values = session.run(None, {each.name: numpy.zeros([size if isinstance(size, int) else 1 for size in each.shape],
                                                   numpy.int64 if each.type == "tensor(int64)" else numpy.float32)
                            for each in session.get_inputs()})
graph = onnx.load(sys.argv[1]).graph
wide = {each.name for each in graph.initializer if each.data_type == onnx.TensorProto.UINT16}
quantizers = [node for node in graph.node if node.op_type == "QuantizeLinear"]
print(len(quantizers), sum(node.input[2] in wide for node in quantizers), len(values))
"""


def judge(path):
    """How many quantizers there are, and how many of 16 bit; the file is sound and runs."""
    run = subprocess.run([os.environ["VN_ORACLE_PYTHON"], "-c", JUDGE, str(path)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return tuple(int(word) for word in run.stdout.split()[:2])


def picture(name):
    """What is on the screen, into $VN_SCREENSHOTS."""
    folder = os.environ.get("VN_SCREENSHOTS")
    if folder:
        grab = "import sys; from PIL import ImageGrab; ImageGrab.grab(xdisplay='').save(sys.argv[1])"
        subprocess.run([os.environ["VN_ORACLE_PYTHON"], "-c", grab, os.path.join(folder, name + ".png")])


def begin(desk, vernier, drop_source, shared):
    model = pathlib.Path.home() / "detector.onnx"   # what is made of it is proposed to be written beside it
    shutil.copy(shared / "models" / "det_ultraface_rfb320.onnx", model)
    photographs = pathlib.Path.home() / "photographs"
    photographs.mkdir()
    for each in sorted((shared / "images" / "coco").iterdir())[:PHOTOGRAPHS]:
        (photographs / each.name).symlink_to(each)
    app = desk.Program([vernier])
    source = desk.Program([drop_source, model, photographs])
    desk.run("xdotool", "windowmove", "--sync", app.window, 0, 0)
    desk.run("xdotool", "windowmove", "--sync", source.window, 1500, 100)
    source.wait(lambda: int(source.geometry()["X"]) > 1400, "what is dragged from does not move aside")
    return app, source


def list_controls(desk, app, roles):
    """Those that are shown, when there are as many as the graph with its panels has."""
    controls = [node for node in desk.walk(app.root()) if node.role in roles and app.has_place(node)]
    return controls if len(controls) > 25 else None


def listen(desk, app):
    """What a screen reader is told: controls have names that people see, states say what is on, the graph tells the focused
    node."""
    roles = ("push button", "toggle button", "check box", "radio button", "entry", "spin button", "slider", "combo box",
             "page tab", "list")
    controls = app.wait(lambda: list_controls(desk, app, roles), "there are few controls")
    nameless = [node.role for node in controls if node.name in ("", "GtkImage")]
    assert len(controls) > 25 and not nameless, f"{len(controls)} controls; without a name: {nameless}"
    tabs = {node.name.split()[0]: desk.is_selected(node) for node in controls if node.role == "page tab"}
    assert tabs["Graph"] and not tabs["Nodes"] and not tabs["Compare"], f"selected pages: {tabs}"
    desk.run("xdotool", "mousemove", *app.place(app.find("panel", "Network graph")), "click", 1)
    app.key("Home")
    told = app.wait(lambda: app.find("panel", "Network graph").description, "the graph does not tell which node is focused")
    app.key("End")
    app.wait(lambda: app.find("panel", "Network graph").description not in ("", told), f"the graph goes on telling {told}")
    print("a screen reader hears", len(controls), "names, and", told)


def quantize(desk, app):
    """Drop a detector, drop photographs that it was not trained on as they are, be warned, accept what is proposed, and
    calibrate."""
    desk.drag((1580, 120), (700, 500))
    app.find("push button", "Quantize…")
    listen(desk, app)
    desk.drag((1580, 160), (700, 500))
    app.click("push button", "Use −1 … 1", "Data")
    app.wait(lambda: app.look("push button", "Use −1 … 1", "Data") is None, "the warning stays")
    app.click("push button", "Calibrate Now", "Quantize")
    app.find("push button", "Lower the Error", "Review")
    picture("journey-review")


def is_idle(app):
    """No job runs in the window."""
    return app.look("push button", "Cancel", "Current Task") is None


def export_at_once(desk, app, vernier):
    """As few clicks as there need be."""
    app.click("push button", "Export…", "Quantize")
    app.find("check box", "HTML, one page with graphics", "Export")
    app.click("push button", "Export", "Quantize")


def improve(desk, app, vernier):
    """What improving gained, and where the error starts that is left."""
    app.scroll_to("spin button", "Time Limit", "Improve Automatically")
    app.click("spin button", "Time Limit", "Improve Automatically", from_left=15)
    desk.run("xdotool", "key", "ctrl+a")
    app.type("120")    # it ends earlier where nothing else is to try
    app.scroll_to("push button", "Lower the Error", "Improve Automatically")
    app.click("push button", "Lower the Error", "Improve Automatically")
    app.find("label", "Results of Automatic Improvement", "Improve Automatically")

    def list_gains():
        return [float(found[1]) for found in (re.fullmatch("\\+([0-9.]+)\u00a0dB", text)
                                              for text in app.labels("Improve Automatically")) if found]

    gains = app.steady(list_gains, "improving gains nothing")
    assert sum(gains) > 0.5, f"improving gained {gains}"
    app.find("label", "Error Sources", "Review")
    origins = app.steady(lambda: [text for text in app.labels("Error Sources") if re.fullmatch("[0-9.]+\u00a0%", text)],
                         "no origins")
    assert len(origins) > 3, f"origins: {origins}"
    print("improved by", gains, "dB; the error that is left starts at", origins)
    picture("journey-improved")


WORST = "SQNR, worst output"


def worst_output(app):
    """As the last step tells it; the window is then where it was."""
    app.key("ctrl+r")
    app.click("list item", "Review", "Quantize")
    app.wait(lambda: WORST in app.labels("Review"), "the error of the outputs is not told")
    labels = app.labels("Review")
    app.key("Escape")
    return float(labels[labels.index(WORST) - 1].split()[0])


def give_region_bits(desk, app, vernier):
    """A region of the graph, chosen with the mouse, gets 16 bit: the error falls, comes back, falls."""
    app.click("push button", "Graph", "Quantize")
    app.resize(1280, 860)
    found = [worst_output(app)]
    app.key("shift+F7")     # one column: a rectangle is a region with few edges
    app.click("push button", "Show the Whole Graph")
    app.steady(lambda: app.texts("[0-9]+\\s?%"), "the graph goes on moving")     # how large it is shown
    desk.drag((880, 70), (520, 500))
    chosen = app.wait(lambda: next((text for text in app.labels("Inspector") if re.fullmatch("[0-9]+ Nodes", text)), None),
                      "no nodes are selected")
    assert int(chosen.split()[0]) > 20, chosen

    def settle():
        """What takes long is not begun before somebody says so."""
        def is_run():
            button = app.look("push button", "Run Now", "Estimated")
            if button is not None:
                app.press(button)
            return is_idle(app) and worst_output(app) != found[-1]

        app.wait(is_run, f"the error stays as it was: {found}")
        found.append(worst_output(app))

    app.click("push button", "Set Region to 16-Bit", "Inspector")
    settle()
    picture("journey-region")
    app.key("ctrl+z")
    settle()
    app.key("ctrl+shift+z")
    settle()
    print("a region of", chosen, "in 16 bit, undone, redone: worst output, dB:", found)
    assert found[1] > found[0] + 0.2 and found[2] == found[0] and found[3] == found[1], found


def crash(desk, app, vernier):
    """Saved, and killed while it calibrates again: the program of the next day has it all."""
    kept = pathlib.Path.home() / "kept.vernier"
    app.key("ctrl+s")
    app.answer_with_file(kept, proposed=True)
    app.wait(lambda: kept.is_file(), "no project was written")
    app.key("ctrl+r")
    app.click("list item", "Calibrate", "Quantize")
    app.find("push button", "Run Again", "Calibrate")
    runs = sorted(each.name for each in kept.with_name(kept.name + "-runs").iterdir())
    app.click("push button", "Run Again", "Calibrate")
    app.kill()
    assert runs and runs == sorted(each.name for each in kept.with_name(kept.name
                                                                        + "-runs").iterdir()), "it was not killed while it ran"
    again = desk.Program([vernier])
    again.click("label", "kept.vernier", "Recent")
    again.resize(1280, 860)
    again.find("push button", "Run Now", "Estimated")
    return again


def compare(desk, app, vernier):
    """The run before beside the last one: five nodes differ."""
    app.key("alt+3")
    app.steady(lambda: app.labels("Compare"), "the page goes on changing")
    app.click("combo box", None, "Compare")
    app.steady(lambda: app.labels("Compare"), "the list does not open")
    desk.run("xdotool", "key", "Down", "Down", "Return")
    changed = app.steady(lambda: [text for text in app.labels("Compare") if re.fullmatch("≠ [0-9]+ changed", text)],
                         "no node has changed")
    assert len(changed) == 2 and changed[0] == changed[1], changed
    print("compared:", changed[0])
    picture("journey-compare")


def export_again(desk, app, vernier):
    """What was kept is quantized once more, and exported."""
    app.click("push button", "Run Now", "Estimated")
    app.wait(lambda: app.look("push button", "Run Now", "Estimated") is None and is_idle(app), "the run does not end")
    app.key("ctrl+r")
    export_at_once(desk, app, vernier)


UNKNOWN = """
import sys, numpy, onnx
from onnx import helper, numpy_helper
random = numpy.random.default_rng(3)
weights = [numpy_helper.from_array(random.normal(0, .3, shape).astype("float32"), name)
           for name, shape in (("w", (8, 3, 3, 3)), ("v", (4, 8, 1, 1)))]
nodes = [helper.make_node("Conv", ["x", "w"], ["a"], "first", pads=[1] * 4), helper.make_node("Relu", ["a"], ["b"], "relu"),
         helper.make_node("Wavelet", ["b"], ["c"], "odd", domain="example.lab"),
         helper.make_node("Conv", ["c", "v"], ["y"], "last")]
ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, n, 16, 16]) for name, n in (("x", 3), ("y", 4))]
graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], weights)
opsets = [helper.make_opsetid("", 13), helper.make_opsetid("example.lab", 1)]
onnx.save(helper.make_model(graph, opset_imports=opsets), sys.argv[1])
"""


def open_model(desk, vernier, path):
    app = desk.Program([vernier, path])
    app.resize(1280, 860)
    app.find("push button", "Quantize…")
    app.key("ctrl+r")
    return app


def quantize_random(app, path):
    """With random values; what comes out is exported, and there is no report."""
    app.click("check box", "Random values", "Data")
    app.click("push button", "Calibrate Now", "Quantize")
    app.find("label", "Check the samples first", "Review")
    picture("journey-" + path.stem)
    said = " ".join(app.steady(lambda: app.labels("Review"), "the review goes on changing"))
    app.click("push button", "Export…", "Quantize")
    app.click("push button", "Export", "Quantize")
    written = path.with_name(path.stem + "-quantized.onnx")
    app.wait(written.is_file, "no exported model")
    return written, said


def read_tokens(desk, vernier, path):
    """Nothing is asked about pictures."""
    app = open_model(desk, vernier, path)
    app.find("label", "Samples", "Data")
    assert app.look("label", "Preprocessing", "Data") is None and app.look("label", "Calibration Images", "Data") is None
    written, _ = quantize_random(app, path)
    print("tokens:", judge(written)[0], "quantizers")
    return app


WEIGHTS = """
import sys, onnx
graph = onnx.load(sys.argv[1]).graph
made, constants = {name: node for node in graph.node for name in node.output}, {each.name: each for each in graph.initializer}
conv = next(node for node in graph.node if node.op_type == "Conv")
pair = made[conv.input[1]]
print("%.4g" % onnx.numpy_helper.to_array(constants[pair.input[1]]), pair.input[0], pair.name, sep="\\n")
"""


def copy_scale(desk, app, path):
    """What stands in the file is shown, can be copied, and is found again."""
    run = subprocess.run([os.environ["VN_ORACLE_PYTHON"], "-c", WEIGHTS, path], capture_output=True, text=True, check=True)
    scale, weights, reader = run.stdout.splitlines()
    app.key("Escape")
    app.key("ctrl+f")
    app.type("Conv>MaxPool")
    app.steady(lambda: app.texts("[0-9]+ found"), "a sequence of types is not found")
    desk.run("xdotool", "key", "Return")
    label = app.find("label", scale, "Inspector")
    assert weights in app.labels("Inspector"), weights
    x, y = app.place(label)
    desk.run("xdotool", "mousemove", x + app.box(label)[2] // 2 - 6, y, "click", "--repeat", 3, "--delay", 60, 1)
    app.key("ctrl+c")
    copied = [desk.run(os.environ["VN_READ_CLIPBOARD"])]
    app.key("ctrl+f")
    desk.run("xdotool", "key", "ctrl+a")
    app.type(weights)
    app.steady(lambda: app.texts("1 found"), "the weights are not found")
    desk.run("xdotool", "key", "Return")
    app.key("Escape")
    desk.run("xdotool", "key", "Tab", "Tab")     # where text is searched for it would be text that is copied
    app.key("ctrl+c")
    copied.append(desk.run(os.environ["VN_READ_CLIPBOARD"]))
    assert copied == [scale, reader], copied
    picture("journey-scale")
    print("scale", copied[0], "of", weights, "copied")


def meet_quantized(desk, vernier, path):
    """Says that it is, and shows it beside another."""
    app = open_model(desk, vernier, path)
    app.find("label", "This model is already quantized", "Model")
    copy_scale(desk, app, path)
    app.key("ctrl+r")
    app.click("push button", "Compare With a File…", "Model")
    app.answer_with_file(path)
    app.wait(lambda: len([text for text in app.labels("Compare") if text == path.name]) >= 1, "it is not compared")
    picture("journey-" + path.stem)
    return app


def meet_unknown(desk, vernier, path):
    """The verdict does not speak of outputs that nobody can know."""
    app = open_model(desk, vernier, path)
    written, said = quantize_random(app, path)
    assert "unsupported" in said and "worst output" not in said and "As good as" not in said, said
    subprocess.run([os.environ["VN_ORACLE_PYTHON"], "-c", "import sys, onnx; onnx.checker.check_model(onnx.load(sys.argv[1]))",
                    written], check=True)
    print("unknown node: exported")
    return app


INSIDE = """
import sys, onnx
node = next(node for node in onnx.load(sys.argv[1]).graph.node if node.op_type == "If")
print(len(next(each.g for each in node.attribute if each.name == "then_branch").node))
"""


def open_body(desk, vernier, path):
    """What runs inside a node is opened in a window of its own."""
    run = subprocess.run([os.environ["VN_ORACLE_PYTHON"], "-c", INSIDE, path], capture_output=True, text=True, check=True)
    app = open_model(desk, vernier, path)
    app.key("Escape")
    app.key("ctrl+f")
    app.type("If")
    app.steady(lambda: app.texts("1 found"), "the node is not found")
    desk.run("xdotool", "key", "Return")
    app.click("label", "then_branch", "Inspector")
    app.wait(lambda: app.texts(f"{path.name} › .* › then_branch"), "the body is not opened")
    app.wait(lambda: run.stdout.strip() in app.texts("[0-9]+"), f"it has not {run.stdout.strip()} nodes")
    picture("journey-body")
    print("body:", run.stdout.strip(), "nodes")
    return app


SPEAK = """
import sys, numpy
random, path = numpy.random.default_rng(1), sys.argv[1]
for i in range(8):
    rate, n = (16000, 576) if i % 2 else (8000, 288)
    numpy.savez(f"{path}/{i}.npz", input=(0.1 * random.standard_normal((1, n))).astype(numpy.float32), sr=numpy.int64(rate),
                state=(0.3 * random.standard_normal((2, 1, 128))).astype(numpy.float32))
"""


def measure_body(desk, vernier, path):
    """What a run of the whole model found inside a body is shown there, and there is a way back."""
    samples = path.with_name("sounds")
    samples.mkdir()
    subprocess.run([os.environ["VN_ORACLE_PYTHON"], "-c", SPEAK, samples], check=True)
    project = path.with_suffix(".vernier")
    subprocess.run([os.environ["VN_CLI"], "quantize", path, "-d", samples, "-o", path.with_name("speech-q.onnx"), "--subgraphs",
                    "--save-project", project], check=True, capture_output=True)
    app = desk.Program([vernier, project])
    app.resize(1280, 860)
    app.find("push button", "Run Now")
    app.key("ctrl+f")
    app.type("If")
    app.steady(lambda: app.texts("1 found"), "the node is not found")
    desk.run("xdotool", "key", "Return")
    told = re.compile(r"[0-9]+ nodes · worst [−0-9.]+\sdB")
    worst = app.wait(lambda: [text for text in app.labels("Inspector") if told.fullmatch(text)],
                     "the inspector does not tell the worst error inside")
    app.click("label", "then_branch", "Inspector")
    app.wait(lambda: app.texts("From the Run of the Whole Model"), "the body does not show what the run found")
    app.wait(lambda: desk.run("xdotool", "getactivewindow").strip() != app.window, "the body has no window")
    picture("journey-body-errors")
    desk.run("xdotool", "key", "alt+Up")
    app.wait(lambda: desk.run("xdotool", "getactivewindow").strip() == app.window, "there is no way back")
    print("errors inside the bodies:", worst)
    return app


def meet_others(desk, vernier, shared):
    home = pathlib.Path.home()
    for name in ("voice", "speech"):
        shutil.copy(shared / "models" / "aud_silero_vad_v6_if.onnx", home / (name + ".onnx"))
    shutil.copy(shared / "models" / "txt_bert_toy_op12_unsorted.onnx", home / "tokens.onnx")
    shutil.copy(shared / "models" / "kws_micro_qdq.onnx", home / "already.onnx")
    subprocess.run([os.environ["VN_ORACLE_PYTHON"], "-c", UNKNOWN, home / "unknown.onnx"], check=True)
    for each, name in ((read_tokens, "tokens"), (meet_quantized, "already"), (meet_unknown, "unknown"),
                       (open_body, "voice"), (measure_body, "speech")):
        app = each(desk, vernier, home / (name + ".onnx"))
        app.kill()


def edit(desk, vernier):
    """What was searched for and folded away is not there any more when the network is changed; the program is."""
    app = desk.Program([vernier])
    app.resize(1280, 860)
    app.click("push button", "Try the Demo")
    app.find("push button", "Quantize…")
    app.wait(lambda: is_idle(app), "the demo does not open")
    app.steady(lambda: app.texts("[0-9]+\\s?%"), "the graph goes on moving")
    for looked_for in ("Gemm", "Conv", "sqnr<60"):
        app.key("ctrl+f")
        desk.run("xdotool", "key", "ctrl+a")
        app.type(looked_for)
        app.steady(lambda: app.texts("[0-9]+ found"), f"nothing is found for {looked_for}")
        desk.run("xdotool", "key", "Return")
        app.click("push button", "Use 16-Bit", "Inspector")
        app.key("ctrl+z")
        app.key("ctrl+f")
        desk.run("xdotool", "key", "ctrl+a", "BackSpace")
        app.catch_up()
        desk.run("xdotool", "key", "Tab", "Tab", "Tab", "Home", "Left", "Right", "Left")   # the first row of the outline
        app.key("ctrl+shift+z")
        app.key("ctrl+z")
        app.wait(lambda: is_idle(app), "the work does not end")
    app.check_alive()
    picture("journey-edit")
    print("searched, folded, edited, undone")
    app.kill()


DETECTOR = """
import os, sys
import numpy, onnx
from PIL import Image
import detector_networks as networks
fitted, rng = networks.Fitted(), numpy.random.default_rng(5)
os.mkdir("pictures")
for i in range(32):
    Image.fromarray(networks.draw_picture(rng)[0]).save(os.path.join("pictures", f"{i:03}.png"))
model = networks.make_network("yolov8", fitted)
onnx.save(model, "detector.onnx")
onnx.helper.set_model_props(model, {"task": "detect", "stride": "32", "imgsz": str([networks.SIZE] * 2), "author": "Ultralytics",
                                    "names": str({i: f"kind {i}" for i in range(networks.N_CLASSES)})})
onnx.save(model, "yolo.onnx")
"""
# What is left of its detections in ONNX Runtime, on the same pictures.
LEFT = """
import glob, sys
import numpy, onnxruntime
from PIL import Image
import detector_networks as networks
pictures = [numpy.asarray(Image.open(path)) for path in sorted(glob.glob("pictures/*.png"))]
def detect(path):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return [networks.decode_yolov8(dict(zip(names, session.run(None, {"images": networks.as_input(each)})))) for each in pictures]
found = [detect(path) for path in sys.argv[1:]]
n = kept = 0
for first, other in zip(*found):
    n += len(first)
    kept += sum(any(box[5] == each[5] and networks.iou(box, each[None])[0] >= 0.5 for each in other) for box in first)
print(kept / n if n >= 90 else "too few detections: %d" % n)
"""


def run_beside_networks(code, *words):
    folder = pathlib.Path(__file__).resolve().parent.parent / "oracle"
    run = subprocess.run([os.environ["VN_ORACLE_PYTHON"], "-c", code, *map(str, words)], capture_output=True, text=True,
                         cwd=pathlib.Path.home(),
                         env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"})
    assert run.returncode == 0, run.stderr
    return run.stdout


def count_detections(desk, app, preset):
    """As the list of samples tells them in Compare: how many of the float network's are kept, and how many there were."""
    app.key("Escape")
    app.key("alt+3")
    app.steady(lambda: app.labels("Compare"), "the page goes on changing")
    app.click("push button", "Answers on the Samples", "Compare")

    def count():
        rows = [re.fullmatch("(?:all |([0-9]+) of )([0-9]+) kept", text) for text in app.labels("Compare")]
        counts = [(int(row[1] or row[2]), int(row[2])) for row in rows if row]
        lost = [n - kept for kept, n in counts]
        return (sum(kept for kept, n in counts), sum(n for kept, n in counts)) if counts and lost == sorted(lost)[::-1] else None

    found = app.steady(count, "no detections are listed, or not the most lost first")
    app.wait(lambda: any(re.fullmatch("Quantized · .* added", text) for text in app.labels("Compare")), "there is no picture")
    picture("journey-answers-" + preset)
    return found


def judge_detector(desk, vernier, preset):
    """Runs a project in the window: what is left of the detections, and what the window says."""
    home = pathlib.Path.home()
    written, project = home / f"{preset}.onnx", home / f"{preset}.vernier"
    desk.run(os.environ["VN_CLI"], "quantize", home / "detector.onnx", "-o", written, "--preset", preset, "--data",
             home / "pictures", "--preprocess", "zero-one", "--save-project", project, "--no-verify", "--skip-compare")
    app = desk.Program([vernier, project])
    app.resize(1280, 860)
    app.find("push button", "Quantize…")
    app.key("ctrl+r")
    app.click("push button", "Run Now")   # what is there yet is what the command line found
    app.wait(lambda: app.look("push button", "Run Now") is None and is_idle(app), "the run does not end")
    app.find("push button", "Lower the Error", "Review")
    picture("journey-detector-" + preset)
    labels = app.steady(lambda: app.labels("Review"), "the review goes on changing")
    kept, n = count_detections(desk, app, preset)
    app.kill()
    said = [text for text in labels if re.search(f"\\b{kept} of {n}\\b", text)]
    assert said, f"{kept} of {n} detections are listed: {labels}"
    return float(run_beside_networks(LEFT, "detector.onnx", written)), labels


def export_by_metadata(desk, vernier, drop_source):
    """A detector whose file says how pictures are prepared: five gestures lead from an empty window to an export that keeps its
    detections in ONNX Runtime."""
    home = pathlib.Path.home()
    app, written = desk.Program([vernier]), home / "yolo-quantized.onnx"
    source = desk.Program([drop_source, home / "yolo.onnx", home / "pictures"])
    desk.run("xdotool", "windowmove", "--sync", app.window, 0, 0)
    desk.run("xdotool", "windowmove", "--sync", source.window, 1500, 100)
    source.wait(lambda: int(source.geometry()["X"]) > 1400, "what is dragged from does not move aside")
    gestures = ((lambda: desk.drag((1580, 120), (700, 500)), lambda: app.find("push button", "Quantize…")),
                (lambda: desk.drag((1580, 160), (700, 500)),
                 lambda: app.wait(lambda: app.texts("From the metadata of the model: .*"), "the metadata are not used")),
                (lambda: app.click("push button", "Calibrate Now", "Quantize"),
                 lambda: app.find("push button", "Lower the Error", "Review")),
                (lambda: app.click("push button", "Export…", "Quantize"), lambda: app.find("push button", "Export", "Quantize")),
                (lambda: app.click("push button", "Export", "Quantize"),
                 lambda: app.wait(written.is_file, "no exported model")))
    for gesture, wait in gestures:
        gesture()
        wait()
    for program in (app, source):
        program.kill()
    left = float(run_beside_networks(LEFT, "yolo.onnx", written))
    print(f"by metadata, in {len(gestures)} gestures: {left:.0%} of the detections left")
    assert len(gestures) <= 5 and left >= 0.9, left


def meet_detector(desk, vernier, drop_source):
    """The window calls nothing good that has lost its detections in ONNX Runtime."""
    run_beside_networks(DETECTOR)
    export_by_metadata(desk, vernier, drop_source)
    said = {}
    for preset, verdict in ("npu-cnn", "Not usable yet"), ("cpu", "Usable with care"):
        left, labels = judge_detector(desk, vernier, preset)
        said[preset] = left
        print(f"{preset}: {left:.0%} of the detections left")
        assert any(text.startswith(verdict) for text in labels), f"{preset}: {labels}"
    assert said["npu-cnn"] < 0.6 < said["cpu"], said


REPAIR = (give_region_bits, crash, compare, export_again)
JOURNEYS = {"export": (export_at_once,), "repair": REPAIR, "improve": (improve, *REPAIR)}


def main(vernier, drop_source, journey="export"):
    shared = pathlib.Path(os.environ.get("VN_SHARED", ""), ".")
    tools = [tool for tool in ("xdotool", "openbox") if shutil.which(tool) is None]
    if tools or not (shared / "models" / "det_ultraface_rfb320.onnx").is_file() or not os.environ.get("VN_ORACLE_PYTHON"):
        print("skipped: missing are", ", ".join(tools) or "real networks, or onnxruntime")
        return MISSING
    try:
        import desk
        import samples
    except ImportError as reason:
        print("skipped:", reason)
        return MISSING
    manager = subprocess.Popen(["openbox"], stderr=subprocess.DEVNULL)
    if journey in ("others", "edit", "detector", "samples"):
        try:
            if journey == "others":
                meet_others(desk, vernier, shared)
            elif journey == "samples":
                samples.meet_samples(desk, vernier, drop_source)
            elif journey == "detector":
                meet_detector(desk, vernier, drop_source)
            else:
                edit(desk, vernier)
        finally:
            picture("journey-end")
            manager.kill()
        return 0
    app, source = begin(desk, vernier, drop_source, shared)
    try:
        quantize(desk, app)
        for step in JOURNEYS[journey]:
            app = step(desk, app, vernier) or app
        home = pathlib.Path.home()
        written = home / "detector-quantized.onnx"
        report = home / "detector-report.html"
        app.wait(lambda: written.is_file() and report.is_file(), "no exported model and report")
        n, n_wide = judge(written)
        assert n > 50, f"{n} quantizers"
        assert (n_wide > 0) == (journey != "export"), f"{n_wide} quantizers of 16 bit"
        assert "<svg" in report.read_text(encoding="utf-8")
        print("exported", written.name, n, "quantizers,", n_wide, "of 16 bit, and a report of", report.stat().st_size, "bytes")
    finally:
        picture("journey-end")
        for program in (app, source):
            program.kill()
        manager.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
