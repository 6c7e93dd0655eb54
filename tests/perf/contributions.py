#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""contributions.py CONTRIBUTION_RUN WHAT_IF_RUN

How long it takes to find where the error of a network of MobileNetV2's size starts, on 32 samples and two threads; and what a
change of one node costs there.
"""
import os
import re
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), 'oracle')]
import calibrate
import generate

SAMPLES, GOAL, WHAT_IF_GOAL = 32, 30, 1


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    print(done.stdout, end='', flush=True)
    return done.stdout


def main(contribution_run, what_if_run):
    with tempfile.TemporaryDirectory() as work:
        path, folder = os.path.join(work, 'net.onnx'), os.path.join(work, 'samples')
        generate.mobilenetv2(path)
        calibrate.write_samples(folder, SAMPLES, calibrate.noise)
        seconds = float(re.search(r'done after ([\d.]+) s', run(contribution_run, path, folder, str(SAMPLES), '2')).group(1))
        print('contributions: %.1f s, goal: below %d s %s' % (seconds, GOAL, 'met' if seconds < GOAL else 'MISSED'))
        slowest = max(float(s) for s in re.findall(r': ([\d.]+) s, \d+ of', run(what_if_run, path, folder, '2')))
        print('what if: %.2f s, goal: below %d s %s' % (slowest, WHAT_IF_GOAL, 'met' if slowest < WHAT_IF_GOAL else 'MISSED'))


main(*sys.argv[1:])
