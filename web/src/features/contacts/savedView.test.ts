import { equals, type Tests } from "../../base/testing";
import { isSavedView, type View } from "./savedView";

const view: View = {
	search: "",
	filters: [{ field: "created_at", operator: "in_the_last", value: { amount: 3, unit: "day" } }],
	sort: "email",
	dir: "asc",
	columns: ["company", "tags"],
};

const saved = { ...view, dir: "asc" as const, search: null as string | null };

const tests: Tests = {
	"a view is that of a saved filter, whatever the order of names in it"() {
		equals(isSavedView(view, saved), true);
		const reordered = [{ value: { unit: "day", amount: 3 }, operator: "in_the_last", field: "created_at" }];
		equals(isSavedView(view, { ...saved, filters: reordered }), true);
	},
	"any difference makes it another"() {
		const other: Partial<View>[] = [
			{ search: "ann" },
			{ filters: [] },
			{ filters: [...view.filters, ...view.filters] },
			{ filters: [{ field: "created_at", operator: "in_the_last", value: { amount: 4, unit: "day" } }] },
			{ sort: "created_at" },
			{ dir: "desc" },
			{ columns: ["tags", "company"] },
			{ columns: [] },
		];
		for (const parts of other) equals(isSavedView({ ...view, ...parts }, saved), false, JSON.stringify(parts));
	},
	"a filter that was saved without columns leaves them as they are"() {
		for (const columns of [[], ["company"], ["tags", "stage"]])
			equals(isSavedView({ ...view, columns }, { ...saved, columns: [] }), true, String(columns));
	},
};

export default tests;
