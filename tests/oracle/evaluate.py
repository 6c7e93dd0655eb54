#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""evaluate.py CLI

Hits and errors of `evaluate` against ONNX Runtime on handwritten digits and small photographs: as class folders, as a folder with
a file of labels, as a list with numbers, with the classes in another order, with a background class in front, with some of the
classes only, and without labels. Counts must be equal; of equal scores the lower class comes first."""
import gzip
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
SHARED = oracle.shared_folder()

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from PIL import Image  # noqa: E402

cli = sys.argv[1]
failed = 0


def expect(good, what):
    global failed
    if not good:
        failed += 1
        print('not ok:', what)


def run(*args, fails=False):
    done = subprocess.run([cli, *args], capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        sys.exit('%s: %s' % (' '.join(args), done.stderr + done.stdout))
    return done.stderr if fails else done.stdout


def evaluate(*args):
    report = json.loads(run('evaluate', *args, '--json'))
    return report['models'], [n['code'] for n in report['notes']]


def scores_of(model, pictures):
    """What ONNX Runtime gives for each picture, one after the other, as a line."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = oracle.open_session(model, options)
    name = session.get_inputs()[0].name
    return np.stack([session.run(None, {name: x[None]})[0].ravel() for x in pictures])


def expected(scores, labels, first=None):
    """Hits at the first place and among the first five, and how often the answer is that of the first network."""
    order = np.argsort(-scores, axis=1, kind='stable')
    known = [i for i, label in enumerate(labels) if label >= 0]
    top1 = sum(order[i, 0] == labels[i] for i in known)
    top5 = sum(labels[i] in order[i, :5] for i in known)
    agree = None if first is None else int(np.sum(order[:, 0] == np.argsort(-first, axis=1, kind='stable')[:, 0]))
    return len(known), int(top1), int(top5), agree


def check(what, rows, all_scores, labels):
    for k, (row, scores) in enumerate(zip(rows, all_scores)):
        n, top1, top5, agree = expected(scores, labels, all_scores[0] if k > 0 else None)
        # A sum that is rounded otherwise decides a tie in a quantized network: one sample of all.
        slack = 0 if k == 0 else 1
        got = row['labelled'], row.get('top1_hits', 0), row.get('top5_hits', 0)
        expect(got[0] == n and abs(got[1] - top1) <= slack and abs(got[2] - top5) <= slack,
               '%s, model %d: %s, not %s' % (what, k, got, (n, top1, top5)))
        if k > 0:
            expect(abs(row['same_class_as_first'] - agree) <= slack,
                   '%s: %d as the first, not %d' % (what, row['same_class_as_first'], agree))
            noise = np.sum((scores - all_scores[0]) ** 2) / np.sum(all_scores[0] ** 2)
            expect(abs(row['sqnr_db'] + 10 * np.log10(noise)) < 0.2,
                   '%s: SQNR %g, not %g' % (what, row['sqnr_db'], -10 * np.log10(noise)))
    print('%s: %s' % (what, [(r['labelled'], r.get('top1_hits'), r.get('top5_hits')) for r in rows]))


def quantize(model, data, out, *args):
    run('quantize', model, '-o', out, '--data', data, '--samples', '40', '--skip-compare', *args)
    return out


def with_background(model, out):
    """The same network with a class in front that never wins."""
    proto = onnx.load(model)
    name = proto.graph.output[0].name
    for node in proto.graph.node:
        node.output[:] = [name + '_10' if o == name else o for o in node.output]
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.full((1, 1), -1e4, np.float32), 'background'))
    proto.graph.node.append(onnx.helper.make_node('Concat', ['background', name + '_10'], [name], axis=1))
    proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 11
    onnx.save(proto, out)
    return out


def save_folders(folder, pictures, labels, names):
    places = []
    for i, (picture, label) in enumerate(zip(pictures, labels)):
        place = os.path.join(names[label], '%04d.png' % i)
        os.makedirs(os.path.join(folder, names[label]), exist_ok=True)
        Image.fromarray(picture).save(os.path.join(folder, place))
        places.append(place)
    return places


def digits(n):
    raw = gzip.open(os.path.join(SHARED, 'mnist', 't10k-images-idx3-ubyte.gz')).read()
    labels = gzip.open(os.path.join(SHARED, 'mnist', 't10k-labels-idx1-ubyte.gz')).read()
    return np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 28, 28)[:n], np.frombuffer(labels, np.uint8,
                                                                                          offset=8)[:n].astype(int)


