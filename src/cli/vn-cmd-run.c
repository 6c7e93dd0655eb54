/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs on a terminal, and printing. */
#include "vn-cmd-help.h"

#include "vn-data-suspicion.h"
#include "vn-error.h"
#include "vn-file.h"
#include "vn-file-hold.h"
#include "vn-file-lock.h"
#include "vn-i18n.h"
#include "vn-ranks.h"
#include "vn-sample-ranks.h"
#include "vn-shown.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

typedef struct
{
  GMainLoop    *loop;
  VnJob        *job;
  GCancellable *cancellable;
  gboolean      finished, done;
  GError       *error;
  char         *told_stage; /* of which processes together have told something, */
  guint64       told;       /* and how many tenths of it */
  GSource      *exchange;   /* nullable: what looks at the others */
  guint         leaving;    /* source: the end of the time that a cancelled job has */
} Run;

#define BAR_WIDTH 24
#define EXCHANGE_USEC 20000  /* between two looks at the others; while this process waits for them */
#define WAITING_USEC 500
#define LEAVING_MSEC 250     /* that a cancelled job has to hear of it, where it can be left */
#define LOCK_SECONDS 120     /* that others may take who write into the same project */

static void
cmd_run_draw_bar (VnJob *job)
{
  g_autofree char *stage = vn_job_dup_stage (job);
  g_autofree char *name = vn_job_dup_detail (job), *detail = vn_shown_dup (name);
  double progress = vn_job_get_progress (job), left = vn_job_get_seconds_left (job);
  int filled = (int) (progress * BAR_WIDTH);

  fprintf (stderr, "\r\033[K%s [", stage);
  for (int i = 0; i < BAR_WIDTH; i++)
    fputc (i < filled ? '#' : '.', stderr);
  fprintf (stderr, "] %3.0f %%", progress * 100);
  if (detail != NULL)
    fprintf (stderr, "  %s", detail);
  if (left >= 0)
    /* Translators: seconds until the job ends */
    fprintf (stderr, _("  %.0f s left"), ceil (left));
  fflush (stderr);
}

/* A line for programs. */
static void
cmd_run_print_progress (VnJob *job)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonNode) root = NULL;
  g_autofree char *stage = vn_job_dup_stage (job), *detail = vn_job_dup_detail (job), *line = NULL;
  double left = vn_job_get_seconds_left (job);

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "progress");
  json_builder_add_double_value (json, vn_job_get_progress (job));
  json_builder_set_member_name (json, "stage");
  json_builder_add_string_value (json, stage);
  if (detail != NULL)
    {
      g_autofree char *valid = g_utf8_make_valid (detail, -1);

      json_builder_set_member_name (json, "detail");
      json_builder_add_string_value (json, valid);
    }
  if (left >= 0)
    {
      json_builder_set_member_name (json, "seconds_left");
      json_builder_add_double_value (json, left);
    }
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  line = json_to_string (root, FALSE);
  fprintf (stderr, "%s\n", line);
}

static gboolean
cmd_run_tick_cb (gpointer data)
{
  if (vn_cmd_options.progress)
    cmd_run_print_progress (data);
  else
    cmd_run_draw_bar (data);
  return G_SOURCE_CONTINUE;
}

/* By Ctrl-C: all jobs of the command, and the files that are held. */
static GCancellable *
cmd_run_get_cancellable (void)
{
  static GCancellable *cancellable;

  if (cancellable == NULL)
    cancellable = g_cancellable_new ();
  return cancellable;
}

/* ---- Ctrl-C ---- */

/* Whoever ends a process and its group, as "timeout" does, sends two signals at once: they are one wish. */
#define ONE_WISH_MSEC 300

static volatile sig_atomic_t n_interrupts;
static struct timespec first_interrupt;
static int interrupt_pipe[2] = { -1, -1 };

