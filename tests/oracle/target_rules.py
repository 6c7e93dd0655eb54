#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""target_rules.py CLI SOURCE [NETWORK.onnx...]: every target of `list targets` on three small networks, or those named.

What each runtime reads stands here once more, written down from what is documented of it, not from our table: types, zero points,
where pairs stand, which operators stay float, axes of channels, biases, normalizations, scales that are presumed or shared. A
target without a line fails. Each export passes the checker and, but for formats of other tools, runs in onnxruntime: near the
float network.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

LINEAR = {'Conv', 'ConvTranspose', 'Gemm', 'MatMul'}
ALL_AXES = {'Conv': 0, 'ConvTranspose': 1, 'Gemm': None, 'MatMul': None}
TFLITE = {'Softmax': (1 / 256, -128), 'Sigmoid': (1 / 256, -128), 'Tanh': (1 / 128, 0)}
LEAST_DB = 12

# By target: activations, weights: types; zero: that of activations, None: any; linear: pairs before products alone; floats:
# operators that neither read pairs nor write them; axes: operators whose weights may have channels; bias; fixed: scale and zero
# point behind an operator; powers: scales are powers of two; shared: of operators all ends have one scale; opset: at most;
# moved: no 1x1 convolution leaves pixels out of what others need not compute; plain: no pairs at all; gamma: type of scales of
# normalizations; least: of scales of zeros; static: no input has a size that is open; large: what ModelOpt leaves in float for
# TensorRT is in float, and of what a convolution is added to the other input has a pair; blocks: weights of 4 bits have scales
# for so many numbers, which are integers times those of channels, as onnxruntime-qnn's lpbq fusions read them, all else has none.
U8 = dict(activations={'uint8'}, weights={'int8'}, axes=ALL_AXES, bias='int32', least=True)
S8 = dict(U8, activations={'int8'})
HTP = dict(U8, axes={'Conv': 0, 'Gemm': None}, floats={'Cast', 'Erf', 'GRU'}, gamma='uint8', static=True)
LITERT = dict(S8, fixed=TFLITE, shared={'Concat'}, opset=17, static=True)
RULES = {
    'ort-cpu': dict(U8, moved=True), 'ort-cpu-wide': dict(U8, activations={'uint16'}, moved=True),
    'ort-cpu-no-vnni': dict(U8, moved=True, bits=7), 'ort-arm': dict(S8, moved=True),
    'openvino-cpu': dict(U8, linear=True, moved=True), 'openvino-cpu-no-vnni': dict(U8, linear=True, moved=True, bits=7),
    'tract': dict(U8, floats={'Softmax'}, free=True),
    'openvino-npu': dict(U8, linear=True, moved=True, static=True), 'qnn-htp': HTP,
    'qnn-htp-wide': dict(HTP, activations={'uint16'}, fixed={'Sigmoid': (1 / 65536, 0), 'Tanh': (1 / 32768, 32768)}),
    'qnn-htp-4bit': dict(HTP, activations={'uint16'}, weights={'int8', 'int4'}, axes=ALL_AXES, blocks=32,
                         fixed={'Sigmoid': (1 / 65536, 0), 'Tanh': (1 / 32768, 32768)}),
    'litert': LITERT, 'neutron': LITERT, 'st-neural-art': dict(S8, opset=20, static=True),
    'rknn': dict(S8, opset=19, static=True),
    'esp-dl': dict(S8, zero=0, powers=True, axes={}, floats={'Softmax', 'LogSoftmax'}, shared={'Concat'}, least=False,
                   static=True),
    'esp-dl-wide': dict(S8, activations={'int16'}, weights={'int16'}, zero=0, powers=True, axes={}, floats={'Softmax'},
                        least=False, static=True),
    'tidl': dict(S8, zero=0, static=True),
    'amd-npu-cnn': dict(U8, powers=True, axes={}, bias='int8', approximate=True, least=False, static=True),
    'amd-vaiml': dict(S8, zero=0, powers=True, axes={}, bias='int8', static=True),
    'amd-transformer': dict(S8, axes={}, least=False, static=True),
    'tensorrt': dict(S8, zero=0, linear=True, bias='float', opset=19, float_weights=True, large=True),
    'tensorrt-fp8': dict(activations={'float8_e4m3fn'}, weights={'float8_e4m3fn'}, axes=ALL_AXES, zero=0, linear=True,
                         bias='float', opset=21, large=True, unoptimized=True),
    'directml': dict(U8, floats={'Gemm', 'Mul', 'Softmax', 'LeakyRelu', 'Resize', 'Where'}),
    'web-wasm': dict(U8, moved=True, bits=7), 'web-webgpu': dict(plain=True), 'web-webgpu-wide': dict(plain=True),
    'hailo': dict(plain=True, static=True), 'web-webnn': dict(U8, static=True), 'coreml': dict(plain=True, static=True),
    'spacemit': dict(S8, bias=None, axes={'Conv': 0}, approximate=True, least=False),
}


