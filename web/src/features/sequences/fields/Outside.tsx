import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { EventName } from "../../rules/LeafEditor";
import { Button, IconButton } from "../../../ui/Button";
import { Picks } from "../../../ui/Combo";
import { NumberField, TextArea, TextField } from "../../../ui/Field";
import css from "../StepFields.module.css";
import { words } from "./words";
import { type Part, textOf, known } from "./part";
import { membersQuery } from "../../settings/queries";

/** JSONField edits a value as JSON; what is none is kept as it was typed. */
function JSONField({
	label,
	help,
	value,
	onChange,
	texts,
	error,
}: {
	label: string;
	help?: string;
	value: unknown;
	onChange: (v: unknown) => void;
	texts?: boolean;
	error?: string;
}) {
	const [text, setText] = useState(
		value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2),
	);
	const [bad, setBad] = useState(false);
	return (
		<TextArea
			code
			optional
			spellCheck={false}
			label={label}
			help={help}
			value={text}
			error={bad ? words.notJSON : error}
			onChange={(t) => {
				setText(t);
				setBad(false);
				if (t.trim() === "") return onChange(undefined);
				try {
					const v = JSON.parse(t) as unknown;
					if (typeof v === "object" && v !== null) return onChange(v);
				} catch {
					// It may be a text.
				}
				if (texts) onChange(t);
				else setBad(true);
			}}
		/>
	);
}

/** Event edits the event that is recorded. */
export function Event({ config: c, set, problem }: Part) {
	return (
		<>
			<EventName
				leaf={{ event_name: textOf(c.event_name) }}
				set={(v) => set({ event_name: v.event_name ?? "" })}
				error={problem("event_name")}
			/>
			<JSONField
				label={words.properties}
				value={c.properties}
				onChange={(properties) => set({ properties })}
				error={problem("properties")}
			/>
		</>
	);
}

/** Webhook edits the request that is sent. */
export function Webhook({ config: c, set, problem }: Part) {
	const headers = Object.entries((c.headers ?? {}) as { [name: string]: string | null });
	const put = (list: [string, string | null][]) =>
		set({ headers: list.length > 0 ? Object.fromEntries(list) : undefined });
	return (
		<>
			<TextField
				label={words.url}
				path="url"
				type="url"
				help={words.urlHelp}
				value={textOf(c.url)}
				onChange={(v) => set({ url: v })}
				error={problem("url")}
			/>
			<fieldset className={css.group}>
				<legend>{words.headers}</legend>
				{headers.map(([name, value], i) => (
					<div key={i} className={css.line}>
						<TextField
							label={words.headerName}
							value={name}
							onChange={(n) => put(headers.map((h, j) => (j === i ? [n, value] : h)))}
							error={problem(`headers.${name}`)}
						/>
						<TextField
							label={words.headerValue}
							value={value ?? ""}
							placeholder={value === null ? words.headerStored : undefined}
							autoComplete="off"
							onChange={(v) => put(headers.map((h, j) => (j === i ? [name, v] : h)))}
						/>
						<IconButton
							label={name ? words.removeHeader({ name }) : words.removeUnnamed}
							icon={<X aria-hidden />}
							onClick={() => put(headers.filter((_, j) => j !== i))}
						/>
					</div>
				))}
				<div>
					<Button
						small
						icon={<Plus aria-hidden />}
						onClick={() =>
							put([...headers, [headers.some(([n]) => n === "") ? `X-Header-${headers.length + 1}` : "", ""]])
						}
					>
						{words.addHeader}
					</Button>
				</div>
			</fieldset>
			<JSONField
				texts
				label={words.body}
				help={words.bodyHelp}
				value={c.body}
				onChange={(body) => set({ body })}
				error={problem("body")}
			/>
			<NumberField
				label={words.seconds}
				optional
				min={1}
				max={15}
				placeholder="10"
				value={c.timeout_s as number | undefined}
				onChange={(n) => set({ timeout_s: known(n) })}
				error={problem("timeout_s")}
			/>
		</>
	);
}

/** Notify edits the mail to members of the workspace. */
export function Notify({ config: c, set, problem }: Part) {
	const users = useQuery(membersQuery());
	const to = Array.isArray(c.to) ? (c.to as string[]) : [];
	return (
		<>
			<Picks
				label={words.people}
				options={(users.data?.data ?? []).map((u) => ({ id: u.email, label: u.email, detail: u.name }))}
				values={to}
				onChange={(v) => set({ to: v })}
				error={problem("to")}
			/>
			<TextField
				label={words.subject}
				value={textOf(c.subject)}
				onChange={(subject) => set({ subject })}
				error={problem("subject")}
			/>
			<TextArea
				label={words.text}
				rows={6}
				value={textOf(c.body)}
				onChange={(body) => set({ body })}
				error={problem("body")}
			/>
		</>
	);
}
