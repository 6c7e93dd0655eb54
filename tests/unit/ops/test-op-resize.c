/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resize and Upsample: one axis worked out from the formulas of the specification, several axes as products of one. */
#include "op-text.h"

#include <math.h>

#define X4 "f32[1,1,1,4]=1,2,3,4"
#define SCALES(w) " - f32[4]=1,1,1," w
#define SIZES(w) " - - s64[4]=1,1,1," w

static const OpTextCase cases[] = {
  /* Nearest: coordinates of half_pixel for 4 -> 8 are -0.25, 0.25, 0.75 ... */
  { "Resize", 13, "", X4 SCALES ("2"), "f32[1,1,1,8]=1,1,2,2,3,3,4,4" },
  { "Resize", 13, "nearest_mode=floor", X4 SCALES ("2"), "f32[1,1,1,8]=1,1,1,2,2,3,3,4" },
  { "Resize", 13, "nearest_mode=ceil", X4 SCALES ("2"), "f32[1,1,1,8]=1,2,2,3,3,4,4,4" },
  { "Resize", 13, "coordinate_transformation_mode=asymmetric nearest_mode=floor", X4 SCALES ("2"),
    "f32[1,1,1,8]=1,1,2,2,3,3,4,4" },
  /* 4 -> 2 with half_pixel: 0.5 and 2.5, ties. */
  { "Resize", 13, "", X4 SCALES ("0.5"), "f32[1,1,1,2]=1,3" },
  { "Resize", 13, "nearest_mode=round_prefer_ceil", X4 SCALES ("0.5"), "f32[1,1,1,2]=2,4" },
  { "Resize", 13, "coordinate_transformation_mode=align_corners", X4 SIZES ("7"), "f32[1,1,1,7]=1,1,2,2,3,3,4" },
  { "Resize", 11, "coordinate_transformation_mode=tf_half_pixel_for_nn nearest_mode=floor", X4 SIZES ("2"),
    "f32[1,1,1,2]=2,4" },
  { "Resize", 13, "", "u8[1,1,1,4]=1,2,3,4" SCALES ("2"), "u8[1,1,1,8]=1,1,2,2,3,3,4,4" },
  { "Resize", 13, "", "s64[2,1]=1,2 - f32[2]=1,3", "s64[2,3]=1,1,1,2,2,2" },
  { "Resize", 13, "", "s64[2,1]=1,2 - f32[2]=2,1", "s64[4,1]=1,1,2,2" },
  /* Linear */
  { "Resize", 13, "mode=linear", X4 SCALES ("2"), "f32[1,1,1,8]=1,1.25,1.75,2.25,2.75,3.25,3.75,4" },
  { "Resize", 13, "mode=linear coordinate_transformation_mode=align_corners", X4 SIZES ("7"),
    "f32[1,1,1,7]=1,1.5,2,2.5,3,3.5,4" },
  { "Resize", 13, "mode=linear coordinate_transformation_mode=asymmetric", X4 SCALES ("2"),
    "f32[1,1,1,8]=1,1.5,2,2.5,3,3.5,4,4" },
  { "Resize", 13, "mode=linear", X4 SCALES ("0.5"), "f32[1,1,1,2]=1.5,3.5" },
  { "Resize", 13, "mode=linear coordinate_transformation_mode=pytorch_half_pixel", X4 SIZES ("1"), "f32[1,1,1,1]=1" },
  { "Resize", 13, "mode=linear", X4 SIZES ("1"), "f32[1,1,1,1]=2.5" },
  { "Resize", 13, "mode=linear", "f16[2,1]=1,3 - f32[2]=2,1", "f16[4,1]=1,1.5,2.5,3" },
  { "Resize", 13, "mode=linear", "u8[1,2]=0,255 - f32[2]=1,2", "u8[1,4]=0,63,191,255" },
  { "Resize", 13, "mode=linear", "f32[2,2]=1,2,3,4 - f32[2]=2,2",
    "f32[4,4]=1,1.25,1.75,2,1.5,1.75,2.25,2.5,2.5,2.75,3.25,3.5,3,3.25,3.75,4" },
  { "Resize", 13, "mode=linear", "f32[1,1,1,2]=nan,1" SCALES ("2"), "f32[1,1,1,4]=nan,nan,nan,1" },
  /* The region of interest in parts of the picture; outside of it the value is fixed. */
  { "Resize", 13, "mode=linear coordinate_transformation_mode=tf_crop_and_resize",
    X4 " f32[8]=0,0,0,0.333333333,1,1,1,1 - s64[4]=1,1,1,3", "f32[1,1,1,3]=2,3,4" },
  { "Resize", 13, "coordinate_transformation_mode=tf_crop_and_resize extrapolation_value=9.0",
    X4 " f32[8]=0,0,0,0,1,1,1,2 - s64[4]=1,1,1,3", "f32[1,1,1,3]=1,4,9" },
  { "Resize", 13, "mode=linear coordinate_transformation_mode=tf_crop_and_resize extrapolation_value=9.0",
    X4 " f32[8]=0,0,0,0,1,1,1,2 - s64[4]=1,1,1,3", "f32[1,1,1,3]=1,4,9" },
  /* Cubic with a = -0.75: weights at 0.5 are -0.09375, 0.59375, 0.59375, -0.09375. */
  { "Resize", 13, "mode=cubic", X4 SIZES ("1"), "f32[1,1,1,1]=2.5" },
  { "Resize", 13, "mode=cubic", "f32[1,4]=0,1,0,0 - - s64[2]=1,1", "f32[1,1]=0.59375" },
  { "Resize", 13, "mode=cubic cubic_coeff_a=-0.5", "f32[1,4]=0,1,0,0 - - s64[2]=1,1", "f32[1,1]=0.5625" },
  { "Resize", 13, "mode=cubic exclude_outside=1", "f32[1,2]=0,1 - - s64[2]=1,1", "f32[1,1]=0.5" },
  { "Resize", 13, "mode=cubic", "f32[1,4]=5,5,5,5 - f32[2]=1,3", "f32[1,12]=5,5,5,5,5,5,5,5,5,5,5,5" },
  /* Antialias: a quarter of the size takes a triangle of four times the width. Around the middle, 1.5, its weights are
   * 1 3 5 7 7 5 3 1 / 32; what lies outside is the border. */
  { "Resize", 18, "mode=linear antialias=1", "f32[1,4]=1,2,4,8 - - s64[2]=1,1", "f32[1,1]=3.84375" },
  /* Axes and policies */
  { "Resize", 18, "axes=[1]", "f32[1,2]=1,2 - f32[1]=2", "f32[1,4]=1,1,2,2" },
  { "Resize", 18, "axes=[-1,0] keep_aspect_ratio_policy=not_larger", "f32[2,2]=1,2,3,4 - - s64[2]=4,3",
    "f32[3,3]=1,1,2,1,1,2,3,3,4" },
  { "Resize", 18, "keep_aspect_ratio_policy=not_smaller", "f32[1,2]=1,2 - - s64[2]=1,4", "f32[2,4]=1,1,2,2,1,1,2,2" },
  /* 4 samples from 5 with a scale of 0.9: symmetric about the middle. */
  { "Resize", 19, "mode=linear coordinate_transformation_mode=half_pixel_symmetric", "f32[1,5]=0,1,2,3,4 - f32[2]=1,0.9",
    "f32[1,4]=0.333333333,1.444444444,2.555555556,3.666666667" },
  /* Opset 10 and Upsample */
  { "Resize", 10, "", "f32[1,4]=1,2,3,4 f32[2]=1,0.6", "f32[1,2]=1,3" },
  { "Resize", 10, "mode=linear", "f32[1,2]=1,2 f32[2]=1,2", "f32[1,4]=1,1.5,2,2" },
  { "Upsample", 7, "scales=[1.0,2.0]", "f32[1,2]=1,2", "f32[1,4]=1,1,2,2" },
  { "Upsample", 9, "mode=linear", "f32[1,2]=1,2 f32[2]=1,2", "f32[1,4]=1,1.5,2,2" },
  /* Refused */
  { "Resize", 13, "", "f32[1,2]=1,2", "!neither scales nor sizes" },
  { "Resize", 13, "", "f32[1,2]=1,2 - f32[1]=2", "!1 scales" },
  { "Resize", 13, "", "f32[1,2]=1,2 - f32[2]=1,0", "!scale 1" },
  { "Resize", 13, "", "f32[1,2]=1,2 - f32[2]=1,nan", "!scale 1" },
  { "Resize", 13, "", "f32[1,2]=1,2 - f32[2]=1,1e30", "!scale 1" },
  { "Resize", 13, "", "f32[1,2]=1,2 - - s64[2]=1,-1", "!size 1" },
  { "Resize", 13, "mode=lanczos", "f32[1,2]=1,2 - - s64[2]=1,1", "!lanczos" },
  { "Resize", 18, "axes=[2]", "f32[1,2]=1,2 - f32[1]=2", "!outside" },
  { "Resize", 13, "coordinate_transformation_mode=tf_crop_and_resize", "f32[2]=1,2 f32[1]=0 - s64[1]=4", "!region" },
  { "Resize", 13, "", "f32[0]= - - s64[1]=4", "!empty" },
  { "Resize", 13, "", "f32[2]=1,2 - - s64[1]=0", "f32[0]=" },
};

