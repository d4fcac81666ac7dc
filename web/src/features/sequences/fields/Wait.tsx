import { EventName } from "../../rules/LeafEditor";
import { Properties } from "../../rules/Properties";
import type { PropertyFilter } from "../../rules/propertyFilters";
import { Combo } from "../../../ui/Combo";
import { Columns, Radios, Select, TextField } from "../../../ui/Field";
import { titleOf } from "../steps";
import { DateTime } from "../../../ui/DateTime";
import { words } from "./words";
import { type Part, textOf, choicesOf, optionsOf } from "./part";
import { Days, Span, DateField, Offset } from "./When";

/** Wait edits how long a contact waits, or for what. */
export function Wait(p: Part) {
	const { config: c, names, graph, set, problem } = p;
	const timeout = (
		<Span
			label={words.timeout}
			value={c.timeout as { amount: number; unit: string } | undefined}
			onChange={(t) => set({ timeout: t })}
			error={problem("timeout")}
		/>
	);
	switch (c.mode) {
		case "until_date":
			return <WaitDate {...p} />;
		case "until_time":
			return (
				<>
					<Days value={Array.isArray(c.days) ? (c.days as number[]) : []} onChange={(days) => set({ days })} />
					{problem("days") && <p role="alert">{problem("days")}</p>}
					<Columns>
						<TextField
							label={words.time}
							type="time"
							value={textOf(c.time)}
							onChange={(time) => set({ time })}
							error={problem("time")}
						/>
						<Select
							label={words.zone}
							value={textOf(c.timezone)}
							onChange={(timezone) => set({ timezone })}
							choices={choicesOf(words.zones)}
						/>
					</Columns>
				</>
			);
		case "until_event":
			return (
				<>
					<EventName
						leaf={{ event_name: textOf(c.event_name) }}
						set={(v) => set({ event_name: v.event_name ?? "" })}
						error={problem("event_name")}
					/>
					<Properties
						eventName={textOf(c.event_name)}
						filters={(c.filters as PropertyFilter[] | undefined) ?? []}
						onChange={(f) => set({ filters: f.length > 0 ? f : undefined })}
						errorOf={(i) => problem(`filters[${i}]`)}
					/>
					{timeout}
				</>
			);
		case "until_segment":
			return (
				<>
					<Combo
						label={words.segment}
						options={optionsOf(names.segments)}
						value={textOf(c.segment_key) || null}
						onChange={(k) => set({ segment_key: k ?? "" })}
						error={problem("segment_key")}
					/>
					<Radios
						label={words.state}
						row
						value={textOf(c.state)}
						onChange={(state) => set({ state })}
						choices={choicesOf(words.states)}
					/>
					{timeout}
				</>
			);
		case "until_engagement":
			return (
				<>
					<Select
						label={words.mailStep}
						value={textOf(c.node_id)}
						onChange={(node_id) => set({ node_id })}
						error={problem("node_id")}
						choices={[
							{ value: "", label: "–" },
							...(graph?.steps ?? [])
								.filter((s) => s.type === "send")
								.map((s) => ({ value: s.id, label: titleOf(s, names, graph) })),
						]}
					/>
					<Radios
						label={words.engagement}
						row
						value={textOf(c.event)}
						onChange={(event) => set({ event })}
						choices={choicesOf(words.engagements)}
					/>
					{timeout}
				</>
			);
		default:
			return (
				<Span
					label={words.amount}
					path="amount"
					value={c as { amount?: number; unit?: string }}
					onChange={(s) => set(s)}
					error={problem("amount") ?? problem("unit")}
				/>
			);
	}
}

function WaitDate({ config: c, names, set, problem }: Part) {
	const fixed = c.at !== undefined;
	return (
		<>
			<Radios
				label={words.date.label}
				value={fixed ? "at" : "field"}
				onChange={(v) =>
					set(
						v === "at"
							? {
									at: `${new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10)}T09:00:00Z`,
									field: undefined,
									offset: undefined,
									time: undefined,
								}
							: { at: undefined, field: "" },
					)
				}
				choices={[
					{ value: "field", label: words.date.field },
					{ value: "at", label: words.date.at },
				]}
			/>
			{fixed ? (
				<DateTime
					label={words.at}
					value={textOf(c.at) || null}
					onChange={(at) => at && set({ at })}
					error={problem("at")}
				/>
			) : (
				<>
					<DateField
						all
						names={names}
						value={textOf(c.field)}
						onChange={(field) => set({ field })}
						error={problem("field")}
					/>
					<Offset value={c.offset} onChange={(offset) => set({ offset })} />
					<TextField
						label={words.time}
						help={words.timeHelp}
						optional
						type="time"
						value={textOf(c.time)}
						onChange={(v) => set({ time: v || undefined })}
						error={problem("time")}
					/>
				</>
			)}
		</>
	);
}
