import { useCollection } from "../../base/collections";
import { useFields } from "../rules/useFields";
import type { Names } from "./steps";

/** useNames reads the names of records that steps refer to. */
export function useNames(): Names {
	const messages = useCollection("messages");
	const types = useCollection("email_types");
	const segments = useCollection("segments");
	const stages = useCollection("stages");
	const sequences = useCollection("sequences");
	const forms = useCollection("forms");
	return {
		messages: new Map(messages.data?.data.map((m) => [m.id, m.name])),
		types: new Map(types.data?.data.map((t) => [t.type_key, t.display_name])),
		segments: new Map(segments.data?.data.map((s) => [s.segment_key, s.name])),
		stages: new Map(stages.data?.data.map((s) => [s.id, s.name])),
		sequences: new Map(sequences.data?.data.map((s) => [s.id, s.name])),
		forms: new Map(forms.data?.data.map((f) => [f.slug, f.name])),
		fields: useFields(),
	};
}
