import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Combo } from "../../ui/Combo";
import { catalogue } from "../../base/words/catalogue";
import css from "./Builder.module.css";
import { eventSequenceWords, unitsWithin } from "./eventSequence";
import { Duration, type ErrorOf, OperatorOf, type Part, When } from "./LeafParts";
import type { EventMatch } from "./leaves";
import { Properties } from "./Properties";
import { eventNamesQuery } from "../activity/queries";

const words = catalogue("rules.eventParts", {
	name: "Event",
	first: "First event",
	afterwards: "Afterwards",
	next: "Event that follows",
	within: "Within",
	windowOfFirst: "First event, when",
	running: "Contacts whose time is not over yet are not included.",
});

/** EventName chooses a custom event by its name. */
export function EventName({
	label = words.name,
	leaf,
	set,
	error,
}: {
	label?: string;
	leaf: EventMatch;
	set: (part: { event_name: string }) => void;
	error?: string;
}) {
	const [search, setSearch] = useState("");
	const names = useQuery(eventNamesQuery(search));
	return (
		<Combo
			allowsCustomValue
			label={label}
			options={(names.data?.data ?? []).map((suggestion) => ({
				id: suggestion.value,
				label: suggestion.value,
				detail: suggestion.count,
			}))}
			value={leaf.event_name || null}
			onSearch={setSearch}
			onChange={(value) => set({ event_name: value ?? "" })}
			error={error}
		/>
	);
}

/** EventSequence edits a condition on two events, in the order in which they happen. */
export function EventSequence({ leaf, set, errorOf }: Omit<Part, "error"> & { errorOf: ErrorOf }) {
	return (
		<>
			<OneEvent
				label={words.first}
				match={leaf.first ?? {}}
				onChange={(first) => set({ first })}
				errorOf={(part) => errorOf(`first${part}`)}
			/>
			<OperatorOf label={words.afterwards} kind="event_sequence" leaf={leaf} set={set} />
			<OneEvent
				label={words.next}
				match={leaf.then ?? {}}
				onChange={(then) => set({ then })}
				errorOf={(part) => errorOf(`then${part}`)}
			/>
			<Duration
				label={words.within}
				units={unitsWithin}
				value={leaf.within ?? { amount: 7, unit: "day" }}
				onChange={(within) => set({ within })}
				error={errorOf("within")}
			/>
			<When label={words.windowOfFirst} leaf={leaf} set={set} />
			<div className={css.sentence}>
				<p>{eventSequenceWords(leaf)}</p>
				{leaf.operator === "not_followed" && <p>{words.running}</p>}
			</div>
		</>
	);
}

type Match = { match: EventMatch; errorOf: ErrorOf };

/** OneEvent chooses a custom event by its name and by conditions on its properties. */
function OneEvent({
	label,
	match,
	onChange,
	errorOf,
}: Match & { label: string; onChange: (match: EventMatch) => void }) {
	return (
		<>
			<EventName
				label={label}
				leaf={match}
				set={({ event_name }) => onChange({ ...match, event_name })}
				error={errorOf(".event_name")}
			/>
			<EventFilters
				match={match}
				onChange={(filters) => onChange({ ...match, filters })}
				errorOf={(part) => errorOf(`.${part}`)}
			/>
		</>
	);
}

/** EventFilters edits conditions on the properties of an event. */
export function EventFilters({
	match,
	onChange,
	errorOf,
}: Match & { onChange: (filters: EventMatch["filters"]) => void }) {
	return (
		<div className={css.filters}>
			<Properties
				eventName={match.event_name}
				filters={match.filters ?? []}
				onChange={(filters) => onChange(filters.length > 0 ? filters : undefined)}
				errorOf={(i) => errorOf(`filters[${i}]`)}
			/>
		</div>
	);
}
