/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The selection of a document: what is selected, and ways to select something else. */
#include "vn-document-private.h"

#include "vn-node-item.h"
#include "vn-select.h"

/**
 * vn_document_get_selection:
 *
 * Returns: (transfer none): indices of the selected nodes; not to be changed
 */
GtkBitset *
vn_document_get_selection (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->selection;
}

/**
 * vn_document_select:
 * @nodes: indices of nodes
 */
void
vn_document_select (VnDocument *self,
                    GtkBitset  *nodes)
{
  GtkBitset *copy;

  g_return_if_fail (VN_IS_DOCUMENT (self));
  g_return_if_fail (nodes != NULL);

  /* a list that shows nodes has none selected while a tensor is */
  if (gtk_bitset_equals (self->selection, nodes))
    return;
  g_clear_pointer (&self->tensor, g_free);
  copy = gtk_bitset_copy (nodes);
  gtk_bitset_unref (self->selection);
  self->selection = copy;
  vn_document_emit (self, VN_DOCUMENT_SELECTION);
}

/**
 * vn_document_get_tensor:
 *
 * Returns: (transfer none) (nullable): name of the tensor that is selected
 */
const char *
vn_document_get_tensor (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->tensor;
}

/**
 * vn_document_select_tensor:
 * @name: (nullable): of a value of the main graph
 *
 * Selects a tensor; nodes are let go.
 */
void
vn_document_select_tensor (VnDocument *self,
                           const char *name)
{
  const VnModel *model;
  char *copy;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  model = vn_bench_get_model (VN_BENCH (self));
  if (name != NULL && (model == NULL || vn_graph_find_value (model->graph, name) == NULL))
    name = NULL;
  if (g_strcmp0 (name, self->tensor) == 0)
    return;
  copy = g_strdup (name);
  g_free (self->tensor);
  self->tensor = copy;
  gtk_bitset_unref (self->selection);
  self->selection = gtk_bitset_new_empty ();
  vn_document_emit (self, VN_DOCUMENT_SELECTION);
}

static guint
document_selection_count (VnDocument *self)
{
  return g_list_model_get_n_items (G_LIST_MODEL (self->nodes));
}

/**
 * vn_document_select_one:
 * @node: index of a node; one past the end selects nothing
 */
void
vn_document_select_one (VnDocument *self,
                        guint       node)
{
  g_autoptr(GtkBitset) nodes = gtk_bitset_new_empty ();

  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (node < document_selection_count (self))
    gtk_bitset_add (nodes, node);
  vn_document_select (self, nodes);
}

/**
 * vn_document_select_all:
 */
void
vn_document_select_all (VnDocument *self)
{
  g_autoptr(GtkBitset) nodes = gtk_bitset_new_empty ();

  g_return_if_fail (VN_IS_DOCUMENT (self));

  gtk_bitset_add_range (nodes, 0, document_selection_count (self));
  vn_document_select (self, nodes);
}

/**
 * vn_document_select_next:
 * @forward: in the order of the graph, or against it
 *
 * Selects the node behind the selected ones, around the end.
 *
 * Returns: %FALSE if there are no nodes
 */
gboolean
vn_document_select_next (VnDocument *self,
                         gboolean    forward)
{
  guint n, at;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  n = document_selection_count (self);
  if (n == 0)
    return FALSE;
  if (gtk_bitset_is_empty (self->selection))
    at = forward ? 0 : n - 1;
  else
    at = forward ? (gtk_bitset_get_maximum (self->selection) + 1) % n
                 : (gtk_bitset_get_minimum (self->selection) + n - 1) % n;
  vn_document_select_one (self, at);
  return TRUE;
}

static gboolean
document_selection_is_bad (VnDocument *self,
                           guint       index)
{
  g_autoptr(VnNodeItem) item = g_list_model_get_item (G_LIST_MODEL (self->nodes), index);

  return vn_node_item_is_rated (item) && vn_heat_get_band (vn_node_item_get_ticks (item)) == VN_BAND_BAD;
}

/**
 * vn_document_select_next_bad:
 * @forward: in the order of the graph, or against it
 *
 * Selects the next node with a bad error, around the end.
 *
 * Returns: %FALSE if no node is bad
 */
gboolean
vn_document_select_next_bad (VnDocument *self,
                             gboolean    forward)
{
  guint n, from;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  n = document_selection_count (self);
  from = gtk_bitset_is_empty (self->selection) ? (forward ? n - 1 : 0) : gtk_bitset_get_minimum (self->selection);
  for (guint step = 1; step <= n; step++)
    {
      guint at = forward ? (from + step) % n : (from + n - step) % n;

      if (!document_selection_is_bad (self, at))
        continue;
      vn_document_select_one (self, at);
      return TRUE;
    }
  return FALSE;
}

/**
 * vn_document_grow_selection:
 * @way: "similar", "blocks", "downstream", "upstream" or "between"; others do nothing
 *
 * Selects more nodes besides the selected ones.
 */
void
vn_document_grow_selection (VnDocument *self,
                            const char *way)
{
  static const struct { const char *id; GtkBitset *(*grow) (const VnGraph *, GtkBitset *); } ways[] = {
    { "similar", vn_select_similar },
    { "blocks", vn_select_blocks },
    { "downstream", vn_select_downstream },
    { "upstream", vn_select_upstream },
    { "between", vn_select_between },
  };

  g_return_if_fail (VN_IS_DOCUMENT (self));
  g_return_if_fail (way != NULL);

  for (guint i = 0; vn_bench_get_model (VN_BENCH (self)) != NULL && i < G_N_ELEMENTS (ways); i++)
    if (g_str_equal (way, ways[i].id))
      {
        g_autoptr(GtkBitset) nodes = ways[i].grow (vn_bench_get_model (VN_BENCH (self))->graph, self->selection);

        vn_document_select (self, nodes);
      }
}
