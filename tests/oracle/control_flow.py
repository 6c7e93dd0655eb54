#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""control_flow.py CLI: networks with If, Loop and Scan through inspect, run, quantize and compare.

What lies outside the graphs inside nodes is calibrated and quantized, what lies inside stays as it is, values that
inner graphs take from outside keep their meaning, onnx.checker accepts the result and onnxruntime runs it."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

SHAPE = [1, 4, 8, 8]
PRESETS = ('cpu', 'cpu-s8', 'a16w8')
failures = []


def check(condition, *text):
    if not condition:
        failures.append(' '.join(str(t) for t in text))


class Maker:
    """Collects nodes and weights of one graph."""

    def __init__(self, rng, prefix=''):
        self.rng, self.prefix, self.nodes, self.weights = rng, prefix, [], []

    def constant(self, name, value, dtype):
        import numpy as np
        from onnx import numpy_helper
        self.weights.append(numpy_helper.from_array(np.array(value, dtype), self.prefix + name))
        return self.prefix + name

    def add(self, op, inputs, output, **attributes):
        from onnx import helper
        self.nodes.append(helper.make_node(op, inputs, [output] if isinstance(output, str) else output,
                                           name=self.prefix + op.lower() + '_' + str(len(self.nodes)), **attributes))
        return output

    def conv(self, x, y):
        w = self.constant(y + '.w', self.rng.normal(0, .15, (4, 4, 3, 3)), 'float32')
        b = self.constant(y + '.b', self.rng.normal(0, .1, 4), 'float32')
        return self.add('Conv', [x, w, b], y, pads=[1] * 4)

    def graph(self, name, inputs, outputs):
        from onnx import TensorProto, helper
        types = {'f': TensorProto.FLOAT, 'i': TensorProto.INT64, 'b': TensorProto.BOOL}

        def info(value):
            return helper.make_tensor_value_info(value[0], types[value[1]], value[2])
        return helper.make_graph(self.nodes, name, [info(v) for v in inputs], [info(v) for v in outputs], self.weights)


def loop_network(rng):
    """head -> Loop (conv of the carried value + the outer relu + the outer weight) -> tail; the rounds are stacked, too"""
    outer, body = Maker(rng), Maker(rng, 'body.')
    outer.conv('x', 'h')
    outer.add('Relu', ['h'], 'r')
    scale = outer.constant('scale', .5, 'float32')
    body.conv('state', 'c')
    body.add('Mul', ['r', scale], 'm')
    body.add('Add', ['c', 'm'], 'next')
    body.add('ReduceMean', ['next'], 'mean', keepdims=0)
    body.add('Identity', ['go'], 'go_on')
    graph = body.graph('body', [('round', 'i', []), ('go', 'b', []), ('state', 'f', SHAPE)],
                       [('go_on', 'b', []), ('next', 'f', SHAPE), ('mean', 'f', [])])
    outer.add('Loop', [outer.constant('rounds', 3, 'int64'), '', 'r'], ['l', 'means'], body=graph)
    outer.conv('l', 'y')
    return outer.graph('loop', [('x', 'f', SHAPE)], [('y', 'f', SHAPE), ('means', 'f', [3])])


def branch_network(rng):
    """head -> If on the sign of its mean: a conv of the outer value, or the outer value itself -> tail"""
    outer, yes, no = Maker(rng), Maker(rng, 'yes.'), Maker(rng, 'no.')
    outer.conv('x', 'h')
    outer.add('Relu', ['h'], 'r')
    outer.add('ReduceMean', ['x'], 'mean', keepdims=0)
    outer.add('Greater', ['mean', outer.constant('zero', 0, 'float32')], 'flag')
    yes.conv('r', 'yes_out')
    no.add('Identity', ['r'], 'no_out')
    outer.add('If', ['flag'], 'chosen', then_branch=yes.graph('yes', [], [('yes_out', 'f', SHAPE)]),
              else_branch=no.graph('no', [], [('no_out', 'f', SHAPE)]))
    outer.conv('chosen', 'y')
    return outer.graph('branch', [('x', 'f', SHAPE)], [('y', 'f', SHAPE)])


def scan_network(rng):
    """head -> Scan over the rows with a running sum, scaled by a weight of the outer graph -> tail"""
    outer, body = Maker(rng), Maker(rng, 'body.')
    outer.conv('x', 'h')
    gain = outer.constant('gain', rng.normal(0, 1, (1, 4, 8)), 'float32')
    start = outer.constant('start', rng.normal(0, 1, (1, 4, 8)), 'float32')
    body.add('Mul', ['row', gain], 'scaled')
    body.add('Add', ['sum', 'scaled'], 'next')
    body.add('Tanh', ['next'], 'out')
    graph = body.graph('body', [('sum', 'f', [1, 4, 8]), ('row', 'f', [1, 4, 8])],
                       [('next', 'f', [1, 4, 8]), ('out', 'f', [1, 4, 8])])
    outer.add('Scan', [start, 'h'], ['last', 's'], body=graph, num_scan_inputs=1, scan_input_axes=[2], scan_output_axes=[2])
    outer.conv('s', 'y')
    return outer.graph('scan', [('x', 'f', SHAPE)], [('y', 'f', SHAPE), ('last', 'f', [1, 4, 8])])


