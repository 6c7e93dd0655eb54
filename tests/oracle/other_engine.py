#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""other_engine.py CLI CUSTOM_OPS DEMO: networks that ONNX Runtime runs for us, by --engine and --custom-ops.

Statistics, exports and figures with --engine onnxruntime are those of our own engine within float rounding. A network with an
operator of the library CUSTOM_OPS is calibrated, quantized, compared, evaluated and improved by --auto, and what we measure of it
is what ONNX Runtime gives in Python with the same library. A library that crashes or hangs is an error that names its node.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

import oracle

oracle.use_oracle_python()

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

cli, library, demo = (os.path.abspath(each) for each in sys.argv[1:4])
found = sorted(glob.glob(os.path.join(os.path.dirname(onnxruntime.__file__), 'capi', 'libonnxruntime.so*')))
if not found:
    oracle.skip('the package has no libonnxruntime.so')
os.environ['VN_ORT_LIBRARY'] = found[0]

DOMAIN = 'acme.trt'
ROUNDING = 2e-5       # of a range: sums of floats in another order
N_SAMPLES = 12
failed = compared = 0
rng = np.random.default_rng(5)


def check(what, good):
    global failed, compared
    compared += 1
    if not good:
        print('not ok', what)
        failed += 1


def call(*arguments, **environment):
    return subprocess.run([cli, *arguments, '--json'], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment}, timeout=100)


def run(*arguments, **environment):
    done = call(*arguments, **environment)
    if done.returncode != 0:
        print('not ok', arguments, done.stderr, done.stdout[-600:])
        sys.exit(1)
    return json.loads(done.stdout)


def say(done):
    """The error of a command that failed."""
    return json.loads(done.stdout).get('error', {}).get('message', '') if done.stdout.startswith('{') else done.stderr


# ---- networks ----

def conv(name, x, y, weights, channels):
    weights.append(numpy_helper.from_array(rng.normal(0, .3, channels + (3, 3)).astype(np.float32), name + '.w'))
    return helper.make_node('Conv', [x, name + '.w'], [y], name=name, pads=[1] * 4)


def make_network(path, operator, size):
    """Convolutions before, beside and behind a node of the library."""
    weights = []
    nodes = [conv('head', 'x', 'a', weights, (6, 3)), helper.make_node('Relu', ['a'], ['r'], 'relu'),
             helper.make_node(operator, ['r'], ['q'], 'plug', domain=DOMAIN),
             conv('tail', 'q', 't', weights, (6, 6)), conv('side', 'r', 's', weights, (6, 6)),
             helper.make_node('Add', ['t', 's'], ['y'], 'sum')]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, 'g', [info('x', TensorProto.FLOAT, [1, 3, size, size])],
                              [info('y', TensorProto.FLOAT, [1, 6, size, size])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17), helper.make_opsetid(DOMAIN, 1)], ir_version=8),
              path)


def make_samples(folder, size):
    os.makedirs(folder)
    samples = rng.normal(0, 1, (N_SAMPLES, 1, 3, size, size)).astype(np.float32)
    for i, sample in enumerate(samples):
        np.save(os.path.join(folder, f'{i:02}.npy'), sample)
    return samples


def compute(path, samples, *more):
    """What ONNX Runtime gives in Python: the values @more and the outputs, as arrays by name."""
    model = onnx.load(path)
    model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in more)
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(library)
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL   # pairs as written
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider'])
    rows = [session.run(None, {'x': sample}) for sample in samples]
    return {output.name: np.stack([row[i] for row in rows]) for i, output in enumerate(session.get_outputs())}


def sqnr(signal, other):
    noise = float(((signal.astype(np.float64) - other.astype(np.float64)) ** 2).sum())
    return 10 * np.log10(float((signal.astype(np.float64) ** 2).sum()) / noise) if noise > 0 else np.inf


def list_scales(path):
    """By tensor: scale and zero point that an export has for it."""
    model = onnx.load(path)
    constants = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    return {node.input[0]: (constants[node.input[1]], constants[node.input[2]]) for node in model.graph.node
            if node.op_type == 'QuantizeLinear'}


