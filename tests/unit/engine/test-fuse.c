/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a convolution does on the way gives the same bits as the nodes on their own. */
#include "engine-fixture.h"

#include <math.h>
#include <string.h>

#define CHANNELS 20

typedef struct
{
  const char *nodes;      /* "Type inputs > output; ..."; x is the input, p computed before the convolution, c its result */
  guint       n_steps;    /* with p, where it is used, and the convolution */
} Case;

static const Case cases[] = {
  { "Sigmoid c > y", 1 },
  { "Tanh c > y", 1 },
  { "LeakyRelu c > y", 1 },
  { "HardSigmoid c > y", 1 },
  { "HardSwish c > y", 1 },
  { "Sigmoid c > s; Mul c s > y", 1 },
  { "Sigmoid c > s; Mul s c > y", 1 },
  { "HardSigmoid c > s; Mul c s > y", 1 },
  { "Add c three > a; Clip a zero six > b; Mul c b > d; Div d six > y", 1 },
  { "Add three c > a; Clip a zero six > b; Mul b c > y", 1 },
  { "Add c three > a; Clip a zero six > b; Div b six > d; Mul c d > y", 1 },
  { "BatchNormalization c scale shift mean variance > y", 1 },
  { "BatchNormalization c scale shift mean variance > n; Relu n > y", 1 },
  { "BatchNormalization c scale shift mean variance > n; Sigmoid n > s; Mul n s > y", 1 },
  { "Add c column > y", 1 },
  { "Add column c > n; Relu n > y", 1 },
  { "Add c x > y", 1 },
  { "Add p c > y", 2 },
  { "Add c p > n; Relu n > y", 2 },
  { "BatchNormalization c scale shift mean variance > n; Add n x > d; Relu d > y", 1 },
  /* Another order, another user, another shape, or computed later: not the same thing. */
  { "Relu c > n; Add n x > y", 2 },
  { "Add c x > n; BatchNormalization n scale shift mean variance > y", 2 },
  { "Sigmoid c > s; Mul x s > y", 2 },
  { "Sigmoid c > s; Mul c s > m; Add m s > y", 4 },
  { "Add c c > y", 2 },
  { "Add c line > y", 2 },
  { "Add c three > a; Clip a zero six > b; Mul x b > d; Div d six > y", 4 },
  { "Neg x > late; Add c late > y", 3 },
  { "Div c six > y", 2 },
};

static void
add_nodes (VnModel    *model,
           const char *text)
{
  g_auto(GStrv) nodes = g_strsplit (text, "; ", -1);

  for (guint i = 0; nodes[i] != NULL; i++)
    {
      g_auto(GStrv) sides = g_strsplit (nodes[i], " > ", 2);
      char *inputs = strchr (sides[0], ' ');

      *inputs++ = '\0';
      add_node (model, sides[0], sides[1], inputs, sides[1]);
    }
}

static VnModel *
make_model (const char *nodes,
            gint64      kernel,
            gint64      groups)
{
  VnModel *model = vn_model_new (8, 14);
  const gint64 pads[4] = { kernel / 2, kernel / 2, kernel / 2, kernel / 2 };
  VnNode *conv;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (2, CHANNELS, 5, 7));
  add_floats (model, "w", VN_SHAPE (CHANNELS, CHANNELS / groups, kernel, kernel), -0.75f, 1.f / 512);
  add_floats (model, "bias", VN_SHAPE (CHANNELS), -1, 0.125f);
  add_floats (model, "three", VN_SHAPE (1), 3, 0);
  add_floats (model, "six", VN_SHAPE_SCALAR, 6, 0);
  add_floats (model, "zero", VN_SHAPE_SCALAR, 0, 0);
  add_floats (model, "scale", VN_SHAPE (CHANNELS), 0.7f, 0.11f);
  add_floats (model, "shift", VN_SHAPE (CHANNELS), -0.3f, 0.07f);
  add_floats (model, "mean", VN_SHAPE (CHANNELS), 0.9f, -0.03f);
  add_floats (model, "variance", VN_SHAPE (CHANNELS), 0.5f, 0.13f);
  add_floats (model, "column", VN_SHAPE (1, CHANNELS, 1, 1), -0.4f, 0.09f);
  add_floats (model, "line", VN_SHAPE (7), -0.4f, 0.09f);
  add_node (model, "Neg", "p", "x", "p");
  conv = add_node (model, "Conv", "conv", "x w bias", "c");
  vn_node_set_ints (conv, "pads", pads, 4);
  vn_node_set_int (conv, "group", groups);
  add_nodes (model, nodes);
  set_outputs (model, "y");
  return model;
}

static void
check (const Case *test,
       gint64      kernel,
       gint64      groups)
{
  g_autoptr(VnModel) model = make_model (test->nodes, kernel, groups);
  const VnPlanOptions plain = { .no_fusion = TRUE };
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (2, CHANNELS, 5, 7), 3);
  g_autoptr(VnTensor) fused = run_simple (model, NULL, input);
  g_autoptr(VnTensor) apart = run_simple (model, &plain, input);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, &error);

  g_assert_no_error (error);
  g_test_message ("%s, kernel %d, %d groups: %u steps", test->nodes, (int) kernel, (int) groups,
                  vn_plan_get_n_steps (plan));
  g_assert_cmpuint (vn_plan_get_n_steps (plan), ==, test->n_steps);
  g_assert_true (vn_tensor_equal (fused, apart));
}

static void
test_same_bits (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      check (&cases[i], 1, 1);
      check (&cases[i], 3, 1);
      check (&cases[i], 3, 2);
      check (&cases[i], 3, CHANNELS);
    }
}

/* NaN and infinities pass as they do through the nodes. */
static void
test_extremes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_model (cases[i].nodes, 1, 1);
      const VnPlanOptions plain = { .no_fusion = TRUE };
      g_autoptr(VnTensor) input = make_input (VN_SHAPE (2, CHANNELS, 5, 7), 5);
      g_autoptr(VnTensor) fused = NULL;
      g_autoptr(VnTensor) apart = NULL;

      ((float *) input->data)[3] = NAN;
      ((float *) input->data)[40] = INFINITY;
      ((float *) input->data)[77] = -1e30f;
      fused = run_simple (model, NULL, input);
      apart = run_simple (model, &plain, input);
      g_test_message ("%s", cases[i].nodes);
      for (gsize k = 0; k < fused->n_elements; k++)
        {
          float a = ((float *) fused->data)[k], b = ((float *) apart->data)[k];

          g_assert_true (a == b || (a != a && b != b));
        }
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fuse/same-bits", test_same_bits);
  g_test_add_func ("/fuse/extremes", test_extremes);
  return g_test_run ();
}
