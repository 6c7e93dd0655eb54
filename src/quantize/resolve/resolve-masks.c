/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Values that stand for "not this one": infinities, what comes near the largest float, and the -10000 or -1e9 that masks add in
 * front of Softmax and that paddings put in front of MaxPool. A range that holds them has no levels left for the others.
 *
 * Softmax, Exp and Sigmoid see nothing of such a value but that it is far below: what they read stays float, and so do the parts
 * of the mask that it is made of. A maximum sees the others only: what nothing else reads has their range. Infinities, and NaN,
 * keep any other tensor float, as no integer stands for them.
 *
 * Far is what lies FAR_EXPONENT from 0 and behind a gap of a factor of 16 at least: of 8 bits that gap would take four. What the
 * peers make of smaller ones, such as the -100 of windows, is usable, and ours is the same. */

#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <math.h>

#define N_EXPONENTS (VN_HISTOGRAM_PAGES / 2)
#define BIAS_OF_EXPONENT 127
#define FAR_EXPONENT VN_HISTOGRAM_FAR_EXPONENT   /* beside 1, exp (-64) is 0 in float */
#define ALONE_EXPONENT (BIAS_OF_EXPONENT + 10)   /* 1024, where there are no others, not even zeros, to tell it from */
#define HUGE_EXPONENT (BIAS_OF_EXPONENT + 100)   /* as good as infinite for all that networks compute */
#define GAP 5                                    /* exponents: ends of both sides differ by 16 times at least */

/* What is known of the values of a tensor. */
typedef struct
{
  gboolean has_nan;
  gboolean huge_low, huge_high;     /* infinite, or next to the largest float */
  gboolean far_low, far_high;       /* behind a gap; those above, too */
  float    low, high;               /* ends of the others; they hold 0 */
} Spread;

typedef struct
{
  VnResolver         *resolver;
  VnHistogramScratch *scratch;
  Spread             *spreads;      /* by VnValue.id */
  guint               n[VN_N_MASKS];
  const char         *first[VN_N_MASKS];
} Masks;

/* Inputs of operators that see of a number far below the others only that it is one. */
static const struct { const char *type; guint input; } blind_readers[] = {
  { "Softmax", 0 }, { "LogSoftmax", 0 }, { "Exp", 0 }, { "Sigmoid", 0 }, { "Attention", 3 }, { "MultiHeadAttention", 5 },
  { "GroupQueryAttention", 10 },
};

static const char * const maxima[] = { "MaxPool", "GlobalMaxPool", "ReduceMax", "Max", NULL };

/* Operators whose results are far where an operand is, for what is quantized without samples. */
static const char * const carriers[] = {
  "Add", "Sub", "Where", "Mul", "Reshape", "Squeeze", "Unsqueeze", "Expand", "Transpose", "Slice", "Concat", "Cast", "Identity",
  "Tile", NULL,
};

/* ---- values ---- */

static gboolean
masks_has_page (const VnHistogram *histogram,
                guint              page,
                guint             *outermost)
{
  const guint64 *counts = vn_histogram_get_page (histogram, page);

  for (guint m = VN_HISTOGRAM_PAGE_BINS; counts != NULL && m-- > 0;)
    if (counts[m] > 0)
      {
        *outermost = m;
        return TRUE;
      }
  return FALSE;
}

/* The greatest magnitude that the bin of an exponent holds. */
static float
masks_get_end (guint exponent,
               guint bin)
{
  return ldexpf (1 + (float) (bin + 1) / VN_HISTOGRAM_PAGE_BINS, (int) exponent - BIAS_OF_EXPONENT);
}

