#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""evaluate_tasks.py CLI

What `evaluate` says is kept of detections, masks and classes, of all samples and of each, against NumPy in double precision, on
real networks and photographs. The outputs come from `evaluate` itself: a metric of its user writes them into files. Counts must
be equal, the overlap of masks to 12 digits. What is kept of texts is counted in ONNX Runtime, on lines that a network made for it
reads; the report of the run must list the same as `evaluate`."""
import collections
import glob
import json
import os
import pickle
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
SHARED = oracle.shared_folder()

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402
from PIL import Image  # noqa: E402

cli = sys.argv[1]
failed = 0
PEOPLE = os.path.join(SHARED, 'images', 'people')
SCORE, SUPPRESS, KEPT = 0.25, 0.5, 0.5

METRIC = """
import hashlib, os, pickle
def keep(sample, outputs):
    name = hashlib.sha1(sample['model'].encode()).hexdigest()[:8]
    with open(os.path.join(os.path.dirname(__file__), '%s-%d.pickle' % (name, sample['index'])), 'wb') as file:
        pickle.dump((sample['model'], sample['index'], outputs), file)
    return {'outputs': len(outputs), 'values': sum(v.size for v in outputs.values())}
"""


def expect(good, what):
    global failed
    if not good:
        failed += 1
        print('not ok:', what)


def run(*args):
    done = subprocess.run([cli, *args], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit('%s: %s' % (' '.join(args), done.stderr + done.stdout))
    return done.stdout


def iou(box, boxes):
    width = np.minimum(box[2], boxes[:, 2]) - np.maximum(box[0], boxes[:, 0])
    height = np.minimum(box[3], boxes[:, 3]) - np.maximum(box[1], boxes[:, 1])
    both = np.clip(width, 0, None) * np.clip(height, 0, None)
    area = lambda b: (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])    # noqa: E731
    return both / (area(box) + area(boxes) - both)


def suppress(boxes, scores, labels):
    """Rows x1 y1 x2 y2 score label, the best first."""
    some = scores >= SCORE
    rows = np.concatenate([boxes, scores[:, None], labels[:, None].astype(np.float64)], axis=1)[some]
    rows = rows[np.argsort(-rows[:, 4], kind='stable')]
    kept = []
    while len(rows):
        kept.append(rows[0])
        rows = rows[1:]
        rows = rows[(rows[:, 5] != kept[-1][5]) | (iou(kept[-1], rows) <= SUPPRESS)]
    return np.array(kept).reshape(-1, 6)


def match(first, other):
    left, n_kept = list(range(len(other))), 0
    for box in first:
        best = max(left, key=lambda k: (other[k, 5] == box[5]) * iou(box, other[k:k + 1])[0], default=None)
        if best is not None and other[best, 5] == box[5] and iou(box, other[best:best + 1])[0] >= KEPT:
            left.remove(best)
            n_kept += 1
    return n_kept, len(left)


def read_ultraface(outputs):
    scores = outputs['scores'][0].astype(np.float64)[:, 1]
    return suppress(outputs['boxes'][0].astype(np.float64), scores, np.zeros(len(scores)))


def cells(size, strides):
    for stride in strides:
        n = -(-size // stride)
        y, x = np.mgrid[:n, :n]
        yield stride, x.ravel().astype(np.float64), y.ravel().astype(np.float64)


def read_yolox(outputs):
    rows = outputs['output'][0].astype(np.float64)
    stride, x, y = (np.concatenate(v) for v in zip(*((np.full(len(x), float(s)), x, y) for s, x, y in cells(416, (8, 16, 32)))))
    centre = np.stack([(rows[:, 0] + x) * stride, (rows[:, 1] + y) * stride], axis=1)
    half = np.exp(rows[:, 2:4]) * stride[:, None] / 2
    return suppress(np.concatenate([centre - half, centre + half], axis=1), rows[:, 4] * rows[:, 5:].max(axis=1),
                    rows[:, 5:].argmax(axis=1))


def read_yunet(outputs):
    boxes, scores = [], []
    for stride, x, y in cells(320, (8, 16, 32)):
        rows = outputs['bbox_%d' % stride][0].astype(np.float64)
        centre = np.stack([(rows[:, 0] + x) * stride, (rows[:, 1] + y) * stride], axis=1)
        half = np.exp(rows[:, 2:]) * stride / 2
        boxes.append(np.concatenate([centre - half, centre + half], axis=1))
        scores.append(outputs['cls_%d' % stride][0, :, 0].astype(np.float64) * outputs['obj_%d' % stride][0, :, 0])
    scores = np.concatenate(scores)
    return suppress(np.concatenate(boxes), scores, np.zeros(len(scores)))


def read_nanodet(outputs):
    boxes, scores, labels = [], [], []
    for stride, x, y in cells(320, (8, 16, 32)):
        bins = outputs['dis_pred_stride_%d' % stride][0].astype(np.float64).reshape(-1, 4, 8)
        weights = np.exp(bins - bins.max(axis=2, keepdims=True))
        sides = (weights * np.arange(8)).sum(axis=2) / weights.sum(axis=2)
        boxes.append(np.stack([x - sides[:, 0], y - sides[:, 1], x + sides[:, 2], y + sides[:, 3]], axis=1) * stride)
        classes = outputs['cls_pred_stride_%d' % stride][0].astype(np.float64)
        scores.append(classes.max(axis=1))
        labels.append(classes.argmax(axis=1))
    return suppress(np.concatenate(boxes), np.concatenate(scores), np.concatenate(labels))


def read_classes(outputs):
    return next(iter(outputs.values()))[0].argmax(axis=0)


def expect_each(name, row, counts):
    """Of each sample: how many there are, kept, and added."""
    got = [(each['of'], each['kept'], each['added']) for each in row['answers']]
    expect(got == counts and all(each['lost'] == each['of'] - each['kept'] for each in row['answers']),
           '%s, of each sample: %s, not %s' % (name, got, counts))
    expect(len({each['sample'] for each in row['answers']}) == len(counts) > 0, '%s: names of samples' % name)


def check_boxes(name, row, samples, read):
    n = n_kept = n_added = 0
    counts = []
    for first, other in samples:
        a, b = read(first), read(other)
        kept, added = match(a, b)
        n, n_kept, n_added = n + len(a), n_kept + kept, n_added + added
        counts.append((len(a), kept, added))
    expect_each(name, row, counts)
    got = row['kept']
    expect(n > 0, '%s: nothing was detected' % name)
    expect((got['detections'], got['kept'], got['added']) == (n, n_kept, n_added),
           '%s: %s, not %s' % (name, got, (n, n_kept, n_added)))
    expect(got['measure'] == 'detections-kept' and abs(got['share'] - n_kept / n) < 1e-12, '%s: %s' % (name, got))
    print('%s: %d of %d kept, %d added' % (name, n_kept, n, n_added))


def check_masks(name, row, samples, read):
    both, either = collections.Counter(), collections.Counter()
    for (first, other), each in zip(samples, row['answers'], strict=True):
        a, b = read(first), read(other)
        overlaps = []
        for k in set(np.unique(a)) | set(np.unique(b)):
            both[k] += np.sum((a == k) & (b == k))
            either[k] += np.sum((a == k) | (b == k))
            overlaps.append(np.sum((a == k) & (b == k)) / np.sum((a == k) | (b == k)))
        expect(abs(each['share'] - np.mean(overlaps)) < 1e-12 and 'of' not in each, '%s: %s, not %.15g' %
               (name, each, np.mean(overlaps)))
    share = np.mean([both[k] / either[k] for k in either])
    expect(row['kept']['measure'] == 'mask-overlap' and abs(row['kept']['share'] - share) < 1e-12,
           '%s: %s, not %.15g' % (name, row['kept'], share))
    expect(0.1 < share < 1, '%s: an overlap of %g shows nothing' % (name, share))
    print('%s: %.4f of the masks' % (name, share))


def check_classes(name, row, samples, read):
    counts = [(1, int(read(first) == read(other)), 0) for first, other in samples]
    expect_each(name, row, counts)
    expect(row['same_class_as_first'] == sum(kept for _, kept, _ in counts), '%s: %s' % (name, row))
    print('%s: %d of %d the same class' % (name, row['same_class_as_first'], len(counts)))


def check(folder, name, task, checker, read, *options):
    model, quantized = os.path.join(SHARED, 'models', name + '.onnx'), os.path.join(folder, name + '.onnx')
    data = ['--data', PEOPLE, '--samples', '8', *options]
    work = tempfile.mkdtemp(dir=folder)
    metric = os.path.join(work, 'metric.py')
    open(metric, 'w').write(METRIC)
    run('quantize', model, '-o', quantized, '--skip-compare', *data)
    rows = json.loads(run('evaluate', model, quantized, '--metric', metric + ':keep', '--python', sys.executable, '--json',
                          *data))['models']
    kept = [pickle.load(open(path, 'rb')) for path in sorted(glob.glob(os.path.join(work, '*.pickle')))]
    by_model = [{i: outputs for path, i, outputs in kept if path == m} for m in (model, quantized)]
    expect([r['task'] for r in rows] == [task] * 2, '%s: %s' % (name, [r['task'] for r in rows]))
    expect(len(by_model[0]) == len(by_model[1]) == rows[0]['samples'] > 0, '%s: %d and %d samples' % (name, *map(len, by_model)))
    for row, outputs in zip(rows, by_model):
        mean = np.mean([sum(v.size for v in o.values()) for o in outputs.values()])
        expect(row['metrics']['values'] == mean, '%s: %s, not %s' % (name, row['metrics'], mean))
    checker(name, rows[1], [(by_model[0][i], by_model[1][i]) for i in sorted(by_model[0])], read)


LETTERS, STEPS, HEIGHT, STEP = 'abcdefghijklmnop', 12, 32, 16


def make_reader(path, rng):
    """Reads lines whose letters are patterns of its own: a step for each place; the first of its numbers is the blank."""
    patterns = np.kron(rng.choice([-1., 1.], (len(LETTERS), 8, 4)), np.ones((4, 4)))
    weights = np.concatenate([np.zeros((1, HEIGHT, STEP)), patterns])[:, None] / 40
    bias = np.concatenate([[2.], np.zeros(len(LETTERS))])
    constants = [numpy_helper.from_array(v.astype(np.float32), n) for n, v in (('w', weights), ('b', bias))]
    constants.append(numpy_helper.from_array(np.array([2]), 'axes'))
    nodes = [helper.make_node('Conv', ['line', 'w', 'b'], ['c'], 'read', strides=[HEIGHT, STEP]),
             helper.make_node('Squeeze', ['c', 'axes'], ['s']), helper.make_node('Transpose', ['s'], ['t'], perm=[0, 2, 1]),
             helper.make_node('Softmax', ['t'], ['letters'], axis=2)]
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
            for name, shape in (('line', [1, 1, HEIGHT, STEP * STEPS]), ('letters', [1, STEPS, 1 + len(LETTERS)]))]
    model = helper.make_model(helper.make_graph(nodes, 'reader', ends[:1], ends[1:], constants),
                              opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
    model.metadata_props.add(key='character', value='\n'.join(LETTERS))
    onnx.save(model, path)
    return patterns


def write_lines(folder, patterns, rng, n):
    """Letters at every other place, of which some are hardly to be told from others."""
    os.mkdir(folder)
    for i in range(n):
        line = np.zeros((HEIGHT, STEP * STEPS))
        for at in range(0, STEPS, 2):
            a, b = rng.choice(len(LETTERS), 2, replace=False)
            mixed = rng.uniform(0.485, 0.515) if i % 2 and at == 4 else rng.uniform(0, 0.3)
            line[:, at * STEP:(at + 1) * STEP] = (1 - mixed) * patterns[a] + mixed * patterns[b]
        Image.fromarray(np.uint8(np.clip(127.5 + 100 * line, 0, 255))).save(os.path.join(folder, '%03d.png' % i))


def read_lines(model, folder):
    session = oracle.open_session(model)
    texts = []
    for path in sorted(glob.glob(os.path.join(folder, '*.png'))):
        values = (np.asarray(Image.open(path), np.float32) - np.float32(127.5)) / np.float32(127.5)
        best = [0, *session.run(None, {'line': values[None, None]})[0][0].argmax(axis=1)]
        texts.append(''.join(LETTERS[k - 1] for before, k in zip(best, best[1:]) if k not in (0, before)))
    return texts


def check_texts(folder):
    model, quantized = os.path.join(folder, 'reader.onnx'), os.path.join(folder, 'reader-quantized.onnx')
    lines, project = os.path.join(folder, 'lines'), os.path.join(folder, 'reader.vernier')
    rng = np.random.default_rng(8)
    write_lines(lines, make_reader(model, rng), rng, 24)
    data = ['--data', lines, '--mean', '127.5', '--std', '127.5']
    run('quantize', model, '-o', quantized, '--preset', 'npu-cnn', '--save-project', project, '--no-verify', *data)
    row = json.loads(run('evaluate', model, quantized, '--json', *data))['models'][1]
    first, other = read_lines(model, lines), read_lines(quantized, lines)
    counts = [(1, int(a == b), 0) for a, b in zip(first, other)]
    expect(len(set(first)) == 24 and all(len(text) == STEPS / 2 for text in first), 'lines: %s' % first)
    expect(0 < sum(kept for _, kept, _ in counts) < 24, 'all lines are the same, or none: %s' % other)
    expect_each('lines', row, counts)
    told = {each['sample']: each for each in row['answers']}
    listed = json.loads(run('report', project, '--format', 'json'))['answers']
    expect(len(listed) > 2 and all(told[each['sample']] == each for each in listed), 'the report: %s' % listed)
    expect([each['lost'] for each in listed] == sorted((each['lost'] for each in listed), reverse=True), 'order: %s' % listed)
    print('lines: %d of 24 kept, %d in the report' % (sum(kept for _, kept, _ in counts), len(listed)))


with tempfile.TemporaryDirectory() as folder:
    check_texts(folder)
    check(folder, 'det_ultraface_rfb320', 'detection', check_boxes, read_ultraface, '--mean', '127', '--std', '128')
    check(folder, 'det_yunet_n_dynamic', 'detection', check_boxes, read_yunet, '--color', 'bgr', '--shape', 'input=1x3x320x320')
    check(folder, 'det_yolox_nano_416', 'detection', check_boxes, read_yolox, '--color', 'bgr', '--fit', 'letterbox')
    check(folder, 'det_nanodet_m_320', 'detection', check_boxes, read_nanodet, '--color', 'bgr', '--mean',
          '103.53,116.28,123.675',
          '--std', '57.375,57.12,58.395')
    check(folder, 'seg_sinet_portrait_320', 'segmentation', check_masks, read_classes, '--color', 'bgr', '--mean',
          '102.890434,111.25247,126.91212', '--std', '16048,16019,16743')
    check(folder, 'cls_mobilenetv2_035_128_flowers', 'classification', check_classes,
          lambda outputs: next(iter(outputs.values())).ravel().argmax(), '--mean', '127.5', '--std', '127.5')

sys.exit(failed > 0)
