/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Decoding, by gdk-pixbuf. The format is told by the first bytes, never by the name, and only raster formats are
 * let through. gdk-pixbuf delivers what it has when a file ends early, so JPEG and PNG are walked to their end marks
 * and the size of BMP is checked first. The orientation of EXIF is applied, transparency is dropped, as convert ("RGB") of Pillow
 * does it.
 *
 * Decoders get a file in pieces: once its header has told a size that is not read, or somebody has cancelled, they get no
 * more of it. */

#include "vn-dataset-private.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

#define MAX_PIXELS ((guint64) 1 << 27)
#define MAX_SCANS 100                  /* of a progressive JPEG, each of which goes over all pixels; encoders write about ten */
#define PIECE ((gsize) 16 << 10)       /* bytes, which may unpack to a thousand times as many */

/* JPEG is decoded once for each part of it that has arrived, and TIFF when all of it has: these two stop by themselves when
 * the size is refused. */
static const struct
{
  const char *loader;
  const char *magic;
  gsize       size;
} formats[] = {
  { "jpeg", "\xff\xd8\xff", 3 },
  { "png", "\x89PNG\r\n\x1a\n", 8 },
  { "bmp", "BM", 2 },
  { "gif", "GIF8", 4 },
  { "tiff", "II*\0", 4 },
  { "tiff", "MM\0*", 4 },
  { "webp", "RIFF", 4 },
  { "pnm", "P1", 2 },
  { "pnm", "P2", 2 },
  { "pnm", "P3", 2 },
  { "pnm", "P4", 2 },
  { "pnm", "P5", 2 },
  { "pnm", "P6", 2 },
};

static const char *
picture_read_find_loader (const guint8 *data,
                          gsize         size)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (size >= formats[i].size && memcmp (data, formats[i].magic, formats[i].size) == 0)
      return formats[i].loader;
  return NULL;
}

/* JPEG: segments with a length, entropy-coded data between a start of scan and the next marker, end of image. */
static gboolean
picture_read_jpeg_is_whole (const guint8 *data,
                            gsize         size,
                            gsize        *n_scans)
{
  gsize at = 2;

  while (at + 1 < size)
    {
      const guint8 *next = memchr (data + at, 0xff, size - at - 1);
      guint8 marker;

      if (next == NULL)
        return FALSE;
      at = (gsize) (next - data) + 1;
      marker = data[at];
      if (marker == 0xff)
        continue;
      at++;
      if (marker == 0xd9)
        return TRUE;
      if (marker == 0 || marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8))
        continue;
      if (at + 2 > size)
        return FALSE;
      *n_scans += marker == 0xda;
      at += (gsize) data[at] << 8 | data[at + 1];
    }
  return FALSE;
}

static gboolean
picture_read_png_is_whole (const guint8 *data,
                           gsize         size)
{
  gsize at = 8;

  while (at + 12 <= size)
    {
      guint32 length;

      memcpy (&length, data + at, sizeof length);
      if (memcmp (data + at + 4, "IEND", 4) == 0)
        return TRUE;
      at += 12 + (gsize) GUINT32_FROM_BE (length);
    }
  return FALSE;
}

#define BMP_FILE_HEADER 14
#define BMP_COLORS_USED 46      /* where the number of colours of the palette stands, of 4 bytes each */

static gboolean
picture_read_bmp_has_palette (const guint8 *data,
                              gsize         size)
{
  guint32 n_colors;

  memcpy (&n_colors, data + BMP_COLORS_USED, sizeof n_colors);
  return GUINT32_FROM_LE (n_colors) <= size / 4;
}

/* BMP: decoders ask for memory for a header and a palette of the sizes it says. Without compression the pixels start where it
 * says and fill rows of a multiple of 4 bytes. */
