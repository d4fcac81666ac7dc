import type { BindingOptions, Issue, ParameterEntry, PreviewProblem, SectionEntry, SlotOption } from "../../api/schema";

// A binding is the values that fill a template: parameters, rows of sections, and what fills slots. It is
// kept as it was typed, wrong values and unknown names included, until somebody changes them.

export type Fields = { [name: string]: unknown };
export type Binding = { [part: string]: unknown };

const isObject = (value: unknown): value is Fields =>
	typeof value === "object" && value !== null && !Array.isArray(value);

/** objectAt returns a member that is an object; an empty one if it is absent or something else. */
export const objectAt = (parent: unknown, name: string): Fields => {
	const value = isObject(parent) ? parent[name] : undefined;
	return isObject(value) ? value : {};
};

/** rowsAt returns the rows of a section; rows that are not objects are shown as empty ones. */
export const rowsAt = (parent: unknown, name: string): Fields[] => {
	const value = isObject(parent) ? parent[name] : undefined;
	return Array.isArray(value) ? value.map((row) => (isObject(row) ? row : {})) : [];
};

/** isBinding reports whether a form can show a binding: its parts are objects, and its sections arrays. */
export function isBinding(binding: unknown): binding is Binding {
	if (!isObject(binding)) return false;
	const parts = ["parameters", "sections", "slots"].map((part) => binding[part]);
	if (!parts.every((part) => part === undefined || part === null || isObject(part))) return false;
	return Object.values(objectAt(binding, "sections")).every((rows) => Array.isArray(rows) && rows.every(isObject));
}

/** withMember returns an object with one member replaced; undefined removes it. */
export function withMember(parent: unknown, name: string, value: unknown): Fields {
	const { [name]: _, ...rest } = isObject(parent) ? parent : {};
	if (value === undefined) return rest;
	return isObject(parent) && name in parent
		? Object.fromEntries(Object.entries(parent).map(([key, member]) => [key, key === name ? value : member]))
		: { ...rest, [name]: value };
}

/** nameOf returns the label of an entry, or words made of its name. */
export const nameOf = (entry: { label: string | null; name: string }) => entry.label || words(entry.name);

/** words makes words of a name: hero_image becomes "Hero image". */
export function words(name: string): string {
	const text = name.replaceAll("_", " ").trim();
	return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Scope is what can be filled: a template, or a block in a slot. */
export type Scope = { parameters_schema: ParameterEntry[]; sections_schema: SectionEntry[] };

/** templateOptions are the choices of a template: all, or the chosen one until they are loaded. */
export const templateOptions = (
	all: { slug: string; name: string; format: string }[] | undefined,
	selected: BindingOptions | undefined,
) =>
	all
		? all.map((template) => ({ id: template.slug, label: template.name, detail: template.format.toUpperCase() }))
		: selected
			? [{ id: selected.slug, label: selected.name }]
			: [];

/** issuesOf returns the problems of values in a preview, by their paths in them. */
export const issuesOf = (problems: PreviewProblem[], prefix: string): Issue[] =>
	problems
		.filter((problem) => problem.field.startsWith(prefix) && problem.code === problem.code.toLowerCase())
		.map((problem) => ({
			path: problem.field.slice(prefix.length),
			code: problem.code,
			message: problem.message,
			fix: problem.fix ?? "",
		}));

const unknownCodes = ["unknown_param", "unknown_section", "unknown_slot"];

/** isUnknown reports whether an issue is a name that the template does not declare. */
export const isUnknown = (issue: Issue) => unknownCodes.includes(issue.code);

/** withoutUnknown returns a binding without the names that issues call unknown. */
export function withoutUnknown(binding: Binding, issues: Issue[]): Binding {
	const paths = new Set(issues.filter(isUnknown).map((issue) => issue.path));
	const prune = (value: unknown, path: string): unknown => {
		if (Array.isArray(value)) return value.map((item, i) => prune(item, `${path}[${i}]`));
		if (!isObject(value)) return value;
		const members: Fields = {};
		for (const [name, member] of Object.entries(value)) {
			const fieldPath = path ? `${path}.${name}` : name;
			if (!paths.has(fieldPath)) members[name] = prune(member, fieldPath);
		}
		return members;
	};
	return prune(binding, "") as Binding;
}

/** Item is one thing to fill, in the order of the form. */
export type Item =
	| { kind: "parameters"; entry: ParameterEntry }
	| { kind: "sections"; entry: SectionEntry }
	| { kind: "slots"; entry: SlotOption };
export type Group = { name: string; label: string | null; help: string | null; collapsed: boolean; items: Item[] };

/** groupsOf returns the groups of a form in order; what is in no group comes last, in one without a name. */
export function groupsOf(options: BindingOptions): Group[] {
	const parameters = new Map(
		options.parameters_schema.map((entry) => [entry.name, { kind: "parameters", entry } as Item]),
	);
	const sections = new Map(options.sections_schema.map((entry) => [entry.name, { kind: "sections", entry } as Item]));
	const slots = new Map(options.slots_schema.map((entry) => [entry.name, { kind: "slots", entry } as Item]));
	const itemsOf = (from: Map<string, Item>, names: string[]) =>
		names.flatMap((name) => {
			const item = from.get(name);
			from.delete(name);
			return item ? [item] : [];
		});
	const groups = options.groups_schema.map(
		(group): Group => ({
			name: group.name,
			label: nameOf(group),
			help: group.help_text,
			collapsed: group.collapsed,
			items: [
				...itemsOf(parameters, group.parameters),
				...itemsOf(sections, group.sections),
				...itemsOf(slots, group.slots),
			],
		}),
	);
	const rest = [...parameters.values(), ...sections.values(), ...slots.values()];
	return rest.length > 0 ? [...groups, { name: "", label: null, help: null, collapsed: false, items: rest }] : groups;
}

/** textOf shows a value of any type in a field of text. */
export function textOf(value: unknown): string {
	if (value === undefined || value === null) return "";
	return typeof value === "string"
		? value
		: typeof value === "number" || typeof value === "boolean"
			? String(value)
			: JSON.stringify(value);
}

/** fromText returns the value of a parameter for a text, such as a cell of a spreadsheet; undefined for none. */
export function fromText(parameter: ParameterEntry, text: string): unknown {
	const t = text.trim();
	if (t === "") return undefined;
	switch (parameter.type) {
		case "number": {
			const n = Number(t);
			return Number.isFinite(n) ? n : t;
		}
		case "boolean":
			if (/^(true|yes|y|1|x)$/i.test(t)) return true;
			return /^(false|no|n|0)$/i.test(t) ? false : t;
		case "list":
			return t.split(/\s*[;\n]\s*/).filter(Boolean);
		case "select": {
			const match = optionsOf(parameter).find(
				(option) => option.value === t || option.label.toLowerCase() === t.toLowerCase(),
			);
			return match?.value ?? t;
		}
		default:
			return t;
	}
}

/** optionsOf returns the choices of a select. */
export function optionsOf(parameter: ParameterEntry): { value: string; label: string }[] {
	const list = Array.isArray(parameter.validation.options) ? (parameter.validation.options as unknown[]) : [];
	return list.map((option) =>
		isObject(option)
			? { value: textOf(option.value), label: textOf(option.label ?? option.value) }
			: { value: textOf(option), label: textOf(option) },
	);
}
