/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "damage.h"

#include "mutate-model.h"
#include "vn-onnx.h"

#include <string.h>

/* Networks are shortened to each length up to here, then to each such multiple. */
#define EACH_LENGTH 65536
#define LENGTH_STEP 257

static const char * const names[] = { "model", "cut", "flip" };

gboolean
damage_find (const char *name,
             Damage     *kind)
{
  *kind = DAMAGE_MODEL;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (name != NULL && g_str_equal (name, names[i]))
      {
        *kind = (Damage) i;
        return TRUE;
      }
  return name == NULL;
}

const char *
damage_get_name (Damage kind)
{
  return names[kind];
}

/* ---- the networks ---- */

static void
base_free (gpointer data)
{
  Base *self = data;

  g_free (self->name);
  g_bytes_unref (self->bytes);
  g_clear_pointer (&self->structure, g_array_unref);
  g_free (self);
}

/* The small inputs of a backend case (axes, shapes, indices) become weights, so that they are known while planning. */
static GBytes *
with_constants (GBytes     *bytes,
                const char *folder)
{
  g_autoptr(VnModel) model = vn_onnx_read_bytes (bytes, NULL, NULL);

  for (guint i = 1; model != NULL && i < model->graph->inputs->len; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/test_data_set_0/input_%u.pb", folder, i);
      g_autoptr(VnTensor) tensor = vn_onnx_tensor_read_file (path, NULL, NULL);
      VnValue *value = g_ptr_array_index (model->graph->inputs, i);

      if (tensor != NULL && value->type.kind == VN_TYPE_TENSOR && tensor->dtype == value->type.dtype)
        vn_graph_set_initializer (model->graph, value, tensor);
    }
  return model != NULL ? vn_onnx_write_bytes (model, NULL) : NULL;
}

static void
add_base (GPtrArray  *bases,
          const char *path,
          GBytes     *bytes)
{
  Base *base;

  if (bytes == NULL)
    return;
  base = g_new0 (Base, 1);
  base->name = g_strdup (path);
  base->bytes = bytes;
  g_ptr_array_add (bases, base);
}

static void
add_file (GPtrArray  *bases,
          const char *path,
          const char *folder)
{
  char *data;
  gsize size;
  GBytes *bytes;

  if (!g_file_get_contents (path, &data, &size, NULL))
    return;
  bytes = g_bytes_new_take (data, size);
  if (folder != NULL)
    {
      GBytes *constant = with_constants (bytes, folder);

      g_bytes_unref (bytes);
      bytes = constant;
    }
  add_base (bases, path, bytes);
}

static int
compare_bases (gconstpointer a,
               gconstpointer b)
{
  return strcmp ((*(Base * const *) a)->name, (*(Base * const *) b)->name);
}

static void
add_path (GPtrArray  *bases,
          const char *path)
{
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  if (dir == NULL)
    {
      add_file (bases, path, NULL);
      return;
    }
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *entry = g_build_filename (path, name, NULL);
      g_autofree char *inner = g_build_filename (entry, "model.onnx", NULL);

      if (g_str_has_suffix (name, ".onnx"))
        add_file (bases, entry, NULL);
      else if (g_file_test (inner, G_FILE_TEST_EXISTS))
        add_file (bases, inner, entry);
    }
}

/* Those inside folders are cases of operators. */
GPtrArray *
damage_load_bases (char **paths)
{
  GPtrArray *bases = g_ptr_array_new_with_free_func (base_free);

  for (; paths != NULL && *paths != NULL; paths++)
    add_path (bases, *paths);
  g_ptr_array_sort (bases, compare_bases);
  return bases;
}

/* ---- what the bytes say ---- */

static void
damage_bytes (GByteArray *bytes,
              GRand      *rand)
{
  guint n = (guint) g_rand_int_range (rand, 1, 6);

  for (guint i = 0; i < n && bytes->len > 1; i++)
    {
      guint at = (guint) g_rand_int_range (rand, 0, (gint32) bytes->len);

      if (g_rand_int_range (rand, 0, 20) == 0)
        g_byte_array_set_size (bytes, at + 1);
      else if (g_rand_boolean (rand))
        bytes->data[at] ^= (guint8) (1u << g_rand_int_range (rand, 0, 8));
      else
        bytes->data[at] = (guint8) g_rand_int (rand);
    }
}

static GBytes *
damage_model (GBytes *base,
              GRand  *rand)
{
  GByteArray *bytes;

  if (g_rand_int_range (rand, 0, 8) > 0)
    {
      g_autoptr(VnModel) model = vn_onnx_read_bytes (base, NULL, NULL);

      if (model == NULL)
        return g_bytes_ref (base);
      mutate_model (model, rand);
      return vn_onnx_write_bytes (model, NULL);
    }
  bytes = g_byte_array_new ();
  g_byte_array_append (bytes, g_bytes_get_data (base, NULL), (guint) g_bytes_get_size (base));
  damage_bytes (bytes, rand);
  return g_byte_array_free_to_bytes (bytes);
}

