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
	const asked = JSON.stringify({
		slots: Object.fromEntries(random.map((name) => [name, { strategy: "random", ...objectAt(given, name) }])),
	});
	const found = useQuery({ ...pickedQuery(template, record, asked), enabled: random.length > 0 });
	return Object.fromEntries(random.map((name) => [name, found.data?.slots[name]?.block_name ?? null]));
}
