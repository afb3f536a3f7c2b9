// Reads what the page holds, and shows it.
import { showComparison } from "./comparison_page.js";
import { readData } from "./data.js";
import { byId, make } from "./dom.js";
import { showProfile } from "./profile_page.js";
import { showTimeline } from "./timeline_page.js";
import { showVariability } from "./variability_page.js";

const pages = { profile: showProfile, comparison: showComparison, timeline: showTimeline, variability: showVariability };

readData(byId("data"))
  .then((data) => pages[data.page](data))
  .then(() => document.body.setAttribute("data-state", "ready"))
  .catch((wrong) => {
    document.body.setAttribute("data-state", "failed");
    byId("warnings").append(make("div", { class: "banner", role: "alert" }, `This page cannot be shown: ${wrong.message}`));
    throw wrong;
  });
