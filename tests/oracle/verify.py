#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""verify.py CLI SOURCE: `vernier-cli verify` with a Python that has onnxruntime: what it says of an export holds, a file that
ONNX Runtime does not load is told as such, and nothing stays behind in the temporary folder. Where kernels saturate
(oracle.saturates()) an export with 8 bit weights may differ, if it agrees with exact kernels and the reason is told; one with 7
bit weights agrees everywhere."""
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy    # noqa: E402
import onnx    # noqa: E402
import onnx.numpy_helper    # noqa: E402
import onnxruntime    # noqa: E402

CLI, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
DEMO = os.path.join(SOURCE, 'data', 'demo')
faults = []


def expect(good, what):
    print(('ok      ' if good else 'WRONG   ') + what)
    if not good:
        faults.append(what)


def run(folder, *args):
    temp = os.path.join(folder, 'tmp')
    os.makedirs(temp, exist_ok=True)
    done = subprocess.run([CLI, 'verify', *args, '--json', '--python', sys.executable], capture_output=True, text=True,
                          env={**os.environ, 'TMPDIR': temp})
    expect(os.listdir(temp) == [], 'nothing is left in the temporary folder: ' + ' '.join(args[1:])[:60])
    return done.returncode, json.loads(done.stdout)


def has_large_weights(export):
    """Whether weights use more than 7 of their 8 bits, so that two products by them may go beyond 16."""
    weights = [onnx.numpy_helper.to_array(t) for t in onnx.load(export).graph.initializer if t.data_type == onnx.TensorProto.INT8
               and len(t.dims) > 1]
    return any(numpy.abs(w.astype(int)).max() > 64 for w in weights)


def check_export(folder, preset, *settings):
    export, name = os.path.join(folder, preset + ''.join(settings) + '.onnx'), ' '.join([preset, *settings])
    data = ['--data', os.path.join(DEMO, 'samples'), '--preprocess', 'minus-one-one']
    subprocess.run([CLI, 'quantize', os.path.join(DEMO, 'demo.onnx'), '-o', export, *data, '--preset', preset, *settings],
                   check=True,
                   capture_output=True)
    args = [export, '--model', os.path.join(DEMO, 'demo.onnx'), *data, '--samples', '4', '--runs', '5']
    code, said = run(folder, *args)
    expect(code == 0 and said['version'] == said['onnxruntime'] == onnxruntime.__version__ and said['samples'] == 4,
           f'{name}: runs in onnxruntime')
    may = oracle.saturates() and has_large_weights(export) and said.get('integer_share', 1) > 0
    expect(said['saturates'] == may, f"{name}: sums {'may saturate' if said['saturates'] else 'are exact'}")
    expect(0 < said['seconds'] < 10 and 0 < said['float_seconds'] < 10, f'{name}: times')
    expect(len(said['outputs']) > 0, f"{name}: {len(said['outputs'])} outputs")
    if oracle.saturates() and said['agreement'] not in ('same', 'alike') and '--reduce-range' not in settings:
        check_saturated(args, name, said)
        return export
    expect(said['agreement'] in ('same', 'alike'), f"{name}: {said['agreement']}")
    for output in said['outputs']:
        same = float(output['sqnr_db']) >= float(output['our_sqnr_db']) + 10
        expect(said['agrees'] == same or len(said['outputs']) > 1, f"{name}: “agrees” goes by the error of quantizing")
        expect(abs(output['runtime_sqnr_db'] - output['our_sqnr_db']) < 3,
               f"{name}: error {output['runtime_sqnr_db']:.1f} dB there, "
               f"{output['our_sqnr_db']:.1f} here")
    return export


def check_saturated(args, name, said):
    """It differs by default, agrees with exact kernels, and says so in words."""
    worst = min(output['sqnr_db'] for output in said['outputs'])
    expect(said['exact_agrees'] and float(said['exact_sqnr_db']) > worst + 10,
           f"{name}: {worst:.1f} dB, {float(said['exact_sqnr_db']):.1f} dB exactly")
    done = subprocess.run([CLI, 'verify', *args, '--python', sys.executable], capture_output=True, text=True)
    expect(done.returncode == 0 and all(word in done.stdout
                                        for word in ('VNNI', 'saturate', 'reduce-range', 'x64quantprecision')),
           f'{name}: reason and remedy are told')


def check_quantize(folder):
    """`quantize --verify`: what it measured stands in report, JSON and project."""
    report, project = os.path.join(folder, 'report'), os.path.join(folder, 'demo.vernier')
    export = os.path.join(folder, 'verified.onnx')
    done = subprocess.run([CLI, 'quantize', os.path.join(DEMO, 'demo.onnx'), '-o', export, '--data',
                           os.path.join(DEMO, 'samples'), '--preprocess',
                           'minus-one-one', '--exclude', '/blocks/2/*', '--verify', '--python', sys.executable, '--report',
                           report, '--save-project',
                           project, '--json'], check=True, capture_output=True, text=True)
    said = json.loads(done.stdout)['report']['runtime']
    with open(os.path.join(report, 'report.json'), encoding='utf-8') as file:
        expect(json.load(file)['runtime'] == said, 'the report in the folder tells the same')
    expect(said['onnxruntime'] == onnxruntime.__version__ and said['seconds_from'] == said['integer_share_from'] == 'measured',
           'figures are measured')
    expect(abs(said['time_ratio'] - said['seconds'] / said['float_seconds']) < 1e-6, 'the ratio is that of the times')
    runs = os.path.join(folder, 'demo.vernier-runs')
    with open(os.path.join(runs, os.listdir(runs)[0]), encoding='utf-8') as file:
        kept = json.load(file)
    expect(kept['verification']['version'] == onnxruntime.__version__ and kept['verification']['seconds'] == said['seconds'],
           'the run keeps it')
    agrees = len(said['outputs']) > 0 and not warned_of(done.stdout, 'runtime-differs')
    expect(kept['verification'].get('saturates', False) == oracle.saturates(), 'the run keeps whether kernels saturate')
    warned = warned_of(done.stdout, 'runtime-differs')
    if oracle.saturates() and not agrees:
        expect(kept['verification']['exact-agrees'], 'outputs agree with exact kernels')
        expect(len(warned) == 1 and 'saturate' in warned[0]['text'] and 'reduce-range' in warned[0]['remedy'],
               'a note tells reason and remedy')
    else:
        expect(agrees and not warned, 'outputs agree, and no note says otherwise')
    check_kernels(export, folder, said, json.loads(done.stdout)['report']['tensors'])


def warned_of(text, code):
    return [n for n in json.loads(text)['report']['notes'] if n['code'] == code]


# An interpreter that puts a fault into the export before ONNX Runtime sees it: in its temporary folder, as on a machine with
# another version.
SABOTEUR = """#!{python}
import json, os, sys
import numpy, onnx
from onnx import numpy_helper
path = json.load(open(os.path.join(sys.argv[5], 'job.json')))['model']
model = onnx.load(path)
if os.environ['FAULT'] == 'operator':
    model.graph.node[0].op_type = 'NoSuchOperator'
