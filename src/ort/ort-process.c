/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts the process, asks it, and ends it where it crashes, hangs, or nobody waits for it any more. Each channel is a socket and
 * memory that both see; a thread has one while it asks. */
#include "ort-process.h"

#include "ort-server.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <glib/gstdio.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ERRORS "stderr.txt"
#define LONGEST_REASON 400         /* bytes of what the process wrote to standard error */
#define MOST_SECONDS 600           /* that an answer may take; VN_ORT_TIMEOUT says otherwise */

typedef struct
{
  int         socket;
  VnOrtShared shared;
} Channel;

/**
 * VnOrtProcess:
 * @free: of Channel: those that nobody has
 * @errors: file of what it wrote to standard error
 * @ended: it was ended, or has ended by itself
 */
struct _VnOrtProcess
{
  gatomicrefcount  ref;
  GSubprocess     *process;
  GAsyncQueue     *free;
  Channel         *channels;
  guint            n_channels;
  char            *errors;
  gint             ended;
};

/* ---- starting ---- */

/* Its other end goes to the process. */
static gboolean
ort_process_make_channel (Channel              *self,
                          GSubprocessLauncher  *launcher,
                          guint                 i,
                          GError              **error)
{
  const int first = VN_ORT_FIRST_FD + 2 * (int) i;
  int ends[2], copy;

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MEMORY, "%s", _("cannot create a socket"));
      return FALSE;
    }
  self->socket = ends[0];
  vn_ort_message_look_often (self->socket);
  g_subprocess_launcher_take_fd (launcher, ends[1], first);
  self->shared.fd = memfd_create ("vernier", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  copy = self->shared.fd >= 0 ? fcntl (self->shared.fd, F_DUPFD_CLOEXEC, 0) : -1;
  if (copy < 0 || fcntl (copy, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    {
      if (copy >= 0)
        close (copy);
      g_set_error (error, VN_ERROR, VN_ERROR_MEMORY, "%s", _("cannot create shared memory"));
      return FALSE;
    }
  g_subprocess_launcher_take_fd (launcher, copy, first + 1);
  return TRUE;
}

/**
 * vn_ort_process_new:
 * @folder: for what libraries leave, and what they say; the process removes it if ours is gone before it has done so itself
 * @n_channels: how many may ask at a time
 *
 * Returns: (transfer full) (nullable): a process that was told nothing yet
 */
VnOrtProcess *
vn_ort_process_new (const char  *folder,
                    guint        n_channels,
                    GError     **error)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE);
  g_autofree char *count = g_strdup_printf ("%u", n_channels);
  const char *words[] = { "/proc/self/exe", VN_ORT_SERVER, count, folder, NULL };
  g_autoptr(VnOrtProcess) self = g_new0 (VnOrtProcess, 1);

  g_return_val_if_fail (folder != NULL && n_channels > 0, NULL);

  g_atomic_ref_count_init (&self->ref);
  self->free = g_async_queue_new ();
  self->channels = g_new (Channel, n_channels);
  self->n_channels = n_channels;
  self->errors = g_build_filename (folder, ERRORS, NULL);
  for (guint i = 0; i < n_channels; i++)
    self->channels[i] = (Channel) { -1, { .fd = -1 } };
  for (guint i = 0; i < n_channels; i++)
    {
      if (!ort_process_make_channel (&self->channels[i], launcher, i, error))
        return NULL;
      g_async_queue_push (self->free, &self->channels[i]);
    }
  g_subprocess_launcher_set_stderr_file_path (launcher, self->errors);
  g_subprocess_launcher_setenv (launcher, "TMPDIR", folder, TRUE);   /* what libraries leave there goes with it */
  self->process = g_subprocess_launcher_spawnv (launcher, words, error);
  return self->process != NULL ? g_steal_pointer (&self) : NULL;
}

