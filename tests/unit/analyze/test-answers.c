/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both answers to a sample, as they are kept to be shown: outputs are written by hand, and what is expected follows from them. */
#include "vn-kept-meter.h"

#include <math.h>
#include <string.h>

#define MOST_PIXELS 4096u

typedef struct
{
  const char   *name;
  VnTask        task;
  VnShape       shape;
  gint64        height, width, n_tokens;
  const char   *sides[2];        /* what fill() makes the numbers of */
  VnAnswerForm  form;
  guint         n, n_kept, n_added, n_classes;
  const char   *expected;        /* as describe() tells it */
} Case;

/* One character for each step, position, line of pixels, or class; see fill(). */
static const Case cases[] = {
  { "same class", VN_TASK_CLASSIFICATION, VN_SHAPE (1, 4), 8, 8, 0, { "1940", "0730" }, VN_ANSWER_SCORES, 1, 1, 0, 4,
    "1:9 2:4 0:1 3:0 / 1:7 2:3 0:0 3:0" },
  { "another class", VN_TASK_CLASSIFICATION, VN_SHAPE (1, 3), 8, 8, 0, { "195", "128" }, VN_ANSWER_SCORES, 1, 0, 0, 3,
    "1:9 2:5 0:1 / 2:8 1:2 0:1" },
  { "equal classes, more than are kept", VN_TASK_CLASSIFICATION, VN_SHAPE (1, 7), 8, 8, 0, { "5555555", "1234567" },
    VN_ANSWER_SCORES, 1, 0, 0, 7, "0:5 1:5 2:5 3:5 4:5 / 6:7 5:6 4:5 3:4 2:3" },
  /* letters of which the first is the blank: “cat”, “cut”; then one is missing, one is more, and two that are the same have a
   * blank between them */
  { "text", VN_TASK_TEXT, VN_SHAPE (1, 12, 12), 32, 96, 0, { "0c00aa00t000", "0c00uu00t000" }, VN_ANSWER_SYMBOLS, 1, 0, 0, 11,
    "2 0 9 / 2 10 9 / 0 - 2" },
  { "shorter text", VN_TASK_TEXT, VN_SHAPE (1, 12, 12), 32, 96, 0, { "0c00aa00t000", "0c000000t000" }, VN_ANSWER_SYMBOLS, 1, 0,
    0, 11, "2 0 9 / 2 9 / 0 - 1" },
  { "longer text", VN_TASK_TEXT, VN_SHAPE (1, 12, 12), 32, 96, 0, { "0c0000a00000", "0b0c00a0a000" }, VN_ANSWER_SYMBOLS, 1, 0,
    0, 11, "2 0 / 1 2 0 0 / 1 2" },
  { "same text", VN_TASK_TEXT, VN_SHAPE (1, 12, 12), 32, 96, 0, { "0a00ab00b000", "0a000ab0b000" }, VN_ANSWER_SYMBOLS, 1, 1, 0,
    11,
    "0 0 1 1 / 0 0 1 1 / 0 1 2 3" },
  { "tokens", VN_TASK_TOKENS, VN_SHAPE (1, 4, 11), 0, 0, 4, { "cabb", "cbbb" }, VN_ANSWER_SYMBOLS, 4, 3, 0, 11,
    "2 0 1 1 / 2 1 1 1 / 0 - 2 3" },
  { "mask", VN_TASK_SEGMENTATION, VN_SHAPE (1, 4, 8, 8), 8, 8, 0, { "00112230", "00112233" }, VN_ANSWER_MASK, 4, 0, 0, 4,
    "8x8 of class 0: 24 and 16" },
};

static guint
read_class (char letter)
{
  return letter >= 'a' ? (guint) (letter - 'a' + 1) % 12 : (guint) (letter - '0');
}

/* Letters are numbered from a on, where 0 is a blank; “t” is 10, “u” 11. */
static guint
read_letter (char letter)
{
  return letter == 't' ? 10 : letter == 'u' ? 11 : letter == '0' ? 0 : (guint) (letter - 'a' + 1);
}

