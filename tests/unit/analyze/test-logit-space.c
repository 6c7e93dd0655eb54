/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Logits in numbers whose squared differences are twice the divergence, beside the divergence itself, computed as defined. */
#include "vn-graph-edit.h"
#include "vn-logit-space.h"

#include <math.h>

#define N 5

static const struct
{
  const char *what;
  float       z[N], d[N];       /* logits, and what another network's are more */
  double      tolerance;        /* of twice the divergence */
} rows[] = {
  { "small",      { 1, -2, 0.5f, 3, 0 },      { 1e-3f, -2e-3f, 0, 2e-3f, 1e-3f },  0.01 },
  { "all alike",  { 1, -2, 0.5f, 3, 0 },      { 0.25f, 0.25f, 0.25f, 0.25f, 0.25f }, 0 },
  { "certain",    { 60, 0, 0, 0, 0 },         { 0, 5, -5, 5, 1 },                  0 },
  { "even",       { 7, 7, 7, 7, 7 },          { 1e-2f, -1e-2f, 0, 0, 0 },          0.01 },
  { "larger",     { 0, 1, 2, 3, 4 },          { 0.1f, -0.1f, 0.1f, -0.1f, 0.1f },  0.1 },
};

static double
log_sum (const double *x)
{
  double sum = 0;

  for (guint i = 0; i < N; i++)
    sum += exp (x[i]);
  return log (sum);
}

static double
find_divergence (const float *z,
                 const float *d)
{
  double p[N], q[N], divergence = 0;

  for (guint i = 0; i < N; i++)
    {
      p[i] = (double) z[i];
      q[i] = (double) z[i] + (double) d[i];
    }
  for (guint i = 0; i < N; i++)
    divergence += exp (p[i] - log_sum (p)) * ((p[i] - log_sum (p)) - (q[i] - log_sum (q)));
  return divergence;
}

static void
test_divergence (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    {
      float other[N];
      double squares = 0, wanted = 2 * find_divergence (rows[r].z, rows[r].d);
      g_autoptr(VnTensor) a = vn_tensor_new_f32 (&VN_SHAPE (1, 1, N), rows[r].z), b = NULL, f = NULL, q = NULL;
      g_autoptr(GError) error = NULL;

      g_test_message ("%s", rows[r].what);
      for (guint i = 0; i < N; i++)
        other[i] = rows[r].z[i] + rows[r].d[i];
      b = vn_tensor_new_f32 (&VN_SHAPE (1, 1, N), other);
      g_assert_true (vn_logits_weigh (a, b, &f, &q, &error));
      g_assert_no_error (error);
      for (guint i = 0; i < N; i++)
        squares += pow ((double) ((const float *) q->data)[i] - (double) ((const float *) f->data)[i], 2);
      g_assert_cmpfloat (fabs (squares - wanted), <=, rows[r].tolerance * wanted + 1e-9);
    }
}

/* What has no other network's numbers differs in nothing. */
static void
test_same (void)
{
  g_autoptr(VnTensor) a = vn_tensor_new_f32 (&VN_SHAPE (1, 1, N), rows[0].z), f = NULL, q = NULL;

  g_assert_true (vn_logits_weigh (a, NULL, &f, &q, NULL));
  g_assert_cmpmem (f->data, f->n_bytes, q->data, q->n_bytes);
}

static const struct
{
  const char *input, *output;
  VnDType     dtype;
  VnShape     shape;
  gboolean    found;
} outputs[] = {
  { "input_ids", "logits",        VN_DTYPE_S64, { 3, { 1, 8, 100 } }, TRUE },
  { "input_ids", "LM.Logits_out", VN_DTYPE_S32, { 3, { 1, 8, 100 } }, TRUE },
  { "input_ids", "logits",        VN_DTYPE_S64, { 2, { 1, 100 } },    FALSE },
  { "input_ids", "hidden",        VN_DTYPE_S64, { 3, { 1, 8, 100 } }, FALSE },
  { "pixels",    "logits",        VN_DTYPE_F32, { 3, { 1, 8, 100 } }, FALSE },
};

static void
test_outputs (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, 17);
      VnValue *x = vn_graph_add_input (model->graph, outputs[i].input, outputs[i].dtype, &VN_SHAPE (1, 8));
      VnValue *y = vn_graph_add_value (model->graph, outputs[i].output, VN_DTYPE_F32, &outputs[i].shape);

      vn_graph_add_node (model->graph, NULL, "", "Cast", &x, 1, &y, 1);
      vn_graph_set_output (model->graph, 0, y);
      g_assert_cmpint (vn_value_is_logits (y), ==, outputs[i].found);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/logit-space/divergence", test_divergence);
  g_test_add_func ("/logit-space/same", test_same);
  g_test_add_func ("/logit-space/outputs", test_outputs);
  return g_test_run ();
}
