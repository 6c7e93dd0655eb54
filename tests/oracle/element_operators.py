#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""element_operators.py ENGINE_RUN [OPERATOR...]

As operators.py, for the operators that work element by element, move elements, reduce or quantize. Integers and
quantized values must be the very same.
"""
import operators
from operators import Case


def shape_of(d, low=1, high=4, size=6):
    return tuple(d.ints(d.int(low, high), 1, size))


def broadcast_pair(d):
    shape = shape_of(d)
    other = tuple(n if d.int(0, 2) else 1 for n in shape)[d.int(0, len(shape)):]
    return (shape, other) if d.int(0, 1) else (other, shape)


def numbers(d, dtype, shape, low=-20, high=20):
    if dtype.startswith('float'):
        return d.np.asarray(3 * d.array(*shape), dtype)
    low = max(low, 0) if dtype.startswith('u') else low
    return d.np.array(d.ints(int(d.np.prod(shape)), low, high), dtype).reshape(shape)


def int64(d, values):
    return d.np.array(values, d.np.int64)


def held(d, n):
    """Either all inputs but the first are in the model, or none."""
    return range(1, n) if d.int(0, 1) else ()


def binary(op, opset, dtypes, d, **attributes):
    dtype = d.choice(dtypes)
    a, b = broadcast_pair(d)
    x, y = numbers(d, dtype, a), numbers(d, dtype, b)
    if op in ('Div', 'Mod'):
        y = d.np.where(y == 0, 3, y).astype(dtype)
    if op == 'Pow':
        x, y = d.np.asarray(abs(x) + 0.5, dtype), numbers(d, dtype, b, 0, 3)
    return Case(op, [x, y], opset=opset, **attributes)


def variadic(op, d):
    dtype = d.choice(['float32', 'float32', 'int32', 'int64']) if op in ('Min', 'Max') else 'float32'
    shape = shape_of(d)
    inputs = [numbers(d, dtype, tuple(n if d.int(0, 2) else 1 for n in shape)) for _ in range(d.int(1, 4))]
    return Case(op, inputs, opset=13)


def where(d):
    a, b = broadcast_pair(d)
    return Case('Where', [numbers(d, 'int32', a).astype(bool), d.array(*b), d.array(*a)], opset=16)


def cast(d):
    types = {1: 'float32', 2: 'uint8', 3: 'int8', 6: 'int32', 7: 'int64', 9: 'bool', 10: 'float16', 11: 'float64'}
    source = d.choice(['float32', 'int32', 'int64', 'uint8', 'bool', 'float16'])
    x = numbers(d, 'int32', shape_of(d), 0, 100).astype(source)
    if source.startswith('float'):
        x = x + d.np.array(d.choice([0.25, 0.5, 0.75]), source)
    return Case('Cast', [x], opset=13, to=d.choice(sorted(types)))


def transpose(d):
    shape = shape_of(d, 1, 5, 9)
    perm = {'perm': [int(i) for i in d.rng.permutation(len(shape))]} if d.int(0, 3) else {}
    return Case('Transpose', [numbers(d, d.choice(['float32', 'int64', 'uint8']), shape)], opset=13, **perm)


def concat(d):
    shape = list(shape_of(d))
    axis = d.int(0, len(shape) - 1)
    parts = [d.array(*(shape[:axis] + [d.int(1, 4)] + shape[axis + 1:])) for _ in range(d.int(1, 4))]
    return Case('Concat', parts, opset=13, axis=axis - (len(shape) if d.int(0, 1) else 0))


def split(d):
    shape = list(shape_of(d))
    axis, sizes = d.int(0, len(shape) - 1), d.ints(d.int(1, 3), 0, 4)
    shape[axis] = max(sum(sizes), 1)
    if sum(sizes) == 0:
        sizes[0] = 1
    inputs = [d.array(*shape), int64(d, sizes)]
    return Case('Split', inputs, len(sizes), opset=13, axis=axis, weights=held(d, 2))


def slice_(d):
    shape = shape_of(d, 1, 4, 9)
    axes = [int(a) for a in d.rng.permutation(len(shape))[:d.int(1, len(shape))]]
    extreme = [-2 ** 63, 2 ** 63 - 1]
    bound = lambda: d.choice(extreme) if d.int(0, 5) == 0 else d.int(-12, 12)
    starts, ends = [bound() for _ in axes], [bound() for _ in axes]
    steps = [d.choice([1, 1, 2, 3, -1, -2]) for _ in axes]
    axes = [a - (len(shape) if d.int(0, 1) else 0) for a in axes]
    inputs = [d.array(*shape)] + [int64(d, v) for v in (starts, ends, axes, steps)]
    return Case('Slice', inputs, opset=13, weights=held(d, 5))


def gather(d):
    shape = shape_of(d)
    axis = d.int(0, len(shape) - 1)
    n = shape[axis]
    indices = int64(d, d.ints(6, -n, n - 1)).reshape(d.choice([(6,), (2, 3)]))
    return Case('Gather', [d.array(*shape), indices], opset=13, axis=axis, weights=held(d, 2))


def gather_elements(d):
    shape = shape_of(d)
    axis = d.int(0, len(shape) - 1)
    where_to = list(shape)
    where_to[axis] = d.int(1, 8)
    n = shape[axis]
    indices = int64(d, d.ints(int(d.np.prod(where_to)), -n, n - 1)).reshape(where_to)
    return Case('GatherElements', [d.array(*shape), indices], opset=13, axis=axis)


def scatter_elements(d):
    shape = shape_of(d, 1, 3)
    axis = d.int(0, len(shape) - 1)
    n, where_to = shape[axis], list(shape)
    where_to[axis] = d.int(1, n)
    count = int(d.np.prod(where_to))
    rows = d.np.stack([d.rng.permutation(n)[:where_to[axis]] for _ in range(count // where_to[axis])])
    others = [n for i, n in enumerate(where_to) if i != axis]
    indices = d.np.ascontiguousarray(d.np.moveaxis(rows.reshape(others + [where_to[axis]]), -1, axis), 'int64')
    return Case('ScatterElements', [d.array(*shape), indices, d.array(*where_to)], opset=18, axis=axis,
                reduction=d.choice(['none', 'add', 'mul', 'min', 'max']))


def gather_nd(d):
    shape = shape_of(d, 2, 4)
    depth = d.int(1, len(shape))
    indices = d.np.stack([int64(d, d.ints(4, -n, n - 1)) for n in shape[:depth]], -1)
    return Case('GatherND', [d.array(*shape), indices], opset=13)


def scatter_nd(d):
    shape = shape_of(d, 1, 3, 5)
    depth = d.int(1, len(shape))
    indices = d.np.stack([int64(d, d.ints(1, -n, n - 1)) for n in shape[:depth]], -1)
    return Case('ScatterND', [d.array(*shape), indices, d.array(1, *shape[depth:])], opset=18,
                reduction=d.choice(['none', 'add', 'mul', 'min', 'max']))


def expand(d):
    a, b = broadcast_pair(d)
    return Case('Expand', [d.array(*a), int64(d, b)], opset=13, weights=held(d, 2))


def tile(d):
    shape = shape_of(d)
    return Case('Tile', [d.array(*shape), int64(d, d.ints(len(shape), 1, 3))], opset=13, weights=held(d, 2))


def pad(d):
    shape, mode = shape_of(d, 1, 4, 7), d.choice(['constant', 'reflect', 'edge', 'wrap'])
    limit = lambda n: {'constant': 3, 'edge': 3, 'wrap': n, 'reflect': n - 1}[mode]
    low = -1 if mode == 'constant' and min(shape) > 2 else 0
    pads = [d.int(low, limit(n)) for n in shape] + [d.int(low, limit(n)) for n in shape]
    inputs = [d.array(*shape), int64(d, pads)]
    if mode == 'constant' and d.int(0, 1):
        inputs.append(d.np.array(1.5, d.np.float32))
    return Case('Pad', inputs, opset=19, mode=mode, weights=held(d, len(inputs)))


def space_depth(op, d):
    b = d.int(1, 3)
    if op == 'DepthToSpace':
        return Case(op, [d.array(d.int(1, 2), d.int(1, 3) * b * b, *d.ints(2, 1, 4))], opset=13, blocksize=b,
                    mode=d.choice(['DCR', 'CRD']))
    return Case(op, [d.array(d.int(1, 2), d.int(1, 3), d.int(1, 4) * b, d.int(1, 4) * b)], opset=13, blocksize=b)


def resize(d):
    mode = d.choice(['nearest', 'linear', 'cubic'])
    shape = (d.int(1, 2), d.int(1, 3), d.int(2, 9), d.int(2, 9))
    coordinates = ['half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric', 'half_pixel_symmetric']
    attributes = {'mode': mode, 'coordinate_transformation_mode': d.choice(coordinates)}
    if mode == 'nearest':
        attributes['nearest_mode'] = d.choice(['round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil'])
    if mode == 'cubic' and d.int(0, 1):
        attributes.update(cubic_coeff_a=-0.5, exclude_outside=d.int(0, 1))
    if mode != 'nearest' and d.int(0, 4) == 0:
        attributes['antialias'] = 1
    empty = d.np.array([], d.np.float32)
    if d.int(0, 1):
        inputs = [d.array(*shape), empty, empty, int64(d, shape[:2] + tuple(d.ints(2, 1, 20)))]
    else:
        scales = [1, 1, d.choice([0.5, 0.8, 1.5, 2, 3]), d.choice([0.6, 1, 2, 2.5])]
        inputs = [d.array(*shape), empty, d.np.array(scales, d.np.float32)]
    return Case('Resize', inputs, opset=19, weights=range(1, len(inputs)), **attributes)


def upsample(d):
    scales = d.np.array([1, 1, d.choice([1, 2, 2.5]), d.choice([1, 2, 3])], d.np.float32)
    return Case('Upsample', [d.array(1, 2, d.int(2, 6), d.int(2, 6)), scales], opset=9, weights=[1],
                mode=d.choice(['nearest', 'linear']))


def reduce(op, d):
    shape = shape_of(d, 1, 4, 9)
    axes = [int(a) for a in d.rng.permutation(len(shape))[:d.int(1, len(shape))]]
    x = d.array(*shape)
    if op in ('ReduceLogSum', 'ReduceProd'):
        x = abs(x) + 0.5
    if d.int(0, 1):
        inputs = [x, int64(d, axes)] if d.int(0, 3) else [x]
        return Case(op, inputs, opset=18, keepdims=d.int(0, 1), weights=held(d, len(inputs)))
    if op == 'ReduceSum':
        return Case(op, [x], opset=11, axes=axes, keepdims=d.int(0, 1))
    return Case(op, [x], opset=13, axes=axes, keepdims=d.int(0, 1))


def arg(op, d):
    shape = shape_of(d)
    axis = d.int(-len(shape), len(shape) - 1)
    return Case(op, [numbers(d, d.choice(['float32', 'int32', 'uint8']), shape, 0, 5)], opset=13, axis=axis,
                keepdims=d.int(0, 1), select_last_index=d.int(0, 1))


def topk(d):
    shape = shape_of(d, 1, 3, 12)
    axis = d.int(-len(shape), len(shape) - 1)
    x = numbers(d, d.choice(['float32', 'int64', 'int32']), shape, -4, 4)
    return Case('TopK', [x, int64(d, [d.int(0, shape[axis])])], 2, opset=11, axis=axis, largest=d.int(0, 1),
                weights=held(d, 2))


def cumsum(d):
    shape = shape_of(d)
    return Case('CumSum', [numbers(d, d.choice(['float32', 'int32', 'int64']), shape),
                           d.np.array(d.int(-len(shape), len(shape) - 1), d.np.int64)], opset=14, exclusive=d.int(0, 1),
                reverse=d.int(0, 1), weights=held(d, 2))


def trilu(d):
    inputs = [numbers(d, d.choice(['float32', 'int64']), shape_of(d, 2, 4))]
    if d.int(0, 1):
        inputs.append(d.np.array(d.int(-4, 4), d.np.int64))
    return Case('Trilu', inputs, opset=14, upper=d.int(0, 1))


def onehot(d):
    indices = int64(d, d.ints(6, -3, 2)).reshape(d.choice([(6,), (2, 3)]))
    return Case('OneHot', [indices, d.np.array([d.int(3, 5)], d.np.int64), d.np.array([0, 2], d.np.float32)], opset=11,
                axis=d.int(-2, 1), weights=held(d, 3))


def compress(d):
    shape = shape_of(d)
    axis = {'axis': d.int(-len(shape), len(shape) - 1)} if d.int(0, 2) else {}
    return Case('Compress', [d.array(*shape), numbers(d, 'int32', (d.int(1, 3),), 0, 1).astype(bool)], opset=11, **axis)


def quantized_type(d):
    return d.choice(['uint8', 'int8', 'uint16', 'int16'])


def scales(d, dtype, shape):
    low, high = (0, 255) if dtype.startswith('u') else (-128, 127)
    return d.np.asarray(abs(d.array(*shape)) * 0.02 + 0.005, 'float32'), numbers(d, dtype, shape, low, high)


def layout(d):
    """Data, shape of the scales and attributes."""
    shape = shape_of(d, 1, 4, 12)
    axis, kind = d.int(0, len(shape) - 1), d.int(0, 2)
    if kind == 0:
        return shape, (), {}
    if kind == 1:
        return shape, (shape[axis],), {'axis': axis - (len(shape) if d.int(0, 1) else 0)}
    block = d.choice([2, 4])
    return shape, shape[:axis] + (-(-shape[axis] // block),) + shape[axis + 1:], {'axis': axis, 'block_size': block}


def quantize(d):
    shape, of_scale, attributes = layout(d)
    scale, zero = scales(d, quantized_type(d), of_scale)
    x = d.np.asarray(4 * d.array(*shape), 'float32')
    if not of_scale:
        # At ties, where another way of rounding shows.
        x = ((d.np.round(x * 20) + 0.5) * scale).astype('float32')
    return Case('QuantizeLinear', [x, scale, zero][:3 if d.int(0, 3) else 2], opset=21, **attributes)


def dequantize(d):
    shape, of_scale, attributes = layout(d)
    dtype = quantized_type(d)
    scale, zero = scales(d, dtype, of_scale)
    low, high = (0, 255) if dtype.startswith('u') else (-128, 127)
    x = numbers(d, dtype, shape, low, high)
    return Case('DequantizeLinear', [x, scale, zero][:3 if d.int(0, 3) else 2], opset=21, **attributes)


def dynamic_quantize(d):
    return Case('DynamicQuantizeLinear', [d.array(*shape_of(d, 1, 3, 30)) * d.choice([1, 50])], 3, opset=11)


FLOATS, INTEGERS = ['float32', 'float32', 'float64'], ['int32', 'int64']
EXACT = {
    'Cast': cast, 'Transpose': transpose, 'Concat': concat, 'Split': split, 'Slice': slice_, 'Gather': gather,
    'GatherElements': gather_elements, 'GatherND': gather_nd, 'Expand': expand, 'Tile': tile, 'Pad': pad,
    'Where': where,
    'DepthToSpace': lambda d: space_depth('DepthToSpace', d), 'SpaceToDepth': lambda d: space_depth('SpaceToDepth', d),
    'ArgMax': lambda d: arg('ArgMax', d), 'ArgMin': lambda d: arg('ArgMin', d), 'TopK': topk, 'Trilu': trilu,
    'OneHot': onehot, 'Compress': compress, 'QuantizeLinear': quantize, 'DequantizeLinear': dequantize,
    'DynamicQuantizeLinear': dynamic_quantize,
    'Add': lambda d: binary('Add', 14, FLOATS + INTEGERS, d), 'Sub': lambda d: binary('Sub', 14, FLOATS + INTEGERS, d),
    'Mul': lambda d: binary('Mul', 14, FLOATS + INTEGERS, d), 'Div': lambda d: binary('Div', 14, FLOATS + INTEGERS, d),
    'Mod': lambda d: binary('Mod', 13, INTEGERS, d), 'Min': lambda d: variadic('Min', d),
    'Max': lambda d: variadic('Max', d), 'Less': lambda d: binary('Less', 13, FLOATS + INTEGERS, d),
    'Greater': lambda d: binary('Greater', 13, FLOATS + INTEGERS, d),
    'Equal': lambda d: binary('Equal', 13, FLOATS + INTEGERS, d),
    'GreaterOrEqual': lambda d: binary('GreaterOrEqual', 16, FLOATS + INTEGERS, d),
}
NEAR = {
    'Pow': lambda d: binary('Pow', 15, FLOATS, d), 'Fmod': lambda d: binary('Mod', 13, FLOATS, d, fmod=1),
    'Sum': lambda d: variadic('Sum', d), 'Mean': lambda d: variadic('Mean', d), 'Resize': resize, 'Upsample': upsample,
    'CumSum': cumsum, 'ScatterElements': scatter_elements, 'ScatterND': scatter_nd,
}
for name in ('Sum', 'Mean', 'Max', 'Min', 'Prod', 'L1', 'L2', 'LogSum', 'LogSumExp', 'SumSquare'):
    NEAR['Reduce' + name] = lambda d, name='Reduce' + name: reduce(name, d)
for name in ('Abs', 'Neg', 'Sqrt', 'Exp', 'Floor', 'Ceil', 'Round', 'Sign', 'Sin', 'Cos', 'Tan', 'Atan', 'Reciprocal',
             'Sinh', 'Cosh', 'Asinh', 'Erf'):
    NEAR[name] = lambda d, name=name: operators.unary(name, 13, operators.nothing, d)


if __name__ == '__main__':
    operators.run_all([(EXACT, 0, 0), (NEAR, operators.RTOL, operators.ATOL)])
