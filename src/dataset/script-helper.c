/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A helper process and what is said to it over a pair of sockets (see script-driver.c). Nothing here waits longer than
 * the timeout, or than until somebody cancels; a helper that broke the rules is ended, not talked to again. */

#include "vn-script-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-tensor-message.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRIVER_FD 3
#define MAX_VALUES (G_GUINT64_CONSTANT (1) << 28)      /* bytes of what a metric returns for a sample */
#define MAX_MESSAGE 4096           /* bytes of an error text */
#define EXIT_PATIENCE 100          /* times 10 ms for a process that has closed its end */

struct _VnHelper
{
  char  *python, *file;
  char  *subject;          /* what messages speak of */
  const char *task;        /* what the driver is told that the function does */
  GPid   pid;
  int    fd;
  guint  timeout;          /* seconds */
  gint64 deadline;         /* of the present request */
  gboolean ready;          /* Python runs and has read the file */
  gboolean has_finish;     /* there is a function for the results of all samples */
};

/* What messages speak of: @file and @function. */
static char *
script_helper_name_subject (VnScriptRole  role,
                            const char   *file,
                            const char   *function)
{
  if (role == VN_SCRIPT_METRIC)
    return g_strdup_printf (_("The metric “%s:%s”"), file, function);
  return g_strdup_printf (_("The preprocessing “%s”"), file);
}

/* ---- life and death ---- */

/* So that what the user's code starts ends with it, and Ctrl-C is left to us. */
static void
script_helper_enter_own_group (gpointer data)
{
  setpgid (0, 0);
}

/* Where the helper prints: our own standard error. A descriptor for each of its two streams: GLib closes the one it is
 * given in the child, and would close standard error itself if that served as both. */
static int
script_helper_dup_output (void)
{
  int fd = fcntl (STDERR_FILENO, F_DUPFD_CLOEXEC, DRIVER_FD + 1);

  return fd >= 0 ? fd : open ("/dev/null", O_WRONLY | O_CLOEXEC);
}

static gboolean
script_helper_spawn (VnHelper    *self,
                     const char  *function,
                     int          fd,
                     GError     **error)
{
  const char *argv[] = { self->python, "-u", "-B", "-c", vn_script_driver, self->file, function, self->task, NULL };
  const int target = DRIVER_FD;
  int out = script_helper_dup_output (), err = script_helper_dup_output ();
  gboolean done = g_spawn_async_with_pipes_and_fds (NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                                                    script_helper_enter_own_group, NULL, -1, out, err,
                                                    &fd, &target, 1, &self->pid, NULL, NULL, NULL, error);

  if (out >= 0)
    close (out);
  if (err >= 0)
    close (err);
  if (!done)
    g_prefix_error (error, _("%s needs Python, but “%s” does not start: "), self->subject, self->python);
  return done;
}

/* With all that it has started; until it is waited for, its number is nobody else's. Returns its status. */
static int
script_helper_end_group (VnHelper *self)
{
  int status = 0;

  if (self->pid <= 0)
    return 0;
  kill (-self->pid, SIGKILL);
  while (waitpid (self->pid, &status, 0) < 0 && errno == EINTR)
    ;
  self->pid = 0;
  return status;
}

void
vn_helper_free (VnHelper *self)
{
  if (self == NULL)
    return;
  if (self->fd >= 0)
    close (self->fd);
  script_helper_end_group (self);
  g_free (self->python);
  g_free (self->file);
  g_free (self->subject);
  g_free (self);
}

/* The helper has closed its end: says how it ended. */
static gboolean
script_helper_set_death (VnHelper  *self,
                         GError   **error)
{
  siginfo_t ending = { 0 };
  gboolean ended = FALSE;
  int status = 0;

  for (guint i = 0; i < EXIT_PATIENCE && !ended; i++)
    {
      if (i > 0)
        g_usleep (10000);
      ended = waitid (P_PID, (id_t) self->pid, &ending, WEXITED | WNOHANG | WNOWAIT) == 0 && ending.si_pid == self->pid;
    }
  if (ended)
    status = script_helper_end_group (self);

  if (ended && WIFSIGNALED (status))
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                 _("%s was terminated by signal %d (%s)"), self->subject, WTERMSIG (status), g_strsignal (WTERMSIG (status)));
  else if (ended && self->ready)
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                 _("%s exited with status %d without a result"), self->subject, WEXITSTATUS (status));
  else if (ended)
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                 _("%s exited with status %d before it started; “%s” must be Python 3"),
                 self->subject, WEXITSTATUS (status), self->python);
  else
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                 _("%s closed its connection without a result"), self->subject);
  return FALSE;
}

