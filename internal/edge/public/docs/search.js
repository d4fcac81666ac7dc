// The search of the reference page: every word must occur somewhere in an
// operation. "/" moves to the field, Escape empties it. On narrow screens the
// navigation is folded until it is wanted.
(() => {
  const input = document.getElementById("find");
  const status = document.getElementById("found");
  const articles = [...document.querySelectorAll("article")].map((element) => ({
    element,
    link: document.querySelector(`nav li[data-for="${element.id}"]`),
    text: element.textContent.toLowerCase(),
  }));

  function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { element, link, text } of articles) {
      const hit = words.every((word) => text.includes(word));
      element.hidden = link.hidden = !hit;
      if (hit) count++;
    }
    for (const group of document.querySelectorAll(".group")) {
      group.hidden = !group.querySelector("article:not([hidden])");
    }
    for (const list of document.querySelectorAll("nav ul")) {
      list.hidden = list.previousElementSibling.hidden = !list.querySelector("li:not([hidden])");
    }
    for (const part of document.querySelectorAll("nav .part, .intro")) {
      part.hidden = words.length > 0;
    }
    document.getElementById("nothing").hidden = count > 0;
    status.textContent = words.length ? `${count} of ${articles.length} operations` : "";
  }

  input.addEventListener("input", search);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== input && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      menu.open = true;
      input.focus();
    } else if (event.key === "Escape" && input.value) {
      input.value = "";
      search();
    }
  });
  document.querySelector(".search").hidden = false;

  // Folds the navigation on narrow screens, and after a choice there.
  const menu = document.getElementById("menu");
  const narrow = matchMedia("(max-width: 60rem)");
  const fold = () => { menu.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  menu.addEventListener("click", (event) => {
    if (narrow.matches && event.target.closest("li a")) menu.open = false;
  });

  // Shows in the list which operation is being read.
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      document.querySelector("nav [aria-current]")?.removeAttribute("aria-current");
      document.querySelector(`nav li[data-for="${target.id}"] a`)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  articles.forEach(({ element }) => seen.observe(element));
})();
