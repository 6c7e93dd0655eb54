/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports in HTML and PDF: a run made by hand gives the page in golden/pages.html.txt to the byte (written anew with --generate),
 * names from models are text and never markup, a network of 10,000 nodes stays below 5 MB, and the same run gives the same bytes.
 * */
#include "curve-fixture.h"

#include "vn-graph-edit.h"
#include "vn-pen.h"
#include "vn-report.h"
#include "vn-spread.h"

#include <cairo.h>
#include <math.h>
#include <string.h>

#define MOST_BYTES 5000000u

static gboolean generate;

/* ---- runs made by hand ---- */

static VnModel *
make_chain (guint              n,
            const char * const *names)
{
  VnModel *model = vn_model_new (8, 17);
  VnValue *last = vn_graph_add_input (model->graph, "image", VN_DTYPE_F32, &VN_SHAPE (1, 3, 8, 8));

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = names != NULL ? g_strdup (names[i]) : g_strdup_printf ("/model/layers.%u/self_attn/q_proj/Relu", i);
      g_autofree char *value = g_strdup_printf ("%s_output_0", name);
      VnValue *out = vn_graph_add_value (model->graph, value, VN_DTYPE_F32, &VN_SHAPE (1, 3, 8, 8));

      vn_graph_add_node (model->graph, name, "", i % 3 == 0 ? "Conv" : "Relu", &last, 1, &out, 1);
      last = out;
    }
  vn_graph_set_output (model->graph, 0, last);
  return model;
}

static void
add_errors (VnRun *result)
{
  const GPtrArray *nodes = result->source->graph->nodes;

  result->errors = vn_error_table_new (4);
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);
      const double db = 40 - 35.0 * i / nodes->len;
      VnErrorRow *row = vn_error_row_new ();

      row->value = g_strdup (vn_node_get_output (node, 0)->name);
      row->node = vn_node_dup_label (node);
      row->op_type = g_strdup (node->op_type);
      row->is_output = i + 1 == nodes->len;
      row->n = 192;
      row->sqnr_db = db;
      row->noise_to_signal = pow (10, -db / 10);
      row->cosine = 1 - row->noise_to_signal / 2;
      row->mse = row->noise_to_signal;
      row->max_error = 0.25;
      row->contribution = NAN;
      row->float_max = row->quant_max = 4;
      vn_error_table_add (result->errors, row);
    }
}

static void
add_findings (VnRun *result)
{
  const char *name = vn_node_get_output (g_ptr_array_index (result->source->graph->nodes, 0), 0)->name;
  VnContribution item = { g_strdup (name), g_strdup ("first"), g_strdup (name), VN_TENSOR_ACTIVATION, 20, 25, 0.75, NAN, 4 };
  VnSpread *spread = g_new0 (VnSpread, 1);

  result->contributions = vn_contributions_new_empty ();
  vn_contributions_add (result->contributions, &item);
  result->spreads = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_spread_free);
  *spread = (VnSpread) { g_strdup (name), g_strdup ("first"), VN_TENSOR_ACTIVATION, -1, 4, -0.5, 2.5, { 0 } };
  for (guint i = 0; i < VN_SPREAD_BINS; i++)
    spread->counts[i] = i * i % 97;
  g_ptr_array_add (result->spreads, spread);
  result->steps = vn_run_steps_new ();
  vn_run_steps_add (result->steps, &(VnRunStep) { "bias correction", "18.0 → 20.5 dB, kept", TRUE, 18, 20.5 });
  vn_run_steps_add (result->steps, &(VnRunStep) { "limited gates", "not tried: out of time", FALSE, 20.5, NAN });
  result->curve = vn_curve_new (VN_CURVE_COST_SIZE);
  curve_fixture_add (result->curve, 18, 18.25, 1000000, 0, FALSE);
  curve_fixture_add (result->curve, 21, NAN, 1250000, 1, TRUE);
  curve_fixture_add (result->curve, 24, 23.5, 1500000, 2, FALSE);
}

static VnRun *
make_result (guint               n,
             const char * const *names)
{
  VnRun *result = vn_run_new ();

  result->source = make_chain (n, names);
  result->prepared = vn_model_ref (result->source);
  result->recipe = vn_recipe_new ("cpu");
  result->notes = vn_notes_new ();
  vn_notes_add (result->notes, VN_NOTE_WARNING, "other", "a & b", "Less < more");
  result->float_bytes = 4000000;
  result->quantized_bytes = 1100000;
  result->n_calibration = 16;
  result->n_held_out = 4;
  result->accuracy = (VnAccuracy) { .n = 200, .float_top1 = 188, .quant_top1 = 183, .agree = 190, .valid = TRUE };
  add_errors (result);
  add_findings (result);
  return result;
}

