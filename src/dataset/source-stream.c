/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Tensors one behind another, as programs send them (vn-tensor-message.h): for each sample one for each input, in the order of
 * the model. A message of the kind N in front, without dims, says which inputs have one instead: its payload are their names,
 * each with a zero byte behind it. A sample may have any shape that its input takes. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-tensor-message.h"

#include <string.h>

#define NAMES 'N'
#define MOST_SAMPLES 10000000u

static gboolean
source_stream_fail (const VnDataset  *dataset,
                    guint64           at,
                    const char       *what,
                    GError          **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s”, byte %llu: %s"), dataset->spec->path,
               (unsigned long long) at, what);
  return FALSE;
}

/* Reads the message at @at; @payload: (out): where its bytes begin. */
static gboolean
source_stream_read (const VnDataset  *dataset,
                    guint64           at,
                    VnTensorMessage  *message,
                    guint64          *payload,
                    GError          **error)
{
  gsize size;
  const guint8 *bytes = g_bytes_get_data (dataset->stream, &size);
  guint64 left = size - at;

  if (left < VN_TENSOR_MESSAGE_HEAD)
    return source_stream_fail (dataset, at, _("it ends within a tensor"), error);
  if (!vn_tensor_message_read_head (message, bytes + at))
    return source_stream_fail (dataset, at, _("a tensor was expected, beginning with “VNS1”"), error);
  if (message->rank > VN_MAX_RANK)
    return source_stream_fail (dataset, at, _("the tensor has too many axes"), error);
  left -= VN_TENSOR_MESSAGE_HEAD;
  *payload = at + VN_TENSOR_MESSAGE_HEAD + message->rank * sizeof message->dims[0];
  if (left < message->rank * sizeof message->dims[0] ||
      left - message->rank * sizeof message->dims[0] < message->n_bytes)
    return source_stream_fail (dataset, at, _("it ends within a tensor"), error);
  vn_tensor_message_read_dims (message, bytes + at + VN_TENSOR_MESSAGE_HEAD);
  return TRUE;
}

/* What the tensor at @at is. */
static gboolean
source_stream_get_tensor (const VnDataset        *dataset,
                          guint64                 at,
                          const VnTensorMessage  *message,
                          VnDType                *dtype,
                          VnShape                *shape,
                          GError                **error)
{
  return vn_tensor_message_get_tensor (message, dtype, shape) ||
         source_stream_fail (dataset, at, _("no tensor, or its type and shape do not give its number of bytes"), error);
}

/* ---- which inputs ---- */

static gboolean
source_stream_add_column (VnDataset   *dataset,
                          const char  *name,
                          GError     **error)
{
  for (guint k = 0; k < dataset->n_inputs; k++)
    {
      if (!g_str_equal (dataset->inputs[k].name, name))
        continue;
      if (dataset->columns[k] >= 0)
        return source_stream_fail (dataset, 0, _("an input is named twice"), error);
      dataset->columns[k] = (int) dataset->n_columns++;
      return TRUE;
    }
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("“%s” has samples for an input “%s”, which the model does not have"),
               dataset->spec->path, name);
  return FALSE;
}

static gboolean
source_stream_read_names (VnDataset              *dataset,
                          const VnTensorMessage  *message,
                          guint64                 payload,
                          GError                **error)
{
  const char *at = (const char *) g_bytes_get_data (dataset->stream, NULL) + payload;
  const char *end = at + message->n_bytes;

  if (message->rank > 0 || message->n_bytes == 0 || end[-1] != '\0')
    return source_stream_fail (dataset, 0, _("names of inputs were expected, each with a zero byte after it"), error);
  for (; at < end; at += strlen (at) + 1)
    if (!source_stream_add_column (dataset, at, error))
      return FALSE;
  return TRUE;
}

/* Reads the names, if there are any, and sets @at behind them. */
static gboolean
source_stream_find_columns (VnDataset  *dataset,
                            guint64    *at,
                            GError    **error)
{
  VnTensorMessage message;
  guint64 payload;

  dataset->columns = g_new (int, dataset->n_inputs);
  if (!source_stream_read (dataset, 0, &message, &payload, error))
    return FALSE;
  for (guint k = 0; k < dataset->n_inputs; k++)
    dataset->columns[k] = message.kind == NAMES ? -1 : (int) k;
  dataset->n_columns = message.kind == NAMES ? 0 : dataset->n_inputs;
  if (message.kind == NAMES && !source_stream_read_names (dataset, &message, payload, error))
    return FALSE;
  *at = message.kind == NAMES ? payload + message.n_bytes : 0;
  for (guint k = 0; k < dataset->n_inputs; k++)
    if (dataset->columns[k] < 0 && (k == dataset->main_input || !vn_dataset_may_fill (dataset, k)))
      {
        g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("“%s” has no samples for input “%s”"), dataset->spec->path,
                     dataset->inputs[k].name);
        return FALSE;
      }
  return TRUE;
}