for tensor in model.graph.initializer if os.environ['FAULT'] == 'scale' else []:
    if tensor.name.endswith('_scale'):
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor) * numpy.float32(1.2), tensor.name))
onnx.save(model, path)
os.execv({python!r}, [{python!r}, *sys.argv[1:]])
"""


def quantize(folder, *options, python=sys.executable, cwd=None, **environment):
    """As a user does: nobody asks for ONNX Runtime, but there is one."""
    there = {name: value for name, value in os.environ.items() if name != 'VN_NO_VERIFY'}
    done = subprocess.run([CLI, 'quantize', os.path.join(DEMO, 'demo.onnx'), '-o', os.path.join(folder, 'usual.onnx'), '--data',
                           os.path.join(DEMO, 'samples'), '--preprocess', 'minus-one-one', '--reduce-range', '--json', '--python',
                           python, *options],
                          capture_output=True, text=True, cwd=cwd, env={**there, **environment})
    return done.returncode, json.loads(done.stdout)


def check_usual(folder):
    """Without being asked `quantize` measures, judges by what it measured, and fails where ONNX Runtime does not do what it
    says."""
    code, said = quantize(folder)
    runtime, level = said['report']['runtime'], said['report']['summary']['level']
    expect(code == 0 and 'error' not in said and level == 'good', f'an export that runs: {level}')
    expect(runtime['onnxruntime'] == onnxruntime.__version__ and runtime['seconds_from'] == 'measured',
           'its figures are measured')
    expect('not run' not in said['report']['summary']['verdict'], 'its verdict is that of ONNX Runtime')
    here = said['report']['summary']['sqnr_db']
    code, off = quantize(folder, VN_NO_VERIFY='1')
    expect(code == 0 and off['report']['runtime']['seconds_from'] == 'forecast', 'the environment switches it off')
    saboteur = os.path.join(folder, 'saboteur')
    with open(saboteur, 'w', encoding='utf-8') as file:
        file.write(SABOTEUR.format(python=sys.executable))
    os.chmod(saboteur, 0o755)
    code, said = quantize(folder, python=saboteur, FAULT='operator')
    expect(code == 1 and said['error']['code'] == said['report']['summary']['level'] == 'refused', 'a refused one is a failure')
    expect('NoSuchOperator' in said['error']['message'] and os.path.exists(os.path.join(folder, 'usual.onnx')),
           'which says why, and leaves the file')
    code, said = quantize(folder, python=saboteur, FAULT='scale')
    expect(code == 1 and said['report']['summary']['level'] in ('differs', 'unusable'),
           f"another result is one: {said['report']['summary']['level']}")
    output = said['report']['runtime']['outputs'][0]
    text = said['report']['summary']['text'].replace(chr(160), ' ').replace('−', '-')
    told = re.search(r'In ONNX Runtime, the worst output has an SQNR of (-?[0-9.]+)(?: ± [0-9.]+)? dB', text)
    wanted = here + output['runtime_sqnr_db'] - output['own_sqnr_db']
    expect(told is not None and abs(float(told[1]) - wanted) < 0.06, f'what it keeps there is told, {wanted:.1f} dB: {text[:90]}')


def check_other(folder):
    """Where the runtime of the target is not there, ONNX Runtime takes its place, and that is said; its latency says nothing of
    the target."""
    for preset, missing in (('cpu', False), ('openvino-cpu', True), ('qnn-htp', True)):
        code, said = quantize(folder, '--preset', preset, VN_OPENVINO_PYTHON='', VN_QNN_PYTHON='', XDG_CACHE_HOME=folder)
        notes = [n for n in said['report']['notes'] if n['code'] == 'other-runtime']
        expect(code == 0 and len(notes) == missing, f'{preset}: {[n["text"][:60] for n in notes]}')
        expect(said['report']['runtime']['onnxruntime'] == onnxruntime.__version__, f'{preset} runs in ONNX Runtime')
        expect(not missing or not [n for n in said['report']['notes'] if n['code'] == 'slower-than-float'],
               f'{preset}: nothing is said of latency there')


def check_figure(folder):
    """Where outputs are alike but not the same, the verdict tells ONNX Runtime's figure: that of all samples, computed there
    alone."""
    export = os.path.join(folder, 'usual.onnx')
    _, said = quantize(folder, '--preset', 'xquant', '--held-out', '32')
    summary = said['report']['summary']
    _, all_ = run(folder, export, '--model', os.path.join(DEMO, 'demo.onnx'), '--data', os.path.join(DEMO, 'samples'),
                  '--preprocess', 'minus-one-one',
                  '--samples', '64', '--runs', '1')
    there = min(output['runtime_sqnr_db'] for output in all_['outputs'])
    told = re.search(r'SQNR of (-?[0-9.]+)(?: ± [0-9.]+)? dB', summary['text'].replace(chr(160), ' '))
    expect(told is not None and abs(float(told[1]) - there) < 1, f'{there:.2f} dB in ONNX Runtime: {told and told[0]}')


def check_parts(folder):
    """Boxes in pixels beside scores: figures are those of the scores, which one scale for both makes zeros of, and the part is
    named."""
    rng = numpy.random.default_rng(5)
    tensors = {'w': rng.normal(size=(12, 3, 3, 3)) / 4,
               'factors': numpy.r_[numpy.full(4, 60.0), numpy.full(8, 0.02)].reshape(1, 12, 1, 1)}
    nodes = [onnx.helper.make_node('Conv', ['x', 'w'], ['c'], pads=[1, 1, 1, 1]),
             onnx.helper.make_node('Mul', ['c', 'factors'], ['y'])]
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, n, 8, 8]) for name, n in (('x', 3), ('y', 12))]
    graph = onnx.helper.make_graph(nodes, 'g', values[:1], values[1:],
                                   [onnx.numpy_helper.from_array(value.astype(numpy.float32), name) for name,
                                    value in tensors.items()])
    source, export, samples = (os.path.join(folder, name) for name in ('parts.onnx', 'parts-8.onnx', 'parts'))
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', 17)], ir_version=8), source)
    os.mkdir(samples)
    inputs = [rng.normal(size=(1, 3, 8, 8)).astype(numpy.float32) for _ in range(6)]
    for i, value in enumerate(inputs):
        numpy.save(os.path.join(samples, f'{i}.npy'), value)
    subprocess.run([CLI, 'quantize', source, '-o', export, '--data', samples, '--reduce-range', '--float-mixed=false',
                    '--no-verify'], check=True,
                   capture_output=True)
    wanted, got = (numpy.concatenate([oracle.open_session(path).run(None, {'x': x})[0] for x in inputs])
                   for path in (source, export))
    whole, scores = (10 * math.log10(numpy.sum(f ** 2.0) / numpy.sum((q - f) ** 2.0)) for f,
                     q in ((wanted, got), (wanted[:, 4:], got[:, 4:])))
    _, said = run(folder, export, '--model', source, '--data', samples, '--samples', '6', '--runs', '1')
    output = said['outputs'][0]
    expect(scores < whole - 15 and abs(output['runtime_sqnr_db'] - scores) < 0.01,
           f"{scores:.2f} dB of the scores, {whole:.1f} of both: "
           f"{output['runtime_sqnr_db']:.2f}")
    expect(output.get('part', {}).get('slices') == '4-11' and output['part']['axis'] == 1,
           f"the part is named: {output.get('part')}")
    _, alone = run(folder, source, '--data', samples, '--samples', '6', '--runs', '1')
    expect(alone['outputs'][0].get('part', {}).get('slices') in ('0-3', '4-11'),
           'without the float network the outputs of the file tell the parts')
    done = subprocess.run([CLI, 'evaluate', source, export, '--data', samples, '--json'], check=True, capture_output=True,
                          text=True)
    row = json.loads(done.stdout)['models'][1]
    expect(abs(row['sqnr_db'] - output['our_sqnr_db']) < 0.01 and row['outputs'][0]['part']['slices'] == '4-11',
           f"evaluate tells the same, {row['sqnr_db']:.2f} dB")


def check_planted(folder):
    """Modules that lie about in the working folder are not what is imported."""
    planted = os.path.join(folder, 'planted')
    os.mkdir(planted)
    for name in ('numpy', 'onnxruntime', 'json'):
        with open(os.path.join(planted, name + '.py'), 'w', encoding='utf-8') as file:
            file.write(f'open({os.path.join(planted, "ran")!r}, "w")')
    code, said = quantize(folder, cwd=planted)
    expect(code == 0 and said['report']['runtime']['seconds_from'] == 'measured'
           and not os.path.exists(os.path.join(planted, 'ran')),
           'files in the working folder are not run')


def check_kernels(export, folder, said, tensors):
    """The kernels that are told are those of the graph that ONNX Runtime writes."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = os.path.join(folder, 'optimized.onnx')
    options.log_severity_level = 4
    onnxruntime.InferenceSession(export, options, providers=['CPUExecutionProvider'])
    made = [n for n in onnx.load(options.optimized_model_filepath).graph.node
            if n.op_type in ('QLinearConv', 'QGemm', 'Conv', 'FusedConv')]
    integer = {get_layer(n.name) for n in made if n.op_type.startswith('Q')}
    floats = {get_layer(n.name.removeprefix('fused ')) for n in made if not n.op_type.startswith('Q')}
    macs = count_macs(os.path.join(DEMO, 'demo.onnx'))
    expect(floats and integer and set(macs) == floats | integer, f'{len(floats)} of {len(macs)} nodes with weights are float')
    share = sum(macs[n] for n in integer) / sum(macs.values())
    expect(abs(said['integer_share'] - share) < 0.01,
           f"{said['integer_share']:.4f} of the multiplications on integers, {share:.4f} by its graph")
    told = {get_layer(t['node']): t['runtime'] for t in tensors if t['type'] in ('Conv', 'Clip', 'Gemm')
            and t['runtime'] != 'absorbed'}
    wrong = [n for n, kind in told.items() if (kind == 'float') != (n in floats)]
    expect(len(told) > 15 and set(told) & floats and not wrong, f'{len(told)} kernels are those that were chosen: {wrong}')


