/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Regions by the edges around them, as the XQuant manual draws them. */

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-subgraph.h"

static VnValue *
add_weight (VnGraph    *graph,
            const char *name)
{
  const float one = 1;
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &one);

  return vn_graph_add_initializer (graph, name, tensor);
}

/* "conv:n2>a add:a,n7>y": nodes with what they read and make. What nobody makes is an input, what starts with w a constant;
 * what nobody reads, and what is written in capitals, an output. */
static VnModel *
make_graph (const char *text)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  g_auto(GStrv) nodes = g_strsplit (text, " ", -1);

  for (guint i = 0; nodes[i] != NULL; i++)
    {
      g_auto(GStrv) parts = g_strsplit_set (nodes[i], ":>", 3);
      g_auto(GStrv) in = g_strsplit (parts[1], ",", -1), out = g_strsplit (parts[2], ",", -1);
      VnValue *inputs[8], *outputs[8];

      for (guint k = 0; in[k] != NULL; k++)
        {
          inputs[k] = vn_graph_find_value (graph, in[k]);
          if (inputs[k] == NULL && in[k][0] == 'w')
            inputs[k] = add_weight (graph, in[k]);
          else if (inputs[k] == NULL)
            inputs[k] = vn_graph_add_input (graph, in[k], VN_DTYPE_F32, NULL);
        }
      for (guint k = 0; out[k] != NULL; k++)
        outputs[k] = vn_graph_add_value (graph, out[k], VN_DTYPE_F32, NULL);
      vn_graph_add_node (graph, parts[0], "", "Sum", inputs, g_strv_length (in), outputs, g_strv_length (out));
    }
  for (guint i = 0, n = 0; i < graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->values, i);

      if (value->producer != NULL && (value->uses->len == 0 || g_ascii_isupper (value->name[0])))
        vn_graph_set_output (graph, n++, value);
    }
  return model;
}

static char *
describe_nodes (GPtrArray *nodes)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < nodes->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? " " : "", ((VnNode *) nodes->pdata[i])->name);
  return g_string_free (text, FALSE);
}

static char *
describe_leaks (GArray *leaks)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < leaks->len; i++)
    {
      const VnLeak *leak = &g_array_index (leaks, VnLeak, i);

      g_string_append_printf (text, "%s%s%s%s", i > 0 ? " " : "", leak->value->name, leak->enters ? ">" : "<",
                              leak->node != NULL ? leak->node->name : "output");
    }
  return g_string_free (text, FALSE);
}

static const struct
{
  const char *graph, *from, *to;
  const char *nodes;   /* NULL: an error */
  const char *leaks;
} cases[] = {
  /* the manual's picture */
  { "stem:x,w0>n2 side:x>n7 c1:n2,w1>a c2:a,w2>b add:b,n7>y head:y>z", "n2,n7", "y", "c1 c2 add", "" },
  { "stem:x,w0>n2 side:x>n7 c1:n2,w1>a c2:a,w2>b add:b,n7>y head:y>z", "n2", "y", "c1 c2 add", "n7>add" },
  /* The side input comes from the same place: it is inside unless it is named. */
  { "c1:n2,w1>a c2:n2>n7 add:a,n7>y head:y>z", "n2", "y", "c1 c2 add", "" },
  { "c1:n2,w1>a c2:n2>n7 add:a,n7>y head:y>z", "n2,n7", "y", "c1 add", "" },
  /* A side branch that never meets an out-edge does not drag the rest of the network along (XSlim's walk does). */
  { "c1:n2>a c2:a>y s1:a>b s2:b>c s3:c>d head:y,d>z", "n2", "y", "c1 c2", "a<s1" },
  { "c1:n2>a c2:a>y s1:a>b s2:b>c s3:c>d head:y,d>z", "n2", "y,a", "c1 c2", "" },
  { "c1:n2>a c2:a>y s1:a>b s2:b>c s3:c>d", "n2", "y", "c1 c2", "a<s1" },
  /* an out-edge that is used inside, too */
  { "c1:n2>a c2:a>y skip:a,y>z", "n2", "a,y", "c1 c2", "" },
  /* an output of the network on the way */
  { "c1:n2>A c2:A>y", "n2", "y", "c1 c2", "A<output" },
  /* one node */
  { "c1:x>a c2:a>b c3:b>c", "a", "b", "c2", "" },
  /* What stands behind the region and comes back as an in-edge stays outside. */
  { "c1:n2>a out:a>b c2:b,a>y", "n2,b", "a,y", "c1 c2", "" },
  /* wrong */
  { "c1:x>a c2:a>b", "b", "a", NULL, NULL },
  { "c1:x>a c2:a>b", "nowhere", "b", NULL, NULL },
  { "c1:x>a c2:a>b", "a", "nowhere", NULL, NULL },
  { "c1:x>a c2:u>b", "x", "b", NULL, NULL },
};

