#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""operators.py ENGINE_RUN [OPERATOR...]

Single operators with attributes and sizes drawn at random (always the same ones), run by the engine and by
onnxruntime. A case onnxruntime refuses must be refused by the engine too or is passed over; every operator must
have been compared a few times. Exit 0, 1 or 77.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

ENOUGH = int(os.environ.get('VN_CASES', '10'))    # that both compute
CASES = 3 * ENOUGH                                # that are drawn at most
MIN_COMPARED = 8
RTOL, ATOL = 2e-4, 2e-5
MICROSOFT = 'com.microsoft'


class Case:
    """One node: inputs are arrays; a weight is an input the model holds itself."""

    def __init__(self, op, inputs, n_outputs=1, opset=17, domain='', version=1, weights=(), **attributes):
        self.op, self.inputs, self.n_outputs, self.opset = op, inputs, n_outputs, opset
        self.domain, self.version, self.weights, self.attributes = domain, version, set(weights), attributes

    def __str__(self):
        shapes = ' '.join('-' if x is None else 'x'.join(map(str, x.shape)) or 'scalar' for x in self.inputs)
        return '%s-%d(%s) %s' % (self.op, self.opset, shapes, self.attributes)

    def model(self):
        from onnx import helper, numpy_helper
        names = ['' if x is None else 'in%d' % i for i, x in enumerate(self.inputs)]
        outputs = ['out%d' % i for i in range(self.n_outputs)]
        node = helper.make_node(self.op, names, outputs, domain=self.domain, **self.attributes)
        given = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
                 for i, (n, x) in enumerate(zip(names, self.inputs)) if n and i not in self.weights]
        held = [numpy_helper.from_array(self.inputs[i], names[i]) for i in sorted(self.weights)]
        graph = helper.make_graph([node], 'case', given, [helper.ValueInfoProto(name=o) for o in outputs], held)
        opsets = [helper.make_opsetid('', self.opset)] + ([helper.make_opsetid(self.domain, self.version)] if self.domain else [])
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def feed(self):
        return {'in%d' % i: x for i, x in enumerate(self.inputs) if x is not None and i not in self.weights}


class Draw:
    def __init__(self, seed):
        import numpy as np
        self.np, self.rng = np, np.random.default_rng(seed)

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def ints(self, n, low, high):
        return [self.int(low, high) for _ in range(n)]

    def choice(self, items):
        return items[self.int(0, len(items) - 1)]

    def array(self, *shape):
        return self.rng.normal(0, 1, shape).astype(self.np.float32)

    def positive(self, *shape):
        return self.rng.uniform(0.1, 2, shape).astype(self.np.float32)

    def padding(self, n, kernel, dilation=None):
        pads = [self.int(0, max(0, k - 1)) for k in kernel] + [self.int(0, max(0, k - 1)) for k in kernel]
        way = self.int(0, 4)
        if way == 0:
            return {}
        if way == 1:
            return {'auto_pad': self.choice(['SAME_UPPER', 'SAME_LOWER', 'VALID'])}
        return {'pads': pads}


def conv(d, domain='', op='Conv'):
    n, groups, cin, cout = d.choice([1, 2, 2, 2, 3]), d.choice([1, 1, 2, 3]), d.int(1, 5), d.int(1, 6)
    if d.int(0, 3) == 0:
        groups, cin, cout = d.int(2, 20), 1, d.int(1, 2)
    kernel, stride, dilation = d.ints(n, 1, 4), d.ints(n, 1, 3), d.ints(n, 1, 2)
    size = [d.int((k - 1) * 2 + 1, 20) for k in kernel]
    padding = d.padding(n, kernel)
    if 'auto_pad' in padding:
        dilation = [1] * n
    inputs = [d.array(d.int(1, 2), groups * cin, *size), d.array(groups * cout, cin, *kernel)]
    if d.int(0, 1):
        inputs.append(d.array(groups * cout))
    attributes = dict(strides=stride, dilations=dilation, group=groups, **padding)
    if op == 'FusedConv':
        attributes.update(d.choice([{'activation': 'Relu'}, {'activation': 'Tanh'}, {'activation': 'Sigmoid'},
                                    {'activation': 'LeakyRelu', 'activation_params': [0.1]},
                                    {'activation': 'Clip', 'activation_params': [-0.5, 0.5]},
                                    {'activation': 'HardSigmoid', 'activation_params': [0.2, 0.5]}]))
    return Case(op, inputs, domain=domain, weights=range(1, len(inputs)) if d.int(0, 1) else (), **attributes)


def fused_conv(d):
    return conv(d, MICROSOFT, 'FusedConv')