VnOrtProcess *
vn_ort_process_ref (VnOrtProcess *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/* It ends when its channels are closed; nobody waits for that. */
void
vn_ort_process_unref (VnOrtProcess *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  for (guint i = 0; i < self->n_channels; i++)
    {
      if (self->channels[i].socket >= 0)
        close (self->channels[i].socket);
      vn_ort_shared_clear (&self->channels[i].shared);
    }
  g_clear_object (&self->process);
  g_async_queue_unref (self->free);
  g_free (self->channels);
  g_free (self->errors);
  g_free (self);
}

/**
 * vn_ort_process_remove_folder:
 * @folder: whose name begins with %VN_ORT_FOLDER; anything else stays, and so does what is in folders inside
 */
void
vn_ort_process_remove_folder (const char *folder)
{
  g_autofree char *base = NULL;
  g_autoptr(GDir) dir = NULL;
  const char *name;

  g_return_if_fail (folder != NULL);

  base = g_path_get_basename (folder);
  if (!g_str_has_prefix (base, VN_ORT_FOLDER))
    return;
  dir = g_dir_open (folder, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

/**
 * vn_ort_process_has_ended:
 *
 * Returns: whether nothing can be asked any more
 */
gboolean
vn_ort_process_has_ended (VnOrtProcess *self)
{
  g_return_val_if_fail (self != NULL, TRUE);

  return g_atomic_int_get (&self->ended) != 0;
}

/* ---- asking ---- */

static gint64
ort_process_get_seconds (void)
{
  const char *text = g_getenv ("VN_ORT_TIMEOUT");
  guint64 seconds = MOST_SECONDS;

  if (text != NULL)
    g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT, &seconds, NULL);
  return (gint64) seconds;
}

/* The last line that it wrote to standard error. */
static char *
ort_process_dup_errors (const VnOrtProcess *self)
{
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents (self->errors, &text, NULL, NULL))
    return g_strdup ("");
  g_strchomp (text);
  line = strrchr (text, '\n');
  line = line != NULL ? line + 1 : text;
  return g_utf8_make_valid (line, (gssize) strnlen (line, LONGEST_REASON));
}

/* What became of the process, where it did not answer. */
static void
ort_process_explain (VnOrtProcess  *self,
                     const GError  *reason,
                     GError       **error)
{
  g_autofree char *said = NULL;

  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("ONNX Runtime did not reply within %lld seconds and was stopped (VN_ORT_TIMEOUT sets the limit)"),
                   (long long) ort_process_get_seconds ());
      return;
    }
  g_subprocess_wait (self->process, NULL, NULL);
  said = ort_process_dup_errors (self);
  if (g_subprocess_get_if_signaled (self->process))
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("ONNX Runtime crashed (%s)%s%s"),
                 g_strsignal (g_subprocess_get_term_sig (self->process)), *said != '\0' ? ": " : "", said);
  else
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("ONNX Runtime has stopped (%s)%s%s"), reason->message,
                 *said != '\0' ? ": " : "", said);
}

/* Ends it: what it has not answered, it will not answer to others, either. */
static void
ort_process_end (VnOrtProcess  *self,
                 GError        *reason,
                 GError       **error)
{
  const gboolean first = g_atomic_int_compare_and_exchange (&self->ended, 0, 1);

  if (first)
    g_subprocess_force_exit (self->process);   /* one that has crashed keeps what it crashed of */
  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, reason);
      return;
    }
  ort_process_explain (self, reason, error);
  g_error_free (reason);
}

static gboolean
ort_process_put_tensors (Channel          *channel,
                         VnOrtMessage     *request,
                         VnTensor * const *tensors,
                         guint             n,
                         GError          **error)
{
  gsize end = 0;

  request->places = g_new0 (VnOrtPlace, n + 1);
  request->n_places = n;
  for (guint i = 0; i < n; i++)
    if (!vn_ort_place_set (&request->places[i], tensors[i]->dtype, &tensors[i]->shape, &end, error))
      return FALSE;
  if (!vn_ort_shared_grow (&channel->shared, end, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (tensors[i]->n_bytes > 0)
      memcpy (channel->shared.data + request->places[i].offset, tensors[i]->data, tensors[i]->n_bytes);
  request->shared_size = end;
  return TRUE;
}

static gboolean
ort_process_exchange (VnOrtProcess     *self,
                      Channel          *channel,
                      VnOrtMessage     *request,
                      VnOrtMessage     *reply,
                      GCancellable     *cancellable,
                      GError          **error)
{
  const gint64 until = g_get_monotonic_time () + ort_process_get_seconds () * G_USEC_PER_SEC;
  GError *reason = NULL;

  if (!vn_ort_message_send (request, channel->socket, &reason) ||
      !vn_ort_message_receive (reply, channel->socket, until, cancellable, &reason) ||
      !vn_ort_shared_map (&channel->shared, reply->shared_size, &reason))
    {
      ort_process_end (self, reason, error);
      return FALSE;
    }
  if (reply->kind == 0)
    return TRUE;
  g_set_error_literal (error, VN_ERROR, VN_ERROR_UNSUPPORTED, reply->text);
  return FALSE;
}

/**
 * vn_ort_process_ask:
 * @request: what is asked; its places are those of @tensors
 * @tensors: (array length=n_tensors): what the request is about
 * @func: (nullable): gets the answer and what its places point into
 * @cancellable: (nullable): ends the process
 *
 * Waits for the answer. Any thread.
 *
 * Returns: %FALSE with %VN_ERROR_UNSUPPORTED where the process says no, or has crashed or hung
 */
gboolean
vn_ort_process_ask (VnOrtProcess      *self,
                    VnOrtMessage      *request,
                    VnTensor * const  *tensors,
                    guint              n_tensors,
                    VnOrtAnswerFunc    func,
                    gpointer           data,
                    GCancellable      *cancellable,
                    GError           **error)
{
  g_auto(VnOrtMessage) reply = { 0 };
  Channel *channel;
  gboolean good;

  g_return_val_if_fail (self != NULL && request != NULL, FALSE);

  channel = g_async_queue_pop (self->free);
  good = ort_process_put_tensors (channel, request, tensors, n_tensors, error) &&
         ort_process_exchange (self, channel, request, &reply, cancellable, error) &&
         (func == NULL || func (&reply, channel->shared.data, data, error));
  g_async_queue_push (self->free, channel);
  return good;
}
