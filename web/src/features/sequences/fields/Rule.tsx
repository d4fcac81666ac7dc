import { fieldSentence } from "../../../base/words/errors";
import { ownName } from "../../../base/words/fieldNames";
import { Builder, type Fault } from "../../rules/Builder";
import type { Group } from "../../rules/groups";
import css from "../StepFields.module.css";
import type { Part } from "./props";

/** faultOf returns a problem of a rule with its place in it: "definition.conditions[0].value: must be a number". */
function faultOf(error: string | undefined): Fault | null {
	if (!error) return null;
	const [, path, message = ""] = /^((?:definition\.?)?(?:conditions[\w.[\]]*)?): (.*)$/s.exec(error) ?? [];
	if (path === undefined) return { path: "", message: error, fullMessage: error };
	const problem = { path: path.replace(/\.?conditions$/, ""), message };
	return { path: problem.path, message: fieldSentence(problem, ownName(path)), fullMessage: fieldSentence(problem) };
}

/** RuleField edits a rule of a sequence or an automation. */
export function RuleField({
	value,
	onChange,
	error,
}: {
	value: unknown;
	onChange: (group: Group) => void;
	error?: string;
}) {
	const group = value as Group | undefined;
	return (
		<Builder
			value={Array.isArray(group?.conditions) ? group : { logic: "and", conditions: [] }}
			onChange={onChange}
			fault={faultOf(error)}
		/>
	);
}

/** Rule edits the rule of a step. */
export function Rule({ config, set, problem, help }: Part & { help: string }) {
	return (
		<>
			<p className={css.help}>{help}</p>
			<RuleField
				value={config.definition}
				onChange={(definition) => set({ definition })}
				error={problem("definition")}
			/>
		</>
	);
}
