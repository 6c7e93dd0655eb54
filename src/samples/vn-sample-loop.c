/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads samples, hands each to a worker, leaves out and names those that cannot be read, reports and can be stopped. */
#include "vn-sample-loop.h"

#include "vn-sample-ranks.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-parallel.h"

#include <string.h>

/* What a process tells the others of each of its samples: its number, that of the dataset that could not read it and why, or
 * WAS_READ and what was packed; and of all of them together. */
#define SHARES_TYPE "a(uisay)"
#define SHARE_TYPE "(" SHARES_TYPE "ay)"
#define WAS_READ -1

struct _VnSampleLoop
{
  VnSamples      samples;
  VnSampleFuncs  funcs;
  gpointer       data;
  gpointer      *workers;
  guint          n_workers, n_inputs, n_before, n_all;
  guint          mark;             /* of vn_memory_mark() at the beginning */
  guint          from;             /* sample of item 0 of the run that is going on */
  guint          rank, n_ranks;    /* of processes that share the samples: each takes every n_ranks-th */
  GCancellable  *cancellable;      /* of that run */
  guint          n_done, n_read;   /* atomic; those done by other processes are not in the first */
  guint          n_done_elsewhere;
  VnDataset    **others;           /* n_others of them: beside that of @samples */
  guint          n_others;
  GMutex         lock;             /* of what follows */
  guint          first_bad;
  char          *reason;           /* nullable: why @first_bad could not be read */
  GHashTable    *noted;            /* samples of the dataset that have been left out */
  gboolean      *was_read;         /* nullable: with several processes: by sample */
  GVariantBuilder share;           /* with several processes: what was left out in this run */
};

/* Which dataset: 0, or the place among the others plus 1. */
static VnDataset *
sample_loop_get_dataset (const VnSampleLoop *self,
                         guint               i)
{
  return i > 0 ? self->others[i - 1] : self->samples.dataset;
}

/* The first bad sample, in the order of the samples, is kept for the case that none can be read. */
static gboolean
sample_loop_leave_out (VnSampleLoop  *self,
                       guint          i,
                       guint          item,
                       GError        *bad,
                       GError       **error)
{
  gboolean is_new;

  g_mutex_lock (&self->lock);
  if (self->reason == NULL || item < self->first_bad)
    {
      g_free (self->reason);
      self->reason = g_strdup (bad->message);
      self->first_bad = item;
    }
  is_new = g_hash_table_add (self->noted, GUINT_TO_POINTER (self->samples.indices[item]));
  g_mutex_unlock (&self->lock);
  return vn_dataset_leave_out (sample_loop_get_dataset (self, i), self->samples.indices[item], bad,
                               is_new ? self->samples.notes : NULL, error);
}

static void
sample_loop_report_bad (VnSampleLoop *self,
                        guint         i,
                        guint         item,
                        const GError *bad)
{
  if (self->n_ranks == 1)
    return;
  g_mutex_lock (&self->lock);
  g_variant_builder_add (&self->share, "(uis@ay)", item, (int) i, bad->message, g_variant_new_bytestring (""));
  g_mutex_unlock (&self->lock);
}

/* Of all datasets, one behind the other, each with a %NULL at its end. FALSE without an error: left out. */
static gboolean
sample_loop_read (VnSampleLoop  *self,
                  guint          item,
                  VnTensor     **inputs,
                  gboolean      *good,
                  GError       **error)
{
  GError *bad = NULL;

  *good = TRUE;
  for (guint i = 0; i <= self->n_others; i++)
    {
      VnDataset *dataset = sample_loop_get_dataset (self, i);

      if (!vn_sample_load (dataset, self->samples.indices[item], inputs, &bad))
        {
          sample_loop_report_bad (self, i, item, bad);
          *good = sample_loop_leave_out (self, i, item, bad, error);
          return FALSE;
        }
      inputs += vn_dataset_get_n_inputs (dataset) + 1;
    }
  return TRUE;
}

/* What runs the sample may have named it itself. */
static void
sample_loop_name (const VnSampleLoop  *self,
                  guint                item,
                  GError             **error)
{
  const char *name = vn_dataset_get_name (self->samples.dataset, self->samples.indices[item]);

  if (error != NULL && *error != NULL && !g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED) &&
      !vn_error_is_memory (*error) &&
      strstr ((*error)->message, name) == NULL)
    g_prefix_error (error, _("sample “%s”: "), name);
}