static void
test_table (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_graph (cases[i].graph);
      g_auto(GStrv) from = g_strsplit (cases[i].from, ",", -1), to = g_strsplit (cases[i].to, ",", -1);
      g_autoptr(GError) error = NULL;
      g_autoptr(GPtrArray) nodes = vn_graph_capture (model->graph, (const char * const *) from, (const char * const *) to,
                                                     &error);
      g_autoptr(GArray) leaks = NULL;
      g_autofree char *found = NULL, *leaking = NULL;

      g_test_message ("case %u: from %s to %s", i, cases[i].from, cases[i].to);
      if (cases[i].nodes == NULL)
        {
          g_assert_null (nodes);
          g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
          continue;
        }
      g_assert_no_error (error);
      found = describe_nodes (nodes);
      g_assert_cmpstr (found, ==, cases[i].nodes);
      leaks = vn_graph_find_leaks (model->graph, nodes, (const char * const *) from, (const char * const *) to);
      leaking = describe_leaks (leaks);
      g_assert_cmpstr (leaking, ==, cases[i].leaks);
    }
}

static char **
list_names (GPtrArray *values)
{
  char **names = g_new0 (char *, values->len + 1);

  for (guint i = 0; i < values->len; i++)
    names[i] = g_strdup (((VnValue *) values->pdata[i])->name);
  return names;
}

/* A chain with random skips. */
static VnModel *
make_random (GRand *rand,
             guint  n)
{
  g_autoptr(GString) text = g_string_new ("n0:x>v0");

  for (guint i = 1; i < n; i++)
    g_string_append_printf (text, " n%u:v%u,v%u>v%u", i, i - 1, (guint) g_rand_int_range (rand, 0, (gint32) i), i);
  return make_graph (text->str);
}

/* The edges of any set of nodes enclose it: captured, they give the nodes again. */
static void
test_round_trip (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (4);

  for (guint round = 0; round < 300; round++)
    {
      g_autoptr(VnModel) model = make_random (rand, 12);
      g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
      g_autoptr(GPtrArray) captured = NULL;
      g_autoptr(GArray) leaks = NULL;
      g_autoptr(GError) error = NULL;
      g_auto(GStrv) from = NULL, to = NULL;
      g_autofree char *a = NULL, *b = NULL;
      VnBoundary boundary;

      for (guint i = 0; i < model->graph->nodes->len; i++)
        if (g_rand_boolean (rand) || (nodes->len == 0 && i == 11))
          g_ptr_array_add (nodes, g_ptr_array_index (model->graph->nodes, i));
      vn_boundary_of_nodes (&boundary, model->graph, nodes);
      from = list_names (boundary.in_edges);
      to = list_names (boundary.out_edges);
      vn_boundary_clear (&boundary);
      captured = vn_graph_capture (model->graph, (const char * const *) from, (const char * const *) to, &error);
      g_assert_no_error (error);
      a = describe_nodes (nodes);
      b = describe_nodes (captured);
      g_assert_cmpstr (a, ==, b);
      leaks = vn_graph_find_leaks (model->graph, captured, (const char * const *) from, (const char * const *) to);
      g_assert_cmpuint (leaks->len, ==, 0);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model/capture/table", test_table);
  g_test_add_func ("/model/capture/round-trip", test_round_trip);
  return g_test_run ();
}
