import type { Place } from "./model/places";
import { elementAround } from "./model/tree";
import type { Box, View } from "./picture";

/** Landing is a place, and the line or the area of the picture that stands for it. */
export type Landing = { place: Place; box: Box };

/** What has its children beside each other. */
const rows = new Set(["mj-section", "mj-group", "mj-navbar", "mj-social"]);

/** landings returns what of a picture stands for places; those of which nothing is shown have none. */
export function landings(places: Place[], view: View): Landing[] {
	return places.flatMap((place) => {
		const box = boxOf(place, view);
		return box ? [{ place, box }] : [];
	});
}

function boxOf({ parent, index }: Place, view: View): Box | null {
	const beside = rows.has(elementAround(parent)?.tag ?? "");
	const next = parent.children[index];
	const [box] = next ? view.boxesOf(next) : [];
	if (box) return beside ? { ...box, width: 0 } : { ...box, height: 0 };
	const previous = parent.children[index - 1];
	const last = previous && view.boxesOf(previous).at(-1);
	if (last)
		return beside ? { ...last, x: last.x + last.width, width: 0 } : { ...last, y: last.y + last.height, height: 0 };
	if (parent.children.length > 0 || parent.kind !== "element") return null;
	return view.boxesOf(parent)[0] ?? null;
}

/** nearest returns the landing that is nearest to a point; among equals the innermost one. */
export function nearest(all: Landing[], x: number, y: number): Landing | null {
	let found: Landing | null = null;
	let shortest = Number.POSITIVE_INFINITY;
	for (const landing of all) {
		const { box } = landing;
		const dx = Math.max(box.x - x, x - box.x - box.width, 0);
		const dy = Math.max(box.y - y, y - box.y - box.height, 0);
		const distance = dx * dx + dy * dy;
		if (distance <= shortest) [found, shortest] = [landing, distance];
	}
	return found;
}
