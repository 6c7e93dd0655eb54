/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks beside each other whose sizes are open: those of the document are taken, or those of the side that fixes them, and
 * what does not fit is changed where that is told. */
#include "vn-compare-page.h"
#include "vn-compare-pane.h"
#include "vn-input-sizes.h"
#include "vn-onnx.h"
#include "open-models.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>

static gboolean
is_mapped (gpointer data)
{
  return gtk_widget_get_mapped (data);
}

static VnComparePane *
find_last_pane (GtkWidget *root)
{
  GtkWidget *child = gtk_widget_get_last_child (root);

  if (VN_IS_COMPARE_PANE (root))
    return VN_COMPARE_PANE (root);
  for (; child != NULL; child = gtk_widget_get_prev_sibling (child))
    {
      VnComparePane *found = find_last_pane (child);

      if (found != NULL)
        return found;
    }
  return NULL;
}

static gboolean
is_measured (gpointer data)
{
  VnCompareSource *source = vn_compare_pane_get_source (data);

  return source != NULL && source->model != NULL && vn_compared_model_get_errors (source->model) != NULL &&
         vn_compare_pane_get_model (data) != NULL;
}

static gboolean
may_measure_again (gpointer data)
{
  return vn_compare_source_may_measure_again (vn_compare_pane_get_source (data));
}

static void
write_pictures (const char *path,
                gboolean    is_fixed)
{
  g_autoptr(VnModel) model = open_model_pictures ();
  g_autoptr(GError) error = NULL;

  if (is_fixed)
    vn_value_set_type (vn_graph_find_value (model->graph, "image"), VN_DTYPE_F32, &VN_SHAPE (1, 3, 6, 10));
  g_assert_true (vn_onnx_write_file (model, path, NULL, NULL, &error));
}

/* Sizes that both sides leave open are those of the document; one that does not fit is changed where that is told. */
static void
test_open_sizes (Fixture       *fixture,
                 gconstpointer  data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "beside.onnx", NULL);
  gboolean is_fixed = data != NULL;
  GtkWidget *page = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_COMPARE_PAGE, NULL);
  VnComparePane *pane;

  write_pictures (fixture->model_path, FALSE);
  write_pictures (path, is_fixed);
  vn_window_fixture_open_model (fixture);
  vn_bench_set_input_shape (VN_BENCH (fixture->document), "image", &VN_SHAPE (1, 3, 9, 8));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.show-page", "s", "compare");
  g_assert_true (vn_test_wait (is_mapped, page, SECONDS));
  vn_compare_page_open_file (VN_COMPARE_PAGE (page), path, 1);
  pane = find_last_pane (page);
  if (!is_fixed)
    {
      GtkWidget *sizes;

      g_assert_true (vn_test_wait (may_measure_again, pane, SECONDS));
      sizes = vn_test_find (GTK_WIDGET (pane), VN_TYPE_INPUT_SIZES, NULL);
      g_assert_true (vn_test_wait (is_mapped, sizes, SECONDS));
      g_assert_false (is_measured (pane));
      vn_test_picture (GTK_WIDGET (fixture->window), "compare-open-sizes");
      gtk_editable_set_text (GTK_EDITABLE (vn_test_find (sizes, ADW_TYPE_ENTRY_ROW, "image")), "1x3x8x8");
      g_signal_emit_by_name (vn_test_find (sizes, ADW_TYPE_ENTRY_ROW, "image"), "apply");
      g_assert_cmpint (vn_bench_get_size (VN_BENCH (fixture->document), "image")->dims[2], ==, 8);
    }
  g_assert_true (vn_test_wait (is_measured, pane, SECONDS));
  g_assert_null (vn_compare_pane_get_source (pane)->error);
  vn_test_settle (100);
  if (!is_fixed)
    g_assert_false (gtk_widget_get_mapped (vn_test_find (GTK_WIDGET (pane), VN_TYPE_INPUT_SIZES, NULL)));
  vn_document_select_one (fixture->document, vn_window_fixture_get_item (fixture, "conv")->index);
  vn_test_settle (100);
  g_unlink (path);
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, NULL);
  g_test_add ("/compare-sizes/open", Fixture, NULL, vn_window_fixture_set_up, test_open_sizes, vn_window_fixture_tear_down);
  g_test_add ("/compare-sizes/fixed", Fixture, GINT_TO_POINTER (TRUE), vn_window_fixture_set_up, test_open_sizes,
              vn_window_fixture_tear_down);
  return g_test_run ();
}
