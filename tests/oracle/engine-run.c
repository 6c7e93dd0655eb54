/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a network on .npy inputs and writes its outputs as .npy files, or measures how long it takes.
 *
 * usage: engine-run [OPTIONS] MODEL [INPUT.npy...]
 * Inputs in the order of the graph inputs that are not initializers; none: pseudo-random numbers. */
#include "vn-error.h"
#include "vn-machine.h"
#include "vn-onnx.h"
#include "vn-parallel.h"
#include "vn-pass.h"
#include "vn-plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct
{
  char     *out_dir;
  gboolean  all_values, no_fusion, profile, prepare, turns;
  int       threads, workers, repeat;
  double    seconds;
} Settings;

typedef struct
{
  VnPlan       *plan;
  GPtrArray    *inputs;     /* of VnTensor */
  GPtrArray    *runners;
  const char   *out_dir;
} Job;

/* ---- inputs ---- */

static VnTensor *
random_tensor (const VnTensorType  *type,
               GRand               *rand,
               GError             **error)
{
  g_autoptr(VnTensor) floats = vn_tensor_new (VN_DTYPE_F32, &type->shape, error);
  float *x;

  if (floats == NULL)
    return NULL;
  x = floats->data;
  for (gsize i = 0; i < floats->n_elements; i++)
    x[i] = (float) (g_rand_double (rand) * 2 - 1);
  return type->dtype == VN_DTYPE_F32 ? g_steal_pointer (&floats) : vn_tensor_convert (floats, type->dtype, error);
}

static gboolean
make_random (Job     *job,
             GError **error)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (1);

  for (guint i = job->inputs->len; i < vn_plan_get_n_inputs (job->plan); i++)
    {
      VnTensor *tensor = random_tensor (vn_plan_get_input_type (job->plan, i), rand, error);

      if (tensor == NULL)
        return FALSE;
      g_ptr_array_add (job->inputs, tensor);
    }
  return TRUE;
}

/* The shapes of the files decide the open sizes of the network. */
static GHashTable *
read_inputs (VnModel     *model,
             GPtrArray   *tensors,
             char       **paths,
             int          n,
             GError     **error)
{
  g_autoptr(GHashTable) shapes = g_hash_table_new (g_str_hash, g_str_equal);
  int k = 0;

  for (guint i = 0; i < model->graph->inputs->len && k < n; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);
      VnTensor *tensor;

      if (value->initializer != NULL)
        continue;
      tensor = vn_npy_read (paths[k++], error);
      if (tensor == NULL)
        return NULL;
      g_ptr_array_add (tensors, tensor);
      g_hash_table_insert (shapes, value->name, &tensor->shape);
    }
  if (k == n)
    return g_steal_pointer (&shapes);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, "%d files for %d inputs", n, k);
  return NULL;
}

/* ---- outputs ---- */

static gboolean
write_value (const char      *dir,
             const char      *name,
             const VnTensor  *tensor,
             GError         **error)
{
  g_autofree char *file = g_strdelimit (g_strdup (name), "/:", '_');
  g_autofree char *path = g_strdup_printf ("%s/%s.npy", dir, file);

  return vn_npy_write (path, tensor, error);
}

static void
write_tap (const VnValue  *value,
           guint           tap,
           const VnTensor *tensor,
           gpointer        data)
{
  Job *job = data;
  g_autoptr(GError) error = NULL;

  if (tensor->dtype != VN_DTYPE_STRING && !write_value (job->out_dir, value->name, tensor, &error))
    fprintf (stderr, "%s\n", error->message);
}

static gboolean
run_and_write (Job       *job,
               gboolean   taps,
               GError   **error)
{
  guint n = vn_plan_get_n_outputs (job->plan);
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, n + 1);
  VnRunner *runner = g_ptr_array_index (job->runners, 0);
  gboolean ok = TRUE;

  if (taps)
    vn_runner_set_tap (runner, write_tap, job);
  if (!vn_runner_run (runner, (VnTensor **) job->inputs->pdata, outputs, NULL, error))
    return FALSE;
  vn_runner_set_tap (runner, NULL, NULL);
  for (guint i = 0; i < n; i++)
    {
      ok = ok && write_value (job->out_dir, vn_plan_get_output (job->plan, i)->name, outputs[i], error);
      vn_tensor_unref (outputs[i]);
    }
  return ok;
}

/* ---- timing ---- */

typedef struct
{
  Job              *job;
  const Settings   *settings;
  gint64            end;
  GArray          **usec;     /* of gint64, one per worker */
} Measure;

/* Runs again and again; the workers do not wait for each other. */
static gboolean
run_item (gsize      item,
          guint      worker,
          gpointer   data,
          GError   **error)
{
  const Measure *self = data;
  GArray *usec = self->usec[item];

  while ((int) usec->len < self->settings->repeat || g_get_monotonic_time () < self->end)
    {
      gint64 time = g_get_monotonic_time ();

      if (!vn_runner_run (g_ptr_array_index (self->job->runners, item), (VnTensor **) self->job->inputs->pdata, NULL,
                          NULL, error))
        return FALSE;
      time = g_get_monotonic_time () - time;
      g_array_append_val (usec, time);
    }
  return TRUE;
}

