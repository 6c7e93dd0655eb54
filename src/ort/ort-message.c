/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages between two processes, and the memory that both see. Neither believes the other: sizes are checked on either side. */
#include "ort-message.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define MAGIC 0x564e4f52u
#define LOOK_MSEC 50          /* so often it is asked whether the user has cancelled */
#define MOST_TEXT (1u << 20)
#define USUAL_BYTES 8192      /* of a message: one with more takes another call of the system */
#define ALIGNMENT 64

typedef struct
{
  guint32 magic, kind, n_places, n_text;
  guint64 part, shared_size;
} Head;

void
vn_ort_message_clear (VnOrtMessage *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->places, g_free);
  g_clear_pointer (&self->text, g_free);
}

/* ---- bytes ---- */

static gboolean
ort_message_write (int            fd,
                   gconstpointer  bytes,
                   gsize          n,
                   GError       **error)
{
  const guint8 *at = bytes;

  while (n > 0)
    {
      gssize sent = send (fd, at, n, MSG_NOSIGNAL);

      if (sent < 0 && errno == EINTR)
        continue;
      if (sent <= 0)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE, "%s", _("it has ended"));
          return FALSE;
        }
      at += sent;
      n -= (gsize) sent;
    }
  return TRUE;
}

/* At least @least and at most @most bytes; @got: (out): how many. The socket wakes up from time to time:
 * vn_ort_message_look_often(). */
static gboolean
ort_message_read (int            fd,
                  gpointer       bytes,
                  gsize          least,
                  gsize          most,
                  gsize         *got,
                  gint64         until,
                  GCancellable  *cancellable,
                  GError       **error)
{
  *got = 0;
  while (*got < least)
    {
      gssize n = recv (fd, (guint8 *) bytes + *got, most - *got, 0);
      const gboolean waits = n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK);

      if (n > 0)
        *got += (gsize) n;
      else if (!waits)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE, "%s", _("it has ended"));
          return FALSE;
        }
      else if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      else if (until > 0 && g_get_monotonic_time () > until)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "%s", _("it does not reply"));
          return FALSE;
        }
    }
  return TRUE;
}

/**
 * vn_ort_message_look_often:
 * @fd: socket that messages are received from
 *
 * Makes vn_ort_message_receive() see that it was cancelled, or that its time is over, while nothing comes.
 */
void
vn_ort_message_look_often (int fd)
{
  const struct timeval often = { .tv_usec = LOOK_MSEC * 1000 };

  setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &often, sizeof often);
}

/* ---- messages ---- */

/**
 * vn_ort_message_send:
 *
 * Returns: %FALSE with %G_IO_ERROR_BROKEN_PIPE if nobody is at the other end
 */
gboolean
vn_ort_message_send (const VnOrtMessage  *self,
                     int                  fd,
                     GError             **error)
{
  g_autoptr(GByteArray) all = NULL;   /* a call of the system for each message */
  gsize n_text;
  Head head;

  g_return_val_if_fail (self != NULL, FALSE);

  n_text = self->text != NULL ? MIN (strlen (self->text), MOST_TEXT) : 0;
  head = (Head) { MAGIC, self->kind, self->n_places, (guint32) n_text, self->part, self->shared_size };
  all = g_byte_array_sized_new (USUAL_BYTES);
  g_byte_array_append (all, (const guint8 *) &head, sizeof head);
  g_byte_array_append (all, (const guint8 *) self->places, self->n_places * (guint) sizeof *self->places);
  g_byte_array_append (all, (const guint8 *) self->text, (guint) n_text);
  return ort_message_write (fd, all->data, all->len, error);
}

static gboolean
ort_message_take_rest (VnOrtMessage *self,
                       const Head   *head,
                       const guint8 *bytes)
{
  *self = (VnOrtMessage) { .kind = head->kind, .part = head->part, .shared_size = head->shared_size, .n_places = head->n_places };
  self->places = g_memdup2 (bytes, head->n_places * sizeof *self->places);
  self->text = g_strndup ((const char *) bytes + head->n_places * sizeof *self->places, head->n_text);
  return TRUE;
}

/**
 * vn_ort_message_receive:
 * @self: (out): what came
 * @until: monotonic time in microseconds; 0: it may take as long as it will
 *
 * Returns: %FALSE with %G_IO_ERROR_BROKEN_PIPE, %G_IO_ERROR_TIMED_OUT, %G_IO_ERROR_CANCELLED, or %VN_ERROR_MALFORMED
 */
