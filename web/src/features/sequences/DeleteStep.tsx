import { useState } from "react";
import { Confirm } from "../../ui/Dialog";
import { Radios } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import { type Graph, labelsOf, lost, remove, stepOf, targetOf } from "./graph";
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
	onDelete: (keep: string | null | undefined) => void;
	onClose: () => void;
};

const nowhere = "\u0000";

/** DeleteStep asks how the path goes on without a step. */
export function DeleteStep({ graph, id, names, onDelete, onClose }: Props) {
	const step = stepOf(graph, id);
	const leads = step ? labelsOf(step).filter((label) => targetOf(graph, { from: id, label }) !== null) : [];
	const [selected, setSelected] = useState(leads[0] ?? "");
	if (!step) return null;
	const keep = selected === nowhere ? undefined : leads.includes(null) ? null : selected;
	const gone = lost(graph, remove(graph, id, keep)).filter((step) => step.id !== id);
	const title = (label: string | null) => {
		const to = stepOf(graph, targetOf(graph, { from: id, label }));
		return to ? titleOf(to, names, graph) : "";
	};
	return (
		<Confirm
			title={words.title({ title: titleOf(step, names, graph) })}
			action={words.remove}
			onConfirm={() => onDelete(keep)}
			onClose={onClose}
		>
			<Radios
				label={words.rejoin}
				value={selected}
				onChange={setSelected}
				choices={[
					...leads.map((label) => ({
						value: label ?? "",
						label:
							label === null
								? words.on({ title: title(label) })
								: words.way({ label: labelOf(step, label), title: title(label) }),
					})),
					{ value: nowhere, label: words.end },
				]}
			/>
			{gone.length > 0 && (
				<div>
					<p>{words.goes({ count: gone.length })}</p>
					<ul>
						{gone.slice(0, 8).map((step) => (
							<li key={step.id}>{titleOf(step, names, graph)}</li>
						))}
					</ul>
				</div>
			)}
			<p>{words.undo}</p>
		</Confirm>
	);
}
