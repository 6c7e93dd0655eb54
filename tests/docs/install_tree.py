# SPDX-License-Identifier: GPL-3.0-or-later
"""What “meson install” of a build writes, in a folder of its own."""
import json
import pathlib
import shutil
import subprocess


def find_meson(build):
    """The one that configured the build: others may not understand it."""
    version = json.loads((build / 'meson-info' / 'meson-info.json').read_text(encoding='utf-8'))['meson_version']['full']
    for program in (shutil.which('meson'), '/usr/bin/meson'):
        if program and pathlib.Path(program).exists() and \
           subprocess.run([program, '--version'], capture_output=True, text=True).stdout.strip() == version:
            return program
    raise SystemExit(f'no meson {version}, which configured {build}')


def install(build, folder):
    """Returns the tree below its prefix, which lies in the folder; nothing is installed outside of it."""
    options = json.loads((build / 'meson-info' / 'intro-buildoptions.json').read_text(encoding='utf-8'))
    root = folder / next(row['value'] for row in options if row['name'] == 'prefix').lstrip('/')
    done = subprocess.run([find_meson(build), 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', folder],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    outside = [path for path in folder.rglob('*') if not path.is_dir() and not path.is_relative_to(root)]
    assert not outside, f'installed outside of the prefix: {outside}'
    return root
