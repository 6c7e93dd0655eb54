#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""functions.py CLI: networks whose nodes call functions of the model, through inspect, run and quantize: attributes
given and by default, calls in calls and in the graphs of nodes, omitted inputs, results that are inputs, opsets that
differ. The results are those of onnxruntime; what cannot be meant is refused by name."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

SHAPE = [1, 4, 8, 8]
DOMAIN = 'com.example'
failures = []


def check(condition, *text):
    if not condition:
        failures.append(' '.join(str(t) for t in text))


def reference(name, parameter, kind):
    from onnx import AttributeProto
    return AttributeProto(name=name, ref_attr_name=parameter, type=kind)


def node(op, inputs, outputs, domain='', refs=(), **attributes):
    from onnx import helper
    made = helper.make_node(op, inputs, outputs, name=attributes.pop('name', ''), domain=domain, **attributes)
    made.attribute.extend(refs)
    return made


def function(name, inputs, outputs, nodes, attributes=(), defaults=(), opset=13):
    from onnx import helper
    return helper.make_function(DOMAIN, name, inputs, outputs, nodes,
                                [helper.make_opsetid('', opset), helper.make_opsetid(DOMAIN, 1)],
                                attributes=attributes, attribute_protos=defaults)


def leaky(opset=13):
    """x -> LeakyRelu of a slope by default -> times a constant that the call gives"""
    from onnx import AttributeProto, helper
    return function('Leaky', ['x'], ['y'], [
        node('LeakyRelu', ['x'], ['l'], refs=[reference('alpha', 'slope', AttributeProto.FLOAT)]),
        node('Constant', [], ['c'], refs=[reference('value_float', 'gain', AttributeProto.FLOAT)]),
        node('Mul', ['l', 'c'], ['y'])], ['gain'], [helper.make_attribute('slope', .3)], opset)


def block():
    """A convolution without bias, what Leaky makes of it, and the input as it is"""
    return function('Block', ['x', 'w', 'b'], ['y', 'same'], [
        node('Conv', ['x', 'w', 'b'], ['c'], pads=[1] * 4),
        node('Leaky', ['c'], ['y'], DOMAIN, gain=.5, name='inner'),
        node('Identity', ['x'], ['same'])])


def looping():
    """A Loop in a function: its graph uses a value of the function and calls another function"""
    from onnx import TensorProto, helper
    body = helper.make_graph(
        [node('Leaky', ['state'], ['a'], DOMAIN, gain=.25), node('Add', ['a', 'x'], ['next']), node('Identity', ['go'], ['on'])],
        'body', [helper.make_tensor_value_info('i', TensorProto.INT64, []),
                 helper.make_tensor_value_info('go', TensorProto.BOOL, []),
                 helper.make_tensor_value_info('state', TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info('on', TensorProto.BOOL, []),
         helper.make_tensor_value_info('next', TensorProto.FLOAT, None)])
    return function('Looping', ['x'], ['y'], [
        node('Constant', [], ['n'], value_int=3), node('Loop', ['n', '', 'x'], ['y'], body=body)])


def weight(name, *shape):
    import numpy as np
    from onnx import numpy_helper
    rng = np.random.default_rng(sum(map(ord, name)))
    return numpy_helper.from_array(rng.normal(0, .2, shape).astype('float32'), name)


def make(path, nodes, functions, weights=(), outputs=('y',), opset=13):
    import onnx
    from onnx import TensorProto, helper
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, SHAPE)],
                              [helper.make_tensor_value_info(o, TensorProto.FLOAT, SHAPE) for o in outputs], list(weights))
    onnx.save(helper.make_model(graph, ir_version=8, functions=functions,
                                opset_imports=[helper.make_opsetid('', opset), helper.make_opsetid(DOMAIN, 1)]), path)


def make_network(path):
    make(path, [node('Block', ['x', 'w1', 'b1'], ['p', 'same'], DOMAIN, name='first'),
                node('Block', ['p', 'w2'], ['q', 'unused'], DOMAIN, name='second'),
                node('Leaky', ['q'], ['r'], DOMAIN, gain=2., slope=.1),
                node('Leaky', ['r'], ['s'], DOMAIN, gain=1.),
                node('Looping', ['s'], ['t'], DOMAIN, name='loop'),
                node('Add', ['t', 'same'], ['u']),
                node('Conv', ['u', 'w3', 'b1'], ['y'], pads=[1] * 4, name='last')],
         [leaky(), block(), looping()], [weight('w1', 4, 4, 3, 3), weight('b1', 4), weight('w2', 4, 4, 3, 3),
                                         weight('w3', 4, 4, 3, 3)])


def call(cli, *arguments):
    return subprocess.run([cli, *arguments], capture_output=True, text=True)


def run_reference(path, x):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return oracle.open_session(path, options).run(None, {'x': x})


