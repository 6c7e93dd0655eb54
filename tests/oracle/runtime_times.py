#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""runtime_times.py CLI RUNTIME-RUN [NETWORK ...]: the time of exports in ONNX Runtime beside that of the float network, as forecast and as
measured (one thread, in turns, best of 20), and the share of multiplications on integers. A benchmark: it prints, and judges nothing."""
import math
import os
import sys
import tempfile
import time

import oracle

oracle.use_oracle_python()
import runtime    # noqa: E402
import runtime_exports as exports    # noqa: E402

NETWORKS = ['cls_mobilenetv2_035_128_flowers', 'sr_espcn_bsd300_rgb', 'seg_sinet_portrait_320', 'det_ultraface_rfb320', 'det_nanodet_m_320',
            'det_picodet_xs_416_op10', 'det_yolox_nano_416', 'det_openseeface_mnv3', 'cls_squeezenet10_fp32_from_fp16']
RUNS = 20


def measure(paths, name):
    """Shortest seconds of each file."""
    sessions = [exports.open_session(p) for p in paths]
    feeds = exports.make_feeds(sessions[0], name)
    best = [math.inf] * len(paths)
    for _ in range(RUNS):
        for i, session in enumerate(sessions):
            began = time.perf_counter()
            session.run(None, feeds)
            best[i] = min(best[i], time.perf_counter() - began)
    return best


def main():
    cli, runtime_run = sys.argv[1:3]
    if not os.path.isdir(exports.SHARED):
        oracle.skip('VN_SHARED is not set')
    off = []
    for name in sys.argv[3:] or NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            files = {'float': exports.model_path(name)}
            for label, options in exports.list_variants(files['float']).items():
                path = os.path.join(folder, label + '.onnx')
                if exports.export(cli, name, options, path) is None:
                    files[label] = path
            heads = {label: runtime.list_forecast(runtime_run, path, name)[0] for label, path in files.items()}
            times = dict(zip(files, measure(list(files.values()), name)))
        for label in files:
            forecast, real = float(heads[label][2]) / float(heads['float'][2]), times[label] / times['float']
            off.append(abs(math.log(forecast / real)))
            print(f'{name:34} {label:10} forecast {1e3 * float(heads[label][2]):8.3f} ms, x{forecast:.2f} of float; measured '
                  f'{1e3 * times[label]:8.3f} ms, x{real:.2f}; {100 * float(heads[label][3]):5.1f} % on integers', flush=True)
    off = sorted(off)
    print(f'ratios differ by {100 * math.expm1(sum(off) / len(off)):.0f} % on average, half of them by less than {100 * math.expm1(off[len(off) // 2]):.0f} %')


if __name__ == '__main__':
    main()
