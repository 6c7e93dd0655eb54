/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What processes that share a command tell each other: that one has failed, and what each has learned. */
#include "vn-cmd.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-ranks.h"

/* An error, or nothing: domain, code, message. */
#define ERROR_TYPE "m(sis)"
/* Statistics, and notes: level, code, subject, text. */
#define FINDING_TYPE "(aya(ismss))"

static GBytes *
cmd_ranks_pack (GVariant *variant)
{
  g_autoptr(GVariant) owned = g_variant_ref_sink (variant);

  return g_variant_get_data_as_bytes (owned);
}

static GVariant *
cmd_ranks_unpack (GBytes     *bytes,
                  const char *type)
{
  return g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (type), bytes, FALSE));
}

/* ---- errors ---- */

static GBytes *
cmd_ranks_pack_error (const GError *error)
{
  return cmd_ranks_pack (g_variant_new (ERROR_TYPE, error != NULL, error != NULL ? g_quark_to_string (error->domain) : "",
                                        error != NULL ? error->code : 0, error != NULL ? error->message : ""));
}

static GError *
cmd_ranks_unpack_error (GBytes *bytes)
{
  g_autoptr(GVariant) variant = cmd_ranks_unpack (bytes, ERROR_TYPE);
  gboolean there;
  const char *domain, *message;
  gint32 code;

  g_variant_get (variant, "m(&si&s)", &there, &domain, &code, &message);
  return there ? g_error_new_literal (g_quark_from_string (domain), code, message) : NULL;
}

static gboolean
cmd_ranks_is_cancelled (const GError *error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Who was cancelled because another failed has nothing to say. */
static void
cmd_ranks_keep_cause (GError **cause,
                      GError  *other)
{
  if (other == NULL)
    return;
  if (*cause == NULL || (cmd_ranks_is_cancelled (*cause) && !cmd_ranks_is_cancelled (other)))
    {
      g_clear_error (cause);
      *cause = other;
    }
  else
    {
      g_error_free (other);
    }
}

/**
 * vn_cmd_agree:
 * @own: (transfer full) (nullable): what went wrong in this process
 *
 * To be called by all processes that share a command.
 *
 * Returns: %FALSE with the same error in all of them if something went wrong in any
 */
gboolean
vn_cmd_agree (GError  *own,
              GError **error)
{
  guint n = vn_ranks_get_n ();
  g_autoptr(GBytes) mine = cmd_ranks_pack_error (own);
  g_autoptr(GBytes) all = NULL;
  GError *cause = own;

  for (guint k = 1; vn_ranks_get_rank () == 0 && k < n; k++)
    {
      g_autoptr(GBytes) bytes = vn_ranks_receive (k);
      GError *other = cmd_ranks_unpack_error (bytes);

      if (other != NULL && !cmd_ranks_is_cancelled (other))
        /* Translators: what follows went wrong in one of several processes */
        g_prefix_error (&other, _("process %u of %u: "), k + 1, n);
      cmd_ranks_keep_cause (&cause, other);
    }
  if (n > 1)
    {
      if (vn_ranks_get_rank () > 0)
        vn_ranks_send (0, mine);
      g_clear_pointer (&mine, g_bytes_unref);
      mine = cmd_ranks_pack_error (cause);
      all = vn_ranks_broadcast (vn_ranks_get_rank () == 0 ? mine : NULL);
      g_clear_error (&cause);
      cause = cmd_ranks_unpack_error (all);
    }
  if (cause == NULL)
    return TRUE;
  g_propagate_error (error, cause);
  return FALSE;
}

/* ---- samples of loops ---- */

/* What the thread of a job waits for; the main thread, which alone may talk to the others, answers. */
static struct
{
  GMutex     lock;
  GCond      answered;
  GBytes    *own;        /* nullable: nobody waits */
  GPtrArray *all;        /* nullable */
  GSource   *waker;      /* nullable: of the main thread: is made ready when somebody begins to wait */
} gathering;

/**
 * vn_cmd_wake_for_gathering:
 * @source: (nullable): while it runs, what looks whether somebody waits; %NULL: nothing does
 */
void
vn_cmd_wake_for_gathering (GSource *source)
{
  g_mutex_lock (&gathering.lock);
  gathering.waker = source;
  g_mutex_unlock (&gathering.lock);
}

/**
 * vn_cmd_gather:
 *
 * A VnGatherFunc, to be called by the thread of a job that vn_cmd_run_job() runs.
 */
GPtrArray *
vn_cmd_gather (GBytes  *own,
               GError **error)
{
  GPtrArray *all;

  g_return_val_if_fail (own != NULL, NULL);

  g_mutex_lock (&gathering.lock);
  gathering.own = own;
  if (gathering.waker != NULL)
    g_source_set_ready_time (gathering.waker, 0);
  while (gathering.own != NULL)
    g_cond_wait (&gathering.answered, &gathering.lock);
  all = g_steal_pointer (&gathering.all);
  g_mutex_unlock (&gathering.lock);
  if (all == NULL)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "cancelled");
  return all;
}

