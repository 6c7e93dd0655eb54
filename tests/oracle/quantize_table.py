#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""quantize_table.py VERNIER_CLI [--all] [--write PAGE] [MODEL...]: real networks with the settings everybody uses, against
onnxruntime.quantization: MinMax and Percentile, per tensor and per channel, QDQ and QOperator, and dynamic.

Both get the same samples and the same network, as `vernier-cli prepare` leaves it: at opset 13, a bias of its own for each node
(the peer writes invalid files where a bias is data as well), static sizes, and what the peer fails on in the original put right;
that the original works here is checked separately.

- With the peer's calibration cache as given ranges, every scale, zero point and stored integer is equal, bit for bit.
- With our own calibration, MinMax gives scales that differ by 1e-6 at most, or by twice what the peer's do when onnxruntime
  optimises the network it observes: float sums in another order, theirs and ours. Zero points are equal.
- Percentile gives ends within one bin of our histogram (1/128 of the value) and one of the peer's (1/2048 of the range).
- dynamic has no ranges: all constants are equal, but those of ConvInteger per channel, where the peer has one scale for each
  tensor; there our error may be larger by chance, by 1.5 dB at most.
- Each output of onnxruntime on our export has an SQNR against the float network that is at most 0.3 dB below the same figure for
  the peer's export: as the files are written, and optimised, where pairs become integer kernels. Per output, all held-out samples
  together. A step of 8 bit that falls to the other side spreads in small networks, so these get many samples. Where Percentile
  is further below, the peer is asked how much a bin is worth: its ranges are moved by up to one bin of ours, eight times, and
  our figure must not be 0.3 dB below the median of theirs.
