import { useQuery } from "@tanstack/react-query";
import { AlertTriangle, ListTree, Network, Redo2, Undo2 } from "lucide-react";
import { type KeyboardEvent, Suspense, useEffect, useMemo, useRef, useState } from "react";
import type { GraphIssue, SequenceReport, SequenceSimulation } from "../../api/schema";
import { lazyComponent } from "../../base/lazy";
import { useParams } from "../../base/params";
import { Button, IconButton } from "../../ui/Button";
import { Card } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { useNarrow } from "../../ui/useNarrow";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { timeOfDay } from "../../base/words/formats";
import { DeleteStep } from "./DeleteStep";
import css from "./Flow.module.css";
import { isOfStart, startNode } from "./draft";
import { FlowNotes } from "./FlowNotes";
import type { View } from "./flowView";
import {
	addDetached,
	type Clip,
	configure,
	copy,
	type Direction,
	type Graph,
	insert,
	labelsOf,
	connect,
	lostSteps,
	neighbour,
	order,
	paste,
	type Place,
	placesOf,
	prune,
	remove,
	removeAll,
	stepOf,
	targetOf,
} from "./graph";
import { OutlineView } from "./Outline";
import { ReplayButton } from "./ReplayButton";
import { StepDrawer } from "./StepDrawer";
import { StepMenu } from "./StepMenu";
import { type Kind, type Names, newId, problemWords, titleOf, triggerWords } from "./steps";
import type { Flow } from "./useFlow";
import { stepsQuery } from "./queries";
import { passedOf, takenOf } from "./stepReasons";

const Canvas = lazyComponent(() => import("./canvas/Canvas"));

const StartDrawer = lazyComponent(() => import("./StartDrawer"));

const words = catalogue("sequences.flow", {
	views: "View",
	outline: "Outline",
	canvas: "Canvas",
	undo: "Undo",
	redo: "Redo",
	nothing: "Nothing to undo.",
	nothingRedo: "Nothing to redo.",
	saved: "Saved",
	savedAt: "Saved {at}",
	saving: "Saving",
	kept: "{count, plural, one {Not saved yet: # problem. Your work is kept.} other {Not saved yet: # problems. Your work is kept.}}",
	changed: "Changed, not saved yet. Your work is kept.",
	readOnly: "Read-only",
	problems: "{count, plural, one {# problem} other {# problems}}",
	next: "Press F8 for the next one.",
	nextProblem: "Next problem",
	whole: "Whole sequence",
	start: "Start",
	removed: "{count, plural, one {Removed # step} other {Removed # steps}}",
	added: "Added: {title}",
	pasted: "{count, plural, one {Pasted # step} other {Pasted # steps}}",
	copied: "{count, plural, one {Copied # step} other {Copied # steps}}",
	keys: "Arrow keys move, Enter opens, A adds a step after, Delete removes, Shift+arrows select, Ctrl+C and Ctrl+V copy and paste, Ctrl+Z undoes, F8 goes to the next problem.",
	flow: "Sequence flow",
});

type Props = {
	flow: Flow;
	names: Names;
	report: SequenceReport | undefined;
	onPeople: (node: string) => void;
};

const arrows: { [key: string]: Direction } = {
	ArrowUp: "up",
	ArrowDown: "down",
	ArrowLeft: "left",
	ArrowRight: "right",
};

const selectorOf = (node: string) => (node === startNode ? "[data-start]" : `[data-step="${CSS.escape(node)}"]`);

let clipboard: Clip | null = null;

