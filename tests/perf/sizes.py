#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sizes.py VERNIER_CLI [GB...]: what it takes to round the weights of networks of these sizes to nearest; 0.5 GB if none is
given.

A network with the products of a decoder, its weights in a file beside it, is quantized by the presets for small weights. Printed
are processor seconds, as they are and beside those of `cp` of the weights; the most anonymous memory (RssAnon), without a limit
and with RLIMIT_DATA of 150 MB; and the same of onnxruntime's tool for 4 bits where it is there (its Python needs the package
onnx_ir) and the size is at most 3 GB, as it needs more than the file. It fails where memory is beyond 64 MB and the largest
tensor, and where the bytes with a limit are others. The goal for processor time is 1.5 times that of `cp`.
"""
import filecmp
import os
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'oracle'))
import oracle

oracle.use_oracle_python()
import any_size    # noqa: E402

PRESETS = ('w4-matmul', 'w4', 'w8')
ROUNDS = int(os.environ.get('VN_PERF_ROUNDS', 3))
GOAL = 1.5
PEER_MOST = 3
PEER = """
import sys, onnx
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
quantizer = MatMulNBitsQuantizer(onnx.load(sys.argv[1]), bits=4, block_size=32, is_symmetric=False)
quantizer.process()
quantizer.model.save_model_to_file(sys.argv[2], use_external_data_format=True)
"""


def measure(command, limit=0):
    """Processor seconds and the most anonymous memory in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    most = any_size.run(command, limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, most / 1e6


def have_peer():
    return subprocess.run([sys.executable, '-c', PEER.split('quantizer =')[0]], capture_output=True).returncode == 0


def say(name, seconds, copying, memory, rest=''):
    print('  %-24s %7.2f s  x%-5.2f  %s%s' % (name, seconds, seconds / copying, memory, rest), flush=True)


def measure_preset(cli, path, work, preset, copying, largest):
    """Whether memory and bytes are as they must be."""
    outputs = [os.path.join(work, kind, 'q.onnx') for kind in ('free', 'limited')]
    for output in outputs:
        shutil.rmtree(os.path.dirname(output), ignore_errors=True)
        os.makedirs(os.path.dirname(output))
    commands = [[cli, 'quantize', path, '--preset', preset, '--no-verify', '-o', output] for output in outputs]
    seconds, free = min(measure(commands[0]) for _ in range(ROUNDS))
    limited = measure(commands[1], any_size.LIMIT)[1]
    same = all(filecmp.cmp(outputs[0] + end, outputs[1] + end, shallow=False) for end in ('', '.data'))
    good = same and max(free, limited) <= any_size.ROOM / 1e6 + largest
    goal = 'met' if seconds <= GOAL * copying else 'MISSED'
    say(preset, seconds, copying, '%4.0f MB, limited %4.0f MB' % (free, limited),
        ', %s, goal x%.1f %s' % ('the same bytes' if same else 'OTHER BYTES', GOAL, goal))
    for output in outputs:
        shutil.rmtree(os.path.dirname(output))
    return good


def measure_size(cli, work, size):
    width, inner, words = (1024, 4096, 16384) if size < 2 else (2048, 8192, 32000) if size < 4 else (4096, 11008, 32000)
    layers = max(1, round((size * 1e9 / 4 - 2 * width * words) / (2 * width * inner)))
    path, copy = any_size.make_model(work, width, inner, words, layers), os.path.join(work, 'copy')
    data = path + '.data'
    print('%.2f GB' % (os.path.getsize(data) / 1e9))
    copying = min(measure(['cp', data, copy])[0] for _ in range(ROUNDS))
    os.unlink(copy)
    say('cp', copying, copying, '')
    good = all([measure_preset(cli, path, work, preset, copying, width * words * 4 / 1e6) for preset in PRESETS])
    if size <= PEER_MOST and have_peer():
        seconds, memory = measure([sys.executable, '-c', PEER, path, os.path.join(work, 'peer.onnx')])
        say('onnxruntime, 4 bits', seconds, copying, '%4.0f MB' % memory)
    return good


def main():
    good = True
    os.environ['SOURCE_DATE_EPOCH'] = '1'
    for size in map(float, sys.argv[2:] or ['0.5']):
        with tempfile.TemporaryDirectory() as work:
            if shutil.disk_usage(work).free < 4 * size * 1e9:
                sys.exit('%.1f GB of disk are needed' % (4 * size))
            good &= measure_size(sys.argv[1], work, size)
    sys.exit(0 if good else 1)


if __name__ == '__main__':
    main()
