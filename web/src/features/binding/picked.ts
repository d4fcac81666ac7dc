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
		.filter((slot) => (objectAt(given, slot.name).strategy ?? slot.default_strategy) === "random")
		.map((slot) => slot.name);
	// Which block is picked depends on the pool, and on values that a block needs.
	const requestKey = JSON.stringify({
		slots: Object.fromEntries(random.map((name) => [name, { strategy: "random", ...objectAt(given, name) }])),
	});
	const query = useQuery({ ...pickedQuery(template, record, requestKey), enabled: random.length > 0 });
	return Object.fromEntries(random.map((name) => [name, query.data?.slots[name]?.block_name ?? null]));
}
