#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""moved.py BUILD_DIR SOURCE_DIR RUN_HEADLESS: what “meson install” writes into an empty folder runs from wherever that is moved
to.

The command line quantizes the demo and speaks German. The window, where there is a display to be had, speaks German, too, opens
the demo, and finds the manual and its settings. No text that was installed names a folder of the build.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from install_tree import install

WINDOW = '''
import os, pathlib, subprocess, sys, time
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import desk
# Whatever shows pages here, or nothing at all: a program that notes which it was asked to show.
asked = pathlib.Path(os.environ["HOME"], "asked")
reader, usual = (pathlib.Path(os.environ[name]) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"))
(reader / "applications").mkdir(parents=True)
(reader / "applications" / "reader.desktop").write_text(
    "[Desktop Entry]\\nType=Application\\nName=Reader\\nMimeType=text/html;\\nExec=cp %f " + str(asked) + "\\n")
usual.mkdir(parents=True, exist_ok=True)
(usual / "mimeapps.list").write_text(
    "[Default Applications]\\ntext/html=reader.desktop\\n[Added Associations]\\ntext/html=reader.desktop\\n")
manager = subprocess.Popen(["openbox"], stderr=subprocess.DEVNULL)
app = desk.Program([sys.argv[2]])
try:
    app.click("push button", "Demo ausprobieren")
    app.click("panel", "Graph des Netzes")
    app.key("Home", "Down")    # from the input to the first node, which is said with its error
    app.wait(lambda: "gut" in app.find("panel", "Graph des Netzes").description, "no errors in the graph")
    app.key("F1")
    app.wait(lambda: asked.is_file() and "Vernier" in asked.read_text(), "the manual is not shown")
    said = app.wait(lambda: [node.name for node in desk.walk(app.root())], "the window does not answer")
    assert len(said) > 50 and "Die Hilfe ist nicht installiert." not in said, "the manual is not found"
    app.key("ctrl+comma")    # ends the program where the settings are not found: G_DEBUG
    app.wait(lambda: desk.run("xdotool", "search", "--onlyvisible", "--name", "^Einstellungen$"), "no preferences")
    time.sleep(1)
    assert app.process.poll() is None, app.process.stderr.read()
    print("the window shows the demo, quantized, its manual and its settings")
finally:
    app.kill()
    manager.kill()
'''


def run(*command, environment=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, f'{command[0]}: {done.stdout}{done.stderr}'
    return done.stdout


def find_strays(moved, folders):
    """Files that name a folder of the build; programs do where they are built for finding errors."""
    return [path for path in moved.rglob('*') if path.is_file() and path.parent.name != 'bin' and
            any(str(folder).encode() in path.read_bytes() for folder in folders)]


def check_command_line(moved, work, environment):
    cli, demo = moved / 'bin' / 'vernier-cli', moved / 'share' / 'vernier' / 'demo'
    out = work / 'demo.int8.onnx'
    told = run(cli, 'quantize', demo / 'demo.onnx', '-o', out, '--data', demo / 'samples', '--preprocess', 'minus-one-one', '-n',
               '16',
               environment={**environment, 'LC_ALL': 'de_DE.UTF-8'})    # as it is in C where the system does not have it
    assert re.search(r'\d\.\d+\sdB', told) and not re.search(r'\d,\d+\sdB', told), f'numbers without a point: {told}'
    assert out.stat().st_size * 2 < (demo / 'demo.onnx').stat().st_size, told
    german = run(cli, '--help', environment={**environment, 'LANGUAGE': 'de'})
    assert 'Aufruf: vernier-cli' in german, f'not in German: {german}'
    print('the command line quantizes the demo, and speaks German')


def check_window(moved, source, run_headless, environment):
    missing = [tool for tool in ('Xvfb', 'dbus-run-session', 'xdotool', 'openbox') if shutil.which(tool) is None]
    if subprocess.run(['/usr/bin/python3', '-c', 'import pyatspi'], capture_output=True).returncode != 0:
        missing.append('python3-pyatspi')
    if missing:
        print('the window was not tried: missing are', ', '.join(missing))
        return
    environment = {**environment, 'LANGUAGE': 'de', 'GDK_BACKEND': 'x11', 'GSK_RENDERER': 'cairo', 'G_DEBUG': 'fatal-criticals',
                   'GSETTINGS_BACKEND': 'memory'}
    print(run(run_headless, '/usr/bin/python3', '-c', WINDOW, source / 'tests' / 'journey', moved / 'bin' / 'vernier',
              environment=environment).strip())


def main():
    build, source = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder).resolve()
        moved = work / 'another place' / 'vernier'
        moved.parent.mkdir()
        shutil.move(install(build, work / 'first'), moved)
        strays = find_strays(moved, (build, source, work / 'first'))
        assert not strays, f'these name a folder of the build: {strays}'
        # Nothing that leads to what was built: neither variables for tests nor the folders of data that others set.
        environment = {'PATH': os.environ['PATH'], 'HOME': str(work), 'LC_ALL': 'C.UTF-8'}
        check_command_line(moved, work, environment)
        if (moved / 'bin' / 'vernier').is_file():
            check_window(moved, source, sys.argv[3], environment)
        print(sum(path.is_file() for path in moved.rglob('*')), 'files were moved')


main()
