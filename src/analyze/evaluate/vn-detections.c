/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Overlap of boxes, by which the same is found twice: in one network's boxes, and in those of two networks. */
#include "vn-detections.h"

#include "vn-thresholds.h"

/**
 * vn_detection_get_iou:
 *
 * Returns: area of what both share over that of what either covers: 0 to 1; 0 of boxes without area
 */
double
vn_detection_get_iou (const VnDetection *a,
                      const VnDetection *b)
{
  double width, height, both, either;

  g_return_val_if_fail (a != NULL && b != NULL, 0);

  width = MIN (a->x2, b->x2) - MAX (a->x1, b->x1);
  height = MIN (a->y2, b->y2) - MAX (a->y1, b->y1);
  if (!(width > 0 && height > 0))
    return 0;
  both = width * height;
  either = (a->x2 - a->x1) * (a->y2 - a->y1) + (b->x2 - b->x1) * (b->y2 - b->y1) - both;
  return either > 0 ? both / either : 0;
}

/* The higher score first; of equal ones the one on the left, on top, ... so that no order of computing shows. */
static int
detections_compare (gconstpointer a,
                    gconstpointer b)
{
  const VnDetection *x = a, *y = b;
  const double keys[][2] = { { y->score, x->score }, { x->label, y->label }, { x->x1, y->x1 }, { x->y1, y->y1 },
                             { x->x2, y->x2 }, { x->y2, y->y2 } };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (keys[i][0] < keys[i][1] || keys[i][0] > keys[i][1])
      return keys[i][0] < keys[i][1] ? -1 : 1;
  return 0;
}

/**
 * vn_detections_suppress:
 * @self: (element-type VnDetection): in any order; sorted by score afterwards, the best first
 *
 * Non-maximum suppression within each class: a box goes that overlaps a better one by more than VN_SUPPRESS_IOU. Only the
 * best VN_MOST_DETECTIONS are looked at.
 */
void
vn_detections_suppress (GArray *self)
{
  VnDetection *boxes;
  guint n = 0;

  g_return_if_fail (self != NULL);

  g_array_sort (self, detections_compare);
  boxes = (VnDetection *) (gpointer) self->data;
  for (guint i = 0; i < MIN (self->len, VN_MOST_DETECTIONS); i++)
    {
      gboolean stays = TRUE;

      for (guint k = 0; k < n && stays; k++)
        stays = boxes[k].label != boxes[i].label || vn_detection_get_iou (&boxes[k], &boxes[i]) <= VN_SUPPRESS_IOU;
      if (stays)
        boxes[n++] = boxes[i];
    }
  g_array_set_size (self, n);
}

/**
 * vn_detections_pair:
 * @first, @other: (element-type VnDetection): after suppression
 *
 * The best of @first choose before the others what overlaps them most; each of @other is chosen once.
 *
 * Returns: (transfer full) (element-type guint): by box of @first one of @other of the same class that overlaps by VN_KEPT_IOU or
 *   more; %VN_NO_PARTNER: there is none
 */
GArray *
vn_detections_pair (GArray *first,
                    GArray *other)
{
  GArray *partners;
  g_autofree gboolean *taken = NULL;

  g_return_val_if_fail (first != NULL && other != NULL, NULL);

  partners = g_array_sized_new (FALSE, FALSE, sizeof (guint), first->len);
  taken = g_new0 (gboolean, other->len + 1);
  for (guint i = 0; i < first->len; i++)
    {
      const VnDetection *box = &g_array_index (first, VnDetection, i);
      guint best = VN_NO_PARTNER;
      double most = 0;

      for (guint k = 0; k < other->len; k++)
        {
          const VnDetection *candidate = &g_array_index (other, VnDetection, k);
          double iou = taken[k] || candidate->label != box->label ? 0 : vn_detection_get_iou (box, candidate);

          if (iou >= VN_KEPT_IOU && iou > most)
            {
              most = iou;
              best = k;
            }
        }
      if (best != VN_NO_PARTNER)
        taken[best] = TRUE;
      g_array_append_val (partners, best);
    }
  return partners;
}

/**
 * vn_detections_match:
 * @first, @other: (element-type VnDetection): after suppression
 * @n_kept: (out): of @first, those that vn_detections_pair() finds one of @other for
 * @n_added: (out): of @other, those that are left over
 */
void
vn_detections_match (GArray *first,
                     GArray *other,
                     guint  *n_kept,
                     guint  *n_added)
{
  g_autoptr(GArray) partners = NULL;

  g_return_if_fail (first != NULL && other != NULL && n_kept != NULL && n_added != NULL);

  partners = vn_detections_pair (first, other);
  *n_kept = 0;
  for (guint i = 0; i < partners->len; i++)
    *n_kept += g_array_index (partners, guint, i) != VN_NO_PARTNER;
  *n_added = other->len - *n_kept;
}