/* ---- the source ---- */

static gboolean
stream_claims (const VnDataset *dataset)
{
  char magic[4] = "";
  FILE *file = vn_file_kind (dataset->spec->path) == VN_FILE_OTHER &&
               g_file_test (dataset->spec->path, G_FILE_TEST_IS_REGULAR) ? fopen (dataset->spec->path, "rbe") : NULL;
  const gboolean has = file != NULL && fread (magic, sizeof magic, 1, file) == 1;

  if (file != NULL)
    fclose (file);
  return has && memcmp (magic, VN_TENSOR_MESSAGE_MAGIC, sizeof magic) == 0;
}

/* Finds where each tensor begins. */
static gboolean
source_stream_list_messages (VnDataset  *dataset,
                             guint64     at,
                             GError    **error)
{
  const guint64 size = g_bytes_get_size (dataset->stream);
  VnTensorMessage message;
  VnDType dtype;
  VnShape shape;

  dataset->messages = g_array_new (FALSE, FALSE, sizeof (guint64));
  for (guint64 payload; at < size; at = payload + message.n_bytes)
    {
      if (!source_stream_read (dataset, at, &message, &payload, error) ||
          !source_stream_get_tensor (dataset, at, &message, &dtype, &shape, error))
        return FALSE;
      if (dataset->messages->len / MAX (dataset->n_columns, 1) >= MOST_SAMPLES)
        return source_stream_fail (dataset, at, _("there are too many samples"), error);
      g_array_append_val (dataset->messages, at);
    }
  return TRUE;
}

static gboolean
stream_open (VnDataset  *dataset,
             VnNotes    *notes,
             GError    **error)
{
  guint64 at;
  guint n;

  dataset->stream = vn_file_map (dataset->spec->path, error);
  if (dataset->stream == NULL || !source_stream_find_columns (dataset, &at, error) ||
      !source_stream_list_messages (dataset, at, error))
    return FALSE;
  n = dataset->messages->len;
  if (n == 0 || n % dataset->n_columns != 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   ngettext ("“%s” has %u tensor; a sample has %u", "“%s” has %u tensors; a sample has %u", n),
                   dataset->spec->path, n, dataset->n_columns);
      return FALSE;
    }
  for (guint i = 0; i < n / dataset->n_columns; i++)
    {
      g_autofree char *name = g_strdup_printf ("sample %u", i);

      vn_dataset_add (dataset, name, -1, NULL);
    }
  return TRUE;
}

static gboolean
stream_load (const VnDataset  *dataset,
             guint             i,
             guint             input,
             VnTensor        **tensor,
             GError          **error)
{
  const VnSample *sample = g_ptr_array_index (dataset->samples, i);
  const gsize index = (gsize) sample->index * dataset->n_columns + (guint) dataset->columns[input];
  const guint64 at = g_array_index (dataset->messages, guint64, index);
  g_autoptr(VnTensor) raw = NULL;
  VnTensorMessage message;
  guint64 payload;
  VnDType dtype;
  VnShape shape;

  /* once more, as somebody may have written into the file */
  if (!source_stream_read (dataset, at, &message, &payload, error) ||
      !source_stream_get_tensor (dataset, at, &message, &dtype, &shape, error))
    return FALSE;
  /* copied, as the elements of a tensor are aligned */
  raw = vn_tensor_new (dtype, &shape, error);
  if (raw == NULL)
    return FALSE;
  memcpy (raw->data, (const guint8 *) g_bytes_get_data (dataset->stream, NULL) + payload, raw->n_bytes);
  *tensor = vn_tensor_fit (raw, &dataset->inputs[input], error);
  if (*tensor == NULL)
    g_prefix_error (error, "%s: ", sample->name);
  return *tensor != NULL;
}

const VnSource vn_source_stream = {
  .id = "stream",
  .title = N_("tensors of a program"),
  .claims = stream_claims,
  .open = stream_open,
  .load = stream_load,
};