# ---- networks ----

def build(name, nodes, weights, shape, out, opset):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(out, TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(v, k) for k, v in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model)


def make_residual():
    """Strides in 1x1 convolutions, sums, joins, gates."""
    import numpy as np
    from onnx import helper

    rng, w, nodes = np.random.default_rng(3), {}, []

    def add(op, inputs, out, **attributes):
        nodes.append(helper.make_node(op, inputs, [out], name=out, **attributes))
        return out

    def conv(x, cin, cout, k, out, stride=1):
        w[out + '.w'] = rng.normal(0, math.sqrt(2 / (cin * k * k)), (cout, cin, k, k)).astype(np.float32)
        w[out + '.b'] = rng.normal(0, 0.1, cout).astype(np.float32)
        return add('Conv', [x, out + '.w', out + '.b'], out, kernel_shape=[k, k], strides=[stride] * 2, pads=[k // 2] * 4)

    x = add('Relu', [conv('x', 3, 16, 3, 'stem')], 'stem.r')
    a = add('Relu', [conv(x, 16, 16, 1, 'a', 2)], 'a.r')
    y = add('Relu', [add('Add', [conv(a, 16, 32, 3, 'b'), conv(x, 16, 32, 1, 'short', 2)], 'sum')], 'sum.r')
    gate = add('Sigmoid', [conv(add('GlobalAveragePool', [y], 'pool'), 32, 32, 1, 'gate')], 'gate.s')
    y = add('Mul', [y, gate], 'gated')
    y = add('Concat', [y, add('Tanh', [conv(y, 32, 8, 3, 'side')], 'side.t')], 'joined', axis=1)
    w['up.w'] = rng.normal(0, 0.1, (40, 8, 2, 2)).astype(np.float32)
    y = add('ConvTranspose', [y, 'up.w'], 'up', kernel_shape=[2, 2], strides=[2, 2])
    w['fc.w'] = rng.normal(0, 0.3, (10, 8)).astype(np.float32)
    w['fc.b'] = rng.normal(0, 0.1, 10).astype(np.float32)
    y = add('Flatten', [add('GlobalAveragePool', [add('LeakyRelu', [y], 'leaky')], 'pool2')], 'flat')
    y = add('Softmax', [add('Gemm', [y, 'fc.w', 'fc.b'], 'fc', transB=1)], 'out', axis=-1)
    return build('residual', nodes, w, ['batch', 3, 16, 16], y, 13)


def make_transformer():
    """A block of attention: products of two activations, normalization, GELU in pieces, a bias of zeros."""
    import numpy as np
    from onnx import helper

    rng, w, nodes, width = np.random.default_rng(4), {}, [], 16

    def add(op, inputs, out, **attributes):
        nodes.append(helper.make_node(op, inputs, [out], name=out, **attributes))
        return out

    def dense(x, cin, cout, out, zeros=False):
        w[out + '.w'] = rng.normal(0, math.sqrt(1 / cin), (cin, cout)).astype(np.float32)
        w[out + '.b'] = np.zeros(cout, np.float32) if zeros else rng.normal(0, 0.1, cout).astype(np.float32)
        return add('Add', [add('MatMul', [x, out + '.w'], out + '.m'), out + '.b'], out)

    w['g'], w['h'] = rng.normal(1, 0.1, width).astype(np.float32), rng.normal(0, 0.1, width).astype(np.float32)
    x = add('LayerNormalization', ['x', 'g', 'h'], 'norm', axis=-1)
    q, k, v = dense(x, width, width, 'q'), dense(x, width, width, 'k', True), dense(x, width, width, 'v')
    s = add('Softmax', [add('MatMul', [q, add('Transpose', [k], 'kt', perm=[0, 2, 1])], 'scores')], 'weights', axis=-1)
    x = add('Add', [dense(add('MatMul', [s, v], 'mixed'), width, width, 'proj', True), 'x'], 'res')
    y = dense(x, width, 2 * width, 'up')
    w['root'], w['one'], w['half'] = (np.array(n, np.float32) for n in (math.sqrt(2), 1, 0.5))
    e = add('Add', [add('Erf', [add('Div', [y, 'root'], 'div')], 'erf'), 'one'], 'plus')
    y = add('Mul', [add('Mul', [y, e], 'times'), 'half'], 'gelu')
    return build('transformer', nodes, w, [1, 'length', width], add('Add', [dense(y, 2 * width, width, 'down'), x], 'out'), 17)


# ---- rules ----

class Export:
    def __init__(self, path):
        import onnx
        from onnx import numpy_helper

        self.model = onnx.load(path)
        graph = self.model.graph
        self.nodes = list(graph.node)
        self.arrays = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
        self.arrays.update((n.output[0], numpy_helper.to_array(n.attribute[0].t)) for n in self.nodes
                           if n.op_type == 'Constant' and n.attribute[0].name == 'value')
        self.producers = {o: n for n in self.nodes for o in n.output}
        self.readers = {}
        for n in self.nodes:
            for i in n.input:
                self.readers.setdefault(i, []).append(n)
        self.opset = next(o.version for o in self.model.opset_import if o.domain in ('', 'ai.onnx'))

    def scale(self, node):
        return self.value(node.input[1])

    def value(self, name):
        """A constant, or what a DequantizeLinear without blocks makes of one."""
        import numpy as np
        if name in self.arrays:
            return self.arrays[name]
        node = self.producers[name]
        x, scale = self.arrays[node.input[0]], self.arrays[node.input[1]]
        axis = next((a.i for a in node.attribute if a.name == 'axis'), 1)
        return x * (scale.reshape([-1 if i == axis else 1 for i in range(x.ndim)]) if scale.ndim else scale).astype(np.float32)

    def zero(self, node):
        import numpy as np
        return self.arrays[node.input[2]] if len(node.input) > 2 and node.input[2] else np.zeros((), np.uint8)

    def pair_before(self, name):
        """The DequantizeLinear that gives @name, if one does."""
        node = self.producers.get(name)
        return node if node is not None and node.op_type == 'DequantizeLinear' else None

    def quantizers_behind(self, name):
        return [n for n in self.readers.get(name, []) if n.op_type == 'QuantizeLinear']

    def weight_of(self, node):
        """DequantizeLinear or initializer of the constant that @node multiplies by."""
        return self.pair_before(node.input[1]) if len(node.input) > 1 else None

    def is_constant(self, name):
        node = self.producers.get(name)
        return name in self.arrays or (node is not None and node.op_type in ('QuantizeLinear', 'DequantizeLinear') and
                                       self.is_constant(node.input[0]))


def check(export, rule, faults):
    import numpy as np

    pairs = [n for n in export.nodes if n.op_type in ('QuantizeLinear', 'DequantizeLinear')]
    n_checked = 0
    shapes = [d.dim_value for i in export.model.graph.input for d in i.type.tensor_type.shape.dim]
    if rule.get('static', False) != all(shapes):
        faults.append('sizes of inputs: %s' % shapes)
    if rule.get('plain'):
        if any(n.op_type == 'QuantizeLinear' for n in pairs):
            faults.append('has pairs')
        return 1
    if not pairs:
        faults.append('has no pairs')
    if rule.get('large'):
        check_large(export, faults)
    if 'opset' in rule and export.opset > rule['opset']:
        faults.append('opset %d' % export.opset)
    for node in pairs:
        constant, kind = export.is_constant(node.input[0]), str(export.zero(node).dtype)
        n_checked += 1
        if not constant and not rule.get('approximate') and kind not in rule['activations']:
            faults.append('%s: activation %s' % (node.input[0], kind))
        if not constant and 'zero' in rule and np.any(export.zero(node) != rule['zero']):
            faults.append('%s: zero point' % node.input[0])
        if rule.get('powers') and np.any(np.log2(export.scale(node)) % 1 != 0):
            faults.append('%s: no power of two' % node.input[0])
        if rule.get('least') and node.input[0] in export.arrays and not export.arrays[node.input[0]].any() and \
                export.scale(node).max() > 1e-3:
            faults.append('%s: zeros with scale %g' % (node.input[0], export.scale(node).max()))
    for node in export.nodes:
        n_checked += check_product(export, rule, node, faults) if node.op_type in LINEAR else 0
        n_checked += check_others(export, rule, node, faults) if node.op_type not in LINEAR else 0
    return n_checked


def check_product(export, rule, node, faults):
    import numpy as np

    weight = export.weight_of(node)
    if weight is None or not export.is_constant(node.input[1]):
        if weight is not None and rule.get('linear'):
            faults.append('%s: a product of two activations' % node.name)
        return 1
    if rule.get('float_weights') and (weight.input[0] in export.arrays):
        faults.append('%s: weights are no float behind pairs' % node.name)
    if str(export.zero(weight).dtype) not in rule['weights'] and not rule.get('approximate'):
        faults.append('%s: weight %s' % (node.name, export.zero(weight).dtype))
    if np.any(export.zero(weight) != 0):
        faults.append('%s: weight with a zero point' % node.name)
    if 'bits' in rule and np.abs(export.arrays[weight.input[0]].astype(int)).max() > 64:
        faults.append('%s: weights use 8 bits' % node.name)
    if 'blocks' in rule and str(export.zero(weight).dtype) == 'int4':
        check_blocks(export, node, weight, rule['blocks'], faults)
    elif export.scale(weight).size > 1:
        axis = next((a.i for a in weight.attribute if a.name == 'axis'), 1)
        if node.op_type not in rule['axes'] or rule['axes'][node.op_type] not in (None, axis):
            faults.append('%s: a scale for each channel of axis %d' % (node.name, axis))
    if len(node.input) > 2 and node.op_type != 'MatMul' and rule['bias'] is not None and not is_block(export, rule, weight):
        bias = export.pair_before(node.input[2])
        kind = 'float' if bias is None else str(export.arrays[bias.input[0]].dtype)
        if kind != rule['bias']:
            faults.append('%s: bias %s' % (node.name, kind))
    if rule.get('linear') and export.quantizers_behind(node.output[0]) and any(
            n.op_type not in (LINEAR | {'Add'} if rule.get('large') else LINEAR) for q in export.quantizers_behind(node.output[0])
            for d in export.readers[q.output[0]] for n in export.readers[d.output[0]]):
        faults.append('%s: a pair behind it' % node.name)
    if rule.get('moved') and node.op_type == 'Conv':
        check_strides(export, node, faults)
    return 1


def is_block(export, rule, weight):
    return 'blocks' in rule and str(export.zero(weight).dtype) == 'int4'


def check_blocks(export, node, weight, block, faults):
    import numpy as np

    attributes = {a.name: a.i for a in weight.attribute}
    gemm = {a.name: a.i for a in node.attribute}
    scale, axis = export.producers.get(weight.input[1]), int(node.op_type == 'Gemm')
    if attributes.get('axis') != axis or attributes.get('block_size') != block or axis != gemm.get('transB', 0):
        faults.append('%s: blocks %s, %s' % (node.name, attributes, gemm))
    if node.op_type == 'Gemm' and (len(node.input) < 3 or node.input[2] not in export.arrays or
                                   export.arrays[node.input[2]].dtype != np.float32):
        faults.append('%s: no float bias' % node.name)
    if scale is None or scale.op_type != 'DequantizeLinear' or scale.attribute[0].i != 1 - axis:
        faults.append('%s: no products as scales of blocks' % node.name)
        return
    factors, channels, zeros = (export.arrays[i] for i in scale.input)
    if factors.dtype != np.uint8 or factors.min() < 1 or factors.max() > 15 or zeros.any() or \
            channels.shape != (factors.shape[1 - axis],) or channels.dtype != np.float32 or \
            factors.shape[axis] * block != export.arrays[weight.input[0]].shape[axis]:
        faults.append('%s: scales of blocks %s %s' % (node.name, factors.shape, channels.shape))


def is_worth_integers(export, node, shapes):
    """For TensorRT, as ModelOpt sees it."""
    x = export.producers[node.input[0]] if node.input[0] in export.producers else None
    if node.op_type in ('Gemm', 'MatMul'):
        return 1 not in shapes[node.output[0]][-2:]
    if node.op_type != 'Conv':
        return True
    attributes = {a.name: a.i for a in node.attribute}
    out, inner, *kernel = shapes[node.input[1]]
    into, group = inner * attributes.get('group', 1), attributes.get('group', 1)
    if min(into, out) >= 16:
        return True
    first = x is None or (x.op_type == 'DequantizeLinear' and x.input[0] in export.producers and
                          export.producers[x.input[0]].input[0] not in export.producers)
    return out % 8 == 0 and (min(kernel) >= 3 if group > 1 else len(set(kernel)) == 1 and (first or max(into, out) >= 16))


def check_large(export, faults):
    import onnx

    graph = onnx.shape_inference.infer_shapes(export.model).graph
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in
              list(graph.value_info) + list(graph.input) + list(graph.output)}
    shapes.update((name, list(a.shape)) for name, a in export.arrays.items())
    n = 0
    for node in export.nodes:
        if node.op_type in LINEAR and export.weight_of(node) is not None:
            n += 1
            if not is_worth_integers(export, node, shapes):
                faults.append('%s is small' % node.name)
        given = [export.producers.get(i) for i in node.input]
        convs = [g is not None and g.op_type == 'Conv' and len(export.readers[g.output[0]]) == 1 for g in given]
        if node.op_type == 'Add' and any(convs) and not any(export.is_constant(i) for i in node.input):
            others = [export.pair_before(i) for i, conv in zip(node.input, convs) if not conv]
            if not others or None in others:
                faults.append('%s: no pair beside the convolution' % node.name)
    if n == 0:
        faults.append('nothing is quantized')


def check_strides(export, node, faults):
    """Somebody else may read what it leaves out."""
    attributes = {a.name: list(a.ints) for a in node.attribute if a.ints}
    if attributes.get('kernel_shape') == [1, 1] and max(attributes.get('strides', [1])) > 1:
        readers = [n for n in export.readers.get(node.input[0], [])]
        if all(n.op_type == 'Conv' for n in readers):
            faults.append('%s: a stride' % node.name)


def check_others(export, rule, node, faults):
    if node.op_type in ('QuantizeLinear', 'DequantizeLinear'):
        return 0
    behind = [q for o in node.output for q in export.quantizers_behind(o)]
    before = [export.pair_before(i) for i in node.input]
    after = {n.op_type for q in behind for d in export.readers[q.output[0]] for n in export.readers.get(d.output[0], [])}
    if rule.get('linear') and not (rule.get('large') and node.op_type == 'Add') and any(
            p is not None and not any(n.op_type in LINEAR for n in export.readers[p.output[0]])
                                  for p in before):   # others may read what is there for a product
        faults.append('%s (%s) reads a pair' % (node.name, node.op_type))
    if node.op_type in rule.get('floats', ()) and any(before) and behind and after <= rule['floats']:
        faults.append('%s (%s) between pairs' % (node.name, node.op_type))
    for kind, (scale, zero) in rule.get('fixed', {}).items():
        for q in behind if node.op_type == kind and not after & rule.get('shared', set()) else []:
            if not math.isclose(float(export.scale(q)), scale, rel_tol=1e-6) or int(export.zero(q)) != zero:
                faults.append('%s: scale %g, zero point %d' % (node.name, float(export.scale(q)), int(export.zero(q))))
    if node.op_type in rule.get('shared', ()):
        scales = {float(export.scale(p)) for p in before if p is not None} | {float(export.scale(q)) for q in behind}
        if len(scales) > 1:
            faults.append('%s: %d scales' % (node.name, len(scales)))
    if node.op_type == 'LayerNormalization' and 'gamma' in rule and before[1] is not None:
        if str(export.zero(before[1]).dtype) != rule['gamma'] or str(export.arrays[before[2].input[0]].dtype) != 'int32':
            faults.append('%s: scale %s' % (node.name, export.zero(before[1]).dtype))
    return 1


# ---- all ----

def measure(path, float_path, feeds, unoptimized):
    """Worst dB of an output in onnxruntime beside the float network; @unoptimized: pairs are run as they stand."""
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.add_session_config_entry('session.disable_quant_qdq', str(int(unoptimized)))
    options.log_severity_level = 3
    ours, float_ = (oracle.open_session(p, options) for p in (path, float_path))
    name, noise, signal = float_.get_inputs()[0].name, 0, 0
    for x in feeds:
        for a, b in zip(float_.run(None, {name: x}), ours.run(None, {name: x})):
            noise, signal = noise + np.sum((a - b.astype(np.float64)) ** 2), signal + np.sum(a.astype(np.float64) ** 2)
    return 10 * math.log10(signal / max(noise, 1e-30))


def write_networks(folder, named):
    import numpy as np
    import onnx

    for model in [] if named else [make_residual(), make_transformer()]:
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, os.path.join(folder, model.graph.name + '.onnx'))
        named = named + [os.path.join(folder, model.graph.name + '.onnx')]
    rng = np.random.default_rng(5)
    for path in named:
        shape = [d.dim_value or {'length': 12}.get(d.dim_param, 1) for d in
                 onnx.load(path).graph.input[0].type.tensor_type.shape.dim]
        data = os.path.join(folder, os.path.basename(path) + '.data')
        os.makedirs(data)
        feeds = [rng.normal(0, 1, shape).astype(np.float32) for _ in range(12)]
        for i, x in enumerate(feeds):
            np.save(os.path.join(data, '%02d.npy' % i), x)
        yield path, data, feeds[9:]