"""
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle
import quantize
import quantize_dynamic
from end_to_end import session, sqnr
from presets import save
from samples import Source

MODELS = ['cls_mobilenetv2_035_128_flowers', 'cls_cifar10_winml_cnn', 'mnist_cntk_op8', 'vit_cct2_32_op20', 'aud_dtln_1_lstm',
          'kws_micro_fp32']
# Scores with a mask of -10000 are in float here, and the peer quantizes them: bert_toy would differ by 14 constants.
TABLE_MODELS = ['det_ultraface_rfb320', 'mnist_rten_op18', 'txt_tashkeel_transformer_fp32', 'aud_yamnet256_st']
MORE_MODELS = ['det_nanodet_m_320', 'sr_espcn_bsd300_rgb', 'sr_espcn_x3_op10', 'cls_squeezenet10_fp32_from_fp16',
               'det_picodet_xs_416_op10',
               'det_picodet_s_320_constnodes', 'det_yolox_nano_416', 'det_openseeface_mnv3', 'seg_deeplab_dm05_513_op8',
               'det_yunet_n_dynamic', 'mnist_burn']
# The peer raises an error on these, prepared or not: settings (all words must be there), and what it says.
PEER_FAILS = {
    'txt_tashkeel_transformer_fp32': [(('qoperator',), 'unknown initializers'), (('percentile',), 'Too many bins')],
    'mnist_cntk_op8': [(('channel', 'minmax'), 'truth value'), (('channel', 'percentile'), 'truth value')],
}
CALIBRATION = 4
# the step of 8 bit that falls to the other side weighs more in small networks
HELD, HELD_OF_SMALL, SMALL_BYTES = 32, 200, 1 << 19
METHODS = {'minmax': 'MinMax', 'percentile': 'Percentile'}
FORMATS = {'qdq': 'QDQ', 'qoperator': 'QOperator'}
RELATIVE, MARGIN_DB, JITTERS = 1e-6, 0.3, 8
# Where the two files are not the same by intention, the error may fall to either side.
CHANCE_DB = 1.5
# With percentiles, of scales of biases, and of weights that were raised for a bias: they follow from what is read.
DERIVED = 1 / 64
PRODUCT = 2 ** -22     # the scale of a bias is a product, and rounded once more
BEGIN, END = '<!-- peer: made by tests/oracle/quantize_table.py --write -->', '<!-- peer end -->'


# ---- samples ----

def make_samples(shared, path, stem):
    """Feeds to calibrate on and feeds to measure on: more for small networks."""
    s = session(path)
    source = Source(shared, stem, s)
    calibration = source.make(CALIBRATION)
    held = HELD_OF_SMALL if os.path.getsize(path) < SMALL_BYTES else HELD
    return calibration, source.make(min(held, source.most - CALIBRATION), CALIBRATION)


# ---- exports ----

def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip()[:400])


def opset_of(path):
    import onnx

    return next(o.version for o in onnx.load(path, load_external_data=False).opset_import if o.domain in ('', 'ai.onnx'))


class Reader:
    def __init__(self, samples):
        self.samples = iter(samples)

    def get_next(self):
        return next(self.samples, None)


def peer_static(prepared, out, samples, method, form, per_channel, cache):
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

    quantize_static(prepared, out, Reader(samples), quant_format=QuantFormat[FORMATS[form]], per_channel=per_channel,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                    calibrate_method=CalibrationMethod[METHODS[method]], calibration_cache_path=cache)


def peer_dynamic(prepared, out, per_channel):
    from onnxruntime.quantization import QuantType, quantize_dynamic as quantize_with_peer

    quantize_with_peer(prepared, out, weight_type=QuantType.QInt8, per_channel=per_channel)


def read_cache(path):
    """name -> (minimum, maximum)"""
    import numpy as np

    with open(path, encoding='utf-8') as file:
        data = json.load(file)['data']
    number = lambda x: float(np.ravel(x['data'] if isinstance(x, dict) else x)[0])
    return {name: (number(entry['lowest']), number(entry['highest'])) for name, entry in data.items()}


def own_noise(prepared, samples, folder):
    """The largest relative difference of a range between two runs of the peer's observer, plain and optimised."""
    import onnxruntime
    from onnxruntime.quantization import CalibrationMethod, create_calibrator
    from onnxruntime.quantization.calibrate import CalibraterBase

    def observe(optimise):
        original = CalibraterBase.create_inference_session

        def create(self):
            self.infer_session = onnxruntime.InferenceSession(self.augmented_model_path, providers=['CPUExecutionProvider'])

        CalibraterBase.create_inference_session = create if optimise else original
        try:
            calibrator = create_calibrator(prepared, augmented_model_path=os.path.join(folder, 'augmented.onnx'),
                                           calibrate_method=CalibrationMethod.MinMax)
            calibrator.collect_data(Reader(samples))
            return {k: tuple(float(v.item()) for v in r.range_value) for k, r in calibrator.compute_data().items()}
        finally:
            CalibraterBase.create_inference_session = original

    plain, optimised = observe(False), observe(True)
    widths = [(max(h, 0) - min(l, 0), max(optimised[k][1], 0) - min(optimised[k][0], 0)) for k, (l, h) in plain.items()]
    return max(abs(b / a - 1) for a, b in widths if a > 0)


# ---- comparisons ----

def pairs_of_constants(ours, theirs, prepared, integers):
    """Tensor, kind, ours (None: missing) and theirs of all scales and zero points."""
    a, b = quantize.constants(ours), quantize.constants(theirs)
    behind = quantize.clamped(prepared) if integers else {}
    for name, y in b.items():
        kind = next((k for k in ('_scale', '_zero_point') if name.endswith(k)), None)
        if kind is not None:
            tensor = name[:-len(kind)]
            x = a.get(name)
            if x is None and tensor in behind:
                x = a.get(behind[tensor] + kind)
            yield tensor, kind, x, y


def bins_of(tensor, ranges, seen):
    """How far both ends together may be off in a percentile, as a share of the range."""
    low, high = min(ranges[tensor][0], 0), max(ranges[tensor][1], 0)
    most = max(abs(x) for x in seen[tensor])
    return ((abs(low) + abs(high)) / 128 + 2 * most / 2048) / max(high - low, 1e-30)


