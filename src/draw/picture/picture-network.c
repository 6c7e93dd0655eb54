/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The picture of a network: the layout of the window, lying, in rows like lines of text, so that it fits a page. What is worst
 * has its name below its row. */
#include "vn-picture-private.h"

#include "network-key.h"
#include "vn-graph-index.h"
#include "vn-i18n.h"

#include <math.h>

#define MAX_ROWS      60u
#define MAX_LABELS    6u
#define HEIGHT_SHARE  0.42     /* of the width, that all rows may take */
#define WIDEST_ALONG  0.9      /* most pixels for a unit of the layout */
#define WIDEST_ACROSS 0.34
#define ROW_GAP       14.0
#define LANE          14.0     /* height of a line of labels */
#define N_LANES       3u
#define LABEL_SIZE    10.5
#define LABEL_WIDTH   170.0
#define KEY_GAP        4.0     /* above the key */
#define LEAST_INNER   12.0     /* of a box that has an inner line */
#define MAX_FINE       3u      /* labels where nothing is worse than fine */
#define FINE          0.06     /* pixels for a unit along, below which lines are thin */
#define EDGE_ROOM     24.0     /* units of the layout */
#define EDGES_LEAST   0.004    /* pixels for a unit across, below which edges are a grey area */

typedef struct
{
  double from, to;      /* along the layout: down, where the window shows it */
  double left, right;   /* across it: what boxes of the row take */
  guint  n_lanes;       /* of labels */
} Row;

typedef struct
{
  guint     node;
  char     *text;
  gboolean  is_bad;
} Label;

typedef struct
{
  VnPicture      picture;
  VnScene       *scene;
  VnOverlay     *overlay;
  gsize          is_laid;
  VnGraphLayout *layout;     /* nullable: it could not be laid out */
  GArray        *starts;     /* of double: where each rank begins */
  GArray        *labels;     /* of Label, worst first */
  char          *limits[2];  /* (nullable): what the key says of fine and bad */
} Network;

/* How a network is laid on a width. */
typedef struct
{
  const Network *self;
  VnPen         *pen;
  double         width, along, across;     /* pixels, and pixels for a unit */
  GArray        *rows;
} Strip;

/* ---- rows ---- */

/* One lane for each label, up to all lanes: two may lie close together. */
static void
network_count_lanes (const Network *self,
                     GArray        *rows)
{
  for (guint r = 0; r < rows->len; r++)
    {
      Row *row = &g_array_index (rows, Row, r);
      guint n = 0;

      for (guint i = 0; i < self->labels->len; i++)
        {
          const double at = vn_graph_layout_get_box (self->layout, g_array_index (self->labels, Label, i).node)->y;

          n += at >= row->from && (at < row->to || r + 1 == rows->len);
        }
      row->n_lanes = MIN (n, N_LANES);
    }
}

/* Boxes run from the first row to the last: one look at each finds its row. */
static void
network_find_breadths (const Network *self,
                       GArray        *rows)
{
  for (guint r = 0; r < rows->len; r++)
    {
      g_array_index (rows, Row, r).left = G_MAXDOUBLE;
      g_array_index (rows, Row, r).right = -G_MAXDOUBLE;
    }
  for (guint i = 0; i < vn_graph_layout_get_n_nodes (self->layout); i++)
    {
      const VnRect *box = vn_graph_layout_get_box (self->layout, i);
      guint r = 0;
      Row *row;

      while (r + 1 < rows->len && box->y >= g_array_index (rows, Row, r).to)
        r++;
      row = &g_array_index (rows, Row, r);
      row->left = MIN (row->left, box->x);
      row->right = MAX (row->right, box->x + box->width);
    }
  for (guint r = 0; r < rows->len; r++)     /* room for an edge beside the boxes */
    {
      Row *row = &g_array_index (rows, Row, r);

      row->right = MAX (row->right, row->left) + EDGE_ROOM;
      row->left -= EDGE_ROOM;
    }
}

