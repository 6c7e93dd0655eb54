#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""subgraphs.py CLI: graphs inside If, Loop and Scan, quantized with --subgraphs.

A branch that all samples take is quantized as onnxruntime.quantization quantizes the network without the If: the same
conversions, scales, zero points and integers. What quantize_dynamic makes with EnableSubgraph has as many integer products, and
agrees. Every export passes onnx.checker, and onnxruntime computes, with and without its optimizations, what we predict: weights
of the body and of outer graphs, constants in the body, bodies in bodies, Loop, Scan, all formats, and Silero.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

SAMPLES = 8
FORMATS = [['--format=qdq'], ['--format=qdq', '--per-channel', '--activation=int8'], ['--format=qoperator'], ['--preset=npu-cnn'],
           ['--format=integer', '--dynamic=true'], ['--format=extended', '--activation=bfloat16'],
           ['--format=qoperator', '--dynamic=true']]
AGREE = 1e-5      # of the largest output: sums of floats in another order
ROUNDED = 2e-2    # such sums, rounded to bfloat16 in each round of a Loop


class Maker:
    """Nodes, weights and values of one graph."""

    def __init__(self, seed):
        import numpy as np
        self.random, self.nodes, self.weights = np.random.default_rng(seed), [], []

    def weight(self, name, *shape, scale=0.3):
        import numpy as np
        from onnx import numpy_helper
        tensor = numpy_helper.from_array((self.random.standard_normal(shape) * scale).astype(np.float32), name)
        self.weights.append(tensor)
        return tensor

    def constant(self, name, value):
        from onnx import numpy_helper
        self.weights.append(numpy_helper.from_array(value, name))

    def node(self, kind, inputs, outputs, **attributes):
        from onnx import helper
        self.nodes.append(helper.make_node(kind, inputs.split(), outputs.split(), name=kind + '_' + outputs.split()[0],
                                           **attributes))

    def graph(self, name, inputs, outputs):
        from onnx import helper
        return helper.make_graph(self.nodes, name, inputs, outputs, self.weights)


def tensor(name, shape, kind='FLOAT'):
    from onnx import TensorProto, helper
    return helper.make_tensor_value_info(name, getattr(TensorProto, kind), shape)


def save(graph, path):
    import onnx
    from onnx import helper
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def make_branch(tag, act, seed, constants=False):
    """Conv with a weight of the outer graph, Conv with one of its own."""
    from onnx import helper
    branch = Maker(seed)
    branch.node('Conv', 'a w_shared', tag + 'c', pads=[1] * 4)
    branch.node(act, tag + 'c', tag + 'r')
    branch.weight(tag + 'w', 4, 8, 1, 1), branch.weight(tag + 'b', 4)
    branch.node('Conv', f'{tag}r {tag}w {tag}b', tag + 'o')
    if constants:
        branch.nodes[:0] = [helper.make_node('Constant', [], [w.name], value=w) for w in branch.weights]
        branch.weights = []
    return branch


def make_if(path, constants=False, nested=False):
    out = lambda name: [tensor(name, [1, 4, 10, 10])]
    yes, no = make_branch('t_', 'Relu', 1, constants), make_branch('e_', 'Sigmoid', 2, constants)
    yes_name = 't_o'
    if nested:
        import numpy as np
        inner = yes
        yes, yes_name = Maker(3), 'n_o'
        yes.constant('zero', np.float32(0))
        yes.node('ReduceMean', 'a', 'mean', keepdims=0)
        yes.node('Greater', 'mean zero', 'deep')
        yes.node('If', 'deep', 'n_o', then_branch=inner.graph('deep_yes', [], out('t_o')),
                 else_branch=make_branch('d_', 'Relu', 4).graph('deep_no', [], out('d_o')))
    main = Maker(5)
    main.weight('w0', 8, 3, 3, 3), main.weight('w_shared', 8, 8, 3, 3), main.weight('w9', 2, 4, 1, 1)
    main.node('Conv', 'x w0', 'a')
    main.node('If', 'flag', 'b', then_branch=yes.graph('yes', [], out(yes_name)), else_branch=no.graph('no', [], out('e_o')))
    main.node('Conv', 'b w9', 'y')
    save(main.graph('main', [tensor('x', [1, 3, 12, 12]), tensor('flag', [], 'BOOL')], [tensor('y', [1, 2, 10, 10])]), path)