def compare_own(ours, theirs, prepared, integers, bound, ranges, seen):
    """How many constants, the worst relative difference of a scale, and what is too far; @ranges: of percentiles."""
    import numpy as np

    n, worst, wrong = 0, 0.0, []
    for tensor, kind, x, y in pairs_of_constants(ours, theirs, prepared, integers):
        n += 1
        if x is None or x.size != y.size:
            wrong.append(f'{tensor}{kind} is missing')
            continue
        observed = ranges is not None and tensor in ranges
        share = bins_of(tensor, ranges, seen) if observed else 0
        if kind == '_scale':
            difference = float(np.max(np.abs(x.ravel().astype(np.float64) / y.ravel() - 1)))
            worst = max(worst, difference)
            limit = max(bound, share if observed or ranges is None else DERIVED) + (PRODUCT if tensor.endswith('_quantized')
                                                                                    else 0)
            if not difference <= limit:
                wrong.append(f'{tensor}: scale {x.ravel()[:3]}, theirs {y.ravel()[:3]}, {difference:.1e} apart')
        elif not np.max(np.abs(x.ravel().astype(np.int64) - y.ravel())) <= (1 + 255 * share if observed else 0):
            wrong.append(f'{tensor}: zero point {x.ravel()[:3]}, theirs {y.ravel()[:3]}')
    return n, worst, wrong if n > 0 else ['nothing was compared']


def errors_db(reference, names, path, held):
    """(output, as written?) -> dB against the float network"""
    result = {}
    for as_written in (False, True):
        s = session(path, as_written)
        runs = [s.run(None, feeds) for feeds in held]
        for i, name in enumerate(names):
            if reference[0][i].dtype.kind == 'f':
                result[name, as_written] = sqnr([(r[i], q[i]) for r, q in zip(reference, runs)])
    return result


def compare_errors(ours, theirs, allowed=MARGIN_DB):
    """The least margin, and lines about margins that are too small."""
    margins = {k: 0.0 if ours[k] == theirs[k] else ours[k] - theirs[k] for k in theirs}
    wrong = [f'{name}, {"as written" if as_written else "optimised"}: {ours[name, as_written]:.2f} dB, '
             f'theirs {theirs[name, as_written]:.2f}' for (name, as_written), m in margins.items() if not m >= -allowed]
    return min(margins.values()), wrong


def move_ranges(ranges, random, path):
    """A table of ranges, each end up to one bin of our histogram away."""
    tensors = {name: {'min': low * (1 + random.uniform(-1, 1) / 128), 'max': high * (1 + random.uniform(-1, 1) / 128)}
               for name, (low, high) in ranges.items() if low <= high}
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({'format': 'vernier-ranges', 'version': 1, 'tensors': tensors}, file)


# ---- a network ----