def check_digits(folder):
    pictures, labels = digits(300)
    model = os.path.join(SHARED, 'models', 'mnist_cntk_op8.onnx')
    words = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
    by_number, by_word = os.path.join(folder, 'numbers'), os.path.join(folder, 'words')
    save_folders(by_number, pictures, labels, [str(i) for i in range(10)])
    places = save_folders(by_word, pictures, labels, words)
    quantized = quantize(model, by_number, os.path.join(folder, 'q.onnx'))
    background = with_background(model, os.path.join(folder, 'background.onnx'))
    inputs = [p[None].astype(np.float32) for p in pictures]
    scores = [scores_of(m, inputs) for m in (model, quantized)]

    rows, _ = evaluate(model, quantized, '--data', by_number)
    check('folders', rows, scores, labels)

    # Sorted folders are in the order of the alphabet: eight, five, four ...
    rows, _ = evaluate(model, quantized, '--data', by_word)
    check('folders in another order', rows, scores, [sorted(words).index(words[label]) for label in labels])
    for name, lines in (('names.txt', words), ('numbered.txt', ['%d: %s' % (i, w) for i, w in enumerate(words)]),
                        ('synonyms.txt', ['digit %d, %s' % (i, w.upper()) for i, w in enumerate(words)])):
        path = os.path.join(folder, name)
        open(path, 'w').write('\r\n'.join(lines) + '\r\n')
        rows, _ = evaluate(model, quantized, '--data', by_word, '--labels', path)
        check(name, rows, scores, labels)
    rows, _ = evaluate(background, '--data', by_word, '--labels', os.path.join(folder, 'names.txt'))
    check('background', rows, [scores_of(background, inputs)], labels + 1)

    flat = os.path.join(folder, 'flat')
    os.makedirs(flat)
    for i, picture in enumerate(pictures):
        Image.fromarray(picture).save(os.path.join(flat, '%04d.png' % i))
    path = os.path.join(folder, 'samples.txt')
    open(path, 'w').write('# name class\n' + ''.join('%04d.png %d\n' % (i, label) for i, label in enumerate(labels) if i % 10))
    rows, codes = evaluate(model, quantized, '--data', flat, '--labels', path)
    check('samples with numbers', rows, scores, [label if i % 10 else -1 for i, label in enumerate(labels)])
    expect('label-missing' in codes, 'samples without label: %s' % codes)
    rows, _ = evaluate(model, quantized, '--data', flat)
    check('no labels', rows, scores, [-1] * len(labels))
    expect('top1' not in rows[0], 'hits without labels: %s' % rows[0])

    path = os.path.join(folder, 'list.txt')
    open(path, 'w').write(''.join('words/%s %d\n' % (place, label) for place, label in zip(places, labels)))
    rows, _ = evaluate(model, quantized, '--data', path)
    check('list', rows, scores, labels)

    # Some of the classes: folders with numbers for names say which, others do not.
    for source, usable in ((by_number, True), (by_word, False)):
        part = source + '-part'
        os.makedirs(part)
        for label in (3, 5, 8):
            name = str(label) if usable else words[label]
            os.symlink(os.path.join(source, name), os.path.join(part, name))
        chosen = [i for label in (3, 5, 8) for i in range(len(labels)) if labels[i] == label]
        rows, codes = evaluate(model, '--data', part)
        if usable:
            check('three classes', rows, [scores[0][chosen]], labels[chosen])
        else:
            expect(rows[0]['labelled'] == 0 and 'labels-unusable' in codes, 'three words: %s %s' % (rows, codes))
            rows, codes = evaluate(model, '--data', part, '--labels', os.path.join(folder, 'names.txt'))
            chosen = [i for word in sorted(words[label] for label in (3, 5, 8)) for i in range(len(labels))
                      if words[labels[i]] == word]
            check('three words', rows, [scores[0][chosen]], labels[chosen])

    path = os.path.join(folder, 'wrong.txt')
    open(path, 'w').write('cat\ndog\n')
    expect('“eight”' in run('evaluate', model, '--data', by_word, '--labels', path, fails=True), 'a folder without a line')


def check_photographs(folder):
    names = sorted(os.listdir(os.path.join(SHARED, 'cifar10')))
    model = os.path.join(SHARED, 'models', 'cls_cifar10_winml_cnn.onnx')
    data = os.path.join(folder, 'photographs')
    pictures, labels = [], []
    for label, name in enumerate(names):
        for file in sorted(os.listdir(os.path.join(SHARED, 'cifar10', name)))[:20]:
            pictures.append(np.asarray(Image.open(os.path.join(SHARED, 'cifar10', name, file)).convert('RGB')))
            labels.append(label)
    save_folders(data, pictures, labels, names)
    args = ['--mean', '127.5', '--std', '127.5']
    quantized = [quantize(model, data, os.path.join(folder, name + '.onnx'), *args, *more)
                 for name, more in (('static', ['--per-channel']), ('dynamic', ['--format', 'integer', '--method', 'minmax']))]
    inputs = [((p.astype(np.float32) - np.float32(127.5)) / np.float32(127.5)).transpose(2, 0, 1) for p in pictures]
    rows, _ = evaluate(model, *quantized, '--data', data, *args)
    check('photographs', rows, [scores_of(m, inputs) for m in [model] + quantized], labels)


with tempfile.TemporaryDirectory() as folder:
    check_digits(folder)
    check_photographs(folder)
print('failed' if failed else 'passed')
sys.exit(failed > 0)
