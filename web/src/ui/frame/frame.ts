// The script of the page that shows a mail. The mail's HTML is parsed and inserted; nothing in it runs,
// because the page's policy allows this script alone. It sends the application the height of the mail and
// the address under the pointer. Links lead nowhere, or open in a new tab if the application says so. If it asks for
// marks, it is told where the elements with marks are, which of them is under the pointer and which is pressed.

// The page contains this file alone, so that it imports nothing.

type Show = {
	kind: "show";
	html: string;
	dark: boolean;
	forced: boolean;
	images: boolean;
	opens: boolean;
	marks: boolean;
};

/** Look asks how an element with a mark looks. */
type Look = { kind: "look"; mark: number };

/** What programs that force dark colours do, about: they turn light into dark and leave pictures. */
const forcedDark =
	"html { background: #fff; filter: invert(0.93) hue-rotate(180deg) } img, video, [background] { filter: invert(1) hue-rotate(180deg) }";

const noPictures = "* { background-image: none !important }";

const send = (message: object) => parent.postMessage(message, "*");

const sizes = new ResizeObserver(() => oncePerFrame("marks", reportMarks));

/** What of an element's classes is its mark, as the server writes it. */
const marked = /(?:^|\s)pb-mark-(\d{1,9})(?:\s|$)/;

/** markOf returns the mark of an element, -1 if it has none. */
const markOf = (element: Element) => Number(marked.exec(element.getAttribute("class") ?? "")?.[1] ?? -1);

/** More rectangles than these are not reported. */
const maxRects = 10_000;

/** Whether the application asks for marks. */
let marks = false;
let pointed = -1;

function show(message: Show) {
	marks = message.marks;
	pointed = -1;
	const mail = new DOMParser().parseFromString(message.html, "text/html");
	for (const el of mail.querySelectorAll("script, meta, base, link[rel=preload], iframe, object, embed, form")) {
		if (el.tagName === "FORM") el.replaceWith(...el.childNodes);
		else el.remove();
	}
	for (const el of mail.querySelectorAll("*")) {
		for (const { name } of [...el.attributes]) if (name.startsWith("on")) el.removeAttribute(name);
	}
	if (!message.images) {
		for (const img of mail.querySelectorAll("img")) {
			img.removeAttribute("src");
			img.removeAttribute("srcset");
		}
		for (const el of mail.querySelectorAll("source, [background]")) {
			el.removeAttribute("srcset");
			el.removeAttribute("background");
		}
	}
	for (const link of mail.querySelectorAll("a, area")) {
		const address = link.getAttribute("href") ?? "";
		link.setAttribute("data-address", address);
		for (const name of ["target", "rel", "ping", "download", "xlink:href"]) link.removeAttribute(name);
		if (message.opens && isPage(address)) {
			link.setAttribute("href", address.trim());
			link.setAttribute("target", "_blank");
			link.setAttribute("rel", "noopener noreferrer");
		} else link.setAttribute("href", "#");
	}
	for (const el of mail.querySelectorAll("style[media], link[media], source[media]"))
		el.setAttribute("media", withScheme(el.getAttribute("media") ?? "", message.dark));
	document.documentElement.style.colorScheme = message.dark ? "dark" : "light";
	document.head.replaceChildren(...mail.head.childNodes);
	const body = document.importNode(mail.body, true);
	document.body.replaceWith(body);
	for (const [rules, on] of [
		[forcedDark, message.forced],
		[noPictures, !message.images],
	] as const) {
		if (on) document.head.append(Object.assign(document.createElement("style"), { textContent: rules }));
	}
	for (const { sheet } of document.querySelectorAll("style")) if (sheet) choose(sheet.cssRules, message.dark);
	report();
	for (const img of document.images) img.addEventListener("load", report);
	sizes.disconnect();
	if (marks) sizes.observe(body); // fonts that arrive move elements without a resize of the window
}

/** isPage reports whether an address is that of a page on the web: nothing else is opened. */
function isPage(address: string): boolean {
	const url = URL.parse(address.trim());
	return url !== null && (url.protocol === "http:" || url.protocol === "https:");
}

/** asked matches what a rule asks of the colours that the reader prefers. */
const asked = /\(\s*prefers-color-scheme\s*:\s*(dark|light)\s*\)/gi;

/** withScheme replaces in a media query what it asks of colours by what is true, or untrue, of the colours chosen. */
const withScheme = (media: string, dark: boolean) =>
	media.replace(asked, (_, scheme: string) =>
		(scheme.toLowerCase() === "dark") === dark ? "(min-width: 0px)" : "(max-width: 0px)",
	);

/** choose lets the rules of the mail see the colours that were chosen here, and not those of the browser. */
function choose(rules: CSSRuleList, dark: boolean) {
	for (const rule of rules) {
		if (rule instanceof CSSMediaRule || rule instanceof CSSImportRule) {
			const media = withScheme(rule.media.mediaText, dark);
			if (media !== rule.media.mediaText) rule.media.mediaText = media;
		}
		if (rule instanceof CSSGroupingRule || rule instanceof CSSStyleRule) choose(rule.cssRules, dark);
	}
}

