import type { UseQueryResult } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { lazyComponent } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { and, timeOfDay } from "../../base/words/formats";
import { Button } from "../../ui/Button";
import { Callout } from "../../ui/Page";
import { Failure } from "../../ui/States";
import css from "./Flow.module.css";
import type { View } from "./flowView";
import { problemWords, titleOf } from "./steps";
import type { Flow } from "./useFlow";
import { partName, versionOf } from "./versions";

const Versions = lazyComponent(() => import("../../ui/Versions").then((module) => ({ default: module.Versions })));

const words = catalogue("sequences.flowNotes", {
	conflict: "Somebody else changed the same parts in the meantime",
	conflictText: "Changes that only one of you made are kept. Choose for the parts that both of you changed.",
	choose: "Compare and choose",
	somebody: "Somebody else",
	joined: "{who} changed this sequence at {at}. Both changes are kept. Undo restores yours.",
	joinedSteps: "They changed: {steps}.",
	joinedWays: "They changed connections between steps.",
	dismiss: "Dismiss",
	restored: {
		server: "Your unsaved work was restored",
		device: "Your work was restored from this device",
	},
	discard: "Discard",
	quiet: "Check whether anybody can enter",
	openStart: "Open start",
	path: "The path of one person",
	pathText: "Steps that this person reached are marked, and the connections that led on.",
	hidePath: "Show everything",
	tried:
		"{count, plural, =0 {Tried with the past: nobody would have entered} one {Tried with the past: # person would have entered} other {Tried with the past: # people would have entered}}",
	triedText: "The numbers are those of people who would have gone on there. Nothing was sent or changed.",
	hideTried: "Hide numbers",
});

type Props = {
	flow: Flow;
	view: View;
	/** How many would have entered in the past, where that was tried. */
	entered: number;
	/** The steps of the person whose path is shown. */
	log: UseQueryResult;
	onHideTaken: () => void;
	onHidePath: () => void;
};

/** FlowNotes tells above a flow what others changed, what was restored, and what its marks and numbers are. */
export function FlowNotes({ flow, view, entered, log, onHideTaken, onHidePath }: Props) {
	const [comparing, setComparing] = useState(false);
	const { saving } = flow;
	const { graph, names } = view;
	return (
		<>
			{saving.state === "conflict" && (
				<Callout tone="warning" title={words.conflict}>
					<p>{words.conflictText}</p>
					<Button small onClick={() => setComparing(true)}>
						{words.choose}
					</Button>
				</Callout>
			)}
			{saving.state === "conflict" && comparing && (
				<Suspense>
					<Versions
						who={saving.conflict.author?.name}
						at={timeOfDay(saving.conflict.theirs.data.updated_at)}
						versions={saving.conflict.conflicts.map((conflict) =>
							versionOf(conflict, graph, saving.conflict.graph, names),
						)}
						onResolve={(theirs) => {
							setComparing(false);
							flow.settle(theirs);
						}}
						onClose={() => setComparing(false)}
					/>
				</Suspense>
			)}
			{flow.mergedChanges && saving.state !== "conflict" && (
				<Callout
					tone="progress"
					title={words.joined({
						who: flow.mergedChanges.by?.name || words.somebody,
						at: timeOfDay(flow.mergedChanges.at),
					})}
				>
					<p>
						{flow.mergedChanges.steps.length + flow.mergedChanges.start.length > 0
							? words.joinedSteps({
									steps: and([
										...flow.mergedChanges.start.map(partName),
										...flow.mergedChanges.steps.map((step) => titleOf(step, names, graph)),
									]),
								})
							: words.joinedWays}
					</p>
					<Button small onClick={flow.dismissJoined}>
						{words.dismiss}
					</Button>
				</Callout>
			)}
			{flow.restored && (flow.dirty || flow.restored === "device") && (
				<Callout title={words.restored[flow.restored]}>
					{flow.dirty && (
						<button type="button" className={css.choice} onClick={flow.discard}>
							{words.discard}
						</button>
					)}
				</Callout>
			)}
			{view.taken && (
				<Callout tone="progress" title={words.tried({ count: entered })}>
					<p>{words.triedText}</p>
					<Button small onClick={onHideTaken}>
						{words.hideTried}
					</Button>
				</Callout>
			)}
			{view.passed && (
				<Callout title={words.path}>
					<p>{words.pathText}</p>
					<Button small onClick={onHidePath}>
						{words.hidePath}
					</Button>
				</Callout>
			)}
			{log.isError && <Failure error={log.error} retry={() => void log.refetch()} />}
			{view.warnings.length > 0 && (
				<Callout tone="warning" title={words.quiet}>
					<p>{view.warnings.map((issue) => problemWords(issue.message)).join(" ")}</p>
					<Button small onClick={({ detail }) => view.openStart(detail === 0)}>
						{words.openStart}
					</Button>
				</Callout>
			)}
		</>
	);
}
