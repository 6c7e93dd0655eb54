/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What “--auto” offers to which networks, and what an export may cost to be kept. */
#include "engine-fixture.h"

#include "improve-private.h"

#include <math.h>

#define SIDE 8

typedef void (*BuildFunc) (VnModel *model);

static void
begin (VnModel *model)
{
  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, SIDE, SIDE));
  add_floats (model, "w1", VN_SHAPE (4, 2, 1, 1), 3, 0.7f);
  add_floats (model, "w2", VN_SHAPE (3, 4, 1, 1), -0.4f, 0.1f);
  add_node (model, "Conv", "first", "x w1", "a");
}

static void
build_plain (VnModel *model)
{
  begin (model);
  add_node (model, "Relu", "relu", "a", "b");
  add_node (model, "Conv", "second", "b w2", "y");
}

/* Two results of one size, one of them behind a Sigmoid. */
static void
build_joined (VnModel *model)
{
  begin (model);
  add_node (model, "Conv", "second", "a w2", "b");
  add_node (model, "Sigmoid", "sigmoid", "b", "c");
  vn_node_set_int (add_node (model, "Concat", "join", "b c", "y"), "axis", 1);
}

/* What is clamped is one kernel with its convolution. */
static void
build_clamped (VnModel *model)
{
  begin (model);
  add_node (model, "Conv", "second", "a w2", "b");
  add_node (model, "Relu", "relu", "b", "y");
}

static void
build_prelu (VnModel *model)
{
  begin (model);
  add_floats (model, "slope", VN_SHAPE (4, 1, 1), 0.2f, 0);
  add_node (model, "PRelu", "prelu", "a slope", "b");
  add_node (model, "Conv", "second", "b w2", "y");
}

/* As a swish is written: the convolution has two readers. */
static void
build_swish (VnModel *model)
{
  begin (model);
  add_node (model, "Sigmoid", "sigmoid", "a", "b");
  add_node (model, "Mul", "mul", "a b", "c");
  add_node (model, "Conv", "second", "c w2", "y");
}

static void
build_turned_twice (VnModel *model)
{
  static const gint64 there[] = { 0, 2, 3, 1 }, back[] = { 0, 3, 1, 2 };

  begin (model);
  vn_node_set_ints (add_node (model, "Transpose", "there", "a", "b"), "perm", there, 4);
  vn_node_set_ints (add_node (model, "Transpose", "back", "b", "c"), "perm", back, 4);
  add_node (model, "Conv", "second", "c w2", "y");
}

#define SIMPLER "simplified before"
#define TAIL    "that only join"
#define FUSED   "feed activation functions"

/* In which networks there is something to do for a step. */
static void
test_offered (void)
{
  static const struct
  {
    const char *name, *preset;
    BuildFunc   build;
    gboolean    simpler, tail, fused;
  } rows[] = {
    { "plain", "cpu", build_plain, FALSE, FALSE, FALSE },
    { "joined", "cpu", build_joined, FALSE, TRUE, FALSE },      /* the convolution has two readers */
    { "joined, without pairs", "qlinear", build_joined, FALSE, FALSE, FALSE },
    { "clamped", "cpu", build_clamped, FALSE, FALSE, FALSE },
    { "prelu", "cpu", build_prelu, FALSE, FALSE, TRUE },
    { "prelu, without pairs", "qlinear", build_prelu, FALSE, FALSE, FALSE },
    { "swish", "cpu", build_swish, FALSE, FALSE, FALSE },
    { "turned twice", "cpu", build_turned_twice, TRUE, FALSE, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, 13);
      g_autoptr(VnRecipe) recipe = vn_recipe_new (rows[i].preset);
      guint n;
      const VnImproveStep *steps = vn_improve_step_list (&n);

      g_test_message ("%s", rows[i].name);
      rows[i].build (model);
      set_outputs (model, "y");
      g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
      for (guint k = 0; k < n; k++)
        {
          g_autoptr(VnRecipe) changed = vn_recipe_copy (recipe);
          gboolean offered, expected = strstr (steps[k].title, SIMPLER) != NULL ? rows[i].simpler
                                     : strstr (steps[k].title, TAIL) != NULL    ? rows[i].tail
                                                                                : rows[i].fused;

          if (strstr (steps[k].title, SIMPLER) == NULL && strstr (steps[k].title, TAIL) == NULL &&
              strstr (steps[k].title, FUSED) == NULL)
            continue;
          offered = (steps[k].suits == NULL || steps[k].suits (model->graph)) &&
                    vn_improve_step_apply (&steps[k], changed, model->graph);
          g_test_message ("%s: %s", steps[k].id, offered ? "offered" : "not offered");
          g_assert_true (offered == expected);
          g_assert_true (vn_recipe_equal (changed, recipe) == !offered);
          if (!offered)
            continue;
          g_assert_true (vn_recipe_validate (changed, NULL));
          g_assert_false (vn_improve_step_apply (&steps[k], changed, model->graph));   /* done once */
        }
    }
}

