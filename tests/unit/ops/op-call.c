/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "op-call.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_INPUTS 512

#define GUARD_BYTES 256
#define GUARD_VALUE 0xa5

static void
set_list (VnNode     *node,
          const char *name,
          const char *text)
{
  g_auto(GStrv) parts = g_strsplit (text, ",", -1);
  guint n = g_strv_length (parts);

  if (strchr (text, '.') != NULL)
    {
      VnAttr *attr = vn_attr_new (name, VN_ATTR_FLOATS);

      if (attr->floats == NULL)
        attr->floats = g_array_new (FALSE, FALSE, sizeof (float));
      for (guint i = 0; i < n; i++)
        {
          float value = (float) g_ascii_strtod (parts[i], NULL);

          g_array_append_val (attr->floats, value);
        }
      vn_node_set_attr (node, attr);
    }
  else
    {
      g_autofree gint64 *values = g_new0 (gint64, n + 1);

      for (guint i = 0; i < n; i++)
        values[i] = g_ascii_strtoll (parts[i], NULL, 10);
      vn_node_set_ints (node, name, values, n);
    }
}

static void
set_attribute (VnNode     *node,
               const char *name,
               char       *value)
{
  char *end;

  if (value[0] == '[')
    {
      value[strlen (value) - 1] = '\0';
      set_list (node, name, value + 1);
      return;
    }
  g_ascii_strtod (value, &end);
  if (*end != '\0' || *value == '\0')
    vn_node_set_string (node, name, value);
  else if (strchr (value, '.') != NULL || strchr (value, 'e') != NULL)
    vn_node_set_float (node, name, (float) g_ascii_strtod (value, NULL));
  else
    vn_node_set_int (node, name, g_ascii_strtoll (value, NULL, 10));
}

static void
set_attributes (VnNode     *node,
                const char *text)
{
  g_auto(GStrv) words = g_strsplit (text != NULL ? text : "", " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      char *equals = strchr (words[i], '=');

      if (equals == NULL)
        continue;
      *equals = '\0';
      set_attribute (node, words[i], equals + 1);
    }
}

/**
 * op_call_make_node:
 *
 * Returns: (transfer none): the node in a graph of its own: its inputs are "in0", "in1" and so on
 */
VnNode *
op_call_make_node (VnModel      *model,
                   const OpCall *call)
{
  VnValue *inputs[MOST_INPUTS], *outputs[16];
  VnNode *node;

  for (guint i = 0; i < call->n_inputs; i++)
    {
      g_autofree char *name = g_strdup_printf ("in%u", i);

      inputs[i] = call->inputs[i] == NULL ? NULL
                : vn_graph_add_input (model->graph, name, call->inputs[i]->dtype, &call->inputs[i]->shape);
    }
  for (guint i = 0; i < call->n_outputs; i++)
    outputs[i] = vn_graph_add_value (model->graph, NULL, VN_DTYPE_UNDEFINED, NULL);
  node = vn_graph_add_node (model->graph, NULL, call->domain, call->type, inputs, call->n_inputs, outputs,
                            call->n_outputs);
  set_attributes (node, call->attributes);
  return node;
}

/* A tensor whose storage has guards on both sides. */
static VnTensor *
guarded_tensor (const VnTensorType *type)
{
  gsize n, bytes;
  guint8 *memory;
  VnTensor *tensor;

  g_assert_true (vn_tensor_size_in_bytes (type->dtype, &type->shape, &n, &bytes));
  memory = g_malloc (bytes + 2 * GUARD_BYTES);
  memset (memory, GUARD_VALUE, bytes + 2 * GUARD_BYTES);
  tensor = vn_tensor_new_wrap (type->dtype, &type->shape, memory + GUARD_BYTES, memory, g_free, NULL);
  g_assert_nonnull (tensor);
  return tensor;
}

static void
assert_guards (const guint8 *data,
               gsize         bytes)
{
  for (gsize i = 0; i < GUARD_BYTES; i++)
    {
      g_assert_cmpuint (data[-1 - (gssize) i], ==, GUARD_VALUE);
      g_assert_cmpuint (data[bytes + i], ==, GUARD_VALUE);
    }
}

