/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each reader makes of answers that are the same, kept in part, and lost. Each case is written into outputs by a function of its own,
 * and the numbers that are expected follow from how it does that. */
#include "vn-kept-meter.h"

#include <math.h>
#include <string.h>

#define SIZE 64          /* of the picture of detectors */
#define N_THINGS 3u

/* SAME: what the first network says. PART: what another does. LOST: all numbers that count are 0. */
typedef enum { SAME, PART, LOST, N_VARIANTS } Variant;

typedef void (*FillFunc) (VnTensor *tensor, Variant variant);

typedef struct
{
  VnShape     shape;
  FillFunc    fill;
  const char *name;
  gboolean    is_whole;
} Output;

typedef struct
{
  const char *name;
  VnTask      task;
  Output      outputs[6];
  gint64      height, width, n_tokens;
  guint       n, n_kept, n_added;     /* of PART; of LOST nothing is kept */
  VnTaskHint  hint;
} Case;

static void
put (VnTensor *tensor,
     gsize     at,
     double    value)
{
  g_assert_cmpuint (at, <, tensor->n_elements);
  if (tensor->dtype == VN_DTYPE_S64)
    ((gint64 *) tensor->data)[at] = (gint64) value;
  else
    ((float *) tensor->data)[at] = (float) value;
}

/* ---- three things on a picture ---- */

typedef struct { double cx, cy, w, h, score; guint class; } Thing;

/* Of PART the first is not sure any more, the second has moved by an eighth (IoU 0.78), the third far away. */
static Thing
get_thing (Variant variant,
           guint   i)
{
  static const Thing things[N_THINGS] = { { 16, 16, 16, 16, 0.9, 0 }, { 48, 16, 16, 16, 0.8, 1 }, { 16, 48, 16, 16, 0.3, 2 } };
  Thing thing = things[i];

  if (variant == PART && i == 0)
    thing.score = 0.2;
  if (variant == PART && i > 0)
    thing.cx += i == 1 ? 2 : 28;
  if (variant == LOST)
    thing.score = 0;
  return thing;
}

/* In @n rows, of which row 3 i + 1 has thing i, and the others one that nobody is sure of. */
static Thing
get_row (Variant variant,
         gsize   row)
{
  const Thing nothing = { 4, 4, 2, 3, variant == LOST ? 0 : 0.01, 0 };

  return row % 3 == 1 && row / 3 < N_THINGS ? get_thing (variant, (guint) (row / 3)) : nothing;
}

static gsize
get_columns (const VnTensor *tensor)
{
  return (gsize) tensor->shape.dims[tensor->shape.rank - 1];
}

static gsize
get_rows (const VnTensor *tensor)
{
  return tensor->n_elements / get_columns (tensor);
}

static void
fill_columns (VnTensor *tensor,
              Variant   variant,
              double    unit,
              gsize     n_classes,
              double    rest)
{
  const gsize n = get_columns (tensor), n_numbers = get_rows (tensor);

  for (gsize i = 0; i < n; i++)
    {
      const Thing thing = get_row (variant, i);
      const double numbers[] = { thing.cx, thing.cy, thing.w, thing.h };

      for (gsize k = 0; k < n_numbers; k++)
        put (tensor, k * n + i,
             k < 4                 ? numbers[k] / unit
             : k >= 4 + n_classes  ? rest
             : k - 4 == thing.class ? thing.score
                                    : 0);
    }
}

static void
fill_columns_in_pixels (VnTensor *tensor, Variant variant)
{
  fill_columns (tensor, variant, 1, 3, 0);
}

static void
fill_columns_in_parts (VnTensor *tensor, Variant variant)
{
  fill_columns (tensor, variant, SIZE, 3, 0);
}

static void
fill_columns_with_points (VnTensor *tensor, Variant variant)
{
  fill_columns (tensor, variant, 1, 3, -7);
}

/* Numbers of a mask that look like scores. */
static void
fill_columns_with_mask (VnTensor *tensor, Variant variant)
{
  fill_columns (tensor, variant, 1, 3, 0.5);
}

static void
fill_rows (VnTensor *tensor,
           Variant   variant,
           double    unit,
           gsize     n_points)
{
  const gsize n = get_rows (tensor), n_numbers = get_columns (tensor);

  for (gsize i = 0; i < n; i++)
    {
      const Thing thing = get_row (variant, i);
      const double numbers[] = { thing.cx, thing.cy, thing.w, thing.h, thing.score };

      for (gsize k = 0; k < n_numbers; k++)
        put (tensor, i * n_numbers + k, k < 5 ? numbers[k] / (k < 4 ? unit : 1) : k < 5 + n_points ? thing.cx : k - 5 - n_points == thing.class);
    }
}

