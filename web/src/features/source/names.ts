import { useMemo } from "react";
import type { Name } from "../../ui/Code";
import { useFields } from "../rules/useFields";
import type { Schema } from "./draft";
import { namesOf } from "./namesOf";

/** useNames returns what code may name: what is declared beside it, and the fields of contacts. */
export function useNames(schema?: Schema): Name[] {
	const fields = useFields();
	return useMemo(() => namesOf(schema, fields), [schema, fields]);
}
