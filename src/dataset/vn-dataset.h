/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Samples: where they are, how they are preprocessed, and loading them. */

#include "vn-file-set.h"
#include "vn-model.h"
#include "vn-note.h"
#include "vn-tensor.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _JsonNode JsonNode;
typedef struct _GdkPixbuf GdkPixbuf;   /* so that only who draws previews needs gdk-pixbuf */

typedef enum { VN_LAYOUT_AUTO, VN_LAYOUT_NCHW, VN_LAYOUT_NHWC } VnLayout;
typedef enum { VN_COLOR_RGB, VN_COLOR_BGR } VnColorOrder;     /* one-channel inputs take the luma */
typedef enum
{
  VN_FIT_STRETCH,     /* width and height independently */
  VN_FIT_CROP,        /* short side to `resize` (0: to the size itself), then the centre */
  VN_FIT_LETTERBOX,   /* whole picture, rest filled with `fill` */
} VnFit;
typedef enum
{
  VN_RESAMPLE_LINEAR, /* as Image.resize (BILINEAR) of Pillow */
  VN_RESAMPLE_AREA,   /* as cv2.resize (INTER_AREA) of OpenCV, to within one level */
} VnResample;

/**
 * VnPreprocess: from picture to tensor: y = (pixel - mean) / std, pixel in 0 .. 255, mean and std in the channel
 * order of the tensor.
 */
typedef struct
{
  guint        width, height;   /* 0: from the model's input */
  guint        resize;          /* short side before VN_FIT_CROP; 0: by crop_part */
  float        crop_part;       /* VN_FIT_CROP without resize: the centre is this part of the scaled picture; 0: all of it */
  gboolean     crop_down;       /* the centre of an odd rest: rounded down, not to even */
  VnFit        fit;
  VnColorOrder color;
  VnLayout     layout;
  float        mean[4], std[4];
  float        fill;            /* pixel value around VN_FIT_LETTERBOX */
  VnResample   resample;
} VnPreprocess;

/* Parts of it that can be said apart. */
typedef enum
{
  VN_PREPROCESS_SCALE = 1 << 0,     /* mean and std */
  VN_PREPROCESS_FIT   = 1 << 1,     /* fit, fill, resize and what is cut out */
  VN_PREPROCESS_COLOR = 1 << 2,
  VN_PREPROCESS_ALL   = VN_PREPROCESS_SCALE | VN_PREPROCESS_FIT | VN_PREPROCESS_COLOR,
} VnPreprocessParts;

/* 0..255 as is: mean 0, std 1, stretch, RGB, layout by the model */
void     vn_preprocess_init    (VnPreprocess *self);
typedef struct { const char *id, *title, *brief; VnPreprocess settings; } VnPreprocessPreset;   /* @brief: for a button */
const VnPreprocessPreset *vn_preprocess_presets (guint *n);      /* none, imagenet, pt-imagenet, minus-one-one, mlperf-... */
gboolean vn_preprocess_set_preset (VnPreprocess *self, const char *id, GError **error);
const VnPreprocessPreset *vn_preprocess_find_preset (const VnPreprocess *self);
gboolean vn_preprocess_equal (const VnPreprocess *a, const VnPreprocess *b);

/* Whether samples of an input that has the channels last may have them first, as what the network takes is transposed to that:
 * never, where they do not fit as they are, or also where they do. */
typedef enum { VN_TURNED_NEVER, VN_TURNED_IF_NEEDED, VN_TURNED_FIRST } VnTurned;

/* One input of the network, as the samples must fill it. */
typedef struct
{
  char   *name;
  VnDType dtype;
  VnShape shape;     /* unknown dims are taken from the sample, or 1 */
  gint64  limit;     /* integers used as indices must be below this (size of an embedding); 0: not known */
  VnTurned turned;
  gboolean starts_recurrence;          /* a recurrent layer starts with it */
  gboolean beside_rate;                /* another input is a sample rate */
  gboolean by_name;                    /* of an archive only the array that is called so is taken, not the only one */
  guint    symbols[VN_MAX_RANK];       /* open dims with the same number have the same size; 0: not known */
  gboolean is_past[VN_MAX_RANK];       /* open dims of what came before, which may be 0 */
} VnInputSpec;

/* What an input is for: vn_input_role_find(). */
typedef enum
{
  VN_INPUT_NUMBERS, VN_INPUT_IMAGE, VN_INPUT_AUDIO, VN_INPUT_TOKENS, VN_INPUT_MASK, VN_INPUT_SEGMENTS, VN_INPUT_POSITIONS,
  VN_INPUT_LENGTH, VN_INPUT_RATE, VN_INPUT_STATE, VN_INPUT_PAST,
  VN_N_INPUT_ROLES
} VnInputRole;