static char *
print (VnRun      *result,
       const char *form,
       gsize      *length)
{
  g_autoptr(VnReportModel) model = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;

  bytes = vn_report_printer_find (form)->print (model, &error);
  g_assert_no_error (error);
  *length = g_bytes_get_size (bytes);
  return g_strndup (g_bytes_get_data (bytes, NULL), *length);
}

/* ---- what a page must be ---- */

static guint
count (const char *text,
       const char *part)
{
  guint n = 0;

  for (const char *at = strstr (text, part); at != NULL; at = strstr (at + 1, part))
    n++;
  return n;
}

/* Elements are closed in the order in which they were opened, attributes are quoted, and entities are known. */
static void
check_markup (const char *text)
{
  static const char * const void_elements[] = { "meta", "wbr", NULL };
  g_autoptr(GPtrArray) open = g_ptr_array_new_with_free_func (g_free);
  guint n = 0;

  for (const char *at = strchr (text, '<'); at != NULL; at = strchr (at + 1, '<'))
    {
      const char *end = strchr (at, '>');
      g_autofree char *tag = g_strndup (at + 1, (gsize) (end - at - 1)), *name = NULL;
      gsize length = strcspn (tag, " \n/");

      if (*tag == '!')
        continue;
      n++;
      if (*tag == '/')
        {
          g_assert_cmpuint (open->len, >, 0);
          g_assert_cmpstr (tag + 1, ==, g_ptr_array_index (open, open->len - 1));
          g_ptr_array_set_size (open, (int) open->len - 1);
          continue;
        }
      g_assert_cmpuint (count (tag, "\"") % 2, ==, 0);
      name = g_strndup (tag, length);
      if (g_str_has_suffix (tag, "/") || g_strv_contains (void_elements, name))
        continue;
      g_ptr_array_add (open, g_steal_pointer (&name));
      if (g_str_equal (g_ptr_array_index (open, open->len - 1), "style"))
        at = strstr (at, "</style>") - 1;
    }
  g_assert_cmpuint (open->len, ==, 0);
  g_assert_cmpuint (n, >, 100);
  for (const char *at = strchr (text, '&'); at != NULL; at = strchr (at + 1, '&'))
    g_assert_true (g_str_has_prefix (at, "&amp;") || g_str_has_prefix (at, "&lt;") || g_str_has_prefix (at, "&gt;") ||
                   g_str_has_prefix (at, "&quot;"));
}

/* A link leads to a node that the page shows. */
static void
check_leads (const char *text,
             const char *link)
{
  g_autofree char *number = NULL, *target = NULL;

  g_assert_true (g_str_has_prefix (link, "href=\"#n"));
  number = g_strndup (link + strlen ("href=\"#n"), strspn (link + strlen ("href=\"#n"), "0123456789"));
  target = g_strdup_printf ("<g id=\"n%s\">", number);
  g_assert_nonnull (strstr (text, target));
}

/* Nothing runs, and nothing is fetched. */
static void
check_alone (const char *text)
{
  static const char * const strangers[] = { "<script", "<iframe", "<object", "<img", "<link", "src=", "url(", "@import",
                                            "http://",
                                            "https://", " on", "javascript:" };

  for (guint i = 0; i < G_N_ELEMENTS (strangers) - 2; i++)
    if (strstr (text, strangers[i]) != NULL)
      g_error ("the page has “%s”", strangers[i]);
  for (const char *at = strstr (text, "href"); at != NULL; at = strstr (at + 1, "href"))
    check_leads (text, at);
  g_assert_nonnull (strstr (text, "default-src 'none'"));
  g_assert_nonnull (strstr (text, "prefers-color-scheme:dark"));
  g_assert_nonnull (strstr (text, "@media print"));
}

/* ---- tests ---- */

static void
test_golden (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "golden", "pages.html.txt", NULL), *expected = NULL;
  g_autoptr(VnRun) result = make_result (5, NULL);
  gsize length, expected_length;
  g_autofree char *text = print (result, "html", &length);

  check_markup (text);
  check_alone (text);
  if (generate)
    g_assert_true (g_file_set_contents (path, text, (gssize) length, NULL));
  g_assert_true (g_file_get_contents (path, &expected, &expected_length, NULL));
  g_assert_cmpstr (text, ==, expected);
}