/* The first cancels; the second ends the process, whatever it waits for. */
static void
cmd_run_interrupted (int signal_number)
{
  const int code = errno;
  struct timespec now = { 0 };

  clock_gettime (CLOCK_MONOTONIC, &now);   /* may be called in a handler */
  if (n_interrupts == 0)
    first_interrupt = now;
  if (n_interrupts++ > 0)
    {
      if ((now.tv_sec - first_interrupt.tv_sec) * 1000 + (now.tv_nsec - first_interrupt.tv_nsec) / 1000000 < ONE_WISH_MSEC)
        return;
      signal (signal_number, SIG_DFL);
      raise (signal_number);
    }
  else if (write (interrupt_pipe[1], "", 1) < 0)
    signal (signal_number, SIG_DFL);
  errno = code;
}

/* Not on the main thread, which may be the one that waits. */
static gpointer
cmd_run_cancel_on_interrupt (gpointer data)
{
  char byte;

  while (read (interrupt_pipe[0], &byte, 1) < 0 && errno == EINTR)
    ;
  g_cancellable_cancel (data);
  return NULL;
}

static void
cmd_run_set_handler (void (*handler) (int))
{
  struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
}

static void
cmd_run_watch_interrupts (void)
{
  GThread *thread;

  if (interrupt_pipe[0] < 0)
    {
      if (!g_unix_open_pipe (interrupt_pipe, FD_CLOEXEC, NULL))
        return;
      thread = g_thread_try_new ("interrupts", cmd_run_cancel_on_interrupt, cmd_run_get_cancellable (), NULL);
      if (thread == NULL)
        {
          close (interrupt_pipe[0]);
          close (interrupt_pipe[1]);
          interrupt_pipe[0] = -1;
          return;
        }
      g_thread_unref (thread);
    }
  cmd_run_set_handler (cmd_run_interrupted);
}

static gboolean is_caught;     /* until the end of the command */
static gboolean has_left;      /* a job that still runs */

static void
cmd_run_end (Run      *run,
             gboolean  done)
{
  run->done = done;
  run->finished = TRUE;
  if (run->exchange == NULL)
    g_main_loop_quit (run->loop);
}

static void
cmd_run_finished_cb (GObject      *source,
                     GAsyncResult *result,
                     gpointer      data)
{
  Run *run = data;

  if (!has_left)     /* nobody waits for it any more */
    cmd_run_end (run, vn_job_finish (VN_JOB (source), result, &run->error));
}

/* ---- leaving what does not hear ---- */

static gboolean
cmd_run_leave_cb (gpointer data)
{
  Run *run = data;

  run->leaving = 0;
  if (run->finished)
    return G_SOURCE_REMOVE;
  has_left = TRUE;
  g_cancellable_set_error_if_cancelled (run->cancellable, &run->error);
  cmd_run_end (run, FALSE);
  return G_SOURCE_REMOVE;
}

static gboolean
cmd_run_cancelled_cb (GCancellable *cancellable,
                      gpointer      data)
{
  Run *run = data;

  if (!run->finished && run->leaving == 0 && vn_job_can_be_left (run->job))
    run->leaving = g_timeout_add (LEAVING_MSEC, cmd_run_leave_cb, run);
  return G_SOURCE_REMOVE;
}

/**
 * vn_cmd_has_left:
 *
 * Returns: whether a job was left that does not hear that it is cancelled: it uses what the end of the process would free
 */
gboolean
vn_cmd_has_left (void)
{
  return has_left;
}

/* Of several processes one shows what all have done; where no terminal is, as behind mpirun, a line now and then. */
static void
cmd_run_show_sum (Run                *run,
                  const VnRanksState *sum)
{
  g_autofree char *stage = vn_job_dup_stage (run->job);
  guint64 tenths = sum->total > 0 ? 10 * sum->done / sum->total : 0;

  if (g_strcmp0 (stage, run->told_stage) != 0)
    {
      g_free (run->told_stage);
      run->told_stage = g_strdup (stage);
      run->told = 0;
    }
  if (vn_ranks_get_rank () > 0 || vn_cmd_options.json || tenths <= run->told)
    return;
  run->told = tenths;
  /* Translators: a part of the work; 62 of 100 samples */
  fprintf (stderr, ngettext ("%s: %llu of %llu sample in %u processes",
                             "%s: %llu of %llu samples in %u processes", sum->total), stage, (unsigned long long) sum->done,
           (unsigned long long) sum->total, vn_ranks_get_n ());
  fputc ('\n', stderr);
}

