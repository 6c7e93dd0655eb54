/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Plain text for a network that takes numbers of tokens: a .txt file, or a folder of them, by a tokenizer.json; or a folder of
 * files of such numbers, where a window or a stride is asked for. Each text is cut into windows; what is left at its end is no
 * sample, unless the text is shorter than one and the network takes any length. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-tokenizer.h"

#include <string.h>

#define LOOKED_AT 65536u       /* bytes of a file that may be a list of others */
#define LEAST_TOKENS 2u        /* of a text that is shorter than a window */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

static gboolean
source_text_is_text (const char *name)
{
  const char *dot = strrchr (name, '.');

  return dot != NULL && g_ascii_strcasecmp (dot, ".txt") == 0;
}

/* ---- lists of files, which end alike ---- */

static gboolean
source_text_lies (const char *folder,
                  const char *name)
{
  g_autofree char *path = g_canonicalize_filename (name, folder);

  return *name != '\0' && g_file_test (path, G_FILE_TEST_EXISTS);
}

/* The first line that is no comment is a path, perhaps with others or a number behind it. */
static gboolean
source_text_is_list (const char *path)
{
  g_autoptr(GBytes) bytes = vn_file_map (path, NULL);
  g_autofree char *folder = vn_list_get_folder (path);
  g_autofree char *begin = NULL;
  gsize size = 0;
  const char *text = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

  begin = text != NULL ? g_strndup (text, MIN (size, LOOKED_AT)) : g_strdup ("");
  for (char *line = begin, *next; line != NULL; line = next)
    {
      next = strchr (line, '\n');
      if (next != NULL)
        *next++ = '\0';
      g_strstrip (line);
      if (*line == '\0' || *line == '#')
        continue;
      if (source_text_lies (folder, line))
        return TRUE;
      line[strcspn (line, "\t, ")] = '\0';
      return source_text_lies (folder, line);
    }
  return FALSE;
}

/* ---- which texts ---- */

static gboolean
source_text_takes_tokens (const VnDataset *dataset)
{
  const VnInputSpec *input = dataset->n_inputs > 0 ? &dataset->inputs[dataset->main_input] : NULL;

  return input != NULL && dataset->has_main && input->shape.rank == 2 &&
         (input->dtype == VN_DTYPE_S32 || input->dtype == VN_DTYPE_S64) &&
         vn_data_spec_get_script (dataset->spec, input->name) == NULL;
}

/* Whether something in a folder is called like an input: it is for that one. */
static gboolean
source_text_is_for_input (const VnDataset *dataset,
                          const GPtrArray *names)
{
  for (guint i = 0; i < names->len; i++)
    for (guint k = 0; k < dataset->n_inputs; k++)
      {
        g_autofree char *stem = vn_input_file_name (dataset->inputs[k].name);
        const char *name = names->pdata[i];

        if (g_str_has_prefix (name, stem) && name[strlen (stem)] == '.')
          return TRUE;
      }
  return FALSE;
}

static gboolean
source_text_is_numbers (const char *name)
{
  const VnFileKind kind = vn_file_kind (name);

  return kind == VN_FILE_NPY || kind == VN_FILE_RAW;
}

/* (transfer none) (nullable): the files of a folder that are texts, or numbers of tokens; nothing else in it may be samples */
static const GPtrArray *
source_text_choose_files (const VnDataset *dataset,
                          const VnListing *listing)
{
  const gboolean cut = dataset->spec->window > 0 || dataset->spec->stride > 0;
  gboolean texts = FALSE, numbers = listing->tensors->len > 1 && cut;

  for (guint i = 0; i < listing->others->len; i++)
    texts |= source_text_is_text (listing->others->pdata[i]);
  for (guint i = 0; i < listing->tensors->len; i++)
    numbers &= source_text_is_numbers (listing->tensors->pdata[i]);
  if (listing->pictures->len > 0 || source_text_is_for_input (dataset, listing->others) ||
      source_text_is_for_input (dataset, listing->tensors))
    return NULL;
  return numbers ? listing->tensors : texts && listing->tensors->len == 0 ? listing->others : NULL;
}

static gboolean
text_claims (const VnDataset *dataset)
{
  const char *path = dataset->spec->path;
  g_auto(VnListing) listing = { 0 };

  if (!source_text_takes_tokens (dataset))
    return FALSE;
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    return vn_listing_read (&listing, path, NULL) && source_text_choose_files (dataset, &listing) != NULL;
  return source_text_is_text (path) && g_file_test (path, G_FILE_TEST_IS_REGULAR) && !source_text_is_list (path);
}

/* ---- its tokens ---- */

/* (transfer full) (nullable): the one that is named, or that lies beside the network or the text */
static char *
source_text_find_tokenizer (const VnDataset  *dataset,
                            GError          **error)
{
  char *path = vn_tokenizer_find (dataset->spec->tokenizer, dataset->spec->path);

  if (path != NULL)
    return path;
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
               _("“%s” names no files, and reading it as text requires the tokenizer: put the tokenizer.json of the model next "
                 "to the model or the text, or specify it"), dataset->spec->path);
  return NULL;
}