static void
fill_rows_in_pixels (VnTensor *tensor, Variant variant)
{
  fill_rows (tensor, variant, 1, 0);
}

static void
fill_rows_in_parts (VnTensor *tensor, Variant variant)
{
  fill_rows (tensor, variant, SIZE, 0);
}

static void
fill_rows_with_points (VnTensor *tensor, Variant variant)
{
  fill_rows (tensor, variant, 1, 4);
}

/* @order: places of x1 y1 x2 y2 score class */
static void
fill_final (VnTensor    *tensor,
            Variant      variant,
            const guint *order)
{
  const gsize n_numbers = get_columns (tensor);

  for (gsize i = 0; i < get_rows (tensor); i++)
    {
      const Thing thing = get_row (variant, i);
      const double numbers[] = { thing.cx - thing.w / 2, thing.cy - thing.h / 2, thing.cx + thing.w / 2, thing.cy + thing.h / 2,
                                 thing.score, thing.class };

      for (guint k = 0; k < 6; k++)
        put (tensor, i * n_numbers + order[k], numbers[k]);
    }
}

static void
fill_final_score_class (VnTensor *tensor, Variant variant)
{
  fill_final (tensor, variant, (const guint[]) { 0, 1, 2, 3, 4, 5 });
}

static void
fill_final_class_score (VnTensor *tensor, Variant variant)
{
  fill_final (tensor, variant, (const guint[]) { 2, 3, 4, 5, 1, 0 });
}

static void
fill_final_of_batch (VnTensor *tensor, Variant variant)
{
  fill_final (tensor, variant, (const guint[]) { 1, 2, 3, 4, 6, 5 });
}

static void
fill_final_of_caffe (VnTensor *tensor, Variant variant)
{
  fill_final (tensor, variant, (const guint[]) { 3, 4, 5, 6, 2, 1 });
}

static void
fill_corners (VnTensor *tensor, Variant variant)
{
  for (gsize i = 0; i < get_rows (tensor); i++)
    {
      const Thing thing = get_row (variant, i);
      const double numbers[] = { thing.cx - thing.w / 2, thing.cy - thing.h / 2, thing.cx + thing.w / 2, thing.cy + thing.h / 2 };

      for (guint k = 0; k < 4; k++)
        put (tensor, i * 4 + k, numbers[k] / SIZE);
    }
}

static void
fill_centres (VnTensor *tensor, Variant variant)
{
  for (gsize i = 0; i < get_rows (tensor); i++)
    {
      const Thing thing = get_row (variant, i);
      const double numbers[] = { thing.cx, thing.cy, thing.w, thing.h };

      for (guint k = 0; k < 4; k++)
        put (tensor, i * 4 + k, numbers[k] / SIZE);
    }
}

static void
fill_score (VnTensor *tensor, Variant variant)
{
  for (gsize i = 0; i < tensor->n_elements; i++)
    put (tensor, i, get_row (variant, i).score);
}

static void
fill_class (VnTensor *tensor, Variant variant)
{
  for (gsize i = 0; i < tensor->n_elements; i++)
    put (tensor, i, get_row (variant, i).class + 1);
}

/* @first: of the classes; @rest: column that takes what is missing to 1, if there is one */
static void
fill_scores (VnTensor *tensor,
             Variant   variant,
             gsize     first,
             int       rest)
{
  const gsize n = get_columns (tensor);

  for (gsize i = 0; i < get_rows (tensor); i++)
    {
      const Thing thing = get_row (variant, i);

      for (gsize k = 0; k < n; k++)
        put (tensor, i * n + k, (int) k == rest ? 1 - thing.score : k == first + thing.class ? thing.score : 0);
    }
}

static void
fill_scores_alone (VnTensor *tensor, Variant variant)
{
  fill_scores (tensor, variant, 0, -1);
}

static void
fill_scores_behind (VnTensor *tensor, Variant variant)
{
  fill_scores (tensor, variant, 1, 0);
}

static void
fill_scores_in_front (VnTensor *tensor, Variant variant)
{
  fill_scores (tensor, variant, 0, (int) get_columns (tensor) - 1);
}

/* Logarithms of what has to come out, with a number added that softmax takes off again. */
static void
fill_softmax_logits (VnTensor *tensor, Variant variant)
{
  fill_scores_in_front (tensor, variant);
  for (gsize i = 0; i < tensor->n_elements; i++)
    put (tensor, i, log (MAX (vn_tensor_get_double (tensor, i), 1e-6)) + 2);
}

