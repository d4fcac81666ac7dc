// Shows times in the reader's zone, and new mail as it comes. The pages work
// without this.
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
  if (!next || !now) return;
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
