/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop over samples: each is scanned once, with its own numbers, whatever the number of threads; what cannot be read is left
 * out and named. */
#include "vn-sample-loop.h"
#include "vn-sample-ranks.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-op.h"

#include <glib/gstdio.h>
#include <string.h>

#define N 9u

/* ---- samples: tensors of one number, their own ---- */

typedef struct
{
  char      *folder;
  VnDataset *dataset;
  guint      indices[N];
} Fixture;

static void
set_up (Fixture *self,
        guint    bad,       /* bits: which of the files hold no tensor */
        VnNotes *notes)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataSpec) spec = NULL;
  VnInputSpec input = { .name = "x", .dtype = VN_DTYPE_F32, .shape = { .rank = 1, .dims = { 1 } } };

  self->folder = g_dir_make_tmp ("test-sample-loop-XXXXXX", &error);
  g_assert_no_error (error);
  for (guint i = 0; i < N; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u.npy", i), *path = g_build_filename (self->folder, name, NULL);
      g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &input.shape, NULL);

      ((float *) tensor->data)[0] = (float) i;
      if (bad >> i & 1)
        g_assert_true (g_file_set_contents (path, "nothing", -1, NULL));
      else
        g_assert_true (vn_npy_write (path, tensor, NULL));
      self->indices[i] = N - 1 - i;   /* not in the order of the files */
    }
  spec = vn_data_spec_new (self->folder);
  self->dataset = vn_dataset_open (spec, &input, 1, notes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_dataset_get_n_inputs (self->dataset), ==, 1);
}

static void
tear_down (Fixture *self)
{
  for (guint i = 0; i < N; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u.npy", i), *path = g_build_filename (self->folder, name, NULL);

      g_unlink (path);
    }
  g_rmdir (self->folder);
  g_free (self->folder);
  vn_dataset_unref (self->dataset);
}

/* ---- what is done with them ---- */

typedef struct
{
  int            n_started, n_stopped;   /* atomic */
  guint          n_inside;
  float          found[N];
  guint          n_scans[N];
  guint          order[N];
  guint          n_ordered;
  VnTensor      *kept[N];
  guint          fails_at, cancels_at;
  GCancellable  *cancellable;
} Work;

typedef struct
{
  Work *work;
} Worker;

static gpointer
work_start (guint      n_inside,
            gpointer   data,
            GError   **error)
{
  Worker *worker = g_new0 (Worker, 1);

  worker->work = data;
  worker->work->n_inside = n_inside;
  g_atomic_int_inc (&worker->work->n_started);
  return worker;
}

static void
work_stop (gpointer data)
{
  Worker *worker = data;

  g_atomic_int_inc (&worker->work->n_stopped);
  g_free (worker);
}

static gboolean
work_scan (gpointer       data,
           guint          item,
           VnTensor     **inputs,
           gpointer       user_data,
           GCancellable  *cancellable,
           GError       **error)
{
  Work *self = user_data;

  g_assert_true (((Worker *) data)->work == self);
  g_assert_true (inputs[0] != NULL && inputs[1] == NULL);
  self->found[item] = ((const float *) inputs[0]->data)[0];
  self->n_scans[item]++;
  if (self->n_inside > 1)
    self->order[self->n_ordered++] = item;
  if (item == self->cancels_at)
    g_cancellable_cancel (self->cancellable);
  if (item % 2 == 0)
    self->kept[item] = g_steal_pointer (&inputs[0]);
  if (item != self->fails_at)
    return TRUE;
  g_set_error_literal (error, VN_ERROR, VN_ERROR_UNSUPPORTED, "no");
  return FALSE;
}

static const VnSampleFuncs funcs = { work_start, work_scan, work_stop };

static VnPlan *
make_plan (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnValue *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1));
  VnValue *y = vn_graph_add_value (model->graph, "y", VN_DTYPE_F32, &VN_SHAPE (1));
  g_autoptr(GError) error = NULL;
  VnPlan *plan;

  vn_graph_add_node (model->graph, "n", "", "Relu", &x, 1, &y, 1);
  vn_graph_set_output (model->graph, 0, y);
  vn_model_infer_types (model, NULL, NULL, &error);
  g_assert_no_error (error);
  plan = vn_plan_new (model, NULL, NULL, &error);
  g_assert_no_error (error);
  return plan;
}