static gboolean
picture_read_bmp_is_whole (const guint8 *data,
                           gsize         size)
{
  gint32 fields[7];     /* from byte 10: start, header size, width, height, planes and bits, compression, size */
  guint64 stride;
  guint bits;

  if (size < 10 + sizeof fields)
    return FALSE;
  memcpy (fields, data + 10, sizeof fields);
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    fields[i] = GINT32_FROM_LE (fields[i]);
  bits = (guint32) fields[4] >> 16;
  if ((guint32) fields[0] > size || (guint32) fields[1] > size - BMP_FILE_HEADER)
    return FALSE;
  if (fields[1] >= 40 && bits <= 8 && !picture_read_bmp_has_palette (data, size))
    return FALSE;
  /* The short header of OS/2, and run-length coding, are left to the decoder. */
  if (fields[1] < 40 || (fields[5] != 0 && fields[5] != 3))
    return TRUE;
  stride = ((guint64) (guint32) fields[2] * bits + 31) / 32 * 4;
  return (guint32) fields[0] + stride * (guint64) ABS ((gint64) fields[3]) <= size;
}

/* The next number of a PNM header, which may hold comments; 0 if there is none. */
static guint64
picture_read_pnm_number (const guint8  *data,
                         gsize          size,
                         gsize         *at)
{
  guint64 value = 0;

  while (*at < size && !g_ascii_isdigit (data[*at]))
    if (data[(*at)++] == '#')
      while (*at < size && data[*at] != '\n')
        (*at)++;
  for (; *at < size && g_ascii_isdigit (data[*at]) && value < G_MAXINT32; (*at)++)
    value = value * 10 + data[*at] - '0';
  return value;
}

static gboolean
picture_read_too_large (guint64   width,
                        guint64   height,
                        GError  **error)
{
  if (width <= MAX_PIXELS && height <= MAX_PIXELS && width * height <= MAX_PIXELS)
    return FALSE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
               _("The image has %llu × %llu pixels; the limit is %llu million"), (unsigned long long) width,
               (unsigned long long) height,
                 (unsigned long long) (MAX_PIXELS / 1000000));
  return TRUE;
}

/* gdk-pixbuf's PNM decoder cannot be stopped once it knows the size. */
static gboolean
picture_read_pnm_too_large (const guint8  *data,
                            gsize          size,
                            GError       **error)
{
  gsize at = 2;
  guint64 width = picture_read_pnm_number (data, size, &at);

  return picture_read_too_large (width, picture_read_pnm_number (data, size, &at), error);
}

static gboolean
picture_read_check_whole (const char    *loader,
                          const guint8  *data,
                          gsize          size,
                          GError       **error)
{
  gboolean whole = TRUE;
  gsize n_scans = 0;

  if (g_str_equal (loader, "jpeg"))
    whole = picture_read_jpeg_is_whole (data, size, &n_scans);
  else if (g_str_equal (loader, "png"))
    whole = picture_read_png_is_whole (data, size);
  else if (g_str_equal (loader, "bmp"))
    whole = picture_read_bmp_is_whole (data, size);
  if (!whole)
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("The image is truncated after %zu bytes"), size);
  else if (n_scans > MAX_SCANS)
    g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("The image has %zu progressive passes; the limit is %d: save it again"),
                 n_scans, MAX_SCANS);
  return whole && n_scans <= MAX_SCANS;
}

typedef struct
{
  guint    max_size;
  int      width, height;
  int      n_rows;        /* of which pixels have arrived */
  gboolean too_large;
  gboolean no_memory;
} Sizing;

/* Bytes that decoding may take for each pixel: the picture, the coefficients of a progressive one, a turned copy. */
#define DECODE_BYTES 20
#define DECODE_ROOM ((gsize) 32 << 20)   /* and for the decoder, which may have to be loaded */
#define LOADER_ROOM ((gsize) 48 << 20)   /* for that and for what knows of decoders: libraries take memory without asking */

/* What decoders say when memory is refused is not to be told from what they say of a damaged file. */
static gboolean
picture_read_has_room (const Sizing *sizing)
{
  return vn_memory_has_room (DECODE_BYTES * (gsize) MAX (sizing->width, 0) * (gsize) MAX (sizing->height, 0) + DECODE_ROOM);
}

