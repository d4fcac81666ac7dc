import { nameOf } from "../../base/words/codes";
import type { FieldInfo } from "./fields";

/** choiceName returns the name of one of the values that a field can have; what has no name is its own. */
export const choiceName = (field: Pick<FieldInfo, "choices" | "codes"> | undefined, value: string) =>
	field?.choices?.find((choice) => choice.value === value)?.label ??
	(field?.codes ? nameOf(field.codes, value) : value);
