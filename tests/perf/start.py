#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""start.py VERNIER [NETWORK.onnx...]: how long the window takes from its start to what it shows.

The program is started with nothing, with each network named (one of YOLOv8n's shape unless one is), and with a chain of 10,000
nodes, on a screen of its own (Xvfb, whose picture lies in a file that costs nothing to look at). For each:

first      seconds until anything is painted
settled    until the last change of the picture before it stayed the same, and the program idle, for as long as QUIET

and the processor time of the program up to then. Each is the median of ROUNDS; the first start, which reads files from the
disk, does not count. It fails if the program ends or nothing is painted. Processor time says more than seconds where others
work on the machine.
"""
import ctypes
import mmap
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generate

PROGRAM = os.path.realpath(sys.argv[1])
ROUNDS, QUIET, IDLE, PATIENCE, STEP = int(os.environ.get('VN_PERF_ROUNDS', 3)), 1.0, 0.02, 60, 0.004
PR_SET_CHILD_SUBREAPER = 36   # of linux/prctl.h
TICKS = os.sysconf('SC_CLK_TCK')


class Screen:
    """An X server whose picture is a file."""

    def __init__(self, folder):
        read, write = os.pipe()
        self.server = subprocess.Popen(['Xvfb', '-displayfd', str(write), '-screen', '0', '1280x800x24', '-fbdir', folder,
                                        '-nolisten', 'tcp'], pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as number:
            self.display = ':' + number.readline().strip()
        with open(os.path.join(folder, 'Xvfb_screen0'), 'rb') as file:
            self.picture = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)

    def look(self):
        return zlib.crc32(self.picture)

    def close(self):
        self.picture.close()
        self.server.terminate()
        self.server.wait()


def get_cpu_seconds(pid):
    with open('/proc/%d/stat' % pid) as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def start(network):
    """Seconds and seconds of processor time until the first and the last change."""
    with tempfile.TemporaryDirectory() as home:
        screen = Screen(home)
        env = dict(os.environ, DISPLAY=screen.display, HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home, XDG_CACHE_HOME=home,
                   GDK_BACKEND='x11', GSETTINGS_BACKEND='memory', GSK_RENDERER='cairo')
        env.pop('WAYLAND_DISPLAY', None)
        before = last = screen.look()
        begin = changed = time.monotonic()
        process = subprocess.Popen(['dbus-run-session', '--', PROGRAM] + ([network] if network else []), env=env,
                                   start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        first = settled = program = None
        busy = 0
        while (now := time.monotonic()) - begin < PATIENCE and process.poll() is None:
            if program is None:
                program = find_program(process.pid)
            seen, cpu = screen.look(), get_cpu_seconds(program) if program is not None else 0
            if cpu > busy + IDLE:
                busy, changed = cpu, now
            if seen != last and program is not None:
                last, changed, settled = seen, now, (now - begin, cpu)
                first = first or settled
            if first is not None and now - changed > QUIET:
                break
            time.sleep(STEP)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        screen.close()
        reap()
        return (first, settled) if first is not None and before != last else None


def reap():
    """The program and its session are no children of ours once what started them is gone: so that their time counts as ours, and
    not as that of others."""
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def find_program(parent):
    """The process of the program itself, which its session starts."""
    found = subprocess.run(['ps', '-o', 'pid=,args=', '--ppid', str(parent)], stdout=subprocess.PIPE, text=True).stdout
    for line in found.splitlines():
        pid, _, command = line.strip().partition(' ')
        if command.strip().startswith(PROGRAM):
            return int(pid)
    return None


def chain(path, n):
    """MatMul and Relu in turns."""
    rng, nodes, x = np.random.default_rng(1), [], 'x'
    weight = (np.eye(8) + rng.normal(0, 0.01, (8, 8))).astype(np.float32)
    for i in range(n // 2):
        nodes += [helper.make_node('MatMul', [x, 'w'], ['m%d' % i], name='product%d' % i),
                  helper.make_node('Relu', ['m%d' % i], ['r%d' % i], name='relu%d' % i)]
        x = 'r%d' % i
    graph = helper.make_graph(nodes, 'chain', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 4, 8])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, None)], [numpy_helper.from_array(weight, 'w')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def main(folder):
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    failed, named = 0, sys.argv[2:]
    if not named:
        named = [os.path.join(folder, 'yolov8n-shaped.onnx')]
        generate.yolov8n(named[0])
    chain(os.path.join(folder, 'chain.onnx'), 10000)
    start(None)
    for network in [None] + named + [os.path.join(folder, 'chain.onnx')]:
        rounds = [start(network) for _ in range(ROUNDS)]
        if None in rounds:
            print('not ok %s: nothing was painted' % network)
            failed += 1
            continue
        figures = [[statistics.median(r[k][i] for r in rounds) for i in range(2)] for k in range(2)]
        print('%-28s first %5.2f s, %5.2f CPU s   settled %5.2f s, %5.2f CPU s' %
              (os.path.basename(network) if network else 'nothing', *figures[0], *figures[1]), flush=True)
    sys.exit(failed > 0)


with tempfile.TemporaryDirectory() as work:
    main(work)
