import type { Change } from "../../ui/editor/changeBetween";
import { changesBetween, moved } from "../../ui/editor/changesBetween";

/** Place is what is selected: where it begins in a text, whether its words are edited over the picture, and a number that stays while it is the same. */
export type Place = { text: string; at: number; edits: boolean; id: number };

/** follows returns where what is selected stands once its text has become another one. */
export function follows(place: Place, text: string): Place {
	return place.text === text ? place : { ...place, text, at: moved(place.at, changesBetween(place.text, text)) };
}

/** acted returns the place of what an act of its changes is about: the same one, if it was that. */
export function acted(place: Place | null, changes: Change[], text: string, at: number): Place {
	const same = place !== null && moved(place.at, changes) === at;
	return { text, at, edits: same && place.edits, id: same ? place.id : newId() };
}

let last = 0;

/** newId returns a number that nothing has been selected by. */
export const newId = () => ++last;
