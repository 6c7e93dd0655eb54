#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""bodies.py CLI: errors inside If, Loop and Scan, against tensors that onnxruntime hands out of there.

Each float tensor of each body becomes an output of the float network and of the export (of a Loop or Scan: stacked over its
rounds), and the error of what both computed is what the report says, within 0.1 dB. Where the two take different branches, the
report says how often, and leaves that out.
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle
import subgraphs

AGREE_DB = 0.1
ROUNDS = 12
FORMATS = [['--subgraphs'], ['--subgraphs', '--per-channel', '--activation=int8'], ['--subgraphs', '--weight=int4'],
           ['--subgraphs', '--activation=uint16'], []]


def make_turning(path):
    """A Loop whose state decides in each round which way an If goes: noise of quantization makes it go the other way at times."""
    import numpy as np
    body, yes, no, main = (subgraphs.Maker(i) for i in (11, 12, 13, 14))
    tensor = subgraphs.tensor
    yes.weight('v', 8, 8, scale=0.6), no.weight('w', 8, 8, scale=0.6)
    yes.node('MatMul', 's v', 'yes_m'), yes.node('Tanh', 'yes_m', 'yes_o')
    no.node('MatMul', 's w', 'no_m'), no.node('Sigmoid', 'no_m', 'no_g'), no.node('Sub', 'no_g half', 'no_o')
    body.weight('u', 8, 8, scale=0.6), body.constant('zero', np.float32(0)), no.constant('half', np.float32(0.5))
    body.node('Identity', 'go', 'on')
    body.node('MatMul', 'h u', 'm'), body.node('Add', 'm a', 's')
    body.node('ReduceMean', 's', 'mean', keepdims=0), body.node('Greater', 'mean zero', 'deep')
    body.node('If', 'deep', 'h_next', then_branch=yes.graph('yes', [], [tensor('yes_o', [2, 8])]),
              else_branch=no.graph('no', [], [tensor('no_o', [2, 8])]))
    main.weight('w0', 6, 8, scale=0.5), main.weight('w9', 8, 3)
    main.constant('n', np.int64(ROUNDS)), main.constant('true', np.bool_(True))
    main.node('MatMul', 'x w0', 'a')
    main.node('Loop', 'n true a', 'h_last', body=body.graph(
        'body', [tensor('i', [], 'INT64'), tensor('go', [], 'BOOL'), tensor('h', [2, 8])],
        [tensor('on', [], 'BOOL'), tensor('h_next', [2, 8])]))
    main.node('MatMul', 'h_last w9', 'y')
    subgraphs.save(main.graph('main', [tensor('x', [2, 6])], [tensor('y', [2, 3])]), path)


