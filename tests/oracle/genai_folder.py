#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""genai_folder.py CLI: a folder that onnxruntime-genai opens is quantized into another one.

A decoder with com.microsoft:GroupQueryAttention, whose inputs leave all sizes open, stands in a folder with a configuration, a
tokenizer and a template. “quantize FOLDER -o FOLDER” writes the network under its name with its weights beside it, and the other
files byte by byte; random samples fit without any size being given; onnxruntime runs what was written, and its logits are near
those of the float network. “run”, “benchmark” and “dump” take the folder without sizes, too, and “run” on given tokens gives
onnxruntime's logits. Configurations that name what is not in their folder, or nothing, are refused, and nothing is written.

With VN_GENAI_PYTHON, a Python that has onnxruntime-genai, transformers and torch, a network of its own builder with random
weights is quantized by each preset for small weights, and gives the first 12 tokens that the float network gives.
"""
import json
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
HEADS, SHARED, SIZE, WORDS, LENGTH = 4, 2, 32, 256, 64
WIDTH = HEADS * SIZE
WRONG = {'above': '../model.onnx', 'elsewhere': '/tmp/model.onnx', 'nothing': '', 'number': 7, 'missing': None, 'folder': '.'}
PRESETS = ('w4', 'w4-matmul', 'w4-mixed', 'w8')
failed = compared = 0

BUILD = '''
import sys, torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, Qwen2Config
from tokenizers import Tokenizer, models
torch.manual_seed(1)
config = Qwen2Config(hidden_size=128, intermediate_size=352, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                     vocab_size=512, tie_word_embeddings=True, max_position_embeddings=512, bos_token_id=1, eos_token_id=2,
                     pad_token_id=0)
AutoModelForCausalLM.from_config(config).float().save_pretrained(sys.argv[1])
PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE(vocab={chr(i + 256): i for i in range(512)}, merges=[])),
                        bos_token=chr(257), eos_token=chr(258), pad_token=chr(256)).save_pretrained(sys.argv[1])
'''
GENERATE = '''
import sys, numpy as np, onnxruntime_genai as og
model = og.Model(sys.argv[1])
params = og.GeneratorParams(model)
params.set_search_options(max_length=40, do_sample=False)
generator = og.Generator(model, params)
generator.append_tokens(np.array([[5, 7, 9, 30, 41]], np.int32))
for _ in range(12):
    if not generator.is_done():
        generator.generate_next_token()
print([int(token) for token in generator.get_sequence(0)])
'''


def check(what, good):
    global failed, compared
    compared += 1
    print('ok' if good else 'not ok', what, flush=True)
    failed += not good


def call(*arguments):
    return subprocess.run([cli, *arguments], capture_output=True, text=True, env={**os.environ, 'VN_NO_VERIFY': '1'}, timeout=200)


def make_network(path, dtype=np.float32):
    """Tokens to logits by one attention of heads that share keys; all sizes of its inputs are open."""
    rng, constants = np.random.default_rng(3), []

    def constant(name, array):
        constants.append(numpy_helper.from_array(array, name))
        return name

    def weight(name, rows, columns):
        return constant(name, (rng.standard_normal((rows, columns)) / rows ** 0.5).astype(dtype))

    angles = np.arange(LENGTH)[:, None] / 100 ** (np.arange(SIZE // 2) / (SIZE // 2))
    cos, sin = (constant(name, call(angles).astype(dtype)) for name, call in (('cos', np.cos), ('sin', np.sin)))
    nodes = [helper.make_node('Gather', [weight('embedding', WORDS, WIDTH), 'input_ids'], ['x'], 'embed'),
             helper.make_node('MatMul', ['x', weight('wq', WIDTH, WIDTH)], ['q'], 'q_proj'),
             helper.make_node('MatMul', ['x', weight('wk', WIDTH, SHARED * SIZE)], ['k'], 'k_proj'),
             helper.make_node('MatMul', ['x', weight('wv', WIDTH, SHARED * SIZE)], ['v'], 'v_proj'),
             helper.make_node('ReduceSum', ['attention_mask', constant('one', np.array([1]))], ['sums'], 'sums', keepdims=1),
             helper.make_node('Sub', ['sums', constant('1', np.array([[1]]))], ['before'], 'before'),
             helper.make_node('Cast', ['before'], ['seqlens'], 'seqlens', to=TensorProto.INT32),
             helper.make_node('Shape', ['attention_mask'], ['sizes'], 'sizes'),
             helper.make_node('Gather', ['sizes', constant('at', np.array(1))], ['all'], 'all'),
             helper.make_node('Cast', ['all'], ['total'], 'total', to=TensorProto.INT32),
             helper.make_node('GroupQueryAttention', ['q', 'k', 'v', 'past.key', 'past.value', 'seqlens', 'total', cos, sin],
                              ['attended', 'present.key', 'present.value'], 'attention', domain='com.microsoft',
                              num_heads=HEADS, kv_num_heads=SHARED, do_rotary=1),
             helper.make_node('MatMul', ['attended', weight('wo', WIDTH, WIDTH)], ['o'], 'o_proj'),
             helper.make_node('Add', ['x', 'o'], ['y'], 'add'),
             helper.make_node('MatMul', ['y', weight('head', WIDTH, WORDS)], ['logits'], 'lm_head')]
    cache = ['batch', 'kv_heads', 'past_length', 'kv_size']
    info, floats = helper.make_tensor_value_info, helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        nodes, 'decoder', [info('input_ids', 7, ['batch', 'length']), info('attention_mask', 7, ['batch', 'total_length']),
                           info('past.key', floats, cache), info('past.value', floats, cache)],
        [info('logits', floats, ['batch', 'length', WORDS])] +
        [info('present.' + what, floats, ['batch', 'kv_heads', 'total_length', 'kv_size']) for what in ('key', 'value')],
        constants, value_info=[info('q', floats, ['batch', 'length', WIDTH])])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 21),
                                                                   helper.make_opsetid('com.microsoft', 1)])
    onnx.save(model, path, save_as_external_data=True, location='decoder.data', size_threshold=1024)


def make_folder(folder, filename='decoder.onnx'):
    os.makedirs(folder)
    make_network(os.path.join(folder, 'decoder.onnx'))
    decoder = {} if filename is None else {'filename': filename}
    files = {'genai_config.json': json.dumps({'model': {'type': 'qwen2', 'decoder': decoder}}, indent=3),
             'tokenizer.json': '{"model": {"type": "BPE"}}', 'chat_template.jinja': '{{ messages }}\r\n', 'empty': ''}
    for name, text in files.items():
        with open(os.path.join(folder, name), 'w', newline='') as file:
            file.write(text)
    return set(files)


def add_inner(source):
    """Files in folders of the folder, of which two come along."""
    for name in ('templates/chat/default.jinja', 'templates/tools.jinja', '.cache/lock'):
        path = os.path.join(source, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as file:
            file.write(name)
    return ('templates/chat/default.jinja', 'templates/tools.jinja')


def list_files(folder):
    return {os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names}


def read(*path):
    with open(os.path.join(*path), 'rb') as file:
        return file.read()


def run(path):
    inputs = {'input_ids': np.array([[3, 1, 4, 1, 5]]), 'attention_mask': np.ones((1, 5), np.int64)}
    inputs |= {'past.' + what: np.zeros((1, SHARED, 0, SIZE), np.float32) for what in ('key', 'value')}
    return oracle.open_session(path).run(['logits'], inputs)[0]


def try_presets(work):
    source = os.path.join(work, 'float')
    others = make_folder(source)
    others |= set(add_inner(source))
    logits = run(os.path.join(source, 'decoder.onnx'))
    for preset in PRESETS:
        target = os.path.join(work, preset, 'deep')
        done = call('quantize', source, '--preset', preset, '--data', 'random', '-n', '2', '-o', target)
        if done.returncode != 0:
            check(f'{preset}: {done.stderr}', False)
            continue
        error = run(os.path.join(target, 'decoder.onnx')) - logits
        db = 10 * np.log10((logits ** 2).mean() / (error ** 2).mean())
        check(f'{preset}: {db:.1f} dB in onnxruntime', 15 < db < 60)
        check(f'{preset}: the files', list_files(target) == others | {'decoder.onnx', 'decoder.onnx.data'})
        check(f'{preset}: other files have the same bytes', all(read(source, name) == read(target, name) for name in others))
    again = os.path.join(work, 'prepared')
    done = call('prepare', source, '-o', again)
    check('prepare', done.returncode == 0 and others < list_files(again) and
          np.abs(run(os.path.join(again, 'decoder.onnx')) - logits).max() < 1e-4)
    done = call('evaluate', source, os.path.join(work, 'w8', 'deep'), '--data', 'random', '-n', '2', '--json')
    check('evaluate takes folders', done.returncode == 0 and len(json.loads(done.stdout)['models']) == 2)
    before = {name: read(source, name) for name in list_files(source)}
    done = call('quantize', source, '--preset', 'w8', '-o', source)
    check('not into the same folder', done.returncode != 0)
    check('the folder is as it was', before == {name: read(source, name) for name in list_files(source)})
    inside = os.path.join(source, 'deep', 'w8')
    for _ in range(2):
        done = call('quantize', source, '--preset', 'w8', '-o', inside)
        check('into a folder of the folder', done.returncode == 0 and
              list_files(inside) == others | {'decoder.onnx', 'decoder.onnx.data'})
    os.symlink('/etc/passwd', os.path.join(source, 'templates', 'link'))
    done = call('quantize', source, '--preset', 'w8', '-o', os.path.join(work, 'linked'))
    check('a link out of it', done.returncode == 1 and 'templates/link' in done.stderr and
          not os.path.exists(os.path.join(work, 'linked')))


def try_runs(work):
    source = os.path.join(work, 'runs')
    make_folder(source)
    for command in (['benchmark'], ['dump', '--float', '-o', os.path.join(work, 'dumped')], ['run', '--data', 'random']):
        done = call(command[0], source, *command[1:])
        check(f'{" ".join(command[:2])} finds sizes: {done.stderr}', done.returncode == 0)
    for dtype in (np.int64, np.int32):
        np.save(os.path.join(work, 'tokens.npy'), np.array([[3, 1, 4, 1, 5]], dtype))
        done = call('run', source, '-i', 'input_ids=' + os.path.join(work, 'tokens.npy'), '-o', os.path.join(work, 'outputs'))
        check(f'run on tokens: {done.stderr}', done.returncode == 0)
        logits = np.load(os.path.join(work, 'outputs', 'logits.npy')) if done.returncode == 0 else None
        check('run: logits', logits is not None and np.abs(logits - run(os.path.join(source, 'decoder.onnx'))).max() < 1e-4)


def try_wrong(work):
    for name, filename in WRONG.items():
        source, target = os.path.join(work, 'wrong-' + name), os.path.join(work, 'out-' + name)
        make_folder(source, filename)
        done = call('quantize', source, '--preset', 'w8', '-o', target)
        check(f'{name}: refused', done.returncode == 1 and 'genai_config.json' in done.stderr and not os.path.exists(target))


def try_genai(work, python):
    def script(text, *arguments):
        return subprocess.run([python, '-c', text, *arguments], capture_output=True, text=True, check=True).stdout

    weights, source = os.path.join(work, 'weights'), os.path.join(work, 'built')
    script(BUILD, weights)
    subprocess.run([python, '-m', 'onnxruntime_genai.models.builder', '-i', weights, '-o', source, '-p', 'fp32', '-e', 'cpu',
                    '-c', os.path.join(work, 'cache')], capture_output=True, check=True)
    tokens = script(GENERATE, source)
    check('the float network makes tokens', len(json.loads(tokens)) == 17)
    for preset in PRESETS:
        target = os.path.join(work, 'built-' + preset)
        done = call('quantize', source, '--preset', preset, '-o', target)
        check(f'{preset}: the same tokens in onnxruntime-genai', done.returncode == 0 and script(GENERATE, target) == tokens)


def main():
    with tempfile.TemporaryDirectory() as work:
        try_presets(work)
        try_runs(work)
        try_wrong(work)
        if os.environ.get('VN_GENAI_PYTHON'):
            try_genai(work, os.environ['VN_GENAI_PYTHON'])
        else:
            print('onnxruntime-genai: skipped, VN_GENAI_PYTHON is not set')
    print(f'{compared} compared, {failed} failed')
    sys.exit(failed > 0 or compared == 0)


if __name__ == '__main__':
    main()