static void
work_clear (Work *self)
{
  for (guint i = 0; i < N; i++)
    g_clear_pointer (&self->kept[i], vn_tensor_unref);
}

/* ---- tests ---- */

static void
test_threads (void)
{
  static const struct
  {
    guint    n_threads, bad, n_read, n_notes;
    gboolean in_turn;
  } rows[] = {
    { 1, 0, N, 0, FALSE },
    { 2, 0, N, 0, FALSE },
    { 4, 0x21, N - 2, 2, FALSE },
    { 3, 0x21, N - 2, 2, TRUE },
  };
  g_autoptr(VnPlan) plan = make_plan ();

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    {
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(GError) error = NULL;
      Fixture fixture = { 0 };
      Work work = { .fails_at = G_MAXUINT, .cancels_at = G_MAXUINT };
      VnSampleLoop *loop;

      set_up (&fixture, rows[r].bad, notes);
      loop = vn_sample_loop_new (&(VnSamples) { fixture.dataset, NULL, fixture.indices, N, rows[r].n_threads, NULL, notes },
                                 &(VnSampleOptions) { .plans = &plan, .n_plans = 1, .in_turn = rows[r].in_turn }, &funcs, &work,
                                 &error);
      g_assert_no_error (error);
      g_assert_cmpuint (vn_sample_loop_get_n_workers (loop), ==, rows[r].in_turn ? 1 : rows[r].n_threads);
      g_assert_true (vn_sample_loop_run (loop, 0, 4, NULL, &error));
      g_assert_true (vn_sample_loop_run (loop, 4, N - 4, NULL, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (vn_sample_loop_get_n_read (loop), ==, rows[r].n_read);
      g_assert_cmpuint (vn_sample_loop_get_n_done (loop), ==, N);
      g_assert_true (vn_sample_loop_check_read (loop, &error));
      for (guint i = 0; i < N; i++)
        {
          const guint file = fixture.indices[i];
          const gboolean is_bad = (rows[r].bad >> file & 1) != 0;

          g_assert_cmpuint (work.n_scans[i], ==, is_bad ? 0 : 1);
          if (!is_bad)
            g_assert_cmpfloat (work.found[i], ==, (float) file);
          g_assert_true ((work.kept[i] != NULL) == (!is_bad && i % 2 == 0));
        }
      for (guint i = 1; i < work.n_ordered && rows[r].in_turn; i++)
        g_assert_cmpuint (work.order[i - 1], <, work.order[i]);
      g_assert_cmpuint (vn_notes_get_n (notes), ==, rows[r].n_notes);
      vn_sample_loop_free (loop);
      g_assert_cmpint (work.n_started, ==, rows[r].in_turn ? 1 : (int) rows[r].n_threads);
      g_assert_cmpint (work.n_stopped, ==, work.n_started);
      work_clear (&work);
      tear_down (&fixture);
    }
}

/* ---- several datasets, and runners ---- */

typedef struct
{
  VnPlan *plan;
  float   sums[N];
} Pair;

static gpointer
pair_start (guint      n_inside,
            gpointer   data,
            GError   **error)
{
  return vn_sample_runner_new (((Pair *) data)->plan, n_inside, NULL, NULL, error);
}

static gboolean
pair_scan (gpointer       runner,
           guint          item,
           VnTensor     **inputs,
           gpointer       data,
           GCancellable  *cancellable,
           GError       **error)
{
  Pair *self = data;
  VnTensor *output = NULL;

  g_assert_true (inputs[0] != NULL && inputs[1] == NULL && inputs[2] != NULL && inputs[3] == NULL);
  if (!vn_runner_run (runner, inputs + 2, &output, cancellable, error))
    return FALSE;
  self->sums[item] = ((const float *) inputs[0]->data)[0] + 10 * ((const float *) output->data)[0];
  vn_tensor_unref (output);
  return TRUE;
}

/* Each of them has all samples; what one of them cannot read no worker gets. */
static void
test_others (void)
{
  static const VnSampleFuncs pair_funcs = { pair_start, pair_scan, vn_sample_runner_stop };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnPlan) plan = make_plan ();
  Fixture first = { 0 }, other = { 0 };
  Pair pair = { plan, { 0 } };

  set_up (&first, 1 << 1, NULL);
  set_up (&other, 1 << 6, NULL);
  g_assert_true (vn_samples_each (&(VnSamples) { .dataset = first.dataset, .indices = first.indices, .n = N, .n_threads = 2,
                                                 .notes = notes },
                                  &(VnSampleOptions) { .plans = &plan, .n_plans = 1, .others = &other.dataset, .n_others = 1 },
                                  &pair_funcs,
                                  &pair, NULL, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < N; i++)
    g_assert_cmpfloat (pair.sums[i], ==, first.indices[i] == 1 || first.indices[i] == 6 ? 0 : 11 * (float) first.indices[i]);
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 2);
  tear_down (&other);
  tear_down (&first);
}

/* The first in the order of the samples says why; each is noted once, however often it is tried. */
static void
test_none (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnPlan) plan = make_plan ();
  Fixture fixture = { 0 };
  Work work = { .fails_at = G_MAXUINT, .cancels_at = G_MAXUINT };
  g_autoptr(VnSampleLoop) loop = NULL;

  set_up (&fixture, 0x1ff, NULL);
  loop = vn_sample_loop_new (&(VnSamples) { .dataset = fixture.dataset, .indices = fixture.indices, .n = N, .n_threads = 3,
                                            .notes = notes },
                             &(VnSampleOptions) { .plans = &plan, .n_plans = 1 }, &funcs, &work, &error);
  g_assert_true (vn_sample_loop_run (loop, 0, N, NULL, &error));
  g_assert_true (vn_sample_loop_run (loop, 2, 3, NULL, &error));
  g_assert_cmpuint (vn_notes_get_n (notes), ==, N);
  g_assert_no_error (error);
  g_assert_false (vn_sample_loop_check_read (loop, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
  g_assert_nonnull (strstr (error->message, "8.npy"));
  tear_down (&fixture);
}

static void
test_stops (void)
{
  static const struct
  {
    guint fails_at, cancels_at;
  } rows[] = { { 3, G_MAXUINT }, { G_MAXUINT, 3 } };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      Fixture fixture = { 0 };
      Work work = { .fails_at = rows[r].fails_at, .cancels_at = rows[r].cancels_at, .cancellable = cancellable };
      const gboolean fails = rows[r].fails_at != G_MAXUINT;

      set_up (&fixture, 0, NULL);
      g_assert_false (vn_samples_each (&(VnSamples) { .dataset = fixture.dataset, .indices = fixture.indices, .n = N },
                                       &(VnSampleOptions) { .in_turn = TRUE }, &funcs, &work, cancellable, &error));
      if (fails)
        g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
      else
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_true ((strstr (error->message, "5.npy") != NULL) == fails);   /* sample 3 */
      for (guint i = 0; i < N; i++)
        g_assert_cmpuint (work.n_scans[i], ==, i <= 3 ? 1 : 0);
      g_assert_cmpint (work.n_stopped, ==, 1);
      work_clear (&work);
      tear_down (&fixture);
    }
}

/* ---- several processes ---- */

static GBytes *
shared_pack (guint      item,
             gpointer   data,
             GError   **error)
{
  return g_bytes_new (&((const Work *) data)->found[item], sizeof (float));
}

static gboolean
shared_take (guint           item,
             gconstpointer   bytes,
             gsize           size,
             gpointer        data,
             GError        **error)
{
  g_autofree float *found = vn_sample_ranks_dup (bytes, size, 1, sizeof *found, error);

  if (found != NULL)
    ((Work *) data)->found[item] = *found;
  return found != NULL;
}

static const VnSampleFuncs shared_funcs = { work_start, work_scan, work_stop, shared_pack, shared_take };

/* What processes have gathered that were played before; at the first place the last. */
static GPtrArray *gathered;
static gboolean is_last;

static GPtrArray *
shared_gather (GBytes  *own,
               GError **error)
{
  g_ptr_array_insert (gathered, 0, g_bytes_ref (own));
  if (is_last)
    return g_ptr_array_ref (gathered);
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "played");
  return NULL;
}

