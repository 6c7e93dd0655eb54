/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints what the table of operators declares, one line per entry, for element_types.py. */
#include "vn-op.h"

#include <stdio.h>

int
main (void)
{
  guint n;
  const VnOp * const *ops = vn_op_list (&n);

  for (guint i = 0; i < n; i++)
    printf ("%s\t%s\t%u\t%u\t%x\n", ops[i]->domain, ops[i]->type, ops[i]->since, ops[i]->until, vn_op_get_dtypes (ops[i]));
  return 0;
}