gboolean
vn_cmd_is_gathering (void)
{
  gboolean is;

  g_mutex_lock (&gathering.lock);
  is = gathering.own != NULL;
  g_mutex_unlock (&gathering.lock);
  return is;
}

/**
 * vn_cmd_end_gathering:
 * @good: all processes wait, and call this: they tell each other what they have; else who waits is told that it cannot be
 */
void
vn_cmd_end_gathering (gboolean good)
{
  g_mutex_lock (&gathering.lock);
  if (gathering.own != NULL && good)
    gathering.all = vn_ranks_gather (gathering.own);
  gathering.own = NULL;
  g_cond_signal (&gathering.answered);
  g_mutex_unlock (&gathering.lock);
}

/* ---- statistics ---- */

/* The other processes wait for them: without them none can go on. */
static GBytes *
cmd_ranks_dup_bytes (VnStats *stats)
{
  g_autoptr(GError) error = NULL;
  GBytes *bytes = vn_stats_to_bytes (stats, &error);

  if (bytes == NULL)
    vn_ranks_give_up (error->message);
  return bytes;
}

/**
 * vn_cmd_share_stats:
 * @stats: (inout) (nullable): of rank 0; afterwards everybody's
 */
gboolean
vn_cmd_share_stats (VnStats **stats,
                    GError  **error)
{
  g_autoptr(GBytes) own = NULL;
  g_autoptr(GBytes) bytes = NULL;

  if (vn_ranks_get_n () == 1)
    return TRUE;
  if (vn_ranks_get_rank () == 0)
    own = *stats != NULL ? cmd_ranks_dup_bytes (*stats) : g_bytes_new_static ("", 0);
  bytes = vn_ranks_broadcast (own);
  if (vn_ranks_get_rank () == 0 || g_bytes_get_size (bytes) == 0)
    return TRUE;
  *stats = vn_stats_from_bytes (bytes, error);
  return *stats != NULL;
}

/* ---- findings ---- */

static GBytes *
cmd_ranks_pack_finding (VnStats *stats,
                        VnNotes *notes)
{
  g_autoptr(GBytes) bytes = cmd_ranks_dup_bytes (stats);
  GVariantBuilder list;

  g_variant_builder_init (&list, G_VARIANT_TYPE ("a(ismss)"));
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      g_variant_builder_add (&list, "(ismss)", (gint32) note->level, note->code, note->subject, note->text);
    }
  return cmd_ranks_pack (g_variant_new ("(@aya(ismss))", g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE),
                                        &list));
}

/* All processes prepare the same network and find the same in it; only samples are each one's own. */
static void
cmd_ranks_add_notes (VnNotes      *notes,
                     GVariantIter *iter)
{
  const char *code, *subject, *text;
  gint32 level;

  while (g_variant_iter_next (iter, "(i&sm&s&s)", &level, &code, &subject, &text))
    if (g_str_equal (code, "sample-unreadable"))
      vn_notes_add (notes, (VnNoteLevel) level, code, subject, "%s", text);
}

static gboolean
cmd_ranks_join_finding (VnStats  **stats,
                        VnNotes   *notes,
                        GBytes    *bytes,
                        GError   **error)
{
  g_autoptr(GVariant) variant = cmd_ranks_unpack (bytes, FINDING_TYPE);
  g_autoptr(GVariant) part = g_variant_get_child_value (variant, 0);
  g_autoptr(GVariant) list = g_variant_get_child_value (variant, 1);
  g_autoptr(GBytes) part_bytes = g_variant_get_data_as_bytes (part);
  g_autoptr(VnStats) other = vn_stats_from_bytes (part_bytes, error);
  VnStats *sum = other != NULL ? vn_stats_merge ((VnStats *[]) { *stats, other }, 2, error) : NULL;
  GVariantIter iter;

  if (sum == NULL)
    return FALSE;
  vn_stats_unref (*stats);
  *stats = sum;
  g_variant_iter_init (&iter, list);
  cmd_ranks_add_notes (notes, &iter);
  return TRUE;
}

/**
 * vn_cmd_join_stats:
 * @stats: (inout): what this process has learned; in rank 0 afterwards what all have
 * @notes: in rank 0 afterwards also the samples that others could not read
 *
 * Joins in pairs, in pairs of pairs and so on: with twice as many processes it takes one step more, and nobody holds more
 * than two statistics.
 */
gboolean
vn_cmd_join_stats (VnStats **stats,
                   VnNotes  *notes,
                   GError  **error)
{
  guint rank = vn_ranks_get_rank ();
  guint n = vn_ranks_get_n ();
  GError *reason = NULL;

  for (guint step = 1; step < n; step *= 2)
    {
      g_autoptr(GBytes) bytes = NULL;

      if (rank % (2 * step) == step)
        {
          bytes = cmd_ranks_pack_finding (*stats, notes);
          vn_ranks_send (rank - step, bytes);
          break;
        }
      if (rank + step >= n)
        continue;
      bytes = vn_ranks_receive (rank + step);
      if (reason == NULL)
        cmd_ranks_join_finding (stats, notes, bytes, &reason);
    }
  return vn_cmd_agree (reason, error);
}
