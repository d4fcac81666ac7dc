import type { Config, Graph, StepType } from "../graph";
import type { Names } from "../steps";

export type Props = {
	type: StepType;
	config: Config;
	names: Names;
	/** The graph of the step; none for actions of automations. */
	graph?: Graph;
	onChange: (config: Config) => void;
	/** The problem of a field, by its path in the configuration. */
	problem: (path: string) => string | undefined;
};

/** Part is what the fields of one type of step get. */
export type Part = Omit<Props, "type"> & { set: (part: Config) => void };

export const textOf = (v: unknown) => (typeof v === "string" || typeof v === "number" ? String(v) : "");
export const choicesOf = (o: { [value: string]: string }) =>
	Object.entries(o).map(([value, label]) => ({ value, label }));
export const optionsOf = (m: Map<string, string>) => [...m].map(([id, label]) => ({ id, label }));

/** known returns a number; undefined while none is typed. */
export const known = (n: number) => (Number.isNaN(n) ? undefined : n);
