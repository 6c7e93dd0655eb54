/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NonMaxSuppression: boxes in the order of their scores, without those that overlap a chosen one too much. How many
 * there are depends on the values, so they are chosen as soon as those are known. */
#include "vn-number.h"

#include "vn-memory.h"

enum { BOXES, SCORES, MAX_BOXES, IOU_THRESHOLD, SCORE_THRESHOLD };

typedef struct
{
  const float *boxes, *scores;   /* of one picture, of one class */
  gsize        n_boxes;
  gint64       max_boxes;
  float        iou_threshold, score_threshold;
  gboolean     centered;
  gsize       *order;
  gint64      *chosen;           /* three numbers each */
  gsize        n_chosen, room;
} Selection;

typedef struct
{
  float x0, y0, x1, y1;
} Box;

static Box
nms_load_box (const Selection *self,
              gsize            i)
{
  const float *b = self->boxes + 4 * i;

  if (self->centered)
    return (Box) { b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2 };
  return (Box) { MIN (b[1], b[3]), MIN (b[0], b[2]), MAX (b[1], b[3]), MAX (b[0], b[2]) };
}

static gboolean
nms_overlaps (const Selection *self,
              const Box       *a,
              const Box       *b)
{
  float w = MIN (a->x1, b->x1) - MAX (a->x0, b->x0), h = MIN (a->y1, b->y1) - MAX (a->y0, b->y0);
  float both, area_a = (a->x1 - a->x0) * (a->y1 - a->y0), area_b = (b->x1 - b->x0) * (b->y1 - b->y0), all;

  if (!(w > 0.f && h > 0.f))
    return FALSE;
  both = w * h;
  all = area_a + area_b - both;
  return area_a > 0.f && area_b > 0.f && all > 0.f && both / all > self->iou_threshold;
}

static int
nms_compare_scores (gconstpointer data,
                    gsize         a,
                    gsize         b)
{
  const Selection *self = data;

  return self->scores[a] > self->scores[b] ? -1 : self->scores[a] < self->scores[b];
}

static gboolean
nms_add (Selection  *self,
         gint64      batch,
         gint64      class,
         gsize       box,
         GError    **error)
{
  if (self->n_chosen == self->room)
    {
      gsize room = MAX (64, 2 * self->room);
      gint64 *larger = vn_try_new (gint64, 3 * room, error);

      if (larger == NULL)
        return FALSE;
      if (self->n_chosen > 0)
        memcpy (larger, self->chosen, 3 * self->n_chosen * sizeof (gint64));
      g_free (self->chosen);
      self->chosen = larger;
      self->room = room;
    }
  memcpy (self->chosen + 3 * self->n_chosen++, (gint64[]) { batch, class, (gint64) box }, 3 * sizeof (gint64));
  return TRUE;
}

