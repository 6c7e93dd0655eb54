/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cache of painted square pieces of the canvas, kept within a budget and painted anew when they are out of date. */
#include "vn-graph-tiles.h"

#include "vn-drop.h"

#include <math.h>

#define TILE_SIZE 512     /* device pixels */
#define MAX_TILES  96     /* a megabyte each */

typedef struct
{
  gint64           column, row;
  guint            age;       /* generation of the content it shows */
  cairo_surface_t *surface;
} Tile;

typedef struct { gint64 x0, y0, x1, y1; } Span;

struct _VnGraphTiles
{
  VnGraphPainter *painter;    /* not owned */
  GHashTable     *tiles;      /* Tile -> itself */
  guint           age;
  double          zoom;       /* of all tiles */
  GHashTable     *before;     /* nullable: all of another zoom, shown where those of this one are missing */
  double          zoom_before;
  gboolean        is_complete;    /* the tiles show all that is seen */
  int             scale;      /* device pixels per pixel */
  Span            visible;    /* at the last drawing */
};

static guint
graph_tiles_tile_hash (gconstpointer data)
{
  const Tile *tile = data;

  return (guint) (tile->column * 7919 + tile->row);
}

static gboolean
graph_tiles_tile_equal (gconstpointer a,
                        gconstpointer b)
{
  const Tile *ta = a, *tb = b;

  return ta->column == tb->column && ta->row == tb->row;
}

static void
graph_tiles_tile_free (gpointer data)
{
  Tile *tile = data;

  cairo_surface_destroy (tile->surface);
  g_free (tile);
}

static GHashTable *
graph_tiles_new_table (void)
{
  return g_hash_table_new_full (graph_tiles_tile_hash, graph_tiles_tile_equal, NULL, graph_tiles_tile_free);
}

/**
 * vn_graph_tiles_new:
 * @painter: must outlive the tiles
 *
 * Returns: (transfer full): an empty cache
 */
VnGraphTiles *
vn_graph_tiles_new (VnGraphPainter *painter)
{
  VnGraphTiles *self = g_new0 (VnGraphTiles, 1);

  self->painter = painter;
  self->tiles = graph_tiles_new_table ();
  return self;
}

static void
graph_tiles_forget_before (VnGraphTiles *self)
{
  vn_drop (g_steal_pointer (&self->before), (GDestroyNotify) g_hash_table_unref);
}

/**
 * vn_graph_tiles_free:
 *
 * Frees the cache.
 */
void
vn_graph_tiles_free (VnGraphTiles *self)
{
  if (self == NULL)
    return;

  graph_tiles_forget_before (self);
  vn_drop (self->tiles, (GDestroyNotify) g_hash_table_unref);
  g_free (self);
}

/**
 * vn_graph_tiles_invalidate:
 *
 * The painter draws other colours now. Old pieces are shown until they are painted anew.
 */
void
vn_graph_tiles_invalidate (VnGraphTiles *self)
{
  g_return_if_fail (self != NULL);

  self->age++;
}

/**
 * vn_graph_tiles_clear:
 *
 * The painter draws something else now: nothing old is shown.
 */
void
vn_graph_tiles_clear (VnGraphTiles *self)
{
  g_return_if_fail (self != NULL);

  graph_tiles_forget_before (self);
  self->is_complete = FALSE;
  if (g_hash_table_size (self->tiles) == 0)
    return;
  vn_drop (self->tiles, (GDestroyNotify) g_hash_table_unref);
  self->tiles = graph_tiles_new_table ();
}

/**
 * vn_graph_tiles_get_n:
 *
 * Returns: number of pieces kept
 */
guint
vn_graph_tiles_get_n (VnGraphTiles *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return g_hash_table_size (self->tiles);
}

/**
 * vn_graph_camera_snap:
 * @scale: device pixels per pixel
 *
 * Returns: @camera, moved by less than a pixel so that pieces lie on whole device pixels
 */
VnGraphCamera
vn_graph_camera_snap (VnGraphCamera camera,
                      int           scale)
{
  double step = camera.zoom * scale;

  camera.origin.x = round (camera.origin.x * step) / step;
  camera.origin.y = round (camera.origin.y * step) / step;
  return camera;
}

static Span
graph_tiles_span_of (VnGraphTiles  *self,
                     VnGraphCamera  camera,
                     double         width,
                     double         height)
{
  double step = camera.zoom * self->scale;
  double x = round (camera.origin.x * step), y = round (camera.origin.y * step);

  return (Span) { (gint64) floor (x / TILE_SIZE), (gint64) floor (y / TILE_SIZE),
                  (gint64) floor ((x + width * self->scale - 1) / TILE_SIZE),
                  (gint64) floor ((y + height * self->scale - 1) / TILE_SIZE) };
}

