/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Saves a project as it changes: into the file that its user chose, or, until there is one, into a draft. */

#include "vn-project-file.h"
#include "vn-model.h"

#include <glib-object.h>

G_BEGIN_DECLS

/**
 * VnKeeper: of the main thread.
 */
typedef struct _VnKeeper VnKeeper;

/**
 * VnSaving: a project on its way to a file.
 * @model: it is about
 * @project: (transfer full): what is written; its digest is added
 * @records: (transfer full) (element-type VnProjectRun): by run of @project what was in memory when it was asked for
 * @removed: (transfer full) (element-type VnProjectRun): runs that the file is not to have any more
 */
typedef struct
{
  VnModel   *model;
  VnProject *project;
  GPtrArray *records, *removed;
} VnSaving;

/**
 * VnKeeperFuncs: called on the main thread.
 * @snapshot: fills @kept with the project as it is now
 * @is_worth: whether a project without a file is worth a draft
 * @kept: it is in the file
 * @failed: nothing can be written; reported once, though it is tried again with every change
 */
typedef struct
{
  void     (*snapshot) (gpointer owner, VnSaving *kept);
  gboolean (*is_worth) (gpointer owner);
  void     (*kept)     (gpointer owner, const VnSaving *kept);
  void     (*failed)   (gpointer owner, const GError *error);
} VnKeeperFuncs;

VnKeeper   *vn_keeper_new           (GObject             *owner,
                                     const VnKeeperFuncs *funcs);
void        vn_keeper_free          (VnKeeper *self);
void        vn_keeper_touch         (VnKeeper *self);
void        vn_keeper_settle        (VnKeeper *self);
void        vn_keeper_keep          (VnKeeper *self);
void        vn_keeper_flush         (VnKeeper *self);
char       *vn_keeper_leave         (VnKeeper *self);   /* of the draft that stays; NULL: there is none */
void        vn_keeper_forget_digest (VnKeeper *self);
const char *vn_keeper_get_digest    (VnKeeper *self);   /* NULL: not known */
const char *vn_keeper_get_place     (VnKeeper *self);   /* NULL: nothing is kept yet */
const char *vn_keeper_get_path      (VnKeeper *self);   /* NULL: no file yet */
gboolean    vn_keeper_save          (VnKeeper    *self,
                                     const char  *path,
                                     char       **left,   /* out, nullable */
                                     GError     **error);
gboolean    vn_keeper_take_place    (VnKeeper    *self,
                                     const char  *path,
                                     GError     **error);

/* ---- a copy elsewhere ---- */

gpointer vn_keeper_begin_copy (VnKeeper   *self,
                               const char *path);
gboolean vn_keeper_write_copy (gpointer   copy,
                               GError   **error);
void     vn_keeper_free_copy  (gpointer copy);

G_END_DECLS
