/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Sounds out of .wav files: PCM of 8, 16, 24 or 32 bits and floats of 32 or 64, all channels mixed to one, from -1 to 1. Numbers
 * are little-endian:
 *
 *   "RIFF" size "WAVE", then chunks, each a name of four letters, a size, as many bytes, and one more if they are odd
 *   "fmt ": +0 format (1 PCM, 3 float, 0xfffe: at +24), +2 channels, +4 rate in Hz, +12 bytes of all channels, +14 bits
 *   "data": the values, the channels of a moment beside each other; a size of 0xffffffff, or 0 at the end: up to the end
 *
 * What is compressed (A-law, MP3 and others) is refused. There is no library for this: reading it takes less than using one. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"

#include <math.h>
#include <string.h>

#define HEAD_SIZE 12
#define CHUNK_SIZE 8
#define FORMAT_SIZE 16
#define MOST_SECONDS 30u       /* of a sound for an input that takes any length */

enum { FORMAT_PCM = 1, FORMAT_FLOAT = 3, FORMAT_EXTENSIBLE = 0xfffe };

typedef struct
{
  guint         format, channels, bits;
  guint32       rate;
  const guint8 *data;
  gsize         n;            /* moments */
} Sound;

static guint
wav_file_get_16 (const guint8 *at)
{
  return at[0] | (guint) at[1] << 8;
}

static guint32
wav_file_get_32 (const guint8 *at)
{
  return wav_file_get_16 (at) | (guint32) wav_file_get_16 (at + 2) << 16;
}

static gboolean
wav_file_refuse (const char  *why,
                 GError     **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("The .wav file cannot be read: %s"), why);
  return FALSE;
}

static gboolean
wav_file_read_format (Sound         *self,
                      const guint8  *at,
                      gsize          size,
                      GError       **error)
{
  if (size < FORMAT_SIZE)
    return wav_file_refuse (_("its format is truncated"), error);
  self->format = wav_file_get_16 (at);
  self->channels = wav_file_get_16 (at + 2);
  self->rate = wav_file_get_32 (at + 4);
  self->bits = wav_file_get_16 (at + 14);
  if (self->format == FORMAT_EXTENSIBLE && size >= 26)
    self->format = wav_file_get_16 (at + 24);
  if (!(self->format == FORMAT_PCM && (self->bits == 8 || self->bits == 16 || self->bits == 24 || self->bits == 32)) &&
      !(self->format == FORMAT_FLOAT && (self->bits == 32 || self->bits == 64)))
    return wav_file_refuse (_("expected PCM of 8, 16, 24 or 32 bits, or floats; convert it"), error);
  if (self->channels == 0 || wav_file_get_16 (at + 12) != self->channels * self->bits / 8 || self->rate == 0)
    return wav_file_refuse (_("its format contradicts itself"), error);
  return TRUE;
}

/* Finds the format and the values. */
static gboolean
wav_file_parse_head (Sound         *self,
                     const guint8  *data,
                     gsize          size,
                     GError       **error)
{
  gsize at = HEAD_SIZE;

  *self = (Sound) { 0 };
  if (size < HEAD_SIZE || memcmp (data, "RIFF", 4) != 0 || memcmp (data + 8, "WAVE", 4) != 0)
    return wav_file_refuse (_("it has no RIFF header"), error);
  while (size - at >= CHUNK_SIZE)
    {
      const guint8 *chunk = data + at;
      const guint32 said = wav_file_get_32 (chunk + 4);
      const gboolean is_data = memcmp (chunk, "data", 4) == 0;
      gsize n = said;

      at += CHUNK_SIZE;
      if (is_data && (said == G_MAXUINT32 || said == 0))    /* was written before the length was known */
        n = size - at;
      if (n > size - at)
        return wav_file_refuse (_("it is truncated"), error);
      if (memcmp (chunk, "fmt ", 4) == 0 && !wav_file_read_format (self, data + at, n, error))
        return FALSE;
      if (is_data && self->channels == 0)
        return wav_file_refuse (_("the values come before their format"), error);
      if (is_data)
        {
          self->data = data + at;
          self->n = n / (self->channels * self->bits / 8);
          return self->n > 0 || wav_file_refuse (_("it is empty"), error);
        }
      at += n;
      if (n % 2 == 1 && at < size)
        at++;
    }
  return wav_file_refuse (_("it has no values"), error);
}

/* ---- values ---- */

static double
wav_file_get_value (const Sound  *self,
                    const guint8 *at)
{
  const guint32 low = self->bits >= 32 ? wav_file_get_32 (at) : 0;

  if (self->format == FORMAT_FLOAT && self->bits == 32)
    {
      float value;

      memcpy (&value, &low, sizeof value);
      return (double) value;
    }
  if (self->format == FORMAT_FLOAT)
    {
      const guint64 word = low | (guint64) wav_file_get_32 (at + 4) << 32;
      double value;

      memcpy (&value, &word, sizeof value);
      return value;
    }
  switch (self->bits)
    {
    case 8: return (at[0] - 128) / 128.0;
    case 16: return (gint16) wav_file_get_16 (at) / 32768.0;
    case 24: return (gint32) ((guint32) wav_file_get_16 (at) << 8 | (guint32) at[2] << 24) / 2147483648.0;
    default: return (gint32) low / 2147483648.0;
    }
}

