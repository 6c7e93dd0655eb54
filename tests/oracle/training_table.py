#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""training_table.py VERNIER_CLI [--write PAGE] [--quick] [--answers | --networks] [MODEL...]: what --train brings real networks,
on top of the repairs that need no gradients, judged by onnxruntime on samples that were neither calibrated nor trained with.
Prints the two tables of data/help/vernier-accuracy.md, and writes them there: signal to noise of networks with powers of two and
with weights of 4 bit, correct answers of networks with 4 bit. --quick: one small network each, a minute at most.

Training is not limited in time, so that figures do not depend on the machine. Gains are those of a photograph, mean over its
copies, and their standard error over the photographs. Fails where an export is invalid, where a gain is below zero by more than
two standard errors, or where correct answers are further below float than they may be."""
import glob
import gzip
import os
import resource
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
from PIL import Image    # noqa: E402
from auto_table import MODELS, cast, mean_sqnr, open_session, save_samples, take_switch    # noqa: E402
from samples import Source, read_digits    # noqa: E402

CALIBRATION, TESTS, COPIES = 24, 6, 8
TRAIN = ['--train=adaquant-thresholds']
FORMATS = [('powers of two', ['--preset=npu-cnn', '--rounding=second-order', '--bias-correction=guarded',
                              '--balance-channels=folded']),
           ('4 bit', ['--preset=cpu', '--weight=int4', '--rounding=second-order'])]

# Networks with labels: samples that are judged, and by how many points training may end below float.
ANSWERS = {'mnist_cntk_op8': (5000, 0.3), 'mnist_burn': (5000, 0.3), 'cls_cifar10_winml_cnn': (744, 1.5)}
ANSWER_FORMS = [('nearest', []), ('second order', ['--rounding=second-order']), ('trained', ['--rounding=second-order', *TRAIN])]
LEARNED, FIRST_DIGIT = 256, 1000
QUICK = ['mnist_cntk_op8']

NETWORKS_MARKS = '<!-- training: made by tests/oracle/training_table.py --write -->', '<!-- training end -->'
ANSWERS_MARKS = '<!-- answers: made by tests/oracle/training_table.py --write -->', '<!-- answers end -->'


def quantize(cli, model, out, data, feed, options):
    """Seconds of one processor; what the command took, without what onnx checks."""
    shapes = [w for name, x in feed.items() if x.ndim for w in ('--shape', f'{name}=' + 'x'.join(map(str, x.shape)))]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([cli, 'quantize', model, '-o', out, '--data', data, *shapes, *options], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode:
        sys.exit(f'{model}: {run.stderr.strip()}')
    onnx.checker.check_model(onnx.load(out), full_check=True)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def move(feed, k):
    """Copy number k of a sample: pictures are moved, and every other one is mirrored."""
    if k == 0:
        return feed
    copy = {}
    for name, x in feed.items():
        planes_first = x.ndim == 4 and x.shape[1] <= 4
        y = np.roll(x, (3 * k, 5 * k), (2, 3) if planes_first else (1, 2)) if x.ndim == 4 else x
        copy[name] = np.ascontiguousarray((y[..., ::-1] if planes_first else y[:, :, ::-1]) if k % 2 and x.ndim == 4 else y)
    return copy


def find_gain(wanted, before, after):
    """Of a photograph, in dB: the mean, and its standard error."""
    gains = np.array([mean_sqnr([w], [a]) - mean_sqnr([w], [b]) for w, b,
                      a in zip(wanted, before, after)]).reshape(-1, COPIES).mean(1)
    return float(np.mean(gains)), float(np.std(gains) / max(1, len(gains) - 1) ** 0.5)


def find_integer_share(path):
    """Of the multiplications of layers with constant weights: those whose numbers are both stored as integers."""
    graph = onnx.shape_inference.infer_shapes(onnx.load(path)).graph
    makers = {o: n for n in graph.node for o in n.output}
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in [*graph.value_info, *graph.output]}
    sizes = {t.name: list(t.dims) for t in graph.initializer}
    done = {True: 0, False: 0}
    for node in graph.node:
        if node.op_type not in ('Conv', 'ConvTranspose', 'Gemm', 'MatMul'):
            continue
        origins = [makers.get(name) for name in node.input[:2]]
        weight = sizes.get(origins[1].input[0] if origins[1] is not None and origins[1].input else node.input[1])
        made = shapes.get(node.output[0])
        if not weight or not made:
            continue
        each = np.prod(weight[1:]) if node.op_type == 'Conv' else weight[0] if node.op_type != 'Gemm' else min(weight)
        done[all(o is not None and o.op_type == 'DequantizeLinear' for o in origins)] += float(np.prod(made)) * float(each)
    return done[True] / max(done[True] + done[False], 1)


def measure_format(cli, model, work, tests, wanted, options):
    """(dB before, dB after, gain, its error, seconds, integer share)"""
    found, seconds = [], []
    for name, more in (('before', []), ('after', TRAIN)):
        out = os.path.join(work, name + '.onnx')
        seconds.append(quantize(cli, model, out, os.path.join(work, 'data'), tests[0], options + more))
        quantized = open_session(out)
        found.append([quantized.run(None, cast(quantized, x)) for x in tests])
    return (*(mean_sqnr(wanted, f) for f in found), *find_gain(wanted, *found), seconds[1] - seconds[0], find_integer_share(out))


def measure_network(cli, folder, stem):
    model = os.path.join(folder, 'models', stem + '.onnx')
    session = open_session(model)
    samples = Source(folder, stem, session).make(CALIBRATION + TESTS)
    tests = [move(x, k) for x in samples[CALIBRATION:] for k in range(COPIES)]
    wanted = [session.run(None, x) for x in tests]
    with tempfile.TemporaryDirectory() as work:
        save_samples(os.path.join(work, 'data'), samples[:CALIBRATION])
        return [measure_format(cli, model, work, tests, wanted, options) for _, options in FORMATS]


def table_networks(cli, folder, names):
    lines = ['| network | ' + ' | '.join(f'{name}: dB | trained | gain | seconds | on integers' for name, _ in FORMATS) + ' |',
             '|---' * (1 + 5 * len(FORMATS)) + '|']
    faults = 0
    for stem in names:
        figures = measure_network(cli, folder, stem)
        faults += sum(gain + 2 * error < 0 for _, _, gain, error, _, _ in figures)
        cells = [f'{before:.1f} | {after:.1f} | {gain:+.1f} ± {error:.1f} | {seconds:.0f} | {share:.0%}'.replace('%', ' %')
                 for before, after, gain, error, seconds, share in figures]
        lines.append(f'| {stem} | ' + ' | '.join(cells) + ' |')
        print(lines[-1], flush=True)
    return lines, faults


def read_labels(folder):
    with gzip.open(os.path.join(folder, 'mnist', 't10k-labels-idx1-ubyte.gz')) as file:
        return np.frombuffer(file.read(), np.uint8, offset=8)


def list_small_pictures(folder):
    """Paths and classes, one of each class in turn."""
    root = os.path.join(folder, 'cifar10')
    classes = [c for c in sorted(os.listdir(root)) if os.path.isdir(os.path.join(root, c))]
    each = [sorted(glob.glob(os.path.join(root, c, '*.jpg'))) for c in classes]
    return [(path, label) for same in zip(*each) for label, path in enumerate(same)]


def read_labelled(folder, stem, n):
    """Samples to learn from; others, and their labels."""
    source = Source(folder, stem, open_session(os.path.join(folder, 'models', stem + '.onnx')))
    if stem.startswith('mnist'):
        source.digits = read_digits(folder, FIRST_DIGIT + n)
        return source.make(LEARNED), source.make(n, FIRST_DIGIT), read_labels(folder)[FIRST_DIGIT:FIRST_DIGIT + n]
    pictures = list_small_pictures(folder)
    (name, _, _), = source.inputs
    samples = [{name: ((np.asarray(Image.open(path).convert('RGB'), np.float32) / 255 - 0.5) / 0.5).transpose(2, 0, 1)[None]}
               for path, _ in pictures[:LEARNED + n]]
    return samples[:LEARNED], samples[LEARNED:], [label for _, label in pictures[LEARNED:LEARNED + n]]


def measure_answers(cli, folder, stem, n):
    """Percent by form, float first, and seconds of the last."""
    model = os.path.join(folder, 'models', stem + '.onnx')
    learned, judged, labels = read_labelled(folder, stem, n)
    answers = [count_right(model, judged, labels)]
    with tempfile.TemporaryDirectory() as work:
        save_samples(os.path.join(work, 'data'), learned)
        for _, options in ANSWER_FORMS:
            out = os.path.join(work, 'out.onnx')
            seconds = quantize(cli, model, out, os.path.join(work, 'data'), judged[0],
                               ['--preset=cpu', '--weight=int4', *options])
            answers.append(count_right(out, judged, labels))
    return answers, seconds


def count_right(path, samples, labels):
    session = open_session(path)
    name = session.get_inputs()[0].name
    found = [int(np.argmax(session.run(None, {name: next(iter(x.values()))})[0])) for x in samples]
    return 100 * float(np.mean(np.array(found) == np.array(labels)))


def table_answers(cli, folder, names, quick):
    lines = ['| network | samples | float | ' + ' | '.join(name for name, _ in ANSWER_FORMS) + ' | seconds |',
             '|---' * (4 + len(ANSWER_FORMS)) + '|']
    faults = 0
    for stem in names:
        n, below = (500, 1.0) if quick else ANSWERS[stem]
        answers, seconds = measure_answers(cli, folder, stem, n)
        faults += answers[-1] < answers[0] - below
        lines.append(f'| {stem} | {n} | ' + ' | '.join(f'{a:.2f}' for a in answers) + f' | {seconds:.0f} |')
        print(lines[-1], flush=True)
    return lines, faults


def write_table(page, marks, lines):
    text = open(page, encoding='utf-8').read()
    before, rest = text.split(marks[0])
    open(page, 'w', encoding='utf-8').write(before + marks[0] + '\n' + '\n'.join(lines) + '\n' + marks[1]
                                            + rest.split(marks[1])[1])


def main():
    cli, arguments = sys.argv[1], sys.argv[2:]
    folder = oracle.shared_folder()
    page = arguments.pop(arguments.index('--write') + 1) if '--write' in arguments else None
    if page:
        arguments.remove('--write')
    quick = take_switch(arguments, '--quick')
    only_answers, only_networks = take_switch(arguments, '--answers'), take_switch(arguments, '--networks')
    faults = 0
    if not only_answers:
        lines, wrong = table_networks(cli, folder, arguments or (QUICK if quick else MODELS))
        faults += wrong
        if page:
            write_table(page, NETWORKS_MARKS, lines)
    if not only_networks:
        lines, wrong = table_answers(cli, folder, [a for a in arguments if a in ANSWERS] or (QUICK if quick else list(ANSWERS)),
                                     quick)
        faults += wrong
        if page:
            write_table(page, ANSWERS_MARKS, lines)
    sys.exit(bool(faults))


if __name__ == '__main__':
    main()