def make_flat(path):
    """The network of make_if() when the flag is set."""
    main, branch = Maker(5), make_branch('t_', 'Relu', 1)
    main.weight('w0', 8, 3, 3, 3), main.weight('w_shared', 8, 8, 3, 3), main.weight('w9', 2, 4, 1, 1)
    main.node('Conv', 'x w0', 'a')
    main.nodes += branch.nodes
    main.weights += branch.weights
    main.node('Conv', 't_o w9', 'y')
    save(main.graph('main', [tensor('x', [1, 3, 12, 12])], [tensor('y', [1, 2, 10, 10])]), path)


def make_loop(path):
    import numpy as np
    body, main = Maker(6), Maker(7)
    body.weight('u', 8, 8), body.weight('v', 8, 4, scale=1)
    body.node('Identity', 'go', 'on')
    body.node('MatMul', 'h u', 'm')
    body.node('Add', 'm a', 's')
    body.node('Tanh', 's', 'h_next')
    body.node('MatMul', 'h_next v', 'o')
    main.weight('w0', 6, 8, scale=0.5), main.weight('w9', 8, 3)
    main.constant('n', np.int64(5)), main.constant('yes', np.bool_(True))
    main.node('MatMul', 'x w0', 'a')
    main.node('Loop', 'n yes a', 'h_last all', body=body.graph(
        'body', [tensor('i', [], 'INT64'), tensor('go', [], 'BOOL'), tensor('h', [2, 8])],
        [tensor('on', [], 'BOOL'), tensor('h_next', [2, 8]), tensor('o', [2, 4])]))
    main.node('MatMul', 'h_last w9', 'y')
    save(main.graph('main', [tensor('x', [2, 6])], [tensor('y', [2, 3]), tensor('all', [None, 2, 4])]), path)


def make_scan(path):
    import numpy as np
    body, main = Maker(8), Maker(9)
    body.weight('u', 8, 8), body.weight('v', 6, 8)
    body.node('MatMul', 'h u', 'm')
    body.node('MatMul', 'x_i v', 'p')
    body.node('Add', 'm p', 's')
    body.node('Tanh', 's', 'h_next')
    body.node('Identity', 'h_next', 'o')
    main.weight('w9', 8, 3)
    main.constant('h_0', np.zeros((1, 8), np.float32))
    main.node('Scan', 'h_0 x', 'h_last all', num_scan_inputs=1, body=body.graph(
        'body', [tensor('h', [1, 8]), tensor('x_i', [1, 6])], [tensor('h_next', [1, 8]), tensor('o', [1, 8])]))
    main.node('MatMul', 'all w9', 'y')
    save(main.graph('main', [tensor('x', [7, 1, 6])], [tensor('y', [7, 1, 3]), tensor('h_last', [1, 8])]), path)


def make_samples(folder, make):
    """One .npz for each sample; returns them."""
    import numpy as np
    os.makedirs(folder)
    samples = [{k: np.asarray(v) for k, v in make(np.random.default_rng(100 + i), i).items()} for i in range(SAMPLES)]
    for i, sample in enumerate(samples):
        np.savez(os.path.join(folder, f's{i:02}.npz'), **sample)
    return samples


def image(random, i):
    import numpy as np
    return (random.standard_normal((1, 3, 12, 12)) + (i % 3 - 1) * 0.3).astype(np.float32)


def run(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, encoding='utf-8')
    if done.returncode != 0:
        raise AssertionError(f'{" ".join(str(a) for a in arguments)}: {done.stderr.strip()}')
    return done.stderr