gboolean
vn_ort_message_receive (VnOrtMessage  *self,
                        int            fd,
                        gint64         until,
                        GCancellable  *cancellable,
                        GError       **error)
{
  guint8 usual[USUAL_BYTES];
  g_autofree guint8 *all = NULL;
  gsize got, size, more = 0;
  Head head;

  g_return_val_if_fail (self != NULL, FALSE);

  *self = (VnOrtMessage) { 0 };
  if (!ort_message_read (fd, usual, sizeof head, sizeof usual, &got, until, cancellable, error))
    return FALSE;
  memcpy (&head, usual, sizeof head);
  size = sizeof head + head.n_places * sizeof *self->places + head.n_text;
  if (head.magic != MAGIC || head.n_places > G_MAXUINT16 || head.n_text > MOST_TEXT || got > size)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, "%s", _("its message is not valid"));
      return FALSE;
    }
  if (got == size)
    return ort_message_take_rest (self, &head, usual + sizeof head);
  all = g_malloc (size);
  memcpy (all, usual, got);
  return ort_message_read (fd, all + got, size - got, size - got, &more, until, cancellable, error) &&
         ort_message_take_rest (self, &head, all + sizeof head);
}

/* ---- tensors ---- */

/**
 * vn_ort_place_set:
 * @end: (inout): bytes of the shared memory that are taken
 *
 * Returns: %FALSE with %VN_ERROR_LIMIT if it is too large
 */
gboolean
vn_ort_place_set (VnOrtPlace     *self,
                  VnDType         dtype,
                  const VnShape  *shape,
                  gsize          *end,
                  GError        **error)
{
  gsize n_elements, n_bytes, next;

  g_return_val_if_fail (self != NULL && shape != NULL && end != NULL, FALSE);

  *self = (VnOrtPlace) { .dtype = (gint32) dtype, .rank = shape->rank, .offset = *end };
  for (int i = 0; i < shape->rank; i++)
    self->dims[i] = shape->dims[i];
  if (!vn_tensor_size_in_bytes (dtype, shape, &n_elements, &n_bytes) || !vn_checked_add (*end, n_bytes, &next) ||
      !vn_checked_add (next, ALIGNMENT - 1, &next) || next > G_MAXSSIZE)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, "%s", _("the tensors are too large"));
      return FALSE;
    }
  self->n_bytes = n_bytes;
  *end = next & ~(gsize) (ALIGNMENT - 1);
  return TRUE;
}

/**
 * vn_ort_place_check:
 * @size: bytes of the shared memory
 * @shape: (out): of the tensor
 *
 * Returns: %FALSE if @self is no tensor inside the shared memory
 */
gboolean
vn_ort_place_check (const VnOrtPlace  *self,
                    gsize              size,
                    VnShape           *shape,
                    GError           **error)
{
  gsize n_elements, n_bytes, end;
  gboolean good;

  g_return_val_if_fail (self != NULL && shape != NULL, FALSE);

  good = vn_dtype_is_valid (self->dtype) && self->dtype != VN_DTYPE_STRING && self->rank >= 0 && self->rank <= VN_MAX_RANK;
  *shape = (VnShape) { .rank = good ? self->rank : 0 };
  for (int i = 0; i < shape->rank; i++)
    shape->dims[i] = self->dims[i];
  good = good && vn_shape_is_static (shape) && vn_tensor_size_in_bytes ((VnDType) self->dtype, shape, &n_elements, &n_bytes) &&
         n_bytes == self->n_bytes && vn_checked_add (self->offset, n_bytes, &end) && end <= size;
  if (!good)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("a tensor of type %d with %d dims is not supported"), self->dtype,
                 self->rank);
  return good;
}

/* ---- shared memory ---- */

/**
 * vn_ort_shared_map:
 * @size: bytes that the other side has made it
 *
 * Makes @self see all of it. What it saw before stays where it was until then.
 */
gboolean
vn_ort_shared_map (VnOrtShared  *self,
                   gsize         size,
                   GError      **error)
{
  struct stat found;
  void *data;

  g_return_val_if_fail (self != NULL, FALSE);

  if (size <= self->size)
    return TRUE;
  if (fstat (self->fd, &found) != 0 || found.st_size < 0 || (guint64) found.st_size < size)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, "%s", _("its shared memory is too small"));
      return FALSE;
    }
  data = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
  if (data == MAP_FAILED)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MEMORY, _("cannot allocate %zu bytes of shared memory"), size);
      return FALSE;
    }
  if (self->data != NULL)
    munmap (self->data, self->size);
  self->data = data;
  self->size = size;
  return TRUE;
}

/**
 * vn_ort_shared_grow:
 *
 * Sees to it that @self has at least @size bytes. It never shrinks.
 */
gboolean
vn_ort_shared_grow (VnOrtShared  *self,
                    gsize         size,
                    GError      **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (size <= self->size)
    return TRUE;
  if (size > G_MAXSSIZE || posix_fallocate (self->fd, 0, (off_t) size) != 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MEMORY, _("cannot allocate %zu bytes of shared memory"), size);
      return FALSE;
    }
  return vn_ort_shared_map (self, size, error);
}

void
vn_ort_shared_clear (VnOrtShared *self)
{
  g_return_if_fail (self != NULL);

  if (self->data != NULL)
    munmap (self->data, self->size);
  if (self->fd >= 0)
    close (self->fd);
  *self = (VnOrtShared) { .fd = -1 };
}