# ---- a library of operators ----

def check_custom(folder):
    path, data, export = (os.path.join(folder, name) for name in ('custom.onnx', 'samples', 'custom-q.onnx'))
    make_network(path, 'FancyPlugin', 8)
    samples = make_samples(data, 8)
    with_library = ['--custom-ops', library]
    before = run('quantize', path, '-o', export, '--data', data, '--no-verify')['report']
    check('without the library the node is not supported', [note['subject'] for note in before['notes']
                                                            if note['code'] == 'no-kernel'] == ['plug'])
    check('and what depends on it is not measured', not {'q', 't', 'y'} & {row['tensor'] for row in before['tensors']})
    told = run('quantize', path, '-o', export, '--data', data, '--held-out', '0', '--no-verify', '--preset', 'cpu', '--method',
               'minmax', *with_library)
    notes = [note['text'] for note in told['report']['notes'] if note['code'] == 'engine']
    check(f'ONNX Runtime is named: {notes}', any(onnxruntime.__version__ in note for note in notes))
    expected = compute(path, samples, 'r', 'q', 't', 's')
    scales = list_scales(export)
    for name in ('q', 'r', 's', 'y'):
        if name not in scales:
            continue
        low, high = min(0, float(expected[name].min())), max(0, float(expected[name].max()))
        scale = float(scales[name][0])
        check(f'{name}: scale {scale} for {low} .. {high}', abs(scale * 255 / (high - low) - 1) < ROUNDING)
    check(f'what lies behind the node is quantized: {sorted(scales)}', {'q', 'r'} <= set(scales))
    exported = compute(export, samples)
    measured = run('compare', path, export, '--data', data, *with_library)
    check_figure(measured, 'y', sqnr(expected['y'], exported['y']))
    told = run('evaluate', path, export, '--data', data, *with_library)
    check(f'evaluates both: {len(told["models"])}', len(told['models']) == 2)
    auto = run('quantize', path, '-o', export, '--data', data, '--auto', *with_library)
    check('--auto has a result', os.path.exists(export) and 'report' in auto)
    check('and the node is in it', any(node.op_type == 'FancyPlugin' for node in onnx.load(export).graph.node))
    return path, data


def check_figure(measured, tensor, expected):
    rows = {row['tensor']: row for row in measured['report']['tensors']} if 'report' in measured else \
           {row['tensor']: row for row in measured['tensors']}
    row = rows.get(tensor, {})
    check(f'{tensor}: {row.get("sqnr_db")} dB, in Python {expected:.2f}', abs(row.get('sqnr_db', -99) - expected) < 0.3)


def check_misbehaving(folder, data):
    path, export = os.path.join(folder, 'crash.onnx'), os.path.join(folder, 'out.onnx')
    make_network(path, 'FancyCrash', 8)
    arguments = ['quantize', path, '-o', export, '--data', data, '--custom-ops', library]
    done = call(*arguments)
    check(f'a crash is told: {say(done)}', done.returncode == 1 and 'plug' in say(done) and 'crash' in say(done))
    began = time.monotonic()
    done = call(*arguments, VN_TEST_CUSTOM='hang', VN_ORT_TIMEOUT='1')
    check(f'a hang is told: {say(done)}', done.returncode == 1 and 'VN_ORT_TIMEOUT' in say(done))
    check('and ended', time.monotonic() - began < 60)
    check('nothing is written', not os.path.exists(export))