class Network:
    def __init__(self, cli, shared, stem, folder):
        self.cli, self.stem, self.folder = cli, stem, folder
        self.original = os.path.join(shared, 'models', stem + '.onnx')
        self.calibration, self.held = make_samples(shared, self.original, stem)
        self.data = save(self.calibration, folder)
        self.sizes = [f'--shape={name}=' + 'x'.join(str(d) for d in x.shape) for name, x in self.held[0].items() if x.ndim > 0]
        self.prepared, self.stats = self.file('prepared.onnx'), self.file('stats')
        opset = ['--opset', 13] if opset_of(self.original) < 13 else []
        passes = ['--pass', 'fix-shapes', '--pass', 'copy-bias-init']
        run(cli, 'prepare', self.original, '-o', self.prepared, *passes, *opset, *self.sizes)
        run(cli, 'calibrate', self.prepared, '--data', self.data, '-o', self.stats)
        s = session(self.original, as_written=True)
        self.names = [o.name for o in s.get_outputs()]
        self.reference = [s.run(None, feeds) for feeds in self.held]
        self.noise = None
        self.compared, self.failed, self.peer_fails = 0, 0, 0
        self.worst = {'minmax': 0.0, 'percentile': 0.0}
        self.margin = {}

    def file(self, name):
        return os.path.join(self.folder, name)

    def bound(self):
        if self.noise is None:
            self.noise = own_noise(self.prepared, self.calibration, self.folder)
        return max(RELATIVE, 2 * self.noise)

    def expects_failure(self, label, error):
        return any(all(w in label for w in words) and text in error for words, text in PEER_FAILS.get(self.stem, []))

    def report(self, label, text, wrong):
        self.failed += bool(wrong)
        text += '' if self.noise is None else f'; onnxruntime with itself {self.noise:.1e}'
        print(f'{self.stem:34} {label:28} {text}', flush=True)
        for line in wrong[:6]:
            print('    ' + line)

    def quantize(self, out, *options, model=None):
        import onnx

        run(self.cli, 'quantize', model or self.prepared, '-o', out, '--skip-compare', *options)
        onnx.checker.check_model(out, full_check=True)

    def moved(self, ranges, options):
        """The median error of the peer's file (ours has the same constants) with its ranges moved within a bin."""
        import numpy as np

        found = []
        for seed in range(JITTERS):
            move_ranges(ranges, np.random.default_rng(seed), self.file('moved.json'))
            self.quantize(self.file('moved.onnx'), *options, '--ranges', self.file('moved.json'))
            found.append(errors_db(self.reference, self.names, self.file('moved.onnx'), self.held))
        return {k: statistics.median(f[k] for f in found) for k in found[0]}

    def static(self, method, form, per_channel):
        label = f'{method} {form} {"channel" if per_channel else "tensor"}'
        ours, exact, theirs, cache = (self.file(n) for n in ('ours.onnx', 'exact.onnx', 'theirs.onnx', method + '.json'))
        options = ['--format', form, '--method', method] + ['--per-channel' if per_channel else '--per-tensor']
        self.quantize(ours, *options, '--stats', self.stats)
        errors = errors_db(self.reference, self.names, ours, self.held)
        try:
            peer_static(self.prepared, theirs, self.calibration, method, form, per_channel, cache)
        except Exception as e:
            expected = self.expects_failure(label, str(e))
            self.peer_fails += expected
            text = 'the peer fails' + (f'; ours: {min(errors.values()):.2f} dB' if expected else ': ' + str(e).strip()[:300])
            self.report(label, text, [] if expected else ['this is new'])
            return
        self.quantize(exact, *options, '--ranges', cache)
        wrong, equal = quantize.compare_exact(exact, theirs, form != 'qdq', self.prepared)
        ranges, seen = (read_cache(cache), read_cache(self.file('minmax.json'))) if method == 'percentile' else (None, None)
        n, worst, more = compare_own(ours, theirs, self.prepared, form != 'qdq', RELATIVE, ranges, seen)
        if more and self.bound() > RELATIVE:
            n, worst, more = compare_own(ours, theirs, self.prepared, form != 'qdq', self.bound(), ranges, seen)
        margin, low = compare_errors(errors, errors_db(self.reference, self.names, theirs, self.held))
        if low and method == 'percentile' and not wrong:
            low = compare_errors(errors, self.moved(ranges, options))[1]
        self.compared += equal + n
        self.worst[method] = max(self.worst[method], worst)
        self.margin[method] = min(self.margin.get(method, margin), margin)
        self.report(label,
                    f'{equal} + {n} constants, {len(wrong + more)} findings, scales to {worst:.1e}; '
                    f'least margin {margin:+.2f} dB',
                    wrong + more + low)

    def dynamic(self, per_channel):
        label = f'dynamic {"channel" if per_channel else "tensor"}'
        ours, theirs = self.file('ours.onnx'), self.file('theirs.onnx')
        self.quantize(ours, '--preset', 'dynamic', *['--per-channel' if per_channel else '--per-tensor'])
        peer_dynamic(self.prepared, theirs, per_channel)
        left_out = quantize_dynamic.convolved(ours) if per_channel else set()   # the peer has one scale for these
        n, wrong = quantize_dynamic.compare_constants(ours, theirs, left_out)
        margin, low = compare_errors(*(errors_db(self.reference, self.names, p, self.held) for p in (ours, theirs)),
                                     allowed=CHANCE_DB if left_out else MARGIN_DB)
        self.compared += n
        self.margin['dynamic'] = min(self.margin.get('dynamic', margin), margin)
        self.report(label, f'{n} constants, {len(wrong)} findings; least margin {margin:+.2f} dB', wrong + low)

    def as_it_is(self):
        """The file as it came, where the peer would need help."""
        out = self.file('as-it-is.onnx')
        self.quantize(out, '--data', self.data, '--held-out', '0', *self.sizes, model=self.original)
        least = min(errors_db(self.reference, self.names, out, self.held).values())
        self.report('the file as it is', f'{least:.2f} dB', [] if least > 0 or least == least else ['no number'])

    def row(self):
        text = lambda x: '–' if x is None else f'{x:+.2f}'
        fails = f' (the peer fails with {self.peer_fails})' if self.peer_fails else ''
        return (f'| `{self.stem}` | {self.compared}{fails} | {self.worst["minmax"]:.0e} | {self.worst["percentile"]:.0e} | '
                + ' | '.join(text(self.margin.get(k)) for k in ('minmax', 'percentile', 'dynamic')) + ' |')


