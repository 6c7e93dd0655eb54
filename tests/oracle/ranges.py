#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""ranges.py RANGE_RUN [MODEL...]: the range methods against onnxruntime.quantization's calibrators on real networks, and against
their formulas, worked out here on the elements themselves, on small cases.

MinMax, its moving average and Entropy must agree but for the rounding of the two engines. Percentiles may differ by one bin
of the observer, 1/128 of the value, and one of the peer: the observer knows which bin an element fell into, not where in
it, so the element that the percentile asks for may be anywhere in it.
"""
import math
import os
import subprocess
import sys
import tempfile

import oracle

MODELS = ['det_ultraface_rfb320', 'cls_mobilenetv2_035_128_flowers', 'mnist_rten_op18', 'vit_cct2_32_op20', 'kws_micro_fp32']
N_SAMPLES = 4
ENGINES = 2e-5      # what two engines' results of the same network differ by, of the largest value
BINS = 2048
# 99.93: where a whole number of elements lies outside, rounding decides which of two the peer takes
NETWORK_SPECS = [   # ours; the peer's method and settings
    ('minmax', 'MinMax', {}),
    ('minmax,symmetric', 'MinMax', {'symmetric': True}),
    ('average', 'MinMax', {'moving_average': True}),
    ('average,symmetric', 'MinMax', {'moving_average': True, 'symmetric': True}),
    ('entropy', 'Entropy', {}),
    ('percentile,percentile=99.999', 'Percentile', {}),
    ('percentile,percentile=99.9', 'Percentile', {'percentile': 99.9}),
    ('percentile,percentile=99.93,two-sided', 'Percentile', {'percentile': 99.93, 'symmetric': False}),
]


def run(program, specs, *paths):
    """(name, spec) -> (minimum, maximum), or the reason why not."""
    out = subprocess.run([program, *specs, '--', *paths], capture_output=True, text=True)
    if out.returncode != 0:
        raise RuntimeError(out.stderr.strip())
    found = {}
    for line in out.stdout.split('\n')[:-1]:
        name, spec, low, high = line.split('\t')
        found[name, spec] = high if low == '-' else (float(low), float(high))
    return found


# ---- networks, against the calibrators ----

def peer_ranges(model, samples, name, method, settings):
    import contextlib
    import io

    from onnxruntime.quantization import CalibrationMethod, create_calibrator

    augmented = model + '.augmented.onnx'
    calibrator = create_calibrator(model, None, augmented, calibrate_method=getattr(CalibrationMethod, method),
                                   extra_options=settings)

    class Reader:
        def __init__(self):
            self.samples = iter(samples)

        def get_next(self):
            x = next(self.samples, None)
            return None if x is None else {name: x}

    with contextlib.redirect_stdout(io.StringIO()):
        calibrator.collect_data(Reader())
        data = calibrator.compute_data()
    return {k: tuple(float(v.item()) for v in data[k].range_value) for k in data.keys()}


def tolerance(spec, theirs, most):
    """Of an end: nothing, or a bin of ours and the peer's, which cover |x|, or both signs up to the greatest magnitude."""
    if not spec.startswith('percentile'):
        return 0
    return abs(theirs) / 128 + (2 if 'two-sided' in spec else 1) * most / BINS


