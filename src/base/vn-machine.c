/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The instruction set of this processor, and the one that loops are to use. */
#include "vn-machine.h"

/* In the order of VnLevel. What every AArch64 has needs no level beside it. */
#if defined (__aarch64__)
static const char * const level_names[] = { "x86-64-v4", "x86-64-v3", "neon" };
#else
static const char * const level_names[] = { "x86-64-v4", "x86-64-v3", "generic" };
#endif

static VnLevel
machine_detect_best (void)
{
#if defined (__x86_64__)
  if (!__builtin_cpu_supports ("avx2") || !__builtin_cpu_supports ("fma"))
    return VN_LEVEL_GENERIC;
  if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512dq") &&
      __builtin_cpu_supports ("avx512vl"))
    return VN_LEVEL_V4;
  return VN_LEVEL_V3;
#else
  return VN_LEVEL_GENERIC;
#endif
}

static VnLevel
machine_choose_level (void)
{
  const char *wanted = g_getenv ("VN_INSTRUCTION_SET");
  VnLevel best = machine_detect_best ();

  for (guint level = best; level < G_N_ELEMENTS (level_names); level++)
    if (g_strcmp0 (wanted, level_names[level]) == 0)
      return level;
  return best;
}

/**
 * vn_machine_get_best_level:
 *
 * Returns: the highest level of instructions this processor has
 */
VnLevel
vn_machine_get_best_level (void)
{
  static gsize level;   /* + 1 */

  if (g_once_init_enter (&level))
    g_once_init_leave (&level, (gsize) machine_detect_best () + 1);
  return (VnLevel) (level - 1);
}

/**
 * vn_machine_get_level:
 *
 * Returns: the level whose loops are to be used: the highest this processor has, or the one the environment variable
 *   VN_INSTRUCTION_SET names, as tests do, if this processor has it
 */
VnLevel
vn_machine_get_level (void)
{
  static gsize level;   /* + 1 */

  if (g_once_init_enter (&level))
    g_once_init_leave (&level, (gsize) machine_choose_level () + 1);
  return (VnLevel) (level - 1);
}

/**
 * vn_machine_get_best_instruction_set:
 *
 * Returns: (transfer none): the name of vn_machine_get_best_level()
 */
const char *
vn_machine_get_best_instruction_set (void)
{
  return level_names[vn_machine_get_best_level ()];
}

/**
 * vn_machine_get_instruction_set:
 *
 * Returns: (transfer none): the name of vn_machine_get_level(): "x86-64-v4", "x86-64-v3", "neon" or "generic"
 */
const char *
vn_machine_get_instruction_set (void)
{
  return level_names[vn_machine_get_level ()];
}