/* ---- bytes ---- */

/* Waits until the socket is ready for @events. */
static gboolean
script_helper_wait_ready (VnHelper      *self,
                          gushort        events,
                          GCancellable  *cancellable,
                          GError       **error)
{
  GPollFD fds[2] = { { .fd = self->fd, .events = events } };
  gboolean watched = g_cancellable_make_pollfd (cancellable, &fds[1]);
  gint64 left = self->deadline - g_get_monotonic_time ();
  int n = left > 0 ? g_poll (fds, watched ? 2 : 1, (int) MIN (left / 1000 + 1, G_MAXINT)) : 0;

  if (watched)
    g_cancellable_release_fd (cancellable);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (n == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
                   ngettext ("%s did not respond within %u second; increase the timeout",
                             "%s did not respond within %u seconds; increase the timeout", self->timeout),
                   self->subject, self->timeout);
      return FALSE;
    }
  return TRUE;
}

static gboolean
script_helper_transfer (VnHelper      *self,
                        gboolean       out,
                        void          *data,
                        gsize          n,
                        GCancellable  *cancellable,
                        GError       **error)
{
  char *at = data;

  while (n > 0)
    {
      gssize done;

      if (!script_helper_wait_ready (self, out ? G_IO_OUT : G_IO_IN, cancellable, error))
        return FALSE;
      done = out ? send (self->fd, at, n, MSG_NOSIGNAL | MSG_DONTWAIT) : recv (self->fd, at, n, MSG_DONTWAIT);
      if (done < 0 && (errno == EAGAIN || errno == EINTR))
        continue;
      if (done <= 0)
        return script_helper_set_death (self, error);
      at += done;
      n -= (gsize) done;
    }
  return TRUE;
}

/* ---- messages ---- */

static gboolean
script_helper_set_garbled (VnHelper  *self,
                           GError   **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               _("%s sent an invalid response; does it write to file descriptor %d?"),
               self->subject, DRIVER_FD);
  return FALSE;
}

static gboolean
script_helper_receive_reply (VnHelper      *self,
                             VnTensorMessage *reply,
                             GCancellable  *cancellable,
                             GError       **error)
{
  guint8 head[VN_TENSOR_MESSAGE_HEAD], dims[VN_MAX_RANK * sizeof (gint64)];

  if (!script_helper_transfer (self, FALSE, head, sizeof head, cancellable, error))
    return FALSE;
  if (!vn_tensor_message_read_head (reply, head) || strchr ("KTVEM", reply->kind) == NULL || reply->kind == '\0')
    return script_helper_set_garbled (self, error);
  if (reply->rank > VN_MAX_RANK)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
                   _("%s returned an array with %u axes, but at most %d are supported"),
                   self->subject, reply->rank, VN_MAX_RANK);
      return FALSE;
    }
  if (!script_helper_transfer (self, FALSE, dims, reply->rank * sizeof (gint64), cancellable, error))
    return FALSE;
  vn_tensor_message_read_dims (reply, dims);
  return TRUE;
}

/* The exception, as an error. The helper stays usable. */
static gboolean
script_helper_receive_error (VnHelper      *self,
                             const VnTensorMessage   *reply,
                             GCancellable  *cancellable,
                             GError       **error)
{
  g_autofree char *text = g_malloc0 (MAX_MESSAGE + 1);
  g_autofree char *valid = NULL;
  guint64 n = reply->n_bytes;

  for (guint64 part; n > 0; n -= part)
    {
      char rest[256];

      part = n == reply->n_bytes ? MIN (n, MAX_MESSAGE) : MIN (n, sizeof rest);
      if (!script_helper_transfer (self, FALSE, n == reply->n_bytes ? text : rest, (gsize) part, cancellable, error))
        return FALSE;
    }
  valid = g_utf8_make_valid (text, -1);
  if (reply->kind == 'M')
    {
      vn_memory_set_error (0, error);
      g_prefix_error (error, _("%s: %s: "), self->subject, valid);
    }
  else
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("%s: %s"), self->subject, valid);
  return TRUE;
}

