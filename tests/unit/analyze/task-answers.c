/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers of networks, each written into outputs by a function of its own: as they are, kept in part, and lost. */
#include "task-answers.h"

#include <math.h>

void
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
        put (tensor, i * n_numbers + k, k < 5 ? numbers[k] / (k < 4 ? unit : 1) : k < 5 + n_points
             ? thing.cx : k - 5 - n_points == thing.class);
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

void
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
void
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
void
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

/* Maps of 64 x 64 cells, of which 2 % of the diagonal are 1.8: moved by (1, 1), by (2, 0), not sure, and one that only PART
 * shows. */
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
void
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

static const Case kept[] = {
  { "YOLOv8", VN_TASK_DETECTION, { { VN_SHAPE (1, 7, 84), fill_columns_in_pixels } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "YOLOv8 in parts of the picture", VN_TASK_DETECTION, { { VN_SHAPE (1, 7, 84), fill_columns_in_parts } }, SIZE, SIZE, 0, 3, 1,
    1 },
  { "YOLOv8 with keypoints", VN_TASK_DETECTION, { { VN_SHAPE (1, 13, 84), fill_columns_with_points } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "YOLOv8 with masks", VN_TASK_DETECTION, { { VN_SHAPE (1, 15, 84), fill_columns_with_mask } }, SIZE, SIZE, 0, 3, 1, 1,
    { VN_TASK_DETECTION, FALSE, 3 } },
  { "YOLOv5", VN_TASK_DETECTION, { { VN_SHAPE (1, 252, 8), fill_rows_in_pixels } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "YOLOv5 in parts of the picture", VN_TASK_DETECTION, { { VN_SHAPE (1, 252, 8), fill_rows_in_parts } }, SIZE, SIZE, 0, 3, 1,
    1 },
  { "YOLOv5-face", VN_TASK_DETECTION, { { VN_SHAPE (1, 252, 12), fill_rows_with_points } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "YOLOv10", VN_TASK_DETECTION, { { VN_SHAPE (1, 20, 6), fill_final_score_class } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "class, score, corners", VN_TASK_DETECTION, { { VN_SHAPE (20, 6), fill_final_class_score } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "picture, corners, class, score", VN_TASK_DETECTION, { { VN_SHAPE (20, 7), fill_final_of_batch } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "picture, class, score, corners", VN_TASK_DETECTION, { { VN_SHAPE (1, 1, 20, 7), fill_final_of_caffe } }, SIZE, SIZE, 0, 3, 1,
    1 },
  { "SSD, background first", VN_TASK_DETECTION,
    { { VN_SHAPE (1, 50, 4), fill_scores_behind }, { VN_SHAPE (1, 50, 4), fill_corners } },
    SIZE, SIZE, 0, 3, 1, 1 },
  { "SSD, background last", VN_TASK_DETECTION, { { VN_SHAPE (1, 50, 4), fill_corners },
                                                 { VN_SHAPE (1, 50, 4), fill_scores_in_front } },
    SIZE, SIZE, 0, 3, 1, 1 },
  { "SSD without background", VN_TASK_DETECTION,
    { { VN_SHAPE (1, 50, 4), fill_centres }, { VN_SHAPE (1, 50, 3), fill_scores_alone } },
    SIZE, SIZE, 0, 3, 1, 1 },
  { "DETR", VN_TASK_DETECTION, { { VN_SHAPE (1, 50, 4), fill_softmax_logits, "logits" },
                                 { VN_SHAPE (1, 50, 4), fill_centres, "boxes" } },
    SIZE, SIZE, 0, 3, 1, 1 },
  { "DETR with sigmoids", VN_TASK_DETECTION, { { VN_SHAPE (1, 50, 3), fill_sigmoid_logits },
                                               { VN_SHAPE (1, 50, 4), fill_centres } },
    SIZE, SIZE, 0, 3, 1, 1 },
  { "chosen boxes, labels", VN_TASK_DETECTION, { { VN_SHAPE (20, 4), fill_corners }, { VN_SHAPE (20), fill_class, NULL, TRUE },
                                                 { VN_SHAPE (20), fill_score } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "chosen and all boxes", VN_TASK_DETECTION,
    { { VN_SHAPE (1, 20, 4), fill_corners }, { VN_SHAPE (1, 20), fill_class }, { VN_SHAPE (1, 20), fill_score },
      { VN_SHAPE (1, 50, 4), fill_corners }, { VN_SHAPE (1, 50, 4), fill_scores_behind } }, SIZE, SIZE, 0, 3, 1, 1 },
  { "CenterNet", VN_TASK_DETECTION, { { VN_SHAPE (1, 3, 16, 16), fill_map_of_scores },
                                      { VN_SHAPE (1, 2, 16, 16), fill_map_of_sizes },
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
  { "rows of keypoints", VN_TASK_KEYPOINTS, { { VN_SHAPE (1, 5, 64), fill_places }, { VN_SHAPE (1, 5, 48), fill_places } }, 24,
    32, 0, 5, 4, 0 },
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
  { "classes, switched off", VN_TASK_OTHER, { { VN_SHAPE (1, 1000), fill_logits } }, 64, 64, 0, 0, 0, 0,
    { VN_TASK_OTHER, TRUE } },
  { "an embedding, as the user says", VN_TASK_EMBEDDING, { { VN_SHAPE (1, 1000), fill_logits } }, 64, 64, 0, 0, 0, 0,
    { VN_TASK_EMBEDDING, TRUE } },
  { "no detector, whatever is said", VN_TASK_OTHER, { { VN_SHAPE (1, 1000), fill_logits } }, 64, 64, 0, 0, 0, 0,
    { VN_TASK_DETECTION, TRUE } },
};

const Case *
task_answers_list_kept (guint *n)
{
  *n = G_N_ELEMENTS (kept);
  return kept;
}

const Case *
task_answers_list_others (guint *n)
{
  *n = G_N_ELEMENTS (others);
  return others;
}
