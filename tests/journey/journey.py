# SPDX-License-Identifier: GPL-3.0-or-later
"""journey.py VERNIER DROP_SOURCE: from an empty window to an exported model, by dropping files and clicking, as a person does it.

Needs a display with nothing on it, a session bus, a window manager, xdotool and AT-SPI; real networks and photographs; onnxruntime in
$VN_ORACLE_PYTHON judges what was exported. $VN_SCREENSHOTS: a folder for pictures on the way."""
import os
import pathlib
import shutil
import subprocess
import sys
import time

MISSING = 77
JUDGE = """
import sys, numpy, onnx, onnxruntime
onnx.checker.check_model(onnx.load(sys.argv[1]), full_check=True)
session = onnxruntime.InferenceSession(sys.argv[1])
values = session.run(None, {each.name: numpy.zeros(each.shape, numpy.float32) for each in session.get_inputs()})
print(sum(node.op_type == "QuantizeLinear" for node in onnx.load(sys.argv[1]).graph.node), len(values))
"""


def judge(path):
    """How many quantizers there are; the file is sound and runs."""
    run = subprocess.run([os.environ["VN_ORACLE_PYTHON"], "-c", JUDGE, str(path)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return int(run.stdout.split()[0])


def picture(name):
    """What is on the screen, into $VN_SCREENSHOTS."""
    folder = os.environ.get("VN_SCREENSHOTS")
    if folder:
        grab = "import sys; from PIL import ImageGrab; ImageGrab.grab(xdisplay='').save(sys.argv[1])"
        subprocess.run([os.environ["VN_ORACLE_PYTHON"], "-c", grab, os.path.join(folder, name + ".png")])


def begin(desk, vernier, drop_source, shared):
    model = pathlib.Path.home() / "detector.onnx"   # what is made of it is proposed to be written beside it
    shutil.copy(shared / "models" / "det_ultraface_rfb320.onnx", model)
    app = desk.Program([vernier])
    source = desk.Program([drop_source, model, shared / "images" / "coco"])
    desk.run("xdotool", "windowmove", "--sync", app.window, 0, 0)
    desk.run("xdotool", "windowmove", "--sync", source.window, 1500, 100)
    time.sleep(1)
    return app, source


def quantize(desk, app):
    """Drop a detector, drop photographs that it was not trained on as they are, be warned, accept what is proposed, and calibrate."""
    desk.drag((1580, 120), (700, 500))
    app.find("push button", "Quantize…")
    time.sleep(1)
    desk.drag((1580, 160), (700, 500))
    app.click("push button", "Use −1 … 1", "VnStepData")
    app.wait(lambda: app.look("push button", "Use −1 … 1", "VnStepData") is None, "the warning stays")
    app.click("push button", "Calibrate Now", "VnWizard")
    app.find("push button", "Lower the Error", "VnStepReview", seconds=120)
    picture("journey-review")


def main(vernier, drop_source):
    shared = pathlib.Path(os.environ.get("VN_SHARED", ""), ".")
    tools = [tool for tool in ("xdotool", "openbox") if shutil.which(tool) is None]
    if tools or not (shared / "models" / "det_ultraface_rfb320.onnx").is_file() or not os.environ.get("VN_ORACLE_PYTHON"):
        print("skipped: missing are", ", ".join(tools) or "real networks, or onnxruntime")
        return MISSING
    try:
        import desk
    except ImportError as reason:
        print("skipped:", reason)
        return MISSING
    manager = subprocess.Popen(["openbox"], stderr=subprocess.DEVNULL)
    app, source = begin(desk, vernier, drop_source, shared)
    try:
        quantize(desk, app)
        app.click("push button", "Export…", "VnWizard")
        app.find("check box", "Write a report", "VnStepExport")
        app.click("push button", "Export", "VnWizard")
        home = pathlib.Path.home()
        written = home / "detector-quantized.onnx"
        report = home / "detector-quantized-report" / "report.html"
        app.wait(lambda: written.is_file() and report.is_file(), "no exported model and report")
        n = judge(written)
        assert n > 50, f"{n} quantizers"
        assert "<svg" in report.read_text(encoding="utf-8")
        print("exported", written.name, n, "quantizers, and a report of", report.stat().st_size, "bytes")
    finally:
        picture("journey-end")
        for program in (app, source):
            program.kill()
        manager.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