/* Returns: FALSE: all have finished */
static gboolean
cmd_run_exchange (Run *run)
{
  VnRanksState mine = { 0 }, sum;

  vn_job_get_counts (run->job, &mine.done, &mine.total);
  mine.n_finished = run->finished;
  mine.n_waiting = vn_cmd_is_gathering ();
  mine.n_failed = run->finished ? !run->done : mine.n_waiting > 0 && g_cancellable_is_cancelled (run->cancellable);
  if (!vn_ranks_exchange (&mine, &sum))
    return TRUE;
  cmd_run_show_sum (run, &sum);
  if (sum.n_failed > 0)
    {
      g_cancellable_cancel (run->cancellable);
      vn_cmd_end_gathering (FALSE);
    }
  else if (sum.n_waiting > 0 && sum.n_waiting + sum.n_finished == vn_ranks_get_n ())
    vn_cmd_end_gathering (sum.n_finished == 0);     /* else they do not agree which loops there are */
  return sum.n_finished < vn_ranks_get_n ();
}

/* All processes leave in the round in which the last one has finished; if one fails the others need not go on. Loops are short
 * where a part of a network runs on a few samples: who waits looks more often. */
static gboolean
cmd_run_exchange_cb (gpointer data)
{
  Run *run = data;

  if (!cmd_run_exchange (run))
    {
      g_main_loop_quit (run->loop);
      return G_SOURCE_REMOVE;
    }
  g_source_set_ready_time (run->exchange, g_get_monotonic_time () +
                           (vn_cmd_is_gathering () || run->finished ? WAITING_USEC : EXCHANGE_USEC));
  return G_SOURCE_CONTINUE;
}

static gboolean
cmd_run_dispatch (GSource     *source,
                  GSourceFunc  callback,
                  gpointer     data)
{
  return callback (data);
}

static void
cmd_run_start_exchange (Run *run)
{
  static GSourceFuncs funcs = { .dispatch = cmd_run_dispatch };

  run->exchange = g_source_new (&funcs, sizeof (GSource));
  g_source_set_callback (run->exchange, cmd_run_exchange_cb, run, NULL);
  g_source_set_ready_time (run->exchange, 0);
  g_source_attach (run->exchange, NULL);
  vn_cmd_wake_for_gathering (run->exchange);
}

static void
cmd_run_end_exchange (Run *run)
{
  vn_cmd_wake_for_gathering (NULL);
  g_source_destroy (run->exchange);
  g_clear_pointer (&run->exchange, g_source_unref);
}

/* Until @run has ended. @begin: (nullable): begins it; NULL: it has begun
 * Returns: FALSE if it failed, or Ctrl-C cancelled it */