def conv_transpose(d):
    n, groups, cin, cout = d.choice([1, 2, 2]), d.choice([1, 2]), d.int(1, 5), d.int(1, 5)
    kernel, stride, dilation = d.ints(n, 1, 4), d.ints(n, 1, 3), d.ints(n, 1, 2)
    size = d.ints(n, 2, 9)
    padding = d.padding(n, kernel)
    if 'auto_pad' in padding:
        dilation = [1] * n
    elif d.int(0, 1):
        padding['output_padding'] = [d.int(0, s - 1) for s in stride]
    inputs = [d.array(d.int(1, 2), groups * cin, *size), d.array(groups * cin, cout, *kernel)]
    if d.int(0, 1):
        inputs.append(d.array(groups * cout))
    return Case('ConvTranspose', inputs, strides=stride, dilations=dilation, group=groups, **padding)


def pool(op, d):
    n = d.choice([1, 2, 2, 3])
    kernel, stride = d.ints(n, 1, 4), d.ints(n, 1, 3)
    attributes = dict(kernel_shape=kernel, strides=stride, **d.padding(n, kernel))
    n_outputs = 1
    if 'auto_pad' not in attributes and op != 'LpPool':
        attributes['ceil_mode'] = d.int(0, 1)
    if op == 'MaxPool':
        n_outputs = d.int(1, 2)
        if 'auto_pad' not in attributes:
            attributes['dilations'] = d.ints(n, 1, 2)
        if n_outputs == 2:
            attributes['storage_order'] = d.int(0, 1)
    elif op == 'AveragePool':
        attributes['count_include_pad'] = d.int(0, 1)
    else:
        attributes['p'] = d.int(1, 3)
    return Case(op, [d.array(d.int(1, 2), d.int(1, 3), *[d.int(8, 15) for _ in range(n)])], n_outputs,
                opset=19 if op == 'AveragePool' else 17, **attributes)


def gemm(d):
    m, n, k, ta, tb = d.int(1, 140), d.int(1, 100), d.int(1, 70), d.int(0, 1), d.int(0, 1)
    inputs = [d.array(*((k, m) if ta else (m, k))), d.array(*((n, k) if tb else (k, n)))]
    c = d.choice([None, (n,), (m, 1), (1, n), (m, n), (1,), ()])
    if c is not None:
        inputs.append(d.array(*c))
    return Case('Gemm', inputs, weights=(1,) if d.int(0, 1) else (), transA=ta, transB=tb,
                alpha=d.choice([1.0, 0.5]), beta=d.choice([1.0, 2.0]))


def matmul(d):
    m, n, k = d.int(1, 140), d.int(1, 100), d.int(1, 70)
    lead = d.choice([((), ()), ((2,), ()), ((2, 3), (3,)), ((1, 3), (2, 1)), ((), (4,))])
    a, b = lead[0] + (m, k), lead[1] + (k, n)
    if d.int(0, 5) == 0:
        a = (k,)
    elif d.int(0, 5) == 0:
        b = (k,)
    return Case('MatMul', [d.array(*a), d.array(*b)], weights=(1,) if d.int(0, 1) else ())


def softmax(op, d):
    shape = d.ints(d.int(1, 4), 1, 9)
    opset = d.choice([7, 11, 13, 17])
    low = 0 if opset < 11 else -len(shape)
    return Case(op, [3 * d.array(*shape)], opset=opset, axis=d.int(low, len(shape) - 1))


def batch_norm(d):
    c, shape = d.int(1, 6), d.ints(d.int(0, 3), 1, 7)
    return Case('BatchNormalization', [d.array(2, c, *shape), d.array(c), d.array(c), d.array(c), d.positive(c)],
                opset=d.choice([7, 9, 14, 15]), epsilon=d.choice([1e-5, 1e-2]))


def instance_norm(d):
    c, shape = d.int(1, 6), d.ints(d.int(1, 3), 2, 9)
    return Case('InstanceNormalization', [d.array(2, c, *shape), d.array(c), d.array(c)], epsilon=1e-3)


def group_norm(d):
    groups, per, opset = d.int(1, 3), d.int(1, 4), d.choice([18, 21])
    n = groups if opset == 18 else groups * per
    return Case('GroupNormalization', [d.array(2, groups * per, 5, 6), d.array(n), d.array(n)], opset=opset,
                num_groups=groups)


def layer_norm(d):
    shape = d.ints(d.int(1, 4), 2, 9)
    axis = d.int(0, len(shape) - 1)
    inputs = [d.array(*shape), d.array(*shape[axis:])] + ([d.array(*shape[axis:])] if d.int(0, 1) else [])
    return Case('LayerNormalization', inputs, axis=axis - d.int(0, 1) * len(shape), epsilon=1e-4)


