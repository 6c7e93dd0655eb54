#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""planted.py CLI SOURCE_DIR [--kinds K,K] [--shard I/N] [--log FILE] [NETWORK ...]: faults that are planted into float networks,
which compute the same as before but for rounding (or into the settings), and what “quantize --cures” makes of them.

A reason is at the place if it is told of a tensor that the fault was planted into, or that a node reads or writes which reads or
writes such a tensor; “exact”: of a tensor that it was planted into, or that has the same numbers but for a Relu, a pool or a Pad
between. Lost is what the outputs have less than those of the network without the fault; won back is what the best cure that is
offered has more than the network with it. A fault that costs less than LEAST_LOSS dB is no fault, and is counted apart.

Without networks: three small ones, for the suite. “first”: the ten that thresholds were found on; “held-out”: those that they were not,
files of ../shared/models and networks made by planted_networks.py; “all”: both. A network of which a run takes longer than SLOW
seconds gets a third of the kinds of faults and half the samples. --log adds a line for each fault to a file;
“planted.py CLI SOURCE_DIR --table FILE” only makes the tables of such a file.
PLANTED_VERBOSE=1 shows what was told. The figures are of held-out samples in our own simulation, mean over the outputs; of
“mixed-output” of the small numbers, in onnxruntime."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import onnxruntime    # noqa: E402
from onnx import helper, numpy_helper    # noqa: E402
import planted_networks    # noqa: E402

LEAST_LOSS = 3.0
N_CALIBRATION, N_TEST = 12, 4
SLOW = 1.5
MOST_SECONDS = 30      # for a diagnosis
SCALABLE = ('Relu', 'LeakyRelu')
POOLS = ('MaxPool', 'AveragePool')
DEMO, MADE = 'demo', 'made'
FIRST = (DEMO, MADE, 'kws_micro_fp32', 'mnist_cntk_op8', 'mnist_rten_op18', 'cls_cifar10_winml_cnn', 'sr_espcn_bsd300_rgb', 'aud_yamnet256_st',
         'det_yunet_n_dynamic', 'aud_basic_pitch_nmp')

arguments = sys.argv[1:]
CLI, SOURCE = arguments[:2]
wanted = arguments[2:]
kinds_wanted = None
if '--kinds' in wanted:
    at = wanted.index('--kinds')
    kinds_wanted = wanted[at + 1].split(',')
    del wanted[at:at + 2]


def take_option(name):
    if name not in wanted:
        return None
    at = wanted.index(name)
    value = wanted[at + 1]
    del wanted[at:at + 2]
    return value


SHARD, LOG, TABLE = take_option('--shard'), take_option('--log'), take_option('--table')


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
        if node.op_type == 'Gemm' and (self.number(node, 'transA', 0) or self.number(node, 'alpha', 1.0) != 1 or self.number(node, 'beta', 1.0) != 1):
            return None
        if node.op_type not in ('Conv', 'Gemm', 'MatMul') or (node.op_type == 'MatMul' and self.constants[node.input[1]].ndim != 2):
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
        behind = self.layer(follower[0].output[0]) if len(follower) == 1 and follower[0].op_type == 'Add' and node.op_type == 'MatMul' else None
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
            while len(readers) == 1 and readers[0].op_type in SCALABLE + ('Clip',) + POOLS and middle not in outputs and len(between) < 2:
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
        site.n.graph.initializer.append(numpy_helper.from_array(np.array([0, 0] + pads[:half] + [0, 0] + pads[half:], np.int64), name + '_pads'))
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
    rule = {'tensors': [site.middle], 'min': [str(min(0, 0.1 * float(site.values.min())))], 'max': [str(0.1 * float(site.values.max()))]}
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


# ---- one fault ----

