import { useCollection } from "../../base/collections";
import type { FieldInfo } from "./fields";
import { type Kind, kindOf, type Leaf } from "./leaves";
import type { Known } from "./sentences";

const namesOf = <R>(rows: R[] | undefined, name: (row: R) => [key: string, name: string]) =>
	rows && new Map(rows.map(name));

/** useKnown reads the names of what a condition refers to. */
export function useKnown(leaf: Leaf, fields: FieldInfo[]): Known {
	const kind = kindOf(leaf);
	const when = (...kinds: Kind[]) => ({ enabled: kinds.includes(kind) });
	const segments = useCollection("segments", when("list", "segment"));
	const types = useCollection("email_types", when("email", "subscription"));
	const categories = useCollection("email_categories", when("subscription"));
	const broadcasts = useCollection("broadcasts", when("broadcast"));
	const sequences = useCollection("sequences", when("sequence", "sequence_email"));
	const forms = useCollection("forms", when("form"));
	return {
		fields,
		segments: namesOf(segments.data?.data, (row) => [row.segment_key, row.name]),
		types: namesOf(types.data?.data, (row) => [row.type_key, row.display_name]),
		categories: namesOf(categories.data?.data, (row) => [row.id, row.name]),
		broadcasts: namesOf(broadcasts.data?.data, (row) => [row.id, row.name]),
		sequences: namesOf(sequences.data?.data, (row) => [row.id, row.name]),
		forms: namesOf(forms.data?.data, (row) => [row.slug, row.name]),
	};
}
