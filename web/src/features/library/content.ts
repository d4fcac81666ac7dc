import type { ContentBody, FullSessionContent } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";

// The content of a library entry, as it is edited.

export type Content = {
	/** The name of the entry, for its working copy. */
	name: string;
	subject: string;
	preheader: string;
	from_name: string;
	reply_to: string;
	template: string;
	binding: { [part: string]: unknown };
	mjml: string;
	html: string;
	text: string;
};

export const contentNames = catalogue("library.content", {
	name: "Name",
	subject: "Subject",
	preheader: "Preview text",
	from_name: "From name",
	reply_to: "Reply to",
	template: "Template",
	binding: "Content values",
	mjml: "MJML",
	html: "HTML",
	text: "Plain text",
});

/** The parts of content that are compared line by line. */
export const contentCodes: (keyof Content)[] = ["binding", "mjml", "html", "text"];

/** editable returns content as it is edited: of a template its values, else its code. */
export function editable(name: string, c: FullSessionContent | null): Content {
	const template = c?.template_slug ?? "";
	return {
		name,
		subject: c?.subject ?? "",
		preheader: c?.preheader ?? "",
		from_name: c?.from_name ?? "",
		reply_to: c?.reply_to ?? "",
		template,
		binding: c?.template_binding ?? {},
		mjml: template ? "" : (c?.body_mjml ?? ""),
		html: template || c?.body_mjml ? "" : (c?.body_html ?? ""),
		text: template ? "" : (c?.body_text ?? ""),
	};
}

/** comparable returns content as it is compared: what was made of a template, too. */
export function comparable(c: FullSessionContent): Content {
	return {
		...editable("", c),
		mjml: c.body_mjml ?? "",
		html: c.body_mjml ? "" : (c.body_html ?? ""),
		text: c.body_text ?? "",
	};
}

/** bodyOf returns the content that a request takes. */
export function bodyOf(c: Content): ContentBody {
	const common = {
		subject: c.subject || null,
		preheader: c.preheader || null,
		from_name: c.from_name || null,
		reply_to: c.reply_to || null,
	};
	if (c.template) return { ...common, template_slug: c.template, template_binding: c.binding };
	return { ...common, body_mjml: c.mjml || null, body_html: c.mjml ? null : c.html || null, body_text: c.text || null };
}
