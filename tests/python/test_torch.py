"""Operators of torch are below the regions of Python, with --with torch."""
import unittest

import adaptyst
from support import Case, main

try:
    import torch
except ImportError:
    torch = None


@unittest.skipIf(torch is None, "no torch (Debian: python3-torch)")
class Torch(Case):
    def test_operators_are_below_regions(self):
        self.python("""
            import adaptyst, torch
            a = torch.ones(64, 64)
            with torch.no_grad():
                for _ in range(3):
                    with adaptyst.region("forward"):
                        with adaptyst.region("product"):
                            b = a @ a
                        torch.relu(b)
            """, "--with", "torch")
        profile = adaptyst.load(self.folder / "profile.json")
        counts = {tuple(name.partition(" [")[0] for name in region.path): region.count for region in profile.regions}
        self.assertEqual([counts[path] for path in (("forward",), ("forward", "product"), ("forward", "product", "aten::matmul"), ("forward", "aten::relu"))],
                         [3] * 4, counts)


if __name__ == "__main__":
    main()
