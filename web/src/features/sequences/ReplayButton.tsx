import { Suspense, useState } from "react";
import type { SequenceSimulation } from "../../api/schema";
import { lazyComponent } from "../../base/lazy";
import { useDisabledReason } from "../../base/session";
import { catalogue } from "../../base/words/catalogue";
import { Button } from "../../ui/Button";
import { startChanges } from "./draft";
import type { Names } from "./steps";
import type { Flow } from "./useFlow";

const Replay = lazyComponent(() => import("./Replay"));

const words = catalogue("sequences.replayButton", {
	replay: "Try with the past",
	noTrigger: "Choose a trigger at the start first.",
	unsavedTrigger: "Save your changes of the start first.",
	noSteps: "Add a step first.",
});

type Props = { flow: Flow; names: Names; onResult: (result: SequenceSimulation) => void };

/** ReplayButton opens the drawer that tries a sequence with what happened in the past. */
export function ReplayButton({ flow, names, onResult }: Props) {
	const [open, setOpen] = useState(false);
	const disabledReason = useDisabledReason("POST /sequences/{id}/simulate");
	const unready =
		flow.graph.steps.length === 0
			? words.noSteps
			: flow.start.trigger.type === ""
				? words.noTrigger
				: startChanges(flow.start, flow.base).length > 0
					? words.unsavedTrigger
					: undefined;
	return (
		<>
			<Button small disabledReason={disabledReason ?? unready} onClick={() => setOpen(true)}>
				{words.replay}
			</Button>
			{open && (
				<Suspense>
					<Replay
						sequence={flow.id}
						graph={flow.graph}
						names={names}
						onResult={onResult}
						onClose={() => setOpen(false)}
					/>
				</Suspense>
			)}
		</>
	);
}