function report() {
	const links = [...document.querySelectorAll<HTMLElement>("[data-address]")].map((element) => {
		const rect = element.getBoundingClientRect();
		return {
			address: element.dataset.address,
			x: rect.x + scrollX,
			y: rect.y + scrollY,
			width: rect.width,
			height: rect.height,
		};
	});
	send({ kind: "size", height: Math.ceil(document.documentElement.getBoundingClientRect().height), links });
	if (marks) oncePerFrame("marks", reportMarks);
}

/** The reports that the next animation frame makes, by their kinds. */
const waiting = new Map<string, () => void>();

/** oncePerFrame makes a report in the next animation frame, which makes the last of each kind. */
function oncePerFrame(kind: string, make: () => void) {
	if (waiting.size === 0) {
		requestAnimationFrame(() => {
			const due = [...waiting.values()];
			waiting.clear();
			for (const make of due) make();
		});
	}
	waiting.set(kind, make);
}

function reportMarks() {
	const rects = [];
	for (const element of document.querySelectorAll('body[class*="pb-mark-"], body [class*="pb-mark-"]')) {
		const mark = markOf(element);
		if (mark < 0) continue;
		const rect = element.getBoundingClientRect();
		if (rect.width === 0 && rect.height === 0) continue; // it is hidden
		rects.push({ mark, x: rect.x + scrollX, y: rect.y + scrollY, width: rect.width, height: rect.height });
		if (rects.length === maxRects) break;
	}
	send({ kind: "report", rects });
}

/** markAround returns the mark of the nearest element around what an event is about, -1 if none has one. */
function markAround(target: EventTarget | null) {
	for (let el = target instanceof Element ? target : null; el; el = el.parentElement) {
		const mark = markOf(el);
		if (mark >= 0) return mark;
	}
	return -1;
}

function reportPress(event: MouseEvent) {
	if (!marks) return;
	const link = event.target instanceof Element ? event.target.closest("[data-address]") : null;
	send({
		kind: "report",
		press: {
			mark: markAround(event.target),
			x: event.pageX,
			y: event.pageY,
			double: event.type === "dblclick",
			address: link?.getAttribute("data-address") ?? undefined,
		},
	});
}

function reportPoint(mark: number) {
	if (!marks || mark === pointed) return;
	pointed = mark;
	oncePerFrame("point", () => send({ kind: "report", point: pointed }));
}

/** What an element looks like to those who edit its text over it. */
const lookNames = [
	"color",
	"direction",
	"fontFamily",
	"fontSize",
	"fontStyle",
	"fontWeight",
	"letterSpacing",
	"lineHeight",
	"textTransform",
	"textAlign",
	"paddingTop",
	"paddingRight",
	"paddingBottom",
	"paddingLeft",
] as const;

const isClear = (color: string) => /^(transparent|rgba\(.*, 0\))$/.test(color);

const hasPicture = (element: Element) => getComputedStyle(element).backgroundImage !== "none";

/** reportLook tells how an element looks; its background is not told where that is a picture. */
function reportLook(mark: number) {
	const element = document.querySelector(`body .pb-mark-${mark}`);
	if (!element) return;
	const own = getComputedStyle(element);
	const look: { [name: string]: string } = Object.fromEntries(lookNames.map((name) => [name, own[name]]));
	let behind: Element | null = element;
	while (behind && isClear(getComputedStyle(behind).backgroundColor) && !hasPicture(behind))
		behind = behind.parentElement;
	const isDark = document.documentElement.style.colorScheme === "dark";
	if (!behind) look.backgroundColor = isDark ? "#121212" : "#ffffff";
	else if (!hasPicture(behind)) look.backgroundColor = getComputedStyle(behind).backgroundColor;
	send({ kind: "report", look: { mark, look } });
}

addEventListener("message", (event: MessageEvent<Show | Look>) => {
	if (event.source !== parent) return;
	if (event.data?.kind === "show") show(event.data);
	else if (event.data?.kind === "look" && Number.isInteger(event.data.mark)) reportLook(event.data.mark);
});
addEventListener(
	"click",
	(event) => {
		const link = (event.target as Element).closest?.("a, area");
		if (link?.getAttribute("target") !== "_blank") event.preventDefault(); // all targets are set here
	},
	true,
);
addEventListener("click", reportPress);
addEventListener("dblclick", reportPress);
document.documentElement.addEventListener("pointerleave", () => reportPoint(-1));
// What is let go over the page would be shown in its place. The application is told of files, since it does not see them here.
for (const type of ["dragenter", "dragover", "drop"] as const) {
	addEventListener(type, (event) => {
		event.preventDefault();
		if (event.dataTransfer) event.dataTransfer.dropEffect = "none";
		if (marks && event.dataTransfer?.types.includes("Files"))
			oncePerFrame("files", () => send({ kind: "report", files: true }));
	});
}
addEventListener("submit", (e) => e.preventDefault(), true);
addEventListener("resize", report);
addEventListener("pointerover", (event) => {
	const link = (event.target as HTMLElement).closest?.("[data-address]");
	send({ kind: "hover", address: link?.getAttribute("data-address") ?? "" });
	reportPoint(markAround(event.target));
});
send({ kind: "ready" });