def check_options(folder, path, data):
    text = os.path.join(folder, 'no-library.so')
    with open(text, 'w', encoding='utf-8') as file:
        file.write('no library')
    arguments = ['quantize', path, '-o', os.path.join(folder, 'out.onnx'), '--data', data]
    for option, value, status, word in (('--custom-ops', text, 1, 'no-library.so'), ('--custom-ops', text + 'x', 2, 'no-library'),
                                        ('--engine', 'tpu', 2, 'onnxruntime'), ('--engine', 'onnxruntime:', 2, 'onnxruntime'),
                                        ('--engine', 'onnxruntime:tpu', 1, 'CPUExecutionProvider'),
                                        ('--engine', 'onnxruntime:rocm', 1, 'CPUExecutionProvider'),
                                        ('--ep-library', library, 2, 'NAME=PATH'),
                                        ('--ep-library', '=' + library, 2, 'NAME=PATH'),
                                        ('--ep-library', 'Fancy=' + text + 'x', 2, 'no-library'),
                                        ('--ep-option', 'nothing', 2, 'KEY=VALUE')):
        done = call(*arguments, option, value)
        check(f'{option} {value}: {done.returncode} {say(done)}', done.returncode == status and word in say(done))
    done = call(*arguments, '--engine', 'vernier', '--custom-ops', library)
    check(f'a library without ONNX Runtime: {say(done)}', done.returncode == 2 and '--engine vernier' in say(done))
    for named, word in ((text, 'no-library.so'), (library, 'CreateEpFactories')):   # neither is one of a provider
        done = call(*arguments, '--engine', 'onnxruntime', '--ep-library', 'Fancy=' + named)
        check(f'--ep-library {named}: {done.returncode} {say(done)}', done.returncode == 1 and word in say(done))
    done = call(*arguments, '--engine', 'onnxruntime:cuda', '--ep-library', 'Fancy=' + library)
    check(f'two providers: {say(done)}', done.returncode == 2 and '--engine onnxruntime' in say(done))
    done = call('verify', path, '--data', data, '--ep-option', 'key=value', '--custom-ops', library)
    check(f'options of nothing: {say(done)}', done.returncode == 1 and 'options' in say(done))
    done = call(*arguments, '--engine', 'onnxruntime', '--ep-library', 'Fancy=' + library, '--ep-option', 'nothing')
    check(f'no option: {say(done)}', done.returncode == 2 and 'KEY=VALUE' in say(done))
    done = call(*arguments, '--engine', 'onnxruntime', VN_ORT_LIBRARY='/nowhere.so')
    check(f'a missing libonnxruntime: {say(done)}', done.returncode == 1 and '/nowhere.so' in say(done))


# ---- execution providers in libraries of their own ----

