#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""calibrate.py CALIBRATE_RUN [NAME...]

Seconds and peak memory of a whole calibration (reading the network and the samples, observing every float value,
computing all ranges), beside onnxruntime.quantization in a process of its own, on the same .npy samples. Then what
observing costs beside a forward pass that observes nothing, in processor time, on the network as it is prepared for
quantizing: where minimum and maximum are asked for, and where everything is counted.

Fails where a calibration does not take as much less processor time than the peer's as is due, or where minimum and
maximum cost more than their share of what counting costs.
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

ROUNDS = 2
# what the peer computes, on how many samples; what we compute instead, and how many times as fast we want to be:
# the same for all networks, or by network; and how many times less processor time it must take
MANY = {'mobilenetv2-shaped': 40, 'det_ultraface_rfb320': 40}
METHODS = (('MinMax', 32, {'minmax': {'mobilenetv2-shaped': 8, 'det_ultraface_rfb320': 9}}, 3, 1.5),
           ('Percentile', 12, {'percentile': MANY, 'entropy': MANY, 'mse': MANY}, 12, 4))
# what observing is to cost beside a forward pass
OBSERVER_GOALS = {'minmax': 0.1, 'mse': 0.35}
# of 32 samples four are counted for minimum and maximum, of 96 twelve
OBSERVED_SAMPLES = (32, 96)
# of what counting all costs minimum and maximum may take
MOST_OF_COUNTING = 0.6
# what observing costs there, too: name, shape of the input
OBSERVED = (('cls_mobilenetv2_035_128_flowers', [1, 3, 128, 128]),)


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


def run_ours(program, path, folder, method, *more):
    """Seconds, processor time, MB, core."""
    done = subprocess.run([program, path, folder, method, *more], capture_output=True, text=True)
    match = re.search(r'seconds ([\d.]+) cpu ([\d.]+) peak (\d+) MB core (.*)', done.stdout)
    if done.returncode != 0 or not match:
        sys.exit(done.stderr)
    return [float(match.group(i)) for i in (1, 2, 3)] + [match.group(4)]


def write_samples(folder, n, sample):
    import numpy as np
    os.makedirs(folder)
    for i in range(n):
        np.save(os.path.join(folder, 'sample%04d.npy' % i), sample(i))


def noise(i, size=224):
    import numpy as np
    return np.random.default_rng(i).normal(0, 1, (1, 3, size, size)).astype(np.float32)


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


def verdict(ratio, goal):
    return 'ratio %.2f, goal %.1f %s' % (ratio, goal, 'met' if ratio >= goal else 'MISSED')


def best_of(one, other):
    """Seconds and processor time each at their best, memory at its most."""
    return [min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), *other[3:]]


def compare(program, name, path, folder, n, peer_id, goals, usual_goal, least, work):
    """In turns, the best of all rounds. Returns what is too slow, by processor time."""
    ours, theirs = dict.fromkeys(goals, [1e9, 1e9, 0, '']), [1e9, 1e9, 0]
    for _ in range(ROUNDS):
        theirs = best_of(theirs, run_peer(path, folder, peer_id, work))
        for method in goals:
            ours[method] = best_of(ours[method], run_ours(program, path, folder, method))
    for method, result in ours.items():
        print('%-20s %-10s %3d samples: %6.2f s %5.0f MB, onnxruntime %-10s %6.2f s %5.0f MB, %s, processor %.2f, memory %.2f'
              '  [%s]' % (name, method, n, result[0], result[2], peer_id, theirs[0], theirs[2],
                          verdict(theirs[0] / result[0], goals[method].get(name, usual_goal)), theirs[1] / result[1],
                          result[2] / theirs[2], result[3]), flush=True)
    return ['%s %s: %.2f times as fast, at least %.1f is due' % (name, method, theirs[1] / result[1], least)
            for method, result in ours.items() if theirs[1] < least * result[1]]


def observe(program, name, path, folders):
    """Processor time of one sample, with what differs between few and many of them, so that opening does not count."""
    best, methods = {}, ('forward', *OBSERVER_GOALS)
    for _ in range(4):
        for method in methods:
            for folder in folders:
                key = method, folder
                best[key] = min(best.get(key, 1e9), run_ours(program, path, folder, method, '1', 'prepare')[1])
    cost = {method: (best[method, folders[1]] - best[method, folders[0]]) / (OBSERVED_SAMPLES[1] - OBSERVED_SAMPLES[0])
            for method in methods}
    shares = {method: cost[method] / cost['forward'] - 1 for method in OBSERVER_GOALS}
    for method, goal in OBSERVER_GOALS.items():
        print('%-20s observing for %-8s %.2f ms a sample, forward alone %.2f, cost %.0f %%, goal %.0f %% %s'
              % (name, method, cost[method] * 1000, cost['forward'] * 1000, shares[method] * 100, goal * 100,
                 'met' if shares[method] <= goal else 'MISSED'), flush=True)
    bound = MOST_OF_COUNTING * shares['mse'] + OBSERVER_GOALS['minmax']
    return ['%s: minimum and maximum cost %.0f %%, at most %.0f %% are due' % (name, shares['minmax'] * 100, bound * 100)
            ] if shares['minmax'] > bound else []


def observe_samples(program, name, path, work, sample):
    folders = [os.path.join(work, '%s-observed-%d' % (name, n)) for n in OBSERVED_SAMPLES]
    for n, folder in zip(OBSERVED_SAMPLES, folders):
        write_samples(folder, n, sample)
    return observe(program, name, path, folders)


def measure(program, names, work):
    faults = []
    for name, path, sample in networks(work):
        if names and name not in names:
            continue
        for peer_id, n, goals, goal, least in METHODS:
            folder = os.path.join(work, '%s-%d' % (name, n))
            write_samples(folder, n, sample)
            faults += compare(program, name, path, folder, n, peer_id, goals, goal, least, work)
        faults += observe_samples(program, name, path, work, sample)
    shared = os.environ.get('VN_SHARED', '')
    photos = oracle.photographs(shared)
    for name, shape in OBSERVED if photos else ():
        path = os.path.join(shared, 'models', name + '.onnx')
        if os.path.exists(path) and (not names or name in names):
            faults += observe_samples(program, name, path, work,
                                      lambda i: oracle.image_input(name, photos[i % len(photos)], shape))
    return faults


def main():
    oracle.use_oracle_python()
    if sys.argv[1] == '--peer':
        return calibrate_peer(*sys.argv[2:])
    with tempfile.TemporaryDirectory() as work:
        faults = measure(sys.argv[1], sys.argv[2:], work)
    for fault in faults:
        print('too slow: ' + fault)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
