#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""untouched.py CLI SOURCE_DIR [--interrupts N] [--seed N] [--only WORD]: a command that is interrupted or cannot write leaves
nothing behind and changes nothing (run-cases.sh looks at all other failures). Names, kinds, sizes, modes, times and contents are
listed before and after, of the folder it works in, of its home with the caches, and of the folder of temporary files.

Every command that writes is interrupted at N random moments (8 unless said; SIGINT and SIGTERM in turns), in an empty
folder and where everything that it writes is there already; and each is made to fail by its last output. What is kept on purpose
is listed below, with the reason. --verify is run if VN_ORACLE_PYTHON names a Python with onnxruntime."""
import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

# Files whose names end so may appear or change: what calibrating has learned is kept, for --resume and for --stats.
KEPT_ON_PURPOSE = ('.part', '.rounding', 'statistics')
# Folders of others below the home: onnxruntime notes there that it was imported.
OF_OTHERS = ('Microsoft',)


def list_folder(folder):
    """What lies below a folder: by path, all that can be seen of it but when it was last read."""
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in OF_OTHERS]
        for name in folders + files:
            path = os.path.join(place, name)
            try:
                info = os.lstat(path)
                if name.endswith(KEPT_ON_PURPOSE):
                    continue
                text = os.readlink(path) if stat.S_ISLNK(info.st_mode) else ''
                if stat.S_ISREG(info.st_mode):
                    with open(path, 'rb') as f:
                        text = hashlib.sha256(f.read()).hexdigest()
            except OSError as error:    # somebody else's, who removed it meanwhile
                text, info = str(error), None
            # a folder's own time and size tell of names that came and went
            told = info and (info.st_mode, info.st_ino) + (() if stat.S_ISDIR(info.st_mode) else (info.st_size, info.st_mtime_ns))
            found[os.path.relpath(path, folder)] = (told, text)
    return found


def describe(before, after):
    """The differences of two listings in words."""
    lines = ['new: ' + p for p in after if p not in before]
    lines += ['gone: ' + p for p in before if p not in after]
    lines += ['changed: ' + p for p in before if p in after and before[p] != after[p]]
    return lines


# ---- interrupted ----

DATA = '--data samples --preprocess minus-one-one'
# What is run, in a folder that holds net.onnx, q.onnx (quantized), p.vernier (a project with a run) and samples.
COMMANDS = {
    'quantize': f'quantize net.onnx -o out.onnx {DATA} --report report --save-recipe recipe.json --save-project new.vernier '
                '--export-script script.py --export-xquant xquant.json --save-stats statistics',
    'quantize-external': f'quantize net.onnx -o out.onnx {DATA} --skip-compare --save-as-external-data --report one.html',
    'quantize-project': 'quantize p.vernier -o out.onnx',
    'quantize-auto': f'quantize net.onnx -o out.onnx {DATA} --auto --time 1 --report report',
    'prepare': 'prepare net.onnx -o out.onnx --save-as-external-data --all-tensors-to-one-file',
    'calibrate': f'calibrate net.onnx -o statistics {DATA} --table table.json',
    'dump': f'dump q.onnx {DATA} -o dumped --float',    # --force replaces files as it comes to them
    'run': f'run net.onnx {DATA} -o outputs',
    'evaluate': f'evaluate net.onnx q.onnx {DATA} --report table.md',
    'compare': f'compare net.onnx q.onnx {DATA}',
    'report': 'report p.vernier -o report',
    'report-one': 'report p.vernier -o one.pdf --format pdf',
    'xquant': 'xquant -c xquant-given.json',
    'verify': f'verify q.onnx --model net.onnx {DATA} --samples 4 --runs 3',
    'benchmark': 'benchmark net.onnx --repeat 3',
}

XQUANT = {'model_parameters': {'onnx_model': 'net.onnx', 'output_prefix': 'small', 'working_dir': './out'},
          'calibration_parameters': {'calibration_step': 8, 'calibration_type': 'minmax', 'input_parametres': [
              {'mean_value': [127.5] * 3, 'std_value': [127.5] * 3, 'color_format': 'rgb', 'data_list_path': 'list.txt'}]},
          'quantization_parameters': {'finetune_level': 1, 'precision_level': 2}}


class Place:
    """A folder to run commands in, with a home and a folder for temporary files of its own."""

    def __init__(self, cli, source, work):
        self.cli, self.root, self.given = cli, os.path.join(work, 'place'), os.path.join(work, 'given')
        demo = os.path.join(source, 'data', 'demo')
        self.env = {**os.environ, 'LC_ALL': 'C.UTF-8', 'LANGUAGE': '', 'HOME': self.root + '/home', 'TMPDIR': self.root + '/tmp'}
        self.env.pop('XDG_CACHE_HOME', None)
        if os.environ.get('VN_ORACLE_PYTHON'):
            self.env['VN_PYTHON'] = os.environ['VN_ORACLE_PYTHON']
        os.makedirs(self.given + '/home/.cache')
        os.makedirs(self.given + '/tmp')
        os.makedirs(self.given + '/run/samples')
        shutil.copy(os.path.join(demo, 'demo.onnx'), self.given + '/run/net.onnx')
        for kind in sorted(os.listdir(os.path.join(demo, 'samples')))[:4]:
            os.mkdir(os.path.join(self.given, 'run/samples', kind))
            for name in sorted(os.listdir(os.path.join(demo, 'samples', kind)))[:3]:
                shutil.copy(os.path.join(demo, 'samples', kind, name), os.path.join(self.given, 'run/samples', kind))
        with open(self.given + '/run/xquant-given.json', 'w', encoding='utf-8') as f:
            json.dump(XQUANT, f)
        with open(self.given + '/run/list.txt', 'w', encoding='utf-8') as f:
            f.writelines(sorted(os.path.join(folder, name)[len(self.given + '/run/'):] + '\n'
                                for folder, _, names in os.walk(self.given + '/run/samples') for name in names))
        self.renew()
        for text in (f'quantize net.onnx -o q.onnx {DATA}', f'quantize net.onnx -o q.onnx {DATA} --save-project p.vernier'):
            subprocess.run([cli] + text.split(), cwd=self.root + '/run', env=self.env, check=True, capture_output=True)
        shutil.rmtree(self.given)
        shutil.copytree(self.root, self.given, symlinks=True)

    def renew(self):
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.given, self.root, symlinks=True)

    def start(self, text):
        return subprocess.Popen([self.cli] + text.split(), cwd=self.root + '/run', env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)

    def finish(self, text):
        """Exit code, seconds, and what was said."""
        start = time.monotonic()
        process = self.start(text)
        said = process.communicate()[1].decode(errors='replace')
        return process.returncode, time.monotonic() - start, said


def interrupt(place, text, moment, number):
    """What was changed by a run that a signal ended; %None if it was done before."""
    before = list_folder(place.root)
    process = place.start(text)
    try:
        process.wait(moment)
        return None if process.returncode == 0 else ['fails without a signal: ' + process.stderr.read().decode()]
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    try:
        said = process.communicate(timeout=60)[1].decode(errors='replace')
    except subprocess.TimeoutExpired:
        process.kill()
        return ['still runs after a minute']
    if process.returncode == 0:
        return None
    lines = describe(before, list_folder(place.root))
    if process.returncode not in (1, -number):
        lines.append(f'exit {process.returncode}: {said}')
    return lines


def try_interrupts(place, n, rand, only):
    tried = wrong = 0
    for name, text in COMMANDS.items():
        if (only and only not in name) or (name == 'verify' and not place.env.get('VN_PYTHON')):
            continue
        place.renew()
        code, seconds, said = place.finish(text)
        if code != 0:
            wrong += 1
            print(f'{name}: exit {code}: {said}')
            continue
        print(f'{name}: {seconds:.2f} s', flush=True)
        for there in (False, True) if name != 'dump' else (False,):     # which refuses a folder that is not empty
            if not there:
                place.renew()
            else:
                place.finish(text)
            for i in range(n):
                # the end, where files are written, gets half of the moments
                moment = seconds * (rand.random() if i % 2 else rand.uniform(0.8, 1.02))
                number = (signal.SIGINT, signal.SIGTERM)[i // 2 % 2]
                lines = interrupt(place, text, moment, number)
                tried += lines is not None
                if lines:
                    wrong += 1
                    print(f"{name}{', over what is there' if there else ''}: {number.name} after {moment:.3f} s of "
                          f"{seconds:.3f}: vernier-cli {text}\n  " + '\n  '.join(lines), flush=True)
                if lines is None or lines:
                    if there:
                        place.finish(text)
                    else:
                        place.renew()
    return tried, wrong


# ---- an output that cannot be written ----

# The last output is a folder that cannot be written to, or one that is a file; the others must not be there then.
UNWRITABLE = [
    f'quantize net.onnx -o out.onnx {DATA} --skip-compare --report net.onnx/report',
    f'quantize net.onnx -o out.onnx {DATA} --skip-compare --save-recipe net.onnx/r.json',
    f'quantize net.onnx -o out.onnx {DATA} --skip-compare --save-recipe missing/r.json',
    f'quantize net.onnx -o out.onnx {DATA} --skip-compare --save-project missing/p.vernier',
    f'quantize net.onnx -o out.onnx {DATA} --skip-compare --export-script missing/s.py',
    f'quantize net.onnx -o out.onnx {DATA} --skip-compare --export-xquant missing/s.json',
    f'quantize net.onnx -o out.onnx {DATA} --skip-compare --save-stats missing/stats',
    f'calibrate net.onnx -o statistics {DATA} --table missing/table.json',
    f'calibrate net.onnx -o missing/statistics {DATA} --table table.json',
    f'evaluate net.onnx {DATA} --report missing/table.md',
    f'dump q.onnx {DATA} -o net.onnx/dumped',
    f'run net.onnx {DATA} -o net.onnx/outputs',
    'report p.vernier -o net.onnx/report',
    'report p.vernier -o missing/one.pdf --format pdf',
    'prepare net.onnx -o missing/out.onnx',
]


def try_unwritable(place, only):
    tried = wrong = 0
    for text in UNWRITABLE:
        if only and only not in text:
            continue
        place.renew()
        before = list_folder(place.root)
        code, _, said = place.finish(text)
        lines = describe(before, list_folder(place.root))
        if code not in (1, 2) or not said:
            lines.append(f'exit {code}: {said}')
        tried += 1
        if lines:
            wrong += 1
            print(f'vernier-cli {text}: {said}  ' + '\n  '.join(lines), flush=True)
    return tried, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('cli', type=os.path.abspath)
    parser.add_argument('source', type=os.path.abspath)
    parser.add_argument('--interrupts', type=int, default=8)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only')
    parser.add_argument('--part', choices=['interrupts', 'unwritable'])
    options = parser.parse_args()
    rand = random.Random(options.seed)
    total = 0
    with tempfile.TemporaryDirectory() as work:
        place = Place(options.cli, options.source, work)
        parts = {
            'unwritable': lambda: try_unwritable(place, options.only),
            'interrupts': lambda: try_interrupts(place, options.interrupts, rand, options.only),
        }
        for name, part in parts.items():
            if options.part in (None, name):
                tried, wrong = part()
                total += wrong + (tried == 0 and not options.only)
                print(f'{name}: {tried} failing runs, {wrong} left something', flush=True)
    sys.exit(1 if total else 0)


main()
