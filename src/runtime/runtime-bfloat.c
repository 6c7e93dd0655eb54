/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ONNX Runtime computes with bfloat16 on a CPU: it moves such numbers, converts and normalizes them, and refuses to load a
 * network with any other operator on them. */
#include "vn-runtime.h"

#include "vn-i18n.h"

#include <string.h>

#define NAMED 6u   /* operators in a sentence */

/* Of ai.onnx and com.microsoft, as version 1.32 has them; tests/oracle/bfloat_precision.py holds them against it. Sorted. */
static const char * const bfloat_kernels[] = {
  "BitCast", "Cast", "Compress", "Concat", "ConstantOfShape", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "If",
  "IsInf", "IsNaN", "LayerNormalization", "Loop", "Pad", "Reshape", "ReverseSequence", "Scan", "ScatterElements", "ScatterND",
  "Shape", "Shrink", "Sign", "SimplifiedLayerNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
  "Slice", "Split", "Squeeze", "TensorScatter", "Transpose", "Unique", "Unsqueeze",
};

static int
runtime_bfloat_compare (const void *a,
                        const void *b)
{
  return strcmp (a, *(const char * const *) b);
}

static gboolean
runtime_bfloat_has_kernel (const VnNode *node)
{
  return bsearch (node->op_type, bfloat_kernels, G_N_ELEMENTS (bfloat_kernels), sizeof *bfloat_kernels,
                  runtime_bfloat_compare) != NULL;
}

static gboolean
runtime_bfloat_is (const VnValue *value)
{
  if (value == NULL)
    return FALSE;
  return value->initializer != NULL ? value->initializer->dtype == VN_DTYPE_BF16
         : value->type.kind == VN_TYPE_TENSOR && value->type.dtype == VN_DTYPE_BF16;
}

static gboolean
runtime_bfloat_is_touched (const VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    if (runtime_bfloat_is (vn_node_get_input (node, i)))
      return TRUE;
  for (guint i = 0; i < node->outputs->len; i++)
    if (runtime_bfloat_is (vn_node_get_output (node, i)))
      return TRUE;
  return FALSE;
}

/**
 * vn_runtime_dup_bfloat_gaps:
 * @graph: its types are known; those inside its nodes are not looked at
 *
 * Returns: (transfer full) (nullable): which of its operators ONNX Runtime has no kernel for on a CPU as they compute with
 *   bfloat16: "MatMul, Add"; %NULL: none
 */
char *
vn_runtime_dup_bfloat_gaps (const VnGraph *graph)
{
  g_autoptr(GPtrArray) types = g_ptr_array_new ();
  GString *names;

  g_return_val_if_fail (graph != NULL, NULL);

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      if (runtime_bfloat_is_touched (node) && !runtime_bfloat_has_kernel (node) &&
          !g_ptr_array_find_with_equal_func (types, node->op_type, g_str_equal, NULL))
        g_ptr_array_add (types, node->op_type);
    }
  if (types->len == 0)
    return NULL;
  names = g_string_new (NULL);
  for (guint i = 0; i < MIN (types->len, NAMED); i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", (const char *) types->pdata[i]);
  g_string_append (names, types->len > NAMED ? " …" : "");
  return g_string_free (names, FALSE);
}

/**
 * vn_runtime_note_bfloat:
 * @gaps: of vn_runtime_dup_bfloat_gaps()
 * @notes: told that ONNX Runtime on a CPU cannot load the network, and what to do
 */
void
vn_runtime_note_bfloat (const char *gaps,
                        VnNotes    *notes)
{
  g_return_if_fail (gaps != NULL && notes != NULL);

  vn_notes_add (notes, VN_NOTE_WARNING, VN_NOTE_CODE_BFLOAT, NULL,
                _("ONNX Runtime cannot run this model on a CPU: it has no bfloat16 kernels for %s. Run it on a GPU or NPU that "
                  "has them, or quantize it with the “float-type” float32 or float16"), gaps);
}
