/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* From where on something counts: the numbers by which runs, causes and samples are judged, all of them. What makes a tensor
 * fine or bad is a property of the metric: vn-metrics.def. */

/* ---- a run (vn-verdict.c) ---- */

#define VN_EXCELLENT_SQNR_DB  30.0    /* outputs this good make up for whatever happens inside */
#define VN_SPOT_SHARE         0.05    /* up to this share of bad tensors it is a spot, not the network */
#define VN_LOSS_GOOD          0.01    /* hits lost, as a share of the samples */
#define VN_LOSS_CARE          0.03
#define VN_KEPT_GOOD          0.9     /* of the answers of the float network, and of those of both, if others were added */
#define VN_KEPT_CARE          0.6
#define VN_LEAST_SAMPLES      4u      /* measured: on fewer nothing is good for certain */
#define VN_LEAST_GAIN_DB      0.3     /* of the outputs: less is chance, with as few samples as are held out */

/* ---- why a node has its error, and why a tensor costs what it does (vn-cause.c, diagnose-*.c) ---- */

#define VN_PASSED_ON_DB       1.5     /* a node within this many dB of its worst input only passes the error on */
#define VN_CLIPPED_SHARE      0.002   /* of the elements outside a range: it is too narrow */
#define VN_TAIL_SHARE         0.0005  /* of the elements, at either end: outliers */
#define VN_WIDE_FACTOR        4.0     /* of what the others need: the range, or a channel among others, is too wide */

#define VN_WIDE_SHARE         0.1     /* of the channels of a weight that are so, unless by far */
#define VN_SHARE_COUNTS       0.002   /* of the outputs' error: less is not worth a reason */
#define VN_LISTED_SHARE       0.5     /* of the outputs' error: so much the layers that a tool is told come to, the worst first */
#define VN_CLIPPED_POWER      0.0003  /* of the signal that is lost outside of a range */
#define VN_CHANNEL_FACTOR     12.0    /* the largest channel to one of the small ones: below, all keep some 20 levels */
#define VN_UNEQUAL_FACTOR     12.0    /* the same of inputs of a node */
#define VN_CANCEL_FACTOR      8.0     /* what is added up to what comes out */
#define VN_DEAD_SHARE         0.001   /* of what the largest channel does to the readers */
#define VN_USED_SHARE         0.55    /* of a range: fewer levels are used than a type with a bit less has */
#define VN_OFFSET_SHARE       0.25    /* of what values reach, by which they differ: the rest is an offset */
#define VN_SOFTMAX_STEP       0.5     /* of what Softmax reads: it makes what that writes 1.65 times as large */
#define VN_GATE_REACH         32.0    /* Sigmoid and HardSigmoid heed nothing beyond a quarter of it */
#define VN_MIXED_DB           15.0    /* signal to noise of the small numbers in an output */
#define VN_MIXED_FACTOR       16.0    /* the large ones to the small ones */
#define VN_GAIN_DB            12.0    /* noise at the outputs above that of the tensor it comes from */
#define VN_NETWORK_GAIN_DB    30.0    /* noise at the outputs above that in every tensor: a network of 50 good layers has 20 */
#define VN_SATURATION_SHARE   0.2     /* of the pairs of weights whose products can exceed 16 bit */
#define VN_REACH_FACTOR       1.5     /* of measured samples to those calibrated on */
#define VN_REACH_SHARE        0.2     /* of the tensors that reach so far */

/* ---- whether answers of two networks are the same (vn-task-reader.c) ---- */

#define VN_CONFIDENT_SCORE    0.25    /* from here on a detection or a keypoint counts; vn-tasks.def says so, too */
#define VN_SUPPRESS_IOU       0.5     /* more than that: the same thing was found twice */
#define VN_KEPT_IOU           0.5     /* both networks have found it */
#define VN_MOST_DETECTIONS    1000u   /* of a sample, the best of them */
#define VN_DECIDED_SHARE      0.8     /* of the values of a mask of one channel: near 0 or near 1 */
#define VN_DECIDED_WITHIN     0.1
#define VN_TEXT_PROBABILITY   0.3     /* from here on a pixel is of text; vn-tasks.def says so, too */
#define VN_KEYPOINT_REACH     0.02    /* of the diagonal, by which a keypoint may move */
#define VN_MOST_NEIGHBORS     1000u   /* samples among which nearest neighbors are looked for, the first of them */

