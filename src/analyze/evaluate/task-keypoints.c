/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keypoints of one person or face on a picture, as an output that has for each
 *
 *   a map      [1, K, H, W] or [1, H, W, K], 2 to 16 times smaller than the picture: its highest value is where the point is, and
 *              how sure that is. Told from masks and features by values between 0 and 1 that are high in small spots only,
 *              without a plateau, and do not add up to 1 over the maps.
 *   two rows   [1, K, W * s] beside [1, K, H * s]: the places of the highest values are the coordinates (SimCC; Li et al., 2022).
 *   numbers    [1, K, 2 or 3], in pixels or in parts of the picture; the third may be how sure that is. Other outputs have at
 *              most a number for each. */
#include "vn-task-reader.h"

#include "vn-thresholds.h"

#include <math.h>

#define MOST_MAPS 1024
#define LEAST_STRIDE 2
#define MOST_STRIDE 16
#define MOST_SPOT_SHARE 0.1      /* of a map, with half of its highest value or more */
#define LEAST_SPOT_MAPS 0.8      /* of the maps that show something */
#define MOST_PLATEAU_SHARE 0.4   /* of such a spot, with nine tenths of the highest value or more */
#define LEAST_PLATEAU 10u        /* cells from which on a spot can have one */
#define LEAST_POINTS 4

typedef enum { MAPS, ROWS, POINTS } Form;

/* @last: the maps are the last axis */
typedef struct
{
  Form     form;
  guint    x, y;           /* outputs; of maps and points both are the same */
  gboolean last, has_score;
} Layout;

typedef struct { double x, y, score; } Point;

/* @diagonal: of the picture, in the unit of the points */
typedef struct
{
  double diagonal;
  guint  n;
  Point *points;
} Answer;

/* ---- maps ---- */

typedef struct
{
  const VnTensor *tensor;
  gsize           n_maps, height, width, map_step, cell_step;
} Maps;

static gboolean
keypoints_get_maps (const VnTensor *tensor,
                    gboolean        last,
                    Maps           *maps)
{
  const VnShape *shape = &tensor->shape;

  if (vn_tensor_is_container (tensor) || !vn_dtype_is_float (tensor->dtype) || shape->rank != 4 || tensor->n_elements == 0)
    return FALSE;
  maps->tensor = tensor;
  maps->n_maps = (gsize) shape->dims[last ? 3 : 1];
  maps->height = (gsize) shape->dims[last ? 1 : 2];
  maps->width = (gsize) shape->dims[last ? 2 : 3];
  maps->map_step = last ? 1 : maps->height * maps->width;
  maps->cell_step = last ? maps->n_maps : 1;
  return maps->n_maps <= MOST_MAPS;
}

static double
keypoints_get (const Maps *maps,
               gsize       map,
               gsize       cell)
{
  return vn_tensor_get_double (maps->tensor, map * maps->map_step + cell * maps->cell_step);
}

static gsize
keypoints_find_peak (const Maps *maps,
                     gsize       map)
{
  gsize best = 0;

  for (gsize i = 1; i < maps->height * maps->width; i++)
    if (keypoints_get (maps, map, i) > keypoints_get (maps, map, best))
      best = i;
  return best;
}

static gboolean
keypoints_is_spot (const Maps *maps,
                   gsize       map,
                   double      peak)
{
  const gsize n = maps->height * maps->width;
  gsize n_half = 0, n_high = 0;

  for (gsize i = 0; i < n; i++)
    {
      n_half += keypoints_get (maps, map, i) >= 0.5 * peak;
      n_high += keypoints_get (maps, map, i) >= 0.9 * peak;
    }
  return (double) n_half <= MOST_SPOT_SHARE * (double) n &&
         (n_half < LEAST_PLATEAU || (double) n_high <= MOST_PLATEAU_SHARE * (double) n_half);
}

static gboolean
keypoints_add_up (const Maps *maps)
{
  for (gsize i = 0; i < maps->height * maps->width; i++)
    {
      double sum = 0;

      for (gsize k = 0; k < maps->n_maps; k++)
        sum += keypoints_get (maps, k, i);
      if (!(fabs (sum - 1) < 0.01))
        return FALSE;
    }
  return TRUE;
}

