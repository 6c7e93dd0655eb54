#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""end_to_end.py CLI [--table] [--all] [MODEL...]: the main job on real networks and photographs, judged by onnxruntime.

For each network: `vernier-cli quantize` on the file as it is; the export passes onnx.checker; onnxruntime, running the nodes
of the export as written, agrees with our own run of it to 40 dB on the median sample, or as well as onnxruntime agrees with
itself; and what onnxruntime's optimised run loses against the float network is within 0.5 dB of what onnxruntime.quantization
reaches with the same settings and samples. --all takes more networks and samples; --table prints the figures as Markdown.

Why the median, and "with itself": float sums in another order differ in the last bit, which now and then moves one 8-bit value by
one step, and in some networks that one step spreads to thousands of values downstream. onnxruntime, which replaces the nodes
by integer kernels when it optimises, differs from its own unoptimised run in the same way.
"""
import json
import logging
import os
import subprocess
import sys
import tempfile

import oracle

MODELS = ['det_ultraface_rfb320', 'cls_squeezenet10_fp16_op7', 'cls_mobilenetv2_035_128_flowers', 'seg_sinet_portrait_320',
          'sr_espcn_x3_op10',
          'det_openseeface_mnv3']
MORE_MODELS = ['det_nanodet_m_320', 'det_yolox_nano_416', 'det_picodet_xs_416_op10', 'det_picodet_s_320_constnodes',
               'seg_deeplab_dm05_513_op8',
               'sr_espcn_bsd300_rgb', 'enh_tbefn_lowlight_180x320']
CALIBRATION, TEST = 10, 4
MORE_SAMPLES = 20, 6
AGREEMENT_DB, ITSELF_DB, APART_DB, PEER_DB = 40.0, 4.0, 10.0, 0.5


def sqnr(pairs):
    import numpy as np

    signal = sum(float((a.astype(np.float64) ** 2).sum()) for a, _ in pairs)
    noise = sum(float(((a.astype(np.float64) - b.astype(np.float64)) ** 2).sum()) for a, b in pairs)
    return float('inf') if noise == 0 else 10 * np.log10(max(signal, 1e-300) / noise)


def session(path, as_written=False):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    if as_written:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return oracle.open_session(path, options)


def run_all(path, samples, dtype=None, as_written=False):
    s = session(path, as_written)
    name = s.get_inputs()[0].name
    if dtype is None and s.get_inputs()[0].type == 'tensor(float16)':   # a file in float16 keeps its inputs
        dtype = 'float16'
    return [s.run(None, {name: x if dtype is None else x.astype(dtype)}) for x in samples], [o.name for o in s.get_outputs()]


def write_samples(folder, samples):
    import numpy as np

    os.makedirs(folder)
    for i, x in enumerate(samples):
        np.save(os.path.join(folder, f'{i:03}.npy'), x)


def ours(cli, model, data, per_channel, out):
    command = [cli, 'quantize', model, '-o', out, '--data', data, '--held-out', '0', '--skip-compare', '--json']
    done = subprocess.run(command + ['--per-channel' if per_channel else '--per-tensor'], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError('vernier-cli: ' + done.stdout + done.stderr)
    return json.loads(done.stdout)


def our_run(cli, model, samples, names, folder):
    """Outputs of our engine running the exported file."""
    import numpy as np

    results = []
    name = session(model).get_inputs()[0].name
    for i, x in enumerate(samples):
        np.save(os.path.join(folder, 'x.npy'), x)
        done = subprocess.run([cli, 'run', model, '--input', f'{name}={folder}/x.npy', '-o', folder + '/out'],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError('vernier-cli run: ' + done.stderr)
        results.append([np.load(os.path.join(folder, 'out', n.replace('/', '_').replace(':', '_') + '.npy')) for n in names])
    return results


def peer(model, samples, per_channel, folder):
    """The peer's export, after its own preparation at opset 13; float16 converted first. None if the peer fails."""
    import onnx
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    import quantize

    class Reader(CalibrationDataReader):
        def __init__(self, name):
            self.name, self.it = name, iter(samples)

        def get_next(self):
            x = next(self.it, None)
            return None if x is None else {self.name: x}

    try:
        prepared = quantize.prepare_by_peer(model, folder)
        out = os.path.join(folder, 'peer.onnx')
        quantize_static(prepared, out, Reader(onnx.load(prepared).graph.input[0].name), quant_format=QuantFormat.QDQ,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=per_channel)
        session(out)
        return out
    except Exception as error:   # whatever it is, the peer has no figure to compare with
        print('   the peer fails:', str(error).strip().splitlines()[0][:150])
        return None


