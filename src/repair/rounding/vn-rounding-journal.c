/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A head that says what run the file belongs to, and behind it records: what each holds, a checksum, and the weights of a
 * layer, what its groups have read, or a verdict. What an interrupted run has not finished writing is cut off when the file
 * is opened again. Numbers are in the byte order of the machine. */
#include "vn-rounding-journal.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "VNROUND1"
#define SHA256_BYTES 32
#define CHUNK ((gsize) 1 << 20)

typedef struct
{
  char magic[8];
  char digest[64];      /* hexadecimal */
} Head;

typedef enum { RECORD_WEIGHTS, RECORD_COUNTS, RECORD_VERDICT, N_RECORD_KINDS } RecordKind;

/**
 * Record:
 * @number: of the layer, or of the verdict
 * @kind: a #RecordKind
 * @n_bytes: of what is behind it; of weights 0: the layer could not be rounded
 * @checksum: SHA-256 of them
 */
typedef struct
{
  guint32 number, kind;
  guint64 n_bytes;
  guint8  checksum[SHA256_BYTES];
} Record;

/**
 * VnRoundingJournal:
 * @places: (element-type guint gint64): of weights and of counts, by layer: where the record begins
 * @verdicts: (element-type VnRoundingVerdict): in their order
 * @end: behind the last whole record
 */
struct _VnRoundingJournal
{
  char       *path;
  int         fd;
  GHashTable *places[RECORD_VERDICT];
  GArray     *verdicts;
  gint64      end;
};

/* ---- the file ---- */

static gboolean
journal_fail (const VnRoundingJournal *self,
              const char              *what,
              GError                 **error)
{
  vn_file_fail (error, what, self->path, errno);
  return FALSE;
}

/* @whole: (out): FALSE where the file ends before */
static gboolean
journal_read_at (const VnRoundingJournal *self,
                 gint64                   at,
                 gpointer                 data,
                 gsize                    size,
                 gboolean                *whole,
                 GError                 **error)
{
  *whole = TRUE;
  for (gsize n = 0; n < size;)
    {
      gssize got = pread (self->fd, (guint8 *) data + n, size - n, at + (gint64) n);

      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return journal_fail (self, _("Cannot read"), error);
      if (got == 0)
        return !(*whole = FALSE);
      n += (gsize) got;
    }
  return TRUE;
}

static gboolean
journal_write_at (const VnRoundingJournal *self,
                  gint64                   at,
                  gconstpointer            data,
                  gsize                    size,
                  GError                 **error)
{
  for (gsize n = 0; n < size;)
    {
      gssize put = pwrite (self->fd, (const guint8 *) data + n, size - n, at + (gint64) n);

      if (put < 0 && errno == EINTR)
        continue;
      if (put < 0)
        return journal_fail (self, _("Cannot write"), error);
      n += (gsize) put;
    }
  return TRUE;
}

static void
journal_finish_checksum (GChecksum *sum,
                         guint8    *checksum)
{
  gsize n = SHA256_BYTES;

  g_checksum_get_digest (sum, checksum, &n);
}

/* ---- opening ---- */

