/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the colours of the graph can show, and how each of it is made from a result. */
#include "vn-overlay-choice.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-node-sizes.h"

#include <math.h>

static const VnOverlayChoiceInfo overlay_choices[VN_N_CHOICES] = {
#define VN_OVERLAY_CHOICE(SYMBOL, id, title, kind, metric, words) \
  [VN_CHOICE_##SYMBOL] = { id, title, words, VN_OVERLAY_##kind, VN_METRIC_##metric },
#include "vn-overlays.def"
#undef VN_OVERLAY_CHOICE
};

/**
 * vn_overlay_choice_get_info:
 *
 * Returns: (transfer none): its line of vn-overlays.def
 */
const VnOverlayChoiceInfo *
vn_overlay_choice_get_info (VnOverlayChoice choice)
{
  g_return_val_if_fail ((guint) choice < VN_N_CHOICES, NULL);

  return &overlay_choices[choice];
}

/**
 * vn_overlay_choice_find:
 *
 * Returns: %FALSE if no overlay has this id
 */
gboolean
vn_overlay_choice_find (const char      *id,
                        VnOverlayChoice *choice)
{
  g_return_val_if_fail (id != NULL && choice != NULL, FALSE);

  for (guint i = 0; i < VN_N_CHOICES; i++)
    if (g_str_equal (overlay_choices[i].id, id))
      {
        *choice = (VnOverlayChoice) i;
        return TRUE;
      }
  return FALSE;
}

/**
 * vn_overlay_choice_of_metric:
 *
 * Returns: the overlay that shows a metric as it is in tables
 */
VnOverlayChoice
vn_overlay_choice_of_metric (VnMetric metric)
{
  for (guint i = 0; i < VN_N_CHOICES; i++)
    if (overlay_choices[i].kind == VN_OVERLAY_ERROR && overlay_choices[i].metric == metric)
      return (VnOverlayChoice) i;
  return VN_CHOICE_CUMULATIVE;
}

/* ---- precision ---- */

static VnOverlay *
overlay_choice_build_precision (const VnOverlayInput *input)
{
  VnOverlay *overlay = vn_overlay_new (VN_OVERLAY_PRECISION, vn_scene_get_n_nodes (input->scene), NULL);

  for (guint i = 0; i < vn_scene_get_n_nodes (input->scene); i++)
    {
      const VnSceneNode *box = vn_scene_get_node (input->scene, i);
      VnOverlayItem item = { .measured = TRUE, .band = box->precision };

      if (box->kind != VN_SCENE_NODE)
        continue;
      g_strlcpy (item.value, box->badge != NULL ? box->badge : "–", sizeof item.value);
      vn_overlay_set (overlay, i, &item);
    }
  return overlay;
}

/* ---- amounts ---- */

static VnOverlay *
overlay_choice_build_size (const VnOverlayInput *input)
{
  guint n = vn_scene_get_n_nodes (input->scene);
  g_autoptr(GArray) sizes = vn_node_sizes_list (input->model, input->result);
  g_autofree double *amounts = g_new (double, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const VnSceneNode *box = vn_scene_get_node (input->scene, i);
      const VnNodeSize *size = box->kind == VN_SCENE_NODE ? &g_array_index (sizes, VnNodeSize, box->source) : NULL;

      amounts[i] = size == NULL ? NAN : (double) (size->after >= 0 ? size->after : size->before);
    }
  return vn_scene_build_amounts (input->scene, amounts, VN_AMOUNT_BYTES);
}

static VnOverlay *
overlay_choice_build_bits (const VnOverlayInput *input)
{
  g_autoptr(GArray) bits = vn_node_bits_list (input->model, input->result);
  VnOverlay *overlay = vn_overlay_new (VN_OVERLAY_BITS, vn_scene_get_n_nodes (input->scene), _("bits"));

  for (guint i = 0; i < vn_scene_get_n_nodes (input->scene); i++)
    {
      const VnSceneNode *box = vn_scene_get_node (input->scene, i);
      const guint n = box->kind == VN_SCENE_NODE ? g_array_index (bits, guint, box->source) : 0;
      VnOverlayItem item;

      if (n == 0)
        continue;
      vn_overlay_rate_bits (n, &item);
      vn_overlay_set (overlay, i, &item);
    }
  return overlay;
}

/* A node that is fused into another takes no time of its own. */
static VnOverlay *
overlay_choice_build_time (const VnOverlayInput *input)
{
  guint n = vn_scene_get_n_nodes (input->scene);
  g_autofree double *amounts = g_new (double, n + 1);

  if (input->result == NULL || input->result->forecast == NULL || !(input->result->forecast->seconds > 0))
    return NULL;
  for (guint i = 0; i < n; i++)
    {
      const VnRuntimeNode *row = vn_scene_find_kernel (input->scene, input->model, input->result, i);

      amounts[i] = vn_scene_get_node (input->scene, i)->kind != VN_SCENE_NODE ? NAN : row != NULL ? row->seconds : 0;
    }
  return vn_scene_build_amounts (input->scene, amounts, VN_AMOUNT_SECONDS);
}

/* ---- difference ---- */

/* NaN: it was not measured in this run. */
static double
overlay_choice_get_decibels (VnRun        *result,
                             const VnNode *node)
{
  const VnErrorRow *row = vn_run_get_node_error (result, node);

  return row != NULL ? vn_sqnr_bound (row->sqnr_db, row->n_bad) : NAN;
}

static guint
overlay_choice_get_difference_ticks (double decibels)
{
  static const double steps[] = { 0.5, 2, 5, VN_DIFFERENCE_SPAN };
  guint ticks = 0;

  while (ticks < G_N_ELEMENTS (steps) && fabs (decibels) >= steps[ticks])
    ticks++;
  return ticks;
}

static VnOverlay *
overlay_choice_build_difference (const VnOverlayInput *input)
{
  VnOverlay *overlay;

  if (input->result == NULL || input->result->errors == NULL || input->other == NULL || input->other->errors == NULL)
    return NULL;
  overlay = vn_overlay_new (VN_OVERLAY_DIFFERENCE, vn_scene_get_n_nodes (input->scene), _("dB"));
  for (guint i = 0; i < vn_scene_get_n_nodes (input->scene); i++)
    {
      const VnSceneNode *box = vn_scene_get_node (input->scene, i);
      const VnNode *node = box->kind == VN_SCENE_NODE ? g_ptr_array_index (input->model->graph->nodes, box->source) : NULL;
      VnOverlayItem item = { .measured = TRUE };
      double gain = node != NULL ? overlay_choice_get_decibels (input->result, node) -
                                   overlay_choice_get_decibels (input->other, node)
                                 : NAN;

      if (isnan (gain))
        continue;
      item.t = (float) CLAMP (-gain / VN_DIFFERENCE_SPAN, -1, 1);
      item.ticks = overlay_choice_get_difference_ticks (gain);
      item.band = item.ticks == 0 ? 1 : gain > 0 ? 0 : 2;
      g_snprintf (item.value, sizeof item.value, "%s%.1f", item.ticks == 0 ? "±" : gain > 0 ? "+" : "\u2212", fabs (gain));
      vn_overlay_set (overlay, i, &item);
    }
  return overlay;
}

/* ---- of a file ---- */

/* Whether the file gives something for the very node that a box is drawn for. */
static gboolean
overlay_choice_has_own (const VnOverlayInput *input,
                        guint                 box)
{
  const guint source = vn_scene_get_node (input->scene, box)->source;

  return source < input->n_given && !isnan (input->given[source]);
}

/* Boxes that stand for several nodes add up their times; of other numbers they show that of their own node, else the largest. */
static VnOverlay *
overlay_choice_build_given (const VnOverlayInput *input)
{
  guint n = vn_scene_get_n_nodes (input->scene);
  g_autofree double *values = g_new (double, n + 1);

  if (input->given == NULL)
    return NULL;
  for (guint i = 0; i < n; i++)
    values[i] = NAN;
  for (guint i = 0; i < MIN (input->n_given, input->model->graph->nodes->len); i++)
    {
      guint box = isnan (input->given[i]) ? VN_SCENE_NONE : vn_scene_find_source (input->scene, i);

      if (box == VN_SCENE_NONE)
        continue;
      if (input->given_is_time)
        values[box] = isnan (values[box]) ? input->given[i] : values[box] + input->given[i];
      else if (vn_scene_get_node (input->scene, box)->source == i || !overlay_choice_has_own (input, box))
        values[box] = fmax (values[box], input->given[i]);
    }
  return input->given_is_time ? vn_scene_build_amounts (input->scene, values, VN_AMOUNT_SECONDS)
                              : vn_scene_build_numbers (input->scene, values);
}

/**
 * vn_overlay_choice_build:
 *
 * Returns: (transfer full) (nullable): the colours of a scene; %NULL: nothing is known of what was chosen
 */
VnOverlay *
vn_overlay_choice_build (VnOverlayChoice       choice,
                         const VnOverlayInput *input)
{
  const VnOverlayChoiceInfo *info = vn_overlay_choice_get_info (choice);

  g_return_val_if_fail (info != NULL && input != NULL && input->scene != NULL && input->model != NULL, NULL);

  switch (choice)
    {
    case VN_CHOICE_LOCAL:
      return vn_scene_build_local (input->scene, input->model, input->result, input->handles);
    case VN_CHOICE_SIZE:
      return overlay_choice_build_size (input);
    case VN_CHOICE_TIME:
      return overlay_choice_build_time (input);
    case VN_CHOICE_PRECISION:
      return overlay_choice_build_precision (input);
    case VN_CHOICE_BITS:
      return overlay_choice_build_bits (input);
    case VN_CHOICE_KERNELS:
      return vn_scene_build_kernels (input->scene, input->model, input->result);
    case VN_CHOICE_DIFFERENCE:
      return overlay_choice_build_difference (input);
    case VN_CHOICE_FILE:
      return overlay_choice_build_given (input);
    case VN_CHOICE_NONE:
      return NULL;
    default:
      return vn_scene_build_overlay (input->scene, input->model, input->result, info->metric, input->handles);
    }
}

/* ---- notes ---- */

static char *
overlay_choice_note_size (const VnOverlayInput *input)
{
  g_autoptr(GArray) sizes = vn_node_sizes_list (input->model, input->result);
  gint64 before = 0, after = 0;
  g_autofree char *from = NULL, *to = NULL;

  for (guint i = 0; i < sizes->len; i++)
    {
      before += g_array_index (sizes, VnNodeSize, i).before;
      after += g_array_index (sizes, VnNodeSize, i).after;
    }
  from = vn_format_bytes ((guint64) before);
  if (input->result == NULL || input->result->quantized == NULL)
    return g_strdup_printf (_("Weights before quantization: %s"), from);
  to = vn_format_bytes ((guint64) after);
  return g_strdup_printf (_("Weights: %s before, %s now"), from, to);
}

/* Nodes have a forecast each; of the whole network the time may have been measured. */
static char *
overlay_choice_note_time (VnRun *result)
{
  VnRuntimeFigures figures;
  g_autofree char *whole = NULL, *conversions = NULL, *measured = NULL;

  if (result == NULL || result->forecast == NULL || !(result->forecast->seconds > 0))
    return g_strdup (_("No ONNX Runtime data for this export"));
  vn_runtime_figures_init (&figures, result->forecast, result->verification);
  whole = vn_amount_format (VN_AMOUNT_SECONDS, result->forecast->seconds);
  conversions = vn_amount_format (VN_AMOUNT_SECONDS, result->forecast->conversion_seconds);
  if (!figures.time_measured)
    return g_strdup_printf (_("Estimated for ONNX Runtime, one thread: %s, including %s for conversions between nodes"), whole,
                            conversions);
  measured = vn_amount_format (VN_AMOUNT_SECONDS, figures.seconds);
  return g_strdup_printf (_("Nodes: %s in total, estimated, including %s for conversions between nodes. Whole model, "
                            "measured: %s"),
                          whole, conversions, measured);
}

/* Where the words of the first line come from holds for what the nodes show. */
static char *
overlay_choice_dup_source (const VnRuntimeFigures *figures,
                           const VnVerification   *verification)
{
  if (figures->share_measured)
    return g_strdup_printf (_("From %s %s; blue nodes run in float"), verification->runtime->title, verification->version);
  return g_strdup (_("Estimated; blue nodes run in float"));
}

/* How much of the network is computed on integers, and how long that takes beside float, as measured or as expected. */
static char *
overlay_choice_note_kernels (VnRun *result)
{
  g_autoptr(GPtrArray) lines = NULL;
  VnRuntimeFigures figures;

  if (result == NULL || result->forecast == NULL)
    return g_strdup (_("No ONNX Runtime data for this export"));
  vn_runtime_figures_init (&figures, result->forecast, result->verification);
  lines = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (lines, overlay_choice_dup_source (&figures, result->verification));
  if (!isnan (figures.integer_share))
    g_ptr_array_add (lines, g_strdup_printf (_("%.1f\u00a0%% integer MACs"), 100 * figures.integer_share));
  if (figures.time_measured && !isnan (figures.ratio))
    g_ptr_array_add (lines, g_strdup_printf (_("%.2f times the latency of the float model, measured"), figures.ratio));
  else if (!isnan (figures.ratio))
    g_ptr_array_add (lines, vn_runtime_figures_dup_ratio (&figures));
  g_ptr_array_add (lines, NULL);
  return g_strjoinv ("\n", (char **) lines->pdata);
}

/**
 * vn_overlay_choice_dup_note:
 * @overlay: (nullable): what was built
 *
 * Returns: (transfer full) (nullable): a sentence below the scale: where the figures come from, and their sum
 */
char *
vn_overlay_choice_dup_note (VnOverlayChoice       choice,
                            const VnOverlayInput *input,
                            const VnOverlay      *overlay)
{
  g_return_val_if_fail (input != NULL && input->model != NULL, NULL);

  switch (choice)
    {
    case VN_CHOICE_SIZE:
      return overlay_choice_note_size (input);
    case VN_CHOICE_TIME:
      return overlay_choice_note_time (input->result);
    case VN_CHOICE_KERNELS:
      return overlay_choice_note_kernels (input->result);
    case VN_CHOICE_LOCAL:
      for (guint i = 0; overlay != NULL && i < vn_overlay_get_n (overlay); i++)
        if (vn_overlay_get (overlay, i)->measured)
          return NULL;
      return g_strdup (_("Available once error sources are measured"));
    case VN_CHOICE_DIFFERENCE:
      return overlay == NULL ? g_strdup (_("Choose a run stored in the project")) : NULL;
    default:
      return NULL;
    }
}
