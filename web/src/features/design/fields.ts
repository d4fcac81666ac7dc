import type { FocusEvent, FormEvent } from "react";

type Field = HTMLInputElement | HTMLTextAreaElement;

const isField = (target: EventTarget): target is Field =>
	target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;

/**
 * ownTyping tells whether a field has typing of its own, which its own undo takes back: a search, or what could not be
 * applied. What was applied is a step of the history of the mail instead.
 */
export function ownTyping() {
	let field: Field | null = null;
	let value = ""; // what it had when it got the focus, or when typing was applied last
	let isTyped = false;
	const taken = () => {
		value = field?.value ?? "";
		isTyped = false;
	};
	return {
		onFocus({ target }: FocusEvent) {
			field = isField(target) ? target : null;
			taken();
		},
		/** It comes before what the field does about it. */
		onInput({ target }: FormEvent) {
			isTyped = target === field;
		},
		/** What was typed has become an act. */
		taken,
		isIn: (target: EventTarget) => isTyped && target === field && field.value !== value,
	};
}