static VnTensor *
script_helper_receive_tensor (VnHelper      *self,
                              const VnTensorMessage   *reply,
                              GCancellable  *cancellable,
                              GError       **error)
{
  g_autoptr(VnTensor) tensor = NULL;
  VnDType dtype;
  VnShape shape;

  if (!vn_tensor_message_get_tensor (reply, &dtype, &shape))
    {
      script_helper_set_garbled (self, error);
      return NULL;
    }
  tensor = vn_tensor_new (dtype, &shape, error);
  if (tensor == NULL)
    g_prefix_error (error, _("%s: "), self->subject);
  if (tensor == NULL || !script_helper_transfer (self, FALSE, tensor->data, tensor->n_bytes, cancellable, error))
    return NULL;
  return g_steal_pointer (&tensor);
}

/* The JSON, and the rest if there is one. */
static gboolean
script_helper_receive_values (VnHelper      *self,
                              const VnTensorMessage   *reply,
                              GCancellable  *cancellable,
                              char         **text,
                              GBytes       **rest,
                              GError       **error)
{
  const gint64 n_text = reply->rank == 1 ? reply->dims[0] : -1;
  const guint64 n_rest = reply->n_bytes - (guint64) MAX (n_text, 0);
  g_autofree char *json = NULL, *data = NULL;

  if (n_text < 0 || (guint64) n_text > reply->n_bytes)
    return script_helper_set_garbled (self, error);
  if (reply->n_bytes > MAX_VALUES)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("%s returned %llu bytes for a sample, but the limit is %llu"),
                   self->subject,
                   (unsigned long long) reply->n_bytes, (unsigned long long) MAX_VALUES);
      return FALSE;
    }
  json = g_try_malloc0 ((gsize) n_text + 1);
  data = g_try_malloc (MAX ((gsize) n_rest, 1));
  if (json == NULL || data == NULL)
    {
      vn_memory_set_error ((gsize) reply->n_bytes, error);
      return FALSE;
    }
  if (!script_helper_transfer (self, FALSE, json, (gsize) n_text, cancellable, error) ||
      !script_helper_transfer (self, FALSE, data, (gsize) n_rest, cancellable, error))
    return FALSE;
  *text = g_steal_pointer (&json);
  *rest = n_rest > 0 ? g_bytes_new_take (g_steal_pointer (&data), (gsize) n_rest) : NULL;
  return TRUE;
}

/* Sends @request and @parts, and receives the head of the reply; what is wrong with these ends the helper, an exception not. */
static gboolean
script_helper_exchange (VnHelper            *self,
                        const char          *request,
                        const VnHelperPart  *parts,
                        guint                n_parts,
                        char                 kind,
                        VnTensorMessage     *reply,
                        GCancellable        *cancellable,
                        gboolean            *alive,
                        GError             **error)
{
  const gsize n = strlen (request);
  guint32 size = GUINT32_TO_LE ((guint32) n);

  *alive = FALSE;
  self->deadline = g_get_monotonic_time () + (gint64) self->timeout * G_USEC_PER_SEC;
  if (!script_helper_transfer (self, TRUE, &size, sizeof size, cancellable, error) ||
      !script_helper_transfer (self, TRUE, (char *) request, n, cancellable, error))
    return FALSE;
  for (guint i = 0; i < n_parts; i++)
    if (!script_helper_transfer (self, TRUE, (void *) parts[i].data, parts[i].n_bytes, cancellable, error))
      return FALSE;
  if (!script_helper_receive_reply (self, reply, cancellable, error))
    return FALSE;
  if (reply->kind == 'E' || reply->kind == 'M')
    {
      *alive = script_helper_receive_error (self, reply, cancellable, error);
      return FALSE;
    }
  return reply->kind == kind || script_helper_set_garbled (self, error);
}