def lrn(d):
    return Case('LRN', [d.array(2, d.int(1, 9), 5, 6)], size=d.choice([1, 3, 5]), alpha=d.choice([1e-4, 1.0]),
                beta=d.choice([0.75, 0.5, 1.0]), bias=d.choice([1.0, 2.0]))


def prelu(d):
    slope = d.choice([(1,), (4, 1, 1), (2, 4, 3, 5), (5,), (3, 1)])
    return Case('PRelu', [d.array(2, 4, 3, 5), d.array(*slope)])


def fused_matmul(d):
    m, n, k, ta, tb = d.int(1, 140), d.int(1, 60), d.int(1, 70), d.int(0, 1), d.int(0, 1)
    lead = d.choice([((), ()), ((2,), ()), ((2, 3), (3,)), ((2, 3), (2, 3))])
    a, b = ((k, m) if ta else (m, k)), ((n, k) if tb else (k, n))
    return Case('FusedMatMul', [d.array(*lead[0] + a), d.array(*lead[1] + b)], domain=MICROSOFT, alpha=0.25, transA=ta,
                transB=tb, weights=(1,) if d.int(0, 1) else ())


def fused_gemm(d):
    case = gemm(d)
    case.op, case.domain = 'FusedGemm', MICROSOFT
    case.attributes.update(d.choice([{'activation': 'Relu'}, {'activation': 'Sigmoid'}, {'activation': 'Tanh'},
                                     {'activation': 'LeakyRelu', 'activation_alpha': 0.2}]))
    return case


def lp_norm(d):
    shape = d.ints(d.int(1, 4), 1, 9)
    return Case('LpNormalization', [d.array(*shape)], p=d.int(1, 2), axis=d.int(-len(shape), len(shape) - 1))


def mean_variance(d):
    axes = {'axes': d.choice([[0, 2, 3], [2, 3], [0], [1, 2, 3], [3]])} if d.int(0, 3) else {}
    return Case('MeanVarianceNormalization', [d.array(*d.ints(4, 2, 6))], **axes)


def einsum(d):
    a, b, c, e, f = d.ints(5, 1, 6)
    equation, shapes = d.choice([
        ('ij,jk->ik', [(a, b), (b, c)]), ('b h i d, b h j d -> b h i j', [(a, b, c, e), (a, b, f, e)]),
        ('bhij,bhjd->bhid', [(a, b, c, e), (a, b, e, f)]), ('ij->ji', [(a, b)]), ('ij->', [(a, b)]), ('ii->i', [(a, a)]),
        ('...ij,...jk->...ik', [(e, a, b), (e, b, c)]), ('...ij,jk', [(e, f, a, b), (b, c)]),
        ('bij,bjk', [(a, b, c), (a, c, e)]), ('i,j->ij', [(a,), (b,)]), ('ijk,k->ji', [(a, b, c), (c,)]),
        ('Bij,Bkj->kB', [(a, b, c), (a, e, c)])])
    return Case('Einsum', [d.array(*s) for s in shapes], equation=equation)


def skip_norm(d):
    b, s, h = d.int(1, 3), d.int(1, 5), d.int(2, 40)
    inputs = [d.array(b, s, h), d.array(*d.choice([(b, s, h), (1, s, h), (s, h)])), d.array(h),
              d.array(h) if d.int(0, 2) else None, d.array(h) if d.int(0, 1) else None]
    while inputs[-1] is None:
        inputs.pop()
    return Case('SkipLayerNormalization', inputs, domain=MICROSOFT, epsilon=1e-5)


def embed_norm(d):
    b, s, h = d.int(1, 3), d.int(1, 5), d.int(2, 20)
    ids, segments = d.np.array(d.ints(b * s, 0, 9), d.np.int32), d.np.array(d.ints(b * s, 0, 1), d.np.int32)
    return Case('EmbedLayerNormalization', [ids.reshape(b, s), segments.reshape(b, s), d.array(10, h), d.array(8, h),
                                            d.array(2, h), d.array(h), d.array(h)], 2, domain=MICROSOFT,
                epsilon=1e-5)


def bias_gelu(op, d):
    h = d.int(1, 50)
    bias = [d.array(h)] if op == 'BiasGelu' or d.int(0, 1) else []
    return Case(op, [d.array(2, d.int(1, 4), h)] + bias, domain=MICROSOFT)


