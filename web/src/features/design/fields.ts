import type { FocusEvent } from "react";

type Field = HTMLInputElement | HTMLTextAreaElement;

const isField = (target: EventTarget): target is Field =>
	target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;

/**
 * ownTyping tells whether a field has typing of its own, which its own undo takes back: a search, or what could not be
 * applied. What was applied is a step of the history of the mail instead.
 */
export function ownTyping() {
	let field: Field | null = null;
	let value = ""; // what it had when it got the focus, or when it was applied last
	return {
		onFocus({ target }: FocusEvent) {
			field = isField(target) ? target : null;
			value = field?.value ?? "";
		},
		/** What was typed last has become an act. */
		taken() {
			value = field?.value ?? "";
		},
		isIn: (target: EventTarget) => target === field && field.value !== value,
	};
}
