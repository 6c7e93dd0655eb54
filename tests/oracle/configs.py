#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""configs.py CLI: configurations of XSlim as they are, on small networks; the results must pass onnx.checker and run in
onnxruntime. The files name networks and samples that are elsewhere: --input and lists beside them stand in."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
from onnx import TensorProto, helper, numpy_helper    # noqa: E402

CLI = os.path.realpath(sys.argv[1])
SHARED = oracle.shared_folder()
XSLIM = os.path.join(SHARED, 'interop', 'xslim')
failures = []


def check(what, ok):
    print('ok' if ok else 'NOT OK', what)
    if not ok:
        failures.append(what)


def bert_like(path):
    """Four inputs as BERT has, embedded, added, normalized by Softmax, projected."""
    rng = np.random.default_rng(3)
    names = ['unique_ids_raw_output___9:0', 'segment_ids:0', 'input_mask:0', 'input_ids:0']
    shapes = [['n'], ['n', 256], ['n', 256], ['n', 256]]
    table = numpy_helper.from_array(rng.normal(size=(30522, 8)).astype(np.float32), 'table')
    kinds = numpy_helper.from_array(rng.normal(size=(2, 8)).astype(np.float32), 'kinds')
    weight = numpy_helper.from_array(rng.normal(size=(8, 8)).astype(np.float32), 'weight')
    nodes = [helper.make_node('Gather', ['table', names[3]], ['e']), helper.make_node('Gather', ['kinds', names[1]], ['s']),
             helper.make_node('Add', ['e', 's'], ['sum']), helper.make_node('MatMul', ['sum', 'weight'], ['m']),
             helper.make_node('Softmax', ['m'], ['p'], axis=-1), helper.make_node('Mul', ['p', 'm'], ['scores']),
             helper.make_node('Identity', [names[0]], ['ids']), helper.make_node('Identity', [names[2]], ['mask'])]
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, s) for n, s in zip(names, shapes)]
    outputs = [helper.make_tensor_value_info('scores', TensorProto.FLOAT, ['n', 256, 8]),
               helper.make_tensor_value_info('ids', TensorProto.INT64, ['n']),
               helper.make_tensor_value_info('mask', TensorProto.INT64, ['n', 256])]
    graph = helper.make_graph(nodes, 'bert', inputs, outputs, [table, kinds, weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)


def vision_like(path):
    """What mobilenet_v3_small.json speaks of: from "input" to "input.12"."""
    rng = np.random.default_rng(4)
    init = [numpy_helper.from_array((rng.normal(size=s) * .2).astype(np.float32), n)
            for n, s in (('w0', (8, 3, 3, 3)), ('w1', (8, 8, 3, 3)), ('w2', (5, 8)))]
    nodes = [helper.make_node('Conv', ['input', 'w0'], ['c0'], 'conv0', strides=[4, 4], pads=[1, 1, 1, 1]),
             helper.make_node('Sigmoid', ['c0'], ['g'], 'gate'), helper.make_node('Mul', ['c0', 'g'], ['input.12'], 'swish'),
             helper.make_node('Conv', ['input.12', 'w1'], ['c1'], 'conv1'), helper.make_node('Relu', ['c1'], ['r1'], 'relu'),
             helper.make_node('GlobalAveragePool', ['r1'], ['p'], 'pool'), helper.make_node('Flatten', ['p'], ['f'], 'flat'),
             helper.make_node('Gemm', ['f', 'w2'], ['output'], 'fc', transB=1)]
    graph = helper.make_graph(nodes, 'vision', [helper.make_tensor_value_info('input', TensorProto.FLOAT,
                                                                              ['batch', 3, 224, 224])],
                              [helper.make_tensor_value_info('output', TensorProto.FLOAT, ['batch', 5])], init)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)


def run(path):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    session = oracle.open_session(path)
    rng = np.random.default_rng(5)
    feed = {}
    for i in session.get_inputs():
        shape = [d if isinstance(d, int) else 1 for d in i.shape]
        feed[i.name] = (rng.integers(0, 2, shape).astype(np.int64) if 'int64' in i.type
                        else rng.normal(size=shape).astype(np.float32))
    session.run(None, feed)
    return model


