/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-pipeline [--damage KIND] [--count N] [--seed S] [--only I] [--from I] [--keep FILE] PATH...
 *
 * Damages networks and puts each through everything that is done with one: read, check, infer, plan, run, prepare,
 * quantize, write, report. Whatever is wrong with a network must end in an error with a message: a crash, an abort, a
 * warning of GLib or a report of a sanitizer is a failure, and so is a network that keeps the program busy for
 * MAX_SECONDS after it was asked to stop.
 *
 * --damage=cut shortens them to every length, --damage=flip changes single bits; such networks are read, checked and
 * planned only.
 *
 * PATH is an ONNX file, or a folder of them, or a folder of ONNX backend cases. The work is done in a child process,
 * which is started again after the one that fails; every failure is printed with the number for --only, and --keep
 * writes that damaged network to a file. */
#include "damage.h"
#include "mutate-model.h"

#include "vn-error.h"
#include "vn-jobs.h"
#include "vn-multiversion.h"
#include "vn-onnx.h"
#include "vn-plan.h"
#include "vn-report.h"
#include "vn-validate.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CANCEL_AFTER 2       /* seconds of processor time */
#if defined (__SANITIZE_ADDRESS__) || VN_HAS_FEATURE (address_sanitizer)
#define ADDRESS_SANITIZER 1     /* which asks for terabytes of addresses */
#else
#define ADDRESS_SANITIZER 0
#endif
#if ADDRESS_SANITIZER || defined (__SANITIZE_THREAD__)
#define MAX_SECONDS  40
#else
#define MAX_SECONDS  10
#endif
#define MAX_FAILURES 12
#define MEMORY_LIMIT ((rlim_t) 4 << 30)

/* Lies in memory that parent and child share. */
typedef struct
{
  guint at;
  guint n_opened, n_planned, n_run, n_quantized, n_cancelled;
} Tally;

static int count, only = -1, from;
static gint64 seed = 1;
static char *keep, *how;
static Damage kind;
static char **paths;
static gboolean verbose;
static Tally *tally;
static GCancellable *cancellable;
static gdouble started;

static const GOptionEntry entries[] = {
  { "damage", 0, 0, G_OPTION_ARG_STRING, &how, "What is done to networks (default: model)", "model|cut|flip" },
  { "count", 0, 0, G_OPTION_ARG_INT, &count, "Damaged networks to try (default: 1500, or all lengths)", "N" },
  { "seed", 0, 0, G_OPTION_ARG_INT64, &seed, "Another seed, other damage", "S" },
  { "only", 0, 0, G_OPTION_ARG_INT, &only, "Try one, in this process", "I" },
  { "from", 0, 0, G_OPTION_ARG_INT, &from, "Start there", "I" },
  { "keep", 0, 0, G_OPTION_ARG_FILENAME, &keep, "With --only: write the damaged network to a file", "FILE" },
  { "verbose", 0, 0, G_OPTION_ARG_NONE, &verbose, "Say how far each network came", NULL },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &paths, NULL, NULL },
  { NULL }
};

/* Sanitizers: memory that cannot be had is NULL there, too. */
const char *__asan_default_options (void);

const char *
__asan_default_options (void)
{
  return "allocator_may_return_null=1:max_allocation_size_mb=512:detect_leaks=1";
}

const char *__ubsan_default_options (void);

const char *
__ubsan_default_options (void)
{
  return "halt_on_error=1:print_stacktrace=1";
}

static void
say (const char   *stage,
     const GError *error)
{
  if (verbose)
    g_print ("  %s: %s\n", stage, error != NULL ? error->message : "done");
}

