import { useCollection } from "../../../base/collections";
import { X } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../../../ui/Button";
import { Combo } from "../../../ui/Combo";
import { Radios, TextField } from "../../../ui/Field";
import type { Config } from "../graph";
import css from "../StepFields.module.css";
import { fieldWords } from "../steps";
import { words } from "./words";
import { type Part, textOf, choicesOf, optionsOf } from "./part";

/** ListChange edits which list a contact joins or leaves. */
export function ListChange({ config: c, names, set, problem }: Part) {
	const segments = useCollection("segments");
	const lists = (segments.data?.data ?? [])
		.filter((s) => s.type === "static")
		.map((s) => ({ id: s.segment_key, label: names.segments.get(s.segment_key) ?? s.name }));
	return (
		<>
			<Radios
				label={words.action}
				row
				value={textOf(c.action)}
				onChange={(action) => set({ action })}
				choices={choicesOf(words.listActions)}
			/>
			<Combo
				label={words.list}
				path="segment_key"
				options={lists}
				value={textOf(c.segment_key) || null}
				onChange={(k) => set({ segment_key: k ?? "" })}
				error={problem("segment_key")}
			/>
		</>
	);
}

/** Tags edits which tags are added or removed. */
export function Tags({ config: c, set, problem }: Part) {
	const list = Array.isArray(c.tags) ? (c.tags as string[]) : [];
	const [text, setText] = useState(list.join(", "));
	return (
		<>
			<Radios
				label={words.action}
				row
				value={textOf(c.action)}
				onChange={(action) => set({ action })}
				choices={choicesOf(words.tagActions)}
			/>
			<TextField
				label={words.tags}
				path="tags"
				help={words.tagsHelp}
				value={text}
				onChange={(v) => {
					setText(v);
					set({
						tags: v
							.split(",")
							.map((t) => t.trim())
							.filter(Boolean),
					});
				}}
				error={problem("tags")}
			/>
		</>
	);
}

/** Fields edits which fields of a contact change. */
export function Fields({ config: c, names, set, problem }: Part) {
	const own = (c.custom_fields ?? {}) as Config;
	const standard = (c.fields ?? {}) as Config;
	const all = [...Object.keys(standard), ...Object.keys(own).map((k) => `custom_fields.${k}`)];
	const put = (field: string, value: unknown) => {
		const custom = field.startsWith("custom_fields.");
		const name = field.replace("custom_fields.", "");
		const next = { ...(custom ? own : standard) };
		if (value === undefined) delete next[name];
		else next[name] = value;
		const left = Object.keys(next).length > 0 ? next : undefined;
		set(custom ? { custom_fields: left } : { fields: left ?? (Object.keys(own).length > 0 ? undefined : {}) });
	};
	const texts = [
		"first_name",
		"last_name",
		"company",
		"title",
		"phone",
		"website",
		"city",
		"state",
		"postal_code",
		"country",
		"timezone",
	];
	const options = names.fields
		.filter((f) => (texts.includes(f.field) || f.field.startsWith("custom_fields.")) && !all.includes(f.field))
		.map((f) => ({ id: f.field, label: f.name, detail: f.group }));
	const parse = (field: string, text: string): unknown => {
		const kind = names.fields.find((f) => f.field === field)?.kind;
		if (kind === "number" && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
		if (kind === "boolean" && (text === "true" || text === "false")) return text === "true";
		return text;
	};
	return (
		<>
			{all.map((f) => {
				const value = f.startsWith("custom_fields.") ? own[f.replace("custom_fields.", "")] : standard[f];
				return (
					<div key={f} className={css.line}>
						<TextField
							label={words.value({ field: fieldWords(names, f) })}
							value={Array.isArray(value) ? value.join(", ") : String(value ?? "")}
							help={words.valueHelp}
							onChange={(v) => put(f, parse(f, v))}
							error={problem(f.startsWith("custom_fields.") ? f : `fields.${f}`)}
						/>
						<IconButton
							label={words.removeField({ field: fieldWords(names, f) })}
							icon={<X aria-hidden />}
							onClick={() => put(f, undefined)}
						/>
					</div>
				);
			})}
			<Combo
				key={all.join()}
				label={words.addField}
				options={options}
				value={null}
				onChange={(f) => f && put(f, "")}
				error={all.length === 0 ? problem("fields") : undefined}
			/>
		</>
	);
}

/** Subscription edits which email type a contact is subscribed to. */
export function Subscription({ config: c, names, set, problem }: Part) {
	return (
		<>
			<Radios
				label={words.action}
				value={textOf(c.action)}
				onChange={(action) => set({ action })}
				choices={choicesOf(words.subscriptions)}
			/>
			<Combo
				label={words.type}
				help={c.action === "subscribe" ? words.subscribeHelp : undefined}
				options={optionsOf(names.types)}
				value={textOf(c.email_type_key) || null}
				onChange={(k) => set({ email_type_key: k ?? "" })}
				error={problem("email_type_key")}
			/>
		</>
	);
}