def producer_is_float(model, output):
    """Whether no DequantizeLinear stands in front of what makes @output."""
    makers = {o: n for n in model.graph.node for o in n.output}
    node = makers[output]
    return all(makers[i].op_type != 'DequantizeLinear' for i in node.input if i in makers)


def is_quantized(model, value):
    return any(n.op_type == 'QuantizeLinear' and n.input[0] == value for n in model.graph.node)


def check_analysis(label, float_path, quantized_path, report):
    """Order, marks and counts of the rows; errors of constants against the integers in the file."""
    with open(report, encoding='utf-8') as f:
        lines = [line.strip() for line in f]
    header = lines.index('| Op | Var | SNR | MSE | Cosine | Q.MinMax | F.MinMax | F.Hist |')
    rows = []
    for line in lines[header + 2:]:
        if not line.startswith('|'):
            break
        red = 'color="red"' in line
        cells = [c.strip().replace('\\_', '_').replace('<font color="red">', '').replace('</font>', '')
                 for c in line.strip('|').split(' | ')]
        rows.append((cells[0], cells[1], *(float(c) for c in cells[2:5]), cells[5], cells[6], cells[7], red))
    check(f'{label}: {len(rows)} rows', len(rows) > 5)
    worst = {}
    for op, var, snr, *_ in rows:
        if not var.endswith('[Constant]'):
            worst[op] = max(worst.get(op, -1), snr)
    check(f'{label}: the noisiest operators first', list(worst.values()) == sorted(worst.values(), reverse=True))
    for op, var, snr, mse, cosine, q_range, f_range, counts, red in rows:
        if abs(snr - .1) > 1e-3 and abs(cosine - .99) > 1e-3:
            check(f'{label}: {var}: red', red == (snr > .1 or cosine < .99))
        check(f'{label}: {var}: 32 counts', counts == '' or len(counts.split(',')) == 32)
    quantized, constants, original = onnx.load(quantized_path), {}, {}
    stored = {i.name: numpy_helper.to_array(i) for i in quantized.graph.initializer}
    for node in quantized.graph.node:
        if node.op_type == 'DequantizeLinear' and node.input[0] in stored:
            axis = next((a.i for a in node.attribute if a.name == 'axis'), 1)
            scale, zero = stored[node.input[1]], stored[node.input[2]].astype(np.float64)
            q = stored[node.input[0]].astype(np.float64)
            shape = [-1 if d == axis else 1 for d in range(q.ndim)] if scale.ndim else []
            constants[node.input[0].removesuffix('_quantized')] = (q - zero.reshape(shape)) * scale.reshape(shape)
    for i in onnx.load(float_path).graph.initializer:
        original[i.name] = numpy_helper.to_array(i).astype(np.float64)
    n = 0
    for op, var, snr, mse, cosine, q_range, f_range, counts, red in rows:
        name = var.removesuffix('[Constant]')
        if name == var or name not in constants or name not in original:
            continue
        n += 1
        f, q = original[name], constants[name]
        expected = (((q - f) ** 2).sum() / (f ** 2).sum(), ((q - f) ** 2).mean(),
                    (q * f).sum() / np.sqrt((q * q).sum() * (f * f).sum()))
        check(f'{label}: {name}: {snr} {mse} {cosine}, expected {expected}', np.allclose((snr, mse, cosine), expected, atol=6e-5))
        check(f'{label}: {name}: {f.size} elements', sum(map(int, counts.split(','))) == f.size)
    check(f'{label}: {n} constants', n >= 2)


def call(config, model):
    with open(config, encoding='utf-8') as f:
        python = ['--python', sys.executable] if '.py:' in f.read() else []
    result = subprocess.run([CLI, 'xquant', '-c', config, '-i', model, *python], capture_output=True, text=True)
    if result.returncode != 0:
        print(result.stderr)
    return result.returncode == 0


