#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""gradients.py GRADIENTS_RUN [MODEL...]: gradients against those of PyTorch, for every case of tests/unit/train/gradient-cases.c
and for whole networks. Not part of the tests, as PyTorch is no dependency of them: run it with an interpreter that has torch (and
onnx, for networks), the program is build/tests/unit/train/gradients-run. PyTorch computes in float64, and knows nothing of ONNX:
each operator is written here with its functions. Without torch it says so and ends with 77."""
import glob
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f'skipped: {error}')
    sys.exit(77)

# Gradients are float32; sums of some hundred thousand numbers in networks are a little farther off.
NEAR_CASE = 1e-5
NEAR_NETWORK = 1e-4


def parse(text):
    """Attributes as tests/unit/ops/op-call.h has them in text."""
    attributes = {}
    for word in text.split():
        name, value = word.split('=', 1)
        if value.startswith('['):
            attributes[name] = [float(v) if '.' in value else int(v) for v in value[1:-1].split(',')]
        else:
            try:
                attributes[name] = float(value) if '.' in value or 'e' in value else int(value)
            except ValueError:
                attributes[name] = value
    return attributes


def ints(tensor):
    return [int(v) for v in tensor.reshape(-1)]


# ---- windows ----

def find_pads(a, sizes, kernel, strides, dilations):
    """(begin, end) of each axis."""
    n, auto = len(kernel), a.get('auto_pad', 'NOTSET')
    if not auto.startswith('SAME'):
        pads = a.get('pads', [0] * 2 * n)
        return [(pads[i], pads[n + i]) for i in range(n)]
    pairs = []
    for size, k, s, d in zip(sizes, kernel, strides, dilations):
        total = max(0, (-(-size // s) - 1) * s + (k - 1) * d + 1 - size)
        small = total // 2
        pairs.append((small, total - small) if auto == 'SAME_UPPER' else (total - small, small))
    return pairs


def pad(x, pairs, value=0.0):
    return F.pad(x, [p for pair in reversed(pairs) for p in pair], value=value)


def conv(a, x, w, b=None):
    n = w.dim() - 2
    strides, dilations = a.get('strides', [1] * n), a.get('dilations', [1] * n)
    x = pad(x, find_pads(a, x.shape[2:], w.shape[2:], strides, dilations))
    return [(F.conv1d, F.conv2d, F.conv3d)[n - 1](x, w, b, strides, 0, dilations, a.get('group', 1))]


def conv_transpose(a, x, w, b=None):
    n = w.dim() - 2
    strides, dilations = a.get('strides', [1] * n), a.get('dilations', [1] * n)
    extra = a.get('output_padding', [0] * n)
    y = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[n - 1](x, w, None, strides, 0, 0, a.get('group', 1),
                                                                            dilations)
    y = pad(y, [(0, e) for e in extra])
    wanted = a.get('output_shape')
    if a.get('auto_pad', 'NOTSET').startswith('SAME'):
        wanted = [size * s for size, s in zip(x.shape[2:], strides)]
    for i in range(n):
        if wanted:
            total = max(0, y.shape[2 + i] - wanted[i])
            begin = total // 2 if a.get('auto_pad') == 'SAME_UPPER' else total - total // 2
            end = total - begin
        else:
            begin, end = a.get('pads', [0] * 2 * n)[i], a.get('pads', [0] * 2 * n)[n + i]
        y = y.narrow(2 + i, begin, y.shape[2 + i] - begin - end)
    return [y if b is None else y + b.reshape([-1] + [1] * n)]


def windows(a, x, value):
    """What each window sees: batch, channels, outputs..., taps. @value: of padding."""
    kernel, n = a['kernel_shape'], len(a['kernel_shape'])
    strides, dilations = a.get('strides', [1] * n), a.get('dilations', [1] * n)
    pairs = find_pads(a, x.shape[2:], kernel, strides, dilations)
    outs, extended = [], []
    for size, k, s, d, (begin, end) in zip(x.shape[2:], kernel, strides, dilations, pairs):
        room = size + begin + end - (k - 1) * d - 1
        out = (-(-room // s) if a.get('ceil_mode') else room // s) + 1
        if a.get('ceil_mode') and (out - 1) * s >= size + begin:
            out -= 1
        outs.append(out)
        extended.append((begin, max(end, (out - 1) * s + (k - 1) * d + 1 - size - begin)))
    inside = pad(torch.ones_like(x), pairs, 1.0)
    inside = pad(inside, [(0, e - p[1]) for (_, e), p in zip(extended, pairs)])
    real = pad(torch.ones_like(x), extended)
    x = pad(x, extended, value)
    taps = []
    for t in np.ndindex(*kernel):
        at = tuple(slice(t[i] * dilations[i], t[i] * dilations[i] + (outs[i] - 1) * strides[i] + 1, strides[i]) for i in range(n))
        taps.append((x[(...,) + at], real[(...,) + at], inside[(...,) + at]))
    return [torch.stack(part, -1) for part in zip(*taps)]


def average_pool(a, x):
    seen, real, inside = windows(a, x, 0.0)
    return [seen.sum(-1) / (inside if a.get('count_include_pad') else real).sum(-1)]


def max_pool(a, x):
    best = windows(a, x, -float('inf'))[0].max(-1)
    return [best.values, None]


# ---- normalizations ----

def batch_norm(a, x, scale, b, mean, variance):
    shape = [1, -1] + [1] * (x.dim() - 2)
    factor = scale / torch.sqrt(variance + a.get('epsilon', 1e-5))
    return [(x - mean.reshape(shape)) * factor.reshape(shape) + b.reshape(shape)]


def group_norm(a, x, scale, b):
    groups = a.get('num_groups', x.shape[1])
    lines = x.reshape(x.shape[0], groups, -1)
    y = F.layer_norm(lines, lines.shape[2:], eps=a.get('epsilon', 1e-5)).reshape(x.shape)
    repeat = x.shape[1] // scale.shape[0]
    shape = [1, -1] + [1] * (x.dim() - 2)
    return [y * scale.repeat_interleave(repeat).reshape(shape) + b.repeat_interleave(repeat).reshape(shape)]


def layer_norm(a, x, scale, b=None):
    axis = a.get('axis', -1) % x.dim()
    return [F.layer_norm(x, x.shape[axis:], scale, b, a.get('epsilon', 1e-5)), None, None]


def rms_norm(a, x, scale):
    return [F.rms_norm(x, x.shape[a.get('axis', -1) % x.dim():], scale, a.get('epsilon', 1e-5))]


def skip_layer_norm(a, x, skip, gamma, beta=None, bias=None):
    total = x + skip + (0 if bias is None else bias)
    return [F.layer_norm(total, total.shape[-1:], gamma, beta, a.get('epsilon', 1e-12)), None, None, total]


def skip_rms_norm(a, x, skip, gamma, bias=None):
    total = x + skip + (0 if bias is None else bias)
    return [F.rms_norm(total, total.shape[-1:], gamma, a.get('epsilon', 1e-12))]


# ---- reductions ----

def reduce(function):
    def run(a, x, axes=None):
        axes = ints(axes) if axes is not None else a.get('axes', [])
        if not axes and a.get('noop_with_empty_axes'):
            return [x]
        return [function(x, tuple(v % x.dim() for v in axes) or tuple(range(x.dim())), bool(a.get('keepdims', 1)))]
    return run


def softmax(function):
    def run(a, x):
        if a['opset'] >= 13:
            return [function(x, a.get('axis', -1))]
        axis = a.get('axis', 1) % x.dim()
        return [function(x.reshape(x.shape[:axis] + (-1,)) if axis else x.reshape(-1), -1).reshape(x.shape)]
    return run


# ---- elements that move ----

def pad_node(a, x, pads=None, value=None):
    pads = ints(pads) if pads is not None else a['pads']
    pairs, n = list(zip(pads[:len(pads) // 2], pads[len(pads) // 2:])), x.dim()
    index = [np.pad(np.arange(x.shape[d]), [max(p, 0) for p in pairs[d]], mode=a['mode']
                    if a.get('mode', 'constant') != 'constant' else 'constant',
                    **({'constant_values': -1} if a.get('mode', 'constant') == 'constant' else {})) for d in range(n)]
    index = [i[max(-p[0], 0):len(i) - max(-p[1], 0)] for i, p in zip(index, pairs)]
    inside = torch.ones((), dtype=torch.bool)
    for d in range(n):
        x = x.index_select(d, torch.tensor(np.maximum(index[d], 0)))
        inside = inside.unsqueeze(-1) & torch.tensor(index[d] >= 0)
    return [torch.where(inside, x, value.reshape(()) if value is not None else torch.zeros((), dtype=x.dtype))]


def slice_node(a, x, starts=None, ends=None, axes=None, steps=None):
    starts = ints(starts) if starts is not None else a['starts']
    ends = ints(ends) if ends is not None else a['ends']
    axes = ints(axes) if axes is not None else a.get('axes', range(len(starts)))
    steps = ints(steps) if steps is not None else [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps):
        at = np.arange(x.shape[axis])[start:end:step]
        x = x.index_select(axis, torch.tensor(at.copy()))
    return [x]


def split_node(a, x, sizes=None):
    axis = a.get('axis', 0)
    sizes = ints(sizes) if sizes is not None else a.get('split') or [x.shape[axis] // a['n_outputs']] * a['n_outputs']
    return list(torch.split(x, sizes, axis))


def depth_to_space(a, x):
    b, (n, c, h, w) = a['blocksize'], x.shape
    if a.get('mode', 'DCR') == 'DCR':
        return [x.reshape(n, b, b, c // b // b, h, w).permute(0, 3, 4, 1, 5, 2).reshape(n, c // b // b, h * b, w * b)]
    return [F.pixel_shuffle(x, b)]


def space_to_depth(a, x):
    b, (n, c, h, w) = a['blocksize'], x.shape
    return [x.reshape(n, c, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)]


def gather_elements(a, x, index):
    axis = a.get('axis', 0)
    return [torch.gather(x, axis, index % x.shape[axis])]


def scatter_elements(a, x, index, updates):
    axis = a.get('axis', 0)
    return [torch.scatter(x, axis, index % x.shape[axis], updates)]


def scatter_nd(a, x, index, updates):
    return [x.index_put(tuple(index.unbind(-1)), updates)]


def gather(a, x, index):
    axis = a.get('axis', 0) % x.dim()
    flat = x.index_select(axis, (index % x.shape[axis]).reshape(-1))
    return [flat.reshape(x.shape[:axis] + index.shape + x.shape[axis + 1:])]


def reshape(a, x, shape=None):
    shape = ints(shape) if shape is not None else a['shape']
    return [x.reshape([x.shape[i] if s == 0 else s for i, s in enumerate(shape)])]


def squeeze(a, x, axes=None):
    axes = ints(axes) if axes is not None else a.get('axes')
    return [x.squeeze(tuple(axes)) if axes is not None else x.squeeze()]


def unsqueeze(a, x, axes=None):
    axes = ints(axes) if axes is not None else a['axes']
    for axis in sorted(v % (x.dim() + len(axes)) for v in axes):
        x = x.unsqueeze(axis)
    return [x]


# Only what PyTorch computes by a rule of its own: other ways to find places are left to the differences.
def resize(a, x, roi=None, scales=None, sizes=None):
    coord, mode = a.get('coordinate_transformation_mode', 'half_pixel'), a.get('mode', 'nearest')
    if a['opset'] < 11:
        scales, coord = roi, 'asymmetric'
    scales = scales.detach() if scales is not None else None
    out = ints(sizes)[2:] if sizes is not None else [int(np.floor(float(s) * n)) for s, n in zip(scales[2:], x.shape[2:])]
    whole = all(o % n == 0 for o, n in zip(out, x.shape[2:]))
    if mode == 'linear' and coord in ('half_pixel', 'align_corners') and not a.get('antialias'):
        return [F.interpolate(x, out, mode='bilinear', align_corners=coord == 'align_corners')]
    if mode == 'nearest' and whole:
        return [F.interpolate(x, out, mode='nearest')]
    return None


# ---- products ----

def gemm(a, x, w, c=None):
    x, w = (x.T if a.get('transA') else x), (w.T if a.get('transB') else w)
    y = a.get('alpha', 1.0) * (x @ w)
    return [y if c is None else y + a.get('beta', 1.0) * c]


def unary(function):
    return lambda a, x, *rest: [function(x)]


def binary(function):
    return lambda a, x, y: [function(x, y)]


def many(function):
    def run(a, *values):
        total = values[0]
        for value in values[1:]:
            total = function(total, value)
        return [total]
    return run


def clip(a, x, low=None, high=None):
    low = low if low is not None else torch.tensor(a['min']).to(x) if 'min' in a else None
    high = high if high is not None else torch.tensor(a['max']).to(x) if 'max' in a else None
    x = x if low is None else torch.where(x < low, low, x)
    return [x if high is None else torch.where(x > high, high, x)]


def bias_gelu(approximate):
    return lambda a, x, b=None: [F.gelu(x if b is None else x + b, approximate=approximate)]


# ---- layers with a state ----

def clipped(function, limit):
    return lambda x: function(x if not limit else torch.clamp(x, -limit, limit))


def rnn_cell(a, x, h, c, w, r, bias, peephole):
    return torch.tanh(x @ w.T + h @ r.T + sum(bias)), c


def gru_cell(a, x, h, c, w, r, bias, peephole):
    n = h.shape[-1]
    (wz, wr, wh), (rz, rr, rh), (wbz, wbr, wbh), (rbz, rbr, rbh) = [v.split(n) for v in (w, r, *bias)]
    z, reset = torch.sigmoid(x @ wz.T + h @ rz.T + wbz + rbz), torch.sigmoid(x @ wr.T + h @ rr.T + wbr + rbr)
    late = reset * (h @ rh.T + rbh) if a.get('linear_before_reset') else (reset * h) @ rh.T + rbh
    return (1 - z) * torch.tanh(x @ wh.T + wbh + late) + z * h, c


def lstm_cell(a, x, h, c, w, r, bias, peephole):
    n, limit = h.shape[-1], a.get('clip', 0)
    sigmoid, tanh = clipped(torch.sigmoid, limit), clipped(torch.tanh, limit)
    i, o, f, g = (x @ w.T + h @ r.T + sum(bias)).split(n, -1)
    pi, po, pf = peephole.split(n)
    i = sigmoid(i + pi * c)
    c = (1 - i if a.get('input_forget') else sigmoid(f + pf * c)) * c + i * tanh(g)
    return sigmoid(o + po * c) * torch.tanh(c), c


def recurrent(cell, gates):
    """One step after the other, each sample by itself: as ONNX says it, not by the layers of PyTorch."""
    def run(a, x, w, r, b=None, lengths=None, h0=None, c0=None, peephole=None):
        first = bool(a.get('layout'))
        x = x.transpose(0, 1) if first else x
        (steps, batch, _), n = x.shape, r.shape[2]
        states = [v.transpose(0, 1) if first and v is not None else v for v in (h0, c0)]
        lengths = ints(lengths) if lengths is not None else [steps] * batch
        zero, by_direction = torch.zeros(n, dtype=x.dtype), []
        for d in range(w.shape[0]):
            bias = b[d].split(gates * n) if b is not None else [torch.zeros(gates * n, dtype=x.dtype)] * 2
            of = peephole[d] if peephole is not None else torch.zeros(3 * n, dtype=x.dtype)
            samples = []
            for s in range(batch):
                h, c = [v[d, s] if v is not None else zero for v in states]
                times = list(range(lengths[s]))
                made = [zero] * steps
                for t in reversed(times) if a.get('direction') == 'reverse' or d == 1 else times:
                    made[t], c = cell(a, x[t, s], h, c, w[d], r[d], bias, of)
                    h = made[t]
                samples.append((torch.stack(made), h, c))
            by_direction.append([torch.stack(v, 1 if k == 0 else 0) for k, v in enumerate(zip(*samples))])
        y, h, c = [torch.stack(v, 1 if k == 0 else 0) for k, v in enumerate(zip(*by_direction))]
        return [y.permute(2, 0, 1, 3), h.transpose(0, 1), c.transpose(0, 1)] if first else [y, h, c]
    return run


def einsum(a, *operands):
    return [torch.einsum(a['equation'], *operands)]


def attention(a, q, k, v, mask=None, past_k=None, past_v=None):
    flat = q.dim() == 3
    if flat:
        q, k, v = [x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)
                   for x, heads in ((q, a['q_num_heads']), (k, a['kv_num_heads']), (v, a['kv_num_heads']))]
    k, v = [torch.cat([past, x], 2) if past is not None else x for past, x in ((past_k, k), (past_v, v))]
    shared = q.shape[1] // k.shape[1]
    scores = a.get('scale', q.shape[-1] ** -0.5) * q @ k.repeat_interleave(shared, 1).transpose(-1, -2)
    cap = a.get('softcap', 0)
    scores = cap * torch.tanh(scores / cap) if cap else scores
    scores = scores + mask if mask is not None else scores
    if a.get('is_causal'):
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1 + (past_k.shape[2] if past_k is not None else 0))
        scores = scores.masked_fill(later, -np.inf)
    y = torch.softmax(scores, -1) @ v.repeat_interleave(shared, 1)
    return [y.transpose(1, 2).flatten(2) if flat else y, k, v]


OPERATORS = {
    'Abs': unary(torch.abs), 'Add': binary(torch.add), 'AveragePool': average_pool, 'BatchNormalization': batch_norm,
    'Cast': lambda a, x: [x if a['to'] == 1 else x.long()],
    'Celu': lambda a, x: [F.celu(x, a.get('alpha', 1.0))], 'Clip': clip, 'Concat': lambda a, *x: [torch.cat(x, a['axis'])],
    'Conv': conv,
    'ConvTranspose': conv_transpose, 'Cos': unary(torch.cos), 'DepthToSpace': depth_to_space, 'Div': binary(torch.div),
    'Dropout': unary(lambda x: x), 'Elu': lambda a, x: [F.elu(x, a.get('alpha', 1.0))], 'Erf': unary(torch.erf),
    'Exp': unary(torch.exp),
    'Expand': lambda a, x, shape: [x * torch.ones(ints(shape),
                                                  dtype=x.dtype)], 'Flatten': lambda a, x: [x.flatten(a.get('axis', 1)).reshape(
        int(np.prod(x.shape[:a.get('axis', 1)])), -1)],
    'Gather': gather, 'GatherElements': gather_elements, 'GatherND': lambda a, x, index: [x[tuple(index.unbind(-1))]],
    'Gelu': lambda a, x: [F.gelu(x, approximate=a.get('approximate', 'none'))], 'Gemm': gemm,
    'GlobalAveragePool': unary(lambda x: x.mean(tuple(range(2, x.dim())), True)),
    'GlobalMaxPool': unary(lambda x: x.amax(tuple(range(2, x.dim())), True)), 'GroupNormalization': group_norm,
    'HardSigmoid': lambda a, x: [torch.clamp(a.get('alpha', 0.2) * x + a.get('beta', 0.5), 0,
                                             1)], 'HardSwish': unary(F.hardswish),
    'Identity': unary(lambda x: x), 'InstanceNormalization': group_norm, 'LayerNormalization': layer_norm,
    'LeakyRelu': lambda a, x: [F.leaky_relu(x, a.get('alpha', 0.01))], 'Log': unary(torch.log),
    'LogSoftmax': softmax(F.log_softmax),
    'MatMul': binary(torch.matmul), 'Max': many(torch.maximum), 'MaxPool': max_pool,
    'Mean': lambda a, *x: [many(torch.add)(a, *x)[0] / len(x)], 'Min': many(torch.minimum), 'Mish': unary(F.mish),
    'Mul': binary(torch.mul),
    'Neg': unary(torch.neg), 'PRelu': lambda a, x, slope: [torch.where(x < 0, slope * x,
                                                                       x)], 'Pad': pad_node, 'Pow': binary(torch.pow),
    'RMSNormalization': rms_norm, 'Reciprocal': unary(torch.reciprocal), 'ReduceL1': reduce(lambda x, d, k: x.abs().sum(d, k)),
    'ReduceL2': reduce(lambda x, d, k: torch.linalg.vector_norm(x, 2, d, k)), 'ReduceLogSumExp': reduce(torch.logsumexp),
    'ReduceMax': reduce(torch.amax), 'ReduceMean': reduce(torch.mean), 'ReduceMin': reduce(torch.amin),
    'ReduceSum': reduce(torch.sum),
    'ReduceSumSquare': reduce(lambda x, d, k: (x * x).sum(d, k)), 'Relu': unary(F.relu), 'Reshape': reshape, 'Resize': resize,
    'Shape': lambda a, x: [torch.tensor(x.shape)], 'ScatterElements': scatter_elements, 'ScatterND': scatter_nd,
    'Selu': unary(F.selu), 'Sigmoid': unary(torch.sigmoid),
    'SimplifiedLayerNormalization': rms_norm, 'Sin': unary(torch.sin), 'Slice': slice_node, 'Softmax': softmax(F.softmax),
    'Softplus': unary(F.softplus), 'Softsign': unary(F.softsign), 'SpaceToDepth': space_to_depth, 'Split': split_node,
    'Sqrt': unary(torch.sqrt), 'Squeeze': squeeze, 'Sub': binary(torch.sub), 'Sum': many(torch.add),
    'Swish': lambda a, x: [x * torch.sigmoid(a.get('alpha', 1.0) * x)], 'Tanh': unary(torch.tanh),
    'Attention': attention, 'Einsum': einsum, 'GRU': recurrent(gru_cell, 3), 'LSTM': recurrent(lstm_cell,
                                                                                               4), 'RNN': recurrent(rnn_cell, 1),
    'ThresholdedRelu': lambda a, x: [F.threshold(x, a.get('alpha', 1.0),
                                                 0.0)], 'Tile': lambda a, x, times: [x.repeat(ints(times))],
    'Transpose': lambda a, x: [x.permute(a.get('perm', list(reversed(range(x.dim())))))],
    'Trilu': lambda a, x: [torch.triu(x) if a.get('upper', 1) else torch.tril(x)], 'Unsqueeze': unsqueeze, 'Upsample': resize,
    'Where': lambda a, c, x, y: [torch.where(c, x, y)],
    'com.microsoft:BiasGelu': bias_gelu('none'), 'com.microsoft:FastGelu': bias_gelu('tanh'), 'com.microsoft:Gelu': unary(F.gelu),
    'com.microsoft:QuickGelu': lambda a, x: [x * torch.sigmoid(a.get('alpha', 1.702) * x)],
    'com.microsoft:SkipLayerNormalization': skip_layer_norm, 'com.microsoft:SkipSimplifiedLayerNormalization': skip_rms_norm,
}


def load(path, wants=False):
    if not os.path.exists(path):
        return None
    array = torch.tensor(np.load(path))
    return array.double().requires_grad_(wants) if array.dtype == torch.float32 else array


def distance(ours, theirs):
    """Largest difference, in units of the largest gradient, but at least of 1. Both undefined is no difference."""
    both = np.isnan(ours) & np.isnan(theirs)
    worst = np.where(both, 0, np.abs(ours - theirs)).max(initial=0)
    return worst / max(1, np.abs(theirs[~np.isnan(theirs)]).max(initial=0))


# ---- cases ----

def compare_case(folder, number, line):
    """Distances of the gradients of a case; None: PyTorch has no such rule."""
    name, opset, n_in, n_out, text = line.split('\t')
    attributes = {**parse(text), 'opset': int(opset), 'n_outputs': int(n_out)}
    inputs = [load(f'{folder}/{number}-in{i}.npy', True) for i in range(int(n_in))]
    outputs = OPERATORS[name](attributes, *inputs) if name in OPERATORS else None
    if outputs is None:
        return None
    loss = 0
    for o, y in enumerate(outputs):
        factor = load(f'{folder}/{number}-factor{o}.npy')
        if y is not None and factor is not None:
            loss = loss + (y * factor).sum()
    if not torch.is_tensor(loss):
        return None
    loss.backward()
    found = []
    for i, x in enumerate(inputs):
        path = f'{folder}/{number}-grad{i}.npy'
        if os.path.exists(path):
            found.append(distance(np.load(path).astype(np.float64), (torch.zeros_like(x) if x.grad is None else x.grad).numpy()))
    return found


def compare_cases(program):
    names, skipped, n, worst, faults = set(), [], 0, 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, 'cases', folder], check=True)
        lines = open(f'{folder}/list.txt', encoding='utf-8').read().splitlines()
        for number, line in enumerate(lines):
            found = compare_case(folder, number, line)
            what = ' '.join(line.split('\t')[0::4])
            if not found:
                if glob.glob(f'{folder}/{number}-grad*.npy'):
                    skipped.append(what)
                continue
            names.add(line.split('\t')[0])
            n += len(found)
            worst = max(worst, *found)
            if not max(found) <= NEAR_CASE:
                faults += 1
                print(f'WRONG   {what}: off by {max(found):.3g}')
    print(f'{n} gradients of {len(names)} operators ({len(lines)} cases): largest distance {worst:.2g}')
    print(f'not compared: {"; ".join(skipped) or "none"}')
    return faults + (n == 0)


# ---- networks ----

def bounded(a, ours, x, low=None, high=None):
    """Relu or Clip of x, with each element inside or on the bound where ours is: of millions of values some lie so near to a
    bound that they come out on its other side in float64, with another gradient."""
    low = 0 if a['op_type'] == 'Relu' else float(low.detach()) if low is not None else a.get('min', -np.inf)
    high = float(high.detach()) if high is not None else a.get('max', np.inf)
    return [torch.where((ours > low) & (ours < high), x, ours)]


def run_network(model, folder, dtype):
    """Output and gradients of the constants by PyTorch."""
    from onnx import helper, numpy_helper
    opset = next(o.version for o in model.opset_import if o.domain in ('', 'ai.onnx'))

    def convert(array):
        tensor = torch.tensor(np.array(array))
        return tensor.to(dtype) if tensor.dtype == torch.float32 else tensor

    constants = {tensor.name: convert(numpy_helper.to_array(tensor)) for tensor in model.graph.initializer}
    values = dict(constants)
    for tensor in constants.values():
        if tensor.dtype == dtype:
            tensor.requires_grad_()
    for i, name in enumerate(v.name for v in model.graph.input if v.name not in values):
        values[name] = convert(np.load(f'{folder}/input{i}.npy'))
    for i, node in enumerate(model.graph.node):
        a = {x.name: helper.get_attribute_value(x) for x in node.attribute}
        a = {k: v.decode() if isinstance(v, bytes) else v for k, v in a.items()}
        a.update(opset=opset, n_outputs=len(node.output), op_type=node.op_type)
        bound = f'{folder}/bound{i}.npy'
        if node.op_type == 'Constant':
            results = [convert(numpy_helper.to_array(a['value']))]
        elif os.path.exists(bound):
            results = bounded(a, convert(np.load(bound)), *[values[v] if v else None for v in node.input])
        else:
            results = OPERATORS[(node.domain + ':' if node.domain else '')
                                + node.op_type](a, *[values[v] if v else None for v in node.input])
        values.update(zip(node.output, results))
    y = values[model.graph.output[0].name]
    (y * convert(np.load(f'{folder}/factor0.npy'))).sum().backward()
    return y.detach().numpy(), [None if t.grad is None else t.grad.double().numpy() for t in constants.values()]


def compare_network(program, path):
    """In units of the largest gradient of each constant. Where a loss hardly depends on a constant, float32 is far off whoever
    computes: ours may be as far off as that of PyTorch."""
    import onnx
    model = onnx.load(path)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, 'network', path, folder], check=True)
        output, exact = run_network(model, folder, torch.float64)
        narrow = run_network(model, folder, torch.float32)[1]
        forward = distance(np.load(f'{folder}/output0.npy').astype(np.float64), output)
        rows = []
        for i, tensor in enumerate(model.graph.initializer):
            if os.path.exists(f'{folder}/grad{i}.npy') and exact[i] is not None:
                size = max(np.abs(exact[i]).max(), 1e-30)
                ours = np.load(f'{folder}/grad{i}.npy').astype(np.float64)
                rows.append((np.abs(ours - exact[i]).max() / size, np.abs(narrow[i] - exact[i]).max() / size, tensor.name))
    ours, theirs = [row[0] for row in rows], [row[1] for row in rows]
    print(f'{os.path.basename(path)}: output off by {forward:.2g}; gradients of {len(rows)} constants off by '
          f'{np.median(ours):.2g} (median), {max(ours):.2g} (worst); those of PyTorch in float32 by '
          f'{np.median(theirs):.2g}, {max(theirs):.2g}')
    wrong = (not rows or max(ours) > max(NEAR_NETWORK, 3 * max(theirs)) or
             np.median(ours) > max(NEAR_NETWORK, 3 * np.median(theirs)))
    if wrong:
        print(f'WRONG   {max(rows)[2] if rows else "nothing was compared"}')
    return wrong


if len(sys.argv) < 2:
    sys.exit(__doc__)
faults = compare_cases(sys.argv[1]) + sum(compare_network(sys.argv[1], path) for path in sys.argv[2:])
print(f'{faults} faults')
sys.exit(faults > 0)
