#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""old_opsets.py ENGINE_RUN [OPERATOR...]

Operators in the forms of opsets 1 to 6, which onnxruntime does not run, against the same computation in a form it does:
as they are, and rewritten to opset 13.
"""
import sys
import tempfile

import oracle
from operators import Case, Draw, run_engine, run_reference

CASES = 8
RTOL, ATOL = 2e-4, 2e-5
REFUSED = ['is not constant']   # what only a constant can be rewritten to


def broadcasting(op, d):
    """Until 6 the second operand was laid over some dims of the first, from an axis on."""
    x = d.positive(*d.ints(d.int(2, 4), 1, 4))
    axis = d.int(0, x.ndim - 1)
    n = d.int(1, x.ndim - axis)
    b = d.positive(*x.shape[axis:axis + n])
    if op in ('And', 'Or', 'Xor'):
        x, b = x > 1, b > 1
    attributes = {'broadcast': 1}
    if axis + n < x.ndim or d.int(0, 1):
        attributes['axis'] = axis - d.choice([0, x.ndim])
    spread = b.reshape(b.shape + (1,) * (x.ndim - axis - n))
    return Case(op, [x, b], opset=d.choice([1, 6]), **attributes), Case(op, [x, spread], opset=13)


def same(op, inputs, outputs=1, opset=(1, 6), newer=7, old=None, **attributes):
    """A form that did not change, but for attributes that say nothing."""
    return lambda d: (Case(op, inputs(d), outputs, opset=d.choice(opset), **dict(attributes, **(old or {}))),
                      Case(op, [], outputs, opset=newer, **attributes))


def picture(d):
    return [d.array(2, 3, 5, 6)]


def batch_norm(d):
    inputs = [d.array(2, 3, 4, 5), d.array(3), d.array(3), d.array(3), d.positive(3)]
    old = d.choice([dict(opset=1, is_test=1, spatial=1, consumed_inputs=[0, 0, 0, 1, 1]), dict(opset=6, is_test=1)])
    return Case('BatchNormalization', inputs, epsilon=1e-3, **old), Case('BatchNormalization', inputs, opset=13, epsilon=1e-3)


def gemm(d):
    m, k, n = d.ints(3, 1, 5)
    inputs = [d.array(m, k), d.array(k, n), d.array(*d.choice([[n], [1, n], [m, n], [1]]))]
    return (Case('Gemm', inputs, opset=d.choice([1, 6]), broadcast=1, alpha=0.5, beta=2.),
            Case('Gemm', inputs, opset=13, alpha=0.5, beta=2.))


def prelu(d):
    x, slope = d.array(2, 3, 4, 5), d.array(3)
    return Case('PRelu', [x, slope], opset=d.choice([1, 6])), Case('PRelu', [x, slope.reshape(3, 1, 1)], opset=13)


def pad(d):
    mode = d.choice(['constant', 'reflect', 'edge'])
    x, pads = d.array(2, 3, 4), d.ints(6, 0, 1 if mode == 'reflect' else 2)
    opset = d.choice([1, 2])
    old = Case('Pad', [x], opset=opset, mode=mode, value=1.5, **{'paddings' if opset == 1 else 'pads': pads})
    return old, Case('Pad', [x, d.np.array(pads, 'int64'), d.np.array(1.5, 'float32')], opset=13, mode=mode)


def reshape(d):
    x = d.array(2, 3, 4)
    shape = d.choice([[6, 4], [0, -1], [-1], [4, 0, 2], [1, 2, 12]])
    return (Case('Reshape', [x], opset=1, shape=shape, consumed_inputs=[0]),
            Case('Reshape', [x, d.np.array(shape, 'int64')], opset=13))


def concat(d):
    x = [d.array(2, d.int(1, 3), 3) for _ in range(d.int(1, 3))]
    return Case('Concat', x, opset=1), Case('Concat', x, opset=13, axis=1)


def dropout(d):
    x = d.array(3, 4)
    return Case('Dropout', [x], opset=d.choice([1, 6]), is_test=d.int(0, 1), ratio=0.3), Case('Identity', [x], opset=13)


def split(d):
    x, sizes = d.array(2, 6, 3), d.choice([[2, 4], [1, 2, 3], [6]])
    new = Case('Split', [x, d.np.array(sizes, 'int64')], len(sizes), opset=13, axis=1)
    if d.int(0, 1):
        return Case('Split', [x], len(sizes), opset=1, axis=1, split=sizes), new
    return Case('Split', [x, d.np.array(sizes, 'float32')], len(sizes), opset=1, weights=[1], axis=1), new


def cast(d):
    name, number = d.choice([('INT32', 6), ('float', 1), ('DOUBLE', 11), ('UINT8', 2), ('BOOL', 9), ('INT64', 7)])
    x = d.positive(3, 4) * 10
    return Case('Cast', [x], opset=d.choice([1, 5]), to=name), Case('Cast', [x], opset=13, to=number)


def tile(d):
    x, axis, times = d.array(2, 3, 2), d.int(0, 2), d.int(1, 3)
    repeats = [times if a == axis else 1 for a in range(3)]
    scalars = [d.np.array(v, 'float32') for v in (times, axis)]
    return (Case('Tile', [x] + scalars, opset=d.choice([1, 5]), weights=[1, 2] if d.int(0, 1) else []),
            Case('Tile', [x, d.np.array(repeats, 'int64')], opset=13))


def upsample(d):
    x, h, w = d.array(1, 2, 3, 4), d.choice([1., 2., 3.]), d.choice([1., 2.])
    mode = d.choice(['nearest', 'bilinear'])
    new = Case('Upsample', [x], opset=7, mode='linear' if mode == 'bilinear' else mode, scales=[1., 1., h, w])
    return Case('Upsample', [x], opset=d.choice([1, 6]), mode=mode, height_scale=h, width_scale=w), new


def lp_pool(d):
    x, p = d.array(2, 2, 6, 5), d.choice([1, 2, 3])
    if d.int(0, 1):
        return Case('GlobalLpPool', [x], opset=1, p=float(p)), Case('GlobalLpPool', [x], opset=13, p=p)
    shape = dict(kernel_shape=[2, 3], strides=[2, 1], pads=[0, 1, 1, 1])
    return Case('LpPool', [x], opset=1, p=float(p), **shape), Case('LpPool', [x], opset=11, p=p, **shape)


def recurrent(op, gates, d):
    steps, batch, size, hidden = d.int(1, 4), d.int(1, 2), d.int(1, 3), d.int(1, 3)
    inputs = [d.array(steps, batch, size), d.array(1, gates * hidden, size), d.array(1, gates * hidden, hidden),
              d.array(1, 2 * gates * hidden)]
    outputs = 3 if op == 'LSTM' else 2
    opset = d.choice([1, 3, 6])
    attributes = dict(hidden_size=hidden)
    if op == 'GRU' and opset >= 3:
        attributes['linear_before_reset'] = d.int(0, 1)
    return (Case(op, inputs, outputs, opset=opset, output_sequence=1, **attributes),
            Case(op, inputs, outputs, opset=7, **attributes))


def several(op, d):
    x = [d.array(2, 3) for _ in range(d.int(1, 3))]
    return Case(op, x, opset=d.choice([1, 5]), consumed_inputs=[0] * len(x)), Case(op, x, opset=13)


GENERATORS = {op: (lambda d, op=op: broadcasting(op, d))
              for op in ('Add', 'Sub', 'Mul', 'Div', 'Pow', 'And', 'Or', 'Xor', 'Equal', 'Greater', 'Less')
              if op != 'Equal'}
GENERATORS.update({op: (lambda d, op=op: several(op, d)) for op in ('Sum', 'Mean', 'Max', 'Min')})
GENERATORS.update({
    'BatchNormalization': batch_norm, 'Gemm': gemm, 'PRelu': prelu, 'Pad': pad, 'Reshape': reshape, 'Concat': concat,
    'Dropout': dropout, 'Split': split, 'Cast': cast, 'Tile': tile, 'Upsample': upsample, 'LpPool': lp_pool,
    'LSTM': lambda d: recurrent('LSTM', 4, d), 'GRU': lambda d: recurrent('GRU', 3, d), 'RNN': lambda d: recurrent('RNN', 1, d),
    'Clip': lambda d: (lambda x: (Case('Clip', [x], opset=d.choice([1, 6]), min=-0.5, max=0.7),
                                  Case('Clip', [x, d.np.array(-0.5, 'float32'), d.np.array(0.7, 'float32')],
                                       opset=13)))(d.array(3, 4)),
    'Selu': same('Selu', picture, opset=(1,), newer=6, old={'consumed_inputs': [0]}),
    'Relu': same('Relu', picture, opset=(1,), newer=6, old={'consumed_inputs': [0]}),
    'Elu': same('Elu', picture, opset=(1,), newer=6), 'LeakyRelu': same('LeakyRelu', picture, opset=(1, 6)),
    'HardSigmoid': same('HardSigmoid', picture, opset=(1,)), 'Softmax': same('Softmax', picture),
    'LogSoftmax': same('LogSoftmax', picture, axis=2),
    'Hardmax': same('Hardmax', picture), 'Flatten': same('Flatten', picture, axis=2),
    'Transpose': same('Transpose', picture, perm=[0, 2, 3, 1]),
    'Slice': same('Slice', picture, starts=[0, 1], ends=[2, -1], axes=[1, 3]), 'TopK': same('TopK', picture, 2, k=2, axis=2),
    'ArgMax': same('ArgMax', picture, axis=1), 'Squeeze': same('Squeeze', lambda d: [d.array(1, 3, 1)], axes=[0]),
    'Unsqueeze': same('Unsqueeze', picture, axes=[0, 2]), 'LRN': same('LRN', picture, size=3),
    'MaxPool': same('MaxPool', picture, kernel_shape=[2, 2]),
    'AveragePool': same('AveragePool', picture, kernel_shape=[2, 2], pads=[1, 1, 0, 0]),
    'Conv': same('Conv', lambda d: [d.array(1, 2, 5, 5), d.array(3, 2, 3, 3)], pads=[1, 1, 1, 1]),
    'ConvTranspose': same('ConvTranspose', lambda d: [d.array(1, 2, 3, 3), d.array(2, 3, 3, 3)], strides=[2, 2]),
    'InstanceNormalization': same('InstanceNormalization', lambda d: [d.array(2, 3, 4), d.array(3), d.array(3)]),
    'DepthToSpace': same('DepthToSpace', lambda d: [d.array(1, 8, 2, 3)], blocksize=2),
    'SpaceToDepth': same('SpaceToDepth', lambda d: [d.array(1, 2, 4, 6)], blocksize=2),
    'ReduceMean': same('ReduceMean', picture, axes=[1, 3], keepdims=0), 'ReduceSum': same('ReduceSum', picture, axes=[1]),
    'Gather': same('Gather', lambda d: [d.array(4, 3), d.np.array([2, 0, 3], 'int64')]),
    'MatMul': same('MatMul', lambda d: [d.array(3, 4), d.array(4, 2)]),
    'LpNormalization': same('LpNormalization', picture, axis=1), 'GlobalAveragePool': same('GlobalAveragePool', picture),
})


def check(program, old, new):
    import numpy as np
    if not new.inputs:
        new.inputs = old.inputs
    wanted = run_reference(new)
    if wanted is None:
        return 'onnxruntime does not run %s' % new
    for options in ((), ('--prepare',)):
        with tempfile.TemporaryDirectory() as work:
            found, why = run_engine(program, old, work, options)
        if found is None:
            if any(reason in why for reason in REFUSED) and options:
                continue
            return '%s %s' % (options, why)
        for i, (a, b) in enumerate(zip(found, wanted)):
            if a.shape != b.shape or a.dtype != b.dtype or not np.allclose(a, b, rtol=RTOL, atol=ATOL):
                return '%s output %d is %s %s, not %s %s' % (options, i, a.shape, a.ravel()[:4], b.shape, b.ravel()[:4])
    return 'same'


def main():
    oracle.use_oracle_python()
    failed = compared = 0
    for name in sorted(n for n in GENERATORS if n in sys.argv[2:] or len(sys.argv) == 2):
        draw = Draw(sum(map(ord, name)))
        for _ in range(CASES):
            old, new = GENERATORS[name](draw)
            result = check(sys.argv[1], old, new)
            compared += 1
            if result != 'same':
                failed += 1
                print('FAILED %s: %s' % (old, result))
    print('%d cases compared, %d failed' % (compared, failed))
    sys.exit(1 if failed or not compared else 0)


if __name__ == '__main__':
    main()
