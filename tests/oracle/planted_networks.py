# SPDX-License-Identifier: GPL-3.0-or-later
"""Small float networks for planted.py. Nobody trained them: weights are random with heavy tails, and each layer is scaled as a
folded BatchNormalization would, so that its channels have some mean and deviation of about 1, not all the same, on the
samples."""
import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import oracle

N_SAMPLES = 8


def smooth(rng, shape):
    """What pictures are like: neighbours are alike, at all sizes."""
    x = rng.normal(size=shape)
    if len(shape) < 3:
        mix = np.random.default_rng(shape[-1]).normal(size=(shape[-1], shape[-1])) / np.sqrt(shape[-1])
        return (x @ mix).astype(np.float32)
    for axis in range(2, len(shape)):
        f = np.abs(np.fft.fftfreq(shape[axis]))
        x = np.fft.ifft(np.fft.fft(x, axis=axis) / np.expand_dims((f + 0.04) ** 0.9, [a for a in range(len(shape)) if a != axis]),
                        axis=axis).real
    x = x - x.mean() * 0.8
    return (x / x.std()).astype(np.float32)


class Builder:
    def __init__(self, name, shape):
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.name, self.shape = name, list(shape)
        self.nodes, self.constants, self.count = [], [], 0
        self.channels = {'x': shape[-1] if len(shape) < 3 else shape[1]}
        self.samples = [smooth(self.rng, self.shape) for _ in range(N_SAMPLES)]

    def new(self, kind):
        self.count += 1
        return f'{kind.lower()}_{self.count}'

    def constant(self, values, name=None):
        name = name or self.new('k')
        values = np.asarray(values)
        self.constants.append(numpy_helper.from_array(values.astype(np.float32) if values.dtype.kind == 'f' else values, name))
        return name

    def add(self, kind, *inputs, **attributes):
        name = self.new(kind)
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        self.channels[name] = self.channels.get(inputs[0])
        return name

    def model(self, *outputs):
        graph = helper.make_graph(self.nodes, self.name, [helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, self.shape)],
                                  [helper.make_tensor_value_info(o, onnx.TensorProto.FLOAT, None)
                                   for o in outputs], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)

    def finish(self, *outputs):
        model = onnx.shape_inference.infer_shapes(self.model(*outputs))
        onnx.checker.check_model(model)
        return model

    def values(self, name):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = oracle.open_session(self.model(name), options)
        return np.concatenate([session.run(None, {'x': s})[0] for s in self.samples])

    def scale(self, output, weight, bias, columns, axis):
        """Makes the channels of @output even, but not too much so."""
        v = np.moveaxis(self.values(output), axis, 0)
        v = v.reshape(len(v), -1)
        n = len(v)
        gain = np.exp(self.rng.normal(size=n) * 0.35) / np.maximum(v.std(axis=1), 1e-3)
        shift = self.rng.normal(size=n) * 0.3 - v.mean(axis=1) * gain
        for c in self.constants:
            if c.name == weight:
                w = numpy_helper.to_array(c)
                c.CopyFrom(numpy_helper.from_array((w * gain if columns
                                                    else w * gain.reshape(-1, *[1] * (w.ndim - 1))).astype(np.float32), weight))
            if c.name == bias:
                c.CopyFrom(numpy_helper.from_array(shift.astype(np.float32), bias))

    def conv(self, x, n, size=3, stride=1, group=1, act='Relu', d=2):
        inner = self.channels[x] // group
        w = self.rng.standard_t(5, size=(n, inner) + (size,) * d) / np.sqrt(inner * size ** d)
        weight, bias = self.constant(w), self.constant(np.zeros(n))
        x = self.add('Conv', x, weight, bias, pads=[size // 2] * (2 * d), strides=[stride] * d, group=group)
        self.channels[x] = n
        self.scale(x, weight, bias, False, 1)
        return self.act(x, act)

    def dense(self, x, n, act='Relu', product=False):
        inner = self.channels[x]
        w = self.rng.standard_t(5, size=(inner, n) if product else (n, inner)) / np.sqrt(inner)
        weight, bias = self.constant(w), self.constant(np.zeros(n))
        if product:
            x = self.add('Add', self.add('MatMul', x, weight), bias)
        else:
            x = self.add('Gemm', x, weight, bias, transB=1)
        self.channels[x] = n
        self.scale(x, weight, bias, product, -1)
        return self.act(x, act)

    def act(self, x, kind):
        if kind is None:
            return x
        if kind == 'Clip6':
            return self.add('Clip', x, self.constant(np.float32(0)), self.constant(np.float32(6)))
        if kind == 'SiLU':
            return self.add('Mul', x, self.add('Sigmoid', x))
        if kind == 'HardSwish':
            return self.add('HardSwish', x)
        if kind == 'LeakyRelu':
            return self.add('LeakyRelu', x, alpha=0.1)
        return self.add(kind, x)

    def pool(self, x, kind='MaxPool'):
        return self.add(kind, x, kernel_shape=[2, 2], strides=[2, 2])

    def mean(self, x):
        return self.add('Flatten', self.add('GlobalAveragePool', x))

    def concat(self, *xs):
        n = sum(self.channels[x] for x in xs)
        x = self.add('Concat', *xs, axis=1)
        self.channels[x] = n
        return x

    def larger(self, x):
        return self.add('Resize', x, '', self.constant(np.array([1, 1, 2, 2], np.float32)), mode='nearest',
                        coordinate_transformation_mode='asymmetric', nearest_mode='floor')


# ---- networks ----

def plain(b):
    x = b.conv(b.conv(b.conv('x', 12), 16, 3, 2), 24)
    return b.conv(b.conv(x, 24, 3, 2), 10, 1, act=None)


def vgg(b):
    x = b.pool(b.conv(b.conv('x', 16), 16))
    x = b.pool(b.conv(b.conv(x, 24), 24))
    x = b.conv(b.conv(x, 32), 32)
    return b.dense(b.dense(b.mean(x), 32), 10, None)


def leaky(b):
    x = b.conv('x', 12, act='LeakyRelu')
    for n, stride in ((16, 2), (16, 1), (24, 2), (24, 1)):
        x = b.conv(b.conv(x, n, 3, stride, act='LeakyRelu'), n, 1, act='LeakyRelu')
    return b.conv(x, 8, 1, act=None)


def residual(b):
    x = b.conv('x', 16, 3, 2)
    for _ in range(3):
        x = b.add('Relu', b.add('Add', b.conv(b.conv(x, 16), 16, act=None), x))
    return b.dense(b.mean(x), 10, None)


def bottleneck(b):
    x = b.conv('x', 24, 3, 2)
    for _ in range(3):
        x = b.add('Add', b.conv(b.conv(b.conv(x, 12, 1), 12), 24, 1, act=None), x)
    return b.conv(b.conv(x, 24, 1), 6, 1, act=None)


def inverted(b):
    x = b.conv('x', 8, 3, 2, act='Clip6')
    for n, stride in ((8, 1), (12, 2), (12, 1), (16, 1)):
        y = b.conv(x, 4 * b.channels[x], 1, act='Clip6')
        y = b.conv(y, b.channels[y], 3, stride, b.channels[y], 'Clip6')
        y = b.conv(y, n, 1, act=None)
        x = b.add('Add', y, x) if stride == 1 and n == b.channels[x] else y
    return b.dense(b.mean(b.conv(x, 48, 1, act='Clip6')), 10, None)


def separable(b):
    x = b.conv('x', 8, 3, 2)
    for n, stride in ((16, 1), (24, 2), (24, 1), (32, 1)):
        x = b.conv(b.conv(x, b.channels[x], 3, stride, b.channels[x]), n, 1)
    return b.conv(x, 12, 1, act=None)


def squeeze(b):
    x = b.conv('x', 12, 3, 2)
    for n in (16, 24):
        y = b.conv(b.conv(x, n), n, 1)
        g = b.add('HardSigmoid', b.conv(b.conv(b.add('GlobalAveragePool', y), 6, 1), n, 1, act=None), alpha=1 / 6)
        x = b.add('Mul', y, g)
        b.channels[x] = n
    return b.conv(b.conv(x, 24), 8, 1, act=None)


def swish(b):
    x = b.conv('x', 12, 3, 2, act='SiLU')
    y = b.conv(x, 8, 1, act='SiLU')
    z = b.conv(b.conv(y, 8, act='SiLU'), 8, act='SiLU')
    x = b.conv(b.concat(y, z), 16, 1, act='SiLU')
    x = b.conv(b.conv(x, 24, 3, 2), 24)
    return b.conv(x, 10, 1, act=None)


def hard_swish(b):
    x = b.conv('x', 8, 3, 2, act='HardSwish')
    for n in (12, 16):
        x = b.conv(x, 3 * b.channels[x], 1, act='HardSwish')
        x = b.conv(x, b.channels[x], 3, 1, b.channels[x], 'Relu')
        x = b.conv(x, n, 1, act=None)
    return b.conv(b.conv(x, 32, 1), 8, 1, act=None)


def unet(b):
    a = b.conv(b.conv('x', 8), 8)
    c = b.conv(b.conv(b.pool(a), 16), 16)
    d = b.conv(b.conv(b.pool(c), 24), 16)
    c = b.conv(b.conv(b.concat(b.larger(d), c), 16), 8)
    return b.conv(b.conv(b.concat(b.larger(c), a), 8), 2, 1, act=None)


def joined(b):
    x = b.conv('x', 12, 3, 2)
    for _ in range(3):
        x = b.concat(x, b.conv(b.conv(x, 12, 1), 8))
    return b.conv(b.conv(x, 16, 1), 10, 1, act=None)


def two_heads(b):
    x = b.conv(b.conv(b.conv('x', 12, 3, 2), 16, 3, 2), 24)
    return b.conv(b.conv(x, 16), 8, 1, act=None), b.add('Sigmoid', b.conv(b.conv(x, 16), 4, 1, act=None))


def super_resolution(b):
    x = b.conv(b.conv(b.conv('x', 16, 5), 12), 12)
    return b.add('DepthToSpace', b.conv(x, 12, act=None), blocksize=2)


def sound(b):
    x = b.conv('x', 16, 5, 2, d=1)
    for n, stride in ((16, 1), (24, 2), (24, 1)):
        x = b.conv(x, n, 3, stride, d=1)
    return b.conv(x, 8, 1, act=None, d=1)


def mlp(b):
    x = 'x'
    for n in (64, 48, 48, 32):
        x = b.dense(x, n)
    return b.dense(x, 10, None)


def autoencoder(b):
    x = 'x'
    for n in (48, 24, 12, 24, 48):
        x = b.dense(x, n, 'LeakyRelu', True)
    return b.dense(x, 40, None, True)


def products(b):
    x = 'x'
    for n in (40, 40, 32):
        x = b.dense(x, n, 'Relu', True)
    return b.dense(x, 6, None, True)


def attention(b):
    """Patches, two blocks of attention and products with Relu between."""
    width = 24
    x = b.conv(b.conv('x', width, 3, 2), width, 1, act=None)
    x = b.add('Transpose', b.add('Reshape', x, b.constant(np.array([1, width, -1], np.int64))), perm=[0, 2, 1])
    b.channels[x] = width
    for _ in range(2):
        q, k, v = (b.dense(x, width, None, True) for _ in range(3))
        scores = b.add('Mul', b.add('MatMul', q, b.add('Transpose', k, perm=[0, 2, 1])),
                       b.constant(np.float32(1 / np.sqrt(width))))
        y = b.add('MatMul', b.add('Softmax', scores, axis=-1), v)
        b.channels[y] = width
        x = b.add('Add', b.dense(y, width, None, True), x)
        x = b.add('LayerNormalization', x, b.constant(np.exp(b.rng.normal(size=width) * 0.2)),
                  b.constant(b.rng.normal(size=width) * 0.1), axis=-1)
        x = b.add('Add', b.dense(b.dense(x, 2 * width, 'Relu', True), width, None, True), x)
        b.channels[x] = width
    return b.dense(x, 10, None, True)


NETWORKS = {
    'made-plain': (plain, (1, 3, 32, 32)),
    'made-vgg': (vgg, (1, 3, 32, 32)),
    'made-leaky': (leaky, (1, 3, 32, 32)),
    'made-residual': (residual, (1, 3, 32, 32)),
    'made-bottleneck': (bottleneck, (1, 3, 32, 32)),
    'made-inverted': (inverted, (1, 3, 32, 32)),
    'made-separable': (separable, (1, 3, 32, 32)),
    'made-squeeze': (squeeze, (1, 3, 32, 32)),
    'made-swish': (swish, (1, 3, 32, 32)),
    'made-hard-swish': (hard_swish, (1, 3, 32, 32)),
    'made-unet': (unet, (1, 3, 32, 32)),
    'made-joined': (joined, (1, 3, 32, 32)),
    'made-two-heads': (two_heads, (1, 3, 32, 32)),
    'made-super-resolution': (super_resolution, (1, 3, 24, 24)),
    'made-sound': (sound, (1, 8, 128)),
    'made-mlp': (mlp, (1, 48)),
    'made-autoencoder': (autoencoder, (1, 40)),
    'made-products': (products, (8, 32)),
    'made-attention': (attention, (1, 3, 16, 16)),
}


def make(name):
    function, shape = NETWORKS[name]
    builder = Builder(name, shape)
    outputs = function(builder)
    return builder.finish(*(outputs if isinstance(outputs, tuple) else (outputs,)))


def make_samples(name, shape, n):
    rng = np.random.default_rng(zlib.crc32((name + ' samples').encode()))
    return [smooth(rng, list(shape)) for _ in range(n)]
