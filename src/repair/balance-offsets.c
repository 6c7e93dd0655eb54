/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tensor whose values all lie far from 0 wastes the levels between. Its offset is taken out of the bias or the constant that it
 * comes from, and what it made of the layers behind is added to their biases: Nagel et al., "Data-Free Quantization" (2019),
 * "absorbing high biases", with one offset for all channels. */
#include "balance-offsets.h"

#include "balance-calibrate.h"
#include "balance-graph.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-memory.h"
#include "vn-quantize.h"
#include "vn-thresholds.h"

#include <math.h>

/* Nodes between what the offset comes from and the layers that read it; tensors looked at. */
#define MOST_MEMBERS 12u
#define MOST_SITES 16u

/* In dB: what is taken for an improvement. */
#define LEAST_GAIN 0.05

/**
 * Site: a tensor with an offset.
 * @members: of VnValue: itself, and what has the same offset behind it
 */
typedef struct
{
  GPtrArray *members;
  double     offset;
} Site;

static void
offsets_free_site (gpointer data)
{
  Site *site = data;

  g_ptr_array_unref (site->members);
  g_free (site);
}

/* ---- which nodes ---- */

static const VnTensor *
offsets_get_constant (const VnNode *node,
                      guint         input)
{
  const VnValue *value = vn_node_get_input (node, input);

  return value != NULL && value->graph == node->graph && value->initializer != NULL && !value->is_output &&
         value->initializer->dtype == VN_DTYPE_F32 && value->initializer->n_elements > 0 ? value->initializer : NULL;
}

/* Beside a tensor that is added to it: -1: none. */
static int
offsets_find_addend (const VnNode *node)
{
  if (!vn_node_is (node, "Add") || node->inputs->len != 2)
    return -1;
  return offsets_get_constant (node, 1) != NULL ? 1 : offsets_get_constant (node, 0) != NULL ? 0 : -1;
}

/* How many numbers its bias has, if it is a layer that has one or may get one; 0: it is not. */
static gsize
offsets_count_rows (const VnNode *node)
{
  const VnTensor *weight = node->inputs->len > 1 ? offsets_get_constant (node, 1) : NULL;
  const VnTensor *bias = node->inputs->len > 2 && vn_node_get_input (node, 2) != NULL ? offsets_get_constant (node, 2) : NULL;
  gsize n = 0;

  if (weight == NULL || (bias == NULL && vn_node_get_input (node, 2) != NULL))
    return 0;
  if (vn_node_is (node, "Conv"))
    n = (gsize) weight->shape.dims[0];
  else if (vn_node_is (node, "Gemm") && weight->shape.rank == 2 && vn_node_get_int (node, "transA", 0) == 0 &&
           vn_node_get_float (node, "alpha", 1) == 1 && vn_node_get_float (node, "beta", 1) == 1)
    n = (gsize) weight->shape.dims[vn_node_get_int (node, "transB", 0) != 0 ? 0 : 1];
  return bias == NULL || bias->n_elements == n ? n : 0;
}

/* Zeros beyond the edges would have to be something else. */
static gboolean
offsets_pads (const VnNode *node)
{
  g_autofree char *automatic = vn_node_dup_string (node, "auto_pad", "NOTSET");
  gsize n = 0;
  const gint64 *pads = vn_node_get_ints (node, "pads", &n);

  for (gsize i = 0; i < n; i++)
    if (pads[i] != 0)
      return TRUE;
  return g_str_has_prefix (automatic, "SAME");
}

/* The Add of a bias behind a product. */
static const VnNode *
offsets_find_bias (const VnNode *product)
{
  const VnValue *output = vn_node_get_output (product, 0);
  const VnTensor *weight = vn_node_is (product, "MatMul") ? offsets_get_constant (product, 1) : NULL;
  const VnNode *add = output != NULL && !output->is_output && output->uses->len == 1
                      ? g_array_index (output->uses, VnUse, 0).node : NULL;
  int addend = add != NULL ? offsets_find_addend (add) : -1;
  const VnTensor *bias = addend >= 0 ? offsets_get_constant (add, (guint) addend) : NULL;

  return weight != NULL && weight->shape.rank == 2 && bias != NULL && bias->shape.rank > 0 && add->graph == product->graph &&
         bias->n_elements == (gsize) weight->shape.dims[1] && bias->shape.dims[bias->shape.rank - 1] == weight->shape.dims[1]
         ? add : NULL;
}

