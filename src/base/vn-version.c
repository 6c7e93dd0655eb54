/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What program this is, and what it was made of and runs on. */
#include "vn-version.h"

#include "vn-build.h"
#include "vn-i18n.h"
#include "vn-machine.h"

/**
 * vn_version_dup_build:
 *
 * Returns: (transfer full): two lines about this build, translated: who made it, if that was told when it was configured, by
 *   what compiler and how, and the instruction set whose loops are used, of those it has; each ends with a newline
 */
char *
vn_version_dup_build (void)
{
  const char *level = vn_machine_get_instruction_set ();
  const char *best = vn_machine_get_best_instruction_set ();
  g_autofree char *maker = VN_BUILD_MAKER[0] != '\0' ? g_strconcat (VN_BUILD_MAKER, ", ", NULL) : g_strdup ("");
  g_autofree char *build = g_strdup_printf (_("Build: %s%s %s for %s, optimization %s\n"), maker, VN_BUILD_COMPILER,
                                            VN_BUILD_COMPILER_VERSION, VN_BUILD_MACHINE, VN_BUILD_OPTIMIZATION);
  g_autofree char *used = g_str_equal (level, best) ? g_strdup_printf (_("Instruction set: %s\n"), level)
    : g_strdup_printf (_("Instruction set: %s, on a CPU that supports %s (VN_INSTRUCTION_SET)\n"), level, best);

  return g_strconcat (build, used, NULL);
}
