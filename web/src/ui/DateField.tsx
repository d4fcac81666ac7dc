import { Module } from "../base/lazy";
import type { DateProps } from "./aria/Dates";
import { FieldPlaceholder } from "./FieldPlaceholder";

const dates = new Module(() => import("./aria/Dates"));

/** isDate reports whether a type of field is one of dates and times. */
export const isDate = (type: string | undefined): type is DateProps["type"] =>
	type === "date" || type === "time" || type === "datetime-local";

/** DateField is a field of a date, a time or both. */
export function DateField(props: DateProps) {
	const loaded = dates.useLoaded();
	return loaded ? <loaded.DateField {...props} /> : <FieldPlaceholder {...props} />;
}