/* Every stage either did its work or says why not. */
static gboolean
check (const char *stage,
       gboolean    done,
       GError    **error)
{
  say (stage, *error);
  if (done != (*error == NULL) || (*error != NULL && ((*error)->message == NULL || (*error)->message[0] == '\0' ||
                                                      !g_utf8_validate ((*error)->message, -1, NULL))))
    {
      g_printerr ("%s: %s, and the error is %s\n", stage, done ? "it worked" : "it failed",
                  *error != NULL ? (*error)->message : "missing");
      abort ();
    }
  if (g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    tally->n_cancelled++;
  g_clear_error (error);
  return done;
}

static gboolean
run_plan (VnPlan  *plan,
          GRand   *rand,
          GError **error)
{
  guint n_inputs = vn_plan_get_n_inputs (plan), n_outputs = vn_plan_get_n_outputs (plan);
  g_autoptr(GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  g_autoptr(VnRunner) runner = vn_runner_new (plan, error);
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, n_outputs + 1);
  gboolean done = runner != NULL;

  for (guint i = 0; done && i < n_inputs; i++)
    {
      const VnTensorType *type = vn_plan_get_input_type (plan, i);
      VnTensor *tensor = vn_tensor_new (type->dtype, &type->shape, error);

      done = tensor != NULL;
      if (tensor == NULL)
        continue;
      g_ptr_array_add (inputs, tensor);
      if (tensor->dtype != VN_DTYPE_STRING)
        memset (tensor->data, 0, tensor->n_bytes);
      hostile_fill (tensor, rand);
    }
  if (done)
    {
      vn_runner_set_threads (runner, (guint) g_rand_int_range (rand, 1, 4));
      done = vn_runner_run (runner, (VnTensor **) inputs->pdata, outputs, cancellable, error);
    }
  for (guint i = 0; i < n_outputs; i++)
    g_clear_pointer (&outputs[i], vn_tensor_unref);
  return done;
}

static void
try_run (VnModel *model,
         GRand   *rand)
{
  VnPlanOptions options = { .no_fusion = g_rand_boolean (rand) };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) runnable = vn_model_to_runnable (model, cancellable, &error);
  g_autoptr(VnPlan) plan = NULL;

  if (!check ("convert", runnable != NULL, &error))
    return;
  plan = vn_plan_new (runnable, &options, model->notes, &error);
  if (!check ("plan", plan != NULL, &error))
    return;
  tally->n_planned++;
  for (guint i = 0; i < (kind == DAMAGE_MODEL ? 2 : 0); i++)
    {
      gboolean done = run_plan (plan, rand, &error);

      tally->n_run += check ("run", done, &error);
    }
}

/* With every pass there is. */
static void
try_prepare (VnModel *model)
{
  guint n;
  const VnPass * const *passes = vn_pass_list (&n);
  g_autofree const char **ids = g_new0 (const char *, n + 1);
  const VnPrepareOptions options = { .target_opset = 21, .optimize = TRUE, .passes = (const char * const *) ids };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) prepared = NULL;

  for (guint i = 0; i < n; i++)
    ids[i] = passes[i]->id;
  prepared = vn_prepare_model_with (model, &options, NULL, model->notes, cancellable, &error);
  check ("prepare", prepared != NULL, &error);
}

static void
check_result (VnRun *result)
{
  g_autoptr(VnReportModel) report = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);
  g_autoptr(GBytes) json = vn_report_print_json (report, NULL), markdown = vn_report_print_markdown (report, NULL);
  g_autoptr(JsonParser) parser = json_parser_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = vn_onnx_write_bytes (result->quantized, &error);
  g_autoptr(VnModel) again = NULL;

  check ("report", json_parser_load_from_data (parser, g_bytes_get_data (json, NULL), (gssize) g_bytes_get_size (json), &error),
         &error);
  if (!g_utf8_validate_len (g_bytes_get_data (markdown, NULL), g_bytes_get_size (markdown), NULL))
    g_error ("the report is not valid UTF-8");
  if (!check ("write", bytes != NULL, &error))
    return;
  again = vn_onnx_read_bytes (bytes, NULL, &error);
  if (again == NULL || !vn_model_validate (again, VN_VALIDATE_STRUCTURE, NULL, &error))
    g_error ("what was written cannot be read: %s", error->message);
}

static void
try_quantize (VnModel *model,
              GRand   *rand)
{
  guint n_presets, n_formats = VN_N_FORMATS;
  const VnPreset * const *presets = vn_preset_list (&n_presets);
  g_autoptr(VnRecipe) recipe = vn_recipe_new (presets[g_rand_int_range (rand, 0, (gint32) n_presets)]->id);
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe,
                                  .n_threads = (guint) g_rand_int_range (rand, 1, 3) };
  g_autoptr(VnJob) job = NULL;
  g_autoptr(GError) error = NULL;
  gboolean done;

  data->max_samples = 2;
  data->held_out = 1;
  if (g_rand_int_range (rand, 0, 4) == 0)
    recipe->format = (VnFormat) g_rand_int_range (rand, 0, (gint32) n_formats);
  recipe->per_channel = g_rand_boolean (rand);
  job = vn_quantize_job_new (&settings);
  done = vn_job_run (job, cancellable, &error);
  if (!check ("quantize", done, &error))
    return;
  tally->n_quantized++;
  check_result (vn_quantize_job_get_result (job));
}

static gboolean
try_read (GBytes      *bytes,
          const char  *path,
          VnModel    **model)
{
  g_autoptr(GError) error = NULL;

  *model = vn_onnx_read_bytes (bytes, path, &error);
  if (!check ("open", *model != NULL, &error) ||
      !check ("check", vn_model_validate (*model, VN_VALIDATE_CONTENTS, (*model)->notes, &error), &error))
    return FALSE;
  tally->n_opened++;
  check ("infer", vn_model_infer_types (*model, NULL, (*model)->notes, &error), &error);
  return TRUE;
}

