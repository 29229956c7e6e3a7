"""TML_SHARE=4 takes every fourth of the tests on drivers of GPUs, others with another TML_SEED, beside all others;
TML_SHARE=-4 takes the rest."""

import os
import re


def pytest_collection_modifyitems(config, items):
    share = int(os.environ.get("TML_SHARE") or 0)
    if not share:
        return
    seed = int(os.environ.get("TML_SEED") or 1)
    kept, left = [], []
    for number, item in enumerate(items):
        is_on_driver = re.search(r"\[(.*-)?(vulkan|gl)\b", item.name) is not None
        is_turn = (number + seed) % abs(share) == 0
        is_kept = is_turn or not is_on_driver if share > 0 else is_on_driver and not is_turn
        (kept if is_kept else left).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == 5 and os.environ.get("TML_SHARE"):  # no test is of the share
        session.exitstatus = 0