def check_plugin(folder):
    """Qualcomm's, on its simulator, where VN_QNN_PYTHON has it: engine and verification agree with the same in Python."""
    python = os.environ.get('VN_QNN_PYTHON')
    if not python:
        print('no execution provider library at hand: VN_QNN_PYTHON is not set')
        return
    path, data, export = (os.path.join(folder, name) for name in ('plain.onnx', 'plain', 'plain-q.onnx'))
    weights = []
    nodes = [conv('head', 'x', 'a', weights, (6, 3)), helper.make_node('Relu', ['a'], ['r'], 'relu'),
             conv('tail', 'r', 'y', weights, (6, 6))]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, 'g', [info('x', TensorProto.FLOAT, [1, 3, 8, 8])],
                              [info('y', TensorProto.FLOAT, [1, 6, 8, 8])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)
    samples = make_samples(data, 8)
    code = '''
import json, sys
import numpy as np, onnxruntime as ort, onnxruntime_qnn as qnn
ort.register_execution_provider_library('QNNExecutionProvider', qnn.get_library_path())
device = [d for d in ort.get_ep_devices() if d.ep_name == 'QNNExecutionProvider'][:1]
options = ort.SessionOptions()
options.add_provider_for_devices(device, {'backend_path': qnn.get_qnn_htp_path(), **json.loads(sys.argv[3])})
session = ort.InferenceSession(sys.argv[1], options)
np.save(sys.argv[2], np.stack([session.run(None, {'x': np.load(f)})[0] for f in sys.argv[4:]]))
print(json.dumps([qnn.get_library_path(), qnn.get_qnn_htp_path(), ort.__file__]))
'''
    files = sorted(os.path.join(data, name) for name in os.listdir(data))
    there = os.path.join(folder, 'there.npy')

    def compute_there(model, **options):
        done = subprocess.run([python, '-c', code, model, there, json.dumps(options), *files], capture_output=True, text=True)
        return json.loads(done.stdout.splitlines()[-1]), np.load(there)

    (plugin, htp, package), floats = compute_there(path)
    runtime, = glob.glob(os.path.join(os.path.dirname(package), 'capi', 'libonnxruntime.so.*'))
    named = ['--ep-library', 'QNNExecutionProvider=' + plugin, '--ep-option', 'backend_path=' + htp]
    run('quantize', path, '-o', export, '--data', data, '--no-verify', '--target', 'qnn-htp')
    outputs = os.path.join(folder, 'outputs')
    done = call('run', path, '--input', 'x=' + files[0], '--output-dir', outputs, '--engine', 'onnxruntime', *named,
                VN_ORT_LIBRARY=runtime)
    check(f'the engine runs on it: {done.stderr}', done.returncode == 0)
    ours = np.load(os.path.join(outputs, 'y.npy'))
    check('and gives what it gives in Python', np.array_equal(ours, floats[0]))
    check('which is not what the processor gives', not np.array_equal(ours, compute(path, samples)['y'][0]))
    quantized = compute_there(export)[1]
    for what, where in (('Python', {'VN_PYTHON': python, 'VN_ORT_LIBRARY': ''}), ('the library', {'VN_ORT_LIBRARY': runtime})):
        done = call('verify', export, '--model', path, '--data', data, '--samples', str(N_SAMPLES), *named, **where)
        told = json.loads(done.stdout)
        check(f'{what}: verified there: {told["version"]}', 'QNNExecutionProvider' in told['version'])
        check_runtime_figure(what, told, sqnr(floats, quantized))
    processor = compute(path, samples)['y']    # what the float network is run on where the target has a runtime of its own
    for chip in ('68', '75'):
        done = call('verify', export, '--model', path, '--data', data, '--samples', str(N_SAMPLES), '--ep-option',
                    'htp_arch=' + chip, VN_QNN_PYTHON=python, VN_ORT_LIBRARY='')
        told = json.loads(done.stdout)
        check(f'v{chip}: {told["runtime"]} {told["version"]}', told['runtime'] == 'qnn' and 'htp_arch=' + chip in told['version'])
        check_runtime_figure('v' + chip, told, sqnr(processor, compute_there(export, htp_arch=chip)[1]))


def check_runtime_figure(what, told, expected):
    found = [row['runtime_sqnr_db'] for row in told['outputs']]
    check(f'{what}: {found} dB, in Python {expected:.2f}', len(found) == 1 and abs(found[0] - expected) < 0.3)


# ---- what is left ----

