/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The selection of a document: steps around the end, steps to bad nodes, growing, and when it is told. */
#include "branching-graph.h"
#include "vn-document.h"
#include "vn-node-item.h"

#define ALL "stem left right sum tail alone choice"

typedef struct
{
  VnModel    *model;
  VnDocument *document;
  guint       n_told;
} Fixture;

static void
count_cb (Fixture *fixture)
{
  fixture->n_told++;
}

static void
set_up (Fixture       *fixture,
        gconstpointer  data)
{
  fixture->model = branching_graph_new ();
  fixture->document = vn_document_new ();
  vn_bench_set_model (VN_BENCH (fixture->document), fixture->model);
  g_signal_connect_swapped (fixture->document, "selection-changed", G_CALLBACK (count_cb), fixture);
}

static void
tear_down (Fixture       *fixture,
           gconstpointer  data)
{
  g_object_unref (fixture->document);
  vn_model_unref (fixture->model);
}

static void
select_names (Fixture    *fixture,
              const char *names)
{
  g_autoptr(GtkBitset) nodes = branching_graph_find (fixture->model->graph, names);

  vn_document_select (fixture->document, nodes);
}

static void
assert_selected (Fixture    *fixture,
                 const char *expected)
{
  g_autofree char *names = branching_graph_dup_names (fixture->model->graph, vn_document_get_selection (fixture->document));

  g_assert_cmpstr (names, ==, expected);
}

/* Nobody is told of what stays the same. */
static void
test_told (Fixture       *fixture,
           gconstpointer  data)
{
  static const struct { const char *names; guint n_told; } steps[] = {
    { "", 0 }, { "left", 1 }, { "left", 1 }, { "left sum", 2 }, { "", 3 }, { "", 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      select_names (fixture, steps[i].names);
      assert_selected (fixture, steps[i].names);
      g_assert_cmpuint (fixture->n_told, ==, steps[i].n_told);
    }
  vn_document_select_all (fixture->document);
  assert_selected (fixture, ALL);
  vn_document_select_one (fixture->document, 1);
  assert_selected (fixture, "left");
  vn_document_select_one (fixture->document, 7);
  assert_selected (fixture, "");
}

static void
test_next (Fixture       *fixture,
           gconstpointer  data)
{
  static const struct { const char *from, *next, *previous; } cases[] = {
    { "", "stem", "choice" }, { "stem", "left", "choice" }, { "choice", "stem", "alone" },
    { "left sum", "tail", "stem" }, { ALL, "stem", "choice" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      select_names (fixture, cases[i].from);
      g_assert_true (vn_document_select_next (fixture->document, TRUE));
      assert_selected (fixture, cases[i].next);
      select_names (fixture, cases[i].from);
      g_assert_true (vn_document_select_next (fixture->document, FALSE));
      assert_selected (fixture, cases[i].previous);
    }
}

static void
test_next_bad (Fixture       *fixture,
               gconstpointer  data)
{
  static const VnErrorRow row;
  static const struct { const char *bad, *from, *next, *previous; } cases[] = {
    { "", "left", NULL, NULL },
    { "sum", "", "sum", "sum" },
    { "sum", "sum", "sum", "sum" },
    { "left tail", "stem", "left", "tail" },
    { "left tail", "left", "tail", "tail" },
    { "left tail", "choice", "left", "tail" },
    { "stem choice", "", "stem", "choice" },
  };
  GListModel *items = vn_document_get_nodes (fixture->document);

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++)
    {
      gboolean forward = i % 2 == 0;
      g_autoptr(GtkBitset) bad = branching_graph_find (fixture->model->graph, cases[i / 2].bad);
      const char *expected = forward ? cases[i / 2].next : cases[i / 2].previous;

      for (guint k = 0; k < g_list_model_get_n_items (items); k++)
        {
          g_autoptr(VnNodeItem) item = g_list_model_get_item (items, k);

          item->measured = k != 2;   /* its figure says nothing */
          item->rated = item->measured ? &row : NULL;
          item->metric = VN_METRIC_SQNR;
          item->handles = vn_heat_default_handles (VN_METRIC_SQNR);
          item->metrics[VN_METRIC_SQNR] = gtk_bitset_contains (bad, k) ? (k == 3 ? NAN : -3) : k == 2 ? -3 : 60;
        }
      select_names (fixture, cases[i / 2].from);
      g_assert_true (vn_document_select_next_bad (fixture->document, forward) == (expected != NULL));
      assert_selected (fixture, expected != NULL ? expected : cases[i / 2].from);
    }
}

static void
test_grow (Fixture       *fixture,
           gconstpointer  data)
{
  static const struct { const char *way, *from, *to; } cases[] = {
    { "similar", "left", "left" }, { "downstream", "sum", "sum tail" }, { "upstream", "choice", "stem right alone choice" },
    { "between", "stem sum", "stem left right sum" }, { "sideways", "sum", "sum" },
  };
  g_autoptr(VnDocument) empty = vn_document_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      select_names (fixture, cases[i].from);
      vn_document_grow_selection (fixture->document, cases[i].way);
      assert_selected (fixture, cases[i].to);
      vn_document_grow_selection (empty, cases[i].way);
      g_assert_true (gtk_bitset_is_empty (vn_document_get_selection (empty)));
    }
  g_assert_false (vn_document_select_next (empty, TRUE));
  g_assert_false (vn_document_select_next_bad (empty, FALSE));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/selection/told", Fixture, NULL, set_up, test_told, tear_down);
  g_test_add ("/selection/next", Fixture, NULL, set_up, test_next, tear_down);
  g_test_add ("/selection/next-bad", Fixture, NULL, set_up, test_next_bad, tear_down);
  g_test_add ("/selection/grow", Fixture, NULL, set_up, test_grow, tear_down);
  return g_test_run ();
}
