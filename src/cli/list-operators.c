/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "list operators": what the engine runs, sorted by domain and name. */
#include "vn-listing.h"

#include "vn-i18n.h"
#include "vn-op-doc.h"

#include <string.h>

#define EVERY (((VnDTypeSet) 2 << VN_DTYPE_S2) - 2)   /* all that tensors can have */

/* Types of the data; what takes anything states none, and what has no input has none. */
static VnDTypeSet
list_operators_get_types (const VnOp *op)
{
  return op->max_inputs == 0 ? 0 : op->dtypes == 0 ? EVERY : vn_op_get_dtypes (op) & EVERY;
}

static gint
list_operators_compare (gconstpointer a,
                        gconstpointer b)
{
  const VnOp *x = *(const VnOp * const *) a, *y = *(const VnOp * const *) b;
  int order = strcmp (x->domain, y->domain);

  if (order == 0)
    order = strcmp (x->type, y->type);
  return order != 0 ? order : (int) x->since - (int) y->since;
}

static void
list_operators_add (VnListing  *listing,
                    const VnOp *op)
{
  VnDTypeSet types = list_operators_get_types (op);
  g_autofree char *names = types != 0 ? vn_op_dup_types (types) : g_strdup (_("no input"));
  gboolean ends = op->until > op->since;
  g_autofree char *versions = ends ? g_strdup_printf ("%u–%u", op->since, op->until) : g_strdup_printf ("%u", op->since);
  g_autofree char *line = g_strdup_printf ("%-6s %s", versions, names);

  vn_listing_begin (listing, op->type, op->domain[0] != '\0' ? op->domain : "ai.onnx");
  vn_listing_add_number (listing, "since", op->since);
  if (ends)
    vn_listing_add_number (listing, "until", op->until);
  vn_listing_add_text (listing, "versions", versions);
  vn_listing_add_text (listing, "type_names", names);
  vn_listing_add_types (listing, "types", types);
  vn_listing_end (listing, line);
}

void
vn_list_operators (VnListing *listing)
{
  guint n;
  const VnOp * const *ops = vn_op_list (&n);
  g_autoptr(GPtrArray) sorted = g_ptr_array_sized_new (n);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (sorted, (gpointer) ops[i]);
  g_ptr_array_sort (sorted, list_operators_compare);
  for (guint i = 0; i < n; i++)
    list_operators_add (listing, g_ptr_array_index (sorted, i));
}