static void
fill_sigmoid_logits (VnTensor *tensor, Variant variant)
{
  fill_scores_alone (tensor, variant);
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      const double p = CLAMP (vn_tensor_get_double (tensor, i), 1e-6, 1 - 1e-6);

      put (tensor, i, log (p / (1 - p)));
    }
}

/* Maps of cells of 4 pixels: scores of 3 classes, sizes in cells, places in the cell. */
static void
fill_map (VnTensor *tensor,
          Variant   variant,
          guint     part)
{
  for (guint i = 0; i < N_THINGS; i++)
    {
      const Thing thing = get_thing (variant, i);
      const gsize cell = (gsize) (thing.cy / 4) * 16 + (gsize) (thing.cx / 4);

      if (part == 0)
        put (tensor, thing.class * 256 + cell, thing.score);
      else if (part == 1)
        put (tensor, cell, thing.w / 4);
      else
        put (tensor, cell, thing.cx / 4 - floor (thing.cx / 4));
      if (part == 1)
        put (tensor, 256 + cell, thing.h / 4);
    }
}

static void
fill_map_of_scores (VnTensor *tensor, Variant variant)
{
  fill_map (tensor, variant, 0);
}

static void
fill_map_of_logits (VnTensor *tensor, Variant variant)
{
  fill_map (tensor, variant, 0);
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      const double p = CLAMP (vn_tensor_get_double (tensor, i), 1e-6, 1 - 1e-6);

      put (tensor, i, log (p / (1 - p)));
    }
}

static void
fill_map_of_sizes (VnTensor *tensor, Variant variant)
{
  fill_map (tensor, variant, 1);
}

static void
fill_map_of_places (VnTensor *tensor, Variant variant)
{
  fill_map (tensor, variant, 2);
}

/* ---- tokens, text, keypoints, masks of text ---- */

/* Position p has token p + 1, of PART the first has another; logits 4 and 0. */
static void
fill_tokens (VnTensor *tensor, Variant variant)
{
  const gsize n = get_columns (tensor);

  for (gsize p = 0; p < get_rows (tensor); p++)
    put (tensor, p * n + p + 1 + (variant == LOST || (variant == PART && p == 0) ? 5 : 0), 4);
}

/* The same text by other steps, of PART; nothing but the blank, of LOST. */
static void
fill_text (VnTensor *tensor,
           Variant   variant,
           gsize     step,
           gsize     letter,
           gsize     n_letters,
           gsize     blank)
{
  static const guint texts[N_VARIANTS][8] = { { 3, 3, 0, 3, 4, 0, 0, 5 }, { 3, 0, 0, 3, 4, 4, 5, 0 }, { 0 } };

  for (gsize i = 0; i < 8; i++)
    for (gsize k = 0; k < n_letters; k++)
      put (tensor, i * step + k * letter, k == (texts[variant][i] == 0 ? blank : texts[variant][i]) ? 0.89 : 0.01);
}

static void
fill_text_steps (VnTensor *tensor, Variant variant)
{
  fill_text (tensor, variant, 12, 1, 12, 0);
}

static void
fill_text_letters (VnTensor *tensor, Variant variant)
{
  fill_text (tensor, variant, 1, 8, 12, 11);
}

static void
fill_other_text (VnTensor *tensor, Variant variant)
{
  fill_text_steps (tensor, variant);
  if (variant == PART)
    for (gsize k = 0; k < 12; k++)
      put (tensor, 7 * 12 + k, k == 6 ? 0.89 : 0.01);
}

/* Maps of 64 x 64 cells, of which 2 % of the diagonal are 1.8: moved by (1, 1), by (2, 0), not sure, and one that only PART shows. */
static void
fill_spots (VnTensor *tensor,
            Variant   variant,
            gsize     map_step,
            gsize     cell_step)
{
  static const struct { double x, y, peak; } spots[N_VARIANTS][4] = {
    { { 10, 20, 0.9 }, { 30, 12, 0.8 }, { 40, 50, 0.7 }, { 8, 9, 0.1 } },
    { { 11, 21, 0.9 }, { 32, 12, 0.8 }, { 40, 50, 0.2 }, { 8, 9, 0.6 } },
    { { 0 }, { 0 }, { 0 }, { 0 } },
  };

  for (gsize k = 0; k < 4; k++)
    for (gsize i = 0; i < 64 * 64; i++)
      {
        const double x = (double) (i % 64) - spots[variant][k].x, y = (double) (i / 64) - spots[variant][k].y;

        put (tensor, k * map_step + i * cell_step, spots[variant][k].peak * exp (-(x * x + y * y) / 8));
      }
}

