# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person does with a window: looks for something by what a screen reader calls it, clicks, types, drags. Widgets are found through
AT-SPI, events are real ones of the X server."""
import pathlib
import subprocess
import time

import pyatspi

# Later versions of AT-SPI call some otherwise.
NEW_ROLES = {"push button": "button"}


class NotThere(AssertionError):
    pass


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout


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
            assert self.process.poll() is None, f"the program has ended: {self.process.stderr.read()}"
            time.sleep(0.1)
        raise NotThere(f"{complaint} ({self.reason})")

    def root(self):
        for application in pyatspi.Registry.getDesktop(0):
            if application is not None and application.name == self.name:
                return application
        return None

    def is_shown(self, node):
        """Whether it and all that it is in have a place."""
        box = node.queryComponent().getExtents(pyatspi.WINDOW_COORDS)
        return node.getState().contains(pyatspi.STATE_VISIBLE) and box.width > 0 and box.height > 0 and box.x >= 0 and box.y >= 0

    def has_place(self, node):
        """The same, of what may have none at all."""
        try:
            return self.is_shown(node)
        except NotImplementedError:
            return False

    def look(self, role, name, below=None):
        """The first that is shown, of this role and with this name, below the widget of that name: GTK tells of pages of a stack that are not
        shown as of those that are."""
        root = self.root()
        if below is not None:
            root = next((node for node in walk(root) if node.name == below), None)
        for node in walk(root) if root is not None else ():
            if node.getRoleName() in (role, NEW_ROLES.get(role)) and node.name in (name, f"{name} {name}") and self.is_shown(node):   # GTK 4.8 says some twice
                return node
        return None

    def find(self, role, name, below=None, seconds=60):
        return self.wait(lambda: self.look(role, name, below), f"no {role} “{name}”", seconds)

    def geometry(self):
        return dict(line.split("=") for line in run("xdotool", "getwindowgeometry", "--shell", self.window).split())

    def place(self, node):
        """The middle, on the screen."""
        box = node.queryComponent().getExtents(pyatspi.WINDOW_COORDS)
        geometry = self.geometry()
        frame = next(child for child in self.root() if child.getRoleName() == "frame").queryComponent().getExtents(pyatspi.WINDOW_COORDS)
        edge = (int(geometry["WIDTH"]) - frame.width) // 2   # the shadow round the window
        return int(geometry["X"]) + edge + box.x + box.width // 2, int(geometry["Y"]) + edge + box.y + box.height // 2

    def scroll_to(self, role, name, below=None):
        """Turns the wheel until the middle of it is between the header bar and the foot of the window."""
        for _ in range(60):
            geometry = self.geometry()
            _, y = self.place(self.find(role, name, below))
            top, height = int(geometry["Y"]), int(geometry["HEIGHT"])
            if top + 80 < y < top + height - 40:
                return
            run("xdotool", "mousemove", int(geometry["X"]) + int(geometry["WIDTH"]) - 45, top + height // 2, "click", 4 if y < top + 80 else 5)
            time.sleep(0.15)
        raise NotThere(f"{role} “{name}” cannot be scrolled to")

    def click(self, role, name, below=None, seconds=60, from_left=None):
        """In the middle, or so many pixels from the left edge."""
        node = self.find(role, name, below, seconds)
        self.wait(lambda: node.getState().contains(pyatspi.STATE_SENSITIVE), f"{role} “{name}” is insensitive", seconds)
        x, y = self.place(node)
        if from_left is not None:
            x += from_left - node.queryComponent().getExtents(pyatspi.WINDOW_COORDS).width // 2
        run("xdotool", "mousemove", x, y, "click", 1)
        time.sleep(0.3)

    def choose(self, name):
        """In the menu that is open, by the keyboard."""
        for _ in range(40):
            item = self.find("menu item", name)
            if item.getState().contains(pyatspi.STATE_FOCUSED):
                run("xdotool", "key", "Return")
                time.sleep(0.3)
                return
            run("xdotool", "key", "Down")
            time.sleep(0.2)
        raise NotThere(f"menu item “{name}” cannot be reached by the keyboard")

    def labels(self, below):
        """What is written, from top to bottom, below the widget of that name."""
        found = next((node for node in walk(self.root()) if node.name == below), None)
        return [node.name for node in walk(found) if node.getRoleName() == "label"] if found is not None else []

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