/* The mean of all channels at moment @i. */
static float
wav_file_mix (const Sound *self,
              gsize        i)
{
  const gsize width = self->bits / 8;
  double sum = 0;

  for (guint c = 0; c < self->channels; c++)
    sum += wav_file_get_value (self, self->data + (i * self->channels + c) * width);
  return (float) (sum / self->channels);
}

/* Where the loudest part of @n moments begins between two others, in steps of @n: silence teaches nothing. */
static gsize
wav_file_find_loudest (const Sound *self,
                       gsize        n,
                       gsize        from,
                       gsize        to)
{
  gsize best = from;
  double most = -1;

  for (gsize at = from; at + n <= to; at += n)
    {
      double power = 0;

      for (gsize i = 0; i < n; i++)
        {
          double value = (double) wav_file_mix (self, at + i);

          power += value * value;
        }
      if (power > most)
        {
          most = power;
          best = at;
        }
    }
  return best;
}

/*< private >
 * vn_wav_count_wanted:
 *
 * Returns: how many values @input takes at once; 0: any number
 */
gsize
vn_wav_count_wanted (const VnInputSpec *input)
{
  gsize n = 1;

  g_return_val_if_fail (input != NULL, 0);

  for (int i = 0; i < input->shape.rank; i++)
    {
      if (input->shape.dims[i] == VN_DIM_UNKNOWN && i > 0)
        return 0;
      if (input->shape.dims[i] > 0 && n > G_MAXINT / (gsize) input->shape.dims[i])
        return 0;
      n *= input->shape.dims[i] > 0 ? (gsize) input->shape.dims[i] : 1;
    }
  return input->shape.rank > 0 && !(input->shape.rank == 1 && input->shape.dims[0] == VN_DIM_UNKNOWN) ? n : 0;
}

/**
 * vn_wav_parse:
 * @input: what it is for: the loudest part of the length that it takes, followed by silence if the sound is shorter; all of it,
 *   but at most half a minute, where it takes any length
 * @part, @n_parts: looked for in this one of so many equal parts of the sound; above 1 only if each is as long as that
 *
 * Returns: (transfer full) (nullable): float32, one axis, -1 to 1
 */
VnTensor *
vn_wav_parse (GBytes             *bytes,
              const VnInputSpec  *input,
              guint               part,
              guint               n_parts,
              GError            **error)
{
  gsize size, n, start;
  const guint8 *data;
  Sound sound;
  VnTensor *tensor;

  g_return_val_if_fail (bytes != NULL && input != NULL && part < MAX (n_parts, 1), NULL);

  n_parts = MAX (n_parts, 1);
  data = g_bytes_get_data (bytes, &size);
  if (!wav_file_parse_head (&sound, data, size, error))
    return NULL;
  n = vn_wav_count_wanted (input);
  if (n == 0)
    n = MIN (sound.n, (gsize) MIN (sound.rate, (guint32) 1 << 20) * MOST_SECONDS);
  start = n < sound.n ? wav_file_find_loudest (&sound, n, sound.n / n_parts * part,
                                               part + 1 < n_parts ? sound.n / n_parts * (part + 1) : sound.n) : 0;
  tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE ((gint64) n), error);
  for (gsize i = 0; tensor != NULL && i < n; i++)
    ((float *) tensor->data)[i] = start + i < sound.n ? wav_file_mix (&sound, start + i) : 0;
  return tensor;
}

/**
 * vn_wav_read:
 * @path: a .wav file
 *
 * As vn_wav_parse(); errors name the file.
 */
VnTensor *
vn_wav_read (const char         *path,
             const VnInputSpec  *input,
             guint               part,
             guint               n_parts,
             GError            **error)
{
  g_autoptr(GBytes) bytes = NULL;
  VnTensor *tensor;

  g_return_val_if_fail (path != NULL && input != NULL, NULL);

  bytes = vn_file_map (path, error);
  if (bytes == NULL)
    return NULL;
  tensor = vn_wav_parse (bytes, input, part, n_parts, error);
  if (tensor == NULL)
    g_prefix_error (error, "“%s”: ", path);
  return tensor;
}

/**
 * vn_wav_read_rate:
 * @path: a file
 *
 * Returns: the sample rate in Hz; 0: it is no .wav file that can be read
 */
guint
vn_wav_read_rate (const char *path)
{
  g_autoptr(GBytes) bytes = NULL;
  gsize size = 0;
  const guint8 *data;
  Sound sound;

  g_return_val_if_fail (path != NULL, 0);

  bytes = vn_file_kind (path) == VN_FILE_WAV ? vn_file_map (path, NULL) : NULL;
  data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;
  return data != NULL && wav_file_parse_head (&sound, data, size, NULL) ? sound.rate : 0;
}

/*< private >
 * vn_wav_count_frames:
 * @path: a file
 *
 * Returns: how many times the file holds what @input takes at once, at most %VN_WAV_FRAMES; 0: it cannot be read, or is shorter,
 *   or @input takes any length
 */
guint
vn_wav_count_frames (const char        *path,
                     const VnInputSpec *input)
{
  g_autoptr(GBytes) bytes = NULL;
  gsize size = 0, wanted;
  const guint8 *data;
  Sound sound;

  g_return_val_if_fail (path != NULL && input != NULL, 0);

  wanted = vn_wav_count_wanted (input);
  bytes = wanted > 0 ? vn_file_map (path, NULL) : NULL;
  data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;
  return data != NULL && wav_file_parse_head (&sound, data, size, NULL) ? (guint) MIN (sound.n / wanted, VN_WAV_FRAMES) : 0;
}
