// Rich text as text, where no page is needed.

/** hideStyles makes styles in a source attributes that the policy of the page does not refuse. */
export const hideStyles = (source: string) => source.replace(/(<[a-z][^<>]*?\s)style(\s*=)/gi, "$1data-style$2");

/** showStyles makes them styles again. */
export const showStyles = (html: string) => html.replace(/(<[a-z][^<>]*?\s)data-style=/gi, "$1style=");

/** unescapeLiquid takes back what an editor escapes in Liquid, which is code. */
export const unescapeLiquid = (html: string) =>
	html.replace(/\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g, (code) =>
		code.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&nbsp;", " ").replaceAll("&amp;", "&"),
	);

/** normalized is a source without differences that mean nothing. */
const normalized = (source: string) =>
	source
		.replace(/\s*\/>/g, ">")
		.replace(/&nbsp;|\u00a0/g, " ")
		.replace(/&quot;/g, '"')
		.replace(/&#39;|&apos;/g, "'")
		.replace(/="([^"]*)"|='([^']*)'/g, '="$1$2"')
		.replace(/\s+/g, " ")
		.trim()
		.toLowerCase();

/** sameMarkup reports whether two sources say the same: spaces, quotes and letters of tags may differ. */
export const sameMarkup = (a: string, b: string) => normalized(a) === normalized(b);
