import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api } from "../../api/client";
import { useKey } from "../../base/session";
import { objectAt } from "./binding";

/** usePicked asks which blocks the random slots of a binding get, in a broadcast or a library entry. */
export function usePicked(
	template: string,
	record: string | undefined,
	value: unknown,
	slots: { name: string; default_strategy: string }[],
) {
	const key = useKey();
	const given = objectAt(value, "slots");
	const random = slots
		.filter((s) => (objectAt(given, s.name).strategy ?? s.default_strategy) === "random")
		.map((s) => s.name);
	// Which block is picked depends on the pool, and on values that a block needs.
	const asked = JSON.stringify({
		slots: Object.fromEntries(random.map((n) => [n, { strategy: "random", ...objectAt(given, n) }])),
	});
	const found = useQuery({
		queryKey: key("template", template, "picked", record, asked),
		enabled: random.length > 0,
		staleTime: 30_000,
		retry: false,
		placeholderData: keepPreviousData,
		queryFn: ({ signal }) =>
			api("POST /templates/{id}/render", {
				path: { id: template },
				body: { template_binding: JSON.parse(asked) as unknown, lenient: true, record_id: record },
				signal,
			}),
	});
	return Object.fromEntries(random.map((n) => [n, found.data?.slots[n]?.block_name ?? null]));
}
