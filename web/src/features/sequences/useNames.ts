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
		messages: new Map(messages.data?.data.map((message) => [message.id, message.name])),
		types: new Map(types.data?.data.map((emailType) => [emailType.type_key, emailType.display_name])),
		segments: new Map(segments.data?.data.map((segment) => [segment.segment_key, segment.name])),
		stages: new Map(stages.data?.data.map((stage) => [stage.id, stage.name])),
		sequences: new Map(sequences.data?.data.map((sequence) => [sequence.id, sequence.name])),
		forms: new Map(forms.data?.data.map((form) => [form.slug, form.name])),
		fields: useFields(),
	};
}
