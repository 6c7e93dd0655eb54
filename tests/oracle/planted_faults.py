# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that planted.py plants: what a float network is made of for that, and each fault with the reasons that say what it is.

A fault leaves what the network computes as it was, but for rounding, or is in the settings. It returns the network, the tensors
it was planted into, and options of “quantize”; or it raises NotHere."""
import json

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import onnxruntime    # noqa: E402
from onnx import helper, numpy_helper    # noqa: E402

SCALABLE = ('Relu', 'LeakyRelu')
POOLS = ('MaxPool', 'AveragePool')


class NotHere(Exception):
    """This fault cannot be planted into this network."""


# ---- networks ----

class Layer:
    """A Conv, a Gemm, or a MatMul and the Add of a constant behind it, with weights of [out, in, ...]."""
    def __init__(self, network, node, add=None):
        self.node, self.add, self.op = node, add, node.op_type
        self.output = (add or node).output[0]
        self.weight = node.input[1]
        self.axis = 1 if self.op == 'Conv' else -1
        self.turned = self.op == 'MatMul' or (self.op == 'Gemm' and not network.number(node, 'transB', 0))

    def values(self, constants):
        w = constants[self.weight]
        return w.T if self.turned else w

    def turn(self, values):
        return values.T if self.turned else values


class Chain:
    """Layer a -> (activation) -> (pool) -> middle -> layer b, where nothing else reads between."""
    def __init__(self, a, between, middle, b):
        self.a, self.between, self.middle, self.b = a, between, middle, b
        self.act = next((n for n in between if n.op_type not in POOLS), None)


class Network:
    def __init__(self, model):
        self.model = model
        self.graph = model.graph
        self.constants = {i.name: numpy_helper.to_array(i) for i in self.graph.initializer}

    def copy(self):
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        return Network(model)

    def readers(self, name):
        return [n for n in self.graph.node if name in n.input]

    def set(self, name, values):
        self.constants[name] = values = np.ascontiguousarray(values, dtype=np.float32)
        for i in self.graph.initializer:
            if i.name == name:
                i.CopyFrom(numpy_helper.from_array(values, name))
                return
        self.graph.initializer.append(numpy_helper.from_array(values, name))

    def node(self, name):
        return next(n for n in self.graph.node if n.output[0] == name)

    def insert_behind(self, value, *nodes):
        at = next(i for i, n in enumerate(self.graph.node) if value in n.output) + 1
        for k, node in enumerate(nodes):
            self.graph.node.insert(at + k, node)

    def number(self, node, name, default):
        return next((a.f if a.type == onnx.AttributeProto.FLOAT else a.i for a in node.attribute if a.name == name), default)

    def group(self, layer):
        return self.number(layer.node, 'group', 1)

    def set_weight(self, layer, values):
        self.set(layer.weight, layer.turn(values))

    def bias(self, layer):
        """Of a layer, which gets one."""
        n, name = len(layer.values(self.constants)), layer.output + '_planted_bias'
        if layer.op == 'MatMul':
            if layer.add is None:
                readers = self.readers(layer.output)
                layer.add = helper.make_node('Add', [layer.output, name], [layer.output + '_planted_sum'], name=name)
                for r in readers:
                    for i, x in enumerate(r.input):
                        if x == layer.output:
                            r.input[i] = layer.output + '_planted_sum'
                self.insert_behind(layer.output, layer.add)
                self.set(name, np.zeros(n))
                layer.output += '_planted_sum'
                layer.add = self.node(layer.output)
            return next(i for i in layer.add.input if i in self.constants)
        if len(layer.node.input) < 3:
            self.set(name, np.zeros(n))
            layer.node.input.append(name)
        return layer.node.input[2]

    def layer(self, output):
        """That writes @output; None: nothing that faults are planted into."""
        node = next((n for n in self.graph.node if n.output[0] == output), None)
        add = None
        if node is not None and node.op_type == 'Add':
            constant = next((i for i in node.input if i in self.constants and self.constants[i].ndim == 1), None)
            other = next((i for i in node.input if i not in self.constants), None)
            add, node = node, next((n for n in self.graph.node if n.output[0] == other), None)
            if constant is None or node is None or node.op_type != 'MatMul' or len(self.readers(other)) > 1:
                return None
        if node is None or len(node.input) < 2 or node.input[1] not in self.constants:
            return None
        if node.op_type == 'Gemm' and (self.number(node, 'transA', 0) or self.number(node, 'alpha', 1.0) != 1
                                       or self.number(node, 'beta', 1.0) != 1):
            return None
        if node.op_type not in ('Conv', 'Gemm', 'MatMul') or (node.op_type == 'MatMul'
                                                              and self.constants[node.input[1]].ndim != 2):
            return None
        if len(node.input) > 2 and (node.input[2] not in self.constants or self.constants[node.input[2]].ndim != 1):
            return None
        if add is None and node.op_type == 'MatMul':
            readers = self.readers(node.output[0])
            if len(readers) == 1 and readers[0].op_type == 'Add' and self.layer(readers[0].output[0]) is not None:
                return None
        layer = Layer(self, node, add)
        if add is not None and len(self.constants[self.bias(layer)]) != len(layer.values(self.constants)):
            return None
        return layer

    def reads(self, node, value):
        """The layer of @node, if @value is what it multiplies."""
        if not node.input or node.input[0] != value:
            return None
        follower = self.readers(node.output[0])
        is_biased = len(follower) == 1 and follower[0].op_type == 'Add' and node.op_type == 'MatMul'
        behind = self.layer(follower[0].output[0]) if is_biased else None
        return behind if behind is not None and behind.node is node else self.layer(node.output[0])

    def chains(self):
        outputs = {o.name for o in self.graph.output}
        weights = {}
        for n in self.graph.node:
            for i in n.input:
                weights[i] = weights.get(i, 0) + 1
        found = []
        for node in self.graph.node:
            a = self.layer(node.output[0]) if node.output else None
            if a is None or weights[a.weight] > 1 or a.output in outputs:
                continue
            middle, between = a.output, []
            readers = self.readers(middle)
            while (len(readers) == 1 and readers[0].op_type in SCALABLE + ('Clip',) + POOLS and middle not in outputs and
                   len(between) < 2):
                between.append(readers[0])
                middle = readers[0].output[0]
                readers = self.readers(middle)
            b = self.reads(readers[0], middle) if len(readers) == 1 and middle not in outputs else None
            if b is not None and (a.op == 'Conv') == (b.op == 'Conv') and weights[b.weight] == 1:
                found.append(Chain(a, between, middle, b))
        return found


def run(model, samples, extra=()):
    """[output][sample] of the network, and of tensors inside."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    probe.graph.output.extend(onnx.ValueInfoProto(name=n) for n in extra)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = oracle.open_session(probe, options)
    results = [session.run(None, {session.get_inputs()[0].name: s}) for s in samples]
    return [[r[o] for r in results] for o in range(len(results[0]))]


