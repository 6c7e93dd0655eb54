/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a network is seen as a whole, and where it is seen first: beside the panels, not behind them. */
#include "vn-room.h"

#include <math.h>

#define MARGIN        24.
#define PANEL_MARGIN  12.    /* between a panel and the network */
#define LEAST_FREE    80.    /* pixels that panels leave; in less room they lie over the network */
#define SAME_ZOOM      0.995

/* How a panel is kept free: not at all, or by leaving free all that is on one side of its inner border. */
typedef enum { BESIDE_NOTHING, BESIDE_LEFT, BESIDE_RIGHT, BESIDE_TOP, BESIDE_BOTTOM, N_BESIDE } Beside;

static gboolean
room_meets (const VnRect *panel,
            VnRect        box)
{
  return panel->width > 0 && panel->height > 0
         && panel->x - PANEL_MARGIN < box.x + box.width - 0.5 && box.x + 0.5 < panel->x + panel->width + PANEL_MARGIN
         && panel->y - PANEL_MARGIN < box.y + box.height - 0.5 && box.y + 0.5 < panel->y + panel->height + PANEL_MARGIN;
}

static VnRect
room_on_screen (VnGraphCamera camera,
                VnRect        box)
{
  return (VnRect) { (box.x - camera.origin.x) * camera.zoom, (box.y - camera.origin.y) * camera.zoom, box.width * camera.zoom,
                    box.height * camera.zoom };
}

static gboolean
room_is_clear (const VnRoom *room,
               VnRect        box)
{
  for (guint i = 0; i < room->n_panels; i++)
    if (room_meets (&room->panels[i], box))
      return FALSE;
  return TRUE;
}

/* Takes away from the free part what is on the panel's side of it. */
static VnRect
room_cut (VnRect        free,
          const VnRect *panel,
          Beside        beside)
{
  double right = free.x + free.width, bottom = free.y + free.height;

  switch (beside)
    {
    case BESIDE_LEFT:
      free.x = MAX (free.x, panel->x + panel->width + PANEL_MARGIN);
      break;
    case BESIDE_RIGHT:
      right = MIN (right, panel->x - PANEL_MARGIN);
      break;
    case BESIDE_TOP:
      free.y = MAX (free.y, panel->y + panel->height + PANEL_MARGIN);
      break;
    case BESIDE_BOTTOM:
      bottom = MIN (bottom, panel->y - PANEL_MARGIN);
      break;
    case BESIDE_NOTHING:
    case N_BESIDE:
    default:
      break;
    }
  free.width = right - free.x;
  free.height = bottom - free.y;
  return free;
}

static VnGraphCamera
room_fit_into (VnRect bounds,
               VnRect free)
{
  VnGraphCamera camera = vn_graph_camera_fit (bounds, free.width, free.height, 0, 1);

  camera.origin.x -= free.x / camera.zoom;
  camera.origin.y -= free.y / camera.zoom;
  return camera;
}

typedef struct { VnGraphCamera camera; double away; gboolean found; } Best;

/* Tries every way to keep the panels from @at on free, and keeps the largest picture; of equal ones that which is nearest to the
 * middle. */
static void
room_try (const VnRoom *room,
          VnRect        bounds,
          VnRect        free,
          guint         at,
          Best         *best)
{
  VnGraphCamera camera;
  VnRect shown;
  double away;

  if (free.width < LEAST_FREE || free.height < LEAST_FREE)
    return;
  if (at < room->n_panels)
    {
      const VnRect *panel = &room->panels[at];

      for (guint i = 0; i < (panel->width > 0 && panel->height > 0 ? N_BESIDE : 1); i++)
        room_try (room, bounds, room_cut (free, panel, (Beside) i), at + 1, best);
      return;
    }
  camera = room_fit_into (bounds, free);
  shown = room_on_screen (camera, bounds);
  away = hypot (shown.x + shown.width / 2 - room->width / 2, shown.y + shown.height / 2 - room->height / 2);
  if (best->found && (camera.zoom < best->camera.zoom * SAME_ZOOM
                      || (camera.zoom <= best->camera.zoom / SAME_ZOOM && away >= best->away)))
    return;
  if (room_is_clear (room, shown))
    *best = (Best) { camera, away, TRUE };
}

/**
 * vn_room_fit:
 * @bounds: of the network
 *
 * Returns: what shows the whole network, at most at 100 %, as large as it can be seen beside the panels. Where they leave hardly
 *   any room it is seen behind them.
 */
VnGraphCamera
vn_room_fit (const VnRoom *room,
             VnRect        bounds)
{
  Best best = { .found = FALSE };
  VnRect all;

  g_return_val_if_fail (room != NULL, ((VnGraphCamera) { 1, { 0, 0 } }));

  all = (VnRect) { MARGIN, MARGIN, room->width - 2 * MARGIN, room->height - 2 * MARGIN };
  room_try (room, bounds, all, 0, &best);
  return best.found ? best.camera : vn_graph_camera_fit (bounds, room->width, room->height, MARGIN, 1);
}

/* A span of the world that is seen, moved so that nothing beside the network is seen that need not be. */
static double
room_keep_inside (double origin,
                  double seen,
                  double from,
                  double size)
{
  double a = from, b = from + size - seen;

  return CLAMP (origin, MIN (a, b), MAX (a, b));
}

/**
 * vn_room_open:
 * @bounds: of the network
 * @head: of its first ranks
 * @first: of its first box
 *
 * Returns: what is seen first: the whole network if that is readable, else its upper end, so large that the first ranks are seen
 *   from side to side
 */
VnGraphCamera
vn_room_open (const VnRoom *room,
              VnRect        bounds,
              VnRect        head,
              VnRect        first)
{
  VnGraphCamera camera;
  VnRect shown;
  double margin;

  g_return_val_if_fail (room != NULL, ((VnGraphCamera) { 1, { 0, 0 } }));

  camera = vn_room_fit (room, bounds);
  if (camera.zoom >= VN_ROOM_READABLE)
    return camera;
  if (head.width * VN_ROOM_READABLE > room->width - 2 * MARGIN)
    head = first;
  camera.zoom = CLAMP ((room->width - 2 * MARGIN) / MAX (head.width, 1), VN_ROOM_READABLE, 1);
  margin = MARGIN / camera.zoom;
  camera.origin.x = room_keep_inside (head.x + head.width / 2 - room->width / 2 / camera.zoom, room->width / camera.zoom,
                                      bounds.x - margin, bounds.width + 2 * margin);
  camera.origin.y = bounds.y - margin;
  shown = room_on_screen (camera, head);
  for (guint i = 0; i < room->n_panels; i++)
    {
      const VnRect *panel = &room->panels[i];
      double below = panel->y + panel->height + PANEL_MARGIN;

      if (panel->y < room->height / 3 && below < room->height / 2 && room_meets (panel, shown))
        camera.origin.y = MIN (camera.origin.y, bounds.y - below / camera.zoom);
    }
  return camera;
}