static void
fill_spots_first (VnTensor *tensor, Variant variant)
{
  fill_spots (tensor, variant, 64 * 64, 1);
}

static void
fill_spots_last (VnTensor *tensor, Variant variant)
{
  fill_spots (tensor, variant, 1, 4);
}

/* The highest of a row; of PART the first has moved by (1, 1), the second by 2 in both, of a diagonal of 80. */
static void
fill_places (VnTensor *tensor, Variant variant)
{
  const gsize n = get_columns (tensor);

  for (gsize k = 0; k < get_rows (tensor); k++)
    put (tensor, k * n + (variant == LOST ? n - 1 : 5 + 7 * k + (variant == PART && k < 2 ? k + 1 : 0)), 3);
}

/* y, x, score in parts of the picture, whose diagonal is 1.41; of PART the first has moved by 0.02, the second by 0.03. */
static void
fill_points (VnTensor *tensor, Variant variant)
{
  for (gsize k = 0; k < get_rows (tensor); k++)
    {
      put (tensor, k * 3, 0.1 + 0.1 * (double) k + (variant == PART ? k == 0 ? 0.02 : k == 1 ? 0.03 : 0 : 0));
      put (tensor, k * 3 + 1, 0.9 - 0.1 * (double) k);
      put (tensor, k * 3 + 2, variant == LOST ? 0 : 0.7);
    }
}

/* Two lines of text of the same size, one of 0.4; of PART the second is not there. */
static void
fill_lines (VnTensor *tensor, Variant variant)
{
  for (gsize y = 0; y < 64 && variant != LOST; y++)
    for (gsize x = 4; x < 44; x++)
      if ((y >= 8 && y < 12) || (y >= 30 && y < 34 && variant == SAME))
        put (tensor, y * 64 + x, y < 20 ? 0.4 : 0.97);
}

/* ---- no answers of these kinds ---- */

static void
fill_logits (VnTensor *tensor, Variant variant)
{
  for (gsize i = 0; i < tensor->n_elements; i++)
    put (tensor, i, (double) ((i * 7919) % 113) / 9 - 6);
}

static void
fill_softmax_maps (VnTensor *tensor, Variant variant)
{
  const gsize n = (gsize) (tensor->shape.dims[2] * tensor->shape.dims[3]);

  for (gsize i = 0; i < tensor->n_elements; i++)
    put (tensor, i, i / n == (i % n) % 4 ? 0.7 : 0.1);
}