# ---- faults: each returns the tensors it was planted into, and options ----

class Site:
    """A network, a chain of it, and what the float network computes in the middle."""
    def __init__(self, network, samples, rng, pick):
        self.samples, self.rng = samples, rng
        chains = [c for c in network.chains() if pick(network, c)]
        if not chains:
            raise NotHere('no such layers')
        # in the first two thirds, where a fault has room to do harm
        chain = chains[rng.integers(0, max(1, len(chains) * 2 // 3))]
        self.n = network.copy()
        self.a, self.b = self.n.layer(chain.a.output), self.n.layer(chain.b.output)
        self.between = [self.n.node(n.output[0]) for n in chain.between]
        self.middle = chain.middle
        self.wa, self.wb = self.a.values(self.n.constants), self.b.values(self.n.constants)
        self.depthwise = self.n.group(self.b) > 1
        values = run(network.model, samples, [self.middle])[-1]
        values = [np.moveaxis(v, self.a.axis, 1) for v in values]
        self.values = np.concatenate([v.reshape(v.shape[0], v.shape[1], -1) for v in values])
        self.reach = np.abs(self.values).max(axis=(0, 2))
        if not self.reach.max() > 0:
            raise NotHere('nothing but zeros there')

    def channel(self):
        """One that matters: of those that what reads them makes most of."""
        column = np.abs(self.wb.reshape(len(self.wb), self.wb.shape[1], -1))
        column = column.max(axis=(1, 2)) if self.depthwise else column.max(axis=(0, 2))
        order = np.argsort(self.reach * column[:len(self.reach)])
        return int(order[-1 - len(order) // 4])

    def scale(self, channels, factor):
        """Channels of the middle, undone where they are read."""
        bias = self.n.bias(self.a)
        wa, ba, wb = self.wa.copy(), self.n.constants[bias].copy(), self.wb.copy()
        wa[channels] *= factor
        ba[channels] *= factor
        if self.depthwise:
            wb[channels] /= factor
        else:
            wb[:, channels] /= factor
        self.n.set_weight(self.a, wa)
        self.n.set(bias, ba)
        self.n.set_weight(self.b, wb)

    def add_channel(self, weights, bias, column):
        name = self.n.bias(self.a)
        self.n.set_weight(self.a, np.concatenate([self.a.values(self.n.constants), weights[None]]))
        self.n.set(name, np.append(self.n.constants[name], bias))
        self.n.set_weight(self.b, np.concatenate([self.b.values(self.n.constants), column[:, None]], axis=1))
        del self.n.graph.value_info[:]

    def behind_middle(self, name):
        """The consumer reads @name instead."""
        self.b.node.input[0] = name

    def copy_of_a(self, part, weight, bias):
        """Nodes of a layer like a, which write @part."""
        node = onnx.NodeProto()
        node.CopyFrom(self.a.node)
        del node.input[2:]
        node.input[1], node.output[0], node.name = part + '_weight', part, part
        self.n.set(part + '_weight', self.a.turn(weight))
        if bias is None:
            return [node]
        self.n.set(part + '_bias', bias)
        if self.a.op != 'MatMul':
            node.input.append(part + '_bias')
            return [node]
        node.output[0] = part + '_product'
        return [node, helper.make_node('Add', [part + '_product', part + '_bias'], [part], name=part + '_sum')]


def scalable(network, c):
    return (c.act is None or c.act.op_type in SCALABLE) and network.group(c.b) in (1, len(c.b.values(network.constants)))


def full(network, c):
    return network.group(c.a) == 1 and network.group(c.b) == 1


def full_conv(network, c):
    return full(network, c) and c.a.op == 'Conv' and c.a.values(network.constants).ndim == 4


def full_relu(network, c):
    return full(network, c) and c.act is not None and c.act.op_type == 'Relu'


def full_scalable(network, c):
    return full(network, c) and scalable(network, c)


def any_chain(network, c):
    return True


def plant_channel_scale(network, samples, rng):
    site = Site(network, samples, rng, scalable)
    site.scale([site.channel()], 300)
    return site.n, [site.middle], []


def plant_weight_spread(network, samples, rng):
    site = Site(network, samples, rng, scalable)
    n = len(site.wa)
    site.scale(rng.permutation(n)[:n // 2], 1 / 200)
    return site.n, [site.middle, site.a.weight, site.b.weight], ['--no-channels']


def plant_weight_outlier(network, samples, rng):
    """Two weights that cancel, as they multiply twins."""
    site = Site(network, samples, rng, full)
    c = site.channel()
    column = np.zeros_like(site.wb[:, 0])
    site.add_channel(site.wa[c], site.n.constants[site.n.bias(site.a)][c], column)
    wb = site.b.values(site.n.constants).copy()
    o, large = rng.integers(len(wb)), 100 * np.abs(wb).max()
    at = (o, c) + tuple(k // 2 for k in wb.shape[2:])
    wb[at] += large
    wb[(o, len(wb[0]) - 1) + at[2:]] -= large
    site.n.set_weight(site.b, wb)
    return site.n, [site.b.weight], ['--no-channels']


def plant_activation_outlier(network, samples, rng):
    """A channel that is seldom more than zero, and then huge; hardly heeded."""
    site = Site(network, samples, rng, full_relu)
    c = site.channel()
    top = np.sort(site.values[:, c].ravel())
    threshold = top[-max(2, len(top) // 4000)]
    factor = 40 * site.reach.max() / max(site.reach[c] - threshold, 1e-3 * site.reach[c])
    bias = site.n.constants[site.n.bias(site.a)][c]
    site.add_channel(site.wa[c] * factor, (bias - threshold) * factor, np.abs(site.wb).max() * 1e-6 * np.ones_like(site.wb[:, 0]))
    return site.n, [site.middle], []


def plant_dead_channel(network, samples, rng):
    site = Site(network, samples, rng, full_scalable)
    c = site.channel()
    factor = 200 * site.reach.max() / site.reach[c]
    site.add_channel(site.wa[c] * factor, site.n.constants[site.n.bias(site.a)][c] * factor, np.zeros_like(site.wb[:, 0]))
    return site.n, [site.middle], []


def plant_offset(network, samples, rng):
    """A constant is added, and taken out of the bias behind. What a Conv reads beyond the edges has it, too."""
    site = Site(network, samples, rng, full)
    offset, name = float(40 * site.reach.max()), site.middle + '_planted'
    pads = next((list(a.ints) for a in site.b.node.attribute if a.name == 'pads'), [])
    if any(a.name == 'auto_pad' and a.s not in (b'', b'NOTSET', b'VALID') for a in site.b.node.attribute):
        raise NotHere('edges by themselves')
    site.n.set(name + '_offset', np.full([1] * (site.wb.ndim if site.b.op == 'Conv' else 1), offset))
    nodes = [helper.make_node('Add', [site.middle, name + '_offset'], [name], name=name)]
    if any(pads):
        half = len(pads) // 2
        site.n.graph.initializer.append(numpy_helper.from_array(np.array([0, 0] + pads[:half] + [0, 0] + pads[half:], np.int64),
                                                                name + '_pads'))
        site.n.set(name + '_value', np.array(offset))
        nodes.append(helper.make_node('Pad', [name, name + '_pads', name + '_value'], [name + '_padded'], name=name + '_pad'))
        for a in list(site.b.node.attribute):
            if a.name == 'pads':
                site.b.node.attribute.remove(a)
    site.behind_middle(nodes[-1].output[0])
    site.n.insert_behind(site.middle, *nodes)
    bias = site.n.bias(site.b)
    sums = site.wb.astype(np.float64).reshape(len(site.wb), -1).sum(axis=1)
    site.n.set(bias, site.n.constants[bias] - offset * sums)
    return site.n, [n.output[0] for n in nodes], []


def plant_cancellation(network, samples, rng):
    """A large tensor is added and subtracted again."""
    site = Site(network, samples, rng, full)
    large, name = site.middle + '_large', site.middle + '_planted'
    if any(n.op_type in POOLS for n in site.between):
        raise NotHere('a pool between')
    w = rng.normal(size=site.wa.shape)
    site.n.insert_behind(site.middle, *site.copy_of_a(large, w, None))
    reach = np.abs(np.concatenate([v.ravel() for v in run(site.n.model, samples, [large])[-1]])).max()
    site.n.set(large + '_weight', site.a.turn(w * 60 * site.reach.max() / reach))
    site.n.insert_behind(large, helper.make_node('Add', [site.middle, large], [name + '_sum'], name=name + '_sum'),
                         helper.make_node('Sub', [name + '_sum', large], [name], name=name))
    site.behind_middle(name)
    return site.n, [name + '_sum', large], []


def plant_concat(network, samples, rng):
    """Half of the channels from a layer of its own, and much smaller."""
    site = Site(network, samples, rng, full_scalable)
    half, bias = len(site.wa) // 2, site.n.bias(site.a)
    if half < 1:
        raise NotHere('one channel')
    ba, parts, nodes = site.n.constants[bias], [], []
    for k, (channels, factor) in enumerate(((slice(0, half), 1 / 200), (slice(half, None), 1))):
        part = f'{site.middle}_part{k}'
        nodes += site.copy_of_a(part + '_layer', site.wa[channels] * factor, ba[channels] * factor)
        for i, old in enumerate(site.between):
            node = onnx.NodeProto()
            node.CopyFrom(old)
            node.input[0], node.output[0], node.name = nodes[-1].output[0], f'{part}_{i}', f'{part}_{i}'
            nodes.append(node)
        parts.append(nodes[-1].output[0])
    joined = site.middle + '_planted'
    nodes.append(helper.make_node('Concat', parts, [joined], name=joined, axis=site.a.axis))
    site.n.insert_behind(site.middle, *nodes)
    site.behind_middle(joined)
    wb = site.wb.copy()
    wb[:, :half] *= 200
    site.n.set_weight(site.b, wb)
    for node in site.between[::-1] + [site.a.add, site.a.node]:
        if node is not None:
            site.n.graph.node.remove(node)
    return site.n, [joined], []


def plant_gate(network, samples, rng, harmless=False):
    """Each channel times a gate, one of which is far open."""
    site = Site(network, samples, rng, full_conv)
    c, name = len(site.wa), site.middle + '_gate'
    gates = rng.uniform(-2, 2, size=c)
    gates[rng.integers(c)] = 4 if harmless else 400
    site.n.set(name + '_weight', rng.normal(size=(c, c, 1, 1)) * 1e-4 / site.reach.max())
    site.n.set(name + '_bias', gates)
    nodes = [helper.make_node('GlobalAveragePool', [site.middle], [name + '_mean'], name=name + '_mean'),
             helper.make_node('Conv', [name + '_mean', name + '_weight', name + '_bias'], [name + '_in'], name=name + '_in'),
             helper.make_node('Sigmoid', [name + '_in'], [name], name=name),
             helper.make_node('Mul', [site.middle, name], [name + '_out'], name=name + '_out')]
    site.n.insert_behind(site.middle, *nodes)
    site.behind_middle(name + '_out')
    site.n.set_weight(site.b, site.wb * (1 + np.exp(-gates)).reshape(1, -1, *[1] * (site.wb.ndim - 2)))
    return site.n, [name + '_in'], []


def plant_bias_overflow(network, samples, rng):
    """A channel of tiny weights and a usual bias."""
    site = Site(network, samples, rng, full)
    value, column = 3 * site.reach.max(), rng.normal(size=site.wb[:, 0].shape) * np.abs(site.wb).mean()
    site.add_channel(site.wa[0] * 1e-7, value, column)
    bias = site.n.bias(site.b)
    site.n.set(bias, site.n.constants[bias] - value * column.reshape(len(column), -1).sum(axis=1))
    return site.n, [site.n.bias(site.a), site.middle], ['--raise-weight-scales=false']


def plant_clipping(network, samples, rng):
    site = Site(network, samples, rng, any_chain)
    rule = {'tensors': [site.middle], 'min': [str(min(0, 0.1 * float(site.values.min())))],
            'max': [str(0.1 * float(site.values.max()))]}
    return site.n, [site.middle], ['--rule', json.dumps(rule)]


def plant_few_bits(network, samples, rng):
    site = Site(network, samples, rng, any_chain)
    return site.n, [site.b.weight], ['--rule', json.dumps({'tensors': [site.b.weight], 'weight': 's4'})]


def plant_samples(network, samples, rng):
    """Statistics of other samples than those measured."""
    return network.copy(), [], ['--wrong-stats']


def plant_mixed_output(network, samples, rng):
    n = network.copy()
    out = n.graph.output[0]
    shape = [d.dim_value for d in out.type.tensor_type.shape.dim]
    if not shape or out.type.tensor_type.elem_type != onnx.TensorProto.FLOAT:
        raise NotHere('no such output')
    name = out.name + '_planted'
    n.set(name + '_factor', np.array(1000.0))
    n.graph.node.append(helper.make_node('Mul', [out.name, name + '_factor'], [name + '_large'], name=name + '_large'))
    n.graph.node.append(helper.make_node('Concat', [name + '_large', out.name], [name], name=name, axis=len(shape) - 1))
    shape[-1] *= 2
    n.graph.output[0].CopyFrom(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [d or None for d in shape]))
    return n, [name], []


# Faults, and the reasons that say what they are.
KINDS = {
    'channel-scale': (plant_channel_scale, ('channel-spread',)),
    'weight-spread': (plant_weight_spread, ('weight-spread', 'channel-spread')),
    'weight-outlier': (plant_weight_outlier, ('weight-outlier', 'weight-spread')),
    'activation-outlier': (plant_activation_outlier, ('outliers', 'dead-channel', 'channel-spread')),
    'dead-channel': (plant_dead_channel, ('dead-channel',)),
    'offset': (plant_offset, ('wasted-range', 'cancellation', 'noise-gain')),
    'cancellation': (plant_cancellation, ('cancellation', 'unequal-inputs')),
    'concat': (plant_concat, ('unequal-inputs', 'channel-spread')),
    'gate': (plant_gate, ('gate-range',)),
    'bias-overflow': (plant_bias_overflow, ('bias-overflow',)),
    'clipping': (plant_clipping, ('clipping',)),
    'few-bits': (plant_few_bits, ('few-levels',)),
    'samples': (plant_samples, ('samples-differ', 'samples-unlike')),
    'mixed-output': (plant_mixed_output, ('mixed-output',)),
}
