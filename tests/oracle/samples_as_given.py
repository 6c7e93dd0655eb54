#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""samples_as_given.py VERNIER_CLI: what becomes of pictures and arrays, looked at through networks that hand their input on.

Sizes changed by areas are those of the formula of INTER_AREA, worked out here in double precision; transparency is dropped as
Pillow drops it; arrays and pictures for a network with the channels last may have them first. Numbers are compared, not words.
"""
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

cli = sys.argv[1]
failed = 0
rng = np.random.default_rng(11)


def check(what, good):
    global failed
    if not good:
        print('not ok', what)
        failed += 1


def save(path, nodes, shape, out='y', constants=()):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, 'g', [info('x', TensorProto.FLOAT, shape)], [info(out, TensorProto.FLOAT, None)],
                              list(constants))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def run(*arguments):
    return subprocess.run([cli, *arguments], capture_output=True, text=True, check=False)


def read(folder, shape, sample, *options, nodes=None):
    """What a network of one Identity gets, or why it gets nothing."""
    model, out = os.path.join(folder, 'm.onnx'), os.path.join(folder, 'out')
    save(model, nodes or [helper.make_node('Identity', ['x'], ['y'])], shape)
    done = run('run', model, '--data', sample, '--output-dir', out, *options)
    return np.load(os.path.join(out, 'y.npy')) if done.returncode == 0 else done.stderr


# ---- by areas ----

def area_weights(source, size):
    weights, scale = np.zeros((size, source)), source / size
    for i in range(size):
        for k in range(source):
            weights[i, k] = max(0, min((i + 1) * scale, k + 1) - max(i * scale, k)) / scale
    return weights


def shared_weights(source, size):
    """INTER_AREA where a side gets larger: OpenCV takes two neighbors."""
    weights, scale = np.zeros((size, source)), source / size
    for i in range(size):
        first = int(np.floor(i * scale))
        share = (i + 1) - (first + 1) / scale
        share = 0 if share <= 0 else share - np.floor(share)
        weights[i, first] += 1 - share
        weights[i, min(first + 1, source - 1)] += share
    return weights


def by_area(pixels, height, width):
    shrinks = height <= pixels.shape[0] and width <= pixels.shape[1]
    make = area_weights if shrinks else shared_weights
    return np.einsum('ih,jw,hwc->ijc', make(pixels.shape[0], height), make(pixels.shape[1], width), pixels.astype(np.float64))


with tempfile.TemporaryDirectory() as folder:
    pixels = rng.integers(0, 256, size=(37, 50, 3), dtype=np.uint8)
    picture = os.path.join(folder, 'a.png')
    Image.fromarray(pixels).save(picture)
    for height, width in ((37, 50), (20, 25), (16, 16), (5, 7), (37, 12), (74, 100), (90, 61), (50, 20), (20, 90)):
        got = read(folder, [1, 3, height, width], picture, '--resample', 'area')
        far = np.abs(got[0].transpose(1, 2, 0) - by_area(pixels, height, width)).max()
        check(f'area {height}x{width}: {far} levels off', far <= 1.01)
        linear = read(folder, [1, 3, height, width], picture)
        reference = np.asarray(Image.fromarray(pixels).resize((width, height), Image.BILINEAR))
        check(f'linear {height}x{width}', np.array_equal(linear[0].transpose(1, 2, 0), reference))
    check('both are the same', not np.array_equal(read(folder, [1, 3, 16, 16], picture, '--resample', 'area'),
                                                  read(folder, [1, 3, 16, 16], picture)))

    # What XQuant does with pictures unless told otherwise.
    config, net = os.path.join(folder, 'xquant.json'), os.path.join(folder, 'net.onnx')
    recipes = []
    weight = numpy_helper.from_array(rng.normal(size=(4, 3, 3, 3)).astype(np.float32), 'w')
    save(net, [helper.make_node('Conv', ['x', 'w'], ['y'], name='c')], [1, 3, 16, 16], constants=[weight])
    with open(os.path.join(folder, 'list.txt'), 'w', encoding='utf-8') as file:
        file.write('a.png\n')
    with open(config, 'w', encoding='utf-8') as file:
        json.dump({'model_parameters': {'onnx_model': net, 'output_prefix': 'q', 'working_dir': folder},
                   'calibration_parameters': {'calibration_step': 1, 'calibration_device': 'cpu', 'calibration_type': 'minmax',
                                              'input_parametres': [
                       {'mean_value': [0, 0, 0], 'std_value': [1, 1, 1], 'color_format': 'rgb',
                        'data_list_path': os.path.join(folder, 'list.txt')}]},
                   'quantization_parameters': {'precision_level': 0}}, file)
    project = os.path.join(folder, 'p.vernier')
    done = run('quantize', net, '--config', config, '-o', os.path.join(folder, 'q.onnx'), '--save-project', project,
               '--no-verify')
    with open(project, encoding='utf-8') as file:
        text = file.read()
    check(f'XQuant prepares pictures by areas: {done.stderr}', done.returncode == 0
          and '"resample" : "area"' in text.replace('":', '" :').replace('"  :', '" :'))

    # ---- transparency ----
    rgba = rng.integers(0, 256, size=(9, 8, 4), dtype=np.uint8)
    picture = os.path.join(folder, 'rgba.png')
    Image.fromarray(rgba, 'RGBA').save(picture)
    got = read(folder, [1, 3, 9, 8], picture)
    check('transparency is dropped', np.array_equal(got[0].transpose(1, 2, 0), np.asarray(Image.open(picture).convert('RGB'))))

    # ---- 12 of 16 bits ----
    for most, fits in ((4095, False), (65535, True)):
        picture = os.path.join(folder, f'{most}.png')
        numbers = np.linspace(0, most, 72).reshape(9, 8).astype(np.uint16)
        Image.fromarray(numbers).save(picture)
        got = read(folder, [1, 1, 9, 8], picture)
        check(f'16 bits up to {most}: {got}', (isinstance(got, str) and '4095' in got) if not fits else
              not isinstance(got, str) and np.abs(got[0, 0] - numbers / 257).max() <= 1)

    # ---- channels first for a network that takes them last ----
    first = [helper.make_node('Transpose', ['x'], ['y'], perm=[0, 3, 1, 2])]
    array = rng.normal(size=(1, 3, 6, 5)).astype(np.float32)
    path = os.path.join(folder, 's.npy')
    picture = os.path.join(folder, 'a.png')
    for what, sample, shape, options, expected in (
            ('channels first', array, [1, 6, 5, 3], [], array),
            ('channels last', array.transpose(0, 2, 3, 1), [1, 6, 5, 3], [], array),
            ('without the batch', array[0], [1, 6, 5, 3], [], array),
            ('open sizes', array, [1, 'h', 'w', 3], [], array),
            ('both fit', array[:, :, :3, :3], [1, 3, 3, 3], [], array[:, :, :3, :3].transpose(0, 3, 1, 2)),
            ('both fit, first', array[:, :, :3, :3], [1, 3, 3, 3], ['--layout', 'nchw'], array[:, :, :3, :3])):
        np.save(path, np.ascontiguousarray(sample))
        got = read(folder, shape, path, *options, nodes=first)
        check(f'{what}: {got if isinstance(got, str) else got.shape}', not isinstance(got, str) and np.array_equal(got, expected))
    np.save(path, array)
    got = read(folder, [1, 6, 5, 3], path, '--layout', 'nhwc', nodes=first)
    check('channels first, said to be last', isinstance(got, str))
    got = read(folder, [1, 6, 5, 3], path)
    check('channels first for a network that does not transpose', isinstance(got, str))
    for options in ([], ['--layout', 'nchw']):
        got = read(folder, [1, 37, 50, 3], picture, *options, nodes=first)
        check(f'a picture {options}', not isinstance(got, str) and np.array_equal(got[0].transpose(1, 2, 0), pixels))

    # The same network with and without the pass, on the same samples: the same ranges, and a stack of samples is a stack either
    # way.
    stack = rng.normal(size=(5, 3, 16, 16)).astype(np.float32)
    scales = []
    for sample, options in ((stack, []), (stack, ['--passes', 'nhwc-inputs']),
                            (stack.transpose(0, 2, 3, 1), ['--passes', 'nhwc-inputs'])):
        np.save(path, np.ascontiguousarray(sample))
        done = run('quantize', net, '--data', path, '-o', os.path.join(folder, 'q.onnx'), '--no-verify', '--held-out', '1',
                   *options)
        check(f'nhwc-inputs {sample.shape}: {done.stderr}', done.returncode == 0 and 'calibrated on 4 samples' in done.stdout)
        if done.returncode == 0:
            graph = onnx.load(os.path.join(folder, 'q.onnx')).graph
            scales.append(sorted(float(numpy_helper.to_array(i)) for i in graph.initializer if i.name.endswith('_scale')
                                 and not i.dims))
    check(f'nhwc-inputs: {scales}', len(scales) == 3 and scales[0] == scales[1] == scales[2])

print('failed' if failed else 'ok')
sys.exit(1 if failed else 0)
