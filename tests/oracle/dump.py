#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""dump.py CLI SOURCE_DIR

What `dump` writes against the tensors of ONNX Runtime inside the same quantized network, with its optimizations off: whole
numbers of 8 bits may differ by one step where a float lies between two (at most one in a thousand), those of 16 bits by as
little of their range, as the rounding of float sums is more than a step there; floats by 0.004 of the largest. Names are
those of AMD's dump_model, the list is complete, and .txt holds the numbers of .bin."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402

DTYPES = {'int8': np.int8, 'uint8': np.uint8, 'int16': np.int16, 'uint16': np.uint16, 'int32': np.int32, 'float32': np.float32,
          'int64': np.int64}
cli, source = sys.argv[1:3]
demo = os.path.join(source, 'data', 'demo')
failed = 0


def expect(good, what):
    global failed
    if not good:
        failed += 1
        print('not ok:', what)


def run(*args, fails=False):
    done = subprocess.run([cli, *args], capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        sys.exit('%s: %s' % (' '.join(args), done.stderr))
    return done.stderr


def run_ort(path, feeds):
    """All values of the network by name: those of type inference are asked for as outputs."""
    model = onnx.load(path)
    known = {o.name for o in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name and name not in known:
                model.graph.output.append(onnx.ValueInfoProto(name=name))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = oracle.open_session(model, options)
    names = [o.name for o in session.get_outputs()]
    values = dict(zip(names, session.run(names, feeds)))
    values.update({t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer})
    return model, values


def read_dump(folder, entry):
    path = os.path.join(folder, entry['file'])
    values = np.fromfile(path + '.bin', DTYPES[entry['dtype']]).reshape(entry['shape'])
    text = np.array(open(path + '.txt').read().split(), values.dtype)
    expect(np.array_equal(text, values.ravel()), entry['file'] + ': .txt is not .bin')
    return values


def file_name(tensor):
    return tensor.replace('/', '_')


def close(name, got, want, places):
    if want.dtype.kind in 'iu':
        apart = np.abs(got.astype(np.int64) - want.astype(np.int64))
        narrow = want.dtype.itemsize == 1
        steps = max(1, int(0.001 * want.size)) if narrow else want.size
        expect(got.shape == want.shape and (apart.max(initial=0) <= (1 if narrow else 16) and np.count_nonzero(apart) <= steps),
               '%s: %d of %d whole numbers differ, by %d at most' % (name, np.count_nonzero(apart), want.size,
                                                                     apart.max(initial=0)))
    else:
        scale = np.abs(want).max(initial=0) + 1e-9
        error = np.abs(got - want)
        # One step of a grid before it spreads over few elements.
        expect(got.shape == want.shape and np.mean(error > places * scale) <= 0.005,
               '%s: %g of %g' % (name, error.max(initial=0), scale))


def check(path, feeds, *args):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'dump')
        run('dump', path, '-o', out, '--float', *args)
        model, values = run_ort(path, feeds)
        entries = {e['file']: e for e in json.load(open(os.path.join(out, 'index.json')))['tensors']}
        files = {f for f in os.listdir(out) if f != 'index.json'}
        expect(files == {name + ending for name in entries for ending in ('.bin', '.txt')},
               path + ': files that are not in the list')
        n_quantized = n_floats = 0
        for node in model.graph.node:
            for name in node.output:
                if not name or name not in values or np.asarray(values[name]).dtype != np.float32:
                    continue
                entry = entries.get(file_name(name) + '_float')
                expect(entry is not None and not entry['quantized'], path + ': no floats of ' + name)
                if entry is not None:
                    close(name, read_dump(out, entry), values[name], 4e-3)
                    n_floats += 1
            if node.op_type == 'DequantizeLinear':
                entry = entries.get(file_name(node.output[0]))
                expect(entry is not None and entry['quantized'], path + ': no whole numbers of ' + node.output[0])
                if entry is not None:
                    close(node.output[0], read_dump(out, entry), values[node.input[0]], 0)
                    n_quantized += 1
            elif node.op_type.startswith('QLinear'):
                entry = entries.get(file_name(node.output[0]))
                if entry is not None:
                    close(node.output[0], read_dump(out, entry), values[node.output[0]], 0)
                    n_quantized += 1
        expect(n_quantized > 5 and n_floats > 0, '%s: only %d and %d compared' % (path, n_quantized, n_floats))
        print('%s: %d quantized tensors and %d of floats equal those of ONNX Runtime' % (os.path.basename(path), n_quantized,
                                                                                         n_floats))

        # What stands there stays, unless told otherwise.
        message = run('dump', path, '-o', out, *args, fails=True)
        expect('not empty' in message, 'a folder with files in it: ' + message)
        run('dump', path, '-o', out, '--force', *args)


def check_names():
    """Two names that become one, and one too long for a file."""
    x = onnx.helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, [4])
    long = 'l' * 300
    nodes = [onnx.helper.make_node('Relu', ['x'], ['a/b']), onnx.helper.make_node('Neg', ['x'], ['a_b']),
             onnx.helper.make_node('Neg', ['a/b'], [long]), onnx.helper.make_node('Add', [long, 'a_b'], ['y'])]
    graph = onnx.helper.make_graph(nodes, 'names', [x], [onnx.helper.make_tensor_value_info('y', onnx.TensorProto.FLOAT, [4])])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'names.onnx')
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', 13)], ir_version=8), path)
        np.save(os.path.join(folder, 'x.npy'), np.array([1, -2, 3, -4], np.float32))
        out = os.path.join(folder, 'dump')
        expect('no quantized tensors' in run('dump', path, '-o', out, fails=True), 'a float network without --float')
        run('dump', path, '-o', out, '--float', '--input', 'x=' + os.path.join(folder, 'x.npy'))
        entries = {e['tensor']: e for e in json.load(open(os.path.join(out, 'index.json')))['tensors']}
        expect(len({e['file'] for e in entries.values()}) == len(entries) == 5, 'names: %s' % sorted(entries))
        expect(read_dump(out, entries['a/b']).tolist() == [1, 0, 3, 0], 'a/b')
        expect(read_dump(out, entries['a_b']).tolist() == [-1, 2, -3, 4], 'a_b')
        expect(read_dump(out, entries[long]).tolist() == [-1, 0, -3, 0], 'long name')


