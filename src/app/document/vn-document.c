/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The document of a window: the nodes of its bench as lists show them, and what they are colored by. */
#include "vn-document-private.h"

#include "vn-node-item.h"
#include "vn-node-set.h"
#include "vn-node-sizes.h"
#include "vn-places.h"
#include "vn-settings.h"

static guint signals[VN_DOCUMENT_N_SIGNALS];

G_DEFINE_FINAL_TYPE (VnDocument, vn_document, VN_TYPE_BENCH)

static void
vn_document_dispose (GObject *object)
{
  VnDocument *self = VN_DOCUMENT (object);

  g_clear_object (&self->nodes);
  g_clear_pointer (&self->selection, gtk_bitset_unref);
  g_clear_pointer (&self->tensor, g_free);
  G_OBJECT_CLASS (vn_document_parent_class)->dispose (object);
}

/* Lists have the scale that the metric has in all networks: for one that has none they stay with the ratio until it is known. */
static VnMetric
document_get_list_metric (VnDocument *self)
{
  VnMetric metric = vn_document_get_metric (self);

  return vn_metric_get_info (metric)->scale != VN_SCALE_SIZE || self->has_handles[metric] ? metric : VN_METRIC_SQNR;
}

/* Everything the lists show about a node that is not in the model. */
static void
document_update_nodes (VnDocument *self)
{
  VnBench *bench = VN_BENCH (self);
  VnModel *model = vn_bench_get_model (bench);
  const VnRecipe *recipe = vn_bench_get_recipe (bench);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->nodes));
  g_autofree int *deciding = model != NULL ? vn_recipe_find_rules_of_nodes (recipe, model->graph) : NULL;
  VnMetric metric = document_get_list_metric (self);
  VnRun *result = vn_bench_get_shown (bench);
  g_autoptr(GHashTable) local = vn_local_errors_new (result);
  VnHeatHandles handles = vn_heat_handles_for_run (VN_METRIC_CONTRIBUTION, result != NULL ? result->errors : NULL);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (G_LIST_MODEL (self->nodes), i);

      vn_node_item_update (item, result, recipe, deciding[item->index], metric, handles);
      vn_node_item_set_local (item, local);
      if (self->has_handles[metric])
        vn_node_item_set_handles (item, self->handles[metric]);
    }
}

static void
document_list_nodes (VnDocument *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self));
  g_autoptr(GPtrArray) items = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; model != NULL && i < model->graph->nodes->len; i++)
    g_ptr_array_add (items, vn_node_item_new (g_ptr_array_index (model->graph->nodes, i)));
  gtk_bitset_remove_all (self->selection);
  g_clear_pointer (&self->tensor, g_free);
  g_list_store_splice (self->nodes, 0, g_list_model_get_n_items (G_LIST_MODEL (self->nodes)), items->pdata, items->len);
}

static void
document_emit_metric (VnDocument *self)
{
  self->emitted_metric = vn_document_get_metric (self);
  vn_document_emit (self, VN_DOCUMENT_METRIC);
}

/* The nodes are what the bench says before anybody hears of it. */
static void
document_change (VnBench *bench,
                 guint    what)
{
  VnDocument *self = VN_DOCUMENT (bench);

  if (what & VN_CHANGED_MODEL)
    document_list_nodes (self);
  if (what & (VN_CHANGED_MODEL | VN_CHANGED_RECIPE | VN_CHANGED_RUN))
    document_update_nodes (self);
  VN_BENCH_CLASS (vn_document_parent_class)->change (bench, what);
  if (what & VN_CHANGED_MODEL)
    vn_document_emit (self, VN_DOCUMENT_SELECTION);
  if (self->emitted_metric != vn_document_get_metric (self))
    document_emit_metric (self);
}