/* All that the first screen must tell, in this order. */
static void
test_first_screen (void)
{
  static const char * const words[] = { "<h1>", "class=\"verdict\"", "class=\"cards\"", "4.0", "class=\"glance\"", "+2.5\u00a0dB",
                                        "bias correction",
                                        "75 %", "layers.0", "<svg" };
  g_autoptr(VnRun) result = make_result (5, NULL);
  gsize length;
  g_autofree char *text = print (result, "html", &length);
  const char *at = strstr (text, "<body>");

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      at = strstr (at, words[i]);
      if (at == NULL)
        g_error ("the page does not tell “%s”, or not here", words[i]);
    }
  g_assert_cmpuint (count (text, "<svg viewBox"), ==, 5);   /* network, course, sizes, histogram, curve */
  g_assert_cmpuint (count (text, "id=\"n"), ==, 5 + 2);     /* nodes; "network" and "notes" */
}

static void
test_hostile (void)
{
  static const char * const names[] = { "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "a&b<c>'d'\"e\"",
                                        "bad \xff\xfe bytes",
                                        "turned \u202eback", "null \x01 control", "]]></svg></style><!--", "{{x}} ${y} %s %n" };
  g_autoptr(VnRun) result = make_result (G_N_ELEMENTS (names), names);
  gsize length;
  g_autofree char *text = print (result, "html", &length), *pdf = NULL;

  g_assert_true (g_utf8_validate (text, (gssize) length, NULL));
  check_markup (text);
  g_assert_null (strstr (text, "<script"));
  g_assert_null (strstr (text, "<img"));
  g_assert_null (strstr (text, "<!--"));
  g_assert_null (strstr (text, "\xe2\x80\xae"));
  g_assert_null (strchr (text, '\x01'));
  g_assert_nonnull (strstr (text, "&lt;script&gt;alert(1)&lt;/script&gt;"));
  g_assert_nonnull (strstr (text, "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;"));
  pdf = print (result, "pdf", &length);
  g_assert_cmpuint (length, >, 10000);
}

static void
test_long_name (void)
{
  g_autofree char *name = g_strnfill (200000, 'x');
  const char *names[] = { name, "second", "third" };
  g_autoptr(VnRun) result = make_result (3, names);
  gsize length;
  g_autofree char *text = print (result, "html", &length), *pdf = NULL;

  g_assert_cmpuint (length, <, 200000);
  check_markup (text);
  pdf = print (result, "pdf", &length);
  g_assert_cmpuint (length, <, 400000);
}

static void
test_large (gconstpointer data)
{
  g_auto(GStrv) names = g_new0 (char *, 10001);
  g_autoptr(VnRun) result = NULL;
  gsize length, pdf_length;
  g_autofree char *text = NULL, *pdf = NULL;

  for (guint i = 0; i < 10000; i++)
    names[i] = data != NULL ? g_strdup_printf ("%s%u%s", (const char *) data, i, (const char *) data)
                            : g_strdup_printf ("/model/layers.%u/self_attn/q_proj/Relu", i);
  result = make_result (10000, (const char * const *) names);
  text = print (result, "html", &length);
  pdf = print (result, "pdf", &pdf_length);
  g_test_message ("HTML %zu bytes, PDF %zu", length, pdf_length);
  g_assert_cmpuint (length, <, MOST_BYTES);
  g_assert_cmpuint (pdf_length, <, MOST_BYTES);
  if (data == NULL)
    g_assert_cmpuint (count (text, "id=\"n"), >=, 10000);
  check_markup (text);
}

static void
test_same (gconstpointer form)
{
  g_autoptr(VnRun) result = make_result (40, NULL), again = make_result (40, NULL);
  gsize length, other_length;
  g_autofree char *bytes = print (result, form, &length), *other = print (again, form, &other_length);

  g_assert_cmpmem (bytes, length, other, other_length);
  g_assert_cmpuint (length, >, 1000);
}

static void
test_pdf (void)
{
  g_autoptr(VnRun) result = make_result (40, NULL);
  gsize length;
  g_autofree char *bytes = print (result, "pdf", &length);

  g_assert_true (g_str_has_prefix (bytes, "%PDF-"));
  g_assert_null (g_strstr_len (bytes, (gssize) length, "CreationDate"));
}

