# SPDX-License-Identifier: GPL-3.0-or-later
"""watch.py ARGUMENTS...: runs the program $VN_WATCHED_CLI in place of this one, and writes down in the file $VN_WATCHED_LOG what
a run that failed has changed in the folder $VN_WATCHED: names, kinds, sizes, modes and times. Started by run-cases.sh for each
run of each case, so only what starts at once is imported."""
import os
import signal
import stat
import sys

# Files whose names end so may appear or change: what calibrating has learned is kept, for --resume and for --stats.
KEPT_ON_PURPOSE = ('.part', 'statistics')
# Folders of others below the home: onnxruntime notes there that it was imported.
OF_OTHERS = ('Microsoft',)


def own_streams():
    """Where the caller of this process sends what it prints: that may grow."""
    found = set()
    for fd in (1, 2):
        try:
            info = os.fstat(fd)
            found.add((info.st_dev, info.st_ino))
        except OSError:
            pass
    return found


def list_folder(folder, skip):
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in OF_OTHERS]
        for name in folders + files:
            path = os.path.join(place, name)
            try:
                info = os.lstat(path)
            except OSError:
                found[path] = None
                continue
            if (info.st_dev, info.st_ino) not in skip and not name.endswith(KEPT_ON_PURPOSE):
                # a folder's own time and size tell of names that came and went
                found[path] = (info.st_mode, info.st_ino) + (() if stat.S_ISDIR(info.st_mode)
                                                             else (info.st_size, info.st_mtime_ns))
    return found


def describe(before, after):
    """The differences of two listings in words."""
    lines = ['new: ' + p for p in after if p not in before]
    lines += ['gone: ' + p for p in before if p not in after]
    return lines + ['changed: ' + p for p in before if p in after and before[p] != after[p]]


def main():
    cli, arguments = os.environ['VN_WATCHED_CLI'], sys.argv[1:]
    folder, skip = os.environ['VN_WATCHED'], own_streams()
    before = list_folder(folder, skip)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)      # Python ignores it, and so would the program
        os.execv(cli, [cli] + arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda n, frame: os.kill(child, n))
    _, status = os.waitpid(child, 0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        with open(os.environ['VN_WATCHED_LOG'], 'a', encoding='utf-8') as log:
            log.write(f"exit {code}: {' '.join(arguments)!r}\n"
                      + ''.join(f'left: {line}\n' for line in describe(before, list_folder(folder, skip))))
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
