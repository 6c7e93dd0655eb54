/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paints a mask: each class in a color of its own, half of it to be seen through, and on the side of the quantized network what
 * differs: red stripes where a class of the float network is lost, orange dots where there is one that it does not have. */
#include "vn-answer-mask.h"

#define HALF    128u
#define MARK    230u
#define STRIPE  6u      /* pixels from one to the next, of which two are painted */
#define DOT     4u
#define LOST    0xc01c28u
#define ADDED   0xe66100u

/* Hues that are told apart, none of them that of what is lost or added. */
static const guint32 colors[] = { 0x3584e4, 0x2ec27e, 0x9141ac, 0x00b4b4, 0xf6d32d, 0x865e3c, 0x62a0ea, 0xb5d34a, 0xdc8add,
                                  0x5e5c64 };

/**
 * vn_answer_mask_get_color:
 *
 * Returns: of a class, as 0xrrggbb
 */
guint32
vn_answer_mask_get_color (guint label)
{
  return colors[(label + G_N_ELEMENTS (colors) - 1) % G_N_ELEMENTS (colors)];
}

/**
 * vn_answer_mask_shows:
 * @names: (nullable): of classes
 *
 * Returns: whether @label is painted: what does not count is not, and neither is a first class of several that is no thing of its
 *   own
 */
gboolean
vn_answer_mask_shows (const VnSampleAnswer *answer,
                      char * const         *names,
                      guint                 label)
{
  const char *name;
  g_autofree char *lower = NULL;

  g_return_val_if_fail (answer != NULL, FALSE);

  if (label > 0 || answer->first_counts > 0)
    return label >= answer->first_counts;
  name = answer->n_classes == 2 ? NULL : vn_sample_answer_find_name (answer, names, label);
  lower = name != NULL ? g_ascii_strdown (name, -1) : NULL;
  return lower != NULL && g_strrstr (lower, "background") == NULL;
}

static void
answer_mask_set (guint8  *pixel,
                 guint32  color,
                 guint    alpha)
{
  pixel[0] = (guint8) (color >> 16);
  pixel[1] = (guint8) (color >> 8);
  pixel[2] = (guint8) color;
  pixel[3] = (guint8) alpha;
}

/* @own, @first: classes of this side and of the float network; @shown: whether they are painted */
static void
answer_mask_paint_pixel (guint8         *pixel,
                         guint           x,
                         guint           y,
                         const guint     classes[2],
                         const gboolean  shown[2])
{
  const gboolean differs = classes[0] != classes[1];

  if (differs && shown[1] && (x + y) % STRIPE < 2)
    answer_mask_set (pixel, LOST, MARK);
  else if (differs && !shown[1] && x % DOT < 2 && y % DOT < 2)
    answer_mask_set (pixel, ADDED, MARK);
  else if (shown[0])
    answer_mask_set (pixel, vn_answer_mask_get_color (classes[0]), HALF);
}

/**
 * vn_answer_mask_paint:
 * @answer: of a mask
 * @names: (nullable): of classes
 * @side: 0: of the float network, 1: of the quantized one, with what differs
 *
 * Returns: (transfer full): red, green, blue and alpha of each pixel of the mask, row by row; alpha is not multiplied in
 */
GBytes *
vn_answer_mask_paint (const VnSampleAnswer *answer,
                      char * const         *names,
                      guint                 side)
{
  gboolean zero_shows;
  guint8 *pixels;
  gsize n;

  g_return_val_if_fail (answer != NULL && answer->form == VN_ANSWER_MASK && side < 2, NULL);

  n = (gsize) answer->mask_height * answer->mask_width;
  pixels = g_new0 (guint8, 4 * n);
  zero_shows = vn_answer_mask_shows (answer, names, 0);
  for (gsize i = 0; i < n; i++)
    {
      const guint first = g_array_index (answer->first, guint16, i);
      const guint own = side == 0 ? first : g_array_index (answer->other, guint16, i);

      answer_mask_paint_pixel (&pixels[4 * i], (guint) (i % answer->mask_width), (guint) (i / answer->mask_width),
                               (const guint[]) { own, first },
                               (const gboolean[]) { own > 0 || zero_shows, first > 0 || zero_shows });
    }
  return g_bytes_new_take (pixels, 4 * n);
}

/**
 * vn_answer_mask_new:
 *
 * Returns: (transfer full): vn_answer_mask_paint(), to be drawn
 */
GdkTexture *
vn_answer_mask_new (const VnSampleAnswer *answer,
                    char * const         *names,
                    guint                 side)
{
  g_autoptr(GBytes) bytes = vn_answer_mask_paint (answer, names, side);

  return bytes == NULL ? NULL : gdk_memory_texture_new ((int) answer->mask_width, (int) answer->mask_height,
                                                        GDK_MEMORY_R8G8B8A8, bytes, 4 * (gsize) answer->mask_width);
}
