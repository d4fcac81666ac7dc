import { useQuery } from "@tanstack/react-query";
import type { BroadcastSessionView } from "../../api/schema";
import { useDebounced } from "../../ui/useDebounced";
import { catalogue } from "../../base/words/catalogue";
import { forecastQuery } from "./queries";

const reasons = catalogue("broadcasts.forecast", {
	pending: "not confirmed yet",
	not_active: "no longer active",
	do_not_contact: "do not contact",
	suppressed_address: "on the suppression list",
	unsubscribed_category: "unsubscribed from its category",
	unsubscribed_type: "unsubscribed from this type",
	invalid_email: "with an unusable address",
});

/** reasonName says why people of an audience get no mail. */
export const reasonName = (reason: string) =>
	(reasons as { [key: string]: string })[reason] ?? reason.replaceAll("_", " ");

/** useForecast asks who would get a draft, from whom and when, by the code that sends. */
export function useForecast(broadcast: BroadcastSessionView | undefined, enabled = true) {
	const version = broadcast?.updated_at ?? "";
	const debounced = useDebounced(version, 400);
	return useQuery({
		...forecastQuery(broadcast?.id ?? "", debounced),
		enabled: enabled && broadcast !== undefined && broadcast.include_segment_keys.length > 0,
	});
}

export type Forecast = ReturnType<typeof useForecast>;
