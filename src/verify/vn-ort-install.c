/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a Python environment in the folder of caches and lets its pip install a runtime. It is made beside its place and takes
 * that when all is there, so that an interrupted or failed attempt leaves nothing. */
#include "vn-ort-install.h"

#include "verify-folder.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LONGEST_REASON 400   /* bytes of what pip said */
#define USUAL_LINES 16       /* that pip prints */
#define LONGEST_TRY 86400    /* seconds: what was begun earlier was left by a program that was killed */

typedef struct
{
  VnJob *job;           /* whose state it is */
  const VnTargetRuntime *runtime;
  char  *python;        /* that makes the environment */
  char  *place, *part;  /* where it will be, and where it is made */
  char  *own;           /* the interpreter in @part */
} VnOrtInstall;

static const VnJobKind ort_install_kind;

/* ---- processes ---- */

/* What it starts ends with it, and it with this program. */
static void
ort_install_enter_own_group (gpointer data)
{
  setpgid (0, 0);
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

/* pip says what is wrong in a line that begins so; other programs in their last one. */
static void
ort_install_keep_reason (char       **reason,
                         const char  *line)
{
  if (*line != '\0' && (*reason == NULL || g_str_has_prefix (line, "ERROR") || !g_str_has_prefix (*reason, "ERROR")))
    {
      g_free (*reason);
      *reason = g_utf8_make_valid (line, (gssize) strnlen (line, LONGEST_REASON));
    }
}

/* Reads what the process says until it ends; its lines are the progress. */
static void
ort_install_read (VnOrtInstall  *self,
                  GSubprocess   *process,
                  char         **reason,
                  GCancellable  *cancellable)
{
  const VnProgress progress = vn_job_get_reporter (self->job);
  g_autoptr(GDataInputStream) lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (process));
  guint64 n = 0;

  for (;;)
    {
      g_autofree char *line = g_data_input_stream_read_line (lines, NULL, cancellable, NULL);

      if (line == NULL)
        return;
      ort_install_keep_reason (reason, g_strstrip (line));
      n = MIN (n + 1, USUAL_LINES);
      vn_progress_report (&progress, NULL, n, USUAL_LINES);
    }
}

static gboolean
ort_install_run (VnOrtInstall         *self,
                 const char * const   *argv,
                 GCancellable         *cancellable,
                 GError              **error)
{
  g_autoptr(GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE);
  g_autoptr(GSubprocess) process = NULL;
  g_autofree char *reason = NULL, *group = NULL;

  g_subprocess_launcher_set_child_setup (launcher, ort_install_enter_own_group, NULL, NULL);
  process = g_subprocess_launcher_spawnv (launcher, argv, error);
  if (process == NULL)
    {
      g_prefix_error (error, _("“%s” does not start: "), argv[0]);
      return FALSE;
    }
  group = g_strdup (g_subprocess_get_identifier (process));
  ort_install_read (self, process, &reason, cancellable);
  if (g_cancellable_is_cancelled (cancellable) && group != NULL)
    kill (-(pid_t) g_ascii_strtoll (group, NULL, 10), SIGKILL);
  g_subprocess_wait (process, NULL, NULL);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (g_subprocess_get_successful (process))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s; nothing was installed"), reason != NULL
               ? reason : _("It ended without a word"));
  return FALSE;
}

/* ---- the job ---- */

/* Folders in which an environment was begun that nobody makes any more. */
static void
ort_install_remove_remains (const VnOrtInstall *self,
                            const char         *above)
{
  g_autofree char *name = g_path_get_basename (self->place), *start = g_strconcat (name, ".", NULL);
  g_autoptr(GDir) dir = g_dir_open (above, 0, NULL);
  const char *one;

  while (dir != NULL && (one = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (above, one, NULL);
      GStatBuf info;

      if (g_str_has_prefix (one, start) && g_lstat (path, &info) == 0 &&
          info.st_mtime < g_get_real_time () / G_USEC_PER_SEC - LONGEST_TRY)
        vn_verify_folder_remove (path);
    }
}

static gboolean
vn_ort_install_make (VnJob         *job,
                     GCancellable  *cancellable,
                     GError       **error)
{
  VnOrtInstall *self = vn_job_get_state (job, &ort_install_kind);
  g_autofree char *above = g_path_get_dirname (self->place);
  const char *argv[] = { self->python, "-m", "venv", NULL, NULL };

  if (g_mkdir_with_parents (above, 0700) != 0)
    {
      g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno), _("The folder “%s” cannot be made: %s"), above,
                   g_strerror (errno));
      return FALSE;
    }
  ort_install_remove_remains (self, above);
  self->part = g_strconcat (self->place, ".XXXXXX", NULL);
  if (g_mkdtemp (self->part) == NULL)
    {
      g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno), _("The folder “%s” cannot be made: %s"), self->part,
                   g_strerror (errno));
      g_clear_pointer (&self->part, g_free);
      return FALSE;
    }
  self->own = g_build_filename (self->part, "bin", "python", NULL);
  argv[3] = self->part;
  if (ort_install_run (self, argv, cancellable, error))
    return TRUE;
  g_prefix_error (error, _("“%s” cannot create an environment (on Debian, install python3-venv): "), self->python);
  return FALSE;
}

