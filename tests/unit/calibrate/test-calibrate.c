/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The streaming run: the same bits for any threads and order, bad samples, cancelling. */

#include "../engine/engine-fixture.h"
#include "vn-calibrate.h"
#include "vn-histogram-private.h"
#include "vn-blocked.h"
#include "vn-error.h"
#include "vn-onnx.h"
#include "vn-plan-blocks.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define N_SAMPLES 20

typedef struct
{
  VnModel   *model;
  VnPlan    *plan;
  GPtrArray *taps;
  VnDataset *dataset;
  guint      order[N_SAMPLES];
} Fixture;

static void
setup (Fixture       *self,
       gconstpointer  data)
{
  static const char * const names[] = { "x", "y", "z", "shape" };
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  const VnInputSpec input = { (char *) "x", VN_DTYPE_F32, { 2, { 3, 50 } } };
  g_autoptr(GError) error = NULL;
  VnPlanOptions options = { 0 };

  self->model = vn_model_new (8, 17);
  vn_graph_add_input (self->model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (3, 50));
  add_node (self->model, "Relu", "relu", "x", "y");
  add_node (self->model, "Log", "log", "y", "z");
  add_node (self->model, "Shape", "shape", "x", "shape");
  set_outputs (self->model, "z shape");
  self->taps = g_ptr_array_new ();
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_ptr_array_add (self->taps, vn_graph_find_value (self->model->graph, names[i]));
  options.taps = self->taps;
  self->plan = vn_plan_new (self->model, &options, NULL, &error);
  g_assert_no_error (error);

  /* (u * 255 - 127.5) / 127.5: both signs */
  vn_preprocess_set_preset (&spec->preprocess, "minus-one-one", NULL);
  spec->max_samples = N_SAMPLES;
  self->dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < N_SAMPLES; i++)
    self->order[i] = i;
}

static void
teardown (Fixture       *self,
          gconstpointer  data)
{
  vn_plan_unref (self->plan);
  vn_model_unref (self->model);
  vn_dataset_unref (self->dataset);
  g_ptr_array_unref (self->taps);
}

static VnStats *
calibrate (Fixture *self,
           guint    n_threads,
           VnNotes *notes)
{
  VnCalibrateOptions options = { self->order, N_SAMPLES, n_threads };
  g_autoptr(GError) error = NULL;
  VnStats *stats = vn_calibrate (self->plan, self->taps, self->dataset, &options, NULL, notes, NULL, &error);

  g_assert_no_error (error);
  return stats;
}

/* ---- checkpoints ---- */

typedef struct
{
  GPtrArray *stats;         /* of VnStats: what each checkpoint handed over */
  GCancellable *cancellable;
  guint64 cancel_at;
} Keep;

static gboolean
keep (VnStats   *stats,
      gpointer   data,
      GError   **error)
{
  g_ptr_array_add (((Keep *) data)->stats, vn_stats_ref (stats));
  return TRUE;
}

static void
cancel_at (gpointer    data,
           const char *unit,
           guint64     done,
           guint64     total)
{
  Keep *self = data;

  if (done == self->cancel_at)
    g_cancellable_cancel (self->cancellable);
}

/* The samples of the fixture that are not in @stats, in @rest. */
static guint
list_rest (Fixture *self,
           VnStats *stats,
           guint   *rest)
{
  guint n = 0;

  for (guint i = 0; i < N_SAMPLES; i++)
    if (!vn_stats_has_sample (stats, i, vn_dataset_get_name (self->dataset, i)))
      rest[n++] = i;
  return n;
}

/* Cancelled at any place with any number of threads: what was kept and the rest make the whole, to the bit and the
 * sample. */
