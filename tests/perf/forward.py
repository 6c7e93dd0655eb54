#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""forward.py ENGINE_RUN [NAME...]

Images per second of a plain forward pass, and the ratio to onnxruntime (all its optimisations on) measured in turns
in the same run. Best of all rounds. In brackets the same by processor time, which a busy machine disturbs less.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), 'oracle')]
import oracle

ROUNDS = 3
REPEAT = 15
# label, threads inside one run of the engine, runs at the same time, threads of onnxruntime
MODES = (('1 thread', 1, 1, 1), ('2 threads, one image', 2, 1, 2), ('2 threads, two images', 1, 2, 2))
REAL = ('det_yolox_nano_416', 'cls_squeezenet10_fp32_from_fp16')


def measure_engine(program, path, threads, workers):
    done = subprocess.run([program, '--threads', str(threads), '--workers', str(workers), '--repeat', str(REPEAT), path],
                          capture_output=True, text=True, env=oracle.default_environment())
    match = re.search(r'\(([\d.]+) of processor time\).* ([\d.]+) images/s.*core (\S+)', done.stdout)
    if done.returncode != 0 or not match:
        sys.exit(done.stderr)
    return float(match.group(2)), workers * 1000 / max(float(match.group(1)), 1e-3), match.group(3)


def make_session(path, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])


def measure_session(session):
    import numpy as np
    rng = np.random.default_rng(1)
    inputs = {i.name: rng.uniform(-1, 1, i.shape).astype(np.float32) for i in session.get_inputs()}
    best = best_cpu = float('inf')
    for _ in range(REPEAT):
        start, cpu = time.perf_counter(), time.process_time()
        session.run(None, inputs)
        best = min(best, time.perf_counter() - start)
        best_cpu = min(best_cpu, time.process_time() - cpu)
    return 1 / best, 1 / best_cpu


def measure(program, name, path):
    for label, threads, workers, ort_threads in MODES:
        session = make_session(path, ort_threads)
        ours, theirs, core = [0, 0], [0, 0], ''
        for _ in range(ROUNDS):
            *rates, core = measure_engine(program, path, threads, workers)
            ours = [max(a, b) for a, b in zip(ours, rates)]
            theirs = [max(a, b) for a, b in zip(theirs, measure_session(session))]
        print('%-34s %-22s %8.1f images/s (%.1f), onnxruntime %8.1f (%.1f), ratio %.2f (%.2f)  [OpenBLAS core %s]'
              % (name, label, ours[0], ours[1], theirs[0], theirs[1], ours[0] / theirs[0], ours[1] / theirs[1], core),
              flush=True)


def main():
    oracle.use_oracle_python()
    import generate
    program, names = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as work:
        for name, make in generate.GENERATED.items():
            if not names or name in names:
                path = os.path.join(work, name + '.onnx')
                make(path)
                measure(program, name, path)
    folder = os.environ.get('VN_SHARED', '')
    for name in REAL:
        path = os.path.join(folder, 'models', name + '.onnx')
        if os.path.exists(path) and (not names or name in names):
            measure(program, name, path)


if __name__ == '__main__':
    main()
