import { Combo } from "../../ui/Combo";
import type { Config } from "./graph";
import { words } from "./fields/words";
import { type Part, textOf, optionsOf, type Props } from "./fields/props";
import { Rule } from "./fields/Rule";
import { Send } from "./fields/Send";
import { Wait } from "./fields/Wait";
import { Branches, Shares } from "./fields/Branches";
import { ListChange, Tags, Fields, Subscription } from "./fields/Contact";
import { Event, Webhook, Notify } from "./fields/Integrations";

/** StepFields edits what a step does. */
export default function StepFields({ type, ...props }: Props) {
	const set = (part: Config) =>
		props.onChange(
			Object.fromEntries(Object.entries({ ...props.config, ...part }).filter(([, value]) => value !== undefined)),
		);
	const part: Part = { ...props, set };
	switch (type) {
		case "send":
			return <Send {...part} />;
		case "wait":
			return <Wait {...part} />;
		case "condition":
			return <Rule {...part} help={words.conditionHelp} />;
		case "goal":
			return <Rule {...part} help={words.goalHelp} />;
		case "branch":
			return <Branches {...part} />;
		case "split":
			return <Shares {...part} />;
		case "list":
			return <ListChange {...part} />;
		case "tag":
			return <Tags {...part} />;
		case "update_contact":
			return <Fields {...part} />;
		case "stage":
			return (
				<Combo
					label={words.stage}
					path="stage_id"
					options={optionsOf(props.names.stages)}
					value={textOf(props.config.stage_id) || null}
					onChange={(stage_id) => set({ stage_id: stage_id ?? undefined })}
					error={props.problem("stage_id")}
				/>
			);
		case "subscription":
			return <Subscription {...part} />;
		case "event":
			return <Event {...part} />;
		case "webhook":
			return <Webhook {...part} />;
		case "notify":
			return <Notify {...part} />;
		case "enroll":
			return (
				<Combo
					label={words.sequence}
					help={words.sequenceHelp}
					path="sequence_id"
					options={optionsOf(props.names.sequences)}
					value={textOf(props.config.sequence_id) || null}
					onChange={(sequence_id) => set({ sequence_id: sequence_id ?? undefined })}
					error={props.problem("sequence_id")}
				/>
			);
		default:
			return <p>{words.exitHelp}</p>;
	}
}
