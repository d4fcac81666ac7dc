import { EventName } from "../../rules/EventName";
import { Properties } from "../../rules/Properties";
import type { PropertyFilter } from "../../rules/propertyFilters";
import { Combo } from "../../../ui/Combo";
import { Columns, Radios, Select, TextField } from "../../../ui/Field";
import { titleOf } from "../steps";
import { DateTime } from "../../../ui/DateTime";
import { words } from "./words";
import { type Part, textOf, choicesOf, optionsOf } from "./props";
import { Days, Span, DateField, Offset } from "./When";

/** Wait edits how long a contact waits, or for what. */
export function Wait(part: Part) {
	const { config, names, graph, set, problem } = part;
	const timeout = (
		<Span
			label={words.timeout}
			value={config.timeout as { amount: number; unit: string } | undefined}
			onChange={(value) => set({ timeout: value })}
			error={problem("timeout")}
		/>
	);
	switch (config.mode) {
		case "until_date":
			return <WaitDate {...part} />;
		case "until_time":
			return (
				<>
					<Days
						value={Array.isArray(config.days) ? (config.days as number[]) : []}
						onChange={(days) => set({ days })}
					/>
					{problem("days") && <p role="alert">{problem("days")}</p>}
					<Columns>
						<TextField
							label={words.time}
							type="time"
							value={textOf(config.time)}
							onChange={(time) => set({ time })}
							error={problem("time")}
						/>
						<Select
							label={words.zone}
							value={textOf(config.timezone)}
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
						leaf={{ event_name: textOf(config.event_name) }}
						set={(part) => set({ event_name: part.event_name ?? "" })}
						error={problem("event_name")}
					/>
					<Properties
						eventName={textOf(config.event_name)}
						filters={(config.filters as PropertyFilter[] | undefined) ?? []}
						onChange={(value) => set({ filters: value.length > 0 ? value : undefined })}
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
						value={textOf(config.segment_key) || null}
						onChange={(value) => set({ segment_key: value ?? "" })}
						error={problem("segment_key")}
					/>
					<Radios
						label={words.state}
						row
						value={textOf(config.state)}
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
						value={textOf(config.node_id)}
						onChange={(node_id) => set({ node_id })}
						error={problem("node_id")}
						choices={[
							{ value: "", label: "–" },
							...(graph?.steps ?? [])
								.filter((step) => step.type === "send")
								.map((step) => ({ value: step.id, label: titleOf(step, names, graph) })),
						]}
					/>
					<Radios
						label={words.engagement}
						row
						value={textOf(config.event)}
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
					value={config as { amount?: number; unit?: string }}
					onChange={(value) => set(value)}
					error={problem("amount") ?? problem("unit")}
				/>
			);
	}
}

function WaitDate({ config, names, set, problem }: Part) {
	const fixed = config.at !== undefined;
	return (
		<>
			<Radios
				label={words.date.label}
				value={fixed ? "at" : "field"}
				onChange={(value) =>
					set(
						value === "at"
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
					value={textOf(config.at) || null}
					onChange={(date) => date && set({ at: date })}
					error={problem("at")}
				/>
			) : (
				<>
					<DateField
						all
						names={names}
						value={textOf(config.field)}
						onChange={(field) => set({ field })}
						error={problem("field")}
					/>
					<Offset value={config.offset} onChange={(offset) => set({ offset })} />
					<TextField
						label={words.time}
						help={words.timeHelp}
						optional
						type="time"
						value={textOf(config.time)}
						onChange={(value) => set({ time: value || undefined })}
						error={problem("time")}
					/>
				</>
			)}
		</>
	);
}
