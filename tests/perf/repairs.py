#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""repairs.py REPAIR_RUN [MODEL FOLDER]

How long repairs of a network of MobileNetV2's size take with two threads: second-order rounding, balancing, correction of biases
from front to end and by XSlim's rule with XSlim's ranges, and finding where the error starts. Each as a multiple of running all
samples once through the float network, by our engine and by onnxruntime in the same run, with the core that OpenBLAS computes
for. Then, where shared data are, how long XSlim's rule takes on a detector of 469 nodes.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), 'oracle')]
import calibrate
import generate
import oracle

SAMPLES, THREADS = 24, 2
# label, stage of quantizing, settings that ask for it
XSLIM = ('bias correction, XSlim', 'correct-biases', ['bias-correction=xslim', 'method=xslim', 'activation=s8'])
REPAIRS = (('second-order rounding', 'round-weights', ['rounding=second-order']),
           ('balancing', 'balance', ['balance-channels=folded']),
           ('bias correction', 'correct-biases', ['bias-correction=guarded']), XSLIM, ('origins', 'origins', []))
DETECTOR, SHAPE, SECONDS = 'det_picodet_xs_416_op10', [1, 3, 416, 416], 5


def run_peer(path, folder):
    """Seconds of onnxruntime for all samples."""
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    name, samples = session.get_inputs()[0].name, [np.load(os.path.join(folder, f)) for f in sorted(os.listdir(folder))]
    session.run(None, {name: samples[0]})
    start = time.perf_counter()
    for sample in samples:
        session.run(None, {name: sample})
    return time.perf_counter() - start


def run_repair(program, path, folder, label, stage, settings):
    """Seconds of all stages, and the core that OpenBLAS computes for."""
    done = subprocess.run([program, path, folder, str(THREADS)] + settings, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    seconds = {name: float(text) for name, text in re.findall(r'^([\w-]+) ([\d.]+) s', done.stdout, re.M)}
    if seconds.get(stage, 0) == 0:
        sys.exit(f'{label}: nothing was measured')
    return seconds, re.search(r'OpenBLAS core (\S+)', done.stdout).group(1)


def run_detector(program, work):
    shared = os.environ.get('VN_SHARED', '')
    path, photos = os.path.join(shared, 'models', DETECTOR + '.onnx'), oracle.photographs(shared)
    if not os.path.exists(path) or not photos:
        return
    folder = os.path.join(work, 'photographs')
    calibrate.write_samples(folder, SAMPLES, lambda i: oracle.image_input(DETECTOR, photos[i % len(photos)], SHAPE))
    seconds = run_repair(program, path, folder, *XSLIM)[0][XSLIM[1]]
    print('%-22s %7.2f s on %s, goal %d s %s' % (XSLIM[0], seconds, DETECTOR, SECONDS, 'met' if seconds < SECONDS else 'MISSED'),
          flush=True)


def main(program, path=None, folder=None):
    ours = path is None
    with tempfile.TemporaryDirectory() as work:
        if path is None:
            path, folder = os.path.join(work, 'net.onnx'), os.path.join(work, 'samples')
            generate.mobilenetv2(path)
            calibrate.write_samples(folder, SAMPLES, calibrate.noise)
        for label, stage, settings in REPAIRS:
            peer = run_peer(path, folder)
            seconds, core = run_repair(program, path, folder, label, stage, settings)
            print('%-22s %7.2f s, %6.1f times the float run (%.2f s), %6.1f times that of onnxruntime (%.2f s), OpenBLAS core %s'
                  % (label, seconds[stage], seconds[stage] / seconds['float'], seconds['float'], seconds[stage] / peer, peer,
                     core), flush=True)
        if ours:
            run_detector(program, work)


main(*sys.argv[1:])
