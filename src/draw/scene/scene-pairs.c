/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds QuantizeLinear and DequantizeLinear that belong together, so that a quantized network is drawn like a float one. */
#include "scene-pairs.h"

#include "vn-format.h"
#include "vn-i18n.h"

enum { SCALE = 1, ZERO_POINT };   /* inputs of both operators */

#define MOST_BETWEEN 8    /* nodes between them */

/* Runtimes do once what these do to constants. */
static gboolean
scene_pairs_moves (const VnNode *node)
{
  static const char * const types[] = { "Identity", "Cast", "Transpose", "Reshape", "Squeeze", "Unsqueeze" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (vn_node_is (node, types[i]))
      return TRUE;
  return vn_node_dequantizes (node) || vn_node_quantizes (node);
}

static gboolean
scene_pairs_is_of_constants (const VnScenePairs *self,
                             const VnNode       *node)
{
  const VnValue *output = vn_node_get_output (node, 0);

  if (!scene_pairs_moves (node) || output == NULL || output->is_output || output->uses->len == 0)
    return FALSE;
  for (guint i = 0; i < node->inputs->len; i++)
    if (vn_node_get_input (node, i) != NULL && !vn_scene_pairs_is_constant (self, vn_node_get_input (node, i)))
      return FALSE;
  for (guint i = 0; i < output->uses->len; i++)
    if (g_array_index (output->uses, VnUse, i).node->graph != node->graph)
      return FALSE;
  return TRUE;
}

/* What only changes the type of the integers, or their bounds, on the way. */
static gboolean
scene_pairs_narrows (const VnNode *node)
{
  return vn_node_is (node, "Cast") || vn_node_is (node, "Clip");
}

/* The integers that DequantizeLinear reads, behind what lies between. */
static const VnValue *
scene_pairs_find_integers (const VnNode *quantize)
{
  const VnValue *integers = vn_node_get_output (quantize, 0);

  for (guint step = 0; step < MOST_BETWEEN && integers != NULL && !integers->is_output && integers->uses->len == 1; step++)
    {
      const VnUse *use = &g_array_index (integers->uses, VnUse, 0);

      if (use->index != 0 || use->node->graph != quantize->graph || !scene_pairs_narrows (use->node))
        break;
      integers = vn_node_get_output (use->node, 0);
    }
  return integers;
}

/* All that reads the integers makes floats of them again. A scale that is computed is worth seeing: quantization is dynamic
 * there. */
static gboolean
scene_pairs_is_first (const VnNode *node)
{
  const VnValue *integers = vn_node_quantizes (node) && vn_node_find_constant (node, SCALE) != NULL &&
                            vn_node_get_input (node, 0) != NULL ? scene_pairs_find_integers (node) : NULL;

  if (integers == NULL || integers->is_output || integers->uses->len == 0)
    return FALSE;
  for (guint i = 0; i < integers->uses->len; i++)
    {
      const VnUse *use = &g_array_index (integers->uses, VnUse, i);

      if (use->index != 0 || use->node->graph != node->graph || !vn_node_dequantizes (use->node) ||
          vn_node_find_constant (use->node, SCALE) == NULL)
        return FALSE;
    }
  return TRUE;
}

/* The nodes behind the first one. */
static void
scene_pairs_mark_rest (VnScenePairs *self,
                       const VnNode *quantize)
{
  const VnValue *integers = scene_pairs_find_integers (quantize);

  for (guint i = 0; i < integers->uses->len; i++)
    self->roles[g_array_index (integers->uses, VnUse, i).node->index] = VN_PAIR_REST;
  for (const VnNode *node = integers->producer; node != quantize; node = vn_node_get_input (node, 0)->producer)
    self->roles[node->index] = VN_PAIR_REST;
}

/**
 * vn_scene_pairs_init:
 * @folds: %FALSE: every node has a box of its own
 */
void
vn_scene_pairs_init (VnScenePairs  *self,
                     const VnGraph *graph,
                     gboolean       folds)
{
  g_return_if_fail (self != NULL && graph != NULL);

  *self = (VnScenePairs) { graph, g_new0 (guint8, graph->nodes->len + 1) };
  for (guint i = 0; folds && i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      if (scene_pairs_is_of_constants (self, node))
        self->roles[i] = VN_PAIR_CONSTANT;
      else if (scene_pairs_is_first (node))
        {
          self->roles[i] = VN_PAIR_FIRST;
          scene_pairs_mark_rest (self, node);
        }
    }
}

void
vn_scene_pairs_clear (VnScenePairs *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->roles, g_free);
}

VnPairRole
vn_scene_pairs_get_role (const VnScenePairs *self,
                         const VnNode       *node)
{
  g_return_val_if_fail (self != NULL && node != NULL, VN_PAIR_NONE);

  return node->graph == self->graph ? (VnPairRole) self->roles[node->index] : VN_PAIR_NONE;
}