/* What an input is filled with that samples have nothing for. */
typedef enum
{
  VN_FILL_NONE, VN_FILL_ONES, VN_FILL_ZEROS, VN_FILL_POSITIONS, VN_FILL_LENGTH, VN_FILL_RATE, VN_FILL_RANDOM,
  VN_N_FILLS
} VnFill;

VnFill      vn_fill_find     (const char *word);
const char *vn_fill_get_word (VnFill      fill);

gint64   vn_value_find_index_limit (const VnValue *input);

/* What an input of its own kind needs instead of the common settings. */
typedef struct
{
  VnPreprocess preprocess;
  char        *script;       /* nullable */
  VnDType      raw_type;     /* VN_DTYPE_UNDEFINED: that of the whole */
} VnInputData;

/**
 * VnDataSpec:
 * @path: image folder (flat, or one folder per class), list file, folder of .npy/.raw/.pb, one sub-folder per input
 *   for several inputs, NAME=PATH;NAME=PATH, or %VN_DATA_RANDOM
 * @max_samples: 0: all; otherwise so many, evenly spread over the sorted list
 * @held_out: of these so many are not calibrated on but serve to measure the error; %VN_HELD_OUT_USUAL: as many as
 *   vn_data_spec_count_held_out() says
 * @seed: for %VN_DATA_RANDOM
 * @script: (nullable): "FILE.py:FUNCTION", which makes the tensors instead of @preprocess. Opening the samples runs it
 * @python: (nullable): the interpreter for it, which no file names; %NULL: that of the environment variable VN_PYTHON, or python3
 * @timeout: seconds one call of it may take; 0: VN_SCRIPT_TIMEOUT
 * @raw_type: element type of .raw and .bin files; %VN_DTYPE_UNDEFINED: the input's, or float32
 * @tokenizer: (nullable): a tokenizer.json, or the folder it lies in, for plain text; %NULL: the one beside the network, or
 *   beside the text
 * @window: tokens of a sample, of a text that is cut into them; 0: what the input takes, or 128
 * @stride: from the beginning of one sample to that of the next; 0: @window
 * @labels: (nullable): a file that names the classes or the samples, for accuracy; %NULL: as folders or the list of samples say
 * @inputs: (nullable): VnInputData by input name: settings of single inputs (vn_data_spec_set_input())
 * @from_metadata: parts of @preprocess that the network's file says: vn_data_spec_take_metadata(). No file keeps it
 * @foreign: a file that somebody may have sent says all this: scripts are not run before vn_data_spec_trust()
 */
#define VN_DATA_RANDOM "random"
#define VN_SCRIPT_TIMEOUT 120
#define VN_HELD_OUT_USUAL (-1)
#define VN_MOST_MEASURED 16
typedef struct
{
  char        *path;
  VnPreprocess preprocess;
  guint        max_samples;
  gint         held_out;
  guint64      seed;
  char        *script;
  char        *python;
  guint        timeout;
  VnDType      raw_type;
  char        *labels;
  char        *tokenizer;
  guint        window, stride;
  GHashTable  *inputs;
  VnPreprocessParts from_metadata;
  gboolean     foreign;
} VnDataSpec;

VnDataSpec *vn_data_spec_new   (const char       *path);
VnDataSpec *vn_data_spec_copy  (const VnDataSpec *self);
void        vn_data_spec_free  (VnDataSpec       *self);
gboolean    vn_data_spec_is_random (const VnDataSpec *self);         /* nullable */
void        vn_data_spec_set_input (VnDataSpec         *self,
                                    const char         *input,
                                    const VnPreprocess *preprocess,
                                    const char         *script);    /* nullable */
char       *vn_data_spec_dup_source (const VnDataSpec *self,
                                     const char       *input);
void        vn_data_spec_set_source (VnDataSpec         *self,
                                     const char * const *inputs,
                                     const char         *main,      /* nullable */
                                     const char         *input,
                                     const char         *source);   /* nullable */
guint       vn_data_spec_count_held_out (const VnDataSpec *self,
                                         guint             n);
guint       vn_data_spec_count_measured (const VnDataSpec *self,
                                         guint             n);
char      **vn_data_spec_split       (const char       *path);
gboolean    vn_data_is_sample_file   (const char       *path);
void        vn_data_spec_set_raw_type (VnDataSpec      *self,
                                       const char      *input,
                                       VnDType          raw_type);
gboolean    vn_data_spec_has_script (const VnDataSpec  *self);
gboolean    vn_data_spec_is_script (const char         *text);
char      **vn_data_spec_list_scripts (const VnDataSpec *self);
gboolean    vn_data_spec_may_run   (const VnDataSpec   *self);
void        vn_data_spec_trust     (VnDataSpec         *self);
gboolean    vn_data_spec_trust_known (VnDataSpec         *self,
                                      const char * const *known);
