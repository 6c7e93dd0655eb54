#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""decoders.py CLI: small decoders with the attention that onnxruntime-genai's model builder writes for each family.

KINDS has one a line: a window, with caches of all tokens or of the window alone, sinks, softcap, rotary with and without position
ids and of a part of a head, normalized queries and keys. Each takes STEPS: a prompt longer than the window, and tokens after it
with the caches that onnxruntime gave. The engine must give onnxruntime's logits, and its caches where they say something; and
each decoder quantized by w4-mixed on text and random samples must run in onnxruntime, with logits near the float ones.

With VN_GENAI_PYTHON, a Python that has onnxruntime-genai, transformers and torch, decoders of its own builder (BUILT) are
quantized, and onnxruntime-genai makes tokens of what was written. What the builder or onnxruntime-genai refuse is said.
"""
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

cli = os.path.abspath(sys.argv[1])
HEADS, SHARED, SIZE, WORDS, ROWS, WINDOW = 4, 2, 32, 256, 64, 6
WIDTH = HEADS * SIZE
STEPS = (11, 1, 3, 1)
# Attributes of the attention, and what else the decoder has.
KINDS = {
    'llama': ({}, ()),
    'phi': ({}, ('part',)),
    'glm': ({'rotary_interleaved': 1}, ('part',)),
    'mistral': ({'local_window_size': WINDOW}, ()),
    'windowed': ({'local_window_size': WINDOW, 'sliding_window_cache': 1}, ()),
    'with slack': ({'local_window_size': WINDOW, 'sliding_window_cache': 1}, ('slack',)),
    'gpt-oss': ({'local_window_size': WINDOW, 'sliding_window_cache': 1, 'scale': 0.2}, ('sinks',)),
    'gemma2': ({'local_window_size': WINDOW, 'sliding_window_cache': 1, 'softcap': 5.0}, ('cap',)),
    'sinks, all keys': ({}, ('sinks',)),
    'qwen3': ({}, ('norms',)),
    'gemma3': ({'local_window_size': WINDOW, 'sliding_window_cache': 1}, ('norms', 'positions')),
    'positions': ({}, ('positions',)),
    'smooth': ({'smooth_softmax': 1}, ()),
    'no rotary': ({'do_rotary': 0}, ()),
}
BUILT = {
    'GptOss': dict(head_dim=16, num_local_experts=4, num_experts_per_tok=2, sliding_window=8,
                   layer_types=['sliding_attention', 'full_attention']),
    'Gemma2': dict(head_dim=16, sliding_window=8, query_pre_attn_scalar=16),
    'Gemma': dict(head_dim=16), 'Mistral': dict(head_dim=16, sliding_window=None), 'Qwen3': dict(head_dim=16), 'Olmo': {},
    'Phi3': dict(sliding_window=None, original_max_position_embeddings=128),
    'Phi': dict(hidden_size=128, partial_rotary_factor=0.5),
    'Granite': {}, 'Ernie4_5': dict(head_dim=16), 'HunYuanDenseV1': dict(head_dim=16),
    'SmolLM3': dict(no_rope_layers=[1, 0], no_rope_layer_interval=2),
    'Qwen2': dict(use_sliding_window=True, sliding_window=8, max_window_layers=1),
}
BUILD = '''
import sys, json, torch, transformers
from tokenizers import Tokenizer, models
torch.manual_seed(1)
config = dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
              vocab_size=256, max_position_embeddings=128, bos_token_id=1, eos_token_id=2, pad_token_id=0)
config = getattr(transformers, sys.argv[1] + 'Config')(**{**config, **json.loads(sys.argv[2])})
transformers.AutoModelForCausalLM.from_config(config).float().save_pretrained(sys.argv[3])
transformers.PreTrainedTokenizerFast(
    tokenizer_object=Tokenizer(models.BPE(vocab={chr(i + 256): i for i in range(256)}, merges=[])), bos_token=chr(257),
    eos_token=chr(258), pad_token=chr(256)).save_pretrained(sys.argv[3])
'''
GENERATE = '''
import sys, numpy as np, onnxruntime_genai as og
model = og.Model(sys.argv[1])
params = og.GeneratorParams(model)
params.set_search_options(max_length=40, do_sample=False)
generator = og.Generator(model, params)
generator.append_tokens(np.array([[5, 7, 9, 30, 41, 17, 33, 50, 61, 12]], np.int32))
while not generator.is_done() and len(generator.get_sequence(0)) < 30:
    generator.generate_next_token()
print([int(token) for token in generator.get_sequence(0)])
'''
failed = compared = 0


def check(what, good):
    global failed, compared
    compared += 1
    print('ok' if good else 'not ok', what, flush=True)
    failed += not good


def call(*arguments):
    return subprocess.run([cli, *arguments], capture_output=True, text=True, env={**os.environ, 'VN_NO_VERIFY': '1'}, timeout=200)


class Builder:
    def __init__(self):
        self.rng, self.nodes, self.constants = np.random.default_rng(5), [], []

    def constant(self, array):
        name = 'c%d' % len(self.constants)
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, rows, columns):
        return self.constant((1.5 * self.rng.standard_normal((rows, columns)) / rows ** 0.5).astype(np.float32))

    def add(self, op, inputs, output=None, domain='', **attributes):
        output = output or 'v%d' % len(self.nodes)
        outputs = output if isinstance(output, list) else [output]
        self.nodes.append(helper.make_node(op, inputs, outputs, 'n%d' % len(self.nodes), domain=domain, **attributes))
        return outputs[0]

    def norm(self, x, heads):
        """Of each head, as the builder writes it for the processor."""
        apart = self.add('Reshape', [x, self.constant(np.array([0, -1, SIZE]))])
        weight = self.constant(self.rng.uniform(0.5, 1.5, SIZE).astype(np.float32))
        normal = self.add('SimplifiedLayerNormalization', [apart, weight], axis=-1, epsilon=1e-6)
        return self.add('Reshape', [normal, self.constant(np.array([0, -1, heads * SIZE]))])


def make_network(path, attributes, extras):
    """Tokens to logits, two layers: the first with the attributes, the second with the same ones but for a window."""
    b = Builder()
    half = SIZE // 4 if 'part' in extras else SIZE // 2
    angles = np.arange(ROWS)[:, None] / 100 ** (np.arange(half) / half)
    cos, sin = (b.constant(of(angles).astype(np.float32)) for of in (np.cos, np.sin))
    x = b.add('Gather', [b.weight(WORDS, WIDTH), 'input_ids'])
    sums = b.add('ReduceSum', ['attention_mask', b.constant(np.array([1]))], keepdims=1)
    seqlens = b.add('Cast', [b.add('Sub', [sums, b.constant(np.array([[1]]))])], to=TensorProto.INT32)
    total = b.add('Cast', [b.add('Gather', [b.add('Shape', ['attention_mask']), b.constant(np.array(1))])], to=TensorProto.INT32)
    for layer in range(2):
        q, k, v = (b.add('MatMul', [x, b.weight(WIDTH, n)]) for n in (WIDTH, SHARED * SIZE, SHARED * SIZE))
        if 'norms' in extras:
            q, k = b.norm(q, HEADS), b.norm(k, SHARED)
        own = {name: value for name, value in attributes.items() if layer == 0 or 'window' not in name}
        sinks = b.constant(b.rng.standard_normal(HEADS).astype(np.float32)) if 'sinks' in extras else ''
        inputs = [q, k, v, f'past_key_values.{layer}.key', f'past_key_values.{layer}.value', seqlens, total]
        inputs += [cos, sin] if own.get('do_rotary', 1) else ['', '']
        inputs += ['position_ids' if 'positions' in extras else '', '', sinks]
        while inputs[-1] == '':
            inputs.pop()
        y = b.add('GroupQueryAttention', inputs, [f'a{layer}', f'present.{layer}.key', f'present.{layer}.value'],
                  domain='com.microsoft', num_heads=HEADS, kv_num_heads=SHARED, **{'do_rotary': 1, **own})
        x = b.add('Add', [x, b.add('MatMul', [y, b.weight(WIDTH, WIDTH)])])
    logits = b.add('MatMul', [x, b.weight(WIDTH, WORDS)], None if 'cap' in extras else 'logits')
    if 'cap' in extras:
        cap = b.constant(np.float32(3))
        b.add('Mul', [b.add('Tanh', [b.add('Div', [logits, cap])]), cap], 'logits')
    info, sizes = helper.make_tensor_value_info, ['batch', 'length']
    inputs = [info('input_ids', 7, sizes), info('attention_mask', 7, ['batch', 'total_length'])]
    inputs += [info('position_ids', 7, sizes)] if 'positions' in extras else []
    outputs = [info('logits', 1, [*sizes, WORDS])]
    for layer in range(2):
        for what in ('key', 'value'):
            rows = 'past_sliding_length' if slides(attributes) and layer == 0 else 'past_length'
            inputs.append(info(f'past_key_values.{layer}.{what}', 1, ['batch', SHARED, rows, SIZE]))
            outputs.append(info(f'present.{layer}.{what}', 1, ['batch', SHARED, 'rows%d' % layer, SIZE]))
    graph = helper.make_graph(b.nodes, 'decoder', inputs, outputs, b.constants)
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 21),
                                                                     helper.make_opsetid('com.microsoft', 1)]), path)


def slides(attributes):
    return attributes.get('sliding_window_cache', 0) != 0


def count_kept(tokens, room):
    """Rows of a cache that slides, from the words of onnxruntime's schema."""
    gap = room - WINDOW + 1
    return tokens if tokens <= room else tokens - gap * -(-(tokens - room) // gap)


def make_feed(tokens, before, past, attributes, extras):
    feed = {'input_ids': tokens, 'attention_mask': np.ones((1, before + tokens.shape[1]), np.int64)}
    if 'positions' in extras:
        feed['position_ids'] = np.arange(before, before + tokens.shape[1])[None]
    for layer in range(2):
        room = WINDOW + 3 * ('slack' in extras) if slides(attributes) and layer == 0 else 0
        for what in ('key', 'value'):
            name = f'{layer}.{what}'
            feed['past_key_values.' + name] = past.get('present.' + name, np.zeros((1, SHARED, room, SIZE), np.float32))
    return feed


def run_engine(path, feed, work):
    arguments = []
    for name, value in feed.items():
        np.save(os.path.join(work, name + '.npy'), value)
        arguments += ['-i', f'{name}={os.path.join(work, name)}.npy']
    done = call('run', path, *arguments, '-o', os.path.join(work, 'outputs'))
    if done.returncode != 0:
        return None, done.stderr.strip()
    return {name[:-4]: np.load(os.path.join(work, 'outputs', name)) for name in os.listdir(os.path.join(work, 'outputs'))}, ''


def is_near(a, b):
    return a.shape == b.shape and np.abs(a - b).max() <= 2e-5 * max(1, np.abs(b).max())


def try_kind(name, attributes, extras, work):
    path, rng, before, past = os.path.join(work, 'decoder.onnx'), np.random.default_rng(2), 0, {}
    make_network(path, attributes, extras)
    session = oracle.open_session(path)
    outputs = [output.name for output in session.get_outputs()]
    feeds = []
    for length in STEPS:
        feed = make_feed(rng.integers(0, WORDS, (1, length)), before, past, attributes, extras)
        past = dict(zip(outputs, session.run(outputs, feed)))
        found, why = run_engine(path, feed, work)
        before += length
        kept = {output: count_kept(before, value.shape[2]) if slides(attributes) and '.0.' in output else before
                for output, value in past.items() if output != 'logits'}
        good = found is not None and all(
            is_near(found[output][:, :, :kept[output]], past[output][:, :, :kept[output]]) if output in kept
            else is_near(found[output], past[output]) for output in outputs)
        check(f'{name}: {length} tokens after {before - length} {why}', good)
        feeds.append((feed, past['logits']))
    for data in (['random', '-n', '2'], [os.path.join(work, 'text.bin'), '--window', '12', '-n', '4']):
        target = os.path.join(work, 'quantized.onnx')
        done = call('quantize', path, '--preset', 'w4-mixed', '--data', *data, '-o', target)
        if done.returncode != 0:
            check(f'{name}: quantized on {data[0]}: {done.stderr}', False)
            continue
        quantized = oracle.open_session(target)
        db = [10 * np.log10((wanted ** 2).mean() / ((quantized.run(['logits'], feed)[0] - wanted) ** 2).mean())
              for feed, wanted in feeds]
        check(f'{name}: quantized on {os.path.basename(data[0])}, {min(db):.1f} dB', min(db) > 8)


def try_built(name, options, work, python):
    import json
    weights, source, target = (os.path.join(work, name + '-' + what) for what in ('weights', 'float', 'w4'))

    def script(*arguments):
        return subprocess.run([python, *arguments], capture_output=True, text=True)

    if script('-c', BUILD, name, json.dumps(options), weights).returncode != 0:
        print(f'{name}: transformers does not make it')
        return
    built = script('-m', 'onnxruntime_genai.models.builder', '-i', weights, '-o', source, '-p', 'fp32', '-e', 'cpu', '-c',
                   os.path.join(work, 'cache'))
    tokens = script('-c', GENERATE, source)
    if built.returncode != 0 or tokens.returncode != 0:
        print(f'{name}: {"the builder" if built.returncode != 0 else "onnxruntime-genai"} refuses the float network: ' +
              (built if built.returncode != 0 else tokens).stderr.strip()[-200:])
        return
    done = call('quantize', source, '--preset', 'w4-mixed', '-o', target)
    made = script('-c', GENERATE, target)
    check(f'{name}: {done.stderr if done.returncode else ""} tokens of float {tokens.stdout.strip()} and quantized '
          f'{made.stdout.strip() or made.stderr[-200:]}', done.returncode == 0 and made.returncode == 0 and
          len(json.loads(made.stdout)) == 30)


def main():
    python = os.environ.get('VN_GENAI_PYTHON')
    with tempfile.TemporaryDirectory() as work:
        np.random.default_rng(1).integers(0, WORDS, 200).astype('<u2').tofile(os.path.join(work, 'text.bin'))
        for name, (attributes, extras) in KINDS.items():
            try_kind(name, attributes, extras, work)
        for name, options in BUILT.items() if python else ():
            try_built(name, options, work, python)
    if not python:
        print('onnxruntime-genai: skipped, VN_GENAI_PYTHON is not set')
    print(f'{compared} compared, {failed} failed')
    sys.exit(failed > 0 or compared == 0)


if __name__ == '__main__':
    main()
