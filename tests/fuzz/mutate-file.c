/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mutate-file.h"

#include "mutate-bytes.h"
#include "mutate-model.h"
#include "vn-onnx.h"

static void
take (GByteArray *bytes,
      GBytes     *from)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (from, &size);

  g_byte_array_set_size (bytes, 0);
  g_byte_array_append (bytes, data, (guint) size);
}

static gboolean
mutate_network (GByteArray *bytes,
                GRand      *rand)
{
  g_autoptr(GBytes) before = g_bytes_new (bytes->data, bytes->len), after = NULL;
  g_autoptr(VnModel) model = vn_onnx_read_bytes (before, NULL, NULL);

  if (model == NULL)
    return FALSE;
  mutate_model (model, rand);
  after = vn_onnx_write_bytes (model, NULL);
  if (after != NULL)
    take (bytes, after);
  return after != NULL;
}

gboolean
mutate_meaning (GByteArray     *bytes,
                GRand          *rand,
                const FileKind *kind)
{
  switch (kind->form)
    {
    case FILE_JSON:
      return mutate_json (bytes, rand);
    case FILE_MODEL:
      return mutate_network (bytes, rand);
    default:
      return FALSE;
    }
}

void
mutate_file (GByteArray     *bytes,
             GRand          *rand,
             const FileKind *kind)
{
  if (g_rand_boolean (rand) || !mutate_meaning (bytes, rand, kind))
    mutate_bytes (bytes, rand, kind->words);
}