def get_layer(name):
    """“/blocks/2/expand” of “/blocks/2/expand/Conv_token_5” and of “/blocks/2/expand/act/Clip_output_0_nchwc”."""
    return re.split(r'/(?:Conv|Gemm|act|bn)(?:[/_]|$)', name)[0]


def count_macs(path):
    """Of each Conv and Gemm, by layer."""
    graph = onnx.shape_inference.infer_shapes(onnx.load(path)).graph
    weights = {i.name: list(i.dims) for i in graph.initializer}
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in [*graph.value_info, *graph.output]}
    found = {}
    for node in graph.node:
        if node.op_type in ('Conv', 'Gemm'):
            places = shapes[node.output[0]][2:] if node.op_type == 'Conv' else []
            found[get_layer(node.name)] = math.prod(weights[node.input[1]]) * math.prod(places)
    return found


def check_library(folder, export):
    """libonnxruntime itself, as the Python package carries it: the same outputs and kernels as in Python."""
    found = sorted(glob.glob(os.path.join(os.path.dirname(onnxruntime.__file__), 'capi', 'libonnxruntime.so*')))
    if not found:
        print('skipped: the package has no libonnxruntime.so')
        return
    args = [export, '--model', os.path.join(DEMO, 'demo.onnx'), '--data', os.path.join(DEMO, 'samples'), '--preprocess',
            'minus-one-one', '--samples',
            '4', '--runs', '5']
    _, python = run(folder, *args)
    done = subprocess.run([CLI, 'verify', *args, '--json'], capture_output=True, text=True,
                          env={**os.environ, 'VN_ORT_LIBRARY': found[0]})
    said = json.loads(done.stdout)
    expect(done.returncode == 0 and said['onnxruntime'] == onnxruntime.__version__,
           'libonnxruntime runs it: ' + os.path.basename(found[0]))
    expect([o['sqnr_db'] for o in said['outputs']] == [o['sqnr_db'] for o in python['outputs']] and len(said['outputs']) > 0,
           'with the same outputs')
    expect(said['integer_share'] == python['integer_share'], 'and the same kernels')
    for key in ('agrees', 'saturates', 'exact_agrees', 'exact_sqnr_db'):
        expect(said.get(key) == python.get(key), f'and the same “{key}”: {said.get(key)}')
    expect(said['agreement'] != 'other' or said['exact_agrees'], 'and agrees')
    expect(0 < said['seconds'] < 10 and 0 < said['float_seconds'] < 10,
           f"{said['seconds'] / said['float_seconds']:.2f} times float, in Python "
           f"{python['seconds'] / python['float_seconds']:.2f}")
    broken = os.path.join(folder, 'broken-again.onnx')
    model = onnx.load(export)
    model.graph.node[0].op_type = 'Nothing'
    model.graph.node[0].domain = 'no.such'
    onnx.save(model, broken)
    done = subprocess.run([CLI, 'verify', export, '--model', broken, '--runs', '1', '--json'], capture_output=True, text=True,
                          env={**os.environ, 'VN_ORT_LIBRARY': found[0]})
    expect(done.returncode == 1 and 'float model' in done.stdout, 'a float network that does not load is told')


