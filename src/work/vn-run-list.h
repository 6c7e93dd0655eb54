/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The runs of a bench: those that its project keeps, and of the last ones all that they gave. */

#include "vn-project-file.h"
#include "vn-run.h"

G_BEGIN_DECLS

/**
 * VnRunList: of the main thread.
 */
typedef struct _VnRunList VnRunList;

VnRunList *vn_run_list_new  (void);
void       vn_run_list_free (VnRunList *self);

GPtrArray    *vn_run_list_get            (VnRunList *self);   /* of VnProjectRun, oldest first; borrowed */
GPtrArray    *vn_run_list_get_removed    (VnRunList *self);   /* the same: those that can be returned */
void          vn_run_list_set            (VnRunList *self,
                                          GPtrArray *runs);   /* nullable */
VnProjectRun *vn_run_list_find           (VnRunList  *self,
                                          const char *id);   /* NULL: there is none */
VnProjectRun *vn_run_list_find_recipe    (VnRunList      *self,
                                          const VnRecipe *recipe);   /* the last; NULL: there is none */
void          vn_run_list_add            (VnRunList *self,
                                          VnRun     *result);
gboolean      vn_run_list_renew          (VnRunList *self,
                                          VnRun     *result);
gboolean      vn_run_list_remove         (VnRunList  *self,
                                          const char *id);
gboolean      vn_run_list_return         (VnRunList *self);
void          vn_run_list_forget_removed (VnRunList *self);
GPtrArray    *vn_run_list_copy           (GPtrArray *runs);
void          vn_run_list_take_saved     (VnRunList *self,
                                          GPtrArray *saved,
                                          GPtrArray *records);

/* ---- whole results ---- */

void       vn_run_list_remember     (VnRunList *self,
                                     VnRun     *result);
GPtrArray *vn_run_list_get_known    (VnRunList *self);   /* of VnRun, borrowed */
VnRun     *vn_run_list_find_known   (VnRunList      *self,
                                     const VnRecipe *recipe);   /* nullable; NULL: there is none */
void       vn_run_list_forget_known (VnRunList *self);

G_END_DECLS