def test_model(program, shared, stem):
    import numpy as np
    import onnx

    path = os.path.join(shared, 'models', stem + '.onnx')
    wrong, compared = [], 0
    with tempfile.TemporaryDirectory() as folder:
        session = oracle.open_session(path)
        given = session.get_inputs()[0]
        shape = oracle.input_shape(stem, given.shape)
        rng = np.random.default_rng(1)
        photographs = oracle.photographs(shared)[:N_SAMPLES]
        if stem in oracle.PREPROCESSING:
            samples = [oracle.image_input(stem, p, shape) for p in photographs]
        else:
            samples = [(rng.standard_normal(shape) * (1 + i)).astype(np.float32) for i in range(N_SAMPLES)]
        os.mkdir(os.path.join(folder, 'npy'))
        for i, x in enumerate(samples):
            np.save(os.path.join(folder, 'npy', '%04d.npy' % i), x)
        model = onnx.load(path)
        plain = os.path.join(folder, 'model.onnx')
        onnx.save(model, plain)
        seen = {k: v for (k, s), v in run(program, ['minmax'], plain, os.path.join(folder, 'npy')).items()}
        ours = run(program, [s for s, _, _ in NETWORK_SPECS], plain, os.path.join(folder, 'npy'))
        for spec, method, settings in NETWORK_SPECS:
            theirs = peer_ranges(plain, samples, given.name, method, settings)
            n, worst = 0, 0
            for name in sorted(theirs):
                if (name, spec) not in ours:
                    continue
                low, high = seen[name]
                most = max(abs(low), abs(high))
                difference = [abs(a - b) for a, b in zip(ours[name, spec], theirs[name])]
                n += 1
                worst = max(worst, max(difference) / most if most else 0)
                if not all(d <= tolerance(spec, t, most) + ENGINES * most for d, t in zip(difference, theirs[name])):
                    wrong.append('%s %s: %s, theirs %s' % (spec, name, ours[name, spec], theirs[name]))
            compared += n
            print('%-34s %-38s %4d values, to %.1e of the largest' % (stem, spec, n, worst))
            if n == 0:
                wrong.append(spec + ': nothing was compared')
    for line in wrong[:10]:
        print('    ' + line)
    return not wrong and compared > 0


# ---- formulas, on the elements ----

def fixed_levels(bits, symmetric, unsigned=False):
    if symmetric and not unsigned:
        return 1 - 2 ** (bits - 1), 2 ** (bits - 1) - 1
    return 0, 2 ** bits - 1


def amd_start(x, qmin, qmax, symmetric):
    import numpy as np

    low, high = min(float(x.min()), 0), max(float(x.max()), 0)
    if symmetric:
        high = max(-low, high)
        low = -high
    scale = (high - low) / (qmax - qmin)
    if scale < np.finfo(np.float32).tiny:
        return 1.0, 0
    zero = (qmin + qmax) / 2 if symmetric else qmin - low / scale
    return scale, int(np.rint(zero))


def position(scale):
    import numpy as np

    return int(np.rint(-np.log2(min(max(scale, 2.0 ** -127), 2.0 ** 127))))


def nonoverflow(x, qmin, qmax, symmetric):
    scale, zero = amd_start(x, qmin, qmax, symmetric)
    s = 2.0 ** -position(scale)
    return (qmin - zero) * s, (qmax - zero) * s


def minmse(x, qmin, qmax, symmetric):
    import numpy as np

    scale, zero = amd_start(x, qmin, qmax, symmetric)
    least, best, x = math.inf, None, x.astype(np.float64)
    for i in range(-1, 4):
        s = 2.0 ** -(position(scale) + i)
        q = np.clip(np.rint(x / s) + zero, qmin, qmax)
        error = (((q - zero) * s - x) ** 2).sum()
        if error < least:
            least, best = error, s
    return (qmin - zero) * best, (qmax - zero) * best


def minmse_common(samples, qmin, qmax):
    """As AMD's quantizers count: numpy.unique sorts, argmax takes the first of the most frequent."""
    import numpy as np

    scales = []
    for x in samples:
        low, high = minmse(x, qmin, qmax, True)
        scales.append((high - low) / (qmax - qmin))
    found, which = np.unique(scales, return_inverse=True)
    step = found[np.argmax(np.bincount(which))]
    zero = np.rint((qmin + qmax) / 2)
    return (qmin - zero) * step, (qmax - zero) * step


def octav(x, bits, symmetric):
    import numpy as np

    magnitudes = np.abs(x.astype(np.float64))
    magnitudes = magnitudes[magnitudes > 0]
    one_sided = not symmetric and (x.min() >= 0 or x.max() <= 0)
    noise = 4.0 ** -bits / (12 if one_sided else 3)
    s = 0.0
    for _ in range(50):
        beyond = magnitudes > s
        s = magnitudes[beyond].sum() / (noise * (~beyond).sum() + beyond.sum())
    return clip(x, -s, s, symmetric)


def clip(x, low, high, symmetric):
    low, high = max(low, float(x.min())), min(high, float(x.max()))
    if symmetric:
        high = max(-low, high)
        low = -high
    return low, high


