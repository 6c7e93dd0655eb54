/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-machine.h"

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
