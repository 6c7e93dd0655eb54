#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""quantize.py QUANTIZE_RUN [--samples N] [--prepared-by-peer] [--all] [MODEL...]: our plan and QDQ export against
onnxruntime.quantization.

Both get the same prepared model and samples. With the ranges the peer observed, every scale, zero point and stored integer
must be equal, and the same tensors must be quantized. With ranges of our own engine, scales may differ by rounding. Both
exports must pass the checker, load in onnxruntime, and lose as much against the float model as the peer's, to 0.5 dB. --all takes
more networks.
"""
import os
import subprocess
import sys
import tempfile

import oracle

MODELS = ['det_ultraface_rfb320', 'det_nanodet_m_320', 'cls_mobilenetv2_035_128_flowers', 'mnist_rten_op18']
MORE_MODELS = ['cls_squeezenet10_fp32_from_fp16', 'det_yolox_nano_416', 'det_picodet_xs_416_op10', 'seg_deeplab_dm05_513_op8',
               'sr_espcn_bsd300_rgb']
SETTINGS = [  # our options, the peer's arguments
    ('tensor', [], {}),
    ('channel', ['--per-channel'], {'per_channel': True}),
]
QOPERATOR = [('qop', ['--set', 'format=qoperator'], {'format': 'QOperator'}),
             ('qop.channel', ['--set', 'format=qoperator', '--per-channel'], {'format': 'QOperator', 'per_channel': True})]
MORE_SETTINGS = [   # on one small network
    ('symmetric', ['--symmetric'], {'extra_options': {'ActivationSymmetric': True}}),
    ('reduced', ['--reduce-range'], {'reduce_range': True}),
    ('s8', ['--preset', 'cpu-s8', '--per-channel'], {'activation': 'QInt8', 'per_channel': True}),
    # clamps stay in front of 16 bits in any case; where all stay, both tools give each of their tensors a grid of its own
    ('a16w8', ['--preset', 'a16w8', '--per-channel', '--set', 'keep-clamps=true'],
     {'activation': 'QUInt16', 'per_channel': True, 'extra_options': {'QDQKeepRemovableActivations': True}}),
    ('w16', ['--weight', 'int16'], {'weight': 'QInt16'}),
    ('w4', ['--weight', 'int4', '--per-channel'], {'weight': 'QInt4', 'per_channel': True}),
    ('min.range', ['--set', 'minimum-real-range=0.7'], {'extra_options': {'MinimumRealRange': 0.7}}),
    ('average', ['--set', 'method=average'], {'extra_options': {'CalibMovingAverage': True}}),
    ('u8u8', ['--weight', 'uint8', '--asymmetric-weights'], {'weight': 'QUInt8'}),
]
NAMED_SETTINGS = [  # the peer knows nodes by name only
    ('exclude', ['--exclude', 'type:Concat'], {'exclude_type': 'Concat'}),
    ('excl.conv', ['--exclude', 'type:Conv'], {'exclude_type': 'Conv'}),
]
EXTRA = {'det_ultraface_rfb320': MORE_SETTINGS, 'mnist_rten_op18': MORE_SETTINGS, 'det_nanodet_m_320': NAMED_SETTINGS}
SQNR_TOLERANCE = 0.5
SCALE_TOLERANCE = 2e-4


def prepare_by_peer(path, folder):
    """The peer's own preparation, at opset 13 or above."""
    import onnx
    from onnx import version_converter
    from onnxruntime.quantization.shape_inference import quant_pre_process

    model = onnx.load(path)
    names = {i.name for i in model.graph.initializer}
    for value in [i for i in model.graph.input if i.name in names]:
        model.graph.input.remove(value)
    model.ir_version = max(model.ir_version, 8)
    if next(o.version for o in model.opset_import if o.domain in ('', 'ai.onnx')) < 13:
        model = version_converter.convert_version(model, 13)
    prepared = os.path.join(folder, 'prepared.onnx')
    onnx.save(model, prepared)
    quant_pre_process(prepared, prepared, skip_symbolic_shape=True)
    return prepared


def prepare(program, path, folder):
    """Our preparation, at opset 13 or above."""
    prepared = os.path.join(folder, 'prepared.onnx')
    run = subprocess.run([program, '--prepare', '13', path, prepared], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr)
    return prepared


def peer_quantize(prepared, result, samples, name, options):
    """The peer's model, and the ranges it observed: name -> (minimum, maximum)."""
    import onnx
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.onnx_quantizer import ONNXQuantizer
    from onnxruntime.quantization.qdq_quantizer import QDQQuantizer

    ranges = {}

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.samples = iter(samples)

        def get_next(self):
            x = next(self.samples, None)
            return None if x is None else {name: x}

    def watch(kind, position):
        original = kind.__init__

        def spy(self, *args, **named):
            for key, value in args[position].items():
                ranges[key] = tuple(float(v.item()) for v in value.range_value)
            original(self, *args, **named)

        kind.__init__ = spy
        return original

    options = dict(options)
    excluded = options.pop('exclude_type', None)
    exclude = [n.name for n in onnx.load(prepared).graph.node if n.op_type == excluded]
    assert excluded is None or (exclude and '' not in exclude), 'the peer needs names to exclude'
    form = QuantFormat[options.pop('format', 'QDQ')]
    kind, position = (QDQQuantizer, 5) if form == QuantFormat.QDQ else (ONNXQuantizer, 7)
    original = watch(kind, position)
    try:
        quantize_static(prepared, result, Reader(), quant_format=form, nodes_to_exclude=exclude,
                        activation_type=getattr(QuantType, options.pop('activation', 'QUInt8')),
                        weight_type=getattr(QuantType, options.pop('weight', 'QInt8')), **options)
    finally:
        kind.__init__ = original
    return ranges


