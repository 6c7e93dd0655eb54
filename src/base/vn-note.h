/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Findings that do not stop the work, collected from any thread. */

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  VN_NOTE_INFO,
  VN_NOTE_WARNING,
  VN_NOTE_PROBLEM,
  VN_N_NOTE_LEVELS
} VnNoteLevel;

/**
 * VnNote:
 *
 * A finding that does not stop the work: a sample that could not be read, a
 * pattern that matches nothing, a node left in float.
 */
typedef struct
{
  VnNoteLevel  level;
  char        *code;     /* stable, for machines: "sample-unreadable" */
  char        *subject;  /* node, tensor or file; may be NULL */
  char        *text;     /* one translated sentence */
  char        *remedy;   /* what to do about it, translated; may be NULL */
} VnNote;

/* The code of what says that the tensor it is about has NaN or infinite weights. */
#define VN_NOTE_WEIGHTS_NOT_FINITE "weights-not-finite"

/**
 * VnNotes: list of #VnNote; the functions may be called from any thread.
 */
typedef struct _VnNotes VnNotes;

VnNotes      *vn_notes_new   (void);
VnNotes      *vn_notes_ref   (VnNotes     *self);
void          vn_notes_unref (VnNotes     *self);
void          vn_notes_add   (VnNotes     *self,
                              VnNoteLevel  level,
                              const char  *code,
                              const char  *subject,
                              const char  *format,
                              ...) G_GNUC_PRINTF (5, 6);
void          vn_notes_add_remedy (VnNotes     *self,
                                   VnNoteLevel  level,
                                   const char  *code,
                                   const char  *subject,
                                   const char  *remedy,
                                   const char  *format,
                                   ...) G_GNUC_PRINTF (6, 7);
guint         vn_notes_get_n (VnNotes     *self);
const VnNote *vn_notes_get   (VnNotes     *self,
                              guint        i);
void          vn_notes_sort  (VnNotes     *self);

const char   *vn_note_level_get_id (VnNoteLevel  level);      /* "warning" */
gboolean      vn_note_level_find   (const char  *id,
                                    VnNoteLevel *level);      /* FALSE: there is none of that name */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnNotes, vn_notes_unref)

G_END_DECLS