/* Layers that can add something to their results for an offset of what they read. */
static gboolean
offsets_ends (const VnUse *use)
{
  return use->index == 0 && ((offsets_count_rows (use->node) > 0 &&
                              !(vn_node_is (use->node, "Conv") && offsets_pads (use->node))) ||
                             offsets_find_bias (use->node) != NULL);
}

static gboolean
offsets_pads_constant (const VnNode *node)
{
  g_autofree char *mode = vn_node_dup_string (node, "mode", "constant");

  return vn_node_is (node, "Pad") && g_str_equal (mode, "constant") && node->inputs->len >= 2 &&
         (vn_node_get_input (node, 2) == NULL || (offsets_get_constant (node, 2) != NULL &&
                                                  offsets_get_constant (node, 2)->n_elements == 1));
}

/* Whether what @use's node writes has the same offset. */
static gboolean
offsets_passes (const VnUse *use,
                double       offset)
{
  static const char * const moves[] = { "Identity", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "MaxPool",
                                        "Dropout", NULL };

  if (use->index != 0 || use->node->outputs->len != 1 || *use->node->domain != '\0')
    return FALSE;
  return g_strv_contains (moves, use->node->op_type) || offsets_pads_constant (use->node) ||
         (vn_node_is (use->node, "Relu") && offset > 0);
}

/* ---- where ---- */

static gboolean
offsets_is_source (const VnValue *value)
{
  const VnNode *node = value->producer;

  return node != NULL && node->graph == value->graph && (offsets_find_addend (node) >= 0 || offsets_count_rows (node) > 0);
}

static gboolean
offsets_follow (Site       *site,
                GHashTable *captured)
{
  for (guint i = 0; i < site->members->len; i++)
    {
      const VnValue *value = g_ptr_array_index (site->members, i);

      if (value->is_output || value->uses->len == 0 || g_hash_table_contains (captured, value) || i >= MOST_MEMBERS)
        return FALSE;
      for (guint u = 0; u < value->uses->len; u++)
        {
          const VnUse *use = &g_array_index (value->uses, VnUse, u);

          if (use->node->graph != value->graph)
            return FALSE;
          if (offsets_passes (use, site->offset))
            g_ptr_array_add (site->members, vn_node_get_output (use->node, 0));
          else if (!offsets_ends (use))
            return FALSE;
        }
    }
  return TRUE;
}

/* The end of the range that is nearer to 0, if most of the range is beyond it; 0: there is none. */
static double
offsets_measure (const VnHistogram *histogram)
{
  double min = histogram != NULL ? (double) histogram->min : 0, max = histogram != NULL ? (double) histogram->max : 0;
  double width = MAX (max, 0) - MIN (min, 0);

  if (!(max > min) || !isfinite (width) || !(max - min < VN_USED_SHARE * width))
    return 0;
  return min > 0 ? min : max < 0 ? max : 0;
}

static GPtrArray *
offsets_find (const VnBalanceInput *input,
              VnStats              *stats)
{
  GPtrArray *sites = g_ptr_array_new_with_free_func (offsets_free_site);
  const VnGraph *graph = input->prepared->graph;
  g_autoptr(GHashTable) captured = vn_graph_find_captured (graph);
  g_autofree gboolean *alone = vn_balance_list_left_alone (input->recipe, graph);

  for (guint i = 0; i < graph->values->len && sites->len < MOST_SITES; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->values, i);
      double offset = offsets_is_source (value) && !alone[value->id]
                      ? offsets_measure (vn_stats_get (stats, value->name)) : 0;
      Site *site;

      if (offset == 0)
        continue;
      site = g_new0 (Site, 1);
      site->offset = offset;
      site->members = g_ptr_array_new ();
      g_ptr_array_add (site->members, (gpointer) value);
      if (offsets_follow (site, captured))
        g_ptr_array_add (sites, site);
      else
        offsets_free_site (site);
    }
  return sites;
}

