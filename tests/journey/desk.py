# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person does with a window: looks for something by what a screen reader calls it, clicks, types, drags. Widgets are read
through AT-SPI, all of a window in one call; events are real ones of the X server."""
import ast
import functools
import re
import subprocess
import time

import gi
gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib    # noqa: E402

# What later versions of AT-SPI call otherwise, with the name that is used here.
NEW_ROLES = {"button": "push button", "grouping": "panel"}
ACCESSIBLE, COMPONENT = "org.a11y.atspi.Accessible", "org.a11y.atspi.Component"
ROOT = "/org/a11y/atspi/accessible/root"
PATIENCE = 300      # seconds, after which what is waited for is missing, however busy the machine is
IN_WINDOW = 1       # coordinates
# An item of a program's list of widgets as GVariant writes it: its own program and path, those of the application and of the
# parent, its place there, how many children it has, interfaces, name, role, description, and states. Unpacking it word by word
# takes a second.
TEXT = "('(?:[^'\\\\]|\\\\.)*'|\"(?:[^\"\\\\]|\\\\.)*\")"
PLACE = "\\('[^']*', '([^']*)'\\)"
ITEM = re.compile(f"\\({PLACE}, {PLACE}, {PLACE}, (-?[0-9]+), (-?[0-9]+), \\[([^]]*)\\], {TEXT}, ([0-9]+), {TEXT}, \\[([0-9]+), "
                   "([0-9]+)\\]\\)")
SENSITIVE, VISIBLE, SELECTED, CHECKED = (int(state) for state in (
    Atspi.StateType.SENSITIVE, Atspi.StateType.VISIBLE, Atspi.StateType.SELECTED, Atspi.StateType.CHECKED))


class NotThere(AssertionError):
    pass


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout


class Bus:
    """The bus of screen readers."""

    def __init__(self):
        session = Gio.bus_get_sync(Gio.BusType.SESSION)
        address, = session.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, 0, -1).unpack()
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self.connection = Gio.DBusConnection.new_for_address_sync(address, flags)

    def call(self, name, path, interface, method, arguments=None):
        return self.connection.call_sync(name, path, interface, method, arguments, None, 0, -1).unpack()[0]

    def list_nodes(self, name):
        items = self.connection.call_sync(name, "/org/a11y/atspi/cache", "org.a11y.atspi.Cache", "GetItems", None, None, 0, -1)
        return [Node(*found.groups()) for found in ITEM.finditer(items.print_(False))]

    def find_program(self, pid):
        """The name that a process has there, if it has any yet."""
        for name, _ in self.call("org.a11y.atspi.Registry", ROOT, ACCESSIBLE, "GetChildren"):
            try:
                owner = self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                  "GetConnectionUnixProcessID",
                                  GLib.Variant("(s)", (name,)))
            except GLib.GError:    # gone meanwhile
                continue
            if owner == pid:
                return name
        return None


@functools.lru_cache(maxsize=None)
def name_role(number):
    name = Atspi.role_get_name(Atspi.Role(number))
    return NEW_ROLES.get(name, name)


def unquote(text):
    return ast.literal_eval(text) if "\\" in text else text[1:-1]


class Node:
    """A widget as it was when the window was read."""

    def __init__(self, path, _, parent, index, n_children, interfaces, name, number, description, low, high):
        self.path, self.parent, self.interfaces = path, parent, interfaces
        self.index, self.n_children = int(index), int(n_children)
        self.name, self.description, self.role = unquote(name), unquote(description), name_role(int(number))
        self.states = int(low) | int(high) << 32
        self.children = []

    def has(self, state):
        return self.states >> state & 1 == 1


def is_selected(node):
    return node.has(SELECTED) or node.has(CHECKED)


def walk(node):
    yield node
    for child in node.children:
        yield from walk(child)


class Program:
    """A program that is running, and its first window."""

    def __init__(self, command):
        self.process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
        self.window = self.reason = self.frame_path = None
        self.bus = Bus()
        self.wait(self.find_window, f"no window of {command[0]}")
        self.name = self.wait(lambda: self.bus.find_program(self.process.pid), f"no screen reader hears of {command[0]}")

    def find_window(self):
        listed = subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)], capture_output=True,
                                text=True).stdout
        self.window = listed.split()[0] if listed.split() else None
        return self.window

    def wait(self, condition, complaint):
        """What condition returns, as soon as that is something."""
        begin = time.monotonic()
        while (passed := time.monotonic() - begin) < PATIENCE:
            try:
                found = condition()
            except NotThere:
                raise
            except Exception as reason:   # what was looked at is gone by now
                found, self.reason = None, reason
            if found:
                return found
            self.check_alive()
            time.sleep(min(max(passed / 8, 0.1), 0.5))   # reading the window takes the program some time, too
        raise NotThere(f"{complaint} ({self.reason})")

    def catch_up(self):
        """Until the main loop has answered twice: what was clicked and typed before has come to it by then."""
        for _ in range(2):
            self.again(self.frame)

    def steady(self, read, complaint):
        """What read returns, as soon as it is something and stays that."""
        last = []

        def is_steady():
            last.append(read())
            return len(last) > 2 and last[-1] if last[-3:] == [last[-1]] * 3 else None

        return self.wait(is_steady, complaint)

    def check_alive(self):
        assert self.process.poll() is None, f"the program has ended: {self.process.stderr.read()}"

    def call(self, path, interface, method, arguments=None):
        return self.bus.call(self.name, path, interface, method, arguments)

    def ask(self, path, known):
        """Has the program make what it tells of a widget, and of all below it."""
        for _, child in self.call(path, ACCESSIBLE, "GetChildren"):
            if child not in known:
                known.add(child)
                self.ask(child, known)

    def read(self):
        """The widgets by path. The program tells at once of all that it was asked for before."""
        for _ in range(20):
            nodes = {node.path: node for node in self.bus.list_nodes(self.name)}
            for node in sorted(nodes.values(), key=lambda node: node.index):
                if node.parent in nodes and node.path != ROOT:
                    nodes[node.parent].children.append(node)
            new = [path for path, node in nodes.items() if node.n_children > len(node.children)
                   or (path == ROOT and not node.children)]
            if not new and ROOT in nodes:
                break
            known = set(nodes)
            for path in new or [ROOT]:
                self.ask(path, known)
            if known == set(nodes):
                break
        return nodes

    def root(self):
        root = self.read()[ROOT]
        self.frame_path = next(child for child in root.children if child.role == "frame").path
        return root

    def extents(self, path):
        return self.call(path, COMPONENT, "GetExtents", GLib.Variant("(u)", (IN_WINDOW,)))

    def frame(self):
        """The window, as it is told: from the inner edge of its border on."""
        if self.frame_path is None:
            self.root()
        return self.extents(self.frame_path)

    def box(self, node):
        """Where it is in the window. GTK 4.18 leaves out the border of all that a widget is in; that of the window is the one
        that counts."""
        (x, y, width, height), (left, top, _, _) = self.extents(node.path), self.frame()
        return x - 2 * left, y - 2 * top, width, height

    def is_shown(self, node):
        """Whether it and all that it is in have a place."""
        if not node.has(VISIBLE):
            return False
        x, y, width, height = self.box(node)
        return width > 0 and height > 0 and x >= 0 and y >= 0

    def has_place(self, node):
        """The same, of what may have none at all."""
        return COMPONENT in node.interfaces and self.is_shown(node)

    def is_partly_shown(self, node):
        """The same, of what may be scrolled out at the top."""
        x, y, width, height = self.box(node) if COMPONENT in node.interfaces and node.has(VISIBLE) else (0, 0, 0, 0)
        return width > 0 and height > 0 and x >= 0 and y + height > 0

    def parts(self, name):
        """Parts of the window that a screen reader hears by that name: what is on a page that is not shown may have the same."""
        return [node for node in walk(self.root()) if node.name == name and node.role in ("panel", "list")]

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
            # GTK 4.8 says some twice
            if node.role == kind and (name is None or node.name in (name, f"{name} {name}")) and self.is_shown(node):
                return node
        return None

    def find(self, kind, name, below=None):
        return self.wait(lambda: self.look(kind, name, below), f"no {kind} “{name}”")

    def geometry(self):
        return dict(line.split("=") for line in run("xdotool", "getwindowgeometry", "--shell", self.window).split())

    def place(self, node):
        """The middle, on the screen."""
        x, y, width, height = self.box(node)
        geometry = self.geometry()
        edge = (int(geometry["WIDTH"]) - self.frame()[2]) // 2   # the shadow round the window
        return int(geometry["X"]) + edge + x + width // 2, int(geometry["Y"]) + edge + y + height // 2

    def scroll_to(self, kind, name, below=None):
        """Turns the wheel until the middle of it is between the header bar and the foot of the window."""
        for _ in range(60):
            geometry = self.geometry()
            _, y = self.place(self.find(kind, name, below))
            top, height = int(geometry["Y"]), int(geometry["HEIGHT"])
            if top + 80 < y < top + height - 40:
                return
            run("xdotool", "mousemove", int(geometry["X"]) + int(geometry["WIDTH"]) - 45, top + height // 2, "click", 4
                if y < top + 80 else 5)
            self.steady(lambda: (True, self.place(self.find(kind, name, below))), f"{kind} “{name}” goes on moving")
        raise NotThere(f"{kind} “{name}” cannot be scrolled to")

    def click(self, kind, name, below=None, from_left=None):
        """In the middle, or so many pixels from the left edge."""
        def look():
            found = self.look(kind, name, below)
            return found if found is not None and found.has(SENSITIVE) else None

        node = self.wait(look, f"no {kind} “{name}”, or it is insensitive")
        self.press(node, from_left)

    def press(self, node, from_left=None):
        x, y = self.place(node)
        if from_left is not None:
            x += from_left - self.box(node)[2] // 2
        run("xdotool", "mousemove", x, y, "click", 1)
        self.catch_up()

    def labels(self, below):
        """What is written, from top to bottom, in the part of that name that is shown; GTK 4.18 tells of a page several times."""
        return self.again(lambda: self.labels_once(below))

    def labels_once(self, below):
        part = next((part for part in self.parts(below) if self.is_partly_shown(part)), None)
        return [node.name for node in walk(part) if node.role == "label"] if part is not None else []

    def texts(self, pattern):
        """Labels that are written like this, all over the window."""
        return self.again(lambda: [node.name for node in walk(self.root()) if node.role == "label"
                                   and re.fullmatch(pattern, node.name)])

    def resize(self, width, height):
        run("xdotool", "windowmove", "--sync", self.window, 0, 0)
        run("xdotool", "windowsize", "--sync", self.window, width, height)
        self.steady(lambda: (True, *self.frame()), "the window goes on changing its size")

    def key(self, *keys):
        run("xdotool", "windowfocus", "--sync", self.window)
        run("xdotool", "key", "--clearmodifiers", *keys)
        self.catch_up()

    def type(self, text):
        run("xdotool", "type", "--delay", 20, text)

    def answer_with_file(self, path, proposed=False):
        """Types it into the dialog that has just been asked for, over the name that is proposed, and without what GTK 4.18
        completes it to."""
        self.wait(lambda: run("xdotool", "getactivewindow").strip() != self.window, "no dialog asks for a file")
        self.catch_up()
        if proposed:
            run("xdotool", "key", "ctrl+a")
        self.type(str(path))
        self.catch_up()
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
