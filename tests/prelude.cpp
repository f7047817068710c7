// SPDX-License-Identifier: MIT
// A target needs a source; the precompiled header is what it is for.
