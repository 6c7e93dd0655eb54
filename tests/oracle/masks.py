#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""masks.py CLI: networks with values that stand for others, through presets, judged by onnxruntime.

Attention whose mask is minus infinity, the lowest float, -65504 or -1e9, added, chosen or multiplied, as a constant or as an
input, with rows that are NaN and never reach an output; paddings of such values in front of a maximum. Every export keeps
25 dB on all samples, optimized and as written, what is told from a few of them is near, and no sample is suspected. Exit 0,
1 or 77.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

PRESETS = ['cpu', 'cpu-s8', 'xquant']
LEAST_DB, MARGIN_DB, SAMPLES, LENGTH, WIDTH = 25, 6, 20, 10, 24


class Maker:
    def __init__(self, seed):
        import numpy as np
        self.np, self.random = np, np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs = [], [], []

    def constant(self, name, array, dtype='float32'):
        from onnx import numpy_helper
        self.constants.append(numpy_helper.from_array(self.np.ascontiguousarray(array, self.np.dtype(dtype)), name))
        return name

    def weight(self, name, *shape, scale=0.3):
        return self.constant(name, self.random.standard_normal(shape) * scale)

    def input(self, name, shape, kind=1):
        from onnx import helper
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def node(self, op, inputs, output, **attributes):
        from onnx import helper
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def model(self, output, shape):
        from onnx import helper
        graph = helper.make_graph(self.nodes, 'g', self.inputs, [helper.make_tensor_value_info(output, 1, shape)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)])
        model.ir_version = 8
        return model

    def scores(self):
        """q k^T, and v."""
        self.input('x', [1, LENGTH, WIDTH])
        for name in 'qkv':
            self.node('MatMul', ['x', self.weight('w' + name, WIDTH, WIDTH)], name)
        self.node('Transpose', ['k'], 'kt', perm=[0, 2, 1])
        self.node('MatMul', ['q', 'kt'], 's')
        return self.node('Mul', ['s', self.constant('factor', 0.2)], 'scaled')

    def attention(self, masked):
        self.node('Softmax', [masked], 'p', axis=-1)
        self.node('MatMul', ['p', 'v'], 'o')

    def close(self, value='o'):
        self.node('MatMul', [value, self.weight('wo', WIDTH, WIDTH)], 'y')
        return self.model('y', [1, LENGTH, WIDTH])

    def samples(self, **masks):
        """masks: name -> what makes one of how many columns are seen."""
        f32 = self.np.float32
        return [{'x': self.random.standard_normal((1, LENGTH, WIDTH)).astype(f32), **{n: f(4 + i % 6) for n, f in masks.items()}}
                for i in range(SAMPLES)]


def added(m, low):
    s, mask = m.scores(), m.np.triu(m.np.full((1, LENGTH, LENGTH), low), 1)
    m.attention(m.node('Add', [s, m.constant('mask', mask)], 'masked'))
    return m.close(), m.samples()


def chosen(m, low):
    s = m.scores()
    m.input('seen', [1, 1, LENGTH], 9)
    m.attention(m.node('Where', ['seen', s, m.constant('low', low)], 'masked'))
    return m.close(), m.samples(seen=lambda n: (m.np.arange(LENGTH) < n)[None, None])


def multiplied(m, low):
    s = m.scores()
    m.input('seen', [1, LENGTH], 7)
    m.node('Cast', ['seen'], 'one', to=1)
    m.node('Sub', [m.constant('unit', 1.0), 'one'], 'hidden')
    m.node('Mul', ['hidden', m.constant('low', low)], 'far')
    m.node('Unsqueeze', ['far', m.constant('axes', [1], 'int64')], 'row')
    m.attention(m.node('Add', [s, 'row'], 'masked'))
    return m.close(), m.samples(seen=lambda n: (m.np.arange(LENGTH) < n)[None].astype(m.np.int64))


def given(m, low):
    s = m.scores()
    m.input('mask', [1, 1, LENGTH])
    m.attention(m.node('Add', [s, 'mask'], 'masked'))
    return m.close(), m.samples(mask=lambda n: m.np.where(m.np.arange(LENGTH) < n, 0, low)[None, None].astype(m.np.float32))


def spelled_out(m, low):
    s, mask = m.scores(), m.np.triu(m.np.full((1, LENGTH, LENGTH), low), 1)
    m.node('Add', [s, m.constant('mask', mask)], 'masked')
    m.node('ReduceMax', ['masked'], 'most', axes=[-1], keepdims=1)
    m.node('Sub', ['masked', 'most'], 'below')
    m.node('Exp', ['below'], 'e')
    m.node('ReduceSum', ['e', m.constant('last', [-1], 'int64')], 'sum', keepdims=1)
    m.node('Div', ['e', 'sum'], 'p')
    m.node('MatMul', ['p', 'v'], 'o')
    return m.close(), m.samples()