def quantize(path, data, work, options, cures):
    out = os.path.join(work, 'q-' + os.path.basename(path))
    command = [CLI, 'quantize', path, '-o', out, '--data', data, '--held-out', str(len(os.listdir(data)) // 4), '--preset', 'cpu', '--json', '--opset', '21']
    options = list(options)
    if '--no-channels' in options:
        options.remove('--no-channels')
        command.append('--per-channel=false')
    else:
        command.append('--per-channel')
    if cures:
        command += ['--cures', '--time', '30']
    done = subprocess.run(command + options, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip())[-300:])
    return json.loads(done.stdout)['report'], out


def outputs_db(report):
    values = [t['sqnr_db'] if t['sqnr_db'] is not None else 300 for t in report['tensors'] if t['output']]
    return float(np.mean([min(v, 200) for v in values]))


def small_part_db(model, quantized, samples):
    """Of the second half of the first output."""
    wanted, found = run(model, samples)[0], run(onnx.load(quantized), samples)[0]
    noise = signal = 0.0
    for a, b in zip(wanted, found):
        half = a.shape[-1] // 2
        noise += ((a[..., half:].astype(np.float64) - b[..., half:]) ** 2).sum()
        signal += (a[..., half:].astype(np.float64) ** 2).sum()
    return 10 * np.log10(signal / max(noise, 1e-30))


def neighbours(network, planted):
    near = set(planted)
    for n in network.graph.node:
        if set(n.input) & set(planted) or set(n.output) & set(planted):
            near |= set(n.input) | set(n.output)
            # a Relu behind or before belongs to the layer
            for m in network.graph.node:
                if m.op_type in SCALABLE + ('Clip',) + POOLS and (m.input[0] in n.output or m.output[0] in n.input):
                    near |= set(m.input) | set(m.output)
                    for layer in network.graph.node:
                        if m.input[0] in layer.output and layer.op_type == 'Conv':
                            near |= set(layer.input) | set(layer.output)
    return near


class Result:
    """Of one fault: what the table counts."""
    FIELDS = ('network', 'kind', 'rank', 'exact', 'reason', 'lost', 'won', 'won_quantized', 'cure', 'cure_quantized', 'seconds', 'all_seconds')

    def __init__(self, network, kind):
        self.network, self.kind = network, kind
        self.rank = self.exact = self.reason = self.lost = self.won = self.won_quantized = self.cure = self.cure_quantized = None
        self.seconds = self.all_seconds = 0

    def log(self):
        if LOG is None:
            return
        with open(LOG, 'a', encoding='utf-8') as out:
            values = {f: getattr(self, f) for f in self.FIELDS}
            out.write(json.dumps({k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}) + '\n')

    @staticmethod
    def read(path):
        results = {}
        for line in open(path, encoding='utf-8'):
            values = json.loads(line)
            r = Result(values['network'], values['kind'])
            for f, v in values.items():
                setattr(r, f, v)
            results[r.network, r.kind] = r    # the last one counts
        return list(results.values())


def same_numbers(network, planted):
    """What has the same numbers as a planted tensor, but for a Relu, a pool or a Pad between."""
    same = set(planted)
    for _ in range(4):
        for n in network.graph.node:
            if n.op_type in SCALABLE + ('Clip', 'Pad') + POOLS and (n.input[0] in same or n.output[0] in same):
                same |= {n.input[0], n.output[0]}
    return same


def find_rank(report, near, kind):
    if kind == 'samples':
        first = report['reasons'][0] if report.get('reasons') else None
        return 1 if first is not None and first['reason'] in KINDS[kind][1] else 99
    # diagnosis ranks tensors; a tensor that has no reason told is not among the first
    ranks = [r['rank'] for r in report.get('reasons', []) if r['tensor'] in near]
    return min(ranks) if ranks else 99


def check(name, network, kind, data, work, plain, samples, calibration):
    result = Result(name, kind)
    rng = np.random.default_rng(zlib.crc32(f'{name}/{kind}'.encode()))
    planted, tensors, options = KINDS[kind][0](network, calibration, rng)
    path = os.path.join(work, 'planted.onnx')
    onnx.save(planted.model, path)
    if options == ['--wrong-stats']:
        stats = os.path.join(work, 'wrong.stats')
        subprocess.run([CLI, 'calibrate', path, '-o', stats, '--data', os.path.join(work, 'wrong'), '--held-out', '0', '--preset', 'cpu'], check=True,
                       capture_output=True)
        options = ['--stats', stats]
    before = time.monotonic()
    report, out = quantize(path, data, work, options, True)
    result.all_seconds = time.monotonic() - before
    if result.all_seconds <= MOST_SECONDS:
        result.seconds = result.all_seconds
    else:
        before = time.monotonic()
        quantize(path, data, work, options + ['--origins'], False)
        result.seconds = time.monotonic() - before
    key = '--no-channels' in options
    if key not in plain:
        plain[key] = measure_plain(network, data, work, ['--no-channels'] if key else [], samples)
    fault_db, plain_db = outputs_db(report), plain[key][0]
    if kind == 'gate':   # the gates themselves cost something
        harmless = os.path.join(work, 'harmless.onnx')
        rng = np.random.default_rng(zlib.crc32(f'{name}/{kind}'.encode()))
        onnx.save(plant_gate(network, calibration, rng, True)[0].model, harmless)
        plain_db = outputs_db(quantize(harmless, data, work, [], False)[0])
    if kind == 'mixed-output':
        fault_db, plain_db = small_part_db(planted.model, out, samples), plain[key][1]
    result.lost, result.fault_db = plain_db - fault_db, fault_db
    if os.environ.get('PLANTED_VERBOSE'):
        print('planted into', tensors, 'near', sorted(neighbours(planted, tensors)))
        for r in report.get('origins', [])[:4]:
            print('   origin', r['tensor'], r['role'], f"{r['share']:.3f} {r['alone_sqnr_db']:.1f} {r['local_sqnr_db']:.1f}")
        for r in report.get('reasons', [])[:8]:
            print('   reason', r['rank'], r['tensor'], r['reason'], r['text'])
        for r in report.get('cures', []):
            print('   cure', r['tensor'], r['cure'], r['outcome'], r['before_sqnr_db'], r['after_sqnr_db'])
    result.rank = find_rank(report, neighbours(planted, tensors), kind)
    near = neighbours(planted, tensors)
    result.exact = result.rank if kind == 'samples' else find_rank(report, same_numbers(planted, tensors), kind)
    result.reason = any(r['reason'] in KINDS[kind][1] and (r['tensor'] in near or r['tensor'] == '') for r in report.get('reasons', []))
    helped = [c for c in report.get('cures', []) if c['outcome'] == 'helped']
    if kind == 'mixed-output':
        name = tensors[0]
        choices = {'float-output': ['--float-outputs', name], 'float-region': ['--exclude', name]}
        helped = [c for c in helped if c['cure'] in choices]
        for c in helped:
            _, out = quantize(path, data, work, choices[c['cure']], False)
            c['after_sqnr_db'] = small_part_db(planted.model, out, samples)
    best = max(helped, key=lambda c: c['after_sqnr_db'], default=None)
    result.won = best['after_sqnr_db'] - fault_db if best else 0.0
    result.cure = best['cure'] if best else '-'
    kept = max((c for c in helped if c['cure'] != 'float-region'), key=lambda c: c['after_sqnr_db'], default=None)
    result.won_quantized = kept['after_sqnr_db'] - fault_db if kept else 0.0
    result.cure_quantized = kept['cure'] if kept else '-'
    return result


def small_plain(network, out, samples):
    wanted, found = run(network.model, samples)[0], run(onnx.load(out), samples)[0]
    noise = sum(((a.astype(np.float64) - b) ** 2).sum() for a, b in zip(wanted, found))
    return 10 * np.log10(sum((a.astype(np.float64) ** 2).sum() for a in wanted) / max(noise, 1e-30))


def measure_plain(network, data, work, options, samples):
    report, out = quantize(os.path.join(work, 'prepared.onnx'), data, work, options, False)
    return outputs_db(report), small_plain(network, out, samples)


# ---- all ----

def make_samples(stem, shape):
    if stem in planted_networks.NETWORKS:
        return planted_networks.make_samples(stem, shape, N_CALIBRATION + N_TEST)
    rng = np.random.default_rng(zlib.crc32(stem.encode()))
    if stem not in (DEMO, MADE) and oracle.is_image(shape):
        pictures = oracle.photographs(oracle.shared_folder())[:N_CALIBRATION + N_TEST]
        if len(pictures) == N_CALIBRATION + N_TEST:
            return [oracle.image_input(stem, p, shape) for p in pictures]
    low, high = next((r for s, r in oracle.RANGES.items() if stem.startswith(s)), (-1, 1))
    return [rng.uniform(low, high, size=shape).astype(np.float32) for _ in range(N_CALIBRATION + N_TEST)]


def write_samples(folder, samples):
    os.makedirs(folder, exist_ok=True)
    for i, s in enumerate(samples):
        np.save(os.path.join(folder, f'{i:02}.npy'), s)


def make_network(path):
    """Small and random, for the suite: convolutions with and without a pool between, and a head."""
    rng = np.random.default_rng(11)
    nodes, constants, value, channels = [], [], 'x', 8
    for k, (n, size) in enumerate(((12, 3), (16, 1), (16, 3), (12, 1))):
        w = rng.normal(size=(n, channels, size, size)) * np.sqrt(2 / (channels * size * size))
        constants += [numpy_helper.from_array(w.astype(np.float32), f'w{k}'),
                      numpy_helper.from_array(rng.uniform(-0.1, 0.3, size=n).astype(np.float32), f'b{k}')]
        nodes += [helper.make_node('Conv', [value, f'w{k}', f'b{k}'], [f'c{k}'], name=f'conv{k}', pads=[size // 2] * 4),
                  helper.make_node('Relu', [f'c{k}'], [f'r{k}'], name=f'relu{k}')]
        value, channels = f'r{k}', n
        if k == 2:
            nodes.append(helper.make_node('MaxPool', [value], ['p'], name='pool', kernel_shape=[2, 2], strides=[2, 2]))
            value = 'p'
    constants.append(numpy_helper.from_array((rng.normal(size=(10, channels, 1, 1)) / 3).astype(np.float32), 'w'))
    nodes.append(helper.make_node('Conv', [value, 'w'], ['y'], name='head'))
    graph = helper.make_graph(nodes, 'made', [helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, [1, 8, 16, 16])],
                              [helper.make_tensor_value_info('y', onnx.TensorProto.FLOAT, [1, 10, 8, 8])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def prepare(stem, path, work):
    if stem == MADE:
        make_network(path := os.path.join(work, 'made.onnx'))
    if stem in planted_networks.NETWORKS:
        onnx.save(planted_networks.make(stem), path := os.path.join(work, 'made.onnx'))
    model = onnx.load(path)
    inputs = [i for i in model.graph.input if i.name not in {k.name for k in model.graph.initializer}]
    if len(inputs) != 1 or inputs[0].type.tensor_type.elem_type != onnx.TensorProto.FLOAT:
        raise NotHere('not one input of floats')
    dims = inputs[0].type.tensor_type.shape.dim
    shape = oracle.input_shape(stem, [d.dim_value or d.dim_param for d in dims])
    prepared = os.path.join(work, 'prepared.onnx')
    fixed = os.path.join(work, 'fixed.onnx')
    for d, n in zip(dims, shape):
        d.dim_value = n
    onnx.save(model, fixed)
    done = subprocess.run([CLI, 'prepare', fixed, '-o', prepared, '--opset', '21'], capture_output=True, text=True)
    if done.returncode != 0:
        raise NotHere(done.stderr.strip().splitlines()[-1])
    return Network(onnx.shape_inference.infer_shapes(onnx.load(prepared))), shape


def check_network(stem, path, results):
    with tempfile.TemporaryDirectory() as work:
        try:
            network, shape = prepare(stem, path, work)
            samples = make_samples(stem, shape)
            run(network.model, samples[:1])
        except Exception as e:   # pylint: disable=broad-except
            print(f'{stem}: left out: {str(e)[:100]}')
            return
        data, plain = os.path.join(work, 'data'), {}
        write_samples(data, samples)
        before = time.monotonic()
        try:
            plain[False] = measure_plain(network, data, work, [], samples[::4])
        except RuntimeError as e:
            print(f'{stem}: left out: {str(e)[:100]}')
            return
        kinds = kinds_wanted or list(KINDS)
        if time.monotonic() - before > SLOW:
            kinds = [k for i, k in enumerate(KINDS) if i % 3 == zlib.crc32(stem.encode()) % 3] if kinds_wanted is None else kinds
            samples = samples[:len(samples) // 2]
            shutil.rmtree(data)
            write_samples(data, samples)
            plain.clear()
        write_samples(os.path.join(work, 'wrong'), [s * 0.15 for s in samples])
        held_out = samples[::4]
        for kind in kinds:
            try:
                result = check(stem, network, kind, data, work, plain, held_out, samples[:6])
            except NotHere as e:
                print(f'{stem:34} {kind:20} cannot be planted: {e}', flush=True)
                continue
            except Exception as e:   # pylint: disable=broad-except
                print(f'{stem:34} {kind:20} FAILED: {type(e).__name__}: {str(e)[:160]}', flush=True)
                result = Result(stem, kind)
                results.append(result)
                result.log()
                continue
            results.append(result)
            result.log()
            won = 100 * result.won / result.lost if result.lost > LEAST_LOSS else float('nan')
            print(f'{stem:34} {kind:20} lost {result.lost:6.1f} dB, rank {result.rank:2}, exact {result.exact:2}, reason {"told" if result.reason else "-":4}, '
                  f'won {result.won:6.1f} dB {won:4.0f} % by {result.cure:15} (but float {result.won_quantized:5.1f} dB by {result.cure_quantized}) '
                  f'{result.all_seconds:5.1f} s', flush=True)


def is_cured(result):
    return result.won >= 0.8 * result.lost


def is_cured_quantized(result):
    return result.won_quantized >= 0.8 * result.lost


def list_wrong(counted):
    wrong = []
    if np.mean([r.rank == 1 for r in counted]) < 0.9:
        wrong.append('the origin is rank 1 in less than 90 %')
    wrong += [f'{r.network}, {r.kind}: the origin is not among the first 3' for r in counted if r.rank > 3]
    wrong += [f'{r.network}, {r.kind}: the best cure wins back {r.won:.1f} of {r.lost:.1f} dB' for r in counted if not is_cured(r)]
    slow = sorted({r.network for r in counted if r.seconds > MOST_SECONDS})
    if slow:
        wrong.append(f'an origin takes longer than {MOST_SECONDS} s on {", ".join(slow)}')
    return wrong


def make_table(results):
    """Lines of Markdown."""
    lines = ['| fault | planted | rank 1 | first 3 | exact | reason | cured | not in float | won back |', '|---|---|---|---|---|---|---|---|---|']
    for kind, some in [(k, [r for r in results if r.kind == k]) for k in KINDS] + [('all', results)]:
        if not some:
            continue
        shares = [100 * np.mean(s) for s in ([r.rank == 1 for r in some], [r.rank <= 3 for r in some], [r.exact == 1 for r in some],
                                             [r.reason for r in some], [is_cured(r) for r in some], [is_cured_quantized(r) for r in some])]
        won = np.median([min(r.won_quantized / r.lost, 1) for r in some])
        lines.append(f'| {kind} | {len(some)} | ' + ' | '.join(f'{s:.0f} %' for s in shares) + f' | {100 * won:.0f} % |')
    return lines


def summarize(results):
    """Prints the tables; returns what is not as it must be."""
    counted = [r for r in results if r.lost is not None and r.lost >= LEAST_LOSS]
    failed = [r for r in results if r.lost is None]
    wrong = [f'{r.network}, {r.kind}: failed' for r in failed]
    print(f'\n{len(results)} planted, {len(failed)} failed, {len(results) - len(failed) - len(counted)} cost less than {LEAST_LOSS} dB, {len(counted)} counted')
    for title, some in (('first', [r for r in counted if r.network in FIRST]), ('held out', [r for r in counted if r.network not in FIRST])):
        if some:
            print(f'\n{title}: {len({r.network for r in some})} networks, longest {max(r.seconds for r in some):.1f} s\n')
            print('\n'.join(make_table(some)), '\n')
    return wrong + (list_wrong(counted) if counted else ['nothing was compared'])


def list_networks(shared):
    """Those asked for, and of them those of this shard."""
    folder = os.path.join(shared, 'models')
    files = sorted((f for f in os.listdir(folder) if f.endswith('.onnx')), key=lambda f: os.path.getsize(os.path.join(folder, f))) if shared else []
    others = list(planted_networks.NETWORKS) + [f[:-5] for f in files if f[:-5] not in FIRST]
    sets = {'first': [n for n in FIRST if n in (DEMO, MADE) or n + '.onnx' in files], 'held-out': others}
    sets['all'] = sets['first'] + sets['held-out']
    names = [n for w in wanted or [DEMO, MADE, 'made-mlp'] for n in sets.get(w, [w])]
    if SHARD is None:
        return names
    i, n = (int(x) for x in SHARD.split('/'))
    return names[i::n]


def main():
    demo = os.path.join(SOURCE, 'data', 'demo', 'demo.onnx')
    shared = os.environ.get('VN_SHARED', '')
    results = Result.read(TABLE) if TABLE is not None else []
    for name in list_networks(shared) if TABLE is None else []:
        check_network(name, demo if name == DEMO else os.path.join(shared, 'models', name + '.onnx'), results)
    wrong = summarize(results)
    for w in wrong:
        print('WRONG  ', w)
    sys.exit(bool(wrong))


main()