/* ---- bits ---- */

static int
compare_spans (gconstpointer a,
               gconstpointer b)
{
  const Span *left = a, *right = b;

  return left->start < right->start ? -1 : left->start > right->start;
}

/* What lies between the weights: the structure, and all that is small. */
static void
find_structure (Base *base)
{
  gsize size, at = 0;
  const guint8 *data = g_bytes_get_data (base->bytes, &size);
  g_autoptr(VnModel) model = vn_onnx_read_bytes (base->bytes, base->name, NULL);
  g_autoptr(GArray) weights = g_array_new (FALSE, FALSE, sizeof (Span));

  base->structure = g_array_new (FALSE, FALSE, sizeof (Span));
  for (guint i = 0; model != NULL && i < model->graph->initializers->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->initializers, i);
      const guint8 *first = value->initializer->data;

      if (value->initializer->n_bytes > 0 && first >= data && first < data + size)
        g_array_append_vals (weights, &(Span) { (gsize) (first - data), (gsize) (first - data) + value->initializer->n_bytes },
                             1);
    }
  g_array_sort (weights, compare_spans);
  for (guint i = 0; i <= weights->len; i++)
    {
      const Span next = i < weights->len ? g_array_index (weights, Span, i) : (Span) { size, size };

      if (next.start > at)
        g_array_append_vals (base->structure, &(Span) { at, next.start }, 1);
      at = MAX (at, next.end);
    }
}

static gsize
draw_place (Base  *base,
            GRand *rand)
{
  gsize size = g_bytes_get_size (base->bytes);
  const Span *span;

  if (g_rand_boolean (rand) || base->structure->len == 0)
    return (gsize) g_rand_double_range (rand, 0, (double) size);
  span = &g_array_index (base->structure, Span, g_rand_int_range (rand, 0, (gint32) base->structure->len));
  return span->start + (gsize) g_rand_double_range (rand, 0, (double) (span->end - span->start));
}

/* Half of them among the weights, which are most of the bytes, half of them not. */
static GBytes *
flip_bit (Base  *base,
          GRand *rand)
{
  gsize size = g_bytes_get_size (base->bytes);
  guint8 *copy = g_memdup2 (g_bytes_get_data (base->bytes, NULL), size);

  if (base->structure == NULL)
    find_structure (base);
  if (size > 0)
    copy[draw_place (base, rand)] ^= (guint8) (1u << g_rand_int_range (rand, 0, 8));
  return g_bytes_new_take (copy, size);
}

/* ---- lengths ---- */

static guint
count_lengths (const Base *base)
{
  gsize size = g_bytes_get_size (base->bytes);

  return (guint) (MIN (size, EACH_LENGTH) + (size > EACH_LENGTH ? (size - EACH_LENGTH - 1) / LENGTH_STEP + 1 : 0));
}

static GBytes *
cut (const Base *base,
     guint       k)
{
  gsize length = k < EACH_LENGTH ? k : EACH_LENGTH + (gsize) (k - EACH_LENGTH) * LENGTH_STEP;

  return g_bytes_new_from_bytes (base->bytes, 0, length);
}

/* ---- one of them ---- */

/* @i becomes its number among those of its network. */
static Base *
find_base (GPtrArray *bases,
           Damage     kind,
           guint     *i)
{
  Base *base = g_ptr_array_index (bases, *i % bases->len);

  for (guint k = 0; kind == DAMAGE_CUT && k < bases->len; k++)
    {
      base = g_ptr_array_index (bases, k);
      if (*i < count_lengths (base))
        break;
      *i -= count_lengths (base);
    }
  return base;
}

guint
damage_count (GPtrArray *bases,
              Damage     kind,
              int        wanted)
{
  guint n = 0;

  if (kind != DAMAGE_CUT)
    return wanted > 0 ? (guint) wanted : 1500;
  for (guint k = 0; k < bases->len; k++)
    n += count_lengths (g_ptr_array_index (bases, k));
  return n;
}

const Base *
damage_get_base (GPtrArray *bases,
                 Damage     kind,
                 guint      i)
{
  return find_base (bases, kind, &i);
}

GBytes *
damage_base (GPtrArray *bases,
             Damage     kind,
             guint      i,
             GRand     *rand)
{
  Base *base = find_base (bases, kind, &i);

  switch (kind)
    {
    case DAMAGE_CUT:
      return cut (base, i);
    case DAMAGE_FLIP:
      return flip_bit (base, rand);
    default:
      return damage_model (base->bytes, rand);
    }
}
