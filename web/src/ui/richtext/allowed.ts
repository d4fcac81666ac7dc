// What a text may have. The server drops the rest from values of parameters.

export type Allowed = {
	/** The elements of paragraphs, the usual one first; "" is text without an element. */
	blocks: readonly string[];
	lists: boolean;
	align: boolean;
	underline: boolean;
	strike: boolean;
	/** Colour and size of a part of the text. */
	looks: boolean;
	/** A single line of text, such as that of a button. */
	isLine: boolean;
};

/** A rich text parameter. */
export const richText: Allowed = {
	blocks: ["p", "h1", "h2", "h3", "h4"],
	lists: true,
	align: true,
	underline: true,
	strike: true,
	looks: false,
	isLine: false,
};

/** The content of mj-text, which often is text without an element. */
export const mjmlText: Allowed = { ...richText, blocks: ["", "p", "h1", "h2", "h3", "h4"], looks: true };

/** The content of an element that holds a line of text: a button, a link, a cell. */
export const line: Allowed = { ...richText, blocks: [""], lists: false, align: false, looks: true, isLine: true };

/** toolCount returns how many buttons a text has, without those that the place adds. */
export const toolCount = ({ underline, strike, lists, align, looks }: Allowed) =>
	6 + Number(underline) + Number(strike) + 2 * Number(lists) + 3 * Number(align) + Number(looks);
