#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""large.py CLI MAKE_LARGE [MEGABYTES]

Quantizes and compares a network of little but weights, and looks at the largest memory that the process had: a fifth more than
the weights where nothing is compared, 192 MB more where something is. The same of a network of little but tensors, with more
threads than there is memory for samples.
"""
import os
import subprocess
import sys
import tempfile

BASE = 48   # megabytes of program and libraries


def run(*args):
    """What it printed; megabytes at most."""
    process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit('%s\n%s' % (' '.join(args), text))
    return text, usage.ru_maxrss / 1024


def main():
    cli, make_large = (os.path.realpath(path) for path in sys.argv[1:3])
    size = int(sys.argv[3]) if len(sys.argv) > 3 else 256
    failed = 0
    with tempfile.TemporaryDirectory(dir='.') as work:
        os.chdir(work)
        run(make_large, 'large.onnx', 'weights', str(size))
        common = ['--data', 'random', '-n', '2']
        for name, most, command in (
                ('quantize alone', 1.2 * size, ['quantize', 'large.onnx', '-o', 'a.onnx', *common, '-t', '2', '--skip-compare']),
                ('quantize', size + 192, ['quantize', 'large.onnx', '-o', 'b.onnx', *common, '-t', '2']),
                ('compare', size + 192, ['compare', 'large.onnx', 'b.onnx', *common, '-t', '2'])):
            _, peak = run(cli, *command)
            good = peak <= most + BASE
            failed += not good
            print('%s %-15s %5.0f MB, at most %5.0f MB and %d MB of program' % ('ok' if good else 'not ok', name, peak, most,
                                                                                BASE), flush=True)
        if open('a.onnx', 'rb').read() != open('b.onnx', 'rb').read():
            print('not ok comparing changes the export')
            failed += 1
        run(make_large, 'wide.onnx', 'tensors', '32')
        _, peak = run(cli, 'quantize', 'wide.onnx', '-o', 'narrow.onnx', '--data', 'random', '-n', '4', '--held-out', '2',
                      '-t', '4')
        good = peak <= 256 + BASE
        failed += not good
        print('%s four samples   %5.0f MB, at most 256 MB and %d MB of program' % ('ok' if good else 'not ok', peak, BASE))
        os.chdir('..')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
