// SPDX-License-Identifier: MIT
// A source that has nothing to do with Tilewright.
int bystander() { return 0; }
