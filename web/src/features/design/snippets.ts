import { catalogue } from "../../base/words/catalogue";

const words = catalogue("design.snippets", {
	text: "Text",
	heading: "Heading",
	button: "Button",
	item: "Item",
	price: "Price",
	amount: "0.00",
	unsubscribe: "Unsubscribe",
});

/** Snippet is what the palette inserts: the code of one element, which indents by two blanks. */
export type Snippet = { id: SnippetId; tag: string; code: string };

export type SnippetId =
	| "columns1"
	| "columns2"
	| "columns3"
	| "columns4"
	| "sidebar"
	| "text"
	| "heading"
	| "button"
	| "image"
	| "divider"
	| "spacer"
	| "social"
	| "table"
	| "hero"
	| "footer"
	| "code";

const column = (attributes = "") => `  <mj-column${attributes}>\n    <mj-text>${words.text}</mj-text>\n  </mj-column>`;
const section = (...columns: string[]) => `<mj-section>\n${columns.join("\n")}\n</mj-section>`;
const columns = (count: number) => section(...Array.from({ length: count }, () => column()));

/** snippets returns what the palette has, in its order. Words in them are replaced by those who write. */
export const snippets = (): Snippet[] => [
	{ id: "text", tag: "mj-text", code: `<mj-text>${words.text}</mj-text>` },
	{
		id: "heading",
		tag: "mj-text",
		code: `<mj-text font-size="24px" line-height="32px" font-weight="bold"><h2 style="margin:0; font-size:24px; line-height:32px;">${words.heading}</h2></mj-text>`,
	},
	{
		id: "button",
		tag: "mj-button",
		code: `<mj-button href="{{ account.website_url }}">${words.button}</mj-button>`,
	},
	{ id: "image", tag: "mj-image", code: '<mj-image src="" />' },
	{ id: "divider", tag: "mj-divider", code: '<mj-divider border-width="1px" border-color="#d0d0d0" />' },
	{ id: "spacer", tag: "mj-spacer", code: '<mj-spacer height="24px" />' },
	{
		id: "social",
		tag: "mj-social",
		code: '<mj-social icon-size="24px" mode="horizontal">\n  <mj-social-element name="linkedin-noshare" href="https://www.linkedin.com/" alt="LinkedIn" />\n  <mj-social-element name="instagram" href="https://www.instagram.com/" alt="Instagram" />\n</mj-social>',
	},
	{
		id: "table",
		tag: "mj-table",
		code: `<mj-table>\n  <tr style="text-align:left; border-bottom:1px solid #d0d0d0;">\n    <th>${words.item}</th>\n    <th>${words.price}</th>\n  </tr>\n  <tr>\n    <td>${words.item}</td>\n    <td>${words.amount}</td>\n  </tr>\n</mj-table>`,
	},
	{ id: "columns1", tag: "mj-section", code: columns(1) },
	{ id: "columns2", tag: "mj-section", code: columns(2) },
	{ id: "columns3", tag: "mj-section", code: columns(3) },
	{ id: "columns4", tag: "mj-section", code: columns(4) },
	{ id: "sidebar", tag: "mj-section", code: section(column(' width="33.33%"'), column(' width="66.66%"')) },
	{
		id: "hero",
		tag: "mj-hero",
		code: `<mj-hero mode="fluid-height" background-color="#2a3948" padding="48px 24px">\n  <mj-text color="#ffffff" font-size="28px" line-height="36px" align="center">${words.heading}</mj-text>\n  <mj-button href="{{ account.website_url }}">${words.button}</mj-button>\n</mj-hero>`,
	},
	{
		id: "footer",
		tag: "mj-section",
		code: section(
			`  <mj-column>\n    <mj-text font-size="13px" line-height="20px" align="center">{{ account.name }}<br />{{ account.postal_address }}<br /><a href="{{ unsubscribe_url }}">${words.unsubscribe}</a></mj-text>\n  </mj-column>`,
		),
	},
	{ id: "code", tag: "mj-raw", code: "<mj-raw><!-- HTML --></mj-raw>" },
];
