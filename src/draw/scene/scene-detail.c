/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The few words beside an operator that say which kind of it this is. */
#include "vn-scene-builder.h"

#include "scene-pairs.h"
#include "vn-i18n.h"

#include <string.h>

typedef void (*DetailFunc) (const VnNode *node,
                            GString      *text);

typedef struct
{
  const char *op;
  DetailFunc  func;
} Detail;

static void
scene_detail_add_word (GString    *text,
                       const char *word)
{
  if (text->len > 0)
    g_string_append_c (text, ' ');
  g_string_append (text, word);
}

static char *
scene_detail_join_ints (const gint64 *values,
                        gsize         n,
                        const char   *separator)
{
  GString *text = g_string_new (NULL);

  for (gsize i = 0; i < n; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? separator : "", values[i]);
  return g_string_free (text, FALSE);
}

/* What stands in an attribute with one number for each axis: "2", "1×2"; NULL where all are 1. */
static char *
scene_detail_dup_steps (const VnNode *node,
                        const char   *attr)
{
  gsize n = 0;
  const gint64 *steps = vn_node_get_ints (node, attr, &n);
  gboolean plain = TRUE, uniform = TRUE;

  for (gsize i = 0; i < n; i++)
    {
      plain &= steps[i] == 1;
      uniform &= steps[i] == steps[0];
    }
  return plain ? NULL : scene_detail_join_ints (steps, uniform ? 1 : n, "×");
}

/* "3×3", with strides "3×3/2". The size is the attribute, or what the weight's shape says. */
static void
scene_detail_add_kernel (const VnNode *node,
                         GString      *text)
{
  g_autofree char *size = NULL, *strides = scene_detail_dup_steps (node, "strides");
  gsize n = 0;
  const gint64 *kernel = vn_node_get_ints (node, "kernel_shape", &n);

  if (kernel == NULL)
    {
      const VnValue *weight = vn_node_get_input (node, 1);

      if (weight == NULL || weight->type.kind != VN_TYPE_TENSOR || weight->type.shape.rank < 3)
        return;
      n = (gsize) weight->type.shape.rank - 2;
      kernel = weight->type.shape.dims + 2;
    }
  size = scene_detail_join_ints (kernel, n, "×");
  scene_detail_add_word (text, size);
  if (strides != NULL)
    g_string_append_printf (text, "/%s", strides);
}

static void
scene_detail_add_groups (const VnNode *node,
                         GString      *text)
{
  gint64 group = vn_node_get_int (node, "group", 1);
  const VnValue *input = vn_node_get_input (node, 0);
  g_autofree char *words = NULL;

  if (group <= 1)
    return;
  if (input != NULL && input->type.kind == VN_TYPE_TENSOR && input->type.shape.rank > 1
      && input->type.shape.dims[1] == group)
    {
      scene_detail_add_word (text, _("depthwise"));
      return;
    }
  words = g_strdup_printf (ngettext ("%lld group",
                                     "%lld groups", (gulong) group), (long long) group);
  scene_detail_add_word (text, words);
}

static void
detail_conv (const VnNode *node,
             GString      *text)
{
  g_autofree char *dilations = scene_detail_dup_steps (node, "dilations");

  scene_detail_add_kernel (node, text);
  scene_detail_add_groups (node, text);
  if (dilations != NULL)
    {
      scene_detail_add_word (text, _("dilated"));
      scene_detail_add_word (text, dilations);
    }
}

static void
detail_pool (const VnNode *node,
             GString      *text)
{
  scene_detail_add_kernel (node, text);
}

static void
detail_matrix (const VnNode *node,
               GString      *text)
{
  const VnValue *weight = vn_node_get_input (node, 1);
  g_autofree char *size = NULL;

  if (weight == NULL || !vn_value_is_constant (weight) || weight->type.kind != VN_TYPE_TENSOR)
    return;
  size = vn_shape_to_string (&weight->type.shape, "×");
  scene_detail_add_word (text, size);
}

static void
detail_axis (const VnNode *node,
             GString      *text)
{
  g_autofree char *words = NULL;

  if (vn_node_get_attr (node, "axis") == NULL)
    return;
  words = g_strdup_printf (_("axis %lld"), (long long) vn_node_get_int (node, "axis", 0));
  scene_detail_add_word (text, words);
}

static void
detail_axes (const VnNode *node,
             GString      *text)
{
  gsize n = 0;
  const gint64 *axes = vn_node_get_ints (node, "axes", &n);
  g_autofree char *list = NULL, *words = NULL;

  if (n == 0)
    return;
  list = scene_detail_join_ints (axes, n, ", ");
  words = g_strconcat (n > 1 ? _("axes") : _("axis"), " ", list, NULL);
  scene_detail_add_word (text, words);
}