static gboolean
shared_run (const Fixture *fixture,
            Work          *work,
            guint          n,
            guint         *n_read,
            VnNotes       *notes,
            GError       **error)
{
  const VnSamples samples = { fixture->dataset, NULL, fixture->indices, n, 2, NULL, notes };
  g_autoptr(VnPlan) plan = make_plan ();
  const VnSampleOptions options = { .plans = &plan, .n_plans = 1 };
  g_autoptr(VnSampleLoop) loop = vn_sample_loop_new (&samples, &options, &shared_funcs, work, error);
  gboolean good;

  g_assert_nonnull (loop);
  good = vn_sample_loop_run (loop, 0, n, NULL, error);
  *n_read = vn_sample_loop_get_n_read (loop);
  if (good)
    g_assert_cmpuint (vn_sample_loop_get_n_done (loop), ==, n);
  return good;
}

/* One process after the other; the last of them has all. */
static void
test_processes (void)
{
  static const struct { guint n_ranks, n, bad; } rows[] = {
    { 1, N, 0x21 }, { 2, N, 0 }, { 3, N, 0x21 }, { 4, 2, 0 }, { 4, 0, 0 },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    {
      g_autoptr(VnNotes) notes = vn_notes_new ();
      Fixture fixture = { 0 };
      guint n_scans[N] = { 0 }, n_bad = 0, n_read = 0;

      set_up (&fixture, rows[r].bad, notes);
      gathered = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
      for (guint rank = rows[r].n_ranks; rank-- > 0;)
        {
          Work work = { .fails_at = G_MAXUINT, .cancels_at = G_MAXUINT };
          g_autoptr(VnNotes) own_notes = vn_notes_new ();
          g_autoptr(GError) error = NULL;

          is_last = rank == 0;
          vn_sample_ranks_set (rank, rows[r].n_ranks, shared_gather);
          g_assert_true (shared_run (&fixture, &work, rows[r].n, &n_read, own_notes, &error) == is_last);
          for (guint i = 0; i < rows[r].n; i++)
            {
              n_scans[i] += work.n_scans[i];
              g_assert_true (work.n_scans[i] == 0 || i % rows[r].n_ranks == rank);
              if (is_last && (rows[r].bad >> fixture.indices[i] & 1) == 0)
                g_assert_cmpfloat (work.found[i], ==, (float) fixture.indices[i]);
              n_bad += is_last && (rows[r].bad >> fixture.indices[i] & 1) != 0;
            }
          if (is_last)
            g_assert_cmpuint (vn_notes_get_n (own_notes), ==, n_bad);
          work_clear (&work);
        }
      g_assert_cmpuint (n_read, ==, rows[r].n - n_bad);
      for (guint i = 0; i < rows[r].n; i++)
        g_assert_cmpuint (n_scans[i], ==, (rows[r].bad >> fixture.indices[i] & 1) == 0 ? 1 : 0);
      g_clear_pointer (&gathered, g_ptr_array_unref);
      tear_down (&fixture);
    }
  vn_sample_ranks_set (0, 1, NULL);
}

/* ---- workers that only add up ---- */

static gboolean
sum_scan (gpointer       worker,
          guint          item,
          VnTensor     **inputs,
          gpointer       data,
          GCancellable  *cancellable,
          GError       **error)
{
  g_atomic_int_add ((guint *) data, (guint) *(const float *) inputs[0]->data);
  return TRUE;
}

static GBytes *
sum_pack (gpointer   data,
          GError   **error)
{
  return g_bytes_new (data, sizeof (guint));
}

static gboolean
sum_take (GBytes    *bytes,
          gpointer   data,
          GError   **error)
{
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, sizeof (guint));
  *(guint *) data += *(const guint *) g_bytes_get_data (bytes, NULL);
  return TRUE;
}

