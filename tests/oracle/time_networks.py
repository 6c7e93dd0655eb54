# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks made for measuring times: one for each family that is deployed, with weights by chance and the sizes that such
networks have."""
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save, shape_inference

OPSET = 17
NETWORKS = {}


def network(shape):
    """Registers a function (net, value) that returns the outputs."""
    def keep(build):
        NETWORKS[build.__name__] = (build, shape)
        return build
    return keep


class Net:
    """A network while it is made."""

    def __init__(self, seed):
        self.random, self.nodes, self.constants, self.n = np.random.default_rng(seed), [], [], 0
        self.channels = {}

    def constant(self, value, dtype=np.float32):
        name = f'k{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(np.array(value, dtype, order='C'), name))
        return name

    def ints(self, *values):
        return self.constant(values, np.int64)

    def weight(self, *shape):
        return self.constant(self.random.standard_normal(shape) * (2.0 / max(np.prod(shape[1:]), 1)) ** 0.5)

    def add(self, op, *inputs, outputs=1, **attrs):
        self.n += 1
        names = [f'{op}{self.n}{"abcdefgh"[i]}' for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=f'{op}_{self.n}', **attrs))
        for name in names:
            self.channels[name] = self.channels.get(inputs[0]) if inputs else None
        return names[0] if outputs == 1 else names

    def conv(self, x, made, size=3, stride=1, group=1, act='Relu', dilation=1):
        """A Conv with its bias and what follows it."""
        read = self.channels[x]
        group = read if group == 'each' else group
        y = self.add('Conv', x, self.weight(made, read // group, size, size),
                     self.constant(self.random.standard_normal(made) * 0.1),
                     kernel_shape=[size, size], strides=[stride] * 2, pads=[size // 2 * dilation] * 4, group=group,
                     dilations=[dilation] * 2)
        self.channels[y] = made
        return self.act(y, act)

    def act(self, x, act):
        if act is None:
            return x
        if act == 'swish':
            return self.add('Mul', x, self.add('Sigmoid', x))
        if act == 'PRelu':
            return self.add('PRelu', x, self.constant(self.random.random((self.channels[x], 1, 1)) * 0.3))
        if act == 'Relu6':
            return self.add('Clip', x, self.constant(0), self.constant(6))
        return self.add(act, x)

    def concat(self, *values, axis=1):
        y = self.add('Concat', *values, axis=axis)
        self.channels[y] = sum(self.channels[v] for v in values)
        return y

    def pool(self, x, size=2, stride=2, op='MaxPool'):
        pads = [(size - 1) // 2] * 4 if stride == 1 or size > 2 else [0] * 4
        return self.add(op, x, kernel_shape=[size, size], strides=[stride] * 2, pads=pads)

    def grow(self, x, mode='nearest'):
        extra = {'coordinate_transformation_mode': 'asymmetric', 'nearest_mode': 'floor'} if mode == 'nearest' else {}
        return self.add('Resize', x, '', self.constant([1, 1, 2, 2]), mode=mode, **extra)

    def gate(self, x, inner, act='HardSigmoid'):
        """Squeeze and excitation."""
        channels = self.channels[x]
        g = self.conv(self.add('GlobalAveragePool', x), inner, 1)
        return self.add('Mul', x, self.conv(g, channels, 1, act=act))

    def dense(self, x, read, made, act=None):
        y = self.add('Gemm', x, self.weight(read, made), self.constant(self.random.standard_normal(made) * 0.1))
        return self.add(act, y) if act else y

    def product(self, x, read, made):
        y = self.add('MatMul', x, self.constant(self.random.standard_normal((read, made)) / read ** 0.5))
        return self.add('Add', y, self.constant(self.random.standard_normal(made) * 0.1))

    def classify(self, x, n):
        return self.dense(self.add('Flatten', self.add('GlobalAveragePool', x)), self.channels[x], n)

    def norm(self, x, width):
        return self.add('LayerNormalization', x, self.constant(np.ones(width)), self.constant(np.zeros(width)), axis=-1)

    def attend(self, x, tokens, width, heads):
        q, k, v = [self.add('Transpose',
                            self.add('Reshape', self.product(x, width, width), self.ints(1, tokens, heads, width // heads)),
                            perm=[0, 2, 3, 1] if i == 1 else [0, 2, 1, 3]) for i in range(3)]
        scores = self.add('Softmax', self.add('Mul', self.add('MatMul', q, k), self.constant((width / heads) ** -0.5)), axis=-1)
        mixed = self.add('Reshape', self.add('Transpose', self.add('MatMul', scores, v), perm=[0, 2, 1, 3]),
                         self.ints(1, tokens, width))
        return self.product(mixed, width, width)

    def gelu(self, x):
        inner = self.add('Erf', self.add('Div', x, self.constant(2 ** 0.5)))
        return self.add('Mul', self.add('Mul', x, self.add('Add', inner, self.constant(1))), self.constant(0.5))

    def recur(self, op, x, read, hidden, both=False):
        gates, ways = {'LSTM': 4, 'GRU': 3, 'RNN': 1}[op], 1 + both
        extra = {'linear_before_reset': 1} if op == 'GRU' else {}
        y = self.add(op, x, self.weight(ways, gates * hidden, read), self.weight(ways, gates * hidden, hidden),
                     self.constant(np.zeros((ways, 2 * gates * hidden))), hidden_size=hidden,
                     direction='bidirectional' if both else 'forward', **extra)
        return self.add('Reshape', self.add('Transpose', y, perm=[0, 2, 1, 3]), self.ints(0, 0, ways * hidden))


def build(name, path):
    """Writes a network of NETWORKS."""
    make, shape = NETWORKS[name]
    net = Net(sum(map(ord, name)))
    net.channels['x'] = shape[1]
    outputs = make(net, 'x')
    outputs = [outputs] if isinstance(outputs, str) else outputs
    graph = helper.make_graph(net.nodes, name, [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs], net.constants)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)], ir_version=8)
    for made, known in zip(graph.output, shape_inference.infer_shapes(model).graph.output):
        made.CopyFrom(known)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)], ir_version=8), path)


# ---- classification ----

@network([1, 3, 128, 128])
def resnet(net, x):
    x = net.pool(net.conv(x, 64, 7, 2), 3, 2)
    for width, n, stride in ((64, 2, 1), (128, 2, 2), (256, 2, 2), (512, 2, 2)):
        for i in range(n):
            step = stride if i == 0 else 1
            side = x if net.channels[x] == width else net.conv(x, width, 1, step, act=None)
            x = net.add('Relu', net.add('Add', net.conv(net.conv(x, width, 3, step), width, act=None), side))
    return net.classify(x, 1000)


@network([1, 3, 128, 128])
def resnet_bottleneck(net, x):
    x = net.pool(net.conv(x, 32, 3, 2), 3, 2)
    for width, n, stride in ((64, 2, 1), (96, 3, 2), (128, 3, 2)):
        for i in range(n):
            step = stride if i == 0 else 1
            side = x if net.channels[x] == 4 * width and step == 1 else net.conv(x, 4 * width, 1, step, act=None)
            y = net.conv(net.conv(net.conv(x, width, 1), width, 3, step), 4 * width, 1, act=None)
            x = net.add('Relu', net.add('Add', y, side))
    return net.classify(x, 100)


@network([1, 3, 112, 112])
def resnext(net, x):
    x = net.conv(x, 64, 3, 2)
    for width, n, stride in ((128, 2, 2), (256, 2, 2)):
        for i in range(n):
            step = stride if i == 0 else 1
            side = x if net.channels[x] == width else net.conv(x, width, 1, step, act=None)
            inner = net.conv(net.conv(x, width, 1), width, 3, step, group=16)
            x = net.add('Relu', net.add('Add', net.conv(inner, width, 1, act=None), side))
    return net.classify(x, 100)


@network([1, 3, 160, 160])
def mobilenet_v1(net, x):
    x = net.conv(x, 16, 3, 2, act='Relu6')
    for width, stride in ((32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (256, 1), (512, 2), (512, 1)):
        x = net.conv(net.conv(x, net.channels[x], 3, stride, 'each', 'Relu6'), width, 1, act='Relu6')
    return net.add('Softmax', net.classify(x, 200))


def invert(net, x, grown, made, stride, size=3, act='Relu6', gate=False):
    y = net.conv(net.conv(x, grown, 1, act=act), grown, size, stride, 'each', act)
    y = net.conv(net.gate(y, grown // 4) if gate else y, made, 1, act=None)
    return net.add('Add', x, y) if stride == 1 and net.channels[x] == made else y


@network([1, 3, 192, 192])
def mobilenet_v2(net, x):
    x = net.conv(x, 16, 3, 2, act='Relu6')
    for width, n, stride in ((16, 1, 1), (24, 2, 2), (32, 3, 2), (64, 3, 2), (96, 2, 1), (160, 2, 2)):
        for i in range(n):
            x = invert(net, x, 6 * net.channels[x], width, stride if i == 0 else 1)
    return net.classify(net.conv(x, 640, 1, act='Relu6'), 1000)


@network([1, 3, 160, 160])
def mobilenet_v3(net, x):
    x = net.conv(x, 16, 3, 2, act='HardSwish')
    for width, grown, size, stride, gate in ((16, 16, 3, 2, True), (24, 72, 3, 2, False), (24, 88, 3, 1, False),
                                             (40, 96, 5, 2, True),
                                             (40, 240, 5, 1, True), (48, 144, 5, 1, True), (96, 288, 5, 2, True),
                                             (96, 576, 5, 1, True)):
        x = invert(net, x, grown, width, stride, size, 'HardSwish', gate)
    return net.classify(net.conv(x, 576, 1, act='HardSwish'), 1000)


@network([1, 3, 160, 160])
def efficientnet(net, x):
    x = net.conv(x, 32, 3, 2, act='swish')
    for width, n, size, stride in ((16, 1, 3, 1), (24, 2, 3, 2), (40, 2, 5, 2), (80, 2, 3, 2), (112, 2, 5, 1)):
        for i in range(n):
            x = invert(net, x, 6 * net.channels[x], width, stride if i == 0 else 1, size, 'swish', True)
    return net.classify(net.conv(x, 320, 1, act='swish'), 1000)


@network([1, 3, 128, 128])
def densenet(net, x):
    x = net.pool(net.conv(x, 48, 3, 2), 3, 2)
    for i, n in enumerate((5, 6, 6)):
        for _ in range(n):
            x = net.concat(x, net.conv(net.conv(x, 96, 1), 24))
        if i < 2:
            x = net.pool(net.conv(x, net.channels[x] // 2, 1), op='AveragePool')
    return net.classify(x, 100)


def shuffle(net, x, size, width):
    y = net.add('Reshape', x, net.ints(1, 2, width // 2, size, size))
    y = net.add('Reshape', net.add('Transpose', y, perm=[0, 2, 1, 3, 4]), net.ints(1, width, size, size))
    net.channels[y] = width
    return y


@network([1, 3, 160, 160])
def shufflenet(net, x):
    x, size = net.pool(net.conv(x, 24, 3, 2), 3, 2), 40
    for width, n in ((96, 3), (192, 5), (384, 3)):
        size //= 2
        a = net.conv(net.conv(x, net.channels[x], 3, 2, 'each', None), width // 2, 1)
        b = net.conv(net.conv(net.conv(x, width // 2, 1), width // 2, 3, 2, 'each', None), width // 2, 1)
        x = shuffle(net, net.concat(a, b), size, width)
        for _ in range(n):
            a, b = net.add('Split', x, net.ints(width // 2, width // 2), outputs=2, axis=1)
            net.channels[a] = net.channels[b] = width // 2
            b = net.conv(net.conv(net.conv(b, width // 2, 1), width // 2, 3, 1, 'each', None), width // 2, 1)
            x = shuffle(net, net.concat(a, b), size, width)
    return net.classify(net.conv(x, 512, 1), 200)


@network([1, 3, 128, 64])
def reidentification(net, x):
    """Several paths of different depth, joined by one gate that they share."""
    def light(y, width):
        return net.conv(net.conv(y, width, 1, act=None), width, 3, 1, 'each')
    x = net.pool(net.conv(x, 32, 7, 2), 3, 2)
    for width, n in ((128, 2), (192, 2), (256, 2)):
        for _ in range(n):
            inner = width // 4
            y, paths = net.conv(x, inner, 1), []
            for depth in range(1, 5):
                z = y
                for _ in range(depth):
                    z = light(z, inner)
                paths.append(net.gate(z, max(inner // 16, 4), 'Sigmoid'))
            z = paths[0]
            for p in paths[1:]:
                z = net.add('Add', z, p)
            side = x if net.channels[x] == width else net.conv(x, width, 1, act=None)
            x = net.add('Relu', net.add('Add', net.conv(z, width, 1, act=None), side))
        x = net.pool(net.conv(x, width, 1), op='AveragePool')
    return net.add('Relu', net.classify(x, 256))


@network([1, 3, 112, 112])
def face_prelu(net, x):
    x = net.conv(x, 64, 3, 2, act='PRelu')
    x = net.conv(x, 64, 3, 1, 'each', 'PRelu')
    for width, n, stride in ((64, 3, 2), (128, 3, 2), (128, 2, 1)):
        for i in range(n):
            y = net.conv(net.conv(x, 2 * width, 1, act='PRelu'), 2 * width, 3, stride if i == 0 else 1, 'each', 'PRelu')
            y = net.conv(y, width, 1, act=None)
            x = net.add('Add', x, y) if i else y
    x = net.conv(x, 256, 1, act='PRelu')
    return net.dense(net.add('Flatten', x), 256 * 14 * 14, 128)


@network([1, 3, 96, 96])
def inception(net, x):
    x = net.pool(net.conv(net.conv(x, 32, 3, 2), 64), 3, 2)
    for width in (64, 96, 128):
        for _ in range(2):
            x = net.concat(net.conv(x, width // 2, 1), net.conv(net.conv(x, width // 2, 1), width),
                           net.conv(net.conv(x, 16, 1), 32, 5),
                           net.conv(net.pool(x, 3, 1), 32, 1))
        x = net.pool(x, 3, 2)
    return net.classify(x, 100)


@network([1, 3, 128, 128])
def vgg(net, x):
    for width, n in ((32, 2), (64, 2), (128, 3), (256, 3)):
        for _ in range(n):
            x = net.conv(x, width)
        x = net.pool(x)
    x = net.dense(net.add('Flatten', x), 256 * 8 * 8, 512, 'Relu')
    return net.dense(net.add('Relu', net.dense(x, 512, 512)), 512, 100)


@network([1, 3, 96, 96])
def convnext(net, x):
    """Channels are moved to the end and back around each normalization."""
    x = net.add('Conv', x, net.weight(64, 3, 4, 4), strides=[4, 4], kernel_shape=[4, 4])
    net.channels[x] = 64
    for width, n in ((64, 2), (128, 2)):
        if net.channels[x] != width:
            x = net.add('Conv', x, net.weight(width, net.channels[x], 2, 2), strides=[2, 2], kernel_shape=[2, 2])
            net.channels[x] = width
        for _ in range(n):
            y = net.norm(net.add('Transpose', net.conv(x, width, 7, 1, 'each', None), perm=[0, 2, 3, 1]), width)
            y = net.product(net.gelu(net.product(y, width, 4 * width)), 4 * width, width)
            x = net.add('Add', x, net.add('Transpose', y, perm=[0, 3, 1, 2]))
            net.channels[x] = width
    return net.classify(x, 100)


# ---- detection, segmentation, pictures ----

def blend(net, x, width, n, act='swish'):
    """A block that splits channels, and joins all that it makes of one half."""
    y = net.conv(x, width, 1, act=act)
    a, b = net.add('Split', y, net.ints(width // 2, width // 2), outputs=2, axis=1)
    net.channels[a] = net.channels[b] = width // 2
    parts = [a, b]
    for _ in range(n):
        parts.append(net.add('Add', parts[-1], net.conv(net.conv(parts[-1], width // 2, act=act), width // 2, act=act)))
        net.channels[parts[-1]] = width // 2
    return net.conv(net.concat(*parts), width, 1, act=act)


@network([1, 3, 256, 256])
def yolo_split(net, x):
    """Boxes by a distribution, scores by a Sigmoid, both in one output."""
    x = net.conv(net.conv(x, 16, 3, 2, act='swish'), 32, 3, 2, act='swish')
    a = blend(net, net.conv(blend(net, x, 32, 1), 64, 3, 2, act='swish'), 64, 2)
    b = blend(net, net.conv(a, 128, 3, 2, act='swish'), 128, 2)
    c = blend(net, net.conv(b, 256, 3, 2, act='swish'), 256, 1)
    p = net.conv(c, 128, 1, act='swish')
    c = net.conv(net.concat(p, net.pool(p, 5, 1), net.pool(net.pool(p, 5, 1), 5, 1)), 256, 1, act='swish')
    b = blend(net, net.concat(net.grow(c), b), 128, 1)
    a = blend(net, net.concat(net.grow(b), a), 64, 1)
    levels = []
    for y, size in ((a, 32), (b, 16), (c, 8)):
        box = net.conv(net.conv(net.conv(y, 64, act='swish'), 64, act='swish'), 64, 1, act=None)
        scores = net.conv(net.conv(net.conv(y, 64, act='swish'), 64, act='swish'), 20, 1, act=None)
        levels.append(net.add('Reshape', net.concat(box, scores), net.ints(1, 84, size * size)))
    box, scores = net.add('Split', net.add('Concat', *levels, axis=2), net.ints(64, 20), outputs=2, axis=1)
    box = net.add('Softmax', net.add('Transpose', net.add('Reshape', box, net.ints(1, 4, 16, 1344)), perm=[0, 2, 1, 3]), axis=1)
    net.channels[box] = 16
    box = net.add('Conv', box, net.constant(np.arange(16).reshape(1, 16, 1, 1)), kernel_shape=[1, 1])
    box = net.add('Mul', net.add('Reshape', box, net.ints(1, 4, 1344)), net.constant(net.random.random((1, 1, 1344)) * 24 + 8))
    return net.add('Concat', box, net.add('Sigmoid', scores), axis=1)


@network([1, 3, 288, 288])
def detector_fast(net, x):
    """A backbone that shuffles channels, one level, a Sigmoid and a Softmax."""
    x, size = net.pool(net.conv(x, 24, 3, 2), 3, 2), 72
    levels = []
    for width, n in ((48, 3), (96, 7), (192, 3)):
        size //= 2
        a = net.conv(net.conv(x, net.channels[x], 3, 2, 'each', None), width // 2, 1)
        b = net.conv(net.conv(net.conv(x, width // 2, 1), width // 2, 3, 2, 'each', None), width // 2, 1)
        x = net.concat(a, b)
        for _ in range(n):
            y = net.add('Transpose', net.add('Reshape', x, net.ints(1, width // 2, 2, size, size)), perm=[2, 0, 1, 3, 4])
            a, b = (net.add('Gather', y, net.constant(i, np.int64), axis=0) for i in (0, 1))
            net.channels[a] = net.channels[b] = width // 2
            b = net.conv(net.conv(net.conv(b, width // 2, 1), width // 2, 3, 1, 'each', None), width // 2, 1)
            x = net.concat(a, b)
        levels.append(x)
    x = net.conv(net.concat(net.pool(levels[0], op='AveragePool'), levels[1], net.grow(levels[2])), 96, 1)
    y = net.conv(x, 96, 1)
    parts = [y, net.conv(y, 96, 5, 1, 'each'), net.conv(net.conv(y, 96, 5, 1, 'each'), 96, 5, 1, 'each')]
    x = net.conv(net.add('Add', net.conv(net.concat(*parts), 96, 1, act=None), y), 96, 1)
    heads = [net.conv(net.conv(x, 96, 5, 1, 'each'), n, 1, act=None) for n in (1, 4, 80)]
    return net.add('Concat', net.add('Sigmoid', heads[0]), heads[1], net.add('Softmax', heads[2], axis=1), axis=1)


@network([1, 3, 256, 256])
def text_regions(net, x):
    """Four levels joined, and grown to the size of the picture by ConvTranspose."""
    x, levels = net.conv(x, 8, 3, 2, act='HardSwish'), []
    for width, grown, stride, gate in ((8, 16, 1, False), (16, 48, 2, False), (24, 96, 2, True), (56, 144, 2, True),
                                       (56, 240, 1, True), (96, 288, 2, True)):
        x = invert(net, x, grown, width, stride, 3, 'HardSwish', gate)
        if stride == 2:
            levels.append(net.conv(x, 48, 1, act=None))
    joined = levels[-1]
    made = [joined]
    for level in reversed(levels[:-1]):
        joined = net.add('Add', level, net.grow(joined))
        net.channels[joined] = 48
        made.append(joined)
    made = [net.conv(m, 24, act=None) for m in made]
    for i in range(4):
        for _ in range(3 - i):
            made[i] = net.grow(made[i])
    x = net.conv(net.concat(*made), 24)
    for width, act in ((24, 'Relu'), (1, 'Sigmoid')):
        x = net.add('ConvTranspose', x, net.weight(24, width, 2, 2), net.constant(np.zeros(width)), strides=[2, 2],
                    kernel_shape=[2, 2])
        x = net.add(act, x)
    return x


@network([1, 3, 96, 96])
def unet(net, x):
    levels = []
    for width in (16, 32, 64):
        x = net.conv(net.conv(x, width), width)
        levels.append(x)
        x = net.pool(x)
    x = net.conv(net.conv(x, 128), 128)
    for level in reversed(levels):
        width = net.channels[level]
        x = net.add('ConvTranspose', x, net.weight(2 * width, width, 2, 2), net.constant(np.zeros(width)), strides=[2, 2],
                    kernel_shape=[2, 2])
        net.channels[x] = width
        x = net.conv(net.conv(net.concat(level, x), width), width)
    return net.conv(x, 2, 1, act='Sigmoid')


@network([1, 3, 160, 160])
def segment_atrous(net, x):
    x = net.conv(x, 24, 3, 2)
    for width, stride in ((48, 2), (96, 2), (96, 1)):
        x = net.conv(net.conv(x, net.channels[x], 3, stride, 'each'), width, 1)
    parts = [net.conv(x, 64, 1), *(net.conv(x, 64, 3, dilation=d) for d in (2, 4))]
    x = net.conv(net.concat(*parts), 64, 1)
    return net.grow(net.grow(net.conv(x, 8, 1, act=None), 'linear'), 'linear')


@network([1, 3, 96, 96])
def enlarge(net, x):
    first = x = net.conv(x, 32)
    for _ in range(4):
        x = net.add('Add', x, net.conv(net.conv(x, 32), 32, act=None))
        net.channels[x] = 32
    x = net.conv(net.add('Add', x, first), 12, act=None)
    return net.add('DepthToSpace', x, blocksize=2, mode='CRD')


@network([1, 3, 128, 128])
def key_points(net, x):
    """Two sizes beside each other, that are added up again and again."""
    x = net.conv(net.conv(x, 32, 3, 2), 32, 3, 2)
    a, b = x, net.conv(x, 64, 3, 2)
    for _ in range(3):
        for _ in range(2):
            a = net.add('Relu', net.add('Add', a, net.conv(net.conv(a, 32), 32, act=None)))
            b = net.add('Relu', net.add('Add', b, net.conv(net.conv(b, 64), 64, act=None)))
            net.channels[a], net.channels[b] = 32, 64
        grown, shrunk = net.grow(net.conv(b, 32, 1, act=None)), net.conv(a, 64, 3, 2, act=None)
        a, b = net.add('Relu', net.add('Add', a, grown)), net.add('Relu', net.add('Add', b, shrunk))
        net.channels[a], net.channels[b] = 32, 64
    return net.conv(a, 17, 1, act=None)


@network([1, 3, 160, 160])
def detector_leaky(net, x):
    for width in (16, 32, 64, 128, 256):
        x = net.pool(net.conv(x, width, act='LeakyRelu'))
    x = net.conv(net.conv(x, 256, act='LeakyRelu'), 128, 1, act='LeakyRelu')
    y = net.conv(net.conv(x, 256, act='LeakyRelu'), 75, 1, act=None)
    return net.add('Reshape', net.add('Transpose', y, perm=[0, 2, 3, 1]), net.ints(1, 75, 25))


# ---- sequences ----

@network([64, 1, 80])
def speech_lstm(net, x):
    x = net.recur('LSTM', x, 80, 128, True)
    x = net.recur('LSTM', x, 256, 128)
    return net.product(x, 128, 40)


@network([48, 1, 64])
def speech_gru(net, x):
    x = net.add('Relu', net.product(x, 64, 128))
    x = net.recur('GRU', x, 128, 192)
    x = net.recur('GRU', x, 192, 192)
    return net.add('Sigmoid', net.product(x, 192, 257))


@network([100, 1, 32])
def sequence_rnn(net, x):
    return net.product(net.recur('RNN', net.recur('RNN', x, 32, 256), 256, 256), 256, 16)


@network([1, 1, 32, 160])
def text_line(net, x):
    """Convolutions, then an LSTM over the columns."""
    for width, high in ((32, 2), (64, 2), (128, 1), (128, 2), (256, 1), (256, 2)):
        x = net.conv(x, width)
        x = net.add('MaxPool', x, kernel_shape=[high, high], strides=[high, high if width < 128 else 1]) if high > 1 else x
    x = net.add('ReduceMean', x, axes=[2], keepdims=0)
    x = net.recur('LSTM', net.add('Transpose', x, perm=[2, 0, 1]), 256, 96, True)
    return net.product(x, 192, 97)


@network([1, 64, 192])
def encoder(net, x):
    for _ in range(3):
        x = net.norm(net.add('Add', x, net.attend(x, 64, 192, 3)), 192)
        y = net.product(net.gelu(net.product(x, 192, 768)), 768, 192)
        x = net.norm(net.add('Add', x, y), 192)
    return net.product(x, 192, 32)


@network([1, 3, 112, 112])
def vision_transformer(net, x):
    x = net.add('Conv', x, net.weight(128, 3, 8, 8), net.constant(np.zeros(128)), strides=[8, 8], kernel_shape=[8, 8])
    x = net.add('Transpose', net.add('Reshape', x, net.ints(1, 128, 196)), perm=[0, 2, 1])
    x = net.add('Add', x, net.constant(net.random.standard_normal((1, 196, 128)) * 0.1))
    for _ in range(4):
        x = net.add('Add', x, net.attend(net.norm(x, 128), 196, 128, 4))
        y = net.product(net.gelu(net.product(net.norm(x, 128), 128, 512)), 512, 128)
        x = net.add('Add', x, y)
    return net.product(net.add('ReduceMean', net.norm(x, 128), axes=[1], keepdims=0), 128, 100)


@network([1, 40, 1, 300])
def sound_lines(net, x):
    for width, stride in ((64, 1), (96, 2), (96, 1), (128, 2), (128, 1)):
        y = net.add('Conv', x, net.weight(width, net.channels[x], 1, 5), net.constant(np.zeros(width)), kernel_shape=[1, 5],
                    pads=[0, 2, 0, 2],
                    strides=[1, stride])
        net.channels[y] = width
        x = net.act(y, 'Relu')
    return net.classify(x, 35)


@network([8, 512])
def perceptron(net, x):
    for read, made in ((512, 1024), (1024, 1024), (1024, 512), (512, 256)):
        x = net.dense(x, read, made, 'Relu')
    return net.dense(x, 256, 64)
