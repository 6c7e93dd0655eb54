#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""token_figures.py VERNIER_CLI

What `evaluate` tells of language models beside the share of tokens that are kept: perplexity, KL divergence (mean, 99 %,
largest), top 8, how often the next token is the first, and what the probability of the true token changes by. Each figure must
be what numpy makes of onnxruntime's logits of both files, with and without a mask. A text in one file, which is cut into the
same samples, tells the same. So does one network alone; of samples that overlap each token counts once; and the report of a run
has the figures of its held-out samples. A network with a cache is judged by its logits alone: its SQNR is that of these, though
the cache is compared, too.
"""
import json
import os
import subprocess
import sys
import tempfile

import networks
import oracle

WORDS, WIDTH, LENGTH, SAMPLES = 61, 32, 24, 7
LIMIT = 1e-4     # relative: logits of onnxruntime and of the engine are not the same bits
EXPORTS = {'w4-matmul': ['--preset', 'w4-matmul'], 'w4': ['--preset', 'w4'],
           'matmulnbits, 8 bit': ['--format', 'matmulnbits', '--weight', 'uint8', '--block-size', '32']}


def make_model(path, masked, cached):
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save

    rng = np.random.default_rng(4)
    constants = {'table': rng.standard_normal((WORDS, WIDTH)), 'up': rng.standard_normal((WIDTH, 2 * WIDTH)) / 5,
                 'down': rng.standard_normal((2 * WIDTH, WIDTH)) / 5, 'head': rng.standard_normal((WIDTH, WORDS)) / 8,
                 'keys': rng.standard_normal((WIDTH, WIDTH)), 'places': rng.standard_normal((1, LENGTH, WIDTH)) / 2}
    nodes = [helper.make_node('Gather', ['table', 'input_ids'], ['x'], 'embed'),
             helper.make_node('Add', ['x', 'places'], ['p'], 'places'), helper.make_node('MatMul', ['p', 'up'], ['u'], 'up'),
             helper.make_node('Relu', ['u'], ['r'], 'relu'), helper.make_node('MatMul', ['r', 'down'], ['d'], 'down'),
             helper.make_node('Add', ['p', 'd'], ['h'], 'add'), helper.make_node('MatMul', ['h', 'head'], ['logits'], 'head')]
    inputs = [helper.make_tensor_value_info('input_ids', TensorProto.INT64, [1, LENGTH])]
    outputs = [helper.make_tensor_value_info('logits', TensorProto.FLOAT, [1, LENGTH, WORDS])]
    if masked:
        inputs.append(helper.make_tensor_value_info('attention_mask', TensorProto.INT64, [1, LENGTH]))
        nodes[0].output[0] = 'e'
        nodes.insert(1, helper.make_node('Cast', ['attention_mask'], ['m'], 'cast', to=TensorProto.FLOAT))
        nodes.insert(2, helper.make_node('Unsqueeze', ['m', 'axis'], ['mm'], 'unsqueeze'))
        nodes.insert(3, helper.make_node('Mul', ['e', 'mm'], ['x'], 'mask'))
        constants['axis'] = np.array([2])
    if cached:
        inputs.append(helper.make_tensor_value_info('past_key_values.0.key', TensorProto.FLOAT, [1, 1, 3, WIDTH]))
        outputs.append(helper.make_tensor_value_info('present.0.key', TensorProto.FLOAT, [1, 1, LENGTH + 3, WIDTH]))
        nodes += [helper.make_node('MatMul', ['x', 'keys'], ['k'], 'keys'),
                  helper.make_node('Unsqueeze', ['k', 'one'], ['kk'], 'heads'),
                  helper.make_node('Concat', ['past_key_values.0.key', 'kk'], ['present.0.key'], 'cache', axis=2)]
        constants['one'] = np.array([1])
    graph = helper.make_graph(nodes, 'words', inputs, outputs,
                              [numpy_helper.from_array(v if v.dtype == np.int64 else v.astype(np.float32), k)
                               for k, v in constants.items()])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10), path)


def make_data(folder, masked, cached):
    """[(name of an input -> array)], a sample each, and a folder for each input."""
    import numpy as np

    rng, samples = np.random.default_rng(8), []
    for s in range(SAMPLES):
        feeds = {'input_ids': rng.integers(0, WORDS, (1, LENGTH))}
        if masked:
            feeds['attention_mask'] = (np.arange(LENGTH) < LENGTH - s)[None].astype(np.int64)
        if cached:
            feeds['past_key_values.0.key'] = rng.standard_normal((1, 1, 3, WIDTH)).astype(np.float32)
        for name, array in feeds.items():
            os.makedirs(os.path.join(folder, name), exist_ok=True)
            np.save(os.path.join(folder, name, '%d.npy' % s), array)
        samples.append(feeds)
    return samples


def log_softmax(x):
    import numpy as np

    x = x.astype(np.float64) - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def figures(first, other, samples, seen=None):
    import numpy as np

    divergences, tops, same, changes, logs_first, logs_other, hits_first, hits_other = ([] for _ in range(8))
    for s, feeds in enumerate(samples):
        a, b = (session.run(['logits'], feeds)[0][0] for session in (first, other))
        p, q = log_softmax(a), log_softmax(b)
        counts = feeds.get('attention_mask', np.ones((1, LENGTH)))[0] != 0
        if seen and s > 0:
            counts[:seen - 1] = False     # the last of these predicts the first that is new
        divergences.append((np.exp(p) * (p - q)).sum(-1)[counts])
        for i in np.flatnonzero(counts):
            tops.append(len(set(np.argsort(-a[i])[:8]) & set(np.argsort(-b[i])[:8])) / 8)
            same.append(a[i].argmax() == b[i].argmax())
            if i + 1 < LENGTH and counts[i + 1]:
                true = feeds['input_ids'][0, i + 1]
                changes.append(np.exp(q[i, true]) - np.exp(p[i, true]))
                logs_first.append(p[i, true])
                logs_other.append(q[i, true])
                hits_first.append(a[i].argmax() == true)
                hits_other.append(b[i].argmax() == true)
    divergences, changes = np.sort(np.concatenate(divergences)), np.array(changes)
    return ({'perplexity': np.exp(-np.mean(logs_first)), 'next_top1': np.mean(hits_first)},
            {'share': np.mean(same), 'kl_divergence': divergences.mean(), 'perplexity': np.exp(-np.mean(logs_other)),
             'next_top1': np.mean(hits_other), 'top8_kept': np.mean(tops),
             'kl_99': divergences[int(np.ceil(0.99 * len(divergences))) - 1],
             'kl_max': divergences[-1], 'p_change': changes.mean(), 'p_change_rms': np.sqrt((changes ** 2).mean())})


def call(*words):
    run = subprocess.run(words, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    return run.stdout


def make_text(work, samples):
    import numpy as np

    path = os.path.join(work, 'text.npy')
    np.save(path, np.concatenate([feeds['input_ids'][0] for feeds in samples]))
    return path


def evaluate(cli, first, other, data, *options):
    """What is told of both networks, but of each sample."""
    told = json.loads(call(cli, 'evaluate', first, other, '--data', data, '--json', *options))['models']
    for model in told:
        model.pop('answers', None)      # their names
    return told


def check(name, told, wanted):
    """How many figures, and which are wrong."""
    wrong, n = [], 0
    for model, values in zip(told, wanted):
        found = {**model.get('kept', {}), **model.get('metrics', {})}
        for key, value in values.items():
            n += 1
            if key not in found or abs(found[key] - value) > LIMIT * max(abs(value), 5e-3):
                wrong.append('%s: %s is %s, expected %.6g' % (name, key, found.get(key), value))
    return n, wrong


def check_alone(cli, path, data, wanted):
    told = json.loads(call(cli, 'evaluate', path, '--data', data, '--json', '--task', 'tokens'))['models']
    return check('alone', told, wanted[:1])


def check_overlap(cli, path, out, text, sessions):
    import numpy as np

    tokens, stride = np.load(text), 9
    samples = [{'input_ids': tokens[None, i:i + LENGTH]} for i in range(0, len(tokens) - LENGTH + 1, stride)]
    assert len(samples) > SAMPLES
    return check('overlap', evaluate(cli, path, out, text, '--stride', str(stride), '--window', str(LENGTH)),
                 figures(*sessions, samples, LENGTH - stride))


def check_report(cli, work, path, out, data, options, sessions, samples):
    """Of the held-out samples, which are spread evenly."""
    import numpy as np

    held, report = 3, os.path.join(work, 'report')
    call(cli, 'quantize', path, '-o', out, '--data', data, '--no-verify', '--held-out', str(held), '--report', report, *options)
    with open(os.path.join(report, 'report.json'), encoding='utf-8') as file:
        found = json.load(file)['accuracy']
    own = [samples[(2 * k + 1) * len(samples) // (2 * held)] for k in range(held)]
    first, other = figures(*sessions, own)
    wanted = {**other, **{'float_' + k: v for k, v in first.items()}, 'kept': other['share']}
    del wanted['share']
    with open(os.path.join(report, 'report.md'), encoding='utf-8') as file:
        told = file.read()
    n, wrong = check('report', [{'metrics': found}], [wanted])
    figure = '%.*f' % (max(4, int(1 - np.floor(np.log10(found['kl_99'])))), found['kl_99'])     # two digits that count
    if figure not in told or '%.4g' % found['perplexity'] not in told:
        wrong.append('report.md has neither %s nor the perplexity' % figure)
    return n + 1, wrong


def compare(cli, work, masked, cached):
    """How many figures were compared, and what is wrong."""
    path, data = os.path.join(work, 'words.onnx'), os.path.join(work, 'data')
    make_model(path, masked, cached)
    samples = make_data(data, masked, cached)
    n, wrong = 0, []
    for name, options in EXPORTS.items():
        out = os.path.join(work, 'export.onnx')
        call(cli, 'quantize', path, '-o', out, '--data', data, '--no-verify', *options)
        told = evaluate(cli, path, out, data)
        sessions = networks.make_session(path, False), networks.make_session(out, False)
        wanted = figures(*sessions, samples)
        parts = [check(name, told, wanted), check_alone(cli, path, data, wanted),
                 check_report(cli, work, path, out, data, options, sessions, samples)]
        if not masked and not cached:
            text = make_text(work, samples)
            again = evaluate(cli, path, out, text)
            parts += [(1, [] if again == told else ['%s of a text in one file' % again]),
                      check_overlap(cli, path, out, text, sessions)]
        n += sum(part[0] for part in parts)
        wrong += ['%s, %s' % (name, text) for part in parts for text in part[1]]
        if cached:
            each = {o['name']: o['sqnr_db'] for o in told[1]['outputs']}
            n += 1
            if len(each) != 2 or told[1]['sqnr_db'] != each['logits']:
                wrong.append('%s: SQNR %s of %s' % (name, told[1]['sqnr_db'], each))
    return n, wrong


def main():
    oracle.use_oracle_python()
    total = failed = 0
    for masked, cached in ((False, False), (True, False), (False, True)):
        with tempfile.TemporaryDirectory() as work:
            n, wrong = compare(sys.argv[1], work, masked, cached)
        print('%s%s: %d figures' % ('masked' if masked else 'whole', ', cache' if cached else '', n))
        print(''.join('  %s\n' % w for w in wrong), end='', flush=True)
        total, failed = total + n, failed + len(wrong)
    print('%d compared, %d bad' % (total, failed))
    sys.exit(1 if failed or not total else 0)


if __name__ == '__main__':
    main()