static void
test_sums (void)
{
  static const VnSampleFuncs sum_funcs = { .scan = sum_scan, .pack_sum = sum_pack, .take_sum = sum_take };

  for (guint n_ranks = 1; n_ranks <= 4; n_ranks++)
    {
      Fixture fixture = { 0 };
      guint wanted = 0, n_read = 0, sum = 0;

      set_up (&fixture, 0x04, NULL);
      for (guint i = 0; i < N; i++)
        wanted += fixture.indices[i] != 2 ? fixture.indices[i] : 0;
      gathered = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
      for (guint rank = n_ranks; rank-- > 0;)
        {
          const VnSamples samples = { fixture.dataset, NULL, fixture.indices, N, 2, NULL, NULL };
          g_autoptr(VnPlan) plan = make_plan ();
          g_autoptr(VnSampleLoop) loop = NULL;

          sum = 0;
          is_last = rank == 0;
          vn_sample_ranks_set (rank, n_ranks, shared_gather);
          loop = vn_sample_loop_new (&samples, &(VnSampleOptions) { .plans = &plan, .n_plans = 1 }, &sum_funcs, &sum, NULL);
          g_assert_cmpuint (vn_sample_loop_get_n_ranks (loop), ==, n_ranks);
          g_assert_true (vn_sample_loop_run (loop, 0, N, NULL, NULL) == is_last);
          n_read = vn_sample_loop_get_n_read (loop);
        }
      g_assert_cmpuint (sum, ==, wanted);
      g_assert_cmpuint (n_read, ==, N - 1);
      g_clear_pointer (&gathered, g_ptr_array_unref);
      tear_down (&fixture);
    }
  vn_sample_ranks_set (0, 1, NULL);
}

