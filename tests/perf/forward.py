#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""forward.py ENGINE_RUN [NAME...]

Plain forward passes beside onnxruntime (all its optimisations on), measured in turns in the same run. One line for each
network; for each way to use the processors milliseconds per image, onnxruntime's, and the ratio (above 1: we are
faster). Each is the best time of all rounds, the ratio the median of the rounds' ratios.

one      one thread
samples  two images at the same time, one thread each
both     one image, two threads
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), 'oracle')]
import oracle

ROUNDS = int(os.environ.get('VN_PERF_ROUNDS', 15))
SECONDS = float(os.environ.get('VN_PERF_SECONDS', 0.1))
# label, threads inside one run, runs at the same time
MODES = (('one', 1, 1), ('samples', 1, 2), ('both', 2, 1))
# Real networks made of convolutions; others are measured when they are named.
REAL = ('cls_squeezenet10_fp32_from_fp16', 'cls_mobilenetv2_035_128_flowers', 'cls_ppocr_v2_angle', 'det_yolox_nano_416',
        'det_ultraface_rfb320', 'det_ultraface_rfb320_raw_bn', 'det_nanodet_m_320', 'det_picodet_s_320_constnodes',
        'det_picodet_xs_416_op10', 'det_ppocr_v3_ch', 'det_yunet_n_dynamic', 'det_openseeface_mnv3',
        'seg_deeplab_dm05_513_op8', 'seg_sinet_portrait_320', 'seg_teams_bg_dynamic', 'sr_espcn_x3_op10',
        'sr_espcn_bsd300_rgb', 'enh_tbefn_lowlight_180x320', 'style_candy_op7', 'aud_yamnet256_st', 'aud_basic_pitch_nmp',
        'cls_cifar10_winml_cnn', 'kws_micro_fp32')


class Engine:
    """A process that measures once each time it is asked."""

    def __init__(self, program, path, inputs, threads, workers):
        command = [program, '--turns', '--seconds', str(SECONDS), path, '--threads', str(threads), '--workers',
                   str(workers)]
        self.process = subprocess.Popen(command + inputs, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = ''

    def measure(self):
        self.process.stdin.write('\n')
        self.process.stdin.flush()
        for line in self.process.stdout:
            match = re.search(r'best .* ([\d.]+) images/s.*, (core .*)', line)
            if match:
                self.about = match.group(2)
                return 1000 / float(match.group(1))
        return sys.exit('the engine failed')

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Peer:
    def __init__(self, path, make_inputs):
        import onnxruntime
        self.sessions = {}
        for threads in (1, 2):
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            options.log_severity_level = 4
            self.sessions[threads] = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
        self.inputs = make_inputs(self.sessions[1])

    def measure(self, threads, workers):
        """Milliseconds per image: of the best run, or of all runs that went on at the same time."""
        session, times, end = self.sessions[threads], [], time.perf_counter() + SECONDS

        def work():
            while time.perf_counter() < end or len(times) < 3 * workers:
                start = time.perf_counter()
                session.run(None, self.inputs)
                times.append(time.perf_counter() - start)

        session.run(None, self.inputs)
        others = [threading.Thread(target=work) for _ in range(workers - 1)]
        for other in others:
            other.start()
        work()
        for other in others:
            other.join()
        return 1000 * (min(times) if workers == 1 else statistics.median(times)) / workers


def measure(program, name, path, make_inputs, work):
    """Prints a line; returns by mode the best milliseconds per image, ours and onnxruntime's."""
    import numpy as np
    peer = Peer(path, make_inputs)
    files = []
    for i, x in enumerate(peer.inputs.values()):
        files.append(os.path.join(work, 'input%d.npy' % i))
        np.save(files[-1], x)
    line, best = '', {}
    for label, threads, workers in MODES:
        engine = Engine(program, path, files, threads, workers)
        pairs = [(engine.measure(), peer.measure(threads, workers)) for _ in range(ROUNDS)]
        engine.close()
        best[label] = ours, theirs = [min(pair[i] for pair in pairs) for i in (0, 1)]
        line += '  %s %8.3f /%8.3f = %.2f' % (label, ours, theirs, statistics.median(b / a for a, b in pairs))
    print('%-32s%s  [%s]' % (name, line, engine.about), flush=True)
    return best


def networks(work):
    import generate
    import networks as real
    import numpy as np
    for name, make in generate.GENERATED.items():
        path = os.path.join(work, name + '.onnx')
        yield name, path, lambda: make(path), lambda s: {'input': np.random.default_rng(1).normal(
            0, 1, (1, 3, 224, 224)).astype(np.float32)}
    shared = os.environ.get('VN_SHARED', '')
    for name, path in real.find_networks(os.path.join(shared, 'models'), None):
        yield name, path, lambda: None, lambda s: real.make_inputs(name, s, oracle.photographs(shared)[0], 1)


def main():
    oracle.use_oracle_python()
    program, names = sys.argv[1], sys.argv[2:]
    print('milliseconds per image, ours / onnxruntime = ratio', flush=True)
    with tempfile.TemporaryDirectory() as work:
        for name, path, prepare, make_inputs in networks(work):
            if name in names or (not names and (name in REAL or path.startswith(work))):
                prepare()
                measure(program, name, path, make_inputs, work)


if __name__ == '__main__':
    main()
