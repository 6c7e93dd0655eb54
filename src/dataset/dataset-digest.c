/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What makes samples the same as others, without reading them: where they are, how they are prepared, and the sizes and
 * times of their files and of the user's Python. */
#include "vn-dataset-private.h"

#include "vn-digest.h"
#include "vn-json.h"

#include <string.h>
#include <sys/stat.h>

static void
digest_file (VnDigest   *digest,
             const char *path)
{
  struct stat info;

  vn_digest_add_string (digest, path);
  if (stat (path, &info) != 0 || S_ISDIR (info.st_mode))   /* the times of a folder tell of other files, too */
    return;
  vn_digest_add_number (digest, (guint64) info.st_ino);
  vn_digest_add_number (digest, (guint64) info.st_size);
  vn_digest_add_number (digest, (guint64) info.st_mtim.tv_sec);
  vn_digest_add_number (digest, (guint64) info.st_mtim.tv_nsec);
  vn_digest_add_number (digest, (guint64) info.st_ctim.tv_sec);   /* also changed when the time above was put back */
  vn_digest_add_number (digest, (guint64) info.st_ctim.tv_nsec);
}

/* How many samples are taken and held out changes which ones those are, and that is looked at by itself. */
static void
digest_spec (VnDigest         *digest,
             const VnDataSpec *spec)
{
  g_autoptr(VnDataSpec) copy = vn_data_spec_copy (spec);
  g_autoptr(JsonNode) json = NULL;
  g_autofree char *text = NULL;

  copy->max_samples = 0;
  copy->held_out = VN_HELD_OUT_USUAL;
  json = vn_data_spec_to_json (copy, "/");
  text = vn_json_to_text (json);
  vn_digest_add_string (digest, text);
}

static void
digest_script (VnDigest   *digest,
               const char *script)
{
  const char *colon = script != NULL ? strrchr (script, ':') : NULL;
  g_autofree char *file = colon != NULL ? g_strndup (script, (gsize) (colon - script)) : NULL;

  if (file != NULL)
    digest_file (digest, file);
}

static void
digest_input (VnDigest          *digest,
              const VnDataset   *self,
              const VnInputSpec *input)
{
  vn_digest_add_string (digest, input->name);
  vn_digest_add_number (digest, input->dtype);
  vn_digest_add (digest, input->shape.dims, (gsize) MAX (input->shape.rank, 0) * sizeof input->shape.dims[0]);
  digest_script (digest, vn_data_spec_get_script (self->spec, input->name));
}

/* Slices of a stack have no files of their own: @place is PATH or NAME=PATH;NAME=PATH. */
static void
digest_places (VnDigest   *digest,
               const char *place)
{
  g_auto(GStrv) parts = vn_data_spec_split (place);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      const char *equals = strchr (parts[i], '=');

      digest_file (digest, parts[i]);
      if (equals != NULL)
        digest_file (digest, equals + 1);
    }
}

/**
 * vn_dataset_dup_digest:
 * @samples: (array length=n): numbers of samples
 *
 * Nothing is read but what the system knows about the files.
 *
 * Returns: (transfer full): a text that is the same for two lists of samples only if loading them gives the same tensors
 *   in the same order, as far as can be told without loading: what the user's Python imports is not looked at
 */
char *
vn_dataset_dup_digest (VnDataset   *self,
                       const guint *samples,
                       guint        n)
{
  VnDigest digest = { 0 };

  g_return_val_if_fail (self != NULL && (samples != NULL || n == 0), NULL);

  digest_spec (&digest, self->spec);
  digest_places (&digest, self->spec->path);
  if (self->tokens != NULL)
    vn_digest_add (&digest, self->tokens->data, (gsize) self->tokens->len * sizeof (guint32));
  for (guint k = 0; k < self->n_inputs; k++)
    digest_input (&digest, self, &self->inputs[k]);
  vn_digest_add_number (&digest, n);
  for (guint i = 0; i < n; i++)
    {
      const VnSample *sample;

      g_return_val_if_fail (samples[i] < self->samples->len, NULL);
      sample = g_ptr_array_index (self->samples, samples[i]);
      vn_digest_add_string (&digest, sample->name);
      vn_digest_add_number (&digest, sample->index);
      for (guint k = 0; sample->paths != NULL && k < self->n_inputs; k++)
        digest_file (&digest, sample->paths[k]);   /* one that is filled by rule has none */
    }
  return vn_digest_dup_text (&digest);
}
