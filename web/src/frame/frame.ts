// The script of the page that shows a mail. The mail's HTML is parsed and inserted; nothing in it runs,
// because the page's policy allows this script alone. It tells the application the height of the mail and
// the address under the pointer; links lead nowhere.

type Show = { kind: "show"; html: string; dark: boolean; images: boolean };

const send = (message: object) => parent.postMessage(message, "*");

function show(message: Show) {
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
	}
	for (const a of mail.querySelectorAll("a, area")) {
		a.setAttribute("data-address", a.getAttribute("href") ?? "");
		a.setAttribute("href", "#");
		a.removeAttribute("target");
	}
	document.documentElement.style.colorScheme = message.dark ? "dark" : "light";
	document.head.replaceChildren(...mail.head.childNodes);
	const body = document.importNode(mail.body, true);
	document.body.replaceWith(body);
	report();
	for (const img of document.images) img.addEventListener("load", report);
}

function report() {
	const links = [...document.querySelectorAll<HTMLElement>("[data-address]")].map((a) => {
		const r = a.getBoundingClientRect();
		return { address: a.dataset.address, x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height };
	});
	send({ kind: "size", height: Math.ceil(document.documentElement.getBoundingClientRect().height), links });
}

addEventListener("message", (e: MessageEvent<Show>) => {
	if (e.source === parent && e.data?.kind === "show") show(e.data);
});
addEventListener("click", (e) => e.preventDefault(), true);
addEventListener("submit", (e) => e.preventDefault(), true);
addEventListener("resize", report);
addEventListener("pointerover", (e) => {
	const link = (e.target as HTMLElement).closest?.("[data-address]");
	send({ kind: "hover", address: link?.getAttribute("data-address") ?? "" });
});
send({ kind: "ready" });