ACIQ = {  # thresholds of the paper's tables, to the digits printed there: bits -> (Gauss, Laplace)
    2: (1.71, 2.83), 3: (2.15, 3.89), 4: (2.55, 5.03), 5: (2.93, 6.20), 6: (3.28, 7.41), 7: (3.61, 8.64), 8: (3.92, 9.89)}


def aciq(x, bits, symmetric, gauss):
    import numpy as np

    x64 = x.astype(np.float64)
    one_sided = not symmetric and (x.min() >= 0 or x.max() <= 0)
    mean = 0
    if one_sided:
        x64 = x64[x64 != 0]
    elif not symmetric:
        mean = x64.mean()
    width = math.sqrt(((x64 - mean) ** 2).mean()) if gauss else np.abs(x64 - mean).mean()
    t = ACIQ[bits + one_sided][0 if gauss else 1] * width
    return clip(x, mean - t, mean + t, symmetric)


def kth_values(samples, percentile, symmetric):
    import numpy as np

    lows, highs = [], []
    for x in samples:
        ordered = np.sort(x.reshape(-1))
        lows.append(ordered[int(x.size * (1 - percentile))])
        highs.append(ordered[min(int(x.size * percentile), x.size - 1)])
    low, high = float(np.mean(lows, dtype=np.float64)), float(np.mean(highs, dtype=np.float64))
    return (-max(-low, high), max(-low, high)) if symmetric else (low, high)


def xslim_candidates(counts, low, width, percentile_range, levels):
    """(start, end, range) of all candidates, in bins."""
    bins = len(counts)
    first = max(math.floor((percentile_range[0] - low) / width), 0)
    length = math.ceil((percentile_range[1] - percentile_range[0]) / width)
    yield first, min(first + length, bins), percentile_range
    step = bins // levels * 2
    for start in range(0, bins, step):
        for n in range(levels, bins - start + step - 1, step):
            yield start, min(start + n, bins), (low + start * width, low + start * width + n * width)


def xslim_costs(counts, start, end, levels):
    import numpy as np

    total = counts.sum()
    p = counts[start:end].copy()
    p[0] += counts[:start].sum()
    p[-1] += counts[end:].sum()
    size = math.ceil((end - start) / levels)
    groups = np.zeros(size * levels)
    groups[:end - start] = counts[start:end]
    groups = groups.reshape(levels, size)
    used = groups > 0
    q = groups.sum(axis=1, keepdims=True) / np.maximum(used.sum(axis=1, keepdims=True), 1) * used
    kept = q.sum()
    if kept == 0:
        return math.inf, math.inf
    q = (q / kept).reshape(-1)[:end - start]
    p = p / total
    kl = float((p * (np.log10(p + 1e-30) - np.log10(q + 1e-30))).sum())

    at = np.arange(len(counts), dtype=np.float64)
    step = max((end - start) / levels, 1)
    middle = (step - 1) / 2
    distance = np.where(at < start, start - at - 0.5, at - end + 0.5)
    inside = middle - np.abs((at[start:end] - start) % step - middle) + 0.5
    distance[start:end] = inside
    return kl, float((distance ** 2 * counts).sum() / total)


def xslim(samples, percentile, levels=256, bins=4096, single=None):
    import numpy as np

    x = np.concatenate([s.reshape(-1) for s in samples]).astype(np.float64)
    low, high = float(x.min()), float(x.max())
    average = kth_values(samples, percentile, False)
    if average[1] - average[0] < 2.0 ** -23:
        return (low, high), None
    counts, _ = np.histogram(x, bins=bins, range=(low, high))
    counts = counts.astype(np.float64)
    found = [(*xslim_costs(counts, a, b, levels), r) for a, b, r in
             xslim_candidates(counts, low, (high - low) / bins, average, levels)]
    best = sorted(sorted(found, key=lambda c: c[0]), key=lambda c: c[1])[:10]
    scale = math.sqrt(sum((kl / mse) ** 2 for kl, mse, _ in best) / len(best))
    def weigh(kl, mse):
        return kl if single == 'kl' else mse if single == 'mse' else kl + scale * mse

    cost = {r: weigh(kl, mse) for kl, mse, r in reversed(found)}
    chosen = min(found, key=lambda c: weigh(c[0], c[1]))[2]
    return chosen, cost