static gboolean
run (const OpCall *call,
     VnOpContext  *ctx,
     VnTensor    **outputs,
     GError      **error)
{
  guint8 *scratch = g_aligned_alloc0 (1, ctx->scratch_bytes + 2 * GUARD_BYTES, 64);
  gpointer prepared = NULL;
  gboolean ok = TRUE, guarded[16] = { FALSE };

  memset (scratch, GUARD_VALUE, ctx->scratch_bytes + 2 * GUARD_BYTES);
  ctx->scratch = scratch + GUARD_BYTES;
  ctx->in = call->inputs;
  if (call->constant)
    ok = vn_op_prepare (ctx, &prepared, error);
  for (guint i = 0; i < call->n_outputs; i++)
    if (ctx->out[i] == NULL && ctx->out_types[i].dtype == VN_DTYPE_STRING)
      ctx->out[i] = vn_tensor_new (VN_DTYPE_STRING, &ctx->out_types[i].shape, NULL);
    else if (ctx->out[i] == NULL)
      {
        guarded[i] = TRUE;
        ctx->out[i] = guarded_tensor (&ctx->out_types[i]);
      }
  ctx->prepared = prepared;
  ok = ok && vn_op_run (ctx, error);
  vn_op_release (ctx->op, prepared);
  for (guint i = 0; i < call->n_outputs; i++)
    {
      if (guarded[i])
        assert_guards (ctx->out[i]->data, ctx->out[i]->n_bytes);
      if (ok)
        outputs[i] = g_steal_pointer (&ctx->out[i]);
    }
  assert_guards (ctx->scratch, ctx->scratch_bytes);
  g_aligned_free (scratch);
  return ok;
}

static gboolean
is_callable (const OpCall *call,
             VnOpContext  *ctx,
             GError      **error)
{
  if (call->limit == 0)
    return TRUE;
  if (call->n_inputs > 0 && call->inputs[0] != NULL && !vn_op_takes (ctx->op, call->inputs[0]->dtype))
    return vn_op_fail (ctx, error, "the engine would not call it");
  return vn_op_check_call (ctx, error);
}

static gboolean
is_small (const OpCall *call,
          VnOpContext  *ctx,
          GError      **error)
{
  gboolean small = ctx->scratch_bytes <= call->limit;

  for (guint i = 0; i < call->n_outputs; i++)
    {
      const VnTensorType *type = &ctx->out_types[i];
      gsize n, bytes;

      small = small && type->dtype != VN_DTYPE_UNDEFINED && vn_shape_is_static (&type->shape) &&
              vn_tensor_size_in_bytes (type->dtype, &type->shape, &n, &bytes) && bytes <= call->limit;
    }
  return call->limit == 0 || small || vn_op_fail (ctx, error, "too large for a test");
}

/**
 * op_call:
 * @outputs: (out): call->n_outputs tensors
 *
 * Looks the operator up, infers and runs it, with guard bytes around outputs and scratch.
 */