static gint
compare_usec (gconstpointer a,
              gconstpointer b)
{
  const gint64 *x = a, *y = b;

  return *x > *y ? 1 : *x < *y ? -1 : 0;
}

/* The best run; of several at the same time the middle one, or a worker that ran alone for a while would win. */
static void
print_speed (const Measure *self,
             clock_t        cpu)
{
  guint workers = (guint) self->settings->workers, n;
  double msec;

  for (guint i = 1; i < workers; i++)
    g_array_append_vals (self->usec[0], self->usec[i]->data, self->usec[i]->len);
  n = self->usec[0]->len;
  g_array_sort (self->usec[0], compare_usec);
  msec = (double) g_array_index (self->usec[0], gint64, workers > 1 ? n / 2 : 0) / 1000;
  printf ("best %.3f ms (%.3f of processor time on average), %.3f images/s, threads %d, core %s\n", msec,
          (double) cpu * 1000 / CLOCKS_PER_SEC / n, workers * 1000 / msec, self->settings->threads,
          vn_machine_get_instruction_set ());
}

static gboolean
measure (Job             *job,
         const Settings  *settings,
         GError         **error)
{
  guint workers = (guint) settings->workers;
  g_autofree GArray **usec = g_new0 (GArray *, workers);
  Measure self = { job, settings, g_get_monotonic_time () + (gint64) (settings->seconds * G_USEC_PER_SEC), usec };
  clock_t cpu = clock ();
  gboolean ok;

  for (guint i = 0; i < workers; i++)
    usec[i] = g_array_new (FALSE, FALSE, sizeof (gint64));
  ok = vn_parallel_for (workers, workers, run_item, &self, NULL, error);
  if (ok)
    print_speed (&self, clock () - cpu);
  for (guint i = 0; i < workers; i++)
    g_array_unref (usec[i]);
  return ok;
}

/* Another program that wants to be measured in turns with this one says when. */
static gboolean
measure_turns (Job             *job,
               const Settings  *settings,
               GError         **error)
{
  char line[16];

  if (!settings->turns)
    return measure (job, settings, error);
  while (fgets (line, sizeof line, stdin) != NULL)
    if (!measure (job, settings, error) || fflush (stdout) != 0)
      return FALSE;
  return TRUE;
}

typedef struct
{
  const char *type;
  gint64      usec;
  guint       n;
} TypeTime;

static gint
compare_times (gconstpointer a,
               gconstpointer b)
{
  const TypeTime *x = a, *y = b;

  return y->usec > x->usec ? 1 : y->usec < x->usec ? -1 : 0;
}

static void
print_by_type (VnPlan       *plan,
               const gint64 *usec)
{
  g_autoptr(GArray) types = g_array_new (FALSE, TRUE, sizeof (TypeTime));

  for (guint i = 0; i < vn_plan_get_n_steps (plan); i++)
    {
      const char *type = vn_plan_get_step_node (plan, i)->op_type;
      guint k = 0;

      while (k < types->len && !g_str_equal (g_array_index (types, TypeTime, k).type, type))
        k++;
      if (k == types->len)
        g_array_append_val (types, ((TypeTime) { type, 0, 0 }));
      g_array_index (types, TypeTime, k).usec += usec[i];
      g_array_index (types, TypeTime, k).n++;
    }
  g_array_sort (types, compare_times);
  for (guint k = 0; k < types->len; k++)
    {
      const TypeTime *entry = &g_array_index (types, TypeTime, k);

      printf ("%10.3f ms  %4u x %s\n", (double) entry->usec / 1000, entry->n, entry->type);
    }
}

static gboolean
profile (Job             *job,
         const Settings  *settings,
         GError         **error)
{
  const guint n_steps = vn_plan_get_n_steps (job->plan);
  g_autofree gint64 *least = g_new0 (gint64, n_steps + 1), *usec = g_new0 (gint64, n_steps + 1);
  VnRunner *runner = g_ptr_array_index (job->runners, 0);

  vn_runner_set_timing (runner, usec);
  for (int i = 0; i < settings->repeat; i++)
    {
      memset (usec, 0, n_steps * sizeof *usec);
      if (!vn_runner_run (runner, (VnTensor **) job->inputs->pdata, NULL, NULL, error))
        return FALSE;
      for (guint k = 0; k < n_steps; k++)
        least[k] = i == 0 ? usec[k] : MIN (least[k], usec[k]);
    }
  vn_runner_set_timing (runner, NULL);
  for (guint i = 0; i < n_steps; i++)
    {
      const VnNode *node = vn_plan_get_step_node (job->plan, i);
      g_autofree char *label = vn_node_dup_label (node);

      printf ("%10.3f ms  %s %s\n", (double) least[i] / 1000, node->op_type, label);
    }
  printf ("by type:\n");
  print_by_type (job->plan, least);
  return TRUE;
}

