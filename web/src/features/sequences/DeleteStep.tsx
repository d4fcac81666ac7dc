import { useState } from "react";
import { Confirm } from "../../ui/Dialog";
import { Radios } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import { type Graph, labelsOf, lostSteps, remove, stepOf, targetOf } from "./graph";
import { labelOf, type Names, titleOf } from "./steps";

const words = catalogue("sequences.deleteStep", {
	title: "Delete step “{title}”?",
	remove: "Delete",
	rejoin: "What comes before it",
	on: "Continues at: {title}",
	way: "Takes the path “{label}” to: {title}",
	end: "Ends there",
	goes: "{count, plural, one {# step is deleted with it:} other {# steps are deleted with it:}}",
	undo: "You can undo this.",
});

type Props = {
	graph: Graph;
	id: string;
	names: Names;
	onDelete: (keptBranch: string | null | undefined) => void;
	onClose: () => void;
};

const nowhere = "\u0000";

/** DeleteStep asks how the path goes on without a step. */
export function DeleteStep({ graph, id, names, onDelete, onClose }: Props) {
	const step = stepOf(graph, id);
	const connectedLabels = step ? labelsOf(step).filter((label) => targetOf(graph, { from: id, label }) !== null) : [];
	const [selected, setSelected] = useState(connectedLabels[0] ?? "");
	if (!step) return null;
	const keptBranch = selected === nowhere ? undefined : connectedLabels.includes(null) ? null : selected;
	const removedSteps = lostSteps(graph, remove(graph, id, keptBranch)).filter((step) => step.id !== id);
	const title = (label: string | null) => {
		const to = stepOf(graph, targetOf(graph, { from: id, label }));
		return to ? titleOf(to, names, graph) : "";
	};
	return (
		<Confirm
			title={words.title({ title: titleOf(step, names, graph) })}
			action={words.remove}
			onConfirm={() => onDelete(keptBranch)}
			onClose={onClose}
		>
			<Radios
				label={words.rejoin}
				value={selected}
				onChange={setSelected}
				choices={[
					...connectedLabels.map((label) => ({
						value: label ?? "",
						label:
							label === null
								? words.on({ title: title(label) })
								: words.way({ label: labelOf(step, label), title: title(label) }),
					})),
					{ value: nowhere, label: words.end },
				]}
			/>
			{removedSteps.length > 0 && (
				<div>
					<p>{words.goes({ count: removedSteps.length })}</p>
					<ul>
						{removedSteps.slice(0, 8).map((step) => (
							<li key={step.id}>{titleOf(step, names, graph)}</li>
						))}
					</ul>
				</div>
			)}
			<p>{words.undo}</p>
		</Confirm>
	);
}