/* The tail is what no product comes behind; what the last ones make is not a part of it. */
static void
test_tail (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GPtrArray) tail = NULL;

  build_joined (model);
  set_outputs (model, "y");
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  tail = vn_improve_list_tail (model->graph);
  g_assert_nonnull (tail);
  g_assert_cmpuint (tail->len, ==, 3);
  g_assert_true (g_strv_contains ((const char * const *) tail->pdata, "c"));
  g_assert_true (g_strv_contains ((const char * const *) tail->pdata, "y"));
  g_assert_null (g_ptr_array_index (tail, 2));
}

/* What may be kept beside a plain export: as long as 1.25 times that, half as much on integers; in any case something must be
 * won. */
static void
test_limits (void)
{
  static const struct
  {
    const char       *name;
    VnImprovePrice    plain;
    gboolean          accuracy_first;
    VnImprovePrice    price;
    VnImproveOutcome  outcome;
  } rows[] = {
    { "as plain", { 0.8, 1, NAN, 0.26 }, FALSE, { 0.8, 1, NAN, 0.26 }, VN_IMPROVE_KEPT },
    { "slower", { 0.8, 1, NAN, 0.26 }, FALSE, { 1.01, 1, NAN, 0.26 }, VN_IMPROVE_TOO_SLOW },
    { "in float", { 0.8, 1, NAN, 0.26 }, FALSE, { 0.9, 0.49, NAN, 0.26 }, VN_IMPROVE_TOO_FLOAT },
    { "with 16 bit", { NAN, 1, 0, 0.26 }, FALSE, { NAN, 1, 0.3, 0.26 }, VN_IMPROVE_TOO_WIDE },
    { "slower, accuracy first", { 0.8, 1, NAN, 0.26 }, TRUE, { 1.9, 0.2, NAN, 0.5 }, VN_IMPROVE_KEPT },
    { "next to nothing", { 0.8, 1, NAN, 0.26 }, TRUE, { 1, 0.02, NAN, 0.89 }, VN_IMPROVE_TOO_LITTLE },
    { "time alone", { 0.8, 1, NAN, 0.26 }, TRUE, { 0.7, 0.5, NAN, 0.89 }, VN_IMPROVE_KEPT },
    { "time unknown", { NAN, NAN, NAN, 0.26 }, TRUE, { NAN, NAN, NAN, 0.89 }, VN_IMPROVE_TOO_LITTLE },
    { "plain wins little", { 1.05, 0.01, NAN, 0.93 }, TRUE, { 1.05, 0.01, NAN, 0.95 }, VN_IMPROVE_KEPT },
    { "less than half of little", { 1.05, 0.01, NAN, 0.93 }, TRUE, { 1.05, 0.01, NAN, 0.99 }, VN_IMPROVE_TOO_LITTLE },
    { "nothing is known", { NAN, NAN, NAN, NAN }, FALSE, { NAN, NAN, NAN, NAN }, VN_IMPROVE_KEPT },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      VnImproveLimit limit = vn_improve_limit_make (&rows[i].plain, rows[i].accuracy_first);

      g_test_message ("%s", rows[i].name);
      g_assert_cmpint (vn_improve_limit_check (&limit, &rows[i].price), ==, rows[i].outcome);
    }
}

/* A forecast refuses nothing as long as what there is cannot be used; what is left in float is no forecast. */
static void
test_unusable (void)
{
  static const struct
  {
    double           before_db;
    VnImprovePrice   price;
    VnImproveOutcome outcome;
  } rows[] = {
    { 25, { 1.9, 1, NAN, 0.3 }, VN_IMPROVE_TOO_SLOW },
    { 4, { 1.9, 1, NAN, 0.3 }, VN_IMPROVE_KEPT },
    { 4, { 1.9, 0.1, NAN, 0.3 }, VN_IMPROVE_TOO_FLOAT },
    { 4, { 1.9, 1, NAN, 0.9 }, VN_IMPROVE_TOO_LITTLE },
  };
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);

  build_plain (model);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const VnImproveSettings settings = { { .model = model, .recipe = recipe }, 60, FALSE, NULL };
      g_autoptr(VnJob) job = vn_improve_job_new (&settings);
      VnImproveJob *self = _vn_improve_job_get_state (job);

      self->best = (VnImproveTrial) { .judgement = { .sqnr_db = rows[i].before_db,
                                                     .each = g_array_new (FALSE, FALSE, sizeof (double)) },
                                      .price = { 0.8, 1, NAN, 0.26 } };
      self->most = vn_improve_limit_make (&self->best.price, FALSE);
      g_assert_cmpint (vn_improve_check_price (self, &rows[i].price), ==, rows[i].outcome);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/improve/offered", test_offered);
  g_test_add_func ("/improve/tail", test_tail);
  g_test_add_func ("/improve/limits", test_limits);
  g_test_add_func ("/improve/unusable", test_unusable);
  return g_test_run ();
}