def nan_rows(m, low):
    s = m.scores()
    m.input('mask', [1, LENGTH, LENGTH])
    m.attention(m.node('Add', [s, 'mask'], 'masked'))
    m.node('IsNaN', ['o'], 'bad')
    m.node('Where', ['bad', m.constant('zero', 0.0), 'o'], 'good')

    def mask(n):
        full = m.np.zeros((1, LENGTH, LENGTH), m.np.float32)
        full[:, :, n:] = full[:, n:, :] = low
        return full
    return m.close('good'), m.samples(mask=mask)


def padded(m, low):
    m.input('x', [1, 3, 16, 16])
    m.node('Conv', ['x', m.weight('w1', 8, 3, 3, 3), m.weight('b1', 8)], 'c')
    m.node('Pad', ['c', m.constant('pads', [0, 0, 1, 1, 0, 0, 1, 1], 'int64'), m.constant('fill', low)], 'wide')
    m.node('MaxPool', ['wide'], 'most', kernel_shape=[3, 3], strides=[2, 2])
    m.node('Conv', ['most', m.weight('w2', 6, 8, 1, 1)], 'y')
    return m.model('y', [1, 6, 7, 7]), [{'x': m.random.standard_normal((1, 3, 16, 16)).astype(m.np.float32)}
                                        for _ in range(SAMPLES)]


LOWEST = -3.4028234663852886e38
NETWORKS = [(make, low) for make, lows in (
    (added, (-float('inf'), LOWEST, -1e9, -65504, -10000)), (chosen, (-float('inf'), LOWEST, -1e9)),
    (multiplied, (LOWEST, -10000)),
    (given, (-float('inf'), LOWEST, -65504)), (spelled_out, (-float('inf'), LOWEST)), (nan_rows, (-float('inf'),)),
    (padded, (-float('inf'), LOWEST, -1e9, -65504))) for low in lows]


def save(samples, folder):
    from onnx import numpy_helper
    for i, feed in enumerate(samples):
        place = os.path.join(folder, 'test_data_set_%d' % i)
        os.makedirs(place)
        for k, (name, array) in enumerate(feed.items()):
            with open(os.path.join(place, 'input_%d.pb' % k), 'wb') as f:
                f.write(numpy_helper.from_array(array, name).SerializeToString())


def run(path, samples, optimized):
    import numpy as np
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    level = ort.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimized else level.ORT_DISABLE_ALL
    session = oracle.open_session(path, options)
    return np.concatenate([session.run(None, feed)[0].ravel() for feed in samples]).astype(np.float64)


def get_db(wanted, found):
    import numpy as np
    noise = ((wanted - found) ** 2).sum()
    return 10 * np.log10((wanted ** 2).sum() / noise) if noise > 0 else np.inf


def check(cli, work, preset, samples, wanted):
    """None, or what is wrong."""
    import onnx
    out = os.path.join(work, preset + '.onnx')
    done = subprocess.run([cli, 'quantize', os.path.join(work, 'model.onnx'), '-o', out, '--data', os.path.join(work, 'data'),
                           '--preset', preset, '--json'], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[-1]
    onnx.checker.check_model(out, full_check=True)
    # all samples are told of by networks that were calibrated without them: this very network is told of by those held out
    told = min(row['held_out_sqnr_db'] for row in json.loads(done.stdout)['report']['tensors'] if row.get('output'))
    db = [get_db(wanted, run(out, samples, optimized)) for optimized in (True, False)]
    for code in ('data-not-finite', 'data-constant', 'data-equal'):
        if code in done.stdout + done.stderr:
            return 'samples are suspected: ' + code
    if not min(db) >= LEAST_DB:
        return 'onnxruntime gives %.1f and %.1f dB, told were %.1f' % (*db, told)
    return None if abs(told - db[1]) < MARGIN_DB else 'told were %.1f dB, there are %.1f' % (told, db[1])


def main():
    oracle.use_oracle_python()
    import onnx
    failed = 0
    for seed, (make, low) in enumerate(NETWORKS):
        model, samples = make(Maker(seed), low)
        with tempfile.TemporaryDirectory() as work:
            onnx.save(model, os.path.join(work, 'model.onnx'))
            save(samples, os.path.join(work, 'data'))
            wanted = run(os.path.join(work, 'model.onnx'), samples, True)
            for preset in PRESETS:
                wrong = check(sys.argv[1], work, preset, samples, wanted)
                if wrong:
                    failed += 1
                    print('FAILED %s %g, %s: %s' % (make.__name__, low, preset, wrong), flush=True)
    print('%d exports, %d wrong' % (len(NETWORKS) * len(PRESETS), failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
