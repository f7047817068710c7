# SPDX-License-Identifier: MIT
"""The file that --json names: results, with the state of the sources that they belong to."""
import json

import torch


def parse_arguments(parser):
    """The command line's options, with --json and --commit among them."""
    parser.add_argument("--json", metavar="FILE", help="write the results to this file")
    parser.add_argument("--commit", help="the state of the sources, for --json: git rev-parse --short HEAD")
    options = parser.parse_args()
    if options.json and not options.commit:
        parser.error("--json needs --commit, the state of the sources: --commit $(git rev-parse --short HEAD)")
    return options


def write_results(options, **results):
    """Does nothing without --json."""
    if options.json:
        head = {"commit": options.commit, "device": torch.cuda.get_device_name(), "torch": torch.__version__}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(head | results, file, indent=1)
