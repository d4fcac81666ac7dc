import type { AnyTemplateRow, TemplateStarter } from "../../api/schema";

// The mails that one can begin with: the templates of the account, and the starters.

export type Mails = { templates: AnyTemplateRow[]; starters: TemplateStarter[] };

/** idOf is the id of a mail to begin with. */
export const idOf = (kind: "template" | "starter", slug: string) => `${kind} ${slug}`;

/** newStarters returns the starters of which the account has made no template yet. */
export const newStarters = (starters: TemplateStarter[], templates: Pick<AnyTemplateRow, "slug" | "name">[]) =>
	starters.filter((starter) => !templates.some(({ slug, name }) => slug === starter.slug && name === starter.name));

/** optionsOf returns mails with their ids, in the order in which they are shown. */
export const optionsOf = ({ templates, starters }: Mails) => [
	...templates.map(({ slug, name }) => ({ id: idOf("template", slug), slug, label: name })),
	...newStarters(starters, templates).map(({ slug, name }) => ({ id: idOf("starter", slug), slug, label: name })),
];

/**
 * chosenOf returns the mail that is chosen: at first, the first one. Of a starter of which a template was made meanwhile,
 * that template.
 */
export function chosenOf(mails: Mails, id: string | null) {
	const options = optionsOf(mails);
	const made = id?.replace(/^starter /, "template ");
	return options.find((option) => option.id === id) ?? options.find((option) => option.id === made) ?? options[0];
}

/** starterOf returns the starter that a mail is, or whose template it is. */
export const starterOf = ({ starters }: Mails, { slug, label }: { slug: string; label: string }) =>
	starters.find((starter) => starter.slug === slug && starter.name === label);