def small(path):
    """An input of int64 and one of float32; a BatchNormalization, and a Div that is quantized only where a rule asks for it."""
    rng = np.random.default_rng(6)
    ones = np.ones(4, np.float32)
    init = [numpy_helper.from_array(a.astype(np.float32), n) for n, a in (
        ('table', rng.normal(size=(9, 12))), ('w', rng.normal(size=(4, 3, 1, 1))), ('s', ones * 2), ('o', ones), ('m', ones * 0),
        ('v', ones), ('w2', rng.normal(size=(2, 4, 1, 1))))] + [numpy_helper.from_array(np.array([1, 3, 2, 2]), 'shape')]
    nodes = [helper.make_node('Gather', ['table', 'ids'], ['e']), helper.make_node('Reshape', ['e', 'shape'], ['r']),
             helper.make_node('Add', ['r', 'x'], ['a']), helper.make_node('Conv', ['a', 'w'], ['c'], 'conv'),
             helper.make_node('BatchNormalization', ['c', 's', 'o', 'm', 'v'], ['b'], 'bn'),
             helper.make_node('Abs', ['b'], ['abs']), helper.make_node('Div', ['b', 'abs'], ['d'], 'div'),
             helper.make_node('Transpose', ['d'], ['t'], 'there', perm=[0, 2, 3, 1]),
             helper.make_node('Transpose', ['t'], ['i'], 'back', perm=[0, 3, 1, 2]),
             helper.make_node('Conv', ['i', 'w2'], ['y'], 'last')]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('ids', TensorProto.INT64, [1]),
                                           helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 3, 2, 2])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 2, 2, 2])], init)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)


def own_config(name, model=None, **parts):
    config = {'model_parameters': {'onnx_model': 'small.onnx', 'working_dir': 'out', **(model or {})},
              'calibration_parameters': {'input_parametres': [{'file_type': 'raw', 'data_list_path': 'ids.txt'},
                                                              {'file_type': 'raw', 'data_list_path': 'x.txt'}]},
              'quantization_parameters': {'finetune_level': 0, **parts}}
    with open(name, 'w', encoding='utf-8') as f:
        json.dump(config, f)