def main():
    from PIL import Image

    check_names()
    name = sorted(os.listdir(os.path.join(demo, 'samples')))[0]
    picture = os.path.join(demo, 'samples', name)
    if os.path.isdir(picture):
        picture = os.path.join(picture, sorted(os.listdir(picture))[0])
    pixels = np.asarray(Image.open(picture).convert('RGB'), np.float32)
    float_path = os.path.join(demo, 'demo.onnx')
    value = onnx.load(float_path).graph.input[0]
    feeds = {value.name: ((pixels - np.float32(127.5)) / np.float32(127.5)).transpose(2, 0, 1)[None]}
    with tempfile.TemporaryDirectory() as folder:
        for args in (('--per-channel',), ('--format', 'qoperator'), ('--activation', 's16', '--weight', 's8')):
            path = os.path.join(folder, 'quantized.onnx')
            run('quantize', float_path, '-o', path, '--data', os.path.join(demo, 'samples'), '--preprocess', 'minus-one-one',
                *args)
            check(path, feeds, '--data', os.path.join(demo, 'samples'), '--preprocess', 'minus-one-one')
    shared = os.environ.get('VN_SHARED', '')
    path = os.path.join(shared, 'models', 'qdq_mobilenet_edgetpu_block_u16_op21.onnx')
    if os.path.exists(path):
        with tempfile.TemporaryDirectory() as folder:
            session = oracle.open_session(path)
            feeds, args = {}, []
            for k, value in enumerate(session.get_inputs()):
                file = os.path.join(folder, '%d.npy' % k)
                dtype = {'tensor(uint16)': np.uint16, 'tensor(uint8)': np.uint8, 'tensor(float)': np.float32}[value.type]
                feeds[value.name] = (np.random.default_rng(k).uniform(0, 60000, value.shape).astype(dtype)
                                     if dtype == np.uint16 else
                                     np.random.default_rng(k).uniform(-45, 51, value.shape).astype(dtype))
                np.save(file, feeds[value.name])
                args += ['--input', '%s=%s' % (value.name, file)]
            check(path, feeds, *args)
    print('failed' if failed else 'passed')
    sys.exit(failed > 0)


main()
