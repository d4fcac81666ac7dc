/** Place is at a line of a text, from 1, or at the position at which an element of it begins. */
export type Place = { at: number; position?: number };

const focusable = "input, select, textarea, button, a, [contenteditable]";

/** fieldAt returns the field with a path, or else one that it is inside of. */
export function fieldAt(root: ParentNode, path: string): HTMLElement | undefined {
	const fields = [...root.querySelectorAll<HTMLElement>("[data-path]")];
	const target =
		fields.find((field) => field.dataset.path === path) ??
		fields.find((field) => path.startsWith(field.dataset.path ?? " "));
	return target?.matches(focusable) ? target : (target?.querySelector<HTMLElement>(focusable) ?? target);
}

/** focusField puts the focus on a field, or on a place in its text, and scrolls to it; groups that are closed around it open. */
export function focusField(field: HTMLElement, place?: Place) {
	for (let group = field.closest("details"); group; group = group.parentElement?.closest("details") ?? null)
		group.open = true;
	field.focus({ preventScroll: true });
	field.scrollIntoView({
		block: "center",
		behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
	});
	if (place && field instanceof HTMLTextAreaElement) {
		const position = place.position ?? startOf(field.value, place.at);
		field.setSelectionRange(position, position);
		field.blur(); // only a field that gets the focus scrolls to its selection
		field.focus();
	}
}

/** startOf returns the position at which a line of a text begins. */
export const startOf = (text: string, line: number) =>
	text
		.split("\n")
		.slice(0, line - 1)
		.reduce((position, before) => position + before.length + 1, 0);
