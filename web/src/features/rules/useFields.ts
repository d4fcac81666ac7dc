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
