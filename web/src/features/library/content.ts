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
export function editable(name: string, content: FullSessionContent | null): Content {
	const template = content?.template_slug ?? "";
	return {
		name,
		subject: content?.subject ?? "",
		preheader: content?.preheader ?? "",
		from_name: content?.from_name ?? "",
		reply_to: content?.reply_to ?? "",
		template,
		binding: content?.template_binding ?? {},
		mjml: template ? "" : (content?.body_mjml ?? ""),
		html: template || content?.body_mjml ? "" : (content?.body_html ?? ""),
		text: template ? "" : (content?.body_text ?? ""),
	};
}

/** begins returns content as it is edited, of what cannot be saved yet. */
export const begins = ({ subject, template_slug, template_binding, body_mjml }: ContentBody): Partial<Content> => ({
	subject: subject ?? "",
	template: template_slug ?? "",
	binding: (template_binding as Content["binding"] | null) ?? {},
	mjml: body_mjml ?? "",
});

/** comparable returns content as it is compared: what was made of a template, too. */
export function comparable(content: FullSessionContent): Content {
	return {
		...editable("", content),
		mjml: content.body_mjml ?? "",
		html: content.body_mjml ? "" : (content.body_html ?? ""),
		text: content.body_text ?? "",
	};
}

/** bodyOf returns the content that a request takes. */
export function bodyOf(content: Content): ContentBody {
	const common = {
		subject: content.subject || null,
		preheader: content.preheader || null,
		from_name: content.from_name || null,
		reply_to: content.reply_to || null,
	};
	if (content.template) return { ...common, template_slug: content.template, template_binding: content.binding };
	return {
		...common,
		body_mjml: content.mjml || null,
		body_html: content.mjml ? null : content.html || null,
		body_text: content.text || null,
	};
}
