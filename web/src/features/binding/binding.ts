import type { BindingOptions, Issue, ParameterEntry, PreviewProblem, SectionEntry, SlotOption } from "../../api/schema";

// A binding is the values that fill a template: parameters, rows of sections, and what fills slots. It is
// kept as it was typed, wrong values and unknown names included, until somebody changes them.

export type Fields = { [name: string]: unknown };
export type Binding = { [part: string]: unknown };

const isObject = (v: unknown): v is Fields => typeof v === "object" && v !== null && !Array.isArray(v);

/** objectAt returns a member that is an object; an empty one if it is absent or something else. */
export const objectAt = (of: unknown, name: string): Fields => {
	const v = isObject(of) ? of[name] : undefined;
	return isObject(v) ? v : {};
};

/** rowsAt returns the rows of a section; rows that are not objects are shown as empty ones. */
export const rowsAt = (of: unknown, name: string): Fields[] => {
	const v = isObject(of) ? of[name] : undefined;
	return Array.isArray(v) ? v.map((r) => (isObject(r) ? r : {})) : [];
};

/** formable reports whether a form can show a binding: its parts are objects, and its sections arrays. */
export function formable(binding: unknown): binding is Binding {
	if (!isObject(binding)) return false;
	const parts = ["parameters", "sections", "slots"].map((p) => binding[p]);
	if (!parts.every((p) => p === undefined || p === null || isObject(p))) return false;
	return Object.values(objectAt(binding, "sections")).every((rows) => Array.isArray(rows) && rows.every(isObject));
}

/** withMember returns an object with one member replaced; undefined removes it. */
export function withMember(of: unknown, name: string, value: unknown): Fields {
	const { [name]: _, ...rest } = isObject(of) ? of : {};
	if (value === undefined) return rest;
	return isObject(of) && name in of
		? Object.fromEntries(Object.entries(of).map(([k, v]) => [k, k === name ? value : v]))
		: { ...rest, [name]: value };
}

/** nameOf returns the label of an entry, or words made of its name. */
export const nameOf = (e: { label: string | null; name: string }) => e.label || words(e.name);

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
	chosen: BindingOptions | undefined,
) =>
	all
		? all.map((t) => ({ id: t.slug, label: t.name, detail: t.format.toUpperCase() }))
		: chosen
			? [{ id: chosen.slug, label: chosen.name }]
			: [];

/** issuesOf returns the problems of values in a preview, by their paths in them. */
export const issuesOf = (problems: PreviewProblem[], prefix: string): Issue[] =>
	problems
		.filter((p) => p.field.startsWith(prefix) && p.code === p.code.toLowerCase())
		.map((p) => ({ path: p.field.slice(prefix.length), code: p.code, message: p.message, fix: p.fix ?? "" }));

const unknownCodes = ["unknown_param", "unknown_section", "unknown_slot"];

/** isUnknown reports whether an issue is a name that the template does not declare. */
export const isUnknown = (i: Issue) => unknownCodes.includes(i.code);

/** withoutUnknown returns a binding without the names that issues call unknown. */
export function withoutUnknown(binding: Binding, issues: Issue[]): Binding {
	const paths = new Set(issues.filter(isUnknown).map((i) => i.path));
	const prune = (value: unknown, path: string): unknown => {
		if (Array.isArray(value)) return value.map((v, i) => prune(v, `${path}[${i}]`));
		if (!isObject(value)) return value;
		const kept: Fields = {};
		for (const [name, v] of Object.entries(value)) {
			const at = path ? `${path}.${name}` : name;
			if (!paths.has(at)) kept[name] = prune(v, at);
		}
		return kept;
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
export function groupsOf(o: BindingOptions): Group[] {
	const parameters = new Map(o.parameters_schema.map((entry) => [entry.name, { kind: "parameters", entry } as Item]));
	const sections = new Map(o.sections_schema.map((entry) => [entry.name, { kind: "sections", entry } as Item]));
	const slots = new Map(o.slots_schema.map((entry) => [entry.name, { kind: "slots", entry } as Item]));
	const take = (from: Map<string, Item>, names: string[]) =>
		names.flatMap((n) => {
			const item = from.get(n);
			from.delete(n);
			return item ? [item] : [];
		});
	const groups = o.groups_schema.map(
		(g): Group => ({
			name: g.name,
			label: nameOf(g),
			help: g.help_text,
			collapsed: g.collapsed,
			items: [...take(parameters, g.parameters), ...take(sections, g.sections), ...take(slots, g.slots)],
		}),
	);
	const rest = [...parameters.values(), ...sections.values(), ...slots.values()];
	return rest.length > 0 ? [...groups, { name: "", label: null, help: null, collapsed: false, items: rest }] : groups;
}

/** textOf shows a value of any type in a field of text. */
export function textOf(v: unknown): string {
	if (v === undefined || v === null) return "";
	return typeof v === "string" ? v : typeof v === "number" || typeof v === "boolean" ? String(v) : JSON.stringify(v);
}

/** fromText returns the value of a parameter for a text, such as a cell of a spreadsheet; undefined for none. */
export function fromText(p: ParameterEntry, text: string): unknown {
	const t = text.trim();
	if (t === "") return undefined;
	switch (p.type) {
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
			const found = optionsOf(p).find((o) => o.value === t || o.label.toLowerCase() === t.toLowerCase());
			return found?.value ?? t;
		}
		default:
			return t;
	}
}

/** optionsOf returns the choices of a select. */
export function optionsOf(p: ParameterEntry): { value: string; label: string }[] {
	const list = Array.isArray(p.validation.options) ? (p.validation.options as unknown[]) : [];
	return list.map((o) =>
		isObject(o)
			? { value: textOf(o.value), label: textOf(o.label ?? o.value) }
			: { value: textOf(o), label: textOf(o) },
	);
}