/* Numbers that make the answer that the characters tell. */
static void
fill (const Case *what,
      const char *side,
      VnTensor   *tensor)
{
  float *numbers = (float *) tensor->data;
  const gsize n = (gsize) tensor->shape.dims[tensor->shape.rank - 1], n_pixels = (gsize) (what->height * what->width);

  for (gsize i = 0; side[i] != '\0'; i++)
    if (what->task == VN_TASK_CLASSIFICATION)
      numbers[i] = (float) (side[i] - '0');
    else if (what->task == VN_TASK_TEXT)
      for (gsize k = 0; k < n; k++)
        numbers[i * n + k] = k == read_letter (side[i]) ? 0.89f : 0.01f;
    else if (what->task == VN_TASK_TOKENS)
      numbers[i * n + read_class (side[i]) - 1] = 4;
    else
      for (gsize k = 0; k < (gsize) what->width; k++)
        numbers[read_class (side[i]) * n_pixels + i * (gsize) what->width + k] = 1;
}

static void
describe_side (GString              *text,
               const VnSampleAnswer *answer,
               GArray               *side)
{
  for (guint i = 0; i < side->len; i++)
    if (answer->form == VN_ANSWER_SCORES)
      g_string_append_printf (text, "%u:%.0f ", g_array_index (side, VnClassScore, i).label,
                              g_array_index (side, VnClassScore, i).score);
    else
      g_string_append_printf (text, "%u ", g_array_index (side, guint, i));
}

static char *
describe (const VnSampleAnswer *answer)
{
  GString *text = g_string_new (NULL);
  guint n[2] = { 0 };

  if (answer->form == VN_ANSWER_MASK)
    {
      for (guint i = 0; i < answer->mask_height * answer->mask_width; i++)
        {
          n[0] += g_array_index (answer->first, guint16, i) == 0;
          n[1] += g_array_index (answer->other, guint16, i) == 0;
        }
      g_string_append_printf (text, "%ux%u of class 0: %u and %u", answer->mask_height, answer->mask_width, n[0], n[1]);
      return g_string_free (text, FALSE);
    }
  describe_side (text, answer, answer->first);
  g_string_append (text, "/ ");
  describe_side (text, answer, answer->other);
  for (guint i = 0; answer->partners != NULL && i < answer->partners->len; i++)
    {
      const guint partner = g_array_index (answer->partners, guint, i);
      g_autofree char *number = partner == VN_NO_PARTNER ? g_strdup ("-") : g_strdup_printf ("%u", partner);

      g_string_append_printf (text, "%s%s ", i == 0 ? "/ " : "", number);
    }
  return g_strchomp (g_string_free (text, FALSE));
}

/* (transfer full): of one sample */
static VnSampleAnswer *
keep (const Case *what,
      guint       most_pixels)
{
  const VnTaskReader *reader = vn_task_get_reader (what->task);
  VnTensor *tensors[2];
  VnTaskHint hint = { what->task, TRUE, 0 };
  VnTaskOutputs outputs[2];
  g_autofree gpointer layout = NULL;
  gpointer answers[2];
  VnKeptSum sum = { .n_samples = 1 };
  VnSampleAnswer *answer;
  VnKept kept;

  for (guint k = 0; k < 2; k++)
    {
      tensors[k] = vn_tensor_new (VN_DTYPE_F32, &what->shape, NULL);
      memset (tensors[k]->data, 0, tensors[k]->n_bytes);
      fill (what, what->sides[k], tensors[k]);
      outputs[k] = (VnTaskOutputs) { .tensors = &tensors[k], .n = 1, .height = what->height, .width = what->width,
                                     .n_tokens = what->n_tokens, .hint = &hint };
      if (k == 0)
        layout = reader->recognize (&outputs[0]);
      g_assert_nonnull (layout);
      answers[k] = reader->read (layout, &outputs[k]);
      g_assert_nonnull (answers[k]);
    }
  reader->compare (answers[0], answers[1], 0, &sum);
  vn_kept_sum_finish (&sum, what->task, &kept);
  answer = vn_sample_answer_new (7, &kept);
  reader->keep (layout, answers[0], answers[1], most_pixels, answer);
  vn_kept_sum_clear (&sum);
  for (guint k = 0; k < 2; k++)
    {
      reader->free (answers[k]);
      vn_tensor_unref (tensors[k]);
    }
  return answer;
}

