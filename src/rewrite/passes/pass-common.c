/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is there twice: weights with the same content, and nodes that compute the same from the same. */
#include "vn-rewrite-private.h"

#include <string.h>

/* ---- weights ---- */

static guint
common_tensor_hash (gconstpointer data)
{
  const VnTensor *tensor = ((const VnValue *) data)->initializer;
  const guint8 *bytes = tensor->data;
  guint hash = tensor->dtype * 31u + (guint) tensor->n_bytes;

  /* Enough to tell most weights apart; the rest is compared. */
  for (gsize i = 0; i < MIN (tensor->n_bytes, 256); i++)
    hash = hash * 33 + bytes[i];
  return hash;
}

static gboolean
common_tensor_same (gconstpointer a,
                    gconstpointer b)
{
  const VnTensor *x = ((const VnValue *) a)->initializer, *y = ((const VnValue *) b)->initializer;

  return x->dtype == y->dtype && vn_shape_equal (&x->shape, &y->shape) && x->n_bytes == y->n_bytes &&
         (x->n_bytes == 0 || memcmp (x->data, y->data, x->n_bytes) == 0);
}

static gboolean
common_may_merge (GHashTable    *returned,
                  const VnValue *value)
{
  return value->initializer != NULL && value->initializer->dtype != VN_DTYPE_STRING &&
         value->initializer->kind == VN_KIND_TENSOR && !value->is_input && !vn_rewrite_is_kept (returned, value) &&
         value->initializer_extra == NULL;
}

static void
common_weights (VnPassContext *ctx,
                GHashTable    *returned,
                VnGraph       *graph)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (common_tensor_hash, common_tensor_same);
  g_autoptr(GPtrArray) values = g_ptr_array_copy (graph->initializers, NULL, NULL);

  for (guint i = 0; i < values->len; i++)
    {
      VnValue *value = g_ptr_array_index (values, i), *same = NULL;

      if (common_may_merge (returned, value))
        {
          same = g_hash_table_lookup (seen, value);
          if (same == NULL)
            g_hash_table_add (seen, value);
        }
      if (same == NULL || !vn_rewrite_can_rename (value, same))
        continue;
      vn_edit_log_add (ctx->log, "fold", value->name, same->name, _("same values as %s"), same->name);
      vn_edit_log_note_same (ctx->log, value->name, same->name);
      vn_value_replace_uses (value, same, NULL);
      vn_graph_remove_value (graph, value);
    }
}

/* ---- nodes ---- */

static void
common_add_bytes (GString *key,
                  GBytes  *bytes)
{
  gsize size = 0;
  const char *data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

  g_string_append_printf (key, "%" G_GSIZE_FORMAT ":", size);
  if (size > 0)
    g_string_append_len (key, data, (gssize) size);
}

/* FALSE: two attributes of that kind are not compared. */
static gboolean
common_add_attr (GString      *key,
                 const VnAttr *attr)
{
  if (attr->graph != NULL || attr->graphs != NULL || attr->tensor != NULL || attr->tensors != NULL ||
      attr->ref_name != NULL || attr->extra != NULL || attr->type >= VN_ATTR_OPAQUE)
    return FALSE;
  g_string_append_printf (key, "|%s=%d:%" G_GINT64_FORMAT ":", attr->name, attr->type, attr->i);
  g_string_append_len (key, (const char *) &attr->f, sizeof attr->f);
  common_add_bytes (key, attr->s);
  for (guint i = 0; attr->ints != NULL && i < attr->ints->len; i++)
    g_string_append_printf (key, "%" G_GINT64_FORMAT ",", g_array_index (attr->ints, gint64, i));
  if (attr->floats != NULL)
    g_string_append_len (key, attr->floats->data, attr->floats->len * sizeof (float));
  for (guint i = 0; attr->strings != NULL && i < attr->strings->len; i++)
    common_add_bytes (key, g_ptr_array_index (attr->strings, i));
  return TRUE;
}

static int
common_compare_names (gconstpointer a,
                      gconstpointer b)
{
  const VnAttr * const *x = a, * const *y = b;

  return strcmp ((*x)->name, (*y)->name);
}

static gboolean
common_is_random (const VnNode *node)
{
  static const char * const types[] = { "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
                                        "Multinomial", "Bernoulli", "Dropout", NULL };

  return *node->domain != '\0' || g_strv_contains (types, node->op_type);
}

/* Everything that decides what the node computes; NULL: nothing is the same as this. */
static GBytes *
common_describe (const VnNode *node)
{
  g_autoptr(GString) key = g_string_new (node->op_type);
  g_autoptr(GPtrArray) attrs = g_ptr_array_new ();

  if (common_is_random (node) || node->inputs->len == 0)
    return NULL;
  for (guint i = 0; i < node->attrs->len; i++)
    g_ptr_array_add (attrs, g_ptr_array_index (node->attrs, i));
  g_ptr_array_sort (attrs, common_compare_names);
  for (guint i = 0; i < attrs->len; i++)
    if (!common_add_attr (key, g_ptr_array_index (attrs, i)))
      return NULL;
  for (guint i = 0; i < node->inputs->len; i++)
    g_string_append_printf (key, "|%p", (gpointer) vn_node_get_input (node, i));
  g_string_append_printf (key, "|%u", node->outputs->len);
  return g_string_free_to_bytes (g_steal_pointer (&key));
}

static gboolean
common_can_replace (GHashTable   *returned,
                    const VnNode *node,
                    const VnNode *by)
{
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *from = vn_node_get_output (node, i), *to = vn_node_get_output (by, i);

      if (from == NULL)
        continue;
      if (to == NULL || vn_rewrite_is_kept (returned, from) || !vn_rewrite_can_rename (from, to))
        return FALSE;
    }
  return TRUE;
}

static void
common_replace (VnPassContext *ctx,
                GHashTable    *returned,
                VnNode        *node,
                VnNode        *by)
{
  g_autofree char *label = vn_node_dup_label (node);
  g_autofree char *other = vn_node_dup_label (by);

  vn_edit_log_add (ctx->log, "remove", label, other, _("%s computes the same"), other);
  for (guint i = 0; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL)
      {
        vn_edit_log_note_same (ctx->log, vn_node_get_output (node, i)->name, vn_node_get_output (by, i)->name);
        vn_value_replace_uses (vn_node_get_output (node, i), vn_node_get_output (by, i), NULL);
      }
  vn_rewrite_remove_unused (returned, node);
}

static gboolean
common_graph (VnPassContext  *ctx,
              VnGraph        *graph,
              GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);
  g_autoptr(GHashTable) seen = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  g_autoptr(GPtrArray) order = NULL;

  common_weights (ctx, returned, graph);
  order = vn_graph_sort (graph, error);
  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      VnNode *node = g_ptr_array_index (order, i), *same;
      g_autoptr(GBytes) key = common_describe (node);

      if (key == NULL)
        continue;
      same = g_hash_table_lookup (seen, key);
      if (same == NULL)
        g_hash_table_insert (seen, g_steal_pointer (&key), node);
      else if (common_can_replace (returned, node, same))
        common_replace (ctx, returned, node, same);
    }
  return TRUE;
}

static gboolean
common_run (VnPassContext  *ctx,
            GError        **error)
{
  return vn_rewrite_each_graph (ctx, common_graph, error);
}

const VnPass vn_pass_common = {
  .id = "common",
  .title = N_("Merge duplicates"),
  .summary = N_("Merges weights with identical values, and nodes that compute the same."),
  .stage = VN_PASS_OPTIMIZE,
  .exact = TRUE,
  .repeats = TRUE,
  .run = common_run,
};
