/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the kinds of samples and the steps of preprocessing share. */

#include "vn-dataset.h"
#include "vn-machine.h"
#include "vn-script-private.h"

#include <gdk-pixbuf/gdk-pixbuf.h>

G_BEGIN_DECLS

/* ---- a picture decoded ---- */

/* 8 bits per channel, rows of @width * @channels bytes without gaps; 1 (luma) or 3 (red, green, blue) channels. Behind
 * the last row there are VN_PICTURE_MARGIN bytes that may be read and written. */
#define VN_PICTURE_MARGIN 16
typedef struct
{
  guint   width, height, channels;
  guint8 *pixels;
} VnPicture;

void       vn_picture_clear   (VnPicture        *self);
gboolean   vn_picture_read    (VnPicture        *self,
                               const char       *path,
                               guint             channels,
                               GError          **error);
GdkPixbuf *vn_pixbuf_read     (const char       *path,
                               guint             max_size,
                               GError          **error);

/* The part (x, y, width, height) of a picture scaled to full_width x full_height. */
typedef struct
{
  guint full_width, full_height;
  guint x, y, width, height;
  VnResample resample;
} VnCrop;

gboolean   vn_picture_resample       (const VnPicture *self,
                                      const VnCrop  *window,
                                      VnPicture       *out,
                                      GError         **error);
gboolean   vn_picture_resample_level (const VnPicture *self,
                                      const VnCrop  *window,
                                      VnLevel          level,
                                      VnPicture       *out,
                                      GError         **error);

/* ---- from picture to tensor ---- */

/* How the pixels of a picture lie in an input of the network. Dims of 0 are taken from the picture. */
typedef struct
{
  VnLayout layout;        /* resolved: NCHW or NHWC */
  int      rank;
  gint64   batch;         /* the picture is repeated so often */
  guint    channels;      /* of the tensor: 1, 3 or 4 (the fourth stays 0) */
  guint    width, height;
  VnDType  dtype;
} VnPicturePlan;

gboolean   vn_picture_plan_init   (VnPicturePlan       *self,
                                   const VnInputSpec   *input,
                                   const VnPreprocess  *preprocess,
                                   GError             **error);
VnTensor  *vn_picture_plan_load   (const VnPicturePlan *self,
                                   const VnPreprocess  *preprocess,
                                   const char          *path,
                                   GError             **error);
GdkPixbuf *vn_picture_plan_unload (const VnPicturePlan *self,
                                   const VnTensor      *tensor,
                                   const float         *mean,     /* per channel of the tensor */
                                   const float         *std,
                                   VnColorOrder         color,
                                   GError             **error);

/* ---- files ---- */

typedef enum { VN_FILE_OTHER, VN_FILE_PICTURE, VN_FILE_NPY, VN_FILE_NPZ, VN_FILE_RAW, VN_FILE_PB, VN_FILE_WAV } VnFileKind;

VnFileKind vn_file_kind           (const char        *name);
gboolean   vn_file_is_picture     (const char        *path);
int        vn_natural_compare     (const char        *a,
                                   const char        *b);
char      *vn_input_file_name     (const char        *input);
VnTensor  *vn_tensor_file_read    (const char        *path,
                                   const VnInputSpec *input,
                                   VnDType            raw_type,
                                   GError           **error);
VnTensor  *vn_tensor_fit          (VnTensor          *tensor,
                                   const VnInputSpec *input,
                                   GError           **error);
gboolean   vn_input_spec_turn     (const VnInputSpec *self,
                                   VnInputSpec       *turned);
gboolean   vn_tensor_file_check   (VnDType            dtype,
                                   const VnShape     *shape,
                                   const VnInputSpec *input,
                                   GError           **error);
VnTensor  *vn_wav_parse           (GBytes            *bytes,
                                   const VnInputSpec *input,
                                   guint              part,
                                   guint              n_parts,
                                   GError           **error);
/* Of a sound that is longer than what the network takes so many parts are samples. */
#define VN_WAV_FRAMES 8u
VnTensor  *vn_wav_read            (const char        *path,
                                   const VnInputSpec *input,
                                   guint              part,
                                   guint              n_parts,
                                   GError           **error);
gsize      vn_wav_count_wanted    (const VnInputSpec *input);
guint      vn_wav_count_frames    (const char        *path,
                                   const VnInputSpec *input);
guint      vn_wav_read_rate       (const char        *path);
VnTensor  *vn_npz_read            (const char        *path,
                                   const VnInputSpec *input,
                                   GError           **error);
gboolean   vn_npz_lacks           (const char        *path,
                                   const VnInputSpec *input);

/* Names in a folder, hidden ones left out, in natural order. */
typedef struct
{
  GPtrArray *pictures, *tensors, *folders;   /* of char */
  GPtrArray *others;
} VnListing;

gboolean   vn_listing_read  (VnListing   *self,
                             const char  *path,
                             GError     **error);
void       vn_listing_clear (VnListing   *self);

char     **vn_list_read     (const char  *path,
                             GError     **error);
char      *vn_list_get_folder (const char *path);

/* ---- sources ---- */

