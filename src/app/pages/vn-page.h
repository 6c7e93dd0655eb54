/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnPage: what the window asks of its pages, the lines of vn-pages.def.
 * @set_document: the document is there: connect to it and show it
 * @reveal_selection: (nullable): brings the selected node into view
 * @get_actions: (nullable): what can be done with the page, for menus and shortcuts of the window, where they have its id as
 * prefix
 * @get_foot: (nullable): what floats at its foot while there is something to do with the selection
 * @focus_search: (nullable): puts the cursor where one searches on this page
 */
#define VN_TYPE_PAGE (vn_page_get_type ())
G_DECLARE_INTERFACE (VnPage, vn_page, VN, PAGE, GtkWidget)

struct _VnPageInterface
{
  GTypeInterface parent_interface;

  void (*set_document)     (VnPage     *self,
                            VnDocument *document);
  void (*reveal_selection) (VnPage     *self);
  void (*focus_search)     (VnPage     *self);
  GActionGroup *(*get_actions) (VnPage *self);
  GtkRevealer  *(*get_foot)    (VnPage *self);
};

void     vn_page_set_document     (VnPage     *self,
                                   VnDocument *document);
void     vn_page_reveal_selection (VnPage     *self);
gboolean vn_page_focus_search     (VnPage     *self);
GActionGroup *vn_page_get_actions (VnPage     *self);
GtkRevealer  *vn_page_get_foot    (VnPage     *self);

G_END_DECLS
