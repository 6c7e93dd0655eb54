# SPDX-License-Identifier: GPL-3.0-or-later
"""chains.py CLI [N ...]: how the time of commands grows with the number of nodes.

Chains of N nodes (1,000, 10,000 and 100,000 unless others are given) are prepared, quantized, inspected and compared, and the
processor time of each is printed, with the exponent between sizes: 1 is a time that goes with the size, 2 its square. It fails
if an exponent between the two largest sizes is above 1.5, or a command fails. Then the largest chain is quantized, and a signal
ends that after parts of its time: it fails if the process goes on for more than half a second of processor time.
"""
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CLI, LIMIT, MOST_AFTER = os.path.realpath(sys.argv[1]), 1.5, 0.5
TICKS = os.sysconf('SC_CLK_TCK')
SIZES = [int(n) for n in sys.argv[2:]] or [1000, 10000, 100000]


def save(path, nodes, weights, shape):
    graph = helper.make_graph(nodes, 'chain', [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def simple(op, path, n):
    """Relu behind Relu, all but one of which go, or Sigmoid, which all stay."""
    save(path, [helper.make_node(op, ['x' if i == 0 else 'v%d' % (i - 1)], ['v%d' % i], name='n%d' % i) for i in range(n)], [],
         [1, 4, 8])


def mixer(rng, name):
    """Numbers neither grow nor vanish behind any number of such products."""
    return numpy_helper.from_array((0.9 * np.eye(8) + 0.1 * np.eye(8)[rng.permutation(8)]).astype(np.float32), name)


def products(path, n):
    rng = np.random.default_rng(1)
    weights = [mixer(rng, 'w%d' % i) for i in range(n)]
    save(path, [helper.make_node('MatMul', ['x' if i == 0 else 'v%d' % (i - 1), 'w%d' % i], ['v%d' % i], name='n%d' % i)
                for i in range(n)], weights, [1, 4, 8])


def convolutions(path, n):
    rng, nodes, weights, x = np.random.default_rng(1), [], [], 'x'
    for i in range(n // 3):
        for name, numbers in (('w', np.eye(4).reshape(4, 4, 1, 1) + rng.normal(0, 0.01, (4, 4, 1, 1))), ('s', np.ones(4)),
                              ('b', np.zeros(4)),
                              ('m', np.zeros(4)), ('v', np.ones(4))):
            weights.append(numpy_helper.from_array(numbers.astype(np.float32), '%s%d' % (name, i)))
        nodes += [helper.make_node('Conv', [x, 'w%d' % i], ['c%d' % i], name='conv%d' % i),
                  helper.make_node('BatchNormalization', ['c%d' % i] + ['%s%d' % (k, i) for k in 'sbmv'], ['n%d' % i],
                                   name='bn%d' % i),
                  helper.make_node('Relu', ['n%d' % i], ['r%d' % i], name='relu%d' % i)]
        x = 'r%d' % i
    save(path, nodes, weights, [1, 4, 8, 8])


def shared(path, n):
    """One weight that every node reads."""
    weights = [numpy_helper.from_array(np.ones(8, np.float32), 'w')]
    save(path, [helper.make_node('Add', ['x' if i == 0 else 'v%d' % (i - 1), 'w'], ['v%d' % i], name='n%d' % i)
                for i in range(n)],
         weights, [1, 4, 8])


def layers(path, n, own):
    """Products, of one weight or each of its own, with a Relu behind it."""
    rng, nodes = np.random.default_rng(1), []
    weights = [mixer(rng, 'w%d' % i) for i in range(n // 2 if own else 1)]
    for i in range(n // 2):
        nodes += [helper.make_node('MatMul', ['r%d' % (i - 1) if i else 'x', 'w%d' % (i if own else 0)], ['m%d' % i],
                                   name='m%d' % i),
                  helper.make_node('Relu', ['m%d' % i], ['r%d' % i], name='r%d' % i)]
    save(path, nodes, weights, [1, 4, 8])


def biased(path, n):
    """Products that add one bias, and each second of them another one."""
    rng = np.random.default_rng(1)
    weights = [mixer(rng, 'w%d' % i) for i in range(n)] + [numpy_helper.from_array(np.zeros(8, np.float32), 'b')]
    weights += [numpy_helper.from_array(np.zeros(8, np.float32), 'c%d' % i) for i in range(1, n, 4)]
    nodes = []
    for i in range(n):
        bias = 'c%d' % (i - i % 4 + 1) if i % 2 and i - i % 4 + 1 < n else 'b'
        nodes.append(helper.make_node('Gemm', ['v%d' % (i - 1) if i else 'x', 'w%d' % i, bias], ['v%d' % i], name='n%d' % i))
    save(path, nodes, weights, [4, 8])


def branches(path, n):
    """As many values that live at the same time as there are nodes, and a Sum that reads them all."""
    weights = [numpy_helper.from_array(np.float32(1 + i / n), 'k%d' % i) for i in range(n)]
    save(path, [helper.make_node('Mul', ['x', 'k%d' % i], ['v%d' % i], name='n%d' % i) for i in range(n)]
         + [helper.make_node('Sum', ['v%d' % i for i in range(n)], ['y'], name='sum')], weights, [1, 8])


CHAINS = {'Relu': lambda p, n: simple('Relu', p, n), 'Sigmoid': lambda p, n: simple('Sigmoid', p, n), 'MatMul': products,
          'Conv, BatchNormalization, Relu': convolutions, 'Add of one weight': shared,
          'MatMul of one weight, Relu': lambda p, n: layers(p, n, False), 'MatMul, Relu': lambda p, n: layers(p, n, True),
          'Gemm of shared biases': biased, 'Sum of branches': branches}
DATA = ['--data', 'random', '-n', '2', '-t', '1']
COMMANDS = {
    'prepare': lambda m: ['prepare', m, '-o', 'p.onnx', '-t', '1'],
    'inspect': lambda m: ['inspect', m],
    'quantize': lambda m: ['quantize', m, '-o', 'q.onnx', '--skip-compare', '--no-verify'] + DATA,
    'measured': lambda m: ['quantize', m, '-o', 'q.onnx', '--no-verify', '--data', 'random', '-n', '4'],
    'dynamic': lambda m: ['quantize', m, '-o', 'd.onnx', '--preset', 'dynamic', '-t', '1', '--no-verify'],
    'compare': lambda m: ['compare', m, 'q.onnx'] + DATA,
}


def measure(arguments):
    """Seconds of processor time, and MB at most."""
    process = subprocess.Popen([CLI] + arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    messages = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        print('not ok %s: %s' % (' '.join(arguments), messages.decode(errors='replace')[-300:]))
        return None, None
    return usage.ru_utime, usage.ru_maxrss / 1024


def get_seconds(pid):
    with open('/proc/%d/stat' % pid) as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def cancel(arguments, after):
    """Seconds of processor time between a signal and the end; None: it had ended before."""
    process = subprocess.Popen([CLI] + arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and (spent := get_seconds(process.pid)) < after:
        time.sleep(0.02)
    if process.returncode is not None:
        return None
    process.send_signal(signal.SIGTERM)
    _, process.returncode, usage = os.wait4(process.pid, 0)
    return max(usage.ru_utime + usage.ru_stime - spent, 0)


def cancel_all(n):
    layers('m.onnx', n, True)
    arguments = COMMANDS['measured']('m.onnx')
    whole, _ = measure(arguments)
    found = [(part * whole, cancel(arguments, part * whole)) for part in (0.05, 0.2, 0.35, 0.5, 0.65, 0.8)]
    found = [(at, seconds) for at, seconds in found if seconds is not None]
    print('cancelled, %d nodes: ' % n + ', '.join('%.2f s at %.1f s' % (seconds, at) for at, seconds in found), flush=True)
    return len(found) == 0 or max(seconds for _, seconds in found) > MOST_AFTER


def main():
    failed = 0
    print('%-32s %-9s' % ('chain', 'command') + ''.join('%18s' % ('%d nodes' % n) for n in SIZES) + '   exponents')
    for chain, make in CHAINS.items():
        rows = {command: [] for command in COMMANDS}
        for n in SIZES:
            make('m.onnx', n)
            for command, arguments in COMMANDS.items():
                rows[command].append(measure(arguments('m.onnx')))
        for command, row in rows.items():
            seconds = [s for s, _ in row]
            if None in seconds:
                failed += 1
                continue
            exponents = [math.log(max(b, 0.01) / max(a, 0.01)) / math.log(m / n) for a, b, n,
                         m in zip(seconds, seconds[1:], SIZES, SIZES[1:])]
            print('%-32s %-9s' % (chain, command) + ''.join('%9.2f s %4d MB' % figures for figures in row) +
                  '   ' + ' '.join('%.2f' % e for e in exponents), flush=True)
            failed += bool(exponents) and exponents[-1] > LIMIT
    failed += cancel_all(SIZES[-1])
    sys.exit(failed > 0)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
