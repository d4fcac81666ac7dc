"use strict";
// Reports the height of the mail to the page that frames it.
addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement;
  const report = () => {
    const scrollbar = root.scrollWidth > innerWidth ? 20 : 0;
    parent.postMessage({ height: Math.ceil(root.getBoundingClientRect().height) + scrollbar }, "*");
  };
  new ResizeObserver(report).observe(root);
  report();
});