def nested_network(rng):
    """A Loop that holds an If, which uses a value of the outermost graph and returns one of the loop's"""
    outer, body, yes, no = Maker(rng), Maker(rng, 'body.'), Maker(rng, 'yes.'), Maker(rng, 'no.')
    outer.conv('x', 'h')
    outer.conv('h', 'k')
    body.add('Mod', ['round', body.constant('two', 2, 'int64')], 'odd')
    body.add('Cast', ['odd'], 'flag', to=9)
    yes.conv('k', 'seen')
    yes.add('Add', ['seen', 'state'], 'yes_out')
    no.add('Identity', ['h'], 'no_out')
    body.add('If', ['flag'], 'chosen', then_branch=yes.graph('yes', [], [('yes_out', 'f', SHAPE)]),
             else_branch=no.graph('no', [], [('no_out', 'f', SHAPE)]))
    body.add('Tanh', ['chosen'], 'next')
    body.add('Identity', ['go'], 'go_on')
    graph = body.graph('body', [('round', 'i', []), ('go', 'b', []), ('state', 'f', SHAPE)],
                       [('go_on', 'b', []), ('next', 'f', SHAPE)])
    outer.add('Loop', [outer.constant('rounds', 4, 'int64'), '', 'k'], 'l', body=graph)
    outer.conv('l', 'y')
    return outer.graph('nested', [('x', 'f', SHAPE)], [('y', 'f', SHAPE)])


def known_network(rng):
    """If with a condition that folds to true, in whose branch lies one that is never taken; the other branch has the same
    names, another If with an open condition has them, too"""
    outer, yes, no, deep = Maker(rng), Maker(rng, 'yes.'), Maker(rng, 'no.'), Maker(rng, 'deep.')
    outer.conv('x', 'h')
    outer.add('Relu', ['h'], 'r')
    outer.add('Greater', [outer.constant('one', 1, 'float32'), outer.constant('zero', 0, 'float32')], 'flag')
    outer.add('ReduceMean', ['x'], 'mean', keepdims=0)
    outer.add('Greater', ['mean', 'zero'], 'open')
    yes.conv('r', 'c')
    deep.add('Neg', ['c'], 'd')
    never = Maker(rng, 'never.')
    never.conv('c', 'n')
    yes.add('Not', ['flag'], 'not')
    yes.add('If', ['not'], 'e', then_branch=never.graph('never', [], [('n', 'f', SHAPE)]),
            else_branch=deep.graph('deep', [], [('d', 'f', SHAPE)]))
    no.add('Identity', ['r'], 'o')
    outer.add('If', ['flag'], 'chosen', then_branch=yes.graph('yes', [], [('e', 'f', SHAPE)]),
              else_branch=no.graph('no', [], [('o', 'f', SHAPE)]))
    some, other = Maker(rng, 'some.'), Maker(rng, 'other.')
    some.add('Tanh', ['chosen'], 'c')
    some.add('Tanh', ['c'], 'd')
    other.add('Identity', ['chosen'], 'd')
    outer.add('If', ['open'], 'last', then_branch=some.graph('some', [], [('d', 'f', SHAPE)]),
              else_branch=other.graph('other', [], [('d', 'f', SHAPE)]))
    outer.conv('last', 'y')
    return outer.graph('known', [('x', 'f', SHAPE)], [('y', 'f', SHAPE)])


# Nodes with graphs that are left in the result, and quantized convolutions outside of them.
LEFT = {'loop': (1, 2), 'branch': (1, 2), 'scan': (1, 2), 'nested': (1, 3), 'known': (1, 3)}
NETWORKS = {'known': known_network, 'loop': loop_network, 'branch': branch_network, 'scan': scan_network,
            'nested': nested_network}


def save(name, path):
    import numpy as np
    import onnx
    from onnx import helper
    model = helper.make_model(NETWORKS[name](np.random.default_rng(7)), ir_version=8,
                              opset_imports=[helper.make_opsetid('', 13)])
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def call(cli, *arguments):
    return subprocess.run([cli, *arguments], capture_output=True, text=True)


def call_json(cli, *arguments):
    done = call(cli, *arguments, '--json')
    if done.returncode != 0:
        raise RuntimeError(' '.join(arguments[:2]) + ': ' + (done.stderr.strip() or done.stdout.strip() or str(done.returncode)))
    return json.loads(done.stdout)


def samples(folder, n):
    import numpy as np
    rng = np.random.default_rng(11)
    os.mkdir(folder)
    for i in range(n):
        np.save(os.path.join(folder, 'sample%02d.npy' % i), rng.normal(.3 if i % 2 else -.3, 1, SHAPE).astype('float32'))
    return sorted(os.path.join(folder, f) for f in os.listdir(folder))


def run_reference(path, files):
    import numpy as np
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = oracle.open_session(path, options)
    return [dict(zip([o.name for o in session.get_outputs()], session.run(None, {'x': np.load(f)}))) for f in files]