static void
test_cases (void)
{
  op_run_text_cases (cases, G_N_ELEMENTS (cases), 1e-6);
}

/* A picture that is a product of a row and a column must stay one, whichever way it is scaled. */
static void
test_separable (void)
{
  static const char * const modes[] = { "mode=linear", "mode=cubic", "mode=cubic exclude_outside=1",
                                        "mode=linear antialias=1", "mode=cubic antialias=1" };
  static const gint64 sizes[][2] = { { 16, 21 }, { 3, 4 }, { 9, 30 }, { 8, 2 } };

  for (guint m = 0; m < G_N_ELEMENTS (modes); m++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      {
        g_autoptr(VnTensor) column = op_random (&VN_SHAPE (8, 1), 1);
        g_autoptr(VnTensor) row = op_random (&VN_SHAPE (1, 11), 2);
        g_autoptr(VnTensor) picture = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (8, 11), NULL);
        VnTensor *results[3];

        for (gsize i = 0; i < 88; i++)
          ((float *) picture->data)[i] = ((float *) column->data)[i / 11] * ((float *) row->data)[i % 11];
        for (guint k = 0; k < 3; k++)
          {
            g_autoptr(VnTensor) size = vn_tensor_new_s64 (&VN_SHAPE (2), (gint64[]) { k == 1 ? 1 : sizes[s][0],
                                                                                      k == 0 ? 1 : sizes[s][1] });

            results[k] = op_call_one (&(OpCall) { .domain = "", .type = "Resize", .opset = 18, .attributes = modes[m],
                                                  .inputs = (VnTensor *[]) { k == 0 ? column : k == 1 ? row : picture,
                                                                             NULL, NULL, size },
                                                  .n_inputs = 4, .n_outputs = 1 });
          }
        for (gsize i = 0; i < results[2]->n_elements; i++)
          {
            gsize w = (gsize) sizes[s][1];
            float wanted = ((float *) results[0]->data)[i / w] * ((float *) results[1]->data)[i % w];

            g_assert_cmpfloat_with_epsilon (((float *) results[2]->data)[i], wanted, 1e-5f);
          }
        for (guint k = 0; k < 3; k++)
          vn_tensor_unref (results[k]);
      }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/resize/cases", test_cases);
  g_test_add_func ("/ops/resize/separable", test_separable);
  return g_test_run ();
}
