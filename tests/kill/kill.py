#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""kill.py CLI SOURCE [--steps LIBRARY] [--autosave COMMAND ...] [--count N] [--seed N] [--only NAME] [--plain]

Ends the program by SIGKILL at random moments, N times for each kind of work, and in front of each call that changes what is on
the disk, and looks at what is left:

  calibrate   the run that goes on gives the bytes of one that was never interrupted
  quantize    over an existing file there is the old model or the new one, never a part
  external    the same with weights in a file beside: model and weights always belong together; ONNX Runtime
              (VN_ORACLE_PYTHON), or the program itself, computes what the old or the new one computes
  each        the same with a file for each tensor
  project     the project opens, with the runs that it had, and perhaps the new one
  autosave    a project that a window keeps up to date opens at any moment (--autosave: the program that changes it)

--steps: step-kill.c as a library; without it there are only random moments. --plain: files are replaced by writing into them: the
script then must find faults, and fails if it does not.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MAX_STEPS = 200
OUTPUTS = """
import hashlib, sys
import numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
for line in sys.stdin:
    try:
        session = onnxruntime.InferenceSession(line.rstrip('\\n'), options, providers=['CPUExecutionProvider'])
        shapes = {i.name: [d if isinstance(d, int) else 1 for d in i.shape] for i in session.get_inputs()}
        feeds = {name: (numpy.arange(numpy.prod(shape)) % 97 / 97).astype(numpy.float32).reshape(shape)
                 for name, shape in shapes.items()}
        data = b''.join(o.tobytes() for o in session.run(None, feeds))
        print(hashlib.sha256(data).hexdigest(), flush=True)
    except Exception as error:
        print('error:', str(error).replace('\\n', ' ')[:200], flush=True)
"""


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


