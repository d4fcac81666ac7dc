/** Problem is what is wrong at a path: as it stands there, and with the condition that it is in. */
type Problem = { path: string; message: string; fullMessage: string };

/** Fault is a problem that the server found in a rule, and further ones that it found at once. */
export type Fault = Problem & { others?: Problem[] };

/** problemsOf returns all problems of a rule. */
export const problemsOf = (fault: Fault | null | undefined): Problem[] =>
	fault
		? [fault, ...(fault.others ?? [])].map((one) => ({ ...one, path: one.path.replace(/^definition\.?/, "") }))
		: [];

/** problemsIn returns the problems of the condition at a path, with their paths within it. */
export const problemsIn = (fault: Fault | null | undefined, path: string) =>
	problemsOf(fault)
		.filter((problem) => problem.path === path || problem.path.startsWith(`${path}.`))
		.map(({ path: whole, message }) => ({ path: whole.slice(path.length + 1), message }));

/** groupProblem returns the problem of a group itself, by its path: none of its conditions. */
export const groupProblem = (fault: Fault | null | undefined, path: string) =>
	problemsOf(fault).find((problem) =>
		[path, ...["conditions", "logic", "negate"].map((part) => (path ? `${path}.${part}` : part))].includes(
			problem.path,
		),
	)?.message;