static gboolean
keypoints_are_spots (const Maps *maps)
{
  guint n_shown = 0, n_spots = 0;

  for (gsize i = 0; i < maps->tensor->n_elements; i++)
    {
      double value = vn_tensor_get_double (maps->tensor, i);

      if (!(value >= -0.5 && value <= 1.5))
        return FALSE;
    }
  for (gsize k = 0; k < maps->n_maps; k++)
    {
      const double peak = keypoints_get (maps, k, keypoints_find_peak (maps, k));

      n_shown += peak >= VN_CONFIDENT_SCORE;
      n_spots += peak >= VN_CONFIDENT_SCORE && keypoints_is_spot (maps, k, peak);
    }
  return n_spots > 0 && (double) n_spots >= LEAST_SPOT_MAPS * n_shown && !keypoints_add_up (maps);
}

static gboolean
keypoints_fits_picture (const VnTaskOutputs *outputs,
                        const Maps          *maps)
{
  const gint64 stride = maps->height > 0 ? outputs->height / (gint64) maps->height : 0;

  return stride >= LEAST_STRIDE && stride <= MOST_STRIDE && (gint64) maps->height * stride == outputs->height &&
         (gint64) maps->width * stride == outputs->width;
}

static gboolean
keypoints_find_maps (const VnTaskOutputs *outputs,
                     Layout              *layout)
{
  Maps maps;

  for (guint i = 0; i < outputs->n; i++)
    for (guint last = 0; last < 2; last++)
      if (keypoints_get_maps (outputs->tensors[i], last == 1, &maps) && keypoints_fits_picture (outputs, &maps) &&
          (vn_task_is_given (outputs, VN_TASK_KEYPOINTS) || keypoints_are_spots (&maps)))
        {
          *layout = (Layout) { MAPS, i, i, last == 1, TRUE };
          return TRUE;
        }
  return FALSE;
}

/* ---- rows ---- */

/* Numbers for each part of the picture's @size; 0: this is no such row. */
static gint64
keypoints_count_parts (const VnTensor *tensor,
                       gint64          size)
{
  const VnShape *shape = &tensor->shape;

  if (vn_tensor_is_container (tensor) || !vn_dtype_is_float (tensor->dtype) || shape->rank != 3 ||
      shape->dims[1] < LEAST_POINTS ||
      size == 0 || shape->dims[2] % size != 0)
    return 0;
  return shape->dims[2] / size;
}

static gboolean
keypoints_find_rows (const VnTaskOutputs *outputs,
                     Layout              *layout)
{
  for (guint x = 0; x < outputs->n && outputs->n == 2; x++)
    {
      const VnTensor *a = outputs->tensors[x], *b = outputs->tensors[1 - x];
      const gint64 parts = keypoints_count_parts (a, outputs->width);

      if (parts == 0 || parts > 4 || parts != keypoints_count_parts (b, outputs->height) || a->shape.dims[1] != b->shape.dims[1])
        continue;
      *layout = (Layout) { ROWS, x, 1 - x, FALSE, FALSE };
      return TRUE;
    }
  return FALSE;
}

/* ---- numbers ---- */

/* How many points of how many numbers; 0: this is no list of them. */
static gsize
keypoints_count_points (const VnTensor *tensor,
                        gsize          *n_numbers)
{
  const VnShape *shape = &tensor->shape;
  const int rank = shape->rank;

  if (vn_tensor_is_container (tensor) || !vn_dtype_is_float (tensor->dtype) || rank < 3 || rank > 4 ||
      (rank == 4 && shape->dims[1] != 1) || shape->dims[rank - 2] < LEAST_POINTS || shape->dims[rank - 2] > MOST_MAPS ||
      shape->dims[rank - 1] < 2 || shape->dims[rank - 1] > 3)
    return 0;
  *n_numbers = (gsize) shape->dims[rank - 1];
  return (gsize) shape->dims[rank - 2];
}

