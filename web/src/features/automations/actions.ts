import type { AutomationAction } from "../../api/schema";
import type { Step, StepType } from "../sequences/graph";
import { kinds } from "../sequences/steps";

// An action of an automation is a step of a sequence that is carried out at once.

const types: StepType[] = [
	"list",
	"tag",
	"update_contact",
	"stage",
	"subscription",
	"event",
	"webhook",
	"notify",
	"enroll",
];

/** actionKinds are the kinds of actions. */
export const actionKinds = kinds.filter((kind) => types.includes(kind.type));

/** mostActions is how many actions an automation may have. */
export const mostActions = 10;

export const actionStep = (action: AutomationAction): Pick<Step, "type" | "config"> => ({
	type: action.type as StepType,
	config: action.config,
});
