/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A convolution that adds the zeros of a Pad before it gives the same bits as both nodes on their own. */
#include "engine-fixture.h"
#include "vn-plan-info.h"

#include <math.h>

#define CHANNELS 18

/**
 * Case:
 * @pads: of the Pad
 * @inputs: of the Pad behind x and pads: zero, one, minus (-0); empty: none
 * @mode: of the Pad, or NULL
 * @opset: below 11 pads are an attribute
 * @groups, @stride: of the convolution
 * @rule: its auto_pad, or NULL: it has pads of its own
 * @users: of what the Pad makes
 * @n_steps: that are left
 */
typedef struct
{
  gint64      pads[8];
  const char *inputs, *mode;
  gint64      opset, groups, stride;
  const char *rule;
  guint       users, n_steps;
} Case;

static const Case cases[] = {
  { { 0, 0, 0, 0, 0, 0, 1, 1 }, "", NULL, 14, 1, 2, NULL, 1, 1 },
  { { 0, 0, 2, 3, 0, 0, 1, 4 }, " zero", NULL, 14, 1, 1, NULL, 1, 1 },
  { { 0, 0, 0, 1, 0, 0, 1, 0 }, " zero", "constant", 14, CHANNELS, 2, NULL, 1, 1 },
  { { 0, 0, 5, 5, 0, 0, 5, 5 }, "", NULL, 14, 3, 1, "VALID", 1, 1 },
  { { 0, 0, 0, 0, 0, 0, 1, 1 }, "", NULL, 10, CHANNELS, 2, NULL, 1, 1 },
  /* Other numbers than 0, other axes, cut off, or somebody else sees it. */
  { { 0, 0, 1, 1, 0, 0, 1, 1 }, " one", NULL, 14, 1, 1, NULL, 1, 2 },
  { { 0, 0, 1, 1, 0, 0, 1, 1 }, " minus", NULL, 14, 1, 1, NULL, 1, 2 },
  { { 0, 0, 1, 1, 0, 0, 1, 1 }, "", "reflect", 14, 1, 1, NULL, 1, 2 },
  { { 1, 0, 1, 1, 0, 0, 1, 1 }, "", NULL, 14, 1, 1, NULL, 1, 2 },
  { { 0, 0, 2, 1, 0, 0, -1, 1 }, "", NULL, 14, 1, 1, NULL, 1, 2 },
  { { 0, 0, 1, 1, 0, 0, 1, 1 }, "", NULL, 14, 1, 2, "SAME_UPPER", 1, 2 },
  { { 0, 0, 1, 1, 0, 0, 1, 1 }, "", NULL, 14, 1, 1, NULL, 2, 3 },
};

static VnModel *
make_model (const Case *test)
{
  VnModel *model = vn_model_new (8, test->opset);
  g_autofree char *inputs = g_strdup_printf ("x%s%s", test->opset < 11 ? "" : " pads", test->inputs);
  const gint64 own[4] = { 1, 0, 0, 1 }, strides[2] = { test->stride, test->stride };
  VnNode *pad, *conv;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (2, CHANNELS, 9, 11));
  add_ints (model, "pads", test->pads, 8);
  add_floats (model, "w", VN_SHAPE (CHANNELS, CHANNELS / test->groups, 3, 3), -0.75f, 1.f / 512);
  add_floats (model, "zero", VN_SHAPE_SCALAR, 0, 0);
  add_floats (model, "one", VN_SHAPE_SCALAR, 1, 0);
  add_floats (model, "minus", VN_SHAPE_SCALAR, -0.f, -0.f);
  pad = add_node (model, "Pad", "pad", inputs, "p");
  if (test->mode != NULL)
    vn_node_set_string (pad, "mode", test->mode);
  if (test->opset < 11)
    vn_node_set_ints (pad, "pads", test->pads, 8);
  conv = add_node (model, "Conv", "conv", "p w", "y");
  vn_node_set_int (conv, "group", test->groups);
  vn_node_set_ints (conv, "strides", strides, 2);
  if (test->rule != NULL)
    vn_node_set_string (conv, "auto_pad", test->rule);
  else
    vn_node_set_ints (conv, "pads", own, 4);
  if (test->users > 1)
    add_node (model, "Neg", "neg", "p", "n");
  set_outputs (model, test->users > 1 ? "y n" : "y");
  return model;
}

static void
test_same_bits (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_model (&cases[i]);
      const VnPlanOptions plain = { .no_fusion = TRUE };
      g_autoptr(VnTensor) input = make_input (VN_SHAPE (2, CHANNELS, 9, 11), 3);
      g_autoptr(VnTensor) fused = run_simple (model, NULL, input);
      g_autoptr(VnTensor) apart = run_simple (model, &plain, input);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, &error);

      g_assert_no_error (error);
      g_test_message ("case %u: %u steps", i, vn_plan_get_n_steps (plan));
      g_assert_cmpuint (vn_plan_get_n_steps (plan), ==, cases[i].n_steps);
      g_assert_true (vn_tensor_equal (fused, apart));
    }
}

/* What is looked at stays. */
static void
test_tapped (void)
{
  g_autoptr(VnModel) model = make_model (&cases[0]);
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  const VnPlanOptions options = { .taps = taps };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = NULL;

  g_ptr_array_add (taps, vn_graph_find_value (model->graph, "p"));
  plan = vn_plan_new (model, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_plan_get_n_steps (plan), ==, 2);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pads/same-bits", test_same_bits);
  g_test_add_func ("/pads/tapped", test_tapped);
  return g_test_run ();
}