/* ---- taking it out ---- */

/* Adds @amounts to the constant that input @index reads, one after the other again and again; what is not there was zeros. */
static gboolean
offsets_add (VnNode        *node,
             guint          index,
             const double  *amounts,
             gsize          n,
             GError       **error)
{
  VnValue *value = vn_node_get_input (node, index);
  VnShape shape = { .rank = 1, .dims = { (gint64) n } };
  g_autoptr(VnTensor) old = value != NULL ? vn_tensor_get_aligned (value->initializer, error) : NULL;
  g_autoptr(VnTensor) sum = value == NULL || old != NULL
                            ? vn_tensor_new (VN_DTYPE_F32, old != NULL ? &old->shape : &shape, error) : NULL;
  g_autofree char *name = NULL;

  if (sum == NULL)
    return FALSE;
  for (gsize i = 0; i < sum->n_elements; i++)
    ((float *) sum->data)[i] = (float) ((old != NULL ? (double) ((const float *) old->data)[i] : 0) + amounts[i % n]);
  if (value != NULL && value->uses->len == 1)
    {
      vn_graph_set_initializer (node->graph, value, sum);
      return TRUE;
    }
  name = g_strconcat (vn_node_get_output (node, 0)->name, "_offset", NULL);
  vn_node_set_input (node, index, vn_graph_add_initializer (node->graph, name, sum));
  return TRUE;
}

/* @offset times what each row of the weights of @node adds up to. */
static double *
offsets_sum_rows (const VnNode  *node,
                  gsize          n,
                  double         offset,
                  GError       **error)
{
  g_autoptr(VnTensor) weight = vn_tensor_get_aligned (vn_node_get_input (node, 1)->initializer, error);
  gboolean rows = vn_node_is (node, "Conv") || (vn_node_is (node, "Gemm") && vn_node_get_int (node, "transB", 0) != 0);
  double *sums = weight != NULL ? vn_try_new (double, n, error) : NULL;
  gsize each = weight != NULL ? weight->n_elements / n : 0;

  for (gsize m = 0; sums != NULL && m < n; m++)
    {
      sums[m] = 0;
      for (gsize i = 0; i < each; i++)
        sums[m] += (double) ((const float *) weight->data)[rows ? m * each + i : i * n + m];
      sums[m] *= offset;
    }
  return sums;
}

static gboolean
offsets_restore (VnNode   *node,
                 double    offset,
                 GError  **error)
{
  VnNode *add = (VnNode *) offsets_find_bias (node);
  gsize n = add != NULL ? (gsize) vn_node_get_input (node, 1)->initializer->shape.dims[1] : offsets_count_rows (node);
  g_autofree double *amounts = offsets_sum_rows (node, n, offset, error);

  return amounts != NULL && offsets_add (add != NULL ? add : node, add != NULL ? (guint) offsets_find_addend (add) : 2, amounts,
                                         n, error);
}

static gboolean
offsets_take_from_source (VnNode   *node,
                          double    offset,
                          GError  **error)
{
  int addend = offsets_find_addend (node);
  gsize n = addend >= 0 ? 1 : offsets_count_rows (node);
  g_autofree double *amounts = vn_try_new (double, n, error);

  for (gsize i = 0; amounts != NULL && i < n; i++)
    amounts[i] = -offset;
  return amounts != NULL && offsets_add (node, addend >= 0 ? (guint) addend : 2, amounts, n, error);
}

static gboolean
offsets_take_from_pad (VnNode   *node,
                       double    offset,
                       GError  **error)
{
  const double amount = -offset;
  g_autoptr(VnTensor) value = NULL;
  const float number = (float) amount;

  if (vn_node_get_input (node, 2) != NULL)
    return offsets_add (node, 2, &amount, 1, error);
  value = vn_tensor_new_copy (VN_DTYPE_F32, &(VnShape) { .rank = 0 }, &number, error);
  if (value != NULL)
    vn_node_set_input (node, 2, vn_graph_add_initializer (node->graph, "pad_offset", value));
  return value != NULL;
}