def examine(cli, shared, stem):
    """The row of the table, and how many settings failed."""
    import contextlib
    import io

    with tempfile.TemporaryDirectory() as folder:
        network = Network(cli, shared, stem, folder)
        steps = [('as it is', network.as_it_is, ())]
        steps += [('static', network.static, (m, f, c)) for m in METHODS for f in FORMATS for c in (False, True)]
        steps += [('dynamic', network.dynamic, (c,)) for c in (False, True)]
        for label, step, arguments in steps:
            lines = io.StringIO()
            try:
                with contextlib.redirect_stdout(lines):     # the peer prints, too
                    step(*arguments)
            except Exception as e:
                network.failed += 1
                lines.write(f'{stem:34} {label} {arguments}: {type(e).__name__}: {str(e).strip()[:400]}\n')
            print(''.join(l + '\n' for l in lines.getvalue().split('\n') if l.startswith((stem, '    '))), end='', flush=True)
        return network.row(), network.failed, network.compared


def write_table(readme, rows):
    lines = ['| network | constants compared | MinMax: scales to | Percentile: scales to | MinMax, dB | Percentile, dB '
             '| dynamic, dB |',
             '|---|---|---|---|---|---|---|', *rows]
    text = open(readme, encoding='utf-8').read()
    before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
    with open(readme, 'w', encoding='utf-8') as f:
        f.write(text[:before] + '\n' + '\n'.join(lines) + '\n' + text[after:])


def main():
    oracle.use_oracle_python()
    logging.disable(logging.WARNING)
    shared = oracle.shared_folder()
    arguments = sys.argv[1:]
    readme = None
    if '--write' in arguments:
        at = arguments.index('--write')
        readme = arguments[at + 1]
        del arguments[at:at + 2]
    models = MODELS + (TABLE_MODELS if readme or '--all' in arguments else []) + (MORE_MODELS if '--all' in arguments else [])
    arguments = [a for a in arguments if a != '--all']
    cli, stems = os.path.abspath(arguments[0]), arguments[1:] or models
    rows, failed, compared = [], 0, 0
    for stem in stems:
        start = time.time()
        try:
            row, f, n = examine(cli, shared, stem)
        except Exception as e:
            print(f'{stem}: {type(e).__name__}: {str(e).strip()[:400]}')
            failed += 1
            continue
        rows.append(row)
        failed, compared = failed + f, compared + n
        print(f'    {time.time() - start:.0f} s', flush=True)
    print('\n'.join(rows))
    print(f'{len(rows)} networks, {compared} constants compared, {failed} settings failed')
    if readme is not None and failed == 0:
        write_table(readme, rows)
    sys.exit(0 if rows and compared > 0 and failed == 0 else 1)


if __name__ == '__main__':
    main()
