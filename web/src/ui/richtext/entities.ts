// Entities of HTML that people use in text. Others are shown by their name.

const named: { [name: string]: string } = {
	amp: "&",
	lt: "<",
	gt: ">",
	quot: '"',
	apos: "'",
	nbsp: "\u00a0",
	shy: "\u00ad",
	ensp: "\u2002",
	emsp: "\u2003",
	thinsp: "\u2009",
	zwnj: "\u200c",
	zwj: "\u200d",
	lrm: "\u200e",
	rlm: "\u200f",
};
const lists: [first: number, names: string][] = [
	[
		0xa1,
		"iexcl cent pound curren yen brvbar sect uml copy ordf laquo not - reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml",
	],
	[0x2013, "ndash mdash"],
	[0x2018, "lsquo rsquo sbquo - ldquo rdquo bdquo - dagger Dagger bull"],
];
for (const [first, names] of lists)
	for (const [i, name] of names.split(" ").entries()) if (name !== "-") named[name] = String.fromCharCode(first + i);
Object.assign(named, {
	hellip: "…",
	euro: "€",
	trade: "™",
	larr: "←",
	uarr: "↑",
	rarr: "→",
	darr: "↓",
	check: "✓",
	hearts: "♥",
	star: "☆",
	minus: "−",
	ne: "≠",
	le: "≤",
	ge: "≥",
	lsaquo: "‹",
	rsaquo: "›",
	permil: "‰",
	OElig: "Œ",
	oelig: "œ",
	Scaron: "Š",
	scaron: "š",
});

/** decodeEntity returns the character of an entity such as "&copy;", or null if it is not known. */
export function decodeEntity(entity: string): string | null {
	const number = /^&#(?:x([0-9a-f]{1,6})|(\d{1,7}));$/i.exec(entity);
	if (!number) return named[entity.slice(1, -1)] ?? null;
	const code = number[1] ? Number.parseInt(number[1], 16) : Number(number[2]);
	const isCharacter = code > 31 && (code < 127 || code > 159) && code < 0x110000 && (code < 0xd800 || code > 0xdfff);
	return isCharacter ? String.fromCodePoint(code) : null;
}

/** decode returns a text with the characters of its entities. */
export const decode = (text: string) =>
	text.includes("&") ? text.replace(/&#?\w+;/g, (entity) => decodeEntity(entity) ?? entity) : text;

/** encode returns a text as markup has it. */
export const encode = (text: string) =>
	text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\u00a0", "&nbsp;");

const hasLiquid = (text: string) => text.includes("{{") || text.includes("{%");

const liquid = /(\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\})/;

/** encodeAround returns a text as markup has it, with the Liquid in it as it is. */
export const encodeAround = (text: string) =>
	hasLiquid(text)
		? text
				.split(liquid)
				.map((piece, i) => (i % 2 === 1 ? piece : encode(piece)))
				.join("")
		: encode(text);

/** straightLiquid takes back what word processors make of the quotes and spaces in Liquid. */
export const straightLiquid = (text: string) =>
	hasLiquid(text)
		? text
				.split(liquid)
				.map((piece, i) => (i % 2 === 1 ? straight(piece) : piece))
				.join("")
		: text;

const straight = (code: string) =>
	code
		.replace(/[“”„]/g, '"')
		.replace(/[‘’‚]/g, "'")
		.replace(/[\u00a0\n]/g, " ");