def check_run(cli, path, files, work, limit):
    """Our results are those of onnxruntime."""
    import numpy as np
    for file, wanted in zip(files, run_reference(path, files)):
        out = tempfile.mkdtemp(dir=work)
        done = call(cli, 'run', path, '--input', 'x=' + file, '--output-dir', out)
        if done.returncode != 0:
            check(False, path, 'run:', done.stderr.strip())
            return
        for name, w in wanted.items():
            found = np.load(os.path.join(out, name + '.npy'))
            error = np.abs(found - w).max() if found.shape == w.shape else 'shape'
            check(found.shape == w.shape and error <= limit * max(1, np.abs(w).max()), path, name, 'differs by', error)


def graphs_of(model):
    found, waiting = [], [model.graph]
    while waiting:
        for node in waiting.pop().node:
            inner = [a.g for a in node.attribute if a.HasField('g')]
            found += inner
            waiting += inner
    return found


def check_quantized(name, path, quantized, files):
    import numpy as np
    import onnx
    model = onnx.load(quantized)
    onnx.checker.check_model(model, full_check=True)
    producer = {o: n for n in model.graph.node for o in n.output}
    convs = [n for n in model.graph.node if n.op_type == 'Conv']
    stem = name.split()[0]
    left = sum(any(a.HasField('g') for a in n.attribute) for n in model.graph.node)
    check((left, len(convs)) == LEFT[stem], name, 'has', left, 'nodes with graphs and', len(convs), 'convolutions')
    check(all(producer[c.input[0]].op_type == 'DequantizeLinear' for c in convs), name, 'convs are not quantized')
    inner = [n.op_type for g in graphs_of(model) for n in g.node]
    before = [n.op_type for g in graphs_of(onnx.load(path)) for n in g.node]
    check(stem == 'known' or inner == before, name, 'inner graphs changed', inner)
    for wanted, found in zip(run_reference(path, files), run_reference(quantized, files)):
        for key, w in wanted.items():
            noise, signal = np.mean((found[key] - w) ** 2), np.mean(w ** 2)
            check(noise <= .01 * signal, name, key, 'has noise', noise, 'signal', signal)


def check_network(cli, name, work):
    path, folder = os.path.join(work, name + '.onnx'), os.path.join(work, name)
    save(name, path)
    files = samples(folder, 8)
    check(not call_json(cli, 'inspect', path)['unsupported'], name, 'inspect lists unsupported nodes')
    check_run(cli, path, files[:2], work, 1e-5)
    for preset in PRESETS:
        quantized = os.path.join(work, '%s-%s.onnx' % (name, preset))
        report = call_json(cli, 'quantize', path, '-o', quantized, '--data', folder, '--preset', preset)['report']
        check(not [n for n in report['notes'] if n['code'] in ('no-kernel', 'output-not-computed')], name, report['notes'])
        check('y' in {t['tensor'] for t in report['tensors']}, name, preset, 'measured', [t['tensor'] for t in report['tensors']])
        check_quantized(name + ' ' + preset, path, quantized, files)
        check_run(cli, quantized, files[:2], work, 3e-2)


def check_all_inside(cli, work):
    """A network whose layers lie in the branches of an If, all of them: not a float file that is called quantized."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(8)
    branches = [helper.make_graph([helper.make_node('Conv', ['x', n + '_w'], [n + '_y'], n + '_conv')], n, [],
                                  [helper.make_tensor_value_info(n + '_y', TensorProto.FLOAT, [1, 2, 4, 4])],
                                  [numpy_helper.from_array(rng.normal(size=(2, 3, 1, 1)).astype(np.float32), n + '_w')])
                for n in ('then', 'else')]
    nodes = [helper.make_node('Equal', ['rate', 'sixteen'], ['fast'], 'ask'),
             helper.make_node('If', ['fast'], ['y'], 'choose', then_branch=branches[0], else_branch=branches[1])]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 3, 4, 4]),
                                           helper.make_tensor_value_info('rate', TensorProto.INT64, [])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 2, 4, 4])],
                              [numpy_helper.from_array(np.array(16, np.int64), 'sixteen')])
    path, out = os.path.join(work, 'inside.onnx'), os.path.join(work, 'inside-out.onnx')
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)
    for preset in ('cpu', 'w8', 'dynamic'):
        done = subprocess.run([cli, 'quantize', path, '-o', out, '--data', 'random', '--samples', '4', '--preset', preset],
                              capture_output=True, text=True)
        check(done.returncode == 1 and '“choose” (If)' in done.stderr and '2 layers' in done.stderr, 'inside', preset,
              'exit', done.returncode, done.stderr)
        check(not os.path.exists(out), 'inside', preset, 'wrote a file')


def main():
    oracle.use_oracle_python()
    with tempfile.TemporaryDirectory() as work:
        for name in NETWORKS:
            try:
                check_network(sys.argv[1], name, work)
            except RuntimeError as error:
                check(False, name, error)
        check_all_inside(sys.argv[1], work)
    for text in failures:
        print('FAILED:', text)
    print('%d networks, %d failures' % (len(NETWORKS), len(failures)))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