static gboolean
sample_loop_scan (VnSampleLoop  *self,
                  gpointer       worker,
                  guint          item,
                  VnTensor     **inputs,
                  GError       **error)
{
  gboolean good;

  if (!sample_loop_read (self, item, inputs, &good, error))
    return good;
  g_atomic_int_inc (&self->n_read);
  if (self->was_read != NULL)
    self->was_read[item] = TRUE;
  if (self->funcs.scan (worker, item, inputs, self->data, self->cancellable, error) && vn_memory_check (self->mark, error))
    return TRUE;
  sample_loop_name (self, item, error);
  return FALSE;
}

/* How many of @n samples from @from on are those of this process. */
static guint
sample_loop_count_own (const VnSampleLoop *self,
                       guint               from,
                       guint               n)
{
  const guint first = (self->rank + self->n_ranks - from % self->n_ranks) % self->n_ranks;

  return first < n ? (n - first - 1) / self->n_ranks + 1 : 0;
}

static gboolean
sample_loop_run_item (gsize     item,
                      guint     worker,
                      gpointer  data,
                      GError  **error)
{
  VnSampleLoop *self = data;
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, self->n_inputs + 1);
  const gboolean good = sample_loop_scan (self, self->workers[worker], self->from + (guint) item * self->n_ranks, inputs, error);

  vn_tensor_clear_all (inputs, self->n_inputs);
  vn_progress_report (self->samples.progress, _("samples"), sample_loop_count_own (self, 0, self->n_before) +
                      (guint) g_atomic_int_add (&self->n_done, 1) + 1, sample_loop_count_own (self, 0, self->n_all));
  return good;
}

/* Returns how many threads each worker may use. */
static guint
sample_loop_count_workers (VnSampleLoop          *self,
                           const VnSampleOptions *options)
{
  const guint n_threads = self->samples.n_threads > 0 ? self->samples.n_threads : vn_parallel_default_threads ();
  guint n_inside = n_threads;

  self->n_workers = 1;
  if (!options->in_turn)
    self->n_workers = vn_plan_share_threads (options->plans, options->n_plans, options->more, n_threads,
                                              MAX (MAX (sample_loop_count_own (self, 0, self->samples.n), options->n_shares), 1),
                                              &n_inside);
  return n_inside;
}

/**
 * vn_sample_loop_new:
 * @samples: copied; what it points to must outlive the loop
 * @options: copied
 * @data: for @funcs
 *
 * Returns: (transfer full) (nullable): with its workers; %NULL with an error if one of them cannot be made
 */
VnSampleLoop *
vn_sample_loop_new (const VnSamples        *samples,
                    const VnSampleOptions  *options,
                    const VnSampleFuncs    *funcs,
                    gpointer                data,
                    GError                **error)
{
  g_autoptr(VnSampleLoop) self = NULL;
  guint n_inside;

  g_return_val_if_fail (samples != NULL && options != NULL && funcs != NULL && funcs->scan != NULL, NULL);

  self = g_new0 (VnSampleLoop, 1);
  g_mutex_init (&self->lock);
  self->noted = g_hash_table_new (NULL, NULL);
  self->samples = *samples;
  self->funcs = *funcs;
  self->data = data;
  self->mark = vn_memory_mark ();
  self->n_before = options->n_before;
  self->n_all = options->n_all > 0 ? options->n_all : samples->n;
  self->n_inputs = vn_dataset_get_n_inputs (samples->dataset);
  self->n_others = options->n_others;
  self->others = g_new (VnDataset *, options->n_others + 1);
  for (guint i = 0; i < options->n_others; i++)
    {
      self->others[i] = options->others[i];
      self->n_inputs += 1 + vn_dataset_get_n_inputs (options->others[i]);
    }
  self->n_ranks = 1;
  if ((funcs->pack != NULL && funcs->take != NULL) || (funcs->pack_sum != NULL && funcs->take_sum != NULL))
    {
      self->rank = vn_sample_ranks_get_rank ();
      self->n_ranks = vn_sample_ranks_get_n ();
      self->was_read = g_new0 (gboolean, samples->n + 1);
    }
  n_inside = sample_loop_count_workers (self, options);
  self->workers = g_new0 (gpointer, self->n_workers);
  for (guint i = 0; i < self->n_workers && funcs->start != NULL; i++)
    if ((self->workers[i] = funcs->start (n_inside, data, error)) == NULL)
      return NULL;
  return g_steal_pointer (&self);
}

/**
 * vn_sample_loop_free:
 */
void
vn_sample_loop_free (VnSampleLoop *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n_workers && self->funcs.stop != NULL; i++)
    if (self->workers[i] != NULL)
      self->funcs.stop (self->workers[i]);
  g_free (self->workers);
  g_free (self->others);
  g_free (self->reason);
  g_free (self->was_read);
  g_hash_table_unref (self->noted);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* ---- several processes ---- */

