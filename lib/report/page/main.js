// Reads the data of the page, and shows them.
import { readData } from "./data.js";
import { byId, make } from "./dom.js";

// `show`: of this kind of page.
export function start(show) {
  readData(byId("data"))
    .then(show)
    .then(() => document.body.setAttribute("data-state", "ready"))
    .catch((wrong) => {
      document.body.setAttribute("data-state", "failed");
      byId("warnings").append(make("div", { class: "banner", role: "alert" }, `The report cannot be shown: ${wrong.message}`));
      throw wrong;
    });
}
