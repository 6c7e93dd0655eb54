# SPDX-License-Identifier: GPL-3.0-or-later
"""window.py DESK_FOLDER VERNIER [SCREENSHOT]: starts the window, presses Try the Demo, and waits until a node of the graph tells
its error; tells how long that took, from the start of the program. DESK_FOLDER has desk.py. Needs a display and a session bus."""
import re
import subprocess
import sys
import time

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True

import desk

LIMIT = 60   # seconds


def is_heat(app):
    """The node with the focus tells its error: the graph has been coloured."""
    return re.search("[0-9]\u00a0(dB|%), (fine|to watch|bad)", app.find("panel", "Network graph").description)


def main(vernier, screenshot=None):
    manager = subprocess.Popen(["openbox"], stderr=subprocess.DEVNULL)
    start = time.monotonic()
    app = desk.Program([vernier])
    try:
        app.find("push button", "Try the Demo")
        app.key("alt+t")    # where GTK 4.18 tells that the button is leaves out the padding of what it is in
        app.click("panel", "Network graph")
        app.key("Home", "Down")    # from the input to the first node
        app.wait(lambda: is_heat(app), "the graph does not tell errors", LIMIT)
        seconds = time.monotonic() - start
        print(f"vernier, from its start to the heat map in the window: {seconds:.1f} s")
        print("the first node:", app.find("panel", "Network graph").description)
        time.sleep(1)
        if screenshot:
            subprocess.run(["import", "-window", "root", screenshot], check=True)
        assert seconds < LIMIT
    finally:
        app.kill()
        manager.kill()


main(*sys.argv[2:])