static Spread
masks_look (const VnHistogram *histogram)
{
  Spread spread = { .has_nan = histogram->n_nan > 0, .huge_low = histogram->n_neg_inf > 0,
                    .huge_high = histogram->n_pos_inf > 0 };
  gboolean any = histogram->n_zero > 0, is_far = FALSE;
  guint last = 0, bin;

  for (guint e = 0; e < N_EXPONENTS; e++)
    {
      gboolean above = masks_has_page (histogram, e, &bin);
      float high = above ? masks_get_end (e, bin) : 0;
      gboolean below = masks_has_page (histogram, N_EXPONENTS + e, &bin);

      if (!above && !below)
        continue;
      is_far = is_far || e >= HUGE_EXPONENT || (any ? e >= FAR_EXPONENT && e >= last + GAP : e >= ALONE_EXPONENT);
      if (!is_far)
        {
          spread.high = above ? MIN (high, histogram->max) : spread.high;
          spread.low = below ? MAX (-masks_get_end (e, bin), histogram->min) : spread.low;
        }
      spread.far_low |= is_far && below;
      spread.far_high |= is_far && above;
      spread.huge_low |= e >= HUGE_EXPONENT && below;
      spread.huge_high |= e >= HUGE_EXPONENT && above;
      any = TRUE;
      last = e;
    }
  spread.far_low |= spread.huge_low;
  spread.far_high |= spread.huge_high;
  return spread;
}

/* Weights of products are no masks, and may be large. */
static gboolean
masks_is_operand (Masks         *self,
                  const VnValue *value)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;
      const VnOp *op = node->graph == self->resolver->graph ? self->resolver->quant_nodes[node->index].op : NULL;

      if (op != NULL && op->quant.role != VN_QUANT_COMPUTE && op->quant.role != VN_QUANT_MATMUL &&
          op->quant.role != VN_QUANT_NORM)
        return TRUE;
    }
  return FALSE;
}

static Spread
masks_look_at_constant (Masks         *self,
                        const VnValue *value)
{
  g_autoptr(VnTensor) data = masks_is_operand (self, value) ? vn_tensor_get_aligned (value->initializer, NULL) : NULL;
  g_autoptr(VnHistogram) histogram = vn_histogram_new ();

  if (data != NULL)
    {
      if (self->scratch == NULL)
        self->scratch = vn_scratch_new ();
      vn_histogram_scan (histogram, self->scratch, data->data, data->n_elements);
      vn_tensor_release_pages (value->initializer);
    }
  return masks_look (histogram);
}

static gboolean
masks_is_float (const VnValue *value)
{
  if (value->initializer != NULL)
    return value->initializer->dtype == VN_DTYPE_F32;
  return value->type.kind == VN_TYPE_TENSOR && value->type.dtype == VN_DTYPE_F32;
}

/* Of what was not observed: what becomes of the operands. */
static Spread
masks_guess (Masks         *self,
             const VnValue *value)
{
  const VnNode *node = value->producer;
  Spread spread = { FALSE };

  if (node == NULL || !g_strv_contains (carriers, node->op_type))
    return spread;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);
      gboolean turns = vn_node_is (node, "Sub") && i == 1, either = vn_node_is (node, "Mul");
      Spread from;

      if (input == NULL || input->graph != self->resolver->graph)
        continue;
      from = self->spreads[input->id];
      spread.far_low |= (turns || either ? from.far_high : FALSE) || (!turns && from.far_low);
      spread.far_high |= (turns || either ? from.far_low : FALSE) || (!turns && from.far_high);
      spread.huge_low |= (turns || either ? from.huge_high : FALSE) || (!turns && from.huge_low);
      spread.huge_high |= (turns || either ? from.huge_low : FALSE) || (!turns && from.huge_high);
    }
  return spread;
}

static void
masks_look_at_value (Masks         *self,
                     const VnValue *value)
{
  const VnHistogram *histogram;

  if (value == NULL || value->graph != self->resolver->graph || !masks_is_float (value))
    return;
  histogram = value->initializer == NULL && self->resolver->lookup != NULL
              ? self->resolver->lookup (value->name, self->resolver->lookup_data) : NULL;
  self->spreads[value->id] = histogram != NULL ? masks_look (histogram)
                             : value->initializer != NULL ? masks_look_at_constant (self, value) : masks_guess (self, value);
}

static void
masks_look_at_all (Masks *self)
{
  const GPtrArray *values = self->resolver->graph->values, *nodes = self->resolver->nodes;

  for (guint i = 0; i < values->len; i++)
    if (((const VnValue *) values->pdata[i])->producer == NULL)
      masks_look_at_value (self, values->pdata[i]);
  for (guint i = 0; i < nodes->len; i++)
    for (guint k = 0; k < ((const VnNode *) nodes->pdata[i])->outputs->len; k++)
      masks_look_at_value (self, vn_node_get_output (nodes->pdata[i], k));
}