/**
 * vn_helper_ask:
 * @request: JSON, in ASCII
 * @alive: (out): whether the helper can be asked again
 *
 * Returns: (transfer full) (nullable): what the user's function returned. %VN_ERROR_MISSING_DATA with its exception or
 *   with how the helper ended, %VN_ERROR_MEMORY if it had none, %VN_ERROR_LIMIT after the timeout, %G_IO_ERROR_CANCELLED
 */
VnTensor *
vn_helper_ask (VnHelper      *self,
               const char    *request,
               GCancellable  *cancellable,
               gboolean      *alive,
               GError       **error)
{
  VnTensor *tensor;
  VnTensorMessage reply;

  if (!script_helper_exchange (self, request, NULL, 0, 'T', &reply, cancellable, alive, error))
    return NULL;
  tensor = script_helper_receive_tensor (self, &reply, cancellable, error);
  *alive = tensor != NULL;
  return tensor;
}

/**
 * vn_helper_measure:
 * @request: JSON, in ASCII
 * @parts: (array length=n_parts): bytes that it speaks of
 * @text: (out): the numbers that came back, as JSON
 * @rest: (out) (nullable): what else came back, to be sent again with the results of all samples
 * @alive: (out): whether the helper can be asked again
 *
 * Returns: %FALSE as of vn_helper_ask()
 */
gboolean
vn_helper_measure (VnHelper            *self,
                   const char          *request,
                   const VnHelperPart  *parts,
                   guint                n_parts,
                   GCancellable        *cancellable,
                   char               **text,
                   GBytes             **rest,
                   gboolean            *alive,
                   GError             **error)
{
  VnTensorMessage reply;

  if (!script_helper_exchange (self, request, parts, n_parts, 'V', &reply, cancellable, alive, error))
    return FALSE;
  *alive = script_helper_receive_values (self, &reply, cancellable, text, rest, error);
  return *alive;
}

/**
 * vn_helper_has_finish:
 *
 * Returns: whether the file has a function for the results of all samples
 */
gboolean
vn_helper_has_finish (const VnHelper *self)
{
  return self->has_finish;
}

/**
 * vn_helper_new:
 * @role: what its function is for
 * @python: interpreter, looked up like a command
 * @file: the user's file, an absolute path
 * @function: a function in it
 * @timeout: seconds that starting it, and each call, may take
 *
 * Starts Python and waits until it has read the file.
 *
 * Returns: (transfer full) (nullable): the helper; errors as of vn_helper_ask(), or a #GSpawnError
 */
VnHelper *
vn_helper_new (VnScriptRole   role,
               const char    *python,
               const char    *file,
               const char    *function,
               guint          timeout,
               GCancellable  *cancellable,
               GError       **error)
{
  g_autoptr(VnHelper) self = g_new0 (VnHelper, 1);
  int fds[2];
  gboolean ok;
  VnTensorMessage reply;

  self->python = g_strdup (python);
  self->file = g_strdup (file);
  self->subject = script_helper_name_subject (role, file, function);
  self->task = role == VN_SCRIPT_METRIC ? "metric" : "load";
  self->timeout = timeout;
  self->fd = -1;
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    {
      g_set_error (error, G_FILE_ERROR, (int) g_file_error_from_errno (errno),
                   _("Cannot connect to a helper process: %s"), g_strerror (errno));
      return NULL;
    }
  self->fd = fds[0];
  ok = script_helper_spawn (self, function, fds[1], error);
  close (fds[1]);
  if (!ok)
    return NULL;

  self->deadline = g_get_monotonic_time () + (gint64) timeout * G_USEC_PER_SEC;
  if (!script_helper_receive_reply (self, &reply, cancellable, error))
    return NULL;
  if (reply.kind == 'E')
    script_helper_receive_error (self, &reply, cancellable, error);
  else if (reply.kind != 'K' || reply.n_bytes != 0)
    script_helper_set_garbled (self, error);
  self->ready = reply.kind == 'K' && reply.n_bytes == 0;
  self->has_finish = reply.dtype != 0;
  return self->ready ? g_steal_pointer (&self) : NULL;
}
