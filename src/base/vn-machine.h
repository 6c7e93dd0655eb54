/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The instruction sets that loops are compiled for, and which of them is used. */

#include <glib.h>

G_BEGIN_DECLS

/* Levels of instructions that loops are compiled for, the highest first. */
typedef enum
{
  VN_LEVEL_V4,        /* AVX-512 */
  VN_LEVEL_V3,        /* AVX2 and FMA */
  VN_LEVEL_GENERIC,
} VnLevel;

VnLevel     vn_machine_get_best_level           (void);
VnLevel     vn_machine_get_level                (void);
const char *vn_machine_get_best_instruction_set (void);
const char *vn_machine_get_instruction_set      (void);

G_END_DECLS
