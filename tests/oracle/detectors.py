#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""detectors.py CLI [--all] [--head NAME] [--preset NAME]: detectors as people export them (detector_networks.py), quantized with
presets and with --auto. What is kept of the float network's detections in ONNX Runtime, on other pictures than Vernier has seen,
is counted by decoders in NumPy. No result is called good, or good but for a spot, where less than 60 % are kept; Vernier takes
each for a detector, and counts what the decoders count on the pictures that it measures with, against the network as it was
given; where unlike numbers may stay in float a plain run keeps at least 75 %, and --auto no less than that run.
--all: all presets for all heads, and --auto for each."""
import json
import os
import subprocess
import sys
import tempfile

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
import oracle    # noqa: E402

oracle.use_oracle_python()
import numpy as np                  # noqa: E402
import onnx                         # noqa: E402
import onnxruntime                  # noqa: E402
from PIL import Image               # noqa: E402
import detector_networks as networks    # noqa: E402

CLI = os.path.abspath(sys.argv[1])
GIVEN, OTHERS = 32, 40           # pictures that Vernier has, and that it has not
GREEN = ('good', 'weak-spot')
USABLE, PLAIN_KEEPS = 0.6, 0.75
ANSWERS = 90                     # detections in the other pictures, at least: so many leave much to chance
APART = 2                        # detections that are told beside those that are found: some have a score that hardly counts
OWN = ('cpu', 'cpu-s8', 'a16w8', 'qlinear', 'int16')    # they leave unlike numbers in float
PRESETS = (*OWN, 'npu-cnn', 'xquant', 'npu-transformer', 'fixneuron')
AUTO = ['--auto', '--time', '4']
faults = []


def expect(good, what):
    if not good:
        faults.append(what)
        print('WRONG', what, flush=True)


def list_option(name):
    return [sys.argv[i + 1] for i, a in enumerate(sys.argv) if a == name]


def run(model, pictures):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = oracle.open_session(model, options)
    names = [o.name for o in session.get_outputs()]
    return [dict(zip(names, session.run(None, {'images': networks.as_input(p)}))) for p in pictures]


def count_kept(floats, others):
    """Detections of the float network, and how many of them the other has."""
    n = n_kept = 0
    for first, other in zip(floats, others):
        left = list(range(len(other)))
        for box in first:
            best = max(left, key=lambda k: (other[k, 5] == box[5]) * networks.iou(box, other[k:k + 1])[0], default=None)
            if best is not None and other[best, 5] == box[5] and networks.iou(box, other[best:best + 1])[0] >= 0.5:
                left.remove(best)
                n_kept += 1
        n += len(first)
    return n, n_kept


def quantize(model, out, data, options):
    done = subprocess.run([CLI, 'quantize', model, '-o', out, '--data', data, '--preprocess', 'zero-one', '--json',
                           '--threads', '1', '--no-verify', *options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(options)}: {done.stderr}{done.stdout}")
    return json.loads(done.stdout)['report']


class Detector:
    """A network in a file, and what it finds in float."""

    def __init__(self, name, fitted, pictures, given, folder):
        self.name, self.path, self.out = name, os.path.join(folder, name + '.onnx'), os.path.join(folder, 'out.onnx')
        self.pictures, self.given, self.data = pictures, given, os.path.join(folder, 'pictures')
        onnx.save(networks.make_network(name, fitted), self.path)
        self.found, self.found_in_given = self.detect(self.path, pictures), self.detect(self.path, given)

    def detect(self, model, pictures):
        return [networks.HEADS[self.name][1](o) for o in run(model, pictures)]

    def check_told(self, label, task, n_measured):
        """What is told of the pictures that were measured. Where these are all, each by a network that was calibrated without it,
        the share is nearly that of the export."""
        places = [(2 * k + 1) * GIVEN // (2 * n_measured) for k in range(n_measured)]
        n, kept = count_kept([self.found_in_given[i] for i in places], self.detect(self.out, [self.given[i] for i in places]))
        if n_measured == GIVEN:
            expect(task['task'] == 'detection' and abs(task['detections'] - n) <= 0.05 * n
                   and abs(task['kept'] - kept / n) <= 0.1,
                   f'{self.name}, {label}: {task} told, {kept} of {n} kept')
            return
        expect(task['task'] == 'detection' and abs(task['detections'] - n) <= 1
               and abs(task['kept'] * task['detections'] - kept) <= APART,
               f'{self.name}, {label}: {task} told, {kept} of {n} kept')

    def check(self, label, options):
        """The share that is kept."""
        report = quantize(self.path, self.out, self.data, options)
        n, kept = count_kept(self.found, self.detect(self.out, self.pictures))
        said, share = report['summary'], kept / n
        task = report.get('accuracy', {'task': 'none', 'kept': 0, 'detections': 0, 'detections_added': 0})
        print(f"{self.name:13}{label:23}{kept:4} of {n} kept ({share:4.0%}), told {task['kept']:4.0%} of {task['detections']}, "
              f"{task['detections_added']} added: {said['level']}, {said['sqnr_db']:.1f} dB", flush=True)
        expect(share >= USABLE or said['level'] not in GREEN, f"{self.name}, {label}: {share:.0%} kept, and “{said['verdict']}”")
        self.check_told(label, task, report['samples']['measured'])
        return share


def choose_presets(number):
    """For each head the first and another or two, in turn, or all."""
    wanted = list_option('--preset')
    some = [p for i, p in enumerate(PRESETS) if '--all' in sys.argv or p == 'cpu' or (i + number) % 8 == 0]
    return wanted or some


def main():
    fitted, rng = networks.Fitted(), np.random.default_rng(5)
    given, pictures = ([networks.draw_picture(rng)[0] for _ in range(n)] for n in (GIVEN, OTHERS))
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, 'pictures')
        os.makedirs(data)
        for i, picture in enumerate(given):
            Image.fromarray(picture).save(os.path.join(data, f'{i:03}.png'))
        for number, name in enumerate(list_option('--head') or networks.HEADS):
            detector, plain = Detector(name, fitted, pictures, given, folder), {}
            for preset in choose_presets(number):
                plain[preset] = detector.check(preset, ['--preset', preset])
                expect(preset not in OWN or plain[preset] >= PLAIN_KEEPS, f'{name}, {preset}: {plain[preset]:.0%} kept')
            for preset in plain if '--all' in sys.argv else list(plain)[number // 4 % len(plain):][:number % 4 == 1]:
                share = detector.check(preset + ' --auto', ['--preset', preset, *AUTO])
                chance = 2 * (2 * plain[preset] * (1 - plain[preset]) / ANSWERS) ** 0.5
                expect(share >= plain[preset] - max(chance, 0.05),
                       f'{name}, {preset} --auto: {share:.0%} kept, plain {plain[preset]:.0%}')
    print(f'{len(faults)} faults')
    sys.exit(len(faults) > 0)


main()
