/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The network as a whole lies beside the panels that float over the canvas, whatever its shape. */
#include "vn-room.h"

#include <math.h>

#define WIDTH  800.
#define HEIGHT 850.

/* Legend, letters of shapes, buttons, bar of the selection. */
static const VnRect panels[] = {
  { 0, 0, 310, 74 }, { 0, HEIGHT - 60, 150, 60 }, { WIDTH - 220, HEIGHT - 64, 220, 64 }, { 100, HEIGHT - 70, 600, 70 },
};

static VnRect
show (VnGraphCamera camera,
      VnRect        bounds)
{
  return (VnRect) { (bounds.x - camera.origin.x) * camera.zoom, (bounds.y - camera.origin.y) * camera.zoom,
                    bounds.width * camera.zoom, bounds.height * camera.zoom };
}

static gboolean
meets (const VnRect *a,
       const VnRect *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

static void
test_fit (void)
{
  const VnRoom room = { WIDTH, HEIGHT, panels, G_N_ELEMENTS (panels) };
  guint n = 0;

  for (double width = 60; width < 40000; width *= 1.7)
    for (double height = 40; height < 200000; height *= 1.6)
      {
        VnRect bounds = { -0.3 * width, 17, width, height }, shown;
        VnGraphCamera camera = vn_room_fit (&room, bounds), free = vn_graph_camera_fit (bounds, WIDTH, HEIGHT, 24, 1);

        shown = show (camera, bounds);
        g_assert_cmpfloat (camera.zoom, <=, 1);
        g_assert_cmpfloat (camera.zoom, >=, 0.75 * free.zoom);
        g_assert_cmpfloat (shown.x, >=, 23);
        g_assert_cmpfloat (shown.y, >=, 23);
        g_assert_cmpfloat (shown.x + shown.width, <=, WIDTH - 23);
        g_assert_cmpfloat (shown.y + shown.height, <=, HEIGHT - 23);
        for (guint i = 0; i < G_N_ELEMENTS (panels); i++)
          g_assert_false (meets (&panels[i], &shown));
        n++;
      }
  g_test_message ("%u shapes", n);
  g_assert_cmpuint (n, >, 100);
}

/* Where there is nothing beside the panels the network is seen behind them, and without panels in the middle. */
static void
test_little_room (void)
{
  const VnRoom small = { 300, 140, panels, 1 }, plain = { WIDTH, HEIGHT, NULL, 0 };
  VnRect bounds = { 0, 0, 200, 3000 };
  VnGraphCamera camera = vn_room_fit (&small, bounds), middle = vn_room_fit (&plain, bounds);

  g_assert_cmpfloat_with_epsilon (camera.zoom, vn_graph_camera_fit (bounds, 300, 140, 24, 1).zoom, 1e-9);
  g_assert_cmpfloat_with_epsilon (show (middle, bounds).x + show (middle, bounds).width / 2, WIDTH / 2, 1e-6);
}

/* What is too large to be read as a whole is seen from its beginning, the first ranks whole and not behind a panel. */
static void
test_open (void)
{
  const VnRoom room = { WIDTH, HEIGHT, panels, G_N_ELEMENTS (panels) };
  const struct { VnRect bounds, head; double zoom; } networks[] = {
    { { 0, 0, 200, 9000 }, { 0, 0, 200, 150 }, 1 },
    { { -400, 0, 902, 3700 }, { -400, 0, 900, 150 }, 752 / 900. },
    { { 0, 0, 9000, 2000 }, { 0, 0, 200, 150 }, 1 },
    { { 0, 0, 9000, 2000 }, { 7000, 0, 200, 150 }, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (networks); i++)
    {
      VnRect head = networks[i].head, shown, all;
      VnGraphCamera camera = vn_room_open (&room, networks[i].bounds, head, head);

      shown = show (camera, head);
      all = show (camera, networks[i].bounds);
      g_assert_cmpfloat_with_epsilon (camera.zoom, networks[i].zoom, 1e-9);
      g_assert_cmpfloat (shown.x, >=, 23);
      g_assert_cmpfloat (shown.x + shown.width, <=, WIDTH - 23);
      g_assert_cmpfloat (shown.y, >=, 23);
      g_assert_cmpfloat (shown.y, <, 100);
      g_assert_false (meets (&panels[0], &shown));
      if (all.width > WIDTH)
        {
          g_assert_cmpfloat (all.x, <=, 25);                     /* no empty half of a page */
          g_assert_cmpfloat (all.x + all.width, >=, WIDTH - 25);
        }
    }
}

/* A network that fits at a size that can be read is seen whole. */
static void
test_open_whole (void)
{
  const VnRoom room = { WIDTH, HEIGHT, panels, G_N_ELEMENTS (panels) };
  VnRect bounds = { 0, 0, 230, 900 }, head = { 0, 0, 230, 100 }, shown;
  VnGraphCamera camera = vn_room_open (&room, bounds, head, head);

  shown = show (camera, bounds);
  g_assert_cmpfloat (shown.y, >=, 0);
  g_assert_cmpfloat (shown.y + shown.height, <=, HEIGHT);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/room/fit", test_fit);
  g_test_add_func ("/room/little-room", test_little_room);
  g_test_add_func ("/room/open", test_open);
  g_test_add_func ("/room/open-whole", test_open_whole);
  return g_test_run ();
}
