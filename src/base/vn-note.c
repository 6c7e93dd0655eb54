/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of notes: findings that are no errors, safe to add to from any thread, in an order that does not depend on
 * threads. */
#include "vn-note.h"

#include "vn-shown.h"

struct _VnNotes
{
  gatomicrefcount  ref;
  GMutex           lock;
  GPtrArray       *items;
};

static const char * const note_levels[VN_N_NOTE_LEVELS] = {
  [VN_NOTE_INFO] = "info", [VN_NOTE_WARNING] = "warning", [VN_NOTE_PROBLEM] = "problem"
};

/**
 * vn_note_level_get_id:
 *
 * Returns: (transfer none): the word for machines
 */
const char *
vn_note_level_get_id (VnNoteLevel level)
{
  g_return_val_if_fail ((guint) level < VN_N_NOTE_LEVELS, NULL);

  return note_levels[level];
}

/**
 * vn_note_level_find:
 * @level: (out): the level of that name
 *
 * Returns: %FALSE if no level is called @id
 */
gboolean
vn_note_level_find (const char  *id,
                    VnNoteLevel *level)
{
  g_return_val_if_fail (id != NULL && level != NULL, FALSE);

  for (guint i = 0; i < VN_N_NOTE_LEVELS; i++)
    if (g_str_equal (note_levels[i], id))
      {
        *level = (VnNoteLevel) i;
        return TRUE;
      }
  return FALSE;
}

static void
note_free (gpointer data)
{
  VnNote *note = data;

  g_free (note->code);
  g_free (note->subject);
  g_free (note->text);
  g_free (note->remedy);
  g_free (note);
}

/**
 * vn_notes_new:
 *
 * Returns: (transfer full): an empty list
 */
VnNotes *
vn_notes_new (void)
{
  VnNotes *self = g_new0 (VnNotes, 1);

  g_atomic_ref_count_init (&self->ref);
  g_mutex_init (&self->lock);
  self->items = g_ptr_array_new_with_free_func (note_free);
  return self;
}

VnNotes *
vn_notes_ref (VnNotes *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_notes_unref (VnNotes *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_mutex_clear (&self->lock);
  g_ptr_array_unref (self->items);
  g_free (self);
}

static void G_GNUC_PRINTF (6, 0)
note_list_add (VnNotes     *self,
               VnNoteLevel  level,
               const char  *code,
               const char  *subject,
               const char  *remedy,
               const char  *format,
               va_list      args)
{
  VnNote *note = g_new0 (VnNote, 1);

  note->level = level;
  note->code = g_strdup (code);
  note->subject = g_strdup (subject);
  note->remedy = g_strdup (remedy);
  note->text = vn_shown_vprintf (format, args);

  g_mutex_lock (&self->lock);
  g_ptr_array_add (self->items, note);
  g_mutex_unlock (&self->lock);
}

/**
 * vn_notes_add:
 * @self: (nullable): where to; %NULL drops the note
 * @code: stable identifier
 * @subject: (nullable): the node, tensor or file it is about
 * @format: translated printf format of the sentence
 */
void
vn_notes_add (VnNotes     *self,
              VnNoteLevel  level,
              const char  *code,
              const char  *subject,
              const char  *format,
              ...)
{
  va_list args;

  if (self == NULL)
    return;
  va_start (args, format);
  note_list_add (self, level, code, subject, NULL, format, args);
  va_end (args);
}

/**
 * vn_notes_add_remedy:
 * @self: (nullable): where to; %NULL drops the note
 * @remedy: (nullable): a translated sentence: what to do about it
 *
 * As vn_notes_add(), with a remedy.
 */
void
vn_notes_add_remedy (VnNotes     *self,
                     VnNoteLevel  level,
                     const char  *code,
                     const char  *subject,
                     const char  *remedy,
                     const char  *format,
                     ...)
{
  va_list args;

  if (self == NULL)
    return;
  va_start (args, format);
  note_list_add (self, level, code, subject, remedy, format, args);
  va_end (args);
}

guint
vn_notes_get_n (VnNotes *self)
{
  guint n;

  g_return_val_if_fail (self != NULL, 0);

  g_mutex_lock (&self->lock);
  n = self->items->len;
  g_mutex_unlock (&self->lock);
  return n;
}

/**
 * vn_notes_get:
 *
 * Returns: (transfer none): note @i, valid as long as the list
 */
const VnNote *
vn_notes_get (VnNotes *self,
              guint    i)
{
  const VnNote *note;

  g_return_val_if_fail (self != NULL, NULL);

  g_mutex_lock (&self->lock);
  note = i < self->items->len ? g_ptr_array_index (self->items, i) : NULL;
  g_mutex_unlock (&self->lock);
  return note;
}

static gint
note_compare (gconstpointer a,
              gconstpointer b)
{
  const VnNote *x = *(const VnNote * const *) a;
  const VnNote *y = *(const VnNote * const *) b;
  int order = (int) y->level - (int) x->level;

  if (order == 0)
    order = g_strcmp0 (x->code, y->code);
  if (order == 0)
    order = g_strcmp0 (x->subject, y->subject);
  return order != 0 ? order : g_strcmp0 (x->text, y->text);
}

/**
 * vn_notes_sort:
 *
 * Orders by level (worst first), code and subject: the same list whatever
 * thread wrote first.
 */
void
vn_notes_sort (VnNotes *self)
{
  g_return_if_fail (self != NULL);

  g_mutex_lock (&self->lock);
  g_ptr_array_sort (self->items, note_compare);
  g_mutex_unlock (&self->lock);
}
