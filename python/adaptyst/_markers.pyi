# The extension has the functions of the module that replaces it.
from ._without_markers import (device as device, is_enabled as is_enabled, mark as mark, metadata as metadata, metric as metric,
                               offload as offload, phases as phases, region as region, region_of as region_of, site as site,
                               submit as submit, wait as wait)