/* ---- samples (vn-data-check.c). Pictures that are prepared rightly come to a factor of 2 at most ---- */

#define VN_DATA_FEW           10u     /* fewer are a fact to tell */
#define VN_DATA_RATIO         4.0     /* deviation behind the first layer to that of training, either way */
#define VN_DATA_SHIFT         2.5     /* of the mean there, in deviations of training */
#define VN_DATA_BIAS          15.0    /* of a bias of the first layer, in deviations of what it is added to */
#define VN_DATA_CLAMP         8.0     /* deviation of the first layer, in upper limits of the clamp behind it */
#define VN_DATA_REACH         20.0    /* largest value of a sample to that of the median sample */
#define VN_DATA_REACH_SHARE   0.2     /* of the samples: more are no outliers */
#define VN_DATA_REACH_FEWEST  5u      /* samples */
#define VN_DATA_CUT           0.1     /* of the values of samples, that the first operator keeps nothing of */
#define VN_DATA_COLORS        1.9     /* divergence from training, to that with red and blue swapped: mean over the channels */
#define VN_DATA_COLORS_BOTH   4.0     /* times the same of the median */
#define VN_DATA_COLORS_FEWEST 4u      /* samples: one picture may be of any colour */

/* Samples of 0 to 255 for a network trained with small ones whose normalization is folded away (data-scale.c): deviations in
 * biases. Of 0 to 255 as they are, in the first layer: 22 to 515 where that is wrong, up to 3.4 where it is right. From -1 to 1,
 * in the first layer and the middle one of all: up to 4.8 and 12 in networks trained so; 8 and 48, 28 and 16 or 350 and 10 in
 * those whose biases say nothing. */
#define VN_DATA_RAW           10.0
#define VN_DATA_SMALL_FIRST   7.0
#define VN_DATA_SMALL_ALL     20.0

/* Pictures of half the scale or another mean (data-deep.c), against the best of the named preprocessings. Behind
 * BatchNormalizations: 2.5 to 4.1 times the divergence and 2.9 to 7 times its part of means, from 0.36 on, where 0 to 1 is given
 * instead of -1 to 1; of pictures that are prepared rightly up to 2.05 and 0.93 (small ones that were enlarged), 1.6 and 1.2.
 * Mean of a linear layer in deviations: 2.4 to 13 times, from 0.28 on, where it would be at most 0.16; up to 1.54. */
#define VN_DATA_DEEP          0.3
#define VN_DATA_DEEP_FEWEST   4u      /* samples: one picture may be of any brightness */
#define VN_DATA_DEEP_LESS     2.2
#define VN_DATA_DEEP_MEANS    1.8
#define VN_DATA_LINEAR        0.2
#define VN_DATA_LINEAR_NEAR   0.2
#define VN_DATA_LINEAR_LESS   2.3

/* ---- outputs of the float model (vn-output-look.c). Energy that changes with the samples, of the slice of an output where it is
 * most: 0.012 to 1 in 22 networks with their preprocessing on two sets of photographs; normalized twice or 255 times too small
 * 1e-7 to 0.01 in 14 ---- */

#define VN_REACTION_LEAST     0.005
#define VN_REACTION_FEWEST    4u      /* samples */

/* Of 8 samples 6 to 8 classes of 1000 are chosen by networks that see what they expect, and 1 by one that gets 0 to 1 instead of
 * 0 to 255, with 0.2 to 0.34 of confidence. Samples of one class are chosen with more. */
#define VN_CLASSES_FEWEST     20
#define VN_CLASSES_SAMPLES    8u
#define VN_CLASSES_SHARE      0.25    /* classes that are chosen, to the samples */
#define VN_CLASSES_CONFIDENCE 0.5     /* mean of the largest probability */
