#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""same_files.py CLI SOURCE_DIR [--shared] [--networks NAME...] [--recipes NAME...] [--together] [--processors | --levels]
[--keep FOLDER] [--write FOLDER]:
the files that vernier-cli writes, export, statistics, table of ranges, recipe, project and report in all forms, have the same
bytes whatever the number of threads, the folder, the load of the machine and the locale. --shared takes all networks of
$VN_SHARED/models instead of the demo; what a network cannot be given is told, and skipped. --together changes several of them in
each run, which says as surely that nothing differs, but not what it is that does.

--processors compares processors, too: the program is run by QEMU (qemu-user) with processors of the levels x86-64-v3 and
x86-64-v2; what manual pages promise is an error if it does not hold, all else is told. That takes minutes for the demo.

--levels compares loops instead of threads and folders: those of each instruction set that this processor has and that has
fused multiplications and additions (VN_INSTRUCTION_SET), and where no equations are solved OpenBLAS' kernels for other processors
(OPENBLAS_CORETYPE).

--write compares nothing: files are left in FOLDER/NETWORK-RECIPE, for comparing with those of another machine."""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

# What takes part in each run: settings by name.
RECIPES = {
    'plain': ['--skip-compare'],
    'compared': ['--per-channel', '--method', 'entropy', '--origins'],
    'percentile': ['--preset', 'a16w8', '--method', 'percentile', '--percentile', '99.9', '--bias-correction', 'guarded'],
    'npu': ['--preset', 'npu-cnn', '--equalize', 'amd'],
    'repaired': ['--rounding', 'second-order', '--range-search', 'outputs', '--balance-channels', 'folded', '--per-channel'],
    'trained': ['--weight', 's4', '--train', 'adaquant', '--train-steps', '20'],
    'weights': ['--preset', 'w8'],
    'mse': ['--method', 'mse', '--format', 'qoperator', '--skip-compare'],
}
SAMPLES = '6'
# Languages whose numbers, letters or both are written otherwise. Made by localedef where the system lacks them.
LOCALES = ['de_DE', 'tr_TR', 'ar_EG']
TRANSLATED = ('de_DE.UTF-8',)     # of these there are catalogues
# Threads in each other's way.
ONE_PROCESSOR = (sys.executable, '-c',
                 'import os, sys; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); os.execv(sys.argv[1], sys.argv[1:])')
OPENBLAS = ('OPENBLAS_CORETYPE', 'OPENBLAS_L2_SIZE', 'OPENBLAS_NUM_THREADS')
FUSED_LEVELS = ('x86-64-v4', 'x86-64-v3')
CORE_TYPES = ('Haswell', 'SkylakeX', 'Zen')
SOLVE = ('repaired',)     # recipes whose results depend on the kernels of OpenBLAS


def digest_files(folder):
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, 'rb') as f:
                found[os.path.relpath(path, folder)] = hashlib.sha256(f.read()).hexdigest()
    return found


class Runs:
    """Runs of one network and recipe, each in a folder of its own that holds model and samples by the same names."""

    def __init__(self, options, work, model, data, settings):
        self.options, self.work, self.model, self.data, self.settings = options, work, model, data, settings

    def run(self, name, threads=1, prefix=(), env=None, folder=None):
        """Digests of what was written, and where; or what was said instead."""
        place = folder or os.path.join(self.work, name)
        os.makedirs(place)
        link_model(self.model, place)
        data = self.data
        if data[0] != 'random':
            os.symlink(data[0], os.path.join(place, 'samples'))
            data = ['samples', *data[1:]]
        command = [*prefix, self.options.cli, 'quantize', 'net.onnx', '-o', 'out.onnx', '--data', *data, '--samples', SAMPLES,
                   '--threads', str(threads),
                   '--save-stats', 'statistics', '--save-recipe', 'recipe.json', '--report', 'report', *self.settings]
        everything = {**os.environ, 'LC_ALL': 'C', 'LANGUAGE': '', 'SOURCE_DATE_EPOCH': '1700000000', **(env or {})}
        for variable in OPENBLAS:
            if variable not in (env or {}):
                everything.pop(variable, None)
        done = subprocess.run(command, cwd=place, env=everything, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors='replace')
        for name in os.listdir(place):
            if os.path.islink(os.path.join(place, name)):
                os.unlink(os.path.join(place, name))
        return digest_files(place) if done.returncode == 0 else None, (done.stderr.strip().splitlines() or [''])[-1]


def link_model(model, place):
    """As net.onnx; files with its weights keep their names."""
    os.symlink(model, os.path.join(place, 'net.onnx'))
    folder = os.path.dirname(model)
    for name in os.listdir(folder) if 'external' in os.path.basename(folder) else []:
        os.symlink(os.path.join(folder, name), os.path.join(place, name))


def differences(first, second, translated=False):
    """Names of files that are not the same; reports are in the language of the reader, but for numbers in report.json."""
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name)
                  and not (translated and name.startswith('report')))


def make_locales(folder):
    """Locales by name, for LOCPATH; those that can be made here."""
    found = []
    for name in LOCALES:
        try:
            done = subprocess.run(['localedef', '-i', name, '-f', 'UTF-8', os.path.join(folder, name + '.UTF-8')],
                                  capture_output=True, check=False)
        except FileNotFoundError:
            break
        if os.path.exists(os.path.join(folder, name + '.UTF-8', 'LC_NUMERIC')) and done.returncode in (0, 1):
            found.append(name + '.UTF-8')
    return found


def name_level(cli, wanted=''):
    """The instruction set that is used if @wanted is asked for."""
    said = subprocess.run([cli, '--version'], env={**os.environ, 'LC_ALL': 'C', 'LANGUAGE': '', 'VN_INSTRUCTION_SET': wanted},
                          capture_output=True, text=True, check=True).stdout
    return next(line for line in said.splitlines() if line.startswith('Instruction set: ')).split(': ')[1].split(',')[0]


def list_levels(options, recipe):
    """As list_variants()."""
    own = name_level(options.cli)
    for level in FUSED_LEVELS:
        if level != own and name_level(options.cli, level) == level:
            yield level, {'env': {'VN_INSTRUCTION_SET': level}}, False
    # What the processor cannot run OpenBLAS replaces by what it can.
    for core in CORE_TYPES if recipe not in SOLVE else ():
        yield core, {'env': {'OPENBLAS_CORETYPE': core}}, False


def list_variants(options, work, recipe):
    """Name, arguments of Runs.run(), and whether reports may be in another language."""
    if options.levels:
        yield from list_levels(options, recipe)
        return
    locales = os.path.join(work, 'locales')
    os.makedirs(locales, exist_ok=True)
    places = [('2-threads', {'threads': 2}), ('5-threads', {'threads': 5}),
              ('elsewhere', {'threads': 3, 'folder': os.path.join(work, 'a folder of another name', 'Ünïcödé', 'deep')}),
              ('busy', {'threads': 4, 'prefix': ONE_PROCESSOR})]
    languages = [(name, {'LOCPATH': locales, 'LC_ALL': '', 'LANG': name, 'LC_MESSAGES': 'C', 'LC_TIME': 'C'})
                 for name in make_locales(locales)]
    if options.together:
        for k, (place, arguments) in enumerate(places):
            name, env = languages[k] if k < len(languages) else ('', None)
            yield f'{place} {name}'.strip(), {**arguments, 'env': env}, False
    else:
        for place, arguments in places:
            yield place, arguments, False
        for name, env in languages:
            yield name, {'threads': 2, 'env': env}, False
    for name, _ in languages:
        if name in TRANSLATED:
            yield name + ' translated', {'threads': 1, 'env': {'LOCPATH': locales, 'LC_ALL': name}}, True
    if not options.processors:
        return
    for name, processor in (('x86-64-v3', 'EPYC-Rome'), ('x86-64-v2', 'Nehalem')):
        yield name, {'prefix': ('qemu-x86_64', '-cpu', processor)}, False


def compare(options, model, data, name, settings, work):
    """How many comparisons, and what differs."""
    runs = Runs(options, work, model, data, settings)
    first, said = runs.run('first')
    faults, compared = [], 0
    if first is None:
        print(f'{name}: skipped: {said[:200]}', flush=True)
        return 0, []
    for variant, arguments, translated in list_variants(options, work, name.split()[-1]):
        found, said = runs.run(variant, **arguments)
        compared += 1
        other = ['fails: ' + said] if found is None else differences(first, found, translated)
        if other:
            faults.append(f'{name}: {variant}: {", ".join(other)}')
            print(faults[-1], flush=True)
            if options.keep:
                target = os.path.join(options.keep, f'{name}-{variant}'.replace('/', '_').replace(' ', '_'))
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(arguments.get('folder') or os.path.join(work, variant), target, symlinks=True,
                                ignore_dangling_symlinks=True)
                if not os.path.exists(target + '-first'):
                    shutil.copytree(os.path.join(work, 'first'), target + '-first', symlinks=True)
    print(f'{name}: {len(first)} files, {compared} runs beside the first', flush=True)
    return compared, faults


def write(options, model, data, name, settings):
    """How many files; what is left in the folder of @name."""
    place = os.path.join(options.write, name.replace(' ', '-'))
    found, said = Runs(options, None, model, data, settings).run('first', folder=place)
    print(f'{name}: {len(found)} files' if found is not None else f'{name}: skipped: {said[:200]}', flush=True)
    return len(found or [])


def list_networks(options):
    """Path and options for samples, by name."""
    demo = os.path.join(options.source, 'data', 'demo')
    found = {'demo': (os.path.join(demo, 'demo.onnx'), [os.path.join(demo, 'samples'), '--preprocess', 'minus-one-one'])}
    if not options.shared:
        return found
    models = os.path.join(os.environ['VN_SHARED'], 'models')
    for folder, _, names in os.walk(models):
        if os.path.basename(folder) != 'broken':
            found.update({n[:-5]: (os.path.join(folder, n), ['random']) for n in names if n.endswith('.onnx')})
    return dict(sorted(found.items()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('cli', type=os.path.abspath)
    parser.add_argument('source', type=os.path.abspath)
    parser.add_argument('--shared', action='store_true')
    parser.add_argument('--together', action='store_true')
    parser.add_argument('--processors', action='store_true')
    parser.add_argument('--levels', action='store_true')
    parser.add_argument('--networks', nargs='*')
    parser.add_argument('--recipes', nargs='*', default=list(RECIPES))
    parser.add_argument('--keep')
    parser.add_argument('--write')
    options = parser.parse_args()
    total, faults = 0, []
    for network, (model, data) in list_networks(options).items():
        if options.networks and network not in options.networks:
            continue
        for recipe in options.recipes:
            if options.write:
                total += write(options, model, data, f'{network} {recipe}', RECIPES[recipe])
                continue
            with tempfile.TemporaryDirectory() as work:
                compared, found = compare(options, model, data, f'{network} {recipe}', RECIPES[recipe], work)
            total += compared
            faults += found
    print(f'{total} files written' if options.write else f'{total} runs compared, {len(faults)} differ')
    sys.exit(1 if faults or total == 0 else 0)


main()
