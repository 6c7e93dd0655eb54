# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators in all their forms: attributes, operands and opsets. Each form stands between a Conv and a Mul, as a branch of its
own of one network for each opset."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper, shape_inference

LATEST = 21
OPSETS = (11, 18, 21)
SHAPES = {'image': (1, 4, 8, 8), 'line': (1, 4, 12), 'volume': (1, 4, 4, 4, 4)}
FORMS = []


class Branch:
    """One form while it is made: names begin with the form's."""

    def __init__(self, name, opset, seed):
        self.name, self.opset, self.random = name, opset, np.random.default_rng(seed)
        self.nodes, self.constants, self.n = [], [], 0

    def constant(self, value, dtype=np.float32):
        self.n += 1
        name = f'{self.name}.k{self.n}'
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(np.array(value, dtype)), name))
        return name

    def ints(self, *values):
        return self.constant(values, np.int64)

    def weight(self, *shape, scale=0.3):
        return self.constant(self.random.standard_normal(shape) * scale)

    def add(self, op, *inputs, outputs=1, **attrs):
        self.n += 1
        names = [f'{self.name}.v{self.n}{"abc"[i]}' for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=f'{self.name}.{op}{self.n}', **attrs))
        return names[0] if outputs == 1 else names


def form(name, kind='image', since=11, until=LATEST):
    """Makes a form of a function (branch, value) that returns the value at its end."""
    def keep(build):
        FORMS.append((name, kind, since, until, build))
        return build
    return keep


def plain(name, op, kind='image', since=11, until=LATEST, operands=lambda b: (), **attrs):
    """A node with the value first and constants behind it."""
    FORMS.append((name, kind, since, until, lambda b, a: b.add(op, a, *operands(b), **attrs)))


# ---- pools ----

POOLS = {'plain': {'kernel_shape': [2, 2]}, 'strides': {'kernel_shape': [3, 3], 'strides': [2, 2]},
         'pads': {'kernel_shape': [3, 3], 'pads': [1] * 4},
         'one-side': {'kernel_shape': [2, 3], 'pads': [0, 1, 1, 2], 'strides': [1, 2]},
         'ceil': {'kernel_shape': [3, 3], 'strides': [2, 2], 'ceil_mode': 1},
         'ceil-pads': {'kernel_shape': [3, 3], 'strides': [2, 2], 'ceil_mode': 1, 'pads': [1, 1, 0, 0]},
         'same-upper': {'kernel_shape': [3, 3], 'strides': [2, 2], 'auto_pad': 'SAME_UPPER'},
         'same-lower': {'kernel_shape': [2, 2], 'auto_pad': 'SAME_LOWER'},
         'valid': {'kernel_shape': [3, 3], 'auto_pad': 'VALID'}}
for _name, _attrs in POOLS.items():
    plain('MaxPool-' + _name, 'MaxPool', **_attrs)
    plain('AveragePool-' + _name, 'AveragePool', **_attrs)
    plain('AveragePool-count-' + _name, 'AveragePool', count_include_pad=1, **_attrs)
    plain('AveragePool-dilations-of-1-' + _name, 'AveragePool', since=19, dilations=[1, 1], **_attrs)
plain('AveragePool-dilated', 'AveragePool', since=19, kernel_shape=[2, 2], dilations=[2, 2])
plain('AveragePool-dilated-count-pads', 'AveragePool', since=19, kernel_shape=[2, 2], dilations=[2, 3], pads=[1, 1, 1, 1],
      count_include_pad=1)
plain('AveragePool-line', 'AveragePool', 'line', kernel_shape=[3], strides=[2], pads=[1, 1])
plain('AveragePool-line-ceil-count', 'AveragePool', 'line', kernel_shape=[3], strides=[2], ceil_mode=1, count_include_pad=1)
plain('AveragePool-volume', 'AveragePool', 'volume', kernel_shape=[2, 2, 2], strides=[2, 2, 2])
plain('AveragePool-volume-count', 'AveragePool', 'volume', kernel_shape=[2, 2, 2], pads=[1] * 6, count_include_pad=1)
plain('MaxPool-dilated', 'MaxPool', kernel_shape=[2, 2], dilations=[2, 2])
plain('MaxPool-line', 'MaxPool', 'line', kernel_shape=[3], pads=[1, 1])
plain('MaxPool-volume', 'MaxPool', 'volume', kernel_shape=[2, 2, 2])
plain('MaxPool-storage-order', 'MaxPool', kernel_shape=[2, 2], storage_order=1)
plain('GlobalAveragePool', 'GlobalAveragePool')
plain('GlobalAveragePool-line', 'GlobalAveragePool', 'line')
plain('GlobalAveragePool-volume', 'GlobalAveragePool', 'volume')
plain('GlobalMaxPool', 'GlobalMaxPool')
plain('LpPool', 'LpPool', kernel_shape=[2, 2], p=2)
plain('GlobalLpPool', 'GlobalLpPool')


