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
import { type Part, textOf, choicesOf, optionsOf } from "./props";

/** ListChange edits which list a contact joins or leaves. */
export function ListChange({ config, names, set, problem }: Part) {
	const segments = useCollection("segments");
	const lists = (segments.data?.data ?? [])
		.filter((segment) => segment.type === "static")
		.map((segment) => ({ id: segment.segment_key, label: names.segments.get(segment.segment_key) ?? segment.name }));
	return (
		<>
			<Radios
				label={words.action}
				row
				value={textOf(config.action)}
				onChange={(action) => set({ action })}
				choices={choicesOf(words.listActions)}
			/>
			<Combo
				label={words.list}
				path="segment_key"
				options={lists}
				value={textOf(config.segment_key) || null}
				onChange={(value) => set({ segment_key: value ?? "" })}
				error={problem("segment_key")}
			/>
		</>
	);
}

/** Tags edits which tags are added or removed. */
export function Tags({ config, set, problem }: Part) {
	const list = Array.isArray(config.tags) ? (config.tags as string[]) : [];
	const [text, setText] = useState(list.join(", "));
	return (
		<>
			<Radios
				label={words.action}
				row
				value={textOf(config.action)}
				onChange={(action) => set({ action })}
				choices={choicesOf(words.tagActions)}
			/>
			<TextField
				label={words.tags}
				path="tags"
				help={words.tagsHelp}
				value={text}
				onChange={(value) => {
					setText(value);
					set({
						tags: value
							.split(",")
							.map((text) => text.trim())
							.filter(Boolean),
					});
				}}
				error={problem("tags")}
			/>
		</>
	);
}

/** Fields edits which fields of a contact change. */
export function Fields({ config, names, set, problem }: Part) {
	const own = (config.custom_fields ?? {}) as Config;
	const standard = (config.fields ?? {}) as Config;
	const all = [...Object.keys(standard), ...Object.keys(own).map((key) => `custom_fields.${key}`)];
	const setField = (field: string, value: unknown) => {
		const custom = field.startsWith("custom_fields.");
		const name = field.replace("custom_fields.", "");
		const next = { ...(custom ? own : standard) };
		if (value === undefined) delete next[name];
		else next[name] = value;
		const remaining = Object.keys(next).length > 0 ? next : undefined;
		set(
			custom ? { custom_fields: remaining } : { fields: remaining ?? (Object.keys(own).length > 0 ? undefined : {}) },
		);
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
		.filter(
			(field) =>
				(texts.includes(field.field) || field.field.startsWith("custom_fields.")) && !all.includes(field.field),
		)
		.map((field) => ({ id: field.field, label: field.name, detail: field.group }));
	const parse = (field: string, text: string): unknown => {
		const kind = names.fields.find((f) => f.field === field)?.kind;
		if (kind === "number" && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
		if (kind === "boolean" && (text === "true" || text === "false")) return text === "true";
		return text;
	};
	return (
		<>
			{all.map((field) => {
				const value = field.startsWith("custom_fields.") ? own[field.replace("custom_fields.", "")] : standard[field];
				return (
					<div key={field} className={css.line}>
						<TextField
							label={words.value({ field: fieldWords(names, field) })}
							value={Array.isArray(value) ? value.join(", ") : String(value ?? "")}
							help={words.valueHelp}
							onChange={(value) => setField(field, parse(field, value))}
							error={problem(field.startsWith("custom_fields.") ? field : `fields.${field}`)}
						/>
						<IconButton
							label={words.removeField({ field: fieldWords(names, field) })}
							icon={<X aria-hidden />}
							onClick={() => setField(field, undefined)}
						/>
					</div>
				);
			})}
			<Combo
				key={all.join()}
				label={words.addField}
				options={options}
				value={null}
				onChange={(value) => value && setField(value, "")}
				error={all.length === 0 ? problem("fields") : undefined}
			/>
		</>
	);
}

/** Subscription edits which email type a contact is subscribed to. */
export function Subscription({ config, names, set, problem }: Part) {
	return (
		<>
			<Radios
				label={words.action}
				value={textOf(config.action)}
				onChange={(action) => set({ action })}
				choices={choicesOf(words.subscriptions)}
			/>
			<Combo
				label={words.type}
				help={config.action === "subscribe" ? words.subscribeHelp : undefined}
				options={optionsOf(names.types)}
				value={textOf(config.email_type_key) || null}
				onChange={(value) => set({ email_type_key: value ?? "" })}
				error={problem("email_type_key")}
			/>
		</>
	);
}