static void
test_kept (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnSampleAnswer) answer = keep (&cases[i], MOST_PIXELS);
      g_autofree char *text = describe (answer);

      g_test_message ("%s", cases[i].name);
      g_assert_cmpint (answer->form, ==, cases[i].form);
      g_assert_cmpstr (text, ==, cases[i].expected);
      g_assert_cmpuint (answer->kept.n, ==, cases[i].n);
      g_assert_cmpuint (answer->kept.n_kept, ==, cases[i].n_kept);
      g_assert_cmpuint (answer->kept.n_added, ==, cases[i].n_added);
      g_assert_cmpuint (answer->n_classes, ==, cases[i].n_classes);
      if (answer->partners != NULL && cases[i].task == VN_TASK_TOKENS)
        g_assert_cmpuint (vn_sample_answer_count_kept (answer), ==, cases[i].n_kept);
    }
}

/* However large it is, a mask has no more pixels than there is room for, and shows the same. */
static void
test_bounds (void)
{
  static const struct { guint most, height, width; } sizes[] = { { 64, 8, 8 }, { 63, 7, 7 }, { 16, 4, 4 }, { 1, 1, 1 } };
  const Case *mask = &cases[G_N_ELEMENTS (cases) - 1];

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr(VnSampleAnswer) answer = keep (mask, sizes[i].most);

      g_assert_cmpuint (answer->mask_height, ==, sizes[i].height);
      g_assert_cmpuint (answer->mask_width, ==, sizes[i].width);
      g_assert_cmpuint (answer->first->len, ==, sizes[i].height * sizes[i].width);
      for (guint y = 0; y < sizes[i].height; y++)
        for (guint x = 0; x < sizes[i].width; x++)
          {
            const guint row = (2 * y + 1) * 8 / (2 * sizes[i].height);
            const guint16 class = g_array_index (answer->first, guint16, y * sizes[i].width + x);

            g_assert_cmpuint (class, ==, mask->sides[0][row] - '0');
          }
    }
}