def attention(d):
    b, s, n, h, past = d.int(1, 2), d.int(1, 5), d.int(1, 3), d.int(1, 8), d.choice([0, 0, 3])
    total, width = s + past, d.int(2, 12)
    mask = d.choice([None, d.np.array(d.ints(b * total, 0, 1), d.np.int32).reshape(b, total),
                     d.np.array(d.ints(b, 1, total), d.np.int32)])
    inputs = [d.array(b, s, width), d.array(width, 3 * n * h), d.array(3 * n * h), mask,
              d.array(2, b, n, past, h) if past else None]
    while inputs[-1] is None:
        inputs.pop()
    return Case('Attention', inputs, 2 if past else d.int(1, 2), domain=MICROSOFT, num_heads=n,
                unidirectional=d.int(0, 1))


def global_lp_pool(d):
    return Case('GlobalLpPool', [d.array(2, d.int(1, 5), *d.ints(d.int(1, 3), 1, 30))], p=d.int(1, 3))


def simplified_norm(d):
    shape = d.ints(d.int(1, 4), 2, 9)
    return Case('SimplifiedLayerNormalization', [d.array(*shape), d.array(shape[-1])], axis=-1, epsilon=1e-4)


def old(op, d):
    """Operators of ONNX's first years, which onnxruntime still knows."""
    attributes = {'scale': 0.5} if op == 'Scale' else {'alpha': d.choice([0.5, 1.5]), 'beta': d.choice([0.25, 2.0])}
    return Case(op, [3 * d.array(*d.ints(d.int(1, 4), 1, 20))], opset=7, **attributes)


def rotary_embedding(d):
    b, s, heads, half = d.int(1, 3), d.int(1, 5), d.int(1, 4), d.int(1, 8)
    angles = d.array(12, half)
    positions = d.np.array([d.int(0, 7)] if d.int(0, 1) else d.ints(b * s, 0, 11), d.np.int64)
    return Case('RotaryEmbedding', [d.array(b, s, heads * 2 * half), positions if positions.size == 1 else
                                    positions.reshape(b, s), d.np.cos(angles), d.np.sin(angles)], domain=MICROSOFT,
                interleaved=d.int(0, 1), weights=(2, 3))


def unary(op, opset, attributes, d, domain=''):
    return Case(op, [3 * d.array(*d.ints(d.int(1, 4), 1, 40))], opset=opset, domain=domain, **attributes(d))


def nothing(d):
    return {}


def alpha(d):
    return {'alpha': d.choice([0.1, 0.5, 1.5])}


def recurrent(op, gates, d):
    t, b, i, h, dirs = d.int(1, 7), d.int(1, 3), d.int(1, 5), d.int(1, 20), d.int(1, 2)
    inputs = [d.array(t, b, i), d.array(dirs, gates * h, i), d.array(dirs, gates * h, h)]
    optional = [d.array(dirs, 2 * gates * h), d.np.array(d.ints(b, 1, t), d.np.int32), d.array(dirs, b, h)]
    if op == 'LSTM':
        optional += [d.array(dirs, b, h), d.array(dirs, 3 * h)]
    inputs += [x if d.int(0, 2) else None for x in optional]
    while inputs[-1] is None:
        inputs.pop()
    attributes = {'hidden_size': h, 'direction': 'bidirectional' if dirs == 2 else d.choice(['forward', 'reverse'])}
    if op == 'GRU':
        attributes['linear_before_reset'] = d.int(0, 1)
    if d.int(0, 3) == 0:
        attributes['clip'] = 0.5
    if d.int(0, 2) == 0:
        first = ['Tanh'] if op == 'RNN' else ['Sigmoid', d.choice(['Tanh', 'Relu', 'Softsign'])]
        attributes['activations'] = (first + (['Tanh'] if op == 'LSTM' else [])) * dirs
    return Case(op, inputs, 3 if op == 'LSTM' else 2, opset=14, **attributes)