static GArray *
network_cut (const Network *self,
             guint          n_rows)
{
  const VnRect bounds = vn_graph_layout_get_bounds (self->layout);
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (Row));
  Row row = { .from = bounds.y, .to = bounds.y };

  for (guint i = 0; i < self->starts->len; i++)
    {
      const double start = g_array_index (self->starts, double, i);

      if (start <= row.from || start < bounds.y + bounds.height * (rows->len + 1) / n_rows || rows->len + 1 == n_rows)
        continue;
      row.to = start - 6;
      g_array_append_val (rows, row);
      row.from = row.to;
    }
  row.to = bounds.y + bounds.height;
  g_array_append_val (rows, row);
  network_count_lanes (self, rows);
  network_find_breadths (self, rows);
  return rows;
}

static double
network_row_breadth (const Strip *strip,
                     guint        row)
{
  const Row *at = &g_array_index (strip->rows, Row, row);

  return (at->right - at->left) * strip->across;
}

static double
network_row_height (const Strip *strip,
                    guint        row)
{
  return network_row_breadth (strip, row) + ROW_GAP + g_array_index (strip->rows, Row, row).n_lanes * LANE;
}

static double
network_all_height (const Strip *strip)
{
  double height = 0;

  for (guint i = 0; i < strip->rows->len; i++)
    height += network_row_height (strip, i);
  return height;
}

/* With as many rows: how large can it be? */
static void
network_scale (Strip *strip,
               guint  n_rows)
{
  double longest = 1, broad = 0, room;

  strip->rows = network_cut (strip->self, n_rows);
  for (guint i = 0; i < strip->rows->len; i++)
    {
      const Row *row = &g_array_index (strip->rows, Row, i);

      longest = MAX (longest, row->to - row->from);
      broad += row->right - row->left;
    }
  strip->along = MIN (WIDEST_ALONG, strip->width / longest);
  strip->across = MIN (strip->along, WIDEST_ACROSS);
  room = HEIGHT_SHARE * strip->width - (network_all_height (strip) - broad * strip->across);
  strip->across = MIN (strip->across, MAX (room, 0) / MAX (broad, 1));
}

/* As many rows as make boxes largest; a row more must be worth it. */
static Strip
network_lay (const Network *self,
             double         width)
{
  Strip best = { .self = self, .width = width };

  network_scale (&best, 1);
  for (guint n = 2; n <= MAX_ROWS; n++)
    {
      Strip strip = { .self = self, .width = width };

      network_scale (&strip, n);
      if (MIN (strip.along, 2 * strip.across) > 1.1 * MIN (best.along, 2 * best.across))
        {
          g_array_unref (best.rows);
          best = strip;
        }
      else
        g_array_unref (strip.rows);
    }
  return best;
}

/* ---- boxes and edges ---- */

static VnPoint
network_point (const Strip *strip,
               const Row   *row,
               VnPoint      at)
{
  return (VnPoint) { (at.y - row->from) * strip->along, (at.x - row->left) * strip->across + 1 };
}

static void
network_draw_edge (const Strip *strip,
                   const Row   *row,
                   guint        edge)
{
  guint n, start;
  const VnPoint *points = vn_graph_layout_get_route (strip->self->layout, edge, &n, &start);

  if (n == 0 || points[n - 1].y < row->from || points[0].y > row->to)
    return;
  start -= start % 2;
  for (guint i = start; i + 1 < n; i++)
    {
      VnPoint from = network_point (strip, row, points[i]), to = network_point (strip, row, points[i + 1]);

      if (i == start)
        vn_pen_move (strip->pen, from.x, from.y);
      if (i % 2 == 0 || fabs (from.y - to.y) < 0.3)
        vn_pen_line (strip->pen, to.x, to.y);
      else
        {
          VnPoint c1, c2;

          vn_route_controls (points, n, i, &c1, &c2);
          c1 = network_point (strip, row, c1);
          c2 = network_point (strip, row, c2);
          vn_pen_curve (strip->pen, (double[]) { c1.x, c1.y, c2.x, c2.y }, to.x, to.y);
        }
    }
}

