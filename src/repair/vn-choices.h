/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of many changes to make for a given price: each gains something, costs something, and may require others. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnChoices: changes that may be made.
 */
typedef struct _VnChoices VnChoices;

/**
 * VnChoiceSet: some of them.
 * @gain, @cost: of all of them together
 * @taken: by number
 */
typedef struct
{
  double    gain, cost;
  gboolean *taken;
} VnChoiceSet;

VnChoices *vn_choices_new       (void);
void       vn_choices_free      (VnChoices    *self);
guint      vn_choices_add       (VnChoices    *self,
                                 double        gain,
                                 double        cost);
void       vn_choices_set_gain  (VnChoices    *self,
                                 guint         which,
                                 double        gain);
void       vn_choices_add_cost  (VnChoices    *self,
                                 guint         which,
                                 double        more);
void       vn_choices_require   (VnChoices    *self,
                                 guint         which,
                                 guint         required);
guint      vn_choices_get_n     (VnChoices    *self);
GPtrArray *vn_choices_find_hull (VnChoices    *self);     /* of VnChoiceSet */
GPtrArray *vn_choices_find_path (VnChoices    *self);     /* of VnChoiceSet */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnChoices, vn_choices_free)

G_END_DECLS