static const Case cases[] = {
  { "YOLOv8", VN_TASK_DETECTION, { { VN_SHAPE (1, 7, 84), fill_columns_in_pixels } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "YOLOv8 in parts of the picture", VN_TASK_DETECTION, { { VN_SHAPE (1, 7, 84), fill_columns_in_parts } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "YOLOv8 with keypoints", VN_TASK_DETECTION, { { VN_SHAPE (1, 13, 84), fill_columns_with_points } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "YOLOv8 with masks", VN_TASK_DETECTION, { { VN_SHAPE (1, 15, 84), fill_columns_with_mask } }, SIZE, SIZE, 0, 3, 1, 1,
    { VN_TASK_DETECTION, FALSE, 3 } },
  { "YOLOv5", VN_TASK_DETECTION, { { VN_SHAPE (1, 252, 8), fill_rows_in_pixels } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "YOLOv5 in parts of the picture", VN_TASK_DETECTION, { { VN_SHAPE (1, 252, 8), fill_rows_in_parts } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "YOLOv5-face", VN_TASK_DETECTION, { { VN_SHAPE (1, 252, 12), fill_rows_with_points } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "YOLOv10", VN_TASK_DETECTION, { { VN_SHAPE (1, 20, 6), fill_final_score_class } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "class, score, corners", VN_TASK_DETECTION, { { VN_SHAPE (20, 6), fill_final_class_score } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "picture, corners, class, score", VN_TASK_DETECTION, { { VN_SHAPE (20, 7), fill_final_of_batch } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "picture, class, score, corners", VN_TASK_DETECTION, { { VN_SHAPE (1, 1, 20, 7), fill_final_of_caffe } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "SSD, background first", VN_TASK_DETECTION, { { VN_SHAPE (1, 50, 4), fill_scores_behind }, { VN_SHAPE (1, 50, 4), fill_corners } },
    SIZE, SIZE, 0, 3, 1, 1 },
  { "SSD, background last", VN_TASK_DETECTION, { { VN_SHAPE (1, 50, 4), fill_corners }, { VN_SHAPE (1, 50, 4), fill_scores_in_front } },
    SIZE, SIZE, 0, 3, 1, 1 },
  { "SSD without background", VN_TASK_DETECTION, { { VN_SHAPE (1, 50, 4), fill_centres }, { VN_SHAPE (1, 50, 3), fill_scores_alone } },
    SIZE, SIZE, 0, 3, 1, 1 },
  { "DETR", VN_TASK_DETECTION, { { VN_SHAPE (1, 50, 4), fill_softmax_logits, "logits" }, { VN_SHAPE (1, 50, 4), fill_centres, "boxes" } },
    SIZE, SIZE, 0, 3, 1, 1 },
  { "DETR with sigmoids", VN_TASK_DETECTION, { { VN_SHAPE (1, 50, 3), fill_sigmoid_logits }, { VN_SHAPE (1, 50, 4), fill_centres } },
    SIZE, SIZE, 0, 3, 1, 1 },
  { "chosen boxes, labels", VN_TASK_DETECTION, { { VN_SHAPE (20, 4), fill_corners }, { VN_SHAPE (20), fill_class, NULL, TRUE },
                                                 { VN_SHAPE (20), fill_score } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "chosen and all boxes", VN_TASK_DETECTION,
    { { VN_SHAPE (1, 20, 4), fill_corners }, { VN_SHAPE (1, 20), fill_class }, { VN_SHAPE (1, 20), fill_score },
      { VN_SHAPE (1, 50, 4), fill_corners }, { VN_SHAPE (1, 50, 4), fill_scores_behind } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "CenterNet", VN_TASK_DETECTION, { { VN_SHAPE (1, 3, 16, 16), fill_map_of_scores }, { VN_SHAPE (1, 2, 16, 16), fill_map_of_sizes },
                                      { VN_SHAPE (1, 2, 16, 16), fill_map_of_places } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "CenterNet, logits", VN_TASK_DETECTION, { { VN_SHAPE (1, 2, 16, 16), fill_map_of_sizes, "wh" },
                                              { VN_SHAPE (1, 3, 16, 16), fill_map_of_logits, "hm" } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "language model", VN_TASK_TOKENS, { { VN_SHAPE (1, 4, 11), fill_tokens } }, 0, 0, 4, 4, 3, 0 },
  { "language model, 64 tokens", VN_TASK_TOKENS, { { VN_SHAPE (1, 4, 64), fill_tokens, "logits" } }, 0, 0, 4, 4, 3, 0 },
  { "text, [1, steps, letters]", VN_TASK_TEXT, { { VN_SHAPE (1, 8, 12), fill_text_steps } }, 32, 64, 0, 1, 1, 0 },
  { "text, [steps, 1, letters]", VN_TASK_TEXT, { { VN_SHAPE (8, 1, 12), fill_text_steps } }, 32, 64, 0, 1, 1, 0 },
  { "text, [1, letters, steps], blank last", VN_TASK_TEXT, { { VN_SHAPE (1, 12, 8), fill_text_letters } }, 32, 64, 0, 1, 1, 0 },
  { "text, one letter another", VN_TASK_TEXT, { { VN_SHAPE (1, 8, 12), fill_other_text } }, 32, 64, 0, 1, 0, 0 },
  { "maps of keypoints", VN_TASK_KEYPOINTS, { { VN_SHAPE (1, 4, 64, 64), fill_spots_first } }, 256, 256, 0, 3, 1, 1 },
  { "maps of keypoints, last", VN_TASK_KEYPOINTS, { { VN_SHAPE (1, 64, 64, 4), fill_spots_last } }, 256, 256, 0, 3, 1, 1 },
  { "rows of keypoints", VN_TASK_KEYPOINTS, { { VN_SHAPE (1, 5, 64), fill_places }, { VN_SHAPE (1, 5, 48), fill_places } }, 24, 32, 0, 5, 4, 0 },
  { "keypoints", VN_TASK_KEYPOINTS, { { VN_SHAPE (1, 1, 6, 3), fill_points } }, SIZE, SIZE, 0, 6, 5, 0 },
};

/* What is taken for nothing of that, though it looks a little like it. */
static const Case others[] = {
  { "text on a square", VN_TASK_OTHER, { { VN_SHAPE (1, 8, 12), fill_text_steps } }, 64, 64 },
  { "masks of four classes", VN_TASK_OTHER, { { VN_SHAPE (1, 4, 16, 16), fill_softmax_maps } }, 64, 64 },
  { "features", VN_TASK_OTHER, { { VN_SHAPE (1, 32, 16, 16), fill_logits } }, 64, 64 },
  { "classes", VN_TASK_CLASSIFICATION, { { VN_SHAPE (1, 1000), fill_logits } }, 64, 64 },
  { "start of an answer", VN_TASK_CLASSIFICATION, { { VN_SHAPE (1, 7), fill_logits } }, 0, 0, 7 },
  { "numbers of 512", VN_TASK_EMBEDDING, { { VN_SHAPE (1, 512), fill_logits } }, 64, 64 },
  { "hidden states", VN_TASK_EMBEDDING, { { VN_SHAPE (1, 8, 128), fill_logits, "last_hidden_state" } }, 0, 0, 8 },
  { "logits by their name", VN_TASK_CLASSIFICATION, { { VN_SHAPE (1, 512), fill_logits, "logits" } }, 64, 64 },
  { "classes, switched off", VN_TASK_OTHER, { { VN_SHAPE (1, 1000), fill_logits } }, 64, 64, 0, 0, 0, 0, { VN_TASK_OTHER, TRUE } },
  { "an embedding, as the user says", VN_TASK_EMBEDDING, { { VN_SHAPE (1, 1000), fill_logits } }, 64, 64, 0, 0, 0, 0,
    { VN_TASK_EMBEDDING, TRUE } },
  { "no detector, whatever is said", VN_TASK_OTHER, { { VN_SHAPE (1, 1000), fill_logits } }, 64, 64, 0, 0, 0, 0, { VN_TASK_DETECTION, TRUE } },
};

/* ---- what is made of them ---- */

typedef struct
{
  VnTensor     *tensors[6];
  const char   *names[6];
  VnTaskOutputs outputs;
} Given;

static void
give (const Case *what,
      Variant     variant,
      Given      *given)
{
  *given = (Given) { 0 };
  given->outputs = (VnTaskOutputs) { .tensors = given->tensors, .names = given->names, .height = what->height, .width = what->width,
                                     .n_tokens = what->n_tokens, .hint = &what->hint };
  for (guint i = 0; i < 6 && what->outputs[i].fill != NULL; i++)
    {
      const Output *output = &what->outputs[i];

      given->names[i] = output->name != NULL ? output->name : "output";
      given->tensors[i] = vn_tensor_new (output->is_whole ? VN_DTYPE_S64 : VN_DTYPE_F32, &output->shape, NULL);
      memset (given->tensors[i]->data, 0, given->tensors[i]->n_bytes);
      output->fill (given->tensors[i], variant);
      given->outputs.n++;
    }
}

static void
measure (const Case   *what,
         gconstpointer layout,
         Variant       variant,
         VnKept       *kept)
{
  const VnTaskReader *reader = vn_task_get_reader (what->task);
  VnKeptSum sum = { .n_samples = 1 };
  gpointer answers[2];

  for (guint k = 0; k < 2; k++)
    {
      Given given;

      give (what, k == 0 ? SAME : variant, &given);
      answers[k] = reader->read (layout, &given.outputs);
      g_assert_nonnull (answers[k]);
      vn_tensor_clear_all (given.tensors, 6);
    }
  reader->compare (answers[0], answers[1], 0, &sum);
  vn_kept_sum_finish (&sum, what->task, kept);
  vn_kept_sum_clear (&sum);
  for (guint k = 0; k < 2; k++)
    reader->free (answers[k]);
}

static gpointer
recognize (const Case *what)
{
  gpointer layout = NULL;
  Given given;
  VnTask task;

  give (what, SAME, &given);
  task = vn_task_recognize (&given.outputs, &layout);
  g_test_message ("%s: %s", what->name, vn_task_get_id (task));
  g_assert_cmpstr (vn_task_get_id (task), ==, vn_task_get_id (what->task));
  vn_tensor_clear_all (given.tensors, 6);
  return layout;
}

static void
test_kept (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Case *what = &cases[i];
      g_autofree gpointer layout = recognize (what);

      for (guint variant = 0; variant < N_VARIANTS; variant++)
        {
          const guint n_kept = variant == SAME ? what->n : variant == PART ? what->n_kept : 0;
          VnKept kept;

          measure (what, layout, variant, &kept);
          g_test_message ("  %u: %u of %u, %u added", variant, (guint) kept.n_kept, (guint) kept.n, (guint) kept.n_added);
          g_assert_cmpuint (kept.n, ==, what->n);
          g_assert_cmpuint (kept.n_kept, ==, n_kept);
          g_assert_cmpuint (kept.n_added, ==, variant == PART ? what->n_added : 0);
          g_assert_true (vn_kept_is_known (&kept));
          g_assert_cmpfloat (kept.share, ==, (double) n_kept / what->n);
        }
    }
}

static void
test_others (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    g_free (recognize (&others[i]));
}

/* IoU 1, 1/2 and 0 of the pixels of the lines. */
static void
test_lines (void)
{
  const Case what = { "lines of text", VN_TASK_TEXT_REGIONS, { { VN_SHAPE (1, 1, 64, 64), fill_lines } }, SIZE, SIZE };
  static const double shares[N_VARIANTS] = { 1, 0.5, 0 };
  g_autofree gpointer layout = recognize (&what);

  for (guint variant = 0; variant < N_VARIANTS; variant++)
    {
      VnKept kept;

      measure (&what, layout, variant, &kept);
      g_assert_cmpfloat (kept.share, ==, shares[variant]);
    }
}

/* Of one token with e^4 and ten with 1 the first changes its place: (p - q) 4 nats, in one position of four, and in all. */
static void
test_divergence (void)
{
  const double p = exp (4) / (exp (4) + 10), q = 1 / (exp (4) + 10);
  const double expected[N_VARIANTS] = { 0, (p - q) * 4 / 4, (p - q) * 4 };
  const Case what = { "language model", VN_TASK_TOKENS, { { VN_SHAPE (1, 4, 11), fill_tokens } }, .n_tokens = 4 };
  g_autofree gpointer layout = recognize (&what);

  for (guint variant = 0; variant < N_VARIANTS; variant++)
    {
      VnKept kept;

      measure (&what, layout, variant, &kept);
      g_test_message ("%.17g, not %.17g", kept.mean, expected[variant]);
      g_assert_cmpfloat_with_epsilon (kept.mean, expected[variant], 1e-12);
    }
}

/* What a mask of the input leaves out does not count: the first position is lost, and is not looked at. */
static void
test_masked_tokens (void)
{
  static const gint64 mask[4] = { 0, 1, 1, 0 };
  const Case what = { "language model", VN_TASK_TOKENS, { { VN_SHAPE (1, 4, 11), fill_tokens } }, .n_tokens = 4 };
  g_autofree gpointer layout = recognize (&what);
  g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&VN_SHAPE (1, 4), mask);
  VnKeptSum sum = { .n_samples = 1 };
  gpointer answers[2];

  for (guint k = 0; k < 2; k++)
    {
      Given given;

      give (&what, k == 0 ? SAME : PART, &given);
      given.outputs.mask = tensor;
      answers[k] = vn_task_tokens.read (layout, &given.outputs);
      vn_tensor_clear_all (given.tensors, 6);
    }
  vn_task_tokens.compare (answers[0], answers[1], 0, &sum);
  g_assert_cmpuint (sum.n, ==, 2);
  g_assert_cmpuint (sum.n_kept, ==, 2);
  vn_kept_sum_clear (&sum);
  for (guint k = 0; k < 2; k++)
    vn_task_tokens.free (answers[k]);
}

/* Five samples in a plane, at these angles: of the other network the second has come closer to the third than to the first, and the
 * others keep their neighbors. In whatever order they come. */
static void
test_embeddings (void)
{
  static const double angles[2][5] = { { 0, 10, 35, 90, 100 }, { 0, 30, 35, 90, 100 } };
  const double mean = (4 + cos (20 * G_PI / 180)) / 5;

  for (guint turn = 0; turn < 5; turn++)
    {
      VnKeptSum sum = { .n_samples = 5 };
      VnKept kept;

      for (guint s = 0; s < 5; s++)
        {
          const guint item = (s * 2 + turn) % 5;
          gpointer answers[2];

          for (guint k = 0; k < 2; k++)
            {
              g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 64), NULL);
              VnTensor *tensors[1] = { tensor };
              const VnTaskOutputs outputs = { .tensors = tensors, .n = 1 };
              g_autofree gpointer layout = NULL;

              memset (tensor->data, 0, tensor->n_bytes);
              put (tensor, 0, 3 * cos (angles[k][item] * G_PI / 180));
              put (tensor, 1, 3 * sin (angles[k][item] * G_PI / 180));
              layout = vn_task_embedding.recognize (&outputs);
              g_assert_nonnull (layout);
              answers[k] = vn_task_embedding.read (layout, &outputs);
            }
          vn_task_embedding.compare (answers[0], answers[1], item, &sum);
          for (guint k = 0; k < 2; k++)
            vn_task_embedding.free (answers[k]);
        }
      vn_kept_sum_finish (&sum, VN_TASK_EMBEDDING, &kept);
      vn_kept_sum_clear (&sum);
      g_test_message ("%u of %u, %.17g", (guint) kept.n_kept, (guint) kept.n, kept.mean);
      g_assert_cmpuint (kept.n, ==, 5);
      g_assert_cmpuint (kept.n_kept, ==, 4);
      g_assert_cmpfloat_with_epsilon (kept.mean, mean, 1e-6);
    }
}

/* ---- what files say ---- */

static void
test_hints (void)
{
  static const struct { const char *task, *names, *stride, *letters; VnTask expected; guint n; } files[] = {
    { "detect", "{0: 'person', 1: \"driver's seat\", 2: 'a: b, \\'c\\''}", "32", NULL, VN_TASK_DETECTION, 3 },
    { "pose", "{0: 'person'}", "32", NULL, VN_TASK_DETECTION, 1 },
    { "classify", "{0: 'tench', 1: 'goldfish'}", "1", NULL, VN_TASK_CLASSIFICATION, 2 },
    { NULL, "['a', 'b']", "32", NULL, VN_TASK_OTHER, 2 },
    { "detect", NULL, NULL, NULL, VN_TASK_OTHER, 0 },
    { NULL, NULL, NULL, "a\nb", VN_TASK_TEXT, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, 13);
      const char *pairs[] = { "task", files[i].task, "names", files[i].names, "stride", files[i].stride, "character", files[i].letters };
      VnTaskHint hint;

      for (guint k = 0; k < G_N_ELEMENTS (pairs); k += 2)
        if (pairs[k + 1] != NULL)
          {
            g_ptr_array_add (model->metadata, g_strdup (pairs[k]));
            g_ptr_array_add (model->metadata, g_strdup (pairs[k + 1]));
          }
      vn_task_hint_read (&hint, model);
      g_assert_cmpstr (vn_task_get_id (hint.task), ==, vn_task_get_id (files[i].expected));
      g_assert_cmpuint (hint.n_classes, ==, files[i].n);
      g_assert_false (hint.is_given);
    }
}

/* The meter waits for a sample whose answer shows something, and compares a network with outputs in another order by their names. */
static void
test_meter (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(VnKeptMeter) meter = vn_kept_meter_new (model, NULL, 1);
  const Case what = { "DETR", VN_TASK_DETECTION, { { VN_SHAPE (1, 50, 4), fill_softmax_logits, "logits" },
                                                   { VN_SHAPE (1, 50, 4), fill_centres, "boxes" } }, SIZE, SIZE };
  Given given[2];
  VnTaskOutputs both[2];
  VnKept kept;

  give (&what, LOST, &given[0]);
  g_assert_false (vn_kept_meter_look (meter, &given[0].outputs));
  vn_tensor_clear_all (given[0].tensors, 6);
  give (&what, SAME, &given[0]);
  g_assert_true (vn_kept_meter_look (meter, &given[0].outputs));
  g_assert_cmpint (vn_kept_meter_get_task (meter), ==, VN_TASK_DETECTION);
  give (&what, PART, &given[1]);
  {
    VnTensor *turned[2] = { given[1].tensors[1], given[1].tensors[0] };
    const char *names[2] = { given[1].names[1], given[1].names[0] };

    both[0] = given[0].outputs;
    both[1] = given[1].outputs;
    both[1].tensors = turned;
    both[1].names = names;
    vn_kept_meter_add (meter, 0, both);
  }
  vn_kept_meter_finish (meter, 0, &kept);
  g_assert_cmpuint (kept.n_samples, ==, 1);
  g_assert_cmpuint (kept.n, ==, 3);
  g_assert_cmpuint (kept.n_kept, ==, 1);
  for (guint k = 0; k < 2; k++)
    vn_tensor_clear_all (given[k].tensors, 6);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/task-readers/kept", test_kept);
  g_test_add_func ("/task-readers/others", test_others);
  g_test_add_func ("/task-readers/lines", test_lines);
  g_test_add_func ("/task-readers/divergence", test_divergence);
  g_test_add_func ("/task-readers/masked-tokens", test_masked_tokens);
  g_test_add_func ("/task-readers/embeddings", test_embeddings);
  g_test_add_func ("/task-readers/hints", test_hints);
  g_test_add_func ("/task-readers/meter", test_meter);
  return g_test_run ();
}