/* What came of each sample of this process. */
static gboolean
sample_loop_pack_each (VnSampleLoop  *self,
                       guint          from,
                       guint          n,
                       GError       **error)
{
  for (guint item = self->from; item < from + n; item += self->n_ranks)
    {
      g_autoptr(GBytes) bytes = NULL;

      if (!self->was_read[item])
        continue;
      bytes = self->funcs.pack != NULL ? self->funcs.pack (item, self->data, error) : g_bytes_new_static ("", 0);
      if (bytes == NULL)
        return FALSE;
      g_variant_builder_add (&self->share, "(uis@ay)", item, WAS_READ, "",
                             g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE));
    }
  return TRUE;
}

/* And of all together. */
static GBytes *
sample_loop_pack (VnSampleLoop  *self,
                  guint          from,
                  guint          n,
                  GError       **error)
{
  g_autoptr(GBytes) sum = NULL;
  g_autoptr(GVariant) all = NULL;

  if (!sample_loop_pack_each (self, from, n, error))
    return NULL;
  sum = self->funcs.pack_sum != NULL ? self->funcs.pack_sum (self->data, error) : g_bytes_new_static ("", 0);
  if (sum == NULL)
    return NULL;
  all = g_variant_ref_sink (g_variant_new ("(@" SHARES_TYPE "@ay)", g_variant_builder_end (&self->share),
                                           g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, sum, TRUE)));
  return g_variant_get_data_as_bytes (all);
}

static gboolean
sample_loop_take_one (VnSampleLoop  *self,
                      guint          item,
                      int            dataset,
                      const char    *reason,
                      GVariant      *packed,
                      GError       **error)
{
  gsize size;
  gconstpointer bytes = g_variant_get_fixed_array (packed, &size, 1);

  if (item >= self->samples.n || dataset < WAS_READ || dataset > (int) self->n_others)
    return vn_sample_ranks_refuse (error);
  if (dataset != WAS_READ)
    return sample_loop_leave_out (self, (guint) dataset, item, g_error_new_literal (VN_ERROR, VN_ERROR_MISSING_DATA, reason),
                                  error);
  g_atomic_int_inc (&self->n_read);
  return self->funcs.take == NULL || self->funcs.take (item, bytes, size, self->data, error);
}

static gboolean
sample_loop_take (VnSampleLoop  *self,
                  GBytes        *bytes,
                  GError       **error)
{
  g_autoptr(GVariant) all = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (SHARE_TYPE), bytes, FALSE));
  g_autoptr(GVariant) each = g_variant_get_child_value (all, 0), sum = g_variant_get_child_value (all, 1);
  g_autoptr(GBytes) sum_bytes = g_variant_get_data_as_bytes (sum);
  gboolean good = TRUE;

  for (gsize i = 0; good && i < g_variant_n_children (each); i++)
    {
      g_autoptr(GVariant) one = g_variant_get_child_value (each, i), packed = NULL;
      const char *reason;
      guint item;
      int dataset;

      g_variant_get (one, "(ui&s@ay)", &item, &dataset, &reason, &packed);
      good = sample_loop_take_one (self, item, dataset, reason, packed, error);
    }
  return good && (self->funcs.take_sum == NULL || self->funcs.take_sum (sum_bytes, self->data, error));
}

/* Each process scans its samples and takes what the others have made of theirs, so that all go on with the same. */
static gboolean
sample_loop_run_shared (VnSampleLoop  *self,
                        guint          from,
                        guint          n,
                        GCancellable  *cancellable,
                        GError       **error)
{
  const guint n_own = sample_loop_count_own (self, from, n);
  g_autoptr(GBytes) own = NULL;
  g_autoptr(GPtrArray) all = NULL;
  GError *failure = NULL;
  gboolean good = TRUE;

  g_variant_builder_init (&self->share, G_VARIANT_TYPE (SHARES_TYPE));
  if (vn_parallel_for (self->n_workers, n_own, sample_loop_run_item, self, cancellable, &failure))
    own = sample_loop_pack (self, from, n, &failure);
  g_variant_builder_clear (&self->share);
  if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, failure);
      return FALSE;
    }
  all = vn_sample_ranks_gather (own, failure, error);
  for (guint i = 0; all != NULL && good && i < all->len; i++)
    if (i != self->rank)
      good = sample_loop_take (self, g_ptr_array_index (all, i), error);
  self->n_done_elsewhere += n - n_own;
  return all != NULL && good && vn_memory_check (self->mark, error);
}

/* ---- running ---- */

/**
 * vn_sample_loop_run:
 * @from: of the samples
 * @n: how many of them; parts of the samples may be run one after the other, and again
 * @cancellable: (nullable): looked at before each sample, and handed on
 *
 * Scans samples. Those that cannot be read are left out, with a note the first time.
 *
 * Returns: %FALSE with an error, which names the sample, if one could not be scanned, memory was refused, or somebody cancelled
 */
