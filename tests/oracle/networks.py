#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""networks.py ENGINE_RUN [--first] [--all | NAME...]

Runs every small network below $VN_SHARED/models, or all, with the engine and with onnxruntime on the same inputs (real
photographs where the input is a picture; two sizes where sizes are open) and compares all outputs. One that is not listed must be
computed as onnxruntime does. Exit 0, 1 (a difference, or nothing compared), 77.
With --first: prints the values inside the network that differ, in the order they are computed.
"""
import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

# Networks that fail for now, with the reason. One that passes must leave.
EXPECTED_FAILURES = {'ml_rf_iris': 'ZipMap makes maps, which are not computed'}
# Networks onnxruntime does not run either. One that it runs, or that is not there, must leave.
NOT_RUN = {
    'broken/deeploy_mlperf_resnet8_requantshift': 'has an operator that nobody defines',
    'broken/mnist_cntk_op1': 'its opset is 1',
    'broken/noisy_relu_customop': 'has an operator that nobody defines',
    'broken/qonnx_espcn_brevitas_quant': 'has operators of another domain',
    'broken/superres_ortext_prepost': 'has operators of another domain',
}
# Relative to the range of the output; or twice what onnxruntime's own results differ by when its optimisations are
# switched on, if that is more: some networks amplify the rounding of their first layers. Networks that hold quantized
# data may round a value that lies between two steps to either side, which the following layers carry on.
LIMIT = 1e-4
LIMIT_HALF = 2e-2
LIMIT_QUANTIZED = 3e-2
SMALLEST_RANGE = 1e-3
N_IMAGES = 2


def find_networks(folder, names):
    """All of them: stem (with the folder below) and path."""
    found = {}
    for path in glob.glob(os.path.join(folder, '**', '*.onnx'), recursive=True):
        parent, stem = os.path.relpath(os.path.dirname(path), folder), os.path.basename(path)[:-5]
        stem = stem if parent == '.' else os.path.join(parent, stem)
        if not names or stem in names:
            found[stem] = path
    return sorted(found.items())


def get_limit(path):
    import onnx
    model = onnx.load(path, load_external_data=False)
    types = {n.op_type for n in model.graph.node}
    if any(t.startswith('QLinear') or t == 'QuantizeLinear' for t in types):
        return LIMIT_QUANTIZED
    halves = any(w.data_type == onnx.TensorProto.FLOAT16 for w in model.graph.initializer)
    return LIMIT_HALF if halves else LIMIT


def has_open_sizes(session):
    return any(not isinstance(d, int) or d < 1 for value in session.get_inputs() for d in value.shape)


def make_inputs(stem, session, photo, seed, other=False):
    inputs = {}
    for i, value in enumerate(session.get_inputs()):
        shape = oracle.input_shape(stem, value.shape, other, value.name)
        if value.type in ('tensor(float)', 'tensor(float16)') and oracle.is_image(shape):
            inputs[value.name] = oracle.image_input(stem, photo, shape)
            if value.type == 'tensor(float16)':
                inputs[value.name] = inputs[value.name].astype('float16')
        elif value.type == 'tensor(float)':
            inputs[value.name] = oracle.signal_input(stem, seed + i, shape, 'float32')
        else:
            inputs[value.name] = oracle.whole_input(stem, value.name, seed + i, shape, value.type[7:-1], other)
    return inputs


def run_engine(program, path, inputs, *arguments):
    import numpy as np
    with tempfile.TemporaryDirectory() as work:
        files = []
        for i, x in enumerate(inputs.values()):
            files.append(os.path.join(work, 'input%d.npy' % i))
            np.save(files[-1], x)
        out = os.path.join(work, 'out')
        os.mkdir(out)
        done = subprocess.run([program, '--out', out, *arguments, path] + files, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or 'exit code %d' % done.returncode)
        return {os.path.basename(f)[:-4]: np.load(f) for f in glob.glob(os.path.join(out, '*.npy'))}


def difference(found, wanted):
    """Largest difference relative to the range of the reference; infinite if types or shapes differ."""
    import numpy as np
    if found is None or found.shape != wanted.shape or found.dtype != wanted.dtype:
        return float('inf')
    if wanted.size == 0:
        return 0.0
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return float('inf')
    b_finite = b[np.isfinite(b)]
    span = max(b_finite.max() - b_finite.min(), abs(b_finite).max() * 1e-3, SMALLEST_RANGE) if b_finite.size else 1
    return float(np.max(np.abs(np.where(np.isfinite(b), a - b, 0))) / span)


def make_session(model, optimised):
    import onnxruntime
    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    return oracle.open_session(model, options)


def compare(program, stem, path, photos):
    """The output that differs most beside what is allowed: (difference, limit, name), and the number of outputs."""
    session, optimised = make_session(path, False), make_session(path, True)
    names = [o.name for o in session.get_outputs() if o.type.startswith('tensor')]
    smallest, results = get_limit(path), []
    for k, photo in enumerate(photos):
        inputs = make_inputs(stem, session, photo, k, k > 0 and has_open_sizes(session))
        wanted, own = session.run(names, inputs), optimised.run(names, inputs)
        found = run_engine(program, path, inputs)
        for name, w, o in zip(names, wanted, own):
            d = difference(found.get(name.replace('/', '_').replace(':', '_')), w)
            results.append((d, max(smallest, 2 * difference(o, w)), name))
    return max(results, key=lambda r: r[0] / r[1]), len(results)


def print_first(program, stem, path, photo):
    """For who looks for the cause of a difference."""
    import onnx
    model = onnx.load(path)
    known = {o.name for o in model.graph.output}
    nodes = {name: node for node in model.graph.node for name in node.output if name}
    for name in nodes:
        if name not in known and nodes[name].op_type != 'Constant':
            model.graph.output.append(onnx.ValueInfoProto(name=name))
    session = make_session(model.SerializeToString(), False)
    inputs = make_inputs(stem, session, photo, 0)
    names = [o.name for o in session.get_outputs()]
    wanted = dict(zip(names, session.run(names, inputs)))
    found = run_engine(program, path, inputs, '--all', '--no-fusion')
    for name, node in nodes.items():
        value = found.get(name.replace('/', '_').replace(':', '_'))
        if value is not None and name in wanted:
            d = difference(value, wanted[name])
            if d > LIMIT / 10:
                print('  %-18s %-40s %.2e %s' % (node.op_type, name[-40:], d, value.shape))


def runs(path):
    try:
        return make_session(path, False) is not None
    except Exception:
        return False


def judge(program, stem, path, photos):
    """Whether something is wrong, what to say, and the number of outputs compared."""
    if not runs(path):
        reason = NOT_RUN.get(stem)
        return reason is None, 'onnxruntime does not run it: %s' % (reason or 'list it with the reason'), 0
    try:
        (worst, limit, where), n = compare(program, stem, path, photos)
        fault = worst > limit
        text = '%3d outputs, largest difference %.2e of the range, allowed %.2e (%s)' % (n, worst, limit, where)
    except Exception as e:
        fault, n, text = True, 0, str(e).strip().splitlines()[0][:300]
    reason = EXPECTED_FAILURES.get(stem)
    if reason is not None:
        text = 'fails as expected (%s): %s' % (reason, text) if fault else 'passes, but is listed'
    return fault != (reason is not None) or stem in NOT_RUN, text, n


def main():
    oracle.use_oracle_python()
    folder = oracle.shared_folder()
    program, names = sys.argv[1], [n for n in sys.argv[2:] if not n.startswith('--')]
    photos = oracle.photographs(folder)[:N_IMAGES]
    there = find_networks(os.path.join(folder, 'models'), names)
    networks = there if names else [(stem, path) for stem, path in there if oracle.choose_networks([path])]
    if '--first' in sys.argv:
        for stem, path in networks:
            print(stem)
            print_first(program, stem, path, photos[0])
        return 0
    compared = failed = 0
    for stem, path in networks:
        bad, text, n = judge(program, stem, path, photos)
        compared += n
        failed += bad
        print('%-42s %s%s' % (stem, 'FAILED: ' if bad else '', text), flush=True)
    for stem in sorted({*EXPECTED_FAILURES, *NOT_RUN} - {stem for stem, _ in there}) if not names else []:
        failed += 1
        print('%-42s FAILED: listed, but there is no such network' % stem)
    print('%d networks, %d outputs compared, %d networks failed' % (len(networks), compared, failed))
    return 1 if failed or not compared else 0


if __name__ == '__main__':
    sys.exit(main())
