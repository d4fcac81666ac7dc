import type { ContentBody, PreviewSource, TemplateStarter } from "../../../api/schema";
import { templateOf } from "../../templates/fromStarter";

// What a new mail begins with, and what is typed of it before it is created.

export type Beginning = {
	name: string;
	subject: string;
	kind: "starter" | "template" | "own";
	/** The slug of the starter or the template; null for the first. */
	of: string | null;
};

export const blank: Beginning = { name: "", subject: "", kind: "starter", of: null };

/** chosenStarter returns the starter that is chosen: at first, the one that sequences most often begin with. */
export const chosenStarter = (starters: TemplateStarter[], of: string | null): TemplateStarter | undefined =>
	starters.find((starter) => starter.slug === (of ?? "welcome")) ?? starters[0];

/** nameOf returns the name of a new mail: the one that was typed, else its subject, else that of what it begins with. */
export const nameOf = ({ name, subject }: Beginning, other: string): string =>
	[name, subject, other].map((text) => text.trim()).find(Boolean) ?? "";

/** withSubject gives content the subject that was typed, or keeps its own. */
export const withSubject = (content: ContentBody, { subject }: Beginning): ContentBody =>
	subject.trim() ? { ...content, subject } : content;

/** pictureOf returns what is shown of a starter. Blocks of its sample are left out, as in the mail. */
export function pictureOf(starter: TemplateStarter): PreviewSource {
	const { slots: _, ...binding } = starter.sample;
	const { slug: __, tags: ___, ...template } = templateOf(starter);
	return { template: { ...template, binding } as PreviewSource["template"] };
}