static Tile *
graph_tiles_lookup (VnGraphTiles *self,
                    gint64        column,
                    gint64        row)
{
  Tile probe = { .column = column, .row = row };

  return g_hash_table_lookup (self->tiles, &probe);
}

static double
graph_tiles_distance_from_sight (const VnGraphTiles *self,
                                 const Tile         *tile)
{
  return hypot (tile->column - (self->visible.x0 + self->visible.x1) / 2.,
                tile->row - (self->visible.y0 + self->visible.y1) / 2.);
}

static void
graph_tiles_drop_farthest (VnGraphTiles *self)
{
  GHashTableIter iter;
  gpointer item;
  Tile *farthest = NULL;

  g_hash_table_iter_init (&iter, self->tiles);
  while (g_hash_table_iter_next (&iter, &item, NULL))
    if (farthest == NULL || graph_tiles_distance_from_sight (self, item) > graph_tiles_distance_from_sight (self, farthest))
      farthest = item;
  if (farthest != NULL)
    g_hash_table_remove (self->tiles, farthest);
}

static Tile *
graph_tiles_paint_tile (VnGraphTiles *self,
                        gint64        column,
                        gint64        row)
{
  double step = self->zoom * self->scale, size = TILE_SIZE / (double) self->scale;
  VnGraphCamera camera = { self->zoom, { column * TILE_SIZE / step, row * TILE_SIZE / step } };
  Tile *tile = g_new0 (Tile, 1);
  cairo_t *cr;

  *tile = (Tile) { .column = column, .row = row, .age = self->age };
  tile->surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, TILE_SIZE, TILE_SIZE);
  cairo_surface_set_device_scale (tile->surface, self->scale, self->scale);
  cr = cairo_create (tile->surface);
  cairo_rectangle (cr, 0, 0, size, size);
  cairo_clip (cr);
  vn_graph_painter_draw (self->painter, cr, camera, size, size);
  cairo_destroy (cr);
  cairo_surface_flush (tile->surface);
  if (g_hash_table_size (self->tiles) >= MAX_TILES)
    graph_tiles_drop_farthest (self);
  g_hash_table_replace (self->tiles, tile, tile);
  return tile;
}

/* Keeps what shows everything at the zoom before. */
static void
graph_tiles_set_zoom (VnGraphTiles *self,
                      double        zoom,
                      int           scale)
{
  if (zoom == self->zoom && scale == self->scale)
    return;
  if (scale != self->scale)
    vn_graph_tiles_clear (self);
  else if (self->is_complete)
    {
      graph_tiles_forget_before (self);
      self->before = self->tiles;
      self->zoom_before = self->zoom;
      self->tiles = graph_tiles_new_table ();
    }
  else
    g_hash_table_remove_all (self->tiles);
  self->is_complete = FALSE;
  self->zoom = zoom;
  self->scale = scale;
}

/* Paints what is missing or out of date in what is seen. */
static gboolean
graph_tiles_paint_visible (VnGraphTiles *self,
                           double        budget)
{
  gint64 end = g_get_monotonic_time () + (gint64) (budget * 1e6);
  gboolean is_complete = TRUE, may_paint = TRUE;

  for (gint64 row = self->visible.y0; row <= self->visible.y1; row++)
    for (gint64 column = self->visible.x0; column <= self->visible.x1; column++)
      {
        const Tile *tile = graph_tiles_lookup (self, column, row);

        if (tile != NULL && tile->age == self->age)
          continue;
        if (may_paint)
          graph_tiles_paint_tile (self, column, row);
        else
          is_complete = FALSE;
        may_paint = g_get_monotonic_time () < end;
      }
  return is_complete;
}

static gboolean
graph_tiles_lacks_any (VnGraphTiles *self)
{
  for (gint64 row = self->visible.y0; row <= self->visible.y1; row++)
    for (gint64 column = self->visible.x0; column <= self->visible.x1; column++)
      if (graph_tiles_lookup (self, column, row) == NULL)
        return TRUE;
  return FALSE;
}

