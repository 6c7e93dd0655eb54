/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What is one operation: between two nodes that are computed together nothing is rounded, so nothing is quantized there. */

#include "vn-resolver.h"

#include <string.h>

static double
resolve_fuse_bound_of (const VnNode *clip,
                       const char   *attribute,
                       guint         i,
                       double        fallback)
{
  const VnValue *value = vn_node_get_input (clip, i);
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  if (value == NULL)
    return vn_node_get_float (clip, attribute, (float) fallback);
  return tensor != NULL && tensor->n_elements == 1 ? vn_tensor_get_double (tensor, 0) : fallback;
}

/* AMD's processors compute these in one with what stands before them. */
static gboolean
resolve_fuse_is_activation (const VnNode *node)
{
  if (g_str_equal (node->op_type, "Clip"))
    return resolve_fuse_bound_of (node, "min", 1, -1) == 0 &&
           (resolve_fuse_bound_of (node, "max", 2, -1) == 6 || resolve_fuse_bound_of (node, "max", 2, -1) == 1);
  return g_str_equal (node->op_type, "Relu") || g_str_equal (node->op_type, "LeakyRelu") || g_str_equal (node->op_type, "PRelu");
}

static gboolean
resolve_fuse_is_pair (const char   *text,
                      const VnNode *node,
                      const VnNode *next)
{
  gsize n = strlen (node->op_type);

  return strncmp (text, node->op_type, n) == 0 && text[n] == '+' && g_str_equal (text + n + 1, next->op_type);
}

static gboolean
resolve_fuse_is_one (const VnPlacementScheme *placement,
                     const VnNode            *node,
                     const VnNode            *next)
{
  static const char * const heads[] = { "Conv", "ConvTranspose", "Gemm", "Add", NULL };

  for (guint i = 0; placement->fuse != NULL && placement->fuse[i] != NULL; i++)
    if (resolve_fuse_is_pair (placement->fuse[i], node, next))
      return TRUE;
  return placement->fuses_usual && g_strv_contains (heads, node->op_type) && resolve_fuse_is_activation (next);
}

static gboolean
resolve_fuse_is_own_tensor (VnResolver    *self,
                            const VnValue *value)
{
  return value != NULL && vn_resolver_is_annotated (self, value) && vn_resolver_get_annotation (self, value)->provider == NULL;
}

/* (transfer full): set of values whose parameters others take: these need them, whatever is computed together */
static GHashTable *
resolve_fuse_list_providers (VnResolver *self)
{
  GHashTable *providers = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnAnnotation *annotation = &self->annotations[i];

      if (annotation->annotated && annotation->provider != NULL)
        g_hash_table_add (providers, (gpointer) annotation->provider);
      if (annotation->annotated && annotation->absorbed_into != NULL)
        g_hash_table_add (providers, (gpointer) annotation->absorbed_into);
    }
  return providers;
}

/*< private >
 * vn_resolver_fuse:
 *
 * After marking: what stands between two nodes that the recipe or the processor computes in one stays float.
 */
void
vn_resolver_fuse (VnResolver *self)
{
  g_autoptr(GHashTable) providers = NULL;

  g_return_if_fail (self != NULL);

  providers = resolve_fuse_list_providers (self);
  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->nodes, i), *next;
      const VnValue *value = vn_node_get_output (node, 0);

      if (!resolve_fuse_is_own_tensor (self, value) || value->uses->len != 1 || value->is_output ||
          g_hash_table_contains (self->captured, value) || g_hash_table_contains (providers, value))
        continue;
      next = g_array_index (value->uses, VnUse, 0).node;
      if (next->graph != self->graph || !resolve_fuse_is_one (&self->scheme.placement, node, next) ||
          !resolve_fuse_is_own_tensor (self, vn_node_get_output (next, 0)))
        continue;
      vn_resolver_get_annotation (self, value)->annotated = FALSE;
      vn_resolver_get_annotation (self, value)->fused = TRUE;
    }
}