/* @whole: (out): FALSE where the record or its weights are not all there, or are others */
static gboolean
journal_check_record (const VnRoundingJournal *self,
                      const Record            *record,
                      gint64                   at,
                      gboolean                *whole,
                      GError                 **error)
{
  g_autoptr(GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree guint8 *chunk = g_malloc (CHUNK);
  guint8 found[SHA256_BYTES];

  for (guint64 done = 0; done < record->n_bytes;)
    {
      gsize n = (gsize) MIN ((guint64) CHUNK, record->n_bytes - done);

      if (!journal_read_at (self, at + (gint64) done, chunk, n, whole, error))
        return FALSE;
      if (!*whole)
        return TRUE;
      g_checksum_update (sum, chunk, (gssize) n);
      done += n;
    }
  journal_finish_checksum (sum, found);
  *whole = memcmp (found, record->checksum, sizeof found) == 0;
  return TRUE;
}

/* @good: (out): FALSE where it is no verdict, or not the next one */
static gboolean
journal_take_verdict (VnRoundingJournal  *self,
                      const Record       *record,
                      gint64              at,
                      gboolean           *good,
                      GError            **error)
{
  VnRoundingVerdict verdict;

  *good = record->n_bytes == sizeof verdict && record->number == self->verdicts->len;
  if (!*good || !journal_read_at (self, at, &verdict, sizeof verdict, good, error))
    return !*good;
  *good = *good && verdict.outcome < VN_N_ROUNDING_OUTCOMES && verdict.first <= verdict.last && isfinite (verdict.best_db);
  if (*good)
    g_array_append_val (self->verdicts, verdict);
  return TRUE;
}

static void
journal_remember (VnRoundingJournal *self,
                  const Record      *record)
{
  if (record->kind != RECORD_VERDICT)
    g_hash_table_insert (self->places[record->kind], GUINT_TO_POINTER (record->number), g_memdup2 (&self->end, sizeof self->end));
  self->end += (gint64) (sizeof *record + record->n_bytes);
}

/* Finds the records, and cuts off what is behind the last whole one. */
static gboolean
journal_scan (VnRoundingJournal  *self,
              gint64              size,
              GError            **error)
{
  gboolean whole = TRUE;

  while (whole)
    {
      Record record;
      gint64 behind = self->end + (gint64) sizeof record;

      if (!journal_read_at (self, self->end, &record, sizeof record, &whole, error))
        return FALSE;
      whole = whole && record.kind < N_RECORD_KINDS && record.n_bytes <= (guint64) MAX (size - behind, 0);
      if (whole && !journal_check_record (self, &record, behind, &whole, error))
        return FALSE;
      if (whole && record.kind == RECORD_VERDICT && !journal_take_verdict (self, &record, behind, &whole, error))
        return FALSE;
      if (whole)
        journal_remember (self, &record);
    }
  return ftruncate (self->fd, self->end) == 0 || journal_fail (self, _("Cannot write"), error);
}

static gboolean
journal_read_head (const VnRoundingJournal  *self,
                   Head                     *head,
                   GError                  **error)
{
  gboolean whole;

  if (!journal_read_at (self, 0, head, sizeof *head, &whole, error))
    return FALSE;
  if (whole && memcmp (head->magic, MAGIC, sizeof head->magic) == 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is not a file of finished layers that Vernier has written: move it "
                                                      "away, or give --save-stats another name"), self->path);
  return FALSE;
}

static gboolean
journal_check_head (VnRoundingJournal  *self,
                    const Head         *wanted,
                    GError            **error)
{
  Head found;

  if (!journal_read_head (self, &found, error))
    return FALSE;
  if (memcmp (found.digest, wanted->digest, sizeof found.digest) == 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("“%s” holds layers that were rounded for another model, other samples or other settings: resume with the same, "
                 "or start over without --resume"), self->path);
  return FALSE;
}