def constants(path):
    import onnx
    from onnx import numpy_helper

    model = onnx.load(path)
    return {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}


def conversions(path):
    """Names of all tensors that go through DequantizeLinear."""
    import onnx

    return {n.name[:-len('_DequantizeLinear')] for n in onnx.load(path).graph.node if n.op_type == 'DequantizeLinear'}


def operators(path):
    """How many nodes of each operator that computes on integers."""
    import collections

    import onnx

    return collections.Counter(n.op_type for n in onnx.load(path).graph.node if n.op_type.startswith(('QLinear', 'QGemm')))


def clamped(prepared):
    """Name before a Relu or Clip -> name behind it: the peer calls the grid of the two by the first, we by the second."""
    import onnx

    return {n.input[0]: n.output[0] for n in onnx.load(prepared).graph.node if n.op_type in ('Relu', 'Clip')}


def compare_exact(ours, theirs, integers, prepared):
    """Lines about what differs though the ranges were the same."""
    import numpy as np

    wrong = []
    if integers:
        a, b = operators(ours), operators(theirs)
        wrong += ['%s: %d, theirs %d' % (k, a[k], b[k]) for k in sorted(set(a) | set(b)) if a[k] != b[k]]
    else:
        a, b = conversions(ours), conversions(theirs)
        wrong += ['only ours: ' + n for n in sorted(a - b)] + ['only theirs: ' + n for n in sorted(b - a)]
    a, b = constants(ours), constants(theirs)
    compared = 0
    behind = clamped(prepared) if integers else {}
    for name in sorted(b):
        if not name.endswith(('_scale', '_zero_point', '_quantized')):
            continue
        stem = name[:-len('_zero_point')] if name.endswith('_zero_point') else name.rpartition('_')[0]
        if name not in a and stem in behind:
            a[name] = a.get(behind[stem] + name[len(stem):])
        if a.get(name) is None:
            wrong.append('missing: ' + name)
            continue
        x, y = a[name].reshape(-1), b[name].reshape(-1)
        compared += 1
        if x.dtype != y.dtype or x.shape != y.shape or not np.array_equal(x, y):
            wrong.append('%s: %s %s, theirs %s %s' % (name, x.dtype, x[:4], y.dtype, y[:4]))
    if compared == 0:
        wrong.append('nothing was compared')
    return wrong, compared


def compare_scales(ours, theirs):
    """Largest relative difference of a scale, and how many zero points differ."""
    import numpy as np

    a, b = constants(ours), constants(theirs)
    worst, zeros = 0.0, 0
    for name in b:
        if name.endswith('_scale') and name in a:
            worst = max(worst, float(np.max(np.abs(a[name].reshape(-1) / b[name].reshape(-1) - 1))))
        elif name.endswith('_zero_point') and name in a:
            zeros += int(not np.array_equal(a[name].reshape(-1), b[name].reshape(-1)))
    return worst, zeros


def sqnr(reference, path, samples, name):
    """Per output: 10 log10 (signal power / noise power) over all samples."""
    import numpy as np

    session = oracle.open_session(path)
    signal, noise = {}, {}
    for x, expected in zip(samples, reference):
        for output, a, b in zip(session.get_outputs(), expected, session.run(None, {name: x})):
            if not np.issubdtype(a.dtype, np.floating):
                continue
            a, b = a.astype(np.float64), b.astype(np.float64)
            signal[output.name] = signal.get(output.name, 0) + (a ** 2).sum()
            noise[output.name] = noise.get(output.name, 0) + ((a - b) ** 2).sum()
    return {k: 10 * np.log10(signal[k] / max(noise[k], 1e-30)) for k in signal}


def write_ranges(ranges, path):
    with open(path, 'w') as f:
        for name, (low, high) in ranges.items():
            f.write('%s\t%s\t%s\n' % (name, low.hex(), high.hex()))


