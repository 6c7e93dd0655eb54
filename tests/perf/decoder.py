#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""decoder.py FOLDER [STEPS [EXPERTS]]: trains a small language model and writes it as FOLDER/decoder.onnx, with token files.

Needs PyTorch (tested with 2.13), which nothing else here does. The network has the form of Qwen2: LAYERS blocks of normalization
by the root mean square, attention with rotary positions and biases, and a gated network. A table of embeddings is the head,
too. It is trained on the docstrings of the standard library of Python, cut into WORDS - 1 words and signs and one for all others.
With EXPERTS, each gated network is a mixture of as many, of which a token goes to two, written as MoE of onnxruntime.
The graph, written by hand, has input_ids (batch, LENGTH), logits, a Gather of the table, and a Transpose of it before the last
product, as exports have them.

Beside it: calibration/*.npy and held-out/*.npy, of LENGTH tokens each, the latter from texts that training never saw.
"""
import ast
import collections
import os
import re
import sys

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional

LAYERS, WIDTH, HEADS, INNER, WORDS, LENGTH = 4, 128, 4, 384, 2048, 128
CHOSEN, EXPERT_INNER, BALANCE = 2, 128, 0.01
BATCH, RATE, EPSILON, BASE = 16, 2e-3, 1e-6, 10000.0
N_CALIBRATION, N_HELD_OUT = 48, 48


def read_texts():
    """Docstrings of each file, in the order of names."""
    folder, texts = os.path.dirname(os.__file__), []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in ('site-packages', 'dist-packages', 'test', '__pycache__'))
        for name in sorted(files):
            if not name.endswith('.py'):
                continue
            try:
                with open(os.path.join(root, name), encoding='utf-8') as file:
                    tree = ast.parse(file.read())
            except (SyntaxError, UnicodeDecodeError, ValueError):
                continue
            kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
            found = [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds)]
            texts.append('\n\n'.join(f for f in found if f))
    return texts


def tokenize(texts):
    words = [re.findall(r'\w+|\n+|[^\w\s]', text) for text in texts]
    counts = collections.Counter(w for text in words for w in text)
    known = {w: i + 1 for i, (w, _) in enumerate(sorted(counts.most_common(WORDS - 1)))}
    return [np.array([known.get(w, 0) for w in text], np.int64) for text in words]


class Experts(nn.Module):
    """fc1 has rows of gate and value by turns."""

    def __init__(self, n):
        super().__init__()
        self.router = nn.Linear(WIDTH, n, bias=False)
        self.fc1 = nn.Parameter(torch.randn(n, 2 * EXPERT_INNER, WIDTH) * WIDTH ** -0.5)
        self.fc2 = nn.Parameter(torch.randn(n, WIDTH, EXPERT_INNER) * EXPERT_INNER ** -0.5)

    def forward(self, x):
        logits = self.router(x)
        top, which = logits.topk(CHOSEN, -1)
        shares = torch.zeros_like(logits).scatter(-1, which, top.softmax(-1))
        h = torch.einsum('bth,eih->btei', x, self.fc1)
        y = torch.einsum('btei,ehi->bteh', functional.silu(h[..., ::2]) * h[..., 1::2], self.fc2)
        # so that no expert is forgotten: Fedus et al., "Switch Transformers" (2021), formula 4
        self.unbalance = logits.shape[-1] * ((shares > 0).float().mean((0, 1)) * logits.softmax(-1).mean((0, 1))).sum()
        return (y * shares[..., None]).sum(2)


class Block(nn.Module):
    def __init__(self, experts):
        super().__init__()
        self.norm1, self.norm2 = nn.Parameter(torch.ones(WIDTH)), nn.Parameter(torch.ones(WIDTH))
        self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.o = nn.Linear(WIDTH, WIDTH, bias=False)
        self.experts = Experts(experts) if experts else None
        if not experts:
            self.gate, self.up = (nn.Linear(WIDTH, INNER, bias=False) for _ in range(2))
            self.down = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x, cos, sin):
        def split(y):
            return y.reshape(*x.shape[:2], HEADS, -1).transpose(1, 2)

        def rotate(y):
            a, b = y.chunk(2, -1)
            return y * cos + torch.cat([-b, a], -1) * sin
        h = normalize(x, self.norm1)
        q, k, v = rotate(split(self.q(h))), rotate(split(self.k(h))), split(self.v(h))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(x.shape))
        h = normalize(x, self.norm2)
        if self.experts:
            return x + self.experts(h)
        return x + self.down(functional.silu(self.gate(h)) * self.up(h))


def normalize(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * weight


def rotary():
    half = WIDTH // HEADS // 2
    angles = torch.arange(LENGTH)[:, None] * BASE ** (-torch.arange(half) / half)[None]
    return [torch.cat([f(angles)] * 2, -1) for f in (torch.cos, torch.sin)]


class Decoder(nn.Module):
    def __init__(self, experts):
        super().__init__()
        self.table = nn.Parameter(0.05 * torch.randn(WORDS, WIDTH))
        self.blocks = nn.ModuleList(Block(experts) for _ in range(LAYERS))
        self.norm = nn.Parameter(torch.ones(WIDTH))

    def forward(self, ids):
        cos, sin = rotary()
        x = functional.embedding(ids, self.table) * WIDTH ** 0.5
        for block in self.blocks:
            x = block(x, cos, sin)
        return normalize(x, self.norm) @ self.table.T


def train(tokens, steps, experts):
    torch.manual_seed(3)
    model, stream = Decoder(experts), torch.from_numpy(np.concatenate(tokens))
    optimizer = torch.optim.AdamW(model.parameters(), RATE, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for step in range(steps):
        at = torch.randint(0, len(stream) - LENGTH - 1, (BATCH,))
        ids = torch.stack([stream[i:i + LENGTH + 1] for i in at])
        loss = functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        (loss + BALANCE * sum(b.experts.unbalance for b in model.blocks if b.experts)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            print('step %5d, perplexity %.1f' % (step + 1, loss.exp()), flush=True)
    return model.eval()


class Graph:
    """Nodes and constants in a row."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, value, name):
        value = value.detach().numpy() if isinstance(value, torch.Tensor) else value
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name + '/out'], name, **attributes))
        return name + '/out'

    def linear(self, layer, x, name):
        y = self.add('MatMul', [x, self.constant(layer.weight.T, name + '.weight')], name)
        return y if layer.bias is None else self.add('Add', [y, self.constant(layer.bias, name + '.bias')], name + '/bias')

    def normalize(self, x, weight, name):
        square = self.add('Mul', [x, x], name + '/square')
        mean = self.add('ReduceMean', [square, 'last_axis'], name + '/mean', keepdims=1)
        root = self.add('Sqrt', [self.add('Add', [mean, 'epsilon'], name + '/eps')], name + '/root')
        return self.add('Mul', [self.add('Div', [x, root], name + '/div'), self.constant(weight, name + '.weight')], name)

    def split(self, x, name):
        parts = self.add('Reshape', [x, 'split_shape'], name + '/split')
        return self.add('Transpose', [parts], name + '/heads', perm=[0, 2, 1, 3])

    def rotate(self, x, name):
        self.nodes.append(helper.make_node('Split', [x], [name + '/a', name + '/b'], name + '/halves', axis=-1, num_outputs=2))
        turned = self.add('Concat', [self.add('Neg', [name + '/b'], name + '/neg'), name + '/a'], name + '/turned', axis=-1)
        return self.add('Add', [self.add('Mul', [x, 'cos'], name + '/cos'), self.add('Mul', [turned, 'sin'], name + '/sin')],
                        name + '/rotated')

    def attend(self, block, x, name):
        q, k = (self.rotate(self.split(self.linear(layer, x, name + n), name + n), name + n)
                for layer, n in ((block.q, '/q_proj'), (block.k, '/k_proj')))
        v = self.split(self.linear(block.v, x, name + '/v_proj'), name + '/v_proj')
        scores = self.add('MatMul', [q, self.add('Transpose', [k], name + '/k_t', perm=[0, 1, 3, 2])], name + '/scores')
        scores = self.add('Add', [self.add('Mul', [scores, 'scale'], name + '/scaled'), 'mask'], name + '/masked')
        mixed = self.add('MatMul', [self.add('Softmax', [scores], name + '/softmax', axis=-1), v], name + '/mixed')
        mixed = self.add('Transpose', [mixed], name + '/joined', perm=[0, 2, 1, 3])
        mixed = self.add('Reshape', [mixed, 'join_shape'], name + '/join')
        return self.linear(block.o, mixed, name + '/o_proj')

    def route(self, experts, x, name):
        router = self.add('Reshape', [self.linear(experts.router, x, name + '/router'), 'rows_shape'], name + '/rows')
        weights = [self.constant(value, name + n) for n, value in (('.fc1', experts.fc1), ('.fc2', experts.fc2))]
        return self.add('MoE', [x, router, weights[0], '', weights[1]], name, domain='com.microsoft', k=CHOSEN,
                        activation_type='swiglu', swiglu_fusion=1, normalize_routing_weights=1)

    def gated(self, block, x, name):
        if block.experts:
            return self.route(block.experts, x, name + '/experts')
        gate = self.linear(block.gate, x, name + '/gate_proj')
        open_ = self.add('Mul', [gate, self.add('Sigmoid', [gate], name + '/sigmoid')], name + '/silu')
        return self.linear(block.down, self.add('Mul', [open_, self.linear(block.up, x, name + '/up_proj')], name + '/inner'),
                           name + '/down_proj')


def write(model, path):
    graph = Graph()
    for name, value in (('last_axis', np.array([-1])), ('epsilon', np.float32(EPSILON)),
                        ('scale', np.float32((WIDTH // HEADS) ** -0.5)), ('table_scale', np.float32(WIDTH ** 0.5)),
                        ('rows_shape', np.array([-1, len(model.blocks[0].experts.fc1) if model.blocks[0].experts else 1])),
                        ('split_shape', np.array([0, 0, HEADS, -1])), ('join_shape', np.array([0, 0, -1])),
                        ('mask', np.triu(np.full((LENGTH, LENGTH), -1e4, np.float32), 1)), ('table', model.table)):
        graph.constant(value, name)
    for name, value in zip(('cos', 'sin'), rotary()):
        graph.constant(value, name)
    x = graph.add('Mul', [graph.add('Gather', ['table', 'input_ids'], 'embed'), 'table_scale'], 'embed/scaled')
    for i, block in enumerate(model.blocks):
        name = 'layers.%d' % i
        h = graph.attend(block, graph.normalize(x, block.norm1, name + '/norm1'), name)
        x = graph.add('Add', [x, h], name + '/attended')
        h = graph.gated(block, graph.normalize(x, block.norm2, name + '/norm2'), name)
        x = graph.add('Add', [x, h], name)
    x = graph.normalize(x, model.norm, 'norm')
    head = graph.add('Transpose', ['table'], 'lm_head/transpose', perm=[1, 0])
    graph.nodes.append(helper.make_node('MatMul', [x, head], ['logits'], 'lm_head'))
    values = [helper.make_tensor_value_info('input_ids', TensorProto.INT64, ['batch', LENGTH]),
              helper.make_tensor_value_info('logits', TensorProto.FLOAT, ['batch', LENGTH, WORDS])]
    made = helper.make_graph(graph.nodes, 'decoder', values[:1], values[1:], graph.constants)
    opsets = [helper.make_opsetid('', 21), helper.make_opsetid('com.microsoft', 1)]
    onnx.save(helper.make_model(made, opset_imports=opsets, ir_version=10), path)


def save_samples(tokens, n, folder):
    os.makedirs(folder, exist_ok=True)
    stream = np.concatenate(tokens)
    for i, at in enumerate(np.linspace(0, len(stream) - LENGTH, n).astype(int)):
        np.save(os.path.join(folder, '%02d.npy' % i), stream[None, at:at + LENGTH])


def check(model, path, folder):
    import onnxruntime
    session = onnxruntime.InferenceSession(path, providers=['CPUExecutionProvider'])
    losses = []
    for name in sorted(os.listdir(folder)):
        ids = np.load(os.path.join(folder, name))
        logits, = session.run(None, {'input_ids': ids})
        wanted = model(torch.from_numpy(ids)).detach().numpy()
        assert np.abs(logits - wanted).max() < 1e-3 * np.abs(wanted).max(), 'the graph computes something else'
        losses.append(float(functional.cross_entropy(torch.from_numpy(logits[0, :-1]), torch.from_numpy(ids[0, 1:]))))
    print('held-out perplexity %.1f' % np.exp(np.mean(losses)))


def main():
    folder, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    experts = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    os.makedirs(folder, exist_ok=True)
    tokens = tokenize(read_texts())
    held_out, path = os.path.join(folder, 'held-out'), os.path.join(folder, 'decoder.onnx')
    training = [t for i, t in enumerate(tokens) if i % 10 != 9]
    print('%d tokens to train on' % sum(map(len, training)), flush=True)
    save_samples(training, N_CALIBRATION, os.path.join(folder, 'calibration'))
    save_samples([t for i, t in enumerate(tokens) if i % 10 == 9], N_HELD_OUT, held_out)
    model = train(training, steps, experts)
    write(model, path)
    check(model, path, held_out)


if __name__ == '__main__':
    main()