/* ---- what becomes of them ---- */

static gboolean
masks_is_selected (Masks        *self,
                   const VnNode *node)
{
  return node != NULL && node->graph == self->resolver->graph && self->resolver->quant_nodes[node->index].selected;
}

/* Of what would not have been quantized anyway there is nothing to tell. */
static gboolean
masks_matters (Masks         *self,
               const VnValue *value)
{
  gboolean any = masks_is_selected (self, value->producer);

  for (guint i = 0; i < value->uses->len && !any; i++)
    any = masks_is_selected (self, g_array_index (value->uses, VnUse, i).node);
  return any && vn_resolver_can_quantize (self->resolver, value);
}

/* Who gives the range of a tensor means it. */
static gboolean
masks_is_given (Masks         *self,
                const VnValue *value)
{
  const VnOverride *rule = vn_resolver_get_tensor_rule (self->resolver, value);

  return (rule != NULL && (rule->min != NULL || rule->max != NULL || rule->scales != NULL)) ||
         vn_resolver_get_encoding (self->resolver, value) != NULL;
}

static gboolean
masks_mark (Masks         *self,
            const VnValue *value,
            VnMask         mask)
{
  VnAnnotation *annotation = vn_resolver_get_annotation (self->resolver, value);

  if (annotation->keep_float || annotation->mask != VN_MASK_NONE || masks_is_given (self, value))
    return FALSE;
  annotation->mask = mask;
  annotation->keep_float = mask != VN_MASK_CUT;
  if (!masks_matters (self, value))
    return TRUE;
  if (self->n[mask]++ == 0)
    self->first[mask] = value->name;
  return TRUE;
}

/* And what it is made of, as far as that is far, too. */
static void
masks_keep_float (Masks         *self,
                  const VnValue *value)
{
  const VnNode *node = value->producer;

  if (!masks_mark (self, value, VN_MASK_FLOAT))
    return;
  for (guint i = 0; node != NULL && i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);

      if (input != NULL && input->graph == self->resolver->graph &&
          (self->spreads[input->id].far_low || self->spreads[input->id].far_high))
        masks_keep_float (self, input);
    }
}

/* Whether nothing but a maximum reads it, and nothing far comes out. */
static gboolean
masks_is_below_maximum (Masks         *self,
                        const VnValue *value,
                        guint          depth)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;
      const VnValue *output = vn_node_get_output (node, 0);
      const VnOp *op = node->graph == self->resolver->graph ? self->resolver->quant_nodes[node->index].op : NULL;

      if (op == NULL || output == NULL)
        return FALSE;
      if (g_strv_contains (maxima, node->op_type) ? self->spreads[output->id].far_low
          : op->quant.role != VN_QUANT_PASSTHROUGH || depth == 0 || !masks_is_below_maximum (self, output, depth - 1))
        return FALSE;
    }
  return value->uses->len > 0 && !value->is_output && !g_hash_table_contains (self->resolver->captured, value);
}

static void
masks_cut (Masks         *self,
           const VnValue *value)
{
  const Spread *spread = &self->spreads[value->id];
  VnAnnotation *annotation = vn_resolver_get_annotation (self->resolver, value);
  const VnNode *node = value->producer;

  if (!masks_mark (self, value, VN_MASK_CUT))
    return;
  annotation->mask_min = spread->low;
  annotation->mask_max = spread->high;
  for (guint i = 0; node != NULL && i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);

      if (input != NULL && input->initializer != NULL && self->spreads[input->id].far_low)
        masks_mark (self, input, VN_MASK_FLOAT);
    }
}

static void
masks_judge (Masks         *self,
             const VnValue *value)
{
  const Spread *spread = &self->spreads[value->id];
  gboolean is_observed = value->initializer == NULL && self->resolver->lookup != NULL &&
                         self->resolver->lookup (value->name, self->resolver->lookup_data) != NULL;

  if (spread->has_nan)
    masks_mark (self, value, VN_MASK_NAN);
  else if (is_observed && spread->far_low && !spread->far_high && masks_is_below_maximum (self, value, 8))
    masks_cut (self, value);
  else if (spread->huge_low || spread->huge_high)
    masks_keep_float (self, value);
}