def main():
    import onnx

    cli, named, failed, n = sys.argv[1], sys.argv[3:], 0, 0
    listed = subprocess.run([cli, 'list', 'targets', '--json'], capture_output=True, text=True, check=True)
    targets = json.loads(listed.stdout)['targets']
    unknown = {t['id'] for t in targets} ^ RULES.keys()
    assert not unknown, 'no rules for %s' % ', '.join(sorted(unknown))
    with tempfile.TemporaryDirectory() as folder:
        for path, data, feeds in write_networks(folder, named):
            for target in targets:
                out, faults = os.path.join(folder, 'out.onnx'), []
                flags = ['--target', target.get('wide_of', target['id'])] + (['--wide'] if 'wide_of' in target else [])
                done = subprocess.run([cli, 'quantize', path, '--data', data, '-o', out, '--skip-compare', '--no-verify', *flags],
                                      capture_output=True, text=True)
                if done.returncode != 0:
                    print('not ok %s %s: %s' % (os.path.basename(path), target['id'], done.stderr.strip()))
                    failed += 1
                    continue
                onnx.checker.check_model(out, full_check=True)
                n_checked = check(Export(out), RULES[target['id']], faults)
                db = measure(out, path, feeds, RULES[target['id']].get('unoptimized', False))
                if db < LEAST_DB:
                    faults.append('%.1f dB' % db)
                n += n_checked
                failed += bool(faults) or n_checked == 0
                print('%s %-12s %-16s %5.1f dB, %3d checked %s' % ('not ok' if faults else 'ok', os.path.basename(path)[:-5],
                                                                  target['id'], db, n_checked, '; '.join(faults[:4])), flush=True)
    assert n > 0
    sys.exit(failed > 0)


if __name__ == '__main__':
    oracle.use_oracle_python()
    main()
