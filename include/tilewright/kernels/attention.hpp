// SPDX-License-Identifier: MIT
// Attention: forward, backward and decoding; portable kernels and those for Hopper.
#pragma once

#include <tilewright/kernels/attention/backward/attention_backward.hpp>
#include <tilewright/kernels/attention/backward/hopper_backward.hpp>
#include <tilewright/kernels/attention/decode/attention_decode.hpp>
#include <tilewright/kernels/attention/decode/hopper_latent_decode.hpp>
#include <tilewright/kernels/attention/forward/attention_forward.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention_choice.hpp>