static void
test_resume (Fixture       *self,
             gconstpointer  data)
{
  static const VnStatsOrigin origin = { (char *) "net.onnx", (char *) "s", (char *) "p", 17, (char *) "d" };
  g_autoptr(GError) error = NULL;
  VnCalibrateOptions options = { self->order, N_SAMPLES, 1, &origin, .checkpoint = keep };
  g_autoptr(VnStats) whole = NULL;
  g_autoptr(GBytes) whole_bytes = NULL;
  g_autoptr(GPtrArray) ignored = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_stats_unref);
  Keep ignore = { ignored };

  options.checkpoint_data = &ignore;
  whole = vn_calibrate (self->plan, self->taps, self->dataset, &options, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_stats_get_n_left (whole), ==, 0);
  whole_bytes = vn_stats_to_bytes (whole, NULL);

  for (guint at = 1; at < N_SAMPLES; at += 3)
    for (guint threads = 1; threads <= 3; threads += 2)
      {
        g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_stats_unref);
        Keep state = { kept, g_cancellable_new (), at };
        VnProgress progress = { cancel_at, &state };
        g_autoptr(VnStats) finished = NULL;
        g_autoptr(VnStats) rest = NULL;
        g_autoptr(VnStats) sum = NULL;
        g_autoptr(GBytes) bytes = NULL;
        guint left[N_SAMPLES];
        VnStats *partial;

        options = (VnCalibrateOptions) { self->order, N_SAMPLES, threads, &origin, keep, &state, 1e-9 };
        finished = vn_calibrate (self->plan, self->taps, self->dataset, &options, &progress, NULL, state.cancellable, &error);
        /* Other threads may have begun all that was left by then: a run that is complete was not cancelled. */
        if (finished != NULL)
          {
            g_assert_cmpuint (threads, >, 1);
            bytes = vn_stats_to_bytes (finished, NULL);
            g_assert_true (g_bytes_equal (bytes, whole_bytes));
            g_object_unref (state.cancellable);
            continue;
          }
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
        g_clear_error (&error);
        g_assert_cmpuint (kept->len, >, 0);
        partial = kept->pdata[kept->len - 1];
        g_assert_cmpuint (vn_stats_get_n_samples (partial), >=, at);
        g_assert_cmpuint (vn_stats_get_n_samples (partial) + vn_stats_get_n_left (partial), ==, N_SAMPLES);

        options = (VnCalibrateOptions) { left, list_rest (self, partial, left), threads, &origin, .may_be_empty = TRUE };
        g_assert_cmpuint (options.n_samples, ==, vn_stats_get_n_left (partial));
        rest = vn_calibrate (self->plan, self->taps, self->dataset, &options, NULL, NULL, NULL, &error);
        g_assert_no_error (error);
        sum = vn_stats_continue (partial, rest, &error);
        g_assert_no_error (error);
        bytes = vn_stats_to_bytes (sum, NULL);
        g_assert_true (g_bytes_equal (bytes, whole_bytes));
        g_object_unref (state.cancellable);
      }
}

static void
take_sample (VnHistogram    *self,
             VnHistogramScratch      *scratch,
             const VnTensor *tensor)
{
  VnHistogram *sample = vn_histogram_new ();

  vn_histogram_scan (sample, scratch, tensor->data, tensor->n_elements);
  vn_histogram_take_sample (self, sample);
}

/* What the run must have seen of the input: every sample, scanned one by one. */
static void
test_content (Fixture       *self,
              gconstpointer  data)
{
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnStats) stats = calibrate (self, 2, notes);
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  g_autoptr(VnHistogram) x = vn_histogram_new ();
  const VnHistogram *y = vn_stats_get (stats, "y");
  const VnHistogram *z = vn_stats_get (stats, "z");

  for (guint i = 0; i < N_SAMPLES; i++)
    {
      g_autoptr(VnTensor) tensor = NULL;

      g_assert_true (vn_dataset_load (self->dataset, i, &tensor, NULL));
      take_sample (x, scratch, tensor);
    }
  g_assert_cmpuint (vn_stats_get_n_samples (stats), ==, N_SAMPLES);
  g_assert_cmpuint (vn_stats_get_n_values (stats), ==, 3);
  g_assert_null (vn_stats_get (stats, "shape"));
  g_assert_true (vn_histogram_equal (vn_stats_get (stats, "x"), x));
  g_test_message ("x %g .. %g, y %g .. %g, z %g .. %g, %" G_GUINT64_FORMAT " infinite", x->min, x->max, y->min, y->max,
                  z->min, z->max, z->n_neg_inf);
  g_assert_cmpfloat (x->min, <, -0.9);
  g_assert_cmpfloat (y->min, ==, 0);
  g_assert_cmpfloat (y->max, ==, x->max);
  g_assert_cmpuint (z->n_neg_inf, ==, y->n_zero);
  g_assert_cmpuint (z->n_neg_inf, >, 100);
  g_assert_cmpfloat (z->max, ==, logf (x->max));
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 0);      /* infinities are what masks are made of */
}

