#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""contributions.py CONTRIBUTION_RUN WHAT_IF_RUN

How long it takes to find where the error of networks of MobileNetV2's size (32 samples) and of YOLOv8n's (6) starts, on two
threads, in seconds of the processor; and what a change of one node costs in the former.
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

NETWORKS = (('mobilenetv2-shaped', generate.mobilenetv2, 224, 32, 30), ('yolov8n-shaped', generate.yolov8n, 640, 6, 20))
WHAT_IF_GOAL = 1


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    print(done.stdout, end='', flush=True)
    return done.stdout


def main(contribution_run, what_if_run):
    with tempfile.TemporaryDirectory() as work:
        for name, make, size, samples, goal in NETWORKS:
            path, folder = os.path.join(work, name + '.onnx'), os.path.join(work, name)
            make(path)
            calibrate.write_samples(folder, samples, lambda i: calibrate.noise(i, size))
            printed = run(contribution_run, path, folder, str(samples), '2')
            seconds, cpu = map(float, re.search(r'done after ([\d.]+) s, ([\d.]+) CPU s', printed).groups())
            print('%-20s origins: %d samples, %.1f s, %.1f CPU s, goal: below %d CPU s %s' %
                  (name, samples, seconds, cpu, goal, 'met' if cpu < goal else 'MISSED'), flush=True)
        path, folder = (os.path.join(work, NETWORKS[0][0] + end) for end in ('.onnx', ''))
        slowest = max(float(s) for s in re.findall(r': ([\d.]+) s, \d+ of', run(what_if_run, path, folder, '2')))
        print('what if: %.2f s, goal: below %d s %s' % (slowest, WHAT_IF_GOAL, 'met' if slowest < WHAT_IF_GOAL else 'MISSED'))


main(*sys.argv[1:])
