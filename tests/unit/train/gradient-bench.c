/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gradient-bench.h"

#include "op-text.h"
#include "vn-train-block.h"

#include <string.h>

/* All different, and in no order, so that the largest of some is no matter of chance. */
static VnTensor *
make_random (const VnShape *shape,
             double         low,
             double         high,
             guint          seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);
  gsize n = tensor->n_elements;
  float *x = tensor->data;

  for (gsize i = 0; i < n; i++)
    x[i] = (float) (low + ((double) i + 0.37) / (double) n * (high - low));
  for (gsize i = n; i-- > 1;)
    {
      gsize k = (gsize) g_rand_int_range (rand, 0, (gint32) i + 1);
      float kept = x[i];

      x[i] = x[k];
      x[k] = kept;
    }
  return tensor;
}

/**
 * gradient_bench_init:
 *
 * Makes the inputs of a case.
 */
void
gradient_bench_init (GradientBench      *self,
                     const GradientCase *c)
{
  g_auto(GStrv) words = g_strsplit (c->inputs, " ", -1);
  const char *colon = strchr (c->type, ':');
  double low = c->low == 0 && c->high == 0 ? -2 : c->low, high = c->low == 0 && c->high == 0 ? 2 : c->high;

  *self = (GradientBench) { .c = c, .uses_f64 = TRUE };
  for (guint i = 0; words[i] != NULL; i++)
    {
      VnTensorType type = g_str_equal (words[i], "-") ? (VnTensorType) { 0 } : op_type_from_text (words[i]);

      g_assert_cmpuint (i, <, GRADIENT_MAX_INPUTS);
      self->inputs[self->call.n_inputs++] = g_str_equal (words[i], "-") || strchr (words[i], '=') != NULL
                                            ? op_tensor_from_text (words[i]) : make_random (&type.shape, low, high, i + 1);
    }
  self->call.domain = colon != NULL ? g_strndup (c->type, (gsize) (colon - c->type)) : g_strdup ("");
  self->call.type = colon != NULL ? colon + 1 : c->type;
  self->call.opset = c->opset;
  self->call.attributes = c->attributes;
  self->call.inputs = self->inputs;
  self->call.n_outputs = MAX (c->n_outputs, 1);
  self->call.first_known = TRUE;
  self->call.limit = 1 << 20;   /* types that the engine would not call it with are refused */
}

void
gradient_bench_clear (GradientBench *self)
{
  vn_tensor_clear_all (self->inputs, GRADIENT_MAX_INPUTS);
  vn_tensor_clear_all (self->factors, GRADIENT_MAX_OUTPUTS);
  g_free ((char *) self->call.domain);
}

typedef struct
{
  GradientBench *bench;
  VnBlock       *block;
  VnTensor     **gradients;   /* by input */
} Train;

static gboolean
train_item (VnBlockRun  *run,
            guint        item,
            gpointer     data,
            GError     **error)
{
  Train *train = data;
  VnTensor *inputs[GRADIENT_MAX_INPUTS] = { NULL };
  guint n = 0;

  for (guint i = 0; i < train->bench->call.n_inputs; i++)
    if (train->bench->inputs[i] != NULL)
      inputs[n++] = train->bench->inputs[i];
  g_assert_cmpuint (vn_block_get_n_inputs (train->block), ==, n);
  if (!vn_block_run_forward (run, inputs, error))
    return FALSE;
  for (guint o = 0; o < train->bench->call.n_outputs; o++)
    {
      const VnTensor *y = vn_block_run_get_output (run, o);
      VnTensor *dy, **factors = &train->bench->factors[o];

      if (y->dtype != VN_DTYPE_F32 || (train->bench->c->silent >> o & 1) != 0)
        continue;
      if (*factors == NULL)
        *factors = make_random (&y->shape, -1, 1, 100 + o);
      dy = vn_block_run_get_output_gradient (run, o, error);
      if (dy == NULL)
        return FALSE;
      memcpy (dy->data, (*factors)->data, dy->n_bytes);
    }
  if (!vn_block_run_backward (run, error))
    return FALSE;
  n = 0;
  for (guint i = 0; i < train->bench->call.n_inputs; i++)
    {
      const VnTensor *gradient = train->bench->inputs[i] != NULL
                                 ? vn_block_run_get_gradient (run, vn_block_get_input (train->block, n++)) : NULL;

      if (gradient != NULL)
        train->gradients[i] = vn_tensor_new_copy (VN_DTYPE_F32, &gradient->shape, gradient->data, NULL);
    }
  return TRUE;
}

/**
 * gradient_bench_run_back:
 * @only: the input whose gradient is wanted, G_MAXUINT: of all
 * @gradients: (out): by input
 */
gboolean
gradient_bench_run_back (GradientBench  *bench,
                         guint           only,
                         VnTensor      **gradients,
                         GError        **error)
{
  g_autoptr(VnModel) model = vn_model_new (8, bench->call.opset);
  g_autoptr(GPtrArray) nodes = g_ptr_array_new (), outputs = g_ptr_array_new ();
  g_autoptr(VnBlock) block = NULL;
  Train train = { bench, NULL, gradients };
  VnNode *node;
  guint n = 0;

  if (*bench->call.domain != '\0')
    vn_model_set_opset (model, bench->call.domain, bench->call.opset);
  node = op_call_make_node (model, &bench->call);
  g_ptr_array_add (nodes, node);
  for (guint o = 0; o < bench->call.n_outputs; o++)
    g_ptr_array_add (outputs, vn_node_get_output (node, o));
  block = train.block = vn_block_new (model->graph, nodes, outputs, error);
  if (block == NULL)
    return FALSE;
  for (guint i = 0; i < bench->call.n_inputs; i++)
    {
      if (bench->inputs[i] != NULL && bench->inputs[i]->dtype == VN_DTYPE_F32 && (only == G_MAXUINT || only == i))
        g_assert_true (vn_block_want_gradient (block, vn_block_get_input (block, n), NULL));
      n += bench->inputs[i] != NULL;
    }
  return vn_block_step (block, 1, 1, train_item, &train, NULL, error);
}