gboolean
op_call (const OpCall *call,
         VnTensor    **outputs,
         GError      **error)
{
  g_autoptr(VnModel) model = vn_model_new (8, call->opset);
  VnTensorType in_types[MOST_INPUTS], out_types[16];
  VnTensor *in[MOST_INPUTS] = { NULL }, *out[16] = { NULL };
  VnOpContext ctx = {
    .opset = call->opset, .n_inputs = call->n_inputs, .n_outputs = call->n_outputs, .in_types = in_types, .in = in,
    .out_types = out_types, .out = out, .n_threads = MAX (call->n_threads, 1), .activation = call->activation
  };
  gboolean ok;

  if (*call->domain != '\0')
    vn_model_set_opset (model, call->domain, call->opset);
  ctx.node = op_call_make_node (model, call);
  ctx.op = vn_op_lookup_node (ctx.node, error);
  if (ctx.op == NULL)
    return FALSE;
  for (guint i = 0; i < call->n_inputs; i++)
    {
      in_types[i] = (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
      if (call->inputs[i] != NULL)
        in_types[i] = (VnTensorType) { call->inputs[i]->dtype, call->inputs[i]->shape };
      in[i] = i > 0 || call->first_known ? call->inputs[i] : NULL;
    }
  for (guint i = 0; i < call->n_outputs; i++)
    out_types[i] = (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
  ok = is_callable (call, &ctx, error) && vn_op_infer (&ctx, error) && is_small (call, &ctx, error) &&
       run (call, &ctx, outputs, error);
  for (guint i = 0; i < call->n_outputs; i++)
    g_clear_pointer (&out[i], vn_tensor_unref);
  return ok;
}

/**
 * op_call_one:
 *
 * Returns: (transfer full): the only output of an operator that must work
 */
VnTensor *
op_call_one (const OpCall *call)
{
  g_autoptr(GError) error = NULL;
  VnTensor *output = NULL;

  op_call (call, &output, &error);
  g_assert_no_error (error);
  g_assert_nonnull (output);
  return output;
}

/**
 * op_random:
 *
 * Returns: (transfer full): numbers between -2 and 2, the same for the same seed
 */
VnTensor *
op_random (const VnShape *shape,
           guint32        seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);

  g_assert_nonnull (tensor);
  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = (float) g_rand_double_range (rand, -2, 2);
  return tensor;
}

typedef struct
{
  guint8 *pages;
  gsize   n;
} Fenced;

static void
unmap (gpointer data)
{
  Fenced *self = data;

  munmap (self->pages, self->n);
  g_free (self);
}

/**
 * op_fence:
 * @tensor: (transfer full) (nullable): not of strings
 * @at_end: what follows the last element cannot be read; otherwise what comes before the first
 *
 * Returns: (transfer full) (nullable): the same tensor in memory with a page on both sides that nobody may touch
 */
VnTensor *
op_fence (VnTensor *tensor,
          gboolean  at_end)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE), n = tensor != NULL ? (tensor->n_bytes + page - 1) / page * page : 0;
  guint8 *pages, *data;
  VnTensor *copy;

  if (tensor == NULL || n == 0)
    return tensor;
  pages = mmap (NULL, n + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_assert_true (pages != MAP_FAILED && mprotect (pages + page, n, PROT_READ | PROT_WRITE) == 0);
  data = pages + page + (at_end ? n - tensor->n_bytes : 0);
  memcpy (data, tensor->data, tensor->n_bytes);
  copy = vn_tensor_new_wrap (tensor->dtype, &tensor->shape, data,
                             g_memdup2 (&(Fenced) { pages, n + 2 * page }, sizeof (Fenced)), unmap, NULL);
  vn_tensor_unref (tensor);
  return copy;
}

/**
 * op_assert_near:
 *
 * Fails unless each element is within @absolute + @relative * |expected|; NaN and infinities must agree.
 */
void
op_assert_near (const VnTensor *found,
                const double   *expected,
                gsize           n,
                double          relative,
                double          absolute)
{
  g_assert_cmpuint (found->n_elements, ==, n);
  g_assert_cmpuint (n, >, 0);
  for (gsize i = 0; i < n; i++)
    {
      double value = vn_tensor_get_double (found, i), wanted = expected[i];
      gboolean near = isnan (wanted) ? isnan (value)
                    : isinf (wanted) ? value == wanted
                    : fabs (value - wanted) <= absolute + relative * fabs (wanted);

      if (!near)
        g_test_message ("element %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT ": %.9g, expected %.9g", i, n, value, wanted);
      g_assert_true (near);
    }
}

/**
 * op_assert_same:
 *
 * Fails unless both have the same type, shape and bits.
 */
void
op_assert_same (const VnTensor *a,
                const VnTensor *b)
{
  g_assert_cmpint (a->dtype, ==, b->dtype);
  g_assert_true (vn_shape_equal (&a->shape, &b->shape));
  g_assert_cmpuint (a->n_bytes, ==, b->n_bytes);
  g_assert_cmpint (memcmp (a->data, b->data, a->n_bytes), ==, 0);
}