/* All lie on the picture, or little beside it, and are not all in one place; @size: 1, or that of the picture in pixels */
static gboolean
keypoints_lie_within (const VnTensor *tensor,
                      gsize           n,
                      gsize           n_numbers,
                      double          width,
                      double          height)
{
  double least[2] = { INFINITY, INFINITY }, most[2] = { -INFINITY, -INFINITY };

  for (gsize i = 0; i < n; i++)
    for (gsize k = 0; k < 2; k++)
      {
        double value = vn_tensor_get_double (tensor, i * n_numbers + k);

        least[k] = MIN (least[k], value);
        most[k] = MAX (most[k], value);
      }
  return least[0] >= -0.2 * width && least[1] >= -0.2 * height && most[0] <= 1.2 * width && most[1] <= 1.2 * height &&
         most[0] - least[0] >= 0.02 * width && most[1] - least[1] >= 0.02 * height && (width < 2 || most[0] > 2);
}

/* Probabilities of two or three classes look like points in parts of a picture. */
static gboolean
keypoints_are_shares (const VnTensor *tensor,
                      gsize           n,
                      gsize           n_numbers)
{
  for (gsize i = 0; i < n; i++)
    {
      double sum = 0;

      for (gsize k = 0; k < n_numbers; k++)
        sum += vn_tensor_get_double (tensor, i * n_numbers + k);
      if (!(fabs (sum - 1) < 0.01))
        return FALSE;
    }
  return TRUE;
}

static gboolean
keypoints_are_scores (const VnTensor *tensor,
                      gsize           n,
                      gsize           n_numbers)
{
  for (gsize i = 0; i < n && n_numbers == 3; i++)
    if (!(vn_tensor_get_double (tensor, i * 3 + 2) >= 0 && vn_tensor_get_double (tensor, i * 3 + 2) <= 1))
      return FALSE;
  return n_numbers == 3;
}

/* What else is told is how sure all is, or each point. */
static gboolean
keypoints_has_few_others (const VnTaskOutputs *outputs,
                          guint                output,
                          gsize                n)
{
  for (guint i = 0; i < outputs->n; i++)
    if (i != output && (vn_tensor_is_container (outputs->tensors[i]) || outputs->tensors[i]->n_elements > n))
      return FALSE;
  return TRUE;
}

static gboolean
keypoints_find_points (const VnTaskOutputs *outputs,
                       Layout              *layout)
{
  const double width = (double) outputs->width, height = (double) outputs->height;
  gsize n, n_numbers;

  for (guint i = 0; i < outputs->n && outputs->height > 0; i++)
    {
      const VnTensor *tensor = outputs->tensors[i];

      if ((n = keypoints_count_points (tensor, &n_numbers)) == 0 || !keypoints_has_few_others (outputs, i, n) ||
          keypoints_are_shares (tensor, n, n_numbers) ||
          !(keypoints_lie_within (tensor, n, n_numbers, 1, 1) || keypoints_lie_within (tensor, n, n_numbers, width, height)))
        continue;
      *layout = (Layout) { POINTS, i, i, FALSE, keypoints_are_scores (tensor, n, n_numbers) };
      return TRUE;
    }
  return FALSE;
}

static gpointer
keypoints_recognize (const VnTaskOutputs *outputs)
{
  Layout layout;

  if (keypoints_find_maps (outputs, &layout) || keypoints_find_rows (outputs, &layout) ||
      keypoints_find_points (outputs, &layout))
    return g_memdup2 (&layout, sizeof layout);
  return NULL;
}

/* ---- where they are ---- */

static void
keypoints_free (gpointer data)
{
  Answer *self = data;

  g_free (self->points);
  g_free (self);
}

static gpointer
keypoints_new (gsize  n,
               double diagonal)
{
  Answer *self = g_new0 (Answer, 1);

  self->n = (guint) n;
  self->diagonal = diagonal;
  self->points = g_new0 (Point, n);
  return self;
}

