// Shows times in the reader's zone, new mail as it comes, and a mail at its full
// height. The pages work without this.
"use strict";

function localTimes(root) {
  for (const t of root.querySelectorAll("time")) {
    const at = new Date(t.dateTime);
    if (!isNaN(at)) t.textContent = at.toLocaleString();
  }
}

async function refresh() {
  if (document.hidden) return;
  const answer = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
  if (answer.status === 401) return location.reload();
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById("mails");
  const now = document.getElementById("mails");
  if (!next || !now || now.querySelector("details[open]")) return;
  localTimes(next);
  if (next.innerHTML === now.innerHTML) return;
  const held = now.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  now.replaceChildren(...document.adoptNode(next).childNodes);
  if (held) now.querySelector(`a[href="${CSS.escape(held)}"]`)?.focus();
}

localTimes(document);
if (document.querySelector("[data-live]")) {
  setInterval(() => refresh().catch(() => {}), 3000);
}

// The frame of a mail has an opaque origin, so its window is what it is known by.
// A mail as high as its window would grow for ever: the reports that count are
// bounded.
const frame = document.querySelector("iframe");
let reports = 0;
addEventListener("message", (event) => {
  const height = event.data?.height;
  if (!frame || event.source !== frame.contentWindow || !Number.isFinite(height) || ++reports > 50) return;
  frame.style.height = `${Math.min(Math.max(height, 100), 30000)}px`;
});
