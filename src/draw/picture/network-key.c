/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key below the picture of a network: swatches with their ticks, what they mean, and of how many nodes. */
#include "network-key.h"

#include "vn-i18n.h"
#include "vn-sign.h"

#define SIZE 10.5      /* of text */
#define ROW  22.0
#define GAP  20.0      /* between two items */

/* Where the next item goes. */
typedef struct
{
  VnPen  *pen;        /* nullable */
  double  width, x, y;
} Key;

static void
network_key_add (Key          *self,
                 const VnSign *sign,
                 const char   *title,
                 const char   *limit,
                 guint         n)
{
  const VnFont font = { SIZE, FALSE, VN_ANCHOR_START };
  g_autofree char *text = NULL;
  double length;

  if (n == 0)
    return;
  /* Translators: a band of errors, where it begins, and how many nodes there are: “Fine, above 20 dB: 111” */
  text = limit != NULL ? g_strdup_printf (_("%s, %s: %u"), title, limit, n) : g_strdup_printf ("%s: %u", title, n);
  length = VN_SWATCH_WIDTH + 6 + vn_pen_measure (text, SIZE, FALSE);
  if (self->x > 0 && self->x + length > self->width)
    {
      self->x = 0;
      self->y += ROW;
    }
  if (self->pen != NULL)
    {
      vn_sign_draw (sign, self->pen, self->x, self->y);
      vn_pen_text (self->pen, self->x + VN_SWATCH_WIDTH + 6, self->y + 12, font, VN_INK (1), text);
    }
  self->x += length + GAP;
}

/*< private >
 * _vn_network_key:
 * @pen: (nullable): %NULL: nothing is drawn
 * @limits: (array fixed-size=2) (nullable): where fine ends and bad begins: "above 20 dB", "below 10 dB"
 * @y: of its upper edge
 *
 * Returns: how high it is
 */
double
_vn_network_key (VnPen              *pen,
                 const VnScene      *scene,
                 const VnOverlay    *overlay,
                 char * const       *limits,
                 double              width,
                 double              y)
{
  const VnSign fine = vn_sign_swatch (0.15, 1), watch = vn_sign_swatch (0.5, 2), bad = vn_sign_swatch (0.85, 4),
  excluded = vn_sign_swatch (-1, 0);
  guint n_fine, n_watch, n_bad, n_excluded = 0;
  Key key = { pen, width, 0, y };

  vn_overlay_count (overlay, &n_fine, &n_watch, &n_bad);
  for (guint i = 0; i < vn_scene_get_n_nodes (scene); i++)
    n_excluded += vn_scene_get_node (scene, i)->excluded;
  network_key_add (&key, &fine, _("Fine"), limits != NULL ? limits[0] : NULL, n_fine);
  network_key_add (&key, &watch, _("Borderline"), NULL, n_watch);
  network_key_add (&key, &bad, _("Bad"), limits != NULL ? limits[1] : NULL, n_bad);
  network_key_add (&key, &excluded, _("Not quantized"), NULL, n_excluded);
  return key.y - y + ROW;
}
