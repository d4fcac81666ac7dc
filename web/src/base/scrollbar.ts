/**
 * reserveScrollbar tells the styles how wide the bar for scrolling is, as --scrollbar, so that the page keeps its width when
 * the bar comes or goes. It is 0 where bars lie over the page. Zooming changes it.
 */
export function reserveScrollbar() {
	const probe = document.createElement("div");
	probe.style.cssText =
		"position: absolute; inline-size: 100px; block-size: 100px; overflow: scroll; visibility: hidden";
	const measure = () => {
		document.body.append(probe);
		const width = probe.offsetWidth - probe.clientWidth;
		probe.remove();
		document.documentElement.style.setProperty("--scrollbar", `${width}px`);
	};
	measure();
	window.addEventListener("resize", measure);
}