static gboolean
vn_ort_install_fetch (VnJob         *job,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnOrtInstall *self = vn_job_get_state (job, &ort_install_kind);
  const char *pip[] = { self->own, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off" };
  g_auto(GStrv) requirements = g_strsplit (self->runtime->requirements, " ", -1);
  g_autoptr(GPtrArray) argv = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (pip); i++)
    g_ptr_array_add (argv, (gpointer) pip[i]);
  for (char **one = requirements; *one != NULL; one++)
    g_ptr_array_add (argv, *one);
  g_ptr_array_add (argv, NULL);
  if (ort_install_run (self, (const char * const *) argv->pdata, cancellable, error))
    return TRUE;
  g_prefix_error (error, _("pip does not install %s: "), self->runtime->package);
  return FALSE;
}

static gboolean
vn_ort_install_try (VnJob         *job,
                    GCancellable  *cancellable,
                    GError       **error)
{
  VnOrtInstall *self = vn_job_get_state (job, &ort_install_kind);
  g_autofree char *import = g_strconcat ("import numpy, ", self->runtime->module, NULL);
  const char *argv[] = { self->own, "-c", import, NULL };

  if (!ort_install_run (self, argv, cancellable, error))
    {
      g_prefix_error (error, _("%s is installed, but cannot be used: "), self->runtime->package);
      return FALSE;
    }
  vn_verify_folder_remove (self->place);
  if (g_rename (self->part, self->place) == 0)
    {
      g_clear_pointer (&self->part, g_free);
      return TRUE;
    }
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno), _("The folder “%s” cannot be made: %s"), self->place,
               g_strerror (errno));
  return FALSE;
}

static const VnStage stages[] = {
  { "make",  N_("Making a Python environment"), 20, NULL, vn_ort_install_make },
  { "fetch", N_("Installing the runtime"),      70, NULL, vn_ort_install_fetch },
  { "try",   N_("Trying the runtime"),          10, NULL, vn_ort_install_try },
  { NULL },
};

static gboolean
vn_ort_install_run (VnJob         *job,
                    GCancellable  *cancellable,
                    GError       **error)
{
  VnOrtInstall *self = vn_job_get_state (job, &ort_install_kind);
  gboolean good = vn_job_run_stages (job, cancellable, error);

  if (self->part != NULL)
    vn_verify_folder_remove (self->part);
  g_clear_pointer (&self->part, g_free);
  return good;
}

static void
ort_install_clear (gpointer data)
{
  VnOrtInstall *self = data;

  g_free (self->python);
  g_free (self->place);
  g_free (self->own);
}

static const VnJobKind ort_install_kind = {
  .id = VN_JOB_ORT_INSTALL,
  .state_size = sizeof (VnOrtInstall),
  .stages = stages,
  .clear = ort_install_clear,
  .run = vn_ort_install_run,
};

/**
 * vn_ort_install_new:
 * @runtime: what is installed
 * @python: (nullable): interpreter that the environment is made with; %NULL: python3
 *
 * Returns: (transfer full): a job that makes an environment of the program's own with @runtime, from where the user's pip takes
 * packages
 */
VnJob *
vn_ort_install_new (const VnTargetRuntime *runtime,
                    const char            *python)
{
  VnJob *job;
  VnOrtInstall *self;

  g_return_val_if_fail (runtime != NULL, NULL);

  job = vn_job_new (&ort_install_kind);
  self = vn_job_get_state (job, &ort_install_kind);
  self->job = job;
  self->runtime = runtime;
  self->place = vn_verify_dup_environment (runtime);
  self->python = g_strdup (python != NULL ? python : "python3");
  return job;
}