static void
vn_document_class_init (VnDocumentClass *klass)
{
  static const char * const names[VN_DOCUMENT_N_SIGNALS] = { "selection-changed", "metric-changed" };

  G_OBJECT_CLASS (klass)->dispose = vn_document_dispose;
  VN_BENCH_CLASS (klass)->change = document_change;
  for (guint i = 0; i < VN_DOCUMENT_N_SIGNALS; i++)
    signals[i] = g_signal_new (names[i], VN_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
vn_document_init (VnDocument *self)
{
  g_autofree char *preset = vn_settings_dup_string ("preset", "cpu");

  self->nodes = g_list_store_new (VN_TYPE_NODE_ITEM);
  self->selection = gtk_bitset_new_empty ();
  self->emitted_metric = VN_METRIC_SQNR;
  vn_bench_set_usual (VN_BENCH (self), preset, (guint) vn_settings_get_int ("samples", VN_BENCH_SAMPLES));
}

VnDocument *
vn_document_new (void)
{
  return g_object_new (VN_TYPE_DOCUMENT, NULL);
}

/*< private >
 * vn_document_emit:
 */
void
vn_document_emit (VnDocument       *self,
                  VnDocumentSignal  signal)
{
  g_signal_emit (self, signals[signal], 0);
}

GListModel *
vn_document_get_nodes (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return G_LIST_MODEL (self->nodes);
}

/* ---- colors ---- */

/**
 * vn_document_get_metric:
 *
 * Returns: what the user has chosen; before that where error starts, as soon as that was measured, until then the signal to
 *   noise ratio
 */
VnMetric
vn_document_get_metric (VnDocument *self)
{
  VnRun *result;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), VN_METRIC_SQNR);

  if (self->metric_chosen)
    return self->metric;
  result = vn_bench_get_shown (VN_BENCH (self));
  return result != NULL && result->errors != NULL ? vn_error_table_get_weakest_metric (result->errors) : VN_METRIC_SQNR;
}

/**
 * vn_document_set_metric:
 *
 * Has graph and lists go by @metric from now on, whatever is measured.
 */
void
vn_document_set_metric (VnDocument *self,
                        VnMetric    metric)
{
  gboolean same;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  same = vn_document_get_metric (self) == metric;
  self->metric = metric;
  self->metric_chosen = TRUE;
  if (same)
    return;
  document_update_nodes (self);
  document_emit_metric (self);
}

/**
 * vn_document_set_handles:
 * @handles: where the user has put “fine” and “bad” of @metric
 *
 * Lists count nodes by the same handles as the legend does.
 */
void
vn_document_set_handles (VnDocument    *self,
                         VnMetric       metric,
                         VnHeatHandles  handles)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));
  g_return_if_fail ((guint) metric < VN_N_METRICS);

  if (self->has_handles[metric] && self->handles[metric].fine == handles.fine && self->handles[metric].bad == handles.bad)
    return;
  self->handles[metric] = handles;
  self->has_handles[metric] = TRUE;
  document_update_nodes (self);
  document_emit_metric (self);
}

/* ---- what settings and what is installed have a part in ---- */

/**
 * vn_document_open_demo:
 *
 * As vn_bench_open_demo().
 *
 * Returns: %FALSE if there is no demo
 */
gboolean
vn_document_open_demo (VnDocument *self)
{
  g_autofree char *folder = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  folder = vn_demo_find ();
  if (folder != NULL)
    vn_bench_open_demo (VN_BENCH (self), folder);
  return folder != NULL;
}

/**
 * vn_document_use_folder:
 * @path: a folder of samples
 *
 * As vn_bench_use_folder(); of what is new the usual part is held out.
 */
void
vn_document_use_folder (VnDocument *self,
                        const char *path)
{
  g_return_if_fail (VN_IS_DOCUMENT (self) && path != NULL);

  vn_bench_use_folder (VN_BENCH (self), path, vn_settings_get_int ("held-out", VN_HELD_OUT_USUAL));
}

/* ---- rules for nodes ---- */

/**
 * vn_document_set_precision:
 * @nodes: indices of nodes
 *
 * As vn_bench_set_precision().
 */
guint
vn_document_set_precision (VnDocument      *self,
                           GtkBitset       *nodes,
                           VnNodePrecision  precision)
{
  g_autoptr(GArray) list = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self) && nodes != NULL, 0);

  list = vn_node_set_list (nodes);
  return vn_bench_set_precision (VN_BENCH (self), (const guint *) (gpointer) list->data, list->len, precision);
}

/**
 * vn_document_add_region:
 * @nodes: indices of nodes
 *
 * As vn_bench_add_region().
 */
gboolean
vn_document_add_region (VnDocument      *self,
                        GtkBitset       *nodes,
                        VnNodePrecision  precision)
{
  g_autoptr(GArray) list = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self) && nodes != NULL, FALSE);

  list = vn_node_set_list (nodes);
  return vn_bench_add_region (VN_BENCH (self), (const guint *) (gpointer) list->data, list->len, precision);
}