static void
graph_tiles_draw_at (GHashTable    *tiles,
                     double         zoom,
                     int            scale,
                     cairo_t       *cr,
                     VnGraphCamera  camera)
{
  double factor = camera.zoom / zoom, size = TILE_SIZE / (double) scale;
  GHashTableIter iter;
  gpointer item;

  cairo_save (cr);
  cairo_translate (cr, -camera.origin.x * camera.zoom, -camera.origin.y * camera.zoom);
  cairo_scale (cr, factor, factor);
  g_hash_table_iter_init (&iter, tiles);
  while (g_hash_table_iter_next (&iter, &item, NULL))
    {
      const Tile *tile = item;

      cairo_set_source_surface (cr, tile->surface, tile->column * size, tile->row * size);
      cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_BILINEAR);
      cairo_pattern_set_extend (cairo_get_source (cr), CAIRO_EXTEND_PAD);
      cairo_rectangle (cr, tile->column * size, tile->row * size, size, size);
      cairo_fill (cr);
    }
  cairo_restore (cr);
}

/**
 * vn_graph_tiles_draw:
 * @camera: from vn_graph_camera_snap()
 * @width: in pixels, like @height
 * @scale: device pixels per pixel
 * @budget: seconds for painting what is missing; one piece is painted in any case
 *
 * Draws from the cache, background and all, painting what is missing or out of date. Where the budget does not allow that, pieces
 * of the zoom before are shown.
 *
 * Returns: %TRUE if all is drawn and up to date; otherwise draw again soon
 */
gboolean
vn_graph_tiles_draw (VnGraphTiles  *self,
                     cairo_t       *cr,
                     VnGraphCamera  camera,
                     double         width,
                     double         height,
                     int            scale,
                     double         budget)
{
  double step = camera.zoom * scale, x = round (camera.origin.x * step), y = round (camera.origin.y * step);

  g_return_val_if_fail (self != NULL, FALSE);

  graph_tiles_set_zoom (self, camera.zoom, scale);
  self->visible = graph_tiles_span_of (self, camera, width, height);
  self->is_complete = graph_tiles_paint_visible (self, budget);
  if (graph_tiles_lacks_any (self))
    {
      vn_graph_painter_draw_background (self->painter, cr, width, height);
      if (self->before != NULL)
        graph_tiles_draw_at (self->before, self->zoom_before, scale, cr, camera);
    }
  for (gint64 row = self->visible.y0; row <= self->visible.y1; row++)
    for (gint64 column = self->visible.x0; column <= self->visible.x1; column++)
      {
        const Tile *tile = graph_tiles_lookup (self, column, row);

        if (tile == NULL)
          continue;
        cairo_set_source_surface (cr, tile->surface, (column * TILE_SIZE - x) / scale,
                                  (row * TILE_SIZE - y) / scale);
        cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_NEAREST);
        cairo_rectangle (cr, (column * TILE_SIZE - x) / scale, (row * TILE_SIZE - y) / scale,
                         TILE_SIZE / (double) scale, TILE_SIZE / (double) scale);
        cairo_fill (cr);
      }
  if (self->is_complete)
    graph_tiles_forget_before (self);
  return self->is_complete;
}

/**
 * vn_graph_tiles_draw_scaled:
 *
 * Draws the pieces there are at another zoom, and the background: quick and a little blurred, for the time of a zoom.
 *
 * Returns: %FALSE if there are none
 */
gboolean
vn_graph_tiles_draw_scaled (VnGraphTiles  *self,
                            cairo_t       *cr,
                            VnGraphCamera  camera,
                            double         width,
                            double         height)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (g_hash_table_size (self->tiles) == 0 && self->before == NULL)
    return FALSE;
  vn_graph_painter_draw_background (self->painter, cr, width, height);
  if (self->before != NULL)
    graph_tiles_draw_at (self->before, self->zoom_before, self->scale, cr, camera);
  if (g_hash_table_size (self->tiles) > 0)
    graph_tiles_draw_at (self->tiles, self->zoom, self->scale, cr, camera);
  return TRUE;
}

/**
 * vn_graph_tiles_prefetch:
 *
 * Paints one piece just outside of what is seen, for the next movement.
 *
 * Returns: %TRUE if there may be more to do
 */
gboolean
vn_graph_tiles_prefetch (VnGraphTiles *self)
{
  const Span *seen;

  g_return_val_if_fail (self != NULL, FALSE);

  seen = &self->visible;
  if (g_hash_table_size (self->tiles) == 0)
    return FALSE;
  for (gint64 row = seen->y0 - 1; row <= seen->y1 + 1; row++)
    for (gint64 column = seen->x0 - 1; column <= seen->x1 + 1; column++)
      {
        const Tile *tile = graph_tiles_lookup (self, column, row);

        if (tile != NULL && tile->age == self->age)
          continue;
        if ((seen->x1 - seen->x0 + 3) * (seen->y1 - seen->y0 + 3) > MAX_TILES)
          return FALSE;
        graph_tiles_paint_tile (self, column, row);
        return TRUE;
      }
  return FALSE;
}