def check_left_out(folder, export):
    """A sample that cannot be read is left out, and the others are compared as they are without it."""
    args = [export, '--model', os.path.join(DEMO, 'demo.onnx'), '--preprocess', 'minus-one-one', '--samples', '4', '--runs', '1',
            '--data']
    outputs = []
    for name in ('whole', 'broken'):
        data = os.path.join(folder, name)
        os.makedirs(data)
        for i in range(3):
            shape = sorted(os.listdir(os.path.join(DEMO, 'samples')))[i]
            pictures = os.path.join(DEMO, 'samples', shape)
            shutil.copy(os.path.join(pictures, sorted(os.listdir(pictures))[0]), os.path.join(data, f'{2 * i}.png'))
        if name == 'broken':
            with open(os.path.join(data, '1.png'), 'w') as file:
                file.write('nothing')
        code, said = run(folder, *args, data)
        expect(code == 0 and said['samples'] == 3, f"{name}: {said.get('samples')} samples are compared")
        outputs.append(said.get('outputs'))
    expect(outputs[0] and outputs[0] == outputs[1], 'a sample that is left out changes no figure')
    expect([n['subject'] for n in said.get('notes', []) if n['code'] == 'sample-unreadable'] == ['1.png'], 'and is named')


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_quantize(folder)
        check_usual(folder)
        check_other(folder)
        check_figure(folder)
        check_parts(folder)
        check_planted(folder)
        check_export(folder, 'cpu', '--reduce-range')
        for preset in ('cpu', 'qlinear'):
            export = check_export(folder, preset)
            check_library(folder, export)
        check_left_out(folder, export)
        model = onnx.load(export)
        model.graph.node[0].op_type = 'NoSuchOperator'
        broken = os.path.join(folder, 'broken.onnx')
        onnx.save(model, broken)
        code, said = run(folder, broken, '--runs', '1')
        expect(code == 1 and 'error' in said, 'an operator that nobody has: ' + said.get('error', {}).get('message', '')[:80])
        code, said = run(folder, export, '--model', broken, '--runs', '1')
        expect(code == 1 and 'float model' in said.get('error', {}).get('message', ''),
               'a float network that does not load is told')
    print(len(faults), 'faults')
    sys.exit(bool(faults))


if __name__ == '__main__':
    main()