static void
network_draw_edges (const Strip *strip,
                    const Row   *row)
{
  const gboolean fine = strip->along < FINE;
  const VnStroke plain = { .line = VN_INK (fine ? 0.2 : 0.38), .width = fine ? 0.5 : 1 };

  if (strip->across < EDGES_LEAST)
    return;
  for (guint i = 0; i < vn_scene_get_n_edges (strip->self->scene); i++)
    network_draw_edge (strip, row, i);
  vn_pen_paint (strip->pen, &plain);
}

static char *
network_dup_title (const Network     *self,
                   const VnSceneNode *node,
                   guint              i)
{
  const VnOverlayItem *item = vn_overlay_get (self->overlay, i);
  g_autofree char *clean = vn_pen_dup_clean (node->name);
  g_autofree char *name = vn_pen_shorten (clean, 1, FALSE, 50);
  g_autofree char *numbered = g_strconcat (node->op, " #", NULL);
  GString *text = g_string_new (g_str_has_prefix (name, numbered) ? "" : node->op);

  g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", name);
  if (node->badge != NULL)
    g_string_append_printf (text, ", %s", node->badge);
  if (item != NULL && item->measured)
    {
      g_autofree char *value = vn_overlay_dup_value (self->overlay, i);

      g_string_append_printf (text, ", %s", value);
    }
  return g_string_free (text, FALSE);
}

static void
network_write_in_box (const Strip       *strip,
                      const VnSceneNode *node,
                      const VnRect      *box,
                      VnShade            shade)
{
  const VnFont font = { 10, TRUE, VN_ANCHOR_MIDDLE };
  g_autofree char *clean = NULL;

  if (node->kind != VN_SCENE_NODE || box->height < 16)
    return;
  clean = vn_pen_dup_clean (node->op);
  if (vn_pen_measure (clean, font.size, TRUE) < box->width - 4)
    vn_pen_text (strip->pen, box->x + box->width / 2, box->y + box->height / 2 + 3.5, font, shade, clean);
}

/* The outline says the precision, in any colour. */
static void
network_set_outline (const VnSceneNode *node,
                     VnStroke          *stroke)
{
  static const double dots[] = { 1.5, 2 }, dashes[] = { 4, 2 }, dash_dots[] = { 5, 1.5, 1, 1.5 };

  switch (node->precision)
    {
    case VN_PRECISION_FLOAT:
      stroke->dashes = dots;
      stroke->n_dashes = G_N_ELEMENTS (dots);
      break;
    case VN_PRECISION_HALF:
      stroke->dashes = dashes;
      stroke->n_dashes = G_N_ELEMENTS (dashes);
      break;
    case VN_PRECISION_4:
      stroke->dashes = dash_dots;
      stroke->n_dashes = G_N_ELEMENTS (dash_dots);
      break;
    case VN_PRECISION_NONE:
    case VN_PRECISION_8:
    case VN_PRECISION_WIDE:
    default:
      break;
    }
}

/* 16 bit has two lines. */
static void
network_draw_inner (VnPen             *pen,
                    const VnSceneNode *node,
                    const VnRect      *box,
                    VnShade            shade)
{
  const VnStroke inner = { .line = { shade.tone, 0.7, shade.t }, .width = 0.8 };

  if (node->precision == VN_PRECISION_WIDE && box->height >= LEAST_INNER && box->width >= LEAST_INNER / 2)
    vn_pen_rect (pen, box->x + 2, box->y + 2, box->width - 4, box->height - 4, MIN (2, box->width / 5), &inner);
}

