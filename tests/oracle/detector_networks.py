# SPDX-License-Identifier: GPL-3.0-or-later
"""Small detectors for detectors.py, in the forms that people export: pictures of discs, squares and crosses on a noisy ground,
one backbone of random filters, and heads that are fitted to such pictures, so that boxes and scores follow what is seen. A head
is a function that adds its nodes and gives its outputs; beside each stands the decoder, in NumPy, of what it gives: rows x1 y1 x2
y2 score class."""
import functools

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

SIZE, N_CLASSES, STRIDES = 128, 3, (8, 16, 32)
LARGEST = (22, 42, 1000)        # boxes of each stride, in pixels
WIDTHS = (16, 24, 40, 48, 56)   # channels behind each halving
HIDDEN = 96
QUERIES = 48
SCORE, SUPPRESS = 0.25, 0.5
COLORS = np.array([[210, 60, 50], [60, 190, 80], [70, 90, 220]], np.float64)


# ---- pictures ----

def draw_picture(rng):
    """uint8 [H, W, 3], and rows x1 y1 x2 y2 class."""
    y, x = np.mgrid[:SIZE, :SIZE]
    slope = rng.uniform(-0.5, 0.5, (2, 3))
    picture = rng.uniform(80, 170, 3) + (x[..., None] - SIZE / 2) * slope[0] + (y[..., None] - SIZE / 2) * slope[1]
    rows = []
    for _ in range(rng.integers(1, 5)):
        w, h = np.exp(rng.uniform(np.log(12), np.log(64))) * rng.uniform(0.85, 1.15, 2)
        cx, cy, kind = rng.uniform(w / 2, SIZE - w / 2), rng.uniform(h / 2, SIZE - h / 2), rng.integers(N_CLASSES)
        box = np.array([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2, kind])
        if rows and iou(box, np.array(rows)).max() > 0.02:
            continue
        dx, dy = np.abs(x - cx) / (w / 2), np.abs(y - cy) / (h / 2)
        inside = [dx ** 2 + dy ** 2 < 1, np.maximum(dx, dy) < 1, (np.minimum(dx, dy) < 0.4) & (np.maximum(dx, dy) < 1)][kind]
        picture = np.where(inside[..., None], COLORS[kind] + rng.normal(0, 15, 3), picture)
        rows.append(box)
    return np.clip(picture + rng.normal(0, 6, picture.shape), 0, 255).astype(np.uint8), np.array(rows).reshape(-1, 5)


def as_input(picture):
    return (picture.astype(np.float32) / np.float32(255)).transpose(2, 0, 1)[None]


