import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { EventName } from "../../rules/EventName";
import { Button, IconButton } from "../../../ui/Button";
import { Picks } from "../../../ui/Combo";
import { NumberField, TextArea, TextField } from "../../../ui/Field";
import css from "../StepFields.module.css";
import { words } from "./words";
import { type Part, textOf, known } from "./props";
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
	onChange: (value: unknown) => void;
	texts?: boolean;
	error?: string;
}) {
	const [text, setText] = useState(
		value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2),
	);
	const [isInvalid, setIsInvalid] = useState(false);
	return (
		<TextArea
			code
			optional
			spellCheck={false}
			label={label}
			help={help}
			value={text}
			error={isInvalid ? words.notJSON : error}
			onChange={(value) => {
				setText(value);
				setIsInvalid(false);
				if (value.trim() === "") return onChange(undefined);
				try {
					const parsed = JSON.parse(value) as unknown;
					if (typeof parsed === "object" && parsed !== null) return onChange(parsed);
				} catch {
					// It may be a text.
				}
				if (texts) onChange(value);
				else setIsInvalid(true);
			}}
		/>
	);
}

/** Event edits the event that is recorded. */
export function Event({ config, set, problem }: Part) {
	return (
		<>
			<EventName
				leaf={{ event_name: textOf(config.event_name) }}
				set={(part) => set({ event_name: part.event_name ?? "" })}
				error={problem("event_name")}
			/>
			<JSONField
				label={words.properties}
				value={config.properties}
				onChange={(properties) => set({ properties })}
				error={problem("properties")}
			/>
		</>
	);
}

/** Webhook edits the request that is sent. */
export function Webhook({ config, set, problem }: Part) {
	const headers = Object.entries((config.headers ?? {}) as { [name: string]: string | null });
	const setHeaders = (list: [string, string | null][]) =>
		set({ headers: list.length > 0 ? Object.fromEntries(list) : undefined });
	return (
		<>
			<TextField
				label={words.url}
				path="url"
				type="url"
				help={words.urlHelp}
				value={textOf(config.url)}
				onChange={(value) => set({ url: value })}
				error={problem("url")}
			/>
			<fieldset className={css.group}>
				<legend>{words.headers}</legend>
				{headers.map(([name, value], i) => (
					<div key={i} className={css.line}>
						<TextField
							label={words.headerName}
							value={name}
							onChange={(n) => setHeaders(headers.map((header, j) => (j === i ? [n, value] : header)))}
							error={problem(`headers.${name}`)}
						/>
						<TextField
							label={words.headerValue}
							value={value ?? ""}
							placeholder={value === null ? words.headerStored : undefined}
							autoComplete="off"
							onChange={(value) => setHeaders(headers.map((header, j) => (j === i ? [name, value] : header)))}
						/>
						<IconButton
							label={name ? words.removeHeader({ name }) : words.removeUnnamed}
							icon={<X aria-hidden />}
							onClick={() => setHeaders(headers.filter((_, j) => j !== i))}
						/>
					</div>
				))}
				<div>
					<Button
						small
						icon={<Plus aria-hidden />}
						onClick={() =>
							setHeaders([
								...headers,
								[headers.some(([name]) => name === "") ? `X-Header-${headers.length + 1}` : "", ""],
							])
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
				value={config.body}
				onChange={(body) => set({ body })}
				error={problem("body")}
			/>
			<NumberField
				label={words.seconds}
				optional
				min={1}
				max={15}
				placeholder="10"
				value={config.timeout_s as number | undefined}
				onChange={(value) => set({ timeout_s: known(value) })}
				error={problem("timeout_s")}
			/>
		</>
	);
}

/** Notify edits the mail to members of the workspace. */
export function Notify({ config, set, problem }: Part) {
	const users = useQuery(membersQuery());
	const to = Array.isArray(config.to) ? (config.to as string[]) : [];
	return (
		<>
			<Picks
				label={words.people}
				options={(users.data?.data ?? []).map((member) => ({
					id: member.email,
					label: member.email,
					detail: member.name,
				}))}
				values={to}
				onChange={(value) => set({ to: value })}
				error={problem("to")}
			/>
			<TextField
				label={words.subject}
				value={textOf(config.subject)}
				onChange={(subject) => set({ subject })}
				error={problem("subject")}
			/>
			<TextArea
				label={words.text}
				rows={6}
				value={textOf(config.body)}
				onChange={(body) => set({ body })}
				error={problem("body")}
			/>
		</>
	);
}