/* ---- disagreement ---- */

/* What another process tells in its exchange @number. */
static GBytes *
make_share (guint64   number,
            GVariant *variant)
{
  const guint64 head[] = { number, 0 };
  GByteArray *bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) head, sizeof head);
  g_byte_array_append (bytes, g_variant_get_data (variant), (guint) g_variant_get_size (variant));
  return g_byte_array_free_to_bytes (bytes);
}

/* Another process has something else. */
static void
test_disagreement (void)
{
  static const char * const others[] = {
    "([(1, -1, '', b'abcdef')], b'')", "([(99, -1, '', b'abcd')], b'')", "([(1, 7, '', b'')], b'')",
    "([(1, -2, '', b'')], b'')",
  };

  for (guint r = 0; r < G_N_ELEMENTS (others); r++)
    {
      Work work = { .fails_at = G_MAXUINT, .cancels_at = G_MAXUINT };
      Fixture fixture = { 0 };
      g_autoptr(GVariant) variant = NULL;
      g_autoptr(GError) error = NULL;
      guint n_read;

      set_up (&fixture, 0, NULL);
      variant = g_variant_parse (G_VARIANT_TYPE ("(a(uisay)ay)"), others[r], NULL, NULL, &error);
      g_assert_no_error (error);
      gathered = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
      g_ptr_array_add (gathered, make_share (1, variant));
      is_last = TRUE;
      vn_sample_ranks_set (0, 2, shared_gather);
      g_assert_false (shared_run (&fixture, &work, N, &n_read, NULL, &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
      g_clear_pointer (&gathered, g_ptr_array_unref);
      work_clear (&work);
      tear_down (&fixture);
    }
  vn_sample_ranks_set (0, 1, NULL);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sample-loop/threads", test_threads);
  g_test_add_func ("/sample-loop/others", test_others);
  g_test_add_func ("/sample-loop/none", test_none);
  g_test_add_func ("/sample-loop/stops", test_stops);
  g_test_add_func ("/sample-loop/processes", test_processes);
  g_test_add_func ("/sample-loop/sums", test_sums);
  g_test_add_func ("/sample-loop/disagreement", test_disagreement);
  return g_test_run ();
}
