/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Overlays: what was measured of the nodes of a scene, and how it is colored. */
#include "vn-scene-builder.h"

#include "vn-i18n.h"
#include "vn-node-sizes.h"

#include <math.h>

static const VnErrorRow *
scene_overlay_row_of (const VnScene *scene,
                      const VnModel *model,
                      VnRun         *result,
                      guint          i)
{
  const VnSceneNode *box = vn_scene_get_node (scene, i);

  if (result == NULL || box->kind != VN_SCENE_NODE)
    return NULL;
  return vn_run_get_rated_error (result, g_ptr_array_index (model->graph->nodes, box->source));
}

/* FALSE: it was not measured. */
static gboolean
scene_overlay_rate (const VnErrorRow *row,
                    VnMetric          metric,
                    GHashTable       *local,
                    VnHeatHandles     handles,
                    VnOverlayItem    *item)
{
  g_autofree char *text = NULL;
  const double *alone;
  double value, axis;

  *item = (VnOverlayItem) { .measured = TRUE };
  alone = row != NULL && local != NULL ? g_hash_table_lookup (local, row->value) : NULL;
  if (row == NULL || (local != NULL ? alone == NULL : !vn_metric_is_measured (row, metric)))
    return FALSE;
  value = alone != NULL ? *alone : vn_metric_get (row, metric);
  axis = row->n_bad > 0 && alone == NULL ? NAN : vn_heat_axis (metric, value);
  item->is_nan = isnan (axis);
  item->t = (float) vn_heat_t (axis, handles);
  item->ticks = vn_heat_ticks (axis, handles);
  item->is_bad = vn_heat_get_band (item->ticks) == VN_BAND_BAD;
  item->is_origin = row->contribution > vn_metric_get_info (VN_METRIC_CONTRIBUTION)->fine;
  text = vn_metric_format_short (metric, item->is_nan ? NAN : value);
  g_strlcpy (item->value, text, sizeof item->value);
  return TRUE;
}

static VnOverlay *
scene_overlay_make_errors (const VnScene *scene,
                           const VnModel *model,
                           VnRun         *result,
                           VnMetric       metric,
                           GHashTable    *local,
                           VnHeatHandles  handles)
{
  guint n;
  const char *unit = vn_metric_get_info (metric)->unit;
  VnOverlay *overlay;

  n = vn_scene_get_n_nodes (scene);
  overlay = vn_overlay_new (VN_OVERLAY_ERROR, n, unit != NULL && *unit != '\0' ? _(unit) : NULL);
  for (guint i = 0; i < n; i++)
    {
      const VnErrorRow *row = scene_overlay_row_of (scene, model, result, i);
      VnOverlayItem item;

      if (scene_overlay_rate (row, metric, local, handles, &item))
        vn_overlay_set (overlay, i, &item);
    }
  return overlay;
}

/**
 * vn_scene_build_overlay:
 * @scene: of @model
 * @result: (nullable): %NULL: nothing is measured
 *
 * Returns: (transfer full): the error of every node by a metric, coloured by where the handles stand
 */
VnOverlay *
vn_scene_build_overlay (const VnScene *scene,
                        const VnModel *model,
                        VnRun         *result,
                        VnMetric       metric,
                        VnHeatHandles  handles)
{
  g_return_val_if_fail (scene != NULL, NULL);

  return scene_overlay_make_errors (scene, model, result, metric, NULL, handles);
}

/**
 * vn_scene_build_local:
 * @result: (nullable): %NULL: nothing is measured
 *
 * Returns: (transfer full): what rounding each tensor and its weights does by itself, as signal to noise
 */
VnOverlay *
vn_scene_build_local (const VnScene *scene,
                      const VnModel *model,
                      VnRun         *result,
                      VnHeatHandles  handles)
{
  g_autoptr(GHashTable) local = NULL;

  g_return_val_if_fail (scene != NULL, NULL);

  local = vn_local_errors_new (result);
  return scene_overlay_make_errors (scene, model, result, VN_METRIC_SQNR, local, handles);
}

