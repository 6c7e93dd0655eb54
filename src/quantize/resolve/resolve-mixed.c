/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Outputs that hold numbers of very different size: what joins boxes in pixels and scores would give both one scale, of which
 * nothing is left for the scores. It stays in float, and so does what follows it, as long as no product of integers is lost by
 * that. */

#include "vn-resolver.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

#define UNLIKE 10.0   /* the largest number of one input of a join to that of another: three bits less for it */

/* The largest absolute value that was seen; NaN: nobody knows. */
static double
resolve_mixed_get_size (VnResolver    *self,
                        const VnValue *value)
{
  const VnHistogram *histogram = value != NULL && self->lookup != NULL ? self->lookup (value->name, self->lookup_data) : NULL;

  if (histogram == NULL || !(histogram->min <= histogram->max))
    return NAN;
  return fmax (fabs ((double) histogram->min), fabs ((double) histogram->max));
}

static gboolean
resolve_mixed_joins_unlike (VnResolver   *self,
                            const VnNode *node,
                            double       *least,
                            double       *most)
{
  if (!vn_node_is (node, "Concat"))
    return FALSE;
  *least = INFINITY;
  *most = 0;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      double size = resolve_mixed_get_size (self, vn_node_get_input (node, i));

      if (size > 0)
        *least = fmin (*least, size);
      if (size > 0)
        *most = fmax (*most, size);
    }
  return isfinite (*least) && *most >= UNLIKE * *least;
}

/* Whether ONNX Runtime and its like have faster kernels for it on integers. */
static gboolean
resolve_mixed_is_product (VnResolver   *self,
                          const VnNode *node)
{
  const VnOp *op = self->quant_nodes[node->index].op;

  return op != NULL && (op->quant.role == VN_QUANT_COMPUTE || op->quant.role == VN_QUANT_MATMUL);
}

/* Nodes that @node leads to, itself too; %NULL if one of them is better off on integers, or if the user has asked for it. */
static GPtrArray *
resolve_mixed_follow (VnResolver   *self,
                      const VnNode *node)
{
  g_autoptr(GPtrArray) reached = g_ptr_array_new ();
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);

  g_ptr_array_add (reached, (gpointer) node);
  for (guint at = 0; at < reached->len; at++)
    {
      const VnNode *next = g_ptr_array_index (reached, at);

      if (resolve_mixed_is_product (self, next) || self->quant_nodes[next->index].rule >= 0 || vn_node_has_graphs (next))
        return NULL;
      for (guint o = 0; o < next->outputs->len; o++)
        {
          const VnValue *value = vn_node_get_output (next, o);

          for (guint u = 0; value != NULL && u < value->uses->len; u++)
            {
              VnNode *user = g_array_index (value->uses, VnUse, u).node;

              if (user->graph == self->graph && g_hash_table_add (seen, user))
                g_ptr_array_add (reached, user);
            }
        }
    }
  return g_steal_pointer (&reached);
}

static void
resolve_mixed_note (VnResolver   *self,
                    const VnNode *node,
                    double        least,
                    double        most)
{
  g_autofree char *label = vn_node_dup_label (node), *small = vn_format_number (least, 2), *large = vn_format_number (most, 2);

  if (self->notes == NULL)
    return;
  if (self->scheme.placement.float_mixed)
    vn_notes_add (self->notes, VN_NOTE_INFO, VN_NOTE_CODE_MIXED_STAYS_FLOAT, label,
                  _("It joins values of up to %s and up to %s: with a single scale, the small ones would be lost, so "
                    "it stays in float, as do the nodes after it"), large, small);
  else
    vn_notes_add_remedy (self->notes, VN_NOTE_WARNING, "mixed-quantized", label, _("Leave it in float with “float-mixed”"),
                         _("It joins values of up to %s and up to %s under a single scale: the small ones are mostly lost"),
                         large, small);
}

/*< private >
 * vn_resolver_leave_mixed:
 *
 * Once ranges can be looked up, and before anything is annotated: leaves joins of unlike numbers at the end of the network in
 * float, where the recipe wants that, and tells of them.
 */
void
vn_resolver_leave_mixed (VnResolver *self)
{
  double least, most;

  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->nodes, i);
      g_autoptr(GPtrArray) tail = NULL;

      if (!self->quant_nodes[node->index].selected || !resolve_mixed_joins_unlike (self, node, &least, &most) ||
          (tail = resolve_mixed_follow (self, node)) == NULL)
        continue;
      resolve_mixed_note (self, node, least, most);
      for (guint k = 0; k < tail->len && self->scheme.placement.float_mixed; k++)
        {
          VnQuantNode *info = &self->quant_nodes[((const VnNode *) g_ptr_array_index (tail, k))->index];

          info->mixed = info->selected;
          info->selected = FALSE;
        }
    }
}
