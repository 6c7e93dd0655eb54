# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks of well-known shapes with random weights, to measure on."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.n = [], [], 0

    def name(self, what):
        self.n += 1
        return '%s_%d' % (what, self.n)

    def weight(self, array):
        name = self.name('w')
        self.weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def node(self, op, inputs, **attributes):
        out = self.name(op)
        self.nodes.append(helper.make_node(op, inputs, [out], name='/' + out, **attributes))
        return out

    def conv(self, x, cin, cout, k, stride=1, groups=1, scale=1.0):
        fan = cin // groups * k * k
        w = self.rng.normal(0, scale * np.sqrt(2 / fan), (cout, cin // groups, k, k))
        b = self.rng.normal(0, 0.05, cout)
        return self.node('Conv', [x, self.weight(w), self.weight(b)], kernel_shape=[k, k], strides=[stride] * 2,
                         pads=[k // 2] * 4, group=groups)

    def classifier(self, x, cin):
        x = self.node('Flatten', [self.node('GlobalAveragePool', [x])], axis=1)
        w = self.weight(self.rng.normal(0, np.sqrt(1 / cin), (1000, cin)))
        return self.node('Gemm', [x, w, self.weight(np.zeros(1000))], transB=1)

    def ints(self, values):
        name = self.name('i')
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def dense(self, x, cin, cout):
        x = self.node('MatMul', [x, self.weight(self.rng.normal(0, np.sqrt(1 / cin), (cin, cout)))])
        return self.node('Add', [x, self.weight(self.rng.normal(0, 0.02, cout))])

    def layer_norm(self, x, width):
        """As exporters wrote it before there was an operator for it."""
        centred = self.node('Sub', [x, self.node('ReduceMean', [x], axes=[-1])])
        square = self.node('Pow', [centred, self.weight(np.array(2))])
        variance = self.node('ReduceMean', [square], axes=[-1])
        root = self.node('Sqrt', [self.node('Add', [variance, self.weight(np.array(1e-12))])])
        y = self.node('Mul', [self.node('Div', [centred, root]), self.weight(self.rng.normal(1, 0.1, width))])
        return self.node('Add', [y, self.weight(self.rng.normal(0, 0.1, width))])

    def gelu(self, x):
        e = self.node('Erf', [self.node('Div', [x, self.weight(np.array(np.sqrt(2)))])])
        y = self.node('Mul', [x, self.node('Add', [e, self.weight(np.array(1))])])
        return self.node('Mul', [y, self.weight(np.array(0.5))])

    def save(self, x, path, given=('input', TensorProto.FLOAT, [1, 3, 224, 224]), result=(1, 1000)):
        graph = helper.make_graph(
            self.nodes, 'generated', [helper.make_tensor_value_info(*given)],
            [helper.make_tensor_value_info(x, TensorProto.FLOAT, result)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
        onnx.save(model, path)


def resnet50(path):
    """The shape of ResNet-50 (stride in the 3x3 layers), BatchNormalization folded: 53 convolutions, 25.5 M weights."""
    b = Builder(50)
    x = b.node('Relu', [b.conv('input', 3, 64, 7, 2)])
    x = b.node('MaxPool', [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    cin = 64
    for stage, n in enumerate((3, 4, 6, 3)):
        mid = 64 << stage
        for i in range(n):
            stride = 2 if stage and not i else 1
            y = b.node('Relu', [b.conv(x, cin, mid, 1)])
            y = b.node('Relu', [b.conv(y, mid, mid, 3, stride)])
            y = b.conv(y, mid, mid * 4, 1, scale=0.3)
            if i == 0:
                x = b.conv(x, cin, mid * 4, 1, stride, scale=0.7)
            x = b.node('Relu', [b.node('Add', [y, x])])
            cin = mid * 4
    b.save(b.classifier(x, cin), path)


def mobilenetv2(path):
    """The shape of MobileNetV2 1.0, BatchNormalization folded: 52 convolutions, 3.5 M weights."""
    b = Builder(2)

    def relu6(x):
        return b.node('Clip', [x, b.weight(np.array(0)), b.weight(np.array(6))])

    x, cin = relu6(b.conv('input', 3, 32, 3, 2)), 32
    for t, c, n, s in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                       (6, 320, 1, 1)):
        for i in range(n):
            stride = s if i == 0 else 1
            y = x if t == 1 else relu6(b.conv(x, cin, cin * t, 1))
            y = relu6(b.conv(y, cin * t, cin * t, 3, stride, cin * t))
            y = b.conv(y, cin * t, c, 1, scale=0.7)
            x = b.node('Add', [x, y]) if stride == 1 and cin == c else y
            cin = c
    b.save(b.classifier(relu6(b.conv(x, cin, 1280, 1)), 1280), path)


def yolov8n(path, size=640):
    """The shape of YOLOv8n, BatchNormalization folded: 64 convolutions, 3.2 M weights, boxes of three scales joined."""
    b = Builder(8)

    def conv(x, cin, cout, k=1, stride=1):
        x = b.conv(x, cin, cout, k, stride, scale=1.3)
        return b.node('Mul', [x, b.node('Sigmoid', [x])])

    def halves(x, n):
        name = b.name('Split')
        outs = [name + '_a', name + '_b']
        b.nodes.append(helper.make_node('Split', [x, b.ints([n, n])], outs, name='/' + name, axis=1))
        return outs

    def c2f(x, cin, cout, n, adds):
        parts = halves(conv(x, cin, cout), cout // 2)
        for _ in range(n):
            y = conv(conv(parts[-1], cout // 2, cout // 2, 3), cout // 2, cout // 2, 3)
            parts.append(b.node('Add', [parts[-1], y]) if adds else y)
        return conv(b.node('Concat', parts, axis=1), (2 + n) * cout // 2, cout)

    def pooled(x, channels):
        parts = [conv(x, channels, channels // 2)]
        for _ in range(3):
            parts.append(b.node('MaxPool', [parts[-1]], kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2]))
        return conv(b.node('Concat', parts, axis=1), 2 * channels, channels)

    def doubled(x, other):
        x = b.node('Resize', [x, '', b.weight(np.array([1, 1, 2, 2]))], mode='nearest', nearest_mode='floor',
                   coordinate_transformation_mode='asymmetric')
        return b.node('Concat', [x, other], axis=1)

    x, kept = conv(conv('input', 3, 16, 3, 2), 16, 32, 3, 2), []
    for cin, cout, n in ((32, 64, 1), (64, 128, 2), (128, 256, 2), (256, None, 1)):
        x = c2f(x, cin, cin, n, True)
        kept.append(x)
        x = conv(x, cin, cout, 3, 2) if cout else pooled(x, cin)
    middle = c2f(doubled(x, kept[2]), 384, 128, 1, False)
    small = c2f(doubled(middle, kept[1]), 192, 64, 1, False)
    middle = c2f(b.node('Concat', [conv(small, 64, 64, 3, 2), middle], axis=1), 192, 128, 1, False)
    large = c2f(b.node('Concat', [conv(middle, 128, 128, 3, 2), x], axis=1), 384, 256, 1, False)
    boxes, scores, cells = [], [], 0
    for x, channels, stride in ((small, 64, 8), (middle, 128, 16), (large, 256, 32)):
        n = (size // stride) ** 2
        box = b.conv(conv(conv(x, channels, 64, 3), 64, 64, 3), 64, 64, 1)
        score = b.conv(conv(conv(x, channels, 80, 3), 80, 80, 3), 80, 80, 1)
        boxes.append(b.node('Reshape', [box, b.ints([1, 4, 16, n])]))
        scores.append(b.node('Reshape', [score, b.ints([1, 80, n])]))
        cells += n
    weights = b.node('Softmax', [b.node('Transpose', [b.node('Concat', boxes, axis=3)], perm=[0, 2, 1, 3])], axis=1)
    distance = b.node('Conv', [weights, b.weight(np.arange(16).reshape(1, 16, 1, 1))], kernel_shape=[1, 1])
    box = b.node('Mul', [b.node('Reshape', [distance, b.ints([1, 4, cells])]), b.weight(np.array(8))])
    out = b.node('Concat', [box, b.node('Sigmoid', [b.node('Concat', scores, axis=2)])], axis=1)
    b.save(out, path, ('input', TensorProto.FLOAT, [1, 3, size, size]), (1, 84, cells))


def bert(path, layers=12, width=768, heads=12, length=128, words=30522):
    """The shape of BERT-base, as PyTorch exports it: 110 M weights, LayerNorm and GELU in pieces."""
    b, inner = Builder(12), 4 * width

    def split(x, order):
        x = b.node('Reshape', [x, b.ints([1, length, heads, width // heads])])
        return b.node('Transpose', [x], perm=order)

    x = b.node('Gather', [b.weight(b.rng.normal(0, 1, (words, width))), 'input_ids'])
    x = b.layer_norm(b.node('Add', [x, b.weight(b.rng.normal(0, 0.3, (1, length, width)))]), width)
    for _ in range(layers):
        q, k, v = (b.dense(x, width, width) for _ in range(3))
        q, k, v = split(q, [0, 2, 1, 3]), split(k, [0, 2, 3, 1]), split(v, [0, 2, 1, 3])
        s = b.node('Div', [b.node('MatMul', [q, k]), b.weight(np.array(np.sqrt(width / heads)))])
        s = b.node('MatMul', [b.node('Softmax', [s], axis=-1), v])
        s = b.node('Reshape', [b.node('Transpose', [s], perm=[0, 2, 1, 3]), b.ints([1, length, width])])
        x = b.layer_norm(b.node('Add', [b.dense(s, width, width), x]), width)
        y = b.dense(b.gelu(b.dense(x, width, inner)), inner, width)
        x = b.layer_norm(b.node('Add', [y, x]), width)
    b.save(x, path, ('input_ids', TensorProto.INT64, [1, length]), (1, length, width))


GENERATED = {'resnet50-shaped': resnet50, 'mobilenetv2-shaped': mobilenetv2}
