# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person does with a window: looks for something by what a screen reader calls it, clicks, types, drags. Widgets are found through
AT-SPI, events are real ones of the X server."""
import pathlib
import subprocess
import time

import pyatspi
from gi.repository import GLib

# What later versions of AT-SPI call otherwise, with the name that is used here.
NEW_ROLES = {"button": "push button", "grouping": "panel"}


class NotThere(AssertionError):
    pass


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout


def role(node):
    name = node.getRoleName()
    return NEW_ROLES.get(name, name)


def is_selected(node):
    return node.getState().contains(pyatspi.STATE_SELECTED) or node.getState().contains(pyatspi.STATE_CHECKED)


def walk(node):
    yield node
    for child in node:
        if child is not None:
            yield from walk(child)


class Program:
    """A program that is running, and its first window."""

    def __init__(self, command):
        self.process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
        self.window = self.reason = None
        self.name = pathlib.Path(command[0]).name
        self.wait(self.find_window, f"no window of {command[0]}")

    def find_window(self):
        listed = subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)], capture_output=True, text=True).stdout
        self.window = listed.split()[0] if listed.split() else None
        return self.window

    def wait(self, condition, complaint, seconds=60):
        """What condition returns, as soon as that is something."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                found = condition()
            except NotThere:
                raise
            except Exception as reason:   # what was looked at is gone by now
                found, self.reason = None, reason
            if found:
                return found
            self.check_alive()
            time.sleep(0.1)
        raise NotThere(f"{complaint} ({self.reason})")

    def check_alive(self):
        assert self.process.poll() is None, f"the program has ended: {self.process.stderr.read()}"

    def root(self):
        for application in pyatspi.Registry.getDesktop(0):
            if application is not None and application.name == self.name:
                return application
        return None

    def frame(self):
        """The window, as it is told: from the inner edge of its border on."""
        return next(child for child in self.root() if role(child) == "frame").queryComponent().getExtents(pyatspi.WINDOW_COORDS)

    def box(self, node):
        """Where it is in the window. GTK 4.18 leaves out the border of all that a widget is in; that of the window is the one that counts."""
        box, frame = node.queryComponent().getExtents(pyatspi.WINDOW_COORDS), self.frame()
        return box.x - 2 * frame.x, box.y - 2 * frame.y, box.width, box.height

    def is_shown(self, node):
        """Whether it and all that it is in have a place."""
        x, y, width, height = self.box(node)
        return node.getState().contains(pyatspi.STATE_VISIBLE) and width > 0 and height > 0 and x >= 0 and y >= 0

    def has_place(self, node):
        """The same, of what may have none at all."""
        try:
            return self.is_shown(node)
        except NotImplementedError:
            return False

    def parts(self, name):
        """Parts of the window that a screen reader hears by that name: what is on a page that is not shown may have the same."""
        return [node for node in walk(self.root()) if node.name == name and role(node) in ("panel", "list")]

    def again(self, read):
        """What read returns; called again where something was taken away while it was read."""
        for _ in range(20):
            try:
                return read()
            except GLib.GError:
                self.check_alive()
                time.sleep(0.1)
        return read()

    def look(self, kind, name, below=None):
        """The first that is shown, of this role and with this name if any, in the part of that name."""
        return self.again(lambda: self.look_once(kind, name, below))

    def look_once(self, kind, name, below):
        """GTK tells of pages of a stack that are not shown as of those that are."""
        for node in (node for part in ([self.root()] if below is None else self.parts(below)) for node in walk(part)):
            if role(node) == kind and (name is None or node.name in (name, f"{name} {name}")) and self.is_shown(node):   # GTK 4.8 says some twice
                return node
        return None

    def find(self, kind, name, below=None, seconds=60):
        return self.wait(lambda: self.look(kind, name, below), f"no {kind} “{name}”", seconds)

    def geometry(self):
        return dict(line.split("=") for line in run("xdotool", "getwindowgeometry", "--shell", self.window).split())

    def place(self, node):
        """The middle, on the screen."""
        x, y, width, height = self.box(node)
        geometry = self.geometry()
        edge = (int(geometry["WIDTH"]) - self.frame().width) // 2   # the shadow round the window
        return int(geometry["X"]) + edge + x + width // 2, int(geometry["Y"]) + edge + y + height // 2

    def scroll_to(self, kind, name, below=None):
        """Turns the wheel until the middle of it is between the header bar and the foot of the window."""
        for _ in range(60):
            geometry = self.geometry()
            _, y = self.place(self.find(kind, name, below))
            top, height = int(geometry["Y"]), int(geometry["HEIGHT"])
            if top + 80 < y < top + height - 40:
                return
            run("xdotool", "mousemove", int(geometry["X"]) + int(geometry["WIDTH"]) - 45, top + height // 2, "click", 4 if y < top + 80 else 5)
            time.sleep(0.15)
        raise NotThere(f"{kind} “{name}” cannot be scrolled to")

    def click(self, kind, name, below=None, seconds=60, from_left=None):
        """In the middle, or so many pixels from the left edge."""
        node = self.find(kind, name, below, seconds)
        self.wait(lambda: node.getState().contains(pyatspi.STATE_SENSITIVE), f"{kind} “{name}” is insensitive", seconds)
        x, y = self.place(node)
        if from_left is not None:
            x += from_left - self.box(node)[2] // 2
        run("xdotool", "mousemove", x, y, "click", 1)
        time.sleep(0.3)

    def labels(self, below):
        """What is written, from top to bottom, in the part of that name that is shown; GTK 4.18 tells of a page several times."""
        return self.again(lambda: self.labels_once(below))

    def labels_once(self, below):
        part = next((part for part in self.parts(below) if self.has_place(part)), None)
        return [node.name for node in walk(part) if role(node) == "label"] if part is not None else []

    def resize(self, width, height):
        run("xdotool", "windowmove", "--sync", self.window, 0, 0)
        run("xdotool", "windowsize", "--sync", self.window, width, height)
        time.sleep(1)

    def key(self, *keys):
        run("xdotool", "windowfocus", "--sync", self.window)
        run("xdotool", "key", "--clearmodifiers", *keys)
        time.sleep(0.3)

    def type(self, text):
        run("xdotool", "type", "--delay", 20, text)

    def answer_with_file(self, path, proposed=False):
        """Types it into the dialog that has just been asked for, over the name that is proposed, and without what GTK 4.18 completes it to."""
        time.sleep(2)
        if proposed:
            run("xdotool", "key", "ctrl+a")
        self.type(str(path))
        time.sleep(0.5)
        run("xdotool", "key", "shift+End", "Delete", "Return")

    def kill(self):
        self.process.kill()
        self.process.wait()


def drag(start, end):
    """From a place on the screen to another, slowly enough for both programs to follow."""
    run("xdotool", "mousemove", *start, "mousedown", 1)
    for step in range(1, 21):
        run("xdotool", "mousemove", *(round(a + (b - a) * step / 20) for a, b in zip(start, end)))
        time.sleep(0.05)
    time.sleep(0.5)
    run("xdotool", "mouseup", 1)
    time.sleep(0.5)
