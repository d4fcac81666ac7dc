import { catalogue } from "../../base/words/catalogue";

/** The names of the parts of templates and blocks. */
export const fieldNames = catalogue("source.words", {
	name: "Name",
	slug: "Key",
	subject: "Subject",
	mjml: "MJML",
	html: "HTML",
	text: "Text",
	schema: "Schema",
	tags: "Tags",
	slot_keys: "Slots",
	inline_css: "Inline CSS",
	active: "Active",
});