/* Called when the header is read. A size of 0 makes the loader stop before it takes memory. */
static void
picture_read_prepared_cb (GdkPixbufLoader *loader,
                          int              width,
                          int              height,
                          Sizing          *sizing)
{
  int most = MAX (width, height);

  sizing->width = width;
  sizing->height = height;
  sizing->too_large = picture_read_too_large ((guint64) MAX (width, 0), (guint64) MAX (height, 0), NULL);
  sizing->no_memory = !sizing->too_large && !picture_read_has_room (sizing);
  if (sizing->too_large || sizing->no_memory)
    gdk_pixbuf_loader_set_size (loader, 0, 0);
  else if (sizing->max_size > 0 && most > (int) sizing->max_size)
    gdk_pixbuf_loader_set_size (loader,
                                MAX (1, (int) ((gint64) width * sizing->max_size / most)),
                                MAX (1, (int) ((gint64) height * sizing->max_size / most)));
}

static void
picture_read_updated_cb (GdkPixbufLoader *loader,
                         int              x,
                         int              y,
                         int              width,
                         int              height,
                         Sizing          *sizing)
{
  sizing->n_rows = MAX (sizing->n_rows, y + height);
}

static gboolean
picture_read_feed (GdkPixbufLoader  *loader,
                   const char       *type,
                   const guint8     *data,
                   gsize             size,
                   const Sizing     *sizing,
                   GError          **error)
{
  gsize piece = g_str_equal (type, "jpeg") || g_str_equal (type, "tiff") ? size : PIECE;

  for (gsize at = 0; at < size && !sizing->too_large && !sizing->no_memory; at += MIN (piece, size - at))
    if (g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error) ||
        !gdk_pixbuf_loader_write (loader, data + at, MIN (piece, size - at), error))
      return FALSE;
  return TRUE;
}

static GdkPixbuf *
picture_read_decode (const char    *type,
                     const guint8  *data,
                     gsize          size,
                     Sizing        *sizing,
                     GError       **error)
{
  g_autoptr(GdkPixbufLoader) loader = NULL;
  g_autoptr(GError) closing = NULL;
  GdkPixbuf *pixbuf;
  gboolean written;

  if (!vn_memory_expect (LOADER_ROOM, error))
    return NULL;
  loader = gdk_pixbuf_loader_new_with_type (type, error);
  if (loader == NULL)
    return NULL;
  g_signal_connect (loader, "size-prepared", G_CALLBACK (picture_read_prepared_cb), sizing);
  g_signal_connect (loader, "area-updated", G_CALLBACK (picture_read_updated_cb), sizing);
  written = picture_read_feed (loader, type, data, size, sizing, error);
  if (!gdk_pixbuf_loader_close (loader, &closing) && written)
    {
      g_propagate_error (error, g_steal_pointer (&closing));
      return NULL;
    }
  if (!written)
    return NULL;

  pixbuf = gdk_pixbuf_loader_get_pixbuf (loader);
  if (pixbuf == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("There is no image in the file"));
      return NULL;
    }
  if (sizing->max_size == 0 && sizing->n_rows < gdk_pixbuf_get_height (pixbuf))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("The image is truncated: %d of %d rows"),
                   sizing->n_rows, gdk_pixbuf_get_height (pixbuf));
      return NULL;
    }
  return gdk_pixbuf_apply_embedded_orientation (pixbuf);
}

/* Why there is no picture, whatever the decoder says. */
static void
picture_read_pixbuf_explain (const Sizing  *sizing,
                             GError       **error)
{
  gsize size = DECODE_BYTES * (gsize) MAX (sizing->width, 0) * (gsize) MAX (sizing->height, 0);

  if (sizing->too_large)
    {
      g_clear_error (error);
      picture_read_too_large ((guint64) sizing->width, (guint64) sizing->height, error);
    }
  else if (sizing->no_memory || !picture_read_has_room (sizing) || error == NULL || *error == NULL ||
           g_error_matches (*error, GDK_PIXBUF_ERROR, GDK_PIXBUF_ERROR_INSUFFICIENT_MEMORY))
    {
      g_clear_error (error);
      vn_memory_set_error (size, error);
    }
}

#define PNG_DEPTH 24             /* where the bits of a channel stand */
#define PNG_HEADER 33            /* that is over then */
#define TIFF_ENTRY 12            /* bytes: tag, type, count, and the value or where it is */
#define TIFF_BITS 258            /* tag: bits of each channel */