static void
network_draw_box (const Strip *strip,
                  const Row   *row,
                  guint        i)
{
  const VnSceneNode *node = vn_scene_get_node (strip->self->scene, i);
  const VnOverlayItem *item = vn_overlay_get (strip->self->overlay, i);
  const VnRect *placed = vn_graph_layout_get_box (strip->self->layout, i);
  const gboolean measured = item != NULL && item->measured, bad = measured && item->is_bad;
  const VnPoint corner = network_point (strip, row, (VnPoint) { placed->x, placed->y });
  VnRect box = { corner.x, corner.y, MAX (placed->height * strip->along, 1.5), MAX (placed->width * strip->across, 1.5) };
  const VnShade on_fill = measured ? VN_SHADE_AT (ON_ERROR, item->t) : VN_INK (1);
  const double thin = MIN (MIN (box.width, box.height) / 6, 1);       /* lines leave the colour of small boxes visible */
  VnStroke stroke = { .fill = VN_SHADE (CANVAS, 1), .line = VN_INK (bad ? 1 : 0.45), .width = (bad ? 1.6 : 0.8) * thin };
  g_autofree char *title = network_dup_title (strip->self, node, i);
  g_autofree char *id = node->kind == VN_SCENE_NODE ? g_strdup_printf ("n%u", node->source) : NULL;

  if (node->excluded)
    stroke.fill = VN_SHADE (EXCLUDED, 1);
  network_set_outline (node, &stroke);
  if (measured)
    stroke.fill = VN_SHADE_AT (ERROR, item->t);
  vn_pen_begin (strip->pen, id, title);
  vn_pen_rect (strip->pen, box.x, box.y, box.width, box.height, node->kind == VN_SCENE_NODE ? MIN (3, box.width / 4) : 99,
               &stroke);
  network_draw_inner (strip->pen, node, &box, on_fill);
  network_write_in_box (strip, node, &box, on_fill);
  if (node->kind == VN_SCENE_NODE)
    vn_pen_link (strip->pen, &(VnPenLink) { box.x, box.y, box.width, box.height, node->source, title, measured
                                            ? (double) item->t : 0 });
  vn_pen_end (strip->pen);
}

/* ---- labels ---- */

/* Where a label goes. */
typedef struct
{
  const char *text;
  double      x, middle, length, tip;
  guint       lane;
  gboolean    is_bad;
} PlacedLabel;

static gboolean
network_has_room (const GArray      *placed,
                  const PlacedLabel *place)
{
  for (guint i = 0; i < placed->len; i++)
    {
      const PlacedLabel *other = &g_array_index (placed, PlacedLabel, i);

      if (other->lane == place->lane && place->x < other->x + other->length + 8 && other->x < place->x + place->length + 8)
        return FALSE;
    }
  return TRUE;
}

/* The worst first, each in the first lane with room for it, or nowhere. */
static GArray *
network_place_labels (const Strip *strip,
                      const Row   *row,
                      gboolean     is_last)
{
  GArray *placed = g_array_new (FALSE, FALSE, sizeof (PlacedLabel));

  for (guint i = 0; i < strip->self->labels->len; i++)
    {
      const Label *label = &g_array_index (strip->self->labels, Label, i);
      const VnRect *box = vn_graph_layout_get_box (strip->self->layout, label->node);
      PlacedLabel place = { .text = label->text, .is_bad = label->is_bad,
                            .middle = (box->y + box->height / 2 - row->from) * strip->along };

      if (box->y < row->from || (box->y >= row->to && !is_last))
        continue;
      place.length = vn_pen_measure (label->text, LABEL_SIZE, label->is_bad);
      place.x = CLAMP (place.middle - place.length / 2, 0, MAX (strip->width - place.length, 0));
      place.tip = (box->x + box->width - row->left) * strip->across + 2;
      while (place.lane < row->n_lanes && !network_has_room (placed, &place))
        place.lane++;
      if (place.lane < row->n_lanes)
        g_array_append_val (placed, place);
    }
  return placed;
}