static void
try_one (GPtrArray *bases,
         guint      i)
{
  GRand *rand = g_rand_new_with_seed_array ((const guint32[]) { (guint32) seed, i }, 2);
  const Base *base = damage_get_base (bases, kind, i);
  g_autoptr(GBytes) bytes = damage_base (bases, kind, i, rand);
  g_autoptr(VnModel) model = NULL;

  if (verbose)
    g_print ("%u: %s\n", i, base->name);
  if (keep != NULL && only >= 0)
    g_file_set_contents (keep, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), NULL);
  if (try_read (bytes, kind == DAMAGE_MODEL ? NULL : base->name, &model))
    {
      try_run (model, rand);
      if (kind == DAMAGE_MODEL)
        {
          try_prepare (model);
          try_quantize (model, rand);
        }
    }
  g_rand_free (rand);
}

/* ---- the child ---- */

static double
processor_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

static gpointer
watch (gpointer data)
{
  for (;;)
    {
      double used = processor_seconds () - started;

      if (used > CANCEL_AFTER)
        g_cancellable_cancel (cancellable);
      if (used > MAX_SECONDS)
        {
          g_printerr ("%u: still busy after %d seconds\n", tally->at, MAX_SECONDS);
          abort ();
        }
      g_usleep (20000);
    }
  return NULL;
}

static void
run_child (GPtrArray *bases,
           guint      first,
           guint      last)
{
  struct rlimit memory = { MEMORY_LIMIT, MEMORY_LIMIT }, core = { 0, 0 };

  if (!ADDRESS_SANITIZER)
    setrlimit (RLIMIT_AS, &memory);
  setrlimit (RLIMIT_CORE, &core);
  cancellable = g_cancellable_new ();
  started = processor_seconds ();
  g_thread_unref (g_thread_new ("watch", watch, NULL));
  for (guint i = first; i < last; i++)
    {
      tally->at = i;
      started = processor_seconds ();
      g_cancellable_reset (cancellable);
      try_one (bases, i);
    }
}

/* The number of the network that ended the child, or -1 if it came to its end. */
static int
run_until_failure (GPtrArray *bases,
                   guint      first,
                   guint      last)
{
  pid_t child;
  int status;

  fflush (NULL);
  tally->at = first;
  child = fork ();
  if (child == 0)
    {
      run_child (bases, first, last);
      fflush (NULL);
      exit (0);
    }
  if (child < 0 || waitpid (child, &status, 0) != child)
    return (int) first;
  return WIFEXITED (status) && WEXITSTATUS (status) == 0 ? -1 : (int) tally->at;
}

static guint
run_all (GPtrArray *bases)
{
  guint n_failed = 0;

  for (guint first = (guint) from; first < (guint) count && n_failed < MAX_FAILURES; )
    {
      int failed = run_until_failure (bases, first, (guint) count);

      if (failed < 0)
        break;
      g_print ("not ok %d: %s (--seed %" G_GINT64_FORMAT " --only %d)\n", failed,
               damage_get_base (bases, kind, (guint) failed)->name, seed, failed);
      n_failed++;
      first = (guint) failed + 1;
    }
  return n_failed;
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GOptionContext) context = g_option_context_new ("PATH...");
  g_autoptr(GPtrArray) bases = NULL;
  g_autoptr(GError) error = NULL;
  guint n_failed;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      g_printerr ("%s\n", error->message);
      return 2;
    }
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK);
  if (!damage_find (how, &kind))
    {
      g_printerr ("--damage=%s: there is no such damage\n", how);
      return 2;
    }
  bases = damage_load_bases (paths);
  if (bases->len == 0)
    {
      g_printerr ("no network to damage\n");
      return 2;
    }
  count = (int) damage_count (bases, kind, count);
  tally = mmap (NULL, sizeof (Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (only >= 0)
    {
      run_child (bases, (guint) only, (guint) only + 1);
      return 0;
    }
  n_failed = run_all (bases);
  g_print ("%u networks, %d damaged (%s) with seed %" G_GINT64_FORMAT ": %u opened, %u planned, %u runs, %u quantized, "
           "%u stopped for time, %u failed\n", bases->len, count, damage_get_name (kind), seed, tally->n_opened, tally->n_planned,
           tally->n_run,
           tally->n_quantized, tally->n_cancelled, n_failed);
  /* A shorter network is none, most often. */
  return n_failed == 0 && (kind == DAMAGE_CUT || (kind == DAMAGE_MODEL ? tally->n_quantized : tally->n_opened) > 0) ? 0 : 1;
}