void        vn_data_spec_add_files (const VnDataSpec   *self,
                                    VnFileSet          *set);
JsonNode   *vn_data_spec_to_json   (const VnDataSpec   *self,
                                    const char         *folder);
VnDataSpec *vn_data_spec_from_json (JsonNode           *node,
                                    const char         *where,
                                    const char         *folder,
                                    GError            **error);

/**
 * VnDataset: samples that can be loaded in any order from any thread. Opening lists and probes, it does not decode.
 */
typedef struct _VnDataset VnDataset;

VnDataset  *vn_dataset_open       (const VnDataSpec   *spec,
                                   const VnInputSpec  *inputs,
                                   guint               n_inputs,
                                   VnNotes            *notes,      /* nullable */
                                   GError            **error);
VnDataset  *vn_dataset_ref        (VnDataset          *self);
void        vn_dataset_unref      (VnDataset          *self);
guint       vn_dataset_get_n      (VnDataset          *self);
guint       vn_dataset_get_n_inputs (VnDataset        *self);         /* tensors of each sample */
const char *vn_dataset_get_name   (VnDataset          *self,
                                   guint               i);         /* file name, or "random 3" */
const char *vn_dataset_get_path   (VnDataset          *self,
                                   guint               i);         /* NULL for random samples */
int         vn_dataset_get_label  (VnDataset          *self,
                                   guint               i);         /* class by folder (sorted), or -1 */
guint       vn_dataset_get_n_classes (VnDataset       *self);
const char *vn_dataset_get_class  (VnDataset          *self,
                                   guint               k);
const char *vn_dataset_get_labels (VnDataset          *self);         /* file of the user; NULL: none */
gboolean    vn_dataset_is_image   (VnDataset          *self);
guint       vn_dataset_get_main_input (VnDataset      *self);
const VnInputSpec *vn_dataset_get_input (VnDataset    *self,
                                         guint         input);
guint       vn_dataset_get_sample_rate (VnDataset     *self);
gsize       vn_dataset_get_sound_part (VnDataset      *self);
guint       vn_dataset_get_n_seen (VnDataset          *self,
                                   guint               i);         /* tokens that the sample before has, too */
VnFill      vn_dataset_get_fill   (VnDataset          *self,
                                   guint               input);
char       *vn_dataset_dup_digest (VnDataset          *self,
                                   const guint        *samples,
                                   guint               n);

/* @tensors: n_inputs pointers, set to owned tensors. Any thread. */
gboolean    vn_dataset_load       (VnDataset          *self,
                                   guint               i,
                                   VnTensor          **tensors,
                                   GError            **error);

void        vn_dataset_keep       (VnDataset          *self,
                                   gsize               n_bytes);
void        vn_dataset_share_kept (VnDataset          *self,
                                   VnDataset          *other);

gboolean    vn_dataset_is_random   (VnDataset         *self);

/* The settings that make tensors of pictures; NULL if something else does, or the input takes none. */
const VnPreprocess *vn_dataset_get_preprocess (VnDataset *self,
                                               guint      input);

/* A loaded picture as it would be with mean and deviation of other settings; NULL if the input takes no pictures. */
VnTensor   *vn_dataset_renormalize (VnDataset          *self,
                                    guint               input,
                                    const VnTensor     *tensor,
                                    const VnPreprocess *settings);

/* Of a sample that could not be loaded: FALSE if the work must stop. */
gboolean    vn_dataset_leave_out  (VnDataset          *self,
                                   guint               i,
                                   GError             *bad,        /* transfer full */
                                   VnNotes            *notes,
                                   GError            **error);

/* A loaded picture as it would be in the other channel order; NULL if the input takes no pictures of three colours. */
VnTensor   *vn_dataset_swap_colors (VnDataset         *self,
                                    guint              input,
                                    const VnTensor    *tensor);

/* The picture as the network sees it, mapped back to 8 bit RGB; and as it is. For previews. */
GdkPixbuf  *vn_dataset_load_preview (VnDataset        *self,
                                     guint             i,
                                     gboolean          as_network,
                                     guint             max_size,
                                     GError          **error);

GdkPixbuf  *vn_dataset_load_input_preview (VnDataset  *self,
                                           guint       i,
                                           guint       input,
                                           guint       max_size,
                                           GError    **error);

/* Splits 0 .. n-1 into calibration and held-out samples: @n_held of them, evenly spread, are held out. */
void        vn_dataset_split      (guint               n,
                                   guint               n_held,
                                   GArray            **calibration,   /* of guint */
                                   GArray            **held_out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnDataSpec, vn_data_spec_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnDataset, vn_dataset_unref)

G_END_DECLS