def quantize(program, options, model, folder, label):
    """Our export; also checked."""
    import onnx

    result = os.path.join(folder, label + '.onnx')
    run = subprocess.run([program, *options, model, result, os.path.join(folder, label + '.json')],
                         capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    onnx.checker.check_model(result, full_check=True)
    return result


def check_sqnr(path, reference, held, name, expected, wrong, may_be_better=False):
    """Where outputs are all noise, the last bit of a scale moves them by tenths of a dB: either way."""
    got = sqnr(reference, path, held, name)
    for output in expected:
        difference = got[output] - expected[output]
        if not (difference >= -SQNR_TOLERANCE and (may_be_better or difference <= SQNR_TOLERANCE)):
            wrong.append('%s of %s: %.2f dB, theirs %.2f' % (output, os.path.basename(path), got[output], expected[output]))
    return got


def compare(program, stem, setting, prepared, folder, calibration, reference, held, name):
    label, ours, theirs = setting
    peer = os.path.join(folder, 'peer.onnx')
    ranges = peer_quantize(prepared, peer, calibration, name, theirs)
    write_ranges(ranges, os.path.join(folder, 'ranges.txt'))
    exact = quantize(program, ours + ['--ranges', os.path.join(folder, 'ranges.txt')], prepared, folder, 'exact')
    wrong, compared = compare_exact(exact, peer, 'format' in theirs, prepared)

    expected = sqnr(reference, peer, held, name)
    worst = min(expected, key=expected.get)
    got = check_sqnr(exact, reference, held, name, expected, wrong, may_be_better='format' in theirs)
    print('%-34s %-9s given ranges: %4d constants equal, %3d findings; %.2f dB, peer %.2f'
          % (stem, label, compared, len(wrong), got[worst], expected[worst]))

    try:
        own = quantize(program, ours + ['--data', os.path.join(folder, 'npy')], prepared, folder, 'own')
        scale, zeros = compare_scales(own, peer)
        if scale > SCALE_TOLERANCE:
            wrong.append('scales of our own calibration differ by %g' % scale)
        got = check_sqnr(own, reference, held, name, expected, wrong, may_be_better=True)
        print('%-44s own ranges: scales to %.1e, %d zero points differ; %.2f dB' % ('', scale, zeros, got[worst]))
    except RuntimeError as e:
        wrong.append(str(e))
    for line in wrong[:12]:
        print('    ' + line)
    return not wrong


def compare_defaults(program):
    """Which operators take part unasked: by our traits, and by the peer's registries."""
    from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry

    lines = subprocess.run([program, '--operators'], capture_output=True, text=True, check=True).stdout.split('\n')
    known = {l.split()[0]: l.split()[1] for l in lines if l}
    theirs = set(QDQRegistry) | set(QLinearOpsRegistry)
    wrong = ['%s is quantized by default, not so by the peer' % o for o in known if known[o] == '1' and o not in theirs]
    wrong += ['%s is not quantized by default, but is by the peer' % o for o in known if known[o] == '0' and o in theirs]
    print('operators: %d known, %d of the peer unknown here, %d findings' % (len(known), len(theirs - set(known)), len(wrong)))
    for line in wrong + ['    unknown: ' + o for o in sorted(theirs - set(known))]:
        print('    ' + line)
    return not wrong and len(known) > 0


def test_model(program, shared, stem, settings, n, by_peer):
    import numpy as np

    path = os.path.join(shared, 'models', stem + '.onnx')
    if not os.path.exists(path):
        print(stem, 'is not there')
        return 0, 1
    with tempfile.TemporaryDirectory() as folder:
        try:
            prepared = prepare_by_peer(path, folder) if by_peer else prepare(program, path, folder)
        except Exception as e:
            print('%-34s cannot be prepared: %s' % (stem, str(e).strip().splitlines()[0][:120]))
            return 0, 0 if by_peer else 1
        session = oracle.open_session(prepared)
        given = session.get_inputs()[0]
        shape = oracle.input_shape(stem, given.shape)
        samples = [oracle.image_input(stem, p, shape) for p in oracle.photographs(shared)[:2 * n]]
        assert len(samples) == 2 * n, len(samples)
        os.mkdir(os.path.join(folder, 'npy'))
        for i, x in enumerate(samples[:n]):
            np.save(os.path.join(folder, 'npy', '%04d.npy' % i), x)
        reference = [session.run(None, {given.name: x}) for x in samples[n:]]
        good = 0
        for setting in settings:
            try:
                good += compare(program, stem, setting, prepared, folder, samples[:n], reference, samples[n:], given.name)
            except Exception as e:
                print('%-34s %-9s FAILED: %s' % (stem, setting[0], str(e).strip().splitlines()[-1][:300]))
        return good, len(settings)


def main():
    oracle.use_oracle_python()
    shared = oracle.shared_folder()
    program, args = sys.argv[1], sys.argv[2:]
    n = 8
    if args and args[0] == '--samples':
        n, args = int(args[1]), args[2:]
    by_peer = args[:1] == ['--prepared-by-peer']
    args = args[by_peer:]
    if args[:1] == ['--all']:
        args = MODELS + MORE_MODELS
    import logging
    logging.disable(logging.WARNING)

    good, total = int(compare_defaults(program)), 1
    for stem in args or MODELS:
        settings = SETTINGS + QOPERATOR + EXTRA.get(stem, [])
        g, t = test_model(program, shared, stem, settings, n, by_peer)
        good, total = good + g, total + t
    print('%d of %d equal' % (good, total))
    sys.exit(0 if total > 0 and good == total else 1)


if __name__ == '__main__':
    main()