static gboolean
cmd_run_wait (Run     *run,
              void   (*begin) (Run *run),
              GError **error)
{
  g_autoptr(GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  gboolean shared = vn_ranks_get_n () > 1;
  gboolean bar = isatty (STDERR_FILENO) && !vn_cmd_options.json && !vn_cmd_options.progress && !shared;
  g_autoptr(GSource) cancelled = NULL;
  guint tick;

  cmd_run_watch_interrupts ();
  run->loop = loop;
  if (!shared)
    {
      cancelled = g_cancellable_source_new (run->cancellable);
      g_source_set_callback (cancelled, G_SOURCE_FUNC (cmd_run_cancelled_cb), run, NULL);
      g_source_attach (cancelled, NULL);
    }
  tick = bar || (vn_cmd_options.progress && !shared) ? g_timeout_add (100, cmd_run_tick_cb, run->job) : 0;
  if (shared)
    cmd_run_start_exchange (run);
  if (begin != NULL)
    begin (run);
  g_main_loop_run (loop);
  if (shared)
    cmd_run_end_exchange (run);
  g_clear_pointer (&run->told_stage, g_free);
  g_clear_handle_id (&tick, g_source_remove);
  g_clear_handle_id (&run->leaving, g_source_remove);
  if (cancelled != NULL)
    g_source_destroy (cancelled);
  if (!is_caught)
    cmd_run_set_handler (SIG_DFL);
  if (bar)
    fprintf (stderr, "\r\033[K");
  return vn_cmd_agree (run->error, error);
}

static void
cmd_run_start_job (Run *run)
{
  vn_job_start (run->job, run->cancellable, cmd_run_finished_cb, run);
}

/**
 * vn_cmd_run_job:
 *
 * Processes that share the command all run theirs; if one fails the others are cancelled, and all get its error.
 *
 * Returns: %FALSE if the job failed or Ctrl-C cancelled it
 */
gboolean
vn_cmd_run_job (VnJob   *job,
                GError **error)
{
  Run run;

  g_return_val_if_fail (VN_IS_JOB (job), FALSE);

  run = (Run) { .job = job, .cancellable = cmd_run_get_cancellable () };
  return cmd_run_wait (&run, cmd_run_start_job, error);
}

/* ---- the work of a bench ---- */

static void
cmd_run_work_noticed (VnBench        *bench,
                      const VnNotice *notice,
                      Run            *run)
{
  if (run->finished)
    return;
  if (notice->error != NULL)
    run->error = g_error_copy (notice->error);
  if (notice->error != NULL || notice->kind == VN_NOTICE_DONE)
    cmd_run_end (run, notice->error == NULL);
}

static gboolean
cmd_run_cancel_work (GCancellable *cancellable,
                     gpointer      bench)
{
  vn_bench_cancel (bench);
  return G_SOURCE_REMOVE;
}

/**
 * vn_cmd_run_work:
 * @bench: has begun something that one waits for
 *
 * As vn_cmd_run_job().
 */
gboolean
vn_cmd_run_work (VnBench  *bench,
                 GError  **error)
{
  g_autoptr(VnJob) job = NULL;
  g_autoptr(GSource) cancel = NULL;
  gboolean done;
  gulong handler;
  Run run;

  g_return_val_if_fail (VN_IS_BENCH (bench) && vn_bench_get_job (bench) != NULL, FALSE);

  job = g_object_ref (vn_bench_get_job (bench));
  run = (Run) { .job = job, .cancellable = cmd_run_get_cancellable () };
  handler = g_signal_connect (bench, "notice", G_CALLBACK (cmd_run_work_noticed), &run);
  cancel = g_cancellable_source_new (run.cancellable);
  g_source_set_callback (cancel, G_SOURCE_FUNC (cmd_run_cancel_work), bench, NULL);
  g_source_attach (cancel, NULL);
  done = cmd_run_wait (&run, NULL, error);
  g_source_destroy (cancel);
  g_signal_handler_disconnect (bench, handler);
  return done;
}

/* All that this process has opened. */
static GPtrArray *opened;

/**
 * vn_cmd_check_models:
 *
 * To be called before something is written that no job has made.
 *
 * Returns: %FALSE if somebody wrote into a file that was mapped: a network, or a sample
 */
gboolean
vn_cmd_check_models (GError **error)
{
  if (!vn_file_check_lost (0, error))
    return FALSE;
  for (guint i = 0; opened != NULL && i < opened->len; i++)
    if (!vn_model_check_files (g_ptr_array_index (opened, i), error))
      return FALSE;
  return TRUE;
}

/**
 * vn_cmd_catch_interrupts:
 *
 * To be called before a job whose last step writes what the command is for: from here on Ctrl-C cancels jobs, but ends nothing at
 * once, so that it cannot come between the result and the end of the process. Only the second ends that, too.
 */
void
vn_cmd_catch_interrupts (void)
{
  if (is_caught)
    return;
  cmd_run_watch_interrupts ();
  g_cancellable_push_current (cmd_run_get_cancellable ());     /* of what is written here, not by a job */
  is_caught = TRUE;
}

/**
 * vn_cmd_go_on_alone:
 *
 * To be called by all processes that share a command when what they share is done.
 *
 * Returns: whether this is the one that goes on: prints, and writes files; the others wait for it at their end
 */
gboolean
vn_cmd_go_on_alone (void)
{
  if (vn_ranks_get_n () == 1)
    return TRUE;
  vn_ranks_part ();
  vn_sample_ranks_set (0, 1, NULL);
  if (vn_ranks_get_rank () == 0)
    return TRUE;
  vn_cmd_catch_interrupts ();     /* the first one ends in good order: without the others the launcher would end it, too */
  return FALSE;
}

/**
 * vn_cmd_hold_files:
 *
 * To be called when the work is done and its results are to be written: they wait until vn_cmd_end_files(). As
 * vn_cmd_catch_interrupts() as well; who writes a model last turns the waiting off before: vn_file_hold().
 */
void
vn_cmd_hold_files (void)
{
  vn_cmd_catch_interrupts ();
  vn_file_hold (TRUE);
}

static VnFileLock *lock;

/**
 * vn_cmd_lock_projects:
 * @project, @other: (nullable): paths of projects
 *
 * To be called before projects are read to be changed, once: until vn_cmd_end_files() has put them in place nobody else changes
 * them.
 *
 * Returns: %FALSE if somebody else does, for longer than can be waited, or Ctrl-C ends that
 */
gboolean
vn_cmd_lock_projects (const char  *project,
                      const char  *other,
                      GError     **error)
{
  const char *paths[] = { project != NULL ? project : other, project != NULL ? other : NULL, NULL };

  g_return_val_if_fail (lock == NULL, FALSE);

  lock = vn_file_lock_new (paths, LOCK_SECONDS, error);
  return lock != NULL;
}

/**
 * vn_cmd_end_files:
 * @done: the command could do all it was asked for
 *
 * Gives what vn_cmd_hold_files() held its names, or drops it.
 *
 * Returns: %FALSE with @error set if @done, but Ctrl-C came first or a file cannot have its name; else @done
 */
gboolean
vn_cmd_end_files (gboolean   done,
                  GError   **error)
{
  gboolean good = done, placed;

  if (done && vn_file_hold_is_active ())
    {
      if (n_interrupts > 0)     /* the thread may not have come that far */
        g_cancellable_cancel (cmd_run_get_cancellable ());
      good = !g_cancellable_set_error_if_cancelled (cmd_run_get_cancellable (), error);
    }
  placed = vn_file_hold_end (good, good ? error : NULL);
  g_clear_pointer (&lock, vn_file_lock_free);
  return placed && good;
}

/**
 * vn_cmd_open_model:
 * @path: of a model, or of a folder of onnxruntime-genai with one
 *
 * Returns: (transfer full) (nullable): the model in the file, checked and with inferred types
 */
VnModel *
vn_cmd_open_model (const char  *path,
                   GError     **error)
{
  g_auto(VnCmdFolder) folder = { 0 };
  g_autoptr(VnJob) job = NULL;
  VnBackend *backend;
  VnModel *model;

  g_return_val_if_fail (path != NULL, NULL);

  if (!vn_cmd_folder_open (&folder, &path, NULL, error) || !vn_cmd_take_backend (&backend, error))
    return NULL;
  job = vn_open_job_new (path);
  vn_open_job_set_backend (job, backend);
  if (!vn_cmd_run_job (job, error))
    return NULL;
  model = vn_open_job_get_model (job);
  if (opened == NULL)
    opened = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_model_unref);
  g_ptr_array_add (opened, vn_model_ref (model));
  return vn_model_ref (model);
}

/**
 * vn_cmd_open_model_sized:
 * @shapes: (out) (transfer full) (nullable): what --shape and --dim say
 *
 * Returns: (transfer full) (nullable): the model in the file
 */
VnModel *
vn_cmd_open_model_sized (const char  *path,
                         GHashTable **shapes,
                         GError     **error)
{
  g_autoptr(VnModel) model = NULL;
  GError *reason = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  model = vn_cmd_open_model (path, error);
  if (model == NULL)
    return NULL;
  *shapes = vn_cmd_parse_shapes (model, &reason);
  if (reason == NULL)
    return g_steal_pointer (&model);
  g_propagate_error (error, reason);
  return NULL;
}
