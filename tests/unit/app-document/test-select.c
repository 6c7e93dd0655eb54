/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ways to make a selection larger: what each takes in. */
#include "branching-graph.h"
#include "vn-graph-edit.h"
#include "vn-select.h"

typedef struct
{
  const char *nodes;
  const char *similar, *upstream, *downstream, *between;
} Case;

static const Case cases[] = {
  { "", "", "", "", "" },
  { "stem", "stem right", "stem", "stem left right sum tail choice", "stem" },
  { "left", "left", "stem left", "left sum tail", "left" },
  { "right", "stem right", "stem right", "right sum tail choice", "right" },
  { "tail", "tail alone", "stem left right sum tail", "tail", "tail" },
  { "stem sum", "stem right sum", "stem left right sum", "stem left right sum tail choice", "stem left right sum" },
  { "left right", "stem left right", "stem left right", "left right sum tail choice", "left right" },
  { "stem choice", "stem right choice", "stem right alone choice", "stem left right sum tail choice", "stem right choice" },
  { "tail alone", "tail alone", "stem left right sum tail alone", "tail alone choice", "tail alone" },
  { "stem left right sum tail alone choice", "stem left right sum tail alone choice", "stem left right sum tail alone choice",
    "stem left right sum tail alone choice", "stem left right sum tail alone choice" },
};

static void
check (const VnGraph *graph,
       const Case    *row,
       const char    *expected,
       GtkBitset   *(*func) (const VnGraph *, GtkBitset *))
{
  g_autoptr(GtkBitset) nodes = branching_graph_find (graph, row->nodes);
  g_autoptr(GtkBitset) found = func (graph, nodes);
  g_autofree char *names = branching_graph_dup_names (graph, found);
  g_autofree char *kept = branching_graph_dup_names (graph, nodes);

  g_test_message ("“%s”: “%s”", row->nodes, names);
  g_assert_cmpstr (names, ==, expected);
  g_assert_cmpstr (kept, ==, row->nodes);   /* what was given stays as it was */
}

static void
test_similar (void)
{
  g_autoptr(VnModel) model = branching_graph_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (model->graph, &cases[i], cases[i].similar, vn_select_similar);
}

/* Three blocks of a convolution and an activation, the last with another activation; all with an addition behind. */
static VnModel *
make_blocks (void)
{
  static const char * const acts[] = { "Relu", "Relu", "Tanh", "Relu" };
  VnModel *model = vn_model_new (8, 13);
  VnShape shape = VN_SHAPE (4);
  VnValue *value = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape);

  for (guint i = 0; i < G_N_ELEMENTS (acts); i++)
    {
      g_autofree char *a = g_strdup_printf ("neg%u", i), *b = g_strdup_printf ("act%u", i), *c = g_strdup_printf ("add%u", i);
      VnValue *negated = vn_graph_add_value (model->graph, a, VN_DTYPE_F32, &shape);
      VnValue *acted = vn_graph_add_value (model->graph, b, VN_DTYPE_F32, &shape);
      VnValue *sum = vn_graph_add_value (model->graph, c, VN_DTYPE_F32, &shape);

      vn_graph_add_node (model->graph, a, "", "Neg", &value, 1, &negated, 1);
      vn_graph_add_node (model->graph, b, "", acts[i], &negated, 1, &acted, 1);
      vn_graph_add_node (model->graph, c, "", "Add", (VnValue *[]) { value, acted }, 2, &sum, 1);
      value = sum;
    }
  return model;
}

static void
test_blocks (void)
{
  static const struct { const char *nodes, *blocks; } rows[] = {
    { "", "" },
    { "act0", "act0 act1 act3" },
    { "neg0 act0 add0", "neg0 act0 add0 neg1 act1 add1 neg3 act3 add3" },
    { "neg0 add0", "neg0 add0 neg1 add1 neg2 add2 neg3 add3" },          /* not joined: each by itself */
    { "act2 add2", "act2 add2" },
    { "add0 neg1 act1", "add0 neg1 act1 add2 neg3 act3" },
    { "add1 neg2 act2", "add1 neg2 act2" },
  };
  g_autoptr(VnModel) model = make_blocks ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr(GtkBitset) nodes = branching_graph_find (model->graph, rows[i].nodes);
      g_autoptr(GtkBitset) found = vn_select_blocks (model->graph, nodes);
      g_autofree char *names = branching_graph_dup_names (model->graph, found);

      g_test_message ("“%s”: “%s”", rows[i].nodes, names);
      g_assert_cmpstr (names, ==, rows[i].blocks);
    }
}

static void
test_upstream (void)
{
  g_autoptr(VnModel) model = branching_graph_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (model->graph, &cases[i], cases[i].upstream, vn_select_upstream);
}

static void
test_downstream (void)
{
  g_autoptr(VnModel) model = branching_graph_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (model->graph, &cases[i], cases[i].downstream, vn_select_downstream);
}

static void
test_between (void)
{
  g_autoptr(VnModel) model = branching_graph_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (model->graph, &cases[i], cases[i].between, vn_select_between);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/select/similar", test_similar);
  g_test_add_func ("/select/blocks", test_blocks);
  g_test_add_func ("/select/upstream", test_upstream);
  g_test_add_func ("/select/downstream", test_downstream);
  g_test_add_func ("/select/between", test_between);
  return g_test_run ();
}