/* Text covers the lines of others. */
static void
network_draw_labels (const Strip *strip,
                     const Row   *row,
                     gboolean     is_last,
                     double       top)
{
  const VnStroke leader = { .line = VN_INK (0.7), .width = 0.8 }, cover = { .fill = VN_SHADE (CANVAS, 1) };
  const double floor = top + (row->right - row->left) * strip->across + 2;
  g_autoptr(GArray) placed = network_place_labels (strip, row, is_last);

  for (guint i = 0; i < placed->len; i++)
    {
      const PlacedLabel *place = &g_array_index (placed, PlacedLabel, i);

      vn_pen_move (strip->pen, place->middle, top + place->tip);
      vn_pen_line (strip->pen, place->middle, floor + 3 + place->lane * LANE);
      vn_pen_paint (strip->pen, &leader);
    }
  for (guint i = 0; i < placed->len; i++)
    {
      const PlacedLabel *place = &g_array_index (placed, PlacedLabel, i);

      vn_pen_rect (strip->pen, place->x - 1, floor + 3 + place->lane * LANE, place->length + 2, LANE - 1, 0, &cover);
      vn_pen_text (strip->pen, place->x, floor + (place->lane + 1) * LANE,
                   (VnFont) { LABEL_SIZE, place->is_bad, VN_ANCHOR_START }, VN_INK (1), place->text);
    }
}

static int
network_compare_nodes (gconstpointer a,
                       gconstpointer b,
                       gpointer      data)
{
  const VnOverlayItem *first = vn_overlay_get (data, *(const guint *) a), *second = vn_overlay_get (data, *(const guint *) b);

  return (first->t < second->t) - (first->t > second->t);
}

static void
network_clear_label (gpointer label)
{
  g_free (((Label *) label)->text);
}

/* Those that need a look; of a network where none does, where most of the error is. */
static GArray *
network_list_worst (const Network *self)
{
  GArray *worst = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n = 0;

  for (guint i = 0; i < vn_scene_get_n_nodes (self->scene); i++)
    {
      const VnOverlayItem *item = vn_overlay_get (self->overlay, i);

      if (vn_scene_get_node (self->scene, i)->kind == VN_SCENE_NODE && item != NULL && item->measured && item->ticks >= 1)
        g_array_append_val (worst, i);
    }
  g_array_sort_with_data (worst, network_compare_nodes, self->overlay);
  while (n < MIN (worst->len, MAX_LABELS) && (n < MAX_FINE ||
                                              vn_overlay_get (self->overlay, g_array_index (worst, guint, n))->ticks >= 2))
    n++;
  g_array_set_size (worst, n);
  return worst;
}

static void
network_find_labels (Network *self)
{
  g_autoptr(GArray) worst = network_list_worst (self);

  self->labels = g_array_new (FALSE, FALSE, sizeof (Label));
  g_array_set_clear_func (self->labels, network_clear_label);
  for (guint i = 0; i < worst->len; i++)
    {
      Label label = { g_array_index (worst, guint, i), NULL, FALSE };
      g_autofree char *value = vn_overlay_dup_value (self->overlay, label.node);
      g_autofree char *clean = vn_pen_dup_clean (vn_scene_get_node (self->scene, label.node)->name);
      g_autofree char *name = vn_pen_shorten (clean, LABEL_SIZE, FALSE, LABEL_WIDTH);

      label.text = g_strdup_printf ("%s, %s", name, value);
      label.is_bad = vn_overlay_get (self->overlay, label.node)->is_bad;
      g_array_append_val (self->labels, label);
    }
}

/* ---- the picture ---- */

