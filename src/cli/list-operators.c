/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "list operators": what the engine runs, sorted by domain and name. */
#include "vn-listing.h"

#include "vn-i18n.h"
#include "vn-op.h"

#include <string.h>

#define BITS8 (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8))
#define SIGNED (VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (S16) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64))
#define UNSIGNED (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (U16) | VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (U64))
#define FLOATS (VN_DTYPE_BIT (F16) | VN_DTYPE_BIT (BF16) | VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64))
#define FLOAT8 (VN_DTYPE_BIT (F8E4M3) | VN_DTYPE_BIT (F8E4M3UZ) | VN_DTYPE_BIT (F8E5M2) | VN_DTYPE_BIT (F8E5M2UZ) | \
                VN_DTYPE_BIT (F8E8M0))
#define SMALL (VN_DTYPE_BIT (U4) | VN_DTYPE_BIT (S4) | VN_DTYPE_BIT (U2) | VN_DTYPE_BIT (S2) | VN_DTYPE_BIT (F4E2M1))
#define EVERY (((VnDTypeSet) 2 << VN_DTYPE_S2) - 2)   /* all that tensors can have */

static const struct { VnDTypeSet set; const char *name; } type_groups[] = {
  { EVERY, N_("all") }, { FLOATS | SIGNED | UNSIGNED, N_("values") }, { FLOATS, N_("floats") },
  { SIGNED | UNSIGNED, N_("integers") }, { SIGNED, N_("signed") }, { UNSIGNED, N_("unsigned") }, { BITS8, "int8, uint8" },
  { VN_DTYPE_BIT (C64) | VN_DTYPE_BIT (C128), N_("complex") }, { FLOAT8, "float8" }, { SMALL, N_("4 and 2 bits") },
};

/* Floats are those of 16 to 64 bits, integers have 8 to 64 bits, numbers are both. */
static char *
list_operators_dup_types (VnDTypeSet set)
{
  GString *text = g_string_new (NULL);

  set &= EVERY;
  for (guint i = 0; i < G_N_ELEMENTS (type_groups); i++)
    if ((set & type_groups[i].set) == type_groups[i].set)
      {
        g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", _(type_groups[i].name));
        set &= ~type_groups[i].set;
      }
  for (int dtype = 1; dtype < VN_N_DTYPES; dtype++)
    if ((set >> dtype & 1) != 0)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", vn_dtype_get_name ((VnDType) dtype));
  return g_string_free (text, FALSE);
}

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
  g_autofree char *names = types != 0 ? list_operators_dup_types (types) : g_strdup (_("no input"));
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