/**
 * vn_scene_build_rows:
 * @rows: by index of the node in its graph; %NULL: not measured
 *
 * Returns: (transfer full): the same of a network whose errors are not those of a result
 */
VnOverlay *
vn_scene_build_rows (const VnScene            *scene,
                     const VnErrorRow * const *rows,
                     VnMetric                  metric,
                     VnHeatHandles             handles)
{
  const char *unit = vn_metric_get_info (metric)->unit;
  VnOverlay *overlay;

  g_return_val_if_fail (scene != NULL && rows != NULL, NULL);

  overlay = vn_overlay_new (VN_OVERLAY_ERROR, vn_scene_get_n_nodes (scene), unit != NULL && *unit != '\0' ? _(unit) : NULL);
  for (guint i = 0; i < vn_scene_get_n_nodes (scene); i++)
    {
      const VnSceneNode *box = vn_scene_get_node (scene, i);
      VnOverlayItem item;

      if (box->kind == VN_SCENE_NODE && scene_overlay_rate (rows[box->source], metric, NULL, handles, &item))
        vn_overlay_set (overlay, i, &item);
    }
  return overlay;
}

/**
 * vn_scene_default_handles:
 *
 * Returns: where the handles of a metric stand before anybody moves them
 */
VnHeatHandles
vn_scene_default_handles (const VnScene *scene,
                          const VnModel *model,
                          VnRun         *result,
                          VnMetric       metric)
{
  guint n;
  g_autofree double *values = NULL;
  gsize used = 0;

  g_return_val_if_fail (scene != NULL, ((VnHeatHandles) { 0 }));

  n = vn_scene_get_n_nodes (scene);
  values = g_new (double, n + 1);
  for (guint i = 0; i < n; i++)
    {
      const VnErrorRow *row = scene_overlay_row_of (scene, model, result, i);

      if (row != NULL)
        values[used++] = vn_metric_get (row, metric);
    }
  if (vn_metric_get_info (metric)->scale == VN_SCALE_SHARE)
    return vn_heat_handles_for_run (metric, result != NULL ? result->errors : NULL);
  return vn_heat_handles_from_values (metric, values, used);
}

/**
 * vn_scene_build_amounts:
 * @amounts: one for each node of the scene, not negative; NaN: not known
 *
 * Returns: (transfer full): sizes or times on the blue scale, as shares of all of them: vn_amount_t()
 */
VnOverlay *
vn_scene_build_amounts (const VnScene *scene,
                        const double  *amounts,
                        VnAmountUnit   unit)
{
  guint n;
  VnOverlay *overlay;
  double total = 0;

  g_return_val_if_fail (scene != NULL, NULL);
  g_return_val_if_fail (amounts != NULL, NULL);

  n = vn_scene_get_n_nodes (scene);
  overlay = vn_overlay_new (VN_OVERLAY_AMOUNT, n, NULL);
  for (guint i = 0; i < n; i++)
    total += isnan (amounts[i]) ? 0 : amounts[i];
  vn_overlay_set_total (overlay, unit, total);
  for (guint i = 0; i < n; i++)
    {
      VnOverlayItem item;

      if (isnan (amounts[i]))
        continue;
      vn_overlay_rate_amount (overlay, amounts[i], &item);
      vn_overlay_set (overlay, i, &item);
    }
  return overlay;
}

/**
 * vn_scene_build_numbers:
 * @numbers: one for each node of the scene, finite; NaN: not known
 *
 * Returns: (transfer full): numbers of any kind on the blue scale, from the least to the largest
 */
