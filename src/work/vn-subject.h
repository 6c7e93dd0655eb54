/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a run is about: a network and its samples. */

#include "vn-dataset.h"
#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnSubject: immutable, so that two runs are about the same if they have the same subject.
 * @model: (nullable): none is open
 * @data: (nullable): where samples are and how they are read; %NULL: none are chosen
 * @n_samples: how many are used, spread over all there are; 0: all
 * @input_shapes: (nullable) (element-type utf8 VnShape): inputs with open dims, with the sizes that the user gave; what is open
 *   still is %VN_DIM_UNKNOWN; %NULL: all are fixed
 */
typedef struct
{
  VnModel        *model;
  VnDataSpec     *data;
  guint           n_samples;
  GHashTable     *input_shapes;
  /*< private >*/
  gatomicrefcount ref;
} VnSubject;

VnSubject  *vn_subject_new               (VnModel          *model,   /* nullable */
                                          const VnDataSpec *data,   /* nullable */
                                          guint             n_samples);
VnSubject  *vn_subject_new_sized         (VnModel          *model,
                                          const VnDataSpec *data,   /* nullable */
                                          GHashTable       *shapes);   /* nullable */
VnSubject  *vn_subject_ref               (VnSubject *self);
void        vn_subject_unref             (VnSubject *self);
VnSubject  *vn_subject_with_data         (const VnSubject  *self,
                                          const VnDataSpec *data,   /* nullable */
                                          guint             n_samples);
VnSubject  *vn_subject_with_input_shape  (const VnSubject *self,
                                          const char      *name,
                                          const VnShape   *shape);
VnDataSpec *vn_subject_dup_data          (const VnSubject *self);
GHashTable *vn_subject_dup_given_shapes  (const VnSubject  *self,
                                          const VnDataSpec *data);   /* nullable */
GHashTable *vn_subject_dup_chosen_shapes (const VnSubject *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnSubject, vn_subject_unref)

G_END_DECLS