static VnModel *
offsets_take (VnModel     *model,
              const Site  *site,
              GError     **error)
{
  g_autoptr(VnModel) after = vn_model_copy (model);

  for (guint i = 0; i < site->members->len; i++)
    {
      const char *name = ((const VnValue *) g_ptr_array_index (site->members, i))->name;
      VnValue *value = vn_graph_find_value (after->graph, name);
      g_autoptr(GArray) uses = vn_uses_copy (value->uses);

      if (i == 0 ? !offsets_take_from_source (value->producer, site->offset, error)
                 : vn_node_is (value->producer, "Pad") && !offsets_take_from_pad (value->producer, site->offset, error))
        return NULL;
      for (guint u = 0; u < uses->len; u++)
        {
          const VnUse *use = &g_array_index (uses, VnUse, u);

          if (offsets_ends (use) && !offsets_restore (use->node, site->offset, error))
            return NULL;
        }
    }
  return g_steal_pointer (&after);
}

/* ---- judging ---- */

static gboolean
offsets_judge (const VnBalanceInput  *input,
               VnModel               *model,
               VnStats               *stats,
               double                *sqnr_db,
               GCancellable          *cancellable,
               GError               **error)
{
  g_auto(VnJudgement) judgement = { 0 };
  g_autoptr(VnQuantPlan) plan = vn_quantize_resolve (model, input->recipe, stats, NULL, error);
  g_autoptr(VnModel) quantized = plan != NULL ? vn_quantize_write (model, input->recipe, plan, NULL, error) : NULL;

  if (quantized == NULL || !vn_model_infer_for_samples (quantized, input->samples->shapes, error) ||
      !vn_judge_measure (input->judge, quantized, &judgement, cancellable, error))
    return FALSE;
  *sqnr_db = judgement.sqnr_db;
  return TRUE;
}

/*< private >
 * vn_balance_take_offsets:
 * @stats: (out) (transfer full): of what is returned
 * @gain: (out): counts tensors that had one
 *
 * Returns: (transfer full) (nullable): the prepared network, computing the same, with tensors around 0 that were far from it;
 *   each where held-out samples show that it helps
 */
VnModel *
vn_balance_take_offsets (const VnBalanceInput  *input,
                         VnStats              **stats,
                         VnRepairGain          *gain,
                         GCancellable          *cancellable,
                         GError               **error)
{
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnStats) now = NULL;
  g_autoptr(GPtrArray) sites = NULL;

  g_return_val_if_fail (input != NULL && stats != NULL && gain != NULL, NULL);

  model = vn_model_ref (input->prepared);
  now = vn_balance_calibrate (input, model, cancellable, error);
  sites = now != NULL ? offsets_find (input, now) : NULL;
  *gain = (VnRepairGain) { .n_tried = sites != NULL ? sites->len : 0 };
  if (sites == NULL || (sites->len > 0 && input->judge != NULL &&
                        !offsets_judge (input, model, now, &gain->before_db, cancellable, error)))
    return NULL;
  gain->after_db = gain->before_db;
  for (guint i = 0; i < sites->len; i++)
    {
      g_autoptr(VnModel) after = offsets_take (model, g_ptr_array_index (sites, i), error);
      g_autoptr(VnStats) then = after != NULL ? vn_balance_calibrate (input, after, cancellable, error) : NULL;
      double db = gain->after_db + LEAST_GAIN;

      if (then == NULL || (input->judge != NULL && !offsets_judge (input, after, then, &db, cancellable, error)))
        return NULL;
      if (db < gain->after_db + LEAST_GAIN)
        continue;
      gain->after_db = input->judge != NULL ? db : 0;
      vn_model_unref (model);
      model = g_steal_pointer (&after);
      vn_stats_unref (now);
      now = g_steal_pointer (&then);
      gain->n_kept++;
    }
  *stats = g_steal_pointer (&now);
  return g_steal_pointer (&model);
}