static void
test_same_bits (Fixture       *self,
                gconstpointer  data)
{
  static const guint threads[] = { 1, 2, 3, 8, 50 };
  g_autoptr(VnStats) first = calibrate (self, 1, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    for (guint turn = 0; turn < 3; turn++)
      {
        g_autoptr(VnStats) stats = NULL;

        for (guint k = 0; k < N_SAMPLES; k++)
          self->order[k] = turn == 0 ? k : turn == 1 ? N_SAMPLES - 1 - k : k * 7 % N_SAMPLES;
        stats = calibrate (self, threads[i], NULL);
        g_test_message ("%u threads, order %u", threads[i], turn);
        g_assert_true (vn_stats_equal (first, stats));
      }
}

static void
count_progress (gpointer    data,
                const char *unit,
                guint64     done,
                guint64     total)
{
  guint64 *seen = data;

  g_assert_cmpuint (total, ==, N_SAMPLES);
  if (done > 0)
    __atomic_fetch_or (seen, (guint64) 1 << done, __ATOMIC_RELAXED);
}

static void
test_progress (Fixture       *self,
               gconstpointer  data)
{
  VnCalibrateOptions options = { self->order, N_SAMPLES, 2 };
  guint64 seen = 0;
  VnProgress progress = { count_progress, &seen };
  g_autoptr(VnStats) stats = vn_calibrate (self->plan, self->taps, self->dataset, &options, &progress, NULL, NULL, NULL);

  g_assert_nonnull (stats);
  g_assert_cmphex (seen, ==, ((guint64) 1 << (N_SAMPLES + 1)) - 2);
}

static void
cancel_soon (gpointer    data,
             const char *unit,
             guint64     done,
             guint64     total)
{
  if (done == 3)
    g_cancellable_cancel (data);
}

static void
test_cancel (Fixture       *self,
             gconstpointer  data)
{
  VnCalibrateOptions options = { self->order, N_SAMPLES, 1 };
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  VnProgress progress = { cancel_soon, cancellable };

  g_assert_null (vn_calibrate (self->plan, self->taps, self->dataset, &options, &progress, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_arguments (Fixture       *self,
                gconstpointer  data)
{
  VnCalibrateOptions options = { self->order, 0, 1 };
  g_autoptr(GError) error = NULL;

  g_assert_null (vn_calibrate (self->plan, self->taps, self->dataset, &options, NULL, NULL, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
  g_clear_error (&error);
  options.n_samples = N_SAMPLES;
  self->order[4] = N_SAMPLES;
  g_assert_null (vn_calibrate (self->plan, self->taps, self->dataset, &options, NULL, NULL, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

/* Files that cannot be read are named and left out; none left is an error with the reason. */
static void
test_unreadable (Fixture       *self,
                 gconstpointer  data)
{
  const VnInputSpec input = { (char *) "x", VN_DTYPE_F32, { 2, { 3, 50 } } };
  g_autofree char *folder = g_dir_make_tmp ("vn-run-XXXXXX", NULL);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (folder);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnTensor) good = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnStats) stats = NULL;
  g_autoptr(GError) error = NULL;
  guint bad_only[] = { 1, 3 };
  VnCalibrateOptions options = { self->order, 4, 2 };

  g_assert_true (vn_dataset_load (self->dataset, 0, &good, NULL));
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u.npy", folder, i);

      if (i % 2 == 0)
        g_assert_true (vn_npy_write (path, good, NULL));
      else
        g_assert_true (g_file_set_contents (path, "no array", -1, NULL));
    }
  dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
  g_assert_no_error (error);
  stats = vn_calibrate (self->plan, self->taps, dataset, &options, NULL, notes, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_stats_get_n_samples (stats), ==, 2);
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 2);
  vn_notes_sort (notes);
  for (guint i = 0; i < 2; i++)
    g_test_message ("%s: %s: %s", vn_notes_get (notes, i)->code, vn_notes_get (notes, i)->subject, vn_notes_get (notes, i)->text);
  g_assert_cmpstr (vn_notes_get (notes, 0)->subject, ==, "1.npy");
  g_assert_cmpstr (vn_notes_get (notes, 1)->subject, ==, "3.npy");

  options = (VnCalibrateOptions) { bad_only, 2, 2 };
  g_assert_null (vn_calibrate (self->plan, self->taps, dataset, &options, NULL, NULL, NULL, &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
  g_assert_nonnull (strstr (error->message, "1.npy"));
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u.npy", folder, i);

      g_unlink (path);
    }
  g_rmdir (folder);
}

typedef struct
{
  VnHistogramScratch    *scratch;
  VnHistogram **seen;
} Direct;

static void
observe_directly (const VnValue  *value,
                  guint           tap,
                  const VnTensor *tensor,
                  gpointer        data)
{
  Direct *self = data;

  if (self->seen[tap] == NULL)
    self->seen[tap] = vn_histogram_new ();
  take_sample (self->seen[tap], self->scratch, tensor);
}

/* The same counts; where a clamp cuts a bin, what bounds all but a few elements is known to the bin. */
static void
check_equal (const VnHistogram *found,
             const VnHistogram *seen)
{
  g_autoptr(VnHistogram) counts = vn_histogram_new ();

  g_assert_cmpuint (found->samples.n, ==, seen->samples.n);
  for (double p = 99; p < 100.5; p += 0.5)
    {
      double min, max, seen_min, seen_max;

      g_assert_true (vn_sample_sums_get_mean (&found->samples, MIN (p, 100), &min, &max));
      g_assert_true (vn_sample_sums_get_mean (&seen->samples, MIN (p, 100), &seen_min, &seen_max));
      g_assert_cmpfloat (fabs (min - seen_min), <=, p < 100 ? fabs (seen_min) / 128 : 0);
      g_assert_cmpfloat (fabs (max - seen_max), <=, p < 100 ? fabs (seen_max) / 128 : 0);
    }
  vn_histogram_merge (counts, seen);
  counts->samples = found->samples;
  g_assert_true (vn_histogram_equal (found, counts));
}

static void
check_directly (Fixture *self,
                VnStats *stats)
{
  g_autoptr(VnRunner) runner = vn_runner_new (self->plan, NULL);
  g_autofree VnHistogram **seen = g_new0 (VnHistogram *, self->taps->len);
  Direct direct = { vn_scratch_new (), seen };

  vn_runner_set_tap (runner, observe_directly, &direct);
  for (guint i = 0; i < N_SAMPLES; i++)
    {
      g_autoptr(VnTensor) tensor = NULL;

      g_assert_true (vn_dataset_load (self->dataset, i, &tensor, NULL));
      g_assert_true (vn_runner_run (runner, &tensor, NULL, NULL, NULL));
    }
  for (guint i = 0; i < self->taps->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->taps, i);
      const VnHistogram *found = vn_stats_get (stats, value->name);

      g_test_message ("%s: %g .. %g", value->name, seen[i]->min, seen[i]->max);
      g_assert_nonnull (found);
      check_equal (found, seen[i]);
      vn_histogram_free (seen[i]);
    }
  vn_scratch_free (direct.scratch);
}

/* Values that follow from others are not looked at; what is said of them must be what a look would have told. */
static void
test_derived (Fixture       *self,
              gconstpointer  data)
{
  static const char * const names[] = { "d", "x", "c", "a", "t", "b", "e" };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnStats) stats = NULL;
  g_autofree VnDerived *derived = NULL;
  VnPlanOptions options = { .taps = self->taps };

  vn_plan_unref (self->plan);
  add_floats (self->model, "low", VN_SHAPE_SCALAR, -0.37f, 0);
  add_floats (self->model, "high", VN_SHAPE_SCALAR, 0.61f, 0);
  add_floats (self->model, "less", VN_SHAPE_SCALAR, 0.25f, 0);
  add_node (self->model, "Clip", "clip", "x low high", "a");
  add_node (self->model, "Transpose", "transpose", "a", "t");
  add_node (self->model, "Identity", "identity", "t", "b");
  add_node (self->model, "Relu", "relu2", "b", "c");
  add_node (self->model, "Clip", "clip2", "c low less", "d");
  add_node (self->model, "Exp", "exp", "d", "e");
  set_outputs (self->model, "z e");
  g_ptr_array_set_size (self->taps, 0);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_ptr_array_add (self->taps, vn_graph_find_value (self->model->graph, names[i]));
  self->plan = vn_plan_new (self->model, &options, NULL, &error);
  g_assert_no_error (error);

  derived = vn_plan_derive_taps (self->plan);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpint (derived[i].source, ==, g_str_equal (names[i], "x") || g_str_equal (names[i], "e") ? -1 : 1);
  g_assert_cmpfloat (derived[0].min, ==, 0);
  g_assert_cmpfloat (derived[0].max, ==, 0.25f);
  stats = calibrate (self, 3, NULL);
  check_directly (self, stats);
}

/* A real network on photographs: as many threads as you like, in blocks or as the graph has them. */
static void
test_network (void)
{
  const char *shared = g_getenv ("VN_SHARED");
  g_autofree char *path = g_strdup_printf ("%s/models/det_ultraface_rfb320.onnx", shared);
  g_autofree char *pictures = g_strdup_printf ("%s/images/people", shared);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (pictures);
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnStats) one = NULL;
  g_autoptr(VnStats) two = NULL;
  const guint samples[] = { 0, 3, 7, 2 };
  VnCalibrateOptions options = { samples, 4, 1 };
  VnInputSpec input = { .dtype = VN_DTYPE_F32, .shape = VN_SHAPE (1, 3, 240, 320) };

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("VN_SHARED is not set");
      return;
    }
  model = vn_onnx_read_file (path, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < model->graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (model->graph->values, i);

      if (value->initializer == NULL)
        g_ptr_array_add (taps, value);
    }
  plan = vn_plan_new (model, &(VnPlanOptions) { .taps = taps }, NULL, &error);
  g_assert_no_error (error);
  input.name = vn_plan_get_input (plan, 0)->name;
  dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
  g_assert_no_error (error);
  one = vn_calibrate (plan, taps, dataset, &options, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  options.n_threads = 3;
  vn_plan_unref (plan);
  plan = vn_plan_new_in_blocks (model, &(VnPlanOptions) { .taps = taps }, NULL, &error);
  g_assert_no_error (error);
  two = vn_calibrate (plan, taps, dataset, &options, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_test_message ("%u values, %" G_GSIZE_FORMAT " bytes", vn_stats_get_n_values (one), vn_stats_get_bytes (one));
  g_assert_cmpuint (vn_stats_get_n_values (one), >, 100);
  g_assert_true (vn_stats_equal (one, two));
}

#define ADD(name, func) g_test_add ("/run/" name, Fixture, NULL, setup, func, teardown)

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  ADD ("content", test_content);
  ADD ("same-bits", test_same_bits);
  ADD ("progress", test_progress);
  ADD ("cancel", test_cancel);
  ADD ("resume", test_resume);
  ADD ("arguments", test_arguments);
  ADD ("unreadable", test_unreadable);
  ADD ("derived", test_derived);
  g_test_add_func ("/run/network", test_network);

  return g_test_run ();
}
