// SPDX-License-Identifier: MIT
// A library with a name and versions, and nothing else: it satisfies the loader.
