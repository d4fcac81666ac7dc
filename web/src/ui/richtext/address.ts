// Addresses of links, by the rules of the server: http, https, mailto, tel, an anchor, or Liquid.

// biome-ignore lint/suspicious/noControlCharactersInRegex: browsers skip them in addresses
const ignored = /[\u0000-\u0020]+/g;

/** isAddress reports whether a link may have an address. */
export function isAddress(address: string): boolean {
	const text = address.replace(ignored, "");
	if (text.startsWith("{{")) {
		const rest = text.slice(text.indexOf("}}") + 2);
		const colon = rest.indexOf(":");
		return text.includes("}}") && (colon < 0 || /[/?#]/.test(rest.slice(0, colon)));
	}
	return /^(https?:|mailto:|tel:|#)./i.test(text);
}

/** asAddress returns what somebody means who types an address without a scheme. */
export function asAddress(typed: string): string {
	const text = typed.trim();
	if (text === "" || isAddress(text)) return text;
	if (/^[^\s@/:]+@[^\s@/:]+\.[a-z]{2,}$/i.test(text)) return `mailto:${text}`;
	if (/^\/\/[^\s/]/.test(text)) return `https:${text}`;
	const plain = text.replace(/\{\{.*?\}\}/g, "x");
	if (/^[a-z0-9-]+(\.[a-z0-9-]+)+([:/?#]\S*)?$/i.test(plain)) return `https://${text}`;
	return text;
}

/** pastedAddress returns the address of a pasted link, or null if links may not have it. */
export function pastedAddress(href: string): string | null {
	let address = href.trim();
	const redirect = /^https?:\/\/(?:www\.)?google\.[a-z.]+\/url\?(?:.*&)?(?:q|url)=([^&]+)/i.exec(address)?.[1];
	if (redirect) address = decoded(redirect);
	// Browsers escape the braces of Liquid.
	address = address.replace(/%7B%7B.*?%7D%7D/gi, decoded).replace(/^https?:\/\/(?=\{\{)/i, "");
	if (address.startsWith("//")) address = `https:${address}`;
	return isAddress(address) && !address.startsWith("#") ? address : null;
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
