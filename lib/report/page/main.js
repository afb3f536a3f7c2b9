// Reads what the page holds, and shows it.
import { readData } from "./data.js";
import { byId, make } from "./dom.js";

// `show`: of the kind of page that this is.
export function start(show) {
  readData(byId("data"))
    .then(show)
    .then(() => document.body.setAttribute("data-state", "ready"))
    .catch((wrong) => {
      document.body.setAttribute("data-state", "failed");
      byId("warnings").append(make("div", { class: "banner", role: "alert" }, `This page cannot be shown: ${wrong.message}`));
      throw wrong;
    });
}