def kl_ppq(samples, bits, bins=4096):
    """PPQ's TorchHistObserver: {scale: divergence}, and the least one's scale."""
    import numpy as np

    x = np.abs(np.concatenate([s.reshape(-1) for s in samples]).astype(np.float64))
    most = float(x.max())
    hist = np.histogram(x, bins=bins, range=(0, most))[0].astype(np.float64)
    hist[:int(bins * .002)] = 0
    hist[int(bins * .002)] = 1
    levels, cost = 2 ** (bits - 1), {}
    for n in range(levels, bins + 1, levels):
        p = hist[:n].copy()
        p[-1] += hist[n:].sum()
        p /= hist.sum()
        q = hist[:n].reshape(levels, n // levels)
        used = q > 0
        q = q.sum(axis=1, keepdims=True) / np.maximum(used.sum(axis=1, keepdims=True), 1) * used
        if q.sum() == 0:
            continue
        q = (q / q.sum()).reshape(-1)
        cost[n / bins * most / levels] = float((p * (np.log10(p + 1e-30) - np.log10(q + 1e-30))).sum())
    return min(cost, key=cost.get), cost


def mse_ppq(samples, symmetric, levels=256, bins=2048):
    """PPQ's TorchMSEObserver: {range: mean squared error in bins}, and the least one's range."""
    import numpy as np

    x = np.concatenate([s.reshape(-1) for s in samples]).astype(np.float64)
    x = np.abs(x) if symmetric else x
    low, high = 0.0 if symmetric else float(x.min()), float(x.max())
    width = (high - low) / bins
    hist = np.histogram(x, bins=bins, range=(low, high))[0].astype(np.float64)

    used = np.flatnonzero(hist)

    def loss(start, step):
        end = start + levels * step
        left = (used - start) % step
        right = step - left - 1
        inside = np.where(left == right, left + .25, np.minimum(left, right) + .5)
        error = np.where(used < start, start - used - .5, np.where(used > end, used - end + .5, inside))
        return float((hist[used] * error * error).sum() / x.size)

    cost = {}
    tries = [(0, bins // levels + 1)]
    for start in range(0, 1 if symmetric else bins, 8):
        if start * width + low > 0:
            break
        tries += [(start, step) for step in range(1, bins // levels + 1) if start + levels * step <= bins + levels]
    for start, step in tries:
        r = (low + start * width, low + (start + levels * step) * width)
        cost.setdefault((-r[1], r[1]) if symmetric else r, loss(start, step))
    return min(cost, key=cost.get), cost


def cases():
    """Tensors of two or more samples: the conformance vectors, and distributions."""
    import numpy as np

    rng = np.random.default_rng(3)

    def normal(n=20000, scale=1.0):
        return (rng.standard_normal(n) * scale).astype(np.float32)

    def samples(make):
        return [make(i) for i in range(3)]

    yield 'normal', samples(lambda i: normal(scale=1 + i / 4))
    yield 'relu', samples(lambda i: np.maximum(normal(), 0))
    yield 'above', samples(lambda i: 5 + normal(scale=0.3))
    yield 'below', samples(lambda i: -5 - np.abs(normal(scale=0.3)))
    yield 'laplace', samples(lambda i: rng.laplace(size=20000).astype(np.float32))
    yield 'heavy', samples(lambda i: normal() ** 3)
    yield 'outlier', samples(lambda i: np.concatenate([normal(), np.float32([40.0 + i])]))
    yield 'mostly', [normal(scale=s) for s in (8, 1, 1.02, 0.98, 0.1)]     # all together: that of the widest
    yield 'even', [normal(scale=s) for s in (4, 1, 4, 1)]                   # of equals: the smaller scale
    yield 'constant', samples(lambda i: np.full(100, 3, np.float32))
    yield 'negative constant', samples(lambda i: np.full(100, -0.75, np.float32))
    yield 'zero', samples(lambda i: np.zeros(100, np.float32))
    yield 'denormal', samples(lambda i: (normal(100) * np.float32(1e-40)))
    yield 'overflows', samples(lambda i: np.float32([-1.4 * 127 / 128, 1.4 * 127 / 128] * 50))
    yield 'tie', samples(lambda i: np.float32([0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 127, -127]))
    yield 'tiny', samples(lambda i: np.float32([1e-3 * (i + 1)]))


POWER_SPECS = [  # of the levels: qmin, qmax, symmetric
    (-127, 127, True), (0, 255, False), (0, 255, True), (-128, 127, False), (-32767, 32767, True)]


# two powers are about as good for a sample, and the histogram takes values as evenly spread in a bin
BLURRED = [('tie', 32767)]


def error_of(x, low, high, qmin, qmax):
    """Squared error with the levels over a range of a power of two."""
    import numpy as np

    scale = (high - low) / (qmax - qmin)
    zero = np.rint(qmin - low / scale)
    q = np.clip(np.rint(x.astype(np.float64) / scale) + zero, qmin, qmax)
    return (((q - zero) * scale - x) ** 2).sum()


def close(a, b, relative, absolute=0.0):
    return all(abs(p - q) <= relative * max(abs(p), abs(q), max(map(abs, b))) + absolute for p, q in zip(a, b))


def test_case(program, folder, label, samples, wrong):
    import numpy as np

    paths = []
    for i, x in enumerate(samples):
        paths.append(os.path.join(folder, '%s-%d.npy' % (label, i)))
        np.save(paths[-1], x)
    x = np.concatenate(samples)
    n = 0

    def check(spec, expected, relative):
        nonlocal n
        got = run(program, [spec], *paths)['x', spec]
        n += 1
        if isinstance(got, str) or not close(got, expected, relative):
            wrong.append('%s of %s: %s, expected %s' % (spec, label, got, expected))
        return got

    mean = (float(np.mean([s.min() for s in samples], dtype=np.float64)),
            float(np.mean([s.max() for s in samples], dtype=np.float64)))
    check('average', mean, 1e-7)
    for percentile in (99.9, 99.99):
        expected = kth_values(samples, round(percentile / 100, 6), False)
        if expected[1] - min(expected[0], 0) > 255e-8:
            check('percentile-average,percentile=%g' % percentile, expected, 1 / 128)
    for qmin, qmax, symmetric in POWER_SPECS:
        levels = ',qmin=%d,qmax=%d%s' % (qmin, qmax, ',symmetric' if symmetric else '')
        check('nonoverflow' + levels, nonoverflow(x, qmin, qmax, symmetric), 1e-12)
        expected = minmse(x, qmin, qmax, symmetric)
        got = run(program, ['minmse' + levels], *paths)['x', 'minmse' + levels]
        n += 1
        # the histogram takes values as evenly spread in a bin: where two powers are about as good it may be the other
        if not close(got, expected, 1e-12) and not (
                error_of(x, *got, qmin, qmax) <= 1.02 * error_of(x, *expected, qmin, qmax) + 1e-300):
            wrong.append('minmse%s of %s: %s, expected %s' % (levels, label, got, expected))
        if symmetric and (label, qmax) not in BLURRED:
            check('minmse-common' + levels, minmse_common(samples, qmin, qmax), 1e-12)
    # the histogram's bins are 1/128 of the value wide, but not those of denormal numbers
    if x.min() < x.max() and label not in ('tie', 'overflows', 'denormal'):
        for bits in (8, 4):
            for symmetric in (False, True):
                spec = ',bits=%d%s' % (bits, ',symmetric' if symmetric else '')
                check('octav' + spec, octav(x, bits, symmetric), 0.01)
                # one sign only is one bit more, for which the paper has no number
                if bits < 8 or x.min() < 0 < x.max():
                    check('aciq-gauss' + spec, aciq(x, bits, symmetric, True), 0.01)
                    check('aciq-laplace' + spec, aciq(x, bits, symmetric, False), 0.01)
    return n


DIVERGENCE = 0.02   # hangs on which bins among the largest values are empty, which the observer's wider bins do not tell


def same_cost(cost, expected, got, most, blur):
    """Whether @got is a candidate, and as good as the best one but for what the histogram blurs."""
    nearest = min(cost, key=lambda r: abs(r[0] - got[0]) + abs(r[1] - got[1]))
    return close(got, nearest, 1e-6, 1e-6 * most) and cost[nearest] <= 1.05 * cost[expected] + blur


def test_ppq(program, folder, label, samples, wrong):
    import numpy as np

    paths = []
    for i, x in enumerate(samples):
        paths.append(os.path.join(folder, 'ppq-%s-%d.npy' % (label, i)))
        np.save(paths[-1], x)
    x = np.concatenate(samples)
    most = float(np.abs(x).max())
    n = 0
    for bits in (8, 4):
        top = 2 ** (bits - 1) - 1
        spec = 'kl-ppq,bits=%d,symmetric,qmin=%d,qmax=%d' % (bits, -top, top)
        got = run(program, [spec], *paths)['x', spec]
        scale, cost = kl_ppq(samples, bits)
        ranges = {(-s * top, s * top): c for s, c in cost.items()}
        n += 1
        if not same_cost(ranges, (-scale * top, scale * top), got, most, DIVERGENCE):
            wrong.append('%s of %s: %s, expected a scale of %g' % (spec, label, got, scale))
    for symmetric in (True, False):
        spec = 'mse-ppq,bits=8' + (',symmetric,qmin=-127,qmax=127' if symmetric else ',qmin=0,qmax=255')
        got = run(program, [spec], *paths)['x', spec]
        expected, cost = mse_ppq(samples, symmetric)
        n += 1
        if not same_cost(cost, expected, got, most, 1e-6):
            wrong.append('%s of %s: %s, expected %s' % (spec, label, got, expected))
    print('ppq %-9s %d ranges%s' % (label, n, '' if not wrong else ' WRONG'))
    return n


def test_xslim(program, folder, label, samples, wrong, single=None):
    """The chosen range must cost what the best one costs, to the little that the histogram blurs."""
    import numpy as np

    paths = []
    for i, x in enumerate(samples):
        paths.append(os.path.join(folder, 'xslim-%s-%d.npy' % (label, i)))
        np.save(paths[-1], x)
    expected, cost = xslim(samples, 0.9999, single=single)
    spec = 'xslim%s,percentile=99.99,bits=8' % ('-' + single if single else '')
    got = run(program, [spec], *paths)['x', spec]
    if cost is None:
        good = got[0] <= expected[0] and got[1] >= expected[1]
    else:
        nearest = min(cost, key=lambda r: abs(r[0] - got[0]) + abs(r[1] - got[1]))
        width = max(abs(v) for v in expected)
        good = close(got, nearest, 0, width / 64) and cost[nearest] <= 1.05 * cost[expected] + (
            DIVERGENCE if single == 'kl' else 0)
    more = 1 if cost is None else cost[nearest] / cost[expected]
    print('%-10s %-9s %.5g .. %.5g, by the formula %.5g .. %.5g; costs %.3f of that%s'
          % (spec.split(',')[0], label, *got, *expected, more, '' if good else ' WRONG'))
    if not good:
        wrong.append('%s of %s' % (spec, label))


def main():
    oracle.use_oracle_python()
    shared = oracle.shared_folder()
    program, stems = sys.argv[1], sys.argv[2:]
    import logging
    logging.disable(logging.WARNING)
    import onnxruntime
    onnxruntime.set_default_logger_severity(3)

    wrong, n = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for label, samples in cases() if not stems else ():
            n += test_case(program, folder, label, samples, wrong)
            if label in ('normal', 'relu', 'heavy', 'outlier', 'constant'):
                for single in (None, 'kl', 'mse') if label != 'relu' else (None, 'mse'):
                    test_xslim(program, folder, label, samples, wrong, single)
            if label in ('normal', 'relu', 'heavy', 'outlier', 'laplace', 'above', 'below'):
                n += test_ppq(program, folder, label, samples, wrong)
    print('%d ranges by formula, %d wrong' % (n, len(wrong)))
    for line in wrong[:20]:
        print('    ' + line)
    good, total = 0, 0
    for stem in stems or MODELS:
        if not os.path.exists(os.path.join(shared, 'models', stem + '.onnx')):
            print(stem, 'is not there')
            continue
        total += 1
        try:
            good += test_model(program, shared, stem)
        except Exception as e:
            print('%-34s FAILED: %s' % (stem, str(e).strip().splitlines()[-1][:300]))
    print('%d of %d networks equal' % (good, total))
    sys.exit(0 if not wrong and total > 0 and good == total else 1)


if __name__ == '__main__':
    main()