def quantize(cli, model, data, output, *options):
    return run(cli, 'quantize', model, '-d', data, '-o', output, '--subgraphs', '--held-out=0', *options)


def graphs(graph, way=''):
    """All graphs of a model, by the way to them."""
    yield way, graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField('g'):
                yield from graphs(attribute.g, f'{way}{node.name}:{attribute.name}/')


def nodes_of(path, inside=False):
    import onnx
    return [n for way, g in graphs(onnx.load(path).graph) for n in g.node if way != '' or not inside]


def count(path, kinds, inside=False):
    return sum(n.op_type in kinds for n in nodes_of(path, inside))


def constants(path):
    """Arrays by name; of one that occurs in several graphs, all."""
    import onnx
    from onnx import numpy_helper
    found = {}
    for way, graph in graphs(onnx.load(path).graph):
        for i in graph.initializer:
            found.setdefault(i.name, []).append(numpy_helper.to_array(i))
    return found


def check_prediction(cli, path, samples, folder, bound=AGREE):
    """Our outputs against those of onnxruntime, plain and optimized; the largest difference in parts of the largest output."""
    import numpy as np
    import onnx
    import onnxruntime

    onnx.checker.check_model(onnx.load(path), full_check=True)
    worst = 0
    for level in (onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level, options.log_severity_level = level, 3
        session = oracle.open_session(path, options)
        for sample in samples[:4]:
            inputs = []
            for name, value in sample.items():
                np.save(os.path.join(folder, name + '.npy'), value)
                inputs += ['-i', f'{name}={os.path.join(folder, name + ".npy")}']
            run(cli, 'run', path, *inputs, '-o', folder)
            for output, theirs in zip(session.get_outputs(), session.run(None, sample)):
                ours = np.load(os.path.join(folder, output.name + '.npy'))
                worst = max(worst, np.abs(ours - theirs).max() / np.abs(theirs).max())
    assert worst <= bound, f'{os.path.basename(path)}: off by {worst:.2e} of the largest output'
    return worst


def check_branch(cli, folder):
    """The branch of an If beside the same layers in a network without one, quantized by onnxruntime.quantization."""
    import numpy as np
    from onnxruntime import quantization as q

    path = lambda name: os.path.join(folder, name)
    make_if(path('if.onnx')), make_flat(path('flat.onnx'))
    samples = make_samples(path('yes'), lambda random, i: {'x': image(random, i), 'flag': np.bool_(True)})

    class Reader(q.CalibrationDataReader):
        def __init__(self):
            self.left = [{'x': s['x']} for s in samples]

        def get_next(self):
            return self.left.pop(0) if self.left else None

    n = 0
    for label, channel in (('tensor', False), ('channel', True)):
        theirs, ours = path(f'theirs-{label}.onnx'), path(f'ours-{label}.onnx')
        q.quantize_static(path('flat.onnx'), theirs, Reader(), quant_format=q.QuantFormat.QDQ, per_channel=channel,
                          activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8)
        said = quantize(cli, path('if.onnx'), path('yes'), ours, f'--per-channel={str(channel).lower()}', '--preset=cpu')
        assert 'else_branch' in said and 'No sample reached 3 nodes' in said, said
        have, want = constants(ours), constants(theirs)
        pairs = {'b': 't_o'}     # what the If returns has conversions of its own
        for name, arrays in want.items():
            assert name in have, f'{label}: no {name}'
            assert any(a.dtype == arrays[0].dtype and np.array_equal(a.ravel(), arrays[0].ravel()) for a in have[name]), \
                f'{label}: {name}: {have[name]}, not {arrays[0]}'
            n += 1
        for own, other in pairs.items():
            assert np.array_equal(have[own + '_scale'][0], want[other + '_scale'][0]), f'{label}: {own}'
        kinds = ('QuantizeLinear',)
        assert count(ours, kinds) == count(theirs, kinds) + 2, (count(ours, kinds), count(theirs, kinds))   # a and b twice
    print(f'branch: {n} scales, zero points and integers as onnxruntime.quantization has them')


def check_dynamic(cli, folder):
    """As many integer products as quantize_dynamic(EnableSubgraph) makes, of the same constants, and nearly the same outputs."""
    import numpy as np
    from onnxruntime import quantization as q

    path = lambda name: os.path.join(folder, name)
    make_loop(path('loop.onnx')), make_if(path('if.onnx'))
    for name, sample in (('loop', lambda random, i: {'x': random.standard_normal((2, 6)).astype(np.float32)}),
                         ('if', lambda random, i: {'x': image(random, i), 'flag': np.bool_(i % 2)})):
        samples = make_samples(path('dynamic-' + name), sample)
        theirs, ours = path(name + '-theirs.onnx'), path(name + '-ours.onnx')
        q.quantize_dynamic(path(name + '.onnx'), theirs, weight_type=q.QuantType.QUInt8, extra_options={'EnableSubgraph': True},
                           op_types_to_quantize=['Conv', 'MatMul'])
        quantize(cli, path(name + '.onnx'), path('dynamic-' + name), ours, '--preset=dynamic', '--weight=uint8',
                 '--symmetric-weights=false')
        kinds = ('MatMulInteger', 'ConvInteger')
        n = count(theirs, kinds, inside=True)
        assert n > 0, f'{name}: EnableSubgraph made no integer product inside'
        assert count(ours, kinds, inside=True) == n, (name, count(ours, kinds, inside=True), n)
        have, want = constants(ours), constants(theirs)
        for key, arrays in want.items():
            assert all(any(np.array_equal(a.ravel(), b.ravel()) for b in have[key]) for a in arrays), f'{name}: {key}'
        sessions = [oracle.open_session(p) for p in (ours, theirs)]
        worst = 0
        for sample in samples:
            for a, b in zip(*(s.run(None, sample) for s in sessions)):
                worst = max(worst, np.abs(a - b).max() / np.abs(b).max())
        assert worst < AGREE, f'{name}: {worst:.2e} from quantize_dynamic'
        print(f'{name}: {n} integer products inside and {len(want)} constants as quantize_dynamic has them, '
              f'outputs within {worst:.1e}')


def check_networks(cli, folder):
    import numpy as np
    path = lambda name: os.path.join(folder, name)
    flagged = lambda random, i: {'x': image(random, i), 'flag': np.bool_(i % 2)}
    n = 0
    for name, make, sample in (('if', make_if, flagged), ('constants', lambda p: make_if(p, constants=True), flagged),
                               ('nested', lambda p: make_if(p, nested=True), flagged),
                               ('loop', make_loop, lambda random, i: {'x': random.standard_normal((2, 6)).astype(np.float32)}),
                               ('scan', make_scan,
                                lambda random, i: {'x': random.standard_normal((7, 1, 6)).astype(np.float32)})):
        make(path(name + '.onnx'))
        samples = make_samples(path(name), sample)
        worst = 0
        for i, options in enumerate(FORMATS):
            export = path(f'{name}-{i}.onnx')
            said = quantize(cli, path(name + '.onnx'), path(name), export, *options)
            assert 'No sample' not in said, said
            kinds = {k.op_type for k in nodes_of(export, inside=True)} - {k.op_type for k in nodes_of(path(name + '.onnx'))}
            assert kinds - {'Constant', 'Identity'}, f'{name} {options}: nothing is quantized inside'
            rounded = '--activation=bfloat16' in options
            off = check_prediction(cli, export, samples, folder, ROUNDED if rounded else AGREE)
            worst = max(worst, 0 if rounded else off)
            n += 1
        print(f'{name}: {len(FORMATS)} formats, off by {worst:.1e} at most where they have integers')
    return n


def check_silero(cli, folder):
    import numpy as np
    source = os.path.join(os.environ.get('VN_SHARED', ''), 'models', 'aud_silero_vad_v6_if.onnx')
    if not os.path.exists(source):
        print('silero: skipped')
        return
    path = lambda name: os.path.join(folder, name)

    def speak(random, i):
        rate, n = (16000, 576) if i % 2 else (8000, 288)
        t = np.arange(n) / rate
        sound = sum(a * np.sin(2 * np.pi * f * t) for a, f in zip(random.uniform(0, 0.2, 6), random.uniform(80, 3000, 6)))
        return {'input': (sound + 0.02 * random.standard_normal(n))[None].astype(np.float32),
                'state': (random.standard_normal((2, 1, 128)) * 0.3 * (i > 3)).astype(np.float32), 'sr': np.int64(rate)}

    samples = make_samples(path('both'), speak)
    quantize(cli, source, path('both'), path('silero.onnx'))
    n = count(path('silero.onnx'), ('QuantizeLinear',), inside=True)
    assert n >= 40, f'silero: {n} QuantizeLinear'
    worst = check_prediction(cli, path('silero.onnx'), samples, folder)
    make_samples(path('one'), lambda random, i: speak(random, 2 * i + 1))
    said = quantize(cli, source, path('one'), path('silero-16k.onnx'))
    assert 'If_0: No sample reached 25 nodes of the graph “else_branch”' in said, said
    assert 0 < count(path('silero-16k.onnx'), ('QuantizeLinear',), inside=True) < n
    check_prediction(cli, path('silero-16k.onnx'), samples, folder)
    print(f'silero: {n} QuantizeLinear inside, off by {worst:.1e} at most')


def make_deep(path, depth):
    """If in If; the sizes of what lies in them are left open, so that the float network is no deeper than readers go."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
    random = np.random.default_rng(3)
    inner = None
    for level in range(depth + 1):
        def graph(name, nodes, output):
            return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)])
        if inner is None:
            inner = graph('g', [helper.make_node('MatMul', ['x', 'w'], ['m'], name='product')], 'm')
        else:
            other = graph(f'e{level}', [helper.make_node('Neg', ['x'], [f'e{level}'])], f'e{level}')
            inner = graph(f'g{level}', [helper.make_node('If', ['flag'], [f'y{level}'], name=f'if{level}',
                                                         then_branch=inner, else_branch=other)],
                          f'y{level}')
    inner.input.extend([tensor('x', [1, 8]), tensor('flag', [], 'BOOL')])
    inner.initializer.append(numpy_helper.from_array(random.standard_normal((8, 8)).astype(np.float32), 'w'))
    inner.output[0].CopyFrom(tensor(inner.output[0].name, [1, 8]))
    with open(path, 'wb') as f:
        f.write(helper.make_model(inner, opset_imports=[helper.make_opsetid('', 13)], ir_version=8).SerializeToString())


def check_deep(cli, folder):
    """As deep as readers of protocol buffers go: sizes that are found are not written there."""
    import numpy as np
    import onnx
    path = lambda name: os.path.join(folder, name)
    make_deep(path('deep.onnx'), 32)
    samples = make_samples(path('deep'),
                           lambda random, i: {'x': random.standard_normal((1, 8)).astype(np.float32), 'flag': np.array(True)})
    quantize(cli, path('deep.onnx'), path('deep'), path('out.onnx'))
    assert count(path('out.onnx'), ('DequantizeLinear',), inside=True), 'nothing is quantized inside'
    onnx.checker.check_model(onnx.load(path('out.onnx')))
    check_prediction(cli, path('out.onnx'), samples, folder)
    print('deep: 32 graphs in each other')


def main():
    cli = os.path.abspath(sys.argv[1])
    oracle.use_oracle_python()
    with tempfile.TemporaryDirectory() as folder:
        for i, check in enumerate((check_branch, check_dynamic, check_networks, check_deep, check_silero)):
            own = os.path.join(folder, str(i))
            os.makedirs(own)
            check(cli, own)


if __name__ == '__main__':
    main()