/* ---- sheets ---- */

/* Whether anything is drawn in the outer quarter of the margins. */
static gboolean
has_ink_outside (const VnReportSheet *sheet,
                 guint               *n_inside)
{
  const int width = (int) sheet->width, height = (int) sheet->height, edge = 5;
  cairo_surface_t *pixels = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height);
  cairo_t *cr = cairo_create (pixels);
  gboolean outside = FALSE;

  cairo_set_source_surface (cr, sheet->drawn, 0, 0);
  cairo_paint (cr);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_flush (pixels);
  for (int y = 0; y < height; y++)
    {
      const guint8 *row = cairo_image_surface_get_data (pixels) + y * cairo_image_surface_get_stride (pixels);

      for (int x = 0; x < width; x++)
        {
          const gboolean ink = row[4 * x + 3] > 8;

          *n_inside += ink;
          outside = outside || (ink && (x < edge || x >= width - edge || y < edge || y >= height - edge));
        }
    }
  cairo_surface_destroy (pixels);
  return outside;
}

/* On a screen as on paper, and narrower: all of it is told, and nothing runs over the edge. */
static void
test_sheets (void)
{
  static const double widths[] = { VN_REPORT_A4_WIDTH, 420, VN_REPORT_LEAST_WIDTH };
  g_autoptr(VnRun) result = make_result (40, NULL);
  g_autoptr(VnReportModel) model = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);

  for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(GPtrArray) sheets = vn_report_draw_sheets (model, widths[i], &error);
      g_autoptr(GString) text = g_string_new (NULL);

      g_assert_no_error (error);
      g_assert_cmpuint (sheets->len, >, 1);
      for (guint k = 0; k < sheets->len; k++)
        {
          const VnReportSheet *sheet = g_ptr_array_index (sheets, k);
          guint n_inside = 0;

          g_assert_cmpfloat (sheet->width, ==, widths[i]);
          if (has_ink_outside (sheet, &n_inside))
            g_error ("page %u of %u runs over the edge at %.0f points: %s", k + 1, sheets->len, widths[i], sheet->text);
          g_assert_cmpuint (n_inside, >, 100);
          g_assert_cmpuint (strlen (sheet->text), >, 20);
          g_string_append (text, sheet->text);
        }
      for (guint k = 0; k < model->sections->len; k++)
        {
          const VnReportSection *section = g_ptr_array_index (model->sections, k);

          if (!section->is_head && !g_str_equal (section->id, "notes"))
            g_assert_nonnull (strstr (text->str, section->title));
        }
    }
}

/* ---- text that is measured without fonts ---- */

static void
test_measure (void)
{
  static const char * const words[] = { "", "a", "conv1", "/blocks/3/project/bn/BatchNormalization_output_0", "日本語の名前", "Größe" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    for (double width = 20; width < 200; width += 30)
      {
        g_autofree char *shorter = vn_pen_shorten (words[i], 10, FALSE, width);

        g_assert_true (g_utf8_validate (shorter, -1, NULL));
        g_assert_true (vn_pen_measure (shorter, 10, FALSE) <= width);
        if (vn_pen_measure (words[i], 10, FALSE) <= width)
          g_assert_cmpstr (shorter, ==, words[i]);
      }
}

int
main (int   argc,
      char *argv[])
{
  generate = argc > 1 && g_str_equal (argv[argc - 1], "--generate");
  argc -= generate;
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/report-pages/golden", test_golden);
  g_test_add_func ("/report-pages/first-screen", test_first_screen);
  g_test_add_func ("/report-pages/hostile", test_hostile);
  g_test_add_func ("/report-pages/long-name", test_long_name);
  g_test_add_data_func ("/report-pages/large/usual", NULL, test_large);
  g_test_add_data_func ("/report-pages/large/quotes",
                        "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"",
                        test_large);
  g_test_add_data_func ("/report-pages/same/html", "html", test_same);
  g_test_add_data_func ("/report-pages/same/pdf", "pdf", test_same);
  g_test_add_data_func ("/report-pages/same/markdown", "markdown", test_same);
  g_test_add_data_func ("/report-pages/same/json", "json", test_same);
  g_test_add_func ("/report-pages/pdf", test_pdf);
  g_test_add_func ("/report-pages/sheets", test_sheets);
  g_test_add_func ("/report-pages/measure", test_measure);
  return g_test_run ();
}
