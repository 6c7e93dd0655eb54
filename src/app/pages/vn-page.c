/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all pages of the window have in common, as the window sees them. */
#include "vn-page.h"

G_DEFINE_INTERFACE (VnPage, vn_page, GTK_TYPE_WIDGET)

static void
vn_page_default_init (VnPageInterface *interface G_GNUC_UNUSED)
{
}

/**
 * vn_page_set_document:
 * @document: what the page shows from now on
 *
 * To be called once.
 */
void
vn_page_set_document (VnPage     *self,
                      VnDocument *document)
{
  g_return_if_fail (VN_IS_PAGE (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  VN_PAGE_GET_IFACE (self)->set_document (self, document);
}

/**
 * vn_page_reveal_selection:
 *
 * Brings the selected node into view, on a page that can.
 */
void
vn_page_reveal_selection (VnPage *self)
{
  VnPageInterface *interface;

  g_return_if_fail (VN_IS_PAGE (self));

  interface = VN_PAGE_GET_IFACE (self);
  if (interface->reveal_selection != NULL)
    interface->reveal_selection (self);
}

/**
 * vn_page_focus_search:
 *
 * Returns: %FALSE if the page has nothing to search in
 */
gboolean
vn_page_focus_search (VnPage *self)
{
  VnPageInterface *interface;

  g_return_val_if_fail (VN_IS_PAGE (self), FALSE);

  interface = VN_PAGE_GET_IFACE (self);
  if (interface->focus_search == NULL)
    return FALSE;
  interface->focus_search (self);
  return TRUE;
}

/**
 * vn_page_get_actions:
 *
 * Returns: (transfer none) (nullable): what can be done with the page
 */
GActionGroup *
vn_page_get_actions (VnPage *self)
{
  VnPageInterface *interface;

  g_return_val_if_fail (VN_IS_PAGE (self), NULL);

  interface = VN_PAGE_GET_IFACE (self);
  return interface->get_actions != NULL ? interface->get_actions (self) : NULL;
}

/**
 * vn_page_get_foot:
 *
 * Returns: (transfer none) (nullable): the bar that comes and goes at the foot of the page
 */
GtkRevealer *
vn_page_get_foot (VnPage *self)
{
  VnPageInterface *interface;

  g_return_val_if_fail (VN_IS_PAGE (self), NULL);

  interface = VN_PAGE_GET_IFACE (self);
  return interface->get_foot != NULL ? interface->get_foot (self) : NULL;
}
