import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Combo } from "../../ui/Combo";
import { catalogue } from "../../base/words/catalogue";
import type { EventMatch } from "./leaves";
import { eventNamesQuery } from "../activity/queries";

const words = catalogue("rules.eventName", { name: "Event" });

/** EventName chooses a custom event by its name. */
export function EventName({
	label = words.name,
	leaf,
	set,
	error,
	autoFocus,
}: {
	label?: string;
	leaf: EventMatch;
	set: (part: { event_name: string }) => void;
	error?: string;
	autoFocus?: boolean;
}) {
	const [search, setSearch] = useState("");
	const names = useQuery(eventNamesQuery(search));
	return (
		<Combo
			allowsCustomValue
			autoFocus={autoFocus}
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