/** FlowEditor shows and edits a sequence, as an outline or on a canvas. */
export function FlowEditor({ flow, names, report, onPeople }: Props) {
	const [params, set] = useParams();
	const narrow = useNarrow();
	const canvas = (params.get("view") ?? (narrow ? "outline" : "canvas")) === "canvas";
	const node = params.get("node");
	const [tried, setTried] = useState<{ graph: Graph; result: SequenceSimulation } | null>(null);
	const person = params.get("person") ?? "";
	const log = useQuery({ ...stepsQuery(flow.id, person), enabled: person !== "" });
	const { graph } = flow;
	const editable = flow.mode !== "read";
	const [current, setCurrent] = useState<string | null>(null);
	const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
	const [clipboardContent, setClip] = useState(clipboard);
	const [adding, setAdding] = useState<{ place: Place; trigger: HTMLElement } | null>(null);
	const [deleting, setDeleting] = useState<string | null>(null);
	const [announcement, setAnnouncement] = useState("");
	const box = useRef<HTMLDivElement>(null);
	const anchor = useRef<HTMLElement | null>(null);
	const steps = useMemo(() => order(graph), [graph]);
	const currentId = current && steps.includes(current) ? current : (steps[0] ?? null);

	const focus = (id: string | null | undefined) => {
		if (!id) return;
		if (id !== startNode) setCurrent(id);
		requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(selectorOf(id))?.focus());
	};
	// The step takes the focus back when its panel closes, and stays in view beside it.
	const openedStep = useRef<string | null>(null);
	useEffect(() => {
		if (!node && openedStep.current) focus(openedStep.current);
		openedStep.current = node;
	});
	useEffect(() => {
		const element = node && box.current?.querySelector(selectorOf(node));
		if (!element) return;
		const frame = requestAnimationFrame(() => element.scrollIntoView({ block: "nearest", inline: "nearest" }));
		return () => cancelAnimationFrame(frame);
	}, [node]);
	const [panelFocus, setPanelFocus] = useState<object | null>(null);
	const openNode = (node: string, byKeys: boolean) => {
		setPanelFocus(byKeys ? {} : null);
		set({ node, mail: null });
	};
	const closeNode = () => set({ node: null, mail: null });
	const open = (id: string, byKeys = false) => {
		setCurrent(id);
		setSelected(new Set());
		openNode(id, byKeys);
	};

	const after = (id: string): Place | null => {
		const step = stepOf(graph, id);
		const places = step ? placesOf(step) : [];
		return places.find((place) => targetOf(graph, place) === null) ?? places[0] ?? null;
	};
	const startAdding = (place: Place, trigger: HTMLElement) => {
		anchor.current = trigger;
		setAdding({ place, trigger });
	};
	const addStep = (kind: Kind) => {
		if (!adding) return;
		const step = { id: newId(kind.type), type: kind.type, config: kind.config() };
		flow.change(
			kind.type === "goal" && graph.entry !== null ? addDetached(graph, step) : insert(graph, adding.place, step),
		);
		setAdding(null);
		setAnnouncement(words.added({ title: titleOf(step, names, graph) }));
		setCurrent(step.id);
		if (kind.type === "exit") focus(step.id);
		else open(step.id, true);
	};
	const pasteAt = (place: Place) => {
		if (!clipboardContent) return;
		const ids: string[] = [];
		const next = paste(graph, place, clipboardContent, (type) => {
			const id = newId(type);
			ids.push(id);
			return id;
		});
		flow.change(next);
		setAdding(null);
		setAnnouncement(words.pasted({ count: clipboardContent.steps.length }));
		setSelected(new Set(ids));
		focus(ids[0]);
	};
	const copyOf = (id: string) => {
		const copiedSteps = copy(graph, selected.has(id) ? [...selected] : [id]);
		if (!copiedSteps) return;
		clipboard = copiedSteps;
		setClip(copiedSteps);
		setAnnouncement(words.copied({ count: copiedSteps.steps.length }));
	};
	const applyChange = (next: typeof graph, nextFocus: string | null) => {
		const n = lostSteps(graph, next).length;
		flow.change(next);
		setSelected(new Set());
		if (node && stepOf(graph, node) && !stepOf(next, node)) {
			openedStep.current = null;
			set({ node: null, mail: null }, { replace: true });
		}
		if (n > 0) toast(words.removed({ count: n }), { undo: () => flow.change(graph) });
		focus(nextFocus && stepOf(next, nextFocus) ? nextFocus : order(next)[0]);
	};
	const removeStep = (id: string) => {
		const step = stepOf(graph, id);
		if (!step) return;
		const nextFocus = neighbour(graph, id, "up") ?? neighbour(graph, id, "down");
		if (selected.size > 1 && selected.has(id)) return applyChange(removeAll(graph, [...selected]), nextFocus);
		const connectedLabels = labelsOf(step).filter((label) => targetOf(graph, { from: id, label }) !== null);
		if (connectedLabels.length === 0) applyChange(remove(graph, id, undefined), nextFocus);
		else setDeleting(id);
	};
	const select = (id: string) => {
		const next = new Set(selected.size === 0 && currentId ? [currentId] : selected);
		if (!next.delete(id) || next.size === 0) next.add(id);
		setSelected(next);
		setCurrent(id);
	};

	const openStart = (byKeys = false) => openNode(startNode, byKeys);
	const view: View = {
		graph,
		names,
		steps,
		editable,
		selected,
		current: currentId,
		opened: node,
		issues: flow.issues,
		warnings: editable ? flow.warnings : [],
		// Numbers of another graph would be wrong.
		taken: tried?.graph === graph ? takenOf(tried.result) : null,
		passed: log.data ? passedOf(log.data.data, graph) : null,
		numbers: report ? new Map(report.nodes.map((node) => [node.node_id, node])) : null,
		trigger: triggerWords(flow.start.trigger.type, flow.start.trigger.config, names),
		focus: setCurrent,
		open,
		openStart,
		openPeople: onPeople,
		add: startAdding,
		act: (id, action, trigger) => {
			const button = trigger ?? box.current?.querySelector<HTMLElement>(`[data-step="${CSS.escape(id)}"]`);
			const place = after(id);
			if (action === "select") select(id);
			else if (action === "copy") copyOf(id);
			else if (!editable) return;
			else if (action === "delete") removeStep(id);
			else if (action === "after" && place && button) startAdding(place, button);
			else if (action === "paste" && place) pasteAt(place);
		},
	};

	const issue = useRef(-1);
	const goTo = (issue: GraphIssue) => {
		if (issue.node_id && stepOf(graph, issue.node_id)) focus(issue.node_id);
		else if (isOfStart(issue)) focus(startNode);
		else onIssueOfWhole();
	};
	const onIssueOfWhole = () => box.current?.querySelector<HTMLElement>("button")?.focus();
	const nextIssue = () => {
		if (flow.issues.length === 0) return;
		issue.current = (issue.current + 1) % flow.issues.length;
		const i = flow.issues[issue.current];
		if (i) {
			goTo(i);
			setAnnouncement(problemWords(i.message));
		}
	};
	const key = (event: KeyboardEvent) => {
		if (event.key === "F8") {
			event.preventDefault();
			return nextIssue();
		}
		if (!event.currentTarget.contains(event.target as Node)) return; // of the panel, or of what is over the page
		const id = (event.target as HTMLElement).closest<HTMLElement>("[data-step]")?.dataset.step;
		const mod = event.metaKey || event.ctrlKey;
		const key = event.key.toLowerCase();
		if (mod && key === "z") (event.shiftKey ? flow.redo : flow.undo)();
		else if (mod && key === "y") flow.redo();
		else if (!id && event.key === "ArrowDown" && (event.target as HTMLElement).closest("[data-start]")) focus(steps[0]);
		else if (!id) return;
		else if (event.key in arrows && !mod && !event.altKey) {
			const to = canvas
				? neighbour(graph, id, arrows[event.key] as Direction)
				: event.key === "ArrowDown"
					? steps[steps.indexOf(id) + 1]
					: event.key === "ArrowUp"
						? steps[steps.indexOf(id) - 1]
						: neighbour(graph, id, arrows[event.key] as Direction);
			if (to && event.shiftKey) setSelected(new Set([...(selected.size > 0 ? selected : [id]), to]));
			else if (to && selected.size > 0) setSelected(new Set());
			focus(to ?? (event.key === "ArrowUp" && !event.shiftKey ? startNode : null));
		} else if (mod && key === "c") copyOf(id);
		else if (mod && key === "v") view.act(id, "paste");
		else if (mod || event.altKey) return;
		else if (event.key === "a") view.act(id, "after");
		else if (event.key === "Delete" || event.key === "Backspace") view.act(id, "delete");
		else if (event.key === "Home") focus(steps[0]);
		else if (event.key === "End") focus(steps.at(-1));
		else if (event.key === "Escape" && selected.size > 0) setSelected(new Set());
		else return;
		event.preventDefault();
		event.stopPropagation();
	};

	const saving = flow.saving;
	const problem = saving.state === "failed" ? saving.problem : "";
	const state = !editable
		? words.readOnly
		: saving.state === "saving"
			? words.saving
			: saving.state === "failed"
				? problem
				: saving.state === "kept" || flow.dirty
					? flow.refused > 0
						? words.kept({ count: flow.refused })
						: words.changed
					: saving.state === "saved" && saving.at
						? words.savedAt({ at: timeOfDay(saving.at) })
						: words.saved;
	const step = stepOf(graph, node);
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: keys of the steps within
		<div ref={box} className={css.flow} onKeyDown={key}>
			<div className={css.tools}>
				{/* biome-ignore lint/a11y/useSemanticElements: two buttons, not a fieldset of a form */}
				<div className={css.views} role="group" aria-label={words.views}>
					<button type="button" aria-pressed={!canvas} onClick={() => set({ view: "outline" })}>
						<ListTree aria-hidden size={16} />
						{words.outline}
					</button>
					<button type="button" aria-pressed={canvas} onClick={() => set({ view: "canvas" })}>
						<Network aria-hidden size={16} />
						{words.canvas}
					</button>
				</div>
				{editable && (
					<>
						<IconButton
							small
							label={words.undo}
							icon={<Undo2 aria-hidden />}
							disabledReason={flow.canUndo ? undefined : words.nothing}
							onClick={flow.undo}
						/>
						<IconButton
							small
							label={words.redo}
							icon={<Redo2 aria-hidden />}
							disabledReason={flow.canRedo ? undefined : words.nothingRedo}
							onClick={flow.redo}
						/>
					</>
				)}
				{editable && <ReplayButton flow={flow} names={names} onResult={(result) => setTried({ graph, result })} />}
				<span className={css.grow} />
				<span
					role="status"
					className={css.state}
					data-tone={saving.state === "failed" ? "danger" : flow.issues.length > 0 ? "warning" : undefined}
				>
					{state}
				</span>
				{flow.issues.length > 0 && (
					<Button small icon={<AlertTriangle aria-hidden />} onClick={nextIssue}>
						{words.nextProblem}
					</Button>
				)}
			</div>
			<p className="visually-hidden" role="status">
				{announcement}
			</p>
			<FlowNotes
				flow={flow}
				view={view}
				entered={tried?.result.enrolled ?? 0}
				log={log}
				onHideTaken={() => setTried(null)}
				onHidePath={() => set({ person: null })}
			/>
			<section aria-label={words.flow} aria-description={words.keys}>
				{canvas ? (
					<Suspense fallback={<Skeleton rows={8} height={52} />}>
						<Canvas view={view} canPaste={clipboardContent !== null} />
					</Suspense>
				) : (
					<OutlineView view={view} canPaste={clipboardContent !== null} />
				)}
			</section>
			{flow.issues.length > 0 && (
				<Card
					title={words.problems({ count: flow.issues.length })}
					tone="warning"
					actions={<span className={css.state}>{words.next}</span>}
				>
					<ul className={css.issues}>
						{flow.issues.map((issue, index) => {
							const step = stepOf(graph, issue.node_id);
							return (
								<li key={index}>
									<button
										type="button"
										onClick={({ detail }) =>
											step ? open(step.id, detail === 0) : isOfStart(issue) ? openStart(detail === 0) : goTo(issue)
										}
									>
										<b>{step ? titleOf(step, names, graph) : isOfStart(issue) ? words.start : words.whole}</b>:{" "}
										{problemWords(issue.message)}
									</button>
								</li>
							);
						})}
					</ul>
				</Card>
			)}
			{adding && (
				<StepMenu
					graph={graph}
					place={adding.place}
					names={names}
					clipboardContent={clipboardContent}
					trigger={anchor}
					onAdd={addStep}
					onPaste={() => pasteAt(adding.place)}
					onEnd={() => {
						setAdding(null);
						applyChange(prune(connect(graph, adding.place, null)), adding.place.from);
					}}
					onGo={(to) => {
						setAdding(null);
						applyChange(prune(connect(graph, adding.place, to)), adding.place.from);
					}}
					onClose={() => setAdding(null)}
				/>
			)}
			{deleting && stepOf(graph, deleting) && (
				<DeleteStep
					graph={graph}
					id={deleting}
					names={names}
					onClose={() => {
						setDeleting(null);
						focus(deleting);
					}}
					onDelete={(keptBranch) => {
						const nextFocus =
							neighbour(graph, deleting, "up") ?? targetOf(graph, { from: deleting, label: keptBranch ?? null });
						setDeleting(null);
						applyChange(remove(graph, deleting, keptBranch), nextFocus);
					}}
				/>
			)}
			{node === startNode && (
				<Suspense>
					<StartDrawer
						view={view}
						start={flow.start}
						focus={panelFocus}
						onChange={flow.changeStart}
						onClose={closeNode}
					/>
				</Suspense>
			)}
			{step && (
				<StepDrawer
					key={step.id}
					view={view}
					step={step}
					sequence={flow.name}
					focus={panelFocus}
					onChange={(config) => flow.change((graph) => configure(graph, step.id, config), `edit ${step.id}`)}
					onMailSaved={flow.retry}
					onDelete={() => removeStep(step.id)}
					onClose={closeNode}
				/>
			)}
		</div>
	);
}
