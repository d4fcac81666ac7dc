import type { ParameterEntry, PreviewProblem } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { type Draft, newParameter, type Reference, referenceIn, type Schema, sectionAt, withSchema } from "./draft";

const words = catalogue("source.fixes", {
	declare: "Declare {name} as {type}",
	section: "Declare section {name}",
	slot: "Declare slot {name}",
	remove: "Remove {name}",
});

/** The names of types of parameters. */
export const typeNames = catalogue("source.fixes.typeNames", {
	text: "text",
	textarea: "multi-line text",
	rich_text: "formatted text",
	html: "HTML",
	url: "link",
	image: "picture",
	email: "email address",
	color: "colour",
	number: "number",
	boolean: "yes or no",
	date: "date",
	datetime: "date and time",
	select: "choice",
	list: "list",
});

export const types = Object.keys(typeNames) as ParameterEntry["type"][];

export type Fix = { label: string; change: Partial<Draft> };

/** typed guesses the usual types for a name, the likeliest first. */
function typed(name: string): ParameterEntry["type"][] {
	const likely: ParameterEntry["type"][] = /image|img|logo|picture|photo/.test(name)
		? ["image"]
		: /url|link|href|cta/.test(name)
			? ["url"]
			: /price|amount|count|number/.test(name)
				? ["number"]
				: /colou?r/.test(name)
					? ["color"]
					: /body|intro|content/.test(name)
						? ["rich_text"]
						: [];
	return [...new Set([...likely, ...types])];
}

const bodyOf = (d: Draft, field: string) =>
	field.includes("mjml") ? d.mjml : field.includes("html") ? d.html : field.includes("text") ? d.text : d.subject;

/** A choice needs choices before it is valid. */
const declared = (name: string, type: ParameterEntry["type"]): ParameterEntry =>
	type === "select"
		? { ...newParameter(name, type), validation: { options: ["one", "two"] } }
		: newParameter(name, type);

/** fixesFor returns what joins code and schema again, for a problem of either. */
export function fixesFor(p: PreviewProblem, d: Draft, s: Schema, canHaveSlots: boolean): Fix[] {
	const use = (next: Schema): Partial<Draft> => withSchema(d, next);
	if (p.code === "UNRESOLVED_REFERENCE") {
		const r: Reference | undefined = referenceIn(p.message);
		if (!r) return [];
		switch (r.kind) {
			case "param":
				return typed(r.name).map((t) => ({
					label: words.declare({ name: r.name, type: typeNames[t] }),
					change: use({ ...s, parameters_schema: [...s.parameters_schema, declared(r.name, t)] }),
				}));
			case "section":
				return [
					{
						label: words.section({ name: r.name }),
						change: use({
							...s,
							sections_schema: [
								...s.sections_schema,
								{ name: r.name, label: null, help_text: null, required: false, min: 0, max: 200, item_schema: [] },
							],
						}),
					},
				];
			case "slot":
				if (!canHaveSlots) return [];
				return [
					{
						label: words.slot({ name: r.name }),
						change: use({
							...s,
							slots_schema: [
								...s.slots_schema,
								{
									name: r.name,
									label: null,
									help_text: null,
									required: false,
									tag_filter: [],
									allowed_strategies: ["fixed", "random", "empty"],
									default_strategy: "empty",
								},
							],
						}),
					},
				];
			case "item": {
				const section = sectionAt(bodyOf(d, p.field), p.line ?? 1, r.name);
				if (!s.sections_schema.some((x) => x.name === section)) return [];
				return typed(r.name).map((t) => ({
					label: words.declare({ name: r.name, type: typeNames[t] }),
					change: use({
						...s,
						sections_schema: s.sections_schema.map((x) =>
							x.name === section ? { ...x, item_schema: [...x.item_schema, declared(r.name, t)] } : x,
						),
					}),
				}));
			}
		}
	}
	if (p.code === "unused") {
		const at = /^(parameters|sections|slots)_schema\[(\d+)\](?:\.item_schema\[(\d+)\])?/.exec(p.field);
		if (!at) return [];
		const kind = at[1] as "parameters" | "sections" | "slots";
		const part = `${kind}_schema` as const;
		const index = Number(at[2]);
		const entry = s[part][index];
		if (!entry) return [];
		if (at[3] !== undefined && kind === "sections") {
			const item = Number(at[3]);
			const section = s.sections_schema[index];
			return section
				? [
						{
							label: words.remove({ name: section.item_schema[item]?.name ?? "" }),
							change: use({
								...s,
								sections_schema: s.sections_schema.map((x, i) =>
									i === index ? { ...x, item_schema: x.item_schema.filter((_, n) => n !== item) } : x,
								),
							}),
						},
					]
				: [];
		}
		const groups = s.groups_schema.map((g) => ({ ...g, [kind]: g[kind].filter((n) => n !== entry.name) }));
		return [
			{
				label: words.remove({ name: entry.name }),
				change: use({
					...s,
					[part]: (s[part] as { name: string }[]).filter((_, i) => i !== index),
					groups_schema: groups,
				}),
			},
		];
	}
	return [];
}