def convert(config, *words):
    done = subprocess.run([CLI, 'xquant', '-c', config, *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def fields():
    """What single fields mean: raw files, regions, simplification, samples of levels that need none, a file of Python beside the
    configuration."""
    rng = np.random.default_rng(7)
    os.makedirs('own/raw')
    os.chdir('own')
    small('small.onnx')
    for name, make in (('ids', lambda i: np.array([i], np.int64)),
                       ('x', lambda i: rng.normal(size=(1, 3, 2, 2)).astype(np.float32))):
        for i in range(8):
            make(i).tofile(f'raw/{name}{i}.raw')
        with open(name + '.txt', 'w', encoding='utf-8') as f:
            f.write('\n'.join(f'raw/{name}{i}.raw' for i in range(8)))
    own_config('c.json')
    code, text = convert('c.json')
    check('raw files have the type of the input: ' + text[:200], code == 0)
    plain = onnx.load('out/small.q.onnx')
    check('the network is simplified', not any(n.op_type == 'Transpose' for n in plain.graph.node))
    own_config('c.json', {'skip_onnxsim': True})
    convert('c.json')
    check('skip_onnxsim', any(n.op_type == 'Transpose' for n in onnx.load('out/small.q.onnx').graph.node))
    run('out/small.q.onnx')
    for region in ({}, {'precision_level': 0}, {'precision_level': 1}, {'calibration_type': 'default'}):
        own_config('c.json', custom_setting=[{'input_names': ['a'], 'output_names': ['y'], **region}])
        code, text = convert('c.json')
        other = onnx.load('out/small.q.onnx')
        check(f'region {region} moves nothing: {text[-200:] if code else ""}', code == 0 and
              all(is_quantized(other, v) == is_quantized(plain, v)
                  for v in ('ids', 'x', 'e', 'r', 'a', 'c', 'b', 'abs', 'd', 'i', 'y')))
    own_config('c.json', custom_setting=[{'input_names': ['c'], 'output_names': ['d'], 'precision_level': 4}])
    code, text = convert('c.json')
    check('a tensor that simplifying would take away is kept where a region names it', code == 0 and 'no tensor' not in text)
    check('the region is float', producer_is_float(onnx.load('out/small.q.onnx'), 'd'))
    for level in (3, 4):
        own_config('c.json', precision_level=level)
        code, text = convert('c.json', '--json')
        with open('out/small.q_report.md', encoding='utf-8') as f:
            report = f.read()
        check(f'level {level} measures on the samples it names', code == 0 and 'random' not in report)
        with open('x.txt', encoding='utf-8') as f:
            lines = f.read()
        os.remove('x.txt')
        code, text = convert('c.json')
        check(f'level {level}: a list that is not there is an error', code == 1 and 'x.txt' in text)
        code, text = convert('c.json', '--data', 'random')
        check(f'level {level}: unless samples are given', code == 0)
        with open('x.txt', 'w', encoding='utf-8') as f:
            f.write(lines)
    os.chdir('..')
    with open('own/beside.py', 'w', encoding='utf-8') as f:
        f.write('import numpy as np\n\n\ndef load(paths, settings):\n'
                '    return np.full((len(paths), 3, 224, 224), len(paths[0]), np.float32)\n')
    with open(os.path.join(XSLIM, 'resnet18_custom_preprocess.json'), encoding='utf-8') as f:
        config = json.load(f)
    config['calibration_parameters']['input_parameters'][0]['preprocess_file'] = 'beside.py:load'
    with open('own/beside.json', 'w', encoding='utf-8') as f:
        json.dump(config, f)
    check('the file of Python lies beside the configuration', call('own/beside.json', 'vision.onnx'))
    code, text = convert('own/beside.json', '-i', 'vision.onnx', '--python', '/no/such/python')
    check('--python is used', code == 1 and '/no/such/python' in text)


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    bert_like('bert.onnx')
    vision_like('vision.onnx')
    os.makedirs('quant_dataset')
    for name in ('unique_ids_raw_output', 'segment_ids', 'input_mask', 'input_ids'):
        with open(f'quant_dataset/{name}.txt', 'w') as f:
            for i in range(3):
                f.write(os.path.join(XSLIM, 'bert_quant_dataset', f'{name}_{i}.npy') + '\n')
    os.makedirs('Imagenet')
    photographs = oracle.photographs(SHARED)[:20]
    with open('Imagenet/calib_img_list.txt', 'w') as f:
        f.write('\n'.join(os.path.relpath(p, 'Imagenet') for p in photographs) + '\n')
    with open('preprocess.py', 'w') as f:
        f.write('import numpy as np\n\n\ndef preprocess_impl(paths, settings):\n'
                '    rng = np.random.default_rng(len(paths[0]))\n'
                '    mean = np.array(settings["mean_value"], dtype=np.float32).reshape(1, 3, 1, 1)\n'
                '    std = np.array(settings["std_value"], dtype=np.float32).reshape(1, 3, 1, 1)\n'
                '    return ((rng.uniform(0, 255, (len(paths), 3, 224, 224)) - mean) / std).astype(np.float32)\n')
    for config, model in (('bertsquad', 'bert'), ('mobilenet_v3_small', 'vision'), ('resnet18', 'vision'),
                          ('resnet18_custom_preprocess', 'vision')):
        shutil.rmtree('temp', ignore_errors=True)
        check(config, call(os.path.join(XSLIM, config + '.json'), model + '.onnx'))
        path = f'temp/{model}.q.onnx'
        check(f'{config}: onnx.checker and onnxruntime', os.path.exists(path) and run(path) is not None)
        check(f'{config}: the analysis', os.path.exists(f'temp/{model}.q_report.md'))
        if model == 'vision':
            check_analysis(config, 'vision.onnx', path, f'temp/{model}.q_report.md')
        if config == 'mobilenet_v3_small':
            quantized = onnx.load(path)
            check(f'{config}: Sigmoid of the region stays float', not is_quantized(quantized, 'g'))
        if config == 'resnet18':
            check(f'{config}: Sigmoid does not', is_quantized(onnx.load(path), 'g'))
    # Everything behind the cut stays float.
    with open(os.path.join(XSLIM, 'resnet18.json')) as f:
        config = json.load(f)
    config['quantization_parameters'] = {'truncate_var_names': ['p']}
    with open('cut.json', 'w') as f:
        json.dump(config, f)
    check('truncated', call('cut.json', 'vision.onnx'))
    quantized = run('temp/vision.q.onnx')
    check('truncated: the tail is float', producer_is_float(quantized, 'output'))
    check('truncated: the rest is not', any(n.op_type == 'DequantizeLinear' for n in quantized.graph.node))
    fields()
    os.chdir('/')
    shutil.rmtree(work)
    sys.exit(1 if failures else 0)


main()