static guint
picture_read_tiff_number (const guint8 *data,
                          gsize         size,
                          gsize         at,
                          guint         n_bytes)
{
  guint value = 0;

  if (at > size || size - at < n_bytes)
    return 0;
  for (guint i = 0; i < n_bytes; i++)
    value = value << 8 | data[at + (*data == 'M' ? i : n_bytes - 1 - i)];
  return value;
}

/* Of the first channel of the first picture; 0: it is not said. */
static guint
picture_read_tiff_bits (const guint8 *data,
                        gsize         size)
{
  const gsize folder = picture_read_tiff_number (data, size, 4, 4);
  const guint n = picture_read_tiff_number (data, size, folder, 2);

  for (guint i = 0; i < n; i++)
    {
      const gsize entry = folder + 2 + (gsize) i * TIFF_ENTRY;

      if (picture_read_tiff_number (data, size, entry, 2) == TIFF_BITS)
        return picture_read_tiff_number (data, size, picture_read_tiff_number (data, size, entry + 4, 4) > 2
                                                       ? picture_read_tiff_number (data, size, entry + 8, 4) : entry + 8, 2);
    }
  return 0;
}

/* What decoders make of 4095 in a picture of 16 bits: they cut bits off, or round; 0: it is none. A PNM says what is white in
 * it. */
static guint
picture_read_get_dim (const char   *type,
                      const guint8 *data,
                      gsize         size)
{
  gsize at = 2;

  if (g_str_equal (type, "png"))
    return size >= PNG_HEADER && data[PNG_DEPTH] == 16 ? 4095 >> 8 : 0;
  if (g_str_equal (type, "tiff"))
    return picture_read_tiff_bits (data, size) == 16 ? (4095 + 128) / 257 : 0;
  if (!g_str_equal (type, "pnm") || data[1] == '1' || data[1] == '4')
    return 0;
  picture_read_pnm_number (data, size, &at);
  picture_read_pnm_number (data, size, &at);
  return picture_read_pnm_number (data, size, &at) == G_MAXUINT16 ? 4095 * 255 / G_MAXUINT16 : 0;
}

/* Cameras of 12 bits write numbers up to 4095 into pictures of 16: decoded they are next to black. */
static gboolean
picture_read_is_dim (const char   *type,
                     const guint8 *data,
                     gsize         size,
                     GdkPixbuf    *pixbuf)
{
  const guint8 *pixels = gdk_pixbuf_read_pixels (pixbuf);
  const int n_channels = gdk_pixbuf_get_n_channels (pixbuf), width = gdk_pixbuf_get_width (pixbuf);
  const guint dim = picture_read_get_dim (type, data, size);
  guint most = 0;

  for (int y = 0; y < gdk_pixbuf_get_height (pixbuf) && most <= dim && dim > 0; y++)
    for (int i = 0; i < width * n_channels; i++)
      if (i % n_channels < 3)
        most = MAX (most, pixels[(gsize) y * (gsize) gdk_pixbuf_get_rowstride (pixbuf) + (gsize) i]);
  return most > 0 && most <= dim;
}

static GdkPixbuf *
picture_read_pixbuf (const char  *path,
                     guint        max_size,
                     GError     **error)
{
  g_autoptr(GBytes) bytes = vn_file_map (path, error);
  g_autoptr(GError) reason = NULL;
  Sizing sizing = { .max_size = max_size };
  const guint8 *data;
  const char *type;
  GdkPixbuf *pixbuf;
  gsize size;

  if (bytes == NULL)
    return NULL;
  data = g_bytes_get_data (bytes, &size);
  type = picture_read_find_loader (data, size);
  if (type == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, size == 0 ? _("The file is empty") :
                   _("This is not an image (JPEG, PNG, BMP, GIF, TIFF, WebP or PNM)"));
      return NULL;
    }
  if (!picture_read_check_whole (type, data, size, error) ||
      (g_str_equal (type, "pnm") && picture_read_pnm_too_large (data, size, error)))
    return NULL;

  pixbuf = picture_read_decode (type, data, size, &sizing, &reason);
  if (sizing.too_large || sizing.no_memory)
    g_clear_object (&pixbuf);
  if (pixbuf == NULL)
    {
      picture_read_pixbuf_explain (&sizing, &reason);
      g_propagate_error (error, g_steal_pointer (&reason));
    }
  else if (picture_read_is_dim (type, data, size, pixbuf))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("The image has 16 bits per channel but no value above 4095, as 12-bit cameras write it: it would "
                     "be read as nearly black. Multiply it by 16, save it with 8 bits, or use .npy"));
      g_clear_object (&pixbuf);
    }
  return pixbuf;
}

