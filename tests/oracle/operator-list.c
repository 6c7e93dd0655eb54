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
    {
      printf ("%s\t%s\t%u\t%u", ops[i]->domain, ops[i]->type, ops[i]->since, ops[i]->until);
      for (guint k = 0; k < MIN (ops[i]->max_inputs, VN_OP_MAX_OTHERS); k++)
        if (vn_op_get_input_dtypes (ops[i], k) != 0)
          printf ("\t%llx", (unsigned long long) vn_op_get_input_dtypes (ops[i], k));
        else
          printf ("\t-");
      printf ("\n");
    }
  return 0;
}