/* A score that is no number cannot be ranked: it is left out. */
static gboolean
nms_select_class (Selection  *self,
                  gint64      batch,
                  gint64      class,
                  GError    **error)
{
  gsize n = 0, first = self->n_chosen;

  for (gsize i = 0; i < self->n_boxes; i++)
    if (self->scores[i] > self->score_threshold || (self->score_threshold == -INFINITY && !isnan (self->scores[i])))
      self->order[n++] = i;
  if (!vn_order_sort (self->order, n, nms_compare_scores, self, error))
    return FALSE;
  for (gsize i = 0; i < n && (gint64) (self->n_chosen - first) < self->max_boxes; i++)
    {
      Box box = nms_load_box (self, self->order[i]);
      gboolean free = TRUE;

      for (gsize k = first; k < self->n_chosen && free; k++)
        {
          Box other = nms_load_box (self, (gsize) self->chosen[3 * k + 2]);

          free = !nms_overlaps (self, &box, &other);
        }
      if (free && !nms_add (self, batch, class, self->order[i], error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
nms_read_limits (VnOpContext  *ctx,
                 Selection    *self,
                 GError      **error)
{
  double iou = 0, score = -INFINITY;
  gboolean known;

  self->max_boxes = 0;
  self->centered = vn_node_get_int (ctx->node, "center_point_box", 0) != 0;
  if (ctx->n_inputs > MAX_BOXES && ctx->in[MAX_BOXES] != NULL)
    {
      if (!vn_op_check_index_dtype (ctx, MAX_BOXES, error))
        return FALSE;
      if (ctx->in[MAX_BOXES]->n_elements != 1)
        return vn_op_fail (ctx, error, _("NonMaxSuppression: max_output_boxes_per_class must be 1 number, found %zu"),
                           ctx->in[MAX_BOXES]->n_elements);
      self->max_boxes = vn_tensor_get_s64 (ctx->in[MAX_BOXES], 0);
    }
  if (!vn_number_scalar (ctx, IOU_THRESHOLD, &iou, &known, error) ||
      !vn_number_scalar (ctx, SCORE_THRESHOLD, &score, &known, error))
    return FALSE;
  if (!(iou >= 0 && iou <= 1))
    return vn_op_fail (ctx, error, _("NonMaxSuppression: iou_threshold is %g, expected 0 to 1"), iou);
  self->iou_threshold = (float) iou;
  self->score_threshold = (float) score;
  return TRUE;
}

/* @self: (out): chosen must be freed, also after an error */
static gboolean
nms_select_all (VnOpContext  *ctx,
                Selection    *self,
                GError      **error)
{
  const VnTensor *boxes = ctx->in[BOXES], *scores = ctx->in[SCORES];
  gsize classes = (gsize) scores->shape.dims[1];

  if (boxes->dtype != VN_DTYPE_F32 || scores->dtype != VN_DTYPE_F32)
    return vn_op_unsupported (ctx, boxes->dtype != VN_DTYPE_F32 ? BOXES : SCORES, error);
  if (!nms_read_limits (ctx, self, error))
    return FALSE;
  self->n_boxes = (gsize) boxes->shape.dims[1];
  self->order = vn_op_try_alloc (self->n_boxes, sizeof (gsize), error);
  if (self->order == NULL)
    return FALSE;
  if (self->max_boxes > 0)
    for (gsize b = 0; b < (gsize) boxes->shape.dims[0]; b++)
      for (gsize c = 0; c < classes; c++)
        {
          self->boxes = (const float *) boxes->data + b * self->n_boxes * 4;
          self->scores = (const float *) scores->data + (b * classes + c) * self->n_boxes;
          if (!nms_select_class (self, (gint64) b, (gint64) c, error))
            return FALSE;
        }
  return TRUE;
}

static void
nms_selection_clear (Selection *self)
{
  g_free (self->order);
  g_free (self->chosen);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Selection, nms_selection_clear)

static gboolean
nms_check_shapes (VnOpContext  *ctx,
                  GError      **error)
{
  const VnShape *boxes = &ctx->in_types[BOXES].shape, *scores = &ctx->in_types[SCORES].shape;

  if ((boxes->rank >= 0 && (boxes->rank != 3 || (boxes->dims[2] >= 0 && boxes->dims[2] != 4))) ||
      (scores->rank >= 0 && scores->rank != 3))
    return vn_op_fail (ctx, error, _("NonMaxSuppression: boxes must be [batches, boxes, 4] and scores [batches, classes, "
                                     "boxes]; they have %d and %d dims"), boxes->rank, scores->rank);
  if (boxes->rank != 3 || scores->rank != 3)
    return TRUE;
  if ((boxes->dims[0] >= 0 && scores->dims[0] >= 0 && boxes->dims[0] != scores->dims[0]) ||
      (boxes->dims[1] >= 0 && scores->dims[2] >= 0 && boxes->dims[1] != scores->dims[2]))
    return vn_op_fail (ctx, error, _("NonMaxSuppression: %lld × %lld boxes, but scores for %lld × %lld"),
                       (long long) boxes->dims[0], (long long) boxes->dims[1], (long long) scores->dims[0],
                       (long long) scores->dims[2]);
  return TRUE;
}

static gboolean
nms_infer (VnOpContext *ctx,
           GError     **error)
{
  VnShape out = VN_SHAPE (VN_DIM_UNKNOWN, 3);
  gboolean known = ctx->in != NULL && ctx->out != NULL && ctx->out[0] == NULL;
  g_auto(Selection) self = { 0 };

  if (!nms_check_shapes (ctx, error))
    return FALSE;
  for (guint i = 0; i < ctx->n_inputs; i++)
    known = known && (ctx->in[i] != NULL || (i >= MAX_BOXES && !vn_op_has_input (ctx, i)));
  if (known)
    {
      if (!nms_select_all (ctx, &self, error))
        return FALSE;
      out.dims[0] = (gint64) self.n_chosen;
      ctx->out[0] = vn_tensor_new (VN_DTYPE_S64, &out, error);
      if (ctx->out[0] == NULL)
        return FALSE;
      if (self.n_chosen > 0)
        memcpy (ctx->out[0]->data, self.chosen, ctx->out[0]->n_bytes);
    }
  vn_op_set_output (ctx, 0, VN_DTYPE_S64, &out);
  return TRUE;
}

static gboolean
nms_run (VnOpContext *ctx,
         GError     **error)
{
  g_auto(Selection) self = { 0 };

  if (!nms_select_all (ctx, &self, error))
    return FALSE;
  if (self.n_chosen * 3 != ctx->out[0]->n_elements)
    return vn_op_fail (ctx, error, _("NonMaxSuppression: %zu boxes were selected instead of %zu"),
                       self.n_chosen, ctx->out[0]->n_elements / 3);
  if (self.n_chosen > 0)
    memcpy (ctx->out[0]->data, self.chosen, ctx->out[0]->n_bytes);
  return TRUE;
}

const VnOp vn_op_non_max_suppression_10 = {
  .domain = "", .type = "NonMaxSuppression", .since = 10,
  .min_inputs = 2, .max_inputs = 5, .min_outputs = 1, .max_outputs = 1,
  .others = { [2] = VN_LENGTH_BITS, [3] = VN_DTYPE_BIT (F32), [4] = VN_DTYPE_BIT (F32) },
  .same_dtype = 1u << 1,
  .dtypes = VN_DTYPE_BIT (F32),
  .family = VN_FAMILY_OTHER,
  .infer = nms_infer,
  .run = nms_run,
};