VnOverlay *
vn_scene_build_numbers (const VnScene *scene,
                        const double  *numbers)
{
  guint n;
  VnOverlay *overlay;
  double least = INFINITY, largest = -INFINITY;

  g_return_val_if_fail (scene != NULL && numbers != NULL, NULL);

  n = vn_scene_get_n_nodes (scene);
  overlay = vn_overlay_new (VN_OVERLAY_NUMBER, n, NULL);
  for (guint i = 0; i < n; i++)
    {
      least = fmin (least, numbers[i]);
      largest = fmax (largest, numbers[i]);
    }
  if (least <= largest)
    vn_overlay_set_span (overlay, least, largest);
  for (guint i = 0; i < n; i++)
    {
      VnOverlayItem item;

      if (isnan (numbers[i]))
        continue;
      vn_overlay_rate_number (overlay, numbers[i], &item);
      vn_overlay_set (overlay, i, &item);
    }
  return overlay;
}

/* ---- kernels ---- */

/* What becomes of the nodes, in a word, and how much that wants to be looked at. */
static const struct { const char *word; float t; guint ticks; } scene_overlay_kernels[VN_N_RUNTIME_KINDS] = {
  [VN_RUNTIME_FLOAT] = { N_("float"), 0.75f, 4 },
  [VN_RUNTIME_INTEGER] = { N_("integer"), 0, 0 },
  [VN_RUNTIME_MOVES] = { N_("data movement"), 0, 0 },
  [VN_RUNTIME_ABSORBED] = { N_("fused"), 0, 0 },
  [VN_RUNTIME_FOLDED] = { N_("constant"), 0, 0 },
};

/**
 * vn_scene_find_kernel:
 * @i: of a box
 *
 * Returns: (nullable): what becomes of the node of a box in the runtime; %NULL: nothing is known, or it was fused
 */
const VnRuntimeNode *
vn_scene_find_kernel (const VnScene *scene,
                      const VnModel *model,
                      VnRun         *result,
                      guint          i)
{
  const VnSceneNode *box;
  const VnNode *node;
  const VnValue *output;
  g_autofree char *label = NULL;

  g_return_val_if_fail (scene != NULL && model != NULL && result != NULL && result->forecast != NULL, NULL);

  box = vn_scene_get_node (scene, i);
  node = box->kind == VN_SCENE_NODE ? g_ptr_array_index (model->graph->nodes, box->source) : NULL;
  output = node != NULL ? vn_node_get_output (node, 0) : NULL;
  label = node != NULL ? vn_node_dup_label (node) : NULL;
  return output != NULL ? vn_runtime_forecast_find_value (result->forecast, output->name, label) : NULL;
}

/**
 * vn_scene_build_kernels:
 * @result: (nullable): of @model
 *
 * Returns: (transfer full) (nullable): what ONNX Runtime makes of every node of the export, as far as known; what is not there
 *   any more was fused; %NULL if nothing is known about that
 */
VnOverlay *
vn_scene_build_kernels (const VnScene *scene,
                        const VnModel *model,
                        VnRun         *result)
{
  VnOverlay *overlay;

  g_return_val_if_fail (scene != NULL && model != NULL, NULL);

  if (result == NULL || result->forecast == NULL)
    return NULL;
  overlay = vn_overlay_new (VN_OVERLAY_KERNELS, vn_scene_get_n_nodes (scene), NULL);
  for (guint i = 0; i < vn_scene_get_n_nodes (scene); i++)
    {
      const VnRuntimeNode *row = vn_scene_find_kernel (scene, model, result, i);
      VnRuntimeKind kind = row != NULL ? row->kind : VN_RUNTIME_ABSORBED;
      VnOverlayItem item = { .measured = TRUE, .t = scene_overlay_kernels[kind].t, .ticks = scene_overlay_kernels[kind].ticks,
                             .band = kind };

      if (vn_scene_get_node (scene, i)->kind != VN_SCENE_NODE)
        continue;
      g_strlcpy (item.value, _(scene_overlay_kernels[kind].word), sizeof item.value);
      vn_overlay_set (overlay, i, &item);
    }
  return overlay;
}
