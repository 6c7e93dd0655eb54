/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-machine.h"

#include "vn-blas.h"
#include "vn-tile.h"

/**
 * vn_machine_get_instruction_set:
 *
 * Returns: (transfer none): the level the fastest loops of the operators are compiled for and this processor has:
 *   "x86-64-v4", "x86-64-v3" or "generic"
 */
const char *
vn_machine_get_instruction_set (void)
{
  return vn_tile_get ()->name;
}

/**
 * vn_machine_get_blas_core:
 *
 * Returns: (transfer none): the processor OpenBLAS has chosen its loops for, in its own words: "SkylakeX"
 */
const char *
vn_machine_get_blas_core (void)
{
  return vn_blas_get_core ();
}