static gboolean
journal_begin (VnRoundingJournal  *self,
               const char         *digest,
               GError            **error)
{
  Head head = { MAGIC, "" };
  struct stat info;

  memcpy (head.digest, digest, MIN (strlen (digest), sizeof head.digest));
  self->end = sizeof head;
  self->fd = g_open (self->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (self->fd < 0 || fstat (self->fd, &info) != 0)
    return journal_fail (self, _("Cannot open"), error);
  if (info.st_size == 0)
    return journal_write_at (self, 0, &head, sizeof head, error);
  return journal_check_head (self, &head, error) && journal_scan (self, info.st_size, error);
}

/**
 * vn_rounding_journal_open:
 * @path: made if it is not there
 * @digest: SHA-256, hexadecimal, of all that decides about the weights
 *
 * Returns: (transfer full) (nullable): %NULL with an error if the file is of another run, or cannot be read or written
 */
VnRoundingJournal *
vn_rounding_journal_open (const char  *path,
                          const char  *digest,
                          GError     **error)
{
  g_autoptr(VnRoundingJournal) self = NULL;

  g_return_val_if_fail (path != NULL && digest != NULL, NULL);

  self = g_new0 (VnRoundingJournal, 1);
  self->path = g_strdup (path);
  self->fd = -1;
  self->verdicts = g_array_new (FALSE, FALSE, sizeof (VnRoundingVerdict));
  for (guint i = 0; i < G_N_ELEMENTS (self->places); i++)
    self->places[i] = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  return journal_begin (self, digest, error) ? g_steal_pointer (&self) : NULL;
}

void
vn_rounding_journal_free (VnRoundingJournal *self)
{
  if (self == NULL)
    return;
  if (self->fd >= 0)
    close (self->fd);
  for (guint i = 0; i < G_N_ELEMENTS (self->places); i++)
    g_clear_pointer (&self->places[i], g_hash_table_unref);
  g_clear_pointer (&self->verdicts, g_array_unref);
  g_free (self->path);
  g_free (self);
}

/* ---- layers ---- */

/**
 * vn_rounding_journal_has:
 *
 * Returns: whether @layer is finished
 */
gboolean
vn_rounding_journal_has (VnRoundingJournal *self,
                         guint              layer)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return g_hash_table_contains (self->places[RECORD_WEIGHTS], GUINT_TO_POINTER (layer));
}

/**
 * vn_rounding_journal_read:
 * @layer: is finished
 * @shape: of its weights, which are float32
 * @weights: (out) (transfer full) (nullable): %NULL: the layer could not be rounded
 *
 * Returns: %FALSE with an error if the record is not of that shape, or memory is short
 */
gboolean
vn_rounding_journal_read (VnRoundingJournal  *self,
                          guint               layer,
                          const VnShape      *shape,
                          VnTensor          **weights,
                          GError            **error)
{
  g_autoptr(VnTensor) tensor = NULL;
  const gint64 *place;
  Record record;
  gboolean whole;

  g_return_val_if_fail (self != NULL && shape != NULL && weights != NULL, FALSE);

  *weights = NULL;
  place = g_hash_table_lookup (self->places[RECORD_WEIGHTS], GUINT_TO_POINTER (layer));
  g_return_val_if_fail (place != NULL, FALSE);
  if (!journal_read_at (self, *place, &record, sizeof record, &whole, error))
    return FALSE;
  if (whole && record.n_bytes == 0)
    return TRUE;
  tensor = vn_tensor_new_constant (VN_DTYPE_F32, shape, error);
  if (tensor == NULL)
    return FALSE;
  whole = whole && tensor->n_bytes == record.n_bytes;
  if (whole && !journal_read_at (self, *place + (gint64) sizeof record, tensor->data, tensor->n_bytes, &whole, error))
    return FALSE;
  if (!whole)
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” has changed while it was read"), self->path);
  else
    *weights = g_steal_pointer (&tensor);
  return whole;
}

