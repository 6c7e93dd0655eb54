/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log of edits: what each pass has changed, as a list and as text. */
#include "vn-graph-edit.h"

struct _VnEditLog
{
  GPtrArray  *edits;
  GPtrArray  *same;     /* of char, in pairs: a name, and that of a tensor that from then on holds its numbers, too, or NULL */
  const char *pass;
  gatomicrefcount ref;
};

static void
edit_free (gpointer data)
{
  VnEdit *edit = data;

  g_free (edit->subject);
  g_free (edit->target);
  g_free (edit->detail);
  g_free (edit);
}

VnEditLog *
vn_edit_log_new (void)
{
  VnEditLog *self = g_new0 (VnEditLog, 1);

  g_atomic_ref_count_init (&self->ref);
  self->edits = g_ptr_array_new_with_free_func (edit_free);
  self->same = g_ptr_array_new_with_free_func (g_free);
  self->pass = "";
  return self;
}

VnEditLog *
vn_edit_log_ref (VnEditLog *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_edit_log_unref:
 * @self: (nullable) (transfer full)
 */
void
vn_edit_log_unref (VnEditLog *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref))
    return;
  g_ptr_array_unref (self->edits);
  g_ptr_array_unref (self->same);
  g_free (self);
}

/**
 * vn_edit_log_set_pass:
 * @self: (nullable)
 * @pass: static id written to the edits that follow
 */
void
vn_edit_log_set_pass (VnEditLog  *self,
                      const char *pass)
{
  if (self != NULL)
    self->pass = pass;
}

/**
 * vn_edit_log_add:
 * @self: (nullable)
 * @verb: static: "remove", "add", "replace", "fold", "set"
 * @target: (nullable): node or value the subject went into
 * @format: what happened, in words
 */
void
vn_edit_log_add (VnEditLog  *self,
                 const char *verb,
                 const char *subject,
                 const char *target,
                 const char *format,
                 ...)
{
  VnEdit *edit;
  va_list args;

  if (self == NULL)
    return;
  edit = g_new0 (VnEdit, 1);
  edit->pass = self->pass;
  edit->verb = verb;
  edit->subject = g_strdup (subject);
  edit->target = g_strdup (target);
  va_start (args, format);
  edit->detail = g_strdup_vprintf (format, args);
  va_end (args);
  g_ptr_array_add (self->edits, edit);
}

guint
vn_edit_log_get_n (VnEditLog *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->edits->len;
}

const VnEdit *
vn_edit_log_get (VnEditLog *self,
                 guint      i)
{
  g_return_val_if_fail (self != NULL, NULL);

  return i < self->edits->len ? g_ptr_array_index (self->edits, i) : NULL;
}

/**
 * vn_edit_log_to_text:
 *
 * Returns: (transfer full): one line an edit: "fold-bn: fold /bn: into /conv"
 */
char *
vn_edit_log_to_text (VnEditLog *self)
{
  GString *text;

  g_return_val_if_fail (self != NULL, NULL);

  text = g_string_new (NULL);
  for (guint i = 0; i < self->edits->len; i++)
    {
      const VnEdit *edit = g_ptr_array_index (self->edits, i);

      g_string_append_printf (text, "%s: %s %s: %s\n", edit->pass, edit->verb, edit->subject, edit->detail);
    }
  return g_string_free (text, FALSE);
}

/**
 * vn_edit_log_note_same:
 * @self: (nullable)
 * @name: of a tensor, which may go now
 * @also: of another
 *
 * From here on @also holds the numbers of @name, too: perhaps in another order, or fewer of them, or with zeros between.
 */
void
vn_edit_log_note_same (VnEditLog  *self,
                       const char *name,
                       const char *also)
{
  g_return_if_fail (name != NULL && also != NULL);

  if (self == NULL || g_str_equal (name, also))
    return;
  g_ptr_array_add (self->same, g_strdup (name));
  g_ptr_array_add (self->same, g_strdup (also));
}

/**
 * vn_edit_log_note_other:
 * @self: (nullable)
 * @name: of a tensor that stays
 *
 * From here on it holds other numbers than those that its name stood for.
 */
void
vn_edit_log_note_other (VnEditLog  *self,
                        const char *name)
{
  g_return_if_fail (name != NULL);

  if (self == NULL)
    return;
  g_ptr_array_add (self->same, g_strdup (name));
  g_ptr_array_add (self->same, NULL);
}

guint
vn_edit_log_get_n_same (VnEditLog *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->same->len / 2;
}

/**
 * vn_edit_log_get_same:
 * @i: less than vn_edit_log_get_n_same(), in the order in which they were noted
 * @also: (out) (nullable): what vn_edit_log_note_same() was told; %NULL: vn_edit_log_note_other() was called
 *
 * Returns: the name
 */
const char *
vn_edit_log_get_same (VnEditLog   *self,
                      guint        i,
                      const char **also)
{
  g_return_val_if_fail (self != NULL && i < self->same->len / 2, NULL);

  *also = self->same->pdata[2 * i + 1];
  return self->same->pdata[2 * i];
}
