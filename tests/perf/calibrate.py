#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""calibrate.py CALIBRATE_RUN [NAME...]

Seconds and peak memory of a whole calibration (reading the network and the samples, observing every float value,
computing all ranges), beside onnxruntime.quantization in a process of its own, on the same .npy samples.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), 'oracle')]
import oracle

SAMPLES = (8, 32)
METHODS = (('minmax', 'MinMax'), ('percentile', 'Percentile'))


def calibrate_peer(path, folder, method, work):
    """In a process of its own: prints seconds, processor time and peak memory."""
    import glob
    import numpy as np
    from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod
    from onnxruntime.quantization.calibrate import create_calibrator

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.files = iter(sorted(glob.glob(os.path.join(folder, '*.npy'))))

        def get_next(self):
            name = next(self.files, None)
            return None if name is None else {'input': np.load(name)}

    start = time.time()
    calibrator = create_calibrator(path, None, augmented_model_path=os.path.join(work, 'augmented.onnx'),
                                   calibrate_method=getattr(CalibrationMethod, method))
    calibrator.collect_data(Reader())
    calibrator.compute_data()
    with open('/proc/self/status') as status:
        peak = next(int(line.split()[1]) / 1024 for line in status if line.startswith('VmHWM:'))
    print(json.dumps([time.time() - start, time.process_time(), peak]))


def run_peer(path, folder, method, work):
    done = subprocess.run([sys.executable, os.path.abspath(__file__), '--peer', path, folder, method, work],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])


def run_ours(program, path, folder, method):
    done = subprocess.run([program, path, folder, method], capture_output=True, text=True,
                          env=oracle.default_environment())
    match = re.search(r'seconds ([\d.]+) cpu ([\d.]+) peak (\d+) MB core (\S+)', done.stdout)
    if done.returncode != 0 or not match:
        sys.exit(done.stderr)
    return [float(match.group(i)) for i in (1, 2, 3)] + [match.group(4)]


def write_samples(folder, n, sample):
    import numpy as np
    os.makedirs(folder)
    for i in range(n):
        np.save(os.path.join(folder, 'sample%04d.npy' % i), sample(i))


def noise(i):
    import numpy as np
    return np.random.default_rng(i).normal(0, 1, (1, 3, 224, 224)).astype(np.float32)


def networks(work):
    """Name, file and samples of each network: two generated ones, and a real one on photographs where it is there."""
    import generate
    for name, make in generate.GENERATED.items():
        path = os.path.join(work, name + '.onnx')
        make(path)
        yield name, path, noise
    shared, stem = os.environ.get('VN_SHARED', ''), 'det_ultraface_rfb320'
    path = os.path.join(shared, 'models', stem + '.onnx')
    photos = oracle.photographs(shared)
    if os.path.exists(path) and photos:
        yield stem, path, lambda i: oracle.image_input(stem, photos[i % len(photos)], [1, 3, 240, 320])


def main():
    oracle.use_oracle_python()
    if sys.argv[1] == '--peer':
        return calibrate_peer(*sys.argv[2:])
    program, names = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as work:
        for name, path, sample in networks(work):
            if names and name not in names:
                continue
            folders = {n: os.path.join(work, '%s-%d' % (name, n)) for n in SAMPLES}
            for n in SAMPLES:
                write_samples(folders[n], n, sample)
            for ours_id, peer_id in METHODS:
                for n in SAMPLES:
                    ours = min(run_ours(program, path, folders[n], ours_id) for _ in range(2))
                    peer = min(run_peer(path, folders[n], peer_id, work) for _ in range(2))
                    print('%-20s %-10s %3d samples: %6.2f s (%6.2f s of processors) %5.0f MB, onnxruntime %6.2f s '
                          '(%6.2f) %5.0f MB, ratio %.2f (%.2f)  [OpenBLAS core %s]'
                          % (name, ours_id, n, *ours[:3], *peer, peer[0] / ours[0], peer[1] / ours[1], ours[3]),
                          flush=True)


if __name__ == '__main__':
    sys.exit(main())