class Outputs:
    """What a model computes, as a text: from ONNX Runtime if there is one, else from the program."""

    def __init__(self, cli):
        self.cli = cli
        python = os.environ.get('VN_ORACLE_PYTHON', '')
        self.process = None
        if python and os.access(python, os.X_OK) and subprocess.run([python, '-c', 'import onnxruntime'],
                                                                    capture_output=True).returncode == 0:
            self.process = subprocess.Popen([python, '-c', OUTPUTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def of(self, path):
        if self.process is not None:
            self.process.stdin.write(str(path) + '\n')
            self.process.stdin.flush()
            return self.process.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([self.cli, 'run', str(path), '--output-dir', folder], capture_output=True, text=True)
            if run.returncode != 0:
                return 'error: ' + run.stderr.strip()[:200]
            return hashlib.sha256(b''.join(f.read_bytes() for f in sorted(pathlib.Path(folder).iterdir()))).hexdigest()


class Work:
    """One kind of work. prepare() makes what is there before; command() is killed; judge() says what is wrong with what is
    left."""

    def __init__(self, args, folder):
        self.cli, self.demo, self.folder, self.args = args.cli, args.source / 'data/demo', folder, args
        self.model = str(self.demo / 'demo.onnx')
        self.data = ['--data', str(self.demo / 'samples'), '--preprocess', 'minus-one-one']

    def run(self, *command):
        subprocess.run([self.cli, *map(str, command)], check=True, capture_output=True)

    def quantize(self, out, *options):
        return ['quantize', self.model, '-o', out, *self.data, '--samples', '4', '--held-out', '0', '--skip-compare', *options]

    def command(self):
        return [self.cli, *map(str, self.arguments)]

    def strays(self, allowed):
        """What is left without a name that anybody knows is no fault, but told."""
        return [p.name for p in self.folder.iterdir() if p.name not in allowed]


class Calibrate(Work):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.file = folder / 'stats'
        options = ['calibrate', self.model, '--data', 'random', '--samples', '300', '--save-every', '0.01']
        self.run(*options, '-o', self.file)
        self.whole = digest(self.file)
        self.arguments = [*options, '--resume', '-o', self.file]
        self.file.unlink()

    def prepare(self):
        # Half of them go on from what the last one has left.
        if random.random() < 0.5:
            for name in ('stats', 'stats.part'):
                (self.folder / name).unlink(missing_ok=True)

    def judge(self):
        if self.file.exists() and digest(self.file) != self.whole:
            return 'the statistics are neither complete nor missing'
        kept = [(self.folder / name).read_bytes() if (self.folder / name).exists() else None for name in ('stats', 'stats.part')]
        run = subprocess.run(self.command(), capture_output=True, text=True)
        if run.returncode != 0:
            return 'cannot go on: ' + run.stderr.strip()
        if digest(self.file) != self.whole:
            return 'going on gives other bytes'
        for name, data in zip(('stats', 'stats.part'), kept):
            (self.folder / name).unlink(missing_ok=True)
            if data is not None:
                (self.folder / name).write_bytes(data)
        return None

    allowed = ('stats', 'stats.part')


class Quantize(Work):
    allowed = ('m.onnx',)

    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.file = folder / 'm.onnx'
        self.run(*self.quantize(self.file, '--method', 'percentile'))
        self.old = self.file.read_bytes()
        self.arguments = self.quantize(self.file)
        self.run(*self.arguments)
        self.known = {hashlib.sha256(self.old).hexdigest(): 'old', digest(self.file): 'new'}
        assert len(self.known) == 2

    def prepare(self):
        self.file.write_bytes(self.old)

    def judge(self):
        found = self.known.get(digest(self.file))
        self.seen.add(found)
        return None if found else 'the model is neither the old one nor the new one'


class External(Work):
    allowed = ('m.onnx', 'm.onnx.data')
    options = ['--save-as-external-data', '--all-tensors-to-one-file', '--external-data-size-threshold', '100']

    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.file = folder / 'm.onnx'
        self.outputs = Outputs(args.cli)
        self.run(*self.quantize(self.file, *self.options))
        self.old = self.read()
        self.known = {self.outputs.of(self.file): 'old'}
        # Other weights at the same places: mixed up, both would load.
        self.arguments = self.quantize(self.file, *self.options, '--reduce-range')
        self.run(*self.arguments)
        self.new = self.read()
        self.known[self.outputs.of(self.file)] = 'new'
        self.allowed = set(self.old) | set(self.new)
        assert len(self.known) == 2 and not any(k.startswith('error') for k in self.known), self.known

    def read(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def prepare(self):
        for path in self.folder.iterdir():
            path.unlink()
        for name, data in self.old.items():
            (self.folder / name).write_bytes(data)

    def judge(self):
        said = self.outputs.of(self.file)
        found = self.known.get(said)
        self.seen.add(found)
        if found is None:
            return 'model and weights do not belong together: ' + said
        # Whatever was left, writing once more gives what a first export gives.
        self.run(*self.arguments)
        there = self.read()
        return None if all(there.get(name) == data for name, data in self.new.items()) else 'another export gives other bytes'


class Each(External):
    options = ['--save-as-external-data', '--external-data-size-threshold', '5000']


class Project(Work):
    allowed = ('p.vernier', 'p.vernier-runs', 'o.onnx')

    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.file = folder / 'p.vernier'
        self.arguments = self.quantize(folder / 'o.onnx', '--save-project', self.file)
        self.run(*self.arguments)
        self.arguments = ['quantize', self.file, '-o', folder / 'o.onnx', '--skip-compare', '--method', 'percentile']
        self.before = pathlib.Path(str(folder) + '-before')
        shutil.copytree(folder, self.before)

    def prepare(self):
        shutil.rmtree(self.folder)
        shutil.copytree(self.before, self.folder)

    def judge(self):
        run = subprocess.run([self.cli, 'runs', str(self.file), '--json'], capture_output=True, text=True)
        if run.returncode != 0:
            return 'the project does not open: ' + run.stderr.strip()
        runs = json.loads(run.stdout)['runs']
        self.seen.add(len(runs))
        if len(runs) not in (1, 2):
            return f'the project has {len(runs)} runs'
        report = subprocess.run([self.cli, 'report', str(self.file), '-o', str(self.folder / 'r.md')], capture_output=True,
                                text=True)
        (self.folder / 'r.md').unlink(missing_ok=True)
        return None if report.returncode == 0 else 'a run of the project does not open: ' + report.stderr.strip()


class Autosave(Work):
    allowed = ('p.vernier',)

    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.file = folder / 'p.vernier'
        self.run(*self.quantize(folder.parent / 'o.onnx', '--save-project', self.file))
        shutil.rmtree(str(self.file) + '-runs')
        project = json.loads(self.file.read_text())
        del project['runs']
        self.before = json.dumps(project)
        self.file.write_text(self.before)

    def command(self):
        return [*self.args.autosave, str(self.file)]

    def prepare(self):
        self.file.write_text(self.before)

    def judge(self):
        run = subprocess.run([self.cli, 'runs', str(self.file), '--json'], capture_output=True, text=True)
        if run.returncode != 0:
            return 'the project does not open: ' + run.stderr.strip()
        # A whole recipe that was there at some moment.
        said = json.loads(self.file.read_text())['recipe']['percentile']
        before = json.loads(self.before)['recipe']['percentile']
        self.seen.add(said)
        return None if said == before or 90 <= said < 95 and abs(said * 200 - round(said * 200)) < 1e-6 else f'percentile {said}'


def start(command, environment, **options):
    return subprocess.Popen(command, env=dict(os.environ, **environment), stdout=options.pop('stdout', subprocess.DEVNULL),
                            stderr=subprocess.DEVNULL, **options)


def kill_after(work, environment, seconds):
    """None if it was killed; else how long it took to its end."""
    begin = time.monotonic()
    process = start(work.command(), environment)
    try:
        process.wait(seconds)
        return time.monotonic() - begin
    except subprocess.TimeoutExpired:
        process.kill()
        return None if process.wait() == -9 else time.monotonic() - begin


def kill_window_at_random(work, environment):
    """The window says when it has changed the project for the first time: it is killed within some tenths of a second behind
    that, not what has started it, which clears up."""
    process = start(work.command(), environment, stdout=subprocess.PIPE)
    number, said = None, b''
    for line in process.stdout:
        said += line
        if line.startswith(b'process '):
            number = int(line.split()[1])
        elif number and line.strip().isdigit():
            break
    else:
        process.wait()
        if b'# SKIP' in said:
            print(said.decode().strip())
            sys.exit(77)
        raise SystemExit('the window did not come up: ' + said.decode(errors='replace'))
    time.sleep(random.uniform(0, 0.4))
    os.kill(number, signal.SIGKILL)
    process.communicate()
    return True


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('cli', type=lambda p: str(pathlib.Path(p).resolve()))
    parser.add_argument('source', type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument('--steps', type=lambda p: str(pathlib.Path(p).resolve()))
    parser.add_argument('--autosave', nargs='+')
    parser.add_argument('--count', type=int, default=3)
    parser.add_argument('--seed', type=int, default=None)
    parser.add_argument('--only')
    parser.add_argument('--plain', action='store_true')
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.randrange(1 << 30)
    random.seed(seed)
    print(f'seed {seed}')
    kinds = {'calibrate': Calibrate, 'quantize': Quantize, 'external': External, 'each': Each, 'project': Project}
    if args.autosave:
        kinds['autosave'] = Autosave
    faults = 0
    with tempfile.TemporaryDirectory(prefix='vernier-kill-') as top:
        for name, kind in kinds.items():
            if args.only in (None, name):
                folder = pathlib.Path(top) / name / 'work'
                folder.mkdir(parents=True)
                faults += try_kind(args, name, kind, folder)
    if args.plain:
        print('found, as it must' if faults else 'NOTHING FOUND though files were replaced by writing into them')
        return 0 if faults else 1
    return 1 if faults else 0


def try_kind(args, name, kind, folder):
    plain = {'LD_PRELOAD': args.steps, 'VN_KILL_PLAIN': '1'} if args.plain else {}
    kind.seen = set()
    work = kind(args, folder)
    work.prepare()
    faults, killed, strays = [], 0, set()
    seconds = 0
    if name != 'autosave':
        begin = time.monotonic()
        start(work.command(), {}).wait()
        seconds = time.monotonic() - begin

    def look(when):
        strays.update(work.strays(work.allowed))
        wrong = work.judge()
        if wrong:
            faults.append(f'{name}, killed {when}: {wrong}')

    tries = 0
    while killed < args.count and tries < 3 * args.count:
        tries += 1
        work.prepare()
        if name == 'autosave':
            killed += kill_window_at_random(work, plain)
            look('while it was changed')
            continue
        at = random.uniform(0, seconds)
        took = kill_after(work, plain, at)
        killed += took is None
        # A busy machine is sometimes fast and sometimes slow.
        seconds = took if took is not None else seconds * 1.02
        look(f'after {at:.3f} of {seconds:.3f} s')
    n_steps = 0
    while args.steps and name != 'autosave' and n_steps < MAX_STEPS:
        work.prepare()
        step = {'LD_PRELOAD': args.steps, 'VN_KILL_STEP': str(n_steps + 1), **plain}
        if (name == 'calibrate' and n_steps == 6) or start(work.command(), step).wait() != -9:
            break
        n_steps += 1
        look(f'in front of change {n_steps} of the disk')
    print(f'{name}: {killed} random kills, {n_steps} at steps, {len(faults)} faults; '
          f'seen: {sorted(map(str, kind.seen))[:4]}{" …" if len(kind.seen) > 4 else ""}'
          + (f'; left behind: {len(strays)} such as {sorted(strays)[0]}' if strays else ''))
    for fault in faults[:10]:
        print('  not ok', fault)
    return len(faults)


if __name__ == '__main__':
    sys.exit(main())
