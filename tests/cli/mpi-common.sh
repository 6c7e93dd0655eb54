# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by the tests of several processes: a folder to work in, mpirun that starts as many as one likes, check().
# shellcheck shell=bash disable=SC2034
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# Open MPI 5 starts processes with PRRTE, which has names of its own for that.
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl_vader_single_copy_mechanism=none \
  OMPI_MCA_hwloc_base_binding_policy=none
export LC_ALL=C.UTF-8 LANGUAGE=
command -v mpirun >/dev/null || { echo "mpirun is not installed (Debian: openmpi-bin)"; exit 77; }
work=$(mktemp -d)
# Jobs that begin and end at the same time share a folder for their sockets unless each has its own.
sessions=$(mktemp -d)
export OMPI_MCA_orte_tmpdir_base="$sessions" PRTE_MCA_prte_tmpdir_base="$sessions"
trap 'cat "$sessions/starts" 2>/dev/null; rm -rf "$work" "$sessions"' EXIT
cd "$work" || exit 1
mpirun -n 2 true >/dev/null 2>&1 || { echo "mpirun cannot start processes here"; exit 77; }
failed=0

# mpirun ARGUMENTS...: where it fails, and neither a program of ours said why nor one of its processes was ended by a signal, it
# has not been able to start them, which happens on busy machines: that is told, and tried once more.
mpirun () {
  local said status
  said=$(mktemp -p "$sessions")
  command mpirun "$@" 2>"$said"
  status=$?
  if [ $status != 0 ] && ! grep -q 'vernier-cli [a-z]*:\|signal' "$said"; then
    { echo "mpirun failed with $status:"; cat "$said"; } >>"$sessions/starts"
    command mpirun "$@"
    return
  fi
  cat "$said" >&2
  return $status
}

# check NAME COMMAND...
check () {
  local name=$1
  shift
  if "$@"; then echo "ok $name"; else echo "not ok $name"; failed=1; fi
}