def check_network(cli, work):
    import numpy as np
    import onnx
    path, quantized = os.path.join(work, 'net.onnx'), os.path.join(work, 'quantized.onnx')
    make_network(path)
    x = np.random.default_rng(1).normal(0, 1, SHAPE).astype('float32')
    np.save(os.path.join(work, 'x.npy'), x)
    wanted, = run_reference(path, x)
    done = call(cli, 'run', path, '--input', 'x=' + os.path.join(work, 'x.npy'), '--output-dir', work)
    check(done.returncode == 0, 'run:', done.stderr)
    if done.returncode == 0:
        found = np.load(os.path.join(work, 'y.npy'))
        check(np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max(), 'differs by', np.abs(found - wanted).max())
    done = call(cli, 'inspect', path, '--json')
    check(done.returncode == 0 and not json.loads(done.stdout)['unsupported'], 'inspect:', done.stdout, done.stderr)
    done = call(cli, 'quantize', path, '-o', quantized, '--data', 'random', '--samples', '8')
    check(done.returncode == 0, 'quantize:', done.stderr)
    if done.returncode == 0:
        model = onnx.load(quantized)
        onnx.checker.check_model(model, full_check=True)
        check(len(model.functions) == 0 and sum(n.op_type == 'Conv' for n in model.graph.node) == 3, 'calls are left')
        found, = run_reference(quantized, (x * .1 + .5).astype('float32').clip(0, 1))
        exact, = run_reference(path, (x * .1 + .5).astype('float32').clip(0, 1))
        check(np.mean((found - exact) ** 2) <= .01 * np.mean(exact ** 2), 'has noise', np.mean((found - exact) ** 2))


def recursion(first, second):
    return [function(first, ['x'], ['y'], [node(second, ['x'], ['y'], DOMAIN)]),
            function(second, ['x'], ['y'], [node('Relu', ['x'], ['r']), node(first, ['r'], ['y'], DOMAIN)])]


def doubling(n):
    return [function('F%d' % i, ['x'], ['y'], [node('F%d' % (i + 1), ['x'], ['a'], DOMAIN),
                                              node('F%d' % (i + 1), ['a'], ['y'], DOMAIN)]) for i in range(n)] + \
           [function('F%d' % n, ['x'], ['y'], [node('Relu', ['x'], ['y'])])]


def check_refusals(cli, work):
    """(functions, the node that calls them, opset of the model, words of the message)"""
    from onnx import TensorProto, helper
    returning = helper.make_graph([], 'inner', [], [helper.make_tensor_value_info('b', TensorProto.FLOAT, None)])
    left_out = function('LeftOut', ['x', 'b'], ['y'], [
        node('Constant', [], ['c'], value=helper.make_tensor('c', TensorProto.BOOL, [], [True])),
        node('If', ['c'], ['y'], then_branch=returning, else_branch=returning)])
    passing = function('Passing', ['x', 'b'], ['b'], [node('Relu', ['x'], ['unused'])])
    short = function('Short', ['x'], ['y'], [node('Relu', ['x'], ['y'])])
    softmax = function('Soft', ['x'], ['y'], [node('Softmax', ['x'], ['y'])], opset=13)
    cases = [
        (recursion('Ping', 'Pong'), node('Ping', ['x'], ['y'], DOMAIN), 13,
         ['com.example.Ping', 'com.example.Ping → com.example.Pong → com.example.Ping']),
        (recursion('Own', 'Own')[:1], node('Own', ['x'], ['y'], DOMAIN), 13, ['com.example.Own → com.example.Own']),
        ([left_out], node('LeftOut', ['x'], ['y'], DOMAIN), 13, ['returns “b”']),
        ([passing], node('Passing', ['x'], ['y'], DOMAIN), 13, ['“y” is an omitted input']),
        ([short], node('Short', ['x', 'x'], ['y'], DOMAIN), 13, ['com.example.Short', '1 input']),
        (doubling(40), node('F0', ['x'], ['y'], DOMAIN), 13, ['more than 101312 nodes']),
        ([softmax], node('Soft', ['x'], ['y'], DOMAIN), 11, ['com.example.Soft', 'Softmax', '13', '11']),
    ]
    for functions, top, opset, words in cases:
        path = os.path.join(work, 'refused.onnx')
        make(path, [top], functions, opset=opset)
        done = call(cli, 'run', path)
        check(done.returncode == 1 and all(w in done.stderr for w in words), words, 'not in', done.returncode, done.stderr)


def check_opsets(cli, work):
    """A function of an older opset than the model's is converted: Softmax of opset 11 flattens first."""
    import numpy as np
    import onnx
    from onnx import helper
    old = function('Old', ['x'], ['y'], [node('Softmax', ['x'], ['y'], axis=1)], opset=11)
    path, plain = os.path.join(work, 'old.onnx'), os.path.join(work, 'plain.onnx')
    make(path, [node('Old', ['x'], ['y'], DOMAIN)], [old], opset=13)
    make(plain, [node('Softmax', ['x'], ['y'], axis=1)], [], opset=11)
    x = np.random.default_rng(2).normal(0, 1, SHAPE).astype('float32')
    np.save(os.path.join(work, 'x.npy'), x)
    wanted, = run_reference(plain, x)
    done = call(cli, 'run', path, '--input', 'x=' + os.path.join(work, 'x.npy'), '--output-dir', work)
    check(done.returncode == 0, 'run:', done.stderr)
    if done.returncode == 0:
        found = np.load(os.path.join(work, 'y.npy'))
        check(np.abs(found - wanted).max() <= 1e-6, 'old opset: differs by', np.abs(found - wanted).max())


def main():
    oracle.use_oracle_python()
    with tempfile.TemporaryDirectory() as work:
        check_network(sys.argv[1], work)
        check_refusals(sys.argv[1], work)
        check_opsets(sys.argv[1], work)
    for text in failures:
        print('FAILED:', text)
    print('%d failures' % len(failures))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