static void
masks_judge_readers (Masks        *self,
                     const VnNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (blind_readers); i++)
    {
      const VnValue *value = g_str_equal (node->op_type, blind_readers[i].type)
                           ? vn_node_get_input (node, blind_readers[i].input) : NULL;

      if (value != NULL && value->graph == self->resolver->graph && self->spreads[value->id].far_low)
        masks_keep_float (self, value);
    }
}

/* ---- what is said ---- */

static void
masks_report (const Masks *self)
{
  VnNotes *notes = self->resolver->notes;

  if (notes == NULL)
    return;
  if (self->n[VN_MASK_FLOAT] > 0)
    vn_notes_add (notes, VN_NOTE_INFO, "mask-stays-float", self->first[VN_MASK_FLOAT],
                  ngettext ("%u tensor stays in float: it contains infinities or stand-ins for them, as masks do, and "
                            "a range that includes them leaves no levels for other values",
                            "%u tensors, this one first, stay in float: they contain infinities or stand-ins for "
                            "them, as masks do, and a range that includes them leaves no levels for other values",
                            self->n[VN_MASK_FLOAT]), self->n[VN_MASK_FLOAT]);
  if (self->n[VN_MASK_CUT] > 0)
    vn_notes_add (notes, VN_NOTE_INFO, "padding-cut", self->first[VN_MASK_CUT],
                  ngettext ("%u range excludes values far below all others: only a maximum uses them",
                            "%u ranges, that of this tensor first, exclude values far below all others: only a "
                            "maximum uses them",
                            self->n[VN_MASK_CUT]), self->n[VN_MASK_CUT]);
  if (self->n[VN_MASK_NAN] > 0)
    vn_notes_add (notes, VN_NOTE_WARNING, "nan-stays-float", self->first[VN_MASK_NAN],
                  ngettext ("%u tensor had NaN values, which reach none of the outputs checked: it stays in float",
                            "%u tensors, this one first, had NaN values, which reach none of the outputs checked: "
                            "they stay in float",
                            self->n[VN_MASK_NAN]), self->n[VN_MASK_NAN]);
}

static gboolean
masks_check_outputs (VnResolver  *resolver,
                     GError     **error)
{
  for (guint i = 0; resolver->lookup != NULL && resolver->scope == NULL && i < resolver->graph->outputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (resolver->graph->outputs, i);
      const VnHistogram *histogram = resolver->lookup (value->name, resolver->lookup_data);

      if (histogram == NULL || histogram->n_nan == 0)
        continue;
      g_set_error (error, VN_ERROR, VN_ERROR_NUMERIC,
                   _("“%s” had %llu NaN values during calibration; check the samples and their preprocessing"),
                   value->name, (unsigned long long) histogram->n_nan);
      return FALSE;
    }
  return TRUE;
}

/*< private >
 * vn_resolver_find_masks:
 *
 * Before anything is annotated: which tensors stay float, or have a shorter range, for values that stand for others.
 *
 * Returns: %FALSE with %VN_ERROR_NUMERIC if NaN reach an output of the network
 */
gboolean
vn_resolver_find_masks (VnResolver  *self,
                        GError     **error)
{
  Masks masks = { .resolver = self };

  g_return_val_if_fail (self != NULL, FALSE);

  if (!masks_check_outputs (self, error))
    return FALSE;
  if (self->scheme.format->weights_only)
    return TRUE;
  masks.spreads = g_new0 (Spread, self->graph->values->len + 1);
  masks_look_at_all (&masks);
  for (guint i = 0; i < self->nodes->len; i++)
    masks_judge_readers (&masks, g_ptr_array_index (self->nodes, i));
  for (guint i = 0; i < self->graph->values->len; i++)
    masks_judge (&masks, g_ptr_array_index (self->graph->values, i));
  masks_report (&masks);
  g_free (masks.spreads);
  vn_scratch_free (masks.scratch);
  return TRUE;
}