/* ---- */

static GPtrArray *
all_values (VnModel *model)
{
  GPtrArray *taps = g_ptr_array_new ();

  for (guint i = 0; i < model->graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (model->graph->values, i);

      if (value->producer != NULL)
        g_ptr_array_add (taps, value);
    }
  return taps;
}

static void
print_notes (VnNotes *notes)
{
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    fprintf (stderr, "note: %s\n", vn_notes_get (notes, i)->text);
}

static gboolean
make_runners (Job             *job,
              const Settings  *settings,
              GError         **error)
{
  for (int i = 0; i < settings->workers; i++)
    {
      VnRunner *runner = vn_runner_new (job->plan, error);

      if (runner == NULL)
        return FALSE;
      vn_runner_set_threads (runner, (guint) settings->threads);
      g_ptr_array_add (job->runners, runner);
    }
  return TRUE;
}

static VnModel *
open_model (const char  *path,
            gboolean     prepare,
            GError     **error)
{
  g_autoptr(VnModel) model = vn_onnx_read_file (path, error);

  if (model == NULL || !prepare)
    return g_steal_pointer (&model);
  return vn_prepare_model (model, 13, NULL, NULL, NULL, NULL, error);
}

static gboolean
run (Job             *job,
     const Settings  *settings,
     char           **paths,
     int              n,
     GError         **error)
{
  g_autoptr(VnModel) model = open_model (paths[0], settings->prepare, error);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(GPtrArray) taps = NULL;
  VnPlanOptions options = { .no_fusion = settings->no_fusion };
  gint64 start = g_get_monotonic_time ();

  shapes = model != NULL ? read_inputs (model, job->inputs, paths + 1, n - 1, error) : NULL;
  if (shapes == NULL)
    return FALSE;
  taps = settings->all_values ? all_values (model) : NULL;
  options.input_shapes = shapes;
  options.taps = taps;
  job->plan = vn_plan_new (model, &options, notes, error);
  print_notes (notes);
  if (job->plan == NULL || !make_runners (job, settings, error) || !make_random (job, error))
    return FALSE;
  printf ("planned in %.1f ms: %u steps, arena %.2f MB\n", (double) (g_get_monotonic_time () - start) / 1000,
          vn_plan_get_n_steps (job->plan), (double) vn_plan_get_arena_size (job->plan) / 1e6);
  if (job->out_dir != NULL && !run_and_write (job, taps != NULL, error))
    return FALSE;
  if ((settings->repeat > 0 || settings->seconds > 0) && !measure_turns (job, settings, error))
    return FALSE;
  if (settings->profile && !profile (job, settings, error))
    return FALSE;
  return TRUE;
}

int
main (int    argc,
      char **argv)
{
  Settings settings = { .threads = 1, .workers = 1 };
  const GOptionEntry entries[] = {
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &settings.out_dir, "Write the outputs there", "DIR" },
    { "all", 0, 0, G_OPTION_ARG_NONE, &settings.all_values, "Write every value", NULL },
    { "no-fusion", 0, 0, G_OPTION_ARG_NONE, &settings.no_fusion, "Keep every value", NULL },
    { "turns", 0, 0, G_OPTION_ARG_NONE, &settings.turns, "Measure once for each line on standard input", NULL },
    { "prepare", 0, 0, G_OPTION_ARG_NONE, &settings.prepare, "Prepare the network first, as for quantizing", NULL },
    { "profile", 0, 0, G_OPTION_ARG_NONE, &settings.profile, "Print the least time of each step", NULL },
    { "threads", 0, 0, G_OPTION_ARG_INT, &settings.threads, "Threads inside one run", "N" },
    { "workers", 0, 0, G_OPTION_ARG_INT, &settings.workers, "Runs at the same time", "N" },
    { "repeat", 0, 0, G_OPTION_ARG_INT, &settings.repeat, "Measure so many runs", "N" },
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &settings.seconds, "Measure for at least so long", "S" },
    { NULL }
  };
  g_autoptr(GOptionContext) context = g_option_context_new ("MODEL [INPUT.npy...]");
  g_autoptr(GError) error = NULL;
  Job job = { 0 };
  gboolean ok;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc < 2)
    {
      fprintf (stderr, "%s\n", error != NULL ? error->message : "name a model");
      return 2;
    }
  job.inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  job.runners = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_runner_free);
  job.out_dir = settings.out_dir;
  ok = run (&job, &settings, argv + 1, argc - 1, &error);
  if (!ok)
    fprintf (stderr, "%s\n", error->message);
  g_ptr_array_unref (job.inputs);
  g_ptr_array_unref (job.runners);
  g_clear_pointer (&job.plan, vn_plan_unref);
  g_free (settings.out_dir);
  return ok ? 0 : 1;
}
