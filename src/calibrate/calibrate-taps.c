/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is looked at of the tensors that a calibration taps: which axis counts their channels, and what of them is derived. */
#include "calibrate-taps.h"

#include <string.h>

/* Where channels are not told apart, all elements are one. */
gboolean
_vn_calibrate_get_layout (VnTapChannels    channels,
                          const VnTensor  *tensor,
                          VnChannelLayout *layout)
{
  const VnShape *shape = &tensor->shape;

  *layout = (VnChannelLayout) { 1, 1, tensor->n_elements, 0 };
  if (channels == VN_TAP_CHANNELS_SECOND && shape->rank >= 3)
    *layout = (VnChannelLayout) { (gsize) shape->dims[0], (gsize) shape->dims[1], (gsize) vn_shape_count (shape, 2, shape->rank),
                                  0 };
  else if (channels == VN_TAP_CHANNELS_LAST && shape->rank >= 2)
    *layout = (VnChannelLayout) { (gsize) vn_shape_count (shape, 0, shape->rank - 1), (gsize) shape->dims[shape->rank - 1], 1,
                                  0 };
  else
    return FALSE;
  return TRUE;
}

int *
_vn_calibrate_chain_derived (const VnDerived *derived,
                             guint            n)
{
  int *chain = g_new (int, n + 1);

  for (guint i = 0; i < n; i++)
    chain[i] = -1;
  for (guint i = 0; i < n; i++)
    if (derived[i].source >= 0)
      {
        chain[i] = chain[derived[i].source];
        chain[derived[i].source] = (int) i;
      }
  return chain;
}

static gboolean
calibrate_is_convolution (const VnNode *node)
{
  return node != NULL && (vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose"));
}

/* A product with a constant: its rows are added up channel by channel. */
static gboolean
calibrate_is_product (const VnNode *node)
{
  const VnValue *weight = node != NULL && (vn_node_is (node, "Gemm") || vn_node_is (node, "MatMul"))
                          ? vn_node_get_input (node, 1) : NULL;
  const VnTensor *constant = weight != NULL ? vn_value_get_constant (weight) : NULL;

  return constant != NULL && constant->shape.rank == 2 && vn_node_get_int (node, "transA", 0) == 0;
}

/* What convolutions and products read and write: there channels can have scales of their own, or hand factors on. */
VnTapChannels *
_vn_calibrate_find_channels (GPtrArray *taps)
{
  VnTapChannels *found = g_new0 (VnTapChannels, taps->len + 1);

  for (guint i = 0; i < taps->len; i++)
    {
      const VnValue *value = g_ptr_array_index (taps, i);

      found[i] = calibrate_is_convolution (value->producer) ? VN_TAP_CHANNELS_SECOND : VN_TAP_CHANNELS_NONE;
      for (guint u = 0; u < value->uses->len && found[i] == VN_TAP_CHANNELS_NONE; u++)
        {
          const VnUse *use = &g_array_index (value->uses, VnUse, u);

          if (calibrate_is_convolution (use->node))
            found[i] = VN_TAP_CHANNELS_SECOND;
          else if (use->index == 0 && calibrate_is_product (use->node))
            found[i] = VN_TAP_CHANNELS_LAST;
        }
    }
  return found;
}

/* What is only clamped takes the ranges of its channels from its source, which must have them then. */
VnTapChannels *
_vn_calibrate_add_sources (const VnTapChannels  *channels,
                           const VnDerived *derived,
                           guint            n)
{
  VnTapChannels *looked_at = g_new (VnTapChannels, n + 1);

  memcpy (looked_at, channels, n * sizeof *looked_at);
  for (guint i = 0; i < n; i++)
    if (channels[i] == VN_TAP_CHANNELS_SECOND && derived[i].source >= 0 && !derived[i].moved &&
        looked_at[derived[i].source] == VN_TAP_CHANNELS_NONE)
      looked_at[derived[i].source] = VN_TAP_CHANNELS_SECOND;
  return looked_at;
}

/* ---- which samples are counted ---- */

#define COUNTED_LEAST 4
#define COUNTED_MOST 16
#define COUNTED_SHARE 8

static gint
calibrate_compare_places (gconstpointer a,
                          gconstpointer b)
{
  const guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return x < y ? -1 : x > y;
}

/* By sample; NULL: all are. Every eighth by its number in the data set, but four at least and sixteen at most. What is kept, or
 * joined with what others have seen, has all. */
gboolean *
_vn_calibrate_choose_counted (const VnCalibrateOptions *options)
{
  const guint n = options->n_samples;
  const guint every = MAX (CLAMP (n / COUNTED_LEAST, 1, COUNTED_SHARE), (n + COUNTED_MOST - 1) / COUNTED_MOST);
  g_autofree guint64 *places = NULL;
  gboolean *counted;

  if (!options->few_counts || options->votes || options->checkpoint != NULL || options->may_be_empty)
    return NULL;
  places = g_new (guint64, n + 1);
  for (guint i = 0; i < n; i++)
    places[i] = (guint64) options->samples[i] << 32 | i;
  qsort (places, n, sizeof *places, calibrate_compare_places);
  counted = g_new0 (gboolean, n + 1);
  for (guint i = 0; i < n; i += every)
    counted[(guint32) places[i]] = TRUE;
  return counted;
}