static gboolean
source_text_check_text (const char  *path,
                        const char  *text,
                        gsize        length,
                        GError     **error)
{
  const char *end = text;

  if (g_utf8_validate_len (text, length, &end))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is not text in UTF-8: byte %zu"), path, (gsize) (end - text));
  return FALSE;
}

/* The vocabulary of another network may be larger. */
static gboolean
source_text_check_tokens (const VnDataset  *dataset,
                          const char       *tokenizer,
                          GError          **error)
{
  const VnInputSpec *input = &dataset->inputs[dataset->main_input];

  for (guint i = 0; input->limit > 0 && i < dataset->tokens->len; i++)
    if (g_array_index (dataset->tokens, guint32, i) >= input->limit)
      {
        g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
                     _("“%s” gives token %u, but the embedding of the model has %lld: it is the tokenizer of another model"),
                     tokenizer, g_array_index (dataset->tokens, guint32, i), (long long) input->limit);
        return FALSE;
      }
  return TRUE;
}

static void
source_text_add_window (VnDataset  *dataset,
                        const char *name,
                        gsize       start,
                        gsize       length,
                        guint       n_seen)
{
  const VnTokenWindow window = { start, length };

  g_array_append_val (dataset->windows, window);
  vn_dataset_add (dataset, name, -1, NULL);
  ((VnSample *) dataset->samples->pdata[dataset->samples->len - 1])->n_seen = n_seen;
}

/* Cuts the tokens from @start on into samples. Returns whether there is one. */
static gboolean
source_text_cut (VnDataset  *dataset,
                 const char *name,
                 gsize       start)
{
  const gsize n = dataset->tokens->len - start, window = (gsize) vn_dataset_get_window (dataset);
  const gsize step = (gsize) vn_dataset_get_stride (dataset);
  const gboolean is_open = dataset->inputs[dataset->main_input].shape.dims[1] == VN_DIM_UNKNOWN;

  if (n < window && is_open && n >= LEAST_TOKENS)
    source_text_add_window (dataset, name, start, n, 0);
  for (gsize at = 0; n >= window && at <= n - window; at += step)
    {
      g_autofree char *label = g_strdup_printf ("%s #%zu", name, at / step);

      source_text_add_window (dataset, label, start + at, window, at > 0 && step < window ? (guint) (window - step) : 0);
    }
  return n >= window || (is_open && n >= LEAST_TOKENS);
}

/* @n_short: counts the texts that give no sample. */
static gboolean
source_text_add (VnDataset          *dataset,
                 const VnTokenizer  *tokenizer,
                 const char         *path,
                 guint              *n_short,
                 GError            **error)
{
  g_autoptr(GBytes) bytes = vn_file_map (path, error);
  g_autofree char *name = g_path_get_basename (path);
  const gsize start = dataset->tokens->len;
  const char *text;
  gsize size;

  if (bytes == NULL)
    return FALSE;
  text = g_bytes_get_data (bytes, &size);
  if (size >= strlen (BYTE_ORDER_MARK) && memcmp (text, BYTE_ORDER_MARK, strlen (BYTE_ORDER_MARK)) == 0)
    {
      text += strlen (BYTE_ORDER_MARK);
      size -= strlen (BYTE_ORDER_MARK);
    }
  if (!source_text_check_text (path, text, size, error))
    return FALSE;
  if (!vn_tokenizer_encode (tokenizer, text, size, dataset->tokens, error))
    {
      g_prefix_error (error, "“%s”: ", path);
      return FALSE;
    }
  if (!vn_file_check_map (bytes, FALSE, error))
    return FALSE;
  *n_short += !source_text_cut (dataset, name, start);
  return TRUE;
}

/* Of a file that has them as they are. */
static gboolean
source_text_add_numbers (VnDataset   *dataset,
                         const char  *path,
                         guint       *n_short,
                         GError     **error)
{
  VnInputSpec input = dataset->inputs[dataset->main_input];
  g_autofree char *name = g_path_get_basename (path);
  g_autoptr(VnTensor) tensor = NULL;
  const gsize start = dataset->tokens->len;

  input.shape = VN_SHAPE (VN_DIM_UNKNOWN);
  tensor = vn_tensor_file_read (path, &input, vn_data_spec_get_raw_type (dataset->spec, input.name), error);
  if (tensor == NULL)
    return FALSE;
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      const gint64 number = vn_dtype_is_integer (tensor->dtype) ? vn_tensor_get_s64 (tensor, i) : -1;
      const guint32 token = (guint32) number;

      if (number < 0 || number > G_MAXINT32 || dataset->tokens->len >= G_MAXINT32)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” does not hold the numbers of tokens"), path);
          return FALSE;
        }
      g_array_append_val (dataset->tokens, token);
    }
  *n_short += !source_text_cut (dataset, name, start);
  return TRUE;
}

