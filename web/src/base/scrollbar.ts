/**
 * reserveScrollbar sets --scrollbar to the width of the scrollbar, so that the page keeps its width when
 * the bar comes or goes. It is 0 where bars lie over the page. Zooming changes it.
 */
export function reserveScrollbar() {
	const measuringElement = document.createElement("div");
	measuringElement.style.cssText =
		"position: absolute; inline-size: 100px; block-size: 100px; overflow: scroll; visibility: hidden";
	const measure = () => {
		document.body.append(measuringElement);
		const width = measuringElement.offsetWidth - measuringElement.clientWidth;
		measuringElement.remove();
		document.documentElement.style.setProperty("--scrollbar", `${width}px`);
	};
	measure();
	window.addEventListener("resize", measure);
}