gboolean
vn_sample_loop_run (VnSampleLoop  *self,
                    guint          from,
                    guint          n,
                    GCancellable  *cancellable,
                    GError       **error)
{
  g_return_val_if_fail (self != NULL && from <= self->samples.n && n <= self->samples.n - from, FALSE);

  self->from = from + (self->rank + self->n_ranks - from % self->n_ranks) % self->n_ranks;
  self->cancellable = cancellable;
  if (self->n_ranks > 1)
    return sample_loop_run_shared (self, from, n, cancellable, error);
  return vn_parallel_for (self->n_workers, n, sample_loop_run_item, self, cancellable, error);
}

/**
 * vn_sample_loop_get_n_ranks:
 *
 * Returns: by how many processes the samples are shared; 1: by none
 */
guint
vn_sample_loop_get_n_ranks (const VnSampleLoop *self)
{
  g_return_val_if_fail (self != NULL, 1);

  return self->n_ranks;
}

guint
vn_sample_loop_get_n_workers (const VnSampleLoop *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_workers;
}

/**
 * vn_sample_loop_get_worker:
 * @worker: 0 to the number of workers - 1
 *
 * Returns: (transfer none): what @start has made
 */
gpointer
vn_sample_loop_get_worker (const VnSampleLoop *self,
                           guint               worker)
{
  g_return_val_if_fail (self != NULL && worker < self->n_workers, NULL);

  return self->workers[worker];
}

guint
vn_sample_loop_get_n_read (const VnSampleLoop *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return (guint) g_atomic_int_get (&self->n_read);
}

guint
vn_sample_loop_get_n_done (const VnSampleLoop *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return (guint) g_atomic_int_get (&self->n_done) + self->n_done_elsewhere;
}

/**
 * vn_sample_loop_check_read:
 *
 * Returns: %FALSE with an error that says why, if there are samples and none of them could be read
 */
gboolean
vn_sample_loop_check_read (const VnSampleLoop  *self,
                           GError             **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (self->reason == NULL || vn_sample_loop_get_n_read (self) > 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
               ngettext ("The %u sample could not be used: %s",
                         "None of the %u samples could be used; the first one: %s", self->samples.n), self->samples.n,
                         self->reason);
  return FALSE;
}

/**
 * vn_samples_each:
 *
 * Scans all of @samples. That some cannot be read is no error, nor that none can.
 *
 * Returns: as vn_sample_loop_run()
 */
gboolean
vn_samples_each (const VnSamples        *samples,
                 const VnSampleOptions  *options,
                 const VnSampleFuncs    *funcs,
                 gpointer                data,
                 GCancellable           *cancellable,
                 GError                **error)
{
  g_autoptr(VnSampleLoop) loop = NULL;

  g_return_val_if_fail (samples != NULL && options != NULL && funcs != NULL, FALSE);

  loop = vn_sample_loop_new (samples, options, funcs, data, error);
  return loop != NULL && vn_sample_loop_run (loop, 0, samples->n, cancellable, error);
}

/**
 * vn_sample_load:
 * @index: of @dataset
 * @inputs: (out caller-allocates): one for each input of @dataset
 *
 * One sample for whoever looks at that alone: work on several is for a loop.
 *
 * Returns: %FALSE with an error that names the sample, if it cannot be read
 */
gboolean
vn_sample_load (VnDataset  *dataset,
                guint       index,
                VnTensor  **inputs,
                GError    **error)
{
  g_return_val_if_fail (dataset != NULL && inputs != NULL, FALSE);

  return vn_dataset_load (dataset, index, inputs, error);
}

/**
 * vn_sample_runner_new:
 * @n_inside: as the loop gives it to @start
 * @tap: (nullable): for vn_runner_set_tap()
 *
 * Returns: (transfer full) (nullable): what most workers have: a runner of @plan; %NULL with an error if there is no memory for
 * it
 */
VnRunner *
vn_sample_runner_new (VnPlan     *plan,
                      guint       n_inside,
                      VnTapFunc   tap,
                      gpointer    data,
                      GError    **error)
{
  VnRunner *runner;

  g_return_val_if_fail (plan != NULL, NULL);

  runner = vn_runner_new (plan, error);
  if (runner == NULL)
    return NULL;
  vn_runner_set_threads (runner, n_inside);
  if (tap != NULL)
    vn_runner_set_tap (runner, tap, data);
  return runner;
}

/**
 * vn_sample_runner_stop:
 * @runner: (transfer full): of vn_sample_runner_new()
 *
 * What @stop is where a worker is a runner.
 */
void
vn_sample_runner_stop (gpointer runner)
{
  vn_runner_free (runner);
}
