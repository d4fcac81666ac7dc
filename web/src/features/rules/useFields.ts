import { useMemo } from "react";
import { useCollection } from "../../base/collections";
import { type FieldInfo, fieldsOf, ruleFieldsOf } from "./fields";

/** useFields returns the fields of the workspace's contacts: those that all have, and its own. */
export function useFields(): FieldInfo[] {
	const custom = useCollection("custom_fields");
	const stages = useCollection("stages");
	const segments = useCollection("segments");
	return useMemo(
		() => fieldsOf(custom.data?.data ?? [], stages.data?.data ?? [], segments.data?.data ?? []),
		[custom.data, stages.data, segments.data],
	);
}

/** fieldAt returns the field of contacts that a path in a mail names. */
export function fieldAt(fields: FieldInfo[], path: string): FieldInfo | undefined {
	const name = path.replace(/^contact\./, "");
	return fields.find(({ field }) => field === name || field === `custom_fields.${name}`);
}

/** useNamesOfPaths returns what a path in a mail is called: as the field of contacts that it names, else as it is written. */
export function useNamesOfPaths(): (path: string) => string {
	const fields = useFields();
	return (path) => fieldAt(fields, path)?.name ?? path;
}

/** useRuleFields returns all that filters and rules can ask about, group by group. */
export function useRuleFields(): FieldInfo[] {
	const contactFields = useFields();
	const types = useCollection("email_types");
	const categories = useCollection("email_categories");
	return useMemo(
		() => ruleFieldsOf(contactFields, types.data?.data ?? [], categories.data?.data ?? []),
		[contactFields, types.data, categories.data],
	);
}