static void
network_find_starts (Network *self)
{
  const guint n_ranks = vn_graph_layout_get_n_ranks (self->layout);

  for (guint i = 0; i < n_ranks; i++)
    g_array_append_val (self->starts, (double) { G_MAXDOUBLE });
  for (guint i = 0; i < vn_graph_layout_get_n_nodes (self->layout); i++)
    {
      double *start = &g_array_index (self->starts, double, vn_graph_layout_get_rank (self->layout, i));

      *start = MIN (*start, vn_graph_layout_get_box (self->layout, i)->y);
    }
}

/* Only for those who look at it. */
static gboolean
network_ensure_layout (Network *self)
{
  if (g_once_init_enter (&self->is_laid))
    {
      self->layout = vn_graph_layout_new_for_scene (self->scene, NULL, NULL);
      if (self->layout != NULL)
        network_find_starts (self);
      g_once_init_leave (&self->is_laid, 1);
    }
  return self->layout != NULL;
}

static double
network_get_height (VnPicture *picture,
                    double     width)
{
  Strip strip;
  double height;

  if (!network_ensure_layout ((Network *) picture))
    return 0;
  strip = network_lay ((Network *) picture, width);
  height = network_all_height (&strip) + KEY_GAP
           + _vn_network_key (NULL, strip.self->scene, strip.self->overlay, strip.self->limits, width, 0);
  g_array_unref (strip.rows);
  return height;
}

static void
network_draw (VnPicture *picture,
              VnPen     *pen,
              double     width)
{
  const Network *self = (Network *) picture;
  Strip strip;
  double top = 0;

  if (!network_ensure_layout ((Network *) picture))
    return;
  strip = network_lay (self, width);
  strip.pen = pen;
  for (guint r = 0; r < strip.rows->len; r++)
    {
      const Row *row = &g_array_index (strip.rows, Row, r);

      vn_pen_begin_window (pen, 0, top, width, network_row_breadth (&strip, r) + 2);
      network_draw_edges (&strip, row);
      for (guint i = 0; i < vn_scene_get_n_nodes (self->scene); i++)
        {
          const double start = vn_graph_layout_get_box (self->layout, i)->y;

          if (start >= row->from && (start < row->to || r + 1 == strip.rows->len))
            network_draw_box (&strip, row, i);
        }
      vn_pen_end (pen);
      network_draw_labels (&strip, row, r + 1 == strip.rows->len, top);
      top += network_row_height (&strip, r);
    }
  _vn_network_key (pen, self->scene, self->overlay, self->limits, width, top + KEY_GAP);
  g_array_unref (strip.rows);
}

static void
network_free (VnPicture *picture)
{
  Network *self = (Network *) picture;

  vn_scene_unref (self->scene);
  vn_overlay_unref (self->overlay);
  g_clear_pointer (&self->layout, vn_graph_layout_unref);
  g_array_unref (self->starts);
  g_array_unref (self->labels);
  for (guint i = 0; i < G_N_ELEMENTS (self->limits); i++)
    g_free (self->limits[i]);
}

static const VnPictureKind kind = { FALSE, network_get_height, network_draw, network_free };

/**
 * vn_picture_new_network:
 * @scene: sealed
 * @overlay: its errors
 * @limits: (array fixed-size=2) (nullable): what the key says of fine and of bad: "above 20 dB", "below 10 dB"
 *
 * Returns: (transfer full): the network with its heat and a key; of no height if it cannot be laid out
 */
VnPicture *
vn_picture_new_network (VnScene            *scene,
                        VnOverlay          *overlay,
                        const char * const *limits)
{
  Network *self;

  g_return_val_if_fail (scene != NULL && overlay != NULL, NULL);

  self = _vn_picture_alloc (&kind, sizeof *self);
  self->scene = vn_scene_ref (scene);
  self->overlay = vn_overlay_ref (overlay);
  for (guint i = 0; limits != NULL && i < G_N_ELEMENTS (self->limits); i++)
    self->limits[i] = g_strdup (limits[i]);
  self->starts = g_array_new (FALSE, FALSE, sizeof (double));
  network_find_labels (self);
  return &self->picture;
}