@form('MaxPool-indices')
def _(b, a):
    values, _ = b.add('MaxPool', a, outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    return values


@form('MaxPool-MaxUnpool')
def _(b, a):
    values, indices = b.add('MaxPool', a, outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    return b.add('MaxUnpool', values, indices, kernel_shape=[2, 2], strides=[2, 2])


# ---- padding and resizing ----

PADS = {'constant': ((0, 0, 1, 1, 0, 0, 1, 2), None, None), 'zero': ((0, 0, 1, 1, 0, 0, 1, 2), 0, None),
        'value': ((0, 0, 1, 1, 0, 0, 1, 2), 0.7, None),
        'outside': ((0, 0, 1, 1, 0, 0, 1, 2), -9.0, None), 'cropping': ((0, 0, -1, -1, 0, 0, -2, 0), None, None),
        'crop-and-fill': ((0, 0, -1, 2, 0, 0, 1, -1), 0.5, None), 'channels': ((0, 1, 0, 0, 0, 2, 0, 0), None, None)}
for _name, (_pads, _value, _) in PADS.items():
    plain('Pad-' + _name, 'Pad', operands=lambda b, p=_pads, v=_value: (b.ints(*p), *([] if v is None else [b.constant(v)])))
for _mode, _since in (('reflect', 11), ('edge', 11), ('wrap', 19)):
    plain('Pad-' + _mode, 'Pad', since=_since, operands=lambda b: (b.ints(0, 0, 1, 1, 0, 0, 1, 2),), mode=_mode)
    plain(f'Pad-{_mode}-axes', 'Pad', since=max(_since, 18), operands=lambda b: (b.ints(1, 2, 2, 1), '', b.ints(2, 3)),
          mode=_mode)
plain('Pad-axes', 'Pad', since=18, operands=lambda b: (b.ints(1, 2, 1, 2), '', b.ints(2, 3)))
plain('Pad-axes-negative', 'Pad', since=18, operands=lambda b: (b.ints(1, 2, 0, 1), b.constant(0), b.ints(-1, -2)))
plain('Pad-axes-value', 'Pad', since=18, operands=lambda b: (b.ints(1, 1), b.constant(0.4), b.ints(3)))
plain('Pad-line', 'Pad', 'line', operands=lambda b: (b.ints(0, 0, 2, 0, 0, 1),))


@form('Pad-into-Conv')
def _(b, a):
    return b.add('Conv', b.add('Pad', a, b.ints(0, 0, 1, 1, 0, 0, 1, 1)), b.weight(5, 4, 3, 3))


@form('Pad-into-AveragePool')
def _(b, a):
    return b.add('AveragePool', b.add('Pad', a, b.ints(0, 0, 1, 1, 0, 0, 1, 1)), kernel_shape=[3, 3], count_include_pad=1)


@form('Pad-into-MaxPool-value')
def _(b, a):
    return b.add('MaxPool', b.add('Pad', a, b.ints(0, 0, 1, 1, 0, 0, 1, 1), b.constant(-5.0)), kernel_shape=[3, 3])


@form('Pad-computed-value')
def _(b, a):
    value = b.add('ReduceMax', a, keepdims=0)
    return b.add('Pad', a, b.ints(0, 0, 1, 1, 0, 0, 1, 1), value)


def resize(name, scales=None, sizes=None, roi=None, axes=None, since=11, kind='image', **attrs):
    def operands(b):
        found = [b.constant(roi) if roi else b.constant([]) if b.opset < 13 else '', '' if scales is None else b.constant(scales)]
        if scales is None and b.opset < 13:
            found[1] = b.constant([])
        return (*found, *([] if sizes is None else [b.ints(*sizes)]))
    if axes is not None:
        attrs['axes'] = axes
    plain('Resize-' + name, 'Resize', kind, since=since, operands=operands, **attrs)


for _mode in ('nearest', 'linear', 'cubic'):
    resize(_mode, (1, 1, 2, 2), mode=_mode)
    resize(_mode + '-sizes', sizes=(1, 4, 12, 5), mode=_mode)
    resize(_mode + '-axes', (1.5, 2), axes=[2, 3], since=18, mode=_mode)
    resize(_mode + '-axes-sizes', sizes=(9,), axes=[3], since=18, mode=_mode)
    resize(_mode + '-asymmetric', (1, 1, 2, 1.5), mode=_mode, coordinate_transformation_mode='asymmetric',
           **({'nearest_mode': 'floor'} if _mode == 'nearest' else {}))
    resize(_mode + '-corners', sizes=(1, 4, 13, 6), mode=_mode, coordinate_transformation_mode='align_corners')
resize('linear-pytorch', sizes=(1, 4, 16, 1), mode='linear', coordinate_transformation_mode='pytorch_half_pixel')
resize('linear-antialias', (1, 1, 0.5, 0.5), since=18, mode='linear', antialias=1)
resize('linear-down', (1, 1, 0.6, 0.6), mode='linear')
resize('nearest-down', (1, 1, 0.5, 0.6), mode='nearest', nearest_mode='round_prefer_ceil')
resize('nearest-ceil', (1, 1, 1.3, 2.6), mode='nearest', nearest_mode='ceil')
resize('cubic-coefficient', (1, 1, 1.5, 1.5), mode='cubic', cubic_coeff_a=-0.5, exclude_outside=1)
resize('crop', sizes=(1, 4, 5, 5), roi=(0, 0, -0.2, 0.1, 1, 1, 1.2, 0.8), mode='linear',
       coordinate_transformation_mode='tf_crop_and_resize',
       extrapolation_value=0.6)
resize('not-larger', sizes=(10, 12), axes=[2, 3], since=18, mode='nearest', keep_aspect_ratio_policy='not_larger')
resize('line', (1, 1, 2), kind='line', mode='nearest')


@form('Resize-cubic-behind-Relu')
def _(b, a):
    return b.add('Resize', b.add('Add', b.add('Relu', a), b.constant(0.1)), b.constant([]) if b.opset < 13 else '',
                 b.constant([1, 1, 1.4, 0.6]), mode='cubic')


# ---- products ----

CONVS = {'plain': {}, 'strides': {'strides': [2, 2]}, 'pads': {'pads': [1, 0, 2, 1]}, 'dilations': {'dilations': [2, 2]},
         'same-upper': {'auto_pad': 'SAME_UPPER', 'strides': [2, 2]}, 'same-lower': {'auto_pad': 'SAME_LOWER'},
         'valid': {'auto_pad': 'VALID'}}
for _name, _attrs in CONVS.items():
    plain('Conv-' + _name, 'Conv', operands=lambda b: (b.weight(6, 4, 3, 3), b.weight(6)), **_attrs)
    plain('ConvTranspose-' + _name, 'ConvTranspose', operands=lambda b: (b.weight(4, 6, 3, 3), b.weight(6)), **_attrs)
plain('Conv-groups', 'Conv', operands=lambda b: (b.weight(6, 2, 3, 3),), group=2)
plain('Conv-depthwise', 'Conv', operands=lambda b: (b.weight(8, 1, 3, 3), b.weight(8)), group=4)
plain('Conv-line', 'Conv', 'line', operands=lambda b: (b.weight(6, 4, 3), b.weight(6)), pads=[1, 1])
plain('Conv-volume', 'Conv', 'volume', operands=lambda b: (b.weight(6, 4, 2, 2, 2),))
plain('ConvTranspose-groups', 'ConvTranspose', operands=lambda b: (b.weight(4, 3, 3, 3), b.weight(6)), group=2)
plain('ConvTranspose-depthwise', 'ConvTranspose', operands=lambda b: (b.weight(4, 1, 2, 2),), group=4, strides=[2, 2])
plain('ConvTranspose-output-padding', 'ConvTranspose', operands=lambda b: (b.weight(4, 6, 3, 3),), strides=[2, 2],
      output_padding=[1, 1])
plain('ConvTranspose-output-shape', 'ConvTranspose', operands=lambda b: (b.weight(4, 6, 3, 3),), strides=[2, 2],
      output_shape=[15, 16])
plain('ConvTranspose-line', 'ConvTranspose', 'line', operands=lambda b: (b.weight(4, 6, 3),), strides=[2])


plain('Conv-large-bias', 'Conv', operands=lambda b: (b.weight(6, 4, 3, 3), b.weight(6, scale=30.0)))
plain('ConvTranspose-large-bias', 'ConvTranspose', operands=lambda b: (b.weight(4, 6, 3, 3), b.weight(6, scale=30.0)))
FORMS.append(('Gemm-large-bias', 'image', 11, LATEST,
              lambda b, a: b.add('Gemm', matrix(b, a), b.weight(16, 6), b.weight(6, scale=30.0))))


@form('Conv-computed-weight')
def _(b, a):
    return b.add('Conv', a, b.add('Relu', b.add('Reshape', b.add('GlobalAveragePool', a), b.ints(1, 4, 1, 1))))


@form('Conv-computed-bias')
def _(b, a):
    return b.add('Conv', a, b.weight(4, 4, 1, 1), b.add('Reshape', b.add('GlobalAveragePool', a), b.ints(4)))


def steep(b, *shape, axis=0):
    """A weight whose channels along @axis differ in size."""
    values = b.random.standard_normal(shape) * 0.2
    like = [1] * len(shape)
    like[axis] = shape[axis]
    return b.constant(values * np.logspace(-1.5, 1, shape[axis]).reshape(like))


@form('shared-Conv-ConvTranspose')
def _(b, a):
    w, bias = steep(b, 4, 4, 3, 3), b.weight(4)
    return b.add('Add', b.add('Conv', a, w, bias, pads=[1] * 4), b.add('ConvTranspose', a, w, bias, pads=[1] * 4))


@form('shared-ConvTranspose-Conv')
def _(b, a):
    w = steep(b, 4, 4, 3, 3, axis=1)
    return b.add('Conv', b.add('ConvTranspose', a, w, pads=[1] * 4), w, pads=[1] * 4)


@form('shared-Conv-Conv')
def _(b, a):
    w, bias = steep(b, 4, 4, 3, 3), b.weight(4)
    return b.add('Conv', b.add('Conv', a, w, bias, pads=[1] * 4), w, bias, pads=[1] * 4)


def matrix(b, a):
    return b.add('Reshape', a, b.ints(16, 16))


@form('shared-Gemm-MatMul')
def _(b, a):
    w = steep(b, 16, 16)
    return b.add('MatMul', b.add('Relu', b.add('Gemm', matrix(b, a), w, b.weight(16), transB=1)), w)


@form('shared-MatMul-Gemm')
def _(b, a):
    w = steep(b, 16, 16, axis=1)
    return b.add('Gemm', b.add('MatMul', matrix(b, a), w), w, transB=1)


@form('shared-Gemm-Gemm')
def _(b, a):
    w = steep(b, 16, 16)
    return b.add('Gemm', b.add('Gemm', matrix(b, a), w, b.weight(16), transB=1), w, b.weight(16))


@form('shared-MatMul-left-and-right')
def _(b, a):
    w = steep(b, 16, 16, axis=1)
    return b.add('MatMul', w, b.add('MatMul', matrix(b, a), w))


@form('shared-MatMul-Add')
def _(b, a):
    w = steep(b, 16, 16, axis=1)
    return b.add('Add', b.add('MatMul', matrix(b, a), w), w)


@form('shared-Gemm-Gather')
def _(b, a):
    w = steep(b, 16, 16)
    return b.add('Add', b.add('Gemm', matrix(b, a), w, transB=1), b.add('Gather', w, b.ints(3)))


@form('shared-Conv-Mul')
def _(b, a):
    w = steep(b, 4, 4, 1, 1)
    mean = b.add('ReduceMean', w, axes=[0], keepdims=1) if b.opset < 18 else b.add('ReduceMean', w, b.ints(0))
    return b.add('Mul', b.add('Conv', a, w), mean)


@form('shared-Conv-bias-Add')
def _(b, a):
    bias = b.weight(4)
    return b.add('Add', b.add('Transpose', b.add('Conv', a, b.weight(4, 4, 1, 1), bias), perm=[0, 2, 3, 1]), bias)


@form('shared-bias-as-bias-twice')
def _(b, a):
    bias = b.weight(4)
    return b.add('Conv', b.add('Conv', a, b.weight(4, 4, 1, 1, scale=0.01), bias), b.weight(4, 4, 1, 1, scale=3.0), bias)


GEMMS = {'plain': ((16, 6), (6,), {}), 'no-bias': ((16, 6), None, {}), 'transB': ((6, 16), (6,), {'transB': 1}),
         'transA': ((16, 6), (6,), {'transA': 1}),
         'transAB': ((6, 16), (6,), {'transA': 1, 'transB': 1}), 'alpha': ((16, 6), (6,), {'alpha': 0.5}),
         'beta': ((16, 6), (6,), {'beta': 2.0}),
         'alpha-beta-transB': ((6, 16), (6,), {'alpha': 0.3, 'beta': 0.5, 'transB': 1}), 'beta-0': ((16, 6), (6,), {'beta': 0.0}),
         'row-bias': ((16, 6), (1, 6), {}), 'full-bias': ((16, 6), (16, 6), {}), 'column-bias': ((16, 6), (16, 1), {}),
         'scalar-bias': ((16, 6), (), {}),
         'one-bias': ((16, 6), (1,), {}), 'alpha-no-bias': ((16, 6), None, {'alpha': 1.7})}
for _name, (_shape, _bias, _attrs) in GEMMS.items():
    @form('Gemm-' + _name)
    def _(b, a, shape=_shape, bias=_bias, attrs=_attrs):
        return b.add('Gemm', matrix(b, a), b.weight(*shape), *([] if bias is None else [b.weight(*bias)]), **attrs)


@form('Gemm-constant-on-the-left')
def _(b, a):
    return b.add('Gemm', b.weight(5, 16), matrix(b, a), b.weight(16))


@form('Gemm-two-computed')
def _(b, a):
    return b.add('Gemm', matrix(b, a), b.add('Transpose', matrix(b, a), perm=[1, 0]))


@form('Gemm-computed-bias')
def _(b, a):
    return b.add('Gemm', matrix(b, a), b.weight(16, 16), matrix(b, b.add('Sigmoid', a)))


MATMULS = {'matrix': (8, 5), 'batch': (4, 8, 5), 'one-batch': (1, 8, 5), 'vector': (8,), 'full': (1, 4, 8, 5),
           'one-column': (8, 1)}
for _name, _shape in MATMULS.items():
    plain('MatMul-' + _name, 'MatMul', operands=lambda b, s=_shape: (b.weight(*s),))


@form('MatMul-constant-on-the-left')
def _(b, a):
    return b.add('MatMul', b.weight(3, 8), a)


@form('MatMul-vector-on-the-left')
def _(b, a):
    return b.add('MatMul', b.weight(16), matrix(b, a))


@form('MatMul-batch-on-the-left')
def _(b, a):
    return b.add('MatMul', b.weight(4, 3, 8), a)


@form('MatMul-two-computed')
def _(b, a):
    return b.add('MatMul', a, b.add('Transpose', a, perm=[0, 1, 3, 2]))


@form('MatMul-itself')
def _(b, a):
    return b.add('MatMul', a, a)


@form('MatMul-Add')
def _(b, a):
    return b.add('Add', b.add('MatMul', a, b.weight(8, 5)), b.weight(5))


@form('MatMul-Add-matrix')
def _(b, a):
    return b.add('Add', b.add('MatMul', matrix(b, a), b.weight(16, 5)), b.weight(5))


@form('MatMul-behind-Add')
def _(b, a):
    return b.add('Add', b.weight(5), b.add('MatMul', matrix(b, a), b.weight(16, 5)))


@form('MatMul-scaled')
def _(b, a):
    return b.add('MatMul', b.add('Mul', a, b.constant(0.25)), b.add('Transpose', a, perm=[0, 1, 3, 2]))


@form('MatMul-transposed')
def _(b, a):
    return b.add('MatMul', b.add('Transpose', a, perm=[0, 1, 3, 2]), b.weight(8, 5))


plain('Einsum-matrix', 'Einsum', since=13, operands=lambda b: (b.weight(8, 5),), equation='abcd,de->abce')
plain('Einsum-channels', 'Einsum', since=13, operands=lambda b: (b.weight(4, 5),), equation='abcd,be->aecd')


# ---- arithmetic ----

SIDES = {'scalar': (), 'one': (1,), 'channels': (4, 1, 1), 'row': (8,), 'full': (1, 4, 8, 8), 'wider': (2, 1, 1, 1)}
for _op in ('Add', 'Sub', 'Mul', 'Div'):
    for _name, _shape in SIDES.items():
        plain(f'{_op}-{_name}', _op, operands=lambda b, s=_shape: (b.constant(b.random.uniform(0.5, 2, s)),))
    FORMS.append((f'{_op}-on-the-left', 'image', 11, LATEST,
                  lambda b, a, op=_op: b.add(op, b.constant(b.random.uniform(-2, -0.5, (4, 1, 1))), b.add('Sigmoid', a))))
    FORMS.append((f'{_op}-two-computed', 'image', 11, LATEST,
                  lambda b, a, op=_op: b.add(op, a, b.add('Add', b.add('Sigmoid', a), b.constant(0.5)))))
    FORMS.append((f'{_op}-two-broadcast', 'image', 11, LATEST,
                  lambda b, a, op=_op: b.add(op, a, b.add('Sigmoid', b.add('GlobalAveragePool', a)))))
    FORMS.append((f'{_op}-broadcast-left', 'image', 11, LATEST,
                  lambda b, a, op=_op: b.add(op, b.add('GlobalAveragePool', a),
                                             b.add('Add', b.add('Sigmoid', a), b.constant(1.0)))))
FORMS.append(('Add-itself', 'image', 11, LATEST, lambda b, a: b.add('Add', a, a)))
FORMS.append(('Mul-itself', 'image', 11, LATEST, lambda b, a: b.add('Mul', a, a)))
plain('Add-zero', 'Add', operands=lambda b: (b.constant(0.0),))
plain('Mul-negative', 'Mul', operands=lambda b: (b.constant(-0.7),))
plain('Mul-zero', 'Mul', operands=lambda b: (b.constant(np.zeros((4, 1, 1))),))
plain('Pow-2', 'Pow', operands=lambda b: (b.constant(2.0),))
plain('Max-constant', 'Max', operands=lambda b: (b.constant(0.1),))
plain('Min-constant', 'Min', operands=lambda b: (b.constant(0.5),))
FORMS.append(('Sum-three', 'image', 11, LATEST, lambda b, a: b.add('Sum', a, b.add('Sigmoid', a), b.weight(4, 1, 1))))
FORMS.append(('Mean-two', 'image', 11, LATEST, lambda b, a: b.add('Mean', a, b.add('Relu', a))))
FORMS.append(('PRelu-channels', 'image', 11, LATEST, lambda b, a: b.add('PRelu', a, b.weight(4, 1, 1))))
FORMS.append(('PRelu-scalar', 'image', 11, LATEST, lambda b, a: b.add('PRelu', a, b.weight(1))))
FORMS.append(('PRelu-computed', 'image', 11, LATEST,
              lambda b, a: b.add('PRelu', a, b.add('Sigmoid', b.add('GlobalAveragePool', a)))))


# ---- functions of one number ----

for _op, _since, _attrs in (('Relu', 11, {}), ('LeakyRelu', 11, {}), ('LeakyRelu', 11, {'alpha': 0.3}),
                            ('LeakyRelu', 11, {'alpha': -0.2}), ('Sigmoid', 11, {}),
                            ('Tanh', 11, {}), ('Elu', 11, {'alpha': 0.7}), ('Selu', 11, {}), ('HardSigmoid', 11, {}),
                            ('HardSigmoid', 11, {'alpha': 0.3, 'beta': 0.4}),
                            ('HardSwish', 14, {}), ('Softplus', 11, {}), ('Softsign', 11, {}), ('Erf', 11, {}), ('Exp', 11, {}),
                            ('Abs', 11, {}), ('Neg', 11, {}),
                            ('Mish', 18, {}), ('Gelu', 20, {}), ('Gelu', 20, {'approximate': 'tanh'}),
                            ('ThresholdedRelu', 11, {'alpha': 0.4}), ('Celu', 12, {}),
                            ('Sin', 11, {}), ('Sqrt', 11, {}), ('Round', 11, {}), ('Floor', 11, {}), ('Ceil', 11, {}),
                            ('Identity', 11, {}), ('Sign', 11, {})):
    _label = '-'.join([_op] + [f'{k}-{v}' for k, v in _attrs.items()])
    if _op in ('Sqrt', 'Round', 'Floor', 'Ceil', 'Sign'):
        FORMS.append((_label, 'image', _since, LATEST,
                      lambda b, a, op=_op: b.add(op, b.add('Add', b.add('Abs', a), b.constant(0.1)))))
    else:
        plain(_label, _op, since=_since, **_attrs)
CLIPS = {'six': (0.0, 6.0), 'symmetric': (-0.5, 0.5), 'positive': (0.2, 0.8), 'low': (0.0, None), 'high': (None, 0.4),
         'none': (None, None)}
for _name, (_low, _high) in CLIPS.items():
    plain('Clip-' + _name, 'Clip',
          operands=lambda b, l=_low, h=_high: tuple(b.constant(v) if v is not None else ''
                                                    for v in ((l, h) if h is not None else (l,) if l is not None else ())))
for _axis in (-1, 1, 2):
    plain(f'Softmax-{_axis}', 'Softmax', axis=_axis)
    plain(f'LogSoftmax-{_axis}', 'LogSoftmax', axis=_axis)
plain('Softmax-default', 'Softmax')
plain('Hardmax', 'Hardmax', axis=1)
FORMS.append(('Swish', 'image', 11, LATEST, lambda b, a: b.add('Mul', a, b.add('Sigmoid', a))))
FORMS.append(('HardSwish-spelled', 'image', 11, LATEST,
              lambda b, a: b.add('Mul', a, b.add('HardSigmoid', a, alpha=1 / 6, beta=0.5))))


# ---- moving numbers ----

plain('Transpose', 'Transpose', perm=[0, 2, 3, 1])
plain('Transpose-default', 'Transpose')
plain('Reshape', 'Reshape', operands=lambda b: (b.ints(0, -1, 16),))
plain('Reshape-allowzero', 'Reshape', since=14, operands=lambda b: (b.ints(1, 4, 64),), allowzero=1)
for _axis in (0, 1, 2, -1):
    plain(f'Flatten-{_axis}', 'Flatten', axis=_axis)
plain('Expand', 'Expand', operands=lambda b: (b.ints(2, 4, 8, 8),))
plain('Tile', 'Tile', operands=lambda b: (b.ints(1, 2, 1, 2),))
plain('Gather-scalar', 'Gather', operands=lambda b: (b.constant(1, np.int64),), axis=1)
plain('Gather-negative', 'Gather', operands=lambda b: (b.ints(-1, 0, 2),), axis=-1)
plain('Gather-int32', 'Gather', operands=lambda b: (b.constant([[0, 1], [2, 3]], np.int32),), axis=1)
plain('GatherElements', 'GatherElements', operands=lambda b: (b.constant(b.random.integers(-4, 4, (1, 4, 8, 8)), np.int64),),
      axis=1)
plain('GatherND', 'GatherND', operands=lambda b: (b.constant([[0, 2], [0, 1]], np.int64),))
plain('DepthToSpace-DCR', 'DepthToSpace', blocksize=2)
plain('DepthToSpace-CRD', 'DepthToSpace', blocksize=2, mode='CRD')
plain('SpaceToDepth', 'SpaceToDepth', blocksize=2)
plain('Slice', 'Slice', operands=lambda b: (b.ints(1), b.ints(7), b.ints(2)))
plain('Slice-steps', 'Slice', operands=lambda b: (b.ints(0, -1), b.ints(99, -99), b.ints(2, 3), b.ints(2, -1)))
plain('Slice-negative-axes', 'Slice', operands=lambda b: (b.ints(-5), b.ints(-1), b.ints(-1), b.ints(2)))
plain('Slice-all-axes', 'Slice', operands=lambda b: (b.ints(0, 1, 2, 3), b.ints(1, 3, 6, 8)))
plain('CumSum', 'CumSum', operands=lambda b: (b.constant(2, np.int64),))
plain('Trilu', 'Trilu', since=14)
plain('Cast-float', 'Cast', to=TensorProto.FLOAT)
plain('Dropout', 'Dropout')


@form('Squeeze')
def _(b, a):
    pool = b.add('GlobalAveragePool', a)
    return b.add('Squeeze', pool, axes=[2, 3]) if b.opset < 13 else b.add('Squeeze', pool, b.ints(2, 3))


@form('Squeeze-all', since=13)
def _(b, a):
    return b.add('Squeeze', a)


@form('Unsqueeze')
def _(b, a):
    return b.add('Unsqueeze', a, axes=[1, 5]) if b.opset < 13 else b.add('Unsqueeze', a, b.ints(1, -1))


def split(name, sizes=None, axis=1, since=11, **attrs):
    @form('Split-' + name, since=since)
    def _(b, a):
        n = len(sizes) if sizes else 2
        if sizes and b.opset < 13:
            parts = b.add('Split', a, outputs=n, axis=axis, split=list(sizes), **attrs)
        else:
            more = {'num_outputs': n} if b.opset >= 18 and not sizes else {}
            parts = b.add('Split', a, *([b.ints(*sizes)] if sizes else []), outputs=n, axis=axis, **more, **attrs)
        return b.add('Concat', *reversed(parts), axis=axis)


split('even')
split('sizes', (1, 3))
split('negative-axis', (3, 1, 4), axis=-1)


@form('Split-uneven', since=18)
def _(b, a):
    return b.add('Concat', *b.add('Split', a, outputs=3, axis=2, num_outputs=3), axis=2)


def split_in_two(b, a):
    if b.opset < 13:
        return b.add('Split', a, outputs=2, axis=1, split=[2, 2])
    return b.add('Split', a, b.ints(2, 2), outputs=2, axis=1)


@form('Split-one-unused')
def _(b, a):
    parts = split_in_two(b, a)
    return b.add('Relu', parts[1])


@form('Split-into-Mul')
def _(b, a):
    parts = split_in_two(b, a)
    return b.add('Mul', parts[0], b.add('Sigmoid', parts[1]))


FORMS.append(('Concat', 'image', 11, LATEST, lambda b, a: b.add('Concat', a, b.add('Sigmoid', a), axis=1)))
FORMS.append(('Concat-negative-axis', 'image', 11, LATEST,
              lambda b, a: b.add('Concat', a, b.add('Mul', a, b.constant(3.0)), axis=-2)))
FORMS.append(('Concat-itself', 'image', 11, LATEST, lambda b, a: b.add('Concat', a, a, axis=1)))
FORMS.append(('Concat-constant', 'image', 11, LATEST, lambda b, a: b.add('Concat', b.weight(1, 2, 8, 8, scale=2.0), a, axis=1)))
FORMS.append(('Concat-one', 'image', 11, LATEST, lambda b, a: b.add('Concat', a, axis=1)))
FORMS.append(('Concat-three-ranges', 'image', 11, LATEST,
              lambda b, a: b.add('Concat', a, b.add('Softmax', a, axis=1), b.add('Mul', a, b.constant(4.0)), axis=1)))
FORMS.append(('Where-constant-condition', 'image', 11, LATEST,
              lambda b, a: b.add('Where', b.constant(b.random.integers(0, 2, (8, 8)), bool), a, b.add('Sigmoid', a))))
FORMS.append(('Where-computed', 'image', 11, LATEST,
              lambda b, a: b.add('Where', b.add('Greater', a, b.constant(0.0)), a, b.add('Mul', a, b.constant(0.1)))))
FORMS.append(('Where-scalar', 'image', 11, LATEST,
              lambda b, a: b.add('Where', b.constant(b.random.integers(0, 2, (8, 8)), bool), a, b.constant(0.3))))
FORMS.append(('Where-broadcast', 'image', 11, LATEST,
              lambda b, a: b.add('Where', b.constant(b.random.integers(0, 2, (8, 8)), bool), b.add('GlobalAveragePool', a), a)))
FORMS.append(('TopK', 'image', 11, LATEST, lambda b, a: b.add('TopK', a, b.ints(3), outputs=2, axis=-1)[0]))


# ---- reductions ----

for _op in ('ReduceMean', 'ReduceSum', 'ReduceMax', 'ReduceMin', 'ReduceL2', 'ReduceSumSquare', 'ReduceLogSumExp'):
    for _name, _axes, _keep in (('channels', (1,), 1), ('plane', (2, 3), 1), ('dropped', (-1,), 0), ('all', None, 1)):
        def _reduce(b, a, op=_op, axes=_axes, keep=_keep):
            as_input = b.opset >= (13 if op == 'ReduceSum' else 18)
            if axes is None:
                return b.add(op, a, keepdims=keep)
            return b.add(op, a, b.ints(*axes), keepdims=keep) if as_input else b.add(op, a, axes=list(axes), keepdims=keep)
        FORMS.append((f'{_op}-{_name}', 'image', 11, LATEST, _reduce))
plain('ReduceMean-noop', 'ReduceMean', since=18, noop_with_empty_axes=1)
FORMS.append(('ArgMax', 'image', 11, LATEST, lambda b, a: b.add('Cast', b.add('ArgMax', a, axis=1), to=TensorProto.FLOAT)))
FORMS.append(('ArgMax-last', 'image', 12, LATEST,
              lambda b, a: b.add('Cast', b.add('ArgMax', a, axis=-1, keepdims=0, select_last_index=1), to=TensorProto.FLOAT)))
FORMS.append(('ArgMin', 'image', 11, LATEST, lambda b, a: b.add('Cast', b.add('ArgMin', a, axis=1), to=TensorProto.FLOAT)))


# ---- normalizations ----

plain('BatchNormalization', 'BatchNormalization', until=13,
      operands=lambda b: (b.weight(4), b.weight(4), b.weight(4), b.constant(b.random.uniform(0.5, 2, 4))))
FORMS.append(('BatchNormalization-behind-Relu', 'image', 11, LATEST, lambda b, a: b.add(
    'BatchNormalization', b.add('Relu', a), b.weight(4), b.weight(4), b.weight(4), b.constant(b.random.uniform(0.5, 2, 4)))))
plain('InstanceNormalization', 'InstanceNormalization', operands=lambda b: (b.weight(4, scale=1.0), b.weight(4)))
plain('LayerNormalization', 'LayerNormalization', since=17, operands=lambda b: (b.weight(8, scale=1.0), b.weight(8)))
plain('LayerNormalization-no-bias', 'LayerNormalization', since=17, operands=lambda b: (b.weight(8, scale=1.0),))
plain('LayerNormalization-axis', 'LayerNormalization', since=17,
      operands=lambda b: (b.weight(4, 8, 8, scale=1.0), b.weight(4, 8, 8)), axis=1)
plain('GroupNormalization', 'GroupNormalization', since=21, operands=lambda b: (b.weight(4, scale=1.0), b.weight(4)),
      num_groups=2)
plain('LRN', 'LRN', size=3)
plain('LpNormalization', 'LpNormalization', axis=1)
plain('MeanVarianceNormalization', 'MeanVarianceNormalization')


@form('LayerNormalization-spelled')
def _(b, a):
    def mean(v):
        return b.add('ReduceMean', v, axes=[-1]) if b.opset < 18 else b.add('ReduceMean', v, b.ints(-1))
    centered = b.add('Sub', a, mean(a))
    variance = mean(b.add('Pow', centered, b.constant(2.0)))
    return b.add('Mul', b.add('Div', centered, b.add('Sqrt', b.add('Add', variance, b.constant(1e-5)))), b.weight(8, scale=1.0))


@form('attention')
def _(b, a):
    rows = b.add('Reshape', a, b.ints(16, 16))
    q, k, v = (b.add('MatMul', rows, b.weight(16, 16)) for _ in range(3))
    weights = b.add('Softmax', b.add('MatMul', b.add('Mul', q, b.constant(0.25)), b.add('Transpose', k, perm=[1, 0])), axis=-1)
    return b.add('MatMul', weights, v)


@form('LSTM', 'line')
def _(b, a):
    values, *_ = b.add('LSTM', b.add('Transpose', a, perm=[2, 0, 1]), b.weight(1, 20, 4), b.weight(1, 20, 5), b.weight(1, 40),
                       outputs=3, hidden_size=5)
    return values


@form('GRU', 'line')
def _(b, a):
    values, _ = b.add('GRU', b.add('Transpose', a, perm=[2, 0, 1]), b.weight(1, 15, 4), b.weight(1, 15, 5), outputs=2,
                      hidden_size=5)
    return values


@form('If')
def _(b, a):
    def body(op):
        return helper.make_graph([helper.make_node(op, [a], [f'{b.name}.{op}'], name=f'{b.name}.in.{op}')], op, [],
                                 [helper.make_tensor_value_info(f'{b.name}.{op}', TensorProto.FLOAT, None)])
    mean = b.add('ReduceMean', a, keepdims=0)
    return b.add('If', b.add('Greater', mean, b.constant(-9.0)), then_branch=body('Sigmoid'), else_branch=body('Tanh'))


# ---- networks ----

def make_branch(entry, opset):
    name, kind, _, _, build = entry
    b = Branch(f'{name}', opset, sum(map(ord, name)))
    dims = len(SHAPES[kind]) - 2
    value = b.add('Conv', kind, b.weight(4, 4, *[3] * dims, scale=0.25), b.weight(4, scale=0.2), pads=[1] * 2 * dims)
    end = build(b, value)
    product = b.add('Mul', end, b.constant(0.8))
    shape = infer_shape(b, kind, product)
    # what moves axes goes over all that lies between convolutions
    if shape is not None and len(shape) == dims + 2 and shape[1]:
        product = b.add('Conv', product, b.weight(3, shape[1], *[1] * dims, scale=1.0))
    b.nodes[-1].output[0] = name
    return b


def infer_shape(b, kind, value):
    """Sizes of a value of the branch, 0 where unknown; None: not even how many."""
    graph = helper.make_graph(b.nodes, 'branch', [helper.make_tensor_value_info(kind, TensorProto.FLOAT, SHAPES[kind])],
                              [helper.make_tensor_value_info(value, TensorProto.FLOAT, None)], b.constants)
    found = shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid('', b.opset)]),
                                         data_prop=True).graph.output[0]
    tensor = found.type.tensor_type
    return [d.dim_value for d in tensor.shape.dim] if tensor.HasField('shape') else None


def list_forms(opset):
    return [entry for entry in FORMS if entry[2] <= opset <= entry[3]]


def make_network(entries, opset):
    branches = [make_branch(entry, opset) for entry in entries]
    kinds = sorted({entry[1] for entry in entries})
    graph = helper.make_graph([n for b in branches for n in b.nodes], 'forms',
                              [helper.make_tensor_value_info(k, TensorProto.FLOAT, SHAPES[k]) for k in kinds],
                              [helper.make_tensor_value_info(e[0], TensorProto.FLOAT, None) for e in entries],
                              [c for b in branches for c in b.constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=8 if opset < 19 else 10)


def make_samples(kinds, n):
    random = np.random.default_rng(11)
    return [{k: random.standard_normal(SHAPES[k]).astype(np.float32) for k in sorted(kinds)} for _ in range(n)]