/* @tokenizer: (nullable): there are numbers */
static gboolean
source_text_add_all (VnDataset          *dataset,
                     const VnTokenizer  *tokenizer,
                     guint              *n_texts,
                     guint              *n_short,
                     GError            **error)
{
  const char *path = dataset->spec->path;
  g_auto(VnListing) listing = { 0 };
  const GPtrArray *files;

  *n_texts = 1;
  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    return source_text_add (dataset, tokenizer, path, n_short, error);
  *n_texts = 0;
  if (!vn_listing_read (&listing, path, error))
    return FALSE;
  files = source_text_choose_files (dataset, &listing);
  for (guint i = 0; files != NULL && i < files->len; i++)
    {
      g_autofree char *whole = g_build_filename (path, files->pdata[i], NULL);

      if (tokenizer != NULL && !source_text_is_text (whole))
        continue;
      ++*n_texts;
      if (tokenizer != NULL ? !source_text_add (dataset, tokenizer, whole, n_short, error)
                            : !source_text_add_numbers (dataset, whole, n_short, error))
        return FALSE;
    }
  return TRUE;
}

/* ---- the source ---- */

static void
source_text_note (const VnDataset *dataset,
                  VnNotes         *notes,
                  const char      *tokenizer,
                  guint            n_texts,
                  guint            n_short)
{
  if (notes == NULL)
    return;
  if (tokenizer == NULL)
    vn_notes_add (notes, VN_NOTE_INFO, "data-text", dataset->spec->path,
                  ngettext ("%u file, %zu tokens: samples of %lld tokens, one every %lld",
                            "%u files, %zu tokens: samples of %lld tokens, one every %lld", n_texts), n_texts,
                  (gsize) dataset->tokens->len, (long long) vn_dataset_get_window (dataset),
                  (long long) vn_dataset_get_stride (dataset));
  else
    vn_notes_add (notes, VN_NOTE_INFO, "data-text", dataset->spec->path,
                  ngettext ("%u text, %zu tokens by “%s”: samples of %lld tokens, one every %lld",
                            "%u texts, %zu tokens by “%s”: samples of %lld tokens, one every %lld", n_texts), n_texts,
                  (gsize) dataset->tokens->len, tokenizer, (long long) vn_dataset_get_window (dataset),
                  (long long) vn_dataset_get_stride (dataset));
  if (n_short > 0)
    vn_notes_add (notes, VN_NOTE_INFO, "data-text-short", dataset->spec->path,
                  ngettext ("%u text is shorter than a sample and skipped", "%u texts are shorter than a sample and skipped",
                            n_short), n_short);
}

/* A folder of files of numbers. */
static gboolean
source_text_holds_numbers (const VnDataset *dataset)
{
  g_auto(VnListing) listing = { 0 };

  return g_file_test (dataset->spec->path, G_FILE_TEST_IS_DIR) && vn_listing_read (&listing, dataset->spec->path, NULL) &&
         source_text_choose_files (dataset, &listing) == listing.tensors;
}

static gboolean
text_open (VnDataset  *dataset,
           VnNotes    *notes,
           GError    **error)
{
  const gboolean numbers = source_text_holds_numbers (dataset);
  g_autofree char *path = numbers ? NULL : source_text_find_tokenizer (dataset, error);
  g_autoptr(VnTokenizer) tokenizer = path != NULL ? vn_tokenizer_load (path, error) : NULL;
  guint n_texts = 0, n_short = 0;

  if (tokenizer == NULL && !numbers)
    return FALSE;
  dataset->tokens = g_array_new (FALSE, FALSE, sizeof (guint32));
  dataset->windows = g_array_new (FALSE, FALSE, sizeof (VnTokenWindow));
  if (!source_text_add_all (dataset, tokenizer, &n_texts, &n_short, error) ||
      !source_text_check_tokens (dataset, path != NULL ? path : dataset->spec->path, error))
    return FALSE;
  if (dataset->samples->len == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("The texts of “%s” have %zu tokens; a sample has %lld"),
                   dataset->spec->path, (gsize) dataset->tokens->len, (long long) vn_dataset_get_window (dataset));
      return FALSE;
    }
  source_text_note (dataset, notes, path, n_texts, n_short);
  return TRUE;
}

static gboolean
text_load (const VnDataset  *dataset,
           guint             i,
           guint             input,
           VnTensor        **tensor,
           GError          **error)
{
  const VnSample *sample = g_ptr_array_index (dataset->samples, i);
  const VnTokenWindow *window = &g_array_index (dataset->windows, VnTokenWindow, sample->index);
  const VnShape shape = VN_SHAPE (1, (gint64) window->length);
  g_autoptr(VnTensor) numbers = vn_tensor_new (VN_DTYPE_S64, &shape, error);

  if (numbers == NULL)
    return FALSE;
  for (gsize k = 0; k < window->length; k++)
    ((gint64 *) numbers->data)[k] = g_array_index (dataset->tokens, guint32, window->start + k);
  *tensor = vn_tensor_fit (numbers, &dataset->inputs[input], error);
  return *tensor != NULL;
}

const VnSource vn_source_text = {
  .id = "text",
  .title = N_("plain text"),
  .claims = text_claims,
  .open = text_open,
  .load = text_load,
};
