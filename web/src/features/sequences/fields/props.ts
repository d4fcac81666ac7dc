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

export const textOf = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) : "");
export const choicesOf = (labels: { [value: string]: string }) =>
	Object.entries(labels).map(([value, label]) => ({ value, label }));
export const optionsOf = (names: Map<string, string>) => [...names].map(([id, label]) => ({ id, label }));

/** known returns a number; undefined while none is typed. */
export const known = (value: number) => (Number.isNaN(value) ? undefined : value);
