# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether others use the machine while something is measured: what it measures is then worth nothing.

The system counts what all processors do; what this process and those it has started and waited for took of it is theirs, and the
rest, with what the host of a virtual machine took for others, is foreign.
"""
import os
import resource
import time

MOST_FOREIGN = 0.05      # of the time of all processors
MOST_STOLEN = 0.01
TICKS = os.sysconf('SC_CLK_TCK')


def read_machine(path='/proc/stat'):
    """Seconds that all processors worked, and that were stolen by the host, since the start of the machine."""
    with open(path) as file:
        user, nice, system, _, _, irq, softirq, stolen = (int(n) / TICKS for n in file.readline().split()[1:9])
    return user + nice + system + irq + softirq, stolen


def read_own():
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


class Watch:
    """From its making to look(): the shares of all processors that were foreign and stolen."""

    def __init__(self, machine=read_machine, own=read_own, clock=time.monotonic, cores=os.cpu_count()):
        self.readers, self.cores = (machine, own, clock), cores
        self.began = self.read()

    def read(self):
        machine, own, clock = self.readers
        return (*machine(), own(), clock())

    def look(self):
        worked, stolen, own, seconds = (now - then for now, then in zip(self.read(), self.began))
        whole = max(seconds, 1e-9) * self.cores
        return max(worked - own, 0) / whole, stolen / whole

    def find_fault(self):
        """What makes a measurement worthless; None: nothing."""
        foreign, stolen = self.look()
        if foreign > MOST_FOREIGN:
            return 'other processes used %.0f %% of the processors, %.0f %% at most may be' % (foreign * 100, MOST_FOREIGN * 100)
        if stolen > MOST_STOLEN:
            return 'the host took %.1f %% of the processors, %.0f %% at most may be' % (stolen * 100, MOST_STOLEN * 100)
        return None


def find_fault_before(seconds=3):
    """As find_fault(), of a machine on which nothing is measured yet."""
    watch = Watch()
    time.sleep(seconds)
    return watch.find_fault()


def find_spread(times, most=1.25, least=0.05):
    """What repeats of one measurement, in seconds, say against it; None: nothing. The very short ones always differ."""
    times = sorted(t for t in times if t is not None)
    if len(times) < 2 or times[0] < least or times[1] <= most * times[0]:
        return None
    return 'the two best of %d repeats took %.2f and %.2f s' % (len(times), times[0], times[1])