/* Writes a record behind the others. */
static gboolean
journal_append (VnRoundingJournal  *self,
                RecordKind          kind,
                guint               number,
                gconstpointer       data,
                gsize               size,
                GError            **error)
{
  g_autoptr(GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  Record record;

  memset (&record, 0, sizeof record);
  record.number = number;
  record.kind = kind;
  record.n_bytes = size;
  if (size > 0)
    g_checksum_update (sum, data, (gssize) size);
  journal_finish_checksum (sum, record.checksum);
  if (!journal_write_at (self, self->end, &record, sizeof record, error) ||
      !journal_write_at (self, self->end + (gint64) sizeof record, data, size, error))
    return FALSE;
  journal_remember (self, &record);
  return TRUE;
}

/**
 * vn_rounding_journal_add:
 * @weights: (nullable): float32; %NULL: the layer could not be rounded
 *
 * A layer that is finished already stays as it is.
 *
 * Returns: %FALSE with an error if the file cannot be written
 */
gboolean
vn_rounding_journal_add (VnRoundingJournal  *self,
                         guint               layer,
                         const VnTensor     *weights,
                         GError            **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return vn_rounding_journal_has (self, layer) ||
         journal_append (self, RECORD_WEIGHTS, layer, weights != NULL ? weights->data : NULL,
                         weights != NULL ? weights->n_bytes : 0, error);
}

/**
 * vn_rounding_journal_read_counts:
 * @counts: (inout): int64: as many as there were
 * @found: (out): %FALSE: there are none, and @counts stays as it is
 *
 * Returns: %FALSE with an error if there are more or fewer than @counts has room for
 */
gboolean
vn_rounding_journal_read_counts (VnRoundingJournal  *self,
                                 guint               layer,
                                 VnTensor           *counts,
                                 gboolean           *found,
                                 GError            **error)
{
  const gint64 *place;
  Record record;
  gboolean whole;

  g_return_val_if_fail (self != NULL && counts != NULL && found != NULL, FALSE);

  place = g_hash_table_lookup (self->places[RECORD_COUNTS], GUINT_TO_POINTER (layer));
  *found = place != NULL;
  if (place == NULL)
    return TRUE;
  if (!journal_read_at (self, *place, &record, sizeof record, &whole, error))
    return FALSE;
  whole = whole && record.n_bytes == counts->n_bytes;
  if (whole && !journal_read_at (self, *place + (gint64) sizeof record, counts->data, counts->n_bytes, &whole, error))
    return FALSE;
  if (!whole)
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” has changed while it was read"), self->path);
  return whole;
}

/**
 * vn_rounding_journal_add_counts:
 * @counts: int64: what each group of @layer has read, which is not finished yet
 *
 * Returns: %FALSE with an error if the file cannot be written
 */
gboolean
vn_rounding_journal_add_counts (VnRoundingJournal  *self,
                                guint               layer,
                                const VnTensor     *counts,
                                GError            **error)
{
  g_return_val_if_fail (self != NULL && counts != NULL, FALSE);

  return journal_append (self, RECORD_COUNTS, layer, counts->data, counts->n_bytes, error);
}

/**
 * vn_rounding_journal_get_verdict:
 *
 * Returns: (transfer none) (nullable): number @i of those that were added; %NULL: there are no more. Valid until one is added
 */
const VnRoundingVerdict *
vn_rounding_journal_get_verdict (VnRoundingJournal *self,
                                 guint              i)
{
  g_return_val_if_fail (self != NULL, NULL);

  return i < self->verdicts->len ? &g_array_index (self->verdicts, VnRoundingVerdict, i) : NULL;
}

/**
 * vn_rounding_journal_add_verdict:
 *
 * Returns: %FALSE with an error if the file cannot be written
 */
gboolean
vn_rounding_journal_add_verdict (VnRoundingJournal        *self,
                                 const VnRoundingVerdict  *verdict,
                                 GError                  **error)
{
  g_return_val_if_fail (self != NULL && verdict != NULL, FALSE);

  if (!journal_append (self, RECORD_VERDICT, self->verdicts->len, verdict, sizeof *verdict, error))
    return FALSE;
  g_array_append_vals (self->verdicts, verdict, 1);
  return TRUE;
}

/**
 * vn_rounding_journal_remove:
 *
 * Removes the file, if it is there.
 *
 * Returns: %FALSE with an error if it is another file, or cannot be removed
 */
gboolean
vn_rounding_journal_remove (const char  *path,
                            GError     **error)
{
  g_autoptr(VnRoundingJournal) self = NULL;
  Head head;

  g_return_val_if_fail (path != NULL, FALSE);

  self = g_new0 (VnRoundingJournal, 1);
  self->path = g_strdup (path);
  self->fd = g_open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
  if (self->fd < 0)
    return errno == ENOENT || journal_fail (self, _("Cannot open"), error);
  return journal_read_head (self, &head, error) && (g_unlink (path) == 0 || journal_fail (self, _("Cannot remove"), error));
}
