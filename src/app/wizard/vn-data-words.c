/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the step Data calls samples: images, the text of a language model, and whatever else there is. */
#include "vn-data-words.h"

#include "vn-i18n.h"
#include "vn-language-model.h"
#include "vn-model-data.h"

static const VnDataWords images = {
  .heading = N_("Calibration Images"),
  .usual = N_("Calibration runs the model on a few of your images to determine the range of every tensor. 50 to 200 typical "
              "images are enough."),
  .optional = N_("The chosen target needs no samples. With some, the error is measured."),
  .choose = N_("Choose a folder, or drop one here"),
  .drop = N_("Drop a folder of images here"),
  .icon = "folder-pictures-symbolic",
};

static const VnDataWords text = {
  .heading = N_("Calibration Text"),
  .usual = N_("Calibration runs the model on some of your text, plain or as token numbers, to determine the range of every "
              "tensor. 50 to 200 representative pieces are enough."),
  .optional = N_("The chosen target needs no samples. With some text, plain or as token numbers, the KL divergence "
                 "and perplexity are measured."),
  .choose = N_("Choose a file or folder of text (.txt) or token numbers (.npy, .bin, .raw)"),
  .drop = N_("Drop a text, or a file of token numbers, here"),
  .icon = "text-x-generic-symbolic",
  .takes_files = TRUE,
};

static const VnDataWords numbers = {
  .heading = N_("Samples"),
  .usual = N_("Calibration runs the model on some of your samples to determine the range of every tensor. 50 to 200 "
              "representative samples are enough."),
  .optional = N_("The chosen target needs no samples. With some, the error is measured."),
  .choose = N_("Choose a folder, or drop one here"),
  .drop = N_("Drop a folder of samples here"),
  .icon = "folder-symbolic",
};

/* Of tokens, sounds and tables nothing is scaled or seen. */
static gboolean
data_words_may_be_pictures (const VnModel *model,
                            VnDataset     *dataset)
{
  if (dataset != NULL && !vn_dataset_is_random (dataset))
    return vn_dataset_is_image (dataset);
  return model == NULL || vn_model_may_take_pictures (model);
}

/**
 * vn_data_words_find:
 * @model: (nullable): that samples are for
 * @dataset: (nullable): the samples
 *
 * Returns: (transfer none): how such samples are called; each text is N_()
 */
const VnDataWords *
vn_data_words_find (const VnModel *model,
                    VnDataset     *dataset)
{
  VnInputRole role = VN_INPUT_NUMBERS;
  g_autofree char *name = NULL;

  if (data_words_may_be_pictures (model, dataset))
    return &images;
  if (model != NULL)
    name = vn_model_dup_main_input (model, &role);
  return role == VN_INPUT_TOKENS && vn_model_is_language_model (model) ? &text : &numbers;
}

/**
 * vn_data_words_are_pictures:
 *
 * Returns: whether they are scaled and seen
 */
gboolean
vn_data_words_are_pictures (const VnDataWords *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self == &images;
}