/**
 * vn_scene_pairs_get_host:
 *
 * Returns: the node whose box stands for it: the first of the pair, or the first that reads the constant
 */
const VnNode *
vn_scene_pairs_get_host (const VnScenePairs *self,
                         const VnNode       *node)
{
  g_return_val_if_fail (self != NULL && node != NULL, NULL);

  while (vn_scene_pairs_get_role (self, node) == VN_PAIR_CONSTANT)
    node = g_array_index (vn_node_get_output (node, 0)->uses, VnUse, 0).node;
  while (vn_scene_pairs_get_role (self, node) == VN_PAIR_REST)
    node = vn_node_get_input (node, 0)->producer;
  return node;
}

/**
 * vn_scene_pair_get_dtype:
 * @quantize: QuantizeLinear or DequantizeLinear
 *
 * Returns: the type of the integers that it makes or reads, as far as it is known
 */
VnDType
vn_scene_pair_get_dtype (const VnNode *quantize)
{
  const VnValue *output, *zero_point;

  g_return_val_if_fail (quantize != NULL, VN_DTYPE_UNDEFINED);

  output = vn_node_dequantizes (quantize) ? vn_node_get_input (quantize, 0) : scene_pairs_find_integers (quantize);
  zero_point = vn_node_get_input (quantize, 2);
  if (output != NULL && output->type.kind == VN_TYPE_TENSOR && output->type.dtype != VN_DTYPE_UNDEFINED)
    return output->type.dtype;
  if (zero_point != NULL && zero_point->type.kind == VN_TYPE_TENSOR)
    return zero_point->type.dtype;
  return VN_DTYPE_UNDEFINED;
}

/**
 * vn_scene_pair_dup_text:
 *
 * Returns: (transfer full): type, scale and zero point: "u8 · 0.0613 · 5"; of several scales how many there are
 */
char *
vn_scene_pair_dup_text (const VnNode *quantize)
{
  const VnTensor *scale, *zero_point;
  const char *badge;
  g_autofree char *word = NULL;
  GString *text;

  g_return_val_if_fail (quantize != NULL, NULL);

  scale = vn_node_find_constant (quantize, SCALE);
  zero_point = vn_node_find_constant (quantize, ZERO_POINT);
  badge = vn_dtype_get_badge (vn_scene_pair_get_dtype (quantize));
  word = g_ascii_strdown (badge != NULL ? badge : "?", -1);
  text = g_string_new (word);
  if (scale != NULL && scale->n_elements == 1)
    {
      g_autofree char *number = vn_format_number (vn_tensor_get_double (scale, 0), 3);

      g_string_append_printf (text, " · %s", number);
    }
  else if (scale != NULL)
    {
      g_string_append (text, " · ");
      g_string_append_printf (text, ngettext ("%zu scale", "%zu scales", scale->n_elements), scale->n_elements);
    }
  if (zero_point != NULL && zero_point->n_elements == 1)
    {
      g_autofree char *number = vn_format_number (vn_tensor_get_double (zero_point, 0), 6);

      g_string_append_printf (text, " · %s", number);
    }
  return g_string_free (text, FALSE);
}

/**
 * vn_scene_pairs_is_constant:
 *
 * Returns: whether @value is a constant, or made of constants by nodes that have no box
 */
gboolean
vn_scene_pairs_is_constant (const VnScenePairs *self,
                            const VnValue      *value)
{
  g_return_val_if_fail (self != NULL && value != NULL, FALSE);

  return vn_value_get_constant (value) != NULL ||
         (value->producer != NULL && vn_scene_pairs_get_role (self, value->producer) == VN_PAIR_CONSTANT);
}

/**
 * vn_scene_pairs_get_stored:
 * @value: what a node reads
 *
 * Returns: the type of the integers that a DequantizeLinear without a box makes it of; %VN_DTYPE_UNDEFINED: there is none
 */
VnDType
vn_scene_pairs_get_stored (const VnScenePairs *self,
                           const VnValue      *value)
{
  g_return_val_if_fail (self != NULL && value != NULL, VN_DTYPE_UNDEFINED);

  while (value != NULL && value->producer != NULL && vn_scene_pairs_get_role (self, value->producer) == VN_PAIR_CONSTANT)
    {
      const VnValue *input = vn_node_get_input (value->producer, 0);

      if (vn_node_dequantizes (value->producer))
        return input != NULL && input->type.kind == VN_TYPE_TENSOR ? input->type.dtype : VN_DTYPE_UNDEFINED;
      value = input;
    }
  return VN_DTYPE_UNDEFINED;
}