def list_centres():
    """x, y in cells, and strides, of all cells."""
    grids = [np.mgrid[:SIZE // s, :SIZE // s].reshape(2, -1) for s in STRIDES]
    return (np.concatenate([g[1] for g in grids]), np.concatenate([g[0] for g in grids]),
            np.concatenate([np.full(g.shape[1], s) for g, s in zip(grids, STRIDES)]))


def assign(rows):
    """For each cell the row that it stands for, or -1: those about a box's centre."""
    x, y, stride = list_centres()
    found = np.full(len(x), -1)
    for k, (x1, y1, x2, y2, _) in enumerate(rows):
        s = STRIDES[next(i for i, most in enumerate(LARGEST) if max(x2 - x1, y2 - y1) < most)]
        near = np.maximum(np.abs((x + 0.5) * stride - (x1 + x2) / 2), np.abs((y + 0.5) * stride - (y1 + y2) / 2))
        found[(stride == s) & (near <= max(0.75 * s, near[stride == s].min()))] = k
    return found


# ---- what decoders share ----

def iou(box, boxes):
    width = np.minimum(box[2], boxes[:, 2]) - np.maximum(box[0], boxes[:, 0])
    height = np.minimum(box[3], boxes[:, 3]) - np.maximum(box[1], boxes[:, 1])
    both = np.clip(width, 0, None) * np.clip(height, 0, None)
    return both / ((box[2] - box[0]) * (box[3] - box[1]) + (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]) - both
                   + 1e-12)


def choose(boxes, scores, labels=None, suppress=SUPPRESS):
    """Scores [N, classes], or [N] with labels; the best first."""
    labels = scores.argmax(axis=1) if labels is None else labels
    scores = scores.max(axis=1) if scores.ndim == 2 else scores
    rows = np.concatenate([boxes, scores[:, None], labels[:, None]], axis=1).astype(np.float64)[scores >= SCORE]
    rows, kept = rows[np.argsort(-rows[:, 4], kind='stable')], []
    while len(rows):
        kept.append(rows[0])
        rows = rows[1:]
        rows = rows[(rows[:, 5] != kept[-1][5]) | (iou(kept[-1], rows) <= suppress)]
    return np.array(kept).reshape(-1, 6)


def from_centres(v):
    return np.concatenate([v[:, :2] - v[:, 2:4] / 2, v[:, :2] + v[:, 2:4] / 2], axis=1)


def softmax(v):
    v = np.exp(v.astype(np.float64) - v.max(axis=-1, keepdims=True))
    return v / v.sum(axis=-1, keepdims=True)


# ---- networks ----

class Net:
    """A network under construction."""

    def __init__(self):
        self.nodes, self.constants, self.count = [], [], 0

    def constant(self, values):
        values = np.asarray(values)
        self.count += 1
        name = f'k{self.count}'
        self.constants.append(numpy_helper.from_array(values.astype(np.float32) if values.dtype.kind == 'f' else values, name))
        return name

    def add(self, kind, *inputs, name=None, **attributes):
        self.count += 1
        name = name or f'{kind.lower()}{self.count}'
        inputs = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        self.nodes.append(helper.make_node(kind, inputs, [name], name=f'{kind}_{self.count}', **attributes))
        return name

    def split(self, value, sizes, axis):
        names = [f'part{self.count}_{i}' for i in range(len(sizes))]
        self.count += 1
        self.nodes.append(helper.make_node('Split', [value, self.constant(np.array(sizes))], names, name=f'Split_{self.count}',
                                           axis=axis))
        return names

    def conv(self, x, weights, bias, stride=1, relu=True):
        pad = weights.shape[2] // 2
        y = self.add('Conv', x, weights, bias, strides=[stride] * 2, pads=[pad] * 4)
        return self.add('Relu', y) if relu else y

    def model(self, outputs, **metadata):
        graph = helper.make_graph(self.nodes, 'detector',
                                  [helper.make_tensor_value_info('images', onnx.TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
                                  [helper.make_tensor_value_info(o, onnx.TensorProto.FLOAT, None)
                                   for o in outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
        helper.set_model_props(model, metadata)
        return onnx.shape_inference.infer_shapes(model)


def run(model, pictures):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider'])
    found = [session.run(None, {'images': as_input(p)}) for p in pictures]
    return [np.concatenate(v) for v in zip(*found)]


class Backbone:
    """Random filters whose outputs have a mean and a deviation, by channel, on @pictures; the last of each stride are its
    features."""

    def __init__(self, pictures, seed=7):
        self.rng, self.pictures, self.layers = np.random.default_rng(seed), pictures[:12], []
        places = ['images']
        for i, width in enumerate(WIDTHS):
            places.append(self.fit(places[-1], (3, *WIDTHS)[i], width, 2))
        self.levels = []
        for i in range(len(STRIDES)):
            deep = self.fit(places[3 + i], WIDTHS[2 + i], HIDDEN, 1)
            self.levels.append(self.fit(deep, HIDDEN, HIDDEN, 1))

    def fit(self, place, n_in, n_out, stride):
        weights = self.rng.standard_t(4, (n_out, n_in, 3, 3)) / np.sqrt(9 * n_in)
        self.layers.append([place, weights, np.zeros(n_out), stride])
        values, = run(self.build(to_last=True), self.pictures)
        scale = self.rng.uniform(0.7, 1.4, n_out) / values.std(axis=(0, 2, 3))
        self.layers[-1][1] = weights * scale[:, None, None, None]
        self.layers[-1][2] = self.rng.normal(0, 0.5, n_out) - values.mean(axis=(0, 2, 3)) * scale
        return len(self.layers) - 1

    def add_to(self, net, to_last=False):
        values = {'images': 'images'}
        for i, (place, weights, bias, stride) in enumerate(self.layers):
            values[i] = net.conv(values[place], weights, bias, stride, relu=not (to_last and i == len(self.layers) - 1))
        return values

    def build(self, to_last=False):
        net = Net()
        values = self.add_to(net, to_last)
        return net.model([values[len(self.layers) - 1]] if to_last else [values[i] for i in self.levels])


class Fitted:
    """Linear maps of the features of each stride that say what is at a cell."""

    def __init__(self, n_pictures=400, seed=11):
        rng = np.random.default_rng(seed)
        drawn = [draw_picture(rng) for _ in range(n_pictures)]
        self.backbone = Backbone([p for p, _ in drawn])
        self.features = [np.moveaxis(v, 1, -1).reshape(n_pictures, -1, HIDDEN)
                         for v in run(self.backbone.build(), [p for p, _ in drawn])]
        self.at = [assign(rows) for _, rows in drawn]
        self.rows = [rows for _, rows in drawn]
        x, y, stride = list_centres()
        targets = np.stack([np.where(at[:, None] < 0, np.nan, np.vstack([rows, np.full((1, 5), np.nan)])[at])
                            for at, rows in zip(self.at, self.rows)])
        # from the cell's corner
        self.centre = (targets[..., :2] + targets[..., 2:4]) / 2 / stride[:, None] - np.stack([x, y], -1)
        self.size = (targets[..., 2:4] - targets[..., :2]) / stride[:, None]
        self.label = targets[..., 4]
        self.levels = [stride == s for s in STRIDES]

    def regress(self, level, values):
        """Weights [values, HIDDEN] and biases, from the cells that stand for a box; @values [pictures, cells, n]."""
        y = values[:, self.levels[level]].reshape(-1, values.shape[-1])
        x = self.features[level].reshape(-1, HIDDEN).astype(np.float64)
        some = np.isfinite(y).all(axis=1)
        x = np.concatenate([x[some], np.ones((some.sum(), 1))], axis=1)
        w = np.linalg.solve(x.T @ x + 0.3 * np.eye(HIDDEN + 1), x.T @ y[some]).T
        return w[:, :-1], w[:, -1]

    def classify(self, level, truth):
        """The same for logits; @truth: [pictures, cells, n] of 0 and 1. Of the cells without a box some stand for all."""
        y = truth[:, self.levels[level]].reshape(-1, truth.shape[-1])
        x = self.features[level].reshape(-1, HIDDEN).astype(np.float64)
        empty = y.sum(axis=1) == 0
        every = max(1, empty.sum() // 6000)
        some = ~empty | (np.cumsum(empty) % every == 0)
        weights = np.where(empty, every, 1)[some]
        x = np.concatenate([x[some], np.ones((some.sum(), 1))], axis=1)
        rows = np.array([fit_logits(x, y[some, k], weights) for k in range(y.shape[1])])
        return rows[:, :-1], rows[:, -1]

    @functools.lru_cache(maxsize=None)
    def classes(self, level):
        return self.classify(level, np.stack([(self.label == k).astype(float) for k in range(N_CLASSES)], axis=-1))

    def anything(self):
        return np.isfinite(self.label)[..., None].astype(float)


def fit_logits(x, y, weights, ridge=1.0, n_steps=12):
    """Newton's method, each step as long as it makes the loss smaller."""
    w = np.zeros(x.shape[1])

    def loss(w):
        return weights @ np.logaddexp(0, x @ w) - (x[y > 0] @ w).sum() + ridge / 2 * w @ w

    for _ in range(n_steps):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        step = np.linalg.solve((x * (weights * p * (1 - p))[:, None]).T @ x + ridge * np.eye(len(w)),
                               x.T @ (weights * (y - p)) - ridge * w)
        while np.abs(step).max() > 1e-4 and loss(w + step) > loss(w):
            step = step / 2
        w = w + step
    return w


def linear(net, x, *maps):
    """A Conv of one pixel that makes several maps side by side."""
    weights = np.concatenate([w for w, _ in maps])
    return net.conv(x, weights[:, :, None, None], np.concatenate([b for _, b in maps]), relu=False)


def grid(level):
    n = SIZE // STRIDES[level]
    y, x = np.mgrid[:n, :n].astype(np.float64)
    return np.stack([x, y])[None]


# ---- heads ----

def yolov8(net, features, fitted):
    """One output [1, 4 + classes, cells]: boxes in pixels from bins of distances, scores behind a Sigmoid."""
    bins, levels, weight = 16, [], 2.0
    for i, x in enumerate(features):
        sides = np.concatenate([fitted.size / 2 - fitted.centre + 0.5, fitted.size / 2 + fitted.centre - 0.5], axis=-1)
        w, b = fitted.regress(i, np.clip(sides, 0, bins - 1))
        k = np.arange(bins)
        distance = (w[:, None] * k[:, None] * weight).reshape(-1, HIDDEN), ((b[:, None] * k - k ** 2 / 2) * weight).ravel()
        levels.append(net.add('Reshape', linear(net, x, distance, fitted.classes(i)),
                              np.array([1, 4 * bins + N_CLASSES, -1])))
    boxes, classes = net.split(net.add('Concat', *levels, axis=2), [4 * bins, N_CLASSES], 1)
    shares = net.add('Softmax', net.add('Transpose', net.add('Reshape', boxes, np.array([1, 4, bins, -1])), perm=[0, 2, 1, 3]),
                     axis=1)
    sides = net.add('Reshape', net.add('Conv', shares, np.arange(bins, dtype=np.float64).reshape(1, bins, 1, 1)),
                    np.array([1, 4, -1]))
    before, behind = net.split(sides, [2, 2], 1)
    x, y, stride = list_centres()
    corners = net.constant(np.stack([x, y])[None] + 0.5)
    low, high = net.add('Sub', corners, before), net.add('Add', corners, behind)
    boxes = net.add('Concat', net.add('Div', net.add('Add', low, high), np.float64(2)), net.add('Sub', high, low), axis=1)
    boxes = net.add('Mul', boxes, stride[None, None].astype(float))
    return [net.add('Concat', boxes, net.add('Sigmoid', classes), axis=1, name='output0')]


def decode_yolov8(outputs):
    rows = outputs['output0'][0].T
    return choose(from_centres(rows), rows[:, 4:])


def yolov8_apart(net, features, fitted):
    """Boxes and scores of the same head in two outputs."""
    joined, = yolov8(net, features, fitted)
    last = net.nodes.pop()
    assert last.output[0] == joined
    return [net.add('Transpose', last.input[0], perm=[0, 2, 1], name='boxes'),
            net.add('Transpose', last.input[1], perm=[0, 2, 1], name='scores')]


def decode_apart(outputs):
    return choose(from_centres(outputs['boxes'][0]), outputs['scores'][0])


ANCHORS = (0.8, 1.3, 2.0)    # of a cell


def logit(v):
    v = np.clip(v, 0.02, 0.98)
    return np.log(v / (1 - v))


def yolov5(net, features, fitted):
    """One output [1, 3 * cells, 5 + classes]: three anchors, boxes in pixels, one Sigmoid for all, objectness beside classes."""
    levels = []
    for i, x in enumerate(features):
        maps, stride = [], STRIDES[i]
        size = np.sqrt(fitted.size[..., :1] * fitted.size[..., 1:])
        nearest = np.abs(np.log(size / (1.2 * np.array(ANCHORS)))).argmin(axis=-1)
        for k, anchor in enumerate(ANCHORS):
            mine = fitted.anything() * (nearest == k)[..., None]
            maps += [fitted.regress(i, logit((fitted.centre + 0.5) / 2)),
                     fitted.regress(i, logit(np.sqrt(fitted.size / anchor / 1.2) / 2)),
                     fitted.classify(i, mine), fitted.classes(i)]
        n = SIZE // stride
        all_of = net.add('Reshape', linear(net, x, *maps), np.array([1, 3, 5 + N_CLASSES, n, n]))
        all_of = net.add('Sigmoid', net.add('Transpose', all_of, perm=[0, 1, 3, 4, 2]))
        xy, wh, rest = net.split(all_of, [2, 2, 1 + N_CLASSES], 4)
        corners = np.moveaxis(grid(i), 1, -1)[:, None] - 0.5
        xy = net.add('Mul', net.add('Add', net.add('Mul', xy, np.float64(2)), corners), np.float64(stride))
        wh = net.add('Mul', net.add('Pow', net.add('Mul', wh, np.float64(2)), np.float64(2)),
                     np.array(ANCHORS).reshape(1, 3, 1, 1, 1) * 1.2 * stride)
        levels.append(net.add('Reshape', net.add('Concat', xy, wh, rest, axis=4), np.array([1, -1, 5 + N_CLASSES])))
    return [net.add('Concat', *levels, axis=1, name='output')]


def decode_yolov5(outputs):
    rows = outputs['output'][0]
    return choose(from_centres(rows), rows[:, 4:5] * rows[:, 5:])


def ssd(net, features, fitted):
    """Boxes as parts of the picture, and what Softmax makes of classes, the first of which is the background."""
    boxes, scores = [], []
    for i, x in enumerate(features):
        n, stride, anchor = SIZE // STRIDES[i], STRIDES[i], 1.5
        offset = fitted.regress(i, (fitted.centre - 0.5) / anchor / 0.1)
        size = fitted.regress(i, np.log(fitted.size / anchor) / 0.2)
        rows = net.add('Reshape', net.add('Transpose', linear(net, x, offset, size), perm=[0, 2, 3, 1]), np.array([1, n * n, 4]))
        d, s = net.split(rows, [2, 2], 2)
        centres = (np.moveaxis(grid(i), 1, -1).reshape(1, -1, 2) + 0.5) * stride / SIZE
        d = net.add('Add', net.add('Mul', d, np.float64(0.1 * anchor * stride / SIZE)), centres)
        s = net.add('Mul', net.add('Exp', net.add('Mul', s, np.float64(0.2))), np.float64(anchor * stride / SIZE / 2))
        boxes.append(net.add('Concat', net.add('Sub', d, s), net.add('Add', d, s), axis=2))
        w, b = fitted.classes(i)
        classes = linear(net, x, (np.zeros((1, HIDDEN)), np.zeros(1)), (w, b))
        scores.append(net.add('Reshape', net.add('Transpose', classes, perm=[0, 2, 3, 1]), np.array([1, n * n, 1 + N_CLASSES])))
    return [net.add('Softmax', net.add('Concat', *scores, axis=1), axis=2, name='scores'),
            net.add('Concat', *boxes, axis=1, name='boxes')]


def decode_ssd(outputs):
    return choose(outputs['boxes'][0], outputs['scores'][0][:, 1:])


def levels_apart(net, features, fitted):
    """Distances and scores of each stride in outputs of their own."""
    outputs = []
    for i, x in enumerate(features):
        sides = np.concatenate([fitted.size / 2 - fitted.centre + 0.5, fitted.size / 2 + fitted.centre - 0.5], axis=-1)
        scores = net.add('Sigmoid', linear(net, x, fitted.classes(i)))
        for what, v, n in ('cls', scores, N_CLASSES), ('bbox', net.add('Relu', linear(net, x, fitted.regress(i, sides))), 4):
            name = f'{what}_{STRIDES[i]}'
            outputs.append(net.add('Reshape', net.add('Transpose', v, perm=[0, 2, 3, 1]), np.array([1, -1, n]), name=name))
    return outputs


def decode_levels(outputs):
    x, y, stride = list_centres()
    v, scores = (np.concatenate([outputs[f'{what}_{s}'][0] for s in STRIDES]) for what in ('bbox', 'cls'))
    v = np.stack([x - v[:, 0], y - v[:, 1], x + v[:, 2], y + v[:, 3]], axis=1)
    v[:, [0, 2]] += 0.5
    v[:, [1, 3]] += 0.5
    return choose(v * stride[:, None], scores)


def detr(net, features, fitted):
    """Logits of classes, the last of which is nothing, and boxes as parts of the picture, of queries: the cells that look like
    something, which then see each other by attention."""
    tokens, boxes = [], []
    for i, x in enumerate(features):
        n, stride = SIZE // STRIDES[i], STRIDES[i]
        maps = fitted.regress(i, (fitted.centre - 0.5)), fitted.regress(i, np.log(fitted.size)), fitted.classes(i)
        rows = net.add('Reshape', net.add('Transpose', linear(net, x, *maps), perm=[0, 2, 3, 1]),
                       np.array([1, n * n, 4 + N_CLASSES]))
        offset, size, classes = net.split(rows, [2, 2, N_CLASSES], 2)
        centres = (np.moveaxis(grid(i), 1, -1).reshape(1, -1, 2) + 0.5)
        centre = net.add('Mul', net.add('Add', offset, centres), np.float64(stride / SIZE))
        size = net.add('Mul', net.add('Exp', size), np.float64(stride / SIZE))
        boxes.append(net.add('Concat', centre, size, axis=2))
        tokens.append(classes)
    classes, boxes = net.add('Concat', *tokens, axis=1), net.add('Concat', *boxes, axis=1)
    best = net.add('ReduceMax', classes, axes=[2], keepdims=1)
    net.nodes.append(helper.make_node('TopK', [best, net.constant(np.array([QUERIES]))], ['top', 'top_at'], axis=1, name='TopK'))
    chosen = [net.add('GatherElements', v, net.add('Expand', 'top_at', np.array([1, QUERIES, n])), axis=1)
              for v, n in ((classes, N_CLASSES), (boxes, 4))]
    alike = net.add('Softmax', net.add('MatMul', chosen[0], net.add('Transpose', chosen[0], perm=[0, 2, 1])), axis=2)
    mixed = net.add('Add', net.add('Mul', chosen[0], np.float64(0.8)),
                    net.add('Mul', net.add('MatMul', alike, chosen[0]), np.float64(0.2)))
    nothing = net.constant(np.zeros((1, QUERIES, 1)))
    return [net.add('Concat', mixed, nothing, axis=2, name='logits'),
            net.add('Clip', chosen[1], np.float32(0), np.float32(1), name='pred_boxes')]


def decode_detr(outputs):
    return choose(from_centres(outputs['pred_boxes'][0]), softmax(outputs['logits'][0])[:, :-1])


def centernet(net, features, fitted):
    """A map of scores whose tops are left, sizes and offsets in cells of 8 pixels."""
    x, deep, deeper = features
    n = SIZE // 8
    up = [x, *(net.add('Resize', v, '', np.array([1, 1, f, f], np.float32), mode='linear') for v, f in ((deep, 2), (deeper, 4)))]
    heat, size, offset = [], [], []
    for i, v in enumerate(up):
        scale = 2 ** i
        heat.append(linear(net, v, fitted.classes(i)))
        size.append(linear(net, v, fitted.regress(i, fitted.size * scale)))
        offset.append(linear(net, v, fitted.regress(i, fitted.centre * scale)))
    best = net.add('Concat', *(net.add('ReduceMax', h, axes=[1], keepdims=1) for h in heat), axis=1)
    share = net.add('Softmax', net.add('Mul', best, np.float64(3)), axis=1)
    shares = net.split(share, [1, 1, 1], 1)
    size = net.add('Sum', *(net.add('Mul', v, s) for v, s in zip(size, shares)))
    offset = net.add('Sum', *(net.add('Mul', v, s) for v, s in zip(offset, shares)))
    heat = net.add('Sigmoid', net.add('Max', *heat))
    tops = net.add('MaxPool', heat, kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1])
    keep = net.add('Where', net.add('Equal', heat, tops), heat, np.float32(0))
    return [net.add('Identity', keep, name='hm'), net.add('Relu', size, name='wh'), net.add('Identity', offset, name='reg')]


def decode_centernet(outputs):
    n = SIZE // 8
    y, x = np.mgrid[:n, :n]
    v = [outputs[k][0].reshape(outputs[k].shape[1], -1).T for k in ('hm', 'wh', 'reg')]
    centre = np.stack([x.ravel(), y.ravel()], axis=1) + v[2]
    return choose(8 * from_centres(np.concatenate([centre, v[1]], axis=1)), v[0], suppress=2)


def final(net, features, fitted):
    """What the boxes of the first head come to, chosen by TopK: rows of corners in pixels, score and class."""
    joined, = yolov8(net, features, fitted)
    rows = net.add('Transpose', joined, perm=[0, 2, 1])
    boxes, scores = net.split(rows, [4, N_CLASSES], 2)
    best = net.add('ReduceMax', scores, axes=[2], keepdims=1)
    net.nodes.append(helper.make_node('TopK', [best, net.constant(np.array([100]))], ['top', 'top_at'], axis=1, name='TopK'))
    boxes = net.add('GatherElements', boxes, net.add('Expand', 'top_at', np.array([1, 100, 4])), axis=1)
    kind = net.add('ArgMax', net.add('GatherElements', scores, net.add('Expand', 'top_at', np.array([1, 100, N_CLASSES])),
                                     axis=1), axis=2)
    centre, size = net.split(boxes, [2, 2], 2)
    half = net.add('Mul', size, np.float64(0.5))
    return [net.add('Concat', net.add('Sub', centre, half), net.add('Add', centre, half), 'top',
                    net.add('Cast', kind, to=onnx.TensorProto.FLOAT),
                    axis=2, name='detections')]


def decode_final(outputs):
    rows = outputs['detections'][0]
    return choose(rows[:, :4], rows[:, 4], np.rint(rows[:, 5]))


HEADS = {'yolov8': (yolov8, decode_yolov8), 'yolov8-apart': (yolov8_apart, decode_apart), 'yolov5': (yolov5, decode_yolov5),
         'ssd': (ssd, decode_ssd), 'levels': (levels_apart, decode_levels), 'detr': (detr, decode_detr),
         'centernet': (centernet, decode_centernet), 'final': (final, decode_final)}


def make_network(name, fitted):
    net = Net()
    values = fitted.backbone.add_to(net)
    outputs = HEADS[name][0](net, [values[i] for i in fitted.backbone.levels], fitted)
    model = net.model(outputs)
    onnx.checker.check_model(model, full_check=True)
    return model