static void
detail_perm (const VnNode *node,
             GString      *text)
{
  gsize n = 0;
  const gint64 *perm = vn_node_get_ints (node, "perm", &n);
  g_autofree char *list = scene_detail_join_ints (perm, n, " ");

  scene_detail_add_word (text, list);
}

static void
detail_cast (const VnNode *node,
             GString      *text)
{
  gint64 to = vn_node_get_int (node, "to", 0);

  if (vn_dtype_is_valid (to))
    scene_detail_add_word (text, vn_dtype_get_name ((VnDType) to));
}

static void
detail_mode (const VnNode *node,
             GString      *text)
{
  g_autofree char *mode = vn_node_dup_string (node, "mode", "");

  scene_detail_add_word (text, mode);
}

/* Type, scale and zero point. */
static void
detail_pair (const VnNode *node,
             GString      *text)
{
  g_autofree char *words = vn_scene_pair_dup_text (node);

  scene_detail_add_word (text, words);
}

/* "2 of 8 experts", and of packed weights "4 bits". */
static void
detail_experts (const VnNode *node,
                GString      *text)
{
  const VnValue *weight = vn_node_get_input (node, 2);
  g_autofree char *words = NULL, *bits = NULL;

  if (weight != NULL && weight->type.kind == VN_TYPE_TENSOR && weight->type.shape.rank == 3)
    words = g_strdup_printf (_("%lld of %lld experts"), (long long) vn_node_get_int (node, "k", 1),
                             (long long) weight->type.shape.dims[0]);
  if (g_str_equal (node->op_type, "QMoE"))
    bits = g_strdup_printf (_("%lld bits"), (long long) vn_node_get_int (node, "expert_weight_bits", 4));
  if (words != NULL)
    scene_detail_add_word (text, words);
  if (words != NULL && bits != NULL)
    g_string_append_c (text, ',');
  if (bits != NULL)
    scene_detail_add_word (text, bits);
}

/* Sorted by name. */
static const Detail details[] = {
  { "ArgMax", detail_axis },             { "ArgMin", detail_axis },
  { "AveragePool", detail_pool },        { "Cast", detail_cast },
  { "Concat", detail_axis },             { "Conv", detail_conv },
  { "ConvInteger", detail_conv },        { "ConvTranspose", detail_conv },
  { "DepthToSpace", detail_mode },       { "DequantizeLinear", detail_pair },
  { "Flatten", detail_axis },
  { "FusedConv", detail_conv },          { "Gather", detail_axis },
  { "GatherElements", detail_axis },     { "Gemm", detail_matrix },
  { "LayerNormalization", detail_axis }, { "LogSoftmax", detail_axis },
  { "LpPool", detail_pool },             { "MatMul", detail_matrix },
  { "MatMulInteger", detail_matrix },    { "MaxPool", detail_pool },
  { "MoE", detail_experts },
  { "Pad", detail_mode },                { "QLinearConv", detail_conv },
  { "QMoE", detail_experts },
  { "QuantizeLinear", detail_pair },
  { "ReduceL2", detail_axes },           { "ReduceMax", detail_axes },
  { "ReduceMean", detail_axes },         { "ReduceMin", detail_axes },
  { "ReduceSum", detail_axes },          { "Resize", detail_mode },
  { "Softmax", detail_axis },            { "Split", detail_axis },
  { "Squeeze", detail_axes },            { "Transpose", detail_perm },
  { "Unsqueeze", detail_axes },          { "Upsample", detail_mode },
};

static int
scene_detail_compare (gconstpointer key,
                      gconstpointer item)
{
  return strcmp (key, ((const Detail *) item)->op);
}

/**
 * vn_node_dup_detail:
 *
 * Returns: (transfer full) (nullable): what tells this node from others with the same operator: "3×3/2
 *   depthwise", "axis 1", "768×3072"; %NULL if there is nothing to say
 */
char *
vn_node_dup_detail (const VnNode *node)
{
  const Detail *detail;
  GString *text;

  g_return_val_if_fail (node != NULL, NULL);

  detail = bsearch (node->op_type, details, G_N_ELEMENTS (details), sizeof (Detail), scene_detail_compare);
  if (detail == NULL)
    return NULL;
  text = g_string_new (NULL);
  detail->func (node, text);
  if (text->len > 0)
    return g_string_free (text, FALSE);
  g_string_free (text, TRUE);
  return NULL;
}
