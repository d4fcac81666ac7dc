import { useQuery } from "@tanstack/react-query";
import { objectAt } from "./binding";
import { pickedQuery } from "./queries";

/** usePicked asks which blocks the random slots of a binding get, in a broadcast or a library entry. */
export function usePicked(
	template: string,
	record: string | undefined,
	value: unknown,
	slots: { name: string; default_strategy: string }[],
) {
	const given = objectAt(value, "slots");
	const random = slots
		.filter((s) => (objectAt(given, s.name).strategy ?? s.default_strategy) === "random")
		.map((s) => s.name);
	// Which block is picked depends on the pool, and on values that a block needs.
	const asked = JSON.stringify({
		slots: Object.fromEntries(random.map((n) => [n, { strategy: "random", ...objectAt(given, n) }])),
	});
	const found = useQuery({ ...pickedQuery(template, record, asked), enabled: random.length > 0 });
	return Object.fromEntries(random.map((n) => [n, found.data?.slots[n]?.block_name ?? null]));
}
