/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of operators that only move elements. Their own kernels move the numbers of the elements, and so tell from where each
 * came: no rule of Slice, Gather or Pad is written a second time. */
#include "vn-gradient-private.h"

#include "vn-op-call.h"

typedef gboolean (*IsMovedFunc) (const VnGradientContext *ctx,
                                 guint                    input);

/**
 * Selection: kept from call to call, for its memory.
 * @numbers: by input: elements numbered from 1 on through all inputs that are moved; %NULL for others
 * @first: by input: the number before its first
 */
typedef struct
{
  VnTensor **numbers;
  gsize     *first;
  guint      n;
  VnOpCall   call;
} Selection;

static void
gradient_select_free (gpointer data)
{
  Selection *self = data;

  vn_tensor_clear_all (self->numbers, self->n);
  vn_op_call_clear (&self->call);
  g_free (self->numbers);
  g_free (self->first);
  g_free (self);
}

static Selection *
gradient_select_get (VnGradientContext  *ctx,
                     GError            **error)
{
  Selection *self = ctx->kept->data;

  if (self != NULL)
    return self;
  self = g_new0 (Selection, 1);
  self->n = ctx->op.n_inputs;
  self->numbers = g_new0 (VnTensor *, self->n + 1);
  self->first = g_new0 (gsize, self->n + 1);
  if (!vn_op_call_init (&self->call, ctx->op.node, error))
    {
      gradient_select_free (self);
      return NULL;
    }
  *ctx->kept = (VnGradientKept) { self, gradient_select_free };
  return self;
}

static gboolean
gradient_select_number_input (Selection       *self,
                              guint            input,
                              const VnTensor  *in,
                              gsize            first,
                              GError         **error)
{
  VnTensor **numbers = &self->numbers[input];

  if (*numbers != NULL && self->first[input] == first && vn_shape_equal (&(*numbers)->shape, &in->shape))
    return TRUE;
  g_clear_pointer (numbers, vn_tensor_unref);
  if (in->n_elements > G_MAXINT32 - first)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the tensors that are moved are too large to be trained"));
      return FALSE;
    }
  *numbers = vn_tensor_new (VN_DTYPE_S32, &in->shape, error);
  if (*numbers == NULL)
    return FALSE;
  for (gsize k = 0; k < in->n_elements; k++)
    ((gint32 *) (*numbers)->data)[k] = (gint32) (first + k + 1);
  self->first[input] = first;
  return TRUE;
}

/* What stands where nothing is taken from has the number 0. */
static gboolean
gradient_select_number (Selection          *self,
                        VnGradientContext  *ctx,
                        IsMovedFunc         is_moved,
                        GError            **error)
{
  gsize next = 0;

  for (guint i = 0; i < self->n; i++)
    {
      VnTensor *in = ctx->op.in[i];

      self->call.in[i] = in;
      if (in == NULL || !is_moved (ctx, i))
        continue;
      if (!gradient_select_number_input (self, i, in, next, error))
        return FALSE;
      self->call.in[i] = self->numbers[i];
      next += in->n_elements;
    }
  return TRUE;
}

static void
gradient_select_collect (const Selection   *self,
                         VnGradientContext *ctx,
                         guint              input,
                         guint              output,
                         const VnTensor    *numbers)
{
  const float *dy = ctx->out_grads[output]->data;
  const gint32 *from = numbers->data;
  float *dx = ctx->in_grads[input]->data;
  gsize n = ctx->op.in[input]->n_elements, first = self->first[input];

  for (gsize i = 0; i < numbers->n_elements; i++)
    {
      gsize at = (gsize) from[i] - 1 - first;   /* 0, and what comes before, wraps around */

      if (at < n)
        dx[at] += dy[i];
    }
}

static gboolean
gradient_select_run (VnGradientContext  *ctx,
                     IsMovedFunc         is_moved,
                     GError            **error)
{
  Selection *self = gradient_select_get (ctx, error);

  if (self == NULL || !gradient_select_number (self, ctx, is_moved, error) || !vn_op_call_run (&self->call, ctx->scratch, error))
    return FALSE;
  for (guint o = 0; o < ctx->op.n_outputs; o++)
    for (guint i = 0; i < ctx->op.n_inputs; i++)
      if (ctx->out_grads[o] != NULL && ctx->in_grads[i] != NULL && self->call.out[o] != NULL)
        gradient_select_collect (self, ctx, i, o, self->call.out[o]);
  return TRUE;
}

static gboolean
gradient_select_is_first (const VnGradientContext *ctx,
                          guint                    input)
{
  return input == 0;
}

static gboolean
gradient_select_is_any (const VnGradientContext *ctx,
                        guint                    input)
{
  return TRUE;
}

static gboolean
gradient_select_is_choice (const VnGradientContext *ctx,
                           guint                    input)
{
  return input > 0;
}

static gboolean
gradient_select_is_outer (const VnGradientContext *ctx,
                          guint                    input)
{
  return input == 0 || input == 2;
}

gboolean
vn_gradient_select (VnGradientContext  *ctx,
                    GError            **error)
{
  return gradient_select_run (ctx, gradient_select_is_first, error);
}

gboolean
vn_gradient_concat (VnGradientContext  *ctx,
                    GError            **error)
{
  return gradient_select_run (ctx, gradient_select_is_any, error);
}

gboolean
vn_gradient_where (VnGradientContext  *ctx,
                   GError            **error)
{
  return gradient_select_run (ctx, gradient_select_is_choice, error);
}

/* Data and what is written into them, or around them. */
gboolean
vn_gradient_fill (VnGradientContext  *ctx,
                  GError            **error)
{
  return gradient_select_run (ctx, gradient_select_is_outer, error);
}

gboolean
vn_gradient_check_scatter (const VnNode  *node,
                           GError       **error)
{
  g_autofree char *reduction = vn_node_dup_string (node, "reduction", "none");

  if (g_str_equal (reduction, "none"))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("there is no gradient for the reduction “%s”"), reduction);
  return FALSE;
}

/* What it fills in would be taken for the number of an element. */
gboolean
vn_gradient_check_pad (const VnNode  *node,
                       GError       **error)
{
  if (vn_node_get_float (node, "value", 0) == 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("it pads with a value other than 0, as up to opset 10; "
                                                        "convert the model to a later opset"));
  return FALSE;
}

/* ---- the same elements in the same order ---- */

gboolean
vn_gradient_copy (VnGradientContext  *ctx,
                  GError            **error)
{
  vn_gradient_add_scaled (ctx->in_grads[0]->data, ctx->out_grads[0]->data, 1, ctx->out_grads[0]->n_elements);
  return TRUE;
}

gboolean
vn_gradient_check_dropout (const VnNode  *node,
                           GError       **error)
{
  if (vn_node_get_input (node, 2) == NULL && vn_node_get_int (node, "is_test", 1) != 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("it drops values randomly"));
  return FALSE;
}
