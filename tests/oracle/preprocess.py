#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of pictures against their documented formulas, computed with Pillow and numpy: the short side scaled so that
the centre is 87.5 % of it, the centre cut out, then mean and deviation.

preprocess.py VERNIER_CLI"""
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()

import numpy as np
import onnx
from onnx import TensorProto, helper
from PIL import Image

IMAGENET = ([123.675, 116.28, 103.53], [58.395, 57.12, 57.375])
PRESETS = {      # name: mean, deviation, whether the centre is cut out, whether an odd rest is halved downwards
    'mlperf-mobilenet': ([127.5] * 3, [127.5] * 3, True, True),
    'mlperf-resnet': ([123.68, 116.78, 103.94], [1] * 3, True, True),
    'preprocess_method1': ([127.5] * 3, [127.5] * 3, True, True),
    'preprocess_method2': ([123.68, 116.78, 103.94], [1] * 3, True, True),
    'IMAGENET': (*IMAGENET, True, True),
    'PT_IMAGENET': (*IMAGENET, True, False),
    'minus-one-one': ([127.5] * 3, [127.5] * 3, False, False),
    'zero-one': ([0] * 3, [255] * 3, False, False),
}
SIZES = [(224, 224), (244, 244), (160, 160)]


def expected(path, size, mean, deviation, crop, down):
    height, width = size
    picture = Image.open(path).convert('RGB')
    if crop:
        new_height, new_width = int(100 * height / 87.5), int(100 * width / 87.5)
        w, h = picture.size
        wide, high = (new_width, int(new_height * h / w)) if h > w else (int(new_width * w / h), new_height)
        picture = picture.resize((wide, high), Image.BILINEAR)
        half = (lambda rest: rest // 2) if down else (lambda rest: int(round(rest / 2)))
        left, top = half(wide - width), half(high - height)
        picture = picture.crop((left, top, left + width, top + height))
    else:
        picture = picture.resize((width, height), Image.BILINEAR)
    pixels = np.asarray(picture, np.float64)
    return ((pixels - mean) / deviation).transpose(2, 0, 1)[None]


def identity(path, size):
    shape = [1, 3, *size]
    graph = helper.make_graph([helper.make_node('Identity', ['x'], ['y'])], 'g',
                              [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, shape)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)


def main():
    cli = sys.argv[1]
    photographs = oracle.photographs(oracle.shared_folder())[::20][:4]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            model = os.path.join(folder, 'identity.onnx')
            identity(model, size)
            for name, settings in PRESETS.items():
                worst = 0.0
                for photograph in photographs:
                    out = os.path.join(folder, 'out')
                    subprocess.run([cli, 'run', model, '-d', photograph, '--preprocess', name, '--output-dir', out],
                                   check=True, stdout=subprocess.DEVNULL)
                    ours = np.load(os.path.join(out, 'y.npy'))
                    theirs = expected(photograph, size, *settings)
                    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
                    # In steps of a pixel's 255: single ones may be rounded the other way, a picture shifted by one costs 5.
                    step = np.abs(ours - theirs) * np.reshape(settings[1], (1, 3, 1, 1))
                    worst = max(worst, float(step.mean()))
                ok = worst < 0.01
                failed += not ok
                print('%s %s %dx%d: mean difference %.3f of 255' % ('ok' if ok else 'not ok', name, *size, worst))
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