def model_samples(shared, stem, path, n):
    shape = session(path).get_inputs()[0].shape
    shape = oracle.input_shape(stem, shape)
    photos = oracle.photographs(shared)[:n]
    assert len(photos) == n and oracle.is_image(shape), (len(photos), shape)
    return [oracle.image_input(stem, p, shape) for p in photos]


class Given:
    """What both exports of a network start from, and what the float network makes of the samples to test with."""

    def __init__(self, shared, stem, calibration, test):
        import numpy as np

        self.stem, self.shared, self.n = stem, shared, calibration
        self.path = os.path.join(shared, 'models', stem + '.onnx')
        self.samples = model_samples(shared, stem, self.path, calibration + test)
        self.half = session(self.path).get_inputs()[0].type == 'tensor(float16)'
        self.reference, self.names = run_all(self.path, self.samples[calibration:], np.float16 if self.half else None)


def check(cli, given, per_channel):
    import numpy as np
    import onnx

    stem, path, samples, half = given.stem, given.path, given.samples, given.half
    reference, names, shared = given.reference, given.names, given.shared
    with tempfile.TemporaryDirectory() as folder:
        write_samples(folder + '/data', samples[:given.n])
        test = samples[given.n:]
        out = folder + '/q.onnx'
        ours(cli, path, folder + '/data', per_channel, out)
        onnx.checker.check_model(out, full_check=True)
        quantized, _ = run_all(out, test)
        written, _ = run_all(out, test, as_written=True)
        simulated = our_run(cli, out, test, names, folder)
        source = path
        if half:   # the peer does not take float16: the same network in float32
            source = os.path.join(shared, 'models', 'cls_squeezenet10_fp32_from_fp16.onnx')
        peer_path = peer(source, samples[:given.n], per_channel, folder)
        theirs = run_all(peer_path, test)[0] if peer_path else None
        rows = []
        for i, name in enumerate(names):
            rows.append(dict(
                model=stem, per_channel=per_channel, output=name,
                agreement=sqnr([(a[i], b[i]) for a, b in zip(written, simulated)]),
                median=float(np.median([sqnr([(a[i], b[i])]) for a, b in zip(written, simulated)])),
                itself=sqnr([(a[i], b[i]) for a, b in zip(quantized, written)]),
                ours=sqnr([(a[i], b[i]) for a, b in zip(reference, quantized)]),
                peer=sqnr([(a[i], b[i]) for a, b in zip(reference, theirs)]) if theirs else None))
    return rows


def judge(row):
    faults = []
    # where the processor has other kernels for floats, a network that is badly quantized goes apart more than by other fusing
    if row['median'] < AGREEMENT_DB and row['agreement'] < min(row['itself'] - ITSELF_DB, row['ours'] + APART_DB):
        faults.append('our run and onnxruntime disagree')
    if row['peer'] is not None and row['ours'] < row['peer'] - PEER_DB:
        faults.append(f"the peer is {row['peer'] - row['ours']:.2f} dB better")
    return faults


def main():
    oracle.use_oracle_python()
    logging.disable(logging.WARNING)
    shared = oracle.shared_folder()
    arguments = [os.path.abspath(sys.argv[1])] + sys.argv[2:]
    table = '--table' in arguments
    everything = '--all' in arguments
    stems = [a for a in arguments[1:] if not a.startswith('--')] or MODELS + (MORE_MODELS if everything else [])
    compared, failed = 0, 0
    if table:
        print('| network | weights | output | agreement dB | median sample | onnxruntime with itself | ours dB | '
              'onnxruntime.quantization dB |\n|---|---|---|---|---|---|---|---|')
    for stem in stems:
        given = Given(shared, stem, *(MORE_SAMPLES if everything else (CALIBRATION, TEST)))
        for per_channel in (False, True):
            scales = 'channel' if per_channel else 'tensor'
            try:
                rows = check(arguments[0], given, per_channel)
            except Exception as error:
                print(f'not ok {stem}: {error}')
                failed += 1
                continue
            for row in rows:
                faults = judge(row)
                compared += 1
                failed += bool(faults)
                theirs = '-' if row['peer'] is None else f"{row['peer']:.2f}"
                if table:
                    print(f"| {stem} | {scales} | {row['output']} | {row['agreement']:.1f} | {row['median']:.1f} | "
                          f"{row['itself']:.1f} | {row['ours']:.2f} | {theirs} |", flush=True)
                else:
                    print(f"{'not ok' if faults else 'ok'} {stem} {scales} {row['output']}: "
                          f"agreement {row['agreement']:.1f} (median {row['median']:.1f}, itself {row['itself']:.1f}), "
                          f"ours {row['ours']:.2f}, peer {theirs} {'; '.join(faults)}", flush=True)
    print(f'{compared} outputs compared, {failed} failed')
    sys.exit(0 if compared > 0 and failed == 0 else 1)


if __name__ == '__main__':
    main()
