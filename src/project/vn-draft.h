/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-project-file.h"

G_BEGIN_DECLS

/**
 * VnDraft: a project that its user has not saved yet, in a folder of the program's own. As long as somebody works on it
 * nobody else can open it; when the program ends, in whatever way, it can be opened again.
 */
typedef struct _VnDraft VnDraft;

char       *vn_drafts_dup_folder (void);
GPtrArray  *vn_drafts_list       (const char  *folder);   /* of char: paths of those that nobody works on, newest first */
gboolean    vn_drafts_have       (const char  *folder,
                                  const char  *path);

VnDraft    *vn_draft_new         (const char  *folder,
                                  GError     **error);
VnDraft    *vn_draft_open        (const char  *path,
                                  GError     **error);
VnDraft    *vn_draft_ref         (VnDraft     *self);
void        vn_draft_unref       (VnDraft     *self);
const char *vn_draft_get_path    (VnDraft     *self);
gboolean    vn_draft_discard     (VnDraft     *self,
                                  GError     **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnDraft, vn_draft_unref)

G_END_DECLS