def check_killed(folder, data):
    """A command that is killed while ONNX Runtime works for it leaves no folder."""
    path, place = os.path.join(folder, 'hang.onnx'), os.path.join(folder, 'tmp')
    make_network(path, 'FancyPlugin', 8)
    os.mkdir(place)
    process = subprocess.Popen([cli, 'quantize', path, '-o', os.path.join(folder, 'never.onnx'), '--data', data, '--custom-ops',
                                library, '--auto', '--time', '60'], env={**os.environ, 'TMPDIR': place},
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not glob.glob(os.path.join(place, '*', '*.onnx')) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    check('it has parts in a folder', os.listdir(place) != [] and process.poll() is None)
    process.kill()
    process.wait()
    while os.listdir(place) and time.monotonic() < until:
        time.sleep(0.05)
    check(f'and nothing is left: {os.listdir(place)}', not os.listdir(place))


# ---- operators of ONNX Runtime ----

def check_contrib(folder, data):
    """An operator that ONNX Runtime has, and we do not, without being asked."""
    path, weights = os.path.join(folder, 'contrib.onnx'), []
    mask = numpy_helper.from_array(np.ones((1, 6, 8, 8), np.int32), 'mask')
    nodes = [conv('head', 'x', 'a', weights, (6, 3)),
             helper.make_node('MaxpoolWithMask', ['a', 'mask'], ['p'], 'pool', domain='com.microsoft', kernel_shape=[2, 2],
                              strides=[2, 2]), conv('tail', 'p', 'y', weights, (6, 6))]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, 'g', [info('x', TensorProto.FLOAT, [1, 3, 8, 8])],
                              [info('y', TensorProto.FLOAT, [1, 6, 4, 4])], weights + [mask])
    opsets = [helper.make_opsetid('', 17), helper.make_opsetid('com.microsoft', 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    done = call('run', path, '--engine', 'vernier')
    check(f'we have no kernel: {say(done)}', done.returncode == 1 and 'MaxpoolWithMask' in say(done))
    check('inspect lists nothing', run('inspect', path)['unsupported'] == [])
    report = run('quantize', path, '-o', os.path.join(folder, 'out.onnx'), '--data', data, '--no-verify')['report']
    check('all is measured', {'p', 'y'} <= {row['tensor'] for row in report['tensors']})


def check_maps(folder):
    """What gives no tensor stays as it is: what does not depend on it is computed."""
    path = os.path.join(folder, 'maps.onnx')
    nodes = [helper.make_node('Relu', ['x'], ['r'], 'relu'),
             helper.make_node('ZipMap', ['r'], ['z'], 'zip', domain='ai.onnx.ml', classlabels_int64s=[3, 4, 5])]
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(
        TensorProto.FLOAT, [])))
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [2, 3])],
                              [helper.make_tensor_value_info('r', TensorProto.FLOAT, [2, 3]),
                               helper.make_value_info('z', maps)], [])
    opsets = [helper.make_opsetid('', 17), helper.make_opsetid('ai.onnx.ml', 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    for more in ((), ('--engine', 'onnxruntime')):
        check(f'maps are left out {more}', [each['name'] for each in run('run', path, *more)['outputs']] == ['r'])


# ---- all of a network ----

def check_whole(folder):
    path, data = os.path.join(demo, 'demo.onnx'), os.path.join(demo, 'samples')
    reading = ['--data', data, '--preprocess', 'minus-one-one', '--samples', '24', '--held-out', '8']
    exports, told = {}, {}
    for engine in ('vernier', 'onnxruntime', 'onnxruntime:cpu'):
        exports[engine] = os.path.join(folder, engine.replace(':', '-') + '.onnx')
        told[engine] = run('quantize', path, '-o', exports[engine], *reading, '--no-verify', '--engine', engine)
    scales = {engine: list_scales(export) for engine, export in exports.items()}
    for name, (scale, zero) in scales['vernier'].items():
        other, other_zero = scales['onnxruntime'][name]
        check(f'{name}: {scale} {other}', np.allclose(scale, other, rtol=ROUNDING) and np.abs(zero.astype(int) -
                                                                                             other_zero.astype(int)).max() <= 1)
    check('scales were compared', len(scales['vernier']) > 5)
    with open(exports['onnxruntime'], 'rb') as one, open(exports['onnxruntime:cpu'], 'rb') as other:
        check('the provider is the usual one', one.read() == other.read())
    rows = {engine: {row['tensor']: row['sqnr_db'] for row in each['report']['tensors'] if row.get('sqnr_db') is not None}
            for engine, each in told.items()}
    for name, figure in rows['vernier'].items():
        other = rows['onnxruntime'].get(name, -99)
        check(f'{name}: {figure} {other} dB', abs(figure - other) < 0.5)
    check('figures were compared', len(rows['vernier']) > 5)
    again = os.path.join(folder, 'again.onnx')
    run('quantize', path, '-o', again, *reading, '--no-verify', '--engine', 'onnxruntime', '--threads', '1')
    with open(exports['onnxruntime'], 'rb') as one, open(again, 'rb') as other:
        check('the same bytes with one thread', one.read() == other.read())


with tempfile.TemporaryDirectory() as top:
    network, inputs = check_custom(top)
    check_misbehaving(top, inputs)
    check_options(top, network, inputs)
    check_contrib(top, inputs)
    check_plugin(top)
    check_killed(top, inputs)
    check_maps(top)
    check_whole(top)
print(f'{compared - failed} of {compared} agree')
sys.exit(failed > 0 or compared < 30)
