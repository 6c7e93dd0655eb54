/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the message of an error valid UTF-8, whatever names of files and nodes are in it. */
#include "vn-message.h"

/**
 * vn_message_make_valid:
 * @error: (nullable): where an error may be
 *
 * Names in a message come from files, and names of files from anywhere: bytes that are no UTF-8 become U+FFFD, so that the
 * message can be shown and written as JSON.
 */
void
vn_message_make_valid (GError **error)
{
  char *valid;

  if (error == NULL || *error == NULL || g_utf8_validate ((*error)->message, -1, NULL))
    return;
  valid = g_utf8_make_valid ((*error)->message, -1);
  g_free ((*error)->message);
  (*error)->message = valid;
}