def list_bodies(graph, way=()):
    """The way to each body: names of nodes and attributes."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField('g'):
                yield way + ((node.name, attribute.name),)
                yield from list_bodies(attribute.g, way + ((node.name, attribute.name),))


def follow(graph, way):
    for name, attr in way:
        node = next(n for n in graph.node if n.name == name)
        graph = next(a.g for a in node.attribute if a.name == attr)
    return graph


def stand_for(graph, tensor):
    """What comes out of the conversions of a tensor, if it has some."""
    for node in graph.node:
        if node.op_type == 'QuantizeLinear' and node.input[0] == tensor:
            return next((n.output[0] for n in graph.node
                         if n.op_type == 'DequantizeLinear' and n.input[0] == node.output[0]), None)
    return tensor


def bring_out(model, way, tensor, shape):
    """Makes the tensor of a body an output "tapped" of the network; NaN where a branch was not taken."""
    import numpy as np
    from onnx import helper, numpy_helper
    tapped = subgraphs.tensor('tapped', None)
    graphs = [follow(model.graph, way[:i]) for i in range(len(way) + 1)]
    graphs[-1].node.append(helper.make_node('Identity', [tensor], [f'tapped{len(way)}']))
    for depth in range(len(way), -1, -1):
        output = subgraphs.tensor(f'tapped{depth}', None)
        graphs[depth].output.append(output)
        if depth == 0:
            break
        node = next(n for n in graphs[depth - 1].node if n.name == way[depth - 1][0])
        node.output.append(f'tapped{depth - 1}')
        if node.op_type != 'If':
            shape = [ROUNDS_OF[node.op_type](node)] + list(shape)
            continue
        other = next(a.g for a in node.attribute if a.HasField('g') and a.name != way[depth - 1][1])
        fill = numpy_helper.from_array(np.full(shape, np.nan, np.float32), 'fill')
        other.node.append(helper.make_node('Constant', [], ['tapped_not'], value=fill))
        other.output.append(subgraphs.tensor('tapped_not', None))
    return model


ROUNDS_OF = {'Loop': lambda node: ROUNDS, 'Scan': lambda node: 7}


def measure(float_path, quant_path, way, tensor, samples, folder):
    """SQNR in dB over what both computed, and how many runs were made by one alone."""
    import numpy as np
    import onnx
    import onnxruntime
    values, shape = [], None
    inferred = onnx.shape_inference.infer_shapes(onnx.load(float_path))
    inner = follow(inferred.graph, way)
    for info in list(inner.value_info) + list(inner.input) + list(inner.output):
        if info.name == tensor and info.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
    if shape is None:
        return None
    for path in (float_path, quant_path):
        model = onnx.load(path)
        graph = follow(model.graph, way)
        name = stand_for(graph, tensor)
        known = {o for n in graph.node for o in n.output} | {i.name for i in graph.input}
        if name not in known:
            return None
        tapped = os.path.join(folder, 'tapped.onnx')
        onnx.save(bring_out(model, way, name, shape), tapped)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = oracle.open_session(tapped, options)
        values.append([np.asarray(session.run(['tapped0'], s)[0], np.float64) for s in samples])
    noise = signal = 0
    apart = 0
    size = max(1, int(np.prod(shape)))
    for f, q in zip(*values):
        both = ~np.isnan(f) & ~np.isnan(q)
        apart += int((np.isnan(f) != np.isnan(q)).sum()) // size
        noise += ((f - q)[both] ** 2).sum()
        signal += (f[both] ** 2).sum()
    return (np.inf if noise == 0 else 10 * np.log10(signal / noise)), apart


def check(cli, folder, name, make, sample):
    import numpy as np
    import onnx
    path = lambda name: os.path.join(folder, name)
    make(path('float.onnx'))
    samples = subgraphs.make_samples(path('samples'), sample)
    n, worst, apart = 0, 0, 0
    for options in FORMATS:
        subgraphs.run(cli, 'quantize', path('float.onnx'), '-d', path('samples'), '-o', path('quant.onnx'), '--held-out=0',
                      '--report', path('report.json'), *options)
        with open(path('report.json'), encoding='utf-8') as f:
            told = json.load(f)['bodies']
        rows = {(row['body'], row['tensor']): float(row['sqnr_db']) for row in told['tensors']}
        runs = {row['body']: row for row in told['runs']}
        for way in list_bodies(onnx.load(path('float.onnx')).graph):
            body = ''.join(f'{node}:{attr}/' for node, attr in way)
            for tensor in [t for b, t in rows if b == body]:
                found = measure(path('float.onnx'), path('quant.onnx'), way, tensor, samples, folder)
                assert found is not None, f'{name} {options}: {body}{tensor} is not in both networks'
                off = 0 if found[0] == rows[body, tensor] else abs(found[0] - rows[body, tensor])
                assert off <= AGREE_DB, f'{name} {options}: {body}{tensor}: {rows[body, tensor]:.2f} dB, not {found[0]:.2f}'
                alone = runs[body]['float_runs'] + runs[body]['quantized_runs'] - 2 * runs[body]['both_runs']
                assert alone == found[1], f'{name} {options}: {body}: {alone} runs by one alone, not {found[1]}'
                assert runs[body]['compared_runs'] == runs[body]['both_runs']
                n, worst, apart = n + 1, max(worst, off), apart + alone
    assert n > 0
    print(f'{name}: {n} tensors, off by {worst:.3f} dB at most; {apart} runs by one network alone')
    return apart


def main():
    import functools
    cli = os.path.abspath(sys.argv[1])
    oracle.use_oracle_python()
    import numpy as np
    flagged = lambda random, i: {'x': subgraphs.image(random, i), 'flag': np.bool_(i % 2)}
    rows = lambda random, i: {'x': random.standard_normal((2, 6)).astype(np.float32)}
    networks = {'if': (subgraphs.make_if, flagged), 'nested': (functools.partial(subgraphs.make_if, nested=True), flagged),
                'loop': (subgraphs.make_loop, rows), 'turning': (make_turning, rows),
                'scan': (subgraphs.make_scan, lambda random, i: {'x': random.standard_normal((7, 1, 6)).astype(np.float32)})}
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, sample) in networks.items():
            own = os.path.join(folder, name)
            os.makedirs(own)
            apart = check(cli, own, name, make, sample)
            assert name != 'turning' or apart > 0, 'no branch was taken by one network alone: nothing is shown by this'


if __name__ == '__main__':
    main()