/**
 * vn_pixbuf_read:
 * @max_size: longest side wanted, 0: as it is
 *
 * The thread's current cancellable (g_cancellable_push_current()) ends decoding.
 *
 * Returns: (transfer full) (nullable): the picture, upright; errors name the file
 */
GdkPixbuf *
vn_pixbuf_read (const char  *path,
                guint        max_size,
                GError     **error)
{
  GdkPixbuf *pixbuf = picture_read_pixbuf (path, max_size, error);

  /* A file that could not be opened is named already. */
  if (pixbuf == NULL && error != NULL && (*error)->domain != G_FILE_ERROR)
    g_prefix_error (error, "“%s”: ", path);
  return pixbuf;
}

/* ITU-R BT.601 in 16 bits of fraction; the weights add up to 65536, so white stays 255. */
static inline guint8
picture_read_luma (guint r,
                   guint g,
                   guint b)
{
  return (guint8) ((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16);
}

static void
picture_read_pack_row (const guint8 *in,
                       guint         in_channels,
                       guint8       *out,
                       guint         out_channels,
                       guint         width)
{
  if (in_channels == 3 && out_channels == 3)
    {
      memcpy (out, in, (gsize) width * 3);
      return;
    }
  for (guint x = 0; x < width; x++, in += in_channels, out += out_channels)
    {
      guint r = in[0];
      guint g = in[1];
      guint b = in[2];

      if (out_channels == 1)
        {
          out[0] = picture_read_luma (r, g, b);
          continue;
        }
      out[0] = (guint8) r;
      out[1] = (guint8) g;
      out[2] = (guint8) b;
    }
}

/**
 * vn_picture_read:
 * @self: set on success; clear with vn_picture_clear()
 * @channels: 1 for luma, 3 for red, green, blue
 *
 * Reads and decodes a picture file: upright, without its transparency: each pixel has the colour that the file gives it.
 *
 * Returns: %FALSE with an error that names the file and the reason
 */
gboolean
vn_picture_read (VnPicture   *self,
                 const char  *path,
                 guint        channels,
                 GError     **error)
{
  g_autoptr(GdkPixbuf) pixbuf = vn_pixbuf_read (path, 0, error);
  const guint8 *pixels;
  guint in_channels, width, height;
  gsize stride, size = G_MAXSIZE;

  if (pixbuf == NULL)
    return FALSE;
  width = (guint) gdk_pixbuf_get_width (pixbuf);
  height = (guint) gdk_pixbuf_get_height (pixbuf);
  in_channels = (guint) gdk_pixbuf_get_n_channels (pixbuf);
  stride = (gsize) gdk_pixbuf_get_rowstride (pixbuf);
  pixels = gdk_pixbuf_read_pixels (pixbuf);

  *self = (VnPicture) { .width = width, .height = height, .channels = channels };
  if (vn_checked_mul (width, height, &size) && vn_checked_mul (size, channels, &size) &&
      vn_checked_add (size, VN_PICTURE_MARGIN, &size))
    self->pixels = vn_memory_try (size, 1);
  if (self->pixels == NULL)
    {
      vn_memory_set_error (size, error);
      g_prefix_error (error, "“%s”: ", path);
      return FALSE;
    }
  for (guint y = 0; y < height; y++)
    picture_read_pack_row (pixels + y * stride, in_channels, self->pixels + (gsize) y * width * channels, channels, width);
  return TRUE;
}

void
vn_picture_clear (VnPicture *self)
{
  g_clear_pointer (&self->pixels, g_free);
}
