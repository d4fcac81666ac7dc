import { useState } from "react";
import { api } from "../../api/client";
import type { SequenceSimulation } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { dateTime, exactNumber } from "../../base/words/formats";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Columns, NumberField, Select } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { List } from "../../ui/List";
import { Callout } from "../../ui/Page";
import { bodyOf, type Graph, stepOf } from "./graph";
import { type Names, labelOf, titleOf } from "./steps";

const words = catalogue("sequences.replay", {
	title: "Try with the past",
	text: "Everything that has started this sequence in the past goes through its steps as they are here, without waiting. Nothing is sent or changed. Rules see contacts as they are now.",
	since: "Since",
	days: "{count, plural, one {the last day} other {the last # days}}",
	most: "At most this many people",
	run: "Try",
	close: "Close",
	entered:
		"{count, plural, =0 {Nobody would have entered} one {# person would have entered} other {# people would have entered}}",
	nothing: "Since {since}. Nothing was sent or changed.",
	duplicates:
		"{count, plural, one {# more time it started for somebody who was inside, or may not enter again.} other {# more times it started for somebody who was inside, or may not enter again.}}",
	truncated: "There was more: only the first people are counted.",
	mails:
		"{count, plural, =0 {No email would have been sent.} one {# email would have been sent.} other {# emails would have been sent.}}",
	held: "{count, plural, one {# would not have been sent: the person may not get it, or no sender can send it.} other {# would not have been sent: the people may not get them, or no sender can send them.}}",
	assumed: "Nobody can know who would have opened or clicked: such waits are counted as not in time.",
	table: "Paths taken",
	from: "From",
	path: "Path",
	to: "To",
	taken: "People",
	end: "The path ends",
});

const periods = [1, 7, 14, 30];
const day = 86_400_000;

const sum = (counts: { [reason: string]: number }) => Object.values(counts).reduce((a, b) => a + b, 0);

type Props = {
	sequence: string;
	graph: Graph;
	names: Names;
	onResult: (result: SequenceSimulation) => void;
	onClose: () => void;
};

/** Replay leads what started a sequence in the past through its graph, and tells who would have gone where. */
export default function Replay({ sequence, graph, names, onResult, onClose }: Props) {
	const form = useForm({ days: "7", limit: 1000 });
	const [result, setResult] = useState<SequenceSimulation | null>(null);
	const run = () =>
		form.submit(async () => {
			setResult(null);
			const { entry_node_id, nodes, edges } = bodyOf(graph);
			const since = new Date(Date.now() - Number(form.values.days) * day + 60_000).toISOString();
			const answer = await api("POST /sequences/{id}/simulate", {
				path: { id: sequence },
				body: { since, limit: form.values.limit, graph: { entry_node_id, nodes, edges } },
			});
			setResult(answer);
			onResult(answer);
		});
	return (
		<Dialog
			drawer="wide"
			title={words.title}
			onClose={onClose}
			onSubmit={() => void run()}
			footer={
				<>
					<Button onClick={onClose}>{words.close}</Button>
					<Button type="submit" variant="primary" busy={form.busy}>
						{words.run}
					</Button>
				</>
			}
		>
			<FormProblems problems={form.problems} />
			<p>{words.text}</p>
			<Columns>
				<Select
					label={words.since}
					path="since"
					value={form.values.days}
					onChange={(days) => form.set({ days })}
					choices={periods.map((count) => ({ value: String(count), label: words.days({ count }) }))}
					error={form.problems.byPath.since}
				/>
				<NumberField
					label={words.most}
					path="limit"
					min={1}
					max={10_000}
					value={form.values.limit}
					onChange={(limit) => form.set({ limit })}
					error={form.problems.byPath.limit}
				/>
			</Columns>
			{result && <Result result={result} graph={graph} names={names} />}
		</Dialog>
	);
}

function Result({ result, graph, names }: { result: SequenceSimulation; graph: Graph; names: Names }) {
	const { sends } = result;
	const held = sum(sends.refused) + sum(sends.unavailable);
	const title = (id: string | null) => {
		const step = stepOf(graph, id);
		return step ? titleOf(step, names, graph) : words.end;
	};
	const notes = [
		words.nothing({ since: dateTime(result.since) }),
		result.duplicates + result.limited > 0 && words.duplicates({ count: result.duplicates + result.limited }),
		result.truncated && words.truncated,
		words.mails({ count: sends.queued }),
		held > 0 && words.held({ count: held }),
		result.nodes.some((node) => node.assumed > 0) && words.assumed,
	];
	return (
		<>
			<Callout tone="success" title={words.entered({ count: result.enrolled })}>
				<p>{notes.filter(Boolean).join(" ")}</p>
			</Callout>
			<List
				label={words.table}
				rows={result.edges}
				rowKey={(edge) => `${edge.from_node} ${edge.branch_label ?? ""}`}
				columns={[
					{ id: "from", name: words.from, cell: (edge) => title(edge.from_node) },
					{
						id: "path",
						name: words.path,
						cell: (edge) => {
							const step = stepOf(graph, edge.from_node);
							return step ? labelOf(step, edge.branch_label) : "";
						},
					},
					{ id: "to", name: words.to, cell: (edge) => title(edge.to_node) },
					{ id: "taken", name: words.taken, end: true, cell: (edge) => exactNumber(edge.taken) },
				]}
			/>
		</>
	);
}