/* The most lost first; of a mask the part that is lost; then what is more, then their order. */
static void
test_order (void)
{
  static const VnKept counted[] = {
    { VN_TASK_DETECTION, 1, 5, 5, 0, 1, NAN }, { VN_TASK_DETECTION, 1, 9, 7, 0, 7. / 9, NAN },
    { VN_TASK_DETECTION, 1, 2, 0, 0, 0, NAN }, { VN_TASK_DETECTION, 1, 0, 0, 3, NAN, NAN },
    { VN_TASK_DETECTION, 1, 0, 0, 0, NAN, NAN },
  };
  static const VnKept masks[] = {
    { VN_TASK_SEGMENTATION, 1, 2, 0, 0, 0.9, NAN }, { VN_TASK_SEGMENTATION, 1, 4, 0, 0, 1, NAN },
    { VN_TASK_SEGMENTATION, 1, 0, 0, 0, NAN, NAN }, { VN_TASK_SEGMENTATION, 1, 3, 0, 0, 0.2, NAN },
    { VN_TASK_SEGMENTATION, 1, 3, 0, 0, 0.2, NAN },
  };
  static const struct { const VnKept *kept; guint order[5]; guint n_whole; } lists[] = {
    { counted, { 1, 2, 3, 0, 4 }, 2 }, { masks, { 3, 4, 0, 1, 2 }, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    for (guint a = 0; a < 5; a++)
      {
        g_autoptr(VnSampleAnswer) x = vn_sample_answer_new (lists[i].order[a], &lists[i].kept[lists[i].order[a]]);

        g_assert_cmpint (vn_sample_answer_is_whole (x), ==, a >= 5 - lists[i].n_whole);
        for (guint b = 0; b < 5; b++)
          {
            g_autoptr(VnSampleAnswer) y = vn_sample_answer_new (lists[i].order[b], &lists[i].kept[lists[i].order[b]]);

            g_test_message ("%u: %u, %u", i, a, b);
            g_assert_cmpint (CLAMP (vn_sample_answer_compare (x, y), -1, 1), ==, a < b ? -1 : a > b);
          }
      }
}

/* Names that are one fewer than classes are those without the background, and without the blank between words. */
static void
test_names (void)
{
  static const char * const plain[] = { "cat", "dog", "", NULL }, * const with[] = { "__background__", "cat", "dog", NULL };
  static const struct
  {
    VnTask             task;
    guint              n_classes;
    gboolean           background;
    const char * const *names;
    guint              label;
    const char        *expected;
  } lookups[] = {
    { VN_TASK_CLASSIFICATION, 3, FALSE, plain, 0, "cat" }, { VN_TASK_CLASSIFICATION, 4, FALSE, plain, 1, "cat" },
    { VN_TASK_CLASSIFICATION, 4, FALSE, plain, 0, NULL }, { VN_TASK_CLASSIFICATION, 3, FALSE, plain, 2, NULL },
    { VN_TASK_CLASSIFICATION, 9, FALSE, plain, 7, NULL }, { VN_TASK_CLASSIFICATION, 3, FALSE, NULL, 0, NULL },
    { VN_TASK_DETECTION, 0, FALSE, plain, 1, "dog" }, { VN_TASK_DETECTION, 0, TRUE, plain, 1, "cat" },
    { VN_TASK_DETECTION, 0, TRUE, with, 1, "cat" }, { VN_TASK_DETECTION, 0, TRUE, plain, 0, NULL },
    { VN_TASK_TEXT, 4, FALSE, plain, 0, "cat" }, { VN_TASK_TEXT, 4, FALSE, plain, 3, " " },
    { VN_TASK_TEXT, 7, FALSE, plain, 3, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lookups); i++)
    {
      const VnKept kept = { .task = lookups[i].task };
      g_autoptr(VnSampleAnswer) answer = vn_sample_answer_new (0, &kept);

      answer->n_classes = lookups[i].n_classes;
      answer->background = lookups[i].background;
      g_test_message ("%u", i);
      g_assert_cmpstr (vn_sample_answer_find_name (answer, (char **) lookups[i].names, lookups[i].label), ==,
                       lookups[i].expected);
    }
}

/* A meter keeps both answers of the first of two other networks, figures of the second, and hands on what it was told of by
 * another process. */
static void
test_meter (void)
{
  static const guint samples[] = { 4, 2, 9 };
  static const float numbers[3][3][3] = {
    { { 0, 1, 2 }, { 0, 1, 2 }, { 3, 1, 2 } }, { { 5, 1, 2 }, { 5, 9, 2 }, { 5, 1, 2 } },
    { { 0, 1, 0 }, { 0, 1, 0 }, { 0, 1, 0 } },
  };
  static const guint kept[2][3] = { { 0, 1, 1 }, { 1, 0, 1 } };      /* in the order of the data set: 2, 4, 9 */
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  const VnTaskHint hint = { VN_TASK_CLASSIFICATION, TRUE, 0 };
  g_autoptr(VnKeptMeter) meter = vn_kept_meter_new (model, &hint, 2), far = vn_kept_meter_new (model, &hint, 2);

  vn_kept_meter_collect (meter, samples, 3, TRUE);
  for (guint item = 0; item < 3; item++)
    {
      VnTensor *tensors[3];
      VnTaskOutputs outputs[3];

      for (guint k = 0; k < 3; k++)
        {
          tensors[k] = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 3), NULL);
          memcpy (tensors[k]->data, numbers[item][k], sizeof numbers[item][k]);
          outputs[k] = (VnTaskOutputs) { .tensors = &tensors[k], .n = 1 };
        }
      if (item == 0)
        g_assert_true (vn_kept_meter_look (meter, &outputs[0]) && vn_kept_meter_look (far, &outputs[0]));
      if (item < 2)
        vn_kept_meter_add (meter, item, outputs);
      else
        {
          g_autoptr(GVariant) packed = g_variant_ref_sink (vn_kept_meter_add_packed (far, item, outputs));

          g_assert_true (vn_kept_meter_take (meter, item, packed));
        }
      vn_tensor_clear_all (tensors, 3);
    }
  for (guint k = 0; k < 2; k++)
    {
      g_autoptr(GPtrArray) answers = vn_kept_meter_steal_answers (meter, k, NULL);

      g_assert_cmpuint (answers->len, ==, 3);
      for (guint i = 0; i < 3; i++)
        {
          const VnSampleAnswer *answer = g_ptr_array_index (answers, i);

          g_assert_cmpuint (answer->sample, ==, ((const guint[]) { 2, 4, 9 })[i]);
          g_assert_cmpuint (answer->kept.n, ==, 1);
          g_assert_cmpuint (answer->kept.n_kept, ==, kept[k][i]);
          g_assert_cmpint (answer->form, ==, k == 0 && i < 2 ? VN_ANSWER_SCORES : VN_ANSWER_FIGURES);
        }
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/answers/kept", test_kept);
  g_test_add_func ("/answers/bounds", test_bounds);
  g_test_add_func ("/answers/order", test_order);
  g_test_add_func ("/answers/names", test_names);
  g_test_add_func ("/answers/meter", test_meter);
  return g_test_run ();
}
