#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""doors.py CLI: networks and samples of every form that ONNX allows come in, and what comes out is run in ONNX Runtime.

Names that several nodes share, samples of different sizes, operators that nobody has a kernel for, through every repair."""
import collections
import os
import subprocess
import sys
import tempfile

import oracle

failures = []
REPAIRS = [['--origins', '--cures'], ['--curve'], ['--train=adaround'], ['--rounding=second-order'], ['--range-search=outputs'],
           ['--balance-channels=folded'], ['--bias-correction=guarded'], ['--bias-correction=xslim'], ['--bias-correction=amd'],
           ['--absorb-bias'], ['--equalize=ppq', '--equalize-activations'], ['--auto', '--time=5']]


def check(condition, *text):
    if not condition:
        failures.append(' '.join(str(t) for t in text))


def node(*args, **attributes):
    from onnx import helper
    return helper.make_node(*args, **attributes)


def info(name, shape, kind=1):
    from onnx import helper
    return helper.make_tensor_value_info(name, kind, shape)


def weights(seed, **shapes):
    import numpy as np
    from onnx import numpy_helper
    rng = np.random.default_rng(seed)
    return [numpy_helper.from_array((rng.standard_normal(s) / max(1, np.prod(s[1:])) ** .5).astype('float32'), n)
            for n, s in shapes.items()]


def save(path, nodes, inputs, outputs, initializers, domains=()):
    import onnx
    from onnx import helper
    model = helper.make_model(helper.make_graph(nodes, 'g', inputs, outputs, initializers), ir_version=8,
                              opset_imports=[helper.make_opsetid('', 17)] + [helper.make_opsetid(d, 1) for d in domains])
    onnx.save(model, path)
    return model


def write_samples(folder, arrays):
    import numpy as np
    os.makedirs(folder)
    for i, array in enumerate(arrays):
        np.save(os.path.join(folder, 's%03d.npy' % i), array)


def quantize(cli, path, samples, out, *options):
    done = subprocess.run([cli, 'quantize', path, '-o', out, '-d', samples, *options], capture_output=True, text=True)
    check(done.returncode == 0, os.path.basename(path), *options, 'fails:', done.stderr.strip()[-300:])
    return done.returncode == 0


def run(model, arrays):
    session = oracle.open_session(model)
    name = session.get_inputs()[0].name
    return [session.run(None, {name: a}) for a in arrays]


def sqnr(wanted, found):
    """Of the first output, over all samples."""
    import numpy as np
    signal = sum(float(np.sum(np.float64(w[0]) ** 2)) for w in wanted)
    noise = sum(float(np.sum((np.float64(w[0]) - np.float64(f[0])) ** 2)) for w, f in zip(wanted, found))
    return 10 * np.log10(signal / max(noise, 1e-30))


# ---- one name for several nodes ----

def make_convs(path, names):
    return save(path, [node('Conv', ['x', 'w0'], ['a'], name=names[0], pads=[1] * 4), node('Relu', ['a'], ['b'], name=names[1]),
                       node('Conv', ['b', 'w1', 'b1'], ['c'], name=names[2], pads=[1] * 4),
                       node('Relu', ['c'], ['d'], name=names[3]),
                       node('Conv', ['d', 'w2', 'b2'], ['y'], name=names[4])],
                [info('x', [1, 3, 8, 8])], [info('y', [1, 4, 8, 8])],
                weights(3, w0=(6, 3, 3, 3), w1=(8, 6, 3, 3), b1=(8,), w2=(4, 8, 1, 1), b2=(4,)))


def check_names(cli, folder):
    import numpy as np
    import onnx
    rng = np.random.default_rng(5)
    arrays = [rng.standard_normal((1, 3, 8, 8)).astype('float32') for _ in range(10)]
    samples, found = os.path.join(folder, 'convs'), {}
    write_samples(samples, arrays)
    for kind, names in (('apart', ['c0', 'r0', 'c1', 'r1', 'c2']), ('alike', ['Conv', 'Relu', 'Conv', 'Relu', 'Conv'])):
        path, out = os.path.join(folder, kind + '.onnx'), os.path.join(folder, kind + '-q.onnx')
        make_convs(path, names)
        for rule in ('guarded', 'amd', 'xslim'):
            if quantize(cli, path, samples, out, '--bias-correction=' + rule):
                found[kind, rule] = run(out, arrays)
        if not os.path.exists(out):
            continue
        shared = [n for n, k in collections.Counter(n.name for n in onnx.load(out).graph.node if n.name).items() if k > 1]
        check(not shared, 'several nodes of the export are named', shared)
    for rule in [r for k, r in found if k == 'alike']:
        check(all((x[0] == y[0]).all() for x, y in zip(found['apart', rule], found['alike', rule])), 'names decide what', rule,
              'corrects')


# ---- samples of different sizes ----

def make_frames(path):
    save(path, [node('Conv', ['x', 'w0', 'b0'], ['a'], name='c0', pads=[3, 3]),
                node('LeakyRelu', ['a'], ['l'], name='l', alpha=.1),
                node('ConvTranspose', ['l', 'w1', 'b1'], ['t'], name='ct', strides=[2], pads=[1, 1]),
                node('Relu', ['t'], ['u'], name='r'),
                node('Conv', ['u', 'w2'], ['o'], name='c1', pads=[3, 3]), node('Tanh', ['o'], ['y'], name='tanh')],
         [info('x', [1, 8, 'frames'])], [info('y', [1, 1, 't'])],
         weights(3, w0=(8, 8, 7), b0=(8,), w1=(8, 8, 4), b1=(8,), w2=(1, 8, 7)))
    return [(1, 8, n) for n in (11, 7, 19, 24, 13, 9, 16, 30)]


def make_words(path):
    import numpy as np
    from onnx import numpy_helper
    save(path, [node('LSTM', ['x', 'W', 'R', 'B'], ['Y', '', ''], name='lstm', hidden_size=6, direction='bidirectional'),
                node('Transpose', ['Y'], ['t'], name='t', perm=[0, 2, 1, 3]), node('Reshape', ['t', 's'], ['f'], name='rs'),
                node('MatMul', ['f', 'm'], ['g'], name='mm'),
                node('GRU', ['g', 'W2', 'R2'], ['', 'h'], name='gru', hidden_size=5, linear_before_reset=1),
                node('MatMul', ['h', 'm2'], ['y'], name='mm2')],
         [info('x', ['T', 1, 4])], [info('y', [1, 1, 3])],
         weights(20, W=(2, 24, 4), R=(2, 24, 6), B=(2, 48), m=(12, 12), W2=(1, 15, 12), R2=(1, 15, 5), m2=(5, 3)) +
         [numpy_helper.from_array(np.array([0, 0, 12]), 's')])
    return [(n, 1, 4) for n in (7, 5, 9, 6, 8, 11, 5, 7)]


def check_sizes(cli, folder):
    import numpy as np
    for name, make in (('frames', make_frames), ('words', make_words)):
        path, samples, out = (os.path.join(folder, name + e) for e in ('.onnx', '', '-q.onnx'))
        rng = np.random.default_rng(4)
        arrays = [rng.standard_normal(s).astype('float32') for s in make(path)]
        write_samples(samples, arrays)
        wanted = run(path, arrays)
        quantize(cli, path, samples, out)
        plain = sqnr(wanted, run(out, arrays))
        for options in REPAIRS:
            if not quantize(cli, path, samples, out, *options):
                continue
            db = sqnr(wanted, run(out, arrays))
            check(db > plain - 3, name, *options, '%.1f dB, plain %.1f' % (db, plain))


# ---- a node that cannot be run ----

def make_plugin(path, side_output):
    nodes = [node('Conv', ['x', 'w'], ['a'], name='c', pads=[1] * 4), node('Relu', ['a'], ['r'], name='r'),
             node('Conv', ['r', 'w2'], ['s'], name='c2', pads=[1] * 4),
             node('Plugin', ['s', 'r'], ['q'], name='plug', domain='com.example')]
    outputs = [info('q', [1, 6, 8, 8])]
    if side_output:
        nodes.append(node('Add', ['s', 'r'], ['y'], name='add'))
        outputs.append(info('y', [1, 6, 8, 8]))
    return save(path, nodes, [info('x', [1, 3, 8, 8])], outputs, weights(8, w=(6, 3, 3, 3), w2=(6, 6, 3, 3)), ['com.example'])


def without_plugin(model):
    """What the plugin reads first is the output instead."""
    import onnx
    from onnx import helper
    model = onnx.load(model)
    plugin = next(n for n in model.graph.node if n.op_type == 'Plugin')
    end = helper.make_node('Identity', [plugin.input[0]], ['end'])
    model.graph.node.remove(plugin)
    model.graph.node.append(end)
    del model.graph.output[:]
    model.graph.output.append(info('end', None))
    return model


def check_plugin(cli, folder):
    import numpy as np
    import onnx
    rng = np.random.default_rng(6)
    arrays = [rng.standard_normal((1, 3, 8, 8)).astype('float32') for _ in range(8)]
    samples = os.path.join(folder, 'plugin')
    write_samples(samples, arrays)
    for side_output in (True, False):
        path, out = (os.path.join(folder, 'plugin%d%s.onnx' % (side_output, e)) for e in ('', '-q'))
        make_plugin(path, side_output)
        wanted = run(without_plugin(path), arrays)
        for options in REPAIRS:
            if not quantize(cli, path, samples, out, *options):
                continue
            onnx.checker.check_model(out)
            db = sqnr(wanted, run(without_plugin(out), arrays))
            check(db > 25, 'plugin', side_output, *options, '%.1f dB' % db)


# ---- sparse weights ----

def check_sparse(cli, folder):
    """Places told as one number, and as one for each axis."""
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
    rng = np.random.default_rng(19)
    arrays = [rng.standard_normal((3, 16)).astype('float32') for _ in range(8)]
    samples, dense = os.path.join(folder, 'sparse'), rng.standard_normal((16, 8)).astype('float32')
    dense[np.abs(dense) < .8] = 0
    write_samples(samples, arrays)
    for kind, places in (('places', np.flatnonzero(dense)), ('axes', np.argwhere(dense))):
        path, out = (os.path.join(folder, kind + e) for e in ('.onnx', '-q.onnx'))
        model = save(path, [node('MatMul', ['x', 'w'], ['a'], name='m'), node('Relu', ['a'], ['r'], name='r'),
                            node('MatMul', ['r', 'w2'], ['y'], name='m2')], [info('x', ['N', 16])], [info('y', ['N', 4])],
                     weights(5, w2=(8, 4)))
        model.graph.sparse_initializer.append(helper.make_sparse_tensor(
            numpy_helper.from_array(dense[dense != 0], 'w'), numpy_helper.from_array(places.astype(np.int64), ''), [16, 8]))
        onnx.save(model, path)
        if quantize(cli, path, samples, out):
            behind = numpy_helper.to_array(model.graph.initializer[0])
            found, wanted = run(out, arrays), [[np.maximum(a @ dense, 0) @ behind] for a in arrays]
            check(sqnr(wanted, found) > 25, kind, '%.1f dB' % sqnr(wanted, found))
            check(not onnx.load(out).graph.sparse_initializer, kind, 'is written as well')
        # The same as the value of a Constant.
        sparse = model.graph.sparse_initializer.pop()
        model.graph.node.insert(0, helper.make_node('Constant', [], ['w'], name='k', sparse_value=sparse))
        onnx.save(model, path)
        if quantize(cli, path, samples, out):
            found = run(out, arrays)
            check(sqnr(wanted, found) > 25, kind, 'in a Constant %.1f dB' % sqnr(wanted, found))
        del model.graph.node[0]
        model.graph.sparse_initializer.append(sparse)
    model.graph.sparse_initializer[0].indices.dims[:] = [3]
    onnx.save(model, path)
    done = subprocess.run([cli, 'inspect', path], capture_output=True, text=True)
    check(done.returncode == 1 and 'sparse' in done.stderr, 'a damaged one is told:', done.stderr)


# ---- other floats ----

def check_floats(cli, folder):
    """Inputs and outputs keep their types, in files and in ONNX Runtime."""
    import numpy as np
    import onnx
    from onnx import numpy_helper
    rng = np.random.default_rng(7)
    for name, kind, number in (('float16', onnx.TensorProto.FLOAT16, np.float16),
                               ('float64', onnx.TensorProto.DOUBLE, np.float64)):
        path, samples, out = (os.path.join(folder, name + e) for e in ('.onnx', '', '-q.onnx'))
        held = [numpy_helper.from_array(numpy_helper.to_array(w).astype(number), w.name)
                for w in weights(13, w=(16, 8), b=(8,), w2=(8, 12), b2=(12,))]
        save(path, [node('Gemm', ['x', 'w', 'b'], ['a'], name='g'), node('Relu', ['a'], ['r'], name='r'),
                    node('Gemm', ['r', 'w2', 'b2'], ['y'], name='g2'), node('Identity', ['r'], ['z'], name='i')],
             [info('x', ['N', 16], kind)], [info('y', ['N', 12], kind), info('z', ['N', 8], kind)], held)
        arrays = [rng.standard_normal((3, 16)).astype(number) for _ in range(8)]
        write_samples(samples, arrays)
        for options in ([], ['--format=qoperator'], ['--auto', '--time=5']):
            if not quantize(cli, path, samples, out, *options):
                continue
            model = onnx.load(out)
            onnx.checker.check_model(model)
            types = [v.type.tensor_type.elem_type for v in (*model.graph.input, *model.graph.output)]
            check(types == [kind] * 3, name, *options, 'has the types', types)
            db = sqnr(run(path, arrays), run(out, arrays))
            check(db > 25, name, *options, '%.1f dB' % db)


def main():
    oracle.use_oracle_python()
    with tempfile.TemporaryDirectory() as folder:
        for part in (check_names, check_sizes, check_plugin, check_sparse, check_floats):
            part(sys.argv[1], folder)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
