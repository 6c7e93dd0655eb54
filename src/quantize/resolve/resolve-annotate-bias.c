/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which biases become integers. Each has the scale of its node: whoever else reads one needs a copy of its own. */

#include "vn-resolver.h"

static void
resolve_annotate_bias_note_suffix (GHashTable *largest,
                                   const char *name,
                                   gsize       n_prefix)
{
  g_autofree char *prefix = g_strndup (name, n_prefix);
  gint64 number;

  if (g_ascii_string_to_signed (name + n_prefix, 10, 0, G_MAXINT32, &number, NULL) &&
      number >= (gint64) GPOINTER_TO_SIZE (g_hash_table_lookup (largest, prefix)))
    g_hash_table_insert (largest, g_steal_pointer (&prefix), GSIZE_TO_POINTER ((gsize) number + 1));
}

/* Whatever the names of initializers end in, as far as that is a number -> the largest such number, and 1 */
static GHashTable *
resolve_annotate_bias_index_suffixes (VnResolver *self)
{
  GHashTable *largest = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < self->graph->initializers->len; i++)
    {
      const char *name = ((const VnValue *) g_ptr_array_index (self->graph->initializers, i))->name;
      gsize at = strlen (name);

      while (at > 0 && g_ascii_isdigit (name[at - 1]))
        resolve_annotate_bias_note_suffix (largest, name, --at);
      if (at > 0 && (name[at - 1] == '-' || name[at - 1] == '+'))
        resolve_annotate_bias_note_suffix (largest, name, at - 1);
    }
  return largest;
}

/* The number behind @prefix in the names of initializers, as large as they come; -1: none */
static gint64
resolve_annotate_bias_largest_suffix (VnResolver *self,
                                      const char *prefix)
{
  if (self->suffixes == NULL)
    self->suffixes = resolve_annotate_bias_index_suffixes (self);
  return (gint64) GPOINTER_TO_SIZE (g_hash_table_lookup (self->suffixes, prefix)) - 1;
}

static char *
resolve_annotate_bias_name_copy (VnResolver    *self,
                                 const VnValue *bias)
{
  const guint known = GPOINTER_TO_UINT (g_hash_table_lookup (self->bias_copies, bias));

  for (gint64 number = known > 0 ? known : resolve_annotate_bias_largest_suffix (self, bias->name) + 1;; number++)
    {
      char *name = g_strdup_printf ("%s%" G_GINT64_FORMAT, bias->name, number);

      if (vn_graph_find_value (self->graph, name) == NULL && g_hash_table_add (self->copy_names, g_strdup (name)))
        {
          g_hash_table_insert (self->bias_copies, (gpointer) bias, GSIZE_TO_POINTER ((gsize) number + 1));
          return name;
        }
      g_free (name);
    }
}

/* A bias gets the scale of the node it belongs to: whoever else reads it needs a copy of its own. */
static gboolean
resolve_annotate_bias_needs_copy (VnResolver    *self,
                                  const VnValue *bias,
                                  float          beta)
{
  guint n_uses;

  if (vn_resolver_is_annotated (self, bias) || bias->is_output || g_hash_table_contains (self->bias_copies, bias))
    return TRUE;
  n_uses = vn_quant_count_uses (bias);
  if ((beta != 1 && n_uses > 1) || n_uses < bias->uses->len)
    return TRUE;
  for (guint i = 0; i < bias->uses->len; i++)
    {
      const VnNode *user = g_array_index (bias->uses, VnUse, i).node;

      if (user->graph == self->graph &&
          (self->quant_nodes[user->index].exclude_rule >= 0 || self->quant_nodes[user->index].placed_outside ||
           self->quant_nodes[user->index].tail))
        return TRUE;
    }
  return FALSE;
}

/*< private >
 * vn_resolver_annotate_bias:
 * @input: number of the input that is the bias; there is one
 * @x: what the bias is added to the product of
 * @weight: and what it is multiplied by
 */
void
vn_resolver_annotate_bias (VnResolver    *self,
                           const VnNode  *node,
                           int            input,
                           const VnValue *x,
                           const VnValue *weight)
{
  const VnValue *bias = vn_node_get_input (node, (guint) input);
  VnQuantBias entry;

  g_return_if_fail (self != NULL);

  if (bias->graph != self->graph || bias->initializer == NULL ||
      bias->initializer->dtype != VN_DTYPE_F32 || !vn_resolver_is_annotated (self, x) || !vn_resolver_is_annotated (self, weight))
    return;

  entry = (VnQuantBias) { node, (guint) input, bias, x, weight, vn_node_get_float (node, "beta", 1), NULL };
  entry.name = resolve_annotate_bias_needs_copy (self, bias, entry.beta)
               ? resolve_annotate_bias_name_copy (self, bias) : g_strdup (bias->name);
  g_array_append_val (self->biases, entry);
  g_hash_table_add (self->with_bias, (gpointer) node);
  if (!g_hash_table_contains (self->bias_copies, bias))
    g_hash_table_insert (self->bias_copies, (gpointer) bias, NULL);
}

/*< private >
 * vn_resolver_rename_shared_biases:
 *
 * A bias that a later node uses as data, too, is copied.
 */
void
vn_resolver_rename_shared_biases (VnResolver *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->biases->len; i++)
    {
      VnQuantBias *bias = &g_array_index (self->biases, VnQuantBias, i);

      if (!vn_resolver_is_annotated (self, bias->bias) || !g_str_equal (bias->name, bias->bias->name))
        continue;
      g_free (bias->name);
      bias->name = resolve_annotate_bias_name_copy (self, bias->bias);
    }
}
