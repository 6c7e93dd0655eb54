/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers to the samples of the demo, whose classes are called like its folders: they are listed, shown, and walked through with
 * the keyboard. */
#include "vn-answers-view.h"
#include "vn-compare-page.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <string.h>

static gboolean
has_answers (gpointer document)
{
  VnRun *run = vn_bench_get_confirmed (document);

  return vn_window_fixture_is_idle (document) && run != NULL && run->answers != NULL;
}

static gboolean
shows_sample (gpointer view)
{
  return vn_answers_view_get_shown (view) != G_MAXUINT;
}

static gboolean
is_mapped (gpointer widget)
{
  return gtk_widget_get_mapped (widget);
}

static VnAnswersView *
show_answers (Fixture *fixture)
{
  GtkWidget *page = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_COMPARE_PAGE, NULL), *view;

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.show-page", "s", "compare");
  g_assert_true (vn_test_wait (is_mapped, page, SECONDS));
  gtk_widget_activate_action (page, "compare.answers", NULL);
  view = vn_test_find (page, VN_TYPE_ANSWERS_VIEW, NULL);
  g_assert_true (vn_test_wait (is_mapped, view, SECONDS));
  g_assert_true (vn_test_wait (shows_sample, view, SECONDS));
  return VN_ANSWERS_VIEW (view);
}

/* (transfer container): of the run, in the order of the list */
static GPtrArray *
sort_answers (Fixture *fixture)
{
  return vn_sample_answers_sort (vn_bench_get_confirmed (VN_BENCH (fixture->document))->answers);
}

/* The text of the first label of the row is what the sample is called by both networks. */
static void
check_row (GtkListBox           *list,
           guint                 i,
           const VnSampleAnswer *answer)
{
  GtkListBoxRow *row = gtk_list_box_get_row_at_index (list, (int) i);
  GtkWidget *label = vn_test_find (GTK_WIDGET (row), GTK_TYPE_LABEL, NULL);
  const char *text = gtk_label_get_label (GTK_LABEL (label));

  g_test_message ("%u: %s: %s", i, answer->name, text);
  g_assert_cmpint (answer->form, ==, VN_ANSWER_SCORES);
  g_assert_true ((strstr (text, " → ") != NULL) == (answer->kept.n_kept == 0));
  g_assert_true (g_ascii_isalpha (*text) && !g_str_has_prefix (text, "class "));
}

static void
test_list (Fixture       *fixture,
           gconstpointer  data)
{
  g_autoptr(GPtrArray) answers = NULL;
  VnAnswersView *view;
  GtkListBox *list;

  if (!vn_document_open_demo (fixture->document))
    {
      g_test_skip ("the demo is not there");
      return;
    }
  g_assert_true (vn_test_wait (has_answers, fixture->document, SECONDS));
  view = show_answers (fixture);
  answers = sort_answers (fixture);
  g_assert_cmpuint (answers->len, >, 8);
  list = GTK_LIST_BOX (vn_test_find (GTK_WIDGET (view), GTK_TYPE_LIST_BOX, NULL));
  g_assert_null (gtk_list_box_get_row_at_index (list, (int) answers->len));
  for (guint i = 0; i < answers->len; i++)
    check_row (list, i, g_ptr_array_index (answers, i));
  g_assert_cmpuint (vn_answers_view_get_shown (view), ==, ((const VnSampleAnswer *) answers->pdata[0])->sample);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "answers");
}

typedef struct { VnAnswersView *view; guint sample; } Wanted;

static gboolean
shows_wanted (gpointer data)
{
  const Wanted *wanted = data;

  return vn_answers_view_get_shown (wanted->view) == wanted->sample;
}

/* The list has the focus, and the arrow keys choose in it. */
static void
test_keys (Fixture       *fixture,
           gconstpointer  data)
{
  g_autoptr(GPtrArray) answers = NULL;
  VnAnswersView *view;
  GtkWidget *list;

  if (!vn_document_open_demo (fixture->document))
    {
      g_test_skip ("the demo is not there");
      return;
    }
  g_assert_true (vn_test_wait (has_answers, fixture->document, SECONDS));
  view = show_answers (fixture);
  answers = sort_answers (fixture);
  list = vn_test_find (GTK_WIDGET (view), GTK_TYPE_LIST_BOX, NULL);
  g_test_message ("the focus is in %s", G_OBJECT_TYPE_NAME (gtk_root_get_focus (GTK_ROOT (fixture->window))));
  g_assert_true (gtk_widget_is_ancestor (gtk_root_get_focus (GTK_ROOT (fixture->window)), list));
  for (guint i = 1; i < 4; i++)
    {
      Wanted wanted = { view, ((const VnSampleAnswer *) answers->pdata[i])->sample };

      g_signal_emit_by_name (list, "move-cursor", GTK_MOVEMENT_DISPLAY_LINES, 1, FALSE, FALSE);
      g_assert_true (vn_test_wait (shows_wanted, &wanted, SECONDS));
    }
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/answers/list", Fixture, NULL, vn_window_fixture_set_up, test_list, vn_window_fixture_tear_down);
  g_test_add ("/answers/keys", Fixture, NULL, vn_window_fixture_set_up, test_keys, vn_window_fixture_tear_down);
  return g_test_run ();
}