static Answer *
keypoints_read_maps (const Layout   *layout,
                     const VnTensor *tensor)
{
  Maps maps;
  Answer *self;

  if (!keypoints_get_maps (tensor, layout->last, &maps))
    return NULL;
  self = keypoints_new (maps.n_maps, hypot ((double) maps.width, (double) maps.height));
  for (gsize k = 0; k < maps.n_maps; k++)
    {
      const gsize peak = keypoints_find_peak (&maps, k);

      self->points[k] = (Point) { (double) (peak % maps.width), (double) (peak / maps.width), keypoints_get (&maps, k, peak) };
    }
  return self;
}

static double
keypoints_find_place (const VnTensor *tensor,
                      gsize           row)
{
  const gsize n = (gsize) tensor->shape.dims[2];
  gsize best = 0;

  for (gsize i = 1; i < n; i++)
    if (vn_tensor_get_double (tensor, row * n + i) > vn_tensor_get_double (tensor, row * n + best))
      best = i;
  return (double) best;
}

static Answer *
keypoints_read_rows (const VnTensor *x,
                     const VnTensor *y)
{
  Answer *self;

  if (vn_tensor_is_container (x) || vn_tensor_is_container (y) || x->shape.rank != 3 || y->shape.rank != 3 ||
      x->shape.dims[1] != y->shape.dims[1] || x->n_elements == 0 || y->n_elements == 0)
    return NULL;
  self = keypoints_new ((gsize) x->shape.dims[1], hypot ((double) x->shape.dims[2], (double) y->shape.dims[2]));
  for (guint i = 0; i < self->n; i++)
    self->points[i] = (Point) { keypoints_find_place (x, i), keypoints_find_place (y, i), 1 };
  return self;
}

/* In parts of the picture unless one lies more than two parts away. */
static Answer *
keypoints_read_points (const Layout        *layout,
                       const VnTaskOutputs *outputs,
                       const VnTensor      *tensor)
{
  gsize n_numbers, n = keypoints_count_points (tensor, &n_numbers);
  Answer *self;
  double most = 0;

  if (n == 0)
    return NULL;
  self = keypoints_new (n, G_SQRT2);
  for (gsize i = 0; i < n; i++)
    {
      self->points[i] = (Point) { vn_tensor_get_double (tensor, i * n_numbers), vn_tensor_get_double (tensor, i * n_numbers + 1),
                                  layout->has_score ? vn_tensor_get_double (tensor, i * n_numbers + 2) : 1 };
      most = MAX (most, MAX (self->points[i].x, self->points[i].y));
    }
  if (most > 2)
    self->diagonal = hypot ((double) outputs->width, (double) outputs->height);
  return self;
}

static gpointer
keypoints_read (gconstpointer        data,
                const VnTaskOutputs *outputs)
{
  const Layout *layout = data;

  if (layout->x >= outputs->n || layout->y >= outputs->n)
    return NULL;
  switch (layout->form)
    {
    case MAPS:
      return keypoints_read_maps (layout, outputs->tensors[layout->x]);
    case ROWS:
      return keypoints_read_rows (outputs->tensors[layout->x], outputs->tensors[layout->y]);
    default:
      return keypoints_read_points (layout, outputs, outputs->tensors[layout->x]);
    }
}

static void
keypoints_compare (gconstpointer  first,
                   gconstpointer  other,
                   guint          item,
                   VnKeptSum     *sum)
{
  const Answer *a = first, *b = other;

  for (guint i = 0; i < a->n; i++)
    {
      const Point *x = &a->points[i], none = { 0 }, *y = i < b->n ? &b->points[i] : &none;
      const gboolean shown = x->score >= VN_CONFIDENT_SCORE, shown_by_other = y->score >= VN_CONFIDENT_SCORE;

      sum->n += shown;
      sum->n_kept += shown && shown_by_other && hypot (x->x - y->x, x->y - y->y) <= VN_KEYPOINT_REACH * a->diagonal;
      sum->n_added += !shown && shown_by_other;
    }
}

const VnTaskReader vn_task_keypoints = {
  .recognize = keypoints_recognize,
  .read = keypoints_read,
  .free = keypoints_free,
  .compare = keypoints_compare,
};