GENERATORS = {
    'Conv': conv, 'FusedConv': fused_conv, 'ConvTranspose': conv_transpose,
    'MaxPool': lambda d: pool('MaxPool', d), 'AveragePool': lambda d: pool('AveragePool', d),
    'LpPool': lambda d: pool('LpPool', d),
    'Gemm': gemm, 'MatMul': matmul, 'Einsum': einsum,
    'FusedMatMul': fused_matmul, 'FusedGemm': fused_gemm, 'LpNormalization': lp_norm,
    'MeanVarianceNormalization': mean_variance,
    'SkipLayerNormalization': skip_norm, 'EmbedLayerNormalization': embed_norm, 'Attention': attention,
    'BiasGelu': lambda d: bias_gelu('BiasGelu', d), 'FastGelu': lambda d: bias_gelu('FastGelu', d),
    'Softmax': lambda d: softmax('Softmax', d), 'LogSoftmax': lambda d: softmax('LogSoftmax', d),
    'Hardmax': lambda d: softmax('Hardmax', d),
    'BatchNormalization': batch_norm, 'InstanceNormalization': instance_norm, 'GroupNormalization': group_norm,
    'LayerNormalization': layer_norm, 'LRN': lrn, 'PRelu': prelu,
    'LSTM': lambda d: recurrent('LSTM', 4, d), 'GRU': lambda d: recurrent('GRU', 3, d),
    'RNN': lambda d: recurrent('RNN', 1, d),
    'GlobalLpPool': global_lp_pool, 'SimplifiedLayerNormalization': simplified_norm, 'RotaryEmbedding': rotary_embedding,
    'QuickGelu': lambda d: unary('QuickGelu', 17, alpha, d, MICROSOFT),
    'Affine': lambda d: old('Affine', d), 'ScaledTanh': lambda d: old('ScaledTanh', d), 'Scale': lambda d: old('Scale', d),
    'ParametricSoftplus': lambda d: old('ParametricSoftplus', d),
}
for name, opset, attributes in (('Relu', 14, nothing), ('LeakyRelu', 16, alpha), ('Elu', 6, alpha), ('Celu', 12, alpha),
                                ('Selu', 6, nothing), ('ThresholdedRelu', 10, alpha), ('Sigmoid', 13, nothing),
                                ('HardSigmoid', 6, alpha), ('HardSwish', 14, nothing), ('Tanh', 13, nothing),
                                ('Softplus', 1, nothing), ('Softsign', 1, nothing), ('Mish', 18, nothing),
                                ('Erf', 13, nothing), ('Gelu', 20, lambda d: {'approximate': d.choice(['none', 'tanh'])}),
                                ('GlobalMaxPool', 1, None), ('GlobalAveragePool', 1, None)):
    if attributes is None:
        GENERATORS[name] = lambda d, name=name: Case(name, [d.array(2, d.int(1, 5), *d.ints(d.int(1, 3), 1, 30))])
    else:
        GENERATORS[name] = lambda d, name=name, opset=opset, attributes=attributes: unary(name, max(opset, 7), attributes, d)


def run_engine(program, case, work, options=()):
    """The outputs, or the message why there are none."""
    import numpy as np
    import onnx
    path = os.path.join(work, 'case.onnx')
    onnx.save(case.model(), path)
    files = []
    for name, x in case.feed().items():
        files.append(os.path.join(work, name + '.npy'))
        np.save(files[-1], x)
    done = subprocess.run([program, *options, '--out', work, path] + files, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    return [np.load(os.path.join(work, 'out%d.npy' % i)) for i in range(case.n_outputs)], ''


def run_reference(case):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = oracle.open_session(case.model(), options)
        return session.run(None, case.feed())
    except Exception:
        return None


def check(program, case, rtol, atol):
    """'same', 'passed over' or what is wrong."""
    import numpy as np
    wanted = run_reference(case)
    if wanted is None:
        return 'passed over'
    with tempfile.TemporaryDirectory() as work:
        found, why = run_engine(program, case, work)
    if found is None:
        return why.splitlines()[0][:200] if why else 'crashed'
    for i, (a, b) in enumerate(zip(found, wanted)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return 'output %d is %s %s, expected %s %s' % (i, a.dtype, a.shape, b.dtype, b.shape)
        if not np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return 'output %d differs by up to %g' % (i, np.max(np.abs(a.astype(np.float64) - b)))
    return 'same'


def run_all(groups):
    """Each group: generators by name, and the tolerances of their results."""
    oracle.use_oracle_python()
    program, failed = sys.argv[1], 0
    for generators, rtol, atol in groups:
        for name in sorted(n for n in generators if n in sys.argv[2:] or len(sys.argv) == 2):
            draw, compared = Draw(sum(map(ord, name))), 0
            for _ in range(CASES):
                case = generators[name](draw)
                result = check(program, case, rtol, atol)
                compared += result == 'same'
                if compared == ENOUGH:
                    break
                if result not in ('same', 'passed over'):
                    failed += 1
                    print('FAILED %s: %s' % (case, result))
            print('%-24s %d cases compared' % (name, compared))
            if compared < MIN_COMPARED:
                failed += 1
                print('FAILED %s: too few cases were compared' % name)
    print('%d failed' % failed)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    run_all([(GENERATORS, RTOL, ATOL)])