typedef struct
{
  char  *name;
  guint  index;      /* place among all samples of the source, before some were chosen */
  int    label;
  char **paths;      /* one per input, NULL-terminated; empty: it is filled; NULL: not from files */
  guint  part, n_parts;   /* of a sound; 0: all of it */
  guint  n_seen;          /* tokens at its beginning that the sample before has, too */
} VnSample;

typedef struct
{
  const char *id;
  const char *title;      /* N_(): for messages */
  gboolean  (*claims) (const VnDataset *dataset);
  gboolean  (*open)   (VnDataset *dataset, VnNotes *notes, GError **error);
  gboolean  (*load)   (const VnDataset *dataset, guint i, guint input, VnTensor **tensor, GError **error);
} VnSource;

/* Where the tokens of a sample are among those of all texts. */
typedef struct { gsize start, length; } VnTokenWindow;

typedef struct _VnKeptSamples VnKeptSamples;

struct _VnDataset
{
  gatomicrefcount  ref;
  VnDataSpec      *spec;
  VnInputSpec     *inputs;
  guint            n_inputs;
  const VnSource  *source;
  GPtrArray       *samples;      /* of VnSample */
  GPtrArray       *classes;      /* of char */
  VnFill          *fills;        /* one per input: what it is filled with where a sample has an empty path for it */
  gboolean        *lacks;        /* one per input: the first sample is an archive that has nothing for it, so that it is filled */
  guint            main_input;   /* that samples are for, */
  gboolean         has_main;     /* and no other needs them */
  guint            sample_rate;  /* of sounds, in Hz; 0: not known */
  gsize            sound_part;   /* values of a sound in a sample; 0: they are not cut */
  gboolean         is_image;
  VnPicturePlan   *pictures;     /* one per input, if is_image */
  VnTensor        *stack;        /* nullable: samples in one tensor */
  GArray          *tokens;       /* nullable: of guint32, of texts, one behind another, */
  GArray          *windows;      /* and of VnTokenWindow, by VnSample.index */
  GBytes          *stream;       /* nullable: samples as messages one behind another, mapped, */
  GArray          *messages;     /* of guint64: where each begins, n_columns a sample; */
  guint            n_columns;
  int             *columns;      /* one per input: which of these it is; -1: none */
  GHashTable      *scripts;      /* nullable: VnScript by FILE.py:FUNCTION */
  VnKeptSamples   *kept;         /* nullable: those that were loaded */
};

const VnPreprocess *vn_data_spec_get_preprocess (const VnDataSpec *self,
                                                 const char       *input);
const char         *vn_data_spec_get_script     (const VnDataSpec *self,
                                                 const char       *input);
VnDataset *vn_dataset_new       (const VnDataSpec  *spec,
                                 const VnInputSpec *inputs,
                                 guint              n_inputs);
void      vn_sample_free        (gpointer     data);
VnDType             vn_data_spec_get_raw_type   (const VnDataSpec *self,
                                                 const char       *input);
void      vn_dataset_add        (VnDataset   *self,
                                 const char  *name,
                                 int          label,
                                 char       **paths);
gboolean  vn_dataset_load_file  (const VnDataset  *self,
                                 guint             i,
                                 guint             input,
                                 VnTensor        **tensor,
                                 GError          **error);

/* dataset-fill.c */
gboolean  vn_dataset_may_fill    (const VnDataset *self,
                                  guint            input);
gboolean  vn_dataset_is_filled   (const VnDataset *self,
                                  guint            i,
                                  guint            input);
VnTensor *vn_dataset_fill        (const VnDataset *self,
                                  guint            i,
                                  guint            input,
                                  VnTensor       **tensors,
                                  GError         **error);
void      vn_dataset_find_lacking (VnDataset      *self);
void      vn_dataset_note_filled (VnDataset       *self,
                                  VnNotes         *notes);

/* dataset-keep.c */
void      vn_dataset_clear_kept  (VnDataset       *self);
gboolean  vn_dataset_take_kept   (const VnDataset *self,
                                  guint            i,
                                  VnTensor       **tensors);
void      vn_dataset_put_kept    (const VnDataset *self,
                                  guint            i,
                                  VnTensor * const *tensors);

/* dataset-sounds.c */
void      vn_dataset_cut_sounds  (VnDataset       *self,
                                  VnNotes         *notes);

/* token-windows.c */
gint64    vn_dataset_get_window  (const VnDataset *self);
gint64    vn_dataset_get_stride  (const VnDataset *self);
gboolean  vn_dataset_check_window (const VnDataset *self,
                                  GError         **error);

/* source-random.c */
VnTensor *vn_source_random_make  (const VnDataset *dataset,
                                  guint            i,
                                  guint            input,
                                  const VnShape   *shape,
                                  GError         **error);

/* source-file.c */
char     *vn_dataset_dup_path     (const VnDataset *self,
                                   guint            input,
                                   const char      *path);
gboolean  vn_dataset_add_stacked  (VnDataset   *self,
                                   const char  *path,
                                   GError     **error);
gboolean  vn_dataset_load_stacked (const VnDataset  *self,
                                   guint             i,
                                   guint             input,
                                   VnTensor        **tensor,
                                   GError          **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnPicture, vn_picture_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnListing, vn_listing_clear)

G_END_DECLS
