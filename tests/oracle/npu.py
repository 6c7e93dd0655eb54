#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""npu.py QUANTIZE_RUN: scales for processors that shift, stated once more and looked at in exported files.

Real networks are quantized with the preset npu-cnn. In the file every scale must be a power of two, and the positions around
every node must meet the limits. A file that AMD's own tools wrote is held against the same limits."""
import os
import subprocess
import sys
import tempfile

import oracle

MODELS = ['det_nanodet_m_320', 'cls_mobilenetv2_035_128_flowers', 'det_ultraface_rfb320', 'det_yolox_nano_416']
AMD = 'qdq_retinaface_amd_vai_640'
FUSED = ('Relu', 'LeakyRelu', 'PRelu', 'Clip')


class Positions:
    """Of the tensors that nodes read and write, from the pairs around them."""

    def __init__(self, path):
        import onnx
        from onnx import numpy_helper

        self.graph = onnx.load(path).graph
        self.constants = {i.name: numpy_helper.to_array(i) for i in self.graph.initializer}
        for node in self.graph.node:
            if node.op_type == 'Constant':
                self.constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        self.producers = {o: n for n in self.graph.node for o in n.output}
        self.readers = {}
        for node in self.graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
        self.odd = []

    def of_scale(self, name):
        import numpy as np

        scale = float(self.constants[name].reshape(-1)[0])
        position = round(-np.log2(scale))
        if self.constants[name].size != 1 or scale != 2.0 ** -position:
            self.odd.append(name)
        return position

    def read(self, node, i):
        name = node.input[i] if i < len(node.input) else ''
        producer = self.producers.get(name)
        return self.of_scale(producer.input[1]) if producer is not None and producer.op_type == 'DequantizeLinear' else None

    def written(self, node):
        """Behind the activation that is computed with it, and how that is called."""
        name, kind = node.output[0], None
        while True:
            readers = self.readers.get(name, [])
            if len(readers) == 1 and readers[0].op_type == 'QuantizeLinear':
                return self.of_scale(readers[0].input[1]), kind
            if len(readers) == 1 and readers[0].op_type in FUSED and kind is None:
                name, kind = readers[0].output[0], readers[0].op_type
                continue
            return None, kind


def limits(p, node):
    """Text about each limit that @node breaks, and how many were looked at."""
    out, behind = p.written(node)
    ins = [p.read(node, i) for i in range(len(node.input))]
    checks = []
    if node.op_type in ('Conv', 'ConvTranspose', 'Gemm') and None not in (out, ins[0], ins[1]):
        cut = ins[0] + ins[1] - out
        checks.append(('cut', 0, cut, 16))
        if len(ins) > 2 and ins[2] is not None:
            least = 0 if behind == 'LeakyRelu' else min(0, -(24 - (8 + cut)))
            checks.append(('bias', least, ins[0] + ins[1] - ins[2], 15))
    elif node.op_type in ('Add', 'Sub') and None not in ins:
        checks.append(('read', 0, max(ins) - min(ins), 7))
        if node.op_type == 'Add' and out is not None:
            checks.append(('write', -7, min(ins) - out, 25))
    elif node.op_type == 'Mul' and None not in ins and out is not None:
        checks.append(('write', 0, sum(ins) - out, 32))
    elif node.op_type == 'Concat' and len(set(ins)) and None not in ins and out is not None:
        checks.append(('concat', 0, max(ins + [out]) - min(ins + [out]), 0))
    elif node.op_type in ('MaxPool', 'AveragePool', 'GlobalAveragePool', 'Pad', 'Slice') and None not in (ins[0], out):
        checks.append(('align', 0, abs(ins[0] - out), 0))
    return ['%s %s: %s is %d, not %d to %d' % (node.op_type, node.name, what, value, low, high)
            for what, low, value, high in checks if not low <= value <= high], len(checks)


def check(path):
    p = Positions(path)
    wrong, n = [], 0
    for node in p.graph.node:
        lines, count = limits(p, node)
        wrong, n = wrong + lines, n + count
    return wrong + ['%s is no power of two' % name for name in sorted(set(p.odd))], n


def biases(path):
    """Types of the biases of convolutions."""
    p = Positions(path)
    return {str(p.constants[p.producers[n.input[2]].input[0]].dtype) for n in p.graph.node
            if n.op_type == 'Conv' and len(n.input) > 2 and p.read(n, 2) is not None}


def run(program, shared, stem, folder):
    import numpy as np
    import onnx
    import quantize

    prepared = quantize.prepare(program, os.path.join(shared, 'models', stem + '.onnx'), folder)
    given = oracle.open_session(prepared).get_inputs()[0]
    shape = oracle.input_shape(stem, given.shape)
    os.mkdir(os.path.join(folder, 'npy'))
    for i, path in enumerate(oracle.photographs(shared)[:2]):
        np.save(os.path.join(folder, 'npy', '%d.npy' % i), oracle.image_input(stem, path, shape))
    result = os.path.join(folder, 'npu.onnx')
    done = subprocess.run([program, '--preset', 'npu-cnn', '--symmetric', '--data', os.path.join(folder, 'npy'), prepared, result,
                           os.path.join(folder, 'npu.json')], capture_output=True, text=True)
    if done.returncode != 0:
        return [done.stderr.strip()], 0
    onnx.checker.check_model(result, full_check=True)
    oracle.open_session(result)
    wrong, n = check(result)
    return wrong + ['biases are %s' % t for t in biases(result) if t != 'int8'], n


def main():
    oracle.use_oracle_python()
    shared = oracle.shared_folder()
    bad = 0
    for stem in sys.argv[2:] or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            wrong, n = run(sys.argv[1], shared, stem, folder)
        print('%-34s %4d limits, %d broken' % (stem, n, len(wrong)))
        for line in wrong[:10]:
            print('    ' + line)
        bad += bool(wrong) or n == 0
    wrong, n = check(os.path.join(shared, 'models', AMD + '.onnx'))
    print('%-34s %4d limits, %d broken (made by AMD)' % (AMD, n, len(wrong)))
    for line in wrong[:10]:
        print('    ' + line)
    bad += bool(wrong) or n == 0
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
