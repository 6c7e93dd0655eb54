#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""unsupported.py CLI: networks with operators nobody has a kernel for, through inspect, run, quantize and compare.

What lies upstream is calibrated, quantized and measured, what lies downstream stays float, every node is named, and
onnx.checker accepts the result."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

DOMAIN = 'com.example'
failures = []


def check(condition, *text):
    if not condition:
        failures.append(' '.join(str(t) for t in text))


def conv(name, x, y, weights, channels, rng):
    from onnx import helper, numpy_helper
    weights.append(numpy_helper.from_array(rng.normal(0, .3, (channels, channels, 3, 3)).astype('float32'), name + '.w'))
    weights.append(numpy_helper.from_array(rng.normal(0, .1, channels).astype('float32'), name + '.b'))
    return helper.make_node('Conv', [x, name + '.w', name + '.b'], [y], name=name, pads=[1] * 4)


def make_network(path, side_output):
    """x -> head -> relu -> fold_a -> mid -> fold_b -> tail -> y, and with @side_output relu -> side -> z."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
    rng, weights, shape = np.random.default_rng(3), [], [1, 4, 8, 8]
    nodes = [
        conv('head', 'x', 'h', weights, 4, rng),
        helper.make_node('Relu', ['h'], ['r'], name='relu'),
        helper.make_node('Fold', ['r'], ['fa'], name='fold_a', domain=DOMAIN),
        conv('mid', 'fa', 'm', weights, 4, rng),
        helper.make_node('Unfold', ['m'], ['fb'], name='fold_b', domain=DOMAIN, amount=2),
        conv('tail', 'fb', 'y', weights, 4, rng),
    ]
    outputs = [helper.make_tensor_value_info('y', TensorProto.FLOAT, shape)]
    if side_output:
        nodes.append(conv('side', 'r', 'z', weights, 4, rng))
        outputs.append(helper.make_tensor_value_info('z', TensorProto.FLOAT, shape))
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)], outputs, weights)
    for name in ('fa', 'm', 'fb'):
        graph.value_info.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid('', 13),
                                                                    helper.make_opsetid(DOMAIN, 3)]), path)


def call(cli, *arguments):
    return subprocess.run([cli, *arguments], capture_output=True, text=True)


def call_json(cli, *arguments):
    done = call(cli, *arguments, '--json')
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or done.stdout.strip())
    return json.loads(done.stdout)


def subjects(notes, code):
    return sorted(n['subject'] for n in notes if n['code'] == code)


def check_inspect(cli, path):
    found = call_json(cli, 'inspect', path)['unsupported']
    check([(u['node'], u['type'], u['domain'], u['opset'], u['outputs']) for u in found] ==
          [('fold_a', 'Fold', DOMAIN, 3, ['fa']), ('fold_b', 'Unfold', DOMAIN, 3, ['fb'])], 'inspect lists', found)
    text = call(cli, 'inspect', path).stdout
    for name in ('fold_a: com.example.Fold, opset 3', 'fold_b: com.example.Unfold, opset 3'):
        check(name in text, 'inspect does not say', name)


def check_run(cli, path, side_output):
    if not side_output:
        done = call(cli, 'run', path)
        check(done.returncode == 1 and 'Fold' in done.stderr and 'Unfold' in done.stderr, 'run says', done.stderr)
        return
    found = call_json(cli, 'run', path)
    check([o['name'] for o in found['outputs']] == ['z'], 'run computes', found['outputs'])
    check(subjects(found['notes'], 'output-not-computed') == ['y'], 'run notes', found['notes'])
    check(subjects(found['notes'], 'no-kernel') == ['fold_a', 'fold_b'], 'run notes', found['notes'])


def check_model(path, side_output):
    import onnx
    model = onnx.load(path)
    onnx.checker.check_model(model)
    check({o.domain: o.version for o in model.opset_import}.get(DOMAIN) == 3, 'the import of the domain is gone')
    producer = {o: n for n in model.graph.node for o in n.output}
    weights = {w.name: w.data_type for w in model.graph.initializer}
    by_name = {n.name: n for n in model.graph.node}

    def source(name):
        node = producer.get(name)
        return node.op_type if node is not None else 'float' if weights.get(name) == onnx.TensorProto.FLOAT else '?'

    for name in ('head', 'side') if side_output else ('head',):
        kinds = [source(i) for i in by_name[name].input]
        check(kinds == ['DequantizeLinear'] * 3, name, 'reads', kinds)
    for name in ('mid', 'tail'):
        kinds = [source(i) for i in by_name[name].input]
        check('DequantizeLinear' not in kinds and kinds[1:] == ['float', 'float'], name, 'reads', kinds)
    check(source(by_name['fold_a'].input[0]) == 'DequantizeLinear', 'fold_a reads a float tensor')
    check(len([n for n in model.graph.node if n.domain == DOMAIN]) == 2, 'nodes are missing')


def check_quantize(cli, path, quantized, side_output):
    done = call_json(cli, 'quantize', path, '-o', quantized, '--data', 'random', '--samples', '8')
    report = done['report']
    notes, tensors = report['notes'], {t['tensor']: t for t in report['tensors']}
    check(subjects(notes, 'no-kernel') == ['fold_a', 'fold_b'], 'quantize notes', notes)
    check(subjects(notes, 'output-not-computed') == ['y'], 'quantize notes', notes)
    check(not {'fa', 'm', 'fb', 'y'} & set(tensors), 'measured what cannot be computed', list(tensors))
    check('r' in tensors and ('z' in tensors) == side_output, 'measured', list(tensors))
    check(bool(tensors['r'].get('last_computed')) != side_output, 'last computed', tensors['r'])
    check(report['summary']['worst_output'] == ('z' if side_output else 'r'), 'summary', report['summary'])
    check_model(quantized, side_output)
    text = call(cli, 'quantize', path, '-o', quantized, '--data', 'random', '--samples', '8')
    said = text.stdout + text.stderr
    check('fold_a' in said and 'fold_b' in said, 'quantize says', said)
    check(side_output or 'last before unsupported nodes' in said, 'quantize says', said)


def main():
    oracle.use_oracle_python()
    cli = sys.argv[1]
    with tempfile.TemporaryDirectory() as work:
        for side_output in (True, False):
            path, quantized = os.path.join(work, 'net.onnx'), os.path.join(work, 'quantized.onnx')
            make_network(path, side_output)
            check_inspect(cli, path)
            check_run(cli, path, side_output)
            check_quantize(cli, path, quantized, side_output)
            found = call_json(cli, 'compare', path, quantized, '--data', 'random', '--samples', '2')['report']
            check({t['tensor'] for t in found['tensors']} >= {'h', 'r'} - {'h'}, 'compare', found['tensors'])
            check(subjects(found['notes'], 'no-kernel') == ['fold_a', 'fold_b'], 'compare notes', found['notes'])
    for text in failures:
        print('FAILED:', text)
    print('%d failures' % len(failures))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
